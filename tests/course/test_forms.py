import decimal
import fractions
import itertools
import json
import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.course.checks.bounds import DEEPEST
from netlab.course.checks.forms import checked, form
from netlab.course.checks.script import PHASES
from netlab.errors import NetlabError

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
nested = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["kind", "value", "items", "columns", "traces", "json", "trace", "results", "x"]
            ),
            inner
            | st.sampled_from(
                [
                    "number",
                    "text",
                    "list",
                    "dict",
                    "table",
                    "figure",
                    "experiment",
                    "function",
                    "error",
                ]
            ),
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("value", "kind", "told"),
    [
        (5, "number", 5),
        (2.5, "number", 2.5),
        (np.int64(7), "number", 7),
        (np.float32(2.5), "number", 2.5),
        (np.longdouble(3), "number", 3.0),
        (np.array(4.5), "number", 4.5),
        (decimal.Decimal("1.5"), "number", 1.5),
        (fractions.Fraction(1, 4), "number", 0.25),
        (math.nan, "number", "nan"),
        (pd.NaT, "number", "nan"),
        (-math.inf, "number", "-inf"),
        (10**200, "number", 10**200),
        (True, "truth", True),
        (np.bool_(False), "truth", False),
        ("h1", "text", "h1"),
        (np.str_("h1"), "text", "h1"),
        ("half \ud800", "text", "half ?"),
    ],
)
def test_single_values(value, kind, told):
    made = form(value)
    assert made == {"kind": kind, "value": told}
    assert type(made["value"]) is type(told)


def test_none_and_what_pandas_has_for_it():
    assert form(None) == form(pd.NA) == form(...) == {"kind": "nothing"}


@pytest.mark.parametrize(
    "value",
    [
        [1, 2.5],
        (1, 2.5),
        np.array([1, 2.5]),
        pd.Series([1, 2.5], index=[7, 3]),
        [1, np.float64(2.5)],
    ],
)
def test_all_that_is_a_list(value):
    assert form(value) == {"kind": "list", "items": [1, 2.5]}


def test_lists_within_lists_and_dicts():
    inner = {"kind": "list", "items": [None, True, "x"]}
    assert form([[None, True, "x"], 1]) == {"kind": "list", "items": [inner, 1]}
    assert form(range(3))["items"] == [0, 1, 2]
    assert form({1: 2, ("h1", "h4"): None})["items"] == {
        "1": {"kind": "number", "value": 2},
        "h1, h4": {"kind": "nothing"},
    }
    assert form([math.nan]) == {"kind": "list", "items": [{"kind": "number", "value": "nan"}]}


def test_tables_with_and_without_an_index_that_has_a_name():
    table = pd.DataFrame({"flow": [1, 2], "bps": [0.5, math.inf]})
    columns = {"flow": [1, 2], "bps": [0.5, {"kind": "number", "value": "inf"}]}
    assert form(table) == form(table.set_index("flow")) == {"kind": "table", "columns": columns}
    assert form(table[table.flow == 2])["columns"]["flow"] == [2]
    assert form(pd.DataFrame({"a": pd.array([1, None], "Int64")}))["columns"] == {"a": [1, None]}


class Lying(float):
    """Says that it is something else wherever it is asked."""

    __class__ = property(lambda self: bool)

    def lie(self, *_):
        raise SystemExit("printed by a value")

    __eq__ = __float__ = __repr__ = __str__ = __int__ = __bool__ = __add__ = __format__ = lie
    __hash__ = lie


class LyingText(str):
    def __str__(self):
        return "right"

    encode = __len__ = __iter__ = __getitem__ = None


class LyingList(list):
    __iter__ = __len__ = __getitem__ = __class__ = None


class LyingDict(dict):
    items = keys = __iter__ = __len__ = None


class LyingArray(np.ndarray):
    def tolist(self):
        raise SystemExit

    size = shape = dtype = None


class LyingTable(pd.DataFrame):
    columns = property(lambda self: 1 / 0)
    iloc = shape = size = None


class LyingWhole(int):
    __int__ = __index__ = bit_length = None


def nasty():
    """A class that cannot be asked for anything."""

    class Nasty(type):
        def __getattribute__(cls, name):
            raise SystemExit

        def __eq__(cls, other):
            return True

        __hash__ = __instancecheck__ = __subclasscheck__ = None

    class OfNasty(metaclass=Nasty):
        def __getattribute__(self, name):
            raise SystemExit

    return OfNasty


def test_values_that_lie_are_what_they_are():
    assert form(Lying(2.5)) == {"kind": "number", "value": 2.5}
    assert form([Lying(2.5)])["items"] == [2.5]
    assert form(LyingWhole(3)) == {"kind": "number", "value": 3}
    assert form(LyingText("wrong")) == {"kind": "text", "value": "wrong"}
    assert form(LyingList([1, 2])) == {"kind": "list", "items": [1, 2]}
    assert form(LyingDict(a=1))["items"] == {"a": {"kind": "number", "value": 1}}
    assert form(np.arange(3).view(LyingArray)) == {"kind": "list", "items": [0, 1, 2]}
    assert form(LyingTable({"a": [1, 2]})) == {"kind": "table", "columns": {"a": [1, 2]}}
    cls = nasty()
    assert form(cls()) == {"kind": "other", "type": "OfNasty"}
    assert form(cls) == {"kind": "function", "results": []}


