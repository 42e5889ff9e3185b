"""read_iperf3, on what iperf3 prints without -J: real texts of many versions
(tests/data/iperf3/text), texts that tell what a JSON report tells, drawn ones, and those that
people copy from terminals, cut and change.
"""

import functools
import itertools
import json
import math
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from netlab.errors import ReadError
from netlab.readers import read_iperf, read_iperf3, split_outputs
from tests import known, unknown
from tests.readers import iperf3_printer as printer
from tests.readers import mutations
from tests.readers.test_iperf3 import INTERVALS, REPORTS, STREAMS

DATA = Path(__file__).parents[1] / "data" / "iperf3"
TEXTS = sorted((DATA / "text").iterdir())
refused, warned = (
    functools.partial(how, read_iperf3) for how in (mutations.refused, mutations.warned)
)


@functools.cache
def text(name):
    return (DATA / "text" / f"{name}.txt").read_text()


@functools.cache
def report(name):
    return read_iperf3(text(name))


def same(out, other):
    """Two texts that say the same."""
    pd.testing.assert_frame_equal(out.streams, other.streams)
    pd.testing.assert_frame_equal(out.intervals, other.intervals)
    return True


# --- every file


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_every_text_has_the_columns_of_json_and_figures_that_go_together(path):
    (out, sure), json_report = mutations.read("iperf3", path.read_text()), read_iperf3(REPORTS[0])
    streams, rows = out.streams, out.intervals
    assert sure
    mutations.check("iperf3", out, sure)
    assert list(streams) == STREAMS.split() and list(rows) == INTERVALS.split()
    assert (streams.dtypes == json_report.streams.dtypes).all()
    assert (rows.dtypes == json_report.intervals.dtypes).all()
    assert out.meta.keys() >= json_report.meta.keys()
    assert out.meta["interrupted"] == ("interrupted" in path.stem or "killed" in path.stem)
    assert out.meta["bidirectional"] == ("bidir" in path.stem)
    assert (out.meta["protocol"] == "UDP") == ("udp" in path.stem)
    assert unknown(streams, "cwnd_bytes rtt_s rtt_min_s rtt_max_s")
    assert known(streams, "src dst start_s end_s")
    for stream, own in rows[~rows.omitted].groupby("stream"):
        whole, seconds = streams.set_index("stream").loc[stream], own.end_s - own.start_s
        for column in ("sent_bps", "received_bps"):
            if own[column].notna().all() and not math.isnan(whole[column]):
                mean = (own[column] * seconds).sum() / seconds.sum()
                assert mean == approx(whole[column], rel=0.1)


# --- text says what JSON says

COUNTED = "retransmits packets lost_packets"
ROUNDED = "sent_bps received_bps sent_bytes received_bytes cwnd_bytes"


def agree(ours, theirs, columns, **near):
    """Is each of our figures one of theirs, rounded?"""
    for column in columns.split():
        if column in ours and ours[column].notna().any():
            there = ours[column].notna()
            assert ours[column][there].to_numpy() == approx(theirs[column][there], **near), column


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_the_text_of_a_report_says_what_its_json_says(path):
    doc = json.loads(path.read_text())
    doc.pop("server_output_json", None)
    (out, sure), of_json = (
        mutations.read("iperf3", t) for t in (printer.text(doc), json.dumps(doc))
    )
    of_json = of_json[0]
    assert sure is (path.stem != "3.1.3-udp-1")  # whose jitter is that of two clocks
    mutations.check("iperf3", out, sure)
    for ours, theirs in ((out.streams, of_json.streams), (out.intervals, of_json.intervals)):
        assert ours[["stream", "src", "dst"]].equals(theirs[["stream", "src", "dst"]])
        agree(ours, theirs, COUNTED, rel=0)
        agree(ours, theirs, ROUNDED, rel=0.0051, abs=0.005)
        agree(ours, theirs, "start_s end_s", rel=0, abs=0.0051)
        agree(ours, theirs, "loss", rel=1e-9)
        agree(ours, theirs, "jitter_s", rel=0, abs=5.01e-7)
        figures = ours.select_dtypes("float").columns
        unsaid = theirs[figures].isna() & ours[figures].notna()
        assert not unsaid.any(axis=None), "text says what JSON does not"
    tcp = out.meta["protocol"] == "TCP"
    for column in ["sent_bps", "received_bps", "sent_bytes", "retransmits"] * tcp + ["jitter_s"]:
        assert (out.streams[column].isna() == of_json.streams[column].isna()).all(), column
    ours, theirs = out.intervals, of_json.intervals
    for column in ("sent_bps", "received_bps", "retransmits", "cwnd_bytes", "jitter_s", "packets"):
        assert (ours[column].isna() == theirs[column].isna()).all(), column
    assert ours.omitted.equals(theirs.omitted)
    for name in ("role", "protocol", "reverse", "bidirectional", "streams", "server", "port"):
        assert out.meta[name] == of_json.meta[name], name
    assert out.meta["interrupted"] == of_json.meta["interrupted"]
    assert 0 < out.meta["rounding"] <= 0.00501 and of_json.meta["rounding"] == 0


