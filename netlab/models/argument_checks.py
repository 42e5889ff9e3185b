"""Checks of the models' arguments, and the type of their results.

What no model can have is refused (`within`). What is computed, but lies outside the domain of a
model, makes one `ModelWarning` for the whole call, whatever its models call in turn (`model`).
"""

import functools
import warnings
from contextvars import ContextVar

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from netlab.errors import ModelWarning

MATHIS_MOST_LOSS = 8 / (3 * 8**2)
"""The highest loss rate at which Mathis's model holds: 4 %. [1]

There the top of the sawtooth, :math:`\\sqrt{8/(3p)}`, is 8 segments. With more loss, half a window
is less than the four segments that a sender needs to notice a loss without a timeout."""

# by argument: the domain of every model, the unit, and what is given where it is another
USUAL = {
    "rtt_s": (0, 3, "seconds", "ms? 20 ms are 0.02"),
    "rto_s": (0, 120, "seconds", "ms? 200 ms are 0.2"),
    "mss_bytes": (88, 65_535, "bytes", "kB?"),
    "window_bytes": (88, float("inf"), "bytes", "kB, or segments?"),
}
_remarks = ContextVar("remarks", default=None)  # of the call under way, by argument


def model(function=None, *, apart=()):
    """A function that warns once of all arguments outside the models' domains, those named in
    `apart` excepted.
    """
    if function is None:
        return functools.partial(model, apart=apart)

    @functools.wraps(function)
    def call(*args, **kwargs):
        if _remarks.get() is not None:  # within another's call, which warns
            return function(*args, **kwargs)
        token = _remarks.set(remarks := {})
        try:
            result = function(*args, **kwargs)
        finally:
            _remarks.reset(token)
        if told := [remark for name, remark in remarks.items() if name not in apart]:
            warnings.warn(f"{function.__name__}: {'; '.join(told)}", ModelWarning, stacklevel=2)
        return result

    return call


def usual(name, numbers, least, most, unit, slip):
    """Remark on the first number that is outside a domain; NaN, infinity and 0 are not."""
    array, remarks = np.asarray(numbers), _remarks.get()
    outside = array[((array < least) | (array > most)) & np.isfinite(array) & (array != 0)]
    if remarks is not None and outside.size:
        remarks.setdefault(
            name,
            f"{name} = {outside[0]:g} is outside the model's domain, {least:g} to {most:g}"
            f" [{unit}]; {slip}",
        )


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
    if name in USUAL:
        usual(name, numbers, *USUAL[name])
    return numbers


def loss_arguments(mss_bytes, rtt_s, loss, streams, most_loss=MATHIS_MOST_LOSS):
    """The arguments that all models of loss have in common, checked."""
    mss, rtt = within("mss_bytes", mss_bytes, above=0), within("rtt_s", rtt_s, above=0)
    loss = within("loss", loss, least=0, most=1)
    usual("loss", loss, 0, most_loss, "1", "per cent? 1 % is 0.01")
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
