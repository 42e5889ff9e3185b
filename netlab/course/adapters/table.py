"""A table of marks, in CSV, for any course's system: a row for each student, a column for each
exercise. Manual exercises have an empty column, to be filled in.
"""

import csv

from netlab.course.checks.verdicts import printable

FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%")  # what makes a spreadsheet compute


def write(marks, output, course=None):
    """Write the table to a file; `marks` are those of `netlab.course.adapters.read`."""
    rows = list(table(marks.values()))
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def table(marks):
    """The rows, the first with the names of the columns."""
    marks = list(marks)
    automatic, manual = {}, {}
    for one in marks:
        automatic |= {each["id"]: each["max_points"] for each in one["exercises"]}
        manual |= {each["id"]: each["max_points"] for each in one["manual"]}
    head = ["student", "points", "max_points"]
    head += [f"{name} (of {points:g})" for name, points in (automatic | manual).items()]
    yield [plain(each) for each in [*head, "flags", "reason"]]
    for one in marks:
        points = {each["id"]: each["points"] for each in one["exercises"]}
        yield [
            plain(one["student"]),
            number(one["points"]),
            number(one["max_points"]),
            *(number(points.get(name, "")) for name in automatic | manual),
            plain("; ".join(one["flags"])),
            plain(one["reason"]),
        ]


def number(points):
    """Points without zeros at the end, so that all of a column look alike; "" for none."""
    return f"{points:.10g}" if points != "" else ""


def plain(text):
    """A text that a spreadsheet shows, and does not compute: where it could be a formula, it has an
    apostrophe before it.

    Examples
    --------
    >>> plain("=1+1")
    "'=1+1"
    """
    text = printable(text)
    return f"'{text}" if text.startswith(FORMULA) else text
