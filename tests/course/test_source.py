import itertools
import json
from pathlib import Path

import nbformat
import pytest

from netlab.course.answers.rule import Rule
from netlab.course.sets import regions, rubric, source
from netlab.course.sets.slips import refuse_slips
from netlab.errors import NetlabError
from tests.course import problem_set
from tests.course.problem_set import course

SETS = sorted(Path(__file__).parents[2].joinpath("notebooks/assignments/source").glob("*/*.ipynb"))


def texts(notebook):
    return ["".join(cell["source"]) for cell in notebook["cells"]]


def test_what_a_source_says(assignment):
    assert (assignment.name, assignment.title, assignment.minutes) == ("ps0", "A first set", 30)
    assert assignment.max_points == 10.5
    pipe, flow, why = assignment.exercises
    assert (pipe.id, pipe.points, pipe.role, pipe.title) == (
        "ps0-bdp-check",
        3,
        "check",
        "The pipe",
    )
    cases = [[1e9, 0.02], [5e7, 0.1]]
    assert pipe.answers == {"bdp_bytes": Rule("byte", cases=cases, points=3.0, name="bdp_bytes")}
    assert flow.answers["goodput_bps"].mistakes == {"what was sent": "my_flow[0] * 1e6"}
    assert flow.answers["share"] == Rule(within=0.05, points=1.5, name="share")
    assert (why.id, why.points, why.role, why.answers) == ("ps0-explain", 4, "manual", {})
    assert "2 points: names the window" in why.model and len(why.rubric.criteria) == 2
    assert why.rubric.answer == "The window is the model answer's limit."
    assert why.rubric.criteria[0] == rubric.Criterion(points=2.0, text="names the window")
    notebook = problem_set.source()
    notebook.cells[8].source = problem_set.RATE_CHECK.replace("# points", "# # points")
    _, flow, _ = source.assignment("ps0", notebook).exercises
    assert [rule.points for rule in flow.answers.values()] == [1.75, 1.75]  # shared evenly


@pytest.mark.long
def test_a_release_is_what_nbgrader_makes(assignment, tmp_path):
    """But for what it says of itself in its metadata: `netlab`."""
    problem_set.write(tmp_path)
    problem_set.of_nbgrader(tmp_path, "generate_assignment", "ps0")
    theirs = json.loads(json.dumps(nbformat.read(tmp_path / "release/ps0/ps0.ipynb", 4)))
    ours = assignment.release()
    said = ours["metadata"].pop("netlab")
    assert ours == theirs
    about = [one["metadata"]["nbgrader"] for one in theirs["cells"][1:]]  # the first has none
    checksums = {one["grade_id"]: one["checksum"] for one in about if one["grade_id"] != "ps0-name"}
    named = dict(said["cells"])
    assert named.pop("ps0-name") and (said["assignment"], named) == ("ps0", checksums)


def test_a_checksum_is_nbgrader_s():
    utils = pytest.importorskip("nbgrader.utils")
    for grade, solution, locked in itertools.product((True, False), repeat=3):
        about = dict(grade=grade, solution=solution, locked=locked, grade_id="one", points=2)
        cell = nbformat.v4.new_code_cell("x = 1", metadata={"nbgrader": about})
        assert regions.checksum("x = 1", "code", about) == utils.compute_checksum(cell), about


def hidden_lines(path):
    """The lines of a source's solutions and hidden tests that stand nowhere else in it."""
    visible, hidden, inside = set(), set(), False
    for text in texts(json.loads(path.read_text())):
        for line in map(str.strip, text.split("\n")):
            if "### BEGIN" in line or "### END" in line:
                inside = "### BEGIN" in line
                hidden.add(line)
            else:
                (hidden if inside else visible).add(line)
    return hidden - visible - {""}


def lines(notebook):
    return {line.strip() for text in texts(notebook) for line in text.split("\n")}


