"""What is no answer: nothing, an error, and values of other types."""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from netlab.course.answers.base import Answer
from netlab.course.answers.bounds import clean
from netlab.course.answers.verdicts import RIGHT

UNWRITTEN = "NotImplementedError"
STUB = "not written yet, raise NotImplementedError() still stands in it"
NOTHING = "it has no value yet (None); if a function makes it, does that end with return?"
LISTABLE = "map", "filter", "zip", "generator", "dict_", "set", "frozenset"  # types


class Nothing(Answer):
    """None, pandas' NA, ``...``."""

    kind: Literal["nothing"] = "nothing"
    words: ClassVar = "nothing"

    @classmethod
    def form(cls, value, forming, cases):
        nothing = value is None or value is pd.NA or value is ... or value is np.ma.masked
        return {} if nothing else None

    def compare(self, given, rule):
        return RIGHT

    def refuse(self, given):
        return "it should be None"

    def missing(self):
        return NOTHING


class Error(Answer):
    """What went wrong, where it is caught (`bounds.failure`): no value is of this kind."""

    kind: Literal["error"] = "error"
    text: str
    words: ClassVar = "an error"

    def missing(self):
        return STUB if self.text.startswith(UNWRITTEN) else ""

    def flaw(self, unit):
        return self.text

    def not_comparable(self):
        return self.text


class Other(Answer):
    """A value of another type, by the type's name."""

    kind: Literal["other"] = "other"
    type: str
    words: ClassVar = "something else"

    @classmethod
    def form(cls, value, forming, cases):
        return {"type": clean(type(value).__name__)}

    def in_words(self):
        listable = ": make a list of it, with list(...)" * self.type.startswith(LISTABLE)
        return f"this is of the type {self.type}{listable}"

    def flaw(self, unit):
        return f"{self.in_words()}, which can be no answer"

    def not_comparable(self):
        return self.type
