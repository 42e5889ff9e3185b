"""Marks as Gradescope's files of results, and as a CSV for any course's system. Flags, which may
name other students, go to instructors only.
"""

import json
import re

from netlab.course.grading import report
from netlab.course.grading.by_hand import OF
from netlab.course.grading.work import write_out
from netlab.course.texts import as_csv, printable
from netlab.engines import files


def title(exercise):
    """An exercise as people call it."""
    return f"{printable(exercise.title)} ({exercise.id})" if exercise.title else exercise.id


def feedback(exercise):
    """What a student is told of an exercise: a line for each answer."""
    rows = exercise.answers
    lines = [printable(f"{each.name}: {each.verdict}. {each.hint}") for each in rows]
    return "\n".join(lines) or "No answer was found."


def remarks(marks):
    """What a student is told of all of it."""
    lines = [*marks.notices, marks.reason, *marks.findings]
    if waiting := [each for each in marks.manual if each.points is None]:
        points = sum(each.max_points for each in waiting)
        names = ", ".join(each.id for each in waiting)
        lines.append(f"{points:g} more points are marked by a person: {names}.")
    return "\n".join(filter(None, map(printable, lines)))


def write(marks, work, output):
    """Write a student's file for Gradescope."""
    write_out(work, output / marks.file / "results.json", json_text(gradescope(marks)))


def write_json(path, data):
    """Write a file of JSON, in place of one with the same first key."""
    ours = re.compile(rb'\{\s*"%s"' % next(iter(data)).encode()).match
    files.write(path, json_text(data), "--output", files.begins_as(ours))


def json_text(data):
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def gradescope(marks):
    """What results.json says; students do not see `extra_data`."""
    tests = [(each, title(each), feedback(each)) for each in marks.exercises]
    by_hand = [(each, each.id, "Marked by a person.") for each in marks.manual]
    tests += [one for one in by_hand if one[0].points is not None]
    return {
        "output_format": "text",
        "score": marks.in_all,
        "output": remarks(marks),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {
                "name": name,
                "name_format": "text",
                "score": each.points,
                "max_score": each.max_points,
                "status": "passed" if each.points >= each.max_points else "failed",
                "output": said,
                "output_format": "text",
                "visibility": "visible",
            }
            for each, name, said in tests
        ],
        "extra_data": {"student": marks.student, "flags": marks.flags},
    }


def write_table(marks, work, output):
    write_out(work, output, as_csv(table(marks)))


def table(marks):
    """A row for each student, a column for each exercise; first the names of the columns.

    Those of answers in words are for a person to fill in, and `by_hand` reads them; once there are
    such points, or somebody is late, there are columns with what counts in all, too.
    """
    columns = {each.id: each.max_points for one in marks for each in one.exercises}
    columns |= {each.id: each.max_points for one in marks for each in one.manual}
    names = [f"{name}{OF}{points:g})" for name, points in columns.items()]
    in_all, what_counts = report.in_all(marks)
    yield ["student", "points", "max_points", *names, *in_all, "flags", "reason"]
    for one in marks:
        points = {each.id: each.points for each in (*one.exercises, *one.manual)}
        row = ["" if points.get(name) is None else points[name] for name in columns]
        row += what_counts(one)
        head = [one.student, one.points, one.max_points]
        yield [*head, *row, "; ".join(one.flags), one.reason]
