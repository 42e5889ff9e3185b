"""The plane, the index over time and the matrix hold their frames' numbers, and what theory says of
them.
"""

import numpy as np
import pandas as pd
import pytest

from netlab import jain_index, plots
from tests.plots.conventions import keeps_the_conventions, named

NAN = np.nan


def a_way(*points):
    return pd.DataFrame(points, columns=["x_bps", "y_bps"]).assign(
        time_s=np.arange(len(points)) / 2
    )


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


def test_keeps_the_conventions():
    keeps_the_conventions(plots.plane, WAYS, 1e8)
    keeps_the_conventions(plots.index_over_time, {"reno": WINDOWS})
    eight = a_table(
        names=["reno", "cubic", "bbr", "vegas", "westwood", "illinois", "scalable", "highspeed"]
    )
    keeps_the_conventions(
        plots.matrix, eight, "own", "other", facet="buffer", plain=["own", "other"]
    )


# --- plane


def test_plane_draws_the_ways_to_one_scale():
    fig = plots.plane(WAYS, 1e8)
    model, measured = (
        next(t for t in fig.data if t.name == name and t.mode == "lines+markers") for name in WAYS
    )
    assert model.x == pytest.approx([10, 20, 10]) and model.y == pytest.approx([70, 80, 40])
    assert measured.x == pytest.approx([60, NAN, 50, NAN], nan_ok=True)
    assert model.line.width < measured.line.width and model.line.color != measured.line.color
    assert fig.layout.xaxis.title.text == "throughput of flow 1 [Mbit/s]"
    assert fig.layout.yaxis.title.text == "throughput of flow 2 [Mbit/s]"
    assert fig.layout.yaxis.scaleanchor == "x" and fig.layout.xaxis.range == fig.layout.yaxis.range
    assert fig.layout.xaxis.range[1] == pytest.approx(106)
    assert (
        plots.plane(WAYS, 1e8, flows=("h1", "h3")).layout.yaxis.title.text
        == "throughput of h3 [Mbit/s]"
    )


def test_a_slider_walks_along_the_first_way():
    fig = plots.plane(WAYS, 1e8, stepper=True)
    model = named(fig, "model")
    assert (
        [frame.name for frame in fig.frames]
        == ["0", "1", "2"]
        == [step.label for step in fig.layout.sliders[0].steps]
    )
    for number, frame in enumerate(fig.frames):
        line, end = (fig.data[trace] for trace in frame.traces)
        assert line is model and end.mode == "markers" and end.marker.color == model.line.color, (
            "its end, and not its start"
        )
        assert list(frame.data[0].x) == list(model.x[: number + 1]) and list(
            frame.data[0].y
        ) == list(model.y[: number + 1])
        assert list(frame.data[1].x) == [model.x[number]] and list(frame.data[1].y) == [
            model.y[number]
        ]
    assert not plots.plane(WAYS, 1e8).frames


def test_plane_tells_the_time_and_the_index_of_a_point():
    fig = plots.plane(WAYS, 1e8)
    model = named(fig, "model")
    assert model.customdata[:, 0] == pytest.approx(
        [jain_index([70, 10]), jain_index([20, 80]), jain_index([10, 40])]
    )
    assert model.customdata[:, 1] == pytest.approx([0, 0.5, 1]) and model.hovertemplate.startswith(
        "%{customdata[1]:.4~g} s"
    )
    untimed = {"model": WAYS["model"].drop(columns="time_s")}
    assert "customdata[1]" not in named(plots.plane(untimed, 1e8), "model").hovertemplate
    still = named(plots.plane({"still": a_way((0, 0), (1e7, 1e7))}, 1e8), "still")
    assert still.customdata[:, 0] == pytest.approx([NAN, 1], nan_ok=True), (
        "nothing is shared at the origin"
    )


def test_plane_marks_beginnings_open_and_ends_filled():
    rings = [t for t in plots.plane(WAYS, 1e8).data if t.name == "measured" and t.mode == "markers"]
    assert [(ring.x[0], ring.y[0]) for ring in rings] == [
        pytest.approx((60, 20)),
        pytest.approx((50, 40)),
    ]
    assert rings[0].marker.color == "white" and rings[1].marker.color == rings[0].marker.line.color
    (end,) = (
        t
        for t in plots.plane(WAYS, 1e8, start=False).data
        if t.name == "measured" and t.mode == "markers"
    )
    assert end.x == pytest.approx([50])


def test_plane_has_the_lines_and_where_they_cross():
    fig = plots.plane(WAYS, 9e7)
    rules = [t for t in fig.data if t.mode == "lines"]
    assert [note.text for note in fig.layout.annotations] == [
        *["index 0.9"] * 2,
        "fairness line",
        "efficiency line: 90 Mbit/s",
    ]
    for rule, index in zip(rules[:3], (0.9, 0.9, 1), strict=True):
        assert (rule.x[0], rule.y[0]) == (0, 0) and jain_index(
            [rule.x[1], rule.y[1]]
        ) == pytest.approx(index)
    assert rules[3].x == pytest.approx([0, 90]) and rules[3].y == pytest.approx([90, 0])
    optimum = named(fig, "optimum")
    assert optimum.x == optimum.y == pytest.approx([45])
    assert [note.textangle for note in fig.layout.annotations][2:] == pytest.approx([-45, 45])


