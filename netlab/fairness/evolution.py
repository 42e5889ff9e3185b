"""Shares and Jain's index over time."""

import warnings
from itertools import pairwise
from math import inf

import numpy as np
import pandas as pd

from netlab.fairness.indices import jain_index, positive

_INTERVAL_COLUMNS = ["flow", "stream", "start_s", "end_s", "sent_bps", "received_bps", "omitted"]


TOGETHER = 0.9  # tests ran together if all of them ran for this share of the time that any ran


def common_time_s(starts_s, ends_s):
    """How long all tests ran at once, below 0 for a gap, and how long any of them ran. [s]"""
    return min(ends_s) - max(starts_s), max(ends_s) - min(starts_s)


def apart(starts_s, ends_s, before):
    """A remark, behind `before`, about tests that did not run together; "" where they did."""
    together_s, whole_s = common_time_s(starts_s, ends_s)
    if not together_s < TOGETHER * whole_s:
        return ""
    together_s = max(0, together_s)
    return f"{before}they did not run together: all only for {together_s:.3g} of {whole_s:.3g} s"


def over_time(intervals, window_s, by="flow"):
    """Throughput of each flow, or stream, in each window of time.

    The windows cover the time in which *all* flows (or streams) are sending: from the latest first
    start to the earliest last end; a last window that lacks more than 1 % is left out. The rate is
    taken as constant within an interval, and a window counts the part of the interval that it
    overlaps; a flow without an interval in a window has 0 there. A sender counts what it hands to
    its kernel, which comes in bursts: choose windows of several intervals and round trips. Over UDP
    a sender counts what is lost, too: where it alone counted, this warns.

    Parameters
    ----------
    intervals : DataFrame
        As ``Result.intervals``: ``flow``, ``stream``, ``start_s``, ``end_s`` [s], ``sent_bps``,
        ``received_bps`` [bit/s] (where it is NaN, ``sent_bps`` counts), ``omitted`` (True does not
        count).
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
    >>> from netlab.readers import read_iperf3
    >>> intervals = read_iperf3("tests/data/iperf3/3.12-tcp-8.json").intervals.assign(flow=1)
    >>> over_time(intervals, window_s=1).round()
       start_s  end_s  flow          bps
    0      0.0    1.0     1  107151031.0
    1      1.0    2.0     1   98753544.0
    """
    if by not in ("flow", "stream"):
        raise ValueError(f"by must be 'flow' or 'stream', not {by!r}")
    positive("window_s", window_s)
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
    if "packets" in rows and (udp := rows.packets.notna() & rows.received_bps.isna()).any():
        warnings.warn(
            f"flow {rows.flow[udp].iloc[0]} is UDP, and of its intervals only what was sent is"
            " known, lost datagrams included: Iperf3(get_server_output=True) tells what arrived",
            stacklevel=2,
        )
    each = rows.groupby(keys)
    if each.ngroups < intervals.groupby(keys).ngroups or not each.ngroups:
        raise ValueError(f"intervals: every {by} must have an interval that is not omitted")
    begin, end = each.start_s.min().max(), each.end_s.max().min()
    count = int(np.floor((end - begin) / window_s + 0.01))
    if count < 1:
        raise ValueError(
            f"window_s = {window_s:g}: every {by} sends from {begin:g} s to {end:g} s only; take a"
            " shorter window"
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
    """Jain's index of each window of time, with the parameters of `over_time`.

    Returns
    -------
    DataFrame
        One row per window: ``start_s``, ``end_s`` [s], ``jain_index`` [1] (NaN where all flows have
        0), and ``total_bps``, the sum of all flows [bit/s].

    Examples
    --------
    >>> from netlab.readers import read_iperf3
    >>> intervals = read_iperf3("tests/data/iperf3/3.12-tcp-8.json").intervals.assign(flow=1)
    >>> index_over_time(intervals, window_s=1, by="stream").jain_index.round(2).tolist()
    [0.92, 0.93]
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
        threshold (to within rounding; NaN is below); NaN if the last window has not. [s]

    Examples
    --------
    >>> index = [0.60, 0.97, 0.91, 0.96, 0.99]
    >>> convergence_s(pd.DataFrame({"start_s": [0, 5, 10, 15, 20], "jain_index": index}))
    15.0
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must be above 0 and at most 1, not {threshold!r}")
    _check_columns("windows", windows, "start_s", "jain_index")
    fair = windows.set_index("start_s").jain_index.sort_index(ascending=False) >= threshold - 1e-12
    return float(fair.index[fair.cummin()].min())


def _check_columns(name, frame, *columns):
    if lacking := [column for column in columns if column not in frame]:
        raise ValueError(f"{name} lacks {', '.join(lacking)}; it has {', '.join(map(str, frame))}")