def test_an_interval_that_begins_in_the_omitted_time():
    doc = json.loads((DATA / "odd" / "3.18-omit-across-an-interval.json").read_text())
    of_json = warned(json.dumps(doc), "is before 0")
    out = warned(printer.text(doc), "is before 0, without its sign: 0 is taken")
    assert out.intervals.start_s.to_numpy() == approx(of_json.intervals.start_s, abs=0.0051)
    assert out.intervals.sent_bps.to_numpy() == approx(of_json.intervals.sent_bps, rel=0.011)


UNITS = [*"akmgKMG"]
amount = st.integers(0, 2**38)


@st.composite
def drawn(draw):
    """iperf3's document of a test with drawn figures, less what no text has."""
    streams, seconds = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    udp, reverse, client = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    both, unit = draw(st.booleans()) and not udp, draw(st.sampled_from(UNITS))
    sends = {5 + 2 * n: client != reverse for n in range(streams)}
    if both:
        sends = {5: client, 7: not client}
    parts = {socket: draw(st.lists(amount, min_size=seconds, max_size=seconds)) for socket in sends}
    counts = {
        socket: draw(st.lists(st.integers(0, 10**6), min_size=seconds, max_size=seconds))
        for socket in sends
    }

    def figures(socket, start, end, size, count):
        span = {"socket": socket, "start": start, "end": end, "bytes": size, "unit": unit}
        span |= {"bits_per_second": 8 * size / (end - start), "omitted": False}
        span |= {"sender": sends[socket]} if both else {}
        if udp:
            return span | {
                "packets": count,
                "jitter_ms": 1.5,
                "lost_packets": count // 3,
                "lost_percent": 0,
            }
        return span | {"retransmits": count, "snd_cwnd": 1448 * (1 + count)}

    end = [
        figures(socket, 0, seconds, sum(sizes), sum(counts[socket]))
        for socket, sizes in parts.items()
    ]
    who = {"host": "10.0.0.2", "port": 5201}
    address = {"local_host": "10.0.0.1", "remote_host": "10.0.0.2"}
    ports = ("local", "remote")[:: 1 if client else -1]
    connected = [
        {"socket": socket, **address, f"{ports[0]}_port": 40_000 + socket, f"{ports[1]}_port": 5201}
        for socket in parts
    ]
    return {
        "start": {
            ("connecting_to" if client else "accepted_connection"): who,
            "connected": connected,
            "test_start": {
                "protocol": "UDP" if udp else "TCP",
                "reverse": int(reverse and not both),
            },
        },
        "intervals": [
            {"streams": [figures(s, n, n + 1, parts[s][n], counts[s][n]) for s in parts]}
            for n in range(seconds)
        ],
        "end": {
            "streams": [{"udp": one} if udp else {"sender": one, "receiver": one} for one in end]
        },
    }


