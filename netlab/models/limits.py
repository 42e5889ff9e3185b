"""Limits set by the path, by buffers and by loss; the lowest of them, and its name."""

import numpy as np
import pandas as pd

from netlab.models.argument_checks import holds_a_segment, model, unwrapped, within
from netlab.models.loss import MATHIS_C, mathis_bps


@model
def bandwidth_delay_product_bytes(rate_bps, rtt_s):
    """Data in flight that keeps a path full. [byte]

    Parameters
    ----------
    rate_bps : float or array
        Rate of the path's slowest link, above 0. [bit/s]
    rtt_s : float or array
        Round-trip time without queueing, at least 0. [s]

    Notes
    -----
    :math:`BDP = R \\cdot RTT / 8`. A window of this size fills the path; a larger
    one fills the bottleneck's queue, too. Linux counts its bookkeeping in a socket's buffer, so the
    labs set the maximum of the buffers to twice the BDP.

    Examples
    --------
    >>> bandwidth_delay_product_bytes(10e9, 0.02)
    25000000.0
    """
    return unwrapped(within("rate_bps", rate_bps, above=0) * within("rtt_s", rtt_s, least=0) / 8)


@model
def buffer_limited_bps(window_bytes, rtt_s, streams=1):
    """Throughput of connections that are limited by their windows. [bit/s]

    Parameters
    ----------
    window_bytes : float or array
        The smaller of the sender's and the receiver's buffer, of each connection, at least 0; may
        be infinity. [byte]
    rtt_s, streams : as in `mathis_bps` [s, 1]

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


@model
def goodput_bps(rate_bps, mss_bytes=1448, frame_bytes=1514):
    """Payload that a link carries when it is full of full segments. [bit/s]

    Parameters
    ----------
    rate_bps : float or array
        The link's rate, counted in whole frames as tc does, above 0; may be infinity. [bit/s]
    mss_bytes : as in `mathis_bps` [byte]
    frame_bytes : float or array
        Size of the frame around a segment, at least `mss_bytes`. [byte]

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


