"""One result: the throughput of its flows and streams, over time and in total."""

from html import escape
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from netlab.fairness import jain_index
from netlab.fairness.evolution import apart
from netlab.models import goodput_bps
from netlab.plots._style import COLOURS, FAINT, INK, apply_style, each, from_0
from netlab.plots._words import check_frame, plural, short_number, unit_prefix, with_unit

MOST_NAMED = 6  # changes of links


def throughput(result, capacity=True):
    """Throughput over time: a stepped line per stream, and a thicker one for their sum.

    A colour per flow or, if there is only one flow, per stream. Flows report at different times, so
    their sum is averaged over steps of one interval. Vertical lines say what changed (`Change`).

    Parameters
    ----------
    result : Result
        Its ``intervals`` are drawn, without those that iperf3 omits: the receiver's numbers, else
        the sender's, which include data that is still in its buffers. ``flows`` give the names.
    capacity : bool
        Show the payload that the slowest link of each path carries in segments of 1448 bytes: as a
        line if it is at most four times the highest throughput, else as a note. It is that of
        the network as it begins.

    Examples
    --------
    >>> import netlab as nl
    >>> test = nl.Iperf3("h1", "h2", parallel=8, congestion="reno", time=20, omit=3)
    >>> run = nl.run(nl.wan("1gbit", "20ms", "0.1%", pairs=1), test, engine="recorded")
    recorded: 1 result ...
    >>> throughput(run).layout.yaxis.title.text
    'throughput [Mbit/s]'
    """
    rows, names = measured_intervals("throughput", result), flow_names(result)
    alone, count = rows.flow.nunique() == 1, rows.groupby(["flow", "stream"]).ngroups
    begin, end, step = rows.start_s.min(), rows.end_s.max(), (rows.end_s - rows.start_s).median()
    together = None if alone else np.linspace(begin, end, max(1, round((end - begin) / step)) + 1)
    scale, unit = unit_prefix("bit/s", np.nanmax(steps(rows, together)[1]))
    fig, look = go.Figure(), dict(mode="lines", hovertemplate=f"%{{x:.4~g}} s: %{{y:.3~g}} {unit}")

    def draw(part, name, bounds=None, **line):
        time_s, bps = steps(part, bounds)
        fig.add_scatter(x=time_s, y=bps / scale, name=name, **look, **line)

    for part, name, _, line in lines(rows, names, (2, 1.5, 3.5), opacity=0.5, dashed=4):
        draw(part, name, **line)
    if count > 1:
        draw(rows, "sum", together, line=dict(color=INK, width=4))
    if capacity:
        _draw_capacity(fig, result.experiment.topology, rows, scale, unit)
    axes = dict(xaxis=from_0("time [s]"), yaxis=from_0(f"throughput [{unit}]"))
    apply_style(fig, flows_and_streams(rows, names), counted_by(rows), **axes)
    return mark_changes(fig, result)


