"""read_iperf3, on real reports of many versions (tests/data/iperf3), broken ones, and reports cut
at every place.
"""

import functools
import itertools
import json
import math
import re
import warnings
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

import netlab as nl
from netlab.errors import ReadWarning
from netlab.readers import read_iperf3
from tests import known, unknown
from tests.readers import mutations

DATA = Path(__file__).parents[1] / "data" / "iperf3"
REPORTS = sorted(DATA.glob("*.json"))
each_version = pytest.mark.parametrize("version", ["3.9", "3.12", "3.18", "3.22"])
# in our own files the client sends with cubic, the server with reno
CLIENT, SERVER = "127.0.0.1", "127.0.0.2"


def text(name):
    return (DATA / f"{name}.json").read_text()


@functools.cache
def report(name):
    return read_iperf3(DATA / f"{name}.json")


refused, warned = (
    functools.partial(how, read_iperf3) for how in (mutations.refused, mutations.warned)
)

# --- every file

STREAMS = """stream src dst congestion sent_bps received_bps retransmits start_s end_s cwnd_bytes
    rtt_s rtt_min_s rtt_max_s loss jitter_s packets lost_packets sent_bytes received_bytes"""
INTERVALS = """stream src dst start_s end_s sent_bps received_bps retransmits cwnd_bytes rtt_s
    rttvar_s omitted loss jitter_s packets lost_packets"""


OF_TWO_CLOCKS = "3.1.3-udp-1"  # a jitter of 2.7 s in 10 s, without a loss


@pytest.mark.parametrize("name", [path.stem for path in REPORTS])
def test_every_report_has_the_same_columns_and_figures_that_go_together(name):
    (out, sure), first = mutations.read("iperf3", text(name)), report(REPORTS[0].stem)
    streams, meta = out.streams, out.meta
    assert sure is (name != OF_TWO_CLOCKS)
    mutations.check("iperf3", out, sure)
    assert list(streams) == STREAMS.split() and list(out.intervals) == INTERVALS.split()
    assert (streams.dtypes == first.streams.dtypes).all()
    assert (out.intervals.dtypes == first.intervals.dtypes).all()
    assert meta.keys() == first.meta.keys() and meta["version"] == name.split("-")[0]
    assert meta["interrupted"] == ("interrupted" in name) == (meta["error"] is not None)
    received = 8 * streams.received_bytes / streams.end_s  # the rate is on the receiver's clock
    assert streams.received_bps.to_numpy() == approx(received, rel=0.17, nan_ok=True)
    # no more arrives than was sent; each side omits its own time
    most = streams.sent_bytes * (1.05 if "omit" in name else 1 + 1e-9)
    assert not (streams.received_bytes > most).any()
    assert not (streams.loss < 0).any() and not (streams.loss > 1).any()
    # intervals average to their stream
    for stream, rows in out.intervals[~out.intervals.omitted].groupby("stream"):
        whole, seconds = streams.set_index("stream").loc[stream], rows.end_s - rows.start_s
        for column in ("sent_bps", "received_bps"):
            if rows[column].notna().all() and not math.isnan(whole[column]):
                mean = (rows[column] * seconds).sum() / seconds.sum()
                assert mean == approx(whole[column], rel=0.06)
        if rows.retransmits.notna().all():
            assert rows.retransmits.sum() == whole.retransmits


# --- known values


def test_units_are_si():
    out = report("3.1.6-tcp-1")
    (stream,) = out.streams.itertuples()
    assert stream.rtt_s == 0.001875 and stream.cwnd_bytes == 237472 and stream.retransmits == 135
    assert stream.sent_bps == 2.088356e9 and stream.received_bytes == 2610117072
    assert (stream.src, stream.dst, stream.congestion) == ("10.0.2.15", "10.0.2.4", "cubic")
    assert [out.meta[name] for name in ("mss_bytes", "duration_s", "port")] == [1448, 10, 5460]
    with pytest.warns(ReadWarning, match="jitter_s = 2.735461 of"):
        udp = read_iperf3(DATA / f"{OF_TWO_CLOCKS}.json").streams.iloc[0]
    assert udp.jitter_s == 2.735461 and udp.packets == 159 and udp.loss == 0


