"""The plane, the index over time and the matrix hold their frames' numbers, and what theory says of
them.
"""

import warnings

import numpy as np
import pandas as pd
import pytest

from netlab import jain_index, plots
from tests.plots import named

NAN = np.nan


def a_way(*points):
    way = pd.DataFrame(points, columns=["x_bps", "y_bps"])
    return way.assign(time_s=np.arange(len(points)) / 2)


WAYS = {
    "model": a_way((1e7, 7e7), (2e7, 8e7), (1e7, 4e7)),
    "measured": a_way((6e7, 2e7), (NAN, 3e7), (5e7, 4e7), (NAN, NAN)),
}
WINDOWS = pd.DataFrame(
    {"start_s": [0.0, 1, 2, 5], "end_s": [1.0, 2, 3, 6], "jain_index": [0.6, 0.8, NAN, 0.9]}
)


def a_table(shares=(0.4, 0.6, 0.7), names=("reno", "cubic", "bbr"), buffers=(0.5, 2.0)):
    return pd.DataFrame([
        dict(own=own, other=other, buffer=buffer, seed=seed, share=share if own != other else 0.5)
        for buffer in buffers for own in names for other in names
        for seed, share in enumerate(shares)
    ])  # fmt: skip


def rings(fig, name):
    return [*fig.select_traces(dict(name=name, mode="markers"))]


def test_plane_draws_the_ways_to_one_scale():
    fig = plots.plane(WAYS, 1e8)
    model, measured = (
        next(fig.select_traces(dict(name=name, mode="lines+markers"))) for name in WAYS
    )
    assert model.x == pytest.approx([10, 20, 10]) and model.y == pytest.approx([70, 80, 40])
    assert measured.x == pytest.approx([60, NAN, 50, NAN], nan_ok=True)
    assert model.line.width < measured.line.width and model.line.color != measured.line.color
    x, y = fig.layout.xaxis, fig.layout.yaxis
    assert x.title.text == "throughput of flow 1 [Mbit/s]"
    assert y.title.text == "throughput of flow 2 [Mbit/s]"
    assert y.scaleanchor == "x" and x.range == y.range == (0, pytest.approx(106))
    assert "of h3 [" in plots.plane(WAYS, 1e8, flows=("h1", "h3")).layout.yaxis.title.text
    over = plots.plane({"over": a_way((2e9, 1e9))}, 1e9)
    assert over.layout.xaxis.range[1] == pytest.approx(2.12), "what exceeds the capacity is shown"


def test_a_slider_walks_along_the_first_way():
    fig = plots.plane(WAYS, 1e8, stepper=True)
    model = named(fig, "model")
    names = [step.label for step in fig.layout.sliders[0].steps]
    assert names == ["0", "1", "2"] and names == [frame.name for frame in fig.frames]
    for number, frame in enumerate(fig.frames):
        line, end = (fig.data[trace] for trace in frame.traces)
        assert line is model and end.mode == "markers"
        assert end.marker.color == model.line.color, "its end, and not its start"
        for axis in ("x", "y"):
            assert list(frame.data[0][axis]) == list(model[axis][: number + 1])
            assert list(frame.data[1][axis]) == [model[axis][number]]
    assert fig.layout.width is None and not plots.plane(WAYS, 1e8).frames


def test_plane_tells_the_time_and_the_index_of_a_point():
    model = named(plots.plane(WAYS, 1e8), "model")
    indices = [jain_index([70, 10]), jain_index([20, 80]), jain_index([10, 40])]
    assert model.customdata[:, 0] == pytest.approx(indices)
    assert list(model.customdata[:, 1]) == [0, 0.5, 1]
    assert model.hovertemplate.startswith("%{customdata[1]:.4~g} s")
    untimed = {"model": WAYS["model"].drop(columns="time_s")}
    assert "customdata[1]" not in named(plots.plane(untimed, 1e8), "model").hovertemplate
    with warnings.catch_warnings(action="error"):
        still = named(plots.plane({"still": a_way((0, 0), (1e7, 1e7))}, 1e8), "still")
    nothing_is_shared = pytest.approx([NAN, 1], nan_ok=True)
    assert still.customdata[:, 0] == nothing_is_shared