def test_the_solution_has_the_answers_and_no_marks(assignment):
    solved = assignment.solution()
    said = "\n".join(texts(solved))
    assert "    return rate_bps * rtt_s / 8" in said
    assert "names the window" in said
    for word in ("BEGIN", "END", "exact = true", "NotImplementedError", "YOUR ANSWER"):
        assert word not in said
    nbformat.validate(nbformat.reads(source.text(solved), 4))
    nothing = staticmethod(lambda *given, **more: None)
    namespace = {"nl": type("nl", (), {"check": nothing, "check_kind": nothing})}
    for text, cell in zip(texts(solved), solved["cells"], strict=True):
        if cell["cell_type"] == "code":
            exec(text, namespace)
    assert namespace["bdp_bytes"](1e9, 0.02) == 2.5e6
    assert namespace["goodput_bps"] == 200e6


def test_the_rubric_names_everything_that_is_compared(assignment):
    page = rubric.page(assignment)
    for words in (
        "10.5 points",
        "## The pipe",
        "`bdp_bytes`, in byte: 3 points; right within 1 %",
        "`goodput_bps`, in bit/s: 2 points; to be as measured",
        "`share`: 1.5 points; right within 5 %",
        "what was sent (`my_flow[0] * 1e6`)",
        "called with `1e9, 0.02`",
        "- 2 points: says what would help",
    ):
        assert words in page


def said(cells, number, **changes):
    cells[number].metadata["nbgrader"].update(changes)


def check(text):
    return lambda cells: cells[5].update(
        source=f"1\n### BEGIN HIDDEN TESTS\n{text}\n### END HIDDEN TESTS"
    )


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda cells: said(cells, 7, grade_id="ps0-bdp"), ["(ps0-bdp)", "another cell has"]),
        (lambda cells: said(cells, 7, grade_id="rate"), ["'rate'", "as in ps0-a"]),
        (lambda cells: said(cells, 7, schema_version=2), ["schema_version"]),
        (lambda cells: said(cells, 7, locked=None), ["locked", "true or false"]),
        (lambda cells: said(cells, 5, points=0), ["ps0-bdp-check", "points 0"]),
        (lambda cells: said(cells, 5, points="3"), ["ps0-bdp-check", "points '3'"]),
        (lambda cells: cells[4].update(source="### BEGIN SOLUTION\nx = 1"), ["without ### END"]),
        (lambda cells: cells[4].update(source="x = 1\n### END SOLUTION"), ["without ### BEGIN"]),
        (lambda cells: cells[4].update(source="bdp_bytes = 1"), ["would empty it"]),
        (lambda cells: said(cells, 1, solution=True), ["ps0-name", "would empty it"]),
        (lambda cells: cells[2].update(source=problem_set.RATE), ["ps0-setup", "solution: true"]),
        (lambda cells: cells[4].update(source=problem_set.BDP_CHECK), ["ps0-bdp)", "graded cell"]),
        (lambda cells: cells[5].update(source="1"), ["ps0-bdp-check", "name no answer"]),
        (check("bdp_bytes = 1"), ["comments", "'bdp_bytes = 1'"]),
        (check("# [bdp_bytes"), ["no TOML"]),
        (
            lambda cells: cells[2].update(source="my = nl.course.mine('ps0', student, a=(5, 1))"),
            ["a = (5, 1)"],
        ),
        (check("# bdp_bytes = 1"), ["'bdp_bytes'", "write a table"]),
        (check('# ["a-b"]'), ["'a-b'", "no name"]),
        (check("# [class]"), ["'class'", "no name"]),
        (check("# [other]"), ["ps0-bdp-check", "'other'", "no cell's solution assigns"]),
        (check("# [bdp_bytes]\n# wihin = 0.1"), ["'wihin' is unknown", "within"]),
        (check("# [bdp_bytes]\n# within = 2"), ["within = 2", "less than or equal to 1", "0.05"]),
        (check("# [bdp_bytes]\n# within = 0.1\n# exact = true"), ["leave one out"]),
        (check("# [bdp_bytes]\n# points = 2"), ["points", "3 together"]),
        (check("# [bdp_bytes]\n# cases = [1]"), ["cases", "as in cases = [[1e9, 0.02]"]),
        (check('# [bdp_bytes]\n# mistakes = {"x" = "1 +"}'), ["mistakes", "Python expression"]),
        (check('# [bdp_bytes]\n# state = "[1"'), ["state", "Python expression"]),
        (check('# [bdp_bytes]\n# pairs = [["h1"]]'), ["pairs"]),
        (
            lambda cells: said(cells, 10, points=5),
            ["ps0-explain", "gives 4 points, and the cell 5"],
        ),
        (lambda cells: cells.__delitem__(slice(4, None)), ["no cell is graded"]),
    ],
)
def test_a_broken_source_is_refused_and_its_cell_named(change, words):
    notebook = problem_set.source()
    change(notebook.cells)
    with pytest.raises(NetlabError) as caught:
        source.assignment("ps0", notebook)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    "number, text, words",
    [
        (8, f"nl.check(share, 5)\n{problem_set.RATE_CHECK}", ["line 1", "without share"]),
        (8, problem_set.RATE_CHECK.replace("lambda: ", ""), ["line 1", "lambda: goodput_bps"]),
        (8, problem_set.RATE_CHECK.replace("nl.check_kind(lambda: goodput_bps)", "share"), None),
        (2, 'my = nl.course.mine("ps1", student, a=(1, 5))', ["ps0-setup", "'ps1'", "'ps0'"]),
        (2, 'my = nl.course.mine("ps0", student, a=(1, 5))', None),
        (2, "my = nl.course.mine(name, student, a=(1, 5))", None),
    ],
)
def test_slips_that_show_without_a_run_are_refused_before_handing_out(number, text, words):
    notebook = problem_set.source()
    notebook.cells[number].source = text
    made = source.assignment("ps0", notebook)  # what was handed out so can be graded
    if words is None:
        refuse_slips(made)
        return
    with pytest.raises(NetlabError) as caught:
        refuse_slips(made)
    cell = ["ps0-rate-check"] * (number == 8)
    assert all(word in str(caught.value) for word in [*words, *cell])