def test_what_a_version_or_a_system_lacks_is_nan():
    old = report("3.0.11-tcp-1")
    assert unknown(old.streams, "congestion cwnd_bytes rtt_s loss packets")
    assert unknown(old.intervals, "rtt_s rttvar_s received_bps")
    assert (old.intervals.cwnd_bytes > 0).all()
    assert math.isnan(old.meta["target_bps"]) and math.isnan(old.meta["sndbuf_bytes"])
    assert unknown(report("3.1.6-tcp-1").intervals, "rttvar_s")
    macos = report("3.7-macos-tcp-1").streams
    assert macos[["sent_bytes", "received_bytes"]].values.tolist() == [[9361770, 9115673]]
    assert unknown(macos, "retransmits cwnd_bytes rtt_s congestion")


@each_version
def test_eight_streams_fill_the_link(version):
    out = report(f"{version}-tcp-8")
    assert len(out.streams) == out.meta["streams"] == 8 and set(out.streams.congestion) == {"reno"}
    assert 80e6 < out.streams.received_bps.sum() < 100e6 * 1448 / 1514
    assert out.streams.rtt_s.between(0.001, 0.05).all()  # the queue holds 10 ms each way


@each_version
@pytest.mark.parametrize(
    ("name", "there", "back"),
    [("tcp-1", 1, 0), ("tcp-reverse-2", 0, 2), ("tcp-bidir", 1, 1), ("tcp-bidir-both-2", 2, 2)],
)
def test_src_is_who_sends(version, name, there, back):
    streams, meta = report(f"{version}-{name}").streams, report(f"{version}-{name}").meta
    assert streams.src.tolist() == [CLIENT] * there + [SERVER] * back
    assert streams.dst.tolist() == [SERVER] * there + [CLIENT] * back
    assert streams.congestion.tolist() == ["cubic"] * there + ["reno"] * back
    assert (meta["bidirectional"], meta["reverse"]) == ("bidir" in name, "reverse" in name)


@each_version
def test_only_the_sender_knows_its_window(version):
    reverse, both = report(f"{version}-tcp-reverse-2"), report(f"{version}-tcp-reverse-both")
    assert unknown(reverse.streams, "cwnd_bytes rtt_s rtt_min_s rtt_max_s")
    assert known(reverse.streams, "sent_bps received_bps retransmits")
    assert unknown(reverse.intervals, "sent_bps") and known(reverse.intervals, "received_bps")
    assert known(both.streams, "cwnd_bytes rtt_s rtt_min_s rtt_max_s")
    bidir = report(f"{version}-tcp-bidir").streams
    assert list(bidir.cwnd_bytes.isna()) == list(bidir.rtt_s.isna()) == [False, True]


@each_version
def test_server_output_fills_the_other_side(version):
    out = report(f"{version}-tcp-bidir-both-2")
    assert known(out.intervals, "sent_bps received_bps cwnd_bytes rtt_s")
    omit = report(f"{version}-tcp-omit-both").intervals
    assert list(omit.omitted) == [True, False, False] and known(omit, "received_bps")
    # -i 0.5, and the server's is 1: they do not match
    half = report(f"{version}-tcp-reverse-both").intervals
    assert len(half) >= 4 and unknown(half, "sent_bps")
    udp = report(f"{version}-udp-both-2")
    assert known(udp.streams, "received_bps") and known(udp.intervals, "jitter_s")


@each_version
def test_omitted_time_does_not_count(version):
    out = report(f"{version}-tcp-omit")
    assert list(out.intervals.omitted) == [True, False, False] and out.meta["omit_s"] == 1
    assert out.streams.end_s[0] == approx(2, abs=0.1)
    assert out.intervals.start_s[1] == approx(0, abs=0.01)
    if version in ("3.9", "3.18"):
        # its received rate is a sum of intervals
        udp = report(f"{version}-udp-reverse-omit-2").streams
        assert udp.received_bps.to_numpy() == approx(20e6, rel=0.03)
        assert udp.received_bytes.to_numpy() == approx(2 * 20e6 / 8, rel=0.03)


