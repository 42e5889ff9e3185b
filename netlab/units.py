"""tc's notation <-> SI numbers: ``"10gbit"``, ``"20ms"``, ``"1%"``, ``"5mb"``.

All conversion of units is in this module. The notation is that of tc(8), sections RATES, TIMES and
SIZES, and of tc-netem(8), both in iproute2 (https://man7.org/linux/man-pages/man8/tc.8.html): upper
or lower case, no space between number and unit. What people write is understood, too, where it can
only mean one thing: ``"10 Gbit/s"``, ``"20 ms"``, ``"10 µs"``, ``"1 %"``; not ``"5 MB"``, which is
5,000,000 bytes for some and 5,242,880 for others. Three of tc's rules surprise people:

- ``bps`` means *bytes* per second: ``"1mbps"`` is 8 Mbit/s;
- sizes count in 1024s (``"5mb"`` is 5,242,880 bytes, ``"5mbit"`` an eighth of that), rates in 1000s
  (``"5mbit"`` is 5,000,000 bit/s, and ``"5mibit"`` counts in 1024s);
- a time without a unit is in *microseconds*, a loss without a unit in *percent*. Here both are
  refused.

Arithmetic is exact, so that formatting and reading again gives the very same number. What is in no
such notation, or out of its range, raises a ValueError that says what to write.
"""

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import NamedTuple

__all__ = [
    "delay_s", "format_delay", "format_fraction", "format_rate", "format_size", "fraction",
    "rate_bps", "size_bytes", "tc_text",
]  # fmt: skip

# "i" alone would also read the Kelvin sign as a "k", and the long s as an "s"
_NUMBER = re.compile(
    r"(?ai)((?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:e[+-]?[0-9]{1,2})?)([a-z%]*)"
)
# "10 Gbit/s", "20 ms", "10 µs", "1 %"; the space may be one that keeps a line together
_SPOKEN = re.compile(
    r"(?ai)([0-9.]{1,400}(?:e[+-]?[0-9]{1,2})?)[ \u00a0\u2009\u202f]?"
    r"(?:([kmgt]?bit)(?:/s)?|([mu\u00b5\u03bc]?s|%))"
)

