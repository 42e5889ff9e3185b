"""Marks for Gradescope: results.json, as its "Autograder Specifications" describe it. Flags are in
`extra_data`, which students do not see.
"""

from netlab.course.adapters import Failures, feedback, json_text, remarks, title
from netlab.course.grading.work import write_out


def write(marks, output, course=None):
    """Write a folder with STUDENT/results.json for each student."""
    failures = Failures()
    for path, one in marks.items():
        with failures.of(one["student"]):
            to = output / path.stem / "results.json"
            write_out(path.parents[1], to, json_text(results(one)))
    failures.tell(len(marks))


def results(marks):
    """What results.json says."""
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


def failed(why):
    """What results.json says where nothing could be graded."""
    return {
        "output_format": "text",
        "score": 0,
        "output": f"This was not graded. {why}",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [],
    }
