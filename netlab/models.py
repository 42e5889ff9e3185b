"""What theory says a TCP connection carries: pure functions of SI numbers.

Every function takes scalars, arrays or Series and broadcasts them as numpy does; scalars give a float, Series a Series.
NaN means *missing*, and gives NaN. An argument that is outside its range, or no number, raises ``ValueError``.

A connection gets the least of what loss (`mathis_bps`), its buffers (`buffer_limited_bps`) and the link
(`goodput_bps`) allow; `parallel_bps` puts several on one link; `aimd_trace` draws the sawtooth behind Mathis's formula.
A `Model` is such a function bound to the columns of a frame of runs: `mathis`, `mathis_labs`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

__all__ = [
    "MATHIS_C", "Model", "aimd_trace", "bandwidth_delay_product_bytes", "buffer_limited_bps", "goodput_bps", "mathis",
    "mathis_bps", "mathis_labs", "parallel_bps",
]  # fmt: skip

MATHIS_C = MappingProxyType({
    "labs": 1.0,
    "periodic": (3 / 2) ** 0.5, "periodic, delayed ACKs": (3 / 4) ** 0.5,
    "random": 1.31, "random, delayed ACKs": 0.93,
})  # fmt: skip
"""The constant C of `mathis_bps` by loss pattern and ACK policy, every packet acknowledged where nothing else is said:
Mathis et al. (1997), Table 1; 1 in the labs."""


def mathis_bps(mss_bytes, rtt_s, loss, c=1.0, streams=1):
    """Throughput that random or periodic loss allows, after Mathis et al.

    Parameters
    ----------
    mss_bytes : float or array
        Payload of a full segment, above 0. [byte]
    rtt_s : float or array
        Round-trip time, queueing included, above 0. [s]
    loss : float or array
        Share of segments lost, from 0 to 1; 0 gives infinity: then something else is the limit. [1]
    c : float or array
        Constant of the loss pattern and the ACK policy, above 0; see `MATHIS_C`. [1]
    streams : int or array
        Parallel connections that meet the same loss and RTT, at least 1. [1]

    Returns
    -------
    float or array (broadcast shape)
        Of all streams together. [bit/s]

    Notes
    -----
    .. math:: B = K \\cdot C \\cdot \\frac{8\\,MSS}{RTT \\sqrt{p}}

    C = 1 is the labs' simplification; `MATHIS_C` has what Mathis et al. derive, such as :math:`\\sqrt{3/2} = 1.22`.
    Streams that differ (Hacker et al.'s sum over connections) are ``mathis_bps(mss, rtts, losses).sum()``.

    Holds for Reno-like congestion avoidance, in steady state, where neither buffers nor the link are the limit and loss
    is low enough to be repaired without timeouts (a few percent at most). When losses come in bursts, p is the rate of
    window halvings, not of lost packets. CUBIC and BBR follow other laws.

    References
    ----------
    M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm",
    ACM SIGCOMM Computer Communication Review 27(3), 1997, equation 3 and Table 1.
    T. Hacker, B. Athey, B. Noble, "The end-to-end performance effects of parallel TCP sockets on a lossy wide-area
    network", IPDPS 2002 (CITI technical report, 2001).

    Examples
    --------
    >>> f"{mathis_bps(1448, 0.020, 0.01) / 1e6:.2f} Mbit/s"
    '5.79 Mbit/s'
    >>> mathis_bps(1000, 0.1, [0.01, 0.04], streams=4) / 1e6
    array([3.2, 1.6])
    """
    mss, rtt = _within("mss_bytes", mss_bytes, above=0), _within("rtt_s", rtt_s, above=0)
    p = _within("loss", loss, least=0, most=1)
    c = _within("c", c, above=0)
    k = _within("streams", streams, least=1, whole=True)
    with np.errstate(divide="ignore"):
        return _plain(k * c * 8 * mss / (rtt * np.sqrt(p)))


def bandwidth_delay_product_bytes(rate_bps, rtt_s):
    """Data that must be under way to keep a path full.

    Parameters
    ----------
    rate_bps : float or array
        Rate of the path's slowest link, above 0. [bit/s]
    rtt_s : float or array
        Round-trip time without queueing, at least 0. [s]

    Returns
    -------
    float or array (broadcast shape) [byte]

    Notes
    -----
    :math:`BDP = R \\cdot RTT / 8`. A window at least this large fills the path; what exceeds it waits in the bottleneck's
    queue. Linux counts its own bookkeeping against a socket's buffer, so that the labs set the maxima to twice the BDP.

    Examples
    --------
    >>> bandwidth_delay_product_bytes(10e9, 0.020)
    25000000.0
    """
    return _plain(_within("rate_bps", rate_bps, above=0) * _within("rtt_s", rtt_s, least=0) / 8)


def buffer_limited_bps(window_bytes, rtt_s, streams=1):
    """Throughput of connections that a full window limits.

    Parameters
    ----------
    window_bytes : float or array
        The smaller of the sender's and the receiver's buffer, of each connection, at least 0. [byte]
    rtt_s : float or array
        Round-trip time, queueing included, above 0. [s]
    streams : int or array
        Parallel connections, each with a window of its own, at least 1. [1]

    Returns
    -------
    float or array (broadcast shape)
        Of all streams together. [bit/s]

    Notes
    -----
    One window per round trip, :math:`8 K W / RTT`. Ignores loss and the link's capacity; take the minimum of the three.

    Examples
    --------
    >>> f"{buffer_limited_bps(6_291_456, 0.020) / 1e9:.2f} Gbit/s"
    '2.52 Gbit/s'
    """
    window, rtt = _within("window_bytes", window_bytes, least=0), _within("rtt_s", rtt_s, above=0)
    return _plain(8 * _within("streams", streams, least=1, whole=True) * window / rtt)


def goodput_bps(rate_bps, mss_bytes=1448, frame_bytes=1514):
    """Payload that a link carries when it is full of full segments.

    Parameters
    ----------
    rate_bps : float or array
        The link's rate, as tc counts it: in whole frames; above 0. [bit/s]
    mss_bytes : float or array
        Payload of a segment, above 0. [byte]
    frame_bytes : float or array
        The frame it travels in, at least `mss_bytes`. [byte]

    Returns
    -------
    float or array (broadcast shape) [bit/s]

    Notes
    -----
    :math:`R \\cdot MSS / frame`. 1514 bytes of Ethernet frame (without checksum, preamble and gap, which tc does not count)
    are 14 of Ethernet, 20 of IPv4, 32 of TCP with time stamps, and 1448 of payload. Ignores ACKs and retransmissions.

    Examples
    --------
    >>> f"{goodput_bps(10e9) / 1e9:.2f} Gbit/s"
    '9.56 Gbit/s'
    """
    rate = _within("rate_bps", rate_bps, above=0)
    mss, frame = _within("mss_bytes", mss_bytes, above=0), _within("frame_bytes", frame_bytes, above=0)
    payloads, frames = np.broadcast_arrays(mss, frame)
    if (small := frames < payloads).any():
        at_least, got = payloads[small][0], frames[small][0]
        raise ValueError(f"frame_bytes must be at least mss_bytes ({at_least:g}), which it carries; not {got:g}")
    return _plain(rate * mss / frame)


def parallel_bps(single_bps, streams, link_bps):
    """Throughput of equal streams that share one link.

    Parameters
    ----------
    single_bps : float or array
        What one stream would carry alone: the least of what loss and its buffers allow, 0 to infinity. [bit/s]
    streams : int or array
        Parallel connections, at least 1. [1]
    link_bps : float or array
        What the link carries, see `goodput_bps`, above 0; may be infinity. [bit/s]

    Returns
    -------
    float or array (broadcast shape)
        Of all streams together. [bit/s]

    Notes
    -----
    :math:`\\min(K B_1, L)`: streams add up until the link is full. Ignores that a full link adds loss and delay of its
    own, so it is too high around the knee.

    Examples
    --------
    >>> parallel_bps(3e9, [1, 2, 4, 8], link_bps=9.5e9) / 1e9
    array([3. , 6. , 9.5, 9.5])
    """
    single = _within("single_bps", single_bps, least=0, finite=False)
    link = _within("link_bps", link_bps, above=0, finite=False)
    return _plain(np.minimum(_within("streams", streams, least=1, whole=True) * single, link))


def aimd_trace(mss_bytes, rtt_s, duration_s, loss_times_s=(), start_bytes=None, limit_bytes=None, increase=1.0, decrease=0.5):
    """The sawtooth: one connection's congestion window, round trip by round trip.

    Parameters
    ----------
    mss_bytes, rtt_s : float
        Segment size [byte] and round-trip time [s], above 0. All arguments but `loss_times_s` are scalars.
    duration_s : float
        How long to follow the connection, at least 0. [s]
    loss_times_s : sequence of float
        When a loss happens, from 0 to `duration_s`; several within one round trip count as one. [s]
    start_bytes : float, optional
        The window to begin with, at least one MSS, which is the default. [byte]
    limit_bytes : float, optional
        What the path holds (BDP and queue), at least one MSS: a window above it meets a loss. Default: no limit. [byte]
    increase, decrease : float
        Segments gained in a round trip without loss, above 0 [1], and the share of the window given up in one with loss,
        between 0 and 1 [1]. Reno: 1 and 0.5.

    Returns
    -------
    pandas.DataFrame
        A row per round trip: ``time_s`` (its beginning) [s], ``cwnd_bytes`` [byte], ``sent_bps`` (a window per RTT) [bit/s].

    Notes
    -----
    AIMD(decrease, increase), congestion avoidance only:

    .. math:: W \\leftarrow W + a\\,MSS \\quad\\text{or, after a loss,}\\quad W \\leftarrow \\max((1 - b) W, MSS)

    Ignores slow start, timeouts, and the delay that a queue adds. ``increase=8, decrease=0.06`` is the single stream
    that ORNL tuned to match eight Reno streams: one loss costs the eight 1/16 of their sum.

    References
    ----------
    D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion avoidance in computer
    networks", Computer Networks and ISDN Systems 17, 1989.
    J. Crowcroft, P. Oechslin, "Differentiated end-to-end Internet services using a weighted proportional fair sharing
    TCP", ACM SIGCOMM Computer Communication Review 28(3), 1998 (MulTCP).

    Examples
    --------
    >>> aimd_trace(1000, 0.1, 0.5, loss_times_s=[0.2], start_bytes=8000).cwnd_bytes.tolist()
    [8000.0, 9000.0, 10000.0, 5000.0, 6000.0, 7000.0]
    """
    mss, rtt = _scalar("mss_bytes", mss_bytes, above=0), _scalar("rtt_s", rtt_s, above=0)
    duration = _scalar("duration_s", duration_s, least=0)
    start = mss if start_bytes is None else _scalar("start_bytes", start_bytes, least=mss)
    limit = np.inf if limit_bytes is None else _scalar("limit_bytes", limit_bytes, least=mss)
    gain = mss * _scalar("increase", increase, above=0)
    keep = 1 - _scalar("decrease", decrease, above=0, below=1)

    def rounds(time):  # 0.3 s are three round trips of 0.1 s, whatever 0.3 / 0.1 is
        return math.floor(round(time / rtt, 9))

    lossy = {rounds(_scalar("loss_times_s", time, least=0, most=duration)) for time in loss_times_s}
    time_s = rtt * np.arange(rounds(duration) + 1)
    cwnd = np.empty(time_s.size)
    cwnd[0] = start
    for i, window in enumerate(cwnd[:-1]):
        cwnd[i + 1] = max(keep * window, mss) if i in lossy or window > limit else window + gain
    return pd.DataFrame({"time_s": time_s, "cwnd_bytes": cwnd, "sent_bps": 8 * cwnd / rtt})


def _within(name, value, above=None, least=None, below=None, most=None, whole=False, finite=True):
    """The argument as floats (a Series stays one), or ValueError; NaN passes."""
    numeric = is_numeric_dtype(value) if isinstance(value, pd.Series) else np.asarray(value).dtype.kind in "iuf"
    if not numeric:
        raise ValueError(f"{name} must be numbers in SI units, not {value!r} (netlab.units reads '20ms' and the like)")
    numbers = value.astype(float) if isinstance(value, pd.Series) else np.asarray(value, dtype=float)
    array = np.asarray(numbers)
    limits = [("above", np.greater, above), ("at least", np.greater_equal, least)]
    limits += [("below", np.less, below), ("at most", np.less_equal, most)]
    allowed = [(f"{words} {limit:g}", test(array, limit)) for words, test, limit in limits if limit is not None]
    allowed += [("finite", ~np.isinf(array))] * finite + [("whole", array == np.floor(array))] * whole
    bad = array[~np.logical_and.reduce([good for _, good in allowed]) & ~np.isnan(array)]
    if bad.size:
        raise ValueError(f"{name} must be {' and '.join(words for words, _ in allowed)}, not {bad[0]:g}")
    return numbers


def _scalar(name, value, **limits):
    number = np.asarray(_within(name, value, **limits))
    if number.ndim or np.isnan(number):
        raise ValueError(f"{name} must be one number, not {value!r}")
    return float(number)


def _plain(result):
    return float(result) if np.ndim(result) == 0 else result


@dataclass(frozen=True)
class Model:
    """A model bound to a frame's columns, as `netlab.plots.prediction` takes it.

    Parameters
    ----------
    label : str
        What a legend calls it.
    predict : callable
        From a frame of runs to what all streams of each row carry; a missing column is a ``ValueError``. [bit/s]

    Examples
    --------
    >>> twice = Model("twice the labs'", lambda runs: 2 * mathis_labs(runs))
    >>> runs = pd.DataFrame({"mss_bytes": [1448], "base_rtt_s": [0.020], "loss_rate": [0.01], "streams": [8]})
    >>> (twice(runs) / 1e6).tolist()
    [92.672]
    """

    label: str
    predict: Callable

    def __call__(self, frame):
        try:
            return self.predict(frame)
        except KeyError as error:
            raise ValueError(f"{self.label} needs the column {error}, not among {', '.join(map(str, frame))}") from None


def _mathis(label, c):
    def predict(runs):
        mss, link = runs["mss_bytes"], np.inf  # the link is no limit where its rate is infinite, or not known
        if "bottleneck_bps" in runs:
            rate = runs["bottleneck_bps"]
            link = goodput_bps(rate.where(rate < np.inf), mss, mss + 66).fillna(np.inf)  # headers as in goodput_bps
        return parallel_bps(mathis_bps(mss, runs["base_rtt_s"], runs["loss_rate"], c), runs["streams"], link)

    return Model(label, predict)


mathis = _mathis("Mathis, C = √(3/2)", MATHIS_C["periodic"])
"""`mathis_bps` of the columns ``mss_bytes``, ``base_rtt_s``, ``loss_rate`` and ``streams``, periodic loss, each segment
acknowledged; never more than the link carries where there is a column ``bottleneck_bps``. Ignores queueing. [bit/s]"""

mathis_labs = _mathis("Mathis, C = 1 (the labs)", MATHIS_C["labs"])
"""As `mathis`, with the labs' constant. [bit/s]"""
