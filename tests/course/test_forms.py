import copy
import datetime
import decimal
import fractions
import itertools
import json
import math
import pickle

import numpy as np
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
import plotly.io
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import netlab as nl
from netlab.course.answers.bounds import DEEPEST
from netlab.course.answers.forms import ANSWER, KINDS, form
from netlab.course.answers.script import PHASES
from netlab.errors import NetlabError
from tests.course.compared import checked, compare

PARTS = {
    kind: [field.alias or name for name, field in cls.model_fields.items() if name != "kind"]
    for kind, cls in KINDS.items()
}
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10)
nested = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["kind", *{name for parts in PARTS.values() for name in parts}]),
            inner | st.sampled_from(list(PARTS)),
        )
    ),
    max_leaves=20,
)


def number(value):
    return {"kind": "number", "value": value}


def items(*values):
    return {"kind": "list", "items": list(values)}


def named(**values):
    return {"kind": "dict", "items": values}


def table(**columns):
    return {"kind": "table", "columns": columns}


NOTHING = {"kind": "nothing"}
TABLE = pd.DataFrame({"flow": [1, 2], "bps": [0.5, math.inf]})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, number(5)),
        (2.5, number(2.5)),
        (np.int64(7), number(7)),
        (np.float32(2.5), number(2.5)),
        (np.longdouble(3), number(3.0)),
        (np.array(4.5), number(4.5)),
        (decimal.Decimal("1.5"), number(1.5)),
        (fractions.Fraction(1, 4), number(0.25)),
        (math.nan, number("nan")),
        (pd.NaT, number("nan")),
        (-math.inf, number("-inf")),
        (10**200, number(10**200)),
        (True, {"kind": "truth", "value": True}),
        (np.bool_(False), {"kind": "truth", "value": False}),
        (np.str_("h1"), {"kind": "text", "value": "h1"}),
        ("half \ud800", {"kind": "text", "value": "half ?"}),
        (None, NOTHING),
        (pd.NA, NOTHING),
        (..., NOTHING),
        ((1, 2.5), items(1, 2.5)),
        (np.array([1, 2.5]), items(1, 2.5)),
        (pd.Series([1, 2.5], index=[7, 3]), items(1, 2.5)),
        (pd.Index(["a", "b"]), items("a", "b")),
        (range(3), items(0, 1, 2)),
        ([math.nan], items(number("nan"))),
        ([[None, True, "x"], 1], items(items(None, True, "x"), 1)),
        (np.array([1.5, None, "x", object()]), items(1.5, None, "x", form(object()))),
        ({1: 2, ("h1", "h4"): None}, named(**{"1": number(2), "h1, h4": NOTHING})),
        (pd.Series({"a": 1.5}), named(a=number(1.5))),
        (TABLE, table(flow=[1, 2], bps=[0.5, number("inf")])),
        (TABLE.set_index("flow"), form(TABLE)),
        (TABLE[TABLE.flow == 2][["flow"]], table(flow=[2])),
        (pd.DataFrame({"a": pd.array([1, None], "Int64")}), table(a=[1, None])),
    ],
)  # fmt: skip
def test_values(value, expected):
    made = form(value)
    assert made == expected
    assert type(made.get("value")) is type(expected.get("value"))


def spellings(values):
    """The same values as numpy, pandas and plotly hand them over."""
    kinds = {type(one) for one in values if one is not None}
    nullable = {bool: "boolean", int: "Int64", float: "Float64", str: "string"}[kinds.pop()]
    series = pd.Series(values, dtype=nullable)
    yield from (values, tuple(values), np.array(values, object), series, series.array)
    yield from (pd.Index(series), series.astype("category"), pd.Categorical(values))
    yield pd.Series(values, index=[f"{number}" for number in range(len(values))])
    yield pd.Series(values, index=range(7, 7 + len(values)), dtype=object)
    if None not in values:
        yield from (np.array(values), pd.Series(values), pd.Index(values))
    if nullable == "Float64":
        yield np.ma.array([one or 0 for one in values], mask=[one is None for one in values])
        yield np.array([math.nan if one is None else one for one in values])
        yield [None if one is None else decimal.Decimal(one) for one in values]
        yield [None if one is None else fractions.Fraction(one) for one in values]


