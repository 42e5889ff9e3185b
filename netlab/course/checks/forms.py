"""Answers as plain data, which a grader can compare without running anything of a student's.

A form is a dict that JSON carries. Its ``kind`` says what else it has:

=============  ====================================================================================
nothing        None, pandas' NA, ``...``
truth          ``value``
number         ``value``: a number, or one of "nan", "inf", "-inf"
text           ``value``
list           ``items``: of lists, tuples, arrays and Series
dict           ``items`` by name
table          ``columns`` by name: a DataFrame's; an index that has a name is a column, too
figure         ``traces`` that are shown (``name``, ``type``, ``mode``, ``orientation``, and the
               items ``x``, ``y``, ``z``), ``xaxis`` and ``yaxis`` (``title``, ``type``)
experiment     ``json``: of an `Experiment`, or of the one that a `Result` is of
topology       ``json``
algorithm      ``name``, ``parameters``, ``source``, and ``trace`` (see `script`);
               ``failed``: the error that ended the trace, or ""
function       ``results``: a form for each case that it was called with
error          ``text``: what went wrong
other          ``type``: its name
=============  ====================================================================================

In items and columns, truths, finite numbers, texts and None stand for themselves.

`form` is given whatever a student's notebook has. It asks a value for nothing that the value's own
class can answer otherwise, and calls its methods through the class that it derives from.
"""

import base64
import decimal
import fractions
import itertools
import json
import math
import sys

import numpy as np
import pandas as pd

from netlab.algorithms.base import CongestionControl
from netlab.course.checks import script
from netlab.course.checks.bounds import Budget, TooMuch, checked, class_name, clean, failure
from netlab.experiment import Experiment
from netlab.running.result import Result
from netlab.topology import Topology

__all__ = ["checked", "form"]

WORDS_OF_TRACES = "name", "type", "mode", "orientation"
MOST_NAMES = 1000  # of a Series that stands for a dict
ANCESTORS = type.__dict__["__mro__"].__get__  # no class can tell this otherwise


def form(value, cases=None):
    """What a value is, as plain data.

    Parameters
    ----------
    value : anything
    cases : list, optional
        What a function is called with: for each call a list of values, or a dict by name.

    Returns
    -------
    dict
        See the module's text. What cannot be told is of the kind "error".
    """
    try:
        return checked(Forming().form(value, cases=cases))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a value's own, which may be any
        return failure(error)