_SI = {"t": 1000**4, "g": 1000**3, "m": 1000**2, "k": 1000, "": 1}
_IEC = {"ti": 1024**4, "gi": 1024**3, "mi": 1024**2, "ki": 1024}
_RATES = {prefix + "bit": scale for prefix, scale in (_SI | _IEC).items()} | {"": 1}
_RATES |= {prefix + "bps": 8 * scale for prefix, scale in (_SI | _IEC).items()}
_S, _MS, _US = Fraction(1), Fraction(1, 1000), Fraction(1, 1000**2)
_TIMES = dict.fromkeys(("s", "sec", "secs"), _S)
_TIMES |= dict.fromkeys(("ms", "msec", "msecs"), _MS) | dict.fromkeys(("us", "usec", "usecs"), _US)
_SIZES = {"g": 1024**3, "m": 1024**2, "k": 1024, "": 1}
_SIZES |= {prefix + "b": scale for prefix, scale in _SIZES.items()}
_SIZES |= {prefix + "bit": 1024**power // 8 for power, prefix in enumerate("kmg", start=1)}
LARGE = 1e15  # nobody leaves out the unit of such a number


class _Kind(NamedTuple):
    name: str
    units: dict  # units that are read
    written: tuple  # units that are written, the largest first
    most: Fraction  # the largest value that iproute2 can store
    form: str  # what to write, for error messages
    usual: str = ""  # the unit that a bare number is likely to have


# The largest values are those of iproute2's get_rate64(), of bytes per second, and of tc(8).
_MOST_BPS, _MOST = Fraction(8 * (2**64 - 1)), Fraction(2**32 - 1)
_RATE_FORM = (
    "a number above 0 (and below 2^67) with bit, kbit, mbit, gbit or tbit, as in '10gbit' (bps,"
    " kbps, ... are BYTES/s)"
)
_DELAY_FORM = (
    "a number with s, ms or us, from 0 to 4294.967295s, as in '20ms' (tc would read a bare number"
    " as microseconds)"
)
_SHARE_FORM = (
    "a number with %, from 0% to 100%, as in '0.01%' (tc would read a bare number as percent)"
)
_SIZE_FORM = (
    "whole bytes from 0 to 4294967295, bare or with b, kb, mb, gb (1024s) or kbit, mbit, gbit, as"
    " in '5mb' or 5000000"
)
_BITS = ("tbit", "gbit", "mbit", "kbit", "bit")
_RATE = _Kind("rate", _RATES, _BITS, _MOST_BPS, _RATE_FORM, "gbit")
_DELAY = _Kind("delay", _TIMES, ("s", "ms", "us"), _MOST * _US, _DELAY_FORM, "ms")
_SHARE = _Kind("percentage", {"%": Fraction(1, 100)}, ("%",), Fraction(1), _SHARE_FORM, "%")
_SIZE = _Kind("size", _SIZES, ("gb", "mb", "kb", ""), _MOST, _SIZE_FORM)


def short(value):
    """`repr` of a value, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # of a number, in which there are more digits than Python writes
        return f"a whole number of {value.bit_length()} bits" if type(value) is int else "..."
    return text if len(text) <= 120 else f"{text[:80]} ... {text[-20:]}"


def rate_bps(text):
    """Read a rate above 0 [bit/s], an int where it is whole: a number with ``bit``, ``kbit`` ...
    ``tbit`` (1000s); ``kibit``, ``mibit`` ... (1024s); ``bps``, ``kbps``, ``kibps`` ... (*bytes*
    per second); or no unit: bits per second.

    >>> rate_bps("10gbit"), rate_bps("1mbps")
    (10000000000, 8000000)
    """
    bps = _read(text, _RATE)
    return int(bps) if bps.denominator == 1 else float(bps)


def delay_s(text):
    """Read a length of time [s], a float: a number with ``s``, ``sec``, ``secs``; ``ms`` ...
    ``msecs``; ``us`` ... ``usecs``.

    >>> delay_s("20ms")
    0.02
    """
    return float(_read(text, _DELAY))


def fraction(text):
    """Read a share in percent, such as netem's loss, as a float from 0 to 1.

    >>> fraction("1%")
    0.01
    """
    return float(_read(text, _SHARE))


def size_bytes(size):
    """Read an amount of data [byte], an int: a number with ``kb`` or ``k``, ``mb`` or ``m``, ``gb``
    or ``g`` (1024s); ``kbit`` ... ``gbit`` (an eighth of those); ``b``, no unit, or not a text:
    bytes.

    >>> size_bytes("5mb"), size_bytes(5_000_000)
    (5242880, 5000000)
    """
    return int(_allowed(_exact(size), size, _SIZE) if _is_number(size) else _read(size, _SIZE))


def format_rate(bps):
    """Write a rate [bit/s] in the largest unit that keeps it whole; `rate_bps` reads it back.

    >>> format_rate(1e10), format_rate(2_500_000)
    ('10gbit', '2500kbit')
    """
    return _write(bps, _RATE)


def format_delay(seconds):
    """Write a time [s] in the largest unit that keeps it whole; `delay_s` reads it back.

    >>> format_delay(0.02), format_delay(0.0205)
    ('20ms', '20500us')
    """
    return _write(seconds, _DELAY)


def format_fraction(share):
    """Write a share from 0 to 1 in percent; `fraction` reads it back.

    >>> format_fraction(0.0001)
    '0.01%'
    """
    return _write(share, _SHARE)


def format_size(size):
    """Write an amount of data [byte] in the largest whole unit; `size_bytes` reads it back.

    >>> format_size(5_242_880), format_size(5_000_000)
    ('5mb', '5000000')
    """
    return _write(size, _SIZE)


def tc_text(text):
    """What people write, in tc's notation; any other value as it is.

    >>> tc_text("10 Gbit/s"), tc_text("20 ms"), tc_text("5mb")
    ('10gbit', '20ms', '5mb')
    """
    if not isinstance(text, str) or _NUMBER.fullmatch(text):
        return text
    if not (spoken := _SPOKEN.fullmatch(text)):
        return text
    return spoken[1] + (spoken[2] or spoken[3]).lower().translate({0xB5: "u", 0x3BC: "u"})


def _read(text, kind):
    exact = _parsed(text if kind is _SIZE else tc_text(text), kind)
    if exact is None:
        raise ValueError(
            f"{short(text)} is not a {kind.name}: write {_guess(text, kind)}{kind.form}"
        )
    return _allowed(exact, text, kind)


def _guess(value, kind):
    """What was probably meant, for 20 or "20" in place of "20ms" and "5 MB" in place of "5mb"."""
    text = f"{value:g}" if _is_number(value) and abs(value) < LARGE else value
    text = re.sub(r"\s", "", text).lower() if isinstance(text, str) else ""
    text += kind.usual * (re.fullmatch(r"[0-9.]{1,6}", text) is not None)
    likely = _parsed(text, kind) is not None and "bps" not in text
    return f"{short(text)}, that is, " if likely else ""


def _parsed(text, kind):
    match = _NUMBER.fullmatch(text) if isinstance(text, str) else None
    if match and match[2].lower() in kind.units:
        return Fraction(match[1]) * kind.units[match[2].lower()]
    return None


def _write(value, kind):
    if not _is_number(value):
        what = f"{short(value)} is not a {kind.name} as a number"
        raise ValueError(f"{what}: give one in SI units, or write {kind.form}")
    exact = _allowed(_exact(value), value, kind)
    for unit in kind.written:
        count = exact / kind.units[unit]
        if count.denominator == 1 and count > 0:
            return f"{count.numerator}{unit}"
    return f"{Decimal(count.numerator) / Decimal(count.denominator):f}{unit}"


def _allowed(exact, value, kind):
    if exact is None or not 0 <= exact <= kind.most or (kind is _RATE and exact == 0):
        raise ValueError(f"{short(value)} is not a {kind.name}: write {kind.form}")
    if kind is _SIZE and exact.denominator != 1:
        raise ValueError(f"{short(value)} is not a whole number of bytes: write {kind.form}")
    return exact


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, bool)


def _exact(number):
    """The number as people read it, so that 0.1 is 1/10; None where it is not finite."""
    if isinstance(number, Integral) or float(number).is_integer():
        return Fraction(int(number))
    return Fraction(repr(float(number))) if math.isfinite(number) else None
