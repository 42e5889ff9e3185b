"""The kinds of answers, and their forms: plain data, which a grader can compare without running
anything of a student's.

A form is a dict that JSON carries. Its ``kind`` says which class's fields it has. `form` makes one
of any value, in the jail; what comes out of there is bounded (`bounds`), then read as an
`answer`; `compare` puts one beside the right one.
"""

import datetime
import math
from typing import Annotated, Union

import numpy as np
import pandas as pd
from pydantic import Field, TypeAdapter, ValidationError

from netlab.course.answers.algorithms import Algorithm
from netlab.course.answers.bounds import MOST_VALUES, TooMuch, failure, refuse_too_much
from netlab.course.answers.choices import Text, Truth
from netlab.course.answers.descriptions import Experiment, Network, Topology
from netlab.course.answers.figures import Figure
from netlab.course.answers.functions import Function
from netlab.course.answers.no_answers import Error, Nothing, Other
from netlab.course.answers.numbers import MOST_SLIP, Number
from netlab.course.answers.several import Dict, List, Table
from netlab.course.answers.verdicts import Check
from netlab.errors import NetlabError, SpecificationError

# A value is of the first kind that reads it
KINDS = {kind.model_fields["kind"].default: kind for kind in (
    Nothing, Truth, Number, Text, List, Dict, Table, Figure, Experiment, Topology, Network,
    Algorithm, Function, Error, Other,
)}  # fmt: skip
AnyAnswer = Annotated[Union[*KINDS.values()], Field(discriminator="kind")]
for kind in KINDS.values():
    kind.model_rebuild(_types_namespace={"AnyAnswer": AnyAnswer})
ANSWER = TypeAdapter(AnyAnswer)
TIMES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)


def form(value, cases=None):
    """The form of any value; a function is called with each of `cases` (lists, dicts by name). A
    value that raises while it is read is an error.
    """
    try:
        made = Forming().form(value, cases)
        refuse_too_much(made)
        return made
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a value's own, which may be any
        return failure(error)


class Forming:
    """Makes the form of one value; ends early where it has too many parts."""

    left = MOST_VALUES

    def count(self):
        self.left -= 1
        if self.left < 0:
            raise TooMuch(f"more than {MOST_VALUES:,} values")

    def form(self, value, cases=None):
        self.count()
        try:
            value = unwrapped(value)
            for name, kind in KINDS.items():
                fields = kind.form(value, self, cases)
                if fields is not None:
                    return {"kind": name} | fields
        except TooMuch:
            raise
        except Exception as error:  # a value's own; what is no Exception ends the whole
            return failure(error)

    def items(self, values):
        """Items of a list or a column; most values are kept as they are."""
        items = []
        for value in values:
            if type(value) in (bool, int) or (type(value) is float and math.isfinite(value)):
                self.count()  # as `form`, and sooner: there may be many
                items.append(value)
                continue
            made = self.form(value)
            if made["kind"] == "nothing":
                made = None
            elif made["kind"] in ("truth", "text") or type(made.get("value")) in (int, float):
                made = made["value"]
            items.append(made)
        return items


def unwrapped(value):
    """A value without what numpy, pandas and others put around it; a time as a text."""
    if type(value).__module__.startswith("narwhals"):  # plotly's own, around any library's
        value = value.to_native()
    if isinstance(value, np.ndarray) and not value.ndim and value is not np.ma.masked:
        value = value[()]
    if isinstance(value, TIMES) and value is not pd.NaT:
        value = as_time(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.matrix):  # its rows are matrices
        value = np.asarray(value)
    return value.real if isinstance(value, complex) and not value.imag else value  # numpy's roots


def as_time(value):
    """A date as ISO 8601 has it, the same from numpy, pandas and Python; a length of time, too."""
    length = isinstance(value, datetime.timedelta | np.timedelta64)
    value = (pd.Timedelta if length else pd.Timestamp)(value)
    return value if value is pd.NaT else value.isoformat()


def answer(data):
    """The answer of a form, which `refuse_too_much` has seen; raise `NetlabError` if it is none."""
    try:
        return ANSWER.validate_python(data)
    except ValidationError:
        found = data if type(data) is dict else {}
        names = ", ".join(ascii(name[:50]) for name in list(found)[:10])
        kind = ascii(str(found.get("kind"))[:50])
        raise NetlabError(
            f"this is no form of an answer: kind = {kind} with {names or 'nothing'}"
        ) from None


def compare(given, right, rule, mistakes=None):
    """Compare an answer with the right one, by a `Rule`; `mistakes` has a form for each hint."""
    if why := right.not_comparable():
        raise SpecificationError(f"what an answer is compared with cannot be compared: {why}")
    given = given.taken_out_for(type(right))
    found = right.check(given, rule)
    if found.verdict in ("right", "nothing"):
        return found
    known = (mistakes or {}).items()
    hints = [hint for hint, one in known if is_mistake(given, answer(one), right, rule)]
    if not hints:
        return found
    good = found.good if given.kind == right.kind else 0
    return Check("wrong", good, given.quoted(rule.unit) + "; or: ".join(hints))


def is_mistake(given, mistake, right, rule):
    """Whether an answer that is not right is this mistake."""
    if mistake.kind == "nothing" or mistake.not_comparable():
        return False
    sharp = max(1e-6, min(rule.tolerance, MOST_SLIP))
    try:
        same = mistake.check(given, rule.but(within=sharp, exact=False))
    except NetlabError:  # it cannot be compared: a network without the path in `pairs`
        return False
    if same.verdict == "right" and {given.kind, mistake.kind, right.kind} == {"number"}:
        value, wrong, good = float(given), float(mistake), float(right)
        return not abs(value - good) < abs(value - wrong)
    return same.verdict == "right"
