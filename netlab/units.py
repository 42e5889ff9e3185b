"""tc's notation <-> SI numbers: ``"10gbit"``, ``"20ms"``, ``"1%"``, ``"5mb"``.

All conversion of units is in this module. The notation is that of tc(8), sections RATES, TIMES and
SIZES, and of tc-netem(8), both in iproute2 (https://man7.org/linux/man-pages/man8/tc.8.html): upper
or lower case, no space between number and unit. What people write is understood, too, where it can
only mean one thing: ``"10 Gbit/s"``, ``"10Gb/s"``, ``"100 MB/s"``, ``"20 ms"``, ``"10 µs"``,
``"1 %"``, ``"5 MiB"``. What has two readings is refused, with both of them in the message:

- ``"100Mbps"`` is 100 Mbit/s to people, and 800 Mbit/s to tc, whose ``bps`` is *bytes* per second.
  With a capital B, ``"100MBps"``, it is bytes to both;
- ``"5MB"`` is 5,000,000 bytes to people, and 5,242,880 to tc, whose sizes count in 1024s
  (``"5mbit"`` as a size is an eighth of that). In lower case, ``"5mb"``, it is tc's. Rates count in
  1000s (``"5mbit"`` is 5,000,000 bit/s, and ``"5mibit"`` counts in 1024s);
- a number without a unit. To tc, a rate is then in bit/s (in Mininet's ``bw``: in Mbit/s), netem's
  delay in *nanoseconds*, a discipline's time in *microseconds*, a loss in *percent*. Only a size is
  in bytes to all;
- a decimal comma: ``"1,500ms"``.

Arithmetic is exact, so that formatting and reading again gives the very same number. What is in no
such notation, or out of its range, raises a ValueError that says what to write. The guide has a
table of it all.
"""

import contextlib
import math
import re
import unicodedata
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, NamedTuple

__all__ = [
    "delay_s", "digits", "format_delay", "format_fraction", "format_rate", "format_size",
    "fraction", "iperf3_rate", "pause", "rate_bps", "size_bytes", "tc_text",
]  # fmt: skip

# a number, a space that may be one that keeps a line together, and a unit
_TEXT = re.compile(
    "((?:[0-9]{1,400}(?:[.][0-9]{0,400})?|[.][0-9]{1,400})(?:[eE][+-]?[0-9]{1,2})?)"
    "([ \u00a0\u2009\u202f]?)([a-zA-Z\u00b5\u03bc/%]*)"
)
# what people write, and tc does not read; "i" alone would also read the Kelvin sign as a "k"
_SPOKEN_RATE = re.compile(r"((?ai:[kmgt]i?)?)((?ai:bits?(?:/s|/sec)?)|b/s|B/s|Bps)")
_TCS_BYTES = re.compile(r"(?ai)([kmgt]i?)?bps")
_MIXED_SIZE = re.compile(r"(?ai)([kmg])b")

_SI = {"t": 1000**4, "g": 1000**3, "m": 1000**2, "k": 1000, "": 1}
_IEC = {"ti": 1024**4, "gi": 1024**3, "mi": 1024**2, "ki": 1024}
_PREFIXES = _SI | _IEC
_RATES = {prefix + "bit": scale for prefix, scale in _PREFIXES.items()}
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
    bare: tuple = ()  # the units that a bare number may be meant in
    to_tc: str = ""  # what a bare number is to tc