@settings(deadline=None)
@given(drawn())
def test_a_drawn_report_reads_back_to_the_digits_that_are_printed(doc):
    out, _ = mutations.read("iperf3", printer.text(doc))
    ends = [s.get("udp") or s["sender"] for s in doc["end"]["streams"]]
    spans = [s for interval in doc["intervals"] for s in interval["streams"]]
    for table, printed in ((out.streams, ends), (out.intervals, spans)):
        assert len(table) == len(printed)
        # a server's total over UDP is not printed, but a sum of what is
        summed = "packets" in ends[0] and table is out.streams
        bps = table.sent_bps if summed else table.sent_bps.fillna(table.received_bps)
        for read, span in zip(bps, printed, strict=True):
            shown = re.fullmatch(
                r" *([0-9.]+) (\w)?(bits|Bytes)/sec",
                printer.rate(span["bits_per_second"], span["unit"]),
            )
            per_unit = "_KMGT".index(shown[2]) if shown[2] else 0
            per_unit = 8 * 1024**per_unit if shown[3] == "Bytes" else 1000**per_unit
            half = per_unit * 0.5 / 10 ** len(shown[1].partition(".")[2])
            if math.isnan(read):  # -f left no digit
                assert float(shown[1]) == 0 < span["bytes"] or summed
            else:
                assert abs(read - span["bits_per_second"]) <= half * (1 + 1e-9)
        counts = table.packets.fillna(table.retransmits)
        assert set(counts.dropna()) <= {
            float(span.get("packets", span.get("retransmits"))) for span in printed
        }
        assert table.end_s.tolist() == [span["end"] for span in printed]
    assert (
        out.meta["reverse"] == bool(doc["start"]["test_start"]["reverse"])
        or out.meta["role"] == "server"
    )


# --- what terminals, forums and people make of it

ONE, TWO = text("3.21-tcp-2"), text("3.21-udp-2")


def numbered(lines):
    return [f"{n:3}: {line}" for n, line in enumerate(lines, 1)]


@pytest.mark.parametrize(
    "name", ["3.21-tcp-2", "3.21-udp-2", "3.0.11-tcp-2", "3.7-udp-bidir-2", "3.12-udp-verbose-both"]
)
@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: "mininet> h1 iperf3 -c h2 -P 2\n" + t + "mininet> \n",
        lambda t: "root@h1:~# iperf3 -c 10.0.0.2 -P 2 | tee out.txt\n" + t + "root@h1:~# ",
        lambda t: "\n".join(f"> {line}" for line in t.splitlines()),
        lambda t: "\n".join(f"    {line.rstrip()}" for line in t.splitlines()),
        lambda t: "\n".join(numbered(t.splitlines())),
        lambda t: "\n".join(f"Sat Nov 28 22:10:16 2026 lab:  {line}" for line in t.splitlines()),
        lambda t: "```\n" + t + "\n```\nIs 95 Mbits/sec what one should see on a link of 100?\n",
        lambda t: t.replace("[", "\x1b[1m[").replace("]", "]\x1b[0m"),
        lambda t: t.replace("   sec", "\tsec\u00a0"),
        lambda t: re.sub(r"(\d)\.(\d\d?)(?=[- ])(?!.*port)", r"\1,\2", t),
        lambda t: t.replace("iperf Done.", "\n\niperf Done.\n\n"),
        lambda t: "-----\nServer listening on 5201 (test #1)\n-----\n" + t,
        lambda t: t.replace("Bitrate  ", "Débit    ").replace("Interval", "Intervalle"),
        lambda t: t.replace(
            "\n[",
            "\niperf3: OUT OF ORDER - incoming packet = 5 and received packet = 7 AND SP = 5\n[",
            9,
        ),
        lambda t: "warning: this system does not seem to support IPv6 - trying IPv4\n" + t,
    ],
    ids=itertools.count(),
)
def test_what_stands_around_the_figures_changes_nothing(name, change):
    (out, sure) = mutations.read("iperf3", change(text(name)))
    assert sure and same(out, report(name))


def test_a_file_in_any_encoding(tmp_path):
    file = tmp_path / "powershell.txt"
    file.write_bytes(b"\xff\xfe" + ONE.encode("utf-16-le"))
    assert same(read_iperf3(file), report("3.21-tcp-2"))


