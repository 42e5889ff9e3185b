"""Every run has its point, and each category its median, range and published number."""

import numpy as np
import pandas as pd
import pytest

from netlab import plots
from tests.plots.conventions import keeps_the_conventions, named

NAN = np.nan


def some_runs(seeds=20):
    values = np.random.default_rng(1).uniform(0.7, 0.9, 2 * seeds)
    return pd.DataFrame({
        "congestion": np.repeat(["reno", "bbr"], seeds),
        "seed": np.tile(np.arange(1, seeds + 1), 2),
        "jain_index": values, "received_bps": values * 1e9,
    })  # fmt: skip


def test_keeps_the_conventions():
    plain = ["congestion control"]
    keeps_the_conventions(
        plots.distribution,
        some_runs(30),
        "congestion",
        "jain_index",
        marks={"reno": 0.8},
        plain=plain,
    )


def test_every_run_is_a_point_near_its_category():
    runs = some_runs()
    points = named(plots.distribution(runs, "congestion", "jain_index"), "one run")
    drawn = pd.DataFrame(
        {"place": np.round(points.x), "seed": points.customdata, "value": points.y}
    )
    expected = pd.DataFrame(
        {"place": (runs.congestion == "bbr") * 1.0, "seed": runs.seed, "value": runs.jain_index}
    )
    drawn, expected = (
        frame.sort_values(["place", "seed"], ignore_index=True) for frame in (drawn, expected)
    )
    pd.testing.assert_frame_equal(drawn, expected, check_dtype=False)
    assert np.abs(points.x - np.round(points.x)).max() <= 0.25 + 1e-9


def test_points_that_are_near_one_another_lie_side_by_side():
    same = some_runs(5).assign(jain_index=[0.9] * 5 + [0.5, 0.6, 0.7, 0.8, 0.9])
    points = named(plots.distribution(same, "congestion", "jain_index"), "one run")
    x, y = np.array(points.x), np.array(points.y)
    reno = np.sort(x[x < 0.5])
    assert len(set(reno)) == 5 and reno + reno[::-1] == pytest.approx(0), (
        "about their category's middle"
    )
    assert x[x > 0.5] == pytest.approx(1), "nobody is near"
    assert sorted(y[x > 0.5]) == pytest.approx([0.5, 0.6, 0.7, 0.8, 0.9])
    alike = named(
        plots.distribution(same.assign(jain_index=1.0), "congestion", "jain_index"), "one run"
    )
    assert len(set(alike.x)) == 10, "every point is visible, even where all are the same"
    again = named(plots.distribution(same, "congestion", "jain_index"), "one run")
    assert again.x == pytest.approx(points.x), "no chance in it"


def test_median_and_range_of_each_category():
    runs = some_runs(3).assign(jain_index=[0.7, 0.9, 0.75, 0.6, 0.65, 0.5])
    fig = plots.distribution(runs, "congestion", "jain_index")
    median, reach = named(fig, "median"), named(fig, "range")
    assert (
        median.y == pytest.approx([0.75] * 4 + [0.6] * 4) and median.x[1] == 0 and median.x[5] == 1
    )
    assert np.isnan(median.x[3]), "categories are not joined"
    assert median.customdata[0] == pytest.approx([0.75, 0.7, 0.9, 3])
    assert reach.y[:3] == pytest.approx([0.7, 0.75, 0.9]) and reach.x[:3] == pytest.approx(
        [0, 0, 0]
    )
    (numbers,) = (t for t in fig.data if t.mode == "text")
    assert [text.strip() for text in numbers.text] == ["0.75", "0.6"]


def test_published_numbers_are_open_squares():
    fig = plots.distribution(some_runs(), "congestion", "received_bps", marks={"bbr": 8.6e8})
    mark = named(fig, "published")
    assert (mark.x, mark.y) == ((1,), pytest.approx([860])) and mark.marker.symbol == "square-open"
    assert "published" not in [
        t.name for t in plots.distribution(some_runs(), "congestion", "jain_index").data
    ]
    predicted = named(
        plots.distribution(
            some_runs(), "congestion", "jain_index", marks={"bbr": 0.5}, marked="predicted"
        ),
        "predicted",
    )
    assert list(predicted.y) == [0.5] and predicted.hovertemplate.startswith("predicted: ")


def test_axes_say_what_and_in_which_unit():
    def titles(y, **options):
        fig = plots.distribution(
            some_runs().assign(rtt_s=0.02, queue=5e6), "congestion", y, **options
        )
        return fig.layout.xaxis.title.text, fig.layout.yaxis.title.text

    assert titles("jain_index") == ("congestion control", "Jain's index [1]")
    assert titles("received_bps") == ("congestion control", "throughput [Mbit/s]")
    assert titles("rtt_s") == ("congestion control", "rtt [ms]")
    assert titles("queue", unit="byte") == ("congestion control", "queue [MB]")
    assert (
        titles("queue", unit="packet", labels={"queue": "longest queue"})[1]
        == "longest queue [packet]"
    )
    assert titles("jain_index", labels={"congestion": "h1, h3"})[0] == "h1, h3"


def test_runs_without_a_value_are_left_out_and_counted():
    runs = some_runs(3)
    runs.loc[0, "jain_index"] = NAN
    fig = plots.distribution(runs, "congestion", "jain_index")
    assert (
        fig.layout.title.subtitle.text == "1 run without a value is not shown"
        and len(named(fig, "one run").x) == 5
    )
    runs.loc[:2, "jain_index"] = NAN
    fig = plots.distribution(runs, "congestion", "jain_index")
    assert fig.layout.title.subtitle.text == "3 runs without a value are not shown"
    assert list(fig.layout.xaxis.ticktext) == ["reno", "bbr"] and set(
        np.round(named(fig, "one run").x)
    ) == {1}


def test_one_run_is_enough_and_categories_keep_their_order():
    one = some_runs(1).astype({"congestion": pd.CategoricalDtype(["bbr", "reno"])})
    fig = plots.distribution(one, "congestion", "jain_index")
    assert list(fig.layout.xaxis.ticktext) == ["bbr", "reno"] and sorted(
        named(fig, "one run").x
    ) == [0, 1]
    numbers = some_runs(2).replace({"congestion": {"reno": 0.5, "bbr": 2.0}})
    assert list(
        plots.distribution(
            numbers, "congestion", "jain_index", marks={2: 0.8}
        ).layout.xaxis.ticktext
    ) == ["0.5", "2"]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: plots.distribution(some_runs(), "who", "jain_index"),
            "distribution: the frame lacks who",
        ),
        (
            lambda: plots.distribution(
                some_runs().drop(columns="seed"), "congestion", "jain_index"
            ),
            "the frame lacks seed",
        ),
        (
            lambda: plots.distribution(some_runs().iloc[:0], "congestion", "jain_index"),
            "distribution: the frame is empty",
        ),
        (
            lambda: plots.distribution(
                some_runs().assign(jain_index=NAN), "congestion", "jain_index"
            ),
            "no run has a jain_index",
        ),
        (
            lambda: plots.distribution(some_runs(), "congestion", "jain_index", marks={"cubic": 1}),
            "distribution: marks name cubic; congestion has reno, bbr",
        ),
        (
            lambda: plots.distribution(
                some_runs(), "congestion", "jain_index", marks={"reno": NAN}
            ),
            "distribution: the mark of reno is no finite number",
        ),
    ],
)
def test_refuses_what_it_cannot_draw(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
