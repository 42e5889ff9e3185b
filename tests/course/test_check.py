import math
import warnings

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import netlab as nl
from netlab import check
from netlab.course.answers.forms import form
from netlab.course.answers.verdicts import Check
from netlab.errors import SpecificationError
from tests.course.compared import compare

finite = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**999), 2**999)
usual = st.floats(1e-3, 1e12)
VERDICTS = {"right", "close", "wrong", "nothing", "noted"}
SHARES = {"right": 1, "close": 0.5, "wrong": 0, "nothing": 0}


def outcome(found):
    return found.verdict, found.share


@given(finite, finite, st.floats(0, 1), st.sampled_from(["", "bit/s", "s", "byte", "%", "flows"]))
def test_any_two_numbers_can_be_compared(one, other, within, unit):
    found = check(one, other, unit, within)
    assert found.verdict in ("right", "close", "wrong") and 0 <= found.share <= 1
    assert (found.verdict == "right") == (found.share == 1)
    assert outcome(check(one, one, unit, exact=True)) == ("right", 1)


@given(
    usual,
    st.sampled_from(["bit/s", "byte", "Mbit/s", "kB", "s", "ms", "packets"]),
    st.sampled_from([8, 1e3, 1e6, 1e9]),
)
def test_a_usual_slip_is_worth_a_quarter(value, unit, factor):
    assume(factor == 8 or unit != "packets")
    prefix = "s, ms or us?" if unit in ("s", "ms") else "kilo, mega, giga?"
    hint = "bits or bytes" if factor == 8 else prefix
    for one, other in ((value, factor * value), (factor * value, value)):
        found = check(one, other, unit)
        assert outcome(found) == ("wrong", 0.25) and hint in found.hint


@given(usual, st.floats(0.5, 2))
def test_right_and_close_are_as_far_off_as_they_say(value, factor):
    off = abs(factor - 1)
    assume(all(abs(off - limit) > 1e-6 for limit in (0.01, 0.05)))
    expected = "right" if off < 0.01 else "close" if off < 0.05 else "wrong"
    found = check(value * factor, value, "flows")
    assert outcome(found) == (expected, SHARES[expected])


def rows(right, *table, unit="", **how):
    """Rows of `test_answers`: (given, verdict, share, hint) beside one right answer."""
    return [(given, right, unit, how, *expected) for given, *expected in table]


MEASURED = 94_532_187.5
MISTAKES = {"what was sent, not what arrived": 103.0, "of one stream": 25.0}
SENT = {"h1": 101.0, "h2": 101.0}
SERIES = pd.Series({"reno": 1.0, "cubic": 2.0})
LIST, DICT = [10.0, 20.0, 30.0, 40.0], dict(SERIES)
TABLE = pd.DataFrame({"flow": [1, 2], "bps": [1e6, 2e6]})
GAPS = pd.DataFrame({"a": [1, math.nan], "b": ["x", None]})
NESTED = {"a": {"b": [1, 2]}, "c": "h1"}
NONE = "nothing", 0


def figure(
    ys=((1.5, 2, 3), (5, 6, 7.5)), x="Time [s]", y="Goodput [Mbit/s]", xs=(1, 2, 3.5), names="abc"
):
    curves = [go.Scatter(x=xs, y=one, name=name) for one, name in zip(ys, names, strict=False)]
    return go.Figure(curves).update_xaxes(title=x).update_yaxes(title=y)


def lengths(*values):
    return go.Figure(go.Bar(x=values, y=["reno", "bbr"], orientation="h"))


def heights(*values):
    return go.Figure(go.Heatmap(z=[[1, 2], values]))


def experiment(rate="10mbit", seconds=5, seed=1, flows=1, **fields):
    tests = [nl.Iperf3("h1", "h2", time=seconds)] * flows
    return nl.Experiment(nl.wan(rate, "20ms"), *tests, seed=seed, **fields)


def unwritten(value):
    raise NotImplementedError


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


