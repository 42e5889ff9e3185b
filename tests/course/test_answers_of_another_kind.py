"""Whatever a student assigns to an answer's name, the check cell that is handed out ends with a
verdict that names the answer, never with a traceback; and the grader gives no point for it.

Nothing is run: answers that come from experiments are examples, and results are recorded ones.
"""

import ast
import contextlib
import copy
import functools
import io
import json
import linecache

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from netlab.course.answers.forms import form
from netlab.course.sets import source
from netlab.engines import recorded
from netlab.experiment import Experiment
from netlab.running.result import Result
from tests.course.compared import compare

SETS = [f"ps{number}" for number in range(1, 8)]
STUDENT = "ada"
VERDICTS = "Not yet: ", "No answer yet: "


@functools.cache
def result(*kinds):
    """A result, as it was measured once, of an experiment with such traffic."""
    for archive, entry in recorded.records().entries():
        about = json.loads(entry.experiment)
        if tuple(one["kind"] for one in about["traffic"]) == kinds:
            kept, about = archive.record(entry), Experiment.from_json(entry.experiment)
            return Result(about, *(kept[part] for part in ("raw", "commands", "provenance")))
    raise LookupError(f"no record of {kinds}")


one = functools.partial(result, "iperf3")
two = functools.partial(result, "iperf3", "iperf3")
watched = functools.partial(result, "iperf3", "iperf3", "windows", "windows")


def line(*names):
    curves = [go.Scatter(x=[0.5, 1.5], y=[2.5, 3.5], name=name) for name in names]
    return go.Figure(curves, {"xaxis_title": "time [s]", "yaxis_title": "window [segment]"})


def by(names, values):
    return dict(zip(names.split(), values, strict=True))


# What locked cells and solutions leave that need a run: by the answer's or the locked cell's id
EXAMPLES = {
    "ps1-path": lambda: {
        "ping": result("ping"), "transfer": one(), "rtt_s": 0.03, "goodput_bps": 1.4e8,
    },
    "ps1-table": lambda: {
        "table": pd.DataFrame({"buffer_bytes": [1e5, 2e5, 4e6], "goodput_bps": [2e7, 4e7, 1e8]}),
        "fig": line("measured"),
    },
    "ps2-gain": lambda: {"one": one(), "many": one(), "gain": 3.9},
    "ps2-loss": lambda: {"lossy": one(), "index": 0.97, "fig": line("share")},
    "ps3-four": lambda: {"low": one(), "high": one()},
    "ps3-single": lambda: {"single": one(), "ratio": 1.2, "counted_loss": 0.004},
    "ps3-constant": lambda: {"constants": [1.31, 1.22], "exponent": -0.53},
    "ps3-figure": lambda: {
        "fig": line("model", "measured").update_xaxes(type="log").update_yaxes(type="log")
    },
    "ps4-measure": lambda: {"first": two(), "shares": [0.7, 0.75, 0.8], "mean_share": 0.75},
    "ps4-bought": lambda: {"bought": two(), "bought_share": 0.52},
    "ps5-runs": lambda: {"runs": by("reno cubic", [result("iperf3", "windows")] * 2)},
    "ps5-start": lambda: {
        "first_loss_s": by("reno cubic", [0.4, 0.5]), "peak": by("reno cubic", [180, 90]),
        "slow_start_end_s": by("reno cubic", [0.4, 0.3]), "reductions": by("reno cubic", [7, 8]),
    },
    "ps5-figure": lambda: {"fig": line("reno", "cubic")},
    "ps5-teeth": lambda: {
        "teeth": pd.DataFrame(
            [["reno", 2.5, 99.5, 0.04], ["cubic", 2.0, 98.5, 0.05]],
            columns=["algorithm", "period_s", "top", "rtt_s"],
        )
    },
    "ps5-race": lambda: {"race": watched(), "share": 0.7},
    "ps6-duels": lambda: {"duels": [two()] * 3},
    "ps6-duels-index": lambda: {"indices": [0.99, 0.98, 0.97]},
    "ps6-scale": lambda: {"lowest_1s": 0.9, "lowest_10s": 0.98, "seconds_below": 7},
    "ps6-contest": lambda: {"contest": two(), "share": 0.8},
    "ps6-bbr": lambda: {
        "shallow": two(), "deep": two(), "fig": line("reno", "bbr"),
        "shares": pd.DataFrame(
            [["shallow", 0.1, 0.9, 0.03], ["deep", 0.6, 0.4, 0.09]],
            columns=["queue", "reno", "bbr", "rtt_s"],
        ),
        "more": {"shallow": "bbr", "deep": "reno"},
    },
    "ps7-idle": dict,
    "ps7-drawing": lambda: {
        "rtt_s": by("h1-h9 h1-h4 h7-h9", [0.06, 0.04, 0.03]),
        "bottleneck": by("h1-h9 h1-h4 h7-h9", ["L3", "L2", "L3"]),
        "idle_s": by("h1-h9 h1-h4 h7-h9", [0.061, 0.041, 0.031]),
    },
    "ps7-one": lambda: {"loaded": result("iperf3", "ping"), "used": 0.95, "longest_s": 0.08},
    "ps7-four": lambda: {
        "four": two(),
        "table": pd.DataFrame(
            [["h1-h9", 2e6, 0.2], ["h2-h4", 9e6, 0.0], ["h8-h9", 6e6, 0.5], ["h7-h9", 3e6, 0.3]],
            columns=["flow", "received_bps", "share_of_l3"],
        ),
    },
    "ps7-flood": lambda: {"flood": two(), "tcp_bps": 6e6, "udp_bps": 18e6},
}  # fmt: skip