@each_version
def test_udp(version):
    one, two = report(f"{version}-udp-1"), report(f"{version}-udp-2")
    # no version prints a received rate per stream: nothing was lost here
    assert two.streams.received_bytes.equals(two.streams.sent_bytes)
    assert (two.streams.received_bps <= two.streams.sent_bps).all()
    assert known(one.streams, "received_bps") and unknown(two.streams, "cwnd_bytes retransmits")
    assert (one.intervals.packets > 0).all() and unknown(one.intervals, "loss")
    lossy = report(f"{version}-udp-reverse-2")
    expected = lossy.streams.sent_bytes * (1 - lossy.streams.loss)
    assert lossy.streams.received_bytes.to_numpy() == approx(expected, rel=0.04)
    lost = lossy.intervals.groupby("stream").lost_packets.sum()
    assert lost.to_numpy() == approx(lossy.streams.lost_packets, rel=0.02)
    assert lossy.streams.jitter_s.between(1e-7, 0.01).all()
    ways = report(f"{version}-udp-bidir").streams
    assert list(ways.src) == [CLIENT, SERVER] and ways.sent_bps.to_numpy() == approx(20e6, rel=0.03)
    if version != "3.9":
        end = json.loads(text(f"{version}-udp-bidir"))["end"]
        totals = [end[f"sum_received{way}"]["bytes"] for way in ("", "_bidir_reverse")]
        assert list(ways.received_bytes) == totals


@each_version
def test_a_server_knows_its_own_end(version):
    tcp, udp = report(f"{version}-server-tcp-2"), report(f"{version}-server-udp-2")
    for out in (tcp, udp):
        assert (out.meta["role"], out.meta["server"]) == ("server", SERVER)
        assert set(out.streams.src) == {CLIENT} and (out.streams.received_bps > 10e6).all()
        assert unknown(out.streams, "sent_bps sent_bytes retransmits congestion")
        assert known(out.intervals, "received_bps")
        assert math.isnan(out.meta["client_cpu"]) and math.isnan(out.meta["sent_bytes"])
    assert known(udp.streams, "loss jitter_s packets")


@each_version
def test_an_interrupted_client_knows_its_own_end(version):
    tcp, ways, udp, back = (
        report(f"{version}-{kind}interrupted").streams
        for kind in ("tcp-", "tcp-bidir-", "udp-", "udp-reverse-")
    )
    assert (tcp.sent_bps > 10e6).all() and unknown(tcp, "received_bps")
    assert list(ways.sent_bps.isna()) == list(ways.congestion.isna()) == [False, True]
    assert list(ways.received_bps.isna()) == [True, False]
    assert unknown(udp, "received_bps loss jitter_s lost_packets") and (udp.packets > 0).all()
    assert unknown(back, "sent_bps sent_bytes") and known(back, "loss")
    assert back.received_bps.to_numpy() == approx(20e6, rel=0.05)


def test_a_limit_in_bytes():
    out = report("3.18-tcp-bytes")
    assert out.meta["bytes_asked"] == 4 * 2**20 and math.isnan(out.meta["duration_s"])
    assert out.streams.sent_bytes.sum() >= out.meta["bytes_asked"]


@pytest.mark.parametrize("path", sorted((DATA / "long").iterdir()), ids=lambda path: path.name)
def test_over_a_long_path_the_other_side_ends_later(path):
    out = read_iperf3(path)
    seconds = out.intervals[~out.intervals.omitted].groupby("stream").end_s.max()
    assert (seconds < out.streams.set_index("stream").end_s + 0.01).all()
    if "blocks" in path.name:  # counted by another thread than the one that sends
        assert (out.streams.received_bytes > out.streams.sent_bytes).all()


# --- variants of a real file

ONE, UDP = text("3.18-tcp-1"), text("3.18-udp-reverse-2")


def test_path_name_and_text_read_alike(tmp_path):
    path, windows = DATA / "3.18-tcp-1.json", tmp_path / "powershell.json"
    windows.write_bytes(b"\xff\xfe" + ONE.encode("utf-16-le"))
    for source in (path, str(path), ONE, ONE.replace("\n", "\r\n"), windows):
        pd.testing.assert_frame_equal(read_iperf3(source).streams, report("3.18-tcp-1").streams)
    with pytest.raises(TypeError, match="bytes"):
        read_iperf3(path.read_bytes())
    assert repr(report("3.18-tcp-1")) == "Iperf3Output(TCP, the client's: 1 streams, 2 intervals)"


@pytest.mark.parametrize("token", ["-nan", "nan", "NaN", "inf", "-nan(ind)"])
def test_tokens_that_are_not_json_are_nan(token):
    out = read_iperf3(re.sub(r'("jitter_ms":\s*)[\d.e-]+', rf"\1{token}", UDP))
    assert unknown(out.streams, "jitter_s") and unknown(out.intervals, "jitter_s")
    assert known(out.streams, "loss")


