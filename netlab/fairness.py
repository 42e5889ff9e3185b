"""How evenly flows share a link: Jain's index, shares, both over time, and fair allocations."""

from itertools import pairwise
from math import fsum, inf
from numbers import Real

import numpy as np
import pandas as pd

__all__ = [
    "convergence_s",
    "index_over_time",
    "jain_index",
    "max_min",
    "over_time",
    "per_stream_share",
    "shares",
]

_INTERVAL_COLUMNS = ["flow", "stream", "start_s", "end_s", "sent_bps", "received_bps", "omitted"]


def jain_index(throughputs):
    """Jain's fairness index of an allocation.

    Parameters
    ----------
    throughputs : 1-D array or Series
        Throughput of each flow, all in the same unit; at least one flow; finite, at least 0, and
        not all 0.

    Returns
    -------
    float
        From 1/n (one of n flows has everything) to 1 (all flows have the same). [1]

    Raises
    ------
    ValueError
        If a throughput is negative, missing or infinite, if all are 0, or if there are none.

    Notes
    -----
    .. math:: I = \\frac{(\\sum_{i=1}^n T_i)^2}{n \\sum_{i=1}^n T_i^2}

    If k of n flows share everything equally and the others get nothing, the index is k/n. It works
    for any number of flows, does not depend on the unit, and is continuous. It counts flows, not
    users, and does not see whether the link was full.

    References
    ----------
    R. Jain, D.-M. Chiu, W. Hawe, "A quantitative measure of fairness and discrimination for
    resource allocation in shared computer systems", DEC Research Report TR-301, 1984.

    Examples
    --------
    >>> f"{jain_index([5e9, 3e9, 1e9]):.2f}"
    '0.77'
    """
    rates = np.asarray(_allocation(throughputs))
    return float(rates.sum() ** 2 / (rates.size * (rates**2).sum()))


def shares(throughputs):
    """Each flow's share of the sum of all throughputs.

    Parameters
    ----------
    throughputs : 1-D array or Series
        As for `jain_index`; the same values are refused.

    Returns
    -------
    ndarray, or Series with the same index
        :math:`T_i / \\sum_j T_j`: a share of the data carried, not of the link's capacity. [1]

    Examples
    --------
    >>> shares([6e9, 3e9, 1e9])
    array([0.6, 0.3, 0.1])
    """
    rates = _allocation(throughputs)
    return rates / rates.sum()


def per_stream_share(n, others=1):
    """The share of a host that opens n streams, if all *streams* at a bottleneck get the same.

    A bottleneck does not know which host a stream belongs to, so parallel streams take bandwidth
    from other hosts: T. Hacker, B. Athey, B. Noble, "The end-to-end performance effects of parallel
    TCP sockets on a lossy wide-area network", IPDPS 2002. Holds where all streams always have data
    to send, and have the same RTT and algorithm. Buffers, or losses elsewhere than in the queue,
    may limit streams earlier. Compare it with the measured `shares`.

    Parameters
    ----------
    n : int or array
        Streams of one host, at least 1. [1]
    others : int or array
        Streams m of all other hosts on the same bottleneck, at least 0. [1]

    Returns
    -------
    float or array (broadcast shape)
        :math:`n / (n + m)` [1]

    Examples
    --------
    >>> per_stream_share([1, 3, 9])
    array([0.5 , 0.75, 0.9 ])
    """
    mine, theirs = _floats("n", n), _floats("others", others)
    if not (
        (mine >= 1)
        & (theirs >= 0)
        & (mine == np.floor(mine))
        & (mine + theirs < inf)
        & (theirs == np.floor(theirs))
    ).all():
        raise ValueError(
            f"n must be whole and at least 1, others whole and at least 0, not {n!r} and {others!r}"
        )
    share = mine / (mine + theirs)
    return float(share) if np.ndim(share) == 0 else share


