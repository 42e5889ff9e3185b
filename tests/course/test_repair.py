import copy
import json

import pytest
from typer.testing import CliRunner

from netlab.cli.commands import app
from netlab.course.handed_in import before, repair
from netlab.course.handed_in.submitted import LARGEST_BYTES
from netlab.course.sets import source
from netlab.errors import NetlabError
from tests.course import problem_set

ANSWERS = {
    "ps0-name": 'student = "ada"',
    "ps0-bdp": "def bdp_bytes(rate_bps, rtt_s):\n    return rate_bps * rtt_s / 8",
    "ps0-rate": "goodput_bps = 1\nshare = 2",
    "ps0-explain": "The window.",
}


@pytest.fixture(scope="module")
def assignment(tmp_path_factory):
    return source.read(problem_set.write(tmp_path_factory.mktemp("course")))


@pytest.fixture
def notebook(assignment):
    """What a careful student hands in: answered, and run from top to bottom."""
    notebook, count = copy.deepcopy(assignment.release()), 0
    for cell in notebook["cells"]:
        cell["source"] = ANSWERS.get(grade_id(cell), cell["source"])
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
    return notebook


def grade_id(cell):
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def find(notebook, name):
    (cell,) = [cell for cell in notebook["cells"] if grade_id(cell) == f"ps0-{name}"]
    return cell


def place(notebook, name):
    return notebook["cells"].index(find(notebook, name))


def own(text, kind="code"):
    return {"cell_type": kind, "metadata": {}, "source": text, "outputs": []}


def sources(repaired):
    return {cell.id: cell.source for cell in repaired.cells}


def flags(found):
    return [(finding.flag, finding.cell) for finding in getattr(found, "findings", found)]


def test_nothing_is_found_where_nothing_is_wrong(assignment, notebook):
    repaired = repair.examine(source.text(notebook).encode(), assignment)
    assert flags(repaired) == []
    assert repaired.student == "ada"
    assert [cell.id for cell in repaired.cells if cell.id] == [
        cell.id for cell in assignment.cells if cell.id
    ]
    assert [cell.id for cell in repaired.cells if cell.graded] == [
        "ps0-bdp-check",
        "ps0-rate-check",
        "ps0-explain",
    ]
    assert sources(repaired)["ps0-bdp"] == ANSWERS["ps0-bdp"]
    assert repaired.cells[-1] == ("ps0-explain", "markdown", "The window.", True)


def test_the_solution_is_a_good_submission(assignment):
    repaired = repair.examine(source.text(assignment.solution()), assignment)
    assert flags(repaired) == [("name missing", "ps0-name")]
    assert [cell.source for cell in repaired.cells] == [
        cell.solved if cell.role != "check" else cell.source for cell in assignment.cells
    ]


@pytest.mark.parametrize("copies_first", [True, False])
def test_a_copied_answer_cell(assignment, notebook, copies_first):
    """nbgrader's issue 1083: a cell that is copied keeps its grade_id, and grading fails."""
    at = place(notebook, "bdp")
    empty = copy.deepcopy(assignment.release()["cells"][at])
    notebook["cells"].insert(at if copies_first else at + 1, empty)
    repaired = repair.examine(notebook, assignment)
    assert flags(repaired) == [("cell copied", "ps0-bdp")]
    assert sources(repaired)["ps0-bdp"] == ANSWERS["ps0-bdp"]
    assert len(repaired.cells) == len(assignment.cells)


def test_of_two_answers_the_first_counts(assignment, notebook):
    at = place(notebook, "rate")
    second = copy.deepcopy(notebook["cells"][at])
    second["source"] = "goodput_bps = 3"
    notebook["cells"].append(second)
    repaired = repair.examine(notebook, assignment)
    assert sources(repaired)["ps0-rate"] == ANSWERS["ps0-rate"]
    assert flags(repaired) == [("cell copied", "ps0-rate")]


def test_a_copied_check_cell(assignment, notebook):
    at = place(notebook, "bdp-check")
    forged = copy.deepcopy(notebook["cells"][at])
    forged["source"] = "print('3 points')"
    notebook["cells"].insert(at, forged)
    repaired = repair.examine(notebook, assignment)
    assert sources(repaired)["ps0-bdp-check"] == assignment.cells[5].source
    assert ("cell copied", "ps0-bdp-check") in flags(repaired)


