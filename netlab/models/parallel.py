"""Connections that share one link: their total throughput, and the share of each."""

import numpy as np

from netlab.models.argument_checks import model, unwrapped, within
from netlab.models.loss import mathis_bps


@model
def parallel_bps(single_bps, streams, link_bps):
    """Throughput of equal streams that share one link. [bit/s]

    Parameters
    ----------
    single_bps : float or array
        Throughput of one stream alone; 0 to infinity. [bit/s]
    streams : as in `mathis_bps` [1]
    link_bps : float or array
        Payload that the link carries, see `goodput_bps`, above 0; may be infinity. [bit/s]

    Notes
    -----
    :math:`\\min(K B_1, L)`: the rates add up until the link is full. Ignores the loss and the delay
    that a full link adds, so the result is too high where the sum just reaches the link's rate.

    Examples
    --------
    >>> parallel_bps(5e9, [1, 2, 8], 9.56e9).tolist()
    [5000000000.0, 9560000000.0, 9560000000.0]
    """
    single = within("single_bps", single_bps, least=0, finite=False)
    link = within("link_bps", link_bps, above=0, finite=False)
    return unwrapped(np.minimum(within("streams", streams, least=1, whole=True) * single, link))


@model
def hacker_bps(mss_bytes, rtt_s, loss, c=1.0):
    """Throughput under loss of connections that differ, after Hacker et al.: a sum of `mathis_bps`.

    Parameters
    ----------
    mss_bytes, rtt_s, loss, c : float or array
        Of each connection, along the last axis, as in `mathis_bps`. [byte, s, 1, 1]

    Returns
    -------
    float or array (broadcast shape without its last axis)
        Of all connections together; missing if one of them is. [bit/s]

    Notes
    -----
    .. math:: B = \\sum_{i=1}^{K} C_i \\frac{8\\,MSS_i}{RTT_i \\sqrt{p_i}}

    K equal connections are ``mathis_bps(..., streams=K)``, or one connection with K times the MSS
    (the *virtual MSS*), which recovers from a loss K times as fast.

    Holds where `mathis_bps` holds, and only while the link is not full. When the connections fill
    it, loss rates and RTT rise, and the sum stays at what the link carries (`parallel_bps`).

    Source: T. Hacker, B. Athey, B. Noble, "The end-to-end performance effects of parallel TCP
    sockets on a lossy wide-area network", IPDPS 2002 (CITI technical report, 2001).

    Examples
    --------
    >>> round(hacker_bps(1448, [0.02, 0.04], 1e-4))
    86880000
    """
    each = np.atleast_1d(np.asarray(mathis_bps(mss_bytes, rtt_s, loss, c)))
    return unwrapped(each.sum(axis=-1))


@model
def altman_bps(link_bps, flows, beta=0.5):
    """Mean throughput of flows that fill a link without a queue, after Altman et al. [bit/s]

    Parameters
    ----------
    link_bps, beta : as in `parallel_bps` and `aimd_bps` [bit/s, 1]
    flows : int or array
        Connections that share the link, at least 1. [1]

    Notes
    -----
    .. math:: B = L \\left(1 - \\frac{1}{1 + N \\frac{1 + \\beta}{1 - \\beta}}\\right), \\qquad
        \\text{with } \\beta = \\tfrac{1}{2}: \\quad B = L\\,\\frac{3N}{3N + 1}

    All rates grow at the same pace. Whenever their sum reaches L, exactly *one* flow meets a loss,
    and goes on with beta times its rate; which one makes no difference (insensitivity). So three
    flows fill 90 % of the link, six almost 95 %, and more flows add little.

    If *all* flows reduce their rates at once (synchronised losses), the mean is
    :math:`\\frac{1 + \\beta}{2} L` for any number of flows. With Reno, a queue of one
    bandwidth-delay product keeps the link full in both cases.

    Source: E. Altman, D. Barman, B. Tuffin, M. Vojnović, "Parallel TCP sockets: simple model,
    throughput and validation", INFOCOM 2006 (technical report MSR-TR-2005-130).

    Examples
    --------
    >>> altman_bps(1.0, [1, 2, 3, 6]).round(3)
    array([0.75 , 0.857, 0.9  , 0.947])
    """
    link, n = within("link_bps", link_bps, above=0), within("flows", flows, least=1, whole=True)
    b = within("beta", beta, above=0, below=1)
    return unwrapped(link * (1 - 1 / (1 + n * (1 + b) / (1 - b))))


