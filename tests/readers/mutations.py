"""Real outputs of the tools, damaged in every way that files are; and what must hold for each one
that is read all the same.
"""

import json
import math
import re
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from netlab.errors import ReadError, ReadWarning
from netlab.readers import read_iperf, read_iperf3, read_nstat, read_ping, read_simpleperf

DATA = Path(__file__).parents[1] / "data"
READERS = {"iperf3": read_iperf3, "iperf": read_iperf, "ping": read_ping, "nstat": read_nstat}
READERS |= {"simpleperf": read_simpleperf}
SAMPLES = {
    tool: [
        path.read_text()
        for path in sorted((DATA / tool).rglob("*"))
        if path.is_file() and path.name != "README.md"
    ]
    for tool in READERS
}

# Written in place of a value of JSON, or of a number in a text.
HOSTILE = [
    *[None, True, False, math.nan, math.inf, -math.inf, 1e308, 0, -0.0, -1, -5.5, 1, 0.5, 10**7],
    *[10**400, -(10**400), 2**63, 2**64, "", "12", "x", "\ud800", "\0", "\x1b[31m"],
    *[[], {}, [[]], {"a": []}, [1, 2]],
]
WORDS = ["1.2.3", "-5", "nan", "inf", "٣", "1e5", "-", "", "0", "0.0", "10000000", "9" * 5000]
LINES = ["h1 login:", "iperf3: error", "{}", "^C", "}", "\ud800", "\0", "\x1b[31m", "[" * 2000]


def places(value):
    """Every place in a document that holds a value: the list or object, and the index or key."""
    if not isinstance(value, dict | list):
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        yield from places(item)


def other_number(rng, number):
    """A number that differs from this one."""
    changed = [-number - 1, *(number * by + 1 for by in (1, 10, 1.5, 2**70)), number / 2 - 1]
    return rng.choice([*changed, rng.randrange(10**6)])


def mutate_json(rng, text, hostile=HOSTILE, names=("", "streams", "bytes", "\ud800")):
    """One change of structure or value in a JSON document."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return mutate_text(rng, text)
    if not (found := list(places(document))):
        return mutate_text(rng, text)
    (holder, key), (there, other) = rng.choice(found), rng.choice(found)
    value, kind = (
        holder[key],
        rng.choice(["delete", "hostile", "hostile", "number", "swap", "name"]),
    )
    if kind in ("delete", "name"):
        del holder[key]
    if kind == "name" and isinstance(holder, dict):
        holder[rng.choice([key + "_", *names])] = value
    elif kind == "swap":
        holder[key] = deepcopy(there[other])
    elif kind == "number" and type(value) in (int, float) and abs(value) < 1e300:
        holder[key] = other_number(rng, value)
    elif kind in ("hostile", "number"):
        holder[key] = rng.choice(hostile)
    return json.dumps(document)


def mutate_text(rng, text):
    """One change of a text's characters or lines."""
    lines, at = text.splitlines(keepends=True), rng.randrange(len(text) + 1)
    n = rng.randrange(len(lines) or 1)
    kind = rng.choice(["cut", "splice", "gone", "twice", "number", "number", "number", "character"])
    if kind == "cut":
        return text[:at] if rng.randrange(2) else text[at:]
    if kind == "splice":
        foreign = rng.choice([line for sample in SAMPLES["ping"] for line in sample.splitlines()])
        return "".join([*lines[:n], rng.choice([*LINES, foreign]) + "\n", *lines[n:]])
    if kind == "gone":
        return "".join(lines[:n] + lines[n + 1 :])
    if kind == "twice":
        return "".join(lines[: n + 1] + lines[n:])
    if kind == "number" and (numbers := list(re.finditer(r"\d+(\.\d+)?", text))):
        found = rng.choice(numbers)
        new = rng.choice([*WORDS, str(other_number(rng, float(found[0]))), str(rng.randrange(300))])
        return text[: found.start()] + new + text[found.end() :]
    character = rng.choice(["", " ", "-", "\0", "\ud800", "9", ".", "}", '"'])
    return text[:at] + character + text[at + 1 :]


def mutated(rng, tool):
    """One of the tool's real outputs with one to three changes."""
    text = rng.choice(SAMPLES[tool])
    ways = [mutate_json, mutate_json, mutate_text]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        text = rng.choice(ways if tool in ("iperf3", "nstat") else [mutate_text])(rng, text)
    return text


