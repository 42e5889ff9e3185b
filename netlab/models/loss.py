"""Throughput as a function of the loss rate (response functions), without and with timeouts."""

from types import MappingProxyType

import numpy as np

from netlab.models.argument_checks import (
    holds_a_segment,
    loss_arguments,
    model,
    unwrapped,
    within,
)

MATHIS_C = MappingProxyType({
    "labs": 1.0,
    "periodic": (3 / 2) ** 0.5, "periodic, delayed ACKs": (3 / 4) ** 0.5,
    "random": 1.31, "random, delayed ACKs": 0.93,
})  # fmt: skip
"""The constant C of `mathis_bps` by loss pattern and ACK policy: Mathis et al. (1997), Table 1. [1]

Without "delayed ACKs" every segment is acknowledged. The labs set C to 1."""


@model
def mathis_bps(mss_bytes, rtt_s, loss, c=1.0, streams=1):
    """Throughput that random or periodic loss allows, after Mathis et al. [bit/s]

    Parameters
    ----------
    mss_bytes : float or array
        Payload of a full segment, above 0. [byte]
    rtt_s : float or array
        Round-trip time, queueing included, above 0. [s]
    loss : float or array
        Share of segments lost, from 0 to 1; 0 gives infinity, as loss is no limit then. Above
        `MATHIS_MOST_LOSS`, 4 %, it is outside the domain, with a `ModelWarning`. [1]
    c : float or array
        Constant of the loss pattern and the ACK policy, above 0; see `MATHIS_C`. [1]
    streams : int or array
        Parallel connections that meet the same loss and RTT, at least 1. [1]

    Notes
    -----
    .. math:: B = K \\cdot C \\cdot \\frac{8\\,MSS}{RTT \\sqrt{p}}

    C = 1 is the labs' simplification. For streams that differ see `hacker_bps`.

    Holds for Reno-like congestion avoidance, in steady state, where neither buffers nor the link
    are the limit and loss is low enough to be repaired without timeouts (a few percent at most).
    When losses come in bursts, p is the rate of window halvings, not of lost packets. CUBIC and BBR
    follow other laws.

    Source: M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP congestion
    avoidance algorithm", ACM SIGCOMM Computer Communication Review 27(3), 1997, equation 3 and
    Table 1.

    Examples
    --------
    >>> f"{mathis_bps(1448, 0.020, 0.01) / 1e6:.2f} Mbit/s"
    '5.79 Mbit/s'
    >>> mathis_bps(1000, 0.1, [0.01, 0.04], streams=4) / 1e6
    array([3.2, 1.6])
    """
    mss, rtt, p, k = loss_arguments(mss_bytes, rtt_s, loss, streams)
    with np.errstate(divide="ignore"):
        return unwrapped(k * within("c", c, above=0) * 8 * mss / (rtt * np.sqrt(p)))


@model
def affordable_loss(bps, mss_bytes, rtt_s, c=1.0, streams=1):
    """Highest loss rate, at most 1, at which `mathis_bps` still reaches a rate. [1]

    Parameters
    ----------
    bps : float or array
        What all streams together are to carry, above 0. [bit/s]
    mss_bytes, rtt_s, c, streams : as in `mathis_bps` [byte, s, 1, 1]

    Notes
    -----
    .. math:: p = \\min\\left(1, \\left(K \\cdot C \\cdot \\frac{8\\,MSS}{RTT \\cdot
        B}\\right)^2\\right)

    `mathis_bps` solved for p, and valid where it is: eight streams can bear 64 times the loss of
    one stream. A result above a few percent only means that random loss is not the limit.

    Source: S. Floyd, "HighSpeed TCP for large congestion windows", RFC 3649, 2003, section 1: the
    question, for 10 Gbit/s.

    Examples
    --------
    One segment in how many may be lost at 1 Gbit/s over 80 ms, with one stream and with eight?

    >>> (1 / affordable_loss(1e9, 1448, 0.080, streams=[1, 8])).round(-3).astype(int)
    array([47694000,   745000])
    """
    mss, rtt, _, k = loss_arguments(mss_bytes, rtt_s, 0, streams)
    if_all_is_lost = k * within("c", c, above=0) * 8 * mss / rtt
    return unwrapped(np.minimum(1, (if_all_is_lost / within("bps", bps, above=0)) ** 2))


