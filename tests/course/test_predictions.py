import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import SpecificationError, you_said

positive = st.floats(1e-6, 1e12)


@given(positive, positive)
def test_too_much_and_too_little_are_told_apart(said, it):
    (words,) = you_said(said, it, "s").verdicts.values()
    factor = said / it
    assert ("too much" in words) == (factor > 2)
    assert ("too little" in words) == (1 / factor > 2)
    assert ("right, to within" in words or words == "right") == (max(factor, 1 / factor) <= 1.05)


@pytest.mark.parametrize("measured", [4.7, "both", True, ["reno", "bbr"], {"a": 1.0, "b": "x"}])
def test_no_prediction_is_fine(measured):
    answer = you_said(None, measured)
    assert "nothing yet" in repr(answer) and "nothing yet" in answer._repr_markdown_()
    assert set(answer.verdicts.values()) == {""}


def test_one_of_several_may_be_missing():
    answer = you_said({"a": None, "b": 2}, {"a": 1, "b": 2}, "s", model={"b": 2.5})
    assert answer.verdicts == {"a": "", "b": "right"}
    head, _, a, b = answer._repr_markdown_().splitlines()
    assert "model" in head and "nothing yet" in a and "2.5 s" in b and "| 2 s |" in b


@given(st.permutations(["reno", "cubic", "bbr", "vegas"]))
def test_an_order_is_as_right_as_its_pairs(said):
    it = ["reno", "cubic", "bbr", "vegas"]
    (words,) = you_said(said, it).verdicts.values()
    assert (words == "right") == (said == it)
    (backwards,) = you_said(said[::-1], it).verdicts.values()
    right, wrong = (6 if text == "right" else int(text[0]) for text in (words, backwards))
    assert right + wrong == 6


things = st.none() | st.booleans() | st.floats() | st.text(max_size=9) | st.lists(st.integers())


@given(
    things | st.dictionaries(st.sampled_from("ab"), things),
    st.sampled_from([4.7, "both", ["reno", "bbr"], {"a": 1.0, "b": "x"}, True]),
    st.sampled_from(["", "ms", "Mbit/s", "%", "streams"]),
    st.sampled_from([None, ["both", "h1"], {"both": 1.0, "h1": 2.0}]),
    st.none() | st.floats(0, 1),
)
def test_no_prediction_stops_a_run_of_all_cells(said, it, unit, choices, within):
    answer = you_said(said, it, unit, choices=choices, within=within)
    assert repr(answer) and answer._repr_markdown_()


@pytest.mark.parametrize(
    ("said", "unit", "it"),
    [
        ("80 ms", "ms", 80), ("0.08s", "ms", 80), ("80", "ms", 80), ("9.4 Gbit/s", "Mbit/s", 9400),
        ("100 Mbps", "Mbit/s", 100), ("100Mbps", "Mbit/s", 100), ("12 MB/s", "Mbit/s", 96),
        ("9400mbit", "Gbit/s", 9.4), ("45 %", "%", 45), ("45%", "", 0.45),
        ("45%", "of the sum", 0.45),
    ],
)  # fmt: skip
def test_a_number_may_have_its_unit(said, unit, it):
    assert next(iter(you_said(said, it, unit).verdicts.values())).startswith("right")
    assert "right" not in repr(you_said(said, 3 * it, unit))


SHARES = {"one queue": 0.1, "cake, hosts": 0.456, "cake, hosts, ECN": 0.458, "cake": 0.459}
CHANCE = {"choices": SHARES, "within": 0.02}
BY_NAME = {"choices": pd.Series(SHARES), "within": 0.02}


