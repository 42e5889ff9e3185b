"""How long a connection takes to reach its rate, and a file to arrive."""

import numpy as np

from netlab.models.argument_checks import plain, within


def slow_start_s(window_bytes, mss_bytes, rtt_s, initial_segments=10, streams=1):
    """Time until slow start has reached a window.

    Parameters
    ----------
    window_bytes : float or array
        The window of all streams together, above 0; to fill a path:
        `bandwidth_delay_product_bytes`. [byte]
    mss_bytes : float or array
        Payload of a full segment, above 0. [byte]
    rtt_s : float or array
        Round-trip time, queueing included, above 0. [s]
    initial_segments : int or array
        The window that each stream begins with, at least 1; 10 is the standard's and Linux's.
        [segment]
    streams : int or array
        Parallel connections that begin at once, at least 1. [1]

    Returns
    -------
    float or array (broadcast shape)
        0 where the streams begin with as much. [s]

    Notes
    -----
    .. math:: t = RTT \\cdot \\max\\left(0, \\log_2 \\frac{W}{K\\,w_0\\,MSS}\\right)

    Each segment is acknowledged and adds one to the window, which so doubles in a round trip. Eight
    streams save three round trips. Ignores the connection's set-up and loss, and that Linux leaves
    slow start earlier where HyStart sees delay grow.

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
    return plain(rtt * np.maximum(0, np.log2(window / first)))


def transfer_s(size_bytes, rate_bps, mss_bytes, rtt_s, initial_segments=10, streams=1):
    """Time to fetch a file, connection set-up and slow start included, after Kurose and Ross.

    Parameters
    ----------
    size_bytes : float or array
        The file, in equal parts on all streams, above 0. [byte]
    rate_bps : float or array
        Payload that the path carries, see `goodput_bps`, above 0; may be infinity. [bit/s]
    mss_bytes : float or array
        Payload of a full segment, above 0. [byte]
    rtt_s : float or array
        Round-trip time without queueing, above 0. [s]
    initial_segments : int or array
        The window that each stream begins with, at least 1; 10 is the standard's and Linux's.
        [segment]
    streams : int or array
        Parallel connections that begin at once, at least 1. [1]

    Returns
    -------
    float or array (broadcast shape)
        From the first SYN to the last byte. [s]

    Notes
    -----
    One round trip sets the connection up, a second asks for the file. The sender then waits after
    each window that is sent before its first ACK returns; with O the file, R the rate and S = K MSS
    (K streams are one of K times the MSS):

    .. math:: t = 2\\,RTT + \\frac{8 O}{R} + \\sum_{k=1}^{P} \\left(\\frac{8 S}{R} + RTT - 2^{k-1}
    w_0 \\frac{8 S}{R}\\right)

    P = min(Q, M - 1), where the waits of the first Q windows are above 0, and M windows hold the
    file: after the last one nothing is left to wait for. In the book :math:`w_0 = 1`; small files
    over long paths take round trips, not bandwidth.

    Holds without loss, while neither buffers nor a threshold end slow start before the path is full
    and its queue holds what exceeds it, with each segment acknowledged. Ignores headers and the
    time that requests and ACKs take to send.

    References
    ----------
    J. Kurose, K. Ross, "Computer networking: a top-down approach featuring the Internet", 2nd and
    3rd editions, section 3.7, TCP latency modeling (dynamic congestion window). J. Chu, N.
    Dukkipati, Y. Cheng, M. Mathis, "Increasing TCP's initial window", RFC 6928, 2013.

    Examples
    --------
    >>> transfer_s(1e6, [10e6, 100e6, 1e9], 1448, 0.100).round(2)
    array([1.23, 0.81, 0.8 ])
    """
    size, rate = (
        within("size_bytes", size_bytes, above=0),
        within("rate_bps", rate_bps, above=0, finite=False),
    )
    rtt = within("rtt_s", rtt_s, above=0)
    first, segment = _first(mss_bytes, initial_segments, streams)
    # first, twice, four times ... that hold the file
    windows = np.ceil(np.log2(size / first + 1) - 1e-9)
    # so many windows are sent before their first ACK
    too_small = np.ceil(np.log2((segment + rtt * rate / 8) / first))
    waits = np.maximum(0, np.minimum(too_small, windows - 1))
    return plain(
        2 * rtt + waits * rtt + 8 * (size + waits * segment - (2**waits - 1) * first) / rate
    )


def _first(mss_bytes, initial_segments, streams):
    """The first window of all streams together, and one segment of each. [byte]"""
    segment = within("streams", streams, least=1, whole=True) * within(
        "mss_bytes", mss_bytes, above=0
    )
    return within("initial_segments", initial_segments, least=1, whole=True) * segment, segment
