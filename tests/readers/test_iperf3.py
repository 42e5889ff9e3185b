"""read_iperf3, on real reports of many versions (tests/data/iperf3), broken ones, and reports cut
at every place.
"""

import contextlib
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

from netlab.errors import ReadError, ReadWarning
from netlab.readers import read_iperf3

DATA = Path(__file__).parents[1] / "data" / "iperf3"
REPORTS = sorted(DATA.glob("*.json"))
BROKEN = sorted((DATA / "broken").iterdir())
VERSIONS = ["3.9", "3.12", "3.18", "3.22"]
# in our own files the client sends with cubic, the server with reno
CLIENT, SERVER = "127.0.0.1", "127.0.0.2"


def report(name):
    return read_iperf3(DATA / f"{name}.json")


def names(path):
    return path.name


# --- every file

STREAMS = """stream src dst congestion sent_bps received_bps retransmits start_s end_s cwnd_bytes
    rtt_s rtt_min_s rtt_max_s loss jitter_s packets lost_packets sent_bytes received_bytes"""
INTERVALS = """stream src dst start_s end_s sent_bps received_bps retransmits cwnd_bytes rtt_s
    rttvar_s omitted loss jitter_s packets lost_packets"""


@pytest.mark.parametrize("path", REPORTS, ids=names)
def test_every_report_gives_the_same_columns(path):
    out, first = read_iperf3(path), read_iperf3(REPORTS[0])
    assert list(out.streams) == STREAMS.split() and list(out.intervals) == INTERVALS.split()
    assert (out.streams.dtypes == first.streams.dtypes).all() and (
        out.intervals.dtypes == first.intervals.dtypes
    ).all()
    assert out.meta.keys() == first.meta.keys()
    assert list(out.streams.stream) == list(range(1, len(out.streams) + 1))
    assert set(out.intervals.stream) == set(out.streams.stream)
    assert out.meta["version"] == path.name.split("-")[0]
    assert (
        out.meta["interrupted"] == ("interrupted" in path.name) == (out.meta["error"] is not None)
    )


@pytest.mark.parametrize("path", REPORTS, ids=names)
def test_streams_add_up_to_the_totals_in_the_file(path):
    totals = {"sent_bytes": [], "received_bytes": []}

    def keep(pairs):  # every total, also where a version prints one key for both directions
        for key, value in pairs:
            if found := re.fullmatch(r"sum_(sent|received)(_bidir_reverse)?", key):
                totals[f"{found[1]}_bytes"].append(value["bytes"])
        return dict(pairs)

    json.loads(path.read_text(), object_pairs_hook=keep)
    one_datagram = 1448 if "udp" in path.name else 0  # may come after the receiver's last interval
    for _, streams in read_iperf3(path).streams.groupby("src"):
        for column, printed in totals.items():
            ours = streams[column].sum(skipna=False)
            if printed and not math.isnan(ours):
                assert min(abs(total - ours) for total in printed) <= one_datagram * len(streams)


@pytest.mark.parametrize("path", REPORTS, ids=names)
def test_rate_times_time_is_bytes(path):
    streams = read_iperf3(path).streams
    sent = streams.dropna(subset="sent_bytes")
    assert sent.sent_bps.to_numpy() == approx(
        8 * sent.sent_bytes / (sent.end_s - sent.start_s), rel=1e-3
    )
    received = streams.dropna(subset="received_bytes")  # on the receiver's clock
    assert received.received_bps.to_numpy() == approx(
        8 * received.received_bytes / received.end_s, rel=0.17
    )


@pytest.mark.parametrize("path", REPORTS, ids=names)
def test_intervals_average_to_their_stream(path):
    out = read_iperf3(path)
    counted = out.intervals[~out.intervals.omitted]
    for stream, rows in counted.groupby("stream"):
        whole = out.streams.set_index("stream").loc[stream]
        for column in ("sent_bps", "received_bps"):
            if rows[column].notna().all() and not math.isnan(whole[column]):
                mean = (rows[column] * (rows.end_s - rows.start_s)).sum() / (
                    rows.end_s - rows.start_s
                ).sum()
                assert mean == approx(whole[column], rel=0.06)
        if rows.retransmits.notna().all():
            assert rows.retransmits.sum() == whole.retransmits
            assert not whole.cwnd_bytes < rows.cwnd_bytes.max()
            assert not whole.rtt_max_s < rows.rtt_s.max()