# --- known values

# As people copy it from a window: without some brackets, and wrapped.
COPIED = """root@admin-pc:~# iperf3 -c 10.0.0.2 -P 2
Connecting to host 10.0.0.2, port 5201
[ 15] local 10.0.0.1 port 60000 connected to 10.0.0.2 port 5201
 17] local 10.0.0.1 port 60002 connected to 10.0.0.2 port 5201
 ID] Interval
                        Transfer     Bitrate         Retr  Cwnd
 15]
       0.00-1.00 sec  238 MBytes 2.00 Gbits/sec
                                                       5
                                                          13.2 MBytes
 17]   0.00-1.00
                  sec  119 MBytes 1.00 Gbits/sec 1477  9.61 MBytes
[SUM]  0.00-1.00 sec  358 MBytes 3.00 Gbits/sec 1482
- - - - - - - - - - - - -
[ ID] Interval  Transfer  Bitrate  Retr
[ 15]  0.00-1.00  sec  238 MBytes  2.00 Gbits/sec  5     sender
[ 15]  0.00-1.04  sec  236 MBytes  1.90 Gbits/sec        receiver
[ 17]  0.00-1.00  sec  119 MBytes  1.00 Gbits/sec  1477
        sender
[ 17]  0.00-1.04  sec  119 MBytes   960 Mbits/sec        receiver
"""


def test_mbytes_are_binary_and_mbits_decimal_however_the_lines_are_copied():
    out = warned(COPIED, "5 lines go on .*; a line begins without its bracket")
    assert out.streams.sent_bps.tolist() == [2e9, 1e9]
    assert out.streams.received_bps.tolist() == [1.9e9, 960e6]
    assert out.streams.sent_bytes.tolist() == [238 * 2**20, 119 * 2**20]
    assert out.streams.retransmits.tolist() == out.intervals.retransmits.tolist() == [5, 1477]
    assert out.intervals.cwnd_bytes.tolist() == [13.2 * 2**20, 9.61 * 2**20]
    assert out.streams.end_s.tolist() == [1, 1]
    assert out.streams[["src", "dst"]].values.tolist() == [["10.0.0.1", "10.0.0.2"]] * 2
    assert (out.meta["port"], out.meta["server"], out.meta["version"]) == (5201, "10.0.0.2", None)
    assert out.meta["rounding"] == approx(0.005)  # 1.00 Gbits/sec
    assert repr(out).endswith("2 streams, 2 intervals; from text, rates within 0.5 %)")
    assert math.isnan(out.meta["omit_s"]) and math.isnan(out.meta["started_unix_s"])


def test_what_verbose_text_says_of_the_test():
    out = report("3.21-tcp-bidir-verbose")
    meta, streams = out.meta, out.streams
    assert (meta["version"], meta["duration_s"], meta["omit_s"]) == ("3.21", 2, 0)
    assert (meta["block_bytes"], meta["mss_bytes"]) == (131072, 1448)
    assert streams.congestion.tolist() == ["cubic", "reno"] and meta["congestion"] == "cubic"
    assert (
        meta["started_unix_s"] > 1.6e9 and 0 <= meta["client_cpu"] < 2 and meta["server_cpu"] >= 0
    )
    size = report("3.21-tcp-bytes").meta
    assert size["bytes_asked"] == 4 * 2**20 and math.isnan(size["duration_s"])
    assert report("3.12-udp-verbose-both").meta["block_bytes"] == 1448


