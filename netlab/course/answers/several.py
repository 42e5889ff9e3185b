"""Several values: lists, dicts and tables. Their items are answers, or values as JSON has them."""

from typing import Annotated, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from netlab.course.answers import numbers
from netlab.course.answers.base import Answer, AnyAnswer, ListOf
from netlab.course.answers.bounds import clean
from netlab.course.answers.choices import Text, Truth
from netlab.course.answers.no_answers import STUB, Nothing
from netlab.course.answers.numbers import Number
from netlab.course.answers.spelling import NUMBER, plain
from netlab.course.answers.verdicts import RIGHT, Check

MISSING = Nothing()  # in the place of one that is not there
MOST_NAMES = 1000  # of a Series that counts as a dict
UNITS = {"_bps": "bit/s", "_s": "s", "_bytes": "byte"}  # by a column's ending
LISTS = (list, tuple, range, np.ndarray, pd.Series, pd.Index, pd.api.extensions.ExtensionArray)
# Truths, finite numbers, texts and None are kept as they are: there may be many
Item = Annotated[bool | int | float | str | AnyAnswer | None, Field(union_mode="left_to_right")]
Items = ListOf[Item]


class List(Answer):
    """A list, a tuple, an array, a Series, an index."""

    kind: Literal["list"] = "list"
    items: Items
    words: ClassVar = "a list"
    takes: ClassVar = ("list", "dict", "table")

    @classmethod
    def form(cls, value, forming, cases):
        if not isinstance(value, LISTS) or named_by_texts(value):
            return None
        return {"items": forming.items(value)}

    def compare(self, given, rule):
        """By position; a dict counts in its order, and a table of one column as that."""
        items = given.columns if isinstance(given, Table) else given.items
        if isinstance(given, Table):
            if len(items) != 1:
                return Check("wrong", 0, "this is a table: take the column that was asked for")
            (items,) = items.values()
        elif isinstance(given, Dict):
            values = [float(name) for name in items if NUMBER.fullmatch(name)]
            if values != sorted(values):
                return Check("wrong", 0, f"{given.other_than(List)}: in which order?")
            items = items.values()
        return compare_parts(numbered(items), numbered(self.items), rule, "item", len(items))

    def describe(self, unit):
        return f"{self.words} of {len(self.items)}"

    def only_item(self):
        return as_answer(self.items[0]) if len(self.items) == 1 else None

    def other_than(self, wanted):
        comma = with_comma(self.items) if wanted is Number else ""
        return super().other_than(wanted) + comma


class Dict(Answer):
    """Answers by name: a dict, a Series whose index are texts."""

    kind: Literal["dict"] = "dict"
    items: dict[str, AnyAnswer]
    words: ClassVar = "a dict"
    takes: ClassVar = ("list", "dict", "table")

    @classmethod
    def form(cls, value, forming, cases):
        if not isinstance(value, dict) and not named_by_texts(value):
            return None
        return {"items": {name_of(key): forming.form(one) for key, one in value.items()}}

    def compare(self, given, rule):
        if isinstance(given, List):
            return Check("wrong", 0, f"{given.other_than(Dict)}, which names its values")
        items = given.items if isinstance(given, Dict) else given.lists()
        return compare_parts(items, self.items, rule)

    def describe(self, unit):
        return f"{self.words} of {len(self.items)}"

    def only_item(self):
        return next(iter(self.items.values())) if len(self.items) == 1 else None


class Table(Answer):
    """Columns by name, of a DataFrame; an index that has a name is a column, too."""

    kind: Literal["table"] = "table"
    columns: dict[str, Items]
    words: ClassVar = "a table"
    takes: ClassVar = ("list", "dict", "table")

    @classmethod
    def form(cls, value, forming, cases):
        if not isinstance(value, pd.DataFrame):
            return None
        if any(name is not None for name in value.index.names):
            value = value.reset_index(allow_duplicates=True)
        return {"columns": {name_of(name): forming.items(column) for name, column in value.items()}}

    def compare(self, given, rule):
        """Columns by name, rows in their order: the mean share of the columns' cells."""
        wanted = self.columns
        if isinstance(given, List):
            if len(wanted) != 1:
                return Check("wrong", 0, given.other_than(Table))
            columns = dict.fromkeys(wanted, given.items)
        elif isinstance(given, Dict):
            lists = {name: one for name, one in given.items.items() if isinstance(one, List)}
            columns = {name: one.items for name, one in lists.items()}
        else:
            columns = given.columns
        rows = max((len(one) for one in wanted.values()), default=0)
        share, good, hints = 0, 0, []
        for name, own in by_name(columns, wanted).items():
            cells = wanted[name]
            if own is MISSING:
                hints.append(f"the column {name} is missing")
                continue
            unit = next((unit for ending, unit in UNITS.items() if name.endswith(ending)), "")
            of_column = rule.but(unit=rule.unit or unit)
            found = [compare_item(*both, of_column) for both in zip(own, cells, strict=False)]
            size, bad = max(len(own), rows), [one for one in found if one.verdict != "right"]
            share += sum(one.share for one in found) / size if size else 1
            good += (len(found) - len(bad)) / max(size, 1)
            if len(own) != rows:
                hints.append(f"the table has {len(own)} rows, and another number was asked for")
            elif bad:
                why = f"row {found.index(bad[0])}: {bad[0].hint}"
                hints.append(f"column {name}, {rows - len(bad)} of {rows} are right; {why}")
        if not hints:
            return RIGHT
        return Check("wrong", share / len(wanted), hints[0], good / len(wanted))

    def describe(self, unit):
        rows = max(map(len, self.columns.values()), default=0)
        return f"{self.words} of {rows} rows with the columns {', '.join(self.columns)}"

    def not_comparable(self):
        return "" if self.columns else "a table without columns"

    def lists(self):
        return {name: List(items=cells) for name, cells in self.columns.items()}


