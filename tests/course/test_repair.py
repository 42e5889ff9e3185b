"""A submission is rebuilt from the source, and what is wrong with it is told before and after."""

import copy
import json

import pytest
from typer.testing import CliRunner

from netlab.cli.commands import app
from netlab.course.handed_in import before, submitted
from netlab.course.handed_in.submitted import LARGEST_BYTES
from netlab.course.invented import grade_id
from netlab.course.sets import source
from netlab.errors import NetlabError
from tests.course import small
from tests.course.compared import repaired as put_right
from tests.course.problem_set import cell as cell_of

ANSWERS = {
    "ps0-name": 'student = "ada"',
    "ps0-bdp": "def bdp_bytes(rate_bps, rtt_s):\n    return rate_bps * rtt_s / 8",
    "ps0-rate": "goodput_bps = 1\nshare = 2",
    "ps0-explain": "The window.",
}
MATPLOTLIB = "import matplotlib.pyplot as plt\ngoodput_bps = 1\nshare = 2"
STUB = "goodput_bps = 1\n# YOUR CODE HERE\nraise NotImplementedError()"


@pytest.fixture(scope="module")
def released(assignment):
    return assignment.release()


@pytest.fixture
def notebook(released):
    """What a careful student hands in: answered, and run from top to bottom."""
    notebook, count = copy.deepcopy(released), 0
    for cell in notebook["cells"]:
        cell["source"] = ANSWERS.get(grade_id(cell), cell["source"])
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
    return notebook


def place(notebook, name):
    return notebook["cells"].index(cell_of(notebook, name))


def remove(name):
    return lambda notebook: notebook["cells"].remove(cell_of(notebook, name))


def write(name, text):
    return lambda notebook: cell_of(notebook, name).update(source=text)


def again(name, text=None, after=1):
    """A copy of a cell, with another text, stands after it, or before it."""

    def edit(notebook):
        cell = copy.deepcopy(cell_of(notebook, name))
        cell["source"] = cell["source"] if text is None else text
        notebook["cells"].insert(place(notebook, name) + after, cell)

    return edit


def move(name, to):
    def edit(notebook):
        notebook["cells"].insert(to, notebook["cells"].pop(place(notebook, name)))

    return edit


def repaired(notebook, assignment):
    return put_right(json.dumps(notebook).encode(), assignment)


def sources(found):
    return {cell.id: cell.source for cell in found.cells}


def flags(found):
    return [(one.flag, one.cell.removeprefix("ps0-")) for one in getattr(found, "findings", found)]


@pytest.fixture
def handed(tmp_path, notebook):
    """Write the notebook and look at it: what is found, and what the command prints."""

    def look(name="ps0.ipynb"):
        path = tmp_path / name
        path.write_text(json.dumps(notebook))
        ran = CliRunner().invoke(app, ["course", "check", str(path)])
        found, _ = before.examine(path)
        assert ran.exit_code == bool(found)
        for finding in found:
            assert f"{finding.flag}. {finding.text}" in ran.output
        assert all(one.isprintable() or one == "\n" for one in ran.output)
        return flags(found), ran.output

    look.folder = tmp_path
    return look


