"""Marks in Moodle's grading worksheet: its own rows and columns, with grades and comments in them,
for "Upload grading worksheet".
"""

import csv
import html
import io
from collections import defaultdict

from netlab.course import ids
from netlab.course import roster as rosters
from netlab.course.adapters.results import remarks
from netlab.course.grading.work import write_out
from netlab.course.handed_in.class_folder import several
from netlab.course.texts import printable, shown
from netlab.errors import NetlabError

GRADE, MAXIMUM, COMMENTS = "Grade", "Maximum grade", "Feedback comments"
BEGINS = "netlab: "  # what a comment of ours begins with; others stay
DOWNLOAD = "download the worksheet from Moodle in English, with feedback comments switched on"


def write(marks, worksheet, work, output, say):
    """Write a worksheet with the marks in it; -> how many rows have some. A `NetlabError` where it
    lacks a column, or its maximum is not the set's. `say` is told who is left out.
    """
    if worksheet is None:
        raise NetlabError("--to moodle fills in Moodle's own file: name it with --worksheet")
    sheet, known = rosters.sheet(worksheet, "--worksheet"), defaultdict(list)
    places = [sheet.column(rosters.heading_of(one)) for one in (GRADE, MAXIMUM, COMMENTS)]
    if None in places:
        lacking = (GRADE, MAXIMUM, COMMENTS)[places.index(None)]
        there = ", ".join(map(printable, sheet.head))
        raise NetlabError(f"{sheet.where}: no column {lacking!r}: {DOWNLOAD}. It has {there}")
    for one in marks:
        known[ids.compared(one.student)].append(one)
    rows, done = [], set()
    for (line, row), member in zip(sheet.rows, sheet.members(), strict=True):
        found = known[ids.compared(member.id)]
        if len(found) == 1 and not found[0].pending:
            row = filled(row, found[0], places, f"{sheet.where}, line {line}", of_class(marks))
            done.add(found[0].student)
        rows.append(row)
    if left := [one.student for one in marks if one.student not in done]:
        say(f"not in the worksheet, pending, or two with one id, and left out: {several(left)}")
    file = io.StringIO()
    csv.writer(file, delimiter=sheet.comma, lineterminator="\n").writerows([sheet.head, *rows])
    write_out(work, output, sheet.begins + file.getvalue())
    return len(done)


def of_class(marks):
    """The maxima that the grades may have: of all points, or without those that a person gives."""
    automatic, by_hand = marks[0].max_points, any(one.by_hand is not None for one in marks)
    return {automatic + marks[0].max_by_hand, *[automatic] * (not by_hand)}


def filled(row, marks, places, where, allowed):
    """A row with a student's grade and comment."""
    row = [*row, *[""] * (max(places) + 1 - len(row))]
    grade, maximum, comments = places
    try:
        right = float(row[maximum].replace(",", ".")) in allowed
    except ValueError:
        right = False
    if not right:
        points = " or ".join(f"{one:g}" for one in sorted(allowed))
        raise NetlabError(
            f"{where}: {MAXIMUM} {printable(row[maximum])!r}: this set has {points} points: make"
            " that the maximum in Moodle, and download the worksheet again"
        )
    row[grade] = f"{marks.in_all:.10g}"
    if not row[comments].strip() or BEGINS in row[comments]:
        said = ". ".join(one.rstrip(".") for one in remarks(marks).splitlines())
        row[comments] = shown(html.escape(f"{BEGINS}{said}.", quote=False))  # Moodle reads HTML
    return row