def test_plane_holds_what_exceeds_the_capacity():
    assert plots.plane({"over": a_way((2e9, 1e9))}, 1e9).layout.xaxis.range[1] == pytest.approx(
        2.12
    )


# --- index_over_time


def test_index_over_time_is_steps_with_gaps():
    fig = plots.index_over_time({"reno": WINDOWS, "bbr": WINDOWS.iloc[::-1]}, threshold=0.95)
    reno, bbr = fig.data
    assert reno.x == pytest.approx([0, 1, 1, 2, 2, 3, 3, 5, 6])
    assert reno.y == pytest.approx([0.6, 0.6, 0.8, 0.8, NAN, NAN, NAN, 0.9, 0.9], nan_ok=True)
    assert bbr.x == reno.x and bbr.line.color != reno.line.color
    assert (fig.layout.xaxis.title.text, fig.layout.yaxis.title.text) == (
        "time [s]",
        "Jain's index [1]",
    )
    assert fig.layout.shapes[0].y0 == 0.95 and fig.layout.shapes[0].name == "threshold 0.95"
    assert not plots.index_over_time({"reno": WINDOWS}).layout.shapes


def test_index_over_time_begins_at_04_or_below_what_is_there():
    assert plots.index_over_time({"reno": WINDOWS}).layout.yaxis.range == (0.4, 1.02)
    eight = WINDOWS.assign(jain_index=0.125)
    assert plots.index_over_time({"reno": WINDOWS, "eight": eight}).layout.yaxis.range[
        0
    ] == pytest.approx(0.075)
    assert plots.index_over_time({"reno": WINDOWS}, threshold=0.3).layout.yaxis.range[
        0
    ] == pytest.approx(0.25)


# --- matrix


def test_matrix_has_the_median_of_each_pair():
    fig = plots.matrix(
        a_table(buffers=[1]), "own", "other", labels={"own": "flow 1 uses", "other": "flow 2 uses"}
    )
    (cells,) = fig.data
    assert (
        list(cells.x) == list(cells.y) == ["reno", "cubic", "bbr"]
        and fig.layout.yaxis.autorange == "reversed"
    )
    assert cells.z == pytest.approx(np.where(np.eye(3), 0.5, 0.6))
    assert cells.customdata[0][1] == pytest.approx([0.4, 0.7, 3]), "lowest, highest, runs"
    assert cells.customdata[1][1] == pytest.approx([0.5, 0.5, 3])
    assert cells.texttemplate == "%{z:.2f}" and "flow 1 uses: %{y}" in cells.hovertemplate
    assert (fig.layout.xaxis.title.text, fig.layout.yaxis.title.text) == (
        "flow 2 uses",
        "flow 1 uses",
    )
    assert fig.layout.coloraxis.colorbar.title.text == "share [1]"


def test_matrix_rows_win_against_columns():
    table = pd.DataFrame(
        {"own": ["a", "a", "b"], "other": ["b", "b", "a"], "share": [0.8, 0.9, NAN]}
    )
    (cells,) = plots.matrix(table, "own", "other").data
    assert list(cells.y) == list(cells.x) == ["a", "b"]
    assert cells.z == pytest.approx(np.array([[NAN, 0.85], [NAN, NAN]]), nan_ok=True), (
        "missing is not 0"
    )


def test_matrix_has_a_panel_per_facet_to_one_scale():
    fig = plots.matrix(a_table(), "own", "other", facet="buffer", labels={"buffer": "buffer [BDP]"})
    assert [note.text for note in fig.layout.annotations] == ["buffer: 0.5 BDP", "buffer: 2 BDP"]
    assert [panel.coloraxis for panel in fig.data] == [
        "coloraxis"
    ] * 2 and fig.layout.yaxis2.matches == "y"
    assert [axis.title.text for axis in fig.select_yaxes()] == ["own", None]
    named_by_text = a_table().assign(buffer=lambda t: t.buffer.map({0.5: "small", 2.0: "large"}))
    fig = plots.matrix(named_by_text, "own", "other", facet="buffer")
    assert [note.text for note in fig.layout.annotations] == ["buffer: small", "buffer: large"]


def test_matrix_is_white_in_the_middle():
    axis = plots.matrix(a_table(), "own", "other").layout.coloraxis
    assert (axis.cmin, axis.cmax) == (0, 1) and axis.colorscale[5] == (0.5, "rgb(247,247,247)")
    assert (
        plots.matrix(a_table(), "own", "other", middle=0.25).layout.coloraxis.colorscale[5][0]
        == 0.25
    )
    indices = a_table(shares=[0.63, 0.8]).rename(columns={"share": "jain_index"})
    axis = plots.matrix(
        indices.replace({"jain_index": {0.5: 1.0}}), "own", "other", "jain_index", middle=None
    ).layout.coloraxis
    assert (axis.cmin, axis.cmax) == (0.6, 1) and axis.colorbar.title.text == "Jain's index [1]"
    ones = a_table(shares=[1]).assign(share=1)
    assert plots.matrix(ones, "own", "other", middle=None).layout.coloraxis.cmin == 0.9


