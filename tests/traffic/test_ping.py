"""The table that pings leave, what a sweep of them collects, and when they fail."""

import pandas as pd
import pytest

import netlab as nl

COLUMNS = ["flow", "src", "dst", "seq", "rtt_s", "ttl"]


@pytest.fixture(scope="module")
def pinged():
    return nl.run(nl.wan("100mbit", "20ms"), nl.Ping("h1", "h2", count=3))


def test_a_row_per_request(pinged):
    assert pinged.pings.columns.tolist() == COLUMNS
    assert pinged.pings.rtt_s.tolist() == pytest.approx([0.04, 0.02, 0.02], abs=1e-4)  # ARP first


def test_tables_of_other_traffic_are_empty_and_have_their_columns(pinged, tmp_path):
    pinged.save(tmp_path)
    for name, columns in {
        "flows": {"flow", "src", "dst", "received_bps", "halving_rate"},
        "streams": {"flow", "stream", "received_bps", "rtt_s"},
        "intervals": {"flow", "stream", "start_s", "cwnd_bytes"},
    }.items():
        table = getattr(pinged, name)
        assert len(table) == 0 and columns <= set(table.columns)
        assert pd.read_csv(tmp_path / f"{name}.csv").columns.tolist() == table.columns.tolist()
    assert nl.load(tmp_path).pings.equals(pinged.pings)


@pytest.mark.long
def test_a_sweep_keeps_the_runs_in_which_every_answer_was_lost():
    def lossy(loss):
        return nl.Experiment(nl.wan("100mbit", "20ms", loss=loss), nl.Ping("h1", "h2", count=1))

    grid = nl.sweep(lossy, loss=["50%"], seeds=range(5, 8))
    assert "error" not in grid and sorted(grid.seed) == [*range(5, 8)]
    lost = grid[grid.rtt_s.isna()]
    assert 0 < len(lost) < len(grid)
    result = nl.run(lossy("50%"), seed=int(lost.seed.iloc[0]))
    assert result.pings.rtt_s.isna().all() and " 100% packet loss" in result.raw["1-ping-h1-h2"]


def test_a_ping_that_asked_nobody_is_still_a_failure():
    with pytest.raises(nl.NetlabError, match="ping"):
        nl.run(
            nl.wan("100mbit"),
            nl.Shell("h1", "ip link set h1-eth0 down"),
            nl.Ping("h1", "h2", count=1),
            stagger="500ms",
            seed=2,  # with which the ping begins later
        )