@pytest.mark.parametrize(
    ("pattern", "becomes", "streams", "intervals"),
    [
        # what a kernel does not count or tell, in three ways
        (r'("retransmits":\s*)\d+', r"\g<1>-1", "retransmits", "retransmits"),
        (r'\s*"retransmits":\s*\d+,', "", "retransmits", "retransmits"),
        (r'("(?:\w+_)?(?:rtt|rttvar|snd_cwnd)":\s*)\d+', r"\g<1>-1", "rtt_s", "rttvar_s"),
        # zero is no round-trip time: what kernels other than Linux give
        (
            r'("(?:(?:max_|min_|mean_)?rtt|rttvar|(?:max_)?snd_cwnd)":\s*)\d+',
            r"\g<1>0",
            "rtt_s rtt_min_s rtt_max_s cwnd_bytes",
            "rtt_s rttvar_s cwnd_bytes",
        ),
    ],
)
def test_what_a_kernel_does_not_tell_is_nan(pattern, becomes, streams, intervals):
    out = read_iperf3(re.sub(pattern, becomes, ONE))
    assert unknown(out.streams, streams) and unknown(out.intervals, intervals)
    for table in (out.streams, out.intervals):
        assert not (table.select_dtypes("float") < 0).any(axis=None)


@pytest.mark.parametrize(
    ("name", "src"), [("tcp-1", CLIENT), ("tcp-reverse-2", SERVER), ("server-tcp-2", CLIENT)]
)
def test_before_3_7_only_the_test_says_who_sends(name, src):
    out = read_iperf3(re.sub(r',\s*"sender":\s*(true|false)', "", text(f"3.9-{name}")))
    assert set(out.streams.src) == set(out.intervals.src) == {src} and not out.meta["bidirectional"]
    pd.testing.assert_frame_equal(out.streams, report(f"3.9-{name}").streams)


def test_no_packets_no_loss():
    out = read_iperf3(re.sub(r'("(?:lost_)?packets":\s*)\d+', r"\g<1>0", UDP))
    assert unknown(out.streams, "loss") and unknown(out.intervals, "loss")
    assert (out.streams.packets == 0).all()


# --- UDP: what arrived


def sent_and_received(streams):
    return [streams[name].to_numpy() / 1e6 for name in ("sent_bps", "received_bps")]


def test_each_stream_has_its_own_losses():
    out = warned(text("odd/3.12-udp-2-unequal-loss"), "0 in all, and 2071 in its streams")
    sent, received = sent_and_received(out.streams)
    assert sent == approx([20, 20], rel=1e-3) and received == approx([8, 20], rel=1e-3)
    assert nl.jain_index(out.streams.received_bps) == approx(0.845, abs=5e-4)


def test_nothing_lost_and_much_less_received_is_no_loss_of_0():
    (row,) = warned(
        text("odd/3.22-udp-1-no-loss-told"), "0 of 16866 sent, but only 6746 arr"
    ).streams.itertuples()
    assert math.isnan(row.loss) and math.isnan(row.lost_packets)
    assert row.received_bps == approx(39.06e6, rel=1e-3) and row.packets == 16866


def test_what_the_server_counted_is_better_than_what_the_client_was_told():
    both = text("odd/3.18-udp-both-2-no-loss-told")
    out = warned(both, "lost_packets = 0 .*, and 6906 in the server's own report")
    assert out.streams.loss.tolist() == approx([0.5, 0.5], abs=1e-3)
    assert out.streams.lost_packets.tolist() == [6906, 6907]
    assert sent_and_received(out.streams)[1] == approx([24.3, 24.0], rel=0.01)
    alone = json.loads(both)
    del alone["server_output_json"]
    out = warned(json.dumps(alone), "0 of 27630 sent, but only 16789 arrived")
    assert unknown(out.streams, "loss lost_packets received_bps"), "which stream's is not known"


@pytest.mark.parametrize("came", [0, 1, 5000])
def test_a_receiver_to_whom_nothing_came_any_more_knows_of_no_losses(came):
    """It counts what is missing before the last datagram that came."""
    doc = json.loads(text("3.18-udp-1"))
    whole = doc["end"]["sum_received"]
    whole |= {"packets": came, "bytes": 1448 * came, "bits_per_second": 8 * 1448 * came / 2.007066}
    (row,) = warned(
        json.dumps(doc), f"0 of 16668 sent, but only {came} arrived"
    ).streams.itertuples()
    assert math.isnan(row.loss) and row.received_bytes == 1448 * came


