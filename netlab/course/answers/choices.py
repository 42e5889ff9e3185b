"""Choices: truths and texts, compared however they are spelled."""

import re
from typing import ClassVar, Literal

from netlab.course.answers.base import Answer
from netlab.course.answers.bounds import clean
from netlab.course.answers.numbers import Number
from netlab.course.answers.spelling import NUMBER, plain
from netlab.course.answers.verdicts import RIGHT, Check

LONGEST_SHOWN = 60  # characters of a choice
GROUPS = re.compile(r"(?<=\d)[ .,'_](?=\d{3}(?!\d))")  # between thousands


class Choice(Answer):
    """A truth or a text; either may be given for the other, and a number for both."""

    takes: ClassVar = ("truth", "text", "number")
    one_value: ClassVar = True

    def compare(self, given, rule):
        said, right = plain(given.value), self.value
        if isinstance(right, bool) and said in ("true", "false"):
            said = plain(said == "true")
        same = said == plain(right)
        if not plain(right):  # nothing but signs
            same = str(given.value).strip() == str(right).strip()
        return RIGHT if same else Check("wrong", 0, f"you gave {shown(given.value)}: not this one")

    def quoted(self, unit):
        return f"you gave {shown(self.value)}: "


class Truth(Choice):
    """True or False."""

    kind: Literal["truth"] = "truth"
    value: bool
    words: ClassVar = "a choice"

    @classmethod
    def form(cls, value, forming, cases):
        return {"value": value} if isinstance(value, bool) else None

    def describe(self, unit):
        return f"{self.words}, {self.value}"


class Text(Choice):
    """A text; a date or a length of time, as ISO 8601 has it."""

    kind: Literal["text"] = "text"
    value: str
    words: ClassVar = "a text"

    @classmethod
    def form(cls, value, forming, cases):
        return {"value": clean(str(value))} if isinstance(value, str) else None

    def describe(self, unit):
        return f'{self.words}, "{self.value}"'

    def flaw(self, unit):
        return self.other_than(Number) if unit else ""

    def other_than(self, wanted):
        if wanted is not Number:
            return super().other_than(wanted)
        text = self.value.strip()
        if NUMBER.fullmatch(text):
            return "this is a number in a text: leave out the quotes"
        if NUMBER.fullmatch(text.replace(",", ".", 1)):
            return "this is a number in a text, with a comma: write it with a point, without quotes"
        if NUMBER.fullmatch(GROUPS.sub("", text)):
            return "this is a number in a text: leave out the quotes, and what parts its digits"
        return "this is a text: write a number, without its unit"


def shown(value):
    """A choice as it was given."""
    return f'"{value[:LONGEST_SHOWN]}"' if isinstance(value, str) else str(value)
