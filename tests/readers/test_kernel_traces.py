"""Texts with windows and queues: a guest's own, those of a real ss and tc, and texts that are
neither.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from netlab.errors import ReadError, ReadWarning
from netlab.readers.kernel_traces import (
    QUEUES,
    STATES,
    WINDOWS,
    read_queues,
    read_ss,
    read_tc,
    read_windows,
)  # fmt: skip

DATA = Path(__file__).parents[1] / "data"
SS, TC = DATA / "ss/iproute2-reno-2.txt", DATA / "tc/iproute2-tbf-netem.txt"
W_HEAD = (
    "time_s,source,source_port,destination,destination_port,event,state,cwnd,ssthresh,in_flight,"
    "mss_bytes,srtt_s,retransmitted\n"
)
W_FIRST = "0.100000000,10.0.0.1,4000,10.0.0.2,5201,ack,open,10,,8,1448,0.020100,0\n"
W_SECOND = "0.200000000,10.0.0.1,4000,10.0.0.2,5201,timeout,loss,1,5,1,1448,0.020100,3\n"
W_TOLD = W_HEAD + W_FIRST + W_SECOND
Q_HEAD = "time_s,interface,handle,packets,bytes,drops,overlimits\n"
Q_FIRST = "0.100000000,s1-eth2,2:,10,15140,0,5\n"
Q_SECOND = "0.200000000,s1-eth2,2:,5,7570,2,9\n"
Q_TOLD = Q_HEAD + Q_FIRST + Q_SECOND


def test_windows_that_a_guest_tells():
    table = read_windows(W_TOLD).windows
    assert table.columns.tolist() == WINDOWS and len(table) == 2
    assert table.cwnd.tolist() == [10, 1] and math.isnan(table.ssthresh[0])
    assert table.timeout.tolist() == [False, True] and table.state.tolist() == ["open", "loss"]
    assert table.retransmits.tolist() == [0, 3] and table.time_s.tolist() == [0.1, 0.2]
    for state in STATES:
        assert read_windows(W_TOLD.replace(",open,", f",{state},")).windows.state[0] == state


def test_queues_that_a_guest_tells():
    table = read_queues(Q_TOLD).queues
    assert table.columns.tolist() == QUEUES
    assert table.packets.tolist() == [10, 5] and table.backlog_bytes.tolist() == [15140, 7570]
    assert table.drops.tolist() == [0, 2] and table.handle.tolist() == ["2:", "2:"]


def test_a_guest_or_looks_that_found_nothing():
    assert read_queues(Q_HEAD).queues.empty and read_windows(W_HEAD).windows.empty
    assert read_windows(W_HEAD).windows.columns.tolist() == WINDOWS
    assert read_ss("at 1700000002.1\nat 1700000002.6\n").windows.empty


def test_what_a_real_ss_prints():
    """Two Reno streams and iperf3's control connection, looked at every half second."""
    text, table = SS.read_text(), read_windows(SS).windows
    assert table.equals(read_ss(SS).windows) and table.columns.tolist() == WINDOWS
    assert table.time_s[0] == pytest.approx(0.5, abs=0.01)  # the first look found no connection
    assert table.time_s.nunique() == text.count("at ") - 1 >= 4
    assert np.allclose(np.diff(table.time_s.unique()), 0.5, atol=0.01)
    assert table.source_port.nunique() == 3 and (table.source == "10.0.0.1").all()
    assert (table.destination_port == 5201).all() and (table.mss_bytes == 1448).all()
    data = table[table.source_port != table.source_port[0]]
    assert data.ssthresh.notna().all() and (data.retransmits > 0).all()
    assert data.srtt_s.between(0.02, 0.06).all() and (data.in_flight <= data.cwnd + 3).all()
    first = text.splitlines()[3]
    assert "cwnd:161 ssthresh:158" in first and "unacked:157" in first
    assert table.iloc[1][["cwnd", "ssthresh", "in_flight"]].tolist() == [161, 158, 157]
    assert table[["state", "timeout"]].isna().all(axis=None)  # ss does not know them


def test_what_a_real_tc_prints():
    """netem with tbf inside it, looked at every half second."""
    table = read_queues(TC).queues
    assert table.equals(read_tc(TC).queues)
    assert table.handle.tolist()[:2] == ["1:", "2:"] and set(table.handle) == {"1:", "2:"}
    assert table.time_s[0] == 0 and np.allclose(np.diff(table.time_s.unique()), 0.5, atol=0.01)
    first = json.loads(TC.read_text().splitlines()[1])
    assert table.backlog_bytes[0] == first[0]["backlog"] and table.packets[0] == first[0]["qlen"]
    assert (
        table.groupby("handle").drops.apply(lambda one: one.is_monotonic_increasing).all()
        and table.drops.max() > 300
    )


