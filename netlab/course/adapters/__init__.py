"""Marks for others: the marks of `netlab course grade` in other programs' formats.

What students or their notebooks wrote, and what names other students, is handled here once: texts
are `printable`, and flags, which may name somebody, go to instructors only.
"""

import json
import math
import re
from pathlib import Path

from netlab.course.texts import printable
from netlab.engines import files
from netlab.errors import NetlabError

FORMATS = ("nbgrader", "gradescope", "otter", "classroom", "table")


def read(work, assignment, say=lambda text: None):
    """The marks of the last `netlab course grade` of a problem set, by their files, in the order of
    the students' ids, with the flags about neighbours. Those of earlier gradings are left out, and
    `say` is called with a text that says how many. A folder without the list of its class was made
    by an earlier netlab: all marks in it are taken.

    Raises
    ------
    NetlabError
        There are none, or a file has other contents.
    """
    from netlab.course.grading.work import read_class  # `netlab` alone needs no locks

    found, there = {}, sorted(Path(work, "marks").glob("*.json"))
    of_class = read_class(work)
    listed = there if of_class is None else [Path(work, "marks", name) for name in of_class]
    if left_out := len({*there} - {*listed}):
        say(f"{left_out} students' marks in {work} are of earlier gradings, and are left out")
    for path in listed:
        try:
            marks = json.loads(path.read_text(encoding="utf-8"))
            flags, notices = of_class[path.name] if of_class else ([], [])
            marks["flags"] += flags
            marks["notices"] = [*marks.get("notices", ()), *notices]
            right = sound(marks)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            right = False
        if not right:
            raise NetlabError(f"{path}: no marks; remove the file, and grade again")
        if marks["assignment"] != assignment:
            raise NetlabError(
                f"{path}: marks of {printable(marks['assignment'])}, not of {assignment}; give the"
                " folder of that set"
            )
        found[path] = marks
    if not found:
        raise NetlabError(
            f"{work} has no marks in it: give the folder that `netlab course grade {assignment}`"
            " left"
        )
    return dict(sorted(found.items(), key=lambda item: item[1]["student"]))


def sound(marks):
    """Whether marks have what every gradebook needs, in the right types."""
    exercises, manual = marks["exercises"], marks["manual"]
    points = [each[key] for each in [marks, *exercises] for key in ("points", "max_points")]
    points += [each["max_points"] for each in manual]
    texts = [marks["student"], marks["assignment"], marks["reason"]]
    texts += [*marks["flags"], *marks["notices"], *(each["id"] for each in exercises)]
    texts += [each[key] for each in manual for key in ("id", "text")]
    rows = [row for each in exercises for row in each["answers"]]
    texts += [row[key] for row in rows for key in ("name", "verdict", "hint")]
    return (
        all(type(each) in (int, float) and math.isfinite(each) and each >= 0 for each in points)
        and all(isinstance(each, str) for each in texts)
        and math.isclose(sum(each["points"] for each in exercises), marks["points"])
    )


def title(exercise):
    """An exercise as people call it."""
    said = exercise.get("title")
    return f"{printable(said)} ({exercise['id']})" if said else exercise["id"]


def feedback(exercise):
    """What is said to a student about an exercise: a line for each answer."""
    rows = exercise["answers"]
    lines = [printable(f"{each['name']}: {each['verdict']}. {each['hint']}") for each in rows]
    return "\n".join(lines) or "No answer was found."


def remarks(marks):
    """What is said to a student about all of it; `flags` stay with those who teach."""
    lines = [*map(printable, marks.get("notices", ())), printable(marks["reason"])]
    lines += [printable(each) for each in marks.get("findings", ()) if isinstance(each, str)]
    if marks["manual"]:
        points = sum(each["max_points"] for each in marks["manual"])
        names = ", ".join(each["id"] for each in marks["manual"])
        lines.append(f"{points:g} more points are marked by a person: {names}.")
    return "\n".join(filter(None, lines))


def export(to, assignment, work, output, course=None, say=lambda text: None):
    """Write the marks of a problem set in one of `FORMATS`; -> how many students'.

    Parameters
    ----------
    to, assignment : str
        The format, and the problem set's name.
    work : path
        What `netlab course grade` left.
    output : path
        What is written: a CSV file (table), a course folder (nbgrader), result.json (classroom),
        or a folder in which each student has a file.
    course : path, optional
        nbgrader's course folder with the source.
    say : callable
        Called with a text: how many marks of earlier gradings were left out.
    """
    if to not in FORMATS:
        raise NetlabError(f"to {to!r}: allowed are {', '.join(FORMATS)}")
    from netlab.course.adapters import results  # which imports from here

    marks, output = read(work, assignment, say), Path(output)
    try:
        if to == "nbgrader":
            from netlab.course.adapters import nbgrader

            nbgrader.write(marks, output, course)
        elif to == "table":
            results.write_table(marks, output)
        elif to == "classroom":
            results.write_classroom(marks, output)
            return 1
        else:
            for_each(marks, lambda path, one: results.write(to, path, one, output))
    except OSError as error:
        raise NetlabError(f"--output {output}: {error.strerror}; name another place") from error
    return len(marks)


def for_each(marks, write, undo=lambda: None):
    """``write(path, marks)`` for each student; a `NetlabError` names those for whom that failed,
    once those of the others are written. That a file cannot be written ends all.
    """
    lines = []
    for path, one in marks.items():
        try:
            write(path, one)
        except Exception as error:
            undo()
            if isinstance(error, OSError) or isinstance(error.__cause__, OSError):
                raise
            said = error if isinstance(error, NetlabError) else type(error).__name__
            lines.append(f"- {printable(one['student'])}: {printable(f'{said}')}")
    if lines:
        head = f"{len(lines)} of {len(marks)} students' marks were not written:"
        raise NetlabError("\n".join([head, *lines]))


def write_json(path, data):
    """Write a file of JSON, in place of one with the same first key."""
    ours = re.compile(rb'\{\s*"%s"' % next(iter(data)).encode()).match
    files.write(path, json_text(data), "--output", files.begins_as(ours))


def json_text(data):
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
