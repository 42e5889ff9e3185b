"""An answer that differs in meaning is never right; one that is only written otherwise is."""

import copy
import math

import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import netlab as nl


def figure(x, y, kind=go.Scatter, titles=("buffer [byte]", "goodput [bit/s]"), **of_trace):
    made = go.Figure(kind(x=x, y=y, **of_trace))
    return made.update_xaxes(title=titles[0]).update_yaxes(title=titles[1])


X, Y = [1e5, 2e5, 4e6], [2.5e6, 5e6, 9e6]
ASKED = figure(X, Y)
MBIT = [one / 1e6 for one in Y]


@pytest.mark.parametrize(
    "given",
    [
        figure([99, -7, 0.5], Y),
        figure(None, Y),
        figure(X[::-1], Y),
        figure(Y, X),
        figure([1e5, 4e6, 2e5], [2.5e6, 9e6, 5e6], mode="lines"),  # goes back and forth
        figure(X, MBIT),  # the title lies
        figure(X, MBIT, titles=("buffer [byte]", "goodput [Mbyte/s]")),
        figure(X, Y, titles=("buffer [bit]", "goodput [bit/s]")),
        figure(X, Y, titles=("buffer [byte]", "goodput [s]")),
        figure(X, Y, visible=False),
        figure(X, Y, visible="legendonly"),
        figure(X, [*Y[:2], math.nan]),
        figure(X, [*Y[:2], None]),
        figure(X[:2], Y),  # plotly draws two points
        figure(list(map(str, X)), ["a", "b", "c"]),
    ],
)
def test_another_curve_is_never_right(given):
    found = nl.check(given, ASKED)
    assert found.verdict != "right" and found.share < 1 and found.hint


@pytest.mark.parametrize(
    "given",
    [
        figure([0.1, 0.2, 4], MBIT, titles=("Puffer (MB)", "Mbit/s in Mbit/s")),
        figure(X, [one / 8 for one in Y], titles=("buffer [byte]", "goodput [bytes/s]")),
        figure(
            [one / 1e3 for one in X],
            [one / 1e9 for one in Y],
            titles=("buffer [kB]", "goodput [Gbit/s]"),
        ),
        figure(X[::-1], Y[::-1]),
        figure([4e6, 1e5, 2e5], [9e6, 2.5e6, 5e6], mode="markers"),
    ],
)
def test_the_same_curve_is_right_however_it_is_drawn(given):
    assert nl.check(given, ASKED).verdict == "right"


def test_bars_stand_by_their_names_in_any_order_and_upright():
    names, titles = ["reno", "bbr"], ("algorithm", "share [1]")
    asked = figure(names, [0.25, 0.75], go.Bar, titles)
    per_cent = figure(["BBR", "Reno"], [75, 25], go.Bar, ("algorithm", "share [%]"))
    assert nl.check(per_cent, asked).verdict == "right"
    for wrong in (
        figure(names[::-1], [0.25, 0.75], go.Bar, titles),
        figure([0.25, 0.75], names, go.Bar, titles, orientation="h"),
        figure(names, [0.25, 0.75], go.Bar, titles, orientation="h"),
        figure(names, [25, 75], go.Bar, titles),
    ):
        assert nl.check(wrong, asked).share < 1


points = st.lists(
    st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), min_size=2, max_size=6, unique=True
)


@given(points, st.data())
def test_a_curve_with_one_other_coordinate_is_wrong(both, data):
    x, y = map(list, zip(*both, strict=True))
    asked = figure(x, y, mode="markers")
    assert nl.check(figure(x, y, mode="markers"), asked).verdict == "right"
    axis, number = data.draw(st.sampled_from((x, y))), data.draw(st.integers(0, len(x) - 1))
    axis[number] += 1 + abs(axis[number])
    assume(sorted(zip(x, y, strict=True)) != sorted(both))
    assert nl.check(figure(x, y, mode="markers"), asked).verdict != "right"


DIFFERENT = [
        ("<5", ">5"), (-1, "1"), ("-1", 1), (15, "1.5"), ("10.0.0.11", "10.0.01.1"), ("5-3", "53"),
        ("1 . 2", "12"), ("- 5", "5"), ("x<5", "x5"), ("100%", "100"), ("1/2", "12"), ("n-1", "n1"),
        ("C++", "C"), ("1,5", "15"), ("25 000", "2500 0"), ("1:2", "12"),
        ("\u22645", "<5"), ("!", "?"),
        (True, "1"), (1, True), (0, "no"), ("10²", "102"), ("h1", "h11"), ("a=b", "ab"),
]  # fmt: skip
ALIKE = [
        ("H-TCP ", "htcp"), ("Half_the-RTT.", "half the RTT"), ("h1, h9", "h1-h9"), ("8.0", "8"),
        ("h1 \u2192 h9", "h1\u2013h9"), ("<= 5", "\u22645"), ("0.50", ".5"), ("BBR (v1)", "bbr v1"),
        ("1e3", "1000"), ('"rate"', "rate"), ("cake,hosts,ECN", "cake, hosts, ecn"),
        ("fq_codel", "FQ-CoDel"),
        ("\u22121", "-1"), ("l 1", "L1"), ("yes", True), ("é", "e\u0301"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "right"), [*DIFFERENT, *ALIKE])
