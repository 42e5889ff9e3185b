"""Answers as plain data, which a grader can compare without running anything of a student's.

A form is a dict that JSON carries. Its ``kind`` says what else it has:

=============  ====================================================================================
nothing        None, pandas' NA, ``...``
truth          ``value``
number         ``value``: a number, or one of "nan", "inf", "-inf"
text           ``value``: of a text, a date or a length of time (ISO 8601)
list           ``items``: of lists, tuples, and numpy's and pandas' arrays, Series and indexes
dict           ``items`` by name
table          ``columns`` by name: a DataFrame's; an index that has a name is a column, too
figure         ``traces`` that are shown (``name``, ``type``, ``mode``, ``orientation``, and the
               items ``x``, ``y``, ``z``), ``xaxis`` and ``yaxis`` (``title``, ``type``)
experiment     ``json``: of an `Experiment`, or of the one that a `Result` is of
topology       ``json``
network        ``script``: of what was typed on it (`netlab.running.history`)
algorithm      ``name``, ``parameters``, ``source``, and ``trace`` (see `script`);
               ``failed``: the error that ended the trace, or ""
function       ``results``: a form for each case that it was called with
error          ``text``: what went wrong
other          ``type``: its name
=============  ====================================================================================

In items and columns, truths, finite numbers, texts and None are kept as they are.

A value that raises while `form` reads it is an error; `checked` looks at forms from outside.
"""

import base64
import datetime
import decimal
import json
import math
from numbers import Real

import numpy as np
import pandas as pd
from plotly.basedatatypes import BaseFigure

from netlab.algorithms.base import CongestionControl
from netlab.course.checks import script
from netlab.course.checks.bounds import (
    MOST_VALUES,
    WORDS_OF_TRACES,
    TooMuch,
    checked,
    clean,
    failure,
)
from netlab.experiment import Experiment
from netlab.running.history import History
from netlab.running.network import Network
from netlab.running.result import Result
from netlab.topology import Topology

MOST_NAMES = 1000  # of a Series that counts as a dict
MOST_TRACES = 1000
TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")  # of plotly's typed arrays
TIMES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)
LISTS = (list, tuple, range, np.ndarray, pd.Series, pd.Index, pd.api.extensions.ExtensionArray)


def form(value, cases=None):
    """The form of any value; a function is called with each of `cases` (lists, dicts by name)."""
    try:
        return checked(Forming().form(value, cases))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a value's own, which may be any
        return failure(error)


