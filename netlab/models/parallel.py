"""Connections side by side: what they carry together, and how they share one link."""

import numpy as np

from netlab.models.argument_checks import plain, within
from netlab.models.loss import mathis_bps


def parallel_bps(single_bps, streams, link_bps):
    """Throughput of equal streams that share one link.

    Parameters
    ----------
    single_bps : float or array
        What one stream would carry alone: the least of what loss and its buffers allow, 0 to
        infinity. [bit/s]
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
    :math:`\\min(K B_1, L)`: streams add up until the link is full. Ignores that a full link adds
    loss and delay of its own, so it is too high around the knee.

    Examples
    --------
    >>> parallel_bps(3e9, [1, 2, 4, 8], link_bps=9.5e9) / 1e9
    array([3. , 6. , 9.5, 9.5])
    """
    single = within("single_bps", single_bps, least=0, finite=False)
    link = within("link_bps", link_bps, above=0, finite=False)
    return plain(np.minimum(within("streams", streams, least=1, whole=True) * single, link))


def hacker_bps(mss_bytes, rtt_s, loss, c=1.0):
    """Throughput that loss allows connections which may differ, after Hacker et al.: the sum of
    `mathis_bps`.

    Parameters
    ----------
    mss_bytes, rtt_s, loss, c : float or array
        Of each connection, as in `mathis_bps`; the connections lie along the last axis of the
        broadcast shape. [byte, s, 1, 1]

    Returns
    -------
    float or array (broadcast shape without its last axis)
        Of all connections together; missing if one of them is. [bit/s]

    Notes
    -----
    .. math:: B = \\sum_{i=1}^{K} C_i \\frac{8\\,MSS_i}{RTT_i \\sqrt{p_i}}

    K equal connections are ``mathis_bps(..., streams=K)``, or one connection with K times the MSS
    (the *virtual MSS*): it recovers from a loss K times as fast.

    Holds where `mathis_bps` does, and only while the network is not congested. There the loss rates
    are the path's own, whatever is sent. Once the added connections fill the link, their own queue
    overflows: the loss rates and the RTT rise, and the sum stays at what the link carries
    (`parallel_bps`).

    References
    ----------
    T. Hacker, B. Athey, B. Noble, "The end-to-end performance effects of parallel TCP sockets on a
    lossy wide-area network", IPDPS 2002 (CITI technical report, 2001).

    Examples
    --------
    >>> f"{hacker_bps(1448, [0.020, 0.080], [0.01, 0.0001]) / 1e6:.2f} Mbit/s"
    '20.27 Mbit/s'
    """
    each = np.atleast_1d(np.asarray(mathis_bps(mss_bytes, rtt_s, loss, c)))
    return plain(each.sum(axis=-1))


def altman_bps(link_bps, flows, beta=0.5):
    """Throughput of flows that fill a link without a queue and lose one at a time, after Altman et
    al.

    Parameters
    ----------
    link_bps : float or array
        What the link carries, see `goodput_bps`, above 0. [bit/s]
    flows : int or array
        Connections that share it, at least 1. [1]
    beta : float or array
        Share of its rate that *remains* to the flow which meets a loss, between 0 and 1. Reno: 0.5.
        [1]

    Returns
    -------
    float or array (broadcast shape)
        Of all flows together, mean over time. [bit/s]

    Notes
    -----
    .. math:: B = L \\left(1 - \\frac{1}{1 + N \\frac{1 + \\beta}{1 - \\beta}}\\right), \\qquad
        \\text{with } \\beta = \\tfrac{1}{2}: \\quad B = L\\,\\frac{3N}{3N + 1}

    All flows add to their rates at the same pace. Whenever the sum reaches L, exactly *one* flow is
    signalled and goes on with beta times its rate. Which one, by chance or by any rule that leaves
    the rates stationary, makes no difference (insensitivity). So three flows fill 90 % of the link,
    six almost 95 %, and more add little.

    Where *all* flows reduce their rates at once (synchronised losses), the mean is :math:`\\frac{1
    + \\beta}{2} L` however many there are: 75 % for Reno. A queue of one bandwidth-delay product
    keeps the link full in either case of Reno.

    References
    ----------
    E. Altman, D. Barman, B. Tuffin, M. Vojnović, "Parallel TCP sockets: simple model, throughput
    and validation", INFOCOM 2006 (technical report MSR-TR-2005-130).

    Examples
    --------
    >>> altman_bps(1.0, [1, 2, 3, 6]).round(3)
    array([0.75 , 0.857, 0.9  , 0.947])
    """
    link, n = within("link_bps", link_bps, above=0), within("flows", flows, least=1, whole=True)
    b = within("beta", beta, above=0, below=1)
    return plain(link * (1 - 1 / (1 + n * (1 + b) / (1 - b))))


def rtt_shares(rtt_s, streams=1, exponent=1.0):
    """How flows whose round trips differ share one bottleneck.

    Parameters
    ----------
    rtt_s : float or array
        Round-trip time of each group of flows, queueing included, above 0; the groups lie along the
        last axis. [s]
    streams : int or array
        Flows in each group, at least 1. [1]
    exponent : float or array
        How steeply throughput falls with the RTT, at least 0; see Notes. [1]

    Returns
    -------
    float or array (broadcast shape)
        Of each group; they sum to 1 along the last axis, and are all missing if one group is. [1]

    Notes
    -----
    .. math:: s_i = \\frac{K_i\\,RTT_i^{-e}}{\\sum_j K_j\\,RTT_j^{-e}}

    e = 1: all flows meet the same loss rate, so that p cancels out of `mathis_bps`. Losses that
    strike at random do this.

    e = 2: losses strike all flows at the same moments, as a drop-tail queue that overflows may do.
    Each flow gains one MSS per RTT in each RTT, so between two losses its rate grows in proportion
    to :math:`RTT^{-2}`, and so does its mean.

    Lakshman and Madhow find drop-tail bottlenecks between the two. e = 0 is a scheduler that treats
    all flows alike.

    Holds for Reno-like flows of one MSS, in steady state, which neither their buffers nor losses
    elsewhere limit. A queue adds the same delay to all: use the RTTs that include it. CUBIC, in its
    own region, depends less on the RTT.

    References
    ----------
    T. V. Lakshman, U. Madhow, "The performance of TCP/IP for networks with high bandwidth-delay
    products and random loss", IEEE/ACM Transactions on Networking 5(3), 1997.

    Examples
    --------
    >>> rtt_shares([0.020, 0.080])
    array([0.8, 0.2])
    >>> rtt_shares([0.020, 0.080], streams=[1, 4])
    array([0.5, 0.5])
    """
    rtt, k = within("rtt_s", rtt_s, above=0), within("streams", streams, least=1, whole=True)
    weights = k * rtt ** -within("exponent", exponent, least=0)
    total = np.sum(np.asarray(weights), axis=-1, keepdims=True)
    return plain(weights / np.broadcast_to(total, np.shape(weights)))
