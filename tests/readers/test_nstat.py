"""Counters of a real kernel, and of texts that are none."""

import json
import math
from pathlib import Path

import pytest

from netlab import ReadError
from netlab.readers import read_nstat
from tests.readers import mutations

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
    found = COUNTS["TcpExtTCPSackRecovery"], COUNTS["TcpExtTCPLossProbeRecovery"]
    assert found == (54, 1) and read.halvings == 55
    assert read.halving_rate == 55 / COUNTS["TcpOutSegs"] == pytest.approx(0.01, rel=0.3)


def test_every_kind_of_reduction_counts_and_what_was_taken_back_does_not():
    nothing = dict.fromkeys(COUNTS, 0)
    kinds = {"SackRecovery": 8, "RenoRecovery": 4, "LossProbeRecovery": 2, "Timeouts": 1}
    kinds |= {"FullUndo": 1, "DSACKUndo": 1, "LossUndo": 1}
    counts = nothing | {"TcpOutSegs": 100} | {f"TcpExtTCP{k}": n for k, n in kinds.items()}
    assert read_nstat(text(**counts)).halvings == 15 - 3
    assert math.isnan(read_nstat(text(**nothing)).halving_rate)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("", "not what `nstat"),
        (REAL.read_text()[:-40], "not what `nstat"),
        ("[]", "not what `nstat"),
        ('{"kernel": 3}', "not what `nstat"),
        ("TcpOutSegs    6473    0.0", "not what `nstat.*Run nstat with -j"),
        (REAL.parent / "broken/typed-plain.txt", "nstat's text. Run nstat with -j"),
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
    mutations.refused(read_nstat, broken, words)


def test_counters_that_stand_twice_are_read_once():
    twice = REAL.read_text().rstrip() + "\n" + REAL.read_text()
    assert mutations.warned(read_nstat, twice, "stands here twice").counts == COUNTS


def test_of_two_values_under_one_name_the_last_is_taken():
    twice = text().replace("{", '{"kernel": 1,', 1)
    assert mutations.warned(read_nstat, twice, "kernel stands twice").counts == COUNTS


def test_a_counter_does_not_fall_but_octets_wrap_around():
    before, later = read_nstat(REAL), read_nstat(text(TcpRetransSegs=70))
    assert later.since(before).counts["TcpRetransSegs"] == 4
    with pytest.raises(ReadError, match=r"TcpRetransSegs fell from 70 to 66.*one host"):
        before.since(later)
    # as recorded: 3,265,371,547 octets, then, after 3,191,194,226 more, 2,161,598,477
    before, after = (read_nstat(text(IpExtOutOctets=n)) for n in (3_265_371_547, 2_161_598_477))
    assert after.since(before).counts["IpExtOutOctets"] == 3_191_194_226
