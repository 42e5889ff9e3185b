"""Windows over time are the traces', queues the kernel's; what is thinned keeps its shape."""

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab import models, plots
from netlab.plots import window_traces
from tests.plots import changed, named, test_runs

TRACES = {
    f"MSS {mss}": models.aimd_trace(mss, 0.02, 10, [4], start_bytes=1e6) for mss in (8760, 1460)
}
MSS = 1448


def a_result(*rows, algorithms=("reno",), queues=()):
    """A result whose windows are (time [s], flow, stream, cwnd, state and, where it is one,
    "timer"), and whose queues (time [s], kind, backlog [byte], drops).
    """
    names = ["time_s", "flow", "stream", "cwnd", "state", "timeout"]
    windows = pd.DataFrame([(*row, "")[:6] for row in rows], columns=names)
    windows = windows.assign(timeout=windows.timeout.eq("timer"), ssthresh=np.nan)
    hosts = ((f"h{2 * n - 1}", f"h{2 * n}", name) for n, name in enumerate(algorithms, 1))
    result = test_runs.a_result(*((*ends, 0, [9e7]) for ends in hosts), seconds=1)
    held = pd.DataFrame(queues, columns=["time_s", "qdisc", "backlog_bytes", "drops"])
    held = held.assign(src="s1", dst="s2", packets=0)
    return changed(result, windows=windows, queues=held)


TWO = a_result(
    (0.0, 1, 1, 10, "open"), (0.1, 1, 2, 10, "open"), (0.5, 1, 1, 40, "open"),
    (1.0, 1, 2, 30, "open"), (1.5, 1, 1, 38, "recovery"), (1.6, 1, 1, 20, "recovery"),
    (1.7, 1, 1, 20, "open"), (2.0, 1, 2, 1, "loss", "timer"), (2.4, 1, 2, 1, "loss", "timer"),
    (2.5, 1, 2, 2, "open"), (2.6, 1, 1, 14, "cwr"), (2.7, 1, 1, 14, "open"),
    queues=[
        (-0.4, "netem", 0, 0), (-0.4, "tbf", 0, 0), (0.5, "netem", 9000, 0), (0.5, "tbf", 6000, 0),
        (1, "netem", 9000, 0), (1, "tbf", 6000, 2), (2, "netem", 500, 0), (2, "tbf", 0, 2),
    ],
)  # fmt: skip
DUEL = a_result(
    (0, 1, 1, 10, "open"), (0, 2, 1, 20, "open"), (0, 2, 2, 30, "open"), (1, 1, 1, 9, "recovery"),
    (1, 2, 1, 25, "open"), algorithms=("reno", "AIMD(0.06, 8)"),
)  # fmt: skip


def many_windows(streams=4, seconds=60, packet_s=0.002):
    """Saw-teeth of all sizes, with a row per ACK."""
    rows, rng = [], np.random.default_rng(1)
    for stream in range(1, streams + 1):
        time_s = np.arange(stream * 1e-4, seconds, packet_s)
        cwnd, state = 10.0, "open"
        for t, lost in zip(time_s, rng.random(len(time_s)) < 0.0008, strict=True):
            cwnd, state = (cwnd / 2 + 1, "recovery") if lost else (cwnd + 1 / cwnd, "open")
            rows.append((t, 1, stream, int(cwnd), state))
    return a_result(*rows)


MANY = many_windows()


def test_aimd_draws_the_windows_green_and_red():
    fig = plots.aimd(TRACES)
    assert [trace.name for trace in fig.data] == list(TRACES)
    assert fig.layout.yaxis.title.text == "congestion window [MB]"
    for trace, frame in zip(fig.data, TRACES.values(), strict=True):
        assert trace.x == pytest.approx(frame.time_s)
        assert trace.y == pytest.approx(frame.cwnd_bytes / 1e6)
    assert [trace.line.color for trace in fig.data] == ["#009E73", "#D55E00"]


def test_windows_are_steps_per_stream_with_their_sum():
    fig = plots.windows(TWO)
    assert [trace.name for trace in fig.data[:3]] == ["stream 1", "stream 2", "sum"]
    assert fig.layout.title.text == "h1 → h2 reno, 2 streams"
    one, two, total = fig.data[:3]
    assert one.x == pytest.approx([0, 0.5, 1.5, 1.6, 2.6, 2.7]), "where it changes, and the end"
    assert [*one.y] == [10, 40, 38, 20, 14, 14] and one.line.shape == "hv"
    assert total.x == pytest.approx([0, 0.1, 0.5, 1, 1.5, 1.6, 2, 2.5, 2.6, 2.7])
    assert [*total.y] == [10, 20, 50, 70, 68, 50, 21, 22, 16, 16]
    assert total.line.width > one.line.width and two.line.width < total.line.width


