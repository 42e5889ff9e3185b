"""The formulas solved for loss and for streams: what a wanted rate requires."""

import numpy as np

from netlab.models.argument_checks import unwrapped, within
from netlab.models.loss import mathis_bps
from netlab.models.path import buffer_limited_bps


def affordable_loss(bps, mss_bytes, rtt_s, c=1.0, streams=1):
    """Highest loss rate at which `mathis_bps` still reaches a rate.

    Parameters
    ----------
    bps : float or array
        What all streams together are to carry, above 0. [bit/s]
    mss_bytes : float or array
        Payload of a full segment, above 0. [byte]
    rtt_s : float or array
        Round-trip time, queueing included, above 0. [s]
    c : float or array
        Constant of the loss pattern and the ACK policy, above 0; see `MATHIS_C`. [1]
    streams : int or array
        Parallel connections that meet the same loss and RTT, at least 1. [1]

    Returns
    -------
    float or array (broadcast shape)
        Share of segments lost, at most 1. [1]

    Notes
    -----
    .. math:: p = \\min\\left(1, \\left(K \\cdot C \\cdot \\frac{8\\,MSS}{RTT \\cdot
    B}\\right)^2\\right)

    `mathis_bps` solved for p: eight streams can bear 64 times the loss of one stream. Holds where
    `mathis_bps` holds. A result above a few percent only means that random loss is not the limit.

    References
    ----------
    S. Floyd, "HighSpeed TCP for large congestion windows", RFC 3649, 2003, section 1: the question,
    for 10 Gbit/s.

    Examples
    --------
    One segment in how many may be lost at 1 Gbit/s over 80 ms, with one stream and with eight?

    >>> (1 / affordable_loss(1e9, 1448, 0.080, streams=[1, 8])).round(-3).astype(int)
    array([47694000,   745000])
    """
    if_all_is_lost = mathis_bps(mss_bytes, rtt_s, 1, c, streams)
    return unwrapped(np.minimum(1, (if_all_is_lost / within("bps", bps, above=0)) ** 2))


def streams_needed(bps, mss_bytes, rtt_s, loss=0, window_bytes=np.inf, c=1.0):
    """Lowest number of streams that reach a rate, if loss and its window limit each stream.

    Parameters
    ----------
    bps : float or array
        What all streams together are to carry, above 0. [bit/s]
    mss_bytes : float or array
        Payload of a full segment, above 0. [byte]
    rtt_s : float or array
        Round-trip time, queueing included, above 0. [s]
    loss : float or array
        Share of segments lost, from 0 to 1. [1]
    window_bytes : float or array
        The smaller of the sender's and the receiver's buffer, of each stream, at least 0; may be
        infinity. [byte]
    c : float or array
        Constant of the loss pattern and the ACK policy, above 0; see `MATHIS_C`. [1]

    Returns
    -------
    float or array (broadcast shape)
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
    >>> streams_needed(10e9, 1448, 0.020, window_bytes=6 * 2**20)
    4.0
    """
    wanted = within("bps", bps, above=0)
    one = np.minimum(mathis_bps(mss_bytes, rtt_s, loss, c), buffer_limited_bps(window_bytes, rtt_s))
    with np.errstate(divide="ignore"):
        return unwrapped(np.maximum(1, np.ceil(wanted / one * (1 - 1e-9))))
