"""Counters of a real kernel, and of texts that are none."""

import json
import math
from pathlib import Path

import pytest

from netlab import ReadError, ReadWarning
from netlab.readers import read_nstat

REAL = Path(__file__).parents[1] / "data/nstat/linux-7.2-reno-1-percent.json"
COUNTS = json.loads(REAL.read_text())["kernel"]


def text(**changes):
    return json.dumps({"kernel": COUNTS | changes})


def test_a_real_output():
    """One Reno stream, 1 % random loss, 10 s: SACK finds nearly every loss, a probe the last one,
    and a few share a window.
    """
    read = read_nstat(REAL)
    assert read.counts == COUNTS and read.counts["TcpRetransSegs"] == 66
    assert (
        read.halvings
        == 54 + 1
        == COUNTS["TcpExtTCPSackRecovery"] + COUNTS["TcpExtTCPLossProbeRecovery"]
    )
    assert read.halving_rate == read.halvings / COUNTS["TcpOutSegs"] == pytest.approx(0.01, rel=0.3)


def test_every_kind_of_reduction_counts_and_what_was_taken_back_does_not():
    nothing = {name: 0 for name in COUNTS}
    more = {
        "TcpOutSegs": 100,
        "TcpExtTCPSackRecovery": 8,
        "TcpExtTCPRenoRecovery": 4,
        "TcpExtTCPLossProbeRecovery": 2,
        "TcpExtTCPTimeouts": 1,
    }
    undone = {"TcpExtTCPFullUndo": 1, "TcpExtTCPDSACKUndo": 1, "TcpExtTCPLossUndo": 1}
    assert read_nstat(text(**nothing | more | undone)).halvings == 15 - 3
    assert math.isnan(read_nstat(text(**nothing)).halving_rate)  # nothing was sent


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("", "not what `nstat"),
        (REAL.read_text()[:-40], "not what `nstat"),
        ("[]", "not what `nstat"),
        ('{"kernel": 3}', "not what `nstat"),
        ("TcpOutSegs    6473    0.0", "not what `nstat"),
        (json.dumps({"kernel": {"TcpOutSegs": 1}}), "lacks TcpExtTCPSackRecovery"),
        ("[" * 100_000, "not what `nstat"),
        (text(TcpOutSegs="many"), "TcpOutSegs = 'many' is no whole number"),
        (text(TcpOutSegs=True), "TcpOutSegs = True is no whole number"),
        (text(TcpInSegs=-1), "TcpInSegs = -1 is no whole number from 0"),
        (text(TcpOutSegs=10**400), "TcpOutSegs = 1000.* is no whole number from 0"),
        (text(TcpOutSegs=3), "TcpOutSegs = 3, but 55 reductions"),
        (text(TcpExtTCPFullUndo=99), "but -44 reductions"),
    ],
)
def test_what_cannot_be_read_is_refused_and_kept(broken, words):
    with pytest.raises(ReadError, match=words) as refused:
        read_nstat(broken)
    assert refused.value.raw == broken


def test_of_two_values_under_one_name_the_last_is_taken():
    with pytest.warns(ReadWarning, match="kernel stands twice"):
        assert read_nstat(text().replace("{", '{"kernel": 1,', 1)).counts == read_nstat(REAL).counts


def test_a_counter_does_not_fall():
    later = read_nstat(text(TcpRetransSegs=70))
    assert later.since(read_nstat(REAL)).counts["TcpRetransSegs"] == 4
    with pytest.raises(ReadError, match=r"TcpRetransSegs fell from 70 to 66.*one host"):
        read_nstat(REAL).since(later)


def test_octets_wrap_around_in_nstat_s_json():
    """As recorded: 3,265,371,547 octets, then, after 3,191,194,226 more, 2,161,598,477."""
    before = read_nstat(text(IpExtOutOctets=3_265_371_547))
    after = read_nstat(text(IpExtOutOctets=2_161_598_477))
    assert after.since(before).counts["IpExtOutOctets"] == 3_191_194_226
