import itertools
import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import netlab as nl
from netlab import check
from netlab.course.checks.answers import compare
from netlab.course.checks.forms import form
from netlab.course.checks.verdicts import Check
from netlab.errors import SpecificationError

finite = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**999), 2**999)
usual = st.floats(1e-3, 1e12)
VERDICTS = {"right", "close", "wrong", "nothing", "noted"}


def outcome(found):
    return found.verdict, found.share


@given(finite, st.booleans(), st.sampled_from(["", "bit/s", "s", "byte", "%", "flows"]))
def test_a_number_is_right_beside_itself(value, exact, unit):
    assert outcome(check(value, value, unit, exact=exact)) == ("right", 1)


@given(finite, finite, st.floats(0, 1))
def test_any_two_numbers_can_be_compared(one, other, within):
    found = check(one, other, "bit/s", within)
    assert found.verdict in ("right", "close", "wrong") and 0 <= found.share <= 1
    assert (found.verdict == "right") == (found.share == 1)


@given(usual, st.sampled_from(["bit/s", "byte", "Mbit/s", "kB", "s", "ms", "packets"]))
def test_eight_times_as_much_is_bits_and_bytes(value, unit):
    for one, other in ((value, 8 * value), (8 * value, value)):
        found = check(one, other, unit)
        assert outcome(found) == ("wrong", 0.25) and "bits or bytes" in found.hint


@given(usual, st.sampled_from([1e3, 1e6, 1e9]))
def test_a_prefix_that_is_wrong_is_told(value, factor):
    for one, other in ((value, factor * value), (factor * value, value)):
        found = check(one, other, "bit/s")
        assert outcome(found) == ("wrong", 0.25) and "kilo, mega, giga" in found.hint


@given(usual, st.floats(0.5, 2))
def test_right_and_close_are_as_far_off_as_they_say(value, factor):
    off = abs(factor - 1)
    assume(all(abs(off - limit) > 1e-6 for limit in (0.01, 0.05)))
    found = check(value * factor, value, "flows")
    expected = "right" if off < 0.01 else "close" if off < 0.05 else "wrong"
    assert found.verdict == expected
    assert found.share == {"right": 1, "close": 0.5, "wrong": 0}[expected]


@pytest.mark.parametrize(
    ("given", "right", "unit", "within", "verdict", "share", "hint"),
    [
        (2**20, 1e6, "byte", 0.01, "close", 0.5, "1000 or 1024"),
        (2**20, 1e6, "byte", 0.001, "wrong", 0.25, "1000 or 1024"),
        (2**20, 1e6, "byte", 0.05, "right", 1, ""),
        (1e9, 2**30, "byte", 0.01, "wrong", 0.25, "1000 or 1024"),
        (1500, 1448, "byte", 0.01, "close", 0.5, "headers"),
        (1514, 1448, "byte", 0.001, "wrong", 0, "headers"),
        (20, 40, "ms", 0.01, "wrong", 0, "a round trip has two ways"),
        (40, 20, "ms", 0.01, "wrong", 0, "a round trip has two ways"),
        (8, 4, "flows", 0.01, "wrong", 0, "the order of magnitude is right"),
        (8, 1, "flows", 0.01, "wrong", 0, "more than a factor of two"),
        (1, 0.125, "", 0.01, "wrong", 0, "more than a factor of two"),  # an index of fairness
        (8e6, 1e6, "", 0.01, "wrong", 0.25, "bits or bytes"),
        (1, 0.01, "", 0.01, "wrong", 0.25, "per cent"),
        (0.5, 50, "%", 0.01, "wrong", 0.25, "per cent"),
        (5000, 50, "bit/s", 0.01, "wrong", 0, "more than a factor of two"),
        (-20, 20, "ms", 0.01, "wrong", 0, "sign"),
        (0, 20, "ms", 0.01, "wrong", 0, "zero"),
        (20, 0, "ms", 0.01, "wrong", 0, "not this number"),
        (1e-15, 0, "ms", 0.01, "right", 1, ""),
        (math.nan, 20, "ms", 0.01, "wrong", 0, "not a number"),
        (math.inf, 20, "ms", 0.01, "wrong", 0, "infinite"),
        (math.nan, math.nan, "", 0.01, "right", 1, ""),
        (-math.inf, math.inf, "", 0.01, "wrong", 0, "infinite"),
        (26, 20, "ms", 0.5, "right", 1, ""),
        (26, 20, "ms", 0.1, "wrong", 0, "order of magnitude"),  # never close from a quarter on
        (np.float64(20.1), 20, "ms", 0.01, "right", 1, ""),
    ],
    ids=itertools.count(),
)
def test_numbers(given, right, unit, within, verdict, share, hint):
    found = check(given, right, unit, within)
    assert outcome(found) == (verdict, share) and hint in found.hint
    assert bool(found.hint) == (verdict != "right")


