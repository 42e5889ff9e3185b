"""read_simpleperf, on real output (tests/data/simpleperf), broken output, and output that was
written from known numbers.
"""

import argparse
import itertools
import math
import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pytest import approx

from netlab import simpleperf
from netlab.errors import ReadError
from netlab.readers import read_simpleperf
from tests.readers import mutations

DATA = Path(__file__).parents[1] / "data" / "simpleperf"
WHOLE = sorted(DATA.glob("*.txt"))
NAMES = sorted({path.stem.partition("-")[2] for path in DATA.glob("server-*.txt")} - {"several"})


def text(name):
    return (DATA / f"{name}.txt").read_text()


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.name)
def test_every_output_has_the_same_columns_and_its_own_side(path):
    out, plain = read_simpleperf(path), read_simpleperf(DATA / "client-plain.txt")
    assert (out.streams.dtypes == plain.streams.dtypes).all()
    assert (out.intervals.dtypes == plain.intervals.dtypes).all()
    client = path.name.startswith("client")
    assert out.meta["role"] == ("client" if client else "server")
    own, other = ("sent", "received") if client else ("received", "sent")
    assert out.streams[f"{own}_bytes"].gt(0).all() and out.streams[f"{other}_bytes"].isna().all()
    assert (out.streams.src == "10.0.0.1").all() and (out.streams.dst == "10.0.0.2").all()
    assert out.streams.congestion.notna().all() == client
    assert out.meta["mss_bytes"] == 1448 if client else math.isnan(out.meta["mss_bytes"])


@pytest.mark.parametrize("name", NAMES)
def test_both_sides_counted_the_same_bytes_of_the_same_connections(name):
    sent, received = (read_simpleperf(text(f"{side}-{name}")) for side in ("client", "server"))
    ours, theirs = sent.streams.set_index("port"), received.streams.set_index("port")
    assert ours.sent_bytes.to_dict() == theirs.received_bytes.to_dict()
    assert ours.acknowledged.all() and theirs.acknowledged.all()
    assert not (theirs.end_s.loc[ours.index] < ours.end_s - 0.03).any()  # what is sent, arrives


def test_values():
    two = read_simpleperf(text("client-intervals-2"))
    assert two.streams.stream.tolist() == [1, 2] and len(two.intervals) == 10
    assert two.streams.sent_bytes.tolist() == [5_954_000, 6_559_000]
    assert two.streams.sent_bps.tolist() == [9_382_102, 10_450_122]
    assert two.streams.end_s.tolist() == [5.077, 5.021]
    assert two.intervals.sent_bps[0] == 14_783_148 and two.intervals.end_s[0] == 1
    assert two.meta == {
        "role": "client", "server": "10.0.0.2", "port": 8088, "streams": 2, "congestion": "cubic",
        "mss_bytes": 1448, "duration_s": 5.077, "errors": [],
    }  # fmt: skip
    assert repr(two) == "SimpleperfOutput(the client's: 2 streams, 10 intervals)"
    assert read_simpleperf(text("client-reno")).meta["congestion"] == "reno"
    assert read_simpleperf(text("client-amount-kb")).streams.sent_bytes.tolist() == [2e6] * 3
    tiny = read_simpleperf(text("client-bytes")).streams
    assert tiny.sent_bytes[0] == 700 and math.isnan(tiny.sent_bps[0])  # too short to tell a rate


def test_what_surrounds_it_in_a_terminal_is_left_out():
    pasted, own = (read_simpleperf(text(f"client-{name}")) for name in ("pasted", "intervals-2"))
    assert pasted.streams.equals(own.streams) and pasted.intervals.equals(own.intervals)


def test_a_connection_that_broke_off_is_told():
    several = read_simpleperf(text("server-several"))
    assert several.streams.acknowledged.tolist() == [False, False, True]
    assert len(several.meta["errors"]) == 3 and "without BYE" in several.meta["errors"][0]
    assert several.streams.received_bytes.tolist() == [4_324_728, 4_734_512, 5_061_000]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("refused", "Nothing was sent .*simpleperf: cannot connect to 10.0.0.2, port 8088: Conn"),
        ("in-use", "^simpleperf: cannot listen on 10.0.0.2, port 8088: Address already in use"),
        ("options", "^simpleperf: error: argument -P/--parallel: '0': a whole number from 1"),
        ("running", "cut off: it has no total for 10.0.0.1:[0-9]+, 10.0.0.1:[0-9]+. Give"),
    ],
)
def test_it_says_why_a_test_failed(name, words):
    mutations.refused(read_simpleperf, text(f"broken/{name}"), words)


TWO, PLAIN = text("client-intervals-2"), text("client-plain")