@pytest.mark.parametrize(
    ("edit", "told", "changed"),
    [
        (lambda notebook: None, [], {}),
        # nbgrader's issue 1083: a cell that is copied keeps its grade_id, and grading fails
        (again("bdp", "", after=0), [("cell copied", "bdp")], {}),
        (again("bdp", ""), [("cell copied", "bdp")], {}),
        (again("rate", "goodput_bps = 3"), [("cell copied", "rate")], {}),  # the first answer
        (again("bdp-check", "print('3 points')"), [("cell copied", "bdp-check")], {}),
        # nbgrader's issue 1682: a deleted check cell
        *((remove(one), [("cell deleted", one)], {}) for one in ("setup", "bdp-text", "bdp-check")),
        *((remove(one), [("cell deleted", one)], {one: ""}) for one in ("bdp", "explain")),
        (move("bdp-check", -1), [("cells reordered", "bdp-check")], {}),
        (move("rate", 0), [("cells reordered", "rate")], {}),
        # nbgrader's issue 1324: students change or empty the tests
        (write("bdp-check", ""), [("locked cell changed", "bdp-check")], {}),
        (write("setup", "import os"), [("locked cell changed", "setup")], {}),
        (write("rate", "x = 1\n" * 100_000), [("cell too long", "rate")], {"rate": ""}),
    ],
)
def test_the_course_s_cells_are_put_back_and_both_say_so(
    assignment, notebook, handed, edit, told, changed
):
    edit(notebook)
    found = repaired(notebook, assignment)
    order = [cell.id for cell in assignment.cells if cell.id]
    assert [cell.id for cell in found.cells if cell.id] == order
    assert len(found.cells) == len(assignment.cells) and found.student == "ada"
    own = {cell.id: cell.source for cell in assignment.cells} | ANSWERS
    assert sources(found) == own | {f"ps0-{name}": text for name, text in changed.items()}
    expected = [{"cells reordered": (flag, ...)}.get(flag, (flag, name)) for flag, name in told]
    for where in (flags(found), handed()[0]):
        where = [one for one in where if one[0] not in ("run out of order", "no answer")]
        assert [(one[0], ...) if (one[0], ...) in expected else one for one in where] == expected


def split(name, first, *rest):
    """Jupyter's Split Cell: all parts keep the metadata."""

    def edit(notebook):
        at, cell = place(notebook, name), cell_of(notebook, name)
        parts = [{**copy.deepcopy(cell), "source": text} for text in (first, *rest)]
        notebook["cells"][at : at + 1] = parts

    return edit


@pytest.mark.parametrize(
    ("first", "rest", "told", "run"),
    [  # jupyter/nbgrader's issue 1083 has these, too
        ("goodput_bps = 3", ["share = 2"], ["cell split"], ["share = 2"]),
        ("goodput_bps = 3", ["x = 1", "share = x"], ["cell split"], ["x = 1", "share = x"]),
        ("import math", ["def share():\n    return 2"], ["cell split"], [...]),
        (
            "goodput_bps = 3",
            ["share = 2", "share = 4"],
            ["cell split", "cell copied"],
            ["share = 2"],
        ),
        ("goodput_bps = 3", ["goodput_bps = 3"], ["cell copied"], []),
        ("goodput_bps = 3", ["goodput_bps = 4; share = 2"], ["cell copied"], []),
        ("goodput_bps = 3", ["goodput_bps"], ["cell copied"], []),
        ("goodput_bps = 3", ["share = ("], ["cell copied"], []),
        ("goodput_bps = 3", ["x = 1\n" * 1_000], ["cell copied"], []),
    ],
)
def test_parts_of_a_split_cell_run_one_after_another(
    assignment, notebook, handed, first, rest, told, run
):
    split("rate", first, *rest)(notebook)
    found = repaired(notebook, assignment)
    after = [cell.source for cell in found.cells if not cell.id]
    assert after[len(after) - len(run) :] == (rest if run == [...] else run)
    assert sources(found)["ps0-rate"] == first
    for where in (flags(found), handed()[0]):
        assert [
            flag for flag, name in where if name == "rate" and flag != "run out of order"
        ] == told


@pytest.mark.parametrize(
    ("parts", "read"),
    [
        (("The window.", "Larger buffers."), "The window.\n\nLarger buffers."),
        (("The window.", "The window."), "The window."),
        (("", "The window."), "The window.\n\n"),
    ],
)
def test_all_parts_of_an_answer_in_words_are_read(assignment, notebook, parts, read):
    split("explain", *parts)(notebook)
    found = repaired(notebook, assignment)
    assert sources(found)["ps0-explain"].strip() == read.strip()
    assert ("cell copied", "explain") in flags(found)


