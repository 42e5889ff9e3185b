"""Windows, queues and congestion control, as the guest's kernel tells and asks them."""

import ipaddress

import numpy as np
import psutil
import pytest

import netlab as nl
from netlab.engines.guest import GuestEngine, hooks

MSS = 1448
PATH = nl.wan("100mbit", "20ms", limit=100_000, pairs=1, offload=False)


class Watched(GuestEngine):
    """Tells its windows and queues to a list, for each guest that it starts."""

    def connect(self, *arguments):
        guest = super().connect(*arguments)
        self.told = []
        guest.hooks.watch(
            lambda *both: self.told.append(both), ["10.0.0.1"], ["s1-eth2", "h2-eth0"]
        )
        return guest

    @property
    def both(self):
        """Windows, and queues."""
        return [np.concatenate(parts) for parts in zip(*self.told, strict=True)]


class Ten(nl.CongestionControl):
    """Ten segments, whatever happens; it says which questions it has been asked."""

    def start(self, tcp):
        print("start", end=" ")
        tcp.cwnd = 10

    def on_ack(self, tcp, acked):
        print("ack", end=" ")

    def on_loss(self, tcp):
        print("loss", end=" ")


class Broken(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        return {}["no such key"]


def reno(time=3, **options):
    return nl.Iperf3("h1", "h2", congestion="reno", time=time, **options)


@pytest.mark.long
def test_a_run_that_is_watched_leaves_the_bytes_of_one_that_is_not():
    lossy = nl.wan("100mbit", "20ms", "0.1%", pairs=1)
    for path in (PATH, lossy):
        engine = Watched()
        watched = nl.run(path, reno(parallel=2), seed=5, engine=engine)
        assert min(map(len, engine.both)) > 1000
        alone = nl.run(path, reno(parallel=2), seed=5, engine="guest")
        assert watched.raw == alone.raw


def test_windows_are_those_of_reno_and_queues_hold_no_more_than_their_limit():
    engine = Watched()
    run = nl.run(PATH, reno(time=8), engine=engine)
    windows, queues = engine.both
    data = windows[windows["acked_bytes"] > 100_000]
    assert set(data["source"]) == {int(ipaddress.IPv4Address("10.0.0.1"))}
    assert set(data["destination_port"]) == {5201} and set(data["mss"]) == {MSS}
    seconds = data["now_ns"] / 1e9
    assert (np.diff(seconds) >= 0).all()
    assert data["acked_bytes"][-1] == pytest.approx(run.flows.received_bps[0], rel=0.01)
    # in congestion avoidance the window grows by one segment per round trip
    calm = data[(data["state"] == 0) & (seconds > seconds[0] + 2)]
    rises = np.flatnonzero(np.diff(calm["cwnd"].astype(int)) == 1)
    between_s = np.diff(calm["now_ns"][rises]) / 1e9
    assert np.median(between_s) == pytest.approx(np.median(calm["srtt_us"]) / 1e6, rel=0.1)
    assert data["retransmitted"][-1] == run.flows.retransmits[0]
    tbf = queues[queues["handle"] == 0x20000]
    assert set(tbf["interface"]) == {b"s1-eth2"} and 90_000 < tbf["bytes"].max() <= 100_000
    assert tbf["drops"][-1] > 0 and (np.diff(tbf["drops"].astype(int)) >= 0).all()


def test_a_window_that_an_algorithm_sets_is_the_one_that_is_sent(capsys):
    test = nl.Iperf3("h1", "h2", congestion=Ten, time=4)
    run = nl.run(PATH, test)
    asked = capsys.readouterr().out.split()
    assert run.flows.received_bps[0] == pytest.approx(10 * MSS * 8 / 0.020, rel=0.03)
    assert asked[0] == "start" and asked.count("ack") > 500 and "loss" not in asked
    assert nl.run(PATH, test).raw == run.raw
    assert capsys.readouterr().out.split() == asked


def test_an_exception_of_the_algorithm_ends_the_run_with_its_own_line():
    before = psutil.Process().children(recursive=True)
    with pytest.raises(nl.AlgorithmError, match=r"Broken.on_ack, line 3: return") as raised:
        nl.run(PATH, nl.Iperf3("h1", "h2", congestion=Broken, time=4))
    assert "KeyError: 'no such key'" in str(raised.value)
    assert psutil.Process().children(recursive=True) == before


def test_a_name_without_an_algorithm_changes_no_window():
    test = nl.Iperf3("h1", "h2", congestion="netlab3", time=2)
    run = nl.run(PATH, test, nl.Windows("h1"))
    data = run.windows[run.windows.time_s > 0.1]
    assert set(data.cwnd) == {10}, "the kernel's initial window"


def test_more_than_it_can_watch_is_refused():
    told = hooks.Hooks()
    with pytest.raises(nl.SpecificationError, match="addresses: 63 of them, and at most 62"):
        told.watch(print, ["10.0.0.1"] * 63)
    told.close()