# The largest values are those of iproute2's get_rate64(), of bytes per second, and of tc(8).
_MOST_BPS, _MOST = Fraction(8 * (2**64 - 1)), Fraction(2**32 - 1)
_RATE_FORM = (
    "a number above 0 (and below 2^67) with bit, kbit, mbit, gbit or tbit, as in '10gbit' (or with"
    " Bps, kBps, MBps, GBps: bytes per second)"
)
_DELAY_FORM = "a number with s, ms or us, from 0 to 4294.967295s, as in '20ms'"
_SHARE_FORM = "a number with %, from 0% to 100%, as in '0.01%'"
_SIZE_FORM = (
    "whole bytes from 0 to 4294967295, bare or with b, kb, mb, gb (1024s) or kbit, mbit, gbit, as"
    " in '5mb' or 5000000"
)
_BITS = ("tbit", "gbit", "mbit", "kbit", "bit")
_RATE = _Kind(
    "rate", _RATES, _BITS, _MOST_BPS, _RATE_FORM, ("mbit", "bit"), "tc and iperf3 read bit/s"
)
_DELAY = _Kind(
    "delay", _TIMES, ("s", "ms", "us"), _MOST * _US, _DELAY_FORM, ("ms", "us", "s"),
    "tc reads nanoseconds for netem, and microseconds elsewhere",
)  # fmt: skip
_SHARE = _Kind(
    "percentage", {"%": Fraction(1, 100)}, ("%",), Fraction(1), _SHARE_FORM, ("%",),
    "tc reads percent",
)  # fmt: skip
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
    ``tbit`` (1000s); ``kibit``, ``mibit`` ... (1024s); or with ``Bps``, ``kBps``, ``MBps`` ...
    (*bytes* per second, 1000s).

    >>> rate_bps("10gbit"), rate_bps("10 Gbit/s"), rate_bps("1MBps")
    (10000000000, 10000000000, 8000000)
    """
    bps = _read(text, _RATE)
    return int(bps) if bps.denominator == 1 else float(bps)


def iperf3_rate(text: Any) -> Any:
    """What iperf3's ``-b`` takes, ``"10G"`` or ``"500k"`` (1000s), in tc's notation; any other
    value as it is.

    >>> iperf3_rate("10G"), iperf3_rate("20 Mbit/s")
    ('10gbit', '20 Mbit/s')
    """
    match = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if match and not match[2] and match[3] and match[3].lower() in "kmgt":
        return f"{match[1]}{match[3].lower()}bit"
    return text


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
    or ``g``, or ``KiB`` ... ``GiB`` (all 1024s); ``kbit`` ... ``gbit`` (an eighth of those);
    ``b``, no unit, or not a text: bytes.

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

    >>> tc_text("10 Gbit/s"), tc_text("100 MB/s"), tc_text("20 ms"), tc_text("5mb")
    ('10gbit', '800mbit', '20ms', '5mb')
    """
    parsed = (_parsed(text, kind) for kind in (_RATE, _DELAY, _SHARE, _SIZE))
    return next((tcs for _, tcs in filter(None, parsed)), text)


def digits(number: float) -> str:
    """A number as it is typed: every digit that it has, and no exponent.

    >>> digits(12345.67), digits(20.0), digits(1e-05)
    ('12345.67', '20', '0.00001')
    """
    exact = _exact(number)
    if exact.denominator == 1:
        return str(exact.numerator)
    return f"{Decimal(exact.numerator) / Decimal(exact.denominator):f}"


def pause(seconds: float) -> str:
    """A pause as it is typed: six digits, and to a millisecond at least. More digits would change
    what recorded experiments type.

    >>> pause(2.0111624), pause(12345.6789)
    ('2.01116', '12345.679')
    """
    return f"{seconds:g}" if seconds < 1000 else digits(round(seconds, 3))


def _read(text, kind):
    parsed = _parsed(text, kind)
    if parsed is None:
        raise ValueError(
            f"{short(text)} is not a {kind.name}: write {_guess(text, kind)}{kind.form}"
        )
    return _allowed(parsed[0], text, kind)


