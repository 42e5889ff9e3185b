"""read_iperf, on real output of four versions (tests/data/iperf), broken output, and texts written
by the format from numbers that are known.
"""

import math
import re
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from netlab.errors import ReadError, ReadWarning
from netlab.readers import read_iperf, split_outputs
from tests.readers import mutations

DATA = Path(__file__).parents[1] / "data" / "iperf"
TEXTS = sorted(DATA.glob("*.txt"))
PAIRS = [p.name.removesuffix("-client.txt") for p in TEXTS if p.name.endswith("-client.txt")]
OLD = ("2.0.13a", "2.1.5", "2.1.9")


def iperf(name):
    return read_iperf(DATA / f"{name}.txt")


def names(path):
    return path.name


@pytest.mark.parametrize("path", TEXTS, ids=names)
def test_every_text_gives_the_same_columns_and_its_own_side(path):
    (out, sure), example = mutations.read("iperf", path.read_text()), iperf("2.2.1-udp-1-client")
    assert sure or "of-two" in path.name
    mutations.check("iperf", out, sure)
    assert out.streams.dtypes.equals(example.streams.dtypes)
    assert out.intervals.dtypes.equals(example.intervals.dtypes)
    assert out.meta.keys() == example.meta.keys()
    client = out.meta["role"] == "client"
    assert client == ("client" in path.name)
    sends = client != out.meta["reverse"]
    assert out.streams.sent_bps.notna().all() == sends
    assert out.intervals.received_bps.isna().all() or not sends
    rate = out.streams["sent_bps" if sends else "received_bps"]
    size = out.streams["sent_bytes" if sends else "received_bytes"]
    seconds = out.streams.end_s - out.streams.start_s
    assert (8 * size / seconds / rate).tolist() == approx([1] * len(rate), rel=0.06)


@pytest.mark.parametrize("name", [n for n in PAIRS if (DATA / f"{n}-server.txt").exists()])
def test_both_sides_of_a_test_tell_of_the_same_streams(name):
    client, server = iperf(f"{name}-client"), iperf(f"{name}-server")
    ends = ["port", "src", "dst"]
    one, other = (out.streams.sort_values("port")[ends].values for out in (client, server))
    assert one.tolist() == other.tolist()
    if client.meta["protocol"] == "UDP" and not client.meta["reverse"]:
        told = client.streams.set_index("port").sort_index()
        own = server.streams.set_index("port").sort_index()
        for column in ("received_bps", "received_bytes", "packets", "lost_packets", "out_of_order"):
            assert told[column].tolist() == own[column].tolist(), column
        known = told.jitter_s.notna()
        assert told.jitter_s[known].tolist() == approx(own.jitter_s[known].tolist(), abs=1.1e-6)


@pytest.mark.parametrize("version", OLD)
def test_a_capital_m_is_1024_squared_in_every_version(version):
    meta = iperf(f"{version}-udp-1-client").meta
    assert meta["ipg_s"] == 560.76e-6 and meta["datagram_bytes"] == 1470
    assert meta["offered_bps"] == approx(20 * 1024**2, rel=2e-5)
    new = iperf("2.2.1-udp-bits-client")  # -b 45M; the gap is printed as 0.00 us
    assert math.isnan(new.meta["ipg_s"]) and math.isnan(new.meta["offered_bps"])
    assert new.streams.sent_bps[0] == approx(45 * 1024**2, rel=2e-4)


def test_a_rate_in_kilobytes_is_of_1024_bytes():
    text = (DATA / "2.2.1-udp-bytes-client.txt").read_text()
    text = text.replace("379260 Bytes  188219 Bytes", "370 KBytes   184 KBytes")
    out, sure = mutations.read("iperf", text)
    assert sure and out.streams.sent_bps[0] == 8 * 184 * 1024


