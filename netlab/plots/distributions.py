"""How far the runs of one experiment differ, from seed to seed."""

import itertools

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from netlab.plots._style import (
    COLOURS,
    INK,
    digits,
    finish,
    name_of,
    need,
    ordered,
    plural,
    prefix,
    unit_of,
    written,
)


def distribution(table, x, y, marks=None, unit=None, labels=None, marked="published"):
    """What every run gave, side by side: a point per seed, their median and their range.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per run, with its ``seed``, as `netlab.sweep` gives.
    x : str
        Its column of categories, drawn in the order in which they appear or, where it is
        categorical, of its categories.
    y : str
        Its column of what was measured, in `unit`.
    marks : dict of float, optional
        By category: the one number to compare with, such as the one that was published, in `unit`.
    unit : str, optional
        "bit/s", "s" or "byte", which get a prefix, or any other; default: what the name of `y` ends
        in, else "1".
    labels : dict of str, optional
        What the axes call columns, such as ``{"jain_index": "fairness"}``; default: their names.
    marked : str
        What the legend calls the marks.

    Returns
    -------
    plotly.graph_objects.Figure
        Points of about the same value lie side by side. Runs without a value are left out, and the
        title says how many.
    """
    need("distribution", table, x, y, "seed")
    runs, marks = table[table[y].notna() & table[x].notna()], dict(marks or {})
    if runs.empty:
        raise ValueError(f"distribution: no run has a {y}")
    places = {name: place for place, name in enumerate(ordered(table[x]))}
    if unknown := [str(name) for name in marks if name not in places]:
        raise ValueError(
            f"distribution: marks name {', '.join(unknown)}; {x} has {', '.join(map(str, places))}"
        )
    if wrong := [str(name) for name, mark in marks.items() if not np.isfinite(mark)]:
        raise ValueError(f"distribution: the mark of {', '.join(wrong)} is no finite number")
    unit = unit_of(y) if unit is None else unit
    scale, shown = prefix(unit, max(map(abs, [*runs[y], *marks.values()])))
    runs = runs.assign(value=runs[y] / scale, place=runs[x].map(places).astype(int)).sort_values(
        "value"
    )
    published = np.array(list(marks.values()), dtype=float) / scale
    lanes = runs.groupby("place").value.transform(
        _lanes, near=np.ptp([*runs.value, *published]) / 36
    )
    lane = min(0.022 * len(places), 0.1, 0.25 / max(1, lanes.abs().max()))  # of a category's width
    told = runs.groupby("place").value.agg(["median", "min", "max", "count"])
    fig, at, (middle, low, high, _) = go.Figure(), told.index.to_numpy(), told.to_numpy().T

    def draw(name, x, y, hover, **look):
        fig.add_scatter(
            x=x, y=y, name=name, hovertemplate=f"{hover}<extra></extra>", cliponaxis=False, **look
        )

    def line(colour, ends, heights, name, hover, **look):
        x, y = (
            np.repeat(at, 4) + np.tile([*ends, np.nan], len(at)),
            np.column_stack([*heights, middle]).ravel(),
        )
        draw(name, x, y, hover, mode="lines", line=dict(color=colour, width=3), **look)

    line("#BBBBBB", (0, 0, 0), (low, middle, high), "range", "", hoverinfo="skip")
    said = (
        f"median %{{y:.4~g}} {shown}<br>from %{{customdata[1]:.4~g}} to"
        " %{customdata[2]:.4~g}<br>runs: %{customdata[3]}"
    )
    line(
        INK,
        (-0.28, 0, 0.28),
        (middle,) * 3,
        "median",
        said,
        customdata=np.repeat(told.to_numpy(), 4, axis=0),
    )
    text = dict(text=[f"\u2009{digits(number)}" for number in middle], textposition="middle right")
    draw("", at + 0.29, middle, "", mode="text", showlegend=False, hoverinfo="skip", **text)
    point = dict(color=COLOURS[0], size=10, opacity=0.8, line=dict(color="white", width=1))
    seed = f"seed %{{customdata}}: %{{y:.4~g}} {shown}"
    draw(
        "one run",
        runs.place + lane * lanes,
        runs.value,
        seed,
        mode="markers",
        marker=point,
        customdata=runs.seed,
    )
    if marks:
        square = dict(symbol="square-open", color=COLOURS[2], size=20, line_width=3)
        where, hover = [places[name] for name in marks], f"{marked}: %{{y:.4~g}} {shown}"
        draw(marked, where, published, hover, mode="markers", marker=square)
    xaxis = dict(
        title=name_of(x, labels),
        tickvals=list(range(len(places))),
        ticktext=list(map(written, places)),
        showgrid=False,
    )
    xaxis |= dict(range=[-0.5, len(places) - 0.5], autotickangles=[0, -30])
    lost = len(table) - len(runs)
    subtitle = (
        f"{plural(lost, 'run')} without a value {'is' if lost == 1 else 'are'} not shown"
        if lost
        else ""
    )
    return finish(
        fig,
        "",
        subtitle,
        xaxis=xaxis,
        yaxis_title=f"{name_of(y, labels)} [{shown}]",
        margin_t=60 if lost else 30,
    )


def _lanes(values, near):
    """The lane of each of the sorted values: 0, or the next of 1, -1, 2, -2 ... where no other
    value is near.
    """
    lanes = []
    for number, value in enumerate(values):
        taken = {
            lane
            for other, lane in zip(values[:number], lanes, strict=True)
            if value - other <= near
        }
        lanes.append(next(lane for k in itertools.count() for lane in (k, -k) if lane not in taken))
    return pd.Series(lanes, values.index)
