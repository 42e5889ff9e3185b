"""Points, lines and ratios of a sweep are the grid's and the models'."""

import pandas as pd
import pytest

from netlab import models, plots


def a_grid(losses=(1e-4, 1e-3, 1e-2), streams=(1, 4, 8), seeds=3, bottleneck_bps=1e10):
    return pd.DataFrame([
        dict(loss_rate=p, streams=k, seed=seed,
             received_bps=(1.2 + seed / 20) * k * 8 * 1448 / (0.02 * p**0.5),
             mss_bytes=1448, base_rtt_s=0.02, bottleneck_bps=bottleneck_bps)
        for p in losses for k in streams for seed in range(seeds)
    ])  # fmt: skip


BOTH = [models.mathis, models.mathis_labs]


def traces(fig, axis, mode, means=None):
    """Those of one panel: the runs (no error bars), the means (with them) or the lines."""
    found = fig.select_traces(dict(yaxis=axis, mode=mode))
    return [t for t in found if means is None or (t.error_y.array is not None) == means]


def panel(fig, axis):
    """The runs, the means and the lines of a panel."""
    runs, means = (traces(fig, axis, "markers", means) for means in (False, True))
    return runs, means, traces(fig, axis, "lines")


def subtitle(fig):
    return fig.layout.title.subtitle.text.replace("<br>", " ")


def test_prediction_draws_runs_means_ranges_lines_and_ratios():
    grid = a_grid()
    fig = plots.prediction(grid, BOTH)
    points, means, lines = panel(fig, "y")
    assert [t.name for t in means] == ["1 stream", "4 streams", "8 streams"] and len(lines) == 3 * 2
    assert [*map(len, panel(fig, "y2"))] == [3 * 2, 3 * 2, 2]
    assert fig.layout.xaxis2.title.text == "loss rate [%]"
    assert fig.layout.yaxis.title.text == "throughput [Mbit/s]"
    eight = grid.query("streams == 8").sort_values("loss_rate")
    assert points[2].x == pytest.approx(100 * eight.loss_rate)
    assert points[2].y == pytest.approx(eight.received_bps / 1e6)
    cells = eight.groupby("loss_rate").received_bps.agg(["mean", "min", "max"]) / 1e6
    assert means[2].y == pytest.approx(cells["mean"])
    assert means[2].x == pytest.approx(100 * cells.index)
    assert means[2].y + means[2].error_y.array == pytest.approx(cells["max"])
    assert means[2].y - means[2].error_y.arrayminus == pytest.approx(cells["min"])
    assert lines[0].line.dash != lines[1].line.dash
    colours = {lines[0].line.color, lines[1].line.color, points[0].marker.color}
    assert colours == {means[0].marker.color}
    for model, line in zip(BOTH, lines[4:], strict=True):
        at = eight.iloc[[0]].assign(loss_rate=line.x[7] / 100)
        assert line.y[7] * 1e6 == pytest.approx(model(at).iloc[0])
    labs = next(fig.select_traces(dict(yaxis="y2", mode="lines", name=models.mathis_labs.label)))
    assert labs.y == pytest.approx([1.25] * 3), "the mean of the seeds' factors"
    path, place, mbps, ratio, _ = points[0].text[0].split("<br>")
    assert (path, mbps) == ("1 stream, 20 ms, 10 Gbit/s", "69.5 Mbit/s")
    assert place == "loss rate 0.01 %, seed 0" and ratio == "0.98 of Mathis, C = √(3/2)"
    assert sum(t.showlegend is not False for t in fig.data) == 3 + 2


def test_the_title_has_the_constant_that_fits_best():
    best = "Mathis fits best with C = 1.25 (95 % interval: 1.23 to 1.26, 27 runs)"
    assert subtitle(plots.prediction(a_grid(), BOTH)) == best
    three_runs = a_grid(losses=[1e-3], streams=[1])
    assert subtitle(plots.prediction(three_runs, BOTH)) == ""


def test_where_models_do_not_hold_is_shaded():
    def shaded(fig):
        return [shape for shape in fig.layout.shapes if shape.type == "rect"]

    near = plots.prediction(a_grid(bottleneck_bps=1e9), [models.mathis])
    (more_than_the_link_carries,) = shaded(near)
    assert more_than_the_link_carries.y0 == pytest.approx(1000 * 1448 / 1514)
    refs = more_than_the_link_carries.xref, more_than_the_link_carries.yref
    assert refs == ("x domain", "y")
    lossy = plots.prediction(a_grid(losses=[0.01, 0.10]), [models.mathis, models.padhye])
    in_both_panels = [100 * models.MATHIS_MOST_LOSS] * 2
    assert [shape.x0 for shape in shaded(lossy)] == pytest.approx(in_both_panels)
    assert [a.text for a in lossy.layout.annotations] == ["beyond Mathis"]
    assert shaded(plots.prediction(a_grid(losses=[0.01, 0.10]), [models.padhye])) == []


def test_window_reductions_take_the_place_of_lost_packets():
    """Losses in clumps of ten: the labs' formula is off by the root of ten, unless it is given the
    rate of clumps.
    """
    clumps = a_grid().assign(halving_rate=lambda grid: grid.loss_rate / 10)
    clumps["received_bps"] *= 10**0.5
    fig = plots.prediction(clumps, [models.mathis_labs], rate="halving_rate")
    assert fig.layout.xaxis2.title.text == "window reductions per segment [%]"
    assert traces(fig, "y", "markers", means=True)[0].x == pytest.approx([0.001, 0.01, 0.1])
    assert traces(fig, "y2", "lines")[0].y == pytest.approx([1.25] * 3)
    (ratio,) = traces(plots.prediction(clumps, [models.mathis_labs]), "y2", "lines")
    assert ratio.y == pytest.approx([1.25 * 10**0.5] * 3)


def test_prediction_says_how_many_runs_have_no_place_on_it():
    grid = a_grid(losses=[1e-3, 1e-2])
    fig = plots.prediction(grid.assign(loss_rate=grid.loss_rate.replace(1e-2, 0)), BOTH)
    assert subtitle(fig).endswith("; not shown: 9 runs without loss or result")
    assert sum(len(trace.x) for trace in traces(fig, "y", "markers", means=False)) == 9
    grid.loc[0, "received_bps"] = float("nan")  # a run that failed
    assert "not shown: 1 run without" in subtitle(plots.prediction(grid, BOTH))


def test_runs_over_a_path_without_a_known_rate_have_their_lines_too():
    fig = plots.prediction(a_grid(bottleneck_bps=float("nan")), BOTH)
    assert len(traces(fig, "y", "lines")) == 3 * 2


def test_prediction_is_titled_by_what_its_runs_have_in_common():
    grid = a_grid().assign(congestion="reno", base_rtt_s=0.02, bottleneck_bps=1e9)
    title = plots.prediction(grid, BOTH).layout.title.text
    assert title == "Throughput under loss: reno, 20 ms, 1 Gbit/s"
    grid.loc[0, "congestion"] = "cubic"
    title = plots.prediction(grid, BOTH).layout.title.text
    assert title == "Throughput under loss: 20 ms, 1 Gbit/s"
    assert plots.prediction(grid, BOTH, title="Own").layout.title.text == "Own"


def test_prediction_takes_any_number_of_models():
    many = [models.Model("same", models.mathis.predict)] * 6
    assert len(plots.prediction(a_grid(), many).data) == 2 * 3 + 6 * (3 + 2 * 3 + 1)