def test_what_the_server_counts_over_a_link_that_is_too_slow():
    out = iperf("2.2.1-udp-bits-server")
    (row,) = out.streams.itertuples()
    assert (row.packets, row.lost_packets, row.received_bytes) == (8027, 3027, 5000 * 1470)
    assert row.loss == 3027 / 8027 and row.jitter_s == 0.000118
    assert row.received_bps == approx(30e6 * 1470 / 1512, rel=0.003)
    assert len(out.intervals) == 2 and math.isnan(row.sent_bps)


@pytest.mark.parametrize(
    ("name", "jitter_s"),
    # the client of 2.2.1 is not told of jitter without -e; 2.0.13 counts the last datagram, which
    # it repeats, into jitter and time
    [
        ("2.2.1-udp-over-client", math.nan),
        ("2.2.1-udp-e-client", 0.000118),
        ("2.1.9-udp-over-client", 0.000133),
        ("2.0.13a-udp-over-server", 0.0148),
        ("2.1.5-udp-over-server", 0.00012),
        ("2.1.9-udp-over-server", 0.000133),
    ],
)
def test_jitter(name, jitter_s):
    out = iperf(name)
    assert out.streams.jitter_s[0] == approx(jitter_s, abs=1e-5, nan_ok=True)
    assert not out.intervals.jitter_s.max() > 0.0002  # until the last datagram, all is well
    if name == "2.2.1-udp-over-client":
        assert out.streams.loss[0] == 4559 / 12039
    if name == "2.0.13a-udp-over-server":
        assert out.streams.end_s[0] == 3.3


def test_duplicates_hide_losses():
    row = iperf("2.2.1-udp-duplicated-server").streams.iloc[0]
    assert row.loss == 0 and row.out_of_order == 75 and row.received_bytes > 1340 * 1470
    late = iperf("2.2.1-udp-disordered-server")
    assert late.streams.out_of_order[0] == 491 and late.streams.lost_packets[0] == 0
    assert late.intervals.out_of_order.tolist() == [166, 161, 164]


def test_lost_reverse_and_stopped_tests():
    out = iperf("2.2.1-udp-all-lost-client")
    assert not out.meta["acknowledged"] and out.streams.packets[0] == 182
    assert out.streams[["received_bps", "loss", "jitter_s"]].isna().all(axis=None)
    out = iperf("2.2.1-udp-reverse-client")
    assert out.meta["reverse"] and out.streams.src[0] == out.meta["server"] == "10.0.0.2"
    assert out.streams.received_bps[0] == 21.0e6 and out.streams.sent_bps.isna().all()
    assert iperf("2.2.1-udp-server-stopped-server").meta["interrupted"]


def test_tcp_and_what_e_adds():
    out = iperf("2.2.1-tcp-e-2-client")
    assert out.meta["congestion"] == "cubic" and out.streams.retransmits.tolist() == [21, 30]
    assert iperf("2.2.1-tcp-e-2-server").meta["version"] == "2.2.1-rc"  # the client's
    assert iperf("2.2.1-tcp-window-client").meta["congestion"] == "reno"
    assert iperf("2.2.1-tcp-1-client").streams.retransmits.isna().all()
    assert iperf("2.0.13a-tcp-e-client").streams.retransmits.tolist() == [1006]


def test_a_server_that_served_two_clients_has_a_stream_of_each():
    path = DATA / "typed-2.0.5-udp-server-of-two.txt"
    out = mutations.warned(read_iperf, path, "2 runs, one after another")
    assert out.streams.port.tolist() == [41731, 52404] and out.streams.stream.tolist() == [1, 2]
    assert out.streams.packets.tolist() == [179, 85] and out.streams.out_of_order.tolist() == [1, 0]


def test_a_server_that_had_gone_when_the_last_datagram_came_again_has_reported():
    text, report = (DATA / "2.2.1-udp-over-client.txt").read_text(), "[  1] Server Rep"
    late = text.replace(report, "[  1] Read UDP fin failed: Connection refused\n" + report)
    assert late != text and read_iperf(late).streams.equals(read_iperf(text).streams)


