"""What every figure keeps and refuses, and the style that all share."""

import types
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from netlab import models, plots
from netlab.plots._style import COLOURS, INK
from netlab.plots._words import with_unit
from tests.plots import changed, test_runs, test_window_traces
from tests.plots.test_competition import WAYS, WINDOWS, a_table
from tests.plots.test_distributions import some_runs
from tests.plots.test_predictions import a_grid
from tests.plots.test_runs import DUEL, EIGHT
from tests.plots.test_tables import STEPS, TABLE
from tests.plots.test_window_traces import MANY, TRACES, TWO

NAN, PATH = np.nan, [models.mathis]
GRID, RIVALS, RUNS = a_grid(), a_table(), some_runs()
NAMES = ["reno", "cubic", "bbr", "vegas", "westwood", "illinois", "scalable", "highspeed"]
OWN, FAIR = ("own", "other"), ("congestion", "jain_index")


@pytest.mark.parametrize(
    ("plot", "argument", "more", "options"),
    [
        (plots.aimd, TRACES, (), {}),
        (plots.comparison, TABLE, (), {}),
        (plots.distribution, some_runs(30), FAIR, dict(marks={"reno": 0.8})),
        (plots.index_over_time, {"reno": WINDOWS}, (), {}),
        (plots.loss_onset, STEPS, (), {}),
        (plots.matrix, a_table(names=NAMES), OWN, dict(facet="buffer")),
        (plots.plane, WAYS, (1e8,), {}),
        (plots.prediction, a_grid(), ([models.mathis, models.mathis_labs],), {}),
        (plots.queues, TWO, (), {}),
        (plots.streams, EIGHT, (), {}),
        (plots.throughput, EIGHT, (), {}),
        (plots.windows, TWO, (), {}),
        (plots.windows, test_window_traces.DUEL, (), {}),
        (plots.windows, MANY, (), {}),
    ],
)
def test_a_figure_is_light_says_its_units_and_leaves_frames_alone(plot, argument, more, options):
    parts = vars(argument) if isinstance(argument, SimpleNamespace) else argument
    parts = parts.values() if isinstance(parts, dict) else [parts]
    frames = [part for part in parts if isinstance(part, pd.DataFrame)]
    before = [frame.copy() for frame in frames]
    fig = plot(argument, *more, **options)
    for frame, was in zip(frames, before, strict=True):
        pd.testing.assert_frame_equal(frame, was)
    titles = {axis.title.text for axis in (*fig.select_xaxes(), *fig.select_yaxes())}
    titles |= {fig.layout.coloraxis.colorbar.title.text}
    titles -= {None, "own", "other", "congestion control", "stream"}
    assert titles and all(title.endswith("]") for title in titles)
    assert type(fig).__name__ == "Figure" and len(fig.to_json()) < 60_000
    assert "$" not in fig.to_json(), "MathJax does not render in JupyterLab"
    assert fig.layout.width is None, "as wide as the page"
    assert fig.layout.paper_bgcolor is None and fig.layout.template.layout.paper_bgcolor == "white"
    assert all(title.replace("<br>", " ") in fig.layout.meta["description"] for title in titles)


def of_runs(frame, *lacking, **columns):
    """EIGHT with a frame that is changed."""
    new = getattr(EIGHT, frame).drop(columns=list(lacking)).assign(**columns)
    return changed(EIGHT, **{frame: new})


def without(frame, column):
    return frame.drop(columns=column)


def empty(frame):
    return SimpleNamespace(**{frame: pd.DataFrame()})


NO_WINDOWS = test_window_traces.a_result(algorithms=("reno", "cubic"))
NO_CWND = changed(TWO, windows=TWO.windows.drop(columns="cwnd"))


