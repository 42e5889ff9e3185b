"""Each problem set, graded for real: its solution gets everything, what is handed out nothing, and
wrong solutions what they are worth. Of these a quarter of each set, drawn, or all with --every.
"""

import copy
import json
import re
from pathlib import Path

import pytest

from netlab.course import invented
from netlab.course.grading import recipe, solution
from netlab.course.grading.compare import Comparison
from netlab.course.grading.executed import Executed
from netlab.course.grading.runs import Runs
from netlab.course.sets import source
from tests import cases
from tests.course.wrong_solutions import WRONG

SETS = sorted(path.parent.name for path in Path(source.COURSE).glob("source/*/*.ipynb"))
STUDENT = "ada"


def layers(wrong):
    """Mistakes that spoil different exercises are handed in together."""
    found = []
    for row in wrong:
        for layer in found:
            if not any(row[2].keys() & points.keys() for _, _, points, _ in layer):
                layer.append(row)
                break
        else:
            found.append([row])
    return found


def handed_in(assignment, layer):
    """The solution with some mistakes, as a notebook's file."""
    notebook = copy.deepcopy(assignment.solution())
    edits = {f"{assignment.name}-{cell}": edit for row in layer for cell, edit in row[1].items()}
    for raw, cell in zip(notebook["cells"], assignment.cells, strict=True):
        edit = edits.pop(cell.id, None)
        if isinstance(edit, dict):
            assert all(piece in raw["source"] for piece in edit), (cell.id, edit)
            pieces = "|".join(map(re.escape, edit))
            raw["source"] = re.sub(pieces, lambda found: edit[found[0]], raw["source"])  # noqa: B023
        elif edit:
            raw["source"] = edit
    assert not edits, edits
    return json.dumps(notebook).encode()


def test_there_are_eight_and_each_exercise_has_a_mistake():
    assert [f"ps{number}" for number in range(1, 9)] == SETS == sorted(WRONG)
    for name in SETS:
        assignment = source.read(source.find(name))
        worth = {one.id: one.points for one in assignment.automatic}
        spoiled = [
            f"{name}-{key}-check"
            for _, _, points, _ in WRONG[name]
            for key, left in points.items()
            if bounds(left)[1] < worth[f"{name}-{key}-check"]
        ]
        assert {*spoiled} == worth.keys()
        for exercise in assignment.automatic:
            work = invented.Work(invented.wrong, assignment, STUDENT, exercise)
            (spoiled,) = [one for one in work.cells if "no idea" in one["source"]]
            assert "%%" not in spoiled["source"]  # that would be typed


@pytest.mark.parametrize("name", cases(SETS, "set"))
def test_marks_are_as_intended(name, tmp_path, draw, request):
    assignment, runs = source.read(source.find(name)), Runs(tmp_path)
    automatic = assignment.automatic
    assert 4 <= len(automatic) < len(assignment.exercises)  # some are read by a person
    assert assignment.minutes is not None
    ((_, right, failure),) = solution.reference(assignment, [STUDENT], runs)
    assert not failure
    own = Comparison(Executed(right), right, assignment, [], runs.engine)
    for exercise in automatic:
        given = sum(row.points for row in own.rows(exercise))
        assert given == pytest.approx(exercise.points)

    def graded(data):
        marks = recipe.grade(data, STUDENT, assignment, right, runs)
        assert_no_right_answer_is_told(right, marks)
        return marks

    untouched = graded(invented.Work(invented.untouched, assignment, STUDENT).text)
    assert untouched.points == 0
    assert {one.text for one in untouched.manual} == {""}  # shown as "(no answer)"
    chosen = layers(WRONG[name])
    if not request.config.option.every:
        chosen = draw(name).sample(chosen, 1 + len(chosen) // 5)
    found = [unlike(graded(handed_in(assignment, layer)), layer) for layer in chosen]
    assert found == [[]] * len(chosen)


def assert_no_right_answer_is_told(right, marks):
    """No hint has a number of the solution in it, but for what the student gave."""
    forms = [one for each in right.values() for name, one in each.items() if "\n" not in name]
    numbers = {f"{one['value']:.4g}" for one in forms if type(one.get("value")) is float}
    for exercise in marks.exercises:
        for answer in exercise.answers:
            told = re.sub("you gave [^:]*", "", answer.hint)
            assert not any(len(number) >= 5 and number in told for number in numbers), told


def bounds(points):
    """The least and the most that a mistake leaves."""
    return points if isinstance(points, tuple) else (points, points)


def unlike(marks, layer):
    """The exercises and the hints that are not as this layer of mistakes says."""
    name, found = marks.assignment, []
    spoiled = {f"{name}-{key}-check": points for row in layer for key, points in row[2].items()}
    rows = {row.id: row for row in marks.exercises}
    for key, row in rows.items():
        least, most = bounds(spoiled.get(key, row.max_points))
        if not least - 0.01 <= row.points <= most + 0.01:
            found.append((key, row))
    for mistake, _, points, words in layer:
        answers = [one for key in points for one in rows[f"{name}-{key}-check"].answers]
        hints = {one.name: one.hint for one in answers}
        found += [(mistake, hints) for key, word in words.items() if word not in hints[key]]
    return found