class Agreeing:
    """Is equal to everything."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return True


def nothing(*values, **named):
    """A function that returns nothing."""


OTHERS = [
    *(None, "12 Mbit/s", [1, 2], {}, nothing, Agreeing, float("nan"), float("inf"), Agreeing()),
    *(np.array([1.5, 2.5]), pd.DataFrame({"other": [1.5]}), True),
]


@functools.cache
def read(name):
    return source.read(source.find(name))


@functools.cache
def solved(name):
    """What all cells but the checks leave, with examples where it takes a run."""
    left = {"student": STUDENT}
    for cell in read(name).cells:
        if cell.id in EXAMPLES:
            left |= EXAMPLES[cell.id]()
        elif cell.kind == "code" and not cell.id.endswith(("-name", "-check", "5-own")):
            file = f"<{cell.id}>"  # a class in a cell has its source, as in a notebook
            linecache.cache[file] = len(cell.solved), None, cell.solved.splitlines(True), file
            exec(compile(cell.solved, file, "exec"), left)
    return left


def exercises():
    return [
        pytest.param(name, exercise, id=exercise.id)
        for name in SETS
        for exercise in read(name).automatic
    ]


def shown(name, exercise, **answers):
    """What the check cell that students have prints, and the text of its last line."""
    (text,) = [cell.source for cell in read(name).cells if cell.id == exercise.id]
    assert "HIDDEN" not in text
    names, printed = copy.copy(solved(name)) | answers, io.StringIO()
    *body, last = ast.parse(text).body
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), exercise.id, "exec"), names)
        if isinstance(last, ast.Expr):
            repr(eval(compile(ast.Expression(last.value), exercise.id, "eval"), names))
        else:
            exec(compile(ast.Module([last], []), exercise.id, "exec"), names)
    return printed.getvalue()


def told(text, answer):
    """Is there a line that names the answer, with a verdict that it is none?"""
    lines = [one for one in text.splitlines() if any(word in one for word in VERDICTS)]
    return any(answer in line.split(": ")[0] for line in lines)


@pytest.mark.parametrize(("name", "exercise"), exercises())
def test_an_answer_of_its_kind_is_not_refused(name, exercise):
    text = shown(name, exercise)
    for answer in exercise.answers:
        assert any(answer in one.split(": ")[0] for one in text.splitlines()), text
    assert "Right." not in text and "Close" not in text  # only the grader knows
    for refused in ("No answer yet", "Not yet: this is", "Error"):
        assert refused not in text


@pytest.mark.parametrize(("name", "exercise"), exercises())
def test_an_answer_of_another_kind_gets_a_verdict_and_nothing(name, exercise):
    for value in OTHERS:
        every, each = dict.fromkeys(exercise.answers, value), []
        if len(every) > 1:
            each = [{answer: value} for answer in every]
        for wrong in [every, *each]:
            text = shown(name, exercise, **wrong)
            for answer in wrong:
                assert told(text, answer), f"{answer} = {value!r} shows\n{text}"
    for answer, rule in exercise.answers.items():
        cases = rule.cases
        right = form(solved(name)[answer], cases)
        plain = {"unit": rule.unit, "exact": rule.exact, "pairs": rule.pairs, "cases": cases}
        assert compare(right, right, **plain).share == 1
        for value in OTHERS:
            found = compare(form(value, cases), right, **plain)
            assert found.share == 0 and found.verdict in ("wrong", "nothing"), (answer, value)
            assert found.hint, (answer, value)