def _parsed(text, kind):
    """The value of a text, and the text in tc's notation; None where it is no such value."""
    match = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if not match:
        return None
    number, space, unit = match.groups()
    tcs, bare = unit.lower().translate({0xB5: "u", 0x3BC: "u"}), not unit and kind is not _SIZE
    if kind is _RATE and (spoken := _SPOKEN_RATE.fullmatch(unit)):
        prefix = spoken[1].lower()
        exact = Fraction(number) * _PREFIXES[prefix]
        if "B" in spoken[2] and "bit" not in spoken[2].lower():
            exact *= 8
            return exact, text if not 0 < exact <= kind.most else _write(exact, kind)
        tcs = f"{prefix}bit"
    elif kind is _SIZE and unit in ("KiB", "MiB", "GiB", "kiB"):
        tcs = f"{tcs[0]}b"
    elif kind is _SIZE and _MIXED_SIZE.fullmatch(unit) and unit != tcs:
        return None  # 1000s or 1024s?
    if bare or tcs not in kind.units:
        return None
    in_tcs = text if not space and unit.lower() == tcs else f"{number}{tcs}"
    return Fraction(number) * kind.units[tcs], in_tcs


def _guess(value, kind):
    """What may have been meant: ``'100mbit' or '100MBps' (...), that is, ``."""
    told = [f"{text!r}{why}" for text, why in _meant(value, kind) if _is_one(text, kind)]
    bare = isinstance(value, Real) or re.fullmatch(r"[0-9.]+(e[0-9]+)?", str(value))
    remark = f" (without a unit, {kind.to_tc})" * bool(bare and kind.to_tc)
    return f"{' or '.join(dict.fromkeys(told))}{remark}, that is, " if told else ""


def _is_one(text, kind):
    parsed = _parsed(text, kind)
    with contextlib.suppress(ValueError):
        return parsed is not None and _allowed(parsed[0], text, kind) is not None
    return False


def _meant(value, kind):
    """Texts, each with a remark, that may have been meant by what is refused."""
    if _is_number(value) and 0 <= value < LARGE:
        value = digits(value)
    if not isinstance(value, str) or len(value) > 40:
        return
    text = re.sub(r"\s", "", unicodedata.normalize("NFKC", value))
    if not (match := re.fullmatch(r"((?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:,[0-9]+)*)((?s:.*))", text)):
        return
    number, unit = match.groups()
    if "," in number:
        readings = {"a decimal point": "."} if number.count(",") == 1 else {}
        readings |= {"thousands": ""} if re.fullmatch("[0-9]{1,3}(,[0-9]{3})+", number) else {}
        for why, point in readings.items():
            for meant, _ in _meant(f"{number.replace(',', point)}{unit}", kind):
                yield meant, f" ({why})"
        return
    if re.fullmatch("(?ai)e[0-9]{1,2}", unit):
        number, unit = digits(Fraction(text)), ""
    if not unit and kind is _RATE and 10**6 <= Fraction(number) <= kind.most:  # to all
        yield _write(Fraction(number), kind), ""
    elif not unit and kind.bare:
        yield from ((f"{number}{unit}", "") for unit in kind.bare)
        if kind is _SHARE:
            yield f"{digits(100 * Fraction(number))}%", " (a share of 1)"
    elif kind is _RATE and (tcs := _TCS_BYTES.fullmatch(unit)):
        prefix = (tcs[1] or "").lower()
        yield f"{number}{prefix}bit", ""
        yield f"{number}{prefix[:1].upper()}{prefix[1:]}Bps", f" (bytes, as tc reads {unit})"
    elif kind is _RATE and re.fullmatch("(?ai)[kmgt]b?", unit):
        yield f"{number}{unit[0].lower()}bit", ""
        yield f"{number}{unit}ps" * unit.endswith("B"), " (bytes)"
        yield f"{number}{unit.lower()}ibit" * unit.isupper(), f" (1024s, as iperf 2 reads {unit})"
    elif kind is _SIZE and (tcs := _MIXED_SIZE.fullmatch(unit)):
        yield f"{number}{unit.lower()}", " (1024s, as tc counts)"
        yield digits(Fraction(number) * _SI[tcs[1].lower()]), " (1000s)"
    else:
        yield text, ""


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
    if isinstance(number, Fraction):
        return number
    if isinstance(number, Integral) or float(number).is_integer():
        return Fraction(int(number))
    return Fraction(repr(float(number))) if math.isfinite(number) else None
