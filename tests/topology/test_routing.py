"""Which of several ways packets take: what is computed, and what the kernel does with it."""

import re
from itertools import permutations

import pytest

from netlab import Link, Network, SpecificationError, Topology
from netlab.readers import read_ping
from netlab.running.link_checks import check_delays
from tests.running.test_delay_check import answered
from tests.topology.networks import addressed

HOSTS = [Link(f"h{n}", f"r{n}") for n in (1, 2, 3, 4)]
RING = [Link(*pair) for pair in (["r1", "r2"], ["r2", "r3"], ["r3", "r4"], ["r4", "r1"])]
TRIANGLE = addressed(
    *HOSTS[:3],
    Link("r1", "r2", "5ms", rate="30mbit", both=True),
    Link("r2", "r3", "10ms", rate="20mbit", both=True),
    Link("r1", "r3", "40ms", rate="10mbit", both=True),
)
# There by r2, which is the faster way there, and back by r4, which is the faster way back.
UNEQUAL = addressed(
    *HOSTS,
    Link("r1", "r2", "5ms"),
    Link("r3", "r2", "20ms"),
    Link("r1", "r4", "30ms"),
    Link("r4", "r3", "2ms", both=True),
)


def passed(network, start, end):
    """The routers on the way, as the topology has them."""
    names = [start]
    for link, forward in network.path(start, end):
        names.append(link.b if forward else link.a)
    return [name for name in names if name[0] == "r"]


def traced(net, network, start, end):
    """The routers on the way, as they tell by themselves: each ends a packet's time to live."""
    owner, routers = {}, []
    for router in network.routers:
        owner |= {address.partition("/")[0]: router.name for address in router.addresses}
    for hops in range(1, 9):
        text = net.run(start, f"ping -n -c 1 -t {hops} {network.host(end).ip}", echo=False).text
        if " 1 received" in text:
            return routers
        (address,) = re.findall(r"From (\S+) icmp_seq=1 Time to live exceeded", text)
        routers.append(owner[address])
    raise AssertionError(f"{end} is not reached: {routers}")


def test_of_equally_many_routers_the_smaller_delay_decides_for_each_direction():
    assert passed(UNEQUAL, "h1", "h3") == ["r1", "r2", "r3"]
    assert passed(UNEQUAL, "h3", "h1") == ["r3", "r4", "r1"]
    assert UNEQUAL.rtt_s("h1", "h3") == UNEQUAL.rtt_s("h3", "h1") == 0.007
    assert [link.delay for link in UNEQUAL.emulated("h3", "h1") if link.delay] == ["2ms"]


@pytest.mark.parametrize("turn", range(4))
def test_of_equal_ways_the_one_whose_links_come_first_is_taken(turn):
    network = addressed(*HOSTS, *RING[turn:], *RING[:turn])
    by = passed(network, "h1", "h3")[1]
    beside_r1 = [link for link in network.links if "r1" in (link.a, link.b)][1]
    assert by in (beside_r1.a, beside_r1.b)
    assert Topology.from_json(network.to_json()).path("h1", "h3") == network.path("h1", "h3")


def test_two_subnets_between_two_routers_are_two_ways():
    slow, fast = Link("r1", "r2", "20ms"), Link("r1", "s1", "5ms")
    links = [*HOSTS[:2], slow, fast, Link("s1", "r2")]
    network = addressed(*links, switches=["s1"])
    assert [link for link, _ in network.path("h1", "h2")] == [links[0], fast, links[4], links[1]]
    assert [link for link, _ in network.path("h2", "h1")] == [links[1], slow, links[0]], (
        "back, neither is slow, and it comes first"
    )
    assert network.across(slow) is None, "nothing that is sent ever meets its delay"
    assert network.across(slow, forward=False)[0].name == "h2"


def test_a_router_s_own_links_decide_and_not_the_order_of_subnets():
    own = [Link("r1", "r2"), Link("r1", "s1")]
    others = [Link("h1", "r1"), Link("s1", "r4"), Link("r2", "r3"), Link("r4", "r3")]
    for by, links in (("r2", own), ("r4", own[::-1])):
        network = addressed(
            Link("h5", "s1"), *others, *links, HOSTS[2], switches=["s1"], h5="10.0.0.2"
        )
        assert passed(network, "h1", "h3") == ["r1", by, "r3"]