@pytest.mark.parametrize("path", REPORTS, ids=names)
def test_no_more_arrives_than_was_sent(path):
    streams = read_iperf3(path).streams
    each_side_omits_its_own_time = 0.05 if "omit" in path.name else 1e-9
    both = streams.dropna(subset=["sent_bytes", "received_bytes"])
    assert (both.received_bytes <= both.sent_bytes * (1 + each_side_omits_its_own_time)).all()
    assert not (streams.loss < 0).any() and not (streams.loss > 1).any()
    assert (
        streams.rtt_s.isna() | streams.rtt_s.between(streams.rtt_min_s, streams.rtt_max_s)
    ).all()
    assert not (streams[["cwnd_bytes", "rtt_s"]] <= 0).any().any()


# --- known values


def test_units_are_si():
    out = report("3.1.6-tcp-1")
    (stream,) = out.streams.itertuples()
    assert stream.rtt_s == 0.001875 and stream.cwnd_bytes == 237472 and stream.retransmits == 135
    assert stream.sent_bps == 2.088356e9 and stream.received_bytes == 2610117072
    assert (stream.src, stream.dst, stream.congestion) == ("10.0.2.15", "10.0.2.4", "cubic")
    assert (
        out.meta["mss_bytes"] == 1448 and out.meta["duration_s"] == 10 and out.meta["port"] == 5460
    )
    udp = report("3.1.3-udp-1").streams.iloc[0]
    assert udp.jitter_s == 2.735461 and udp.packets == 159 and udp.loss == 0


def test_what_a_version_lacks_is_nan():
    old = report("3.0.11-tcp-1")
    assert old.streams[["congestion", "cwnd_bytes", "rtt_s", "loss", "packets"]].isna().all().all()
    assert old.intervals[["rtt_s", "rttvar_s", "received_bps"]].isna().all().all()
    assert (old.intervals.cwnd_bytes > 0).all()
    assert math.isnan(old.meta["target_bps"]) and math.isnan(old.meta["sndbuf_bytes"])
    assert report("3.1.6-tcp-1").intervals.rttvar_s.isna().all()


def test_what_macos_does_not_count_is_nan():
    (stream,) = report("3.7-macos-tcp-1").streams.itertuples()
    assert (stream.sent_bytes, stream.received_bytes) == (9361770, 9115673)
    unknown = (stream.retransmits, stream.cwnd_bytes, stream.rtt_s, stream.congestion)
    assert all(map(math.isnan, unknown))


@pytest.mark.parametrize("version", VERSIONS)
def test_eight_streams_fill_the_link(version):
    out = report(f"{version}-tcp-8")
    assert len(out.streams) == out.meta["streams"] == 8 and set(out.streams.congestion) == {"reno"}
    assert 80e6 < out.streams.received_bps.sum() < 100e6 * 1448 / 1514
    assert out.streams.rtt_s.between(0.001, 0.05).all()  # the queue holds 10 ms each way


@pytest.mark.parametrize("version", VERSIONS)
def test_src_is_who_sends(version):
    for name, ways in {
        "tcp-1": [(CLIENT, "cubic")],
        "tcp-reverse-2": [(SERVER, "reno")] * 2,
        "tcp-bidir": [(CLIENT, "cubic"), (SERVER, "reno")],
        "tcp-bidir-both-2": [(CLIENT, "cubic")] * 2 + [(SERVER, "reno")] * 2,
    }.items():
        out = report(f"{version}-{name}")
        assert list(zip(out.streams.src, out.streams.congestion, strict=True)) == ways
        assert (out.streams.src != out.streams.dst).all()
        assert out.meta["bidirectional"] == ("bidir" in name) and out.meta["reverse"] == (
            "reverse" in name
        )


@pytest.mark.parametrize("version", VERSIONS)
def test_only_the_sender_knows_its_window(version):
    reverse, both = report(f"{version}-tcp-reverse-2"), report(f"{version}-tcp-reverse-both")
    assert reverse.streams[["cwnd_bytes", "rtt_s", "rtt_min_s", "rtt_max_s"]].isna().all().all()
    assert reverse.streams[["sent_bps", "received_bps", "retransmits"]].notna().all().all()
    assert reverse.intervals.sent_bps.isna().all() and reverse.intervals.received_bps.notna().all()
    assert both.streams[["cwnd_bytes", "rtt_s", "rtt_min_s", "rtt_max_s"]].notna().all().all()
    bidir = report(f"{version}-tcp-bidir").streams
    assert list(bidir.cwnd_bytes.isna()) == list(bidir.rtt_s.isna()) == [False, True]


