"""Windows, queues and congestion control, as the guest's kernel tells and asks them."""

import pytest

import netlab as nl
from netlab.engines.guest import hooks

PATH = nl.wan("100mbit", "20ms", limit=100_000, pairs=1, offload=False)


def test_in_congestion_avoidance_renos_window_grows_by_a_segment_per_round_trip():
    test = nl.Iperf3("h1", "h2", congestion="reno", time=8)
    windows = nl.run(PATH, test, nl.Windows("h1", every=None)).windows
    calm = windows[(windows.state == "open") & (windows.time_s > 2)]
    rises = calm[calm.cwnd.diff() == 1]
    assert (rises.time_s.diff() / rises.srtt_s).median() == pytest.approx(1, rel=0.05)


def test_a_name_without_an_algorithm_changes_no_window():
    with pytest.raises(nl.SpecificationError, match="congestion = 'netlab3'"):
        nl.Experiment(PATH, nl.Iperf3("h1", "h2", congestion="netlab3", time=2))
    with nl.Network(PATH) as net:
        server = net.start("h2", "iperf3 -s -1")
        net.sleep(0.5)
        net.run("h1", "iperf3 -c 10.0.0.2 -C netlab3 -t 4", echo=False)
        net.wait(server)
        (received_bps,) = nl.readers.read_iperf3(server.text).streams.received_bps
    initial_bps = nl.models.buffer_limited_bps(10 * 1448, 0.020)  # the kernel's initial window
    assert received_bps == pytest.approx(initial_bps, rel=0.1)


def test_more_than_it_can_watch_is_refused():
    told = hooks.Hooks()
    with pytest.raises(nl.SpecificationError, match="addresses: 63 of them, and at most 62"):
        told.watch(print, ["10.0.0.1"] * 63)
    told.close()
