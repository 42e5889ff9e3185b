"""read_ping, on real output of many versions (tests/data/ping), broken output, and output cut at
every place.
"""

import math
import re
import statistics
import tracemalloc
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from netlab.errors import ReadError, ReadWarning
from netlab.readers import ping as reader
from netlab.readers import read_ping
from tests.readers import mutations

DATA = Path(__file__).parents[1] / "data" / "ping"
PINGS = sorted(DATA.glob("*.txt"))
HEAD = "PING h (10.0.0.2) 56(84) bytes of data.\n"


def text(name):
    return (DATA / f"{name}.txt").read_text()


def ping(name):
    return read_ping(DATA / f"{name}.txt")


@pytest.mark.parametrize("name", [path.stem for path in PINGS])
def test_every_ping_agrees_with_its_statistics(name):
    out, sure = mutations.read("ping", text(name))
    pings, meta = out.pings, out.meta
    assert sure
    mutations.check("ping", out, sure)
    assert list(pings) == ["seq", "rtt_s", "ttl", "dst"]
    assert (pings.dtypes == ping("iputils-20221126-plain").pings.dtypes).all()
    if "quiet" in name:
        assert pings.empty and meta["received"] == 3 and meta["rtt_avg_s"] > 0
        return
    assert len(pings) == meta["transmitted"] and (pings.dst == meta["dst"]).all()
    assert meta["loss"] == pings.ttl.isna().mean()
    if not meta["duplicates"]:  # ping averages those too
        for of, rtt_s in pings.rtt_s.agg(["min", "mean", "max"]).items():
            printed = meta[f"rtt_{of.replace('mean', 'avg')}_s"]
            assert printed == approx(rtt_s, abs=1.1e-6, nan_ok=True)


def test_values():
    lossy = ping("iputils-20221126-lossy")
    assert list(lossy.pings.seq) == list(range(1, 9)) and lossy.meta["loss"] == 0.5
    lost = [n in (2, 3, 7, 8) for n in range(1, 9)]
    assert list(lossy.pings.rtt_s.isna()) == list(lossy.pings.ttl.isna()) == lost
    busybox = ping("busybox-1.35-lossy")
    assert busybox.meta["loss"] == 3 / 8 and busybox.pings.seq[0] == 0
    twice, busy = ping("iputils-20221126-dup"), ping("busybox-1.35-dup")
    assert twice.pings.rtt_s[1] == 0.000215  # the first of two answers
    assert twice.meta["duplicates"] == busy.meta["duplicates"] == 7
    unreachable = ping("iputils-20221126-unreachable")
    assert unreachable.meta["loss"] == 1 and unreachable.pings.rtt_s.isna().all()
    assert math.isnan(unreachable.meta["rtt_avg_s"]) and unreachable.meta["duration_s"] == 2.045
    assert repr(unreachable) == "PingOutput(10.0.0.99: 0 of 3, mean nan ms)"
    for name, dst in (("20221126-name", "127.0.0.1"), ("20221126-ipv6", "::1")):
        assert ping(f"iputils-{name}").meta["dst"] == dst
    assert ping("iputils-20250605-ipv6").meta["dst"] == "::1"
    assert ping("iputils-20221126-tiny").pings.rtt_s.isna().all()  # no room for a time in 8 bytes


@pytest.mark.parametrize("path", sorted((DATA / "broken").iterdir()), ids=lambda path: path.name)
def test_it_says_why_it_failed(path):
    why = r"ping says: (connect: Network is unreachable|nosuch\.invalid: )"
    mutations.refused(read_ping, path, why)


ODD = {  # what a warning says of it, what it is refused as, or None
    "freebsd-12-ping6-pattern": None,
    "iputils-20101006-icmp-req": None,
    "iputils-20190709-two-statistics": "2 lines of statistics: the last",
    "iputils-20210202-an-answer-lost-from-the-file": "3 answers .* but 2 and 0 are here",
    "iputils-20210202-killed": "no statistics.*transmitted = 5",
    "iputils-20211215-killed-with-time-stamps": "no statistics.*transmitted = 3",
    "iputils-20211215-no-name": None,
    "iputils-s20180629-carried": None,
    "macos-13-ping6": None,
    "macos-13-unreachable": None,
    "refused-empty": "is empty",
    "refused-nothing-received-or-said": "no answers and no statistics",
    "refused-router": "router's ping",
    "refused-router-sros": "router's ping",
    "refused-two-pings": "2 pings.*split_outputs",
    "refused-windows-10": "Windows' ping",
    "refused-windows-10-german": "Windows' ping",
}