def test_a_file_that_is_no_notebook(tmp_path):
    path = tmp_path / "ps0.ipynb"
    for text in ("", "[]", '{"nbformat": 3}', '{"nbformat": 4, "cells": [{"source": 5}]}'):
        path.write_text(text)
        with pytest.raises(NetlabError, match=r"ps0\.ipynb is no notebook"):
            source.read(path)
    with pytest.raises(NetlabError, match="cannot be read"):
        source.read(tmp_path / "other.ipynb")


def test_find(tmp_path, monkeypatch):
    path = problem_set.write(tmp_path / "course")
    assert source.find("ps0", tmp_path / "course") == path
    with pytest.raises(NetlabError, match="has only ps0"):
        source.find("ps9", tmp_path / "course")
    with pytest.raises(NetlabError, match="has only ps0"):
        source.find("../ps0", tmp_path / "course")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NetlabError, match="--course"):
        source.find("ps0")


def test_a_secret_goes_with_the_release(tmp_path):
    home = problem_set.write(tmp_path / "course").parents[2]
    course("release", "ps0", "-o", tmp_path / "a", "--course", home, "--secret", "hush")
    assert json.loads((tmp_path / "a" / "course.json").read_text()) == {"secret": "hush"}
    (home / "course.json").write_text('{"secret": "of the course"}')
    course("release", "ps0", "-o", tmp_path / "b", "--course", home)
    assert json.loads((tmp_path / "b" / "course.json").read_text()) == {"secret": "of the course"}
    (home / "course.json").write_text('{"secret": 5}')
    with pytest.raises(NetlabError, match="no secret"):
        course("release", "ps0", "-o", tmp_path / "c", "--course", home)


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_the_courses_own_sets(path):
    assignment = source.read(path)
    assert assignment.minutes
    assert any(exercise.manual for exercise in assignment.exercises)
    assert not hidden_lines(path) & lines(assignment.release())
    for cell in assignment.cells:
        most = 10 if cell.role in ("answer", "free") else 15  # lines; others' are only read
        assert len(cell.source.split("\n")) <= most or cell.kind == "markdown", cell.id
