"""Time until a connection has reached its rate, and until a file has arrived."""

import numpy as np

from netlab.models.argument_checks import unwrapped, within


def slow_start_s(window_bytes, mss_bytes, rtt_s, initial_segments=10, streams=1):
    """Time until slow start has reached a window.

    Parameters
    ----------
    window_bytes : float or array
        The window of all streams together, above 0; `bandwidth_delay_product_bytes` is the one that
        fills a path. [byte]
    mss_bytes, rtt_s : float or array
        Payload of a full segment [byte] and round-trip time [s], above 0.
    initial_segments : int or array
        The window that each stream begins with, at least 1; the standard's is 10. [segment]
    streams : int or array
        Parallel connections that begin at once, at least 1. [1]

    Returns
    -------
    float or array (broadcast shape)
        0 where the first window is large enough. [s]

    Notes
    -----
    .. math:: t = RTT \\cdot \\max\\left(0, \\log_2 \\frac{W}{K\\,w_0\\,MSS}\\right)

    Each segment is acknowledged, and each ACK adds a segment to the window, so the window doubles
    in a round trip. Eight streams save three round trips. Ignores the connection's set-up, loss,
    and HyStart, with which Linux leaves slow start earlier when the delay grows.

    References
    ----------
    M. Allman, V. Paxson, E. Blanton, "TCP congestion control", RFC 5681, 2009, section 3.1.
    J. Chu, N. Dukkipati, Y. Cheng, M. Mathis, "Increasing TCP's initial window", RFC 6928, 2013.

    Examples
    --------
    >>> slow_start_s(25e6, 1448, 0.020, streams=[1, 8]).round(3)
    array([0.215, 0.155])
    """
    window, rtt = within("window_bytes", window_bytes, above=0), within("rtt_s", rtt_s, above=0)
    first, _ = _first(mss_bytes, initial_segments, streams)
    return unwrapped(rtt * np.maximum(0, np.log2(window / first)))


def transfer_s(size_bytes, rate_bps, mss_bytes, rtt_s, initial_segments=10, streams=1):
    """Time to fetch a file, connection set-up and slow start included, after Kurose and Ross.

    Parameters
    ----------
    size_bytes : float or array
        Size of the file, which all streams carry in equal parts, above 0. [byte]
    rate_bps : float or array
        Payload that the path carries, see `goodput_bps`, above 0; may be infinity. [bit/s]
    mss_bytes, rtt_s, initial_segments, streams : float or array
        As in `slow_start_s`; the RTT without queueing. [byte, s, segment, 1]

    Returns
    -------
    float or array (broadcast shape)
        From the first SYN to the last byte. [s]

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

    References
    ----------
    J. Kurose, K. Ross, "Computer networking: a top-down approach featuring the Internet", 2nd and
    3rd editions, section 3.7, TCP latency modeling (dynamic congestion window).

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