def test_a_jitter_of_one_datagram_is_none():
    text = (DATA / "2.2.1-udp-over-server.txt").read_text()
    row = read_iperf(text.replace("0.118 ms 4559/", "-nan ms 4559/")).streams.iloc[0]
    assert math.isnan(row.jitter_s) and row.lost_packets == 4559


BROKEN = {
    "2.2.1-udp-no-server": "Connection refused.*run it again",
    "2.2.1-tcp-no-server": "Connection refused",
    "2.0.13a-tcp-no-server": "connect failed: Connection refused",
    "2.2.1-udp-dual": "both directions",
    "2.2.1-csv": "Run it without -y",
    "2.2.1-help": "requires an argument",
    "2.2.1-udp-all-lost-server": "look whether the other side ran",
    "typed-2.2.1-sum-only": "Run it without --sum-only",
    "typed-csv-with-header": "iperf 2's CSV, what iperf -y C prints",
    "typed-2.0.5-failed-before": "several runs, and of one .* not known. `split_outputs`",
}


@pytest.mark.parametrize("path", sorted((DATA / "broken").glob("*.txt")), ids=names)
def test_what_is_no_measurement_is_refused(path):
    mutations.refused(read_iperf, path, BROKEN.get(path.stem))


ODD = {
    "2.0.10-udp-client": "loss = 0 %, but 285 of 8916",
    "2.0.13-rate-off": "8.82 Mbits/sec' is not its bytes by its time: as printed",
    "2.0.5-client-killed": "no last line",
    "2.0.5-garbled-line": "no line of iperf's.*lines are missing",
    "2.0.5-server-of-three-runs": "3 runs, one after another.*split_outputs",
    "2.1.9-a-report-of-nothing": "what it received is NaN",
    "2.2.1-udp-server-stopped-client": "sent 10703 datagrams, and the server reported of 6204",
    "typed-2.0.13-two-versions-client": "sent 892 .* of 2147482756 .*: packets is what the client",
}


@pytest.mark.parametrize("path", sorted((DATA / "odd").iterdir()), ids=names)
def test_what_contradicts_is_one_warning_that_says_what_was_taken(path):
    out = mutations.warned(read_iperf, path, ODD[path.stem])
    assert not (out.streams.loss > 1).any()
    if "killed" in path.name:
        assert out.streams.sent_bytes[0] == approx(3.62 * 2**20) and out.streams.end_s[0] == 3
    if "2.0.10" in path.name:
        assert out.streams.loss[0] == 285 / 8916 and math.isnan(out.streams.jitter_s[0])


