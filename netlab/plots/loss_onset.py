"""The search for the rate at which a path begins to lose."""

import numpy as np
from plotly.subplots import make_subplots

from netlab.plots._style import COLOURS, FAINT, SYMBOLS, apply_style, each
from netlab.plots._words import check_frame, unit_prefix, with_unit

COLUMNS = "direction", "offered_bps", "received_bps", "loss", "rtt_mean_s", "rtt_max_s", "too_much"


def loss_onset(frame):
    """Each step of a search for the rate at which a path begins to lose, in the order of the rates.

    Over the offered rate: the received rate, the loss, and the mean and the longest round-trip
    time. A band goes from the highest rate that was carried to the lowest that was not.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `netlab.loss_onset` gives it.
    """
    check_frame("loss_onset", frame, *COLUMNS)
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