def test_exact_is_as_it_was_measured():
    measured = 94_532_187.5
    assert check(measured * (1 + 1e-12), measured, "bit/s", exact=True).verdict == "right"
    rounded = check(94.5e6, measured, "bit/s", exact=True)
    assert outcome(rounded) == ("close", 0.5) and "without rounding" in rounded.hint
    assert check(95.3e6, measured, "bit/s", exact=True).verdict == "wrong"
    assert "bits or bytes" in check(94.5e6 / 8, measured, "bit/s", exact=True).hint


def test_a_mistake_that_has_a_name_is_told_by_it():
    mistakes = {"what was sent, not what arrived": 103.0, "of one stream": 25.0}
    for value, hint in ((103.2, "what was sent"), (25, "of one stream")):
        found = check(value, 100.0, "Mbit/s", mistakes=mistakes)
        assert outcome(found) == ("wrong", 0) and hint in found.hint
    assert check(101.6, 100.0, "Mbit/s", mistakes=mistakes).verdict == "close"  # nearer to right
    assert check(100.5, 100.0, "Mbit/s", mistakes={"sent": 100.6}).verdict == "right"
    assert "sent" in check(100.6, 100.0, exact=True, mistakes={"sent": 100.6}).hint
    assert "both" in check("both", "h1", mistakes={"both send": "both"}).hint
    assert check(5, 4, "flows", mistakes={"it is None": None, "a function": len}).share == 0
    assert "wrong" in check([1, 2], [3, 4], mistakes={"wrong way": [1, 2]}).hint


def test_a_mistake_with_a_name_costs_what_it_spoils():
    link = {"faster than the link": [10, 20, 90]}
    found = check([10, 20, 90], [10, 20, 30], mistakes=link)
    assert outcome(found) == ("wrong", 2 / 3) and "link" in found.hint
    sent = {"what was sent": {"h1": 101.0, "h2": 101.0}}
    found = check({"h1": 101.0, "h2": 101.0}, {"h1": 100.0, "h2": 101.0}, exact=True, mistakes=sent)
    assert outcome(found) == ("wrong", 0.5) and "sent" in found.hint


@pytest.mark.parametrize(
    ("given", "right", "hint"),
    [
        ("25e6", 25e6, "leave out the quotes"),
        ("25 MB", 25e6, "without its unit"),
        ([25e6], 25e6, "take the number out of it"),
        ([1, 2], 25e6, "this is a list, and the answer is a number"),
        (True, 25e6, "a choice, and the answer is a number"),
        (len, 25e6, "call it"),
        ({1, 2}, [1, 2], "make a list of it"),
        (map(str, [1]), ["1"], "make a list of it"),
        (object(), 1, "of the type object"),
        (5, [5], "the answer is a list"),
        (10**5000, 1, "whole number"),
        (nl.wan("1mbit"), 5, "a network"),
    ],
    ids=itertools.count(),
)
def test_another_kind_is_wrong_and_says_why(given, right, hint):
    found = check(given, right)
    assert outcome(found) == ("wrong", 0) and hint in found.hint


