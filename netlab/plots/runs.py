"""One result: what its flows and streams carried, over time and in all."""

from itertools import cycle, pairwise

import numpy as np
import plotly.graph_objects as go

from netlab.fairness import jain_index
from netlab.models import goodput_bps
from netlab.plots._style import COLOURS, FAINT, INK, digits, finish, need, plural, prefix, say


def throughput(result, capacity=True):
    """Throughput over time: a stepped line per stream, and a thicker one for their sum.

    Parameters
    ----------
    result : Result
        Its ``intervals`` are drawn, but for those that iperf3 omits from its totals: as the
        receiver counts where it did, else as the sender does, who includes what is still in its
        buffers. Its ``flows`` name them in the legend.
    capacity : bool
        Say what the slowest link on each flow's path carries in full segments of 1448 bytes: as a
        line where that is within four times the highest throughput, else as a note.

    Returns
    -------
    plotly.graph_objects.Figure
        Throughput [Gbit/s, Mbit/s, ...] over time [s]; a colour per flow or, where there is only
        one, per stream. Flows report at different times: their sum is taken in steps of one
        interval, over which each is averaged.
    """
    rows = _measured(
        "throughput",
        result.intervals,
        "flow",
        "stream",
        "src",
        "dst",
        "start_s",
        "end_s",
        "omitted",
    )
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
    scale, unit = prefix("bit/s", np.nanmax(_steps(rows, together)[1]))
    fig, hover = go.Figure(), f"%{{x:.4~g}} s: %{{y:.3~g}} {unit}"

    def draw(part, name, bounds=None, **look):
        time_s, bps = _steps(part, bounds)
        fig.add_scatter(
            x=time_s, y=bps / scale, name=name, mode="lines", hovertemplate=hover, **look
        )

    for (flow, part), colour in zip(flows, cycle(COLOURS), strict=False):
        group, parts = names[flow], list(part.groupby("stream"))
        for (stream, own), own_colour in zip(
            parts if len(parts) > 1 else [], cycle(COLOURS), strict=False
        ):
            if alone:
                look = dict(
                    line=dict(color=own_colour, width=2), showlegend=len(parts) <= len(COLOURS)
                )
            else:
                look = dict(
                    line=dict(color=colour, width=1.5),
                    opacity=0.5,
                    showlegend=False,
                    legendgroup=group,
                )
            draw(own, f"stream {stream}" if alone else f"{group}, stream {stream}", **look)
        if len(parts) == 1 or not alone:
            draw(part, group, line=dict(color=colour, width=3.5), legendgroup=group)
    if count > 1:
        draw(rows, "sum", together, line=dict(color=INK, width=4))
    if capacity:
        _draw_capacity(fig, result.experiment.topology, rows, scale, unit)
    what = names[flows[0][0]] if alone else f"{len(flows)} flows"
    what += f", {plural(count, 'stream')}" if count > len(flows) else ""
    yaxis = dict(title=f"throughput [{unit}]", rangemode="tozero")
    return finish(
        fig, what, _counted(rows), xaxis=dict(title="time [s]", rangemode="tozero"), yaxis=yaxis
    )


