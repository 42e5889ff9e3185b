"""simpleperf in the guest: what arrives, what the tables have, and its program."""

import json
import math

import pytest

import netlab as nl
from netlab.traffic import base
from netlab.traffic import simpleperf as traffic

LINK = nl.wan("20mbit", "20ms", burst=5000, limit=100_000, pairs=1)


@pytest.fixture(scope="module")
def run():
    """Two connections over 20 Mbit/s, for 10 s."""
    return nl.run(LINK, nl.Simpleperf("h1", "h2", time=10, parallel=2))


def test_the_goodput_is_the_link_s_and_the_client_counts_its_buffer_too(run):
    (flow,) = run.flows.to_dict("records")
    most_bps = nl.models.goodput_bps(20e6)
    assert most_bps == pytest.approx(0.9564 * 20e6, rel=1e-3)
    # slow start until the link is full: ten segments, doubled per 20 ms, reach 34 in two
    assert 0.97 * most_bps < flow["received_bps"] < 1.01 * most_bps
    assert flow["sent_bps"] > flow["received_bps"]
    assert run.streams.sent_bytes.tolist() == run.streams.received_bytes.tolist()


def test_one_connection_fills_a_link_with_long_chunks_too():
    alone = nl.run(LINK, nl.Simpleperf("h1", "h2", time=5, length=131_072))
    assert alone.flows.received_bps[0] == pytest.approx(nl.models.goodput_bps(20e6), rel=0.03)
    assert alone.flows.jain_index[0] == 1


def test_the_tables_have_iperf3_s_columns_and_nan_for_what_is_not_measured(run):
    other = nl.run(LINK, nl.Iperf3("h1", "h2", time=2, parallel=2))
    for name in ("flows", "streams", "intervals"):
        ours, theirs = run.tables[name], other.tables[name]
        assert ours.columns.tolist() == theirs.columns.tolist()
    (flow,) = run.flows.to_dict("records")
    assert (flow["src"], flow["dst"], flow["congestion"], flow["streams"]) == (
        "h1", "h2", "cubic", 2,
    )  # fmt: skip
    assert flow["mss_bytes"] == 1448 and 0.5 < flow["jain_index"] <= 1
    assert all(math.isnan(flow[name]) for name in ("retransmits", "rtt_s", "rtt_min_s"))
    assert run.streams.stream.tolist() == [1, 2] and (run.streams.src == "h1").all()
    assert not run.intervals.omitted.any() and run.intervals.retransmits.isna().all()
    assert run.intervals.start_s.min() == pytest.approx(run.experiment.starts_s[0])
    assert "program" not in repr(run.experiment.traffic[0])


def test_the_intervals_are_the_streams_in_pieces(run):
    for stream, own in run.intervals.groupby("stream"):
        total = run.streams[run.streams.stream == stream].iloc[0]
        seconds = own.end_s - own.start_s
        assert (seconds > 0.5).all() and len(own) in (10, 11)
        received = (own.received_bps * seconds).sum() / 8
        assert received == pytest.approx(total.received_bytes, rel=0.002)
        assert (own.start_s.iloc[1:].to_numpy() >= own.end_s.iloc[:-1].to_numpy() - 1e-9).all()
        assert own.sent_bps.iloc[:9].notna().all()
        assert (own.sent_bps * seconds).sum() / 8 <= total.sent_bytes
        whole = own.iloc[1:9]
        assert whole.received_bps.sum() == pytest.approx(whole.sent_bps.sum(), rel=0.25)
    both = run.intervals[run.intervals.start_s.between(1, 8.5)].groupby("start_s").received_bps
    assert both.sum().to_numpy() == pytest.approx(nl.models.goodput_bps(20e6), rel=0.03)


def told(role, *rows):
    """What a client or a server prints of one connection, with intervals (begin, end, MB)."""
    first, end = ("A simpleperf client connecting to server 10.0.0.2", "ACK: BYE")
    to = "10.0.0.2:5201 (cubic, segments of 1448 bytes)"
    if role == "server":
        first, end, to = "A simpleperf server is listening on", "BYE", "10.0.0.2:5201"
    first += " port 5201" if role == "server" else ", port 5201"
    lines = [first, f"10.0.0.1:40000 connected with {to}"]
    for begin, until, size in (*rows, (0, rows[-1][1], sum(row[2] for row in rows))):
        rate = f"{8 * size / (until - begin):.6f}" if until > begin else "-"
        lines.append(f"10.0.0.1:40000 {begin:.3f} - {until:.3f} s {size:.6f} MB {rate} Mbps")
    return "\n".join([*lines[:-1], f"{lines[-1]}  total ({end})", ""])