@pytest.mark.parametrize("right", [5, "h1", True, [1, 2], {"a": 1}, pd.DataFrame({"a": [1]})])
def test_none_is_no_answer_yet(right):
    assert outcome(check(None, right)) == ("nothing", 0)
    assert repr(check(None, right)).startswith("No answer yet")


@pytest.mark.parametrize(
    ("given", "right", "same"),
    [
        ("H-TCP ", "htcp", True),
        ("yes", True, True),
        ("True", True, True),
        (np.bool_(False), "no", True),
        (True, False, False),
        ("h1", "h2", False),
        (8, "8", True),
        ("<", ">", False),
        (" <", "<", True),
    ],
)
def test_choices_are_compared_as_people_write_them(given, right, same):
    assert outcome(check(given, right)) == (("right", 1) if same else ("wrong", 0))


def test_lists_are_as_right_as_their_items():
    right = [10.0, 20.0, 30.0, 40.0]
    assert outcome(check(np.array(right), right, "flows")) == ("right", 1)
    found = check([10, 20, 40, 30], right, "flows")
    assert outcome(found) == ("wrong", 0.5) and "2 of 4 are right; item 3" in found.hint
    found = check([80, 160, 240, 320], right, "bit/s")
    assert (
        outcome(found) == ("wrong", 0.25)
        and "item 1: you gave 80 bit/s: bits or bytes" in found.hint
    )
    assert outcome(check([10, 20, 30, 41], right, "flows")) == ("close", 0.875)
    assert outcome(check([10, 20, 30], right, "flows")) == ("wrong", 0.75)
    found = check([*right, 50], right, "flows")
    assert outcome(found) == ("wrong", 0.8) and "more than there should be" in found.hint
    assert outcome(check([None] * 4, right)) == ("nothing", 0)
    assert "item 2: it is missing" in check([10, None, 30, 40], right).hint
    assert check([], []).verdict == "right" and check([], right).verdict == "nothing"
    assert check([[1, 2], ["a", True]], [[1, 2], ["A", True]]).verdict == "right"
    assert (
        check(pd.Series(right), right).verdict == check(right, pd.Series(right)).verdict == "right"
    )


def test_dicts_are_compared_by_name():
    right = {"reno": 1.0, "cubic": 2.0}
    assert check({"CUBIC": 2, "Reno": 1, "bbr": 7}, right, "flows").verdict == "right"
    found = check({"reno": 1}, right, "flows")
    assert outcome(found) == ("wrong", 0.5) and "cubic: it is missing" in found.hint
    assert outcome(check([1, 2], right, "flows")) == ("wrong", 0)  # which is whose?
    assert check(pd.Series(right), right, "flows").verdict == "right"
    assert check(pd.Series({"cubic": 1.0, "reno": 2.0}), right, "flows").share == 0
    assert check(right, [1, 2], "flows").verdict == "right"  # in its order
    assert check({3: 1, 4: 2}, [1, 2], "flows").verdict == "right"
    assert outcome(check({4: 1, 3: 2}, [1, 2], "flows")) == ("wrong", 0)
    assert check({"a": 1}, {}).verdict == "wrong"
    twice = {"Reno": 1, "RENO": 7, "cubic": 2}
    assert outcome(check(twice, right, "flows")) == ("wrong", 0.5)
    nested = {"a": {"b": [1, 2]}, "c": "h1"}
    assert check(nested, nested).verdict == "right"
    assert outcome(check(nested | {"a": {"b": [1, 7]}}, nested)) == ("wrong", 0.75)


