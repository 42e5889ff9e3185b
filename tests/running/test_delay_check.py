"""A network is used where its round trips are those asked for, and refused where they are not."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from netlab import EmulationError, Host, Link, Network, Router, Topology, wan
from netlab.running.link_checks import ATTEMPTS, check_delays

HEAD = "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n\n--- 10.0.0.2 ping statistics ---\n"
ANSWERED = "2 packets transmitted, 2 received, 0% packet loss, time 20ms\n"
SILENT = HEAD + "20 packets transmitted, 0 received, 100% packet loss, time 500ms\n"


def answered(rtt_ms):
    return f"{HEAD}{ANSWERED}rtt min/avg/max/mdev = {'/'.join([f'{rtt_ms:.3f}'] * 3)}/0.000 ms\n"


def behind_a_router(delay="10ms", loss="5%", both=False):
    return Topology(
        [Host("h1", "10.0.1.2/24"), Host("h2", "10.0.2.2/24")],
        links=[Link("h1", "r1"), Link("r1", "h2", delay, loss, both=both)],
        routers=[Router("r1", ["10.0.1.1/24", "10.0.2.1/24"])],
    )


def direct(loss, both=True, delay="20ms"):
    ends = Host("h1", "10.0.0.1/8"), Host("h2", "10.0.0.2/8")
    return Topology(ends, links=[Link("h1", "h2", delay, loss, both=both)])


def checked(topology, *answers):
    """Check a network whose pings give these answers, the last for ever; -> how many there were."""
    pings = []

    def run(host, command):
        if command.startswith("ping"):
            pings.append(command)
            assert pings[0] == command
            return answers[min(len(pings), len(answers)) - 1]
        assert command == "ip neigh flush all"

    check_delays(topology, run, margin_s=0.001)
    return len(pings)


@pytest.mark.parametrize(
    ("noise", "good", "bad"), [(None, [20, 20.9], [19, 0.3, 40]), ("5ms", [20, 31], [19, 31.5])]
)
def test_a_check_ping_decides_and_noise_at_both_hosts_may_add_to_it(noise, good, bad):
    assert [checked(wan(noise=noise), answered(rtt_ms)) for rtt_ms in good] == [1, 1]
    for rtt_ms in bad:
        with pytest.raises(EmulationError, match=f"h1 and h2 is {rtt_ms:.3f} ms where 20.000 ms"):
            checked(wan(noise=noise), answered(rtt_ms))


def test_what_contradicts_the_network_is_asked_again():
    assert checked(wan(), answered(470), answered(20)) == 2
    assert checked(wan(loss="5%"), SILENT, answered(470), answered(20)) == 3
    assert checked(direct("45%", delay="10ms"), *[SILENT] * 7, answered(20)) == 8
    with pytest.raises(EmulationError, match=r"470\.000 ms where 20\.000 ms"):
        checked(wan(), *[answered(470)] * ATTEMPTS, answered(20))


def test_silence_refutes_a_network_as_far_as_it_is_improbable():
    for topology in (wan(), direct("45%")):
        with pytest.raises(EmulationError, match="no answer to 20 pings between h1 and h2"):
            checked(topology, SILENT)
    three = Topology(
        direct("0%").hosts,
        links=[Link("h1", "s1", loss="45%", both=True), Link("s1", "h2", loss="45%", both=True)],
        switches=[{"name": "s1"}],
    )
    assert checked(three, SILENT) == ATTEMPTS, "one in eleven pings is answered, ARP still less"
    assert checked(direct("60%", both=False), SILENT) == 1


def test_a_router_asks_from_its_first_address_where_ways_differ():
    """r2 to r1: the check of a link that no host can check, in a circle and without one."""
    pings = []

    def run(host, command):
        pings.append((host, command.split(" -c")[0]))
        return answered(5)

    for circle in (False, True):
        links = [Link("h1", "r1"), Link("r2", "r1", "5ms"), Link("r3", "r2")]
        links += [Link("r3", "r1")] * circle
        addresses = [
            ["10.0.0.2/24", "10.0.1.1/24", *["10.0.3.1/24"] * circle],
            ["10.0.1.2/24", "10.0.2.1/24"],
            ["10.0.2.2/24", *["10.0.3.2/24"] * circle],
        ]
        routers = [Router(f"r{n}", found) for n, found in enumerate(addresses, start=1)]
        topology = Topology([Host("h1", "10.0.0.1/24")], links=links, routers=routers)
        check_delays(topology, run, margin_s=0.001)
        assert ("r2", "ping -I 10.0.1.2" if circle else "ping") in pings
        pings.clear()


def coming_up(network):
    topology, seed = network
    with Network(topology, seed=seed, engine="guest") as net:
        return net.clock


@pytest.mark.long
def test_lossy_networks_are_not_refused():
    """With these seeds the first ping contradicts them: ARP requests are lost."""
    lossy = [(behind_a_router(), 31), (behind_a_router(), 40), (direct("45%", delay="10ms"), 3)]
    lossy += [(direct("45%", delay="1ms"), seed) for seed in (1, 2)]
    lossy += [(behind_a_router(loss="45%", both=True), seed) for seed in (4, 5)]
    with ThreadPoolExecutor(2) as pool:
        assert len(list(pool.map(coming_up, lossy))) == len(lossy)


@pytest.mark.parametrize("topology", [wan("100mbit", "20ms"), behind_a_router(), direct("45%")])
@pytest.mark.parametrize(("instead_ms", "seed"), [(0, 1), (0, 2), (90, 3)])
def test_a_network_without_its_delay_is_refused(monkeypatch, topology, instead_ms, seed):
    honest = Topology.setup

    def changed(self):
        for node, line in honest(self):
            for delay in ("10ms", "20ms"):
                line = line.replace(f"delay {delay}", f"delay {instead_ms}ms")
            yield node, line

    monkeypatch.setattr(Topology, "setup", changed)
    with pytest.raises(EmulationError, match=r"is \d+\.\d+ ms where [1-4]0\.000 ms was asked for"):
        Network(topology, seed=seed, engine="guest")
