"""Marks for others: for each gradebook one module, which says the same marks in its format.

What students or their notebooks wrote, and what names other students, is handled here once: texts
are `printable`, and flags, which may name somebody, go to instructors only.
"""

import contextlib
import json
import math
import re
from importlib import import_module
from pathlib import Path

from netlab.course.checks.verdicts import printable
from netlab.course.grading.work import read_class
from netlab.engines import files
from netlab.errors import NetlabError

READERS = ("nbgrader", "gradescope", "otter", "classroom", "table")


def read(work, assignment, say=lambda text: None):
    """The marks of the last `netlab course grade` of a problem set, by their files, in the order of
    the students' ids, with the flags about neighbours. Those of earlier gradings are left out.

    Parameters
    ----------
    work : path
        The folder with marks/ in it. One without the list of its class, class.json, was made by an
        earlier netlab: all marks in it are taken.
    assignment : str
        The problem set's name.
    say : callable
        Called with a text: how many marks were left out.

    Raises
    ------
    NetlabError
        There are none, or a file has other contents.
    """
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
    parts = [*marks["exercises"], {"points": marks["points"], "max_points": marks["max_points"]}]
    points = [each[key] for each in parts for key in ("points", "max_points")]
    points += [each["max_points"] for each in marks["manual"]]
    texts = [marks["student"], marks["assignment"], marks["reason"], *marks["flags"]]
    texts += marks.get("notices", ())
    texts += [each[key] for each in marks["manual"] for key in ("id", "text")]
    for exercise in marks["exercises"]:
        texts.append(exercise["id"])
        texts += [each[key] for each in exercise["answers"] for key in ("name", "verdict", "hint")]
    return (
        all(type(each) in (int, float) and math.isfinite(each) and each >= 0 for each in points)
        and all(isinstance(each, str) for each in texts)
        and math.isclose(sum(each["points"] for each in marks["exercises"]), marks["points"])
    )


def title(exercise):
    """An exercise as people call it."""
    said = exercise.get("title")
    return f"{printable(said)} ({exercise['id']})" if said else exercise["id"]


def feedback(exercise):
    """What is said to a student about an exercise: a line for each answer."""
    if not exercise["answers"]:
        return "No answer was found."
    return "\n".join(
        printable(f"{each['name']}: {each['verdict']}. {each['hint']}")
        for each in exercise["answers"]
    )


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
    """Write the marks of a problem set in another program's format; -> how many students'.

    Parameters
    ----------
    to : str
        One of `READERS`.
    assignment : str
        The problem set's name.
    work : path
        What `netlab course grade` left.
    output : path
        What is written: see the module of that name.
    course : path, optional
        nbgrader's course folder with the source.
    say : callable
        Called with a text: how many marks of earlier gradings were left out.

    Raises
    ------
    NetlabError
    """
    if to not in READERS:
        raise NetlabError(f"to {to!r}: allowed are {', '.join(READERS)}")
    module = import_module(f"{__name__}.{to}")
    marks = read(work, assignment, say)
    try:
        written = module.write(marks, Path(output), course)
    except OSError as error:
        raise NetlabError(f"--output {output}: {error.strerror}; name another place") from error
    return len(marks) if written is None else written


class Failures:
    """The students whose marks could not be written: those of the others are."""

    def __init__(self):
        self.why = {}

    @contextlib.contextmanager
    def of(self, student):
        """Around what is done for one student. That a file cannot be written ends all."""
        try:
            yield
        except OSError:
            raise
        except Exception as error:
            if isinstance(error.__cause__, OSError):  # so did `files.write`
                raise
            said = error if isinstance(error, NetlabError) else type(error).__name__
            self.why[student] = printable(f"{said}")

    def tell(self, count):
        """Name them, if there are any, in a `NetlabError`."""
        if self.why:
            lines = [f"- {printable(student)}: {why}" for student, why in self.why.items()]
            raise NetlabError(
                "\n".join([f"{len(lines)} of {count} students' marks were not written:", *lines])
            )


def write_json(path, data):
    """Write a file of JSON, in place of one with the same first key."""
    ours = re.compile(rb'\{\s*"%s"' % next(iter(data)).encode()).match
    files.write(path, json_text(data), "--output", files.begins_as(ours))


def json_text(data):
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
