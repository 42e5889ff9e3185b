"""What wrong solutions of the problem sets get: those of a few sets, or all with --every."""

import copy
import json
import random
import re

import pytest

from netlab.course.grading import marking
from netlab.course.grading.runs import Runs
from netlab.course.sets import source
from tests.course.wrong_solutions import WRONG

STUDENT = "ada"
DRAWN = 3  # sets
SETS = sorted({one.name.split("-")[0] for one in WRONG})


def pytest_generate_tests(metafunc):
    options = metafunc.config.option
    drawn = SETS if options.every else random.Random(options.seed).sample(SETS, DRAWN)
    metafunc.parametrize("name", sorted(drawn))


def layers(wrong):
    """Mistakes that spoil different exercises are handed in together."""
    found = []
    for one in wrong:
        for layer in found:
            if one.exercise not in [other.exercise for other in layer]:
                layer.append(one)
                break
        else:
            found.append([one])
    return found


def handed_in(assignment, layer):
    """The solution with some mistakes, as a notebook's file."""
    notebook = copy.deepcopy(assignment.solution())
    edits = {one.cell: one.edit for one in layer}
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


def test_wrong_solutions_get_what_they_are_worth(name, tmp_path):
    assignment, runs = source.read(source.find(name)), Runs(tmp_path)
    ((_, right, failure),) = marking.reference(assignment, [STUDENT], runs)
    assert not failure
    unlike = []
    for layer in layers([one for one in WRONG if one.name.startswith(name)]):
        marks = marking.grade(handed_in(assignment, layer), STUDENT, assignment, right, runs)
        spoiled = {one.exercise: one for one in layer}
        for row in marks["exercises"]:
            one = spoiled.get(row["id"])
            points = one.points if one else row["max_points"]
            if row["points"] != pytest.approx(points, abs=0.01):
                unlike.append((one and one.name, row))
            hints = {answer["name"]: answer["hint"] for answer in row["answers"]}
            for answer, word in one.hints.items() if one else ():
                if word not in hints[answer]:
                    unlike.append((one.name, hints))
    assert not unlike
