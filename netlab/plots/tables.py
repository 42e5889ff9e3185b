"""Tables as figures: quantities measured, predicted and published, and the steps of a search."""

import numpy as np
from plotly.subplots import make_subplots

from netlab.plots._style import COLOURS, FAINT, SYMBOLS, apply_style, each
from netlab.plots._words import NOUNS, check_frame, short_number, unit_prefix, with_unit

COLUMN_PX = 98  # of numbers
SEARCH = "direction", "offered_bps", "received_bps", "loss", "rtt_mean_s", "rtt_max_s", "too_much"


def comparison(table):
    """Quantities as measured here, predicted and published: a row per quantity, with its numbers.

    A panel per unit, logarithmic where values differ by more than a factor of 50.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per ``quantity`` (its name): ``measured``, ``predicted``, ``published`` (NaN where
        there is none), and ``unit``: "bit/s", "s" or "byte", which get a prefix, or any other.

    Examples
    --------
    >>> import pandas as pd
    >>> row = dict(quantity="goodput", measured=9.3e9, predicted=9.56e9, published=9.4e9)
    >>> comparison(pd.DataFrame([row | dict(unit="bit/s")])).layout.xaxis.title.text
    'throughput [Gbit/s]'
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


def loss_onset(frame):
    """Each step of a search for the rate at which a path begins to lose, in the order of the rates.

    Over the offered rate: the received rate, the loss, and the mean and the longest round-trip
    time. A band goes from the highest rate that was carried to the lowest that was not.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `netlab.loss_onset` gives it.

    Examples
    --------
    >>> import pandas as pd
    >>> steps = pd.DataFrame({"offered_bps": [20e6, 30e6], "received_bps": [20e6, 28e6]})
    >>> steps = steps.assign(direction="h1 → h2", loss=[0, 0.07], too_much=[False, True])
    >>> fig = loss_onset(steps.assign(rtt_mean_s=[0.02, 0.09], rtt_max_s=[0.03, 0.12]))
    >>> fig.layout.title.subtitle.text
    'h1 → h2 loses between 20 Mbit/s and 30 Mbit/s'
    """
    check_frame("loss_onset", frame, *SEARCH)
    frame = frame.sort_values("offered_bps", kind="stable")
    scale, unit = unit_prefix("bit/s", frame.offered_bps.max())
    time_scale, time_unit = unit_prefix("s", frame.rtt_max_s.max())
    fig = make_subplots(3, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.5, 0.25, 0.25])
    most = frame.offered_bps.max() / scale
    diagonal = dict(mode="lines", line=dict(color=FAINT, width=2, dash="dash"), hoverinfo="skip")
    fig.add_scatter(x=[0, most], y=[0, most], name="all arrives", row=1, col=1, **diagonal)
    said = []
    directions = frame.groupby("direction", sort=False)
    for (direction, part), colour, symbol in each(directions, COLOURS, SYMBOLS):
        offered, shared = part.offered_bps / scale, dict(name=direction, legendgroup=direction)
        shared |= dict(line=dict(color=colour, width=2), mode="lines+markers")
        marker = dict(symbol=symbol, size=9, color=colour)

        def draw(row, values, hover, x=offered, shared=shared, marker=marker, **look):
            look = shared | dict(marker=marker, showlegend=row == 1) | look
            fig.add_scatter(x=x, y=values, hovertemplate=hover, row=row, col=1, **look)

        draw(1, part.received_bps / scale, f"%{{x:.4~g}} offered: %{{y:.4~g}} {unit}")
        draw(2, 100 * part.loss, f"%{{x:.4~g}} {unit}: %{{y:.3~g}} % lost")
        draw(3, part.rtt_mean_s / time_scale, f"%{{x:.4~g}} {unit}: %{{y:.4~g}} {time_unit}")
        longest = dict(mode="markers", marker=dict(symbol="line-ew-open", size=12, color=colour))
        hover = f"%{{x:.4~g}} {unit}: %{{y:.4~g}} {time_unit} at most"
        draw(3, part.rtt_max_s / time_scale, hover, name=f"{direction}, longest", **longest)
        if (gap := _gap(part)) is not None:
            look = dict(fillcolor=colour, opacity=0.25, line_width=0)
            fig.add_vrect(gap[0] / scale, gap[1] / scale, row="all", col=1, **look)
            ends = with_unit(gap[0], "bit/s"), with_unit(gap[1], "bit/s")
            said.append(f"{direction} loses between {ends[0]} and {ends[1]}")
    fig.update_xaxes(rangemode="tozero").update_xaxes(title=f"offered [{unit}]", row=3, col=1)
    for row, title in enumerate((f"received [{unit}]", "lost [%]", f"RTT [{time_unit}]"), 1):
        fig.update_yaxes(title=title, rangemode="tozero", row=row, col=1)
    return apply_style(fig, "Where loss begins", "; ".join(said), height=640)


def _gap(part):
    """From the highest rate that was carried to the lowest that was not; None where one lacks."""
    lossy = part.too_much.astype(bool)
    high_bps = part.offered_bps[lossy].min()
    carried = part.offered_bps[~lossy & (part.offered_bps < high_bps)]
    return None if np.isnan(high_bps) or carried.empty else (carried.max(), high_bps)
