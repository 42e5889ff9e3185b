"""What every figure shares: the look, prefixes of units, numbers as text, and what a frame must
have.
"""

from numbers import Real

import numpy as np
import plotly.graph_objects as go

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#8C6D31",
    "#777777",
)  # Okabe and Ito's
INK, FAINT = "#222222", "#6E6E6E"
DASHES, SYMBOLS = (
    ("solid", "dash", "dot", "dashdot"),
    (
        "circle",
        "diamond-open",
        "square-open",
        "triangle-up-open",
    ),
)

_AXIS = dict(
    showline=True, linecolor=INK, gridcolor="#E3E3E3", zeroline=False, ticks="outside", automargin=True,
    exponentformat="none", title_standoff=10,
)  # fmt: skip
TEMPLATE = go.layout.Template(layout=dict(
    font=dict(family="Arial, Helvetica, sans-serif", size=17, color=INK), colorway=COLOURS, hoverlabel_font_size=15,
    title=dict(x=0, xref="container", pad_l=16, font_size=21, subtitle_font=dict(size=16, color=FAINT)),
    paper_bgcolor="white", plot_bgcolor="white", margin=dict(l=80, r=20, t=88, b=65),
    xaxis=_AXIS, yaxis=_AXIS, legend=dict(itemsizing="constant", tracegroupgap=0),
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


def finish(fig, title="", subtitle="", **layout):
    look = dict(
        template=TEMPLATE,
        height=480,
        showlegend=True,
        title_text=title,
        title_subtitle_text=subtitle,
    )
    return fig.update_layout(**look | layout)


def need(plot, frame, *columns):
    """Refuse a frame that is empty or lacks columns."""
    if frame.empty:
        raise ValueError(f"{plot}: the frame is empty, there is nothing to draw")
    if missing := [column for column in columns if column not in frame]:
        raise ValueError(
            f"{plot}: the frame lacks {', '.join(missing)}; it has {', '.join(map(str, frame))}"
        )


def prefix(unit, largest):
    """The prefix that suits a size: how many of the unit it stands for, and its name."""
    return next(
        ((size, name) for name, size in PREFIXES.get(unit, {}).items() if largest >= size),
        (1, unit),
    )


def say(value, unit):
    scale, name = prefix(unit, value)
    return f"{digits(value / scale)} {name}"


def unit_of(column):
    """The unit that a column's name ends in; "1" where it ends in none."""
    return next((unit for ending, unit in _ENDINGS.items() if column.endswith(ending)), "1")


def name_of(column, labels=None):
    """What an axis calls a column: what `labels` says, else its own name without the unit."""
    ending = next((ending for ending in _ENDINGS if column.endswith(ending)), "")
    return (_NAMES | (labels or {})).get(column, column.removesuffix(ending).replace("_", " "))


def ordered(column):
    """The values of a column, each once, in the order of its categories or else in which they
    appear.
    """
    return list(column.cat.categories if hasattr(column, "cat") else column.dropna().unique())


def written(value):
    """A category's value as text: a number in three digits, anything else as it is."""
    return digits(value) if isinstance(value, Real) else str(value)


def plural(number, noun):
    return f"{number:g} {noun}{'s' * (number != 1)}"


def digits(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def log_ticks(values):
    """Ticks of a logarithmic axis, written out: 1, 2, 5, 10 ... or, where that is too many, 1, 10,
    100 ...
    """
    low, high = values[values > 0].min() / 2, values.max() * 2
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = np.outer(decades, [1, 2, 5]).ravel() if high < 500 * low else decades
    return dict(tickvals=ticks, ticktext=[digits(tick) for tick in ticks])