class Forming:
    """Makes the form of one value; ends early where it has too many parts."""

    left = MOST_VALUES

    def form(self, value, cases=None):
        self.left -= 1
        if self.left < 0:
            raise TooMuch(f"more than {MOST_VALUES:,} values")
        try:
            return self.of_kind(value, cases)
        except TooMuch:
            raise
        except Exception as error:  # a value's own; what is no Exception ends the whole
            return failure(error)

    def of_kind(self, value, cases):
        if type(value).__module__.startswith("narwhals"):  # plotly's own, around any library's
            value = value.to_native()
        if value is None or value is pd.NA or value is ... or value is np.ma.masked:
            return {"kind": "nothing"}
        if isinstance(value, np.ndarray) and not value.ndim:
            value = value[()]
        if isinstance(value, TIMES) and value is not pd.NaT:
            value = as_time(value)
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, complex) and not value.imag:  # numpy's roots are
            value = value.real
        if isinstance(value, bool):
            return {"kind": "truth", "value": value}
        if isinstance(value, int):
            return {"kind": "number", "value": int(value)}
        if isinstance(value, Real | decimal.Decimal) or value is pd.NaT:
            number = math.nan if value is pd.NaT else float(value)
            return {"kind": "number", "value": number if math.isfinite(number) else str(number)}
        if isinstance(value, str):
            return {"kind": "text", "value": clean(str(value))}
        if isinstance(value, dict) or named_by_texts(value):
            items = {name_of(key): self.form(one) for key, one in value.items()}
            return {"kind": "dict", "items": items}
        if isinstance(value, np.matrix):  # its rows are matrices
            value = np.asarray(value)
        if isinstance(value, LISTS):
            return {"kind": "list", "items": self.items(value)}
        if isinstance(value, pd.DataFrame):
            if any(name is not None for name in value.index.names):
                value = value.reset_index(allow_duplicates=True)
            columns = {name_of(name): self.items(column) for name, column in value.items()}
            return {"kind": "table", "columns": columns}
        if isinstance(value, Result):
            value = value.experiment
        if isinstance(value, Experiment | Topology):
            kind = "experiment" if isinstance(value, Experiment) else "topology"
            return {"kind": kind, "json": json.loads(value.to_json())}
        if isinstance(value, Network | History):
            history = getattr(value, "history", value)
            return {"kind": "network", "script": clean(history.to_text())}
        if isinstance(value, BaseFigure):
            return self.figure(value)
        cls = value if isinstance(value, type) else type(value)
        if issubclass(cls, CongestionControl):
            return script.form(value)
        if callable(value):
            return {"kind": "function", "results": [self.result(value, one) for one in cases or ()]}
        return {"kind": "other", "type": clean(cls.__name__)}

    def items(self, values):
        """Items of a list or a column; most values are kept as they are."""
        items = []
        for value in values:
            made = self.form(value)
            if made["kind"] == "nothing":
                made = None
            elif made["kind"] in ("truth", "text") or type(made.get("value")) in (int, float):
                made = made["value"]
            items.append(made)
        return items

    def figure(self, value):
        traces = []
        for trace in [one.to_plotly_json() for one in value.data[:MOST_TRACES]]:
            if trace.get("visible", True) is True:
                found = {axis: self.form(typed(trace.get(axis))) for axis in "xyz"}
                found = {axis: one.get("items", []) for axis, one in found.items()}
                traces.append({name: words(trace.get(name)) for name in WORDS_OF_TRACES} | found)
        layout = value.layout.to_plotly_json()
        axes = {f"{axis}axis": axis_of(layout, f"{axis}axis") for axis in "xy"}
        return {"kind": "figure", "traces": traces} | axes

    def result(self, function, case):
        given = json.loads(json.dumps(case))  # a function may change what it is given
        try:
            if isinstance(given, dict):
                return self.form(function(**given))
            return self.form(function(*given) if isinstance(given, list) else function(given))
        except (Exception, SystemExit) as error:
            if isinstance(error, TooMuch):
                raise
            return failure(error)


def as_time(value):
    """A date as ISO 8601 has it, the same from numpy, pandas and Python; a length of time, too."""
    length = isinstance(value, datetime.timedelta | np.timedelta64)
    value = (pd.Timedelta if length else pd.Timestamp)(value)
    return value if value is pd.NaT else value.isoformat()


def typed(values):
    """plotly's typed array as numpy's: a figure that was copied, or read from JSON, has these."""
    if not isinstance(values, dict) or values.get("dtype") not in TYPES:
        return values
    if len(values["bdata"]) > 12 * MOST_VALUES:  # base64 of 8 bytes has 12 characters
        raise TooMuch(f"more than {MOST_VALUES:,} values")
    array = np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"]))
    shape = values.get("shape", -1)
    return array.reshape([int(one) for one in str(shape).strip("()[]").split(",") if one.strip()])


def name_of(key):
    """A dict's key or a column's name as a text; ("h1", "h4") is "h1, h4"."""
    return clean(", ".join(map(str, key)) if isinstance(key, tuple) else str(key))


def named_by_texts(value):
    """Whether a value is a Series with texts for its index, each there once."""
    if not isinstance(value, pd.Series) or not 0 < len(value) <= MOST_NAMES:
        return False
    return value.index.is_unique and all(isinstance(name, str) for name in value.index)


def axis_of(layout, name):
    """An axis' title and type; of several, the first that has a title."""
    found = [one for key, one in sorted(layout.items()) if key.startswith(name)] or [{}]
    titles = [words((one.get("title") or {}).get("text")) for one in found]
    number = next((number for number, one in enumerate(titles) if one), 0)
    return {"title": titles[number], "type": words(found[number].get("type"))}


def words(value):
    return clean(value) if isinstance(value, str) else ""