@each_version
def test_a_client_that_is_not_told_of_intervals_knows_nearly_the_same(version):
    """Its losses give what arrived to within the datagrams that were still on their way."""
    both = json.loads(text(f"{version}-udp-both-2"))
    exact = read_iperf3(json.dumps(both)).streams
    del both["server_output_json"]
    out = read_iperf3(json.dumps(both)).streams
    assert out.received_bytes.to_numpy() == approx(exact.received_bytes, rel=2e-3)
    assert out.received_bps.to_numpy() == approx(exact.received_bps, rel=0.01)
    assert out.drop(columns=["received_bps", "received_bytes"]).equals(
        exact.drop(columns=["received_bps", "received_bytes"])
    )


def test_what_is_on_its_way_at_the_end_has_not_arrived():
    """Four streams of 200 Mbit/s for 3 s over 200 ms: the client is given the reverse's figures."""
    doc = json.loads(text("long/3.18-udp-reverse-4"))
    del doc["start"]["connecting_to"]["port"]
    for name in ("streams", "sum", "sum_received"):
        for part in doc["end"][name] if name == "streams" else [doc["end"][name]]:
            part.get("udp", part)["sender"] = True
    for row in (row for interval in doc["intervals"] for row in interval["streams"]):
        row["sender"] = True
    doc["start"]["test_start"]["reverse"] = 0
    with warnings.catch_warnings(action="ignore", category=ReadWarning):
        streams = read_iperf3(json.dumps(doc)).streams
    total = doc["end"]["sum_received"]
    assert streams.received_bytes.sum() == approx(total["bytes"])
    assert streams.received_bps.sum() <= total["bits_per_second"] * 1.0001
    assert (streams.received_bps < streams.sent_bps).all()


@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.floats(0, 1)), min_size=1, max_size=6),
    st.floats(0, 1.2),
    st.booleans(),
)
def test_over_udp_no_more_arrives_than_was_sent_or_was_received_in_all(counts, arrived, told):
    doc = json.loads(text("3.18-udp-2"))
    stream, row = doc["end"]["streams"][0]["udp"], doc["intervals"][0]["streams"][0]
    connected, doc["start"]["test_start"]["num_streams"] = doc["start"]["connected"][0], len(counts)
    doc["start"]["connected"], doc["end"]["streams"], rows = [], [], []
    for n, (packets, share) in enumerate(counts):
        doc["start"]["connected"].append(connected | {"socket": n, "local_port": 40000 + n})
        size, lost = 1448 * packets, int(packets * share)
        figures = {"socket": n, "bytes": size, "packets": packets, "lost_packets": lost}
        figures["bits_per_second"] = 8 * size / stream["seconds"]
        doc["end"]["streams"].append({"udp": stream | figures})
        rows.append(row | {"socket": n, "bytes": 0, "packets": 0, "bits_per_second": 0})
    doc["intervals"] = [{"streams": rows}]
    whole = doc["end"]["sum_received"]
    total = {"packets": sum(packets for packets, _ in counts)}
    total["lost_packets"] = sum(int(packets * share) for packets, share in counts)
    whole |= total | {"bytes": 1448 * int((total["packets"] - total["lost_packets"]) * arrived)}
    whole["bits_per_second"] = 8 * whole["bytes"] / whole["seconds"]
    if not told:
        del doc["end"]["sum_received"]
    with warnings.catch_warnings(action="ignore", category=ReadWarning):
        streams = read_iperf3(json.dumps(doc)).streams
    assert not (streams.received_bytes > streams.sent_bytes * (1 + 1e-9)).any() or len(counts) == 1
    if told and len(counts) > 1:
        assert not streams.received_bytes.sum() > whole["bytes"] * (1 + 1e-9) or arrived > 1
    assert not (streams.loss == 0).any() or not told or arrived >= 0.9 or not total["packets"]


# --- a report that stands twice

TWICE = text("odd/3.18-tcp-8-twice")


def doubled(one):
    """A report twice, in the ways in which it may stand in a file."""
    return [one + one, one.strip() + one.strip(), one + json.dumps(json.loads(one))]


@pytest.mark.parametrize("name", ["3.18-tcp-8", "3.18-udp-both-2", "3.9-tcp-bidir", "3.16-tcp-1"])
def test_a_report_that_stands_twice_is_read_once(name):
    once = report(name)
    for twice in doubled(text(name)):
        out = warned(twice, "stands here twice.*counts once")
        assert out.streams.equals(once.streams) and out.intervals.equals(once.intervals)
    stream = text("odd/3.22-json-stream")
    assert warned(stream + stream, "stands here twice").streams.equals(read_iperf3(stream).streams)


