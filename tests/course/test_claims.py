"""What a check says that it has compared, it has compared; and a name that is missing costs its own
line alone.
"""

import ast
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest

import netlab as nl
from netlab.course.sets import source

PATH = nl.wan("10mbit", "20ms", pairs=1)


def run_of(src="h1", dst="h2", seed=5, **fields):
    return nl.Experiment(PATH, nl.Iperf3(src, dst, time=8, omit=2, **fields), seed=seed)


ASKED = dict(topology=PATH, traffic=["iperf3"], time=8, omit=2, seed=5)
ENDS = dict(src="h1", dst="h2")


def test_a_check_of_a_run_claims_no_more_than_it_compared():
    found = nl.check_run(run_of("h2", "h1"), **ASKED)
    named, _, left = found.hint.partition("; not compared: ")
    assert "kinds of traffic, time, omit and seed are as the text asks" in named
    assert left == "src = h2, dst = h1"
    found = nl.check_run(run_of("h2", "h1"), **ASKED, **ENDS)
    assert found.verdict == "wrong" and "src is h2, and the text asks for h1" in found.hint
    found = nl.check_run(run_of(), **ASKED, **ENDS)
    assert found.verdict == "noted" and "not compared" not in found.hint
    found = nl.check_run(run_of(parallel=4, start=3), **ASKED, **ENDS)
    assert found.hint.endswith("; not compared: parallel = 4, start = 3")
    found = nl.check_run(run_of().but(stagger="0ms"), seed=5)
    assert found.hint.endswith("; not compared: topology, traffic, stagger = 0ms")


@pytest.mark.parametrize("wanted", [0, [0], 3, [3]])
def test_a_field_that_json_leaves_out_is_compared_too(wanted):
    """`start` is written where it is not 0."""
    for start in (0, 3):
        found = nl.check_run(run_of(start=start), start=wanted)
        assert (found.verdict == "noted") == (wanted in (start, [start]))


def test_a_field_is_compared_flow_by_flow_and_algorithms_are_fields():
    rival = nl.algorithms.AIMD(increase=2, decrease=0.4)
    two = nl.wan("10mbit", "20ms")
    tests = [nl.Iperf3("h1", "h2", congestion=rival, start=1), nl.Iperf3("h3", "h4")]
    run = nl.Experiment(two, *tests)
    for name, right, wrong in (
        ("start", [1, 0], [0, 1]),
        ("congestion", [rival, None], [None, rival]),
        ("congestion", [rival, None], [nl.algorithms.AIMD(increase=2, decrease=0.5), None]),
    ):
        assert nl.check_run(run, **{name: right}).verdict == "noted"
        assert nl.check_run(run, **{name: wrong}).verdict == "wrong"


def test_the_mark_of_a_run_says_what_was_given_and_what_was_asked():
    found = nl.check(run_of("h2", "h1", seed=1), run_of())
    assert "from h2 to h1; asked: h1 to h2" in found.hint
    assert "seed is 1; asked: 5" in found.hint
    found = nl.check(nl.Experiment(PATH, nl.Iperf3("h1", "h2", time=9, omit=2), seed=5), run_of())
    assert "time is 9; asked: 8" in found.hint
    found = nl.check(nl.Experiment(PATH, nl.Ping("h1", "h2"), seed=5), run_of())
    assert "ping; asked: iperf3" in found.hint
    other = nl.wan("11mbit", "20ms", pairs=1)  # which may have been worked out: not told
    found = nl.check(nl.Experiment(other, nl.Iperf3("h1", "h2", time=8, omit=2), seed=5), run_of())
    assert "topology.links[1].rate" in found.hint and "10mbit" not in found.hint


def test_a_name_that_is_missing_is_an_answer_that_is_missing():
    state = [nl.course.rtt("h1", "h2", at_least="20ms")]
    for ask in (
        lambda given: nl.check(given, 5),
        lambda given: nl.check(given, 5, call=[1]),
        nl.check_kind,
        lambda given: nl.check_kind(given, "number"),
        nl.check_run,
        lambda given: nl.check_run(given, seed=5),
        lambda given: nl.check_state(given, state),
    ):
        for given in (lambda: no_such_name, lambda: [1 for _ in no_such_name]):  # noqa: F821
            found = ask(given)
            assert (found.verdict, found.share) == ("nothing", 0)
            assert "no_such_name has no value" in found.hint
        found = ask(lambda: 1 / 0)
        assert (found.verdict, found.share) == ("wrong", 0)
        assert found.hint.startswith("ZeroDivisionError")

    def of_a_students():
        return no_such_name  # noqa: F821

    assert nl.check(lambda: of_a_students(), 5).verdict == "wrong"  # the function is there
    assert nl.check(lambda: 5, 5).verdict == "right"
    assert repr(nl.check(lambda: max, 3, call=[2, 3])) == "Right for this example."
    assert nl.check(lambda: None, 3, call=[2, 3]).verdict == "nothing"
    assert "TypeError" in nl.check(lambda: 3, 3, call=[2, 3]).hint  # the lambda is the answer
    assert nl.check_kind(lambda x: x, "function").verdict == "noted"


@pytest.mark.parametrize("call", [[], {}, [5]])
def test_one_call_of_a_function_is_an_example(call):
    found = nl.check(lambda *given: 5, 5, call=call)
    assert repr(found) == "Right for this example."


@pytest.mark.parametrize("right", [pd.DataFrame(), pd.DataFrame(index=[1, 2]), go.Figure()])
def test_nothing_is_compared_with_nothing(right):
    with pytest.raises(nl.SpecificationError, match="cannot be compared"):
        nl.check(right, right)


CHECKS = "nl.check", "nl.check_kind", "nl.check_run", "nl.check_state"
SETS = sorted(Path(source.COURSE).glob("source/*/*.ipynb"))


def checks_of(path):
    """The calls of `nl.check` and its like in each check cell of a set."""
    for cell in source.read(path).automatic:
        nodes = ast.walk(ast.parse(cell.source))
        calls = [one for one in nodes if isinstance(one, ast.Call)]
        yield cell, [one for one in calls if ast.unparse(one.func) in CHECKS]


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_no_set_uses_an_earlier_spelling(path):
    for cell, calls in checks_of(path):
        assert calls, cell.id
        for call in calls:
            words = {"allowed", "arguments", "state"} & {one.arg for one in call.keywords}
            right = len(call.args) > 1 or call.func.attr != "check"
            assert not words and (right or call.func.attr == "check_run"), ast.unparse(call)


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_the_check_of_a_run_compares_ends_and_seed(path):
    for cell, calls in checks_of(path):
        if any(ast.unparse(call.func) == "nl.check_run" for call in calls):
            for field in ("topology", "traffic", "src", "dst", "seed"):
                assert f"{field}=" in cell.source, cell.id


@pytest.mark.parametrize("name", ["ps1", "ps2"])
def test_every_line_of_a_check_cell_says_something_without_any_answer(name, capsys):
    known = {"nl": nl, "my": nl.course.mine(name, "ada")}
    for cell in source.read(source.find(name)).automatic:
        lines = [one for one in cell.source.split("\n") if one.startswith("print(")]
        text = cell.source.removesuffix("\n").removesuffix("\nfig")  # which is shown
        exec(text, dict(known))
        said = capsys.readouterr().out.splitlines()
        assert len(said) == len(lines) and all("No answer yet: " in one for one in said), said
