"""Each problem set, graded for real: its solution gets everything, what is handed out gets nothing,
and a wrong exercise costs exactly its own points: one of each set, or every one with --every.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from netlab.course import invented
from netlab.course.grading import marking
from netlab.course.grading.runs import Runs
from netlab.course.sets import source
from tests import cases

SETS = sorted(path.parent.name for path in Path(source.COURSE).glob("source/*/*.ipynb"))
STUDENT = "ada"


def test_there_are_seven():
    assert [f"ps{number}" for number in range(1, 8)] == SETS


@pytest.mark.parametrize("name", cases(SETS, "set"))
def test_marks_are_as_intended(name, tmp_path, draw, request):
    assignment = source.read(source.find(name))
    automatic = assignment.automatic
    assert 4 <= len(automatic) < len(assignment.exercises)  # some are read by a person
    assert assignment.minutes is not None
    runs = Runs(tmp_path)
    ((_, right, failure),) = marking.reference(assignment, [STUDENT], runs)
    assert not failure
    chosen = automatic
    if not request.config.option.every:
        chosen = [draw(name).choice(automatic)]
    works = [
        invented.work_of(invented.right, assignment, STUDENT),
        invented.work_of(invented.untouched, assignment, STUDENT),
        *(invented.work_of(invented.wrong, assignment, STUDENT, one) for one in chosen),
    ]
    with ThreadPoolExecutor(2) as pool:
        marks = list(
            pool.map(lambda one: marking.grade(one.text, STUDENT, assignment, right, runs), works)
        )
    assert [one["points"] for one in marks] == pytest.approx([one.points for one in works])
    assert marks[0]["points"] == marks[0]["max_points"] == sum(one.points for one in automatic)
    assert marks[1]["points"] == 0
    assert {one["text"] for one in marks[1]["manual"]} == {""}  # shown as "(no answer)"
    for exercise, one in zip(chosen, marks[2:], strict=True):
        lost = [row for row in one["exercises"] if row["points"] == 0]
        assert [row["id"] for row in lost] == [exercise.id]
    for one in marks:
        assert_no_right_answer_is_told(right, one)


def assert_no_right_answer_is_told(right, marks):
    """No hint has a number of the solution in it."""
    numbers = {
        f"{value:.4g}"
        for answers in right.values()
        for form in answers.values()
        if type(value := form.get("value")) is float
    }
    for exercise in marks["exercises"]:
        for answer in exercise["answers"]:
            told = answer["hint"] if answer["verdict"] != "right" else ""
            assert not any(len(number) >= 5 and number in told for number in numbers), told