def name_of(key):
    """A dict's key or a column's name as a text; ("h1", "h4") is "h1, h4"."""
    return clean(", ".join(map(str, key)) if isinstance(key, tuple) else str(key))


def named_by_texts(value):
    """Whether a value is a Series with texts for its index, each there once."""
    if not isinstance(value, pd.Series) or not 0 < len(value) <= MOST_NAMES:
        return False
    return value.index.is_unique and all(isinstance(name, str) for name in value.index)


def with_comma(items):
    """A hint where a list can be a number that was written with commas; "" elsewhere."""
    if len(items) < 2 or type(items[0]) is not int or any(type(one) is bool for one in items):
        return ""
    if len(items) == 2 and type(items[1]) in (int, float) and items[1] >= 0:
        return "; Python takes 0,5 for two numbers: write 0.5, with a point"
    if all(type(one) is int and 0 <= one < 1000 for one in items[1:]):
        return "; Python takes 1,250,000 for three numbers: write 1_250_000 or 1250000"
    return ""


def numbered(items):
    return dict(enumerate(items, 1))


def compare_parts(given, right, rule, what="", count=0, calls=()):
    """Parts by name: the mean of their shares, and the hint of the first that is not right.

    `what` a part is, where it has a number for a name; `count` of those given; `calls` in Python.
    """
    if right and not what:  # people write names as they like
        given = by_name(given, right)
    parts = {name: compare_item(given.get(name, MISSING), one, rule) for name, one in right.items()}
    wrong = [name for name, one in parts.items() if one.verdict != "right"]
    size = max(len(right), count, 0 if right else len(given))
    share = sum(one.share for one in parts.values()) / size if size else 1
    good = (len(right) - len(wrong)) / max(size, 1)
    if not wrong and size == len(right):
        return RIGHT
    if not wrong:
        return Check("wrong", share, f"{size} items are more than there should be", good)
    first = parts[wrong[0]]
    why = first.hint
    if first.verdict == "nothing" and why != STUB:
        why = "it returns nothing" if what == "call" else "it is missing"
    place = f"{what} {wrong[0]}" if what else str(wrong[0])
    if what == "call" and wrong[0] <= len(calls):
        place = calls[wrong[0] - 1]
    hint = f"{place}: {why}"
    if not len(right) == len(wrong) == size == 1:
        hint = f"{len(right) - len(wrong)} of {size} are right; {hint}"
    verdicts = {one.verdict for one in parts.values()}
    nearly = verdicts <= {"right", "close"} and count <= len(right)
    verdict = "nothing" if verdicts == {"nothing"} else "close" if nearly else "wrong"
    return Check(verdict, share, hint, good)


def by_name(given, names):
    """Values by `names`, however they are spelled; `MISSING` where two could be meant."""
    found = {}
    for name, value in given.items():
        found.setdefault(plain(name), []).append(value)
    alike = {name: found.get(plain(name), []) for name in names}
    return {
        name: given.get(name, values[0] if len(values) == 1 else MISSING)
        for name, values in alike.items()
    }


def compare_item(given, right, rule):
    """One of several."""
    if type(given) is type(right) is float and numbers.near(given, right, rule.tolerance):
        return RIGHT  # there may be many
    if given is not MISSING and unknown(given) and unknown(right):
        return RIGHT
    return as_answer(right).check(as_answer(given), rule)


def unknown(item):
    """Is an item None, pandas' NA or NaN? Which of them a column has, its type decides."""
    if isinstance(item, Number):
        return item.value == "nan"
    return item is None or isinstance(item, Nothing)


def as_answer(item):
    """An item as an answer."""
    if isinstance(item, Answer):
        return item
    if item is None:
        return Nothing()
    return {bool: Truth, str: Text}.get(type(item), Number)(value=item)