of_one_kind = st.one_of(
    *(
        st.lists(st.none() | one, min_size=1, max_size=6).filter(any)
        for one in (
            st.just(True),
            st.integers(1, 2**53),
            st.floats(0.5, 1e300),
            st.text("abc", min_size=1, max_size=3),
        )
    )
)


@given(of_one_kind)
def test_the_same_values_are_the_same_answer(values):
    right = form(values)
    for given_ in spellings(values):
        made = json.loads(json.dumps(form(given_)))
        assert compare(made, right).verdict == "right", given_
        assert (
            compare(form(pd.DataFrame({"a": given_})), form(pd.DataFrame({"a": values}))).share == 1
        )
    (one, *_) = filter(None, values)
    for given_ in (one, np.array(one), np.array([one]), pd.Series([one]), pd.Series({"h1": one})):
        assert compare(form(given_), form(one)).verdict == "right", given_


DATES = ["2026-01-02T03:04:05", "2026-01-02T03:04:06"]


def figures(x, y):
    """A figure as plotly hands it over."""
    made = go.Figure(go.Scatter(x=x, y=y), figure_layout())
    text, told = made.to_json(), made.to_dict()
    yield from (made, copy.deepcopy(made), go.Figure(told), go.Figure(json.loads(text)))
    yield from (plotly.io.from_json(text), pickle.loads(pickle.dumps(made)), go.Figure(made))
    frame = pd.DataFrame({"t": x, "w": y})
    drawn = px.line(frame, x="t", y="w", labels={"t": "t [s]", "w": "w [s]"})
    yield from (drawn, copy.deepcopy(drawn), plotly.io.from_json(drawn.to_json()))
    yield go.Figure(go.Scatter(x=frame.t, y=frame.w.astype("Float64")), made.layout)
    yield go.Figure(go.Scatter(x=pd.Index(x), y=frame.w.tolist()), made.layout)


@pytest.mark.parametrize("x", [np.arange(3.0), np.arange(3), np.array(["a", "b", "c"])])
def test_the_same_figure_is_the_same_answer(x):
    right = form(go.Figure(go.Scatter(x=list(x), y=[1.5, 2.5, 4]), figure_layout()))
    for made in figures(x, np.array([1.5, 2.5, 4])):
        assert compare(form(made), right).verdict == "right", made
    for made in figures(x, np.array([1.5, 2.5, 5])):
        assert compare(form(made), right).verdict != "right", made


def figure_layout():
    return {"xaxis_title": "t [s]", "yaxis_title": "w [s]"}


def test_a_map_from_json_is_the_same_answer():
    made = go.Figure(go.Heatmap(z=np.arange(6.0).reshape(2, 3)))
    assert form(copy.deepcopy(made)) == form(go.Figure(go.Heatmap(z=[[0, 1, 2.0], [3, 4, 5]])))


def test_a_typed_array_has_the_limits_of_a_list():
    made = go.Figure(go.Scatter(y=np.zeros(100_001)))
    assert "100,000 values" in form(copy.deepcopy(made))["text"]
    assert "100,000 values" in form(made)["text"]
    bad = go.Figure({"data": [{"y": {"bdata": "AAEC", "dtype": "f8"}}]})
    assert form(bad)["kind"] == "error"


def test_times_are_the_same_from_everywhere():
    python = [datetime.datetime.fromisoformat(one) for one in DATES]
    numpy = np.array(DATES, "datetime64[ns]")
    for given_ in (python, numpy, numpy.astype("datetime64[s]"), pd.to_datetime(DATES), DATES):
        assert form(given_) == items(*DATES)
    second = pd.Series(pd.to_timedelta([1], "s"))
    assert form(second) == form(np.array([1], "timedelta64[s]")) == items("P0DT0H0M1S")


