"""Figures as answers: curves, and axes with titles and units."""

import base64
from typing import ClassVar, Literal

import numpy as np
from plotly.basedatatypes import BaseFigure

from netlab.course.answers import numbers
from netlab.course.answers.base import Answer, ListOf, Part
from netlab.course.answers.bounds import MOST_VALUES, TooMuch, clean
from netlab.course.answers.several import Dict, Items, List
from netlab.course.answers.spelling import plain
from netlab.course.answers.unit_names import asked, meaning, units_of
from netlab.course.answers.verdicts import RIGHT, Check

MOST_TRACES = 1000
TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")  # of plotly's typed arrays
DATA, TITLES, UNITS = 0.6, 0.2, 0.2  # shares of a figure
NO_TITLE = "the {} axis has no title"
NO_UNIT = "the title of the {} axis has no unit, such as [ms]"
OTHER_UNIT = "is the unit in the title of the {} axis that of its values?"
MOST_TIMES = 3  # a figure may have so many times the curves that were asked for
IN_ORDER = "lines"  # in a trace's mode: its points are joined one after the other


class Axis(Part):
    title: str
    type: str

    def lacks(self, letter, unit_asked, kind=None):
        """What the title lacks: a hint, or "", of the title itself, and of its unit. `kind` is that
        of the unit asked for, where it is known; without it any unit will do.
        """
        own = meaning(self.title, kind)
        no_title = "" if self.title.strip() else NO_TITLE.format(letter)
        if not unit_asked:
            return no_title, ""
        if not units_of(self.title):
            return no_title, NO_UNIT.format(letter)
        same = None in (own, kind) or own[0] == kind
        return no_title, "" if same else OTHER_UNIT.format(letter)


class Trace(Part):
    """A curve, or a map, that is shown."""

    name: str
    type: str
    mode: str
    orientation: str
    x: Items
    y: Items
    z: Items

    def points(self):
        """A curve's points (x, y), or a map's (x, y, z); no x or y are numbers from 0 on."""
        x, y, rows = self.x, self.y, self.z
        if rows:
            rows = [one.items if isinstance(one, List | Dict) else [one] for one in rows]
            return [
                (at(x, column), at(y, row), height)
                for row, heights in enumerate(rows)
                for column, height in enumerate(heights)
            ]
        size = min(map(len, filter(None, (x, y))), default=0)  # plotly leaves out the rest
        return [(at(x, number), at(y, number)) for number in range(size)]


class Figure(Answer):
    """A figure of plotly's, as it is shown."""

    kind: Literal["figure"] = "figure"
    traces: ListOf[Trace]
    xaxis: Axis
    yaxis: Axis
    words: ClassVar = "a figure"

    @classmethod
    def form(cls, value, forming, cases):
        if not isinstance(value, BaseFigure):
            return None
        traces = []
        for trace in [one.to_plotly_json() for one in value.data[:MOST_TRACES]]:
            if trace.get("visible", True) is True:
                found = {axis: forming.form(typed(trace.get(axis))) for axis in "xyz"}
                found = {axis: one.get("items", []) for axis, one in found.items()}
                texts = {name: text_or_empty(trace.get(name)) for name in Trace.model_fields}
                traces.append(texts | found)
        layout = value.layout.to_plotly_json()
        return {"traces": traces} | {f"{axis}axis": axis_of(layout, f"{axis}axis") for axis in "xy"}

    @property
    def axes(self):
        return {"x": self.xaxis, "y": self.yaxis}

    def compare(self, given, rule):
        """Curves, titles and units: each has its part of the share."""
        found, strange = matched(given, self, rule)
        count, hints = len(self.traces), []
        if not any(trace.points() for trace in given.traces):
            hints = ["the figure has no data"]
        elif found < count:
            few = f"{found} of {count} curves are right"
            none = "the curves are not those that were asked for: look at the values, and the unit"
            hints = [(few if found else none) + strange]
        titles, units = [], []
        for letter, axis in self.axes.items():
            if not axis.title.strip():
                continue
            lacks = given.axes[letter].lacks(letter, asked(axis.title), unit_kind(axis.title))
            titles.append(not lacks[0])
            units += [not lacks[1]] * asked(axis.title)
            hints += [next(filter(None, lacks))] if any(lacks) else []
        if not hints:
            return RIGHT
        share = DATA * (found / count if count else 1)
        for weight, parts in ((TITLES, titles), (UNITS, units)):
            share += weight * (sum(parts) / len(parts) if parts else 1)
        verdict = "close" if found == count else "wrong"
        return Check(verdict, round(share, 6) if found or not count else 0, "; ".join(hints))

    def describe(self, unit):
        bare = [letter for letter, axis in self.axes.items() if not units_of(axis.title)]
        lacks = f"no unit on {' and '.join(bare)}: right for names and counts alone"
        return f"{self.words} with data, titles and {lacks if bare else 'units'}"

    def flaw(self, unit):
        """What any figure lacks."""
        if not any(trace.points() for trace in self.traces):
            return "the figure has no data"
        found = (axis.lacks(letter, self.needs_unit(letter)) for letter, axis in self.axes.items())
        return "; ".join(next(filter(None, lacks)) for lacks in found if any(lacks))

    def needs_unit(self, letter):
        """Whether some value is no whole number; names and counts have no unit."""
        values = [one for trace in self.traces for one in getattr(trace, letter)]
        return any(type(one) is float and not one.is_integer() for one in values)

    def not_comparable(self):
        data = any(trace.x or trace.y or trace.z for trace in self.traces)
        return "" if data else "a figure without data"


