"""Texts with windows: a guest's own, those of a real ss, and texts that are neither."""

import math
from pathlib import Path

import numpy as np
import pytest

from netlab import ReadError
from netlab.readers.windows import COLUMNS, STATES, read_ss, read_windows

REAL = Path(__file__).parents[1] / "data/ss/iproute2-reno-2.txt"
HEAD = (
    "time_s,source,source_port,destination,destination_port,event,state,cwnd,ssthresh,in_flight,"
    "mss_bytes,srtt_s,retransmitted\n"
)
FIRST = "0.100000000,10.0.0.1,4000,10.0.0.2,5201,ack,open,10,,8,1448,0.020100,0\n"
SECOND = "0.200000000,10.0.0.1,4000,10.0.0.2,5201,timeout,loss,1,5,1,1448,0.020100,3\n"
TOLD = HEAD + FIRST + SECOND


def test_what_a_guest_tells():
    table = read_windows(TOLD).windows
    assert table.columns.tolist() == COLUMNS and len(table) == 2
    assert table.cwnd.tolist() == [10, 1] and math.isnan(table.ssthresh[0])
    assert table.timeout.tolist() == [False, True] and table.state.tolist() == ["open", "loss"]
    assert table.retransmits.tolist() == [0, 3] and table.time_s.tolist() == [0.1, 0.2]


def test_a_guest_that_has_told_nothing():
    assert read_windows(HEAD).windows.columns.tolist() == COLUMNS
    assert read_windows(HEAD).windows.empty


def test_what_a_real_ss_prints():
    """Two Reno streams and iperf3's control connection, looked at every half second."""
    table = read_windows(REAL).windows
    assert table.equals(read_ss(REAL).windows) and table.columns.tolist() == COLUMNS
    looks = REAL.read_text().count("at ")
    assert table.time_s[0] == pytest.approx(0.5, abs=0.01)  # the first look found no connection
    assert table.time_s.nunique() == looks - 1 >= 4
    assert np.allclose(np.diff(table.time_s.unique()), 0.5, atol=0.01)
    assert table.source_port.nunique() == 3 and (table.source == "10.0.0.1").all()
    assert (table.destination_port == 5201).all() and (table.mss_bytes == 1448).all()
    data = table[table.source_port != table.source_port[0]]
    assert data.ssthresh.notna().all() and (data.retransmits > 0).all()
    assert data.srtt_s.between(0.02, 0.06).all() and (data.in_flight <= data.cwnd + 3).all()
    first = REAL.read_text().splitlines()[3]
    assert "cwnd:161 ssthresh:158" in first and "unacked:157" in first
    assert table.iloc[1][["cwnd", "ssthresh", "in_flight"]].tolist() == [161, 158, 157]
    assert table.state.isna().all() and table.timeout.isna().all()  # ss does not know them


def test_a_single_look_without_its_time():
    line = next(line for line in REAL.read_text().splitlines() if "cwnd:" in line)
    table = read_ss(line).windows
    assert len(table) == 1 and math.isnan(table.time_s[0])


def test_looks_that_found_no_connection():
    assert read_ss("at 1700000002.1\nat 1700000002.6\n").windows.empty


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "State Recv-Q Send-Q",
        "[]",
        HEAD[:-30],
        TOLD[:-30],
        TOLD[:-1] + ",1\n",
        HEAD + SECOND + FIRST,
        TOLD.replace(",open,", ",opened,"),
        TOLD.replace(",10,,8", ",0,,8"),
        TOLD.replace(",10,,8", ",-3,,8"),
        TOLD.replace(",10,,8", ",many,,8"),
        TOLD.replace(",10,,8", ",,,8"),
        TOLD.replace("0.100000000", "never"),
        TOLD.replace("0.100000000", ""),
        TOLD.replace("4000", "port"),
        TOLD.replace(",ack,", ",sent,"),
        TOLD.replace(",1448,0.020100,0", ",1448,nan,0"),
        TOLD.replace("0.020100", "-0.02"),
        TOLD.replace("state", "stat"),
    ],
)
def test_what_cannot_be_read_is_refused_and_kept(broken):
    with pytest.raises(ReadError) as refused:
        read_windows(broken)
    assert refused.value.raw == broken


def test_every_state_of_the_kernel_can_be_read():
    for state in STATES:
        assert read_windows(TOLD.replace(",open,", f",{state},")).windows.state[0] == state


@pytest.mark.parametrize("end", ["cwnd:many", "cwnd:" + "9" * 5000, "", "lastcwnd:10"])
def test_a_connection_without_a_window_is_left_out(end):
    line = next(line for line in REAL.read_text().splitlines() if "cwnd:" in line)
    table = read_ss(f"{line}\n{line.partition('cwnd:')[0]}{end}\n").windows
    assert len(table) == 1