@pytest.mark.parametrize(
    ("whole", "was", "becomes", "words"),
    [
        *(
            (PLAIN, was, becomes, "no such line")
            for was, becomes in [
                ("total (ACK: BYE)", "total (BYE)"),
                ("total (ACK: BYE)", "total (ACK"),
                *(("19.529646", rate) for rate in ("29.529646", "-", "nan")),
                *(("12.359000 MB", size) for size in ("12.359 MB", "12.359000 KB")),
                *(("0.000 - 5.063", times) for times in ("0.000 - 4.063", "5.063 - 0.000")),
                ("Transfer ", "Received "),
            ]
        ),
        (PLAIN, "(cubic, segments of 1448 bytes)", "", "cannot be in a client's output"),
        (PLAIN, "with 10.0.0.2:8088", "with 10.0.0.3:8088", "does not fit its title"),
        (PLAIN, "with 10.0.0.2:8088", "with 10.0.0.2:808", "does not fit its title"),
        (PLAIN, "A simpleperf client", "A simple client", "not one output of simpleperf, but none"),
        (TWO, "1.369000 MB      10.952000", "1.368000 MB      10.944000", "do not add up"),
        (TWO, "2.000 - 3.000 s", "2.000 - 3.001 s", "do not add up"),
        (TWO, "A simpleperf", PLAIN + "A simpleperf", "not one output of simpleperf, but 2"),
    ],
)
def test_what_cannot_be_is_refused(whole, was, becomes, words):
    broken = whole.replace(was, becomes, 1)
    assert was in whole
    mutations.refused(read_simpleperf, broken, words)


def test_other_units_and_ports_are_read():
    kilobytes = PLAIN.replace("12.359000 MB", "12359.000 KB")
    assert read_simpleperf(kilobytes).streams.sent_bytes[0] == 12_359_000
    assert read_simpleperf(TWO.replace("36204", "36205")).streams.sent_bytes[0] == 5_954_000


@pytest.mark.parametrize("name", ["client-intervals-2", "client-plain", "server-amount-kb"])
def test_a_line_that_is_missing_or_twice_is_noticed_unless_it_is_a_rule(name):
    lines = text(name).splitlines(keepends=True)
    whole = read_simpleperf(text(name))
    for n, line in enumerate(lines):
        for changed in (lines[:n] + lines[n + 1 :], lines[: n + 1] + lines[n:]):
            if line.startswith(("---", "ID ")):
                out = read_simpleperf("".join(changed))
                assert out.streams.equals(whole.streams) and out.intervals.equals(whole.intervals)
            else:
                mutations.refused(read_simpleperf, "".join(changed))


@given(st.sampled_from([path.read_text().rstrip() for path in WHOLE]), st.floats(0, 1))
def test_an_output_cut_anywhere_is_refused_or_a_server_s_first_clients(whole, where):
    part = whole[: int(where * len(whole))]
    try:
        out = read_simpleperf(part)
    except ReadError as error:
        assert error.raw == part
        return
    all_of_it = read_simpleperf(whole)
    assert out.streams.equals(all_of_it.streams[: len(out.streams)])
    if len(out.streams) < len(all_of_it.streams):
        assert out.meta["role"] == "server"  # a client's connections are named before its totals


lengths = st.lists(st.floats(1e-6, 1e5), min_size=1, max_size=5)
connections = st.tuples(lengths, st.integers(0, 10**12), st.booleans())


@given(
    st.sampled_from(["client", "server"]),
    st.sampled_from([*simpleperf.UNITS]),
    st.lists(connections, min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
def test_what_simpleperf_writes_is_what_is_read(role, unit, given_ones, rng):
    options = argparse.Namespace(format=unit, timeout=1, interval=1)
    title, words, good, tail = {
        "client": (
            *("client connecting to server 10.0.0.2,", ("Transfer", "Bandwidth"), "ACK: BYE"),
            " (cubic, segments of 1448 bytes)",
        ),
        "server": ("server is listening on", ("Received", "Rate"), "BYE", ""),
    }[role]
    printed = [simpleperf.headline(f"A simpleperf {title} port 8088", *words)]
    texts, names = [], []
    for number, (lengths_s, count, fine) in enumerate(given_ones):
        one = simpleperf.Connection.__new__(simpleperf.Connection)
        one.options, one.name = options, f"10.0.0.1:{40000 + number}"
        printed.append(f"{one.name} connected with 10.0.0.2:8088{tail}")
        edges, left = [0.0, *itertools.accumulate(lengths_s)], count
        texts.append([])
        for start_s, end_s in itertools.pairwise(edges):
            part = left if end_s == edges[-1] else rng.randint(0, left)
            texts[-1].append(one.row(start_s, end_s, part))
            left -= part
        texts[-1].append(one.row(0.0, edges[-1], count, f"  total ({'' if fine else 'no '}{good})"))
        names.append(one.name)
    while queues := [own for own in texts if own]:  # lines of connections mix
        printed.append(rng.choice(queues).pop(0))
    whole = "\n".join(printed) + "\n"
    # rates have ten digits before the point at most
    assume(not re.search(r"\d{10}\.\d{6} Mbps", whole))
    out = read_simpleperf(whole)
    assert len(out.streams) == len(names) and out.meta["role"] == role
    way = "sent" if role == "client" else "received"
    for row, name, (lengths_s, count, fine) in zip(
        out.streams.to_dict("records"), names, given_ones, strict=True
    ):
        edges = [*itertools.accumulate(lengths_s)]
        assert f"{row['src']}:{row['port']}" == name and row["acknowledged"] == fine
        assert row[f"{way}_bytes"] == count and row["end_s"] == approx(edges[-1], abs=6e-4)
        if edges[-1] >= 0.001:
            assert row[f"{way}_bps"] == approx(8 * count / edges[-1], abs=0.6, rel=1e-12)
        parts = out.intervals[out.intervals.stream == row["stream"]]
        assert parts.end_s.tolist() == approx(edges, abs=6e-4)