def test_tables_are_compared_by_column():
    right = pd.DataFrame({"flow": [1, 2], "bps": [1e6, 2e6]})
    assert check(right[["bps", "flow"]].assign(more=0), right).verdict == "right"
    assert check({"flow": [1, 2], "bps": np.array([1e6, 2e6])}, right).verdict == "right"
    found = check(right.assign(bps=[1e6, 16e6]), right, "bit/s")
    assert outcome(found) == ("wrong", 0.8125) and "column bps, 1 of 2" in found.hint
    assert "row 1: you gave 16 000 000 bit/s: bits or bytes" in found.hint
    found = check(right[["flow"]], right)
    assert outcome(found) == ("wrong", 0.5) and "column bps is missing" in found.hint
    found = check(right[:1], right)
    assert outcome(found) == ("wrong", 0.5) and "rows" in found.hint
    assert check([1, 2], right[["flow"]]).verdict == "right"
    assert check(right[["flow"]], [1, 2]).verdict == "right"
    assert "take the column" in check(right, [1, 2]).hint
    gaps = pd.DataFrame({"a": [1, math.nan], "b": ["x", None]})
    assert check(gaps, gaps).verdict == "right"


def figure(
    ys=((1.5, 2, 3), (5, 6, 7.5)), x="Time [s]", y="Goodput [Mbit/s]", xs=(1, 2, 3.5), names="012"
):
    curves = [go.Scatter(x=xs, y=one, name=name) for one, name in zip(ys, names, strict=False)]
    return go.Figure(curves).update_xaxes(title=x).update_yaxes(title=y)


@pytest.mark.parametrize(
    ("given", "verdict", "share", "hint"),
    [
        (figure(), "right", 1, ""),
        (figure(((5, 6, 7.5), (1.5, 2, 3), (0, 0, 0)), names="ABC"), "right", 1, ""),
        (figure(((5, 6, 7.5), (1.5, 2, 3)), names="10"), "right", 1, ""),
        (figure(((5, 6, 7.5), (1.5, 2, 3))), "wrong", 0, "yours called 0, 1"),
        (figure(x="Zeit, s", y="Durchsatz (Mbit/s)"), "right", 1, ""),
        (figure(((1.5e6, 2e6, 3e6), (5e6, 6e6, 7.5e6)), y="Goodput [bit/s]"), "right", 1, ""),
        (figure(((1500, 2000, 3000), (5e3, 6e3, 7500)), y="Goodput in kbit/s"), "right", 1, ""),
        (figure(x="Time", y="Goodput"), "close", 0.8, "the x axis has no unit"),
        (figure(x=None), "close", 0.8, "the x axis has no title"),
        (figure(((1.5, 2, 3), (5, 6, 9))), "wrong", 0.7, "1 of 2 curves"),
        (figure(((1, 1), (2, 2))), "wrong", 0, "not those that were asked for"),
        (figure(()), "wrong", 0, "no data"),
    ],
    ids=itertools.count(),
)
def test_figures_are_curves_titles_and_units(given, verdict, share, hint):
    found = check(given, figure())
    assert outcome(found) == (verdict, share)
    assert hint.replace("the x axis has no unit", "x axis has no unit") in found.hint


@pytest.mark.parametrize("title", ["(" * 9000, "[" * 9000 + " ", "in " * 3000, " " * 9000])
def test_a_title_can_be_anything(title):
    assert check(figure(y=title), figure()).verdict == "close"
    assert check(figure(y=title)).verdict == "wrong"


def bar_of_counts():
    bar = go.Figure(go.Bar(x=["a"], y=[3]))
    return bar.update_layout(xaxis_title="Who", yaxis_title="Flows")


def test_lengths_of_bars_are_compared_where_they_lie():
    bars = [
        go.Figure(go.Bar(x=lengths, y=["reno", "bbr"], orientation="h"))
        for lengths in ([1, 2], [1, 3])
    ]
    assert check(bars[0], bars[0]).verdict == "right" and check(*bars).verdict == "wrong"
    maps = [go.Figure(go.Heatmap(z=[[1, 2], [3, last]])) for last in (4, 5)]
    assert check(maps[0], maps[0]).verdict == "right" and check(*maps).verdict == "wrong"