@pytest.mark.parametrize(
    ("given", "right", "unit", "how", "verdict", "share", "hint"),
    [
        (2**20, 1e6, "byte", {}, "close", 0.5, "1000 or 1024"),
        (2**20, 1e6, "byte", {"within": 0.001}, "wrong", 0.25, "1000 or 1024"),
        (2**20, 1e6, "byte", {"within": 0.05}, "right", 1, ""),
        (1e9, 2**30, "byte", {}, "wrong", 0.25, "1000 or 1024"),
        (1500, 1448, "byte", {}, "close", 0.5, "headers"),
        (1514, 1448, "byte", {"within": 0.001}, "wrong", 0, "headers"),
        (20, None, "", {}, "wrong", 0, "it should be None"),
        (20, 40, "ms", {}, "wrong", 0, "a round trip has two ways"),
        (40, 20, "ms", {}, "wrong", 0, "a round trip has two ways"),
        (8, 4, "flows", {}, "wrong", 0, "the order of magnitude is right"),
        (8, 1, "flows", {}, "wrong", 0, "more than a factor of two"),
        (1, 0.125, "", {}, "wrong", 0, "more than a factor of two"),  # an index of fairness
        (8e6, 1e6, "", {}, "wrong", 0.25, "bits or bytes"),
        (1, 0.01, "", {}, "wrong", 0.25, "per cent"),
        (0.5, 50, "%", {}, "wrong", 0.25, "per cent"),
        (5000, 50, "bit/s", {}, "wrong", 0, "more than a factor of two"),
        (-20, 20, "ms", {}, "wrong", 0, "sign"),
        (0, 20, "ms", {}, "wrong", 0, "zero"),
        (20, 0, "ms", {}, "wrong", 0, "not this number"),
        (1e-15, 0, "ms", {}, "right", 1, ""),
        (math.nan, 20, "ms", {}, "wrong", 0, "not a number"),
        (math.inf, 20, "ms", {}, "wrong", 0, "infinite"),
        (math.nan, math.nan, "", {}, "right", 1, ""),
        (-math.inf, math.inf, "", {}, "wrong", 0, "infinite"),
        (26, 20, "ms", {"within": 0.5}, "right", 1, ""),
        (26, 20, "ms", {"within": 0.1}, "wrong", 0, "order of magnitude"),  # never close
        (np.float64(20.1), 20, "ms", {}, "right", 1, ""),
        (30.2, 0.0300, "s", {}, "wrong", 0.25, "s, ms or us? All but the prefix is right"),
        # exact is as it was measured
        *rows(
            MEASURED,
            (MEASURED * (1 + 1e-12), "right", 1, ""),
            (94.5e6, "close", 0.5, "without rounding"),
            (95.3e6, "wrong", 0, "is right; is it of the run of the text"),
            (94.5e6 / 8, "wrong", 0.125, "bits or bytes"),
            (94.5321875, "wrong", 0.25, "All but the prefix is right"),
            (94.5, "wrong", 0.125, "kilo, mega, giga? And more than the unit"),  # rounded, too
            (95.3, "wrong", 0, "kilo, mega, giga? And more"),  # another seed
            (120.0, "wrong", 0, "kilo, mega, giga? And more"),
            (5.0, "wrong", 0, "more than a factor of two"),
            unit="bit/s",
            exact=True,
        ),
        (61.7e9, MEASURED, "s", {"exact": True}, "wrong", 0, "s, ms or us?"),
        # a mistake that has a name
        *rows(
            100.0,
            (103.2, "wrong", 0, "you gave 103.2 flows: what was sent"),
            (25, "wrong", 0, "of one stream"),
            unit="flows",
            mistakes=MISTAKES,
        ),
        (101.6, 100.0, "", {"mistakes": MISTAKES, "within": 0.005}, "close", 0.5, ""),  # nearer
        (100.5, 100.0, "", {"mistakes": {"sent": 100.6}}, "right", 1, ""),
        ("both", "h1", "", {"mistakes": {"both send": "both"}}, "wrong", 0, '"both": both send'),
        (5, 4, "flows", {"mistakes": {"None": None, "f": len}}, "wrong", 0, "order of magnitude"),
        ([1, 2], [3, 4], "", {"mistakes": {"wrong way": [1, 2]}}, "wrong", 0, "wrong way"),
        ([10, 20, 90], [10, 20, 30], "", {"mistakes": {"link": [10, 20, 90]}}, "wrong", 2 / 3,
         "link"),  # it costs what it spoils
        (SENT, SENT | {"h1": 100.0}, "", {"mistakes": {"sent": SENT}, "within": 0.005}, "wrong",
         0.5, "sent"),
        # another kind
        *rows(
            25e6,
            ("25e6", "wrong", 0, "leave out the quotes"),
            ("25,5", "wrong", 0, "with a comma: write it with a point"),
            ((25, 5), "wrong", 0, "write 0.5, with a point"),
            ((0, 5e-3), "wrong", 0, "write 0.5, with a point"),  # 0,5e-2
            ((25, 0, 0), "wrong", 0, "write 1_250_000"),
            ((25.5, 5), "wrong", 0, "this is a list, and"),
            ("25,000,000", "wrong", 0, "leave out the quotes, and what parts its digits"),
            ("25 000 000", "wrong", 0, "leave out the quotes, and what parts its digits"),
            ("25 MB", "wrong", 0, "without its unit"),
            ([25e6], "right", 1, ""),
            (pd.Series({"h1": 25e6}), "right", 1, ""),
            (pd.DataFrame({"h1": [25e6]}), "wrong", 0, "this is a table, and the answer is"),
            ([1, 2], "wrong", 0, "this is a list, and the answer is a number"),
            (True, "wrong", 0, "a choice, and the answer is a number"),
            (len, "wrong", 0, "call it"),
            (object(), "wrong", 0, "of the type object"),
            (10**5000, "wrong", 0, "whole number"),
            (nl.wan("1mbit"), "wrong", 0, "a network"),
        ),
        ({1, 2}, [1, 2], "", {}, "wrong", 0, "make a list of it"),
        (map(str, [1]), ["1"], "", {}, "wrong", 0, "make a list of it"),
        (5, [5], "", {}, "wrong", 0, "the answer is a list"),
        *[(None, right, "", {}, *NONE, "None") for right in (5, "h1", True, LIST, DICT, TABLE)],
        # choices
        ("H-TCP ", "htcp", "", {}, "right", 1, ""),
        ("yes", True, "", {}, "right", 1, ""),
        ("True", True, "", {}, "right", 1, ""),
        (np.bool_(False), "no", "", {}, "right", 1, ""),
        (True, False, "", {}, "wrong", 0, "you gave True"),
        ("h1", "h2", "", {}, "wrong", 0, 'you gave "h1"'),
        (8, "8", "", {}, "right", 1, ""),
        ("<", ">", "", {}, "wrong", 0, ""),
        (" <", "<", "", {}, "right", 1, ""),
        # lists
        *rows(
            LIST,
            (np.array(LIST), "right", 1, ""),
            (pd.Series(LIST), "right", 1, ""),
            ([10, 20, 40, 30], "wrong", 0.5, "2 of 4 are right; item 3"),
            ([10, 20, 30, 41], "close", 0.875, "item 4"),
            ([10, 20, 30], "wrong", 0.75, "item 4: it is missing"),
            ([*LIST, 50], "wrong", 0.8, "more than there should be"),
            ([None] * 4, *NONE, "missing"),
            ([10, None, 30, 40], "wrong", 0.75, "item 2: it is missing"),
            ([], *NONE, "item 1"),
            unit="flows",
        ),
        (LIST, pd.Series(LIST), "", {}, "right", 1, ""),
        ([80, 160, 240, 320], LIST, "bit/s", {}, "wrong", 0.25, "item 1: you gave 80 bit/s: bits"),
        ([], [], "", {}, "right", 1, ""),
        ([[1, 2], ["a", True]], [[1, 2], ["A", True]], "", {}, "right", 1, ""),
        # dicts
        *rows(
            DICT,
            ({"CUBIC": 2, "Reno": 1, "bbr": 7}, "right", 1, ""),
            ({"reno": 1}, "wrong", 0.5, "cubic: it is missing"),
            ([1, 2], "wrong", 0, "names its values"),  # which is whose?
            (SERIES, "right", 1, ""),
            (pd.Series({"cubic": 1.0, "reno": 2.0}), "wrong", 0, ""),
            ({"Reno": 1, "RENO": 7, "cubic": 2}, "wrong", 0.5, "reno"),
            unit="flows",
        ),
        (DICT, [1, 2], "flows", {}, "right", 1, ""),  # in its order
        ({3: 1, 4: 2}, [1, 2], "flows", {}, "right", 1, ""),
        ({4: 1, 3: 2}, [1, 2], "flows", {}, "wrong", 0, "in which order"),
        ({"a": 1}, {}, "", {}, "wrong", 0, "more than"),
        (NESTED, NESTED, "", {}, "right", 1, ""),
        (NESTED | {"a": {"b": [1, 7]}}, NESTED, "", {}, "wrong", 0.75, "a: b: 1 of 2"),
        # tables
        *rows(
            TABLE,
            (TABLE[["bps", "flow"]].assign(more=0), "right", 1, ""),
            ({"flow": [1, 2], "bps": np.array([1e6, 2e6])}, "right", 1, ""),
            (TABLE.assign(bps=[1e6, 16e6]), "wrong", 0.8125,
             "column bps, 1 of 2 are right; row 1: you gave 16 000 000 bit/s: bits or bytes"),
            (TABLE[["flow"]], "wrong", 0.5, "column bps is missing"),
            (TABLE[:1], "wrong", 0.5, "rows"),
            unit="bit/s",
        ),
        ([1, 2], TABLE[["flow"]], "", {}, "right", 1, ""),
        (TABLE[["flow"]], [1, 2], "", {}, "right", 1, ""),
        (TABLE, [1, 2], "", {}, "wrong", 0, "take the column"),
        (GAPS, GAPS, "", {}, "right", 1, ""),
        # figures are curves, titles and units
        *rows(
            figure(),
            (figure(), "right", 1, ""),
            (figure(((5, 6, 7.5), (1.5, 2, 3), (0, 0, 0)), names="xyz"), "right", 1, ""),
            (figure(((5, 6, 7.5), (1.5, 2, 3)), names="BA"), "right", 1, ""),
            (figure(((5, 6, 7.5), (1.5, 2, 3))), "wrong", 0, "yours called a, b"),
            (figure(x="Zeit, s", y="Durchsatz (Mbit/s)"), "right", 1, ""),
            (figure(((1.5e6, 2e6, 3e6), (5e6, 6e6, 7.5e6)), y="Goodput [bit/s]"), "right", 1, ""),
            (figure(((1500, 2000, 3000), (5e3, 6e3, 7500)), y="Rate in kbit/s"), "right", 1, ""),
            (figure(x="Time", y="Goodput"), "close", 0.8, "x axis has no unit"),
            (figure(x=None), "close", 0.8, "the x axis has no title"),
            (figure(((1.5, 2, 3), (5, 6, 9))), "wrong", 0.7, "1 of 2 curves"),
            (figure(((1, 1), (2, 2))), "wrong", 0, "not those that were asked for"),
            (figure(()), "wrong", 0, "no data"),
        ),
        (lengths(1, 2), lengths(1, 2), "", {}, "right", 1, ""),
        (lengths(1, 2), lengths(1, 3), "", {}, "wrong", 0, ""),
        (heights(3, 4), heights(3, 4), "", {}, "right", 1, ""),
        (heights(3, 4), heights(3, 5), "", {}, "wrong", 0, ""),
        # experiments, part by part
        *rows(
            experiment(),
            (experiment(), "right", 1, ""),
            (experiment("10000kbit"), "right", 1, ""),  # the same in other words
            (experiment(seed=2), "close", 0.9, "seed"),
            (experiment(seed=2, stagger="0ms"), "close", 0.8, "seed, stagger"),
            (experiment("11mbit"), "wrong", 0.6, "topology.links[1].rate"),
            (experiment(seconds=6), "wrong", 0.6, "traffic[0].time"),
            (experiment("11mbit", 6), "wrong", 0, "topology.links[1].rate"),
            (experiment(flows=2), "wrong", 0.6, "traffic"),
        ),
        # functions, called once
        *rows(
            8,
            (lambda value: 2 * value, "right", 1, "for this example"),
            (lambda value: value / 4, "wrong", 0.25, "you gave 1 byte: bits or bytes"),
            (unwritten, "nothing", 0, "not written yet"),
            (lambda *, named: 8, "wrong", 0, "TypeError: "),
            (lambda value: None, *NONE, "None"),
            (8, "wrong", 0, "this is a number, and the answer is a function"),
            (None, *NONE, "None"),
            unit="byte",
            call=[4],
        ),
        (lambda value: value, 1, "", {"call": {"value": 1}}, "right", 1, "for this example"),
        # algorithms, phase by phase
        *rows(
            nl.algorithms.Reno,
            (Mine, "right", 1, ""),
            (Gentle(), "wrong", 0.6, "in a loss, a timeout: at a loss at cwnd 30, ssthresh inf"),
            (Fast, "wrong", 0.6, "in congestion avoidance, a window that is not full"),
            (Fails, "wrong", 0.2, "it fails: ValueError: tcp.ssthresh"),
        ),
    ],
)  # fmt: skip
def test_answers(given, right, unit, how, verdict, share, hint):
    found = check(given, right, unit, **how)
    assert outcome(found) == (verdict, share) and hint in found.hint
    assert bool(found.hint) == (verdict != "right" or "call" in how)
    if isinstance(right, nl.Experiment):
        assert "10mbit" not in found.hint
    if right is nl.algorithms.Reno:
        assert "15" not in found.hint  # Reno's window after that loss