@pytest.mark.parametrize(
    "changes",
    [
        *({"points": one} for one in (300, "3", None, True)),
        *({"locked": False, "solution": True}, {"grade": False}, {"grade": []}),
    ],
    ids=repr,
)
def test_changed_metadata_changes_nothing(assignment, notebook, changes):
    """nbgrader's issue 1363: metadata that an editor or a student changed."""
    cell = cell_of(notebook, "bdp-check")
    cell["metadata"]["nbgrader"].update(changes)
    cell["source"] = "1"
    found = repaired(notebook, assignment)
    assert ("metadata changed", "bdp-check") in flags(found)
    assert sources(found)["ps0-bdp-check"] == assignment.cells[5].source


def test_cells_are_known_by_jupyters_ids_where_the_metadata_are_gone(assignment, notebook):
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    found = repaired(notebook, assignment)
    assert {flag for flag, _ in flags(found)} == {"metadata changed"}
    assert sources(found)["ps0-rate"] == ANSWERS["ps0-rate"]


def test_own_cells_stay_where_they_were(assignment, notebook):
    own = {"cell_type": "code", "metadata": {}, "outputs": []}
    notebook["cells"].insert(0, own | {"cell_type": "markdown", "source": "# notes"})
    notebook["cells"].insert(place(notebook, "rate"), own | {"source": "helper = 1"})
    notebook["cells"].append(own | {"source": "last = 1"})
    found = repaired(notebook, assignment)
    order = [cell.source for cell in found.cells]
    assert order[0] == "# notes" and order[-1] == "last = 1"
    assert order[order.index("helper = 1") - 1] == assignment.cells[6].source
    assert flags(found) == []


def test_a_cell_of_another_type(assignment, notebook):
    cell_of(notebook, "bdp")["cell_type"] = "markdown"
    found = repaired(notebook, assignment)
    assert flags(found) == [("cell type changed", "bdp")]
    assert {cell.kind for cell in found.cells if cell.id == "ps0-bdp"} == {"code"}


@pytest.mark.parametrize(
    ("text", "student"),
    [
        ('student = "ada"', "ada"),
        ("student='  grace '  # me", "grace"),
        ('student = ""', ""),
        ("student = None", None),
        ('# student = "x"', None),
        ('student: str = "ada"', "ada"),
        ('student = f"ada"', "ada"),
        ('student = ("ada")', "ada"),
        ('student = (\n    "ada"\n)', "ada"),
        ('student = name = "ada"', "ada"),
        ('student = ""\nstudent = "ada"', "ada"),
        ('%load_ext netlab\nstudent = "ada"', "ada"),  # no Python
        ('student = f"{me}"', ""),
        ("student = me", ""),
        ("student = 5", ""),
        ("student: str", None),
        ('other = "student = 5"', None),
        ('if student == "ada": pass', None),
    ],
)
def test_whom_a_notebook_names(assignment, notebook, text, student):
    cell_of(notebook, "name")["source"] = text
    found = repaired(notebook, assignment)
    assert found.student == student
    assert flags(found) == [("name missing", "name")] * (student == "")


@pytest.mark.parametrize(
    ("data", "words"),
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
        (b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "Open it in Jupyter, save it"),
        (b'{"cells": [{"cell_type": "code", "source": "x"}]}', "no cell of ps0"),
        (b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested"),
        (b'{"cells": [' + b"[]," * 3_000_000 + b"0]}", "more lists"),
        (b'{"cells": [' + b"0," * 3_000 + b"0]}", "3001 cells"),
        (b'{"cells": 1' + b"0" * 10_000 + b"}", "no notebook"),
        (b" " * (LARGEST_BYTES + 1), "MB"),
    ],
    ids=lambda one: one[:30] if isinstance(one, bytes) else one,
)
def test_what_cannot_be_graded_is_refused_in_words(assignment, tmp_path, data, words):
    (tmp_path / "ps0.ipynb").write_bytes(data)
    with pytest.raises(NetlabError, match=words):
        put_right(data, assignment)
    ran = CliRunner().invoke(app, ["course", "check", str(tmp_path / "ps0.ipynb")])
    assert ran.exit_code


