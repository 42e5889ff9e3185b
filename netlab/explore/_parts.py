"""Sliders, and what the figures of explorers have in common."""

import ipywidgets as widgets
import pandas as pd

from netlab.plots._style import COLOURS, INK, apply_style
from netlab.plots._words import check_frame, short_number, with_unit

SLIDER = dict(style=dict(description_width="110px"), layout=dict(width="auto"))
MEASURED = dict(color="white", size=9, line=dict(color="#999999", width=1.5))
# measured with the settings of the sliders
MEASURED_SO = dict(color=COLOURS[1], size=10, line=dict(color="white", width=1))
HERE = dict(symbol="diamond-open", color=INK, size=19, line_width=3)  # what is below it shows
LEGEND = dict(x=0, orientation="h", font_size=14, title_font_size=14)
LAYOUT = dict(modebar_orientation="v", margin=dict(l=70, r=45, t=40, b=40))


def styled(fig, xaxis, yaxis, lines="model", points="points"):
    """The figure in an explorer's style, with a legend of lines above it and one of points below:
    each takes the room that it needs on a narrow page.
    """
    above = dict(xref="paper", yref="paper", y=1, yanchor="bottom", title_text=lines)
    below = dict(xref="container", yref="container", y=0, yanchor="bottom", title_text=points)
    legends = dict(legend=LEGEND | above, legend2=LEGEND | below)
    return apply_style(fig, xaxis=xaxis, yaxis=yaxis, height=440, **LAYOUT | legends)


def add_points(fig, measured, same, hover, slider_hover, **look):
    """Add what was measured, what was measured with the settings of the sliders, and these."""
    look |= dict(mode="markers", legend="legend2")
    fig.add_scatter(**measured, name="measured", marker=MEASURED, hovertemplate=hover, **look)
    fig.add_scatter(name=same, marker=MEASURED_SO, hoverinfo="skip", **look)
    fig.add_scatter(name="sliders", marker=HERE, hovertemplate=slider_hover, **look)


def checked(explorer, measured, columns):
    """A frame with these columns, which is empty where nothing was measured."""
    if measured is None:
        return pd.DataFrame(columns=columns, dtype=float)
    check_frame(explorer, measured, *columns)
    return measured


def joined(measured, new):
    """Measured runs with those of the button."""
    return new if measured.empty else pd.concat([measured, new], ignore_index=True)


def steps(name, value, low, high, unit, more=()):
    """A slider over round numbers, six per power of ten, each shown with its unit ("%": values are
    from 0 to 1); `more` has further settings after `high`: text and value.
    """

    def text(number):
        return f"{short_number(100 * number)} %" if unit == "%" else with_unit(number, unit)

    powers, digits = range(-6, 12), (1, 1.5, 2, 3, 5, 7)
    numbers = [float(f"{digit}e{power}") for power in powers for digit in digits]
    options = [(text(number), number) for number in numbers if low <= number <= high]
    options += more
    return widgets.SelectionSlider(options=options, value=value, description=name, **SLIDER)


def whole(name, value, low, high, step=1):
    """A slider over whole numbers."""
    return widgets.IntSlider(value, low, high, step, description=name, **SLIDER)


def real(name, value, low, high, step, form=".2f"):
    """A slider over real numbers."""
    limits = dict(min=low, max=high, step=step, readout_format=form)
    return widgets.FloatSlider(value=value, description=name, **limits, **SLIDER)