def test_many_reports_are_counted_in_linear_time():
    with pytest.raises(nl.ReadError, match="100001 reports of iperf3"):
        read_iperf3('{"start":{}}' * 100_001)


def test_a_report_that_iperf3_printed_twice():
    out = warned(TWICE, "stands here twice.*counts once")
    assert len(out.streams) == 8 and out.streams.received_bps.sum() == approx(92.8e6, rel=1e-3)
    assert out.meta["cookie"] == "427s7peiwknh2wgv7a7h2c2rdvgsxhi63w6i"


def test_both_sides_of_a_test_have_its_cookie_and_ports():
    both = json.loads(text("3.18-tcp-bidir-both-2"))
    metas = [read_iperf3(json.dumps(one)).meta for one in (both, both["server_output_json"])]
    assert [meta["role"] for meta in metas] == ["client", "server"]
    for name in ("cookie", "client_ports"):
        assert metas[0][name] == metas[1][name]
    assert len(metas[0]["client_ports"]) == 4


# --- broken files

STREAM = text("odd/3.22-json-stream")
NOTHING = '{"start": {"connected": []}, "intervals": [], "end": {}}\n'
KINDS = {  # part of the file's name: what the message must say (and do)
    "busy": "busy running a test.* iperf3 -s -1|before it measured anything",
    "no-server": "unable to connect to server.* Start iperf3 -s.*sleep|before it measured anything",
    "window": "Ask for a smaller window.*net.core.rmem_max and wmem_max, which sysctl tells",
    "server-killed": (
        "the server has terminated|other side stopped|unable to write|before the first interval"
    ),
    "server-of-interrupted": "the client has terminated",
    "tcp-interrupted-server": "the client has terminated",
    "tcp-killed": "the server has terminated",
    "interrupted-in-omit": "before the first interval that counts",
}