class Unspeakable(Exception):
    def __str__(self):
        raise SystemExit


def raising(error):
    def function(*_):
        raise error

    return function


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ZeroDivisionError("no"), "ZeroDivisionError: no"),
        (SystemExit(3), "SystemExit: 3"),
        (Unspeakable(), "Unspeakable"),
        (ValueError("x" * 1000), "ValueError: " + "x" * 288),
    ],
)
def test_what_a_function_raises_is_its_result(error, text):
    assert form(raising(error), [[1]])["results"] == [{"kind": "error", "text": text}]


def test_what_is_no_exception_ends_the_whole_and_ctrl_c_gets_through():
    class TooLong(BaseException):
        """As a time limit raises it."""

    assert form(raising(TooLong("3 s")), [[1], [2]]) == {"kind": "error", "text": "TooLong: 3 s"}
    with pytest.raises(KeyboardInterrupt):
        form(raising(KeyboardInterrupt()), [[1]])


def test_a_function_is_called_with_its_cases():
    def bdp_bytes(rate_bps, rtt_s=1):
        return rate_bps * rtt_s / 8

    cases = [[1e9, 0.02], 8, {"rate_bps": 16, "rtt_s": 2}, []]
    *numbers, error = form(bdp_bytes, cases)["results"]
    assert [one["value"] for one in numbers] == [2.5e6, 1, 4]
    assert error["kind"] == "error" and "rate_bps" in error["text"]
    assert form(bdp_bytes) == {"kind": "function", "results": []}
    assert form(4.5, cases) == {"kind": "number", "value": 4.5}


def test_a_function_cannot_change_its_cases():
    cases = [[[3, 1, 2]]]
    assert form(lambda values: values.sort(), cases)["results"] == [{"kind": "nothing"}]
    assert cases == [[[3, 1, 2]]]


def deep(depth):
    return [deep(depth - 1)] if depth else [1]


def itself():
    inner = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    "value",
    [
        10**10_000,
        -(10**10_000),
        "x" * 10_001,
        ["x" * 9_000] * 200,
        [0] * 100_001,
        range(10**18),
        np.broadcast_to(0.5, 10**12),
        pd.DataFrame(np.zeros((1000, 200))),
        itself(),
        deep(DEEPEST + 1),
        [[[[[0] * 50] * 50] * 50] * 50],
        dict.fromkeys(range(200_000)),
    ],
    ids=itertools.count(),
)
def test_what_is_too_large_is_an_error_and_soon(value):
    made = form(value)
    assert made["kind"] == "error" and ("too much" in made["text"] or "bits" in made["text"])


@pytest.mark.parametrize(
    "value",
    [itertools.count(), (one for one in itertools.count()), map(str, [1]), object(), {1}, json],
)
def test_what_is_no_answer_is_not_touched(value):
    assert form(value) == {"kind": "other", "type": type(value).__name__}


def test_large_answers_fit():
    assert len(form(np.arange(99_000.0))["items"]) == 99_000
    assert form(deep(8))["kind"] == "list"


def test_an_array_of_objects_is_a_list_of_them():
    values = np.array([Lying(1.5), None, "x", object()], dtype=object)
    assert form(values)["items"] == [1.5, None, "x", {"kind": "other", "type": "object"}]


def test_figures():
    figure = go.Figure(
        [
            go.Scatter(x=np.arange(3.0), y=[1, 2, None], name="cubic"),
            go.Bar(x=["a", "b"], y=pd.Series([1.5, 2.5])),
            go.Heatmap(z=np.ones((2, 2))),
        ]
    ).update_xaxes(title="Time [s]", type="log")
    made = form(figure)
    first, second, third = made["traces"]
    assert (first["name"], first["type"]) == ("cubic", "scatter")
    assert (first["x"], first["y"]) == ([0.0, 1.0, 2.0], [1, 2, None])
    assert (second["type"], second["x"], second["y"]) == ("bar", ["a", "b"], [1.5, 2.5])
    assert third["z"] == [{"kind": "list", "items": [1.0, 1.0]}] * 2
    assert made["xaxis"] == {"title": "Time [s]", "type": "log"}
    assert made["yaxis"] == {"title": "", "type": ""}


def test_experiments_and_networks():
    topology = nl.wan("10mbit", "20ms")
    experiment = nl.Experiment(topology, nl.Ping("h1", "h2"), seed=7)
    made = form(experiment)
    assert made == {"kind": "experiment", "json": json.loads(experiment.to_json())}
    assert made["json"]["seed"] == 7
    assert form(topology) == {"kind": "topology", "json": json.loads(topology.to_json())}


class Halves(nl.CongestionControl):
    def on_loss(self, tcp):
        tcp.ssthresh = tcp.cwnd / 2


class Fails(Halves):
    def on_timeout(self, tcp):
        raise SystemExit("here")