def test_signs_digits_and_operators_count_and_spelling_does_not(given, right):
    verdict = "right" if (given, right) in ALIKE else "wrong"
    assert nl.check(given, right).verdict == nl.check(right, given).verdict == verdict
    assert nl.check(given, [right]).verdict == "wrong"


@given(st.integers(-999, 999), st.integers(-999, 999), st.sampled_from("<>=.:/-"))
def test_texts_of_other_numbers_differ(one, other, sign):
    assume(one != other)
    for text in ("{}", "h{}", "about {} ms", "x" + sign + "{}", "{}" + sign + "7"):
        assert nl.check(text.format(one), text.format(other)).verdict == "wrong"


answers = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.sampled_from(["a", "b", "-1", "1"]),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "1", "-1"]), inner, min_size=1, max_size=3)
    ),
    max_leaves=6,
)


def meaning(answer):
    """What an answer says, so that equal meanings are equal; numbers as their texts."""
    if isinstance(answer, bool):
        return answer
    if isinstance(answer, dict):
        return {key: meaning(one) for key, one in answer.items()}
    if isinstance(answer, list):
        return [meaning(one) for one in answer]
    return str(answer) if isinstance(answer, str) else f"{answer:.3g}"


@given(answers, st.data())
def test_a_changed_answer_is_not_right(right, data):
    given, inside = copy.deepcopy({"all": right}), "all"
    place = given
    while isinstance(place[inside], list | dict):
        place = place[inside]
        names = list(place) if isinstance(place, dict) else range(len(place))
        inside = data.draw(st.sampled_from(names))
    place[inside] = data.draw(st.booleans() | st.integers(-99, 99) | st.sampled_from(["a", "c"]))
    assume(meaning(given["all"]) != meaning(right))
    assume(not isinstance(right, float) or not math.isclose(right, 0, abs_tol=1e-9))
    same = isinstance(place[inside], int | float) and abs(place[inside]) < 0.1
    assume(not same)  # near to zero
    assert nl.check(given["all"], right, within=1e-9).share < 1


@given(st.permutations(["reno", "cubic", "bbr"]), st.permutations([1.0, 2.0, 3.0]))
def test_rows_and_names_belong_together(names, values):
    right = pd.DataFrame({"name": ["reno", "cubic", "bbr"], "value": [1.0, 2.0, 3.0]})
    given = pd.DataFrame({"name": names, "value": values})
    assert (nl.check(given, right).verdict == "right") == given.equals(right)
    by_name = dict(zip(right.name, right.value, strict=True))
    own = dict(zip(names, values, strict=True))
    for one in (own, pd.Series(own)):
        assert (nl.check(one, by_name).verdict == "right") == (own == by_name)
    assert nl.check(values, by_name).verdict == "wrong"


PATH = nl.wan("10mbit", "20ms", pairs=1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(topology=PATH, traffic=["iperf3"], time=8, omit=2, seed=5), ""),
        (dict(time=[8], congestion=None), ""),
        (dict(seed=7), "seed is 5, and the text asks for 7"),
        (dict(omit=3), "omit is 2, and"),
        (dict(topology=nl.wan("20mbit", "20ms", pairs=1)), "another network"),
        (dict(traffic=["iperf3", "ping"]), "traffic is iperf3, and"),
        (dict(time=[8, 8]), "time is 8, and the text asks for 8, 8"),
        (dict(count=4), "count is nothing"),
        (dict(congestion="reno"), "congestion is None"),
    ],
)
def test_what_the_text_says_of_a_run_is_checked(arguments, words):
    run = nl.Experiment(PATH, nl.Iperf3("h1", "h2", time=8, omit=2), seed=5)
    found = nl.check_run(run, **arguments)
    assert words in found.hint and found.verdict == ("wrong" if words else "noted")
    assert found.share == 0


def test_who_agrees_with_a_bound_is_not_called_right():
    for exact, words in ((False, "plausible, not checked"), (True, "as the text asks")):
        found = nl.check(9.5, 9.5, exact=exact, plausible=True)
        assert (found.verdict, found.share) == ("noted", 0) and words in found.hint
    assert nl.check(9.3, 9.5, plausible=True).verdict == "noted"
    lied = nl.check(9.5, 9.5e6, "bit/s", plausible=True)
    assert lied.verdict == "wrong" and "All but" not in lied.hint
    assert nl.check(None, 9.5, plausible=True).verdict == "nothing"
    assert repr(nl.check(max, 3, call=[2, 3])) == "Right for this example."


my = nl.course.mine("ps5", "ada")
keep = 0.5


class Sent(nl.algorithms.Reno):
    def on_loss(self, tcp):
        tcp.ssthresh = keep * tcp.cwnd


class NotSent(Sent):
    def on_loss(self, tcp):
        tcp.ssthresh = tcp.cwnd / 2 + 0 * my.keep


def test_an_algorithm_that_the_kernel_cannot_have_is_told():
    assert nl.check_kind(Sent).verdict == "noted"
    assert nl.check(Sent, nl.algorithms.Reno).verdict == "right"
    found = nl.check_kind(NotSent)
    assert found.verdict == "wrong" and "my" in found.hint and "cannot" in found.hint
    found = nl.check(NotSent, nl.algorithms.Reno)
    assert found.share == 0.5 and "its rule is right, but" in found.hint and "my" in found.hint
