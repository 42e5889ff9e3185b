"""A reader's prediction beside what was measured, and a sentence that says how far off it was."""

import contextlib
import itertools
import math
import re
import sys
from collections.abc import Mapping
from numbers import Real

import pandas as pd

from netlab import units
from netlab.course.answers import numbers
from netlab.course.answers.spelling import NUMBER, is_truth, plain
from netlab.course.answers.unit_names import known
from netlab.course.texts import in_a_cell
from netlab.errors import SpecificationError

SPELLED = re.compile(r"([0-9]{1,20}(?:\.[0-9]{0,20})?) ?(\S+)")
MEASURES = ("Gbit/s", "Mbit/s", "kbit/s", "bit/s", "s", "ms", "us", "%")  # that `units` reads
# Up to which factor a prediction deserves which words
WORDS = [
    (1.05, "right, to within five per cent"),
    (1.3, "close"),
    (2, "the right order of magnitude; what was left out?"),
]
USUAL = 1.25  # factor; a prediction that is so near to a usual slip has made it


def you_said(prediction, measured, unit="", model=None, *, choices=None, within=None):
    """Put a prediction beside what was measured; a notebook shows the answer as a table.

    Parameters
    ----------
    prediction, measured : number, str, bool, list or dict
        Two numbers; two choices; two lists of the same names, which are orders; or two dicts, with
        one of these for each of several quantities. A prediction of None was not made; one of
        another kind is answered in words. A number may be a text with its unit: "80 ms".
    unit : str, optional
        Of the numbers, as it is printed.
    model : number or dict, optional
        What a model says.
    choices : list, dict or Series, optional
        What can be chosen. With values, a choice whose value is near to the best is as good.
    within : float, optional
        How far off a number may be that is right, relatively; one farther off is not close. With
        values of `choices`: how far apart two may be that are as good as each other. [1]

    Returns
    -------
    Answer

    Raises
    ------
    SpecificationError
        `model` or `within` is of another kind than it should be.

    Examples
    --------
    >>> you_said(10, 4.67, "Gbit/s", model=5.03)
    You said 10 Gbit/s; it is 4.67 Gbit/s (model: 5.03 Gbit/s): too much, by a factor of 2.1.
    >>> you_said("FQ-CoDel", "cake", choices={"fq_codel": 0.458, "cake": 0.459}, within=0.02)
    You said FQ-CoDel; it is cake: right: as good as that, to within 2 per cent.
    >>> you_said(["reno", "bbr", "cubic"], ["reno", "cubic", "bbr"])
    You said reno, bbr, cubic; it is reno, cubic, bbr: 2 of 3 pairs stand in the right order.
    >>> you_said({"first": 20, "others": None}, {"first": 40.0, "others": 20.5}, "ms")
    first: you said 20 ms; it is 40 ms: the right order of magnitude; what was left out?
    others: you said nothing yet; it is 20.5 ms.
    """
    if within is not None and not (is_number(within) and 0 <= within <= 1):
        raise SpecificationError(f"you_said: within = {within!r}: a number from 0 to 1")
    if not isinstance(measured, dict):
        return Answer({"": (prediction, measured, model)}, unit, choices, within)
    names = ", ".join(map(str, measured))
    if model is not None and not (isinstance(model, dict) and model.keys() <= measured.keys()):
        raise SpecificationError(f"you_said: model = {model!r}: a dict with names from {names}")
    said, models, note = prediction or {}, model or {}, ""
    if not (isinstance(said, dict) and said.keys() <= measured.keys()):
        said, note = {}, f"write a dict with names from {names}"
    rows = {key: (said.get(key), it, models.get(key)) for key, it in measured.items()}
    return Answer(rows, unit, choices, within, note)


class Answer:
    """What `you_said` gives.

    Attributes
    ----------
    verdicts : dict of str
        How far off each prediction was, in words; "" where there was none.
    """

    def __init__(self, rows, unit, choices, within, note=""):
        rows = {name: (sized(said), it, model) for name, (said, it, model) in rows.items()}
        self.rows, self.unit = rows, unit
        self.verdicts = {
            name: note or verdict(said, it, unit, choices, within)
            for name, (said, it, _) in rows.items()
        }

    def __repr__(self):
        return "\n".join(self._sentence(name, *row) for name, row in self.rows.items())

    def _sentence(self, name, said, it, model):
        start = f"{name}: you" if name else "You"
        beside = "" if model is None else f" (model: {self._text(model)})"
        found = f": {self.verdicts[name]}" if self.verdicts[name] else ""
        end = "" if found.endswith("?") else "."
        said, it = self._text(said, "nothing yet"), self._text(it)
        return f"{start} said {said}; it is {it}{beside}{found}{end}"

    def _repr_markdown_(self):
        named, modelled = any(self.rows), any(model is not None for *_, model in self.rows.values())
        lines = [["", "you said", "measured", "model", ""], ["---"] * 5]
        for name, (said, it, model) in self.rows.items():
            texts = self._text(said, "nothing yet"), self._text(it), self._text(model)
            lines.append([str(name), *texts, self.verdicts[name]])
        shown = [named, True, True, modelled, True]
        lines[2:] = [[in_a_cell(text) for text in line] for line in lines[2:]]
        return "\n".join(f"| {' | '.join(itertools.compress(line, shown))} |" for line in lines)

    def _text(self, value, nothing=""):
        if value is None:
            return nothing
        if is_truth(value):
            return "yes" if value else "no"
        if isinstance(value, list | tuple):
            return ", ".join(map(str, value))
        return f"{value:.4g} {self.unit}".rstrip() if isinstance(value, Real) else str(value)