def test_each_side_and_each_direction():
    out = report("3.7-tcp-bidir-both-2")  # the server's text in the middle of the client's
    assert out.streams.src.tolist() == ["127.0.0.1"] * 2 + ["127.0.0.2"] * 2
    assert known(out.streams, "sent_bps received_bps retransmits")
    assert known(out.intervals, "sent_bps received_bps cwnd_bytes")
    server = report("3.12-tcp-bidir-2-server")
    assert server.meta["role"] == "server"
    assert server.streams.src.tolist() == ["127.0.0.1"] * 2 + ["127.0.0.2"] * 2
    assert server.streams.sent_bps.isna().tolist() == [True, True, False, False]
    assert server.streams.received_bps.isna().tolist() == [False, False, True, True]
    back = report("3.0.11-tcp-reverse-2")
    assert back.meta["reverse"] and set(back.streams.src) == {"127.0.0.2"}
    assert known(back.intervals, "received_bps") and unknown(back.intervals, "sent_bps cwnd_bytes")
    filled = report("3.12-tcp-both-json")  # the server's JSON within the client's text
    assert known(filled.intervals, "sent_bps received_bps")


def test_udp_has_each_stream_s_own_rate_and_losses():
    out = report("3.21-udp-2")
    assert known(out.streams, "sent_bps received_bps loss jitter_s packets lost_packets")
    arrived = out.streams.sent_bytes * (1 - out.streams.loss)
    assert out.streams.received_bytes.to_numpy() == approx(arrived, rel=0.02)
    assert unknown(out.streams, "retransmits") and known(out.intervals, "packets")
    old = report("3.0.11-udp-1")  # one line for both sides
    assert known(old.streams, "sent_bps jitter_s loss") and unknown(old.streams, "received_bps")
    server = report("3.0.11-udp-1-server").streams
    assert unknown(server, "sent_bps") and 15e6 < server.received_bps[0] < 25e6


def test_an_interrupted_side_knows_its_own_end():
    for name, role in (("3.12-udp-interrupted", "client"), ("3.21-tcp-killed-server", "server")):
        out = report(name)
        own, other = ("sent", "received")[:: 1 if role == "client" else -1]
        assert out.meta["interrupted"] and out.meta["error"].startswith("interrupt - the")
        assert out.meta["role"] == role
        assert known(out.streams, f"{own}_bps") and unknown(out.streams, f"{other}_bps loss")


def test_a_unit_that_lacks_a_letter_is_read():
    """esnet/iperf's issue 142: rates of six digits in Kbits."""
    line = "[  5]   0.00-10.04  sec   177 MBytes  147641 {}/sec{}receiver\n"
    head = ALONE.partition("[ ID]")[0]
    whole, short = (head + line.format(unit, " " * 18) for unit in ("Kbits", "Kbis"))
    streams = warned(short, "intervals are missing").streams
    assert streams.received_bps.tolist() == [147641e3]
    assert warned(whole, "are missing").streams.equals(streams)


def test_units_of_minus_f():
    half = report("3.7-tcp-half")  # -i 0.5 -f K
    assert half.intervals.sent_bps.to_numpy() == approx(100e6, rel=0.1) and len(half.intervals) >= 4
    gigabit = report("3.12-tcp-gigabit")
    assert 0.03 < gigabit.meta["rounding"] < 0.07 and gigabit.streams.received_bps[0] == 0.09e9


# --- what is doubted, and what is refused