@pytest.mark.parametrize("version", VERSIONS)
def test_server_output_fills_the_other_side(version):
    out = report(f"{version}-tcp-bidir-both-2")
    assert out.intervals[["sent_bps", "received_bps", "cwnd_bytes", "rtt_s"]].notna().all().all()
    omit = report(f"{version}-tcp-omit-both").intervals
    assert list(omit.omitted) == [True, False, False] and omit.received_bps.notna().all()
    half = report(
        f"{version}-tcp-reverse-both"
    ).intervals  # -i 0.5, and the server's is 1: they do not match
    assert len(half) >= 4 and half.sent_bps.isna().all()
    udp = report(f"{version}-udp-both-2")
    assert udp.streams.received_bps.notna().all() and udp.intervals.jitter_s.notna().all()


@pytest.mark.parametrize("version", VERSIONS)
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


@pytest.mark.parametrize("version", VERSIONS)
def test_udp(version):
    one, two = report(f"{version}-udp-1"), report(f"{version}-udp-2")
    assert two.streams.received_bps.isna().all()  # no version prints it per stream
    # nor that one even the total
    assert one.streams.received_bps.isna().all() == (version == "3.9")
    assert (one.intervals.packets > 0).all() and one.intervals.loss.isna().all()
    assert two.streams.cwnd_bytes.isna().all() and two.streams.retransmits.isna().all()
    lossy = report(f"{version}-udp-reverse-2")
    expected = lossy.streams.sent_bytes * (1 - lossy.streams.loss)
    assert lossy.streams.received_bytes.to_numpy() == approx(expected, rel=0.04)
    assert lossy.intervals.groupby("stream").lost_packets.sum().to_numpy() == approx(
        lossy.streams.lost_packets, rel=0.02
    )
    assert lossy.streams.jitter_s.between(1e-7, 0.01).all()
    ways = report(f"{version}-udp-bidir").streams
    assert list(ways.src) == [CLIENT, SERVER] and ways.sent_bps.to_numpy() == approx(20e6, rel=0.03)
    end = json.loads((DATA / f"{version}-udp-bidir.json").read_text())["end"]
    if version != "3.9":
        totals = [end[f"sum_received{way}"]["bytes"] for way in ("", "_bidir_reverse")]
        assert list(ways.received_bytes) == totals


def test_loss_is_seen():
    assert report("3.18-udp-reverse-2").streams.loss.between(0.3, 0.5).all()  # 160 Mbit/s into 100
    assert report("3.18-server-udp-2").streams.loss.between(0.3, 0.5).all()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_server_knows_its_own_end(version):
    tcp, udp = report(f"{version}-server-tcp-2"), report(f"{version}-server-udp-2")
    for out in (tcp, udp):
        assert (
            out.meta["role"] == "server"
            and set(out.streams.src) == {CLIENT}
            and out.meta["server"] == SERVER
        )
        assert (
            out.streams[["sent_bps", "sent_bytes", "retransmits", "congestion"]].isna().all().all()
        )
        assert (out.streams.received_bps > 10e6).all() and out.intervals.received_bps.notna().all()
        assert math.isnan(out.meta["client_cpu"]) and math.isnan(out.meta["sent_bytes"])
    assert udp.streams[["loss", "jitter_s", "packets"]].notna().all().all()


@pytest.mark.parametrize("version", VERSIONS)
def test_an_interrupted_client_knows_its_own_end(version):
    tcp, ways = report(f"{version}-tcp-interrupted"), report(f"{version}-tcp-bidir-interrupted")
    assert (tcp.streams.sent_bps > 10e6).all() and tcp.streams.received_bps.isna().all()
    assert (
        list(ways.streams.sent_bps.isna()) == list(ways.streams.congestion.isna()) == [False, True]
    )
    assert list(ways.streams.received_bps.isna()) == [True, False]
    udp, back = (
        report(f"{version}-udp-interrupted").streams,
        report(f"{version}-udp-reverse-interrupted").streams,
    )
    assert (
        udp[["received_bps", "loss", "jitter_s", "lost_packets"]].isna().all().all()
        and (udp.packets > 0).all()
    )
    assert back[["sent_bps", "sent_bytes"]].isna().all().all()
    assert back.received_bps.to_numpy() == approx(20e6, rel=0.05) and back.loss.notna().all()