def over_time(intervals, window_s, by="flow"):
    """Throughput of each flow, or stream, in each window of time.

    The windows cover the time in which *all* flows (or streams) are sending: from the latest first
    start to the earliest last end. The last window may be up to 1 % shorter than the others; if
    more is missing, it is left out. Flows report at different times, so the rate is taken as
    constant within an interval, and a window counts the part of the interval that it overlaps. A
    flow without an interval in a window has 0 there. A sender counts what it hands to its kernel,
    which comes in bursts: choose windows of several intervals and round trips.

    Parameters
    ----------
    intervals : DataFrame
        As ``Result.intervals``: ``flow``, ``stream``, ``start_s``, ``end_s`` [s], ``sent_bps``,
        ``received_bps`` [bit/s], ``omitted``. Where ``received_bps`` is NaN, ``sent_bps`` counts.
        Omitted intervals do not count.
    window_s : float
        Length of a window, above 0. [s]
    by : {"flow", "stream"}
        Whether a flow's streams are added up.

    Returns
    -------
    DataFrame
        One row per window and flow (or stream): ``start_s``, ``end_s`` [s], ``flow`` (and
        ``stream``), ``bps`` [bit/s].

    Examples
    --------
    >>> intervals = pd.DataFrame({"flow": [1, 1, 2], "stream": 1, "omitted": False,
    ...                           "start_s": [0, 1, 0.5], "end_s": [1, 2, 2],
    ...                           "sent_bps": [8e6, 4e6, 2e6], "received_bps": np.nan})
    >>> over_time(intervals, 1)
       start_s  end_s  flow        bps
    0      0.5    1.5     1  6000000.0
    1      0.5    1.5     2  2000000.0
    """
    if by not in ("flow", "stream"):
        raise ValueError(f"by must be 'flow' or 'stream', not {by!r}")
    _positive("window_s", window_s)
    _check_columns("intervals", intervals, *_INTERVAL_COLUMNS)
    keys = ["flow"] if by == "flow" else ["flow", "stream"]
    rows = intervals[~intervals.omitted.astype(bool)]
    rows = rows.assign(bps=rows.received_bps.fillna(rows.sent_bps).astype(float))
    good = rows.bps.between(0, inf, inclusive="left") & (rows.end_s >= rows.start_s)
    for row in rows[~good].itertuples():
        which = f"flow {row.flow}, stream {row.stream}, from {row.start_s:g} s to {row.end_s:g} s"
        raise ValueError(
            f"intervals must have a received_bps or sent_bps of at least 0: {which} has {row.bps:g}"
        )
    each = rows.groupby(keys)
    if each.ngroups < intervals.groupby(keys).ngroups or not each.ngroups:
        raise ValueError(f"intervals: every {by} must have an interval that is not omitted")
    begin, end = each.start_s.min().max(), each.end_s.max().min()
    count = int(np.floor((end - begin) / window_s + 0.01))
    if count < 1:
        raise ValueError(
            f"every {by} sends from {begin:g} s to {end:g} s: not for one window of {window_s:g} s"
        )
    edges = np.minimum(begin + window_s * np.arange(count + 1.0), end)
    starts, ends, rates = rows[["start_s", "end_s", "bps"]].to_numpy(float).T
    names, group_of_row = each.size().index.to_frame(index=False), each.ngroup().to_numpy()
    windows = []
    for start, stop in pairwise(edges):
        overlap = (np.minimum(ends, stop) - np.maximum(starts, start)).clip(0)
        bps = np.bincount(group_of_row, rates * overlap, len(names)) / (stop - start)
        windows.append(names.assign(start_s=start, end_s=stop, bps=bps))
    return pd.concat(windows, ignore_index=True)[["start_s", "end_s", *keys, "bps"]]


def index_over_time(intervals, window_s, by="flow"):
    """Jain's index of each window of time.

    Parameters
    ----------
    intervals, window_s, by
        As for `over_time`, which says where the windows lie and what counts.

    Returns
    -------
    DataFrame
        One row per window: ``start_s``, ``end_s`` [s], ``jain_index`` [1] (NaN where all flows have
        0), and ``total_bps``, the sum of all flows [bit/s]. Short windows show which flow has just
        reduced its rate, long windows which flow gets more in the end.

    Examples
    --------
    >>> intervals = pd.DataFrame({"flow": [1, 2], "stream": 1, "start_s": 0, "end_s": 2,
    ...                           "sent_bps": [8e6, 0], "received_bps": np.nan, "omitted": False})
    >>> index_over_time(intervals, 2)
       start_s  end_s  jain_index  total_bps
    0      0.0    2.0         0.5  8000000.0
    """
    windows = over_time(intervals, window_s, by).groupby(["start_s", "end_s"]).bps
    return windows.agg(
        jain_index=lambda bps: jain_index([*bps]) if bps.any() else np.nan, total_bps="sum"
    ).reset_index()