def test_intervals_of_two_sides_are_those_of_the_same_time():
    """Also where a server was so late that it skipped a line, where the client ended long before,
    and where a last line is of no time.
    """
    client = told("client", *((n, n + 1, n + 1) for n in range(5)))
    server = told("server", (0, 1, 1), (1, 3, 5), (3, 4, 4), (4, 5, 3), (5, 5.7, 2), (5.7, 5.7, 0))
    test = nl.Simpleperf("h1", "h2", time=5)
    experiment = nl.Experiment(nl.wan(), test, stagger="0ms")
    rows = test.read({"": client, "server": server}, base.Place(experiment, 1))["intervals"]
    assert rows.start_s.tolist() == [0, 1, 3, 4, 5] and rows.end_s.tolist() == [1, 3, 4, 5, 5.7]
    assert (rows.received_bps / 8e6).round(3).tolist() == [1, 2.5, 4, 3, 2.857]
    sent = (rows.sent_bps / 8e6).tolist()
    assert sent == pytest.approx([1, math.nan, 4, 5, math.nan], nan_ok=True)


def test_what_looks_on_sees_its_connections_and_changes_nothing(run):
    watched = nl.run(
        LINK, nl.Simpleperf("h1", "h2", time=10, parallel=2), nl.Windows("h1", every="100ms")
    )
    assert set(watched.windows.stream) == {1, 2} and set(watched.windows.flow) == {1}
    assert {name: watched.raw[name] for name in run.raw} == run.raw


def test_it_competes_with_iperf3_and_is_swept():
    def duel(congestion):
        simple = nl.Simpleperf("h1", "h2", time=5, congestion=congestion)
        iperf3 = nl.Iperf3("h3", "h4", time=5, congestion=congestion)
        return nl.Experiment(nl.wan("20mbit", "20ms"), simple, iperf3)

    grid = nl.sweep(duel, congestion=["reno", nl.algorithms.AIMD(1, 0.5)])
    assert grid.retransmits.isna().tolist() == [True, False] * 2
    assert grid.groupby(grid.index // 2).received_bps.sum().between(14e6, 20e6).all()
    assert grid.flow.tolist() == [1, 2, 1, 2] and grid.congestion[0] == "reno"


def test_a_test_that_broke_off_is_an_error_with_simpleperf_s_words():
    item, place = nl.Simpleperf("h1", "h2"), base.Place(None, 1)
    refused = "simpleperf: cannot connect to 10.0.0.2, port 5201: Connection refused\n"
    title = "A simpleperf client connecting to server 10.0.0.2, port 5201\n"
    with pytest.raises(nl.ReadError, match=r"cannot connect to 10\.0\.0\.2") as caught:
        item.read({"": title + refused, "server": ""}, place)
    assert caught.value.raw == title + refused


def test_a_client_whose_server_dies_is_an_error_and_no_result():
    kill = nl.Shell("h2", "sleep 2; pkill -KILL -f 'python3 - [-]s'", time=5)
    with pytest.raises(nl.ReadError, match=r"(?s)broke off: .*reset|cut off"):
        nl.run(LINK, nl.Simpleperf("h1", "h2", time=5), kill)


def test_another_program_is_another_experiment(monkeypatch):
    before = nl.Experiment(LINK, nl.Simpleperf("h1", "h2"))
    changed = traffic.program_text().replace('ACK = b"BYE"', 'ACK = b"BUY"')
    assert changed != traffic.program_text()
    traffic.digest.cache_clear()
    monkeypatch.setattr(traffic, "program_text", lambda: changed)
    try:
        after = nl.Experiment(LINK, nl.Simpleperf("h1", "h2"))
        assert json.loads(after.to_json())["traffic"][0]["program"] == traffic.digest()
        assert after.to_json() != before.to_json(), "its record is another file"
        with pytest.raises(nl.SpecificationError, match=r"Simpleperf.program = .*make the exp"):
            nl.run(nl.Experiment.from_json(before.to_json()))
    finally:
        traffic.digest.cache_clear()


def test_its_documentation_is_no_part_of_the_program():
    text = traffic.FILE.read_text()
    assert '"""Server: receive until BYE' in text
    assert '"""Server: receive until BYE' not in traffic.program_text()
    assert traffic.without_docstrings(text.replace("Server: receive", "Receive")) + "\n" == (
        traffic.program_text()
    )