def sized(said):
    """Make a whole number that is too large for a float infinite; return anything else as it is."""
    if not isinstance(said, int) or abs(said) <= sys.float_info.max:
        return said
    return math.inf if said > 0 else -math.inf


def verdict(said, it, unit, choices, within):
    """How far a prediction was off, in words."""
    if said is None:
        return ""
    if isinstance(it, list | tuple):
        return order(said, list(it))
    if not is_number(it):
        return "right" if plain(said) == plain(it) else another(said, it, choices, within)
    said = number(said, unit)
    if said is None:
        return f"write a number, such as 9.4, or with its unit{f', as in 9.4 {unit}' * bool(unit)}"
    if said == it:
        return "right"
    if within is not None and abs(said - it) <= within * abs(it):
        return f"right, to within {100 * within:.3g} per cent"
    if within is None and not unit and min(said, it) >= 0 and 0.1 <= max(said, it) <= 1:
        return share(said, it)
    if not (said > 0 < it and math.isfinite(said / it) and said / it > 0):
        return "cannot be compared" if math.isnan(said + it) else "off"
    factor = max(said / it, it / said)
    for limit, words in WORDS:
        if factor <= limit and within is None:
            return words
    direction = "too much" if said > it else "too little"
    hint = numbers.roughly(factor, numbers.kind_of(unit, 0), USUAL)
    times = f"{factor:.2g}" if factor < 100 else f"about {float(f'{factor:.1g}'):,.0f}"
    return f"{direction}, by a factor of {times}" + f"; {hint}" * bool(hint)


def another(said, it, choices, within):
    """What to say of a choice that is not the right one."""
    if not isinstance(choices, Mapping | pd.Series):
        choices = dict.fromkeys(() if choices is None else choices)
    known = {plain(name): value for name, value in choices.items()}
    if known and plain(said) not in known:
        return f"not one of these: {'; '.join(map(str, choices.keys()))}"
    own, best = (known.get(plain(one)) for one in (said, it))
    by_value = within is not None and is_number(own) and is_number(best)
    if by_value and abs(own - best) <= within * abs(best):
        return f"right: as good as that, to within {100 * within:.3g} per cent"
    return "not this time"


def number(said, unit):
    """A prediction as a number of this unit; None where it cannot be read as one."""
    if is_number(said):
        return said
    if not isinstance(said, str):
        return None
    text = " ".join(said.split())
    if NUMBER.fullmatch(text):
        return float(text)
    # as of titles: to people, Mbps is Mbit/s
    if (spelled := SPELLED.fullmatch(text)) and (kind := known(spelled[2])):
        of, scale = known(unit) or ("", 1)
        if kind[0] == of:
            return float(spelled[1]) * kind[1] / scale
    readers = units.rate_bps, units.delay_s, units.fraction, units.size_bytes
    for read in readers if unit in MEASURES else [units.fraction]:
        with contextlib.suppress(ValueError):
            return read(text) / (read(f"1 {unit}") if unit in MEASURES else 1)
    return None


def share(said, it):
    """How far off a share or an index is: by a difference; but 0.11 is not close to 0.036."""
    off = round(abs(said - it), 6)
    if off <= 0.02:
        return "right, to within 0.02"
    close = "close; " if off <= 0.1 and max(said, it) <= 2 * min(said, it) else ""
    return f"{close}too {'much' if said > it else 'little'}, by {off:.2g}"


def order(said, it):
    """How many of all pairs stand in the right order."""
    names = [plain(name) for name in it]
    if not isinstance(said, list | tuple) or sorted(map(plain, said)) != sorted(names):
        return f"write a list of {', '.join(sorted(map(str, it)))}, in your order"
    pairs = list(itertools.combinations([names.index(plain(name)) for name in said], 2))
    right = sum(first <= second for first, second in pairs)
    if right == len(pairs):
        return "right"
    return f"{right} of {len(pairs)} pairs stand in the right order"


def is_number(value):
    return isinstance(value, Real) and not is_truth(value)
