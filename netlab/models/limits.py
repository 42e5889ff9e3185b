"""The lowest of the limits that loss, windows and the link set, and its name."""

import numpy as np
import pandas as pd

from netlab.models.argument_checks import unwrapped, within
from netlab.models.loss import MATHIS_C, mathis_bps
from netlab.models.path import buffer_limited_bps, goodput_bps


def limited_bps(
    mss_bytes, rtt_s, loss=0, rate_bps=np.inf, window_bytes=np.inf, c=MATHIS_C["periodic"],
    streams=1, frame_bytes=None,
):  # fmt: skip
    """Throughput of equal streams, limited by loss, by their windows and by the link.

    Parameters
    ----------
    mss_bytes, rtt_s, loss, c, streams : as in `mathis_bps` [byte, s, 1, 1, 1]
    rate_bps : float or array
        The link's rate, counted in whole frames, above 0; infinity is no limit. [bit/s]
    window_bytes : float or array
        As in `buffer_limited_bps`; infinity is no limit. [byte]
    frame_bytes : float or array, optional
        As in `goodput_bps`; default: `mss_bytes` and 66 bytes more. [byte]

    Returns
    -------
    float or array
        Of all streams together; infinity where nothing limits them. [bit/s]

    Notes
    -----
    .. math:: B = \\min\\left(K \\cdot C \\cdot \\frac{8\\,MSS}{RTT \\sqrt{p}},\\;
        \\frac{8 K W}{RTT},\\; R\\,\\frac{MSS}{frame}\\right)

    The lowest of `mathis_bps`, `buffer_limited_bps` and `goodput_bps`; `limiting` names it. More
    streams raise the first two, and not the third.

    Ignores that two limits can act together: where they are nearly equal, the sawtooth reaches the
    link or the window only at its top, and the mean is below both limits. Also ignores the loss and
    the delay that a full link adds. References: those of `mathis_bps`.

    Examples
    --------
    >>> path = dict(loss=1e-4, rate_bps=1e9, window_bytes=6e6)
    >>> limited_bps(1448, 0.020, **path, streams=[1, 8, 32]).round(-5) / 1e6
    array([ 70.9, 567.5, 956.4])
    """
    least, _ = _least(mss_bytes, rtt_s, loss, rate_bps, window_bytes, c, streams, frame_bytes)
    return unwrapped(least)


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


def streams_needed(bps, mss_bytes, rtt_s, loss=0, window_bytes=np.inf, c=1.0):
    """Lowest number of streams that reach a rate, if loss and its window limit each stream.

    Parameters
    ----------
    bps : float or array
        What all streams together are to carry, above 0. [bit/s]
    mss_bytes, rtt_s, loss, c : as in `mathis_bps` [byte, s, 1, 1]
    window_bytes : as in `buffer_limited_bps` [byte]

    Returns
    -------
    float or array
        A whole number, at least 1; infinity where the window is 0. [1]

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