@pytest.mark.parametrize(
    "title",
    [
        *("Mbit/s", "goodput Mbps", "Goodput Mbit/s", "Mbit per second", "Goodput / (Mbit/s)"),
        *("Goodput in Mbit / s", "Durchsatz/Mbit/s", "Mbit/s, all flows", "(Mbit/s, log scale)"),
        *("MBit/s of host B (without 2 s of start)", "Goodput (without [s]) Mb/s"),
    ],
)
def test_any_title_with_a_unit_that_fits_has_one(title):
    assert check(figure(y=title), figure()).verdict == "right"
    in_bits = figure(((1.5e6, 2e6, 3e6), (5e6, 6e6, 7.5e6)), y="Goodput [bit/s]")
    assert check(figure(y=title), in_bits).verdict == "right"
    assert nl.check_kind(figure(y=title)).verdict == "noted"


@pytest.mark.parametrize(
    "title, asked, share",
    [
        ("goodput of flow 1", "goodput [Mbit/s]", 0.9),
        ("Goodput of B and s", "goodput [Mbit/s]", 0.9),  # seconds
        ("Mbit", "goodput [Mbit/s]", 0.9),
        ("packets/s", "goodput [packets/s]", 1),  # unknown, and a unit
        ("segments", "window [segment]", 1),
        ("window", "window [segment]", 0.9),
        ("n", "lost packets", 1),  # names what is counted, and asks for no unit
        ("loss rate", "loss rate [1]", 0.9),
        ("loss", "", 1),
    ],
)
def test_a_unit_is_asked_for_where_the_right_title_has_one(title, asked, share):
    assert outcome(check(figure(y=title), figure(y=asked)))[1] == share


