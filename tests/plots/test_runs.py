"""A result's figures hold its numbers, in the unit that their axis names."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from netlab import models, plots, wan
from tests.plots.conventions import keeps_the_conventions, named

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
        experiment=SimpleNamespace(topology=wan(rate)),
    )  # fmt: skip


EIGHT = a_result(("h1", "h2", "cubic", 0.04, np.linspace(1.0e9, 1.4e9, 8)))
DUEL = a_result(("h1", "h2", "reno", 0.02, [6e8]), ("h3", "h4", "bbr", 0.09, [2e8]), rate="1gbit")


def test_keeps_the_conventions():
    keeps_the_conventions(plots.throughput, EIGHT)
    keeps_the_conventions(plots.streams, EIGHT, plain=["stream"])


# --- throughput


def test_throughput_draws_each_stream_and_their_sum():
    fig = plots.throughput(EIGHT)
    assert [trace.name for trace in fig.data] == [f"stream {k}" for k in range(1, 9)] + ["sum"]
    assert fig.layout.yaxis.title.text == "throughput [Gbit/s]"
    third, total = (
        EIGHT.intervals.query("stream == 3"),
        EIGHT.intervals.groupby("start_s").sent_bps.sum(),
    )
    assert named(fig, "stream 3").y == pytest.approx(np.repeat(third.sent_bps, 2) / 1e9)
    assert named(fig, "stream 3").x[:4] == pytest.approx([0.04, 1.04, 1.04, 2.04])
    assert named(fig, "sum").y == pytest.approx(np.repeat(total, 2) / 1e9)
    assert named(fig, "sum").line.width > named(fig, "stream 3").line.width
    assert "sender" in fig.layout.title.subtitle.text


def test_throughput_draws_what_the_receiver_counted_where_it_did():
    intervals = EIGHT.intervals.assign(received_bps=1e6)
    fig = plots.throughput(SimpleNamespace(**vars(EIGHT) | {"intervals": intervals}))
    assert (
        set(named(fig, "sum").y) == {8.0} and fig.layout.yaxis.title.text == "throughput [Mbit/s]"
    )
    assert fig.layout.title.subtitle.text == "counted by the receiver"


def test_throughput_of_several_flows():
    fig = plots.throughput(DUEL)
    assert [trace.name for trace in fig.data] == ["h1 → h2 reno", "h3 → h4 bbr", "sum"]
    carried = [np.trapezoid(trace.y, trace.x) for trace in fig.data]
    assert carried[2] == pytest.approx(carried[0] + carried[1]), (
        "bits are neither lost nor made, whenever flows report"
    )
    both = a_result(("h1", "h2", "reno", 0, [1e8]), ("h3", "h4", "reno", 0.05, [1e8, 1e8, 1e8]))
    fig = plots.throughput(both)
    assert len(fig.data) == 1 + 3 + 1 + 1, "four streams, the sum of three, the sum of all"
    legend = [trace.name for trace in fig.data if trace.showlegend is not False]
    assert legend == ["h1 → h2 reno", "h3 → h4 reno", "sum"]
    assert fig.data[-2].y[0] * 1e6 == pytest.approx(3e8)
    twins = a_result(*[("h1", "h2", "reno", 0, [1e8])] * 2)
    assert [trace.name for trace in plots.throughput(twins).data] == [
        "1: h1 → h2 reno",
        "2: h1 → h2 reno",
        "sum",
    ]


def test_throughput_leaves_out_what_iperf3_omits_and_never_makes_missing_0():
    one = a_result(("h1", "h2", None, 0, [1e9]))
    one.intervals.loc[0, "omitted"] = True
    one.intervals.loc[5, "sent_bps"] = NAN
    (trace,) = plots.throughput(one).data
    assert trace.name == "h1 → h2" and trace.x[0] == 1 and len(trace.y) == 18
    assert np.isnan(trace.y[8:10]).all() and np.isnan(trace.y).sum() == 2


def test_throughput_says_what_the_link_carries():
    (line,) = plots.throughput(EIGHT).layout.shapes
    assert (
        line.y0 == line.y1 == pytest.approx(models.goodput_bps(10e9) / 1e9)
        and line.name == "link: 9.56 Gbit/s"
    )
    assert not plots.throughput(EIGHT, capacity=False).layout.shapes
    far = plots.throughput(a_result(("h1", "h2", "reno", 0, [1e6])))
    assert not far.layout.shapes, "a line would flatten the rest"
    assert far.layout.annotations[0].text == "↑ link: 9.56 Gbit/s"
    assert not plots.throughput(a_result(("h1", "h2", "reno", 0, [1e6]), rate=None)).layout.shapes


# --- streams


def test_streams_are_bars_with_the_equal_share_and_the_index():
    fig = plots.streams(EIGHT)
    (bars,) = fig.data
    assert (
        bars.y == pytest.approx(np.linspace(1.0, 1.4, 8))
        and fig.layout.yaxis.title.text == "throughput [Gbit/s]"
    )
    assert fig.layout.shapes[0].y0 == pytest.approx(1.2)
    assert fig.layout.title.text == "Jain's index 0.988" and list(
        fig.layout.xaxis.ticktext
    ) == list("12345678")
    assert [trace.name for trace in plots.streams(DUEL).data] == ["h1 → h2 reno", "h3 → h4 bbr"]
    assert plots.streams(DUEL).layout.title.text == "Jain's index 0.800"


def test_streams_that_only_the_sender_counted_are_hatched():
    streams = EIGHT.streams.copy()
    streams.loc[0, "received_bps"] = NAN
    (bars,) = plots.streams(SimpleNamespace(flows=EIGHT.flows, streams=streams)).data
    assert bars.y[0] == pytest.approx(1.01) and bars.marker.pattern.shape == ("/", *[""] * 7)
    streams.loc[0, "sent_bps"] = NAN
    with pytest.raises(
        ValueError, match="stream 1 of flow 1 has neither received_bps nor sent_bps"
    ):
        plots.streams(SimpleNamespace(flows=EIGHT.flows, streams=streams))


# --- invalid input


def without(result, frame, *columns):
    return SimpleNamespace(
        **vars(result) | {frame: getattr(result, frame).drop(columns=list(columns))}
    )


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: plots.throughput(without(EIGHT, "intervals", "stream")),
            "throughput: the frame lacks stream; it has",
        ),
        (
            lambda: plots.throughput(SimpleNamespace(intervals=pd.DataFrame())),
            "throughput: the frame is empty",
        ),
        (
            lambda: plots.throughput(without(EIGHT, "flows", "congestion")),
            "flows: the frame lacks congestion",
        ),
        (
            lambda: plots.streams(without(EIGHT, "streams", "sent_bps", "src")),
            "streams: the frame lacks src, sent_bps",
        ),
        (
            lambda: plots.streams(SimpleNamespace(streams=pd.DataFrame())),
            "streams: the frame is empty",
        ),
    ],
)
def test_refuses_what_it_cannot_draw(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_refuses_a_result_where_nothing_was_measured():
    nothing = SimpleNamespace(**vars(EIGHT) | {"intervals": EIGHT.intervals.assign(sent_bps=NAN)})
    with pytest.raises(
        ValueError, match="no interval, but for omitted ones, has received_bps or sent_bps"
    ):
        plots.throughput(nothing)


def test_what_a_report_calls_its_congestion_control_is_no_html():
    evil = "<span style='background: url(http://a.invalid)'>"
    result = a_result(("h1", "h2", evil, 0, [1e8]), ("h3", "h4", "reno", 0, [1e8]))
    for fig in (plots.throughput(result), plots.streams(result)):
        assert "<span" not in fig.to_json() and "\\u003cspan" not in fig.to_json()
        assert "h3 → h4 reno" in [trace.name for trace in fig.data]
