"""Limits set by the path's rate and by the buffers at its ends, without loss."""

import numpy as np

from netlab.models.argument_checks import holds_a_segment, unwrapped, within


def bandwidth_delay_product_bytes(rate_bps, rtt_s):
    """Data in flight that keeps a path full.

    Parameters
    ----------
    rate_bps : float or array
        Rate of the path's slowest link, above 0. [bit/s]
    rtt_s : float or array
        Round-trip time without queueing, at least 0. [s]

    Returns
    -------
    float or array [byte]

    Notes
    -----
    :math:`BDP = R \\cdot RTT / 8`. A window of this size fills the path; a larger one fills the
    bottleneck's queue, too. Linux counts its bookkeeping in a socket's buffer, so the labs set the
    maximum of the buffers to twice the BDP.
    """
    return unwrapped(within("rate_bps", rate_bps, above=0) * within("rtt_s", rtt_s, least=0) / 8)


def buffer_limited_bps(window_bytes, rtt_s, streams=1):
    """Throughput of connections that are limited by their windows.

    Parameters
    ----------
    window_bytes : float or array
        The smaller of the sender's and the receiver's buffer, of each connection, at least 0; may
        be infinity. [byte]
    rtt_s : float or array
        Round-trip time, queueing included, above 0. [s]
    streams : int or array
        Parallel connections, each with its own window, at least 1. [1]

    Returns
    -------
    float or array [bit/s]

    Notes
    -----
    One window per round trip, :math:`8 K W / RTT`. Ignores loss and the link's capacity; see
    `limited_bps` for the lowest of the three limits.

    Examples
    --------
    >>> f"{buffer_limited_bps(6_291_456, 0.020) / 1e9:.2f} Gbit/s"
    '2.52 Gbit/s'
    """
    window = within("window_bytes", window_bytes, least=0, finite=False)
    rtt = within("rtt_s", rtt_s, above=0)
    return unwrapped(8 * within("streams", streams, least=1, whole=True) * window / rtt)


def goodput_bps(rate_bps, mss_bytes=1448, frame_bytes=1514):
    """Payload that a link carries when it is full of full segments.

    Parameters
    ----------
    rate_bps : float or array
        The link's rate, counted in whole frames as tc does, above 0; may be infinity. [bit/s]
    mss_bytes : float or array
        Payload of a segment, above 0. [byte]
    frame_bytes : float or array
        Size of the frame around a segment, at least `mss_bytes`. [byte]

    Returns
    -------
    float or array [bit/s]

    Notes
    -----
    :math:`R \\cdot MSS / frame`. A frame of 1514 bytes holds 14 bytes of Ethernet header, 20 of
    IPv4, 32 of TCP with time stamps, and 1448 of payload; tc does not count checksum, preamble and
    gap. Ignores ACKs and retransmissions.

    Examples
    --------
    >>> f"{goodput_bps(10e9) / 1e9:.2f} Gbit/s"
    '9.56 Gbit/s'
    """
    rate = within("rate_bps", rate_bps, above=0, finite=False)
    mss = within("mss_bytes", mss_bytes, above=0)
    frame = within("frame_bytes", frame_bytes, above=0)
    holds_a_segment("frame_bytes", frame, mss)
    return unwrapped(rate * mss / frame)


def sawtooth_utilisation(queue_bytes, rate_bps, rtt_s, beta=0.5):
    """How busy one connection keeps its bottleneck, when only the full queue loses packets.

    Parameters
    ----------
    queue_bytes : float or array
        What the queue before the bottleneck holds, at least 0. [byte]
    rate_bps : float or array
        Its rate, above 0. [bit/s]
    rtt_s : float or array
        Round-trip time while the queue is empty, above 0. [s]
    beta : float or array
        Share of the window that *remains* after a loss, between 0 and 1. Reno: 0.5, CUBIC: 0.7. [1]

    Returns
    -------
    float or array
        Share of the rate, headers included, above 0 and at most 1. [1]

    Notes
    -----
    The window grows in even steps, one per round trip, to :math:`m = 1 + b` bandwidth-delay
    products, where the queue is :math:`b` of them; a loss takes it to :math:`w = \\beta m`. Below
    one product the link waits for the window; above it, the link is busy. The mean is

    .. math:: U = \\frac{m^2 - w^2}{2 (1 - w) + m^2 - 1} \\quad (w < 1),
        \\qquad U = 1 \\quad (w \\ge 1)

    So Reno needs a queue of one product, and CUBIC, as long as its window grows like Reno's (RFC
    9438, section 4.3), of 0.43. Ignores slow start, timeouts and several losses at a time.

    References
    ----------
    G. Appenzeller, I. Keslassy, N. McKeown, "Sizing router buffers", SIGCOMM 2004, section 2, has
    this sawtooth and the rule of one product.

    Examples
    --------
    A queue of none, a quarter and the whole of the product of 20 Mbit/s and 80 ms:

    >>> sawtooth_utilisation([0, 50e3, 200e3], 20e6, 0.08).round(3)
    array([0.75 , 0.893, 1.   ])
    """
    queue = within("queue_bytes", queue_bytes, least=0, finite=False)
    rate, rtt = within("rate_bps", rate_bps, above=0), within("rtt_s", rtt_s, above=0)
    share = within("beta", beta, above=0, below=1)
    top = np.minimum(1 + 8 * queue / (rate * rtt), 1 / share)  # a longer queue only stays longer
    low = share * top
    return unwrapped((top**2 - low**2) / (2 * (1 - low) + top**2 - 1))