def test_whole_numbers_without_a_unit_are_told_what_that_is_right_for():
    found = nl.check_kind(figure(((1, 2, 3),), y="Goodput"))
    assert "no unit on y: right for names and counts alone" in found.hint


@pytest.mark.parametrize("title", ["(" * 9000, "[" * 9000 + " ", "in " * 3000, " " * 9000])
def test_a_title_can_be_anything(title):
    assert check(figure(y=title), figure()).verdict == "close"
    assert nl.check_kind(figure(y=title)).verdict == "wrong"


def test_a_table_with_a_wrong_cell_is_good_but_for_its_share():
    assert check(TABLE.assign(bps=[1e6, 7.0]), TABLE).good == 0.75


PAIRS = {"pairs": [["h1", "h2"]]}


def test_networks_are_compared_by_what_flows_may_expect():
    right, other = form(nl.wan("10mbit", "20ms")), form(nl.wan("20mbit", "20ms"))
    assert outcome(compare(right, right, **PAIRS)) == ("right", 1)
    found = compare(other, right, **PAIRS)
    assert found.verdict == "wrong" and 0 < found.share < 1
    assert "rate_bps from h1 to h2" in found.hint and "rtt_s" not in found.hint
    hosts = [nl.Host("h1", "10.0.0.1/8"), nl.Host("h2", "10.0.0.2/8")]
    link = nl.wan("10mbit", "20ms").links[1].but(a="h1", b="h2")
    strangers = [hosts[0], nl.Host("h3", "10.0.0.3/8")]  # no path to h2, which is not there
    apart = {"no h2": form(nl.Topology(hosts=strangers, links=[link.but(b="h3")]))}
    assert compare(other, right, apart, **PAIRS).hint == found.hint
    line = nl.Topology(hosts=hosts, links=[link])  # without the switches
    assert compare(form(line), right, **PAIRS).verdict == "right"
    assert check(nl.wan("10mbit"), nl.wan("10mbit")).verdict == "right"
    assert "links[1].rate" in check(nl.wan("10mbit"), nl.wan("11mbit")).hint


