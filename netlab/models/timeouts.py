"""Throughput under loss with timeouts: the models of Padhye et al."""

import numpy as np

from netlab.models.argument_checks import holds_a_segment, loss_arguments, unwrapped, within


def padhye_bps(mss_bytes, rtt_s, loss, rto_s=0.2, b=1, window_bytes=np.inf, streams=1):
    """Send rate of a Reno sender under loss, timeouts included: the full model of Padhye et al.

    Parameters
    ----------
    mss_bytes, rtt_s, streams : as in `mathis_bps` [byte, s, 1]
    loss : float or array
        Probability that a segment is lost if the one before it was not, from 0 to 1. [1]
    rto_s : float or array
        Length of the first timeout in a series, above 0. Linux: about the RTT plus 0.2 s. [s]
    b : float or array
        Segments that one ACK acknowledges, at least 1; 2 with delayed ACKs. [1]
    window_bytes : float or array
        As in `buffer_limited_bps`, at least `mss_bytes`. [byte]

    Returns
    -------
    float or array
        Of all streams together, lost segments included. [bit/s]

    Notes
    -----
    Segments sent between two series of timeouts, divided by the time between them:

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

    References
    ----------
    J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP Reno performance: a simple model and
    its empirical validation", IEEE/ACM Transactions on Networking 8(2), 2000, section II.

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


def padhye_simple_bps(mss_bytes, rtt_s, loss, rto_s=0.2, b=1, window_bytes=np.inf, streams=1):
    """Send rate as in `padhye_bps`, by the approximation that most textbooks give.

    Parameters
    ----------
    mss_bytes, rtt_s, loss, rto_s, b, window_bytes, streams : as in `padhye_bps`

    Returns
    -------
    float or array [bit/s]

    Notes
    -----
    .. math::

        B = K \\cdot 8\\,MSS \\cdot \\min\\left(\\frac{W_m}{RTT},
        \\frac{1}{RTT \\sqrt{\\frac{2bp}{3}} + T_0 \\min\\left(1, 3\\sqrt{\\frac{3bp}{8}}\\right)
        p\\,(1 + 32 p^2)}\\right)

    The first term of the denominator alone gives `mathis_bps` with :math:`C = \\sqrt{3/(2b)}`; the
    second is the time spent in timeouts. Holds where the full model holds; it is the approximate
    model of section II of the same paper.
    """
    mss, rtt, p, rto, b, wm, k = _arguments(mss_bytes, rtt_s, loss, rto_s, b, window_bytes, streams)
    waiting = rto * np.minimum(1, 3 * np.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    with np.errstate(divide="ignore"):
        return unwrapped(
            k * 8 * mss * np.minimum(wm / rtt, 1 / (rtt * np.sqrt(2 * b * p / 3) + waiting))
        )


def _arguments(mss_bytes, rtt_s, loss, rto_s, b, window_bytes, streams):
    mss, rtt, p, k = loss_arguments(mss_bytes, rtt_s, loss, streams)
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