BOTH_WAYS = """Client connecting to 10.0.0.2, TCP port 5001
[  3] local 10.0.0.1 port 47656 connected with 10.0.0.2 port 5001
[  4] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 43842
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0-10.0 sec  11.2 MBytes  9.40 Mbits/sec
[  4]  0.0-10.0 sec  1.12 MBytes   940 Kbits/sec
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOTH_WAYS, "both ways"),  # the server of the way back is at the client's own port
        ("Connecting to host 10.0.0.2, port 5201\n[  5] local 10.0.0.1 port 1", "read_iperf3"),
        ("PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.", "no line begins with"),
    ],
)
def test_both_ways_and_other_tools_are_named(text, words):
    mutations.refused(read_iperf, text, words)


@pytest.mark.parametrize("path", TEXTS, ids=names)
def test_a_text_cut_after_any_line_is_refused_told_or_lacks_only_what_came_later(path):
    with warnings.catch_warnings(action="ignore", category=ReadWarning):
        lines, whole = path.read_text().splitlines(keepends=True), read_iperf(path)
    for count in range(len(lines)):
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                out = read_iperf("".join(lines[:count]))
        except ReadError:
            continue
        assert told or set(out.streams.port) <= set(whole.streams.port)
        if not told and (out.meta["protocol"], out.meta["role"]) == ("UDP", "client"):
            sent = out.streams.sent_bps.tolist()
            assert whole.meta["reverse"] or sent == whole.streams.sent_bps.tolist()


def test_contradictions_are_told():
    text = (DATA / "2.2.1-udp-over-server.txt").read_text()
    line = "10.5 MBytes  29.2 Mbits/sec   0.118 ms 4559/12039 (38%)"
    assert text.count(line) == 1
    second = next(row for row in text.splitlines() if "1.0000-2.0000" in row)
    for was, becomes, message in [
        (line, line.replace("29.2", "39.2"), "is not its bytes by its time"),
        (line, line.replace("10.5", "1.05"), "is not its bytes by its time"),
        (line, line.replace("38%", "3.8%"), "loss = 3.8 %, but"),
        (line, line.replace("4559/12039", "14559/12039"), "lost_packets = 14559 of 12039"),
        (line, line.replace("4559/", "4559 of "), "no result of iperf's"),
        (second + "\n", "", "lines are missing"),
    ]:
        mutations.warned(read_iperf, text.replace(was, becomes), message)


BOTH = sorted((DATA / "both").glob("2.2.1-*.txt"))


@pytest.mark.parametrize("path", BOTH, ids=names)
def test_both_directions_of_full_duplex_are_streams_of_their_own(path):
    """The guest's iperf over 30 Mbit/s from h1 to h2; nothing limits the way back."""
    (out, sure), n = mutations.read("iperf", path.read_text()), 1 + ("duplex-2" in path.name)
    assert sure and out.meta["bidirectional"] and out.meta["streams"] == n
    mutations.check("iperf", out, sure)
    there, back = out.streams[:n], out.streams[n:]
    assert list(there.src) == list(back.dst) == ["10.0.0.1"] * n == [out.streams.src[0]] * n
    assert list(there.dst) == list(back.src) == ["10.0.0.2"] * n == [out.meta["server"]] * n
    assert list(there.port) == list(back.port)
    sends, hears = (there, back) if out.meta["role"] == "client" else (back, there)
    assert sends.sent_bps.notna().all() and sends.received_bps.isna().all()
    assert hears.received_bps.notna().all() and hears.sent_bps.isna().all()
    if out.meta["protocol"] == "UDP":
        assert out.streams.packets.tolist() in ([895, 894], [894, 895]) and hears.loss.eq(0).all()
    else:
        figure = {True: "sent_bps", False: "received_bps"}
        told = [part[figure[part is sends]].sum() for part in (there, back)]
        assert told[0] < 33e6 < 100e6 < told[1], "the way back is not the client's"
    if "duplex-e" in path.name:
        assert out.streams.retransmits.dropna().tolist() == [14 if sends is there else 0]


def test_full_duplex_without_intervals_and_of_each_side():
    (there, back) = iperf("both/typed-2.2.1-tcp-full-duplex-client").streams.itertuples()
    assert (there.src, there.dst, there.sent_bps) == ("10.0.0.1", "10.0.0.2", 73.1e6)
    assert (back.src, back.dst, back.received_bps) == ("10.0.0.2", "10.0.0.1", approx(8.53e9))
    assert math.isnan(there.received_bps) and math.isnan(back.sent_bps)


def test_an_error_of_one_run_hides_no_other():
    failed = (DATA / "broken" / "typed-2.0.5-failed-before.txt").read_text()
    error, good = failed.split("\n", 1)[0] + "\n", (DATA / "2.0.13a-tcp-2-client.txt").read_text()
    for text, ports in [(failed, [[40000]]), (good + error + failed, [[52804, 52788], [40000]])]:
        mutations.refused(read_iperf, text, "several runs, and of one iperf says: error: Name or")
        with pytest.warns(ReadWarning, match="a run that failed is left out: 'error: Name or"):
            parts = split_outputs(text)
        assert [read_iperf(part).streams.port.astype(int).tolist() for part in parts] == ports
    assert "several" not in mutations.refused(read_iperf, error, "not all|says: error")


