"""Shared by all figures: their style, unit prefixes, numbers as text, and the check of frames."""

from math import ceil
from numbers import Real
from textwrap import wrap

import numpy as np
import pandas as pd
import plotly.graph_objects as go

# Colour-blind people can tell them apart: after Okabe and Ito, and each at least 21 units of CIELAB
# from every other and from INK, with and without red or green (tests/plots/test_style.py)
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#882CDB", "#F2A100", "#2BB3C9", "#8A3414", "#6A5470",
)  # fmt: skip
INK, FAINT = "#222222", "#6E6E6E"
DASHES = "solid", "dash", "dot", "dashdot"
SYMBOLS = "circle", "diamond-open", "square-open", "triangle-up-open"

_AXIS = dict(
    showline=True, linecolor=INK, gridcolor="#E3E3E3", zeroline=False, ticks="outside",
    automargin=True, exponentformat="none", title_standoff=10,
)  # fmt: skip
_SUBTITLE = dict(size=15, color=FAINT)
# below the figure, as wide as it is; the space that it takes is taken from the plot
_LEGEND = dict(
    orientation="h", x=0, xref="container", y=0, yref="container", yanchor="bottom",
    font_size=15, itemsizing="constant", tracegroupgap=0, bgcolor="rgba(0,0,0,0)",
)  # fmt: skip
_TITLE = dict(
    x=0, xref="container", pad=dict(l=16, t=14), font_size=20, subtitle_font=_SUBTITLE,
    y=1, yref="container", yanchor="top", automargin=True,
)  # fmt: skip
# of a trace that says nothing else
_HOVER = go.Scatter(hovertemplate="%{x:.4~g}: %{y:.4~g}<extra>%{fullData.name}</extra>")
TEMPLATE = go.layout.Template(data=dict(scatter=[_HOVER]), layout=dict(
    font=dict(family="Arial, Helvetica, sans-serif", size=16, color=INK), title=_TITLE,
    colorway=COLOURS, hoverlabel_font_size=15, paper_bgcolor="white", plot_bgcolor="white",
    xaxis=_AXIS, yaxis=_AXIS, legend=_LEGEND, margin=dict(l=60, r=20, t=30, b=20),
))  # fmt: skip

PREFIXES = {
    "bit/s": {"Gbit/s": 1e9, "Mbit/s": 1e6, "kbit/s": 1e3},
    "s": {"s": 1, "ms": 1e-3, "µs": 1e-6},
    "byte": {"GB": 1e9, "MB": 1e6, "kB": 1e3},
}
NOUNS = {"bit/s": "throughput", "s": "time", "byte": "data"}
_ENDINGS = {"_bps": "bit/s", "_s": "s", "_bytes": "byte"}
_NAMES = {
    "jain_index": "Jain's index",
    "congestion": "congestion control",
    "received_bps": "throughput",
}


def apply_style(fig, title="", subtitle="", **layout):
    """The figure in netlab's style; `layout` has priority over the style.

    It is as wide as the page. Its height has room for what a page of 550 px leaves of title and
    legend.
    """
    names = {trace.name for trace in fig.data if trace.showlegend is not False and trace.name}
    rows, lines = ceil(sum(45 + 8 * len(name) for name in names) / 520), wrap(subtitle, 76)
    height = 380 + 22 * rows + 50 * bool(title) + 28 * len(lines)
    style = dict(template=TEMPLATE, height=height, showlegend=True)
    style |= dict(title_text=title, title_subtitle_text="<br>".join(lines))
    fig.update_layout(**style | layout)
    return fig.update_layout(meta=dict(description=described(fig)))


def described(fig):
    """What a figure shows, in words, for those who do not see it: ``fig.layout.meta``."""
    layout = fig.layout
    axes = [axis.title.text for axis in (*fig.select_xaxes(), *fig.select_yaxes())]
    axes.append(layout.coloraxis.colorbar.title.text)
    shown = [trace.name for trace in fig.data if trace.name and trace.showlegend is not False]
    parts = [layout.title.text, layout.title.subtitle.text, ", ".join(filter(None, axes))]
    parts.append(", ".join(dict.fromkeys(shown)))
    return ". ".join(filter(None, parts)).replace("<br>", " ")


def check_frame(plot, frame, *columns):
    """Refuse a frame that is empty or has not all of these columns."""
    if frame.empty:
        raise ValueError(f"{plot}: the frame is empty, there is nothing to draw")
    if missing := [column for column in columns if column not in frame]:
        raise ValueError(
            f"{plot}: the frame lacks {', '.join(missing)}; it has {', '.join(map(str, frame))}"
        )


def unit_prefix(unit, largest):
    """The factor and the name of the prefixed unit that suits the largest value to be shown."""
    fitting = ((size, name) for name, size in PREFIXES.get(unit, {}).items() if largest >= size)
    return next(fitting, (1, unit))


def with_unit(value, unit):
    """A value as text, such as "10 Gbit/s"."""
    scale, name = unit_prefix(unit, value)
    return f"{short_number(value / scale)} {name}"


def unit_of(column):
    """The unit at the end of a column's name; "1" where there is none."""
    return next((unit for ending, unit in _ENDINGS.items() if column.endswith(ending)), "1")


def axis_name(column, labels=None):
    """The name of a column on an axis: the one in `labels`, else its own name without the unit."""
    ending = next((ending for ending in _ENDINGS if column.endswith(ending)), "")
    return (_NAMES | (labels or {})).get(column, column.removesuffix(ending).replace("_", " "))


def values_in_order(column):
    """The different values of a column: in the order of its categories, else as they appear."""
    categories = isinstance(column.dtype, pd.CategoricalDtype)
    return list(column.cat.categories if categories else column.dropna().unique())


def category_text(value):
    """A category as text: a number with three digits, anything else as it is."""
    return short_number(value) if isinstance(value, Real) else str(value)


def plural(number, noun):
    """A number and its noun, such as "1 run" or "2 runs"."""
    return f"{number:g} {noun}" if number == 1 else f"{number:g} {noun}s"


def short_number(value):
    """A number as text with three digits, or as a whole number from 1000 on."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def log_ticks(values):
    """Ticks of a logarithmic axis: 1, 2, 5, 10 ... or, where these are too many, 1, 10, 100 ..."""
    low, high = values[values > 0].min() / 2, values.max() * 2
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = np.outer(decades, [1, 2, 5]).ravel() if high < 500 * low else decades
    return dict(tickvals=ticks, ticktext=[short_number(tick) for tick in ticks])