ALONE = text("3.18-tcp-1")
LINES = text("3.21-tcp-2").splitlines(keepends=True)
NOTHING_CAME = re.sub(
    r"[\d.]+ MBytes +[\d.]+ Mbits/sec +[\d.]+ ms +\d+/\d+ \([^)]*\)  receiver",
    "0.00 Bytes  0.00 bits/sec  0.000 ms  0/0 (0%)  receiver",
    TWO,
)
COARSE = text("3.12-tcp-gigabit").replace("0.10 G", "0.00 G")
ZEROS = ALONE.replace("11.1 MBytes  92.9 Mbits/sec", "0.00 Bytes  0.00 bits/sec")
THREE = text("3.21-tcp-verbose-reverse-server").replace("TCP, 2 streams", "TCP, 3 streams")
OMITTED = ALONE.replace("193    102 KBytes       ", "193    102 KBytes  (omitted)")
VERSION_2 = """Client connecting to h2, TCP port 5001
[  3]  0.00-1.00 sec  12.0 MBytes  100 Mbits/sec
"""
ERROR = "iperf3: error - unable to connect to server: No route to host\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("".join(LINES[3:]), "addresses are missing: src and dst are unknown"),
        ("".join(LINES[-9:]), "intervals are missing; .*addresses are missing.*which side sends"),
        ("".join(LINES[:12]), "totals are missing.*NaN"),
        ("".join(LINES[:14]), "totals are missing.*NaN"),
        ("".join(line for line in LINES if "sender" not in line), "sender counted is missing"),
        ("".join(LINES[:5] + LINES[6:]), r"\[SUM\].*not the sum of its 1 streams.*start_s = 1"),
        ("".join(LINES[:4] + LINES[8:10] + LINES[6:8] + LINES[4:6] + LINES[10:]), "start_s = "),
        (ONE.replace("Mbits/sec", "MBytes/sec", 1), "sent_bps = "),
        (re.sub(r"(M\w+/sec +)\d+( +sender)", r"\g<1>9\2", ONE, count=1), "retransmits = 9 "),
        (re.sub(r"(SUM.*?)[\d.]+ MBytes", r"\g<1>30.0 MBytes", ONE, count=1), "SUM.* bytes = "),
        (re.sub(r"(SUM.*sec +)\d+( +sender)", r"\g<1>999\2", ONE), "SUM.* count = "),
        (ONE.replace("\n", "\nReverse mode, remote host x is sending\n", 1), "other direction"),
        (ALONE.replace("102 KBytes", "102 KBytes  <- slow start"), "'<- slow start'"),
        (ALONE.replace("104 Mbits/sec  193", "104 Mbits/sec  19x"), "'19x"),
        (ALONE.replace("12.4 MBytes", "12.4 Mbytes", 1), "no line of iperf3's"),
        (
            ALONE.replace("11.1 MBytes  92.9 Mbits/sec", "0.00 Bytes  0.00 bits/sec")[:-13],
            "zeros are NaN",
        ),
        (COARSE, "no digit of the rate is left"),
        (
            NOTHING_CAME,
            "lost_packets = 0 of .* only about 0 arrived: lost_packets and loss are NaN",
        ),
        (
            ALONE.replace(
                "\n\niperf", "\n" + ALONE.splitlines()[-3].replace("11.1", "11.2") + "\n\niperf"
            ),
            "two lines",
        ),
        (ERROR + ALONE, "another test is left out: 'iperf3: error"),
        (ALONE + ERROR, "another test is left out: 'iperf3: error"),
        (
            text("3.21-tcp-verbose-reverse-server").replace("TCP, 2 streams", "TCP, 3 streams"),
            "3 streams",
        ),
    ],
    ids=itertools.count(),
)
def test_what_is_missing_or_contradicts_is_one_warning_that_names_it(text, words):
    out = warned(text, words)
    mutations.check("iperf3", out, sure=False)


@pytest.mark.parametrize("name", ["3.21-tcp-2", "3.21-udp-2", "3.6-udp-2", "3.7-tcp-bidir-both-2"])
def test_totals_that_are_copied_before_the_intervals_are_the_same_totals(name):
    head, *lines = text(name).partition("\n\nServer output:")[0].splitlines(keepends=True)
    totals = [n for n, line in enumerate(lines) if "sender" in line or "receiver" in line]
    begins = next(n for n, line in enumerate(lines) if "[ ID]" in line)
    moved = lines[:begins] + lines[totals[0] - 2 : totals[-1] + 1] + lines[begins : totals[0] - 2]
    out, other = (
        read_quietly("".join([head, *order, "\niperf Done.\n"])) for order in (lines, moved)
    )
    assert same(out, other) and len(out.intervals) == 2 * len(out.streams)


def test_what_the_text_does_not_say_is_nan_and_never_0():
    cut = read_quietly("".join(LINES[:12]))
    assert len(cut.streams) == 2 and known(cut.intervals, "sent_bps retransmits")
    assert unknown(cut.streams, "sent_bps received_bps retransmits sent_bytes start_s end_s")
    lost = read_quietly(NOTHING_CAME).streams
    assert unknown(lost, "loss lost_packets") and (lost.received_bps == 0).all()
    coarse = read_quietly(COARSE)
    assert unknown(coarse.intervals, "sent_bps")
    assert unknown(read_quietly("".join(LINES[3:])).streams, "src dst")