@pytest.mark.parametrize(
    ("words", "draw"),
    [
        ("aimd: traces is empty", lambda: plots.aimd({})),
        ("aimd, 'a': .* lacks cwnd_bytes", lambda: plots.aimd({"a": WINDOWS.assign(time_s=1)})),
        ("comparison: .* lacks published", lambda: plots.comparison(without(TABLE, "published"))),
        ("comparison: .* empty", lambda: plots.comparison(TABLE[:0])),
        ("distribution: .* lacks who", lambda: plots.distribution(RUNS, "who", "share")),
        ("lacks seed", lambda: plots.distribution(without(RUNS, "seed"), *FAIR)),
        ("distribution: .* empty", lambda: plots.distribution(RUNS[:0], *FAIR)),
        ("no run has a jain", lambda: plots.distribution(RUNS.assign(jain_index=NAN), *FAIR)),
        ("marks name cubic", lambda: plots.distribution(RUNS, *FAIR, marks={"cubic": 1})),
        ("mark of reno", lambda: plots.distribution(RUNS, *FAIR, marks={"reno": NAN})),
        ("index_over_time: windows is empty", lambda: plots.index_over_time({})),
        ("'a': .* lacks end_s", lambda: plots.index_over_time({"a": without(WINDOWS, "end_s")})),
        ("'a': no window has a jain_index", lambda: plots.index_over_time({"a": WINDOWS[2:3]})),
        ("'a': windows overlap at 1 s",
         lambda: plots.index_over_time({"a": WINDOWS.assign(end_s=WINDOWS.end_s + 1)})),
        ("loss_onset: .* lacks too_much", lambda: plots.loss_onset(without(STEPS, "too_much"))),
        ("loss_onset: .* empty", lambda: plots.loss_onset(STEPS[:0])),
        ("matrix: .* lacks rival; it has own", lambda: plots.matrix(RIVALS, "own", "rival")),
        ("matrix: .* empty", lambda: plots.matrix(RIVALS[:0], *OWN)),
        ("matrix: .* lacks queue", lambda: plots.matrix(RIVALS, *OWN, facet="queue")),
        ("no run has a share", lambda: plots.matrix(RIVALS.assign(share=NAN), *OWN)),
        ("share must be .* not 40", lambda: plots.matrix(a_table(shares=[40]), *OWN)),
        ("middle must be .* not 1", lambda: plots.matrix(RIVALS, *OWN, middle=1)),
        ("plane: trajectories is empty", lambda: plots.plane({}, 1e8)),
        ("'a': .* lacks y_bps", lambda: plots.plane({"a": WAYS["model"][["x_bps"]]}, 1e8)),
        ("'a': no row has both", lambda: plots.plane({"a": WAYS["measured"][1:2]}, 1e8)),
        ("capacity_bps must be above 0 .* 0", lambda: plots.plane(WAYS, 0)),
        ("capacity_bps must be above 0 .* nan", lambda: plots.plane(WAYS, NAN)),
        ("prediction: .* lacks seed", lambda: plots.prediction(without(GRID, "seed"), PATH)),
        ("prediction: .* empty", lambda: plots.prediction(GRID[:0], PATH)),
        ("no run", lambda: plots.prediction(GRID.assign(loss_rate=0), PATH)),
        ("rate must be .* not 'loss'", lambda: plots.prediction(GRID, PATH, rate="loss")),
        ("lacks halving_rate", lambda: plots.prediction(GRID, PATH, rate="halving_rate")),
        (r"models is empty, take \[models.mathis\]", lambda: plots.prediction(GRID, [])),
        (r'queues is empty: add nl.Queue\("s1", "s2"\)', lambda: plots.queues(NO_WINDOWS)),
        ("'red' is none of 'netem', 'tbf'", lambda: plots.queues(TWO, qdisc="red")),
        ("streams: .* lacks src, sent_bps",
         lambda: plots.streams(of_runs("streams", "sent_bps", "src"))),
        ("streams: .* empty", lambda: plots.streams(empty("streams"))),
        ("stream 1 of flow 1 has neither",
         lambda: plots.streams(of_runs("streams", sent_bps=NAN, received_bps=NAN))),
        ("throughput: .* lacks stream", lambda: plots.throughput(of_runs("intervals", "stream"))),
        ("throughput: .* empty", lambda: plots.throughput(empty("intervals"))),
        ("flows: .* lacks congestion", lambda: plots.throughput(of_runs("flows", "congestion"))),
        ("no interval", lambda: plots.throughput(of_runs("intervals", sent_bps=NAN))),
        (r'add nl.Windows\("h1"\), nl.Windows\("h3"\)', lambda: plots.windows(NO_WINDOWS)),
        ("flow = 2 has no rows .* which has 1", lambda: plots.windows(TWO, flow=2)),
        ("windows: .* lacks cwnd", lambda: plots.windows(NO_CWND)),
    ],
)  # fmt: skip
def test_refuses_what_it_cannot_draw(words, draw):
    with pytest.raises(ValueError, match=words):
        draw()


def test_what_a_report_calls_its_congestion_control_is_no_html():
    evil = "<span style='background: url(http://a.invalid)'>"
    result = test_runs.a_result(("h1", "h2", evil, 0, [1e8]), ("h3", "h4", "reno", 0, [1e8]))
    for fig in (plots.throughput(result), plots.streams(result)):
        assert "<span" not in fig.to_json() and "\\u003cspan" not in fig.to_json()
        assert "h3 → h4 reno" in [trace.name for trace in fig.data]


def test_a_figure_says_in_words_what_it_shows():
    assert plots.aimd(TRACES).layout.meta["description"] == (
        "time [s], congestion window [MB]. MSS 8760, MSS 1460"
    )
    told = plots.streams(DUEL).layout.meta["description"]
    assert told.startswith("Jain's index 0.800. 2 flows, 2 streams, 800 Mbit/s together")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (5e-6, "s", "5 µs"), (0.02, "s", "20 ms"), (2, "s", "2 s"), (999, "bit/s", "999 bit/s"),
        (1e3, "bit/s", "1 kbit/s"), (25e6, "bit/s", "25 Mbit/s"), (1e10, "bit/s", "10 Gbit/s"),
        (1448, "byte", "1.45 kB"), (5e6, "byte", "5 MB"), (2e9, "byte", "2 GB"),
    ],
)  # fmt: skip
def test_a_value_has_the_prefix_that_suits_it(value, unit, text):
    assert with_unit(value, unit) == text


def test_all_is_sorted_and_is_what_is_visible():
    public = {name: value for name, value in vars(plots).items() if not name.startswith("_")}
    visible = [name for name, value in public.items() if not isinstance(value, types.ModuleType)]
    assert plots.__all__ == sorted(visible)


# G. M. Machado et al., "A physiologically-based model for simulation of color vision deficiency",
# IEEE TVCG 15, 2009: what is seen of linear RGB without the one or the other kind of cones
SEEN = {
    "by most": np.eye(3),
    "without red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "without green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    parts = np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = XYZ @ np.clip(rgb, 0, 1) / XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("whose", SEEN)
def test_colour_blind_people_can_tell_the_colours_apart(whose):
    seen = {colour: lab(np.array(SEEN[whose]) @ linear(colour)) for colour in (*COLOURS, INK)}
    near = {pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]]) for pair in combinations(seen, 2)}
    assert min(near.values()) > 20, min(near, key=near.get)


def test_colours_stand_out_from_the_page():
    light = [XYZ[1] @ linear(colour) for colour in COLOURS]
    assert min(1.05 / (one + 0.05) for one in light) > 2