def test_plane_marks_beginnings_open_and_ends_filled():
    begin, end = rings(plots.plane(WAYS, 1e8), "measured")
    assert (begin.x[0], begin.y[0]) == pytest.approx((60, 20))
    assert (end.x[0], end.y[0]) == pytest.approx((50, 40))
    assert begin.marker.color == "white" and end.marker.color == begin.marker.line.color


def test_plane_has_the_lines_and_where_they_cross():
    fig = plots.plane(WAYS, 9e7)
    *rules, efficiency = fig.select_traces(dict(mode="lines"))
    notes = [note.text for note in fig.layout.annotations]
    assert notes == [*["index 0.9"] * 2, "fairness line", "efficiency line: 90 Mbit/s"]
    for rule, index in zip(rules, (0.9, 0.9, 1), strict=True):
        assert (rule.x[0], rule.y[0]) == (0, 0)
        assert jain_index([rule.x[1], rule.y[1]]) == pytest.approx(index)
    assert efficiency.x == pytest.approx([0, 90]) and efficiency.y == pytest.approx([90, 0])
    optimum = named(fig, "optimum")
    assert optimum.x == optimum.y == pytest.approx([45])
    for note, line in zip(fig.layout.annotations, (*rules, efficiency), strict=True):
        along = (note.x - line.x[0]) / (line.x[1] - line.x[0])
        assert 0.1 < along < 0.95 and np.interp(along, [0, 1], line.y) == pytest.approx(note.y)
    angles = [note.textangle for note in fig.layout.annotations]
    assert angles[2:] == pytest.approx([-45, 45])


def test_index_over_time_is_steps_with_gaps():
    fig = plots.index_over_time({"reno": WINDOWS, "bbr": WINDOWS.iloc[::-1]}, threshold=0.95)
    reno, bbr = fig.data
    assert reno.x == pytest.approx([0, 1, 1, 2, 2, 3, 3, 5, 6])
    assert reno.y == pytest.approx([0.6, 0.6, 0.8, 0.8, NAN, NAN, NAN, 0.9, 0.9], nan_ok=True)
    assert bbr.x == reno.x and bbr.line.color != reno.line.color
    titles = fig.layout.xaxis.title.text, fig.layout.yaxis.title.text
    assert titles == ("time [s]", "Jain's index [1]")
    assert fig.layout.shapes[0].y0 == 0.95 and fig.layout.shapes[0].name == "threshold 0.95"
    assert not plots.index_over_time({"reno": WINDOWS}).layout.shapes


@pytest.mark.parametrize(
    ("lowest", "threshold", "begin"), [(0.6, None, 0.4), (0.125, None, 0.075), (0.6, 0.3, 0.25)]
)
def test_index_over_time_begins_at_04_or_below_what_is_there(lowest, threshold, begin):
    other = WINDOWS.assign(jain_index=lowest)
    fig = plots.index_over_time({"reno": WINDOWS, "other": other}, threshold)
    assert fig.layout.yaxis.range == (pytest.approx(begin), 1.02)


def test_matrix_has_the_median_of_each_pair():
    labels = {"own": "flow 1 uses", "other": "flow 2 uses"}
    fig = plots.matrix(a_table(buffers=[1]), "own", "other", labels=labels)
    (cells,) = fig.data
    assert list(cells.x) == list(cells.y) == ["reno", "cubic", "bbr"]
    assert fig.layout.yaxis.autorange == "reversed"
    assert cells.z == pytest.approx(np.where(np.eye(3), 0.5, 0.6))
    assert cells.customdata[0][1] == pytest.approx([0.4, 0.7, 3]), "lowest, highest, runs"
    assert cells.customdata[1][1] == pytest.approx([0.5, 0.5, 3])
    assert cells.texttemplate == "%{z:.2f}" and "flow 1 uses: %{y}" in cells.hovertemplate
    titles = fig.layout.xaxis.title.text, fig.layout.yaxis.title.text
    assert titles == ("flow 2 uses", "flow 1 uses")
    assert fig.layout.coloraxis.colorbar.title.text == "share [1]"