@model
def sawtooth_utilisation(queue_bytes, rate_bps, rtt_s, beta=0.5):
    """Share of its bottleneck's rate that one connection uses, if only the full queue loses. [1]

    Parameters
    ----------
    queue_bytes : float or array
        What the queue before the bottleneck holds, at least 0. [byte]
    rate_bps, rtt_s : float or array
        The bottleneck's rate, headers included, and the round-trip time while its queue is empty;
        above 0. [bit/s, s]
    beta : as in `aimd_bps` [1]

    Notes
    -----
    The window grows in even steps, one per round trip, to :math:`m = 1 + b` bandwidth-delay
    products, where the queue is :math:`b` of them; a loss takes it to :math:`w = \\beta m`. Below
    one product the link waits for the window; above it, the link is busy. The mean is

    .. math:: U = \\frac{m^2 - w^2}{2 (1 - w) + m^2 - 1} \\quad (w < 1),
        \\qquad U = 1 \\quad (w \\ge 1)

    So Reno needs a queue of one product, and CUBIC, as long as its window grows like Reno's (RFC
    9438, section 4.3), of 0.43. Ignores slow start, timeouts and several losses at a time.

    Source: G. Appenzeller, I. Keslassy, N. McKeown, "Sizing router buffers", SIGCOMM 2004, section
    2, has this sawtooth and the rule of one product.

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


@model
def limited_bps(
    mss_bytes, rtt_s, loss=0, rate_bps=np.inf, window_bytes=np.inf, c=MATHIS_C["periodic"],
    streams=1, frame_bytes=None,
):  # fmt: skip
    """Throughput of equal streams, limited by loss, by their windows and by the link. [bit/s]

    Parameters
    ----------
    mss_bytes, rtt_s, loss, c, streams : as in `mathis_bps` [byte, s, 1, 1, 1]
    rate_bps, window_bytes : as in `goodput_bps` and `buffer_limited_bps` [bit/s, byte]
    frame_bytes : float or array, optional
        As in `goodput_bps`; default: `mss_bytes` and 66 bytes more. [byte]

    Notes
    -----
    .. math:: B = \\min\\left(K \\cdot C \\cdot \\frac{8\\,MSS}{RTT \\sqrt{p}},\\;
        \\frac{8 K W}{RTT},\\; R\\,\\frac{MSS}{frame}\\right)

    The lowest of `mathis_bps`, `buffer_limited_bps` and `goodput_bps`; `limiting` names it. More
    streams raise the first two, and not the third. Infinity where nothing limits.

    Ignores that two limits can act together: where they are nearly equal, the sawtooth reaches the
    link or the window only at its top, and the mean is below both limits. Also ignores the loss and
    the delay that a full link adds.

    Examples
    --------
    >>> path = dict(loss=1e-4, rate_bps=1e9, window_bytes=6e6)
    >>> limited_bps(1448, 0.020, **path, streams=[1, 8, 32]).round(-5) / 1e6
    array([ 70.9, 567.5, 956.4])
    """
    least, _ = _least(mss_bytes, rtt_s, loss, rate_bps, window_bytes, c, streams, frame_bytes)
    return unwrapped(least)


@model
def limiting(
    mss_bytes, rtt_s, loss=0, rate_bps=np.inf, window_bytes=np.inf, c=MATHIS_C["periodic"],
    streams=1, frame_bytes=None,
):  # fmt: skip
    """Name of the lowest limit in `limited_bps`, which has the same parameters.

    Returns
    -------
    str or array of str (broadcast shape)
        ``"link"``, ``"window"`` or ``"loss"``; of two equal limits the first in this order.
        ``"nothing"`` where all three are infinite. NaN where an argument is missing.

    Examples
    --------
    >>> limiting(1448, 0.100, rate_bps=10e9, window_bytes=6e6)
    'window'
    """
    least, limits = _least(mss_bytes, rtt_s, loss, rate_bps, window_bytes, c, streams, frame_bytes)
    names = np.array(["nothing", "link", "window", "loss", np.nan], dtype=object)
    first = np.argmin(np.stack(np.broadcast_arrays(np.inf, *limits)), axis=0)
    words = names[np.where(np.isnan(least), -1, first)]
    return pd.Series(words, index=least.index) if isinstance(least, pd.Series) else words


def _least(mss_bytes, rtt_s, loss, rate_bps, window_bytes, c, streams, frame_bytes):
    """The lowest limit, and all three: link, window, loss. [bit/s]"""
    frame = within("mss_bytes", mss_bytes, above=0) + 66 if frame_bytes is None else frame_bytes
    link = goodput_bps(rate_bps, mss_bytes, frame)
    window = buffer_limited_bps(window_bytes, rtt_s, streams)
    lossy = mathis_bps(mss_bytes, rtt_s, loss, c, streams)
    return np.minimum(np.minimum(link, window), lossy), (link, window, lossy)


@model
def streams_needed(bps, mss_bytes, rtt_s, loss=0, window_bytes=np.inf, c=1.0):
    """Lowest number of streams, a whole one, that reaches a rate; loss and windows limit them. [1]

    Parameters
    ----------
    bps : float or array
        What all streams together are to carry, above 0. [bit/s]
    mss_bytes, rtt_s, loss, c : as in `mathis_bps` [byte, s, 1, 1]
    window_bytes : as in `buffer_limited_bps`; a window of 0 takes infinitely many [byte]

    Notes
    -----
    .. math:: K = \\left\\lceil \\frac{B}{\\min\\left(C \\cdot \\frac{8\\,MSS}{RTT \\sqrt{p}},
        \\frac{8 W}{RTT}\\right)} \\right\\rceil

    A rate that is too low by less than a billionth counts as reached, so that rounding errors do
    not add a stream. Ignores the link: no number of streams carries more than `goodput_bps`, and a
    full link adds losses of its own.

    Examples
    --------
    >>> streams_needed(1e9, 1448, 0.080, loss=[0, 1e-6, 1e-4])
    array([ 1.,  7., 70.])
    """
    wanted = within("bps", bps, above=0)
    one = np.minimum(mathis_bps(mss_bytes, rtt_s, loss, c), buffer_limited_bps(window_bytes, rtt_s))
    with np.errstate(divide="ignore"):
        return unwrapped(np.maximum(1, np.ceil(wanted / one * (1 - 1e-9))))