def read_quietly(text):
    return mutations.read("iperf3", text)[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (text("3.21-tcp-2") + ALONE, "texts of 2 tests.*split_outputs"),
        (ALONE + text("3.9-tcp-2-server"), "texts of 2 tests.*split_outputs"),
        (ALONE.partition("[ ID]")[0], "client measured nothing here: no line is a result"),
        ("-----\nServer listening on 5201\n-----\n", "server measured nothing here"),
        (
            "".join(line for line in LINES if "SUM" in line or "host" in line),
            "lines of each stream",
        ),
        ("".join(LINES[:5] + LINES[4:]), "An interval stands here twice"),
        (ONE.replace("[  7] local", "[  5] local"), "Two streams have one number"),
        (ALONE.replace("port 54685", "port 99999"), "Ports go to 65535"),
        (ALONE.replace("- - -", ERROR + "- - -", 1), "iperf3 says: unable to connect"),
        (ERROR, "unable to connect .* Start iperf3 -s"),
        (VERSION_2, "Use read_iperf"),
        (
            ALONE.replace("193    102 KBytes       ", "193    102 KBytes  (omitted)"),
            "before the first interval",
        ),
    ],
    ids=itertools.count(),
)
def test_what_cannot_be_read_is_refused(text, words):
    refused(text, words)


def test_a_datagram_out_of_order_is_no_error():
    doc = json.loads((DATA / "3.1.3-udp-1.json").read_text())
    late = "OUT OF ORDER - incoming packet = 5 and received packet = 7 AND SP = 5"
    out = read_iperf3(json.dumps(doc | {"error": late}))
    assert not out.meta["interrupted"] and same(out, read_iperf3(json.dumps(doc)))
    assert "iperf3 says" not in refused(f"iperf3: {late}\n")


def test_iperf_names_the_reader_of_iperf3_s_text():
    assert "-J" not in mutations.refused(read_iperf, ALONE, "Use read_iperf3")


def test_a_log_is_split_at_each_test():
    parts = split_outputs(DATA / "odd" / "3.21-server-of-three.txt")
    assert [len(read_iperf3(part).streams) for part in parts] == [1, 2, 1]
    assert [read_iperf3(part).meta["protocol"] for part in parts] == ["TCP", "TCP", "UDP"]
    both = text("3.12-udp-verbose-both")  # its server's text is no test of its own
    parts = split_outputs("$ iperf3\n" + both + "$ iperf3\n" + ALONE)
    assert same(read_iperf3(parts[0]), report("3.12-udp-verbose-both"))
    assert same(read_iperf3(parts[1]), report("3.18-tcp-1"))
    ping = (
        "PING h2 (10.0.0.2) 56(84) bytes of data.\n64 bytes from h2: icmp_seq=1 ttl=64 time=4 ms\n"
    )
    assert [part[:4] for part in split_outputs(ping + ALONE + ping)] == ["PING", "Conn", "PING"]
    assert split_outputs("".join(LINES[3:])) == ["".join(LINES[3:])]


def test_a_long_line_takes_little_time():
    assert same(read_iperf3("[5] " * 100_000 + "\n" + ALONE), report("3.18-tcp-1"))


@given(st.sampled_from(sorted(path.stem for path in TEXTS)), st.floats(0, 1, exclude_max=True))
def test_a_text_cut_anywhere_has_figures_of_the_whole_text_or_none(name, where):
    whole = text(name)
    try:
        out, _ = mutations.read("iperf3", whole[: int(where * len(whole))])
    except ReadError:
        return
    mutations.check("iperf3", out, sure=False)


def test_a_line_that_goes_on_without_end_takes_linear_time():
    head = "Connecting to host 10.0.0.2, port 5201\n[  5] 0.00-1.00\n"
    with pytest.raises(ReadError, match="measured nothing"):
        read_iperf3(head + "sec\n" * 200_000)