def streams(result):
    """What each stream got, and how fair that is.

    Parameters
    ----------
    result : Result
        Its ``streams`` are drawn as the receiver counts, else, hatched, as the sender does; its
        ``flows`` name them.

    Returns
    -------
    plotly.graph_objects.Figure
        A bar per stream: throughput [Gbit/s, Mbit/s, ...]; a line at the equal share; Jain's index
        [1] in the title.
    """
    rows = _measured("streams", result.streams, "flow", "stream", "src", "dst").sort_values(
        ["flow", "stream"]
    )
    for lost in rows[rows.bps.isna()].itertuples():
        raise ValueError(
            f"streams: stream {lost.stream} of flow {lost.flow} has neither received_bps nor"
            " sent_bps"
        )
    names, flows, share = _flow_names(result), rows.flow.unique(), rows.bps.mean()
    scale, unit = prefix("bit/s", rows.bps.max())
    fig, rows = go.Figure(), rows.assign(place=range(len(rows)))
    look = dict(
        hovertemplate=f"stream %{{customdata}}: %{{y:.3~g}} {unit}", showlegend=len(flows) > 1
    )
    for (flow, part), colour in zip(rows.groupby("flow"), cycle(COLOURS), strict=False):
        marker = dict(
            color=colour, pattern_shape=["" if received else "/" for received in part.received]
        )
        fig.add_bar(
            x=part.place,
            y=part.bps / scale,
            name=names[flow],
            marker=marker,
            customdata=part.stream,
            **look,
        )
    equal = f"equal share:<br>{digits(share / scale)} {unit}"
    fig.add_hline(
        share / scale, line=dict(color=INK, width=2.5, dash="dash"), name=equal, showlegend=True
    )
    subtitle = names[flows[0]] if len(flows) == 1 else f"{len(flows)} flows"
    subtitle += (
        f", {plural(len(rows), 'stream')}, {say(rows.bps.sum(), 'bit/s')} together,"
        f" {_counted(rows)}"
    )
    named = rows.iloc[:: len(rows) // 33 + 1]
    xaxis = dict(title="stream", tickvals=named.place, ticktext=named.stream.astype(str))
    yaxis = dict(title=f"throughput [{unit}]", rangemode="tozero")
    return finish(
        fig,
        f"Jain's index {jain_index(rows.bps):.3f}",
        subtitle,
        xaxis=xaxis,
        yaxis=yaxis,
        bargap=0.25,
    )


def _measured(plot, frame, *columns):
    """The frame with ``bps``, as the receiver counts where it did (``received`` says so), else as
    the sender does.
    """
    need(plot, frame, *columns, "sent_bps", "received_bps")
    sent, received = frame.sent_bps.astype(float), frame.received_bps.astype(float)
    return frame.assign(bps=received.fillna(sent), received=received.notna())


def _counted(rows):
    ends = rows.received.map(
        {True: "counted by the receiver", False: "counted by the sender"}
    ).unique()
    return ends[0] if len(ends) == 1 else "counted by the receiver, else by the sender"


def _flow_names(result):
    """Flow -> what a legend calls it, such as "h1 → h2 reno"; with its number where two would be
    called the same.
    """
    need("flows", result.flows, "flow", "src", "dst", "congestion")
    names = {
        row.flow: (
            f"{row.src} → {row.dst}"
            + (f" {row.congestion}" if isinstance(row.congestion, str) else "")
        )
        for row in result.flows.itertuples()
    }
    return (
        names
        if len(set(names.values())) == len(names)
        else {flow: f"{flow}: {name}" for flow, name in names.items()}
    )


def _draw_capacity(fig, topology, rows, scale, unit):
    ends = rows[["src", "dst"]].drop_duplicates().itertuples(index=False)
    for rate in sorted({topology.bottleneck_bps(*pair) for pair in ends} - {np.inf}):
        carries = goodput_bps(rate)
        if carries / scale <= 4 * max(np.nanmax(trace.y) for trace in fig.data):
            line, name = (
                dict(color=FAINT, width=2.5, dash="dash"),
                f"link: {digits(carries / scale)} {unit}",
            )
            fig.add_hline(carries / scale, line=line, name=name, showlegend=True)
        else:
            place = dict(x=1, y=1, xref="paper", yref="paper", xanchor="right", yanchor="bottom")
            fig.add_annotation(
                text=f"↑ link: {say(carries, 'bit/s')}", font_color=FAINT, showarrow=False, **place
            )


def _steps(rows, bounds=None):
    """Times, and the sum of the rows' rates from each to the next, as a stepped line; NaN where
    nothing was measured.
    """
    bounds = np.unique(rows[["start_s", "end_s"]]) if bounds is None else bounds
    starts, ends, bps, total = (
        rows.start_s.to_numpy(),
        rows.end_s.to_numpy(),
        rows.bps.to_numpy(float),
        [],
    )
    for begin, end in pairwise(bounds):
        share = (np.minimum(ends, end) - np.maximum(starts, begin)) / (end - begin)
        here = share > 1e-6
        total.append((share * bps)[here].sum() if here.any() else np.nan)
    return np.repeat(bounds, 2)[1:-1], np.repeat(total, 2)