@pytest.mark.parametrize(
    ("given", "verdict", "hint"),
    [
        (figure(), "noted", "a figure with data"),
        (figure(x="Time"), "wrong", "title of the x axis has no unit"),
        (figure(y=None), "wrong", "the y axis has no title"),
        (figure(()), "wrong", "no data"),
        (bar_of_counts(), "noted", "no unit on x and y"),
    ],
    ids=itertools.count(),
)
def test_a_figure_alone_is_looked_at(given, verdict, hint):
    found = check(given)
    assert found.verdict == verdict and hint in found.hint


def experiment(rate="10mbit", seconds=5, seed=1, **fields):
    topology = nl.wan(rate, "20ms")
    return nl.Experiment(topology, nl.Iperf3("h1", "h2", time=seconds), seed=seed, **fields)


@pytest.mark.parametrize(
    ("given", "verdict", "share", "place"),
    [
        (experiment(), "right", 1, ""),
        (experiment("10000kbit"), "right", 1, ""),  # the same in other words
        (experiment(seed=2), "close", 0.9, "seed"),
        (experiment(seed=2, stagger="0ms"), "close", 0.8, "seed, stagger"),
        (experiment("11mbit"), "wrong", 0.6, "topology.links[1].rate"),
        (experiment(seconds=6), "wrong", 0.6, "traffic[0].time"),
        (experiment("11mbit", 6), "wrong", 0, "topology.links[1].rate"),
    ],
    ids=itertools.count(),
)
def test_experiments_are_compared_part_by_part(given, verdict, share, place):
    found = check(given, experiment())
    assert outcome(found) == (verdict, share) and place in found.hint
    assert "10mbit" not in found.hint


def test_more_traffic_than_asked_for_is_told():
    more = nl.Experiment(nl.wan("10mbit", "20ms"), *[nl.Iperf3("h1", "h2", time=5)] * 2)
    assert outcome(check(more, experiment())) == ("wrong", 0.6)
    assert "traffic" in check(more, experiment()).hint


PAIRS = {"pairs": [["h1", "h2"]]}


def test_networks_are_compared_by_what_flows_may_expect():
    right, other = form(nl.wan("10mbit", "20ms")), form(nl.wan("20mbit", "20ms"))
    assert outcome(compare(right, right, PAIRS)) == ("right", 1)
    found = compare(other, right, PAIRS)
    assert found.verdict == "wrong" and 0 < found.share < 1
    assert "rate_bps from h1 to h2" in found.hint and "rtt_s" not in found.hint
    hosts = [nl.Host("h1", "10.0.0.1/8"), nl.Host("h2", "10.0.0.2/8")]
    link = nl.wan("10mbit", "20ms").links[1].but(a="h1", b="h2")
    line = nl.Topology(hosts=hosts, links=[link])  # without the switches
    assert compare(form(line), right, PAIRS).verdict == "right"
    assert check(nl.wan("10mbit"), nl.wan("10mbit")).verdict == "right"
    assert "links[1].rate" in check(nl.wan("10mbit"), nl.wan("11mbit")).hint


@pytest.mark.parametrize(
    "json",
    [
        {},
        {"hosts": 5},
        {
            "hosts": [
                {"name": "h1", "address": "10.0.0.1/8"},
                {"name": "h3", "address": "10.0.0.3/8"},
            ]
        },
        {"hosts": [{"name": f"h{n}"} for n in range(101)]},
        {
            "hosts": [
                {"name": "h1", "address": "10.0.0.1/8"},
                {"name": "h2", "address": "10.0.0.2/8"},
            ],
            "links": [{"a": "h1", "b": "h2", "rate": 1}],
        },
        {"hosts": [{"name": "\x1b[31m"}]},
        {"self": 1},
        {"cls": {}, "links": [{"self": 1}]},
    ],
    ids=itertools.count(),
)
def test_a_network_that_is_none_is_wrong(json):
    right = form(nl.wan("10mbit", "20ms"))
    found = compare({"kind": "topology", "json": json}, right, PAIRS)
    assert outcome(found) == ("wrong", 0) and found.hint.isprintable()


