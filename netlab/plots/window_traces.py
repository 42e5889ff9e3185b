"""Congestion windows and queues over time."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from netlab.plots import runs
from netlab.plots._style import COLOURS, DASHES, INK, apply_style, each, from_0
from netlab.plots._words import check_frame, check_frames, plural, unit_prefix, values_in_order

POINTS, MARKS = 8000, 1200  # in all the lines of a figure, and in its marks of one kind
# change of state, as Linux calls it -> what the mark says, and how it looks
LOSS, TIMEOUT, REDUCED = "loss", "timeout", "reduced without loss"
LOOKS = {
    LOSS: dict(symbol="x-thin-open", size=8, color=INK, line_width=2),
    REDUCED: dict(symbol="cross-thin-open", size=9, color=INK, line_width=2),
    TIMEOUT: dict(symbol="triangle-down", size=11, color=INK),
}
HELD = "rgba(110,110,110,0.2)"
QUEUES = "time_s", "src", "dst", "qdisc", "backlog_bytes", "drops"


def aimd(traces):
    """Congestion windows over time, the first two in green and red.

    Parameters
    ----------
    traces : dict of pandas.DataFrame
        Label -> ``time_s`` [s] and ``cwnd_bytes`` [byte], as `netlab.models.aimd_trace` gives them.

    Examples
    --------
    >>> from netlab.models import aimd_trace
    >>> fig = aimd({"Reno": aimd_trace(1448, 0.02, duration_s=2, limit_bytes=100_000)})
    >>> fig.layout.yaxis.title.text
    'congestion window [kB]'
    """
    check_frames("aimd", "traces", traces, "time_s", "cwnd_bytes")
    scale, unit = unit_prefix("byte", max(trace.cwnd_bytes.max() for trace in traces.values()))
    fig, look = go.Figure(), dict(mode="lines", hovertemplate=f"%{{x:.4~g}} s: %{{y:.4~g}} {unit}")
    colours = "#009E73", "#D55E00", COLOURS[0], *COLOURS[3:]
    for (label, trace), colour in each(traces.items(), colours):
        line = dict(color=colour, width=3)
        fig.add_scatter(x=trace.time_s, y=trace.cwnd_bytes / scale, name=label, line=line, **look)
    yaxis = from_0(f"congestion window [{unit}]")
    return apply_style(fig, xaxis_title="time [s]", yaxis=yaxis)


def windows(result, flow=None):
    """The kernel's congestion windows over time: a line per stream, their sum, and the losses.

    The windows [segments] in steps; a colour per flow or, if there is only one flow, per stream. A
    thicker line is the sum of a flow's windows, each as it was last known. Marks, at the window
    that a stream had before: a loss ("recovery", as Linux calls this state), a reduction without
    one ("cwr": an ECN mark, or a full queue in the host itself), and a timeout. ``ss``, on an
    engine without the guest's kernel, does not print these.

    Parameters
    ----------
    result : Result
        Its ``windows`` are drawn; the experiment needs ``nl.Windows("h1")`` for each host h1 that
        sends. ``flows`` give the names.
    flow : int or sequence of int, optional
        Draw only these flows, by their numbers.

    Notes
    -----
    Of too many points, the first, lowest, highest and last of each short piece of time are drawn;
    of the marks, at most 1200 of a kind. The subtitle counts all.

    Examples
    --------
    >>> import netlab as nl
    >>> path = nl.wan("20mbit", "100ms", burst=15_000, limit=250_000, pairs=1, offload=False)
    >>> test = nl.Iperf3("h1", "h2", congestion="reno", mss=1448, time=10)
    >>> run = nl.run(path, test, nl.Windows("h1", every="10ms"), engine="recorded")
    recorded: 1 result ...
    >>> windows(run).layout.title.subtitle.text
    'loss: 2 times'
    """
    rows, names = _windows_of(result, flow), runs.flow_names(result)
    flows, streams = rows.flow.nunique(), rows.groupby(["flow", "stream"]).ngroups
    # half of the points for the thick lines, half for the thin ones, four per piece of time
    thick, thin = (min(375, max(40, POINTS // 8 // number)) for number in (flows, streams))
    fig = go.Figure()

    def draw(part, name, is_thick, **look):
        time_s, segments = thinned(part.time_s, _sum(part), thick if is_thick else thin)
        look |= dict(mode="lines", line_shape="hv", hovertemplate="%{x:.5~g} s: %{y}")
        fig.add_scatter(x=time_s, y=segments, name=name, **look)

    for part, name, of_flow, look in runs.lines(rows, names, (1.5, 1, 3), opacity=0.6, dashed=8):
        summed = of_flow and part.stream.nunique() > 1
        draw(part, f"{name}, sum" if summed else name, of_flow, **look)
    if streams > flows == 1:
        draw(rows, "sum", True, line=dict(color=INK, width=3))
    counts = []
    for kind, found in reductions(rows):
        few = found.iloc[:: -(-len(found) // MARKS)]
        marker = LOOKS[kind] | (dict(size=4) if len(few) > 200 else {})
        look = dict(mode="markers", marker=marker, hovertemplate=f"%{{x:.5~g}} s: {kind}")
        fig.add_scatter(x=few.time_s.to_numpy("f4"), y=few.before.to_numpy(), name=kind, **look)
        counts.append(f"{kind}: {plural(len(found), 'time')}")
    axes = dict(xaxis=from_0("time [s]"), yaxis=from_0("congestion window [segments]"))
    apply_style(fig, runs.flows_and_streams(rows, names), ", ".join(counts), **axes)
    return runs.mark_changes(fig, result)


def queues(result, qdisc=None):
    """Throughput above, and below it what waits in a queue, with its drops, over the same time.

    Throughput and queue [MB, kB, ...; 1 kB = 1000 byte], thinned as in `windows`; a short mark on
    the time axis where the discipline's count of drops rises. Vertical lines say what changed
    (`Change`).

    Parameters
    ----------
    result : Result
        Its ``queues`` are drawn below; the experiment needs ``nl.Queue("s1", "s2")``. Its
        ``intervals``, where there are some, are drawn above, one line per flow.
    qdisc : str, optional
        Kind of the queueing discipline. Default: what waits at the bottleneck, the last one in the
        chain that is not netem. "netem" has that and what is under way on the line.

    Examples
    --------
    >>> import netlab as nl
    >>> path = nl.wan("100mbit", "20ms", burst=15_000, limit=250_000, offload=False)
    >>> one = nl.Iperf3("h1", "h2", congestion="reno", time=60, get_server_output=True)
    >>> two = one.but(src="h3", dst="h4", time=40, start=10)
    >>> run = nl.run(path, one, two, nl.Queue("s1", "s2", every="50ms"), engine="recorded")
    recorded: 1 result ...
    >>> queues(run).layout.title.subtitle.text
    'throughput counted by the receiver, 397 drops by tbf'
    """
    rows, kind = _queues_of(result, qdisc)
    above = int(not result.intervals.empty)
    fig = make_subplots(above + 1, shared_xaxes=True, vertical_spacing=0.06)
    below, subtitle = dict(row=above + 1, col=1), []
    if above:
        subtitle.append(f"throughput {_draw_flows(fig, result)}")
    scale, unit = unit_prefix("byte", rows.backlog_bytes.max())
    queues, drops = list(rows.groupby(["src", "dst"], sort=False)), []
    for ((src, dst), part), dash in each(queues, DASHES):
        pieces = min(375, max(40, POINTS // 4 // len(queues)))
        time_s, held = thinned(part.time_s, part.backlog_bytes, pieces)
        line = dict(color=INK, width=1.5, dash=dash, shape="hv")
        look = dict(name=f"queue {src} → {dst}", mode="lines", line=line)
        look |= dict(fill="tozeroy", fillcolor=HELD) if len(queues) == 1 else {}
        look |= dict(hovertemplate=f"%{{x:.5~g}} s: %{{y:.4~g}} {unit}")
        fig.add_scatter(x=time_s, y=(held / scale).astype("f4"), **look, **below)
        drops.append(part.time_s[part.drops.diff() > 0])
        count = plural(int(part.drops.iloc[-1]), "drop")
        subtitle.append(f"{count} by {kind}" + f" of {src} → {dst}" * (len(queues) > 1))
    if len(drops := np.sort(np.concatenate(drops))):
        piece = np.linspace(drops[0], drops[-1], MARKS).searchsorted(drops)
        few = drops[np.unique(piece, return_index=True)[1]].astype("f4")
        look = dict(symbol="line-ns-open", size=11, color=COLOURS[6], line_width=1.5)
        look = dict(name="drops", mode="markers", marker=look, cliponaxis=False)
        look |= dict(hovertemplate="%{x:.5~g} s: dropped")
        fig.add_scatter(x=few, y=np.zeros(len(few), "i1"), **look, **below)
    fig.update_xaxes(rangemode="tozero").update_xaxes(title="time [s]", **below)
    fig.update_yaxes(rangemode="tozero").update_yaxes(title=f"{kind} holds [{unit}]", **below)
    apply_style(fig, "Throughput and queue" if above else "Queue", ", ".join(subtitle))
    fig.update_layout(height=fig.layout.height + 160 * above)
    return runs.mark_changes(fig, result)


def _windows_of(result, flow):
    """The rows of these flows, in the order of time."""
    if result.windows.empty:
        senders = ", ".join(f'nl.Windows("{src}")' for src in result.flows.src.unique())
        raise ValueError(f"windows: result.windows is empty: add {senders} to the traffic")
    check_frame("windows", result.windows, "time_s", "flow", "stream", "cwnd", "state", "timeout")
    rows = result.windows.sort_values("time_s", kind="stable")
    if flow is None:
        return rows
    known, wanted = sorted(rows.flow.unique()), np.atleast_1d(flow).tolist()
    if lacking := [number for number in wanted if number not in known]:
        raise ValueError(
            f"windows: flow = {lacking[0]!r} has no rows in result.windows, which has"
            f" {', '.join(map(str, known))}: add nl.Windows of its sender to the traffic"
        )
    return rows[rows.flow.isin(wanted)]


def _queues_of(result, qdisc):
    """The rows of one kind of discipline from time 0 on, in the order of time; and the kind."""
    if result.queues.empty:
        raise ValueError(
            'queues: result.queues is empty: add nl.Queue("s1", "s2") to the traffic, the link'
            " before which packets wait"
        )
    check_frame("queues", result.queues, *QUEUES)
    kinds = values_in_order(result.queues.qdisc)
    if qdisc is None:  # parents come first, and netem holds what is under way, too
        qdisc = [None, *kinds, *(kind for kind in kinds if kind != "netem")][-1]
    if qdisc not in kinds:
        raise ValueError(f"queues: qdisc = {qdisc!r} is none of {', '.join(map(repr, kinds))}")
    rows = result.queues[(result.queues.qdisc == qdisc) & (result.queues.time_s >= 0)]
    check_frame("queues", rows)
    return rows.sort_values("time_s", kind="stable"), qdisc


def _draw_flows(fig, result):
    """The throughput of each flow in the upper panel; -> by whom it was counted."""
    rows, names = runs.measured_intervals("queues", result), runs.flow_names(result)
    flows = [(names[flow], runs.steps(part)) for flow, part in rows.groupby("flow")]
    scale, unit = unit_prefix("bit/s", max(np.nanmax(bps) for _, (_, bps) in flows))
    look = dict(mode="lines", hovertemplate=f"%{{x:.4~g}} s: %{{y:.3~g}} {unit}", row=1, col=1)
    for (name, (time_s, bps)), colour in each(flows, COLOURS):
        line = dict(color=colour, width=3)
        fig.add_scatter(x=time_s, y=bps / scale, line=line, name=name, **look)
    fig.update_yaxes(title=f"throughput [{unit}]", row=1, col=1)
    return runs.counted_by(rows)


def _sum(part):
    """The sum of the windows of a flow's streams, each as it was last known. [segment]"""
    before = part.groupby("stream").cwnd.shift(fill_value=0)
    return (part.cwnd - before).cumsum()


