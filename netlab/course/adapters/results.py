"""Marks as Gradescope's files of results, and as a CSV for any course's system. Flags, which may
name other students, go to instructors only.
"""

import json
import re

from netlab.course.grading.work import write_out
from netlab.course.texts import as_csv, printable
from netlab.engines import files


def title(exercise):
    """An exercise as people call it."""
    said = exercise.get("title")
    return f"{printable(said)} ({exercise['id']})" if said else exercise["id"]


def feedback(exercise):
    """What a student is told of an exercise: a line for each answer."""
    rows = exercise["answers"]
    lines = [printable(f"{each['name']}: {each['verdict']}. {each['hint']}") for each in rows]
    return "\n".join(lines) or "No answer was found."


def remarks(marks):
    """What a student is told of all of it."""
    lines = [*marks["notices"], marks["reason"], *marks["findings"]]
    if marks["manual"]:
        points = sum(each["max_points"] for each in marks["manual"])
        names = ", ".join(each["id"] for each in marks["manual"])
        lines.append(f"{points:g} more points are marked by a person: {names}.")
    return "\n".join(filter(None, map(printable, lines)))


def write(marks, work, output):
    """Write a student's file for Gradescope."""
    write_out(work, output / marks["file"] / "results.json", json_text(gradescope(marks)))


def write_json(path, data):
    """Write a file of JSON, in place of one with the same first key."""
    ours = re.compile(rb'\{\s*"%s"' % next(iter(data)).encode()).match
    files.write(path, json_text(data), "--output", files.begins_as(ours))


def json_text(data):
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def gradescope(marks):
    """What results.json says; students do not see `extra_data`."""
    return {
        "output_format": "text",
        "score": marks["points"],
        "output": remarks(marks),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {
                "name": title(each),
                "name_format": "text",
                "score": each["points"],
                "max_score": each["max_points"],
                "status": "passed" if each["points"] >= each["max_points"] else "failed",
                "output": feedback(each),
                "output_format": "text",
                "visibility": "visible",
            }
            for each in marks["exercises"]
        ],
        "extra_data": {"student": marks["student"], "flags": marks["flags"]},
    }


def write_table(marks, work, output):
    write_out(work, output, as_csv(table(marks)))


def table(marks):
    """A row for each student, a column for each exercise; first the names of the columns."""
    automatic, manual = {}, {}
    for one in marks:
        automatic |= {each["id"]: each["max_points"] for each in one["exercises"]}
        manual |= {each["id"]: each["max_points"] for each in one["manual"]}
    columns = automatic | manual
    names = [f"{name} (of {points:g})" for name, points in columns.items()]
    yield ["student", "points", "max_points", *names, "flags", "reason"]
    for one in marks:
        points = {each["id"]: each["points"] for each in one["exercises"]}
        row = [points.get(name, "") for name in columns]
        head = [one["student"], one["points"], one["max_points"]]
        yield [*head, *row, "; ".join(one["flags"]), one["reason"]]
