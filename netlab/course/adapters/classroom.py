"""Marks for Classroom 50, which follows GitHub Classroom: result.json in its format
"classroom50/result/v1", written where its autograder.py runs. Who and what is graded says the
environment that its runner sets.

Scores are whole numbers there, and points need not be: they are counted in hundredths.
"""

import os
import re
from datetime import UTC, datetime

from netlab.course import ids
from netlab.course.adapters import feedback, remarks, title, write_json
from netlab.engines import files
from netlab.errors import NetlabError

HUNDREDTHS = 100
FROM_RUNNER = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "owner": "USERNAME",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
}


def write(marks, output, course=None):
    """Write result.json, and release-body.md beside it, of the student whose repository this is."""
    missing = [name for name in FROM_RUNNER.values() if not os.environ.get(name)]
    if missing:
        raise NetlabError(
            f"to classroom: {', '.join(missing)} not set in the environment: write this in"
            " Classroom 50's autograder.py, whose runner sets them"
        )
    owner = os.environ["USERNAME"]
    same = ids.compared(owner).lower()
    own = [one for one in marks.values() if ids.compared(one["student"]).lower() == same]
    if len(own) != 1:
        several = f"is the id of {len(own)} folders here: decide which counts, and grade that one"
        raise NetlabError(
            f"to classroom: USERNAME {owner!r} {several if own else 'has no marks here'}"
        )
    write_json(output, result(own[0], os.environ))
    page = output.with_name("release-body.md")
    is_page = files.begins_as(re.compile(rb"\S+ of \S+ points\n").match)
    files.write(page, body(own[0]), "--output", is_page)
    return 1


def result(marks, environment):
    """What result.json says."""
    said = {key: environment[name] for key, name in FROM_RUNNER.items()}
    tests = [
        {
            "test-name": title(each),
            "passed": each["points"] >= each["max_points"],
            "score": hundredths(each["points"]),
            "max-score": hundredths(each["max_points"]),
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
        "score": hundredths(marks["points"]),
        "max-score": hundredths(marks["max_points"]),
        "tests": tests,
    }


def hundredths(points):
    """Points as a whole number of hundredths."""
    return round(points * HUNDREDTHS)


def body(marks):
    """The page that the student reads: text only, whatever is in it."""
    lines = [
        f"{marks['points']:g} of {marks['max_points']:g} points",
        "",
        *indented(remarks(marks)),
    ]
    for each in marks["exercises"]:
        lines += ["", f"    {title(each)}: {each['points']:g} of {each['max_points']:g} points"]
        lines += indented(feedback(each))
    return "\n".join(lines) + "\n"


def indented(text):
    """Lines of code in Markdown, in which nothing is marked up."""
    return [f"    {line}" for line in text.split("\n")]
