"""What wrong solutions of the problem sets get: those of a few sets, or all with --every."""

import copy
import json
import random
import re

import pytest

from netlab.course.grading import marking
from netlab.course.grading.runs import Runs
from netlab.course.sets import source
from tests import cases
from tests.course.wrong_solutions import WRONG

STUDENT = "ada"
DRAWN = 3  # sets


def pytest_generate_tests(metafunc):
    options = metafunc.config.option
    drawn = WRONG if options.every else random.Random(options.seed).sample(sorted(WRONG), DRAWN)
    metafunc.parametrize("name", cases(sorted(drawn), "wrong"))


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


def test_wrong_solutions_get_what_they_are_worth(name, tmp_path):
    assignment, runs = source.read(source.find(name)), Runs(tmp_path)
    ((_, right, failure),) = marking.reference(assignment, [STUDENT], runs)
    assert not failure
    unlike = []
    for layer in layers(WRONG[name]):
        marks = marking.grade(handed_in(assignment, layer), STUDENT, assignment, right, runs)
        spoiled = {f"{name}-{key}-check": points for row in layer for key, points in row[2].items()}
        rows = {row["id"]: row for row in marks["exercises"]}
        for key, row in rows.items():
            if row["points"] != pytest.approx(spoiled.get(key, row["max_points"]), abs=0.01):
                unlike.append((layer, key, row))
        for mistake, _, points, words in layer:
            answers = [one for key in points for one in rows[f"{name}-{key}-check"]["answers"]]
            hints = {one["name"]: one["hint"] for one in answers}
            unlike += [(mistake, hints) for key, word in words.items() if word not in hints[key]]
    assert not unlike