def hosts(*numbers):
    return {"hosts": [{"name": f"h{n}", "address": f"10.0.0.{n}/8"} for n in numbers]}


@pytest.mark.parametrize(
    "json",
    [
        {},
        {"self": 1},
        {"hosts": 5},
        hosts(1, 3),
        {"hosts": [{"name": f"h{n}"} for n in range(101)]},
        hosts(1, 2) | {"links": [{"a": "h1", "b": "h2", "rate": 1}]},
        hosts(1, 2) | {"links": [{"self": 1}]},
        {"hosts": [{"name": "\x1b[31m"}]},
    ],
)
def test_a_network_of_a_stranger_that_is_none_is_wrong(json):
    strange, right = {"kind": "topology", "json": json}, form(nl.wan("10mbit", "20ms"))
    for rule in (PAIRS, {}):
        found = compare(strange, right, **rule)
        assert outcome(found) == ("wrong", 0) and found.hint.isprintable()
    two = compare(*({"kind": "list", "items": [right, one]} for one in (strange, right)), **PAIRS)
    assert outcome(two) == ("wrong", 0.5)  # the other one counts


def test_a_solution_that_raises_is_no_students_fault():
    broken, right = {"kind": "topology", "json": {"self": 1}}, form(nl.wan("10mbit", "20ms"))
    with pytest.raises((SpecificationError, TypeError)):
        compare(right, broken, **PAIRS)


