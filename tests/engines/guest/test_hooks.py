"""Windows, queues and congestion control, as the guest's kernel tells and asks them."""

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
    def windows(self):
        return np.concatenate([windows for windows, _ in self.told])

    @property
    def queues(self):
        return np.concatenate([queues for _, queues in self.told])


class Controlled(GuestEngine):
    """Asks `control` for the windows of netlab0 to netlab7."""

    def __init__(self, control):
        super().__init__()
        self.control = control

    def connect(self, *arguments):
        guest = super().connect(*arguments)
        guest.hooks.control = self.control
        return guest


def reno(time=3, **options):
    return nl.Iperf3("h1", "h2", congestion="reno", time=time, **options)


def test_a_run_that_is_watched_leaves_the_bytes_of_one_that_is_not():
    lossy = nl.wan("100mbit", "20ms", "0.1%", pairs=1)
    for path in (PATH, lossy):
        engine = Watched()
        watched = nl.run(path, reno(parallel=2), seed=5, engine=engine)
        assert len(engine.windows) > 1000 and len(engine.queues) > 1000
        alone = nl.run(path, reno(parallel=2), seed=5, engine="guest")
        assert watched.raw == alone.raw


def test_windows_are_those_of_reno():
    engine = Watched()
    run = nl.run(PATH, reno(time=8), engine=engine)
    data = engine.windows[engine.windows["acked_bytes"] > 100_000]
    assert {bytes(one) for one in data["source"]} == {bytes([10, 0, 0, 1])}
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


def test_queues_hold_what_is_above_the_pipe_and_no_more_than_their_limit():
    engine = Watched()
    nl.run(PATH, reno(), engine=engine)
    tbf = engine.queues[engine.queues["handle"] == 0x20000]
    assert set(tbf["interface"]) == {b"s1-eth2"}
    assert 90_000 < tbf["bytes"].max() <= 100_000
    assert tbf["drops"][-1] > 0 and (np.diff(tbf["drops"].astype(int)) >= 0).all()


def test_a_window_that_this_process_sets_is_the_one_that_is_sent():
    asked = []

    def ten(event):
        asked.append(event["event"])
        return 10, 0, 0

    engine = Controlled(ten)
    run = nl.run(PATH, nl.Iperf3("h1", "h2", congestion="netlab3", time=4), engine=engine)
    assert run.flows.received_bps[0] == pytest.approx(10 * MSS * 8 / 0.020, rel=0.03)
    assert asked[0] == "start" and asked.count("ack") > 500 and "loss" not in asked
    assert (
        nl.run(
            PATH, nl.Iperf3("h1", "h2", congestion="netlab3", time=4), engine=Controlled(ten)
        ).raw
        == run.raw
    )


def test_an_exception_of_the_algorithm_ends_the_run_with_its_own_traceback():
    def broken(event):
        if event["event"] == "ack":
            return {}["no such key"]
        return 0, 0, 0

    with pytest.raises(KeyError, match="no such key") as raised:
        nl.run(PATH, nl.Iperf3("h1", "h2", congestion="netlab0", time=4), engine=Controlled(broken))
    assert raised.traceback[-1].name == "broken"
    assert not [child for child in psutil.Process().children() if "linux" in child.name()]


def test_more_than_it_can_watch_is_refused():
    with (
        nl.Network(PATH) as net,
        pytest.raises(
            nl.SpecificationError, match=f"addresses: 63 of them, and at most {hooks.MOST}"
        ),
    ):
        net._agent.hooks.watch(print, ["10.0.0.1"] * 63)
