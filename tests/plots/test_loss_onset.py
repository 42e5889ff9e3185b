"""Each step has its point in every panel, and the band goes from what was carried to what was
not.
"""

import pandas as pd
import pytest

from netlab import plots
from tests.plots.conventions import keeps_the_conventions, named

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


def test_keeps_the_conventions():
    keeps_the_conventions(plots.loss_onset, STEPS)


def test_every_step_is_a_point_in_each_panel_in_the_order_of_the_rates():
    fig = plots.loss_onset(STEPS)
    received, lost, rtt = [trace for trace in fig.data if trace.name == "h1 → h2"]
    for trace in (received, lost, rtt):
        assert list(trace.x) == [16, 24, 32]
    assert list(received.y) == [16, 24, 29.2]
    assert list(lost.y) == pytest.approx([0, 0, 8.75])
    assert list(rtt.y) == pytest.approx([20, 20, 31])
    assert list(named(fig, "h1 → h2, longest").y) == pytest.approx([20, 21, 32])
    assert [trace.xaxis for trace in (received, lost, rtt)] == ["x", "x2", "x3"]
    assert sum(trace.showlegend is not False for trace in fig.data if trace.name == "h1 → h2") == 1


def test_where_all_arrives_points_lie_on_the_diagonal():
    diagonal = named(plots.loss_onset(STEPS), "all arrives")
    assert list(diagonal.x) == list(diagonal.y) == [0, 32]


def test_a_band_from_what_was_carried_to_what_was_not():
    fig = plots.loss_onset(STEPS)
    bands = {(shape.x0, shape.x1) for shape in fig.layout.shapes}
    assert bands == {(24, 32), (4, 8)}
    assert "h1 → h2 loses between 24 Mbit/s and 32 Mbit/s" in fig.layout.meta["description"]


def test_a_search_that_is_not_done_has_no_band():
    fig = plots.loss_onset(STEPS[~STEPS.too_much])
    assert not fig.layout.shapes and len(fig.data) == 9


def test_a_frame_that_is_none_of_a_search_is_refused():
    with pytest.raises(ValueError, match="loss_onset: the frame lacks too_much"):
        plots.loss_onset(STEPS.drop(columns="too_much"))
    with pytest.raises(ValueError, match="the frame is empty"):
        plots.loss_onset(STEPS[:0])