CASES = [[1e9, 0.02], [5e7, 0.1], [1e6, 1]]


@pytest.mark.parametrize(
    ("function", "more", "share", "hint"),
    [
        (lambda bps, rtt_s: bps * rtt_s / 8, {}, 1, ""),
        (lambda bps, rtt_s: bps * rtt_s, {}, 0.25, "call 1: you gave 20 000 000 byte: bits or"),
        (lambda bps, rtt_s: 2.5e6, {}, 0, "the same for each of 3 calls"),
        (lambda bps, rtt_s: 2.5e6 if bps > 2e6 else 1, {}, 1 / 3, "1 of 3 are right; call 2"),
        (lambda bps, rtt_s: 1 / 0, {}, 0, "call 1: ZeroDivisionError"),
        (lambda bps, rtt_s: None, {}, 0, "call 1: it returns nothing"),
        (5, {}, 0, "the answer is a function"),
        (lambda bps, rtt_s: bps * rtt_s, {"cases": CASES, "name": "bdp_bytes"}, 0.25,
         "bdp_bytes(1e9, 0.02): you gave 20 000 000 byte: bits"),
        (lambda bps, rtt_s: bps * rtt_s,
         {"mistakes": {"in bits": form(lambda bps, rtt_s: bps * rtt_s, CASES)}}, 0, "in bits"),
    ],
)  # fmt: skip
def test_functions_are_compared_case_by_case(function, more, share, hint):
    right = form(lambda bps, rtt_s: bps * rtt_s / 8, CASES)
    found = compare(form(function, CASES), right, unit="byte", **more)
    assert found.share == pytest.approx(share) and hint in found.hint


