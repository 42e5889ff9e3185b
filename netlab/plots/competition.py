"""Flows that compete: Chiu and Jain's plane, fairness over time, and a matrix of rivals."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from pandas.api.types import is_numeric_dtype
from plotly.colors import diverging, sequential
from plotly.subplots import make_subplots

from netlab.plots._style import COLOURS, FAINT, INK, apply_style, each, from_0
from netlab.plots._words import (
    axis_name,
    category_text,
    check_frame,
    check_frames,
    unit_prefix,
    values_in_order,
    with_unit,
)


def plane(trajectories, capacity_bps, flows=("flow 1", "flow 2"), stepper=False):
    """Two flows that share a link on Chiu and Jain's plane: the throughput of one over the other's.

    Both axes have the same scale. The fairness and the efficiency line cross at the optimum. A
    trajectory begins with an open ring, and ends with a filled one.

    Parameters
    ----------
    trajectories : dict of pandas.DataFrame
        Label -> a row per step: ``x_bps``, ``y_bps`` [bit/s], optionally ``time_s`` [s]. The first
        one, such as a model's, is drawn thin and dark on top of the others.
    capacity_bps : float
        Of the link, above 0. [bit/s]
    flows : pair of str
        Names on the axes.
    stepper : bool
        Add a slider and a button that walk along the first trajectory.

    Notes
    -----
    For two flows Jain's index depends on their ratio r alone, so it is constant along a line
    through the origin: :math:`I = (1 + r)^2 / (2 (1 + r^2))`; the dotted lines have r = 2, I = 0.9.
    Source: D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion
    avoidance in computer networks", Computer Networks and ISDN Systems 17, 1989.

    Examples
    --------
    >>> steps = pd.DataFrame({"x_bps": [70e6, 45e6], "y_bps": [10e6, 35e6]})
    >>> plane({"model": steps}, capacity_bps=100e6, flows=("h1", "h3")).layout.xaxis.title.text
    'throughput of h1 [Mbit/s]'
    """
    check_frames("plane", "trajectories", trajectories, "x_bps", "y_bps")
    if not 0 < capacity_bps < np.inf:
        raise ValueError(f"plane: capacity_bps must be above 0 and finite, not {capacity_bps!r}")
    for label, way in trajectories.items():
        if not (way.x_bps + way.y_bps).notna().any():
            raise ValueError(f"plane, {label!r}: no row has both x_bps and y_bps")
    points = pd.concat([way[["x_bps", "y_bps"]] for way in trajectories.values()])
    (scale, unit), fig = unit_prefix("bit/s", capacity_bps), go.Figure()
    edge, full = 1.06 * max(capacity_bps, points.max(axis=None)) / scale, capacity_bps / scale
    efficiency = f"efficiency line: {with_unit(capacity_bps, 'bit/s')}"
    above = points.y_bps - points.x_bps
    _draw_rules(fig, edge, full, efficiency, 0.16 if above.max() <= -above.min() else 0.84)
    hover = (
        f"{flows[0]}: %{{x:.3~g}} {unit}<br>{flows[1]}: %{{y:.3~g}} {unit}<br>Jain's index:"
        " %{customdata[0]:.2f}"
    )
    coloured = each(trajectories.items(), (INK, *COLOURS))
    for number, ((label, way), colour) in reversed(list(enumerate(coloured))):
        x, y = way.x_bps.to_numpy(float) / scale, way.y_bps.to_numpy(float) / scale
        timed, squares = "time_s" in way, np.where(x + y > 0, 2 * (x**2 + y**2), np.nan)
        hover_data = np.column_stack([(x + y) ** 2 / squares, way.time_s if timed else squares])
        look = dict(name=label, legendgroup=label, customdata=hover_data, legendrank=number)
        look |= dict(hovertemplate="%{customdata[1]:.4~g} s<br>" * timed + hover)
        look |= dict(line=dict(color=colour, width=2.5 if number else 1.5))
        look |= dict(opacity=0.8 if number else 1)
        marker = dict(color=colour, size=7 if number else 5)
        fig.add_scatter(x=x, y=y, mode="lines+markers", marker=marker, **look)
        known = np.flatnonzero(~np.isnan(x + y))
        for end, inside in ((known[:1], "white"), (known[-1:], colour)):
            ring = dict(size=14, color=inside, line=dict(color=colour, width=3))
            at = dict(x=x[end], y=y[end], customdata=hover_data[end], cliponaxis=False)
            fig.add_scatter(mode="markers", marker=ring, showlegend=False, **look | at)
    star = dict(symbol="star", size=20, color=COLOURS[4], line=dict(color=INK, width=1.5))
    look = dict(name="optimum", mode="markers", marker=star, hovertemplate="half of it each")
    fig.add_scatter(x=[full / 2], y=[full / 2], **look)
    axes = [
        dict(title=f"throughput of {flow} [{unit}]", range=[0, edge], constrain="domain")
        for flow in flows
    ]
    apply_style(fig, xaxis=axes[0], yaxis=axes[1] | dict(scaleanchor="x"), height=600)
    return _add_stepper(fig, next(iter(trajectories))) if stepper else fig


def _add_stepper(fig, label):
    """Add a slider and a button that show a trajectory up to each of its steps."""
    line, *_, end = (number for number, trace in enumerate(fig.data) if trace.legendgroup == label)
    whole = {key: fig.data[line][key] for key in ("x", "y", "customdata")}
    for n in range(len(whole["x"])):
        so_far = {key: values[: n + 1] for key, values in whole.items()}
        here = {key: values[n : n + 1] for key, values in whole.items()}
        data = [go.Scatter(so_far), go.Scatter(here)]
        fig.frames += (go.Frame(name=str(n), data=data, traces=[line, end]),)
    how = dict(mode="immediate", transition_duration=0, frame=dict(duration=250, redraw=False))
    steps = [
        dict(label=frame.name, method="animate", args=[[frame.name], how]) for frame in fig.frames
    ]
    slider = dict(active=len(steps) - 1, steps=steps, pad_t=60, len=0.9, x=0.1)
    slider |= dict(currentvalue=dict(prefix=f"{label}, step "))
    play = dict(label="▶", method="animate", args=[None, how | dict(fromcurrent=False)])
    button = dict(type="buttons", buttons=[play], pad=dict(t=78), showactive=False)
    button |= dict(x=0, y=0, xanchor="left", yanchor="top")
    return fig.update_layout(sliders=[slider], updatemenus=[button], height=720)


def _draw_rules(fig, edge, full, efficiency, at):
    """Draw the plane's lines, each with its name along it; `at` places the efficiency line's."""

    def rule(x, y, text, place, shift, **line):
        angle = np.degrees(np.arctan2(y[1] - y[0], x[1] - x[0]))
        fig.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)
        where = dict(x=x[0] + place * (x[1] - x[0]), y=y[0] + place * (y[1] - y[0]))
        look = dict(textangle=-angle, font=dict(color=line["color"], size=15), showarrow=False)
        fig.add_annotation(text=text, xshift=shift[0], yshift=shift[1], **where, **look)

    for x, y, shift in ((edge, edge / 2, (-5, 10)), (edge / 2, edge, (-10, 5))):
        rule([0, x], [0, y], "index 0.9", 0.9, shift, color="#8A8A8A", width=1.5, dash="dot")
    dashed = dict(color=FAINT, width=2, dash="dash")
    rule([0, edge], [0, edge], "fairness line", 0.87, (-9, 9), **dashed)
    rule([0, full], [full, 0], efficiency, at, (9, 9), **dashed)


def index_over_time(windows, threshold=None):
    """Jain's index over time, in steps, with a gap where there is no window or no index.

    Parameters
    ----------
    windows : dict of pandas.DataFrame
        Label -> ``start_s``, ``end_s`` [s] and ``jain_index`` [1] of windows without overlap.
    threshold : float, optional
        Draw a line at this index. [1]

    Examples
    --------
    >>> windows = pd.DataFrame({"start_s": [0, 1], "end_s": [1, 2], "jain_index": [0.6, 0.98]})
    >>> index_over_time({"Reno": windows}, threshold=0.9).layout.yaxis.title.text
    "Jain's index [1]"
    """
    check_frames("index_over_time", "windows", windows, "start_s", "end_s", "jain_index")
    fig, lowest = go.Figure(), 0.45 if threshold is None else threshold
    for (label, frame), colour in each(windows.items(), COLOURS):
        if not frame.jain_index.notna().any():
            raise ValueError(f"index_over_time, {label!r}: no window has a jain_index")
        x, y = [], []
        for row in frame.sort_values("start_s").itertuples():
            # tests report within microseconds of one another
            if x and row.start_s < x[-1] - 1e-3:
                at = f"{row.start_s:g} s"
                raise ValueError(f"index_over_time, {label!r}: windows overlap at {at}")
            if x and row.start_s > x[-1] + 1e-3:
                x, y = [*x, x[-1]], [*y, np.nan]
            x, y = [*x, row.start_s, row.end_s], [*y, row.jain_index, row.jain_index]
        look = dict(mode="lines", line=dict(color=colour, width=3))
        fig.add_scatter(x=x, y=y, name=label, hovertemplate="%{x:.4~g} s: %{y:.3f}", **look)
        lowest = min(lowest, np.nanmin(y))
    if threshold is not None:
        line = dict(color=INK, width=2, dash="dash")
        fig.add_hline(threshold, line=line, name=f"threshold {threshold:g}", showlegend=True)
    yaxis = dict(title="Jain's index [1]", range=[min(0.4, lowest - 0.05), 1.02])
    return apply_style(fig, xaxis=from_0("time [s]"), yaxis=yaxis)


def matrix(table, row, column, value="share", facet=None, middle=0.5, labels=None):
    """Rivals against each other: a heat map with the median of each pair's runs.

    Hovering shows the median, the range and the number of a cell's runs; grey: none.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per run. On each axis numbers ascend; other values are in the order of the categories
        of a categorical column, else as they appear, and rivals on both axes in one order.
    row, column, value : str
        Columns of the table: the rivals, and what is drawn, from 0 to 1. [1]
    facet : str, optional
        The column that splits the runs into panels with one scale.
    middle : float or None
        What is drawn white, between 0 and 1; less is red, more is blue. None: from light to dark.
    labels : dict of str, optional
        Names of columns, such as ``{"other": "flow 2 uses", "buffer": "buffer [BDP]"}``.

    Examples
    --------
    >>> runs = pd.DataFrame({"one": ["reno", "bbr"], "other": ["bbr", "reno"], "share": [0.3, 0.7]})
    >>> matrix(runs, "one", "other").data[0].z.tolist()
    [[nan, 0.3], [0.7, nan]]
    """
    check_frame("matrix", table, row, column, value, *[facet] * (facet is not None))
    if middle is not None and not 0 < middle < 1:
        raise ValueError(f"matrix: middle must be between 0 and 1, or None, not {middle!r}")
    runs = table[table[value].notna()]
    if runs.empty:
        raise ValueError(f"matrix: no run has a {value}")
    for wrong in runs[value][~runs[value].between(0, 1)]:
        raise ValueError(f"matrix: {value} must be from 0 to 1, not {wrong:g}")
    rows, columns = _orders(table[row], table[column])
    names = {who: axis_name(who, labels) for who in (row, column, value, facet) if who}
    panels = {None: runs}
    if facet is not None:
        panels = {name: runs[runs[facet] == name] for name in values_in_order(table[facet])}
    # beside one another as long as a cell's number has room on a page of 550 px
    beside = len(panels) * len(columns) <= 10
    down, across = (1, len(panels)) if beside else (len(panels), 1)
    cell_px = min(60, max(34, 420 / (len(rows) * down)))
    inner_px = down * cell_px * len(rows) + 90 * (down - 1)
    spacing = dict(horizontal_spacing=0.04, vertical_spacing=90 / inner_px if down > 1 else 0)
    fig = make_subplots(down, across, shared_yaxes=beside, **spacing)
    hover = (
        f"{names[row]}: %{{y}}<br>{names[column]}: %{{x}}<br>median %{{z:.3f}}, from"
        " %{customdata[0]:.3f} to %{customdata[1]:.3f}<br>runs: %{customdata[2]}<extra></extra>"
    )
    look = dict(texttemplate="%{z:.2f}", textfont_size=14, hovertemplate=hover, hoverongaps=False)
    look |= dict(x=columns, y=rows, xgap=2, ygap=2, coloraxis="coloraxis")
    for number, (name, panel) in enumerate(panels.items(), 1):
        values = panel.groupby([row, column], observed=True)[value]
        cells = values.agg(["median", "min", "max", "count"])
        medians, *spread = (
            cells[kind].unstack().reindex(index=rows, columns=columns).to_numpy() for kind in cells
        )
        at = dict(row=1, col=number) if beside else dict(row=number, col=1)
        fig.add_heatmap(z=medians, customdata=np.dstack(spread), **look, **at)
        fig.update_xaxes(title=names[column], **at)
        if name is not None:
            noun, _, unit = names[facet].partition(" [")
            heading = dict(text=f"{noun}: {category_text(name)} {unit.rstrip(']')}".rstrip())
            heading |= dict(x=0.5, xref="x domain", y=1, yref="y domain", yanchor="bottom")
            fig.add_annotation(font_size=18, showarrow=False, **heading, **at)
    axis = dict(type="category", showgrid=False, showline=False, tickcolor="white")
    letters = max(len(category_text(name)) for name in columns)
    angle = 0 if letters * len(columns) * (across if beside else 1) <= 50 else -45
    fig.update_xaxes(tickangle=angle, title_standoff=36, **axis).update_yaxes(
        autorange="reversed", **axis
    )
    fig.update_yaxes(title=names[row], col=1)
    if middle is None:
        lowest = min(0.9, np.floor(10 * runs[value].min()) / 10)
        scale = dict(colorscale=sequential.Blues, cmin=lowest, cmax=1)
    else:
        where = np.interp(np.linspace(0, 1, len(diverging.RdBu)), [0, 0.5, 1], [0, middle, 1])
        scale = dict(colorscale=list(zip(where, diverging.RdBu, strict=True)), cmin=0, cmax=1)
    top_px = 95 if facet is None else 120
    bar = dict(title=dict(text=f"{names[value]} [1]", side="top"), outlinewidth=0, thickness=14)
    bar |= dict(orientation="h", len=0.7, x=0.5, y=1 + (top_px - 75) / inner_px, yanchor="bottom")
    fig.update_layout(coloraxis=dict(colorbar=bar, **scale), plot_bgcolor="#E3E3E3")
    margin = dict(t=top_px, b=70)
    return apply_style(fig, showlegend=False, height=inner_px + top_px + 70, margin=margin)


def _orders(row, column):
    orders = [[name for name in values_in_order(x) if name in set(x)] for x in (row, column)]
    if set(orders[0]) & set(orders[1]):
        shared = list(dict.fromkeys([*orders[0], *orders[1]]))
        orders = [[name for name in shared if name in order] for order in orders]
    for order, values in zip(orders, (row, column), strict=True):
        if is_numeric_dtype(values):
            order.sort()
    return orders