@model
def aimd_bps(mss_bytes, rtt_s, loss, alpha=1.0, beta=0.5, streams=1):
    """Throughput that periodic loss allows an AIMD sender: Mathis et al. for any sawtooth. [bit/s]

    Parameters
    ----------
    mss_bytes, rtt_s, loss, streams : as in `mathis_bps` [byte, s, 1, 1]
    alpha : float or array
        Segments gained in a round trip without loss, above 0. Reno: 1. [1]
    beta : float or array
        Share of the window that *remains* after a loss, between 0 and 1. Reno: 0.5, CUBIC: 0.7. [1]

    Notes
    -----
    .. math:: B = K \\cdot \\frac{8\\,MSS}{RTT}
        \\sqrt{\\frac{\\alpha (1 + \\beta)}{2 (1 - \\beta)\\,p}}

    The mean of the sawtooth of `aimd_trace` with ``increase=alpha`` and ``decrease=1 - beta``. With
    alpha = 1 and beta = 1/2 it is `mathis_bps` with :math:`C = \\sqrt{3/2}`. Holds where
    `mathis_bps` holds.

    Source: S. Floyd, M. Handley, J. Padhye, "A comparison of equation-based and AIMD congestion
    control", 2000. L. Xu et al., RFC 9438, 2023, section 4.3 (with the same meaning of beta).

    Examples
    --------
    >>> round(aimd_bps(1448, 0.02, 1e-4))
    70937223
    """
    mss, rtt, p, k = loss_arguments(mss_bytes, rtt_s, loss, streams)
    a, b = within("alpha", alpha, above=0), within("beta", beta, above=0, below=1)
    with np.errstate(divide="ignore"):
        return unwrapped(k * 8 * mss / rtt * np.sqrt(a * (1 + b) / (2 * (1 - b) * p)))


@model
def cubic_bps(mss_bytes, rtt_s, loss, beta=0.7, c=0.4, streams=1):
    """Throughput that periodic loss allows CUBIC, the default of Linux. [bit/s]

    Parameters
    ----------
    mss_bytes, rtt_s, loss, streams, beta : as in `mathis_bps` and `aimd_bps` [byte, s, 1, 1, 1]
    c : float or array
        How steep the cubic is, above 0. [segment/s^3]

    Notes
    -----
    One window per round trip; the window is the larger one of the cubic function's and of Reno's:

    .. math::

        W = \\max\\left(\\sqrt[4]{\\frac{c\\,(3 + \\beta)}{4 (1 - \\beta)}}
        \\left(\\frac{RTT}{p}\\right)^{3/4}, \\sqrt{\\frac{3}{2 p}}\\right), \\qquad
        B = K \\cdot \\frac{8\\,MSS}{RTT} W

    The second window is that of `aimd_bps` with :math:`\\alpha = 3 (1 - \\beta) / (1 + \\beta)`. So
    CUBIC and Reno are equal over short or lossy paths. With the defaults the cubic window is the
    larger one where :math:`p < 0.55\\,RTT^3`: over 20 ms below 0.0004 %, over 100 ms below 0.05 %.
    There the throughput falls only with the fourth root of the RTT.

    Steady state, one loss every 1/p segments. Ignores timeouts, slow start, fast convergence,
    buffers and the link.

    Source: L. Xu, S. Ha, I. Rhee, V. Goel, L. Eggert, "CUBIC for fast and long-distance networks",
    RFC 9438, 2023, section 5.

    Examples
    --------
    >>> reno, cubic = aimd_bps(1448, 0.1, [1e-2, 1e-6]), cubic_bps(1448, 0.1, [1e-2, 1e-6])
    >>> (cubic / reno).round(2)
    array([1.  , 4.84])
    """
    mss, rtt, p, k = loss_arguments(mss_bytes, rtt_s, loss, streams)
    b, steep = within("beta", beta, above=0, below=1), within("c", c, above=0)
    with np.errstate(divide="ignore"):
        window = (steep * (3 + b) / (4 * (1 - b))) ** 0.25 * (rtt / p) ** 0.75
        return unwrapped(k * 8 * mss / rtt * np.maximum(window, np.sqrt(3 / (2 * p))))


