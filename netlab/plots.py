"""Tidy frames in, `plotly.graph_objects.Figure` out.

Frames are in SI units; a figure takes the prefix that suits its numbers and says so in the axis title. Nothing here shows
a figure or changes a frame. One that is empty, lacks a column, or holds nothing that was measured raises ``ValueError``.
"""

from itertools import cycle, pairwise

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from netlab.fairness import jain_index
from netlab.models import goodput_bps

__all__ = ["aimd", "comparison", "prediction", "streams", "throughput"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#777777")  # Okabe and Ito's
INK, FAINT = "#222222", "#6E6E6E"
DASHES, SYMBOLS = ("solid", "dash", "dot", "dashdot"), ("circle", "diamond-open", "square-open", "triangle-up-open")

_AXIS = dict(
    showline=True, linecolor=INK, gridcolor="#E3E3E3", zeroline=False, ticks="outside", automargin=True,
    exponentformat="none", title_standoff=10,
)  # fmt: skip
TEMPLATE = go.layout.Template(layout=dict(
    font=dict(family="Arial, Helvetica, sans-serif", size=17, color=INK), colorway=COLOURS, hoverlabel_font_size=15,
    title=dict(x=0, xref="container", pad_l=16, font_size=21, subtitle_font=dict(size=16, color=FAINT)),
    paper_bgcolor="white", plot_bgcolor="white", margin=dict(l=80, r=20, t=88, b=65),
    xaxis=_AXIS, yaxis=_AXIS, legend=dict(itemsizing="constant", tracegroupgap=0),
))  # fmt: skip

_PREFIXES = {
    "bit/s": {"Gbit/s": 1e9, "Mbit/s": 1e6, "kbit/s": 1e3},
    "s": {"s": 1, "ms": 1e-3, "µs": 1e-6},
    "byte": {"GB": 1e9, "MB": 1e6, "kB": 1e3},
}
_NOUNS = {"bit/s": "throughput", "s": "time", "byte": "data"}


def throughput(result, capacity=True):
    """Throughput over time: a stepped line per stream, and a thicker one for their sum.

    Parameters
    ----------
    result : Result
        Its ``intervals`` are drawn, but for those that iperf3 omits from its totals: as the receiver counts where it did,
        else as the sender does, who includes what is still in its buffers. Its ``flows`` name them in the legend.
    capacity : bool
        Say what the slowest link on each flow's path carries in full segments of 1448 bytes: as a line where that is
        within four times the highest throughput, else as a note.

    Returns
    -------
    plotly.graph_objects.Figure
        Throughput [Gbit/s, Mbit/s, ...] over time [s]; a colour per flow or, where there is only one, per stream. Flows
        report at different times: their sum is taken in steps of one interval, over which each is averaged.
    """
    rows = _measured("throughput", result.intervals, "flow", "stream", "src", "dst", "start_s", "end_s", "omitted")
    rows = rows.round({"start_s": 3, "end_s": 3})  # streams report within microseconds of one another
    rows = rows[~rows.omitted.astype(bool) & (rows.end_s > rows.start_s)]
    if not rows.bps.notna().any():
        raise ValueError("throughput: no interval, but for omitted ones, has received_bps or sent_bps")
    names, flows = _flow_names(result), list(rows.groupby("flow"))
    alone, count = len(flows) == 1, rows.groupby(["flow", "stream"]).ngroups
    begin, end, step = rows.start_s.min(), rows.end_s.max(), (rows.end_s - rows.start_s).median()
    together = None if alone else np.linspace(begin, end, max(1, round((end - begin) / step)) + 1)
    scale, unit = _scale("bit/s", np.nanmax(_steps(rows, together)[1]))
    fig, hover = go.Figure(), f"%{{x:.4~g}} s: %{{y:.3~g}} {unit}"

    def draw(part, name, bounds=None, **look):
        time_s, bps = _steps(part, bounds)
        fig.add_scatter(x=time_s, y=bps / scale, name=name, mode="lines", hovertemplate=hover, **look)

    for (flow, part), colour in zip(flows, cycle(COLOURS), strict=False):
        group, parts = names[flow], list(part.groupby("stream"))
        for (stream, own), own_colour in zip(parts if len(parts) > 1 else [], cycle(COLOURS), strict=False):
            if alone:
                look = dict(line=dict(color=own_colour, width=2), showlegend=len(parts) <= len(COLOURS))
            else:
                look = dict(line=dict(color=colour, width=1.5), opacity=0.5, showlegend=False, legendgroup=group)
            draw(own, f"stream {stream}" if alone else f"{group}, stream {stream}", **look)
        if len(parts) == 1 or not alone:
            draw(part, group, line=dict(color=colour, width=3.5), legendgroup=group)
    if count > 1:
        draw(rows, "sum", together, line=dict(color=INK, width=4))
    if capacity:
        _draw_capacity(fig, result.experiment.topology, rows, scale, unit)
    what = names[flows[0][0]] if alone else f"{len(flows)} flows"
    what += f", {_plural(count, 'stream')}" if count > len(flows) else ""
    yaxis = dict(title=f"throughput [{unit}]", rangemode="tozero")
    return _finish(fig, what, _counted(rows), xaxis=dict(title="time [s]", rangemode="tozero"), yaxis=yaxis)


def streams(result):
    """What each stream got, and how fair that is.

    Parameters
    ----------
    result : Result
        Its ``streams`` are drawn as the receiver counts, else, hatched, as the sender does; its ``flows`` name them.

    Returns
    -------
    plotly.graph_objects.Figure
        A bar per stream: throughput [Gbit/s, Mbit/s, ...]; a line at the equal share; Jain's index [1] in the title.
    """
    rows = _measured("streams", result.streams, "flow", "stream", "src", "dst").sort_values(["flow", "stream"])
    for lost in rows[rows.bps.isna()].itertuples():
        raise ValueError(f"streams: stream {lost.stream} of flow {lost.flow} has neither received_bps nor sent_bps")
    names, flows, share = _flow_names(result), rows.flow.unique(), rows.bps.mean()
    scale, unit = _scale("bit/s", rows.bps.max())
    fig, rows = go.Figure(), rows.assign(place=range(len(rows)))
    look = dict(hovertemplate=f"stream %{{customdata}}: %{{y:.3~g}} {unit}", showlegend=len(flows) > 1)
    for (flow, part), colour in zip(rows.groupby("flow"), cycle(COLOURS), strict=False):
        marker = dict(color=colour, pattern_shape=["" if received else "/" for received in part.received])
        fig.add_bar(x=part.place, y=part.bps / scale, name=names[flow], marker=marker, customdata=part.stream, **look)
    equal = f"equal share:<br>{_digits(share / scale)} {unit}"
    fig.add_hline(share / scale, line=dict(color=INK, width=2.5, dash="dash"), name=equal, showlegend=True)
    subtitle = names[flows[0]] if len(flows) == 1 else f"{len(flows)} flows"
    subtitle += f", {_plural(len(rows), 'stream')}, {_say(rows.bps.sum(), 'bit/s')} together, {_counted(rows)}"
    named = rows.iloc[:: len(rows) // 33 + 1]
    xaxis = dict(title="stream", tickvals=named.place, ticktext=named.stream.astype(str))
    yaxis = dict(title=f"throughput [{unit}]", rangemode="tozero")
    return _finish(fig, f"Jain's index {jain_index(rows.bps):.3f}", subtitle, xaxis=xaxis, yaxis=yaxis, bargap=0.25)


def comparison(table):
    """Quantities as measured here, predicted and published: a row each, and the numbers beside it.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per quantity: ``quantity`` (its name), ``measured``, ``predicted``, ``published`` (NaN where there is
        none) and their ``unit``: "bit/s", "s" or "byte", which get a prefix, or any other, "1" where there is none.

    Returns
    -------
    plotly.graph_objects.Figure
        A panel per unit. Its axis starts at 0, or is logarithmic where values differ by more than a factor of 50.
    """
    kinds = {
        "published": dict(symbol="square-open", size=22, color=COLOURS[2], line_width=3),
        "predicted": dict(symbol="line-ns", size=26, color=COLOURS[1], line=dict(width=4, color=COLOURS[1])),
        "measured": dict(symbol="circle", size=14, color=COLOURS[0]),
    }  # the last is drawn on top
    _need("comparison", table, "quantity", "measured", "predicted", "published", "unit")
    panels = list(table.groupby("unit", sort=False, dropna=False))
    inner_px = 46 * len(table) + 90 * (len(panels) - 1)
    fig = make_subplots(len(panels), row_heights=[len(panel) for _, panel in panels], vertical_spacing=min(1, 90 / inner_px))

    def beside(text, column, **place):
        place |= dict(x=1, xref="x domain", xanchor="right", xshift=320 - 105 * list(kinds).index(column))
        fig.add_annotation(text=text, font_color=kinds[column]["color"], showarrow=False, **place)

    for row, (unit, panel) in enumerate(panels, 1):
        values, where, at = panel[list(kinds)].astype(float), np.arange(len(panel)), dict(row=row, col=1)
        scale, shown = _scale(unit, values.abs().max(axis=None))
        values /= scale
        low, high = values.min(axis=1), values.max(axis=1)
        axis = dict(type="log", dtick=1) if 0 < 50 * low.min() < high.max() else dict(rangemode="tozero")
        spans, line = np.column_stack([low, high, low * np.nan]).ravel(), dict(color="#BBBBBB", width=3)
        fig.add_scatter(x=spans, y=np.repeat(where, 3), mode="lines", line=line, hoverinfo="skip", **at)
        for kind, marker in kinds.items():
            hover = f"%{{text}}, {kind}: %{{x:.4~g}} {shown}<extra></extra>"
            look = dict(mode="markers", marker=marker, cliponaxis=False, text=panel.quantity, hovertemplate=hover)
            fig.add_scatter(x=values[kind], y=where, name=kind, **look, **at)
            for position, value in enumerate(values[kind]):
                beside("-" if np.isnan(value) else _digits(value), kind, y=position, **at)
        fig.update_xaxes(title=f"{_NOUNS.get(unit, 'value')} [{shown}]", **axis, **at)
        fig.update_yaxes(tickvals=where, ticktext=panel.quantity, range=[len(panel) - 0.5, -0.5], ticks="", **at)
    for kind, sign in dict(measured="●", predicted="|", published="□").items():
        beside(f"{sign} {kind}", kind, y=1, yref="paper", yanchor="bottom")
    return _finish(fig, showlegend=False, height=inner_px + 130, margin=dict(r=340, t=60, b=70))


def prediction(grid, models):
    """Throughput over loss, measured and as models have it, and the ratio of the two.

    Parameters
    ----------
    grid : pandas.DataFrame
        One row per run, as `netlab.sweep` gives: ``loss_rate`` [1], ``streams`` [1], ``seed``, ``received_bps`` [bit/s],
        ``mss_bytes`` [byte], ``base_rtt_s`` [s] and ``bottleneck_bps`` [bit/s]. Runs without loss have no place on a
        logarithmic axis: they are left out, and the title says how many.
    models : iterable of netlab.models.Model
        At least one, such as ``[models.mathis]``.

    Returns
    -------
    plotly.graph_objects.Figure
        Over the loss rate [%]: a point per run, and a line per model and number of streams [Gbit/s, Mbit/s, ...].
        Below: measured over predicted [1], a point per run and model, and a line through each model's medians.
    """
    path = ["streams", "mss_bytes", "base_rtt_s", "bottleneck_bps"]
    _need("prediction", grid, "loss_rate", "seed", "received_bps", *path)
    runs, models = grid[grid.loss_rate > 0].sort_values("loss_rate", ignore_index=True), list(models)
    if not models:
        raise ValueError("prediction: models is empty, take [models.mathis]")
    if not runs.received_bps.max() > 0:
        raise ValueError("prediction: no run of the grid has loss_rate and received_bps above 0")
    scale, unit = _scale("bit/s", runs.received_bps.max())
    ratios = [runs.received_bps / model(runs) for model in models]
    looks = list(zip(models, ratios, cycle(DASHES), cycle(SYMBOLS), strict=False))
    colours = dict(zip(sorted(runs.streams.unique()), cycle(COLOURS), strict=False))
    fig = make_subplots(2, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.64, 0.36])
    above, below = dict(row=1, col=1), dict(row=2, col=1)
    losses = np.geomspace(runs.loss_rate.min() / 1.4, runs.loss_rate.max() * 1.4, 33)

    def curve(model, x, y, **look):
        fig.add_scatter(x=100 * x, y=y, name=model.label, mode="lines", legendgroup=model.label, hoverinfo="skip", **look)

    for (count, *_), same in runs.groupby(path, dropna=False):
        path_only = same.iloc[[0] * len(losses)].assign(loss_rate=losses)
        for model, _, dash, _ in looks:
            curve(model, losses, model(path_only) / scale, line=dict(color=colours[count], dash=dash), showlegend=False, **above)
    said = "".join(f"<br>%{{customdata[{n}]:.2f}} of {model.label}" for n, model in enumerate(models, 2))
    for count, own in runs.groupby("streams"):
        name, measured = _plural(count, "stream"), own.received_bps / scale
        told = np.column_stack([own.seed, measured, *(ratio[own.index] for ratio in ratios)])
        hover = f"{name}, loss %{{x:.3~g}} %, seed %{{customdata[0]}}<br>%{{customdata[1]:.3~g}} {unit}{said}<extra></extra>"
        look = dict(x=100 * own.loss_rate, name=name, legendgroup=name, mode="markers", customdata=told, hovertemplate=hover)
        fig.add_scatter(y=measured, marker=dict(color=colours[count], size=9, line_color="white", line_width=1), **look, **above)
        for _, ratio, _, symbol in looks:
            marker = dict(color=colours[count], symbol=symbol, size=8)
            fig.add_scatter(y=ratio[own.index], marker=marker, showlegend=False, **look, **below)
    for model, ratio, dash, _ in looks:
        middle = ratio.groupby(runs.loss_rate).median()
        curve(model, middle.index, middle, line=dict(color=FAINT, dash=dash), legend="legend2", **below)
    fig.add_hline(1, line=dict(color=INK, width=1.5), **below)
    fig.update_xaxes(type="log", **_log_ticks(100 * losses))
    fig.update_xaxes(title="loss rate [%]", **below)
    fig.update_yaxes(title=f"throughput [{unit}]", type="log", **_log_ticks(runs.received_bps / scale), **above)
    fig.update_yaxes(title="measured /<br>predicted [1]", rangemode="tozero", **below)
    fig.update_layout(legend_title_text="measured", legend2=dict(title_text="predicted", tracegroupgap=0, y=0.34, yanchor="top"))
    subtitle = f"{lossless} runs without loss are not shown" if (lossless := len(grid) - len(runs)) else ""
    return _finish(fig, "Throughput under loss", subtitle, height=680)


def aimd(traces, colours=("#009E73", "#D55E00", *COLOURS[:2], *COLOURS[3:])):
    """Congestion windows over time.

    Parameters
    ----------
    traces : dict of pandas.DataFrame
        By label: what `netlab.models.aimd_trace` gives, ``time_s`` [s] and ``cwnd_bytes`` [byte].
    colours : sequence of str
        In the order of the traces: green, red, then others.

    Returns
    -------
    plotly.graph_objects.Figure
        The congestion window [MB, kB, ...; 1 kB = 1000 byte] over time [s].
    """
    if not traces:
        raise ValueError("aimd: traces is empty, there is nothing to draw")
    for label, trace in traces.items():
        _need(f"aimd, {label!r}", trace, "time_s", "cwnd_bytes")
    scale, unit = _scale("byte", max(trace.cwnd_bytes.max() for trace in traces.values()))
    fig, hover = go.Figure(), f"%{{x:.4~g}} s: %{{y:.4~g}} {unit}"
    for (label, trace), colour in zip(traces.items(), cycle(colours), strict=False):
        look = dict(mode="lines", line=dict(color=colour, width=3), hovertemplate=hover)
        fig.add_scatter(x=trace.time_s, y=trace.cwnd_bytes / scale, name=label, **look)
    yaxis = dict(title=f"congestion window [{unit}]", rangemode="tozero")
    return _finish(fig, xaxis_title="time [s]", yaxis=yaxis, margin_t=30)


def _finish(fig, title="", subtitle="", **layout):
    look = dict(template=TEMPLATE, height=480, showlegend=True, title_text=title, title_subtitle_text=subtitle)
    return fig.update_layout(**look | layout)


def _need(plot, frame, *columns):
    """Refuse a frame that is empty or lacks columns."""
    if frame.empty:
        raise ValueError(f"{plot}: the frame is empty, there is nothing to draw")
    if missing := [column for column in columns if column not in frame]:
        raise ValueError(f"{plot}: the frame lacks {', '.join(missing)}; it has {', '.join(map(str, frame))}")


def _measured(plot, frame, *columns):
    """The frame with ``bps``, as the receiver counts where it did (``received`` says so), else as the sender does."""
    _need(plot, frame, *columns, "sent_bps", "received_bps")
    sent, received = frame.sent_bps.astype(float), frame.received_bps.astype(float)
    return frame.assign(bps=received.fillna(sent), received=received.notna())


def _counted(rows):
    ends = rows.received.map({True: "counted by the receiver", False: "counted by the sender"}).unique()
    return ends[0] if len(ends) == 1 else "counted by the receiver, else by the sender"


def _flow_names(result):
    """Flow -> what a legend calls it, such as "h1 → h2 reno"; with its number where two would be called the same."""
    _need("flows", result.flows, "flow", "src", "dst", "congestion")
    names = {
        row.flow: f"{row.src} → {row.dst}" + (f" {row.congestion}" if isinstance(row.congestion, str) else "")
        for row in result.flows.itertuples()
    }
    return names if len(set(names.values())) == len(names) else {flow: f"{flow}: {name}" for flow, name in names.items()}


def _draw_capacity(fig, topology, rows, scale, unit):
    ends = rows[["src", "dst"]].drop_duplicates().itertuples(index=False)
    for rate in sorted({topology.bottleneck_bps(*pair) for pair in ends} - {np.inf}):
        carries = goodput_bps(rate)
        if carries / scale <= 4 * max(np.nanmax(trace.y) for trace in fig.data):
            line, name = dict(color=FAINT, width=2.5, dash="dash"), f"link: {_digits(carries / scale)} {unit}"
            fig.add_hline(carries / scale, line=line, name=name, showlegend=True)
        else:
            place = dict(x=1, y=1, xref="paper", yref="paper", xanchor="right", yanchor="bottom")
            fig.add_annotation(text=f"↑ link: {_say(carries, 'bit/s')}", font_color=FAINT, showarrow=False, **place)


def _steps(rows, bounds=None):
    """Times, and the sum of the rows' rates from each to the next, as a stepped line; NaN where nothing was measured."""
    bounds = np.unique(rows[["start_s", "end_s"]]) if bounds is None else bounds
    starts, ends, bps, total = rows.start_s.to_numpy(), rows.end_s.to_numpy(), rows.bps.to_numpy(float), []
    for begin, end in pairwise(bounds):
        share = (np.minimum(ends, end) - np.maximum(starts, begin)) / (end - begin)
        here = share > 1e-6
        total.append((share * bps)[here].sum() if here.any() else np.nan)
    return np.repeat(bounds, 2)[1:-1], np.repeat(total, 2)


def _scale(unit, largest):
    """The prefix that suits a size: how many of the unit it stands for, and its name."""
    return next(((size, name) for name, size in _PREFIXES.get(unit, {}).items() if largest >= size), (1, unit))


def _say(value, unit):
    scale, name = _scale(unit, value)
    return f"{_digits(value / scale)} {name}"


def _plural(number, noun):
    return f"{number:g} {noun}{'s' * (number != 1)}"


def _digits(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _log_ticks(values):
    """Ticks of a logarithmic axis, written out: 1, 2, 5, 10 ... or, where that is too many, 1, 10, 100 ..."""
    low, high = values[values > 0].min() / 2, values.max() * 2
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = np.outer(decades, [1, 2, 5]).ravel() if high < 500 * low else decades
    return dict(tickvals=ticks, ticktext=[_digits(tick) for tick in ticks])
