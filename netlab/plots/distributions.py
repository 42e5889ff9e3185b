"""The spread of an experiment's runs over seeds."""

import itertools
from textwrap import wrap

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from netlab.plots._style import COLOURS, INK, apply_style
from netlab.plots._words import (
    axis_name,
    category_text,
    check_frame,
    plural,
    short_number,
    unit_of,
    unit_prefix,
    values_in_order,
)


def distribution(table, x, y, marks=None, unit=None, labels=None, marked="published"):
    """Distribution of runs in each category: a point per run, their median and their range.

    Points of nearly the same value lie side by side. The title counts runs without a value.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per run, with its ``seed``, as `netlab.sweep` gives.
    x, y : str
        The columns of the categories, in their order or as they appear, and of the values [`unit`].
    marks : dict of float, optional
        Category -> a number to compare with, such as a published one. [`unit`]
    unit : str, optional
        "bit/s", "s" or "byte", which get a prefix, or any other. Default: that at the end of the
        name of `y`, else "1".
    labels : dict of str, optional
        Names of columns on the axes, such as ``{"jain_index": "fairness"}``.
    marked : str
        Name of the marks in the legend.

    Examples
    --------
    >>> runs = pd.DataFrame({"streams": [1, 1, 8, 8], "seed": [1, 2, 1, 2]})
    >>> runs["received_bps"] = [4.1e9, 5.2e9, 9.3e9, 9.4e9]
    >>> distribution(runs, "streams", "received_bps").layout.yaxis.title.text
    'throughput [Gbit/s]'
    """
    check_frame("distribution", table, x, y, "seed")
    runs, marks = table[table[y].notna() & table[x].notna()], dict(marks or {})
    if runs.empty:
        raise ValueError(f"distribution: no run has a {y}")
    places = {name: place for place, name in enumerate(values_in_order(table[x]))}
    if unknown := [str(name) for name in marks if name not in places]:
        raise ValueError(
            f"distribution: marks name {', '.join(unknown)}; {x} has {', '.join(map(str, places))}"
        )
    if wrong := [str(name) for name, mark in marks.items() if not np.isfinite(mark)]:
        raise ValueError(f"distribution: the mark of {', '.join(wrong)} is no finite number")
    unit = unit_of(y) if unit is None else unit
    scale, shown = unit_prefix(unit, max(map(abs, [*runs[y], *marks.values()])))
    runs = runs.assign(value=runs[y] / scale, place=runs[x].map(places).astype(int))
    runs = runs.sort_values("value", kind="stable")  # equal values keep their order on every CPU
    published = np.array(list(marks.values()), dtype=float) / scale
    near = np.ptp([*runs.value, *published]) / 36
    lanes = runs.groupby("place").value.transform(_lanes, near=near)
    lane = min(0.022 * len(places), 0.1, 0.25 / max(1, lanes.abs().max()))  # of a category's width
    summary = runs.groupby("place").value.agg(["median", "min", "max", "count"])
    fig, at, (middle, low, high, _) = go.Figure(), summary.index.to_numpy(), summary.to_numpy().T

    def draw(name, x, y, hover, **look):
        look |= dict(hovertemplate=f"{hover}<extra></extra>", cliponaxis=False)
        fig.add_scatter(x=x, y=y, name=name, **look)

    def line(colour, ends, heights, name, hover, **look):
        """A line of three points at each category, with a gap after it."""
        x = np.repeat(at, 4) + np.tile([*ends, np.nan], len(at))
        y = np.column_stack([*heights, middle]).ravel()
        draw(name, x, y, hover, mode="lines", line=dict(color=colour, width=3), **look)

    line("#BBBBBB", (0, 0, 0), (low, middle, high), "range", "", hoverinfo="skip")
    hover = (
        f"median %{{y:.4~g}} {shown}<br>from %{{customdata[1]:.4~g}} to"
        " %{customdata[2]:.4~g}<br>runs: %{customdata[3]}"
    )
    shared = dict(customdata=np.repeat(summary.to_numpy(), 4, axis=0))
    crowded = len(places) > 5
    half = 0.2 if crowded else 0.28
    line(INK, (-half, 0, half), (middle,) * 3, "median", hover, **shared)
    text = dict(text=[f"\u2009{short_number(number)}" for number in middle], mode="text")
    text |= dict(textposition="middle right", showlegend=False, hoverinfo="skip")
    draw("", at + half + 0.01, middle, "", textfont_size=12 if crowded else 15, **text)
    point = dict(color=COLOURS[0], size=10, opacity=0.8, line=dict(color="white", width=1))
    hover = f"seed %{{customdata}}: %{{y:.4~g}} {shown}"
    look = dict(mode="markers", marker=point, customdata=runs.seed)
    draw("one run", runs.place + lane * lanes, runs.value, hover, **look)
    if marks:
        square = dict(symbol="square-open", color=COLOURS[2], size=20, line_width=3)
        where, hover = [places[name] for name in marks], f"{marked}: %{{y:.4~g}} {shown}"
        draw(marked, where, published, hover, mode="markers", marker=square)
    xaxis = dict(title=axis_name(x, labels), showgrid=False, range=[-0.5, 1.1 * len(places) - 0.6])
    xaxis |= dict(
        tickvals=list(range(len(places))),
        ticktext=[_wrapped(name, 54 // len(places)) for name in places],
    )
    xaxis |= dict(autotickangles=[0, -30], tickfont_size=13 if crowded else 15)
    layout = dict(xaxis=xaxis, yaxis_title=_wrapped(f"{axis_name(y, labels)} [{shown}]", 33))
    subtitle = ""
    if lost := len(table) - len(runs):
        verb = "is" if lost == 1 else "are"
        subtitle = f"{plural(lost, 'run')} without a value {verb} not shown"
    return apply_style(fig, "", subtitle, **layout)


def _wrapped(name, letters):
    return "<br>".join(wrap(category_text(name), max(letters, 8), break_long_words=False))


def _lanes(values, near):
    """The lane of each sorted value: the first of 0, 1, -1, 2, -2 ... without a value near it."""
    lanes = []
    for number, value in enumerate(values):
        before = zip(values[:number], lanes, strict=True)
        taken = {lane for other, lane in before if value - other <= near}
        lanes.append(next(lane for k in itertools.count() for lane in (k, -k) if lane not in taken))
    return pd.Series(lanes, values.index)
