"""Who got how much: two flows on Chiu and Jain's plane, fairness over time, and rivals against each
other.
"""

from itertools import cycle

import numpy as np
import plotly.graph_objects as go
from plotly.colors import diverging, sequential
from plotly.subplots import make_subplots

from netlab.plots._style import (
    COLOURS,
    FAINT,
    INK,
    finish,
    name_of,
    need,
    ordered,
    prefix,
    say,
    written,
)


def plane(trajectories, capacity_bps, start=True, flows=("flow 1", "flow 2"), stepper=False):
    """Two flows that share a link, on Chiu and Jain's plane: the throughput of one over that of the
    other.

    Parameters
    ----------
    trajectories : dict of pandas.DataFrame
        By label: ``x_bps`` and ``y_bps``, what each flow carried [bit/s], a row per step, in order;
        ``time_s`` [s], where there is one, is told on hovering. The first, such as a model's, is
        drawn thin and dark on top of the others.
    capacity_bps : float
        What both together can carry, above 0. [bit/s]
    start : bool
        Mark where each begins, by an open ring; where it ends is marked by a filled one.
    flows : pair of str
        What the axes call the two.
    stepper : bool
        Put a slider below, and a button, that walk along the first trajectory.

    Returns
    -------
    plotly.graph_objects.Figure
        Throughput over throughput [Gbit/s, Mbit/s, ...], both to the same scale, with the fairness
        line, the efficiency line, the optimum where they cross and, dotted, the lines where one has
        twice what the other has.

    Notes
    -----
    For two flows Jain's index depends on their ratio r alone, so it is constant along a line
    through the origin: :math:`I = (1 + r)^2 / (2 (1 + r^2))`, which is 1 for r = 1, 0.9 for r = 2
    and 0.5 for r = 0.

    References
    ----------
    D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion avoidance
    in computer networks", Computer Networks and ISDN Systems 17, 1989.
    """
    if not trajectories:
        raise ValueError("plane: trajectories is empty, there is nothing to draw")
    if not 0 < capacity_bps < np.inf:
        raise ValueError(f"plane: capacity_bps must be above 0 and finite, not {capacity_bps!r}")
    for label, way in trajectories.items():
        need(f"plane, {label!r}", way, "x_bps", "y_bps")
        if not (way.x_bps + way.y_bps).notna().any():
            raise ValueError(f"plane, {label!r}: no row has both x_bps and y_bps")
    highest = max(
        capacity_bps, *(way[["x_bps", "y_bps"]].max(axis=None) for way in trajectories.values())
    )
    (scale, unit), fig = prefix("bit/s", capacity_bps), go.Figure()
    edge, full = 1.06 * highest / scale, capacity_bps / scale
    above, below = (
        max((sign * (way.y_bps - way.x_bps)).max() for way in trajectories.values())
        for sign in (1, -1)
    )
    _draw_rules(
        fig,
        edge,
        full,
        f"efficiency line: {say(capacity_bps, 'bit/s')}",
        0.16 if above <= below else 0.84,
    )
    coloured = zip(
        range(len(trajectories)), trajectories.items(), cycle((INK, *COLOURS)), strict=False
    )
    for number, (label, way), colour in reversed(list(coloured)):
        x, y, timed = (
            way.x_bps.to_numpy(float) / scale,
            way.y_bps.to_numpy(float) / scale,
            "time_s" in way,
        )
        squares = np.where(x + y > 0, 2 * (x**2 + y**2), np.nan)
        told = np.column_stack([(x + y) ** 2 / squares, way.time_s if timed else squares])
        hover = (
            f"{flows[0]}: %{{x:.3~g}} {unit}<br>{flows[1]}: %{{y:.3~g}} {unit}<br>Jain's index:"
            " %{customdata[0]:.2f}"
        )
        look = dict(
            name=label,
            legendgroup=label,
            hovertemplate="%{customdata[1]:.4~g} s<br>" * timed + hover,
        )
        line, marker = (
            dict(color=colour, width=2.5 if number else 1.5),
            dict(color=colour, size=7 if number else 5),
        )
        look |= dict(line=line, legendrank=number, opacity=0.8 if number else 1)
        fig.add_scatter(x=x, y=y, customdata=told, mode="lines+markers", marker=marker, **look)
        known = np.flatnonzero(~np.isnan(x + y))
        for end, inside in [(known[:1], "white")] * bool(start) + [(known[-1:], colour)]:
            ring = dict(size=14, color=inside, line=dict(color=colour, width=3))
            at = dict(x=x[end], y=y[end], customdata=told[end], cliponaxis=False)
            fig.add_scatter(mode="markers", marker=ring, showlegend=False, **look | at)
    star = dict(symbol="star", size=20, color=COLOURS[4], line=dict(color=INK, width=1.5))
    fig.add_scatter(
        x=[full / 2],
        y=[full / 2],
        name="optimum",
        mode="markers",
        marker=star,
        hovertemplate="half of it each",
    )
    axis = dict(range=[0, edge], constrain="domain")
    xaxis = dict(title=f"throughput of {flows[0]} [{unit}]", **axis)
    yaxis = dict(title=f"throughput of {flows[1]} [{unit}]", scaleanchor="x", **axis)
    finish(fig, xaxis=xaxis, yaxis=yaxis, width=820, height=600, margin_t=30)
    return _add_stepper(fig, next(iter(trajectories))) if stepper else fig