def test_a_limit_in_bytes():
    out = report("3.18-tcp-bytes")
    assert out.meta["bytes_asked"] == 4 * 2**20 and math.isnan(out.meta["duration_s"])
    assert out.streams.sent_bytes.sum() >= out.meta["bytes_asked"]


@pytest.mark.parametrize("path", sorted((DATA / "long").iterdir()), ids=names)
def test_over_a_long_path_the_other_side_ends_later(path):
    out = read_iperf3(path)
    seconds = out.intervals[~out.intervals.omitted].groupby("stream").end_s.max()
    assert (seconds < out.streams.set_index("stream").end_s + 0.01).all()
    if "blocks" in path.name:  # counted by another thread than the one that sends
        assert (out.streams.received_bytes > out.streams.sent_bytes).all()


# --- variants of a real file


def test_path_name_and_text_read_alike(tmp_path):
    path = DATA / "3.12-tcp-1.json"
    (tmp_path / "powershell.json").write_bytes(b"\xff\xfe" + path.read_text().encode("utf-16-le"))
    expected = read_iperf3(path).streams
    for source in (
        str(path),
        path.read_text(),
        path.read_text().replace("\n", "\r\n"),
        tmp_path / "powershell.json",
    ):
        pd.testing.assert_frame_equal(read_iperf3(source).streams, expected)
    with pytest.raises(TypeError, match="bytes"):
        read_iperf3(path.read_bytes())
    assert (
        repr(read_iperf3(path))
        == "Iperf3Output(TCP, 127.0.0.1 -> 127.0.0.2: 1 streams, 2 intervals, iperf3 3.12)"
    )


@pytest.mark.parametrize("token", ["-nan", "nan", "NaN", "inf", "-nan(ind)"])
def test_tokens_that_are_not_json_are_nan(token):
    text = (DATA / "3.18-udp-reverse-2.json").read_text()
    out = read_iperf3(re.sub(r'("jitter_ms":\s*)[\d.e-]+', rf"\1{token}", text))
    assert out.streams.jitter_s.isna().all() and out.intervals.jitter_s.isna().all()
    assert out.streams.loss.notna().all()


def test_a_kernel_that_does_not_count_retransmits():
    text = (DATA / "3.12-tcp-1.json").read_text()
    assert (
        read_iperf3(re.sub(r'("retransmits":\s*)\d+', r"\1-1", text))
        .streams.retransmits.isna()
        .all()
    )
    assert (
        read_iperf3(re.sub(r'\s*"retransmits":\s*\d+,', "", text)).streams.retransmits.isna().all()
    )


def test_zero_is_no_round_trip_time():  # what kernels other than Linux give
    text = (DATA / "3.12-tcp-1.json").read_text()
    out = read_iperf3(
        re.sub(r'("(?:(?:max_|min_|mean_)?rtt|rttvar|(?:max_)?snd_cwnd)":\s*)\d+', r"\g<1>0", text)
    )
    assert out.streams[["rtt_s", "rtt_min_s", "rtt_max_s", "cwnd_bytes"]].isna().all().all()
    assert out.intervals[["rtt_s", "rttvar_s", "cwnd_bytes"]].isna().all().all()


@pytest.mark.parametrize(
    ("name", "src"), [("tcp-1", CLIENT), ("tcp-reverse-2", SERVER), ("server-tcp-2", CLIENT)]
)
def test_before_3_7_only_the_test_says_who_sends(name, src):
    text = (DATA / f"3.9-{name}.json").read_text()
    out = read_iperf3(re.sub(r',\s*"sender":\s*(true|false)', "", text))
    assert set(out.streams.src) == set(out.intervals.src) == {src} and not out.meta["bidirectional"]
    pd.testing.assert_frame_equal(out.streams, read_iperf3(text).streams)


def test_no_packets_no_loss():
    text = (DATA / "3.18-udp-reverse-2.json").read_text()
    out = read_iperf3(re.sub(r'("(?:lost_)?packets":\s*)\d+', r"\g<1>0", text))
    assert (
        out.streams.loss.isna().all()
        and out.intervals.loss.isna().all()
        and (out.streams.packets == 0).all()
    )


