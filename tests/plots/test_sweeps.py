"""Points, lines and ratios of a sweep are the grid's and the models'."""

import pandas as pd
import pytest

from netlab import models, plots
from tests.plots.conventions import keeps_the_conventions


def a_grid(losses=(1e-4, 1e-3, 1e-2), streams=(1, 4, 8), seeds=3, bottleneck_bps=1e10):
    return pd.DataFrame([
        dict(loss_rate=p, streams=k, seed=seed, received_bps=(1.2 + seed / 20) * k * 8 * 1448 / (0.02 * p**0.5),
             mss_bytes=1448, base_rtt_s=0.02, bottleneck_bps=bottleneck_bps)
        for p in losses for k in streams for seed in range(seeds)
    ])  # fmt: skip


def test_keeps_the_conventions():
    keeps_the_conventions(plots.prediction, a_grid(), [models.mathis, models.mathis_labs])


def test_prediction_draws_points_lines_and_ratios():
    grid, both = a_grid(), [models.mathis, models.mathis_labs]
    fig = plots.prediction(grid, both)
    above, below = ([t for t in fig.data if t.yaxis == axis] for axis in ("y", "y2"))
    points, lines = ([t for t in above if t.mode == mode] for mode in ("markers", "lines"))
    assert [t.name for t in points] == ["1 stream", "4 streams", "8 streams"] and len(lines) == 3 * 2
    assert len(below) == 3 * 2 + 2
    assert fig.layout.xaxis2.title.text == "loss rate [%]" and fig.layout.yaxis.title.text == "throughput [Mbit/s]"
    eight = grid.query("streams == 8").sort_values("loss_rate")
    assert points[2].x == pytest.approx(100 * eight.loss_rate)
    assert points[2].y == pytest.approx(eight.received_bps / 1e6)
    assert lines[0].line.dash != lines[1].line.dash
    assert lines[0].line.color == lines[1].line.color == points[0].marker.color
    for model, line in zip(both, lines[4:], strict=True):
        at = eight.iloc[[0]].assign(loss_rate=line.x[7] / 100)
        assert line.y[7] * 1e6 == pytest.approx(model(at).iloc[0])
    (labs,) = (t for t in below if t.mode == "lines" and t.name == models.mathis_labs.label)
    assert labs.y == pytest.approx([1.25] * 3), "seeds gave 1.2, 1.25 and 1.3 times the labs' formula"
    assert points[0].customdata[0] == pytest.approx([0, points[0].y[0], 1.2 / 1.5**0.5, 1.2]), "seed, measured, ratios"
    assert sum(t.showlegend is not False for t in fig.data) == 3 + 2


def test_prediction_says_how_many_runs_have_no_place_on_it():
    grid = a_grid(losses=[1e-3, 1e-2])
    fig = plots.prediction(grid.assign(loss_rate=grid.loss_rate.replace(1e-2, 0)), [models.mathis])
    assert fig.layout.title.subtitle.text == "9 runs without loss are not shown"
    assert sum(len(trace.x) for trace in fig.data if trace.yaxis == "y" and trace.mode == "markers") == 9


def test_prediction_takes_any_number_of_models():
    many = [models.Model("same", models.mathis.predict)] * 6
    assert len(plots.prediction(a_grid(), many).data) == 3 + 6 * (3 + 3 + 1)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.prediction(a_grid().drop(columns="seed"), [models.mathis]), "prediction: the frame lacks seed"),
        (lambda: plots.prediction(a_grid().iloc[:0], [models.mathis]), "prediction: the frame is empty"),
        (lambda: plots.prediction(a_grid(losses=[1]).assign(loss_rate=0), [models.mathis]), "no run of the grid"),
        (lambda: plots.prediction(a_grid(), []), r"prediction: models is empty, take \[models.mathis\]"),
    ],
)
def test_refuses_what_it_cannot_draw(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