def _add_stepper(fig, label):
    """A slider, and a button, that show a trajectory up to each of its steps."""
    line, *_, end = (number for number, trace in enumerate(fig.data) if trace.legendgroup == label)
    x, y, told = fig.data[line].x, fig.data[line].y, fig.data[line].customdata
    for n in range(1, len(x) + 1):
        so_far, here = (
            dict(x=x[:n], y=y[:n], customdata=told[:n]),
            dict(x=x[n - 1 : n], y=y[n - 1 : n], customdata=told[n - 1 : n]),
        )
        fig.frames += (
            go.Frame(
                name=str(n - 1), data=[go.Scatter(so_far), go.Scatter(here)], traces=[line, end]
            ),
        )
    how = dict(mode="immediate", transition_duration=0, frame=dict(duration=250, redraw=False))
    steps = [
        dict(label=frame.name, method="animate", args=[[frame.name], how]) for frame in fig.frames
    ]
    slider = dict(
        active=len(x) - 1,
        currentvalue=dict(prefix=f"{label}, step "),
        steps=steps,
        pad_t=60,
        len=0.9,
        x=0.1,
    )
    play = dict(label="▶", method="animate", args=[None, how | dict(fromcurrent=False)])
    button = dict(
        type="buttons",
        buttons=[play],
        x=0,
        y=0,
        xanchor="left",
        yanchor="top",
        pad=dict(t=78),
        showactive=False,
    )
    return fig.update_layout(sliders=[slider], updatemenus=[button], height=720)


def _draw_rules(fig, edge, full, efficient, at):
    """The plane's lines, each named along itself; the efficiency line where the flows stray less."""

    def rule(x, y, text, place, beside, **line):
        angle = np.degrees(np.arctan2(y[1] - y[0], x[1] - x[0]))
        fig.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)
        where = dict(
            x=x[0] + place * (x[1] - x[0]),
            y=y[0] + place * (y[1] - y[0]),
            xshift=beside[0],
            yshift=beside[1],
        )
        fig.add_annotation(
            text=text,
            textangle=-angle,
            font=dict(color=line["color"], size=15),
            showarrow=False,
            **where,
        )

    for x, y, beside in ((edge, edge / 2, (-5, 10)), (edge / 2, edge, (-10, 5))):
        rule([0, x], [0, y], "index 0.9", 0.9, beside, color="#8A8A8A", width=1.5, dash="dot")
    dashed = dict(color=FAINT, width=2, dash="dash")
    rule([0, edge], [0, edge], "fairness line", 0.87, (-9, 9), **dashed)
    rule([0, full], [full, 0], efficient, at, (9, 9), **dashed)


def index_over_time(windows, threshold=None):
    """How fair it was, and when.

    Parameters
    ----------
    windows : dict of pandas.DataFrame
        By label: ``start_s``, ``end_s`` [s] and ``jain_index`` [1], a row per window of time; they
        do not overlap.
    threshold : float, optional
        Where to draw a line. [1]

    Returns
    -------
    plotly.graph_objects.Figure
        Jain's index [1] over time [s], in steps, with gaps where there is no window or its index is
        missing.
    """
    if not windows:
        raise ValueError("index_over_time: windows is empty, there is nothing to draw")
    fig, lowest = go.Figure(), 0.45 if threshold is None else threshold
    for (label, frame), colour in zip(windows.items(), cycle(COLOURS), strict=False):
        need(f"index_over_time, {label!r}", frame, "start_s", "end_s", "jain_index")
        if not frame.jain_index.notna().any():
            raise ValueError(f"index_over_time, {label!r}: no window has a jain_index")
        x, y = [], []
        for row in frame.sort_values("start_s").itertuples():
            if x and row.start_s < x[-1] - 1e-3:  # tests report within microseconds of one another
                raise ValueError(
                    f"index_over_time, {label!r}: windows overlap at {row.start_s:g} s"
                )
            if x and row.start_s > x[-1] + 1e-3:
                x, y = [*x, x[-1]], [*y, np.nan]
            x, y = [*x, row.start_s, row.end_s], [*y, row.jain_index, row.jain_index]
        look = dict(
            mode="lines", line=dict(color=colour, width=3), hovertemplate="%{x:.4~g} s: %{y:.3f}"
        )
        fig.add_scatter(x=x, y=y, name=label, **look)
        lowest = min(lowest, np.nanmin(y))
    if threshold is not None:
        line = dict(color=INK, width=2, dash="dash")
        fig.add_hline(threshold, line=line, name=f"threshold {threshold:g}", showlegend=True)
    yaxis = dict(title="Jain's index [1]", range=[min(0.4, lowest - 0.05), 1.02])
    return finish(fig, xaxis=dict(title="time [s]", rangemode="tozero"), yaxis=yaxis, margin_t=30)


