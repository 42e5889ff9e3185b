"""Marks for Otter Grader: the JSON of results that its `GradingResults.from_ottr_json` reads, which
also Otter's client for R writes.

A test case of Otter's passes or fails. So each exercise has two: one that passes and is worth the
points that were given, and one that fails and is worth those that were not. What is said about all
of it is a case without points.
"""

from netlab.course.adapters import Failures, feedback, json_text, remarks
from netlab.course.grading.work import write_out


def write(marks, output, course=None):
    """Write a folder with STUDENT.json for each student."""
    failures = Failures()
    for path, one in marks.items():
        with failures.of(one["student"]):
            write_out(path.parents[1], output / f"{path.stem}.json", json_text(results(one)))
    failures.tell(len(marks))


def results(marks):
    """What the JSON says."""
    told = case("remarks", 0, True, remarks(marks))
    first = {"filename": "remarks.py", "points": None, "test_case_results": [told]}
    return {"test_file_results": [first, *map(test_file, marks["exercises"])]}


def test_file(exercise):
    """An exercise: a test file with its cases."""
    given = exercise["points"]
    lost = round(exercise["max_points"] - given, 6)
    said = feedback(exercise)
    cases = [case("given", given, True, said)] if given or not lost else []
    cases += [case("not given", lost, False, said)] if lost > 0 else []
    return {"filename": f"{exercise['id']}.py", "points": None, "test_case_results": cases}


test_file.__test__ = False  # nothing for pytest


def case(name, points, passed, said):
    """A test case, and how it ended."""
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
