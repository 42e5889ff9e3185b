"""Values and columns in words, with unit prefixes; and the check of frames."""

from numbers import Real

import numpy as np
import pandas as pd

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


def check_frame(plot, frame, *columns):
    """Refuse a frame that is empty or has not all of these columns."""
    if frame.empty:
        raise ValueError(f"{plot}: the frame is empty, there is nothing to draw")
    if missing := [column for column in columns if column not in frame]:
        raise ValueError(
            f"{plot}: the frame lacks {', '.join(missing)}; it has {', '.join(map(str, frame))}"
        )


def check_frames(plot, argument, frames, *columns):
    """`check_frame` for each frame of a dict, which must not be empty."""
    if not frames:
        raise ValueError(f"{plot}: {argument} is empty, there is nothing to draw")
    for label, frame in frames.items():
        check_frame(f"{plot}, {label!r}", frame, *columns)


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
