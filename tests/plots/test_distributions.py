"""Every run has its point, and each category its median, range and published number."""

import numpy as np
import pandas as pd
import pytest

from netlab import plots

NAN = np.nan


def some_runs(seeds=20):
    values = np.random.default_rng(1).uniform(0.7, 0.9, 2 * seeds)
    return pd.DataFrame({
        "congestion": np.repeat(["reno", "bbr"], seeds),
        "seed": np.tile(np.arange(1, seeds + 1), 2),
        "jain_index": values, "received_bps": values * 1e9,
    })  # fmt: skip


def draw(runs, x="congestion", y="jain_index", **options):
    """A figure, and its traces by name."""
    fig = plots.distribution(runs, x, y, **options)
    return fig, {trace.name: trace for trace in fig.data}


def test_every_run_is_a_point_near_its_category():
    runs = some_runs()
    points = draw(runs)[1]["one run"]
    place = np.round(points.x)
    drawn = sorted(zip(place, points.customdata, points.y, strict=True))
    assert drawn == sorted(zip(runs.congestion == "bbr", runs.seed, runs.jain_index, strict=True))
    assert np.abs(points.x - place).max() <= 0.25 + 1e-9


def test_points_that_are_near_one_another_lie_side_by_side():
    same = some_runs(5).assign(jain_index=[0.9] * 5 + [0.5, 0.6, 0.7, 0.8, 0.9])
    points = draw(same)[1]["one run"]
    x, y = np.array(points.x), np.array(points.y)
    reno = np.sort(x[x < 0.5])
    assert len(set(reno)) == 5
    assert reno + reno[::-1] == pytest.approx(0), "about their category's middle"
    assert x[x > 0.5] == pytest.approx(1), "nobody is near"
    assert sorted(y[x > 0.5]) == pytest.approx([0.5, 0.6, 0.7, 0.8, 0.9])
    alike = draw(same.assign(jain_index=1.0))[1]["one run"]
    assert len(set(alike.x)) == 10, "every point is visible, even where all are the same"
    assert draw(same)[1]["one run"].x == pytest.approx(x), "no chance in it"


def test_median_and_range_of_each_category():
    fig, by = draw(some_runs(3).assign(jain_index=[0.7, 0.9, 0.75, 0.6, 0.65, 0.5]))
    median, reach = by["median"], by["range"]
    assert median.y == pytest.approx([0.75] * 4 + [0.6] * 4)
    assert median.x[1] == 0 and median.x[5] == 1
    assert np.isnan(median.x[3]), "categories are not joined"
    assert median.customdata[0] == pytest.approx([0.75, 0.7, 0.9, 3])
    assert reach.y[:3] == pytest.approx([0.7, 0.75, 0.9]) and [*reach.x[:3]] == [0, 0, 0]
    (numbers,) = fig.select_traces(dict(mode="text"))
    assert [text.strip() for text in numbers.text] == ["0.75", "0.6"]


def test_published_numbers_are_open_squares():
    mark = draw(some_runs(), y="received_bps", marks={"bbr": 8.6e8})[1]["published"]
    assert (mark.x, mark.y) == ((1,), pytest.approx([860])) and mark.marker.symbol == "square-open"
    assert "published" not in draw(some_runs())[1]
    own = draw(some_runs(), marks={"bbr": 0.5}, marked="predicted")[1]["predicted"]
    assert list(own.y) == [0.5] and own.hovertemplate.startswith("predicted: ")


@pytest.mark.parametrize(
    ("y", "options", "x_title", "y_title"),
    [
        ("jain_index", {}, "congestion control", "Jain's index [1]"),
        ("received_bps", {}, "congestion control", "throughput [Mbit/s]"),
        ("rtt_s", {}, "congestion control", "rtt [ms]"),
        ("queue", dict(unit="byte"), "congestion control", "queue [MB]"),
        ("queue", dict(unit="packet", labels={"queue": "longest", "congestion": "h1"}),
         "h1", "longest [packet]"),
    ],
)  # fmt: skip
def test_axes_say_what_and_in_which_unit(y, options, x_title, y_title):
    layout = draw(some_runs().assign(rtt_s=0.02, queue=5e6), y=y, **options)[0].layout
    assert (layout.xaxis.title.text, layout.yaxis.title.text) == (x_title, y_title)


@pytest.mark.parametrize(
    ("lost", "said", "drawn"), [(0, "1 run without a value is", {0, 1}), (2, "3 runs without", {1})]
)
def test_runs_without_a_value_are_left_out_and_counted(lost, said, drawn):
    runs = some_runs(3)
    runs.loc[:lost, "jain_index"] = NAN
    fig, by = draw(runs)
    assert fig.layout.title.subtitle.text.startswith(said)
    assert len(by["one run"].x) == 5 - lost and set(np.round(by["one run"].x)) == drawn
    assert list(fig.layout.xaxis.ticktext) == ["reno", "bbr"]


def test_one_run_is_enough_and_categories_keep_their_order():
    fig, by = draw(some_runs(1).astype({"congestion": pd.CategoricalDtype(["bbr", "reno"])}))
    assert list(fig.layout.xaxis.ticktext) == ["bbr", "reno"]
    assert sorted(by["one run"].x) == [0, 1]
    numbers = some_runs(2).replace({"congestion": {"reno": 0.5, "bbr": 2.0}})
    assert list(draw(numbers, marks={2: 0.8})[0].layout.xaxis.ticktext) == ["0.5", "2"]
