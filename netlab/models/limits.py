"""The lowest of the limits that loss, windows and the link set, and its name."""

import numpy as np
import pandas as pd

from netlab.models.argument_checks import unwrapped, within
from netlab.models.loss import MATHIS_C, mathis_bps
from netlab.models.path import buffer_limited_bps, goodput_bps


def limited_bps(
    mss_bytes,
    rtt_s,
    loss=0,
    rate_bps=np.inf,
    window_bytes=np.inf,
    c=MATHIS_C["periodic"],
    streams=1,
    frame_bytes=None,
):
    """Throughput of equal streams, limited by loss, by their windows and by the link.

    Parameters
    ----------
    mss_bytes : float or array
        Payload of a full segment, above 0. [byte]
    rtt_s : float or array
        Round-trip time, queueing included, above 0. [s]
    loss : float or array
        Share of segments lost, from 0 to 1; 0 is no limit. [1]
    rate_bps : float or array
        The link's rate, counted in whole frames, above 0; infinity is no limit. [bit/s]
    window_bytes : float or array
        The smaller of the sender's and the receiver's buffer, of each stream, at least 0; infinity
        is no limit. [byte]
    c : float or array
        Constant of the loss pattern and the ACK policy, above 0; see `MATHIS_C`. [1]
    streams : int or array
        Parallel connections that meet the same loss and RTT, at least 1. [1]
    frame_bytes : float or array, optional
        Size of the frame around a segment; default: `mss_bytes` and 66 bytes more, see
        `goodput_bps`. [byte]

    Returns
    -------
    float or array (broadcast shape)
        Of all streams together; infinity where nothing limits them. [bit/s]

    Notes
    -----
    .. math:: B = \\min\\left(K \\cdot C \\cdot \\frac{8\\,MSS}{RTT \\sqrt{p}},\\;
        \\frac{8 K W}{RTT},\\; R\\,\\frac{MSS}{frame}\\right)

    The lowest of `mathis_bps`, `buffer_limited_bps` and `goodput_bps`; `limiting` names it. More
    streams raise the first two, and not the third.

    Ignores that two limits can act together: where they are nearly equal, the sawtooth reaches the
    link or the window only at its top, and the mean is below both limits. Also ignores the loss and
    the delay that a full link adds.

    References
    ----------
    Those of `mathis_bps`.

    Examples
    --------
    >>> path = dict(loss=1e-4, rate_bps=1e9, window_bytes=6e6)
    >>> limited_bps(1448, 0.020, **path, streams=[1, 8, 32]).round(-5) / 1e6
    array([ 70.9, 567.5, 956.4])
    """
    least, _ = _least(mss_bytes, rtt_s, loss, rate_bps, window_bytes, c, streams, frame_bytes)
    return unwrapped(least)


def limiting(
    mss_bytes,
    rtt_s,
    loss=0,
    rate_bps=np.inf,
    window_bytes=np.inf,
    c=MATHIS_C["periodic"],
    streams=1,
    frame_bytes=None,
):
    """Name of the lowest limit in `limited_bps`.

    Parameters
    ----------
    mss_bytes, rtt_s, loss, rate_bps, window_bytes, c, streams, frame_bytes
        As in `limited_bps`. [byte, s, 1, bit/s, byte, 1, 1, byte]

    Returns
    -------
    str or array of str (broadcast shape)
        ``"link"``, ``"window"`` or ``"loss"``; of two equal limits the first in this order.
        ``"nothing"`` where all three are infinite. NaN where an argument is missing.

    Examples
    --------
    >>> path = dict(loss=1e-4, rate_bps=1e9, window_bytes=6e6)
    >>> limiting(1448, 0.020, **path, streams=[1, 8, 32]).tolist()
    ['loss', 'loss', 'link']
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
    # headers as in goodput_bps
    frame = within("mss_bytes", mss_bytes, above=0) + 66 if frame_bytes is None else frame_bytes
    link = goodput_bps(rate_bps, mss_bytes, frame)
    window = buffer_limited_bps(window_bytes, rtt_s, streams)
    lossy = mathis_bps(mss_bytes, rtt_s, loss, c, streams)
    return np.minimum(np.minimum(link, window), lossy), (link, window, lossy)
