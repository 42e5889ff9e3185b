"""What is thinned piece by piece, as a guest tells it, is what it is at once; and it can be read
while the run goes on.
"""

import ipaddress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.engines.base import Watch
from netlab.engines.guest import watching
from netlab.engines.guest.hooks import QUEUE, WINDOW
from netlab.engines.guest.process import Guest
from netlab.readers.kernel_traces import read_queues, read_windows
from netlab.running.progress import told
from netlab.running.run import so_far


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


EVERY_NS = 1000


def windows(rows):
    """Records in the order of time: (step of time, port, state, event)."""
    records = np.zeros(len(rows), WINDOW)
    steps, ports, states, events = np.array(rows).T if rows else np.zeros((4, 0))
    records["now_ns"], records["source_port"] = np.cumsum(steps), ports
    records["kind"], records["state"], records["event"] = 1, states, events
    records["cwnd"] = np.arange(1, len(rows) + 1)  # tells them apart
    return records


def queues(rows):
    """Records in the order of time: (step of time, handle, bytes)."""
    records = np.zeros(len(rows), QUEUE)
    steps, handles, held = np.array(rows).T if rows else np.zeros((3, 0))
    records["now_ns"], records["handle"], records["bytes"] = np.cumsum(steps), handles, held
    records["kind"], records["drops"] = 2, np.arange(len(rows))
    records["interface"] = b"s1-eth2"
    return records


STEP, SERIES = st.integers(0, 700), st.integers(1, 3)
STATE, EVENT = st.sampled_from([0, 0, 0, 3]), st.integers(0, 1)
WINDOW_ROWS = st.lists(st.tuples(STEP, SERIES, STATE, EVENT), max_size=60)
QUEUE_ROWS = st.lists(st.tuples(STEP, SERIES, st.integers(0, 5)), max_size=60)
CUTS = st.lists(st.integers(0, 60), max_size=4)


def collected(kind, records, cuts, every_ns=EVERY_NS, many=watching.MANY):
    """What is kept where the records come in pieces, are thinned so many at once, and are read."""
    kept = kind("0.0.0.0" if kind is watching.WindowRows else "s1-eth2", every_ns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watching, "MANY", many)
        for part in np.split(records, sorted(min(cut, len(records)) for cut in cuts)):
            kept.add(part)
            kept.text(0)  # changes nothing
    return [one.tolist() for one in kept.whole()]


@given(WINDOW_ROWS, CUTS)
def test_windows_keep_every_change_every_timeout_and_the_last_of_each_piece(rows, cuts):
    records = windows(rows)
    kept = {one[7] for one in collected(watching.WindowRows, records, cuts)}
    for port in {1, 2, 3}:
        own = records[records["source_port"] == port]
        if not len(own):
            continue
        assert own["cwnd"][0] in kept and own["cwnd"][-1] in kept
        assert set(own["cwnd"][own["event"] == 1]) <= kept
        assert set(own["cwnd"][1:][np.diff(own["state"].astype(int)) != 0]) <= kept
        pieces = own["now_ns"] // EVERY_NS
        assert set(own["cwnd"][:-1][np.diff(pieces) > 0]) <= kept