def read(tool, text):
    """What is read, and whether without a warning; a second warning is one too many."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        out = READERS[tool](text)
    assert [warning.category for warning in told] in ([], [ReadWarning])
    return out, not told


def refused(reader, source, words=None):
    """What a reader says of a text, or a file, that it refuses."""
    with pytest.raises(ReadError, match=words) as caught:
        reader(source)
    assert caught.value.raw == (source if isinstance(source, str) else source.read_text())
    return str(caught.value)


def warned(reader, source, words):
    """What is read with one warning."""
    with pytest.warns(ReadWarning, match=words) as told:
        out = reader(source)
    assert len(told) == 1
    return out


def check(tool, out, sure):
    """What holds for everything that is read; and, if it was read without a warning (`sure`), that
    its figures go together.
    """
    CHECKS[tool](out, sure)


def check_tables(out, signed=(), most=2.0**66):
    """What holds for streams and intervals of every tool; losses may be negative in `signed`."""
    streams, rows = out.streams, out.intervals
    assert len(streams) and list(streams.stream) == list(range(1, len(streams) + 1))
    assert set(rows.stream) <= set(streams.stream)
    for table in (streams, rows):
        figures = table.select_dtypes("float64")
        assert not np.isinf(figures).any(axis=None) and not (figures > most).any(axis=None)
        if any(table is one for one in signed):
            figures = figures.drop(columns=["lost_packets", "loss"])
        assert not (figures < 0).any(axis=None)
        for text in [*table.src.dropna(), *table.dst.dropna()]:
            assert isinstance(text, str) and text.isprintable()
    for name, value in out.meta.items():
        if isinstance(value, int | float):
            assert not value < 0 and not math.isinf(value), name
        elif isinstance(value, str):
            value.encode("utf-8")


def check_iperf3(out, sure):
    streams, rows, meta = out.streams, out.intervals, out.meta
    omits = meta["omit_s"] > 0
    check_tables(out, signed=[rows] if sure and not omits else [streams, rows])
    assert not (streams.rtt_s == 0).any() and not (rows.rtt_s == 0).any()
    if not sure:
        return
    assert len(streams) == meta["streams"] * (2 if meta["bidirectional"] else 1)
    assert set(rows.stream) == set(streams.stream)
    for table in (streams, rows):
        assert (table.start_s <= table.end_s).all()
        assert omits or not (table.loss > 1).any()
    assert not (streams.rtt_min_s > streams.rtt_s).any()
    assert not (streams.rtt_s > streams.rtt_max_s).any()
    sent = 8 * streams.sent_bytes - streams.sent_bps * (streams.end_s - streams.start_s)
    assert not (sent.abs() > 0.02 * 8 * streams.sent_bytes + 16).any()
    assert omits or not (streams.received_bytes > 1.02 * streams.sent_bytes + 2**20).any()
    for stream, own in rows[~rows.omitted].groupby("stream"):
        whole = streams.set_index("stream").loc[stream]
        seconds = own.end_s - own.start_s
        assert seconds.sum() <= whole.end_s * 1.01 + 0.01
        assert not (own.sent_bps * seconds).sum() > 8 * whole.sent_bytes * 1.02 + 16
        assert not own.retransmits.sum() > whole.retransmits
        assert not own.rtt_s.max() > whole.rtt_max_s and not own.rtt_s.min() < whole.rtt_min_s
        assert not own.cwnd_bytes.max() > whole.cwnd_bytes


def check_iperf(out, sure):
    streams, rows = out.streams, out.intervals
    check_tables(out, most=1e30)
    assert len(streams) == out.meta["streams"] * (1 + out.meta["bidirectional"])
    for table in (streams, rows):
        assert (table.start_s <= table.end_s).all() and (table.port <= 65535).all()
        assert not (table.loss > 1).any() and not (table.lost_packets > table.packets).any()
    for side in ("sent", "received"):
        for stream, own in rows.groupby("stream"):
            whole = streams.set_index("stream").loc[stream]
            carried = (own[f"{side}_bps"] * (own.end_s - own.start_s)).sum()
            assert not carried > 8 * whole[f"{side}_bytes"] * 1.1 + 20_000 or not sure


def check_ping(out, sure):
    pings, meta = out.pings, out.meta
    assert 0 <= meta["received"] <= meta["transmitted"] < 2**64 and not meta["loss"] < 0
    assert 0 <= meta["duplicates"] < 2**64 and not meta["loss"] > 1 and len(pings) < 200_000
    assert not pings.ttl.lt(0).any() and not pings.ttl.gt(255).any() and not pings.rtt_s.lt(0).any()
    low, mean, high, spread = (meta[f"rtt_{name}_s"] for name in ("min", "avg", "max", "mdev"))
    times = [low, mean, high, spread, meta["duration_s"]]
    assert not any(time < 0 or math.isinf(time) for time in times)
    assert pings.seq.is_monotonic_increasing and pings.seq.is_unique
    assert not pings.rtt_s.gt(1e17).any()
    if not sure:
        return
    assert len(pings) in (0, meta["transmitted"]) and meta["transmitted"] >= 1
    assert not low > mean and not mean > high and not spread > (high - low) / 2 + mean * 0.02 + 1e-5
    assert math.isnan(low) or meta["received"]
    if len(pings):
        assert pings.ttl.notna().sum() == meta["received"]
        # a time of 100 ms or more is printed without decimals, and cut, not rounded
        assert not pings.rtt_s.min() < low - 0.001 and not pings.rtt_s.max() > high + 0.001
        assert meta["duplicates"] or not abs(pings.rtt_s.mean() - mean) > 0.001


def check_nstat(out, sure):
    assert all(type(count) is int and 0 <= count < 2**64 for count in out.counts.values())
    assert math.isnan(out.halving_rate) or 0 <= out.halving_rate <= 1


def check_simpleperf(out, sure):
    streams, rows = out.streams.set_index("stream"), out.intervals
    way, other = ("sent", "received")[:: 1 if out.meta["role"] == "client" else -1]
    check_tables(out)
    assert len(streams) == out.meta["streams"] and (streams.port <= 65535).all()
    for table in (streams, rows):
        assert (table.start_s <= table.end_s).all() and table[f"{other}_bps"].isna().all()
    assert (streams[f"{way}_bytes"] % 1 == 0).all() and (streams.start_s == 0).all()
    bits = streams[f"{way}_bps"] * (streams.end_s - streams.start_s)
    off = (bits - 8 * streams[f"{way}_bytes"]).abs()
    assert not (off > 0.002 * streams[f"{way}_bps"] + 100 + streams.end_s).any()
    for stream, own in rows.groupby("stream"):
        edges = [0, *own.end_s]
        assert own.start_s.tolist() == edges[:-1] and edges[-1] == streams.end_s[stream]
    assert all(isinstance(text, str) for text in out.meta["errors"])


CHECKS = {tool: globals()[f"check_{tool}"] for tool in READERS}