def test_matrix_has_numbers_in_their_order_even_where_both_axes_have_some():
    runs = pd.DataFrame(
        [(queue, ratio, 0.5) for queue in (0.25, 1.0, 4.0, 16.0) for ratio in (1, 2, 4, 8)],
        columns=["queue_bdp", "ratio", "share"],
    )
    (heat,) = plots.matrix(runs, "queue_bdp", "ratio").data
    assert list(heat.x) == [1, 2, 4, 8] and list(heat.y) == [0.25, 1, 4, 16]


def test_each_axis_of_a_matrix_has_its_own_order():
    places = [(queue, ratio) for queue in (16, 0.25, 4, 1) for ratio in (1, 4, 2, 8)]
    table = pd.DataFrame(places, columns=["queue", "ratio"]).assign(share=0.5)
    (cells,) = plots.matrix(table, "queue", "ratio").data
    assert list(cells.y) == [0.25, 1, 4, 16] and list(cells.x) == [1, 2, 4, 8]
    texts = table.assign(ratio=[f"1 to {ratio}" for ratio in table.ratio])
    (cells,) = plots.matrix(texts, "queue", "ratio").data
    assert list(cells.y) == [0.25, 1, 4, 16]
    assert list(cells.x) == ["1 to 1", "1 to 4", "1 to 2", "1 to 8"], "as they appear"


def test_panels_that_have_no_room_side_by_side_are_below_each_other():
    rivals = [(one, two, queue) for one in "abcdef" for two in "abcdef" for queue in (1, 4)]
    table = pd.DataFrame(rivals, columns=["own", "other", "queue"]).assign(share=0.5)
    fig = plots.matrix(table, "own", "other", facet="queue")
    assert fig.layout.width is None and len(list(fig.select_xaxes())) == 2
    assert fig.layout.yaxis.domain[0] > fig.layout.yaxis2.domain[1]
    few = plots.matrix(table[table.other.isin(["a", "b"])], "own", "other", facet="queue")
    assert few.layout.xaxis.domain[1] < few.layout.xaxis2.domain[0]


def test_matrix_keeps_the_order_of_categories():
    table = a_table().astype({"own": pd.CategoricalDtype(["bbr", "cubic", "reno", "vegas"])})
    (cells,) = plots.matrix(table, "own", "other").data
    assert list(cells.y) == list(cells.x) == ["bbr", "cubic", "reno"], "vegas has no run"


# --- invalid input


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.plane({}, 1e8), "plane: trajectories is empty"),
        (
            lambda: plots.plane({"a": WAYS["model"][["x_bps"]]}, 1e8),
            "plane, 'a': the frame lacks y_bps",
        ),
        (
            lambda: plots.plane({"a": WAYS["measured"].iloc[[1]]}, 1e8),
            "plane, 'a': no row has both x_bps and y_bps",
        ),
        (lambda: plots.plane(WAYS, 0), "plane: capacity_bps must be above 0 and finite, not 0"),
        (lambda: plots.plane(WAYS, NAN), "plane: capacity_bps must be above 0 and finite, not nan"),
        (lambda: plots.index_over_time({}), "index_over_time: windows is empty"),
        (
            lambda: plots.index_over_time({"a": WINDOWS.drop(columns="end_s")}),
            "index_over_time, 'a': the frame lacks end_s",
        ),
        (
            lambda: plots.index_over_time({"a": WINDOWS.iloc[[2]]}),
            "index_over_time, 'a': no window has a jain_index",
        ),
        (
            lambda: plots.index_over_time({"a": WINDOWS.assign(end_s=WINDOWS.end_s + 1)}),
            "'a': windows overlap at 1 s",
        ),
        (
            lambda: plots.matrix(a_table(), "own", "rival"),
            "matrix: the frame lacks rival; it has own, other",
        ),
        (lambda: plots.matrix(a_table().iloc[:0], "own", "other"), "matrix: the frame is empty"),
        (
            lambda: plots.matrix(a_table(), "own", "other", facet="queue"),
            "matrix: the frame lacks queue",
        ),
        (
            lambda: plots.matrix(a_table().assign(share=NAN), "own", "other"),
            "matrix: no run has a share",
        ),
        (
            lambda: plots.matrix(a_table(shares=[40]), "own", "other"),
            "matrix: share must be from 0 to 1, not 40",
        ),
        (
            lambda: plots.matrix(a_table(), "own", "other", middle=1),
            "matrix: middle must be between 0 and 1, or None, not 1",
        ),
    ],
)
def test_refuses_what_it_cannot_draw(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