@given(st.lists(st.integers(0, 300), max_size=60), CUTS)
def test_a_calm_window_leaves_two_records_for_its_first_piece_and_one_for_each_other(steps, cuts):
    records = windows([(step, 1, 0, 0) for step in steps])
    pieces = len(set(records["now_ns"] // EVERY_NS))
    assert pieces <= len(collected(watching.WindowRows, records, [])) <= pieces + 1


@given(QUEUE_ROWS, CUTS)
def test_queues_keep_the_peak_of_each_piece_and_the_last(rows, cuts):
    records = queues(rows)
    kept = collected(watching.QueueRows, records, cuts)
    numbers = [one[6] for one in kept]
    assert len(set(numbers)) == len(numbers)
    for handle in {1, 2, 3}:
        own = records[records["handle"] == handle]
        mine = [one for one in kept if one[1] == handle]
        if not len(own):
            assert not mine
            continue
        assert own["drops"][-1] in numbers
        for piece in set(own["now_ns"] // EVERY_NS):
            held = own["bytes"][own["now_ns"] // EVERY_NS == piece]
            assert max(one[5] for one in mine if one[2] // EVERY_NS == piece) == held.max()


@pytest.mark.parametrize(
    ("kind", "made"), [(watching.WindowRows, windows), (watching.QueueRows, queues)]
)
@given(rows=st.data(), cuts=CUTS)
def test_records_stay_in_order_and_are_themselves(kind, made, rows, cuts):
    records = made(rows.draw(WINDOW_ROWS if kind is watching.WindowRows else QUEUE_ROWS))
    everything = records.tolist()
    for every_ns in (0, EVERY_NS):
        kept = collected(kind, records, cuts, every_ns)
        places = [everything.index(one) for one in kept]
        assert places == sorted(places) and len(set(places)) == len(places)
    assert collected(kind, records, cuts, 0) == everything
    at_once = collected(kind, records, [])
    assert [collected(kind, records, cuts, many=many) for many in (0, 5)] == [at_once] * 2


def test_what_is_written_can_be_read_and_is_of_its_place():
    records = windows([(5, 1, 0, 0), (5, 2, 4, 1), (5, 3, 0, 0)])
    held = queues([(5, 0x20000, 1500), (5, 0x20000, 0)])
    records["source"], records["ssthresh"] = [0x0A000001] * 2 + [0x0A000002], watching.INFINITE
    records["srtt_us"], records["mss"], records["ssthresh"][1] = 20_100, 1448, 7
    held["interface"][1] = b"s1-eth1"
    both = {"w": Watch("windows", "10.0.0.1", 0.0), "q": Watch("queues", "s1-eth2", 0.01)}
    watched = watching.Watched(both)
    assert watched.places("windows") == ["10.0.0.1"] and watched.places("queues") == ["s1-eth2"]
    watched.tell(records, held)
    texts = watched.texts(5)
    table = read_windows(texts["w"]).windows
    assert table.time_s.tolist() == [0, 5e-9] and table.state.tolist() == ["open", "loss"]
    assert np.isnan(table.ssthresh[0]) and table.ssthresh[1] == 7
    assert table.source.tolist() == ["10.0.0.1"] * 2 and table.srtt_s[0] == 0.0201
    assert table.timeout.tolist() == [False, True]
    rows = read_queues(texts["q"]).queues
    assert rows.handle.tolist() == ["2:"] and rows.backlog_bytes.tolist() == [1500]
    assert rows.interface.tolist() == ["s1-eth2"]


@pytest.mark.parametrize("many", [5, 20_000])
def test_more_than_is_kept_ends_the_run(monkeypatch, many):
    monkeypatch.setattr(watching, "MANY", many)
    told, none = queues([(1, 0x20000, 0)] * 150), windows([])
    watched = watching.Watched({"q": Watch("queues", "s1-eth2", 0.0)}, 100)
    watched.tell(none, told[:100])
    assert len(read_queues(watched.texts(0)["q"]).queues) == 100
    with pytest.raises(nl.LimitError, match=r"more than 100 .* Queue\(every="):
        watched.tell(none, told[100:])


def test_a_run_that_tells_too_much_ends_in_words(monkeypatch):
    monkeypatch.setattr(Guest, "most_records", 1000)
    traffic = nl.Iperf3("h1", "h2", time=5), nl.Windows("h1", every=None)
    with pytest.raises(nl.LimitError, match=r"more than 1,000 windows"):
        nl.run(nl.wan("100mbit", "20ms"), *traffic, engine="guest")


def test_numbers_are_written_as_python_writes_them():
    numbers = [0, 1, 9, 10_000, 10_001, 99_990_000, 123_456_789, 2**32 - 1]
    records = np.zeros(len(numbers), WINDOW)
    for name in ("now_ns", "cwnd", "ssthresh", "in_flight", "srtt_us", "retransmitted"):
        records[name] = numbers
    records["destination"] = numbers
    kept = watching.WindowRows("0.0.0.0", 0)
    kept.add(records)
    lines = kept.text(10_001).splitlines()[1:]
    for line, number in zip(lines, numbers, strict=True):
        threshold = "" if number >= watching.INFINITE else number
        assert line == (
            f"{(number - 10_001) / 1e9:.9f},0.0.0.0,0,{ipaddress.IPv4Address(number)},0,ack,open,"
            f"{number},{threshold},{number},0,{number / 1e6:.6f},{number}"
        )


@pytest.mark.parametrize("field, value", [("now_ns", 1 << 63), ("event", 9), ("state", 99)])
def test_what_no_kernel_tells_is_an_error(field, value):
    """... and no loop without an end: some code in the kernel process may have told it."""
    record = np.zeros(1, WINDOW)
    record["source"], record[field] = int(ipaddress.IPv4Address("10.0.0.1")), value
    rows = watching.WindowRows("10.0.0.1", 0)
    rows.add(record)
    with pytest.raises(nl.GuestError):
        rows.text(0)