# --- broken files

ONE = (DATA / "3.18-tcp-1.json").read_text()
STREAM = (DATA / "odd" / "3.22-json-stream.json").read_text()
NOTHING = '{"start": {"connected": []}, "intervals": [], "end": {}}\n'
KINDS = {  # part of the file's name: what the message must say (and do)
    "busy": "busy running a test.* iperf3 -s -1|before it measured anything",
    "no-server": "unable to connect to server.* Start iperf3 -s|before it measured anything",
    "without-J": "with -J",
    "server-killed": (
        "the server has terminated|other side stopped|unable to write|before the first interval"
    ),
    "server-of-interrupted": "the client has terminated",
    "interrupted-in-omit": "before the first interval that counts",
}


@pytest.mark.parametrize("path", BROKEN, ids=names)
def test_broken_files_are_refused(path):
    message = KINDS[
        "no-server" if "no-server" in path.name else next(k for k in KINDS if k in path.name)
    ]
    with pytest.raises(ReadError, match=message) as caught:
        read_iperf3(path)
    assert caught.value.raw == path.read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("results.json", "neither iperf3's JSON nor the name of a file"),
        (ONE + ONE, "2 reports of iperf3.*split_outputs"),
        (json.dumps([json.loads(ONE)] * 3), "list of JSON, of 3 values.*split_outputs"),
        (STREAM + STREAM, "more than one start.*split_outputs"),
        (STREAM[: STREAM.index('{"event":"end"')], "its last line is no end"),
        (ONE[: len(ONE) // 2], "cut off"),
        (ONE.replace('"rtt"', 'rtt"', 1), "broken"),
        ("[1, 2]", "list of JSON"),
        (NOTHING + "iperf3: error - the server is busy", "iperf3 says: the server is busy"),
        ('{"start": 1}', "no report of iperf3"),
        ('{"status": "ok", "data": ' + ONE + "}", "no report of iperf3.*split_outputs"),
        ('{"error": "the server is busy running a test"}', "busy.* give each test its own server"),
        ('{"start": {}, "intervals": [], "end": 5}', "lacks what every known iperf3 prints"),
        (
            ONE.replace('"bits_per_second"', '"bps"').replace('"connected"', '"open"'),
            "lacks .*connected",
        ),
        ("[" * 100_000, "neither"),
        ('{"a":' * 100_000, "cut off"),
    ],
    ids=range(18),
)
def test_broken_text_is_refused(text, message):
    with pytest.raises(ReadError, match=message) as caught:
        read_iperf3(text)
    assert caught.value.raw == text


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
    ids=range(10),
)
def test_what_cannot_be_read_is_refused_by_name(path, value, words):
    text = changed("3.18-tcp-1", *path, value=value)
    with pytest.raises(ReadError, match=words) as caught:
        read_iperf3(text)
    assert caught.value.raw == text and "again" in str(caught.value)


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
    ids=range(26),
)
def test_what_contradicts_is_one_warning_that_names_it(path, value, words):
    with pytest.warns(ReadWarning, match=words) as told:
        read_iperf3(changed("3.18-tcp-1", *path, value=value))
    assert len(told) == 1


def test_more_packets_are_not_lost_than_sent():
    for figure, value in (("lost_packets", 10**6), ("lost_packets", -5), ("packets", 1)):
        text = changed("3.18-udp-1", "end", "streams", 0, "udp", figure, value=value)
        with pytest.warns(ReadWarning, match="packets = "):
            read_iperf3(text)
    late = changed("3.18-udp-reverse-2", "intervals", 1, "streams", 0, "lost_packets", value=-2)
    assert read_iperf3(late).intervals.lost_packets.min() == -2  # they came after all


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("^C" + ONE, r"text before iperf3's JSON is left out: '\^C'"),
        ("Control connection MSS 1448\n$ iperf3\n" + ONE, "before iperf3's JSON .*: '. iperf3'"),
        (ONE + "iperf3: error - the server has terminated\n", "after iperf3's JSON"),
        (ONE.replace('"retransmits":', '"bytes": 7, "retransmits":', 1), "bytes stands twice"),
    ],
    ids=range(4),
)
def test_text_around_the_json_is_left_out(text, words):
    with pytest.warns(ReadWarning, match=words) as told:
        out = read_iperf3(text)
    assert len(told) == 1 and out.streams.equals(report("3.18-tcp-1").streams)