def test_a_function_as_it_was_handed_out_is_no_answer():
    right = form(lambda value: value, [1, 2])
    half = lambda value: value if value > 1 else unwritten(value)  # noqa: E731
    found = [compare(form(one, [1, 2]), right) for one in (unwritten, half)]
    assert [outcome(one) for one in found] == [("nothing", 0), ("wrong", 0.5)]
    assert all("call 1: not written yet" in one.hint for one in found)
    assert outcome(nl.check_kind(unwritten, call=[1])) == NONE


REFUSED = {
    "right": [len, object(), np.zeros(200_000), {1}],
    "within": [-1, "1%", math.nan],
    "mistakes": [5],
    "arguments": [5],
    "allowed": ["numbers", 5, (), (1,), (0, "1"), (0, 1, 2), ["a", "b"]],
}


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_that_are_none_are_refused(name):
    for value in REFUSED[name]:
        with pytest.raises(SpecificationError, match="compared" if name == "right" else name):
            check(1, **{name: value})


@pytest.mark.parametrize(
    ("given", "allowed", "hint"),
    [
        (0.5, (0, 1), ""),
        (1.5, (0, 1), "allowed: 0 to 1"),
        (math.nan, (0, 1), "allowed: 0 to 1"),
        (math.nan, "number", "this is not a finite number"),
        ("1.5", (0, 1), "this is a number in a text: leave out the quotes; allowed: 0 to 1"),
        ("Rate ", ("rate", "delay"), ""),
        ("queue", ("rate", "delay"), "allowed: rate, delay"),
        (5, ("rate", "delay"), "this is a number, and the answer is a text; allowed: rate, delay"),
        ([1], "number", ""),
        (np.array([2]), (0, 1), "allowed: 0 to 1"),
        ([1], "figure", "this is a list, and the answer is a figure"),
        ([1], "list", ""),
    ],
)
def test_what_is_allowed(given, allowed, hint):
    found = nl.check_kind(given, allowed)
    assert outcome(found) == ("wrong" if hint else "noted", 0)
    assert found.hint == (hint or nl.check_kind(given).hint)


RUN = experiment(seed=7)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (lambda: check(4, allowed=(0, 1)), lambda: nl.check_kind(4, (0, 1))),
        (lambda: check("h1", unit="byte"), lambda: nl.check_kind("h1", unit="byte")),
        (lambda: check(max, call=[1, 2], allowed="text"),
         lambda: nl.check_kind(max, "text", call=[1, 2])),
        (lambda: check(RUN, arguments=dict(seed=5)), lambda: nl.check_run(RUN, seed=5)),
        (lambda: check(RUN, arguments=dict(seed=7)), lambda: nl.check_run(RUN, seed=7)),
        (lambda: check(5, arguments=dict(seed=7)), lambda: nl.check_run(5, seed=7)),
        (lambda: check(5, state=[1]), lambda: nl.check_state(5, [1])),
    ],
)  # fmt: skip
def test_an_earlier_spelling_says_the_same_and_names_the_new_one(old, new):
    with pytest.warns(PendingDeprecationWarning, match=f"write {new.__code__.co_names[1]}"):
        earlier = old()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        now = new()
        assert check(5, 5).verdict == "right"
    assert (outcome(earlier), earlier.hint) == (outcome(now), now.hint)


