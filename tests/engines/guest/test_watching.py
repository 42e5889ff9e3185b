"""What is thinned piece by piece, as a guest tells it, is what it is at once; and it can be read
while the run goes on.
"""

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab.engines.guest import watching
from netlab.engines.guest.hooks import QUEUE, WINDOW
from netlab.engines.protocol import Watch
from netlab.running.progress import told
from netlab.running.run import so_far

PLACES = {"windows": "10.0.0.1", "queues": "s1-eth2"}


def records(kind, count=1000):
    """Of three connections of two hosts, or of three disciplines on two interfaces; random."""
    rng, found = (
        np.random.default_rng(1),
        np.zeros(count, {"windows": WINDOW, "queues": QUEUE}[kind]),
    )
    found["now_ns"] = np.sort(rng.integers(0, 10**9, count))
    if kind == "windows":
        found["source"], found["source_port"] = 0x0A000001, rng.integers(5001, 5004, count)
        found["source"][found["source_port"] == 5003] += 1
        found["cwnd"], found["mss"] = rng.integers(1, 99, count), 1448
        found["state"] = rng.choice(5, count, p=[0.9, 0.04, 0.01, 0.04, 0.01])
        found["event"] = rng.random(count) < 0.01
    else:
        found["handle"] = rng.integers(1, 4, count) << 16
        found["interface"] = np.where(found["handle"] == 3 << 16, b"s1-eth1", b"s1-eth2")
        found["bytes"] = rng.integers(0, 20, count) * 100
    return found


def texts(kind, every_s, sizes, monkeypatch, many):
    monkeypatch.setattr(watching, "MANY", many)
    watched = watching.Watched({"own": Watch(kind, PLACES[kind], every_s)})
    found, first = records(kind), 0
    for size in sizes:
        piece = found[first : first + size]
        both = {one: piece if one == kind else piece[:0] for one in PLACES}
        watched.tell(both["windows"], both["queues"])
        first += size
        if first % 200 == 0:
            watched.texts(0)  # to look changes nothing
    assert first >= len(found)
    return watched.texts(0)["own"]


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("every_s", [0, 0.001, 0.02, 10])
def test_pieces_make_no_difference(kind, every_s, monkeypatch):
    at_once = texts(kind, every_s, [1000], monkeypatch, 10**9)
    for sizes, many in (([1] * 1000, 10), ([40] * 25, 0), ([299] * 4, 500)):
        assert texts(kind, every_s, sizes, monkeypatch, many) == at_once
    lines = at_once.count("\n") - 1
    of_the_place = {"windows": 0x0A000001, "queues": b"s1-eth2"}[kind]
    own = (records(kind)[{"windows": "source", "queues": "interface"}[kind]] == of_the_place).sum()
    assert lines == own if every_s == 0 else lines < own


def test_all_states_and_timeouts_are_kept(monkeypatch):
    text = texts("windows", 10, [50] * 20, monkeypatch, 100)
    found = records("windows")
    own = found[found["source"] == 0x0A000001]
    assert text.count(",timeout,") == own["event"].sum() > 5
    changes = sum(
        (np.diff(own["state"][own["source_port"] == port].astype(int)) != 0).sum()
        for port in (5001, 5002)
    )
    assert text.count("\n") - 1 >= changes > 50


def test_what_a_run_tells_can_be_read_while_it_goes_on():
    path = nl.wan("10mbit", "20ms", limit=25_000)
    test = nl.Iperf3("h1", "h2", parallel=2, congestion="reno", time=5)
    experiment = nl.Experiment(path, test, nl.Windows("h1"), nl.Queue("s1", "s2"))
    heard = []
    with told(lambda seconds, total_s: heard.append((seconds, so_far()))):
        watched = nl.run(experiment)
    lengths = [len(tables["windows"]) for _, tables in heard]
    assert len(heard) >= 5 and lengths == sorted(lengths) and lengths[-1] > 1000
    for _, tables in heard[1:]:
        for name in ("windows", "queues"):
            part, whole = tables[name], watched.tables[name]
            pd.testing.assert_frame_equal(part.iloc[:-9], whole.iloc[: len(part) - 9])
    assert so_far() == {}, "no run is under way"
    assert nl.run(experiment).raw == watched.raw, "nobody listens: the same bytes"