@pytest.mark.parametrize("name", ["setup", "bdp-text", "bdp-check"])
def test_a_deleted_locked_cell_comes_back(assignment, notebook, name):
    """nbgrader's issue 1682: a deleted check cell."""
    del notebook["cells"][place(notebook, name)]
    repaired = repair.examine(notebook, assignment)
    assert flags(repaired) == [("cell deleted", f"ps0-{name}")]
    (cell,) = [cell for cell in assignment.cells if cell.id == f"ps0-{name}"]
    order = [each.id for each in repaired.cells]
    assert repaired.cells[order.index(cell.id)].source == cell.source
    assert [name for name in order if name] == [each.id for each in assignment.cells if each.id]


@pytest.mark.parametrize("name", ["bdp", "explain"])
def test_a_deleted_answer_is_empty(assignment, notebook, name):
    del notebook["cells"][place(notebook, name)]
    repaired = repair.examine(notebook, assignment)
    assert flags(repaired) == [("cell deleted", f"ps0-{name}")]
    assert sources(repaired)[f"ps0-{name}"] == ""


def test_cells_that_were_moved(assignment, notebook):
    cells = notebook["cells"]
    cells.append(cells.pop(place(notebook, "bdp-check")))
    cells.insert(0, cells.pop(place(notebook, "rate")))
    repaired = repair.examine(notebook, assignment)
    assert flags(repaired)[0][0] == "cells reordered"
    assert [cell.id for cell in repaired.cells if cell.id] == [
        cell.id for cell in assignment.cells if cell.id
    ]


def test_a_changed_check_cell_is_the_courses_again(assignment, notebook):
    """nbgrader's issue 1324: students change or empty the tests."""
    find(notebook, "bdp-check")["source"] = ""
    find(notebook, "setup")["source"] = "import os"
    repaired = repair.examine(notebook, assignment)
    assert flags(repaired) == [
        ("locked cell changed", "ps0-setup"),
        ("locked cell changed", "ps0-bdp-check"),
    ]
    assert sources(repaired)["ps0-setup"] == "import numpy as np\n40 + 2"


@pytest.mark.parametrize(
    "changes",
    [
        {"points": 300},
        {"points": "3"},
        {"points": None},
        {"points": True},
        {"locked": False, "solution": True},
        {"grade": False},
        {"grade": []},
    ],
)
def test_changed_metadata_changes_nothing(assignment, notebook, changes):
    """nbgrader's issue 1363: metadata that an editor or a student changed."""
    cell = find(notebook, "bdp-check")
    cell["metadata"]["nbgrader"].update(changes)
    cell["source"] = "1"
    repaired = repair.examine(notebook, assignment)
    assert ("metadata changed", "ps0-bdp-check") in flags(repaired)
    order = [each.id for each in repaired.cells]
    assert repaired.cells[order.index("ps0-bdp-check")] == (
        "ps0-bdp-check",
        "code",
        assignment.cells[5].source,
        True,
    )


def test_cells_are_known_by_jupyters_ids_where_the_metadata_are_gone(assignment, notebook):
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    repaired = repair.examine(notebook, assignment)
    assert {flag for flag, _ in flags(repaired)} == {"metadata changed"}
    assert sources(repaired)["ps0-rate"] == ANSWERS["ps0-rate"]


def test_own_cells_stay_where_they_were(assignment, notebook):
    notebook["cells"].insert(0, own("# notes", "markdown"))
    notebook["cells"].insert(place(notebook, "rate"), own("helper = 1"))
    notebook["cells"].append(own("last = 1"))
    repaired = repair.examine(notebook, assignment)
    assert repaired.cells[0].source == "# notes"
    order = [cell.source for cell in repaired.cells]
    assert order[order.index("helper = 1") - 1] == assignment.cells[6].source
    assert order[-1] == "last = 1"
    assert flags(repaired) == []


def test_a_cell_of_another_type(assignment, notebook):
    find(notebook, "bdp")["cell_type"] = "markdown"
    repaired = repair.examine(notebook, assignment)
    assert flags(repaired) == [("cell type changed", "ps0-bdp")]
    assert {cell.kind for cell in repaired.cells if cell.id == "ps0-bdp"} == {"code"}


