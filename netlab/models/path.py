"""What the path and the buffers at its ends allow, whatever the losses."""

from netlab.models.argument_checks import holds_a_segment, plain, within


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
    :math:`BDP = R \\cdot RTT / 8`. A window at least this large fills the path; what exceeds it
    waits in the bottleneck's queue. Linux counts its own bookkeeping against a socket's buffer, so
    that the labs set the maxima to twice the BDP.

    Examples
    --------
    >>> bandwidth_delay_product_bytes(10e9, 0.020)
    25000000.0
    """
    return plain(within("rate_bps", rate_bps, above=0) * within("rtt_s", rtt_s, least=0) / 8)


def buffer_limited_bps(window_bytes, rtt_s, streams=1):
    """Throughput of connections that a full window limits.

    Parameters
    ----------
    window_bytes : float or array
        The smaller of the sender's and the receiver's buffer, of each connection, at least 0; may
        be infinity. [byte]
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
    One window per round trip, :math:`8 K W / RTT`. Ignores loss and the link's capacity; take the
    minimum of the three.

    Examples
    --------
    >>> f"{buffer_limited_bps(6_291_456, 0.020) / 1e9:.2f} Gbit/s"
    '2.52 Gbit/s'
    """
    window, rtt = (
        within("window_bytes", window_bytes, least=0, finite=False),
        within("rtt_s", rtt_s, above=0),
    )
    return plain(8 * within("streams", streams, least=1, whole=True) * window / rtt)


def goodput_bps(rate_bps, mss_bytes=1448, frame_bytes=1514):
    """Payload that a link carries when it is full of full segments.

    Parameters
    ----------
    rate_bps : float or array
        The link's rate, as tc counts it: in whole frames; above 0; may be infinity. [bit/s]
    mss_bytes : float or array
        Payload of a segment, above 0. [byte]
    frame_bytes : float or array
        The frame it travels in, at least `mss_bytes`. [byte]

    Returns
    -------
    float or array (broadcast shape) [bit/s]

    Notes
    -----
    :math:`R \\cdot MSS / frame`. 1514 bytes of Ethernet frame (without checksum, preamble and gap,
    which tc does not count) are 14 of Ethernet, 20 of IPv4, 32 of TCP with time stamps, and 1448 of
    payload. Ignores ACKs and retransmissions.

    Examples
    --------
    >>> f"{goodput_bps(10e9) / 1e9:.2f} Gbit/s"
    '9.56 Gbit/s'
    """
    rate = within("rate_bps", rate_bps, above=0, finite=False)
    mss, frame = (
        within("mss_bytes", mss_bytes, above=0),
        within("frame_bytes", frame_bytes, above=0),
    )
    holds_a_segment("frame_bytes", frame, mss)
    return plain(rate * mss / frame)
