"""Marks as other programs' files of results: Gradescope's, Otter Grader's and Classroom 50's JSON,
and a CSV for any course's system. Flags, which may name other students, go to instructors only.
"""

import json
import os
import re
from datetime import UTC, datetime

from netlab.course import ids
from netlab.course.grading.work import write_out
from netlab.course.texts import as_code, as_csv, printable
from netlab.engines import files
from netlab.errors import NetlabError

HUNDREDTHS = 100  # scores are whole numbers in Classroom 50, and points need not be
FROM_RUNNER = {  # what Classroom 50's runner says in its environment of who is graded
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "owner": "USERNAME",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
}


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


def write(to, marks, work, output):
    """Write a student's file for Gradescope, or for Otter."""
    name, content = marks["file"], {"gradescope": gradescope, "otter": otter}[to]
    path = f"{name}/results.json" if to == "gradescope" else f"{name}.json"
    write_out(work, output / path, json_text(content(marks)))


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


def otter(marks):
    """Results for Otter's `GradingResults.from_ottr_json`, whose cases pass or fail as a whole."""
    found = [("remarks", [case("remarks", 0, True, remarks(marks))])]
    for each in marks["exercises"]:
        given, said = each["points"], feedback(each)
        lost = round(each["max_points"] - given, 6)
        cases = [case("given", given, True, said)] if given or not lost else []
        cases += [case("not given", lost, False, said)] if lost > 0 else []
        found.append((each["id"], cases))
    return {
        "test_file_results": [
            {"filename": f"{name}.py", "points": None, "test_case_results": cases}
            for name, cases in found
        ]
    }


def case(name, points, passed, said):
    return {
        "test_case": {
            "name": name,
            "code": "",
            "hidden": False,
            "points": points,
            "success_message": said if passed else None,
            "failure_message": None if passed else said,
        },
        "passed": passed,
        "error": "" if passed else said,
    }


def write_classroom(marks, output):
    """result.json, and release-body.md beside it, of the student whose repository this is."""
    missing = [name for name in FROM_RUNNER.values() if not os.environ.get(name)]
    if missing:
        raise NetlabError(
            f"to classroom: {', '.join(missing)} not set in the environment: write this in"
            " Classroom 50's autograder.py, whose runner sets them"
        )
    owner = os.environ["USERNAME"]
    same = ids.compared(owner).lower()
    own = [one for one in marks if ids.compared(one["student"]).lower() == same]
    if len(own) != 1:
        several = f"is the id of {len(own)} folders here: decide which counts, and grade that one"
        raise NetlabError(
            f"to classroom: USERNAME {owner!r} {several if own else 'has no marks here'}"
        )
    write_json(output, classroom(own[0], os.environ))
    is_page = files.begins_as(re.compile(rb"\S+ of \S+ points\n").match)
    files.write(output.with_name("release-body.md"), release_body(own[0]), "--output", is_page)


def classroom(marks, environment):
    """What result.json says, in the format "classroom50/result/v1"."""
    said = {key: environment[name] for key, name in FROM_RUNNER.items()}
    tests = [
        {
            "test-name": title(each),
            "passed": each["points"] >= each["max_points"],
            "score": round(HUNDREDTHS * each["points"]),
            "max-score": round(HUNDREDTHS * each["max_points"]),
            "message": feedback(each),
        }
        for each in marks["exercises"]
    ]
    return {
        "schema": "classroom50/result/v1",
        **said,
        "assignment_type": environment.get("ASSIGNMENT_TYPE") or "individual",
        "review": environment.get("REVIEW_URL") or said["commit"],
        "datetime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": round(HUNDREDTHS * marks["points"]),
        "max-score": round(HUNDREDTHS * marks["max_points"]),
        "tests": tests,
    }


def release_body(marks):
    """The page that the student reads."""
    parts = [f"{marks['points']:g} of {marks['max_points']:g} points", as_code(remarks(marks))]
    for each in marks["exercises"]:
        head = f"{title(each)}: {each['points']:g} of {each['max_points']:g} points"
        parts.append(as_code(f"{head}\n{feedback(each)}"))
    return "\n\n".join(parts) + "\n"


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