def test_matrix_rows_win_against_columns_and_missing_is_not_0():
    table = pd.DataFrame([("a", "b", 0.8), ("a", "b", 0.9), ("b", "a", NAN)])
    (cells,) = plots.matrix(table.set_axis(["own", "other", "share"], axis=1), "own", "other").data
    assert list(cells.y) == list(cells.x) == ["a", "b"]
    assert cells.z == pytest.approx(np.array([[NAN, 0.85], [NAN, NAN]]), nan_ok=True)


def test_matrix_has_a_panel_per_facet_to_one_scale():
    fig = plots.matrix(a_table(), "own", "other", facet="buffer", labels={"buffer": "buffer [BDP]"})
    assert [note.text for note in fig.layout.annotations] == ["buffer: 0.5 BDP", "buffer: 2 BDP"]
    assert [panel.coloraxis for panel in fig.data] == ["coloraxis"] * 2
    assert fig.layout.yaxis2.matches == "y"
    assert [axis.title.text for axis in fig.select_yaxes()] == ["own", None]
    named_by_text = a_table().replace({"buffer": {0.5: "small", 2.0: "large"}})
    fig = plots.matrix(named_by_text, "own", "other", facet="buffer")
    assert [note.text for note in fig.layout.annotations] == ["buffer: small", "buffer: large"]


def test_matrix_is_white_in_the_middle():
    def axis(table, *value, **options):
        return plots.matrix(table, "own", "other", *value, **options).layout.coloraxis

    usual = axis(a_table())
    assert (usual.cmin, usual.cmax) == (0, 1)
    assert usual.colorscale[5] == (0.5, "rgb(247,247,247)")
    assert axis(a_table(), middle=0.25).colorscale[5][0] == 0.25
    indices = a_table(shares=[0.63, 0.8]).rename(columns={"share": "jain_index"})
    dark = axis(indices.replace({"jain_index": {0.5: 1.0}}), "jain_index", middle=None)
    assert (dark.cmin, dark.cmax) == (0.6, 1) and dark.colorbar.title.text == "Jain's index [1]"
    assert axis(a_table(shares=[1]).assign(share=1), middle=None).cmin == 0.9


def test_each_axis_of_a_matrix_has_its_own_order():
    places = [(queue, ratio) for queue in (16, 0.25, 4, 1) for ratio in (1, 4, 2, 8)]
    table = pd.DataFrame(places, columns=["queue", "ratio"]).assign(share=0.5)
    (cells,) = plots.matrix(table, "queue", "ratio").data
    assert list(cells.y) == [0.25, 1, 4, 16] and list(cells.x) == [1, 2, 4, 8]
    texts = table.assign(ratio=[f"1 to {ratio}" for ratio in table.ratio])
    (cells,) = plots.matrix(texts, "queue", "ratio").data
    assert list(cells.y) == [0.25, 1, 4, 16]
    assert list(cells.x) == ["1 to 1", "1 to 4", "1 to 2", "1 to 8"], "as they appear"
    rivals = a_table().astype({"own": pd.CategoricalDtype(["bbr", "cubic", "reno", "vegas"])})
    (cells,) = plots.matrix(rivals, "own", "other").data
    assert list(cells.y) == list(cells.x) == ["bbr", "cubic", "reno"], "vegas has no run"


def test_panels_that_have_no_room_side_by_side_are_below_each_other():
    table = a_table(names="abcdef")
    fig = plots.matrix(table, "own", "other", facet="buffer")
    assert fig.layout.width is None and len(list(fig.select_xaxes())) == 2
    assert fig.layout.yaxis.domain[0] > fig.layout.yaxis2.domain[1]
    few = plots.matrix(table[table.other.isin(["a", "b"])], "own", "other", facet="buffer")
    assert few.layout.xaxis.domain[1] < few.layout.xaxis2.domain[0]