class Exits:
    """Raises whatever it is asked for."""

    def exits(self, *_):
        raise SystemExit("printed by a value")

    __getattribute__ = __eq__ = __str__ = __repr__ = exits
    __hash__ = object.__hash__


class ExitingList(list):
    __iter__ = __len__ = Exits.exits


class Unspeakable(Exception):
    def __str__(self):
        raise SystemExit


class TooLong(BaseException):
    """As a time limit raises it."""


def raising(error):
    def function(*_):
        raise error

    return function


def error(text):
    return {"kind": "error", "text": text}


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        (ZeroDivisionError("no"), "ZeroDivisionError: no"),
        (SystemExit(3), "SystemExit: 3"),
        (Unspeakable(), "Unspeakable"),
        (ValueError("x" * 1000), "ValueError: " + "x" * 288),
    ],
)
def test_what_a_function_raises_is_its_result(raised, text):
    assert form(raising(raised), [[1]])["results"] == [error(text)]


def test_values_that_raise_are_errors_and_ctrl_c_gets_through():
    assert form(ExitingList([1])) == error("SystemExit: printed by a value")
    assert form(Exits)["kind"] == "function"
    assert form(Exits())["kind"] in ("error", "other")
    assert form(raising(TooLong("3 s")), [[1], [2]]) == error("TooLong: 3 s")  # ends the whole
    with pytest.raises(KeyboardInterrupt):
        form(raising(KeyboardInterrupt()), [[1]])


def test_a_function_is_called_with_its_cases():
    def bdp_bytes(rate_bps, rtt_s=1):
        return rate_bps * rtt_s / 8

    cases = [[1e9, 0.02], 8, {"rate_bps": 16, "rtt_s": 2}, []]
    *numbers, missing = form(bdp_bytes, cases)["results"]
    assert [one["value"] for one in numbers] == [2.5e6, 1, 4]
    assert missing["kind"] == "error" and "rate_bps" in missing["text"]
    assert form(bdp_bytes) == {"kind": "function", "results": []}
    assert form(4.5, cases) == number(4.5)
    changed = [[[3, 1, 2]]]
    assert form(lambda values: values.sort(), changed)["results"] == [NOTHING]
    assert changed == [[[3, 1, 2]]]


def deep(depth):
    return [deep(depth - 1)] if depth else [1]


def itself():
    inner = []
    inner += [inner, inner]
    return inner


@pytest.mark.parametrize(
    "value",
    [
        10**10_000,
        -(10**10_000),
        "x" * 100_001,
        ["x" * 90_000] * 20,
        [0] * 100_001,
        range(10**18),
        np.broadcast_to(0.5, 10**12),
        np.broadcast_to(0.5, (10, 10**12)),
        pd.DataFrame(np.zeros((1000, 200))),
        itself(),
        deep(DEEPEST),
        [[[[[0] * 50] * 50] * 50] * 50],
        dict.fromkeys(range(200_000)),
    ],
)
def test_what_is_too_large_is_an_error_and_soon(value):
    made = form(value)
    assert made["kind"] == "error" and "too much for an answer" in made["text"]


@pytest.mark.parametrize(
    "value",
    [itertools.count(), (one for one in itertools.count()), map(str, [1]), object(), {1}, json],
)
def test_what_is_no_answer_is_not_touched(value):
    assert form(value) == {"kind": "other", "type": type(value).__name__}


def test_figures():
    traces = [
        go.Scatter(x=np.arange(3.0), y=[1, 2, None], name="cubic"),
        go.Bar(x=["a", "b"], y=pd.Series([1.5, 2.5])),
        go.Heatmap(z=np.ones((2, 2))),
        go.Scatter(y=[1], visible="legendonly"),
    ]
    made = form(go.Figure(traces).update_xaxes(title="Time [s]", type="log"))
    first, second, third = made["traces"]
    assert (first["name"], first["type"]) == ("cubic", "scatter")
    assert (first["x"], first["y"]) == ([0.0, 1.0, 2.0], [1, 2, None])
    assert (second["type"], second["x"], second["y"]) == ("bar", ["a", "b"], [1.5, 2.5])
    assert third["z"] == [items(1.0, 1.0)] * 2
    assert made["xaxis"] == {"title": "Time [s]", "type": "log"}
    assert made["yaxis"] == {"title": "", "type": ""}


