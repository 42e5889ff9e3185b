"""iperf in the guest: who counts what, what is lost, and that servers end."""

import math
from pathlib import Path

import pandas as pd
import pytest

import netlab as nl
from netlab.traffic.throughput import flow_row

DATA = Path(__file__).parents[1] / "data" / "iperf"
CARRIES = 1470 / 1512  # of a link's rate, in datagrams of 1470 bytes


def link(rate="30mbit", **options):
    return nl.wan(rate, "20ms", pairs=1, **options)


def udp(bitrate, src="h1", dst="h2", **options):
    return nl.Iperf(src, dst, udp=True, bitrate=bitrate, **{"time": 2, "start": 1} | options)


@pytest.fixture(scope="module")
def overloaded():
    return nl.run(link(), nl.Ping("h1", "h2", count=1), udp("45mbit"), stagger="0ms")


def test_offered_and_received_over_a_link_that_is_too_slow(overloaded):
    (row,) = overloaded.streams.itertuples()
    assert row.sent_bps == pytest.approx(45e6, rel=1e-3), "what was offered, lost or not"
    assert row.sent_bytes == pytest.approx(45e6 * 2 / 8, rel=1e-3)
    assert row.received_bps == pytest.approx(30e6 * CARRIES, rel=3e-3)
    assert row.received_bytes == (row.packets - row.lost_packets) * 1470
    assert row.loss == row.lost_packets / row.packets
    # the queue and the bucket are full at the end, and empty at the start
    gone = row.received_bytes * 1512 / 1470 - 30e6 * 2 / 8
    assert 0 < gone < 15_000 + 45_000 + 10_000
    assert 0 < row.jitter_s < 1512 * 8 / 30e6, "less than a datagram takes on the link"
    assert row.out_of_order == 0 and math.isnan(row.rtt_s)
    (flow,) = overloaded.flows.itertuples()
    assert (flow.sent_bps, flow.received_bps) == (row.sent_bps, row.received_bps)
    assert flow.streams == 1 and flow.start_s == 1 and flow.end_s == pytest.approx(3, abs=0.01)


def test_what_no_stream_knows_its_flow_does_not_know():
    names = ["flow", "src", "dst", "congestion", "retransmits", "end_s", "rtt_s", "rtt_min_s"]
    streams = pd.DataFrame([[1, "h1", "h2", None, math.nan, 2, math.nan, math.nan]], columns=names)
    flow = flow_row(streams.assign(sent_bps=8e6, received_bps=math.nan), 0, math.nan)
    assert flow["sent_bps"] == 8e6 and math.isnan(flow["received_bps"])
    assert math.isnan(flow["retransmits"]) and math.isnan(flow["jain_index"])


def test_intervals_have_both_sides(overloaded):
    parts = overloaded.intervals
    assert parts.start_s.tolist() == [1, 2] and parts.end_s.tolist() == [2, 3]
    assert parts.sent_bps.tolist() == pytest.approx([45e6] * 2, rel=1e-3)
    assert parts.received_bps.tolist() == pytest.approx([30e6 * CARRIES] * 2, rel=6e-3)
    assert (parts.loss > 0.3).all() and (parts.packets > 3000).all() and not parts.omitted.any()
    assert len(nl.plots.throughput(overloaded).data) >= 1


def test_the_tables_have_iperf3s_columns_and_what_comes_late_and_are_saved(overloaded, tmp_path):
    other = nl.run(link(), nl.Iperf3("h1", "h2", udp=True, bitrate="1mbit", time=1))
    overloaded.save(tmp_path)
    assert list(overloaded.flows) == list(other.flows)
    for name in ("streams", "intervals"):
        assert list(overloaded.tables[name]) == [*other.tables[name], "out_of_order"]
        pd.testing.assert_frame_equal(nl.load(tmp_path).tables[name], overloaded.tables[name])
    assert nl.Experiment.from_json(overloaded.experiment.to_json()) == overloaded.experiment
    assert udp("1mbit").longer(2).time == 4 and udp("1mbit").longer(2).start == 2


def test_a_queue_that_the_first_burst_does_not_fit_in_loses_some_of_it():
    """20 ms of ARP at 20 Mbit/s are 34 datagrams, and the queue holds 29."""
    cold = nl.run(link(), udp("20mbit", start=0), stagger="0ms").streams.iloc[0]
    assert 1 <= cold.lost_packets <= 10
    roomy = nl.run(link(limit=200_000), udp("20mbit", start=0), stagger="0ms").streams.iloc[0]
    assert roomy.lost_packets == 0


def test_streams_of_one_test_are_told_apart_and_share_the_link():
    run = nl.run(link(), nl.Ping("h1", "h2", count=1), udp("20mbit", parallel=3))
    assert run.streams.stream.tolist() == [1, 2, 3]
    assert run.streams.received_bps.sum() == pytest.approx(30e6 * CARRIES, rel=1e-2)
    assert run.flows.streams[0] == 3
    assert set(run.intervals.stream) == {1, 2, 3}


CONNECTED = """[  1] local 10.0.0.2 port 5201 connected with 10.0.0.1 port 41731
[  1] 0.0000-1.0000 sec  58800 Bytes  470400 bits/sec   0.001 ms 10/50 (20%)
"""


@pytest.mark.parametrize("heard", [False, True])
def test_what_comes_after_the_last_datagram_that_arrived_is_lost(heard):
    """The server has only the numbers of what arrives, unless the client's last word does."""
    if heard:
        server = (DATA / "2.2.1-udp-1-server.txt").read_text().splitlines(keepends=True)[:4]
        server = "".join(server) + CONNECTED
    else:
        server = (DATA / "broken" / "2.2.1-udp-all-lost-server.txt").read_text()
    outputs = {"": (DATA / "2.2.1-udp-all-lost-client.txt").read_text(), "server": server}
    test, place = nl.Experiment(link(), udp("1mbit")).places[0]
    (row,) = test.read(outputs, place)["streams"].itertuples()
    assert (row.packets, row.lost_packets) == (182, 142 if heard else 182)
    assert row.received_bytes == 58_800 * heard and row.loss == row.lost_packets / 182


def test_tcp_has_its_congestion_control_and_retransmits():
    run = nl.run(link(), nl.Iperf("h1", "h2", time=3, congestion="reno"), nl.Nstat("h1"))
    (flow,) = run.flows.itertuples()
    assert flow.congestion == "reno" and flow.retransmits > 0 and flow.halving_rate > 0
    assert 0.8 * nl.models.goodput_bps(30e6) < flow.received_bps <= nl.models.goodput_bps(30e6)
    assert run.streams.loss.isna().all() and run.streams.retransmits[0] == flow.retransmits


def test_a_server_that_had_to_be_stopped_early_is_an_error():
    """5 MB wait before a link of 1 Mbit/s: 40 s of them."""
    slow = link("1mbit", limit=20_000_000, burst=3000)
    with pytest.raises(nl.NetlabError, match=r"smaller window, or queue|failed"):
        nl.run(slow, nl.Iperf("h1", "h2", time=1, window="2mb"))


def test_a_sweep_collects_the_loss():
    def offered(rate):
        return nl.Experiment(link(), nl.Ping("h1", "h2", count=1), udp(rate))

    grid = nl.sweep(offered, rate=["40mbit"])
    assert grid.columns.tolist()[:5] == ["rate", "seed", "flow", "src", "dst"]
    assert grid.loss[0] == pytest.approx(1 - 30 * CARRIES / 40, abs=0.01)
    assert grid.bottleneck_bps.tolist() == [30e6]