WRONG = [None, 5, -1.5, True, "x", "\ud800\x00", [], [1], {}, {"x": 1}, [[["x"]]], float("nan")]


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize(
    "key", ["source", "cell_type", "metadata", "nbgrader", "grade_id", "points", "outputs", "id"]
)
def test_wrong_types_anywhere(assignment, notebook, value, key):
    for cell in [cell_of(notebook, name) for name in ("bdp-check", "rate", "explain")]:
        where = {"nbgrader": cell["metadata"]}.get(key, cell)
        if key in ("grade_id", "points"):
            where = cell["metadata"]["nbgrader"]
        where[key] = copy.deepcopy(value)
    notebook["cells"].insert(3, copy.deepcopy(value))
    found = repaired(notebook, assignment)
    assert [cell.id for cell in found.cells if cell.id] == [
        cell.id for cell in assignment.cells if cell.id
    ]
    assert sources(found)["ps0-bdp-check"] == assignment.cells[5].source
    for cell in found.cells:
        cell.source.encode()
    for finding in found.findings:
        assert finding.text and finding.cell.isprintable()


# On the student's machine


def test_ready_to_hand_in(handed):
    flags, said = handed()
    assert flags == [] and said.endswith("\nps0.ipynb: ready to hand in\n")
    assert said.startswith("the id in this notebook: ada; ")