def test_what_verbose_iperf3_prints_before_its_json_is_no_doubt():
    text = "Control connection MSS 1448\n" + ONE
    assert read_iperf3(text).streams.equals(report("3.18-tcp-1").streams)


def test_the_events_of_a_json_stream_are_a_report():
    out = report("odd/3.22-json-stream")
    assert out.meta["version"] == "3.22" and len(out.intervals) == 1
    assert out.streams.received_bytes[0] == 11665408


def test_an_interval_that_begins_in_the_omitted_time():
    """Its start is printed without its sign: 0.999 for 0.999 s before the time that counts."""
    with pytest.warns(ReadWarning, match="start = 0.999306 .* 0 is taken") as told:
        out = report("odd/3.18-omit-across-an-interval")
    counted = out.intervals[~out.intervals.omitted]
    assert len(told) == 1 and counted.start_s.iloc[0] == 0
    assert (counted.start_s.iloc[1:].to_numpy() == counted.end_s.iloc[:-1].to_numpy()).all()
    carried = (counted.sent_bps * (counted.end_s - counted.start_s)).sum() / 8
    assert carried == approx(out.streams.sent_bytes[0], rel=1e-4)


@pytest.mark.parametrize("name", ["retransmits", "rtt", "rttvar", "snd_cwnd", "pmtu"])
def test_what_a_kernel_does_not_tell_is_minus_one(name):
    text = re.sub(rf'("{name}":\s*)\d+', r"\g<1>-1", (DATA / "3.18-tcp-1.json").read_text())
    text = re.sub(r'("(?:retransmits|m\w+_rtt|max_snd_cwnd)":\s*)\d+', r"\g<1>-1", text)
    out = read_iperf3(text)
    assert not (out.intervals.select_dtypes("float") < 0).any(axis=None)
    assert not (out.streams.select_dtypes("float") < 0).any(axis=None)


@pytest.mark.parametrize(
    "text", ["# Notes\n\nSee `{}` below.\n", "[ ID] Interval\n[  5] 0.00-1.00 sec\n"]
)
def test_a_file_that_is_not_iperf3_s_json_is_named(text, tmp_path):
    path = tmp_path / "notes.md"
    path.write_text(text)
    for source in (path, str(path)):
        with pytest.raises(
            ReadError,
            match=r"notes.md: This is not iperf3's JSON.*Run iperf3 with -J, which writes it",
        ) as caught:
            read_iperf3(source)
        assert str(path) in str(caught.value) and repr(text.splitlines()[0]) in str(caught.value)
        assert caught.value.raw == text
    with pytest.raises(ReadError, match=r"neither iperf3's JSON nor the name of a file"):
        read_iperf3(text)


CUT = ("3.1.3", "3.9-udp", "3.12-tcp-bidir-both", "3.22")
WHOLE = [path.read_text().rstrip() for path in REPORTS if path.name.startswith(CUT)]
place = st.floats(0, 1, exclude_max=True)


@given(st.sampled_from(WHOLE), place)
def test_a_report_cut_anywhere_is_refused(text, where):
    with pytest.raises(ReadError) as caught:
        read_iperf3(text[: int(where * len(text))])
    assert caught.value.raw == text[: int(where * len(text))]


@given(
    st.sampled_from(WHOLE),
    place,
    st.sampled_from(["\nh1 login:\n", "\niperf3: error\n", "\n{}\n", "\n^C\n"]),
)
def test_a_report_with_a_line_in_it_is_refused_and_one_before_it_told(text, where, line):
    at = int(where * len(text))
    with warnings.catch_warnings(record=True) as told, contextlib.suppress(ReadError):
        warnings.simplefilter("always")
        read_iperf3(text[:at] + line + text[at:])
        assert at == 0 and told


@given(st.text())
def test_any_other_text_is_refused(text):
    with pytest.raises(ReadError):
        read_iperf3(text)


def test_a_rate_of_intervals_that_end_before_they_begin_is_unknown():
    report = json.loads((DATA / "3.12-udp-reverse-2.json").read_text())
    report["intervals"][0]["streams"][1]["start"] = 81
    with pytest.warns(ReadWarning, match="start_s = 81"):
        out = read_iperf3(json.dumps(report))
    assert out.streams.received_bps[0] > 0 and math.isnan(out.streams.received_bps[1])