def test_what_is_allowed_is_told_with_its_unit():
    found = nl.check_kind(4.8, (1e8, 1e10), "bit/s")
    assert found.hint == "allowed: 100 000 000 bit/s to 10 000 000 000 bit/s"


BARS = go.Figure(go.Bar(x=["a"], y=[3])).update_layout(xaxis_title="Who", yaxis_title="Flows")


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
        (object(), "wrong", "can be no answer"),
        (10**5000, "wrong", "whole number"),
        (Mine, "noted", "a congestion control, Mine"),
        (Fails, "wrong", "Fails fails: "),
        (figure(), "noted", "a figure with data"),
        (figure(x="Time"), "wrong", "title of the x axis has no unit"),
        (figure(y=None), "wrong", "the y axis has no title"),
        (figure(()), "wrong", "no data"),
        (BARS, "noted", "no unit on x and y"),
    ],
)
def test_an_answer_alone_is_told(given, verdict, hint):
    found = nl.check_kind(given, unit="byte")
    assert outcome(found) == (verdict, 0) and hint in found.hint


@pytest.mark.parametrize("given", [(25, 100, 1000), (25.5, 5), (25, -5), (True, 5), (25, "5")])
def test_a_list_that_nobody_means_as_a_number_is_not_told_of_commas(given):
    assert check(given, 25e6).hint == "this is a list, and the answer is a number"


def test_nothing_that_a_text_says_is_obeyed():
    hostile = "\x1b[31m<img src=x onerror=alert(1)>\u202e\n| `$x$` ![i](http://a)" + "x" * 2000
    wrong = check(1, 2, mistakes={hostile: 1}), Check("wrong", 0, hostile)
    for found in (nl.check_kind(hostile), *wrong):
        assert repr(found).isprintable() and len(repr(found)) < 600
        shown = found._repr_markdown_()
        assert "<" not in shown and shown.isprintable()
        assert r"\`\$x\$\`" in shown and r"\!\[i\]" in shown and r"\|" in shown
    assert len(check("x" * 9000, "delay").hint) < 100


def test_it_is_shown_as_a_sentence():
    assert repr(check(1, 1)) == "Right." and check(1, 1)._repr_markdown_() == "**Right**."
    assert check(8, 1, "byte")._repr_markdown_().startswith("**Not yet**: you gave 8 byte: bits")
    assert repr(nl.check_kind(5, unit="byte")) == "This is a number, 5 byte; it can be an answer."
    assert repr(nl.check_kind("h1")) == 'This is a text, "h1"; it can be an answer.'
    assert repr(check(None, 1)).startswith("No answer yet: ")


answers = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)
ANSWERS = [
    5.0, "h1", True, [1, [2.0, 3.0]], {"a": 1.0}, pd.DataFrame({"a": [1.0, 2]}), figure(),
    experiment(), nl.wan("1mbit"), nl.algorithms.Reno,
]  # fmt: skip
FORMS = [form(one) for one in ANSWERS]


@given(answers, answers)
def test_any_answer_can_be_compared_with_any(one, other):
    for found in (check(one, other), *(compare(form(one), right) for right in FORMS)):
        assert found.verdict in VERDICTS and 0 <= found.share <= 1 and found.hint.isprintable()
    assert check(other, other).verdict in ("right", "nothing")


@pytest.mark.parametrize("number", range(len(ANSWERS)))
def test_every_kind_is_right_beside_itself_alone(number):
    for other, right in enumerate(FORMS):
        found = compare(FORMS[number], right, **(PAIRS if other == 8 else {}))
        assert (found.verdict == "right") == (number == other)
