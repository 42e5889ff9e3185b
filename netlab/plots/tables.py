"""Quantities beside one another: measured here, predicted and published."""

import numpy as np
from plotly.subplots import make_subplots

from netlab.plots._style import COLOURS, NOUNS, digits, finish, need, prefix


def comparison(table):
    """Quantities as measured here, predicted and published: a row each, and the numbers beside it.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per quantity: ``quantity`` (its name), ``measured``, ``predicted``, ``published``
        (NaN where there is none) and their ``unit``: "bit/s", "s" or "byte", which get a prefix, or
        any other, "1" where there is none.

    Returns
    -------
    plotly.graph_objects.Figure
        A panel per unit. Its axis starts at 0, or is logarithmic where values differ by more than a
        factor of 50.
    """
    kinds = {
        "published": dict(symbol="square-open", size=22, color=COLOURS[2], line_width=3),
        "predicted": dict(
            symbol="line-ns", size=26, color=COLOURS[1], line=dict(width=4, color=COLOURS[1])
        ),
        "measured": dict(symbol="circle", size=14, color=COLOURS[0]),
    }  # the last is drawn on top
    need("comparison", table, "quantity", "measured", "predicted", "published", "unit")
    panels = list(table.groupby("unit", sort=False, dropna=False))
    inner_px = 46 * len(table) + 90 * (len(panels) - 1)
    fig = make_subplots(
        len(panels),
        row_heights=[len(panel) for _, panel in panels],
        vertical_spacing=min(1, 90 / inner_px),
    )

    def beside(text, column, **place):
        place |= dict(
            x=1, xref="x domain", xanchor="right", xshift=320 - 105 * list(kinds).index(column)
        )
        fig.add_annotation(text=text, font_color=kinds[column]["color"], showarrow=False, **place)

    for row, (unit, panel) in enumerate(panels, 1):
        values, where, at = (
            panel[list(kinds)].astype(float),
            np.arange(len(panel)),
            dict(row=row, col=1),
        )
        scale, shown = prefix(unit, values.abs().max(axis=None))
        values /= scale
        low, high = values.min(axis=1), values.max(axis=1)
        axis = (
            dict(type="log", dtick=1)
            if 0 < 50 * low.min() < high.max()
            else dict(rangemode="tozero")
        )
        spans, line = (
            np.column_stack([low, high, low * np.nan]).ravel(),
            dict(color="#BBBBBB", width=3),
        )
        fig.add_scatter(
            x=spans, y=np.repeat(where, 3), mode="lines", line=line, hoverinfo="skip", **at
        )
        for kind, marker in kinds.items():
            hover = f"%{{text}}, {kind}: %{{x:.4~g}} {shown}<extra></extra>"
            look = dict(
                mode="markers",
                marker=marker,
                cliponaxis=False,
                text=panel.quantity,
                hovertemplate=hover,
            )
            fig.add_scatter(x=values[kind], y=where, name=kind, **look, **at)
            for position, value in enumerate(values[kind]):
                beside("-" if np.isnan(value) else digits(value), kind, y=position, **at)
        fig.update_xaxes(title=f"{NOUNS.get(unit, 'value')} [{shown}]", **axis, **at)
        fig.update_yaxes(
            tickvals=where, ticktext=panel.quantity, range=[len(panel) - 0.5, -0.5], ticks="", **at
        )
    for kind, sign in dict(measured="●", predicted="|", published="□").items():
        beside(f"{sign} {kind}", kind, y=1, yref="paper", yanchor="bottom")
    return finish(fig, showlegend=False, height=inner_px + 130, margin=dict(r=340, t=60, b=70))
