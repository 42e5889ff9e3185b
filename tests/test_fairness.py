"""Jain's index: the published example and the four properties of Jain, Chiu and Hawe (1984);
shares; harm; max-min and alpha-fair allocations.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from netlab.fairness import (
    alpha_fair,
    convergence_s,
    harm,
    index_over_time,
    jain_index,
    max_min,
    over_time,
    per_stream_share,
    shares,
)

flows = st.lists(st.floats(0, 1e12), min_size=1, max_size=50).filter(any)


def test_known_allocations():
    # Lab 10, section 1.2: 5, 3 and 1 Gbit/s give 0.77; exactly (5 + 3 + 1)^2 / (3 (25 + 9 + 1))
    assert jain_index([5e9, 3e9, 1e9]) == approx(81 / 105)
    assert round(jain_index(pd.Series([5, 3, 1], index=["a", "b", "c"])), 2) == 0.77
    assert jain_index([7.0]) == jain_index([3e9] * 8) == 1
    assert jain_index([1, 0, 0, 0]) == 1 / 4
    assert jain_index([1, 1, 1, 0, 0, 0, 0, 0, 0, 0]) == approx(0.3)  # k of n share: k/n
    assert jain_index(pd.Series([1, 3], dtype="Int64")) == jain_index(np.array([1.0, 3.0])) == 0.8
    assert type(jain_index([1, 2])) is float


@given(flows, st.integers(1, 5), st.sampled_from([1e-300, 1e-9, 0.125, 1e3, 1e290]))
def test_independence_of_population_and_unit_and_boundedness(rates, copies, unit):
    index = jain_index(rates)
    assert jain_index(rates * copies) == approx(index)
    assert (1 - 1e-12) / len(rates) <= index <= 1 + 1e-12
    if max(rates) >= 1e-3:  # below, scaling itself loses digits
        assert jain_index(np.array(rates) * unit) == approx(index)


@given(flows, st.integers(0, 49), st.floats(-1, 1))
def test_continuity(rates, flow, nudge):
    # small changes of the allocation, small changes of the index
    rates = np.array(rates) / max(rates)
    nudged = rates.copy()
    nudged[flow % rates.size] = abs(nudged[flow % rates.size] + 1e-6 * nudge)
    assert abs(jain_index(nudged) - jain_index(rates)) < 1e-5


@given(st.lists(st.floats(1, 1e3), min_size=2, max_size=9), st.floats(0, 1))
def test_moving_towards_equal_shares_is_fairer(rates, step):
    rates = np.array(rates)
    assert jain_index(rates + step * (rates.mean() - rates)) >= jain_index(rates) - 1e-12


# shares


def test_shares_of_known_allocations():
    assert shares([5e9, 3e9, 1e9]) == approx([5 / 9, 3 / 9, 1 / 9])
    assert shares((7.0,)).tolist() == [1]
    named = shares(pd.Series([1, 3], index=["h1", "h3"], name="received_bps", dtype="Int64"))
    pd.testing.assert_series_equal(named, pd.Series([0.25, 0.75], index=["h1", "h3"], name="share"))


@given(flows)
def test_shares_add_up_and_give_the_index(rates):
    assert shares(rates).sum() == approx(1)
    assert jain_index(rates) == approx(1 / (len(rates) * (shares(rates) ** 2).sum()))


@given(st.integers(1, 100), st.integers(0, 100))
def test_equal_division_among_streams_gives_each_host_its_streams(n, others):
    streams = pd.Series([1e6] * (n + others)).groupby([True] * n + [False] * others).sum()
    assert per_stream_share(n, others) == approx(shares(streams)[True])
    assert others == 0 or per_stream_share(n, others) + per_stream_share(others, n) == approx(1)


def test_nine_streams_against_one_take_nine_tenths():
    assert per_stream_share(9) == 0.9 and type(per_stream_share(9)) is float
    assert per_stream_share([1, 3, 9]).tolist() == [0.5, 0.75, 0.9]
    assert per_stream_share(np.array([[1], [2]]), [1, 2]).shape == (2, 2)
    named = per_stream_share(pd.Series([1, 3], index=["a", "b"]))
    assert named.to_dict() == {"a": 0.5, "b": 0.75}


# over time


def table(*rows, received=None):
    """Intervals: (flow, stream, start_s, end_s, sent_bps), ..."""
    frame = pd.DataFrame(rows, columns=["flow", "stream", "start_s", "end_s", "sent_bps"])
    return frame.assign(received_bps=np.nan if received is None else received, omitted=False)


def test_windows_lie_where_all_flows_send():
    staggered = table(
        *((1, 1, 0, 1, 8e6), (1, 1, 1, 2, 4e6), (1, 1, 2, 3, 4e6)),
        *((2, 1, 0.25, 1.25, 2e6), (2, 1, 1.25, 2.25, 6e6)),
    )
    windows = over_time(staggered, 1)
    assert windows.columns.tolist() == ["start_s", "end_s", "flow", "bps"]
    # from 0.25 to 2.25 s; flow 1 sends at 8 Mbit/s for three quarters of the first window
    first, second = [0.25, 1.25], [1.25, 2.25]
    expected = [[*first, 1, 7e6], [*first, 2, 2e6], [*second, 1, 4e6], [*second, 2, 6e6]]
    assert windows.values.tolist() == expected
    index = index_over_time(staggered, 1)
    assert index.columns.tolist() == ["start_s", "end_s", "jain_index", "total_bps"]
    assert index.jain_index.tolist() == approx([jain_index([7, 2]), jain_index([4, 6])])
    assert index.total_bps.tolist() == [9e6, 10e6]


def test_a_last_incomplete_window_is_left_out():
    steady = table((1, 1, 0.0, 2.9, 1e6), (2, 1, 0.0, 2.9, 1e6))
    assert over_time(steady, 1).end_s.max() == 2
    jittered = over_time(steady.assign(end_s=2.9996), 1)  # 0.4 ms are not missed
    assert jittered.end_s.max() == 2.9996 and set(jittered.bps) == {1e6}


def test_what_counts():
    counted = table((1, 1, 0, 1, 8e6), (2, 1, 0, 1, 8e6))
    received = counted.assign(received_bps=[6e6, np.nan])
    assert over_time(received, 1).bps.tolist() == [6e6, 8e6]
    omitted = table((1, 1, 0, 1, 1e6), (2, 1, 0, 1, 9e6)).assign(omitted=True)
    both = pd.concat([omitted, counted], ignore_index=True)
    assert over_time(both, 1).bps.tolist() == [8e6, 8e6]
    with pytest.raises(ValueError, match="every flow must have an interval that is not omitted"):
        over_time(counted.assign(omitted=counted.flow == 2), 1)


def test_a_flow_is_the_sum_of_its_streams():
    four = table((1, 1, 0, 1, 1e6), (1, 2, 0, 1, 1e6), (1, 3, 0, 1, 1e6), (2, 1, 0, 1, 3e6))
    assert index_over_time(four, 1).jain_index.tolist() == [1]
    index = index_over_time(four, 1, by="stream").jain_index
    assert index.tolist() == approx([jain_index([1, 1, 1, 3])])
    streams = over_time(four, 1, by="stream")
    assert streams.columns.tolist() == ["start_s", "end_s", "flow", "stream", "bps"]
    assert streams.stream.tolist() == [1, 2, 3, 1]  # streams of two flows have the same numbers


def test_silence_counts_as_zero_and_a_silent_window_has_no_index():
    one = ((1, 1, 0, 1, 1e6), (1, 1, 1, 2, 0), (1, 1, 2, 3, 1e6))
    index = index_over_time(table(*one, (2, 1, 0, 1, 0), (2, 1, 2, 3, 1e6)), 1)
    assert index.jain_index.tolist() == approx([0.5, np.nan, 1], nan_ok=True)
    assert index.total_bps.tolist() == [1e6, 0, 2e6]


@given(
    st.lists(st.tuples(st.floats(0.01, 3), st.integers(0, 10**10)), min_size=1, max_size=20),
    st.integers(1, 7),
)
def test_windows_keep_every_bit(parts, count):
    edges = np.cumsum([0.125, *(length for length, _ in parts)])
    spans = zip(pairwise(edges), parts, strict=True)
    one = table(*((1, 1, start, end, bps) for (start, end), (_, bps) in spans))
    windows = over_time(one, (edges[-1] - edges[0]) / count)
    carried = (windows.bps * (windows.end_s - windows.start_s)).sum()
    assert carried == approx((one.sent_bps * np.diff(edges)).sum())
    low, high = one.sent_bps.min() * (1 - 1e-9), one.sent_bps.max() * (1 + 1e-9)
    assert windows.bps.between(low, high).all()
    index = index_over_time(one, (edges[-1] - edges[0]) / count).jain_index.dropna()
    assert index.tolist() == approx([1] * len(index))  # one flow alone is fair


# convergence


@pytest.mark.parametrize(
    ("index", "when"),
    [
        ([0.5, 0.9, 0.95, 0.99], 2),
        ([0.99, 0.5, 0.99, 0.98], 2),  # it fell once more
        ([1, 1, 1, 1], 0),
        ([1, 1, 1, 0.94], np.nan),
        ([np.nan, 1, np.nan, 1], 3),
        ([1, 1, 1, np.nan], np.nan),
        ([0.1, 0.2, 0.3, 0.95 - 1e-15], 3),  # to within rounding
    ],
)
def test_convergence_is_when_the_index_stays(index, when):
    windows = pd.DataFrame({"start_s": [0, 1, 2, 3], "jain_index": index})
    assert convergence_s(windows) == approx(when, nan_ok=True)
    assert convergence_s(windows[::-1]) == approx(when, nan_ok=True)  # rows may come in any order


def test_aimd_converges():
    # Chiu and Jain (1989): add 1 each, halve both when the link of 100 overflows; their difference
    # halves each time
    rates, rows = np.array([90.0, 2.0]), []
    for second in range(200):
        rows += [(flow, 1, second, second + 1, rate) for flow, rate in enumerate(rates, 1)]
        rates = rates / 2 if rates.sum() >= 100 else rates + 1
    windows = index_over_time(table(*rows), 10)
    assert windows.jain_index.iloc[0] < 0.75 and 20 < convergence_s(windows, 0.99) < 120
    assert windows.jain_index.is_monotonic_increasing


# max-min fairness


def test_max_min_example_of_bertsekas_and_gallager():
    # Data Networks, section 6.5.2, figure 6.10: all arcs carry 1; arc (1,3) has a third to spare
    arcs = dict.fromkeys(["13", "23", "35", "45"], 1)
    sessions = {1: ["13", "35"], 2: ["23"], 3: ["23"], 4: ["45"], 5: ["23", "35"]}
    rates = max_min(arcs, sessions)
    assert rates.tolist() == approx([2 / 3, 1 / 3, 1 / 3, 1, 1 / 3])
    assert rates.name == "bps" and rates.index.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("demands", "rates"),
    [
        ({"a": 1e6}, [1e6, 4.5e6, 4.5e6]),
        (pd.Series({"a": 1e6}), [1e6, 4.5e6, 4.5e6]),
        ({"a": 1e6, "b": 2e6, "c": 3e6}, [1e6, 2e6, 3e6]),  # the link is not full
        ({"a": 9e6, "b": float("inf")}, approx([10e6 / 3] * 3)),
    ],
)
def test_a_demand_leaves_the_rest_to_others(demands, rates):
    routes = {flow: ["L"] for flow in "abc"}
    assert max_min(pd.Series({"L": 10e6}), routes, demands).tolist() == rates
    assert max_min({}, {"alone": []}, {"alone": 5e6}).to_dict() == {"alone": 5e6}


@st.composite
def networks(draw):
    links = draw(st.dictionaries(st.sampled_from("ABCDE"), st.integers(1, 10**6), min_size=1))
    paths = st.lists(st.sampled_from(sorted(links)), min_size=1, unique=True)
    routes = dict(enumerate(draw(st.lists(paths, min_size=1, max_size=8))))
    demands = st.dictionaries(st.sampled_from(sorted(routes)), st.integers(1, 10**6))
    return links, routes, draw(demands)


@given(networks(), st.sampled_from([1e-6, 0.125, 8, 1e9]), st.randoms(use_true_random=False))
def test_neither_the_unit_nor_the_order_of_flows_and_links_matters(network, unit, random):
    links, routes, demands = network
    rates = max_min(links, routes, demands)
    large, asked = ({k: v * unit for k, v in one.items()} for one in (links, demands))
    assert (max_min(large, routes, asked) / unit).tolist() == approx(rates.tolist())
    shuffled = [{key: one[key] for key in random.sample(list(one), len(one))} for one in network]
    again = max_min(*shuffled).sort_index()
    pd.testing.assert_series_equal(again, rates.sort_index(), check_exact=True)


@given(networks())
def test_max_min_agrees_with_exact_arithmetic(network):
    links, routes, demands = network
    # a demand is a link of one's own
    ways = {flow: [*path, ("demand", flow)] for flow, path in routes.items()}
    room = {link: Fraction(capacity) for link, capacity in links.items()}
    room |= {("demand", flow): Fraction(demands.get(flow, 10**9)) for flow in routes}
    rates, growing = dict.fromkeys(routes, Fraction(0)), set(routes)
    while growing:
        users = {link: sum(link in ways[flow] for flow in growing) for link in room}
        step = min(room[link] / count for link, count in users.items() if count)
        rates |= {flow: rates[flow] + step for flow in growing}
        room = {link: space - step * users[link] for link, space in room.items()}
        growing = {flow for flow in growing if all(room[link] for link in ways[flow])}
    assert max_min(links, routes, demands).tolist() == approx([*map(float, rates.values())])


# alpha-fair allocations


@pytest.mark.parametrize("alpha", [0.25, 0.5, 1, 2, 8])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_flow_across_a_parking_lot(n, alpha):
    # Mo and Walrand (2000): 1 / (1 + n^(1/alpha)); proportional fairness (Kelly 1998): 1 / (1 + n)
    routes = {"long": range(n)} | {f"short {link}": [link] for link in range(n)}
    rates = alpha_fair(
        dict.fromkeys(range(n), 30e6), {f: [*way] for f, way in routes.items()}, alpha
    )
    assert rates["long"] == approx(30e6 / (1 + n ** (1 / alpha)), rel=1e-6)
    assert rates.drop("long").tolist() == approx([30e6 - rates["long"]] * n)


@given(networks(), st.sampled_from([0.25, 1, 2, 8]), st.lists(st.floats(0, 1), min_size=8))
def test_no_other_allocation_is_better(network, alpha, wishes):
    # the condition for the largest sum of a concave utility: no allowed step has a positive slope
    links, routes, _ = network
    rates = alpha_fair(links, routes, alpha)
    for link, capacity in links.items():
        load = sum(rate for flow, rate in rates.items() if link in routes[flow])
        assert load <= capacity * (1 + 1e-8)
    wished = {flow: wish + 1e-9 for flow, wish in zip(routes, wishes, strict=False)}
    load = {link: sum(wished[f] for f in routes if link in routes[f]) for link in links}
    scale = min(links[link] / load[link] for link in links if load[link])
    for other in (max_min(links, routes), pd.Series(wished) * scale):
        assert ((other - rates) / rates.max() * (rates / rates.min()) ** -alpha).sum() <= 1e-6


def test_alpha_fairness_approaches_max_min_and_leaves_idle_links_alone():
    links = {"narrow": 1.0, "wide": 9.0, "unused": INF, "endless": INF}
    routes = {"both": ["narrow", "wide", "endless"], "one": ["wide"]}
    for alpha in (0.25, 1, 8):
        assert alpha_fair(links, routes, alpha).tolist() == approx([1, 8])
    links["narrow"] = 9.0
    gaps = [abs(alpha_fair(links, routes, alpha) - 4.5).max() for alpha in (0.5, 1, 2, 8)]
    assert gaps == approx([0] * 4, abs=1e-6)


# harm


def test_harm_where_more_is_better_and_where_less_is():
    # two who share a link evenly do each other a harm of a half
    assert harm(10e6, 5e6, "more") == 0.5 and type(harm(10, 5, "more")) is float
    assert harm(10, 10, "more") == harm(0.02, 0.02, "less") == harm(0, 0, "less") == 0
    assert harm(10, 0, "more") == harm(0, 0.01, "less") == 1
    assert harm(0.02, 0.08, "less") == approx(0.75)
    assert harm(10, 12, "more") == approx(-0.2) and harm(4, 2, "less") == -1
    assert np.isnan(harm(NAN, 1, "more")) and np.isnan(harm(1, NAN, "less"))
    # a delay without bound
    assert harm(0.02, np.inf, "less") == 1 and harm(np.inf, np.inf, "less") == 0
    assert harm(0, np.inf, "less") == 1 and harm([1, 1], [np.inf, 2], "less").tolist() == [1, 0.5]
    assert harm(1, pd.Series([np.inf, 1, NAN]), "less").fillna(7).tolist() == [1, 0, 7]
    runs = pd.Series([5, 8, 0], index=["a", "b", "c"])
    pd.testing.assert_series_equal(harm(10, runs, "more"), 1 - runs / 10)
    assert harm([0, 0, 2], [0, 1, 4], "less").tolist() == [0, 1, 0.5]


@given(st.floats(1e-6, 1e12), st.floats(0, 1), st.floats(1e-3, 1e3))
def test_harm_has_no_unit_and_is_what_is_lost(solo, part, unit):
    assert harm(solo * unit, solo * part * unit, "more") == approx(1 - part, abs=1e-9)
    # of a time, what it loses of its inverse: a delay that doubles is half the speed
    if part > 1e-3:
        assert harm(solo, solo / part, "less") == approx(1 - part, abs=1e-9)


# what is refused

NAN, INF = float("nan"), float("inf")
ONE, A = {"L1": 1}, {"a": ["L1"]}
TWO = table((1, 1, 0, 1, 1e6), (2, 1, 0, 1, 1e6))
CONVERGED = pd.DataFrame({"start_s": [0], "jain_index": [1.0]})
REFUSED = [
    ((function, value), message)
    for function in (jain_index, shares)
    for value, message in [
        ([], r"at least one flow, not of shape \(0,\)"),
        (5.0, r"shape \(\)"),
        ([[1, 2], [3, 4]], r"shape \(2, 2\)"),
        ([5, -3, 1], "flow 1 .* has -3"),
        ([5, NAN], "flow 1 .* has nan"),
        (pd.Series([1, None], dtype="Int64"), "flow 1 .* has nan"),
        ([INF, 1], "flow 0 .* has inf"),
        ([0, 0], "all 0"),
        (["5", "3"], "numbers, not"),
        (pd.Series(["5"]), "numbers, not"),
        (None, "numbers, not None"),
    ]
]
REFUSED += [
    ((per_stream_share, *numbers), "must be (whole|numbers)")
    for numbers in [(0,), (1.5,), ("8",), (True,), (NAN,), ([1, 0],), (1, -1), (1, 0.5), (1, INF)]
]
REFUSED += [
    ((over_time, TWO, 0), "window_s must be a number above 0, not 0"),
    ((over_time, TWO, "1s"), "window_s .* not '1s'"),
    ((over_time, TWO, NAN), "window_s .* not nan"),
    ((over_time, TWO, 1, "host"), "by must be 'flow' or 'stream', not 'host'"),
    ((over_time, TWO, 1.5), "window_s = 1.5: every flow sends from 0 s to 1 s only"),
    (
        (over_time, TWO.assign(start_s=[0, 5], end_s=[1, 6]), 1, "stream"),
        "every stream sends from 5 s to 1 s",
    ),
    ((over_time, TWO.assign(sent_bps=[1, NAN]), 1), "flow 2, .* from 0 s to 1 s has nan"),
    ((over_time, TWO.assign(sent_bps=[-1, 1]), 1), "flow 1, .* has -1"),
    ((over_time, TWO.assign(sent_bps=[INF, 1]), 1), "flow 1, .* has inf"),
    ((over_time, TWO.drop(columns=["flow", "omitted"]), 1), "lacks flow, omitted; it has stream"),
    ((over_time, table(), 1), "every flow must have an interval"),
    ((convergence_s, over_time(TWO, 1)), "windows lacks jain_index"),
    *(
        ((convergence_s, CONVERGED, threshold), "threshold must be above 0 and at most 1")
        for threshold in (0, -1, 1.01, NAN)
    ),
]
REFUSED += [
    ((max_min, ONE, {"a": ["L1", "L3"]}), "'a' passes 'L3', not among the links 'L1'"),
    ((max_min, ONE, {"a": []}), "'a' passes no finite link and has no demand"),
    ((max_min, {"L1": INF}, A), "'a' passes no finite link and has no demand"),
    *(
        ((max_min, {"L1": wrong}, A), f"'L1' must be a number above 0, not {wrong!r}")
        for wrong in (0, -1, NAN, "1gbit")
    ),
    ((max_min, ONE, {"a": "L1"}), "'a' must have a list of links, each once, not 'L1'"),
    ((max_min, ONE, {"a": ["L1", "L1"]}), "'a' must have a list of links, each once"),
    ((max_min, ONE, A, {"a": 0}), "demands: 'a' must be a number above 0, not 0"),
    ((max_min, ONE, A, {"b": 1}), "demands: 'b' is not among the flows 'a'"),
    ((alpha_fair, ONE, {"a": []}), "'a' passes no finite link"),
    ((alpha_fair, {"L1": 1, "L2": 1e-300}, {"a": ["L1"], "b": ["L2"]}, 8), "no prices were found"),
    *(
        ((alpha_fair, ONE, A, alpha), "alpha must be a number from 0.25 to 8")
        for alpha in (0, 0.2, 9, NAN, "1", [1])
    ),
    ((harm, 1, 1, "higher"), "better must be 'more' or 'less', not 'higher'"),
    ((harm, 0, 1, "more"), "solo must be above 0"),
    ((harm, np.inf, 1, "more"), "solo must be above 0, and finite"),
    ((harm, "1mbit", 1, "more"), "solo must be numbers"),
    ((harm, 1, [-1], "less"), "contested must be numbers of at least 0"),
    ((harm, pd.Series([1, 2]), pd.Series([1, 2], [1, 2]), "more"), "the same index"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_cannot_be_is_refused(call, message):
    function, *arguments = call
    with pytest.raises(ValueError, match=message):
        function(*arguments)


def test_nobody_gets_nothing():
    for allocation in (max_min({}, {}), alpha_fair({}, {}), alpha_fair({"L": 1e6}, {}, alpha=2)):
        assert allocation.empty and allocation.name == "bps" and allocation.dtype == float
