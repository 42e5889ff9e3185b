"""Texts with queues: a guest's own, those of a real tc, and texts that are neither."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from netlab import ReadError
from netlab.readers.queues import COLUMNS, read_queues, read_tc

REAL = Path(__file__).parents[1] / "data/tc/iproute2-tbf-netem.txt"
HEAD = "time_s,interface,handle,packets,bytes,drops,overlimits\n"
FIRST = "0.100000000,s1-eth2,2:,10,15140,0,5\n"
SECOND = "0.200000000,s1-eth2,2:,5,7570,2,9\n"
TOLD = HEAD + FIRST + SECOND


def test_what_a_guest_tells():
    table = read_queues(TOLD).queues
    assert table.columns.tolist() == COLUMNS
    assert table.packets.tolist() == [10, 5] and table.backlog_bytes.tolist() == [15140, 7570]
    assert table.drops.tolist() == [0, 2] and table.handle.tolist() == ["2:", "2:"]
    assert read_queues(HEAD).queues.empty


def test_what_a_real_tc_prints():
    """netem with tbf inside it, looked at every half second."""
    table = read_queues(REAL).queues
    assert table.equals(read_tc(REAL).queues)
    assert table.handle.tolist()[:2] == ["1:", "2:"] and set(table.handle) == {"1:", "2:"}
    assert table.time_s[0] == 0 and np.allclose(np.diff(table.time_s.unique()), 0.5, atol=0.01)
    first = json.loads(REAL.read_text().splitlines()[1])
    assert table.backlog_bytes[0] == first[0]["backlog"] and table.packets[0] == first[0]["qlen"]
    for _, one in table.groupby("handle"):
        assert one.drops.is_monotonic_increasing
    assert table.drops.max() > 300


def test_a_single_look_without_its_time():
    line = REAL.read_text().splitlines()[1]
    table = read_tc(line).queues
    assert len(table) == 2 and table.time_s.map(math.isnan).all()


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "at 1700000002.1\n",
        "[]",
        "qdisc tbf 2: parent 1:",
        "[" * 100_000,
        REAL.read_text()[:-40],
        REAL.read_text().replace('"qlen"', '"len"'),
        REAL.read_text().replace('"drops":0', '"drops":"none"', 1),
        REAL.read_text().replace('"drops":0', '"drops":-1', 1),
        '{"handle": 3}',
        "[3]",
        HEAD[:-20],
        TOLD[:-20],
        HEAD + SECOND + FIRST,
        TOLD.replace(",10,15140", ",-1,15140"),
        TOLD.replace(",10,15140", ",ten,15140"),
        TOLD.replace(",10,15140", ",,15140"),
        TOLD.replace(",10,15140", ",1.5,15140"),
        TOLD.replace("0.100000000", ""),
        TOLD.replace("bytes", "octets"),
    ],
)
def test_what_cannot_be_read_is_refused_and_kept(broken):
    with pytest.raises(ReadError) as refused:
        read_queues(broken)
    assert refused.value.raw == broken