@pytest.mark.parametrize(
    ("said", "it", "unit", "how", "words"),
    [
        # usual slips, told where they fit the unit
        (8 * 4.7, 4.7, "Gbit/s", {}, "bits or bytes"),
        (4.7 / 8, 4.7, "Gbit/s", {}, "bits or bytes"),
        (4700, 4.7, "Gbit/s", {}, "kilo, mega, giga"),
        (20_000, 20, "ms", {}, "s, ms or us?"),
        (8, 1, "streams", {}, "too much, by a factor of 8."),
        (5000, 7.0, "x", {}, "factor of about 700"),
        (9.4e9, 9.4, "Gbit/s", {}, "1,000,000,000; kilo"),
        # another kind is answered in words
        ("fast", 4.7, "Mbit/s", {}, "write a number"),
        (True, 1.0, "Mbit/s", {}, "write a number"),
        ([1], 9.4, "Mbit/s", {}, "write a number"),
        ({"one": "9 apples"}, {"one": 9.4}, "Mbit/s", {}, "write a number"),
        (["reno"], ["reno", "bbr"], "", {}, "write a list of bbr, reno"),
        (7, ["reno", "bbr"], "", {}, "write a list of"),
        (10, {"one": 1}, "Mbit/s", {}, "write a dict with names from one"),
        ({"two": 1}, {"one": 1}, "Mbit/s", {}, "write a dict with names from one"),
        (object(), "reno", "", {}, "not this time"),
        # choices are compared as people write, and what chance may have ordered is as good
        ("Both ", "both", "", {}, "right"),
        ("yes", np.bool_(True), "", {}, "right"),
        (True, "yes", "", {}, "it is yes: right"),
        (["Reno", "H-TCP"], ["reno", "htcp"], "", {}, "right"),
        (True, False, "", {}, "You said yes; it is no: not this time"),
        ("Cake, hosts, ECN", "cake", "", CHANCE, "right: as good"),
        ("Cake, hosts, ECN", "cake", "", BY_NAME, "right: as good"),
        ("one queue", "cake", "", CHANCE, "not this time"),
        ("cake, hosts", "cake", "", {"choices": SHARES}, "not this time"),
        ("fifo", "cake", "", BY_NAME, "not one of these: one queue; cake, hosts; "),
        ("h7", "both", "", {"choices": ["h1", "both"]}, "not one of these: h1; both"),
        # a lesson may be that near is wrong
        (12.5, 10.4, "Mbit/s", {}, "close"),
        (12.5, 10.4, "Mbit/s", {"within": 0.05}, "Mbit/s: too much, by a factor of 1.2."),
        (10.5, 10.4, "Mbit/s", {"within": 0.05}, "right, to within 5"),
        # shares differ by so much, and not by a factor
        (0.5, 0.3373, "", {}, "too much, by 0.16"),
        (0.5, np.float64(0.52), "", {}, "right"),
        (0.5, 0.59, "", {}, "close; too little, by 0.09"),
        (0.11, 0.036, "", {}, "too much, by 0.074"),  # three times as much
        (0, 0.9, "", {}, "too little, by 0.9"),
        (0.001, 0.01, "", {}, "factor of 10"),  # a loss rate, not a share
        (3, 0, "", {}, "off"),
        (0, 0, "", {}, "right."),
    ],
)
def test_what_is_said_of_a_prediction(said, it, unit, how, words):
    answer = you_said(said, it, unit, **how)
    assert words in repr(answer) and answer._repr_markdown_()


def test_arguments_of_another_kind_are_refused():
    with pytest.raises(SpecificationError, match="within"):
        you_said(1, 1, within="5%")
    with pytest.raises(SpecificationError, match="model"):
        you_said({"a": 1}, {"a": 1}, model={"b": 1})


def test_a_table_keeps_its_cells_whatever_they_hold():
    answer = you_said({"P(X|Y)\n<b>": 1}, {"P(X|Y)\n<b>": 2}, "a|b")
    head, _, row = answer._repr_markdown_().splitlines()
    assert head.count("|") == row.count("|") == 5 and "<b>" not in row


@pytest.mark.parametrize("said", [float("nan"), float("inf"), -1, 0, 1e-320, "huge", "-huge"])
def test_what_cannot_be_is_told_without_an_error(said):
    said = {"huge": 10**400, "-huge": -(10**400)}.get(said, said)
    assert "factor" not in repr(you_said(said, 5e300, "s"))
