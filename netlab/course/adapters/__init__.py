"""Marks in other programs' formats: what `netlab course export` writes."""

import json
import math
from pathlib import Path

from netlab.course.texts import printable
from netlab.errors import NetlabError

FORMATS = ("nbgrader", "gradescope", "table")
AGAIN = "remove the file, and grade the class again"


def export(to, assignment, work, output, course=None, say=lambda text: None):
    """Write the marks of the last grading of `assignment`, kept in `work`; -> how many students'.

    `output` is a CSV file (table), a course folder (nbgrader), or a folder in which each student
    has a file (gradescope); `course` is nbgrader's course folder with the source. `say` is called
    with a text where marks of earlier gradings are left out.
    """
    if to not in FORMATS:
        raise NetlabError(f"to {to!r}: allowed are {', '.join(FORMATS)}")
    from netlab.course.adapters import results  # `netlab` alone needs no locks

    marks, work, output = read(work, assignment, say), Path(work), Path(output)
    try:
        if to == "nbgrader":
            from netlab.course.adapters import nbgrader

            nbgrader.write(marks, work, output, course)
        elif to == "table":
            results.write_table(marks, work, output)
        else:
            for_each(marks, lambda one: results.write(one, work, output))
    except OSError as error:
        raise NetlabError(f"--output {output}: {error.strerror}; name another place") from error
    return len(marks)


def read(work, assignment, say=lambda text: None):
    """The marks of the last grading of a problem set, in the order of the students' ids."""
    from netlab.course.grading.work import CLASS, PARTS, file_names

    path = Path(work, CLASS)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        right = bool(found) and all(map(sound, found))
    except FileNotFoundError:
        why = f"no marks in it: give what `netlab course grade {assignment}` left when it ended"
        raise NetlabError(f"{work} has {why}") from None
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        right = False
    if not right:
        raise NetlabError(f"{path} has no marks: {AGAIN}")
    for one in found:
        if one["assignment"] != assignment:
            other = printable(one["assignment"])
            raise NetlabError(f"{path}: marks of {other}, not of {assignment}; give its folder")
    left_out = len([*Path(work, PARTS[0]).glob("*.json")]) - len(found)
    if left_out > 0:
        say(f"{left_out} students' marks in {work} are of earlier gradings, and are left out")
    names = file_names([one["student"] for one in found])
    found = [{"file": names[one["student"]]} | one for one in found]
    if len({one["file"].casefold() for one in found}) < len(found):
        raise NetlabError(f"{path}: two students' files have one name; {AGAIN}")
    return sorted(found, key=lambda one: one["student"])


def sound(marks):
    """Whether marks have what every gradebook needs, in the right types."""
    exercises, manual = marks["exercises"], marks["manual"]
    points = [each[key] for each in [marks, *exercises] for key in ("points", "max_points")]
    points += [each["max_points"] for each in manual]
    texts = [marks["student"], marks["assignment"], marks["reason"]]
    texts += [*marks["flags"], *marks["notices"], *marks["findings"]]
    texts += [each["id"] for each in exercises]
    texts.append(file := marks.get("file", "an earlier netlab's has none"))
    texts += [each[key] for each in manual for key in ("id", "text")]
    rows = [row for each in exercises for row in each["answers"]]
    texts += [row[key] for row in rows for key in ("name", "verdict", "hint")]
    return (
        all(type(each) in (int, float) and math.isfinite(each) and each >= 0 for each in points)
        and all(isinstance(each, str) for each in texts)
        and file[:1] not in ("", ".")
        and {*file}.isdisjoint("/\0")
        and math.isclose(sum(each["points"] for each in exercises), marks["points"])
    )


def for_each(marks, write, undo=lambda: None):
    """``write(one)`` for each student's marks; a `NetlabError` names those for whom it failed."""
    lines = []
    for one in marks:
        try:
            write(one)
        except Exception as error:
            undo()
            if isinstance(error, OSError) or isinstance(error.__cause__, OSError):
                raise
            said = error if isinstance(error, NetlabError) else type(error).__name__
            lines.append(f"- {printable(one['student'])}: {printable(f'{said}')}")
    if lines:
        head = f"{len(lines)} of {len(marks)} students' marks were not written:"
        raise NetlabError("\n".join([head, *lines]))
