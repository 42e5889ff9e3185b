"""Jain's index: the published example and the four properties of Jain, Chiu and Hawe (1984)."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.fairness import jain_index

flows = st.lists(st.floats(0, 1e12), min_size=1, max_size=50).filter(any)


def test_the_example_of_lab_10():
    # Lab 10, section 1.2: 5, 3 and 1 Gbit/s give 0.77; exactly (5 + 3 + 1)^2 / (3 (25 + 9 + 1)) = 81/105
    assert jain_index([5e9, 3e9, 1e9]) == pytest.approx(81 / 105)
    assert round(jain_index(pd.Series([5, 3, 1], index=["a", "b", "c"])), 2) == 0.77


def test_known_allocations():
    assert jain_index([7.0]) == 1
    assert jain_index([3e9] * 8) == 1
    assert jain_index([1, 0, 0, 0]) == 1 / 4
    assert jain_index([1, 1, 1, 0, 0, 0, 0, 0, 0, 0]) == pytest.approx(0.3), "k of n share: k/n"
    assert jain_index(pd.Series([1, 3], dtype="Int64")) == jain_index(np.array([1.0, 3.0])) == 0.8
    assert type(jain_index([1, 2])) is float


@given(flows, st.integers(1, 5))
def test_population_independence(rates, copies):
    assert jain_index(rates * copies) == pytest.approx(jain_index(rates))


@given(flows, st.sampled_from([1e-300, 1e-9, 0.125, 1e3, 1e290]))
def test_scale_independence(rates, unit):
    scaled = np.array(rates) * unit
    if max(rates) >= 1e-3:  # below, scaling itself loses digits
        assert jain_index(scaled) == pytest.approx(jain_index(rates))


@given(flows)
def test_bounds(rates):
    assert (1 - 1e-12) / len(rates) <= jain_index(rates) <= 1 + 1e-12


@given(flows, st.integers(0, 49), st.floats(-1, 1))
def test_continuity(rates, flow, nudge):
    rates = np.array(rates) / max(rates)
    nudged = rates.copy()
    nudged[flow % rates.size] = abs(nudged[flow % rates.size] + 1e-6 * nudge)
    assert abs(jain_index(nudged) - jain_index(rates)) < 1e-5


@given(st.lists(st.floats(1, 1e3), min_size=2, max_size=9), st.floats(0, 1))
def test_moving_towards_equal_shares_is_fairer(rates, step):
    rates = np.array(rates)
    assert jain_index(rates + step * (rates.mean() - rates)) >= jain_index(rates) - 1e-12


@pytest.mark.parametrize(
    ("throughputs", "message"),
    [
        ([], r"at least one flow, not of shape \(0,\)"),
        (5.0, "one-dimensional"),
        ([[1, 2], [3, 4]], r"shape \(2, 2\)"),
        ([5, -3, 1], "flow 1 .* has -3"),
        ([5, float("nan")], "flow 1 .* has nan"),
        (pd.Series([1, None], dtype="Int64"), "flow 1 .* has nan"),
        ([float("inf"), 1], "flow 0 .* has inf"),
        ([0, 0], "all 0"),
        (["5", "3"], "numbers, not"),
        (pd.Series(["5"]), "numbers, not"),
        (None, "numbers, not None"),
    ],
)
def test_refuses_what_is_no_allocation(throughputs, message):
    with pytest.raises(ValueError, match=message):
        jain_index(throughputs)