def typed(values):
    """plotly's typed array as numpy's: a figure that was copied, or read from JSON, has these."""
    if not isinstance(values, dict) or values.get("dtype") not in TYPES:
        return values
    if len(values["bdata"]) > 12 * MOST_VALUES:  # base64 of 8 bytes has 12 characters
        raise TooMuch(f"more than {MOST_VALUES:,} values")
    array = np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"]))
    shape = values.get("shape", -1)
    return array.reshape([int(one) for one in str(shape).strip("()[]").split(",") if one.strip()])


def axis_of(layout, name):
    """An axis' title and type; of several, the first that has a title."""
    found = [one for key, one in sorted(layout.items()) if key.startswith(name)] or [{}]
    titles = [text_or_empty((one.get("title") or {}).get("text")) for one in found]
    number = next((number for number, one in enumerate(titles) if one), 0)
    return {"title": titles[number], "type": text_or_empty(found[number].get("type"))}


def text_or_empty(value):
    return clean(value) if isinstance(value, str) else ""


def matched(given, right, rule):
    """How many of the right curves are there, in any order; and which given ones are none."""
    if len(given.traces) > MOST_TIMES * len(right.traces) + MOST_TIMES:
        return 0, ""  # as many curves as it takes to have the right ones among them
    factors, within = [factor(given, right, letter) for letter in "xy"], rule.tolerance
    names = {plain(trace.name) for trace in right.traces} - {""}
    left, found = [trace for trace in given.traces if trace.points()], 0
    for wanted in right.traces:
        for number, own in enumerate(left):
            name = plain(own.name)
            another = name in names and name != plain(wanted.name) != ""
            if not another and same_curve(own, wanted, factors, within):
                del left[number]
                found += 1
                break
    strange = [trace.name for trace in left if trace.name]
    return found, f"; not among them: yours called {', '.join(strange[:3])}" if strange else ""


def unit_kind(title):
    """The kind of the unit that a title names; None where none is known."""
    return (meaning(title) or [None])[0]


def factor(given, right, letter):
    """The factor from the unit on a given axis to that on the right one; 1 if one is unknown."""
    wanted = meaning(right.axes[letter].title)
    own = meaning(given.axes[letter].title, wanted and wanted[0])
    return own[1] / wanted[1] if own and wanted and own[0] == wanted[0] else 1


def same_curve(given, right, factors, within):
    """Are the points of two curves the same? Those of bars and markers stand in any order."""
    if (given.orientation == "h") != (right.orientation == "h"):
        return False
    own, wanted = given.points(), right.points()
    if len(own) != len(wanted):
        return False
    if any(same_points(one, wanted, factors, within) for one in (own, own[::-1])):
        return True
    # without a mode, plotly joins the points, or it does not
    dots = right.type in ("scatter", "scattergl") and given.mode
    if not (dots or right.type == "bar") or IN_ORDER in given.mode:
        return False
    return same_points(sorted(own, key=place), sorted(wanted, key=place), factors, within)


def place(point):
    """Sorts points: numbers before texts."""
    return [(0, one, "") if type(one) in (int, float) else (1, 0, plain(one)) for one in point]


def same_points(given, right, factors, within):
    return len(given) == len(right) and all(
        len(one) == len(it) and all(map(same_value, one, it, [*factors, 1], [within] * 3))
        for one, it in zip(given, right, strict=True)
    )


def same_value(given, right, by, within):
    """Are two values the same, once the given one is in the unit of the right one's axis?"""
    if {type(given), type(right)} <= {int, float}:
        return numbers.near(float(given) * by, float(right), within)
    return (given is None) == (right is None) and plain(given) == plain(right)


def at(values, number):
    return (values[number] if number < len(values) else None) if values else number