def test_experiments_networks_and_large_lists():
    topology = nl.wan("10mbit", "20ms")
    experiment = nl.Experiment(topology, nl.Ping("h1", "h2"), seed=7)
    assert form(experiment) == {"kind": "experiment", "json": json.loads(experiment.to_json())}
    assert form(topology) == {"kind": "topology", "json": json.loads(topology.to_json())}
    assert len(form(np.arange(99_000.0))["items"]) == 99_000


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
    trace = iter(form(algorithm)["trace"])
    return {name: list(itertools.islice(trace, length)) for name, length in PHASES}


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
    late = [[one, 20.5] for one in (20.5, 1, 3, 5, 7, 9, 11)]
    assert found["a timeout"] == late


def test_an_algorithm_is_told_with_its_source_and_parameters():
    class Typo(nl.CongestionControl):
        def on_lost(self, tcp):
            """Never asked."""

    assert form(Typo)["kind"] == "error" and "on_loss is one" in form(Typo)["text"]
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

    assert form(Sampled)["failed"] == ""
    assert windows(Sampled)["slow start"][-1][0] == 10 + 2 * 10


@given(nested, json_values)
def test_a_form_is_what_is_checked_and_anything_else_is_refused(value, data):
    made = form(value)
    checked(made)
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    try:
        checked(data)
    except NetlabError:
        return
    assert set(data) == {"kind", *PARTS[data["kind"]]}


def nest(depth):
    data = 1
    for _ in range(depth):
        data = items(data)
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
        number("5"),
        number(True),
        number(math.nan),
        number(10**100_000),
        number(1) | {"more": 2},
        {"kind": "truth", "value": 1},
        {"kind": "text", "value": "\ud800"},
        {"kind": "text", "value": "x" * 100_001},
        items([1]),
        items(*[0] * 100_001),
        items(*["x" * 90_000] * 20),
        {"kind": "table", "columns": {"a": 5}},
        {"kind": "dict", "items": {"a": 5}},
        {"kind": "dict", "items": {"x" * 100_001: NOTHING}},
        {"kind": "experiment", "json": []},
        {"kind": "experiment", "json": {"a": json.loads("[" * 300 + "]" * 300)}},
        {"kind": "figure", "traces": [{}], "xaxis": {}, "yaxis": {}},
        {"kind": "\x1b[31m" * 1000},
        nest(20),
        nest(100_000),
        {"kind": "function", "results": [nest(2), 5]},
        form(Halves) | {"trace": [[1]]},
        form(Halves) | {"trace": [[1, "inf", 3]]},
    ],
)
def test_what_is_no_form_is_refused(data):
    with pytest.raises(NetlabError) as refused:
        checked(data)
    assert len(str(refused.value)) < 1000 and str(refused.value).isprintable()


@pytest.mark.parametrize(
    "data",
    [
        items(*[{}] * 99_000),
        table(a=[[]] * 99_000),
        {"kind": "function", "results": [{}] * 99_000},
        {"kind": "figure", "traces": [{}] * 99_000, "xaxis": 5, "yaxis": 5},
        form(Halves) | {"trace": [[]] * 99_000},
    ],
)
def test_of_many_mistakes_in_a_form_the_first_is_enough(data):
    with pytest.raises(ValidationError) as refused:
        ANSWER.validate_python(data)
    assert refused.value.error_count() < 20


def test_every_kind_has_words_and_converts_nothing():
    assert len({kind.words for kind in KINDS.values()}) == len(KINDS)
    for name, kind in KINDS.items():
        assert kind.__name__.lower() == name and kind.__doc__
        assert kind.model_config["strict"] and kind.model_config["extra"] == "forbid"