@pytest.mark.parametrize("path", sorted((DATA / "broken").iterdir()), ids=lambda path: path.name)
def test_broken_files_are_refused(path):
    kinds = [kind for kind in ("no-server", *KINDS) if kind in path.name]
    refused(path, KINDS[kinds[0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("results.json", "not what iperf3 prints, and there is no file of this name"),
        ("[" * 100_000, "no file of this name"),
        ("[ ID] Interval\n[  5] 0.00-1.00 sec\n", r"not what iperf3 prints\. It begins"),
        (ONE + text("3.18-tcp-8"), "2 reports of iperf3.*split_outputs"),
        (json.dumps([json.loads(ONE)] * 3), "list of JSON, of 3 values.*split_outputs"),
        (STREAM + STREAM.replace("53733", "53735"), "2 reports of iperf3.*split_outputs"),
        (STREAM[: STREAM.index('{"event":"end"')], "its last line is no end"),
        (ONE[: len(ONE) // 2], "cut off"),
        (ONE.replace('"rtt"', 'rtt"', 1), "broken"),
        ("[1, 2]", "list of JSON"),
        (NOTHING + "iperf3: error - the server is busy", "iperf3 says: the server is busy"),
        ('{"start": 1}', "no report of iperf3"),
        ('{"status": "ok", "data": ' + ONE + "}", "no report of iperf3.*split_outputs"),
        ('{"error": "the server is busy running a test"}', "busy.* give each test its own server"),
        (
            '{"error": "unable to receive control message - port may not be available, the other'
            ' side may have stopped running, etc.: Connection reset by peer"}',
            "reset by peer.*wait a moment.*sleep",
        ),
        ('{"start": {}, "intervals": [], "end": 5}', "lacks what every known iperf3 prints"),
        (ONE.replace('"connected"', '"open"'), "lacks .*connected"),
        ('{"a":' * 100_000, "cut off"),
    ],
    ids=itertools.count(),
)
def test_broken_text_is_refused(text, message):
    refused(text, message)


def changed(name, *path, value):
    """A real report with one value changed; `path` leads there from the document."""
    doc = json.loads((DATA / f"{name}.json").read_text())
    part = doc
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value(part[path[-1]]) if callable(value) else value
    return json.dumps(doc)


SENDER, ROW = ("end", "streams", 0, "sender"), ("intervals", 1, "streams", 0)
RECEIVER = ("end", "streams", 0, "receiver")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ((*ROW, "start"), None, "start is missing"),
        ((*ROW, "end"), math.nan, "end is missing"),
        ((*ROW, "omitted"), "no", "omitted = 'no': this must be True or False"),
        (("start", "test_start", "num_streams"), 10**400, "num_streams = 1000"),
        (("start", "test_start", "protocol"), 6, "protocol = 6: this must be 'TCP' or"),
        (("start", "test_start", "duration"), -10, "duration = -10"),
        (("start", "timestamp", "timesecs"), -1, "timesecs = -1"),
        (("start", "connected", 0, "local_port"), 70000, "local_port = 70000 .* to 65535"),
        (("start", "connected", 0, "local_host"), "\x1b[31m", "local_host = .*readable text"),
        (("end", "sender_tcp_congestion"), 5, "sender_tcp_congestion = 5"),
    ],
    ids=itertools.count(),
)
def test_what_cannot_be_read_is_refused_by_name(path, value, words):
    assert "again" in refused(changed("3.18-tcp-1", *path, value=value), words)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ((*SENDER, "bits_per_second"), -1e6, "bits_per_second = -1000000.0 .*: NaN"),
        ((*SENDER, "bits_per_second"), 10**400, "bits_per_second = 1000.*: NaN"),
        ((*SENDER, "bits_per_second"), math.inf, "bits_per_second = inf .*: NaN"),
        ((*SENDER, "bits_per_second"), "12", "bits_per_second = '12' .*: NaN"),
        ((*SENDER, "bits_per_second"), True, "bits_per_second = True .*: NaN"),
        ((*SENDER, "mean_rtt"), 2**40, "mean_rtt = 1099511627776 .*: NaN"),
        ((*SENDER, "retransmits"), -2, "retransmits = -2 .*: NaN"),
        ((*ROW, "bytes"), -1, "bytes = -1 .*: NaN"),
        ((*ROW, "rtt"), -2, "rtt = -2 .*: NaN"),
        (("end", "cpu_utilization_percent", "host_total"), -3, "host_total = -3"),
        (("start", "test_start", "num_streams"), 3, "num_streams is for 3 streams: the 1 "),
        # what does not go with the rest of the report
        ((*SENDER, "bits_per_second"), lambda bps: bps * 10, "sent_bps = .* as printed"),
        ((*SENDER, "bytes"), lambda count: count * 2, "sent_bps = "),
        ((*SENDER, "end"), lambda end: end * 2, "until_s = "),
        ((*SENDER, "retransmits"), lambda count: count + 1, "retransmits = "),
        ((*SENDER, "max_snd_cwnd"), lambda count: count // 2, "cwnd_bytes = "),
        ((*SENDER, "max_rtt"), lambda us: us // 2, "rtt_max_s = "),
        ((*SENDER, "min_rtt"), lambda us: us * 9, "rtt_min_s = "),
        ((*RECEIVER, "bytes"), lambda count: count * 3, "received_bytes = "),
        ((*RECEIVER, "bits_per_second"), lambda bps: bps / 2, "received_bps = "),
        (("end", "sum_received", "bytes"), lambda count: count // 2, "sum_received has"),
        ((*ROW, "bits_per_second"), lambda bps: bps * 10, "sent_bps = "),
        ((*ROW, "start"), lambda start: start + 0.5, "start_s = "),
        ((*ROW, "retransmits"), lambda count: count + 1, "retransmits = "),
        (("intervals",), lambda rows: rows[1:], "start_s = "),
        (("intervals",), lambda rows: rows[:1], "until_s = "),
    ],
    ids=itertools.count(),
)
def test_what_contradicts_is_one_warning_that_names_it(path, value, words):
    warned(changed("3.18-tcp-1", *path, value=value), words)


def test_a_jitter_beyond_the_time_is_doubted():
    """esnet/iperf's issues 613 and 1182: the difference of two clocks counts as a packet's."""
    warned(
        changed("3.9-udp-1", "end", "streams", 0, "udp", "jitter_ms", value=28487.952),
        "jitter_s = 28.487952",
    )
    of_server = "intervals", 0, "streams", 0, "jitter_ms"
    changed_server = changed("3.9-server-udp-2", *of_server, value=46822443975.381)
    warned(changed_server, "jitter_s = 46822444 ")


@pytest.mark.parametrize("version", ["3.9", "3.22"])
def test_a_total_with_what_omit_leaves_out_is_doubted(version):
    """esnet/iperf's issues 443 and 692: above the rate that any interval had."""
    doc = json.loads(text(f"{version}-tcp-omit"))
    total = doc["end"]["streams"][0]["sender"]
    for figure in ("bytes", "bits_per_second"):
        total[figure] *= 1.03
        doc["end"]["sum_sent"][figure] *= 1.03
    warned(json.dumps(doc), "sent_bytes = ")


@pytest.mark.parametrize(
    ("figure", "value"), [("lost_packets", 10**6), ("lost_packets", -5), ("packets", 1)]
)
def test_more_packets_are_not_lost_than_sent(figure, value):
    warned(changed("3.18-udp-1", "end", "streams", 0, "udp", figure, value=value), "packets = ")


def test_a_packet_that_was_counted_as_lost_may_come_after_all():
    late = changed("3.18-udp-reverse-2", "intervals", 1, "streams", 0, "lost_packets", value=-2)
    assert read_iperf3(late).intervals.lost_packets.min() == -2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("^C" + ONE, r"text before iperf3's JSON is left out: '\^C'"),
        ("Control connection MSS 1448\n$ iperf3\n" + ONE, "before iperf3's JSON .*: '. iperf3'"),
        (ONE + "iperf3: error - the server has terminated\n", "after iperf3's JSON"),
        (ONE.replace('"retransmits":', '"bytes": 7, "retransmits":', 1), "bytes stands twice"),
    ],
    ids=itertools.count(),
)
def test_text_around_the_json_is_left_out(text, words):
    assert warned(text, words).streams.equals(report("3.18-tcp-1").streams)


