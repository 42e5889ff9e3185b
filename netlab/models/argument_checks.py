"""Checks of the models' arguments, and the type of their results."""

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype


def within(name, value, above=None, least=None, below=None, most=None, whole=False, finite=True):
    """The argument as floats (a Series stays a Series), or ValueError; NaN is allowed."""
    numbers = value if isinstance(value, pd.Series) else np.asarray(value)
    if not is_numeric_dtype(numbers.dtype) or numbers.dtype.kind == "b":
        raise ValueError(
            f"{name} must be numbers in SI units, not {value!r} (netlab.units reads '20ms')"
        )
    numbers = numbers.astype(float)
    array = np.asarray(numbers)
    limits = [("above", np.greater, above), ("at least", np.greater_equal, least)]
    limits += [("below", np.less, below), ("at most", np.less_equal, most)]
    rules = [(f"{words} {x:g}", test(array, x)) for words, test, x in limits if x is not None]
    rules += [("finite", ~np.isinf(array))] * finite + [("whole", array == np.floor(array))] * whole
    bad = array[~np.logical_and.reduce([good for _, good in rules]) & ~np.isnan(array)]
    if bad.size:
        raise ValueError(f"{name} must be {' and '.join(w for w, _ in rules)}, not {bad[0]:g}")
    return numbers


def loss_arguments(mss_bytes, rtt_s, loss, streams):
    """The arguments that all models of loss have in common, checked."""
    mss, rtt = within("mss_bytes", mss_bytes, above=0), within("rtt_s", rtt_s, above=0)
    loss = within("loss", loss, least=0, most=1)
    return mss, rtt, loss, within("streams", streams, least=1, whole=True)


def scalar(name, value, **limits):
    """The argument as one float, or ValueError; NaN is not allowed."""
    number = np.asarray(within(name, value, **limits))
    if number.ndim or np.isnan(number):
        raise ValueError(f"{name} must be one number, not {value!r}")
    return float(number)


def holds_a_segment(name, value, mss):
    """ValueError unless the value is at least the MSS; NaN is allowed."""
    payloads, sizes = np.broadcast_arrays(mss, value)
    if (small := sizes < payloads).any():
        raise ValueError(
            f"{name} must be at least mss_bytes ({payloads[small][0]:g}), not {sizes[small][0]:g}"
        )


def unwrapped(result):
    """A float where all arguments were scalars; else the array or Series as it is."""
    return float(result) if np.ndim(result) == 0 else result