@pytest.mark.parametrize("path", sorted((DATA / "odd").iterdir()), ids=lambda path: path.name)
def test_what_pings_print_elsewhere_is_read_or_named(path):
    words = ODD[path.stem]
    if path.stem.startswith("refused"):
        mutations.refused(read_ping, path, words)
        return
    if words:
        out = mutations.warned(read_ping, path, words)
    else:
        out, sure = mutations.read("ping", path.read_text())
        assert sure
    assert out.meta["dst"] in ("10.7.0.2", "10.7.0.9", "fd00::9", "::1")
    assert out.pings.seq.tolist() == [*range(out.pings.seq[0], out.pings.seq.iloc[-1] + 1)]


def test_odd_values():
    assert ping("odd/iputils-s20180629-carried").pings.rtt_s.tolist() == [0.0435, 0.042, 0.0442]
    unreachable = ping("odd/macos-13-unreachable").pings
    assert unreachable.seq.tolist() == [0, 1, 2] and unreachable.rtt_s.notna().tolist()[2]
    killed = mutations.warned(read_ping, text("odd/iputils-20210202-killed"), "no statistics")
    assert killed.meta["loss"] == 0.4 and math.isnan(killed.meta["rtt_avg_s"])
    assert killed.pings.rtt_s.isna().tolist() == [False, False, True, True, False]


def answers(count):
    line = "64 bytes from h: icmp_seq={} ttl=64 time=1.00 ms\n"
    return HEAD + "".join(line.format(n % 65536) for n in range(1, count + 1))


def test_a_ping_of_a_day_counts_on_where_ping_begins_anew():
    ends = "66000 packets transmitted, 66000 received, 0% packet loss, time 1ms\n"
    ends += "rtt min/avg/max/mdev = 1.000/1.000/1.000/0.000 ms\n"
    out = read_ping(answers(66000) + ends)
    assert out.pings.seq.tolist() == [*range(1, 66001)] and out.pings.rtt_s.notna().all()


def test_each_answer_is_compared_with_the_last_and_not_with_all(monkeypatch):
    looked_at = 0

    def largest(*values, **how):
        nonlocal looked_at
        looked_at += len(values[0]) if len(values) == 1 else 1
        return max(*values, **how)

    monkeypatch.setattr(reader, "max", largest, raising=False)
    mutations.warned(read_ping, answers(33000), "no statistics")
    assert looked_at < 10 * 33000


PLAIN, DUPLICATES, QUIET = (text(f"iputils-20221126-{name}") for name in ("plain", "dup", "quiet"))
BUSYBOX, ALL_LOST = text("busybox-1.35-plain"), text("iputils-20221126-all-lost")


def test_a_killed_ping_that_counts_from_0_has_all_its_probes():
    killed = PLAIN.partition("\n---")[0].replace("icmp_seq=3", "icmp_seq=0")
    out = mutations.warned(read_ping, killed, "transmitted = 3")
    assert out.pings.seq.tolist() == [0, 1, 2] and out.meta["loss"] == 0


@pytest.mark.parametrize(
    "name", ["iputils-20221126-lossy", "iputils-20221126-unreachable", "busybox-1.35-plain"]
)
def test_a_ping_whose_lines_a_shell_has_joined(name):
    whole, joined = ping(name), read_ping(" ".join(text(name).split()) + "\n")
    assert joined.pings.equals(whole.pings) and str(joined.meta) == str(whole.meta)


