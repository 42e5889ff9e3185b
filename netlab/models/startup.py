"""The start of a connection, the time until a file has arrived, and windows over time."""

import math

import numpy as np
import pandas as pd

from netlab.models.argument_checks import model, scalar, unwrapped, within


@model
def slow_start_s(window_bytes, mss_bytes, rtt_s, initial_segments=10, streams=1):
    """Time until slow start has reached a window; 0 where the first window is as large. [s]

    Parameters
    ----------
    window_bytes : float or array
        The window of all streams together, above 0; `bandwidth_delay_product_bytes` is the one that
        fills a path. [byte]
    mss_bytes, rtt_s, streams : as in `mathis_bps` [byte, s, 1]
    initial_segments : int or array
        The window that each stream begins with, at least 1; the standard's is 10. [segment]

    Notes
    -----
    .. math:: t = RTT \\cdot \\max\\left(0, \\log_2 \\frac{W}{K\\,w_0\\,MSS}\\right)

    Each segment is acknowledged, and each ACK adds a segment to the window, so the window doubles
    in a round trip. Eight streams save three round trips. Ignores the connection's set-up, loss,
    and HyStart, with which Linux leaves slow start earlier when the delay grows.

    Source: M. Allman, V. Paxson, E. Blanton, "TCP congestion control", RFC 5681, 2009, section 3.1.
    J. Chu, N. Dukkipati, Y. Cheng, M. Mathis, "Increasing TCP's initial window", RFC 6928, 2013.

    Examples
    --------
    >>> slow_start_s(25e6, 1448, 0.020, streams=[1, 8]).round(3)
    array([0.215, 0.155])
    """
    window, rtt = within("window_bytes", window_bytes, above=0), within("rtt_s", rtt_s, above=0)
    first, _ = _first(mss_bytes, initial_segments, streams)
    return unwrapped(rtt * np.maximum(0, np.log2(window / first)))


@model
def transfer_s(size_bytes, rate_bps, mss_bytes, rtt_s, initial_segments=10, streams=1):
    """Time to fetch a file, from the first SYN to the last byte, after Kurose and Ross. [s]

    Parameters
    ----------
    size_bytes : float or array
        Size of the file, which all streams carry in equal parts, above 0. [byte]
    rate_bps : float or array
        Payload that the path carries, see `goodput_bps`, above 0; may be infinity. [bit/s]
    mss_bytes, rtt_s, initial_segments, streams : as in `slow_start_s` [byte, s, segment, 1]
        The RTT is that without queueing.

    Notes
    -----
    The first round trip sets the connection up, the second carries the request. Then the sender
    waits after each window that it has sent before the window's first ACK arrives. With O the size
    of the file, R the rate and S = K MSS (K streams count as one stream with K times the MSS):

    .. math:: t = 2\\,RTT + \\frac{8 O}{R} + \\sum_{k=1}^{P}
        \\left(\\frac{8 S}{R} + RTT - 2^{k-1} w_0 \\frac{8 S}{R}\\right)

    P = min(Q, M - 1): the first Q windows have a wait above 0, and the file takes M windows, with
    no wait after the last one. In the book :math:`w_0 = 1`. The time of small files over long paths
    depends on round trips, and hardly on the rate.

    Holds without loss, with an ACK per segment, if neither buffers nor a threshold end slow start
    before the path is full, and if the queue holds what exceeds the path. Ignores headers, and the
    time to send requests and ACKs.

    Source: J. Kurose, K. Ross, "Computer networking: a top-down approach featuring the Internet",
    2nd and 3rd editions, section 3.7, TCP latency modeling (dynamic congestion window).

    Examples
    --------
    >>> transfer_s(1e6, [10e6, 100e6, 1e9], 1448, 0.100).round(2)
    array([1.23, 0.81, 0.8 ])
    """
    size, rtt = within("size_bytes", size_bytes, above=0), within("rtt_s", rtt_s, above=0)
    rate = within("rate_bps", rate_bps, above=0, finite=False)
    first, segment = _first(mss_bytes, initial_segments, streams)
    windows = np.ceil(np.log2(size / first + 1) - 1e-9)  # M
    too_small = np.ceil(np.log2((segment + rtt * rate / 8) / first))  # Q
    waits = np.maximum(0, np.minimum(too_small, windows - 1))
    return unwrapped(
        2 * rtt + waits * rtt + 8 * (size + waits * segment - (2**waits - 1) * first) / rate
    )


def _first(mss_bytes, initial_segments, streams):
    """The first window of all streams together, and one segment of each. [byte]"""
    count = within("streams", streams, least=1, whole=True)
    segment = count * within("mss_bytes", mss_bytes, above=0)
    return within("initial_segments", initial_segments, least=1, whole=True) * segment, segment