def test_losses_are_marked_at_the_window_that_they_ended():
    fig = plots.windows(TWO)
    marked = {name: named(fig, name) for name in ("loss", "timeout", "reduced without loss")}
    points = {name: [*zip(mark.x.round(3), mark.y, strict=True)] for name, mark in marked.items()}
    assert points == {
        "loss": [(pytest.approx(1.5), 40)],
        "timeout": [(pytest.approx(2.0), 30), (pytest.approx(2.4), 1)],
        "reduced without loss": [(pytest.approx(2.6), 20)],
    }
    assert len({mark.marker.symbol for mark in marked.values()}) == 3
    assert fig.layout.title.subtitle.text == (
        "loss: 1 time, reduced without loss: 1 time, timeout: 2 times"
    )


def test_a_recovery_that_follows_another_at_once_is_marked():
    rows = [(0, 40, "open", 2**31), (1, 38, "recovery", 20), (2, 20, "recovery", 20)]
    rows += [(3, 18, "recovery", 9), (4, 9, "recovery", 9)]
    result = a_result(*((time_s, 1, 1, cwnd, state) for time_s, cwnd, state, _ in rows))
    result.windows["ssthresh"] = [ssthresh for *_, ssthresh in rows]
    assert [*named(plots.windows(result), "loss").x] == [1, 3]


def test_where_ss_looked_there_are_no_marks():
    windows = TWO.windows.assign(state=np.nan, timeout=np.nan)
    fig = plots.windows(changed(TWO, windows=windows))
    assert [trace.name for trace in fig.data] == ["stream 1", "stream 2", "sum"]


def test_windows_of_several_flows_have_a_colour_and_a_sum_each():
    fig = plots.windows(DUEL)
    names = ["h1 → h2 reno", "h3 → h4 AIMD(0.06, 8), stream 1", "h3 → h4 AIMD(0.06, 8), stream 2"]
    assert [trace.name for trace in fig.data] == [*names, "h3 → h4 AIMD(0.06, 8), sum", "loss"]
    assert len({trace.line.color for trace in fig.data[1:4]}) == 1 != fig.data[0].line.color
    assert [*named(fig, "h3 → h4 AIMD(0.06, 8), sum").y] == [20, 50, 55]
    legend = [trace.name for trace in fig.data if trace.showlegend is not False]
    assert legend == [names[0], "h3 → h4 AIMD(0.06, 8), sum", "loss"]
    alone = plots.windows(DUEL, flow=2)
    assert [trace.name for trace in alone.data] == ["stream 1", "stream 2", "sum"]
    assert [*plots.windows(DUEL, flow=[1, 2]).data[3].y] == [20, 50, 55]


def test_thinned_windows_keep_peaks_and_steps():
    fig, windows = plots.windows(MANY), MANY.windows
    assert all(len(trace.x) <= 1500 for trace in fig.data)
    assert len(windows) > 20 * sum(len(trace.x) for trace in fig.data)
    for stream, own in windows.groupby("stream"):
        drawn = named(fig, f"stream {stream}")
        assert drawn.y.max() == own.cwnd.max() and drawn.y.min() == own.cwnd.min()
        at = drawn.x.searchsorted(own.time_s.astype("f4"), "right") - 1
        assert np.abs(drawn.y[at] - own.cwnd).mean() < 0.05 * own.cwnd.mean()
    last = windows.pivot(index="time_s", columns="stream", values="cwnd").ffill().fillna(0)
    total, sums = last.sum(axis=1), named(fig, "sum")
    drawn = [total.iloc[total.index.astype("f4").searchsorted(t, "right") - 1] for t in sums.x]
    # two ACKs of two streams may be at the same time, as numbers of 32 bit tell it
    assert np.abs(np.array(drawn) - sums.y).max() <= total.diff().abs().max()
    assert sums.y.max() == total.max()
    assert len(named(fig, "loss").x) == (windows.state == "recovery").sum()


def test_up_to_four_points_per_piece_all_are_drawn():
    for points, drawn in ((12, 12), (13, 6)):  # of each of three pieces the first and the last
        time_s, values = window_traces.thinned(np.arange(points), np.arange(points), 3)
        assert len(time_s) == len(values) == drawn


