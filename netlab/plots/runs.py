"""One result: the throughput of its flows and streams, over time and in total."""

from html import escape
from itertools import cycle, pairwise

import numpy as np
import plotly.graph_objects as go

from netlab.fairness import jain_index
from netlab.models import goodput_bps
from netlab.plots._style import (
    COLOURS,
    FAINT,
    INK,
    apply_style,
    check_frame,
    plural,
    short_number,
    unit_prefix,
    with_unit,
)


def throughput(result, capacity=True):
    """Throughput over time: a stepped line per stream, and a thicker one for their sum.

    Parameters
    ----------
    result : Result
        Its ``intervals`` are drawn, without those that iperf3 omits from its totals. The receiver's
        numbers are used where there are some, else the sender's, which include data that is still
        in its buffers. Its ``flows`` give the names in the legend.
    capacity : bool
        Show the payload that the slowest link on each flow's path carries in full segments of 1448
        bytes: as a line if it is at most four times the highest throughput, else as a note.

    Returns
    -------
    plotly.graph_objects.Figure
        Throughput [Gbit/s, Mbit/s, ...] over time [s]; a colour per flow or, if there is only one
        flow, per stream. Flows report at different times, so their sum is averaged over steps of
        one interval.
    """
    columns = "flow", "stream", "src", "dst", "start_s", "end_s", "omitted"
    rows = _measured("throughput", result.intervals, *columns)
    # streams report within microseconds of one another
    rows = rows.round({"start_s": 3, "end_s": 3})
    rows = rows[~rows.omitted.astype(bool) & (rows.end_s > rows.start_s)]
    if not rows.bps.notna().any():
        raise ValueError(
            "throughput: no interval, but for omitted ones, has received_bps or sent_bps"
        )
    names, flows = _flow_names(result), list(rows.groupby("flow"))
    alone, count = len(flows) == 1, rows.groupby(["flow", "stream"]).ngroups
    begin, end, step = rows.start_s.min(), rows.end_s.max(), (rows.end_s - rows.start_s).median()
    together = None if alone else np.linspace(begin, end, max(1, round((end - begin) / step)) + 1)
    scale, unit = unit_prefix("bit/s", np.nanmax(_steps(rows, together)[1]))
    fig, hover = go.Figure(), f"%{{x:.4~g}} s: %{{y:.3~g}} {unit}"

    def draw(part, name, bounds=None, **look):
        time_s, bps = _steps(part, bounds)
        look |= dict(mode="lines", hovertemplate=hover)
        fig.add_scatter(x=time_s, y=bps / scale, name=name, **look)

    for (flow, part), colour in zip(flows, cycle(COLOURS), strict=False):
        group, parts = names[flow], list(part.groupby("stream"))
        several = parts if len(parts) > 1 else []
        for number, (stream, own) in enumerate(several):
            if alone:
                dash = ("solid", "dash")[number // 4 % 2]
                look = dict(line=dict(color=COLOURS[number % len(COLOURS)], width=2, dash=dash))
                look |= dict(showlegend=len(parts) <= len(COLOURS))
            else:
                look = dict(line=dict(color=colour, width=1.5), opacity=0.5)
                look |= dict(showlegend=False, legendgroup=group)
            draw(own, f"stream {stream}" if alone else f"{group}, stream {stream}", **look)
        if len(parts) == 1 or not alone:
            draw(part, group, line=dict(color=colour, width=3.5), legendgroup=group)
    if count > 1:
        draw(rows, "sum", together, line=dict(color=INK, width=4))
    if capacity:
        _draw_capacity(fig, result.experiment.topology, rows, scale, unit)
    title = names[flows[0][0]] if alone else f"{len(flows)} flows"
    title += f", {plural(count, 'stream')}" if count > len(flows) else ""
    xaxis = dict(title="time [s]", rangemode="tozero")
    yaxis = dict(title=f"throughput [{unit}]", rangemode="tozero")
    return apply_style(fig, title, _counted_by(rows), xaxis=xaxis, yaxis=yaxis)


def streams(result):
    """Throughput of each stream, and Jain's index.

    Parameters
    ----------
    result : Result
        Its ``streams`` are drawn with the receiver's numbers; where there are none, with the
        sender's, and hatched. Its ``flows`` give the names in the legend.

    Returns
    -------
    plotly.graph_objects.Figure
        A bar per stream: throughput [Gbit/s, Mbit/s, ...]; a line at the equal share; Jain's index
        [1] in the title.
    """
    rows = _measured("streams", result.streams, "flow", "stream", "src", "dst")
    rows = rows.sort_values(["flow", "stream"])
    for lost in rows[rows.bps.isna()].itertuples():
        raise ValueError(
            f"streams: stream {lost.stream} of flow {lost.flow} has neither received_bps nor"
            " sent_bps"
        )
    names, flows, share = _flow_names(result), rows.flow.unique(), rows.bps.mean()
    scale, unit = unit_prefix("bit/s", rows.bps.max())
    fig, rows = go.Figure(), rows.assign(place=range(len(rows)))
    hover = f"stream %{{customdata}}: %{{y:.3~g}} {unit}"
    for (flow, part), colour in zip(rows.groupby("flow"), cycle(COLOURS), strict=False):
        hatched = ["" if received else "/" for received in part.received]
        look = dict(name=names[flow], marker=dict(color=colour, pattern_shape=hatched))
        look |= dict(customdata=part.stream, hovertemplate=hover, showlegend=len(flows) > 1)
        fig.add_bar(x=part.place, y=part.bps / scale, **look)
    equal = f"equal share: {short_number(share / scale)} {unit}"
    line = dict(color=INK, width=2.5, dash="dash")
    fig.add_hline(share / scale, line=line, name=equal, showlegend=True)
    subtitle = names[flows[0]] if len(flows) == 1 else f"{len(flows)} flows"
    subtitle += (
        f", {plural(len(rows), 'stream')}, {with_unit(rows.bps.sum(), 'bit/s')} together,"
        f" {_counted_by(rows)}"
    )
    named = rows.iloc[:: len(rows) // 33 + 1]
    xaxis = dict(title="stream", tickvals=named.place, ticktext=named.stream.astype(str))
    yaxis = dict(title=f"throughput [{unit}]", rangemode="tozero")
    title = f"Jain's index {jain_index(rows.bps):.3f}"
    return apply_style(fig, title, subtitle, xaxis=xaxis, yaxis=yaxis, bargap=0.25)


def _measured(plot, frame, *columns):
    """The frame with ``bps``: the receiver's number (``received`` is True), else the sender's."""
    check_frame(plot, frame, *columns, "sent_bps", "received_bps")
    sent, received = frame.sent_bps.astype(float), frame.received_bps.astype(float)
    return frame.assign(bps=received.fillna(sent), received=received.notna())


def _counted_by(rows):
    if rows.received.all():
        return "counted by the receiver"
    return "counted by the " + ("receiver, else by the " if rows.received.any() else "") + "sender"


def _flow_names(result):
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


def _draw_capacity(fig, topology, rows, scale, unit):
    streams = rows[["src", "dst", "flow", "stream"]].drop_duplicates().value_counts(["src", "dst"])
    rates = {topology.bottleneck_bps(*ends, count) for ends, count in streams.items()}
    for rate in sorted(rates - {np.inf}):
        carries = goodput_bps(rate)
        if carries / scale <= 4 * max(np.nanmax(trace.y) for trace in fig.data):
            line = dict(color=FAINT, width=2.5, dash="dash")
            name = f"link: {short_number(carries / scale)} {unit}"
            fig.add_hline(carries / scale, line=line, name=name, showlegend=True)
        else:
            place = dict(x=1, y=1, xref="paper", yref="paper", xanchor="right", yanchor="bottom")
            text = f"↑ link: {with_unit(carries, 'bit/s')}"
            fig.add_annotation(text=text, font_color=FAINT, showarrow=False, **place)


def _steps(rows, bounds=None):
    """A stepped line: times, and the sum of the rows' rates between them; NaN if none is known."""
    bounds = np.unique(rows[["start_s", "end_s"]]) if bounds is None else bounds
    starts, ends, bps = rows[["start_s", "end_s", "bps"]].to_numpy(float).T
    total = []
    for begin, end in pairwise(bounds):
        share = (np.minimum(ends, end) - np.maximum(starts, begin)) / (end - begin)
        here = share > 1e-6
        total.append((share * bps)[here].sum() if here.any() else np.nan)
    return np.repeat(bounds, 2)[1:-1], np.repeat(total, 2)