def matrix(table, row, column, value="share", facet=None, middle=0.5, labels=None):
    """Rivals against each other: a heat map of the median over the runs of each pair, with its
    number.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per run. Rivals come in the order in which they appear, the same on both axes or,
        where a column is categorical, in that of its categories.
    row, column : str
        Its columns that say whose row and whose column of the heat map a run belongs to.
    value : str
        Its column of what to draw, from 0 to 1. [1]
    facet : str, optional
        Its column to draw panels by, side by side and to one scale.
    middle : float or None
        What is neither much nor little, between 0 and 1: white. None: the scale just goes from
        light to dark. [1]
    labels : dict of str, optional
        What to call columns, such as ``{"other": "flow 2 uses", "buffer": "buffer [BDP]"}``;
        default: their names.

    Returns
    -------
    plotly.graph_objects.Figure
        Hovering tells a cell's median, lowest, highest and number of runs. Cells where nothing was
        measured are grey.
    """
    need("matrix", table, row, column, value, *[facet] * (facet is not None))
    if middle is not None and not 0 < middle < 1:
        raise ValueError(f"matrix: middle must be between 0 and 1, or None, not {middle!r}")
    runs = table[table[value].notna()]
    if runs.empty:
        raise ValueError(f"matrix: no run has a {value}")
    for wrong in runs[value][~runs[value].between(0, 1)]:
        raise ValueError(f"matrix: {value} must be from 0 to 1, not {wrong:g}")
    order = list(dict.fromkeys([*ordered(table[row]), *ordered(table[column])]))
    rows, columns = ([name for name in order if name in set(table[who])] for who in (row, column))
    panels = (
        {None: runs}
        if facet is None
        else {name: runs[runs[facet] == name] for name in ordered(table[facet])}
    )
    names = {who: name_of(who, labels) for who in (row, column, value, facet) if who}
    fig = make_subplots(1, len(panels), shared_yaxes=True, horizontal_spacing=0.04)
    hover = (
        f"{names[row]}: %{{y}}<br>{names[column]}: %{{x}}<br>median %{{z:.3f}}, from"
        " %{customdata[0]:.3f} "
    )
    hover += "to %{customdata[1]:.3f}<br>runs: %{customdata[2]}<extra></extra>"
    look = dict(
        texttemplate="%{z:.2f}",
        textfont_size=15,
        xgap=2,
        ygap=2,
        coloraxis="coloraxis",
        hoverongaps=False,
    )
    for number, (name, panel) in enumerate(panels.items(), 1):
        cells = panel.groupby([row, column], observed=True)[value].agg(
            ["median", "min", "max", "count"]
        )
        medians, *spread = (
            cells[kind].unstack().reindex(index=rows, columns=columns).to_numpy() for kind in cells
        )
        at = dict(row=1, col=number)
        fig.add_heatmap(
            x=columns,
            y=rows,
            z=medians,
            customdata=np.dstack(spread),
            hovertemplate=hover,
            **look,
            **at,
        )
        fig.update_xaxes(title=names[column], **at)
        if name is not None:
            heading = dict(
                x=0.5,
                xref="x domain",
                y=1,
                yref="y domain",
                yanchor="bottom",
                font_size=18,
                showarrow=False,
            )
            noun, _, unit = names[facet].partition(" [")
            fig.add_annotation(
                text=f"{noun}: {written(name)} {unit.rstrip(']')}".rstrip(), **heading, **at
            )
    axis = dict(type="category", showgrid=False, showline=False, tickcolor="white")
    fig.update_xaxes(autotickangles=[0, -45], **axis).update_yaxes(autorange="reversed", **axis)
    fig.update_yaxes(title=names[row], col=1)
    if middle is None:
        scale = dict(
            colorscale=sequential.Blues,
            cmin=min(0.9, np.floor(10 * runs[value].min()) / 10),
            cmax=1,
        )
    else:
        where = np.interp(np.linspace(0, 1, len(diverging.RdBu)), [0, 0.5, 1], [0, middle, 1])
        scale = dict(colorscale=list(zip(where, diverging.RdBu, strict=True)), cmin=0, cmax=1)
    bar = dict(title=dict(text=f"{names[value]} [1]", side="right"), outlinewidth=0, thickness=18)
    cell = min(
        90, max(44, 640 / (len(columns) * len(panels)))
    )  # a notebook's page is some 950 px wide
    width, height = 250 + len(panels) * len(columns) * cell * 1.05, 150 + 0.85 * cell * len(rows)
    fig.update_layout(coloraxis=dict(colorbar=bar, **scale), plot_bgcolor="#E3E3E3")
    return finish(
        fig, showlegend=False, width=width, height=height, margin_t=30 if facet is None else 60
    )