def streams(result):
    """Throughput of each stream, and Jain's index.

    A bar per stream, a line at the equal share, and Jain's index in the title.

    Parameters
    ----------
    result : Result
        Its ``streams`` are drawn with the receiver's numbers; where there are none, with the
        sender's, and hatched. ``flows`` give the names.

    Examples
    --------
    >>> import netlab as nl
    >>> test = nl.Iperf3("h1", "h2", parallel=8, congestion="reno", time=20, omit=3)
    >>> run = nl.run(nl.wan("1gbit", "20ms", "0.1%", pairs=1), test, engine="recorded")
    recorded: 1 result ...
    >>> streams(run).layout.title.text
    "Jain's index 0.997"
    """
    rows = _measured("streams", result.streams, "flow", "stream", "src", "dst")
    rows = rows.sort_values(["flow", "stream"])
    for lost in rows[rows.bps.isna()].itertuples():
        raise ValueError(
            f"streams: stream {lost.stream} of flow {lost.flow} has neither received_bps nor"
            " sent_bps"
        )
    names, flows, share = flow_names(result), rows.flow.unique(), rows.bps.mean()
    scale, unit = unit_prefix("bit/s", rows.bps.max())
    fig, rows = go.Figure(), rows.assign(place=range(len(rows)))
    look = dict(hovertemplate=f"stream %{{customdata}}: %{{y:.3~g}} {unit}")
    look |= dict(showlegend=len(flows) > 1)
    for (flow, part), colour in each(rows.groupby("flow"), COLOURS):
        hatched = ["" if received else "/" for received in part.received]
        marker = dict(color=colour, pattern_shape=hatched)
        bars = dict(x=part.place, y=part.bps / scale, customdata=part.stream)
        fig.add_bar(name=names[flow], marker=marker, **bars, **look)
    _draw_level(fig, share / scale, f"equal share: {short_number(share / scale)} {unit}", INK)
    subtitle = names[flows[0]] if len(flows) == 1 else f"{len(flows)} flows"
    subtitle += (
        f", {plural(len(rows), 'stream')}, {with_unit(rows.bps.sum(), 'bit/s')} together,"
        f" {counted_by(rows)}"
    )
    if {"start_s", "end_s"} <= {*result.flows}:
        subtitle += apart(result.flows.start_s, result.flows.end_s, "; ")
    named = rows.iloc[:: len(rows) // 33 + 1]
    xaxis = dict(title="stream", tickvals=named.place, ticktext=named.stream.astype(str))
    axes = dict(xaxis=xaxis, yaxis=from_0(f"throughput [{unit}]"))
    title = f"Jain's index {jain_index(rows.bps):.3f}"
    return apply_style(fig, title, subtitle, bargap=0.25, **axes)


def _measured(plot, frame, *columns):
    """The frame with ``bps``: the receiver's number (``received`` is True), else the sender's."""
    check_frame(plot, frame, *columns, "sent_bps", "received_bps")
    sent, received = frame.sent_bps.astype(float), frame.received_bps.astype(float)
    return frame.assign(bps=received.fillna(sent), received=received.notna())


def measured_intervals(plot, result):
    """The intervals that count, with ``bps`` and ``received``."""
    columns = "flow", "stream", "src", "dst", "start_s", "end_s", "omitted"
    rows = _measured(plot, result.intervals, *columns)
    # streams report within microseconds of one another
    rows = rows.round({"start_s": 3, "end_s": 3})
    rows = rows[~rows.omitted.astype(bool) & (rows.end_s > rows.start_s)]
    if not rows.bps.notna().any():
        raise ValueError(f"{plot}: no interval, but for omitted ones, has received_bps or sent_bps")
    return rows


def lines(rows, names, widths, opacity, dashed):
    """Yield the lines of a figure as (rows, name, whether it is a whole flow's, look).

    A flow comes after its streams, if it has several; the only flow has no line of its own then.
    `widths`: of the only flow's streams, of other streams, of flows. `opacity`: of other streams.
    The only flow's lines are solid and dashed by turns, `dashed` of each.
    """
    flows = list(rows.groupby("flow"))
    alone = len(flows) == 1
    for (flow, part), colour in each(flows, COLOURS):
        group, parts = names[flow], list(part.groupby("stream"))
        shared = dict(legendgroup=group)
        for number, (stream, own) in enumerate(parts if len(parts) > 1 else ()):
            if alone:
                dash = ("solid", "dash")[number // dashed % 2]
                line = dict(color=COLOURS[number % len(COLOURS)], width=widths[0], dash=dash)
                look = dict(line=line, showlegend=len(parts) <= len(COLOURS))
                yield own, f"stream {stream}", False, look
            else:
                line = dict(color=colour, width=widths[1])
                look = dict(line=line, opacity=opacity, showlegend=False)
                yield own, f"{group}, stream {stream}", False, look | shared
        if len(parts) == 1 or not alone:
            yield part, group, True, dict(line=dict(color=colour, width=widths[2])) | shared


def flows_and_streams(rows, names):
    """What is drawn, such as "2 flows, 16 streams", or the flow's name."""
    flows, streams = rows.flow.unique(), rows.groupby(["flow", "stream"]).ngroups
    title = names[flows[0]] if len(flows) == 1 else f"{len(flows)} flows"
    return title + f", {plural(streams, 'stream')}" * (streams > len(flows))


def counted_by(rows):
    if rows.received.all():
        return "counted by the receiver"
    lost = "packets" in rows and rows.packets[~rows.received].notna().any()
    by = "counted by the " + ("receiver, else by the " if rows.received.any() else "") + "sender"
    return by + (", what UDP lost included" if lost else "")


def flow_names(result):
    """Flow -> its name in a legend, such as "h1 → h2 reno"; with its number if two are equal."""
    check_frame("flows", result.flows, "flow", "src", "dst", "congestion")
    names = {}
    for row in result.flows.itertuples():
        congestion = f" {row.congestion}" if isinstance(row.congestion, str) else ""
        # what a report says is a text; plotly reads HTML, and fetches what its styles name
        names[row.flow] = escape(f"{row.src} → {row.dst}{congestion}", quote=False)
    if len(set(names.values())) == len(names):
        return names
    return {flow: f"{flow}: {name}" for flow, name in names.items()}


def mark_changes(fig, result):
    """A thin vertical line at each change of a link; what changed beside it, where they are few."""
    line, font = dict(color=FAINT, width=1, dash="dot"), dict(color=FAINT, size=12)
    few = len(result.changes) <= MOST_NAMED
    shapes = [
        dict(type="line", x0=row.time_s, x1=row.time_s, yref="paper", y0=0, y1=1, line=line)
        | dict(label=dict(text=row.change * few, textposition="end", xanchor="right", font=font))
        for row in result.changes.itertuples()
    ]
    return fig.update_layout(shapes=[*fig.layout.shapes, *shapes]) if shapes else fig


def _draw_level(fig, y, name, colour):
    line = dict(color=colour, width=2.5, dash="dash")
    fig.add_hline(y, line=line, name=name, showlegend=True)


def _draw_capacity(fig, topology, rows, scale, unit):
    streams = rows[["src", "dst", "flow", "stream"]].drop_duplicates().value_counts(["src", "dst"])
    rates = {topology.bottleneck_bps(*ends, count) for ends, count in streams.items()}
    for rate in sorted(rates - {np.inf}):
        carries = goodput_bps(rate)
        if carries / scale <= 4 * max(np.nanmax(trace.y) for trace in fig.data):
            name = f"link: {short_number(carries / scale)} {unit}"
            _draw_level(fig, carries / scale, name, FAINT)
        else:
            place = dict(x=1, y=1, xref="paper", yref="paper", xanchor="right", yanchor="bottom")
            text = f"↑ link: {with_unit(carries, 'bit/s')}"
            fig.add_annotation(text=text, font_color=FAINT, showarrow=False, **place)


def steps(rows, bounds=None):
    """A stepped line: times, and the sum of the rows' rates between them; NaN if none is known."""
    bounds = np.unique(rows[["start_s", "end_s"]]) if bounds is None else bounds
    starts, ends, bps = rows[["start_s", "end_s", "bps"]].to_numpy(float).T
    total = []
    for begin, end in pairwise(bounds):
        share = (np.minimum(ends, end) - np.maximum(starts, begin)) / (end - begin)
        here = share > 1e-6
        total.append((share * bps)[here].sum() if here.any() else np.nan)
    return np.repeat(bounds, 2)[1:-1], np.repeat(total, 2)
