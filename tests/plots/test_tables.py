"""A comparison writes out the numbers of its table; a search for the onset of loss has each step in
every panel, and a band from what was carried to what was not.
"""

import numpy as np
import pandas as pd
import pytest

from netlab import plots

NAN = np.nan
TABLE = pd.DataFrame(
    {
        "quantity": ["one stream", "eight", "RTT"],
        "measured": [3.2e9, 9.51e9, 0.02],
        "predicted": [NAN, 9.56e9, 0.02],
        "published": [3.22e9, 9.5e9, NAN],
        "unit": ["bit/s", "bit/s", "s"],
    }
)
STEPS = pd.DataFrame(
    [
        ("h1 → h2", 1, 16e6, 16e6, 0.0, 0.020, 0.020, False),
        ("h1 → h2", 2, 32e6, 29.2e6, 0.0875, 0.031, 0.032, True),
        ("h1 → h2", 3, 24e6, 24e6, 0.0, 0.020, 0.021, False),
        ("h2 → h1", 1, 4e6, 4e6, 0.0, 0.020, 0.020, False),
        ("h2 → h1", 2, 8e6, 7.8e6, 0.025, 0.030, 0.034, True),
    ],
    columns=[
        "direction", "step", "offered_bps", "received_bps", "loss", "rtt_mean_s", "rtt_max_s",
        "too_much",
    ],
)  # fmt: skip


def test_comparison_has_a_panel_per_unit_and_the_numbers():
    fig = plots.comparison(TABLE)
    assert [axis.title.text for axis in fig.select_xaxes()] == ["throughput [Gbit/s]", "time [ms]"]
    rates, times = (trace for trace in fig.data if trace.name == "measured")
    assert rates.x == pytest.approx([3.2, 9.51]) and times.x == pytest.approx([20])
    numbers = [note.text for note in fig.layout.annotations]
    assert numbers.count("-") == 2 and {"3.2", "3.22", "9.56", "20", "● measured"} <= set(numbers)
    quantities = [list(axis.ticktext) for axis in fig.select_yaxes()]
    assert quantities == [["one stream", "eight"], ["RTT"]]


@pytest.mark.parametrize(
    ("measured", "kind"), [([1e-6, 1e9], "log"), ([0, 1e9], None), ([NAN, NAN], None)]
)
def test_comparison_is_logarithmic_only_where_values_are_far_apart(measured, kind):
    far = TABLE.iloc[:2].assign(measured=measured, predicted=NAN, published=NAN, unit="packet")
    axis = plots.comparison(far).layout.xaxis
    assert (axis.type, axis.title.text) == (kind, "value [packet]")


def test_every_step_of_a_search_is_a_point_in_each_panel_in_the_order_of_the_rates():
    fig = plots.loss_onset(STEPS)
    panels = [trace for trace in fig.data if trace.name == "h1 → h2"]
    expected = {"x": [16, 24, 29.2], "x2": [0, 0, 8.75], "x3": [20, 20, 31]}
    assert {trace.xaxis: pytest.approx([*trace.y]) for trace in panels} == expected
    assert all([*trace.x] == [16, 24, 32] for trace in panels)
    assert sum(trace.showlegend is not False for trace in panels) == 1
    assert [axis.matches for axis in fig.select_xaxes()] == ["x3", "x3", None], "zoomed as one"
    (longest,) = fig.select_traces(dict(name="h1 → h2, longest"))
    assert [*longest.y] == pytest.approx([20, 21, 32])
    (diagonal,) = fig.select_traces(dict(name="all arrives"))
    assert [*diagonal.x] == [*diagonal.y] == [0, 32]
    assert {(band.x0, band.x1) for band in fig.layout.shapes} == {(24, 32), (4, 8)}
    assert "h1 → h2 loses between 24 Mbit/s and 32 Mbit/s" in fig.layout.meta["description"]


def test_a_search_that_is_not_done_has_no_band():
    fig = plots.loss_onset(STEPS[~STEPS.too_much])
    assert not fig.layout.shapes and len(fig.data) == 9