@pytest.mark.parametrize(
    ("name", "ports", "rtts_ms", "mss"),
    [
        ("odd/typed-tin", [40000, 40002], [17.6, 10], 1448),
        ("iproute2-ti", [48556, 48564, 48572], [35.313, 27.603, 28.372], 1448),
        ("iproute2-tino", [48556, 48564, 48572], [35.313, 27.603, 28.18], 1448),
        ("iproute2-tinmp", [48556, 48564, 48572], [35.313, 27.603, 28.196], 1448),
        ("iproute2-tni-device", [43806, 43818], [20, 25.872], 1448),
        ("iproute2-tanip-ipv6", [5201, 5201], [30.199, 20], 1428),
    ],
)
def test_a_connection_that_ss_prints_in_two_lines(name, ports, rtts_ms, mss):
    """Without -O; -o, -m, -p and -e add timers, memory, processes and more; -a listening ones."""
    text = (DATA / f"ss/{name}.txt").read_text()
    table = read_ss(text).windows
    six = "ipv6" in name
    assert set(table.source) == {"fd00::2" if six else "10.0.0.1"}
    assert set(table.destination) <= {"fd00::1", "10.0.0.2", "10.0.0.3"}
    assert table.source_port.tolist() == ports and (table.mss_bytes == mss).all()
    assert np.allclose(table.srtt_s * 1e3, rtts_ms) and (table.cwnd >= 10).all()
    if not six:
        assert (table.destination_port == 5201).all()
    # as one line; with its indentation lost; as two looks
    lines = text.splitlines()
    one_line = "\n".join(lines).replace("\n\t", " ")
    for other in (one_line, "\n".join(map(str.strip, lines))):
        assert read_ss(other).windows.equals(table)
    twice = read_ss(f"at 5.0\n{text}\nat 5.5\n{text}").windows
    assert twice.time_s.tolist() == [0] * len(table) + [0.5] * len(table)
    assert twice.source_port.tolist() == 2 * ports


def test_a_connection_with_names_of_ports_is_told_and_gives_no_other_its_window():
    text = (DATA / "ss/odd/typed-tin.txt").read_text()
    with pytest.warns(ReadWarning, match="10.0.0.3:iperf3 .*no numbers of ports"):
        table = read_ss(text.replace("10.0.0.3:5201", "10.0.0.3:iperf3")).windows
    assert table.source_port.tolist() == [40000] and table.cwnd.tolist() == [10]
    # what has no window takes none from its neighbour
    text = text.replace("wscale:9,9 rto:220", "", 1).replace("cwnd:10", "", 1)
    text = text.replace("10.0.0.3:5201", "10.0.0.3:iperf3")
    with pytest.raises(ReadError, match="ss with -i"):
        read_ss(text)


def test_connections_without_windows_ask_for_i():
    text = (DATA / "ss/odd/typed-tin.txt").read_text()
    ends = "\n".join(line for line in text.splitlines() if not line.startswith("\t"))
    with pytest.raises(ReadError, match="ss with -i"):
        read_ss(ends)


def test_the_text_of_tc_is_named():
    text = (DATA / "tc/broken/typed-text.txt").read_text()
    for broken in (text, f"at 17.5\n{text}"):
        with pytest.raises(ReadError, match="without -j: run tc -s -j qdisc show"):
            read_tc(broken)


LOOK = next(line for line in SS.read_text().splitlines() if "cwnd:" in line)


def test_a_single_look_without_its_time():
    assert read_ss(LOOK).windows.time_s.map(math.isnan).tolist() == [True]
    queues = read_tc(TC.read_text().splitlines()[1]).queues
    assert queues.time_s.map(math.isnan).tolist() == [True, True]


@pytest.mark.parametrize("end", ["cwnd:many", "cwnd:" + "9" * 5000, "", "lastcwnd:10"])
def test_a_connection_without_a_window_is_left_out(end):
    assert len(read_ss(f"{LOOK}\n{LOOK.partition('cwnd:')[0]}{end}\n").windows) == 1


BROKEN_WINDOWS = ["", "State Recv-Q Send-Q", "[]", W_HEAD[:-30], W_TOLD[:-30]]
BROKEN_WINDOWS += [W_TOLD[:-1] + ",1\n", W_HEAD + W_SECOND + W_FIRST]
BROKEN_WINDOWS += [
    W_TOLD.replace(was, becomes)
    for was, becomes in [
        (",open,", ",opened,"),
        *((",10,,8", f",{cwnd},,8") for cwnd in ("0", "-3", "many", "")),
        *(("0.100000000", time) for time in ("never", "")),
        ("4000", "port"),
        (",ack,", ",sent,"),
        (",1448,0.020100,0", ",1448,nan,0"),
        ("0.020100", "-0.02"),
        ("state", "stat"),
    ]
]
TC_TEXT = TC.read_text()
BROKEN_QUEUES = ["", "at 1700000002.1\n", "[]", "qdisc tbf 2: parent 1:", "[" * 100_000]
BROKEN_QUEUES += ['{"handle": 3}', "[3]", Q_HEAD[:-20], Q_TOLD[:-20], Q_HEAD + Q_SECOND + Q_FIRST]
BROKEN_QUEUES += [TC_TEXT[:-40], TC_TEXT.replace('"qlen"', '"len"')]
BROKEN_QUEUES += [TC_TEXT.replace('"drops":0', f'"drops":{x}', 1) for x in ('"none"', "-1")]
BROKEN_QUEUES += [Q_TOLD.replace(",10,15140", f",{x},15140") for x in ("-1", "ten", "", "1.5")]
BROKEN_QUEUES += [Q_TOLD.replace("0.100000000", ""), Q_TOLD.replace("bytes", "octets")]


@pytest.mark.parametrize(
    ("read", "texts"), [(read_windows, BROKEN_WINDOWS), (read_queues, BROKEN_QUEUES)]
)
def test_what_cannot_be_read_is_refused_and_kept(read, texts):
    for broken in texts:
        with pytest.raises(ReadError) as refused:
            read(broken)
        assert refused.value.raw == broken