def test_what_the_server_received_contradicts_that_nothing_was_lost():
    text = (DATA / "2.2.1-udp-over-client.txt").read_text()
    line = next(row for row in text.splitlines() if "4559/12039" in row)
    assert mutations.read("iperf", text)[1] and text.count(line) == 1
    none = line.replace("4559/12039", "0/12039")
    assert none != line
    row = mutations.warned(read_iperf, text.replace(line, none), "0 lost .* is NaN").streams.iloc[0]
    assert math.isnan(row.loss) and math.isnan(row.lost_packets) and row.received_bps == 29.2e6


def test_bytes_that_are_not_those_of_the_datagrams_are_doubted():
    """esnet/iperf's issue 1020: 34.4 Gbits/sec of a client that was asked for 30 Mbit/s."""
    text = (DATA / "2.2.1-udp-1-client.txt").read_text()
    total = "0.0000-3.0007 sec  7.50 MBytes  21.0 Mbits/sec\n"
    assert text.count(total) == 1
    for wrong in ("4.00 GBytes  11.5 Gbits/sec", "8.00 MBytes  22.4 Mbits/sec"):
        changed = text.replace(total, f"0.0000-3.0007 sec  {wrong}\n")
        mutations.warned(read_iperf, changed, "5353 datagrams of 1470 bytes")
    server = (DATA / "2.2.1-udp-1-server.txt").read_text()
    jitter = re.search(r"0\.0000-3\.\d+ sec .*sec +([\d.]+) ms", server)
    changed = server[: jitter.start(1)] + "2735.461" + server[jitter.end(1) :]
    mutations.warned(read_iperf, changed, "jitter_s = 2.735461 of")


# How iperf writes times, and lost datagrams.
FORMATS = {"2.0": ("{:4.1f}-{:4.1f}", "{:4d}/{:5d}"), "2.2": ("{:.4f}-{:.4f}", "{:d}/{:d}")}


def adaptive(value, base):
    """A number as iperf prints it: three digits and a prefix."""
    power = 0
    while value >= (1000 if base == 1000 else 1024) and power < 3:
        value, power = value / base, power + 1
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {['', 'K', 'M', 'G'][power]}"


datagrams = st.tuples(st.integers(100, 200_000), st.integers(0, 99))  # of which some percent lost


@given(
    style=st.sampled_from(sorted(FORMATS)),
    counts=st.lists(datagrams, min_size=1, max_size=5),
    seconds=st.integers(2, 60),
    length=st.integers(64, 1470),
    jitter_us=st.integers(0, 10**6),
)
def test_what_a_server_wrote_is_read_as_it_was(style, counts, seconds, length, jitter_us):
    span, parts = FORMATS[style]
    heads, rows, expected = ["Server listening on UDP port 5001"], [], []
    for n, (total, percent) in enumerate(counts):
        lost = total * percent // 100
        size = (total - lost) * length
        ends = f"local 10.0.0.2 port 5001 connected with 10.0.0.1 port {n + 2000}"
        heads.append(f"[{n + 3:3d}] {ends}")
        rows.append(
            f"[{n + 3:3d}] {span.format(0, seconds)} sec  {adaptive(size, 1024)}Bytes "
            f" {adaptive(8 * size / seconds, 1000)}bits/sec {jitter_us / 1000:7.3f} ms"
            f" {parts.format(lost, total)} ({100 * lost / total:.2g}%)"
        )
        expected.append([n + 2000, total, lost])
    title = "[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total Datagrams"
    streams = read_iperf("\n".join([*heads, title, *rows])).streams
    assert streams[["port", "packets", "lost_packets"]].values.tolist() == expected
    sizes = length * (streams.packets - streams.lost_packets)
    assert streams.received_bytes.tolist() == approx(sizes.tolist(), rel=0.006)
    assert streams.received_bps.tolist() == approx((8 * sizes / seconds).tolist(), rel=0.006)
    assert streams.jitter_s.tolist() == approx([jitter_us / 1e6] * len(streams), abs=1e-12)
