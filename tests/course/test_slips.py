"""Slips of who writes a set: `netlab course solution` runs it, and says where each is."""

import json

import pytest

from netlab.course.grading import solution
from netlab.course.grading.executed import Executed
from netlab.course.grading.runs import over_time
from netlab.course.sets import source
from netlab.errors import EngineError
from tests.cli.conftest import call  # noqa: F401
from tests.course import problem_set, small, typed


@pytest.fixture
def solve(call, tmp_path):  # noqa: F811
    """`netlab course solution` of the small set, with other texts in cells: (cell, old, new)."""

    def solve(*changes, command="solution", of=small):
        made = of.source()
        for name, old, new in changes:
            cell = small.cell(made, name)
            assert old in cell["source"]
            cell["source"] = cell["source"].replace(old, new)
        problem_set.write(tmp_path / "course", "ps1", made)
        out = tmp_path / "out"
        done = call("course", command, "ps1", "-o", out, "--course", tmp_path / "course")
        assert (done.status == 0) == (out / "ps1-rubric.md").exists() or command == "release"
        return done

    return solve


CHECK = "nl.check_kind(lambda: table)"
STATIC = {
    "the name of another set": (
        [("setup", '"ps1"', '"ps2"')],
        ["cell ps1-setup: nl.course.mine('ps2', ...)", "write nl.course.mine('ps1', ...)"],
    ),
    "a lone check without lambda": (
        [("table-check", "lambda: table", "table")],
        ["cell ps1-table-check: line 1: without table", "nl.check(lambda: table, ...)"],
    ),
}
SLIPS = {  # those of one group are told together
    "cells that fail": {
        "an unknown name": (
            [("number", "my.seed / 7", "my.sed / 7"), ("bdp", "def bdp", "oops\ndef bdp")],
            ["- cell ps1-number fails: AttributeError: my.sed", "- cell ps1-bdp fails: NameError"],
        ),
        "a kind of answer that does not exist": (
            [("table-check", CHECK, 'nl.check_kind(lambda: table, "tabel")')],
            ["- cell ps1-table-check fails: SpecificationError: check: allowed = 'tabel'"],
        ),
        "a run that takes too long": (
            [("run", "time=2", "time=400")],
            ["- cell ps1-run fails: SpecificationError", "300 are allowed in a graded notebook"],
        ),
    },
    "answers and rules": {
        "an unknown name in a mistake": (
            [("run-check", "run.flows.sent_bps", "ran.flows.sent_bps")],
            [
                "- cell ps1-run-check: the mistake 'what was sent, not what arrived' of"
                " 'received_bps' cannot be evaluated: NameError: name 'ran'",
                "correct its expression",
            ],
        ),
        "an answer that is none": (
            [("number", "seventh = my.seed / 7", "seventh = {my.seed}")],
            ["- cell ps1-number-check: 'seventh' is no answer: this is of the type set"],
        ),
        "a function without cases": (
            [("bdp-check", "# cases", "# # cases")],
            ["- cell ps1-bdp-check: 'bdp_bytes': ", "a function without cases"],
        ),
    },
    "what grading would pass over": {
        "a mistake that raises when it is called": (
            [("bdp-check", "# cases", '# mistakes = {"bits" = "lambda a, b: a * c"}\n# cases')],
            ["- cell ps1-bdp-check: the mistake 'bits' of 'bdp_bytes'", "NameError: name 'c'"],
        ),
        "a check that refuses the right answer": (
            [("table-check", CHECK, 'print("table:", nl.check_kind(lambda: table, "number"))')],
            ["- cell ps1-table-check: its check says of the right answer: table: Not yet"],
        ),
    },
}


@pytest.mark.parametrize("group", SLIPS)
def test_slips_are_refused_where_they_are(solve, group):
    changes, words = zip(*SLIPS[group].values(), strict=True)
    words = [one for each in words for one in each]
    done = solve(*(one for each in changes for one in each))
    assert done.status == 1
    assert [word for word in words if word not in done.err] == []
    assert done.err.count("\n- ") == sum(word.startswith("- ") for word in words)
    assert "ps1: nothing was written" in done.err and "Mend these cells" in done.err


@pytest.mark.parametrize("command", ["release", "solution"])
@pytest.mark.parametrize("slip", STATIC)
def test_what_shows_without_a_run_is_refused_by_the_release_too(solve, slip, command):
    changes, words = STATIC[slip]
    done = solve(*changes, command=command)
    assert done.status == 1 and all(word in done.err for word in words)


def test_a_set_without_slips_is_written_and_nothing_said(solve):
    done = solve()
    assert (done.status, done.err) == (0, "")


def test_a_typed_solution_must_reach_its_state(solve):
    done = solve(("read-check", '"29.9ms", "30.1ms"', '"49.9ms", "50.1ms"'), of=typed)
    assert done.status == 1
    assert "- cell ps1-read-check: the right 'net' gets 0 of 4 points" in done.err
    assert "round-trip time from h1 to h2 is 30" in done.err


def test_a_machine_that_is_too_slow_is_no_slip(solve, monkeypatch):
    def slow(*_):
        raise over_time()

    monkeypatch.setattr(solution, "slips", slow)
    done = solve()
    assert done.status == 1 and "while less runs on this machine" in done.err


def test_without_an_engine_the_solution_is_written_and_a_warning_says_what_was_not_tried(
    solve, monkeypatch
):
    def no_engine(*_):
        raise EngineError("no engine works here")

    monkeypatch.setattr(solution, "slips", no_engine)
    done = solve()
    assert done.status == 0
    assert "was not run" in done.err and "no engine works here" in done.err


def test_what_is_in_the_way_is_told_before_anything_is_run(solve, monkeypatch, tmp_path):
    monkeypatch.setattr(solution, "slips", lambda *_: pytest.fail("it was run"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/ps1.ipynb").write_text("mine")
    done = solve()
    assert done.status == 1 and "has other contents" in done.err


def test_a_notebook_that_ends_itself_is_named_by_its_last_cell():
    assignment = source.assignment("ps1", json.loads(json.dumps(small.source())))
    ended = Executed(error=EngineError("it used too much memory\nmore"), at="ps1-bdp")
    assert [*solution.failures(ended, assignment)] == [
        "cell ps1-bdp ends it: it used too much memory"
    ]