def test_what_verbose_iperf3_prints_before_its_json_is_no_doubt():
    out = read_iperf3("Control connection MSS 1448\n" + ONE)
    assert out.streams.equals(report("3.18-tcp-1").streams)


def test_the_events_of_a_json_stream_are_a_report():
    out = report("odd/3.22-json-stream")
    assert out.meta["version"] == "3.22" and len(out.intervals) == 1
    assert out.streams.received_bytes[0] == 11665408


def test_an_interval_that_begins_in_the_omitted_time():
    """Its start is printed without its sign: 0.999 for 0.999 s before the time that counts."""
    out = warned(text("odd/3.18-omit-across-an-interval"), "start = 0.999306 .* 0 is taken")
    counted = out.intervals[~out.intervals.omitted]
    assert counted.start_s.iloc[0] == 0
    assert (counted.start_s.iloc[1:].to_numpy() == counted.end_s.iloc[:-1].to_numpy()).all()
    carried = (counted.sent_bps * (counted.end_s - counted.start_s)).sum() / 8
    assert carried == approx(out.streams.sent_bytes[0], rel=1e-4)


def test_a_rate_of_intervals_that_end_before_they_begin_is_unknown():
    path = ("intervals", 0, "streams", 1, "start")
    out = warned(changed("3.12-udp-reverse-2", *path, value=81), "start_s = 81")
    assert out.streams.received_bps[0] > 0 and math.isnan(out.streams.received_bps[1])


def test_a_file_that_is_not_iperf3_s_is_named(tmp_path):
    path = tmp_path / "notes.md"
    path.write_text("# Notes\n\nSee `{}` below.\n")
    said = refused(path, r"Give its JSON \(-J\), or all of its text")
    assert said.startswith(f"{path}: This is not what iperf3 prints. It begins with '# Notes'")


CUT = ("3.1.3", "3.9-udp", "3.12-tcp-bidir-both", "3.22")
WHOLE = [path.read_text().rstrip() for path in REPORTS if path.name.startswith(CUT)]
place = st.floats(0, 1, exclude_max=True)


@given(st.sampled_from(WHOLE), place)
def test_a_report_cut_anywhere_is_refused(text, where):
    refused(text[: int(where * len(text))])


@pytest.mark.parametrize(
    "said",
    [
        "warning: Report format (-f) flag ignored with JSON output (-J)",
        "warning: Verbose output (-v) may interfere with JSON output (-J)\n\n"
        "Setting UDP block size to 1448\nControl connection MSS 1448",
    ],
)
def test_what_iperf3_itself_says_before_its_json_is_no_doubt(said, recwarn):
    report_text = text("3.18-udp-1")
    assert read_iperf3(f"{said}\n{report_text}").streams.equals(read_iperf3(report_text).streams)
    assert not recwarn.list
    with pytest.warns(ReadWarning, match="left out"):
        read_iperf3(f"warning: something else\n{report_text}")