class Shared(nl.CongestionControl):
    """What it counts, it counts for all connections."""

    acks = 0

    def on_ack(self, tcp, acked):
        type(self).acks += 1
        tcp.cwnd = 10 + type(self).acks


class Own(Shared):
    def on_ack(self, tcp, acked):
        self.acks += 1
        tcp.cwnd = 10 + self.acks


def windows(algorithm):
    """What a class answers, by phase."""
    trace, found = iter(form(algorithm)["trace"]), {}
    for name, length in PHASES:
        found[name] = list(itertools.islice(trace, length))
    return found


def test_reno_answers_as_rfc_5681_says():
    found = windows(nl.algorithms.Reno)
    slow_start = [one for one, _ in found["slow start"]]
    assert slow_start == [10 + 2 * ack for ack in range(11)]  # each ACK acknowledges two
    assert found["a loss"] == [[15, 15]]
    window, expected = 37, []
    for _ in range(20):
        window += 2 / window
        expected.append(round(window, 9))
    assert [one for one, _ in found["congestion avoidance"]] == expected
    assert found["a timeout"] == [
        [20.5, 20.5],
        [1, 20.5],
        *([one, 20.5] for one in (3, 5, 7, 9, 11)),
    ]


def test_an_algorithm_is_told_with_its_source_and_parameters():
    made = form(nl.algorithms.AIMD(0.3, increase=2))
    assert (made["name"], made["parameters"]) == ("AIMD", {"decrease": 0.3, "increase": 2})
    assert "class AIMD" in made["source"] and made["failed"] == ""
    assert "class Halves(nl.CongestionControl)" in form(Halves)["source"]


def test_an_algorithm_that_fails_says_where():
    made, whole = form(Fails), form(Halves)
    assert made["failed"] == "SystemExit: here"
    assert made["trace"] == whole["trace"][: len(made["trace"])]
    assert len(made["trace"]) == sum(length for _, length in PHASES[:4]) + 1


def test_connections_that_share_what_they_remember_answer_otherwise():
    assert [one for one, _ in windows(Own)["slow start"][1:]] == [10 + n for n in range(1, 11)]
    assert form(Shared)["trace"] != form(Own)["trace"]


def test_an_algorithm_with_on_sample_is_asked_with_samples_of_the_rate():
    class Sampled(nl.CongestionControl):
        def on_sample(self, tcp, sample):
            rate = sample.delivered / sample.interval_s
            assert rate == pytest.approx(tcp.cwnd / tcp.rtt_s) and tcp.state == "open"
            tcp.cwnd = tcp.cwnd + sample.acked + sample.marked + sample.lost

    told = form(Sampled)
    assert told["failed"] == ""
    assert windows(Sampled)["slow start"][-1][0] == 10 + 2 * 10


def test_a_method_that_is_never_asked_is_an_error():
    class Typo(nl.CongestionControl):
        def on_lost(self, tcp):
            """Never asked."""

    made = form(Typo)
    assert made["kind"] == "error" and "on_loss is one" in made["text"]


@given(nested)
def test_a_form_is_what_is_checked(value):
    made = form(value)
    assert checked(made) == made
    assert json.loads(json.dumps(made, allow_nan=False)) == made


@given(json_values)
def test_anything_else_is_refused(data):
    try:
        found = checked(data)
    except NetlabError:
        return
    assert found == data


def nest(depth):
    data = 1
    for _ in range(depth):
        data = {"kind": "list", "items": [data]}
    return data


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "number",
        {},
        {"kind": ["number"]},
        {"kind": "number"},
        {"kind": "number", "value": "5"},
        {"kind": "number", "value": True},
        {"kind": "number", "value": math.nan},
        {"kind": "number", "value": 10**100_000},
        {"kind": "number", "value": 1, "more": 2},
        {"kind": "truth", "value": 1},
        {"kind": "text", "value": "\ud800"},
        {"kind": "text", "value": "x" * 10_001},
        {"kind": "list", "items": [[1]]},
        {"kind": "list", "items": [0] * 100_001},
        {"kind": "list", "items": ["x" * 9_000] * 200},
        {"kind": "table", "columns": {"a": 5}},
        {"kind": "dict", "items": {"a": 5}},
        {"kind": "dict", "items": {"x" * 10_001: {"kind": "nothing"}}},
        {"kind": "experiment", "json": []},
        {"kind": "experiment", "json": {"a": json.loads("[" * 300 + "]" * 300)}},
        {"kind": "figure", "traces": [{}], "xaxis": {}, "yaxis": {}},
        {"kind": "error", "text": "x" * 301},
        {"kind": "\x1b[31m" * 1000},
        nest(20),
        nest(100_000),
        {"kind": "function", "results": [nest(2), 5]},
        form(Halves) | {"trace": [[1]]},
        form(Halves) | {"trace": [[1, "inf", 3]]},
    ],
    ids=itertools.count(),
)
def test_what_is_no_form_is_refused(data):
    with pytest.raises(NetlabError) as refused:
        checked(data)
    assert len(str(refused.value)) < 1000 and str(refused.value).isprintable()
