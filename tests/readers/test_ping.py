"""read_ping, on real output of many versions (tests/data/ping), broken output, and output cut at
every place.
"""

import math
import statistics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.errors import ReadError
from netlab.readers import read_ping

DATA = Path(__file__).parents[1] / "data" / "ping"
PINGS = sorted(DATA.glob("*.txt"))


def ping(name):
    return read_ping(DATA / f"{name}.txt")


def names(path):
    return path.name


@pytest.mark.parametrize("path", PINGS, ids=names)
def test_every_ping_agrees_with_its_statistics(path):
    out = read_ping(path)
    assert list(out.pings) == ["seq", "rtt_s", "ttl", "dst"]
    assert (out.pings.dtypes == ping("iputils-20221126-plain").pings.dtypes).all()
    if "quiet" in path.name:
        assert out.pings.empty and out.meta["received"] == 3 and out.meta["rtt_avg_s"] > 0
        return
    assert len(out.pings) == out.meta["transmitted"] and (out.pings.dst == out.meta["dst"]).all()
    assert out.pings.ttl.notna().sum() == out.meta["received"]
    assert out.meta["loss"] == out.pings.ttl.isna().mean()
    if not out.meta["duplicates"]:  # ping averages those too
        for column, of in {"rtt_min_s": "min", "rtt_avg_s": "mean", "rtt_max_s": "max"}.items():
            assert out.meta[column] == pytest.approx(
                getattr(out.pings.rtt_s, of)(), abs=1.1e-6, nan_ok=True
            )


def test_ping_values():
    lossy = ping("iputils-20221126-lossy")
    assert list(lossy.pings.seq) == list(range(1, 9)) and lossy.meta["loss"] == 0.5
    assert (
        list(lossy.pings.rtt_s.isna())
        == list(lossy.pings.ttl.isna())
        == [n in (2, 3, 7, 8) for n in range(1, 9)]
    )
    assert (
        ping("busybox-1.35-lossy").meta["loss"] == 3 / 8
        and ping("busybox-1.35-lossy").pings.seq[0] == 0
    )
    assert ping("iputils-20221126-dup").pings.rtt_s[1] == 0.000215  # the first of two answers
    assert (
        ping("iputils-20221126-dup").meta["duplicates"]
        == ping("busybox-1.35-dup").meta["duplicates"]
        == 7
    )
    unreachable = ping("iputils-20221126-unreachable")
    assert unreachable.meta["loss"] == 1 and unreachable.pings.rtt_s.isna().all()
    assert math.isnan(unreachable.meta["rtt_avg_s"]) and unreachable.meta["duration_s"] == 2.045
    assert ping("iputils-20221126-name").meta["dst"] == "127.0.0.1"
    assert (
        ping("iputils-20221126-ipv6").meta["dst"]
        == ping("iputils-20250605-ipv6").meta["dst"]
        == "::1"
    )
    assert ping("iputils-20221126-tiny").pings.rtt_s.isna().all()  # no room for a time in 8 bytes
    assert repr(unreachable) == "PingOutput(10.0.0.99: 0 of 3, mean nan ms)"


@pytest.mark.parametrize("path", sorted((DATA / "broken").iterdir()), ids=names)
def test_ping_says_why_it_failed(path):
    with pytest.raises(
        ReadError, match=r"ping says: (connect: Network is unreachable|nosuch\.invalid: )"
    ) as caught:
        read_ping(path)
    assert caught.value.raw == path.read_text()


def test_answers_must_match_the_count():
    text = (DATA / "iputils-20221126-plain.txt").read_text()
    for broken in (
        text.replace("64 bytes", "6x bytes", 1),
        text.replace("icmp_seq=3", "icmp_seq=9"),
        text + text,
    ):
        with pytest.raises(ReadError, match=r"answers to 3 probes|no such answer|of one ping"):
            read_ping(broken)


@given(
    st.sampled_from(
        [path.read_text().rstrip() for path in PINGS if "unreachable" not in path.name]
    ),
    st.floats(0, 1, exclude_max=True),
)
def test_a_ping_cut_anywhere_is_refused(text, where):
    with pytest.raises(ReadError):
        read_ping(text[: int(where * len(text))])


@given(st.text())
def test_any_other_text_is_refused(text):
    with pytest.raises(ReadError):
        read_ping(text)


@given(st.lists(st.none() | st.integers(1, 10**7), min_size=1, max_size=30), st.integers(1, 255))
def test_ping_round_trip(microseconds, ttl):
    got = [us / 1e6 for us in microseconds if us]
    text = "PING h2 (10.0.0.2) 56(84) bytes of data.\n"
    for seq, us in enumerate(microseconds, 1):
        if us:
            text += (
                f"64 bytes from h2 (10.0.0.2): icmp_seq={seq} ttl={ttl} time={us / 1e3:.3f} ms\n"
            )
    loss = 100 * (1 - len(got) / len(microseconds))
    text += (
        f"\n--- h2 ping statistics ---\n{len(microseconds)} packets transmitted, {len(got)}"
        " received, "
    )
    text += f"{loss:g}% packet loss, time {1000 * len(microseconds)}ms\n"
    if got:
        of = (min(got), sum(got) / len(got), max(got), statistics.pstdev(got))
        low, mean, high, spread = (1e3 * rtt for rtt in of)
        text += f"rtt min/avg/max/mdev = {low:.3f}/{mean:.3f}/{high:.3f}/{spread:.3f} ms\n"
    out = read_ping(text)
    assert [None if math.isnan(rtt) else rtt for rtt in out.pings.rtt_s] == [
        us and us / 1e6 for us in microseconds
    ]
    assert set(out.pings.ttl.dropna()) <= {ttl} and out.meta["duration_s"] == len(microseconds)
    assert out.meta["loss"] == pytest.approx(loss / 100)
    assert out.meta["rtt_max_s"] == (max(got) if got else pytest.approx(math.nan, nan_ok=True))
