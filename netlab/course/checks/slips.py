"""A number beside the right one: right, close, a usual slip, or wrong."""

import math
import re

from netlab.course.checks.verdicts import Check

EXACT = 1e-9  # relative: as measured
CLOSE = 5  # times what is right is close
CLOSE_EXACT = 0.005  # a number that was read off and rounded
MOST_CLOSE = 0.25  # relative; what is farther off is never close
MOST_ROUNDED = 0.05  # relative; nobody rounds by more
MOST_SLIP = 0.02  # relative
TINY = 1e-12  # what remains of a zero after sums of floating-point numbers
MOST_SHARE = 100  # per cent
LARGE_TEXT, HUGE = 1e6, 1e15  # from, and to, which a number is written out
LARGE = 1000  # from here on, a number without a unit may be an amount of data
UNIT = 0.25  # share of an answer whose unit alone is wrong

DATA = re.compile(r"(?i).*(bits?|bytes?|b|bps)")
TIME = re.compile(r"(?i)(m|u|µ|μ)?s|seconds?|sec")
PACKETS = re.compile(r"(?i)(packet|segment|frame|mss)s?")
SHARE = re.compile(r"1|%|")
PREFIXES = "kilo, mega, giga?"
ONLY_PREFIX = f"{PREFIXES} All but the prefix is right"
MORE = "And more than the unit is off"
ROUGH = 2.2  # factor; who is so near to a usual prefix has slipped, whatever else is off
BITS = "bits or bytes? A byte has 8 bits"
MIBIT = "1000 or 1024? Rates count in 1000s, and tc's sizes in 1024s"
HEADERS = "headers counted, or left out?"
PER_CENT = "per cent, or a share of 1?"
TWICE = "a factor of two: a round trip has two ways"
# Ratios to what is right, or its inverse; in which units; the share; the hint
SLIPS = [
    (8, (DATA, TIME, PACKETS), UNIT, BITS),
    (1e3, (DATA, TIME), UNIT, PREFIXES),
    (1e6, (DATA, TIME), UNIT, PREFIXES),
    (1e9, (DATA, TIME), UNIT, PREFIXES),
    (100, (SHARE,), UNIT, PER_CENT),
    (1.024, (DATA,), UNIT, MIBIT),
    (1.024**2, (DATA,), UNIT, MIBIT),
    (1.024**3, (DATA,), UNIT, MIBIT),
    (1500 / 1448, (DATA,), 0, HEADERS),
    (1514 / 1448, (DATA,), 0, HEADERS),
    (2, (DATA, TIME, PACKETS), 0, TWICE),
]


def tolerance(spec):
    """How far off, relatively, an answer may be that is right."""
    return EXACT if spec.get("exact") else spec.get("within", 0.01)


def near(given, right, within):
    """Is a number right? Infinities and NaN are, where both are the same."""
    if given == right or (math.isnan(given) and math.isnan(right)):
        return True
    if not (math.isfinite(given) and math.isfinite(right)):
        return False
    return abs(given - right) <= (within * abs(right) if right else TINY)


def compare_numbers(given, right, spec):
    """The `Check` of a number, which has no mistake with a name of its own."""
    given, right, within = float(given), float(right), tolerance(spec)
    if near(given, right, within):
        return Check("right", 1)
    found = not_right(given, right, spec)
    return Check(found.verdict, found.share, f"you gave {readable(given, spec)}: {found.hint}")


def not_right(given, right, spec):
    """The `Check` of a number that is not right."""
    within = tolerance(spec)
    if math.isnan(given):
        return Check("wrong", 0, "not a number; something had no value")
    if math.isinf(given):
        return Check("wrong", 0, "infinite; something was divided by nothing")
    if not (math.isfinite(right) and right):
        return Check("wrong", 0, "not this number")
    if not given:
        return Check("wrong", 0, "zero is not it")
    exact = spec.get("exact")
    limit = CLOSE_EXACT if exact else min(CLOSE * within, MOST_CLOSE)
    is_close = near(given, right, limit)
    size, unit = max(abs(given), abs(right)), spec.get("unit") or ""
    share, hint = slip(given / right, size, within, unit)
    if hint == PREFIXES and not spec.get("plausible"):  # a bound need not be right
        hint = ONLY_PREFIX
    if not hint and exact:  # rounded, or of another run
        share, hint = slip(given / right, size, CLOSE_EXACT, unit)
        share, hint = share / 2, with_more(hint)
    if is_close and exact:
        hint = "take it as it was measured, without rounding, with the seed and times of the text"
    if is_close:
        why = "did you round?" if limit <= MOST_ROUNDED else "was something small left out?"
        hint = hint or f"within {100 * limit:.3g} per cent; {why}"
        return Check("close", 0.5, hint)
    return Check("wrong", share, hint or rough(given / right, spec) or how_far(given / right))


def slip(ratio, size, within, unit):
    """Share and hint of a usual slip that explains a ratio; (0, "") where none does."""
    for usual, units, share, hint in SLIPS:
        # a slip near 1 must be met more sharply, or every inexact answer would be one
        sharp = max(EXACT, min(within, MOST_SLIP, (usual - 1) / 50))
        if usual - 1 <= within or not applies(units, unit, size):
            continue
        if near(ratio, usual, sharp) or near(ratio, 1 / usual, sharp):
            return share, hint
    return 0, ""


def rough(ratio, spec):
    """A hint where a ratio is about that of a usual prefix; "" elsewhere."""
    unit = (spec.get("unit") or "").strip().removesuffix("/s")
    if not any(one.fullmatch(unit) for one in (DATA, TIME)):
        return ""
    ratio = max(ratio, 1 / ratio) if ratio > 0 else 1
    about = any(1 / ROUGH <= ratio / usual <= ROUGH for usual in (1e3, 1e6, 1e9))
    hint = PREFIXES if spec.get("plausible") else with_more(PREFIXES)
    return hint if about else ""


def with_more(hint):
    return hint and f"{hint.rstrip('?.')}? {MORE}"


def applies(units, unit, size):
    """Can a slip of these units be one here?"""
    unit = unit.strip().removesuffix("/s")
    if not unit and DATA in units:
        return size >= LARGE
    if SHARE in units and size > MOST_SHARE:
        return False
    return any(one.fullmatch(unit) for one in units)


def readable(value, spec):
    """A number and its unit; a large one as the texts of problem sets write it."""
    if LARGE_TEXT <= abs(value) < HUGE:
        text = f"{value:,.0f}".replace(",", " ")
    else:
        text = f"{value:.6g}"
    unit = spec.get("unit") or ""
    return text if unit in ("", "1") else f"{text} {unit}"


def how_far(ratio):
    """A hint that does not give the right number away."""
    if ratio < 0:
        return "is the sign right?"
    if max(ratio, 1 / ratio if ratio else math.inf) <= 2:
        return "the order of magnitude is right; what was left out, or counted twice?"
    return "it is off by more than a factor of two"