def test_what_the_check_finds_in_a_release(released, tmp_path):
    path = tmp_path / "ps0.ipynb"
    path.write_text(source.text(released))
    assert flags(before.examine(path)[0]) == [
        ("name missing", "name"),
        *(("no answer", one) for one in ("bdp", "rate", "explain")),
        ("not run", "name"),
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
    found = [one.text for one in before.examine(tmp_path / "ps0.ipynb")[0] if "other" in one.flag]
    assert len(found) == bool(words) and all(words in one for one in found)


def test_the_check_says_where_cells_stand_that_were_moved(notebook, handed):
    move("explain-text", 2)(notebook)
    found, said = handed()
    assert found == [("cells reordered", "explain-text")]
    assert "should stand below ps0-rate-check" in said and '(It is under "' in said


def test_the_check_on_how_cells_ran(notebook, handed):
    cell_of(notebook, "rate")["execution_count"] = 1
    cell_of(notebook, "bdp-check")["execution_count"] = None
    error = {"output_type": "error", "ename": "\x1b[31mBoom", "evalue": "", "traceback": []}
    cell_of(notebook, "setup")["outputs"] = [error]
    found, said = handed()
    assert found == [
        ("not run", "bdp-check"),
        ("failing cell", "setup"),
        ("run out of order", "rate"),
    ]
    assert "an error" in said


def test_a_number_with_a_comma_is_told_of_where_python_speaks_of_zeros(notebook, handed):
    with pytest.raises(SyntaxError) as caught:
        compile("rtt_s = 0,05", "cell", "exec")
    error = {"output_type": "error", "ename": "SyntaxError", "evalue": str(caught.value)}
    cell_of(notebook, "rate")["outputs"] = [error]
    found, said = handed()
    assert found == [("failing cell", "rate")] and "write 0.05 and not 0,05" in said


OUTPUT = {"output_type": "stream", "name": "stdout", "text": "x" * 10_000_000}


@pytest.mark.parametrize(
    ("edit", "told", "words"),
    [
        (write("name", "student = ''"), ("name missing", "name"), ""),
        (write("rate", STUB), ("no answer", "rate"), "delete that line"),
        (write("rate", MATPLOTLIB), ("not in the grader", "rate"), "no matplotlib"),
        (
            lambda book: cell_of(book, "rate").update(outputs=[OUTPUT]),
            ("output too big", "rate"),
            "",
        ),
        *(
            (
                lambda book, one=one: book["metadata"].update(netlab=one),
                ("not a problem set", ""),
                "",
            )
            for one in (None, [], {"assignment": 5}, {"assignment": "ps0", "cells": [5]})
        ),
    ],
)
def test_what_else_the_check_finds(notebook, handed, edit, told, words):
    edit(notebook)
    found, said = handed()
    assert found == [told] and words in said


def test_the_check_on_another_file_name(handed):
    assert handed("ps0-Copy1.ipynb")[0] == [("wrong file name", "")]


SAID = """bdp_bytes(10e9, 0.020): Right for this example.
share, one stream: Not yet: you gave 8 byte: bits or bytes? A byte has 8 bits.
goodput: Plausible, not checked.
rate: Close: did you round?
run: This is an experiment; seed is as the text asks.
late: No answer yet: late has no value.
"""


def test_the_check_says_what_the_checks_of_the_set_said(notebook, handed):
    stream = {"output_type": "stream", "name": "stdout", "text": SAID.splitlines(keepends=True)}
    value = {"output_type": "execute_result", "data": {"text/plain": ["Not yet: \x1b[31mno."]}}
    cell_of(notebook, "bdp-check")["outputs"] = [stream]
    cell_of(notebook, "rate")["outputs"] = [stream]  # a student's own cell
    cell_of(notebook, "rate-check")["outputs"] = [value, {"text": 5}, {"data": []}]
    found, said = handed()
    assert found == [("not right", "bdp-check")] * 3 + [("not right", "rate-check")]
    assert 'Its check said: "share, one stream: Not yet: you gave 8 byte' in said
    counts = '1 "Right", 2 "Not yet", 1 "No answer yet", 1 "Close", 2 not compared'
    assert counts in said and "stored in the notebook" in said and "ready" not in said


def test_the_check_says_which_checks_said_nothing(notebook, handed):
    right = {"output_type": "stream", "name": "stdout", "text": "bdp: Right.\n"}
    cell_of(notebook, "bdp-check")["outputs"] = [right]
    found, said = handed()
    assert found == [] and said.endswith("ready to hand in\n")
    assert '1 "Right", 1 of 2 check cells have said nothing' in said


@pytest.mark.parametrize("fence", ["```", "~~~", "````python", "  ```"])
def test_a_comment_in_a_block_of_code_is_no_heading(fence):
    end = fence.strip()[:4].rstrip("p")
    text = f"{fence}\n# a comment\n```x\n{end}\n\n## The heading\n"
    assert submitted.title(text) == "The heading"
    assert submitted.title(f"{fence}\n# a comment\n{end}") == ""


def test_a_set_whose_numbers_changed_after_it_was_handed_out_says_so(tmp_path):
    path = small.write(tmp_path)
    handed_out = source.read(path)
    notebook = handed_out.release()
    name, setup = ("name missing", "ps1-name"), "ps1-setup"
    other, more = ("other numbers", setup), ("locked cell changed", setup)
    assert flags(repaired(notebook, handed_out)) == [name]
    path.write_text(path.read_text().replace("seed=(1, 99_999)", "seed=(1, 9_999)"))
    now = source.read(path)
    assert (handed_out.numbers, now.numbers) == ({"seed": (1, 99_999)}, {"seed": (1, 9_999)})
    found = repaired(notebook, now)
    assert flags(found) == [other, name]
    assert "(1, 9_999)" in found.cells[2].source  # by which it is graded
    cell_of(notebook, "setup")["source"] += "\nother = 5"
    assert flags(repaired(notebook, now)) == [more, other, name]
    cell_of(notebook, "setup")["source"] = "nl.course.mine('ps1', student)"  # an older netlab's
    assert flags(repaired(notebook, now)) == [more, name]