def convergence_s(windows, threshold=0.95):
    """When the index reached a threshold for good.

    Parameters
    ----------
    windows : DataFrame
        As `index_over_time` gives it: ``start_s`` [s], ``jain_index`` [1].
    threshold : float
        Above 0, at most 1. [1]

    Returns
    -------
    float
        ``start_s`` of the first window from which on *every* window has an index of at least the
        threshold (to within rounding); NaN if the last window has not. A window whose index is NaN
        counts as below. Shorter windows give a later time. [s]

    Examples
    --------
    >>> windows = {"start_s": [0, 1, 2, 3], "jain_index": [0.96, 0.8, 0.97, 0.99]}
    >>> convergence_s(pd.DataFrame(windows))
    2.0
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must be above 0 and at most 1, not {threshold!r}")
    _check_columns("windows", windows, "start_s", "jain_index")
    fair = windows.set_index("start_s").jain_index.sort_index(ascending=False) >= threshold - 1e-12
    return float(fair.index[fair.cummin()].min())


def max_min(capacities, routes, demands=None):
    """The max-min fair allocation: no flow can get more unless one with the same or less loses.

    By progressive filling (D. Bertsekas, R. Gallager, "Data Networks", 2nd ed., 1992, section
    6.5.2): all rates grow together until a link is full or a demand is met. The flows concerned
    stop there, and the others go on growing. In the end each flow has its demand, or passes a
    *bottleneck*: a full link on which no other flow gets more. Fair queueing comes near to this
    ideal; TCP gives less to flows with longer RTTs.

    Parameters
    ----------
    capacities : mapping
        Link -> its capacity, above 0. [bit/s]
    routes : mapping
        Flow -> the links that it passes, each once.
    demands : mapping, optional
        Flow -> the highest rate that it asks for, above 0; a flow that is not here has no upper
        limit. [bit/s]

    Returns
    -------
    Series
        Flow -> rate, in the order of ``routes``. [bit/s]

    Examples
    --------
    >>> max_min({"L1": 10e6, "L2": 4e6}, {"long": ["L1", "L2"], "short": ["L1"]}) / 1e6
    long     4.0
    short    6.0
    Name: bps, dtype: float64
    """
    demands = dict.fromkeys(routes, inf) | dict({} if demands is None else demands)
    for link, capacity in capacities.items():
        _positive(f"capacities: {link!r}", capacity)
    for flow, demand in demands.items():
        _positive(f"demands: {flow!r}", demand)
        if flow not in routes:
            raise ValueError(
                f"demands: {flow!r} is not among the flows {', '.join(map(repr, routes))}"
            )
    for flow, links in routes.items():
        if isinstance(links, str) or len(set(links)) < len(links):
            raise ValueError(
                f"routes: {flow!r} must have a list of links, each once, not {links!r}"
            )
        if unknown := [link for link in links if link not in capacities]:
            raise ValueError(
                f"routes: {flow!r} passes {unknown[0]!r}, not among the links"
                f" {', '.join(map(repr, capacities))}"
            )
        if min([demands[flow], *(capacities[link] for link in links)]) == inf:
            raise ValueError(
                f"routes: {flow!r} passes no finite link and has no demand: nothing bounds it"
            )
    rates = {}
    while growing := [flow for flow in routes if flow not in rates]:
        level = {}  # link -> the rate of its growing flows at which it is full
        for link, capacity in capacities.items():
            users = [flow for flow, links in routes.items() if link in links]
            if left := len(users) - len(rates.keys() & users):
                level[link] = (capacity - fsum(rates.get(flow, 0) for flow in users)) / left
        lowest = min([*level.values(), *(demands[flow] for flow in growing)])
        rates |= {
            flow: lowest
            for flow in growing
            if lowest in (demands[flow], *(level[link] for link in routes[flow]))
        }
    return pd.Series(
        [rates[flow] for flow in routes],
        pd.Index(routes, tupleize_cols=False),
        dtype=float,
        name="bps",
    )


def _allocation(throughputs):
    """Checked throughputs, scaled so that squares and sums neither overflow nor vanish."""
    rates = _floats("throughputs", throughputs)
    if rates.ndim != 1 or rates.size == 0:
        raise ValueError(
            "throughputs must be one-dimensional with at least one flow, not of shape"
            f" {rates.shape}"
        )
    bad = np.asarray(~np.isfinite(rates) | (rates < 0))
    if bad.any():
        flow = int(bad.argmax())
        raise ValueError(
            f"throughputs must be finite and at least 0; flow {flow} (from 0) has"
            f" {np.asarray(rates)[flow]:g}"
        )
    if not rates.any():
        raise ValueError(
            "throughputs are all 0: at least one must be above 0, or there is nothing to share"
        )
    rates = np.ldexp(rates, -np.frexp(rates.max())[1])
    return rates.rename("share") if isinstance(rates, pd.Series) else rates


def _floats(name, value):
    numbers = value if isinstance(value, pd.Series) else np.asarray(value)
    if numbers.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be numbers, not {value!r}")
    return numbers.astype(float)


def _positive(name, value):
    if not isinstance(value, Real) or not value > 0:
        raise ValueError(f"{name} must be a number above 0, not {value!r}")


def _check_columns(name, frame, *columns):
    if lacking := [column for column in columns if column not in frame]:
        raise ValueError(f"{name} lacks {', '.join(lacking)}; it has {', '.join(map(str, frame))}")
