"""A result's figures hold its numbers, in the unit that their axis names."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from netlab import models, plots, wan
from tests.plots import changed, named

NAN = np.nan


def a_result(*flows, rate="10gbit", seconds=10):
    """A result of flows: source, destination, congestion control, start [s] and what each stream
    received [bit/s].
    """
    named = [dict(flow=n, src=f[0], dst=f[1], congestion=f[2]) for n, f in enumerate(flows, 1)]
    streams = [
        who | dict(stream=k, sent_bps=1.01 * bps, received_bps=bps)
        for who, (*_, each) in zip(named, flows, strict=True)
        for k, bps in enumerate(each, 1)
    ]
    intervals = [
        row | dict(start_s=start + t, end_s=start + t + 1, omitted=False)
        | dict(sent_bps=row["received_bps"] * (1 + t / 100), received_bps=NAN)
        for row in streams
        for start in [flows[row["flow"] - 1][3]]
        for t in range(seconds)
    ]  # fmt: skip
    return SimpleNamespace(
        flows=pd.DataFrame(named), streams=pd.DataFrame(streams), intervals=pd.DataFrame(intervals),
        experiment=SimpleNamespace(topology=wan(rate)), changes=pd.DataFrame(),
    )  # fmt: skip


EIGHT = a_result(("h1", "h2", "cubic", 0.04, np.linspace(1.0e9, 1.4e9, 8)))
DUEL = a_result(("h1", "h2", "reno", 0.02, [6e8]), ("h3", "h4", "bbr", 0.09, [2e8]), rate="1gbit")


def test_throughput_draws_each_stream_and_their_sum():
    fig = plots.throughput(EIGHT)
    assert [trace.name for trace in fig.data] == [f"stream {k}" for k in range(1, 9)] + ["sum"]
    assert fig.layout.yaxis.title.text == "throughput [Gbit/s]"
    third, total = named(fig, "stream 3"), named(fig, "sum")
    sent = EIGHT.intervals.query("stream == 3").sent_bps
    assert third.y == pytest.approx(np.repeat(sent, 2) / 1e9)
    assert third.x[:4] == pytest.approx([0.04, 1.04, 1.04, 2.04])
    sums = EIGHT.intervals.groupby("start_s").sent_bps.sum()
    assert total.y == pytest.approx(np.repeat(sums, 2) / 1e9)
    assert total.line.width > third.line.width
    assert "sender" in fig.layout.title.subtitle.text


def test_throughput_draws_what_the_receiver_counted_where_it_did():
    fig = plots.throughput(changed(EIGHT, intervals=EIGHT.intervals.assign(received_bps=1e6)))
    assert set(named(fig, "sum").y) == {8.0}
    assert fig.layout.yaxis.title.text == "throughput [Mbit/s]"
    assert fig.layout.title.subtitle.text == "counted by the receiver"


def test_throughput_of_several_flows():
    fig = plots.throughput(DUEL)
    assert [trace.name for trace in fig.data] == ["h1 → h2 reno", "h3 → h4 bbr", "sum"]
    one, other, both = (np.trapezoid(trace.y, trace.x) for trace in fig.data)
    assert both == pytest.approx(one + other), "no bits are lost or made, whenever flows report"
    fig = plots.throughput(
        a_result(("h1", "h2", "reno", 0, [1e8]), ("h3", "h4", "reno", 0.05, [1e8, 1e8, 1e8]))
    )
    assert len(fig.data) == 1 + 3 + 1 + 1, "four streams, the sum of three, the sum of all"
    legend = [trace.name for trace in fig.data if trace.showlegend is not False]
    assert legend == ["h1 → h2 reno", "h3 → h4 reno", "sum"]
    assert fig.data[-2].y[0] * 1e6 == pytest.approx(3e8)
    twins = plots.throughput(a_result(*[("h1", "h2", "reno", 0, [1e8])] * 2))
    assert [trace.name for trace in twins.data][:2] == ["1: h1 → h2 reno", "2: h1 → h2 reno"]


def test_throughput_leaves_out_what_iperf3_omits_and_never_makes_missing_0():
    one = a_result(("h1", "h2", None, 0, [1e9]))
    one.intervals.loc[0, "omitted"] = True
    one.intervals.loc[5, "sent_bps"] = NAN
    (trace,) = plots.throughput(one).data
    assert trace.name == "h1 → h2" and trace.x[0] == 1 and len(trace.y) == 18
    assert np.isnan(trace.y[8:10]).all() and np.isnan(trace.y).sum() == 2


def test_throughput_says_what_the_link_carries():
    (line,) = plots.throughput(EIGHT).layout.shapes
    assert line.y0 == line.y1 == pytest.approx(models.goodput_bps(10e9) / 1e9)
    assert line.name == "link: 9.56 Gbit/s"
    assert not plots.throughput(EIGHT, capacity=False).layout.shapes
    slow = "h1", "h2", "reno", 0, [1e6]
    far = plots.throughput(a_result(slow))
    assert not far.layout.shapes, "a line would flatten the rest"
    assert far.layout.annotations[0].text == "↑ link: 9.56 Gbit/s"
    assert not plots.throughput(a_result(slow, rate=None)).layout.shapes


def test_streams_are_bars_with_the_equal_share_and_the_index():
    fig = plots.streams(EIGHT)
    (bars,) = fig.data
    assert bars.y == pytest.approx(np.linspace(1.0, 1.4, 8))
    assert fig.layout.yaxis.title.text == "throughput [Gbit/s]"
    assert fig.layout.shapes[0].y0 == pytest.approx(1.2)
    assert fig.layout.title.text == "Jain's index 0.988"
    assert list(fig.layout.xaxis.ticktext) == list("12345678")
    assert [trace.name for trace in plots.streams(DUEL).data] == ["h1 → h2 reno", "h3 → h4 bbr"]


def test_streams_that_only_the_sender_counted_are_hatched():
    streams = EIGHT.streams.copy()
    streams.loc[0, "received_bps"] = NAN
    (bars,) = plots.streams(changed(EIGHT, streams=streams)).data
    assert bars.y[0] == pytest.approx(1.01) and bars.marker.pattern.shape == ("/", *[""] * 7)


def test_lines_say_where_a_link_changed_and_what_where_there_are_few():
    names = ["time_s", "change"]
    rows = pd.DataFrame([(3.0, "rate 1gbit"), (7.5, "delay 60ms")], columns=names)
    fig = plots.throughput(changed(DUEL, changes=rows), capacity=False)
    lines = [shape for shape in fig.layout.shapes if shape.x0 == shape.x1]
    assert [line.x0 for line in lines] == [3.0, 7.5]
    assert {(line.yref, line.y0, line.y1) for line in lines} == {("paper", 0, 1)}
    assert [line.label.text for line in lines] == ["rate 1gbit", "delay 60ms"]
    many = pd.DataFrame({"time_s": range(60), "change": "rate 1gbit"})
    shapes = plots.throughput(changed(DUEL, changes=many)).layout.shapes
    assert len(shapes) == 61, "the capacity's, too"
    assert {shape.label.text for shape in shapes if shape.x0 == shape.x1} == {""}
    assert not plots.throughput(DUEL, capacity=False).layout.shapes