def reductions(rows):
    """Kind of mark -> the rows where a window was reduced so, with the window ``before``."""
    streams = rows.astype({"state": object}).groupby(["flow", "stream"])
    was = streams.state.shift(fill_value="open")
    rows = rows.assign(before=streams.cwnd.shift().fillna(rows.cwnd).astype(int))
    # a recovery that follows another at once, between two rows
    again = rows.state.eq(was) & was.eq("recovery") & (rows.ssthresh < streams.ssthresh.shift())
    began, timer = rows.state.where((rows.state != was) | again), rows.timeout.eq(True)
    began = began.where(~timer, "loss")  # the timer may run out again and again in one state
    kinds = {LOSS: "recovery", REDUCED: "cwr", TIMEOUT: "loss"}
    found = {kind: rows[began == state] for kind, state in kinds.items()}
    return [(kind, marks) for kind, marks in found.items() if len(marks)]


def thinned(time_s, values, pieces):
    """A line of steps, as arrays, without points where nothing changes; if more than four per piece
    of time remain, the first, lowest, highest and last of each piece.
    """
    time_s, values = np.asarray(time_s, float), np.asarray(values)
    keep = np.append(True, np.diff(values) != 0)
    keep[-1] = True
    time_s, values = time_s[keep], values[keep]
    if len(values) > 4 * pieces:
        piece = np.linspace(time_s[0], time_s[-1], pieces + 1)[1:-1].searchsorted(time_s, "right")
        pieces = pd.Series(values).groupby(piece)
        backwards = pd.Series(values)[::-1].groupby(piece[::-1])  # of equal ones, the last
        ends = pieces.head(1).index, pieces.tail(1).index
        keep = np.unique([pieces.idxmin(), backwards.idxmax(), *ends])
        time_s, values = time_s[keep], values[keep]
    return time_s.astype("f4"), values
