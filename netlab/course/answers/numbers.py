"""A number beside the right one: right, close, a usual slip such as a wrong unit, or wrong."""

import decimal
import math
from numbers import Real
from typing import Annotated, ClassVar, Literal

import pandas as pd
from pydantic import Field

from netlab.course.answers.base import Answer
from netlab.course.answers.rule import EXACT
from netlab.course.answers.unit_names import known
from netlab.course.answers.verdicts import RIGHT, Check

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
ROUGH = 2.2  # factor; who is so near to a usual prefix has slipped, whatever else is off

PREFIXES = {"data": "kilo, mega, giga?", "time": "s, ms or us?"}  # by the kind of unit
ONLY_PREFIX = "All but the prefix is right"
MORE = "And more than the unit is off"
BITS = "bits or bytes? A byte has 8 bits"
MIBIT = "1000 or 1024? Rates count in 1000s, and tc's sizes in 1024s"
HEADERS = "headers counted, or left out?"
PER_CENT = "per cent, or a share of 1?"
TWICE = "a factor of two: a round trip has two ways"
# Ratios to what is right, or its inverse; for which kinds of units; the share; the hint
SLIPS = [
    (8, "data time packet", UNIT, BITS),
    *((factor, kind, UNIT, hint) for factor in (1e3, 1e6, 1e9) for kind, hint in PREFIXES.items()),
    (100, "share", UNIT, PER_CENT),
    (1.024, "data", UNIT, MIBIT),
    (1.024**2, "data", UNIT, MIBIT),
    (1.024**3, "data", UNIT, MIBIT),
    (1500 / 1448, "data", 0, HEADERS),
    (1514 / 1448, "data", 0, HEADERS),
    (2, "data time packet", 0, TWICE),
]
UNIT_HINTS = BITS, *PREFIXES.values()
UNIT_KINDS = {"data": "data", "data/s": "data", "s": "time", "share": "share"}  # or packets
# As JSON has it
Value = Annotated[int | float | Literal["nan", "inf", "-inf"], Field(union_mode="left_to_right")]


class Number(Answer):
    """A number; one that is not finite is the text "nan", "inf" or "-inf"."""

    kind: Literal["number"] = "number"
    value: Value
    words: ClassVar = "a number"
    one_value: ClassVar = True

    @classmethod
    def form(cls, value, forming, cases):
        if isinstance(value, int):
            return {"value": int(value)}
        if not (isinstance(value, Real | decimal.Decimal) or value is pd.NaT):
            return None
        number = math.nan if value is pd.NaT else float(value)
        return {"value": number if math.isfinite(number) else str(number)}

    def __float__(self):
        return float(self.value)

    def compare(self, given, rule):
        if near(float(given), float(self), rule.tolerance):
            return RIGHT
        verdict, share, hint = not_right(float(given), float(self), rule)
        return Check(verdict, share, given.quoted(rule.unit) + hint)

    def describe(self, unit):
        return f"{self.words}, {readable(float(self), unit)}"

    def quoted(self, unit):
        return f"you gave {readable(float(self), unit)}: "

    def flaw(self, unit):
        return "this is not a finite number" if isinstance(self.value, str) else ""


def near(given, right, within):
    """Is a number right? Infinities and NaN are, where both are the same."""
    if given == right or (math.isnan(given) and math.isnan(right)):
        return True
    if not (math.isfinite(given) and math.isfinite(right)):
        return False
    return abs(given - right) <= (within * abs(right) if right else TINY)


def not_right(given, right, rule):
    """Verdict, share and hint of a number that is not right."""
    if math.isnan(given):
        return "wrong", 0, "not a number; something had no value"
    if math.isinf(given):
        return "wrong", 0, "infinite; something was divided by nothing"
    if not (math.isfinite(right) and right):
        return "wrong", 0, "not this number"
    if not given:
        return "wrong", 0, "zero is not it"
    exact, within, ratio = rule.exact, rule.tolerance, given / right
    kind = kind_of(rule.unit, max(abs(given), abs(right)))
    limit = CLOSE_EXACT if exact else min(CLOSE * within, MOST_CLOSE)
    share, hint = slip(ratio, kind, within)
    if hint in PREFIXES.values() and not rule.plausible:  # a bound need not be right
        hint = f"{hint} {ONLY_PREFIX}"
    if near(given, right, limit):
        why = "did you round?" if limit <= MOST_ROUNDED else "was something small left out?"
        hint = hint or f"within {100 * limit:.3g} per cent; {why}"
        if exact:
            hint = "take it as it was measured, without rounding, with the seed and times of the"
            hint += " text"
        return "close", 0.5, hint
    if not hint and exact:  # rounded, or of another run
        share, hint = slip(ratio, kind, CLOSE_EXACT)
        share, hint = share / 2, with_more(hint)
    if not hint and rule.unit:
        hint = roughly(ratio, kind, ROUGH, PREFIXES.values())
        hint = hint if rule.plausible else with_more(hint)
    return "wrong", share, hint or how_far(ratio, exact)


def kind_of(unit, size):
    """The kind of unit, as in `SLIPS`, that an answer of this size has; "" where none is known."""
    unit = (unit or "").strip()
    if not unit and size >= LARGE:
        return "data"
    found = known(unit or "1")
    kind = UNIT_KINDS.get(found[0], "packet") if found else ""
    return "" if kind == "share" and size > MOST_SHARE else kind


def slip(ratio, kind, within):
    """Share and hint of a usual slip that explains a ratio; (0, "") where none does."""
    for usual, kinds, share, hint in SLIPS:
        # a slip near 1 must be met more sharply, or every inexact answer would be one
        sharp = max(EXACT, min(within, MOST_SLIP, (usual - 1) / 50))
        applies = usual - 1 > within and kind and kind in kinds
        if applies and (near(ratio, usual, sharp) or near(ratio, 1 / usual, sharp)):
            return share, hint
    return 0, ""


def roughly(ratio, kind, most, hints=UNIT_HINTS):
    """One of `hints` where a ratio is, within a factor, that of a usual slip; "" elsewhere."""
    ratio = max(ratio, 1 / ratio) if ratio > 0 else 1
    for usual, kinds, _, hint in SLIPS:
        applies = kind == "data" or (kind == "time" and hint == PREFIXES["time"])
        if applies and kind in kinds and hint in hints and 1 / most <= ratio / usual <= most:
            return hint
    return ""


def with_more(hint):
    return hint and f"{hint.rstrip('?.')}? {MORE}"


def readable(value, unit):
    """A number and its unit; a large one as the texts of problem sets write it."""
    if LARGE_TEXT <= abs(value) < HUGE:
        text = f"{value:,.0f}".replace(",", " ")
    else:
        text = f"{value:.6g}"
    return text if unit in (None, "", "1") else f"{text} {unit}"


def how_far(ratio, exact=False):
    """A hint that does not give the right number away."""
    if ratio < 0:
        return "is the sign right?"
    if max(ratio, 1 / ratio if ratio else math.inf) <= 2:
        asked = "is it of the run of the text, with its network, seed and times?"
        asked = asked if exact else "what was left out, or counted twice?"
        return f"the order of magnitude is right; {asked}"
    return "it is off by more than a factor of two"
