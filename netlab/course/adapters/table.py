"""A table of marks, in CSV, for any course's system: a row for each student, a column for each
exercise. Manual exercises have an empty column, to be filled in.
"""

from netlab.course import spreadsheet
from netlab.course.grading.work import write_out


def write(marks, output, course=None):
    """Write the table to a file; `marks` are those of `netlab.course.adapters.read`."""
    work = next(iter(marks)).parents[1]
    write_out(work, output, spreadsheet.text(table(marks.values())))


def table(marks):
    """The rows, the first with the names of the columns."""
    marks = list(marks)
    automatic, manual = {}, {}
    for one in marks:
        automatic |= {each["id"]: each["max_points"] for each in one["exercises"]}
        manual |= {each["id"]: each["max_points"] for each in one["manual"]}
    columns = automatic | manual
    head = ["student", "points", "max_points"]
    head += [f"{name} (of {points:g})" for name, points in columns.items()]
    yield [*head, "flags", "reason"]
    for one in marks:
        points = {each["id"]: each["points"] for each in one["exercises"]}
        row = [one["student"], one["points"], one["max_points"]]
        row += [points.get(name, "") for name in columns]
        yield [*row, "; ".join(one["flags"]), one["reason"]]