def test_algorithms_are_compared_phase_by_phase():
    class Mine(nl.CongestionControl):
        """Reno, as a student may write it."""

        def on_ack(self, tcp, acked):
            if not tcp.cwnd_limited:
                return
            if tcp.cwnd < tcp.ssthresh:
                tcp.cwnd = tcp.cwnd + acked
            else:
                tcp.cwnd = tcp.cwnd + (1 / tcp.cwnd) * acked

        def on_loss(self, tcp):
            tcp.ssthresh = 0.5 * tcp.cwnd

    class Gentle(Mine):
        def on_loss(self, tcp):
            tcp.ssthresh = 0.7 * tcp.cwnd

    class Fast(Mine):
        def on_ack(self, tcp, acked):
            tcp.cwnd += acked

    class Fails(Mine):
        def on_loss(self, tcp):
            tcp.ssthresh = -1

    reno = nl.algorithms.Reno
    assert outcome(check(Mine, reno)) == ("right", 1)
    found = check(Gentle(), reno)
    assert outcome(found) == ("wrong", 0.6) and "in a loss, a timeout" in found.hint
    found = check(Fast, reno)
    assert outcome(found) == ("wrong", 0.6)
    assert "in congestion avoidance, a window that is not full" in found.hint
    found = check(Fails, reno)
    assert outcome(found) == ("wrong", 0.2) and "it fails: ValueError: tcp.ssthresh" in found.hint
    assert "fails" in repr(check(Fails)) and check(Mine).verdict == "noted"


def test_functions_are_compared_case_by_case():
    cases = [[1e9, 0.02], [5e7, 0.1], [1e6, 1]]
    right = form(lambda bps, rtt_s: bps * rtt_s / 8, cases)

    def of(function):
        return compare(form(function, cases), right, {"unit": "byte"})

    assert outcome(of(lambda one, two: one * two / 8)) == ("right", 1)
    found = of(lambda one, two: one * two)
    assert (
        outcome(found) == ("wrong", 0.25)
        and "call 1: you gave 20 000 000 byte: bits or bytes" in found.hint
    )
    found = of(lambda one, two: 2.5e6)
    assert outcome(found) == ("wrong", 0) and "the same for each of 3 calls" in found.hint
    found = of(lambda one, two: 2.5e6 if one > 2e6 else 1)
    assert found.verdict == "wrong" and found.share == pytest.approx(1 / 3)
    assert "1 of 3 are right; call 2" in found.hint
    assert "call 1: ZeroDivisionError" in of(lambda one, two: 1 / 0).hint
    assert "call 1: it returns nothing" in of(lambda one, two: None).hint
    found = compare(form(5), right, {})
    assert outcome(found) == ("wrong", 0) and "the answer is a function" in found.hint
    spec = {"unit": "byte", "cases": cases, "name": "bdp_bytes"}
    found = compare(form(lambda bps, rtt_s: bps * rtt_s, cases), right, spec)
    assert "bdp_bytes(1e9, 0.02): you gave 20 000 000 byte: bits" in found.hint
    named = {"unit": "byte", "mistakes": {"in bits": form(lambda a, b: a * b, cases)}}
    assert "in bits" in compare(form(lambda a, b: a * b, cases), right, named).hint


@pytest.mark.parametrize("right", [len, object(), np.zeros(200_000), {1}])
def test_what_cannot_be_compared_with_is_refused(right):
    with pytest.raises(SpecificationError, match="cannot be compared"):
        check(1, right)


@pytest.mark.parametrize(
    "wrong", [{"within": -1}, {"within": "1%"}, {"within": math.nan}, {"mistakes": 5}]
)
def test_arguments_are_checked(wrong):
    with pytest.raises(SpecificationError, match=next(iter(wrong))):
        check(1, 1, **wrong)


@pytest.mark.parametrize("allowed", ["numbers", 5, (), (1,), (0, "1"), (0, 1, 2), ["a", "b"]])
def test_what_is_allowed_is_a_kind_or_numbers_or_texts(allowed):
    with pytest.raises(SpecificationError, match=r"allowed = .*: one of nothing, .*number"):
        check(1, allowed=allowed)


