"""Quantities as measured here, predicted and published, side by side."""

import numpy as np
from plotly.subplots import make_subplots

from netlab.plots._style import COLOURS, apply_style
from netlab.plots._words import NOUNS, check_frame, short_number, unit_prefix

COLUMN_PX = 98  # of numbers


def comparison(table):
    """Quantities as measured here, predicted and published: a row per quantity, with its numbers.

    A panel per unit, logarithmic where values differ by more than a factor of 50.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per ``quantity`` (its name): ``measured``, ``predicted``, ``published`` (NaN where
        there is none), and ``unit``: "bit/s", "s" or "byte", which get a prefix, or any other.
    """
    tick = dict(width=4, color=COLOURS[1])
    kinds = {  # the last is drawn on top
        "published": dict(symbol="square-open", size=22, color=COLOURS[2], line_width=3),
        "predicted": dict(symbol="line-ns", size=26, color=COLOURS[1], line=tick),
        "measured": dict(symbol="circle", size=14, color=COLOURS[0]),
    }
    check_frame("comparison", table, "quantity", "measured", "predicted", "published", "unit")
    panels = list(table.groupby("unit", sort=False, dropna=False))
    inner_px = 60 * len(table) + 90 * (len(panels) - 1)
    heights = [len(panel) for _, panel in panels]
    fig = make_subplots(len(panels), row_heights=heights, vertical_spacing=min(1, 90 / inner_px))

    def write(text, kind, **place):  # right of the panel, in the column of its kind
        place |= dict(x=1, xref="x domain", xanchor="right")
        place |= dict(xshift=COLUMN_PX * (3 - list(kinds).index(kind)))
        font = dict(color=kinds[kind]["color"], size=14)
        fig.add_annotation(text=text, font=font, showarrow=False, **place)

    for row, (unit, panel) in enumerate(panels, 1):
        values, where = panel[list(kinds)].astype(float), np.arange(len(panel))
        at = dict(row=row, col=1)
        scale, shown = unit_prefix(unit, values.abs().max(axis=None))
        values /= scale
        low, high = values.min(axis=1), values.max(axis=1)
        far_apart = 0 < 50 * low.min() < high.max()
        axis = dict(type="log", dtick=1) if far_apart else dict(rangemode="tozero")
        spans = np.column_stack([low, high, low * np.nan]).ravel()
        look = dict(mode="lines", line=dict(color="#BBBBBB", width=3), hoverinfo="skip")
        fig.add_scatter(x=spans, y=np.repeat(where, 3), **look, **at)
        for kind, marker in kinds.items():
            hover = f"%{{text}}, {kind}: %{{x:.4~g}} {shown}<extra></extra>"
            look = dict(mode="markers", marker=marker, cliponaxis=False, hovertemplate=hover)
            fig.add_scatter(x=values[kind], y=where, name=kind, text=panel.quantity, **look, **at)
            for position, value in enumerate(values[kind]):
                write("-" if np.isnan(value) else short_number(value), kind, y=position, **at)
        for position, quantity in enumerate(panel.quantity):  # above its row, so that it has room
            place = dict(x=0, xref="x domain", xanchor="left", y=position - 0.22, yanchor="bottom")
            fig.add_annotation(text=str(quantity), showarrow=False, **place, **at)
        fig.update_xaxes(title=f"{NOUNS.get(unit, 'value')} [{shown}]", **axis, **at)
        look = dict(tickvals=where, ticktext=panel.quantity, showticklabels=False, showgrid=False)
        fig.update_yaxes(range=[len(panel) - 0.6, -0.75], ticks="", **look, **at)
    for kind, sign in dict(measured="●", predicted="|", published="□").items():
        write(f"{sign} {kind}", kind, y=1, yref="paper", yanchor="bottom")
    margin = dict(l=24, r=3 * COLUMN_PX + 14, t=50, b=70)
    return apply_style(fig, showlegend=False, height=inner_px + 120, margin=margin)