@model
def padhye_bps(mss_bytes, rtt_s, loss, rto_s=0.2, b=1, window_bytes=np.inf, streams=1):
    """Send rate of Reno under loss, timeouts included: the full model of Padhye et al. [bit/s]

    Parameters
    ----------
    mss_bytes, rtt_s, streams : as in `mathis_bps` [byte, s, 1]
    loss : float or array
        Probability that a segment is lost if the one before it was not, from 0 to 1; above 0.5 with
        a `ModelWarning`. [1]
    rto_s : float or array
        Length of the first timeout in a series, above 0. Linux: about the RTT plus 0.2 s. [s]
    b : float or array
        Segments that one ACK acknowledges, at least 1; 2 with delayed ACKs. [1]
    window_bytes : float or array
        As in `buffer_limited_bps`, at least `mss_bytes`. [byte]

    Notes
    -----
    Segments sent between two series of timeouts, lost ones included, divided by the time between
    them:

    .. math::

        B = K \\cdot 8\\,MSS \\cdot \\frac{\\frac{1-p}{p} + W + \\frac{\\hat Q(W)}{1-p}}
        {RTT \\cdot R + \\hat Q(W)\\,T_0 \\frac{f(p)}{1-p}}, \\qquad
        W_u = \\frac{2+b}{3b} + \\sqrt{\\frac{8(1-p)}{3bp} + \\left(\\frac{2+b}{3b}\\right)^2}

    :math:`W_u` is the mean window at a loss if no buffer limits the window. If :math:`W_u` is below
    the limit :math:`W_m`, then :math:`W = W_u` after :math:`R = \\frac{b}{2} W_u + 1` round trips.
    Otherwise :math:`W = W_m` after :math:`R = \\frac{b}{8} W_m + \\frac{1-p}{p W_m} + 2`. A loss
    leads to a timeout (always, if at most three segments are in flight) with the probability

    .. math:: \\hat Q(w) = \\min\\left(1,
        \\frac{(1-(1-p)^3)\\,(1+(1-p)^3\\,(1-(1-p)^{w-3}))}{1-(1-p)^w}\\right)

    and timeouts double up to 64 times the first: :math:`f(p) = 1+p+2p^2+4p^3+8p^4+16p^5+32p^6`.

    Holds for the Reno of the 1990s, in steady state, if all segments after a lost one in the same
    round trip are lost too, and if the RTT does not depend on the window. Today's Linux (SACK,
    RACK, TLP) avoids most of these timeouts and is faster. At :math:`W_u = W_m` the two formulas
    for R differ by (2 - b)/4: with b = 1 the rate jumps up there by a percent or so.

    Source: J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP Reno performance: a simple
    model and its empirical validation", IEEE/ACM Transactions on Networking 8(2), 2000, section II.

    Examples
    --------
    >>> f"{padhye_bps(1448, 0.020, 0.02) / 1e6:.2f} Mbit/s"
    '3.43 Mbit/s'
    """
    mss, rtt, p, rto, b, wm, k = _arguments(mss_bytes, rtt_s, loss, rto_s, b, window_bytes, streams)
    c = (2 + b) / (3 * b)
    with np.errstate(divide="ignore", invalid="ignore"):
        wu = c + np.sqrt(8 * (1 - p) / (3 * b * p) + c**2)
        # p W_u: 0 without loss, where the product would be 0 times infinity
        p_wu = p * c + np.sqrt(8 * (1 - p) * p / (3 * b) + (p * c) ** 2)
        w, p_w = np.minimum(wu, wm), np.fmin(p_wu, p * wm)
        limited = np.greater_equal(wu, wm)
        timeout = _timeout_share(p, w)
        # numerator and denominator times p (1 - p), so that both are finite for loss 0 and 1
        sent = (1 - p) ** 2 + (1 - p) * p_w + p * timeout
        rounds = limited * (b / 8 * p_w + (1 - p) / w + 2 * p) + (1 - limited) * (b / 2 * p_w + p)
        backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
        return unwrapped(
            k * 8 * mss * sent / ((1 - p) * rtt * rounds + p * timeout * rto * backoff)
        )


@model
def padhye_simple_bps(mss_bytes, rtt_s, loss, rto_s=0.2, b=1, window_bytes=np.inf, streams=1):
    """Send rate as in `padhye_bps`, with the same parameters, as most textbooks give it. [bit/s]

    Notes
    -----
    .. math::

        B = K \\cdot 8\\,MSS \\cdot \\min\\left(\\frac{W_m}{RTT},
        \\frac{1}{RTT \\sqrt{\\frac{2bp}{3}} + T_0 \\min\\left(1, 3\\sqrt{\\frac{3bp}{8}}\\right)
        p\\,(1 + 32 p^2)}\\right)

    The first term of the denominator alone gives `mathis_bps` with :math:`C = \\sqrt{3/(2b)}`; the
    second is the time spent in timeouts. It is the approximate model of section II of the
    same paper, and holds where `padhye_bps` does.

    Examples
    --------
    >>> round(padhye_simple_bps(1448, 0.02, 0.02))
    3445636
    """
    mss, rtt, p, rto, b, wm, k = _arguments(mss_bytes, rtt_s, loss, rto_s, b, window_bytes, streams)
    waiting = rto * np.minimum(1, 3 * np.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    with np.errstate(divide="ignore"):
        return unwrapped(
            k * 8 * mss * np.minimum(wm / rtt, 1 / (rtt * np.sqrt(2 * b * p / 3) + waiting))
        )


def _arguments(mss_bytes, rtt_s, loss, rto_s, b, window_bytes, streams):
    mss, rtt, p, k = loss_arguments(mss_bytes, rtt_s, loss, streams, most_loss=0.5)
    rto, acknowledged = within("rto_s", rto_s, above=0), within("b", b, least=1)
    window = within("window_bytes", window_bytes, above=0, finite=False)
    holds_a_segment("window_bytes", window, mss)
    return mss, rtt, p, rto, acknowledged, window / mss, k


def _timeout_share(p, window):
    """Q-hat of `padhye_bps`; without loss its limit, 3 / window. [1]"""
    kept = np.log1p(-np.maximum(p, np.finfo(float).tiny))
    # probability that at least one of 3, or of all segments is lost
    three, all_of_it = -np.expm1(3 * kept), -np.expm1(window * kept)
    return np.minimum(1, three * (1 + all_of_it - three) / all_of_it)