@pytest.mark.parametrize(
    ("given", "allowed", "hint"),
    [
        (0.5, (0, 1), ""),
        (1.5, (0, 1), "allowed: 0 to 1"),
        (math.nan, (0, 1), "allowed: 0 to 1"),
        ("1.5", (0, 1), "this is a number in a text: leave out the quotes; allowed: 0 to 1"),
        ("Rate ", ("rate", "delay"), ""),
        ("queue", ("rate", "delay"), "allowed: rate, delay"),
        (5, ("rate", "delay"), "this is a number, and the answer is a text; allowed: rate, delay"),
        ([1], "number", "this is a list of one: take the number out of it, with [0]"),
        ([1], "list", ""),
    ],
)
def test_what_can_be_an_answer(given, allowed, hint):
    found = check(given, allowed=allowed)
    assert found.hint == hint if hint else found.verdict == check(given).verdict


@pytest.mark.parametrize(
    ("given", "verdict", "hint"),
    [
        (25e6, "noted", "a number, 25 000 000 byte"),
        ("h1", "wrong", "this is a text: write a number"),
        (experiment(seed=7), "noted", "an experiment with the seed 7"),
        ([1, 2], "noted", "a list of 2"),
        (pd.DataFrame({"a": [1], "b": [2]}), "noted", "a table of 1 rows with the columns a, b"),
        (nl.wan("1mbit"), "noted", "a network"),
        (len, "noted", "a function or class itself"),
        (None, "nothing", "None"),
        (math.nan, "wrong", "not a finite number"),
        (object(), "wrong", "can be no answer"),
        (10**5000, "wrong", "whole number"),
    ],
    ids=itertools.count(),
)
def test_an_answer_alone_is_told(given, verdict, hint):
    found = check(given, unit="byte")
    assert found.verdict == verdict and hint in found.hint and found.share == 0


def test_nothing_that_a_text_says_is_obeyed():
    hostile = "\x1b[31m<img src=x onerror=alert(1)>\u202e\n| `$x$` ![i](http://a)" + "x" * 2000
    for found in (check(hostile), check(1, 2, mistakes={hostile: 1}), Check("wrong", 0, hostile)):
        assert repr(found).isprintable() and len(repr(found)) < 600
        shown = found._repr_markdown_()
        assert "<" not in shown and shown.isprintable()
        assert r"\`\$x\$\`" in shown and r"\!\[i\]" in shown and r"\|" in shown


def test_it_is_shown_as_a_sentence():
    assert repr(check(1, 1)) == "Right." and check(1, 1)._repr_markdown_() == "**Right**."
    assert check(8, 1, "byte")._repr_markdown_() == (
        "**Not yet**: you gave 8 byte: bits or bytes? A byte has 8 bits."
    )
    assert repr(check(5, unit="byte")) == "This is a number, 5 byte; it can be an answer."
    assert repr(check("h1")) == 'This is a text, "h1"; it can be an answer.'


answers = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)
ANSWERS = [
    5.0, "h1", True, [1, [2.0]], {"a": 1.0}, pd.DataFrame({"a": [1.0, 2]}), figure(), experiment(),
    nl.wan("1mbit"), nl.algorithms.Reno,
]  # fmt: skip
FORMS = [form(one) for one in ANSWERS]


@given(answers, answers)
def test_any_answer_can_be_compared_with_any(one, other):
    for found in (check(one, other), *(compare(form(one), right, {}) for right in FORMS)):
        assert found.verdict in VERDICTS and 0 <= found.share <= 1 and found.hint.isprintable()
    assert check(other, other).verdict in ("right", "nothing")


@pytest.mark.parametrize("number", range(len(ANSWERS)))
def test_every_kind_is_right_beside_itself_alone(number):
    for other, right in enumerate(FORMS):
        found = compare(FORMS[number], right, PAIRS if other == 8 else {})
        assert (found.verdict == "right") == (number == other)