class Forming:
    """One value's way to its form, within bounds for the whole."""

    def __init__(self):
        self.budget = Budget()

    def form(self, value, depth=0, cases=None):
        try:
            return self.of_kind(value, depth, cases)
        except TooMuch:
            raise
        except Exception as error:  # a value's own; what is no Exception ends the whole
            return failure(error)

    def of_kind(self, value, depth, cases):
        self.budget.take(depth)
        cls = type(value)
        ancestors = ANCESTORS(cls)

        def derives_from(*bases):
            return any(one is base for one in ancestors for base in bases)

        if value is None or value is pd.NA or value is ...:
            return {"kind": "nothing"}
        if value is pd.NaT:
            return number(math.nan)
        if cls is bool:
            return {"kind": "truth", "value": value}
        if derives_from(np.generic):
            return self.numpy_scalar(value)
        if derives_from(float):
            return number(float.__float__(value))
        if derives_from(int):
            return number(int.__int__(value))
        if cls is decimal.Decimal or cls is fractions.Fraction:
            return number(float(value))
        if derives_from(str):
            return {"kind": "text", "value": self.text(str.__str__(value))}
        if derives_from(list, tuple):
            base = list if derives_from(list) else tuple
            return self.items(base.__iter__(value), depth)
        if cls is range:
            return self.items(iter(value), depth)
        if derives_from(dict):
            return self.named(dict.items(value), depth)
        if derives_from(np.ndarray):
            return self.array(value, depth)
        if derives_from(pd.DataFrame):
            return self.table(pd.DataFrame(value), depth)
        if derives_from(pd.Series) and named_by_texts(pd.Series(value)):
            return self.named(pd.Series(value).items(), depth)
        if derives_from(pd.Series):
            return self.array(np.asarray(pd.Series(value), dtype=object), depth)
        if derives_from(pd.Index):
            return self.array(np.asarray(pd.Index(value), dtype=object), depth)
        if derives_from(Result):
            return self.form(object.__getattribute__(value, "experiment"), depth + 1)
        if derives_from(Experiment):
            return described("experiment", Experiment, value)
        if derives_from(Topology):
            return described("topology", Topology, value)
        if derives_from(plotly_figure()):
            return self.figure(plotly_figure().to_dict(value), depth)
        if derives_from(CongestionControl) or (
            derives_from(type) and any(one is CongestionControl for one in ANCESTORS(value))
        ):
            return script.form(value)
        if callable(value):
            return self.function(value, cases or [], depth)
        return {"kind": "other", "type": class_name(cls)}

    def text(self, value):
        self.budget.take_text(value)
        return clean(value)

    def numpy_scalar(self, value):
        plain = np.generic.item(value)
        if type(plain) in (int, float, np.longdouble):  # the last has no Python number of its own
            return number(plain if type(plain) is int else float(plain))
        if type(plain) is str:
            return {"kind": "text", "value": self.text(plain)}
        if type(plain) is bool:
            return {"kind": "truth", "value": plain}
        return {"kind": "other", "type": class_name(type(value))}

    def item(self, value, depth):
        """As in lists and columns: most stand for themselves."""
        made = self.form(value, depth + 1)
        if made["kind"] == "nothing":
            return None
        if made["kind"] in ("truth", "text") or (
            made["kind"] == "number" and type(made["value"]) is not str
        ):
            return made["value"]
        return made

    def items(self, values, depth):
        return {"kind": "list", "items": [self.item(one, depth) for one in values]}

    def array(self, value, depth):
        value = np.ndarray.view(value, np.ndarray)  # without what a class of its own does
        if value.size > self.budget.items:
            raise TooMuch(f"this is too much for an answer: an array of {value.size:,} values")
        if value.dtype.kind not in "biufOUS":
            return {"kind": "other", "type": f"array of {value.dtype}"[:100]}
        values = value.tolist()
        return self.items(values, depth) if value.ndim else self.form(values, depth + 1)

    def named(self, pairs, depth):
        made = {}
        for key, one in itertools.islice(pairs, self.budget.items + 1):
            named = self.form(key, depth + 1)
            if named["kind"] == "list":  # a tuple, such as ("h1", "h4")
                name = ", ".join(map(str, named["items"]))
            else:
                name = str(named.get("value", named["kind"]))
            made[self.text(name)] = self.form(one, depth + 1)
        return {"kind": "dict", "items": made}

    def table(self, frame, depth):
        if frame.size > self.budget.items:
            raise TooMuch(f"this is too much for an answer: a table of {frame.size:,} values")
        if any(name is not None for name in frame.index.names):
            frame = frame.reset_index(allow_duplicates=True)
        columns = {}
        for number, name in enumerate(frame.columns):
            values = np.asarray(frame.iloc[:, number], dtype=object).tolist()
            columns[self.text(str(self.item(name, depth)))] = [
                self.item(one, depth + 1) for one in values
            ]
        return {"kind": "table", "columns": columns}

    def figure(self, told, depth):
        traces = []
        for trace in told.get("data", ())[:1000]:
            if trace.get("visible", True) is not True:
                continue
            made = {name: self.words(trace.get(name)) for name in WORDS_OF_TRACES}
            for axis in "xyz":
                found = self.form(unpacked(trace.get(axis)), depth + 1)
                made[axis] = found["items"] if found["kind"] == "list" else []
            traces.append(made)
        layout = told.get("layout", {})
        axes = {f"{axis}axis": self.axis(layout, axis) for axis in "xy"}
        return {"kind": "figure", "traces": traces} | axes

    def axis(self, layout, letter):
        """An axis' title and type; of several, the first that has a title."""
        found = [one for name, one in sorted(layout.items()) if name.startswith(f"{letter}axis")]
        titles = [self.words((one.get("title") or {}).get("text")) for one in found]
        number = next((number for number, one in enumerate(titles) if one), 0)
        kind = self.words(found[number].get("type")) if found else ""
        return {"title": titles[number] if titles else "", "type": kind}

    def words(self, value):
        return self.text(value) if type(value) is str else ""

    def function(self, value, cases, depth):
        results = []
        for case in cases:
            given = json.loads(json.dumps(case))  # a function may change what it is given
            try:
                if isinstance(given, dict):
                    made = value(**given)
                else:
                    made = value(*given) if isinstance(given, list) else value(given)
            except (Exception, SystemExit) as error:
                results.append(failure(error))
            else:
                results.append(self.form(made, depth + 1))
        return {"kind": "function", "results": results}


def named_by_texts(series):
    """Has each value of a Series a name of its own?"""
    if len(series) > MOST_NAMES or type(series.index) is not pd.Index:
        return False
    names = series.index.tolist()
    return bool(names) and all(type(one) is str for one in names) and len({*names}) == len(names)


def number(value):
    """The form of a number that is exactly an int or a float."""
    if type(value) is float and not math.isfinite(value):
        value = "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return {"kind": "number", "value": value}


def described(kind, cls, value):
    return {"kind": kind, "json": json.loads(cls.model_dump_json(value))}


def plotly_figure():
    """The class of plotly's figures; object's stand-in where nobody has imported plotly."""
    return getattr(sys.modules.get("plotly.basedatatypes"), "BaseFigure", Forming)


def unpacked(values):
    """Numbers that plotly has packed in base64."""
    if type(values) is not dict or "bdata" not in values:
        return values
    found = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    if "shape" in values:
        found = found.reshape([int(one) for one in str(values["shape"]).split(",")])
    return found