@model
def slow_start_trace(
    mss_bytes, rtt_s, duration_s, initial_segments=10, threshold_bytes=None, limit_bytes=None
):
    """The start of a connection: its window doubles up to the threshold, then grows linearly.

    Parameters
    ----------
    mss_bytes, rtt_s : float
        Segment size [byte] and round-trip time [s], above 0. All arguments are scalars.
    duration_s : float
        How long to follow the connection, at least 0. [s]
    initial_segments : as in `slow_start_s` [segment]
    threshold_bytes : float, optional
        Window at which slow start ends (ssthresh), at least one MSS. Default: never. [byte]
    limit_bytes : float, optional
        The smaller of the two buffers, at least one MSS: the window grows no further. Default: no
        limit. [byte]

    Returns
    -------
    pandas.DataFrame
        As from `aimd_trace`.

    Notes
    -----
    .. math:: W &\\leftarrow \\min(2 W, W_t) \\quad\\text{while } W < W_t \\\\
        W &\\leftarrow W + MSS \\quad\\text{then}

    Holds where `slow_start_s` holds, which has the time as a formula, without threshold and limit,
    and the sources. Ignores the delay that a queue adds, too.

    Examples
    --------
    >>> trace = slow_start_trace(1000, 0.1, 0.5, initial_segments=2, threshold_bytes=12_000)
    >>> trace.cwnd_bytes.tolist()
    [2000.0, 4000.0, 8000.0, 12000.0, 13000.0, 14000.0]
    """
    mss, rtt = scalar("mss_bytes", mss_bytes, above=0), scalar("rtt_s", rtt_s, above=0)
    duration = scalar("duration_s", duration_s, least=0)
    start = mss * scalar("initial_segments", initial_segments, least=1, whole=True)
    threshold = _window("threshold_bytes", threshold_bytes, mss, np.inf)
    limit = _window("limit_bytes", limit_bytes, mss, np.inf)

    def following(_, window):
        return min(2 * window, threshold, limit) if window < threshold else min(window + mss, limit)

    return _trace(rtt, duration, min(start, limit), following)


@model
def aimd_trace(
    mss_bytes, rtt_s, duration_s, loss_times_s=(), start_bytes=None, limit_bytes=None,
    increase=1.0, decrease=0.5,
):  # fmt: skip
    """The sawtooth: one connection's congestion window, round trip by round trip.

    Parameters
    ----------
    mss_bytes, rtt_s, duration_s : as in `slow_start_trace` [byte, s, s]
    loss_times_s : sequence of float
        When a loss happens, from 0 to `duration_s`; several within one round trip count as one. [s]
    start_bytes : float, optional
        The first window, at least one MSS, which is the default. [byte]
    limit_bytes : float, optional
        What fits into the path and its queue, at least one MSS: a larger window meets a loss.
        Default: no limit. [byte]
    increase, decrease : float
        Segments added in a round trip without loss, above 0 [1], and the share of the window that a
        loss takes away, between 0 and 1 [1]. Reno: 1 and 0.5.

    Returns
    -------
    pandas.DataFrame
        A row per round trip: ``time_s`` (its start) [s], ``cwnd_bytes`` [byte], ``sent_bps`` (one
        window per RTT) [bit/s].

    Notes
    -----
    AIMD(decrease, increase), congestion avoidance only; the second line is a loss:

    .. math:: W &\\leftarrow W + a\\,MSS \\\\
        W &\\leftarrow \\max((1 - b) W, MSS)

    Ignores slow start, timeouts, and the delay that a queue adds. With ``increase=8,
    decrease=0.06`` it is the single stream that ORNL tuned to match eight Reno streams: a loss in
    one of the eight takes away 1/16 of their sum.

    References
    ----------
    D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion avoidance
    in computer networks", Computer Networks and ISDN Systems 17, 1989. J. Crowcroft, P. Oechslin,
    "Differentiated end-to-end Internet services using a weighted proportional fair sharing TCP",
    ACM SIGCOMM Computer Communication Review 28(3), 1998 (MulTCP).

    Examples
    --------
    >>> aimd_trace(1000, 0.1, 0.5, loss_times_s=[0.2], start_bytes=8000).cwnd_bytes.tolist()
    [8000.0, 9000.0, 10000.0, 5000.0, 6000.0, 7000.0]
    """
    mss, rtt = scalar("mss_bytes", mss_bytes, above=0), scalar("rtt_s", rtt_s, above=0)
    duration = scalar("duration_s", duration_s, least=0)
    start = _window("start_bytes", start_bytes, mss, mss)
    limit = _window("limit_bytes", limit_bytes, mss, np.inf)
    gain = mss * scalar("increase", increase, above=0)
    keep = 1 - scalar("decrease", decrease, above=0, below=1)
    lossy = {
        _rounds(scalar("loss_times_s", time, least=0, most=duration), rtt) for time in loss_times_s
    }

    def following(i, window):
        return max(keep * window, mss) if i in lossy or window > limit else window + gain

    return _trace(rtt, duration, start, following)


def _window(name, value, mss, default):
    return default if value is None else scalar(name, value, least=mss)


def _rounds(time, rtt):
    """Number of whole round trips; rounded first, as 0.3 / 0.1 is below 3 in floating point."""
    return math.floor(round(time / rtt, 9))


def _trace(rtt, duration, start, following):
    """A row per round trip; ``following(number, window)`` gives the next round trip's window."""
    windows = [start]
    for i in range(_rounds(duration, rtt)):
        windows.append(following(i, windows[-1]))
    cwnd = np.array(windows)
    return pd.DataFrame(
        {"time_s": rtt * np.arange(cwnd.size), "cwnd_bytes": cwnd, "sent_bps": 8 * cwnd / rtt}
    )
