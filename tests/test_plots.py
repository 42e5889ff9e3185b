"""Figures hold the frame's numbers, in the unit that their axis names."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from netlab import models, plots, wan

NAN = np.nan


def a_result(*flows, rate="10gbit", seconds=10):
    """A result of flows: source, destination, congestion control, start [s] and what each stream received [bit/s]."""
    named = [dict(flow=n, src=f[0], dst=f[1], congestion=f[2]) for n, f in enumerate(flows, 1)]
    streams = [
        who | dict(stream=k, sent_bps=1.01 * bps, received_bps=bps)
        for who, (*_, each) in zip(named, flows, strict=True)
        for k, bps in enumerate(each, 1)
    ]
    intervals = [
        row | dict(start_s=flows[row["flow"] - 1][3] + t, end_s=flows[row["flow"] - 1][3] + t + 1, omitted=False)
        | dict(sent_bps=row["received_bps"] * (1 + t / 100), received_bps=NAN)
        for row in streams
        for t in range(seconds)
    ]  # fmt: skip
    return SimpleNamespace(
        flows=pd.DataFrame(named), streams=pd.DataFrame(streams), intervals=pd.DataFrame(intervals),
        experiment=SimpleNamespace(topology=wan(rate)),
    )  # fmt: skip


def a_grid(losses=(1e-4, 1e-3, 1e-2), streams=(1, 4, 8), seeds=3, bottleneck_bps=1e10):
    return pd.DataFrame([
        dict(loss_rate=p, streams=k, seed=seed, received_bps=(1.2 + seed / 20) * k * 8 * 1448 / (0.02 * p**0.5),
             mss_bytes=1448, base_rtt_s=0.02, bottleneck_bps=bottleneck_bps)
        for p in losses for k in streams for seed in range(seeds)
    ])  # fmt: skip


EIGHT = a_result(("h1", "h2", "cubic", 0.04, np.linspace(1.0e9, 1.4e9, 8)))
DUEL = a_result(("h1", "h2", "reno", 0.02, [6e8]), ("h3", "h4", "bbr", 0.09, [2e8]), rate="1gbit")
TABLE = pd.DataFrame(
    {
        "quantity": ["one stream", "eight", "RTT"],
        "measured": [3.2e9, 9.51e9, 0.02],
        "predicted": [NAN, 9.56e9, 0.02],
        "published": [3.22e9, 9.5e9, NAN],
        "unit": ["bit/s", "bit/s", "s"],
    }
)
TRACES = {f"MSS {mss}": models.aimd_trace(mss, 0.02, 10, [4], start_bytes=1e6) for mss in (8760, 1460)}
ALL = {
    "throughput": (plots.throughput, [EIGHT]),
    "streams": (plots.streams, [EIGHT]),
    "comparison": (plots.comparison, [TABLE]),
    "prediction": (plots.prediction, [a_grid(), [models.mathis, models.mathis_labs]]),
    "aimd": (plots.aimd, [TRACES]),
}


def named(fig, name):
    return next(trace for trace in fig.data if trace.name == name)


def frames(value):
    """Every frame in an argument."""
    parts = vars(value) if isinstance(value, SimpleNamespace) else value if isinstance(value, dict) else {"it": value}
    return [part for part in parts.values() if isinstance(part, pd.DataFrame)]


@pytest.mark.parametrize("plot", ALL)
def test_every_figure_is_light_says_its_units_and_leaves_the_frames_alone(plot):
    function, arguments = ALL[plot]
    before = [frame.copy() for argument in arguments for frame in frames(argument)]
    fig = function(*arguments)
    for was, now in zip(before, [frame for argument in arguments for frame in frames(argument)], strict=True):
        pd.testing.assert_frame_equal(was, now)
    titles = {axis.title.text for axis in (*fig.select_xaxes(), *fig.select_yaxes())} - {None, "stream"}
    assert titles and all(title.endswith("]") for title in titles)
    assert type(fig).__name__ == "Figure" and len(fig.to_json()) < 60_000
    assert "$" not in fig.to_json(), "MathJax does not render in JupyterLab"
    assert fig.layout.paper_bgcolor is None and fig.layout.template.layout.paper_bgcolor == "white"


# --- throughput


def test_throughput_draws_each_stream_and_their_sum():
    fig = plots.throughput(EIGHT)
    assert [trace.name for trace in fig.data] == [f"stream {k}" for k in range(1, 9)] + ["sum"]
    assert fig.layout.yaxis.title.text == "throughput [Gbit/s]"
    third, total = EIGHT.intervals.query("stream == 3"), EIGHT.intervals.groupby("start_s").sent_bps.sum()
    assert named(fig, "stream 3").y == pytest.approx(np.repeat(third.sent_bps, 2) / 1e9)
    assert named(fig, "stream 3").x[:4] == pytest.approx([0.04, 1.04, 1.04, 2.04])
    assert named(fig, "sum").y == pytest.approx(np.repeat(total, 2) / 1e9)
    assert named(fig, "sum").line.width > named(fig, "stream 3").line.width
    assert "sender" in fig.layout.title.subtitle.text


def test_throughput_draws_what_the_receiver_counted_where_it_did():
    intervals = EIGHT.intervals.assign(received_bps=1e6)
    fig = plots.throughput(SimpleNamespace(**vars(EIGHT) | {"intervals": intervals}))
    assert set(named(fig, "sum").y) == {8.0} and fig.layout.yaxis.title.text == "throughput [Mbit/s]"
    assert fig.layout.title.subtitle.text == "counted by the receiver"


def test_throughput_of_several_flows():
    fig = plots.throughput(DUEL)
    assert [trace.name for trace in fig.data] == ["h1 → h2 reno", "h3 → h4 bbr", "sum"]
    carried = [np.trapezoid(trace.y, trace.x) for trace in fig.data]
    assert carried[2] == pytest.approx(carried[0] + carried[1]), "bits are neither lost nor made, whenever flows report"
    both = a_result(("h1", "h2", "reno", 0, [1e8]), ("h3", "h4", "reno", 0.05, [1e8, 1e8, 1e8]))
    fig = plots.throughput(both)
    assert len(fig.data) == 1 + 3 + 1 + 1, "four streams, the sum of three, the sum of all"
    legend = [trace.name for trace in fig.data if trace.showlegend is not False]
    assert legend == ["h1 → h2 reno", "h3 → h4 reno", "sum"]
    assert fig.data[-2].y[0] * 1e6 == pytest.approx(3e8)
    twins = a_result(*[("h1", "h2", "reno", 0, [1e8])] * 2)
    assert [trace.name for trace in plots.throughput(twins).data] == ["1: h1 → h2 reno", "2: h1 → h2 reno", "sum"]


def test_throughput_leaves_out_what_iperf3_omits_and_never_makes_missing_0():
    one = a_result(("h1", "h2", None, 0, [1e9]))
    one.intervals.loc[0, "omitted"] = True
    one.intervals.loc[5, "sent_bps"] = NAN
    (trace,) = plots.throughput(one).data
    assert trace.name == "h1 → h2" and trace.x[0] == 1 and len(trace.y) == 18
    assert np.isnan(trace.y[8:10]).all() and np.isnan(trace.y).sum() == 2


def test_throughput_says_what_the_link_carries():
    (line,) = plots.throughput(EIGHT).layout.shapes
    assert line.y0 == line.y1 == pytest.approx(models.goodput_bps(10e9) / 1e9) and line.name == "link: 9.56 Gbit/s"
    assert not plots.throughput(EIGHT, capacity=False).layout.shapes
    far = plots.throughput(a_result(("h1", "h2", "reno", 0, [1e6])))
    assert not far.layout.shapes, "a line would flatten the rest"
    assert far.layout.annotations[0].text == "↑ link: 9.56 Gbit/s"
    assert not plots.throughput(a_result(("h1", "h2", "reno", 0, [1e6]), rate=None)).layout.shapes


# --- streams


def test_streams_are_bars_with_the_equal_share_and_the_index():
    fig = plots.streams(EIGHT)
    (bars,) = fig.data
    assert bars.y == pytest.approx(np.linspace(1.0, 1.4, 8)) and fig.layout.yaxis.title.text == "throughput [Gbit/s]"
    assert fig.layout.shapes[0].y0 == pytest.approx(1.2)
    assert fig.layout.title.text == "Jain's index 0.988" and list(fig.layout.xaxis.ticktext) == list("12345678")
    assert [trace.name for trace in plots.streams(DUEL).data] == ["h1 → h2 reno", "h3 → h4 bbr"]
    assert plots.streams(DUEL).layout.title.text == "Jain's index 0.800"


def test_streams_that_only_the_sender_counted_are_hatched():
    streams = EIGHT.streams.copy()
    streams.loc[0, "received_bps"] = NAN
    (bars,) = plots.streams(SimpleNamespace(flows=EIGHT.flows, streams=streams)).data
    assert bars.y[0] == pytest.approx(1.01) and bars.marker.pattern.shape == ("/", *[""] * 7)
    streams.loc[0, "sent_bps"] = NAN
    with pytest.raises(ValueError, match="stream 1 of flow 1 has neither received_bps nor sent_bps"):
        plots.streams(SimpleNamespace(flows=EIGHT.flows, streams=streams))


# --- comparison


def test_comparison_has_a_panel_per_unit_and_the_numbers():
    fig = plots.comparison(TABLE)
    assert [axis.title.text for axis in fig.select_xaxes()] == ["throughput [Gbit/s]", "time [ms]"]
    rates, times = (trace for trace in fig.data if trace.name == "measured")
    assert rates.x == pytest.approx([3.2, 9.51]) and times.x == pytest.approx([20])
    numbers = [note.text for note in fig.layout.annotations]
    assert numbers.count("-") == 2 and {"3.2", "3.22", "9.56", "20", "● measured"} <= set(numbers)
    assert [list(axis.ticktext) for axis in fig.select_yaxes()] == [["one stream", "eight"], ["RTT"]]


def test_comparison_is_logarithmic_only_where_values_are_far_apart():
    far = TABLE.iloc[:2].assign(measured=[1e-6, 1e9], predicted=NAN, published=NAN, unit="packet")
    assert plots.comparison(far).layout.xaxis.type == "log"
    assert plots.comparison(far).layout.xaxis.title.text == "value [packet]"
    assert plots.comparison(far.assign(measured=[0, 1e9])).layout.xaxis.type is None, "0 has no logarithm"
    assert plots.comparison(far.assign(measured=NAN)).layout.xaxis.type is None, "nothing known"


# --- prediction


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


# --- aimd


def test_aimd_draws_the_windows_green_and_red():
    fig = plots.aimd(TRACES)
    assert [trace.name for trace in fig.data] == list(TRACES)
    assert fig.layout.yaxis.title.text == "congestion window [MB]"
    for trace, frame in zip(fig.data, TRACES.values(), strict=True):
        assert trace.y == pytest.approx(frame.cwnd_bytes / 1e6) and trace.x == pytest.approx(frame.time_s)
    assert [trace.line.color for trace in fig.data] == ["#009E73", "#D55E00"]
    assert [trace.line.color for trace in plots.aimd(TRACES, colours=["navy"]).data] == ["navy", "navy"]


# --- invalid input


def without(result, frame, *columns):
    return SimpleNamespace(**vars(result) | {frame: getattr(result, frame).drop(columns=list(columns))})


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.throughput(without(EIGHT, "intervals", "stream")), "throughput: the frame lacks stream; it has"),
        (lambda: plots.throughput(SimpleNamespace(intervals=pd.DataFrame())), "throughput: the frame is empty"),
        (lambda: plots.throughput(without(EIGHT, "flows", "congestion")), "flows: the frame lacks congestion"),
        (lambda: plots.streams(without(EIGHT, "streams", "sent_bps", "src")), "streams: the frame lacks src, sent_bps"),
        (lambda: plots.streams(SimpleNamespace(streams=pd.DataFrame())), "streams: the frame is empty"),
        (lambda: plots.comparison(TABLE.drop(columns="published")), "comparison: the frame lacks published"),
        (lambda: plots.comparison(TABLE.iloc[:0]), "comparison: the frame is empty"),
        (lambda: plots.prediction(a_grid().drop(columns="seed"), [models.mathis]), "prediction: the frame lacks seed"),
        (lambda: plots.prediction(a_grid().iloc[:0], [models.mathis]), "prediction: the frame is empty"),
        (lambda: plots.prediction(a_grid(losses=[1]).assign(loss_rate=0), [models.mathis]), "no run of the grid"),
        (lambda: plots.prediction(a_grid(), []), r"prediction: models is empty, take \[models.mathis\]"),
        (lambda: plots.aimd({}), "aimd: traces is empty"),
        (lambda: plots.aimd({"red": TRACES["MSS 1460"][["time_s"]]}), "aimd, 'red': the frame lacks cwnd_bytes"),
    ],
)
def test_refuses_what_it_cannot_draw(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_refuses_a_result_where_nothing_was_measured():
    nothing = SimpleNamespace(**vars(EIGHT) | {"intervals": EIGHT.intervals.assign(sent_bps=NAN)})
    with pytest.raises(ValueError, match="no interval, but for omitted ones, has received_bps or sent_bps"):
        plots.throughput(nothing)