def test_figures_stay_light_with_many_streams_and_losses():
    assert len(plots.windows(many_windows(64, 6)).to_json()) < 150_000
    rows = ((t / 100, 1, 1, 10 + t % 7, ("open", "recovery")[t % 2]) for t in range(20_000))
    fig = plots.windows(a_result(*rows))
    assert len(fig.to_json()) < 60_000 and 600 < len(named(fig, "loss").x) <= 1200
    assert fig.layout.title.subtitle.text == "loss: 10000 times"


def test_queues_are_below_the_throughput():
    fig = plots.queues(TWO)
    flow, queue, drops = fig.data
    assert [flow.yaxis, queue.yaxis, drops.yaxis] == ["y", "y2", "y2"]
    assert fig.layout.yaxis.title.text == "throughput [Mbit/s]" and set(flow.y) == {90.0}
    assert fig.layout.yaxis2.title.text == "tbf holds [kB]"
    assert fig.layout.xaxis.matches == "x2" and fig.layout.xaxis2.title.text == "time [s]"
    assert [*zip(queue.x, queue.y, strict=True)] == [(0.5, 6), (2, 0)]
    assert [*drops.x] == [1] and "2 drops by tbf" in fig.layout.title.subtitle.text
    netem = plots.queues(TWO, qdisc="netem")
    assert [*netem.data[1].y] == [9, 0.5] and len(netem.data) == 2, "no drops, no marks"


def test_queues_are_those_of_the_last_discipline_at_the_bottleneck():
    of = [dict(time_s=1, qdisc=kind) for kind in ("netem", "tbf", "fq_codel")]
    queues = pd.DataFrame(of).assign(src="s1", dst="s2", backlog_bytes=[3, 2, 1], drops=0)
    fig = plots.queues(changed(TWO, queues=queues))
    assert fig.layout.yaxis2.title.text == "fq_codel holds [byte]" and [*fig.data[1].y] == [1]
    fig = plots.queues(changed(TWO, queues=queues[:1]))
    assert fig.layout.yaxis2.title.text == "netem holds [byte]"


def test_queues_without_a_test_are_alone():
    fig = plots.queues(changed(TWO, intervals=TWO.intervals[:0]))
    assert fig.layout.yaxis.title.text == "tbf holds [kB]" and "yaxis2" not in fig.layout


def test_a_full_queue_stays_full_when_it_is_thinned():
    rng = np.random.default_rng(1)
    level = np.clip(np.cumsum(rng.normal(0, 900, 100_000)), 0, 250_000).astype(int)
    full = [(t / 1000, "tbf", size, t // 50) for t, size in enumerate(level.tolist())]
    fig = plots.queues(a_result((0, 1, 1, 10, "open"), queues=full))
    assert fig.data[1].y.max() == pytest.approx(level.max() / 1000)
    assert len(fig.data[1].x) <= 1500 and 600 < len(fig.data[2].x) <= 1200
    assert len(fig.to_json()) < 60_000


def test_a_measured_window_fills_the_path_and_its_queue():
    path = nl.wan("20mbit", "20ms", burst=15_000, limit=50_000)
    test = nl.Iperf3("h1", "h2", parallel=2, congestion="reno", time=15, omit=3)
    run = nl.run(path, test, nl.Windows("h1"), nl.Queue("s1", "s2"))
    total = named(plots.windows(run), "sum")
    inside = (total.x > 4) & (total.x < 14)
    mean = np.average(total.y[inside][:-1], weights=np.diff(total.x[inside]))
    rtt_s = run.windows.srtt_s[run.windows.time_s.between(4, 14)].mean()
    assert mean * MSS * 8 / rtt_s == pytest.approx(run.flows.received_bps[0], rel=0.1)
    queue = plots.queues(run)
    # the queue is what the path does not hold, and it is never more than its limit
    waits = named(queue, "queue s1 → s2")
    inside = (waits.x > 4) & (waits.x < 14)
    mean_kb = np.average(waits.y[inside][:-1], weights=np.diff(waits.x[inside]))
    assert 20e-3 + mean_kb * 8e3 / 20e6 == pytest.approx(rtt_s, rel=0.1)
    assert 45 < waits.y.max() <= 50
    assert len(named(queue, "drops").x) >= len(named(plots.windows(run), "loss").x) > 3


@pytest.mark.parametrize("draw", [plots.windows, plots.queues])
def test_a_line_through_all_panels_marks_each_change_of_a_link(draw):
    rows = pd.DataFrame({"time_s": [1.25], "change": ["rate 20mbit"]})
    (line,) = draw(changed(TWO, changes=rows)).layout.shapes
    assert (line.x0, line.x1, line.yref, line.label.text) == (1.25, 1.25, "paper", "rate 20mbit")
    assert not draw(TWO).layout.shapes
