import numpy as np
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


@pytest.mark.parametrize(
    ("said", "hint"),
    [(8 * 4.7, "bits and bytes"), (4.7 / 8, "bits and bytes"), (4700, "kilo, mega, giga")],
)
def test_a_usual_mistake_is_hinted_at(said, hint):
    assert hint in repr(you_said(said, 4.7, "Gbit/s"))


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


@pytest.mark.parametrize(
    ("said", "it", "wanted"),
    [
        ("fast", 4.7, "a number"),
        (["reno"], ["reno", "bbr"], "a list of bbr, reno"),
        (10, {"one": 1}, "a dict with names from one"),
        ({"two": 1}, {"one": 1}, "a dict with names from one"),
        (True, 1.0, "a number"),
    ],
)
def test_another_kind_is_refused(said, it, wanted):
    with pytest.raises(SpecificationError, match=wanted) as refused:
        you_said(said, it)
    assert repr(said) in str(refused.value) and "None" in str(refused.value)


@pytest.mark.parametrize(
    ("said", "it", "words"),
    [
        (0.5, 0.3373, "too much, by 0.16"),
        (0.5, 0.52, "right"),
        (0.5, 0.59, "close; too little, by 0.09"),
        (0.11, 0.036, "too much, by 0.074"),  # three times as much
        (0, 0.9, "too little, by 0.9"),
        (0.001, 0.01, "factor of 10"),  # a loss rate, not a share
    ],
)
def test_shares_differ_by_so_much_and_not_by_a_factor(said, it, words):
    assert words in repr(you_said(said, it))
    assert words in repr(you_said(said, np.float64(it)))


def test_a_large_factor_is_a_plain_number():
    assert "factor of about 700" in repr(you_said(5000, 7.0, "x"))
    assert "1,000,000,000; kilo" in repr(you_said(9.4e9, 9.4, "Gbit/s"))


def test_a_refused_prediction_is_named():
    with pytest.raises(
        SpecificationError, match="together: prediction = '9 Gbit/s': write a number"
    ):
        you_said({"together": "9 Gbit/s"}, {"together": 9.4})


def test_a_hint_fits_the_unit():
    assert "?" not in repr(you_said(8, 1, "streams"))
    assert "kilo, mega, giga" in repr(you_said(20_000, 20, "ms"))


def test_a_table_keeps_its_cells_whatever_they_hold():
    answer = you_said({"P(X|Y)\n<b>": 1}, {"P(X|Y)\n<b>": 2}, "a|b")
    head, _, row = answer._repr_markdown_().splitlines()
    assert head.count("|") == row.count("|") == 5 and "<b>" not in row


@pytest.mark.parametrize("said", [float("nan"), float("inf"), -1, 0, 1e-320])
def test_what_cannot_be_is_told_without_an_error(said):
    assert "factor" not in repr(you_said(said, 5e300, "s"))


def test_a_choice_is_compared_as_people_write():
    assert "right" in repr(you_said("Both ", "both"))
    assert "right" in repr(you_said("yes", np.bool_(True))) and "right" in repr(
        you_said(True, "yes")
    )
    assert "right" in repr(you_said(["Reno", "H-TCP"], ["reno", "htcp"]))
    assert "not this time" in repr(you_said(True, False))
    assert "yes" in repr(you_said(True, False))


def test_nothing_measured_is_no_division_by_zero():
    assert "off" in repr(you_said(3, 0))
    assert repr(you_said(0, 0)).endswith("right.")