def test_a_host_that_sees_two_routers_uses_both():
    links = [Link("h1", "s1"), Link("s1", "r1"), Link("s1", "r2"), Link("r1", "r3")]
    links += [Link("r2", "r3"), Link("r1", "h2"), Link("r2", "h3"), Link("r3", "h4")]
    with pytest.raises(SpecificationError, match=r"host 'h1' needs a route, .* 2 routers"):
        addressed(*links, switches=["s1"])
    for gateway, other, further in (("10.0.0.2", "10.0.0.3", "6"), ("10.0.0.3", "10.0.0.2", "5")):
        network = addressed(*links, switches=["s1"], h1=gateway)
        lines = [line for node, line in network.setup() if node == "h1" and "route" in line]
        assert lines[0] == f"ip route add default via {gateway}"
        assert f"ip route add 10.0.{further}.0/24 via {other}" in lines
        assert not any("10.0.7.0" in line for line in lines), "equally far: the default route"


def test_a_path_to_a_router_leads_to_its_first_address():
    first = addressed(*HOSTS[:2], *RING)
    assert first.host("r3").ip == "10.0.3.2", "on the link from r2"
    assert passed(first, "h1", "r3") == ["r1", "r2", "r3"]
    other = addressed(*HOSTS[:2], RING[0], RING[2], RING[1], RING[3])
    assert other.host("r3").ip == "10.0.3.1", "on the link to r4"
    assert passed(other, "h1", "r3") == ["r1", "r4", "r3"]


def test_an_unknown_end_of_a_path_is_refused():
    with pytest.raises(SpecificationError, match=r"node = 'h9': .*hosts are h1, h2, h3"):
        TRIANGLE.path("h1", "h9")
    assert TRIANGLE.path("r2", "r2") == []


def test_delays_are_limited_along_the_ways_that_packets_take():
    slow = [link.but(delay="900ms", both=True) for link in RING]
    assert addressed(*HOSTS[:2], *slow).rtt_s("h1", "h2") == 1.8
    assert addressed(*HOSTS, *slow).rtt_s("h1", "h3") == 3.6, "the longest, two of four links"
    with pytest.raises(SpecificationError, match=r"between 'h1' and 'h4' add up .* of 5\.4 s"):
        addressed(*HOSTS[:2], *slow[:3], RING[3].but(a="r4", b="h4")), "no ring, three links"
    with pytest.raises(SpecificationError, match=r"'r3' and 'r4' add up .* of 4 s: at most 3 s"):
        addressed(*HOSTS, *RING[:2], RING[2].but(delay="2s", both=True), RING[3])


def checked(network):
    """The pings that check a network's delays, all answered in time: (start, end)."""
    pings, owners = [], {end.ip: end.name for end in (*network.hosts, *network.routers)}

    def answer(start, command):
        if not command.startswith("ping"):
            return ""
        pings.append((start, owners[command.split()[-1]]))
        return answered(1000 * network.rtt_s(*pings[-1]))

    check_delays(network, answer, margin_s=0.001)
    return pings


def test_every_emulated_direction_that_packets_take_is_checked():
    both = [HOSTS[0], HOSTS[2], Link("r1", "r2", "5ms", both=True), *UNEQUAL.links[5:]]
    for network, most in ((UNEQUAL, 4), (addressed(*both), 5), (TRIANGLE, 3)):
        pings = checked(network)
        met = [step for pair in pings for way in (pair, pair[::-1]) for step in network.path(*way)]
        slow = [link for link in network.links if link.delay]
        assert {(link, True) for link in slow} <= {*met}
        assert {(link, False) for link in slow if link.both} <= {*met}
        assert len(pings) <= most
    assert ("r2", "h1") in checked(addressed(*both)), "no host's packets go from r2 to r1"


@pytest.mark.parametrize(
    "network",
    [TRIANGLE, pytest.param(UNEQUAL, marks=pytest.mark.long)],
    ids=["triangle", "way back"],
)
def test_live_packets_take_the_ways_that_are_computed_in_the_time_that_is(network):
    with Network(network) as net:
        for start, end in permutations([host.name for host in network.hosts], 2):
            text = net.run(start, f"ping -c 3 {network.host(end).ip}", echo=False).text
            pings = read_ping(text).pings
            assert pings.rtt_s.min() == pytest.approx(network.rtt_s(start, end), abs=5e-4)
            assert set(pings.ttl) == {64 - len(passed(network, end, start))}
            assert traced(net, network, start, end) == passed(network, start, end)