@pytest.mark.parametrize(
    "text, student, flag",
    [
        ('student = "ada"', "ada", []),
        ("student='  grace '  # me", "grace", []),
        ('student = ""', "", [("name missing", "ps0-name")]),
        ("student = None", None, []),
        ('# student = "x"', None, []),
    ],
)
def test_whom_a_notebook_names(assignment, notebook, text, student, flag):
    find(notebook, "name")["source"] = text
    repaired = repair.examine(notebook, assignment)
    assert (repaired.student, flags(repaired)) == (student, flag)


def test_an_old_format(assignment, notebook):
    cells = []
    for cell in notebook["cells"]:
        cell = copy.deepcopy(cell)
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
        cells.append(cell)
    old = {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}
    repaired = repair.examine(json.dumps(old), assignment)
    assert flags(repaired) == [("old format", "")]
    assert sources(repaired)["ps0-bdp"] == ANSWERS["ps0-bdp"]


@pytest.mark.parametrize(
    "data, words",
    [
        (b"", "empty file"),
        (b"%PDF-1.7", "no notebook"),
        (b"\xff\xfe\x00\xd8", "no notebook"),
        (b"\x00" * 50, "no notebook"),
        (b"null", "no notebook"),
        (b"[1]", "no notebook"),
        (b"{}", "no cells"),
        (b'{"cells": {}}', "no cells"),
        (b'{"cells": []}', "no cell of ps0"),
        (b'{"worksheets": [5, {"cells": [6]}]}', "no cell of ps0"),
        (b'{"cells": [{"cell_type": "code", "source": "x"}]}', "no cell of ps0"),
        (b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested"),
        (b'{"cells": [' + b"[]," * 3_000_000 + b"0]}", "more lists"),
        (b'{"cells": [' + b"0," * 3_000 + b"0]}", "3001 cells"),
        (b'{"cells": 1' + b"0" * 10_000 + b"}", "no notebook"),
        (b" " * (LARGEST_BYTES + 1), "MB"),
        ("\ud800", "no notebook"),
    ],
)
def test_what_cannot_be_graded_is_refused_in_words(assignment, data, words):
    with pytest.raises(NetlabError, match=words):
        repair.examine(data, assignment)


WRONG = [None, 5, -1.5, True, "x", "\ud800\x00", [], [1], {}, {"x": 1}, [[["x"]]], float("nan")]


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize(
    "key", ["source", "cell_type", "metadata", "nbgrader", "grade_id", "points", "outputs", "id"]
)
def test_wrong_types_anywhere(assignment, notebook, value, key):
    for cell in [find(notebook, name) for name in ("bdp-check", "rate", "explain")]:
        where = {"nbgrader": cell["metadata"]}.get(key, cell)
        if key in ("grade_id", "points"):
            where = cell["metadata"]["nbgrader"]
        where[key] = copy.deepcopy(value)
    notebook["cells"].insert(3, copy.deepcopy(value))
    repaired = repair.examine(json.dumps(notebook), assignment)
    assert [cell.id for cell in repaired.cells if cell.id] == [
        cell.id for cell in assignment.cells if cell.id
    ]
    assert sources(repaired)["ps0-bdp-check"] == assignment.cells[5].source
    for cell in repaired.cells:
        cell.source.encode()
    for finding in repaired.findings:
        assert finding.text and finding.cell.isprintable()


def test_a_cell_that_is_too_long(assignment, notebook):
    find(notebook, "rate")["source"] = "x = 1\n" * 100_000
    repaired = repair.examine(notebook, assignment)
    assert flags(repaired) == [("cell too long", "ps0-rate")]
    assert sources(repaired)["ps0-rate"] == ""


# On the student's machine


@pytest.fixture
def handed(tmp_path, notebook):
    """Write the notebook and look at it: what is found, and what the command prints."""

    def look(name="ps0.ipynb"):
        path = tmp_path / name
        path.write_text(json.dumps(notebook))
        ran = CliRunner().invoke(app, ["course", "check", str(path)])
        found = before.examine(path)
        assert ran.exit_code == bool(found)
        for finding in found:
            assert f"{finding.flag}. {finding.text}" in ran.output
        assert all(one.isprintable() or one == "\n" for one in ran.output)
        return flags(found), ran.output

    return look


def test_ready_to_hand_in(handed):
    flags, said = handed()
    assert flags == [] and said.endswith("\nps0.ipynb: ready to hand in\n")
    assert said.startswith(
        "the id in this notebook: ada; it must be the one that your course knows"
    )


def test_what_the_check_finds_in_a_release(assignment, tmp_path):
    path = tmp_path / "ps0.ipynb"
    path.write_text(source.text(assignment.release()))
    assert flags(before.examine(path)) == [
        ("name missing", "ps0-name"),
        ("no answer", "ps0-bdp"),
        ("no answer", "ps0-rate"),
        ("no answer", "ps0-explain"),
        ("not run", "ps0-name"),
    ]


@pytest.mark.parametrize(
    ("given", "there", "words"),
    [
        ("ours", "ours", ""),
        ("ours", None, "course.json that you got with this set is not beside"),
        ("ours", "of last year", "is not beside"),
        (None, "of last year", "none was given out"),
        (None, None, ""),
    ],
)
def test_the_check_on_a_missing_secret(assignment, tmp_path, given, there, words):
    (tmp_path / "ps0.ipynb").write_text(source.text(assignment.release(given)))
    if there:
        (tmp_path / "course.json").write_text(json.dumps({"secret": there}))
    found = [one.text for one in before.examine(tmp_path / "ps0.ipynb") if "other" in one.flag]
    assert len(found) == bool(words) and all(words in one for one in found)


def test_the_check_on_copied_deleted_moved_and_changed_cells(notebook, handed):
    cells = notebook["cells"]
    cells.insert(place(notebook, "bdp"), copy.deepcopy(find(notebook, "bdp")))
    del cells[place(notebook, "rate-text")]
    cells.insert(2, cells.pop(place(notebook, "explain-text")))
    find(notebook, "bdp-check")["source"] += "\n1"
    found, said = handed()
    assert found == [
        ("cell copied", "ps0-bdp"),
        ("locked cell changed", "ps0-bdp-check"),
        ("cell deleted", "ps0-rate-text"),
        ("cells reordered", "ps0-explain-text"),
        ("run out of order", "ps0-bdp"),
    ]
    assert "It should stand below" in said and '(It is under "' in said


def test_the_check_on_how_cells_ran(notebook, handed):
    find(notebook, "rate")["execution_count"] = 1
    find(notebook, "bdp-check")["execution_count"] = None
    find(notebook, "setup")["outputs"] = [
        {"output_type": "error", "ename": "\x1b[31mBoom", "evalue": "", "traceback": []}
    ]
    found, said = handed()
    assert found == [
        ("not run", "ps0-bdp-check"),
        ("failing cell", "ps0-setup"),
        ("run out of order", "ps0-rate"),
    ]
    assert "an error" in said


def test_the_check_on_a_name_that_is_missing_and_what_is_left_of_the_stub(notebook, handed):
    find(notebook, "name")["source"] = "student = ''"
    find(notebook, "rate")["source"] = (
        "goodput_bps = 1\n# YOUR CODE HERE\nraise NotImplementedError()"
    )
    found, said = handed()
    assert found == [("name missing", "ps0-name"), ("no answer", "ps0-rate")]
    assert "delete that line" in said


def test_the_check_on_a_file_with_too_much_in_it(notebook, handed):
    find(notebook, "rate")["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "x" * 10_000_000}
    ]
    assert handed()[0] == [("output too big", "ps0-rate")]


def test_the_check_on_another_file_name(handed):
    assert handed("ps0-Copy1.ipynb")[0] == [("wrong file name", "")]


@pytest.mark.parametrize("said", [None, [], {"assignment": 5}, {"assignment": "ps0", "cells": [5]}])
def test_the_check_where_the_metadata_are_gone(notebook, handed, said):
    notebook["metadata"]["netlab"] = said
    assert handed()[0] == [("not a problem set", "")]


def test_the_check_on_what_is_no_notebook(tmp_path):
    path = tmp_path / "ps0.ipynb"
    path.write_bytes(b"%PDF \x1b[2J")
    ran = CliRunner().invoke(app, ["course", "check", str(path)])
    assert isinstance(ran.exception, NetlabError)
    assert "no notebook" in str(ran.exception)


def test_what_the_grader_lacks_is_named_before_it_costs_points(notebook, tmp_path):
    find(notebook, "rate")["source"] = "import matplotlib.pyplot as plt\ngoodput_bps = 1\nshare = 2"
    path = tmp_path / "ps0.ipynb"
    path.write_text(json.dumps(notebook))
    told = CliRunner().invoke(app, ["course", "check", str(path)])
    assert told.exit_code == 1
    assert "ps0-rate: not in the grader" in told.output and "no matplotlib" in told.output
