"""A reader's prediction beside what was measured, and a sentence that says how far off it was."""

import html
import itertools
import math
import re
import unicodedata
from fractions import Fraction
from numbers import Real

import numpy as np

from netlab.errors import SpecificationError

ALIKE = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-") | {"≤": "<=", "≥": ">=", "→": "->"}
)
NUMBER = re.compile(r"(?a)[+-]?(\d{1,300}\.?\d{0,300}|\.\d{1,300})(e[+-]?\d{1,3})?", re.I)
JOINED = re.compile(r"(?<=\d)\s*([.,:-])\s*(?=\d)|^(-)\s+(?=\d)")
# What people leave out or put in: blanks and underlines, but not between two digits; hyphens,
# commas, brackets and the like, but not before a digit; quotes
FILLING = re.compile(r"(?<!\d)[\s_]+|[\s_]+(?!\d)|(?:->?|[.,;:!?()\[\]])(?![\d.])|[\"'`]")
# Up to which factor a prediction deserves which words.
WORDS = [
    (1.05, "right, to within five per cent"),
    (1.3, "close"),
    (2, "the right order of magnitude; what was left out?"),
]
# A prediction that is off by nearly such a factor gives a usual mistake away, in such units.
MISTAKES = [
    (8, "bits and bytes?", ("bit", "byte", "B")),
    (1e3, "kilo, mega, giga?", ("bit", "byte", "B", "s")),
    (1e6, "kilo, mega, giga?", ("bit", "byte", "B", "s")),
    (1e9, "kilo, mega, giga?", ("bit", "byte", "B", "s")),
]


def you_said(prediction, measured, unit="", model=None):
    """Put a prediction beside what was measured; a notebook shows the answer as a table.

    Parameters
    ----------
    prediction, measured : number, str, bool, list or dict
        Two numbers; two choices; two lists of the same names, which are orders; or two dicts, with
        one of these for each of several quantities. None is a prediction that was not made.
    unit : str, optional
        Of the numbers, as it is printed.
    model : number or dict, optional
        What a model says.

    Returns
    -------
    Answer

    Raises
    ------
    SpecificationError
        The prediction is of another kind than what was measured.

    Examples
    --------
    >>> you_said(10, 4.67, "Gbit/s", model=5.03)
    You said 10 Gbit/s; it is 4.67 Gbit/s (model: 5.03 Gbit/s): too much, by a factor of 2.1.
    >>> you_said("h2", "both")
    You said h2; it is both: not this time.
    >>> you_said(None, "both")
    You said nothing yet; it is both.
    >>> you_said(["reno", "bbr", "cubic"], ["reno", "cubic", "bbr"])
    You said reno, bbr, cubic; it is reno, cubic, bbr: 2 of 3 pairs stand in the right order.
    >>> you_said({"first": 20, "others": 20}, {"first": 40.0, "others": 20.5}, "ms")
    first: you said 20 ms; it is 40 ms: the right order of magnitude; what was left out?
    others: you said 20 ms; it is 20.5 ms: right, to within five per cent.
    """
    if not isinstance(measured, dict):
        return Answer({"": (prediction, measured, model)}, unit)
    for name, value in {"prediction": prediction, "model": model}.items():
        if value is not None and not (isinstance(value, dict) and value.keys() <= measured.keys()):
            raise SpecificationError(
                f"you_said: {name} = {value!r}: give a dict with names from"
                f" {', '.join(map(str, measured))}, or None"
            )
    said, models = prediction or {}, model or {}
    return Answer({key: (said.get(key), it, models.get(key)) for key, it in measured.items()}, unit)


class Answer:
    """What `you_said` gives.

    Attributes
    ----------
    verdicts : dict of str
        How far off each prediction was, in words; "" where there was none.
    """

    def __init__(self, rows, unit):
        self.rows, self.unit = rows, unit
        self.verdicts = {}
        for name, (said, it, _) in rows.items():
            try:
                self.verdicts[name] = verdict(said, it, unit)
            except SpecificationError as error:
                raise SpecificationError(
                    f"you_said: {name}: {error}" if name else f"you_said: {error}"
                ) from None

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


def in_a_cell(text):
    """A text as it is, in a cell of a Markdown table."""
    return html.escape(" ".join(text.split()), quote=False).replace("|", "&#124;")


def verdict(said, it, unit=""):
    """How far a prediction was off, in words."""
    if said is None:
        return ""
    if isinstance(it, list | tuple):
        return order(said, list(it))
    if not is_number(it):
        return "right" if same(said, it) else "not this time"
    if not is_number(said):
        raise refused(said, "a number, such as 9.4, without its unit")
    if said == it:
        return "right"
    if not unit and min(said, it) >= 0 and 0.1 <= max(said, it) <= 1:
        return share(said, it)
    if not (said > 0 < it and math.isfinite(said / it) and said / it > 0):
        return "cannot be compared" if math.isnan(said + it) else "off"
    factor = max(said / it, it / said)
    for limit, words in WORDS:
        if factor <= limit:
            return words
    direction = "too much" if said > it else "too little"
    hints = [
        hint
        for usual, hint, units in MISTAKES
        if usual / 1.25 < factor < usual * 1.25 and unit.removesuffix("/s").endswith(units)
    ]
    times = f"{factor:.2g}" if factor < 100 else f"about {float(f'{factor:.1g}'):,.0f}"
    return "; ".join([f"{direction}, by a factor of {times}", *hints])


def share(said, it):
    """How far off a share or an index is: numbers up to 1 differ by so much. Close is also a matter
    of the factor: 0.11 is not close to 0.036.
    """
    off = round(abs(said - it), 6)
    if off <= 0.02:
        return "right, to within 0.02"
    close = "close; " if off <= 0.1 and max(said, it) <= 2 * min(said, it) else ""
    return f"{close}too {'much' if said > it else 'little'}, by {off:.2g}"


def order(said, it):
    """How much of an order is right: of all pairs, how many stand as they should."""
    names = [plain(name) for name in it]
    if not isinstance(said, list | tuple) or sorted(map(plain, said)) != sorted(names):
        raise refused(said, f"a list of {', '.join(sorted(map(str, it)))}, in your order")
    pairs = list(itertools.combinations([names.index(plain(name)) for name in said], 2))
    right = sum(first <= second for first, second in pairs)
    if right == len(pairs):
        return "right"
    return f"{right} of {len(pairs)} pairs stand in the right order"


def same(said, it):
    return plain(said) == plain(it)


def plain(value):
    """A choice as people may write it: "H-TCP" for "htcp", "yes" for True. What stands between
    digits, signs of numbers and operators count.
    """
    if is_truth(value):
        return "yes" if value else "no"
    text = unicodedata.normalize("NFC", str(value)).strip().translate(ALIKE)
    if NUMBER.fullmatch(text):
        return str(Fraction(text))
    return FILLING.sub("", JOINED.sub(r"\1\2", text)).casefold()


def is_truth(value):
    return isinstance(value, bool | np.bool_)


def is_number(value):
    return isinstance(value, Real) and not is_truth(value)


def refused(said, wanted):
    return SpecificationError(f"prediction = {said!r}: write {wanted}; or None for no prediction")
