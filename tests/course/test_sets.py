"""Each problem set, graded for real: its solution gets everything, what is handed out nothing, a
wrong exercise costs its own points, and wrong solutions get what they are worth. One exercise of
each set and the wrong solutions of a few, or all with --every.
"""

import copy
import functools
import json
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from netlab.course import invented
from netlab.course.grading import marking
from netlab.course.grading.runs import Runs
from netlab.course.sets import source
from tests import cases
from tests.course.wrong_solutions import WRONG

SETS = sorted(path.parent.name for path in Path(source.COURSE).glob("source/*/*.ipynb"))
STUDENT = "ada"
DRAWN = 3  # sets of wrong solutions


def pytest_generate_tests(metafunc):
    """The set of the short run has been solved there already; of it, the first mistakes."""
    if "layer" in metafunc.fixturenames:
        options, (first, *others) = metafunc.config.option, sorted(WRONG)
        drawn = others if options.every else random.Random(options.seed).sample(others, DRAWN - 1)
        params = []
        for name in (first, *sorted(drawn)):
            for number, layer in enumerate(layers(WRONG[name]), 1):
                marks = [pytest.mark.xdist_group(f"set {name}")]
                marks += [pytest.mark.long] if params else []
                params.append(pytest.param(name, layer, id=f"{name} {number}", marks=marks))
        metafunc.parametrize(("name", "layer"), params)


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A function: a set, its runs, and what its solution answers."""

    @functools.cache
    def by_name(name):
        assignment, runs = source.read(source.find(name)), Runs(tmp_path_factory.mktemp(name))
        ((_, right, failure),) = marking.reference(assignment, [STUDENT], runs)
        assert not failure
        return assignment, runs, right

    return by_name


def test_there_are_eight():
    assert [f"ps{number}" for number in range(1, 9)] == SETS == sorted(WRONG)


@pytest.mark.parametrize("name", cases(SETS, "set"))
def test_marks_are_as_intended(name, solved, draw, request):
    assignment, runs, right = solved(name)
    automatic = assignment.automatic
    assert 4 <= len(automatic) < len(assignment.exercises)  # some are read by a person
    assert assignment.minutes is not None
    chosen = automatic if request.config.option.every else [draw(name).choice(automatic)]
    works = [
        invented.Work(invented.right, assignment, STUDENT),
        invented.Work(invented.untouched, assignment, STUDENT),
        *(invented.Work(invented.wrong, assignment, STUDENT, one) for one in chosen),
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
    forms = [form for answers in right.values() for form in answers.values()]
    numbers = {f"{one['value']:.4g}" for one in forms if type(one.get("value")) is float}
    for exercise in marks["exercises"]:
        for answer in exercise["answers"]:
            told = answer["hint"] if answer["verdict"] != "right" else ""
            assert not any(len(number) >= 5 and number in told for number in numbers), told


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


def test_wrong_solutions_get_what_they_are_worth(name, layer, solved):
    (assignment, runs, right), unlike = solved(name), []
    marks = marking.grade(handed_in(assignment, layer), STUDENT, assignment, right, runs)
    spoiled = {f"{name}-{key}-check": points for row in layer for key, points in row[2].items()}
    rows = {row["id"]: row for row in marks["exercises"]}
    for key, row in rows.items():
        if row["points"] != pytest.approx(spoiled.get(key, row["max_points"]), abs=0.01):
            unlike.append((key, row))
    for mistake, _, points, words in layer:
        answers = [one for key in points for one in rows[f"{name}-{key}-check"]["answers"]]
        hints = {one["name"]: one["hint"] for one in answers}
        unlike += [(mistake, hints) for key, word in words.items() if word not in hints[key]]
    assert not unlike