@model(apart=["rtt_s"])  # only their ratios matter
def rtt_shares(rtt_s, streams=1, exponent=1.0):
    """How flows with different RTTs share one bottleneck.

    Parameters
    ----------
    rtt_s : float or array
        Round-trip time of each group of flows, along the last axis, as in `mathis_bps`. [s]
    streams : int or array
        Flows in each group, at least 1. [1]
    exponent : float or array
        How steeply throughput falls with the RTT, at least 0; see Notes. [1]

    Returns
    -------
    float or array
        Share of each group; the sum along the last axis is 1. NaN if one group is NaN. [1]

    Notes
    -----
    .. math:: s_i = \\frac{K_i\\,RTT_i^{-e}}{\\sum_j K_j\\,RTT_j^{-e}}

    e = 1: all flows have the same loss rate, as with random loss, so p cancels out of `mathis_bps`.

    e = 2: all flows halve equally often per second, as when each overflow of a queue hits them all:
    between two losses a rate grows by :math:`MSS / RTT^2` per second. Lakshman and Madhow find
    drop-tail bottlenecks between e = 1 and e = 2. With e = 0 a scheduler gives all flows the same.

    Holds for Reno-like flows with the same MSS, in steady state, that are limited neither by their
    buffers nor by losses elsewhere. CUBIC depends less on the RTT where its window is larger than
    Reno's.

    Source: T. V. Lakshman, U. Madhow, "The performance of TCP/IP for networks with high
    bandwidth-delay products and random loss", IEEE/ACM Transactions on Networking 5(3), 1997.

    Examples
    --------
    >>> rtt_shares([0.020, 0.080], streams=[1, 4])
    array([0.5, 0.5])
    """
    rtt, k = within("rtt_s", rtt_s, above=0), within("streams", streams, least=1, whole=True)
    weights = k * rtt ** -within("exponent", exponent, least=0)
    total = np.sum(np.asarray(weights), axis=-1, keepdims=True)
    return unwrapped(weights / np.broadcast_to(total, np.shape(weights)))


@model
def bbr_share(queue_bytes, rate_bps, rtt_s, flows=1, packet_bytes=1514):
    """Share of a link that BBR's first version takes from Reno or CUBIC, after Ware et al. [1]

    Parameters
    ----------
    queue_bytes : float or array
        Of the bottleneck, above 0, in bytes of whole packets. [byte]
    rate_bps, rtt_s : as in `bandwidth_delay_product_bytes` [bit/s, s]
    flows : int or array
        BBR flows, at least 1; the number of the others does not matter. [1]
    packet_bytes : float or array
        Of a whole packet, above 0. [byte]

    Returns
    -------
    float or array
        Of all BBR flows together; 1 for queues below one bandwidth-delay product, where the model
        leaves the others nothing.

    Notes
    -----
    With a queue of q packets, X bandwidth-delay products, and N flows, the others' part of it is

    .. math:: p = \\tfrac{1}{2} - \\tfrac{1}{2X} - \\tfrac{4N}{q}

    since BBR keeps two bandwidth-delay products in flight, with the RTT of its last ProbeRTT, in
    which each of its flows leaves four packets and the others' part of the queue stands. Once in
    10 s a ProbeRTT leaves the link to the others, until the queue is empty, and 200 ms and a round
    trip longer:

    .. math:: s = (1 - p) \\left(1 - \\frac{X\\,RTT + 0.2\\,\\text{s} + RTT}{10\\,\\text{s}}\\right)

    Holds for flows of one RTT that fill the link for minutes, behind a queue that drops at its
    tail. Where the ProbeRTT takes 10 s or more, the share is 0.

    References
    ----------
    R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Modeling BBR's interactions with loss-based
    congestion control", IMC 2019.

    Examples
    --------
    >>> bdp_bytes = 100e6 / 8 * 0.020
    >>> bbr_share(bdp_bytes * np.array([1, 4, 16]), 100e6, 0.020).round(2)
    array([0.98, 0.61, 0.5 ])
    """
    queue, rtt = within("queue_bytes", queue_bytes, above=0), within("rtt_s", rtt_s, above=0)
    packet = within("packet_bytes", packet_bytes, above=0)
    n = within("flows", flows, least=1, whole=True)
    drained_s = 8 * queue / within("rate_bps", rate_bps, above=0)
    others = 0.5 - rtt / (2 * drained_s) - 4 * n * packet / queue
    probing = np.minimum((drained_s + 0.2 + rtt) / 10, 1)
    return unwrapped((1 - np.maximum(others, 0)) * (1 - probing))