@pytest.mark.parametrize(
    ("text", "was", "becomes", "words"),
    [
        *(
            (PLAIN, "time=0.059", f"time={wrong}", "is no answer")
            for wrong in ("1.2.3", "-0.059", "nan", "9" * 400, "٣")
        ),
        (PLAIN, " time=0.059 ms", "", "has no time"),
        (PLAIN, "ttl=64", "ttl=640", "ttl in .* 0 to 255: NaN"),
        (PLAIN, "icmp_seq=2", "icmp_seq=70000", "is no answer"),
        (PLAIN, "icmp_seq=1", "icmp_seq=0", "seq is 0 to 3 in 3 probes"),
        (PLAIN, "icmp_seq=3", "icmp_seq=9", "seq is 1 to 9 in 3 probes"),
        (PLAIN, "icmp_seq=2", "icmp_seq=1", "but 2 and 1 are here"),
        (PLAIN, "64 bytes", "6x bytes", "but 2 and 0 are here"),
        (PLAIN, "3 packets", "9" * 5000 + " packets", "no statistics"),
        (PLAIN, "3 received", "4 received", "received = 4 of 3 transmitted: 3 is taken"),
        (PLAIN, "3 received", "1 received", "1 answers to 3 probes"),
        (PLAIN, "0% packet", "50% packet", "packet loss = 50 %, but 3 of 3"),
        (DUPLICATES, "+7 duplicates", "+6 duplicates", "and 6 duplicates, but 8 and 7"),
        *(
            (text, was, becomes, "not those of its answers")
            for text, was, becomes in [
                (PLAIN, "time=0.059", "time=0.099"),
                (PLAIN, "= 0.031/", "= 0.021/"),
                (PLAIN, "/0.054/", "/0.064/"),
                (PLAIN, "/0.074/", "/0.094/"),
                (PLAIN, "/0.017", "/0.9"),
                (BUSYBOX, "= 0.044/", "= 0.074/"),
                (DUPLICATES, "time=28.0 ms (DUP!)", "time=48.0 ms (DUP!)"),
                (QUIET, "/0.060/", "/0.080/"),
                (QUIET, "/0.013", "/0.5"),
            ]
        ),
    ],
)
def test_what_contradicts_is_one_warning_that_names_it(text, was, becomes, words):
    assert was in text
    mutations.warned(read_ping, text.replace(was, becomes, 1), words)


def test_long_times_have_few_digits():
    """ping prints 100 ms and more without decimals, and cuts them off."""
    text = PLAIN.replace("0.031/0.054/0.074/0.017", "100.912/482.601/1001.001/380.221")
    for short, long in (("0.031", "100"), ("0.059", "345"), ("0.074", "1001")):
        text = text.replace(f"time={short}", f"time={long}")
    assert read_ping(text).pings.rtt_s.tolist() == [0.1, 0.345, 1.001]


@pytest.mark.parametrize("text", [PLAIN, ALL_LOST])
def test_a_large_count_takes_no_memory(text):
    counted = re.sub(r"\d+ packets transmitted", "10000000 packets transmitted", text)
    counted = re.sub(r"\d+% packet loss", "100% packet loss", counted)
    tracemalloc.start()
    assert len(mutations.warned(read_ping, counted, "transmitted = 10000000").pings) < 10
    assert tracemalloc.get_traced_memory()[1] < 10e6
    tracemalloc.stop()


WHOLE = [path.read_text().rstrip() for path in PINGS if "unreachable" not in path.name]


@given(st.sampled_from(WHOLE), st.floats(0, 1, exclude_max=True))
def test_a_ping_cut_anywhere_is_refused_or_has_the_answers_until_then(text, where):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            own = read_ping(text[: int(where * len(text))]).pings.set_index("seq")
        except ReadError:
            return
        assert told and told[0].category is ReadWarning
        whole = read_ping(text).pings.set_index("seq")
    there = own.dropna()
    assert own.equals(whole.reindex(own.index)) or there.equals(whole.loc[there.index])


@given(st.lists(st.none() | st.integers(1, 10**7), min_size=1, max_size=30), st.integers(1, 255))
def test_round_trip(microseconds, ttl):
    rtts_s, sent = [us and us / 1e6 for us in microseconds], len(microseconds)
    got = [rtt_s for rtt_s in rtts_s if rtt_s]
    loss, line = 100 * (1 - len(got) / sent), "64 bytes from h: icmp_seq={} ttl={} time={:.3f} ms\n"
    text = HEAD + "".join(line.format(n, ttl, 1e3 * s) for n, s in enumerate(rtts_s, 1) if s)
    text += f"\n--- h ping statistics ---\n{sent} packets transmitted, {len(got)} received, "
    text += f"{loss:g}% packet loss, time {1000 * sent}ms\n"
    if got:
        of = (min(got), sum(got) / len(got), max(got), statistics.pstdev(got))
        text += "rtt min/avg/max/mdev = {:.3f}/{:.3f}/{:.3f}/{:.3f} ms\n".format(
            *(1e3 * rtt for rtt in of)
        )
    out = read_ping(text)
    assert [None if math.isnan(rtt) else rtt for rtt in out.pings.rtt_s] == rtts_s
    assert set(out.pings.ttl.dropna()) <= {ttl} and out.meta["duration_s"] == sent
    assert out.meta["loss"] == approx(loss / 100)
    assert out.meta["rtt_max_s"] == approx(max(got, default=math.nan), nan_ok=True)
