from ipaddress import ip_address, ip_network
from itertools import combinations, pairwise, permutations
from math import inf

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlab import Host, Link, Network, Router, SpecificationError, Switch, Topology, wan
from tests import lines_run
from tests.topology.networks import addressed, graphs, network_of, sound

SACK, RMEM = "net.ipv4.tcp_sack", "net.ipv4.tcp_rmem"
H1, H2 = Host("h1", "10.0.0.1/8"), Host("h2", "10.0.0.2/8")


def routed(route=None, long=None, **topology):
    r"""Two subnets behind routers, a stub network behind a third, and hosts that see two routers.

    ::

        h1 --- s1 --- r1 ====== r2 --- h2
        h4 --/   \--- r3 --- h3
    """
    parts = {
        "hosts": [
            Host("h1", "10.0.1.9/24", "10.0.1.1"),
            Host("h2", "10.0.2.9/24"),
            Host("h3", "10.0.3.9/24"),
            Host("h4", "10.0.1.8/24", route or "10.0.1.3"),
        ],
        "switches": [Switch("s1")],
        "routers": [
            Router("r1", ["10.0.1.1/24", "192.168.1.1/30"]),
            Router("r2", ["192.168.1.2/30", "10.0.2.1/24"]),
            Router("r3", ["10.0.1.3/24", "10.0.3.1/24"]),
        ],
        "links": [
            Link("h1", "s1"),
            Link("s1", "r1"),
            long or Link("r1", "r2", "20ms", rate="10mbit"),
            Link("r2", "h2"),
            Link("h4", "s1"),
            Link("s1", "r3"),
            Link("r3", "h3"),
        ],
    }
    return Topology(**parts | topology)


HOSTS, ROUTERS, LINKS = routed().hosts, routed().routers, routed().links


def typed(network, *words):
    """The lines that have one of these words."""
    lines = [f"{node} {command}" for node, command in network.setup()]
    return [line for line in lines if any(word in line for word in words)]


def tc(network):
    return [line.replace(" tc qdisc add", "") for line in typed(network, " tc ")]


def test_loss_and_delay_are_netems_and_rates_are_tbfs():
    netem = "s1 dev s1-eth2 root handle 1: netem"
    tbf = "handle 2: tbf rate 10gbit burst 5000000 limit 15000000"
    below = f"s1 dev s1-eth2 parent 1: {tbf}"
    assert tc(wan()) == [f"{netem} delay 20ms limit 1000000", below]
    assert tc(wan(loss="1%"))[0] == f"{netem} delay 20ms loss 1% limit 1000000"
    assert tc(wan(delay=None, loss="1%"))[0] == f"{netem} loss 1% limit 1000000"
    assert tc(wan(delay=None)) == [f"s1 dev s1-eth2 root {tbf}"]


@pytest.mark.parametrize(
    ("options", "on"),
    [
        ({}, True),
        ({"loss": "1%"}, False),
        ({"loss": "1%", "offload": True}, True),
        ({"offload": False}, False),
        ({"qdisc": "codel"}, False),
        ({"qdisc": "codel", "offload": True}, True),
        ({"host_qdisc": "fq", "noise": "10us"}, True),
    ],
)
def test_offload_is_off_where_packets_are_lost_or_counted_unless_asked_for(options, on):
    network = wan(**options)
    assert network.offloading is on
    assert ("h1 ethtool -K h1-eth0 tso off gso off gro off" in typed(network, "ethtool")) is not on


@pytest.mark.parametrize(
    ("ends", "fields", "segments"),
    [
        (("h1", "s1"), {"loss": "1%"}, True),
        (("h1", "s1"), {"rate": "10mbit", "offload": False}, True),
        (("h1", "s1"), {"rate": "10mbit"}, False),
        (("h1", "s1"), {"delay": "10ms", "offload": False}, False),
        (("h1", "s1"), {"loss": "1%", "offload": True}, False),
        (("s1", "h1"), {"loss": "1%"}, False),
        (("s1", "h1"), {"loss": "1%", "both": True}, True),
        (("s1", "h1"), {"rate": "10mbit", "queue_packets": 20, "both": True}, True),
    ],
)
def test_a_card_that_loses_or_queues_is_handed_single_segments(ends, fields, segments):
    offload = fields.pop("offload", None)
    links = Link(*ends, **fields), Link("s1", "h2")
    hosts = Host("h1", "10.0.0.1/8"), Host("h2", "10.0.0.2/8")
    network = Topology(hosts, [Switch("s1")], links, offload=offload)
    line = "h1 ip link set dev h1-eth0 gso_max_segs 1"
    assert typed(network, "gso_max_segs") == [line] * segments


def test_buffers_set_both_maxima_on_every_host_and_sysctls_win():
    lines = typed(wan(buffers=52_428_800), "mem")
    assert [line[:2] for line in lines] == ["h1", "h1", "h2", "h2", "h3", "h3", "h4", "h4"]
    assert lines[0] == "h1 sysctl -w net.ipv4.tcp_rmem='10240 87380 52428800'"
    both = typed(wan(pairs=1, buffers="1mb", sysctls={RMEM: "1 2 3"}), RMEM)
    assert both[1] == f"h1 sysctl -w {RMEM}='1 2 3'"


def test_delay_is_one_way_so_it_is_the_round_trip_time():
    network = wan(delay="20ms")
    assert network.rtt_s("h1", "h2") == network.rtt_s("h2", "h1") == 0.02
    assert network.rtt_s("h1", "h3") == 0
    assert network.bottleneck_bps("h1", "h2") == 10e9
    assert network.bottleneck_bps("h2", "h1") == inf
    assert network.links[1] in network.emulated("h1", "h2")
    assert network.links[1] not in network.emulated("h2", "h1")


def test_interfaces_are_numbered_in_the_order_of_links_from_0_and_on_switches_from_1():
    network, other = wan(), routed()
    ends = ["h1-eth0", "s1-eth2", "s2-eth2", "h3-eth0", "s2-eth3"]
    assert [network.interface(link, link.a) for link in network.links] == ends
    assert [other.interface(link, "r1") for link in other.links[1:3]] == ["r1-eth0", "r1-eth1"]
    assert other.interface(other.links[1], "s1") == "s1-eth2"
    assert other.host("r2").ip == "192.168.1.2"


def test_a_link_is_checked_between_hosts_or_routers_it_joins():
    network = wan()
    start, end, path = network.across(network.links[1])
    assert (start.name, end.name) == ("h1", "h2") and network.links[1] in path
    router = Router("r1", ["10.0.0.2/8"])
    stub = Topology([H1], links=[Link("h1", "r1", "5ms")], routers=[router])
    start, end, _ = stub.across(stub.links[0])
    assert (start.name, end.name, end.ip) == ("h1", "r1", "10.0.0.2")


def test_sysctls_are_set_on_the_hosts_that_are_named():
    network = wan(pairs=1, sysctls={RMEM: "1 2 3"}).tuned({SACK: 0}, "h1")
    assert typed(network, SACK, RMEM) == [
        f"h1 sysctl -w {RMEM}='1 2 3'",
        f"h1 sysctl -w {SACK}=0",
        f"h2 sysctl -w {RMEM}='1 2 3'",
    ]
    everywhere = wan().tuned({SACK: 0}).tuned({SACK: 1}, "h4")
    assert [host.sysctls[SACK] for host in everywhere.hosts] == [0, 0, 0, 1]


def test_both_ends_emulate_as_mininets_tclink_does():
    one, two = (wan("10mbit", "20ms", "1%").links[1].but(both=both) for both in (False, True))
    near, far = (wan().but(links=[*wan().links[:1], link, *wan().links[2:]]) for link in (one, two))
    assert [line.split()[2] for line in tc(far)[::2]] == ["s1-eth2", "s2-eth1"]
    assert near.rtt_s("h1", "h2") == 0.02 and far.rtt_s("h1", "h2") == far.rtt_s("h4", "h3") == 0.04
    assert near.bottleneck_bps("h2", "h1") == inf and far.bottleneck_bps("h2", "h1") == 10e6
    assert near.emulated("h2", "h1") == [] and far.emulated("h2", "h1") == [two]


@pytest.mark.parametrize(
    ("link", "line"),
    [
        ({"rate": "20mbit"}, "handle 2: tbf rate 20mbit burst 10000 limit 49962"),
        ({"rate": "20mbit", "delay": "1ms"}, "handle 1: netem delay 1ms limit 1000000"),
        ({"delay": "1ms"}, "handle 1: netem delay 1ms limit 33"),
        ({}, "handle 1: netem limit 33"),
    ],
)
def test_a_queue_in_packets_is_the_bottlenecks_or_without_a_rate_netems(link, line):
    network = Topology([H1, H2], links=[Link("h1", "h2", queue_packets=33, **link)])
    assert tc(network)[0] == f"h1 dev h1-eth0 root {line}"
    assert not network.offloading, "with offload a packet is up to 64 KB"


def test_routers_forward_and_know_every_subnet():
    network = routed(long=Link("r1", "r2", loss="1%"))
    assert typed(routed(), " ip addr", "forward")[:3] == [
        "r1 sysctl -w net.ipv4.ip_forward=1",
        "r1 ip addr add 10.0.1.1/24 dev r1-eth0",
        "r1 ip addr add 192.168.1.1/30 dev r1-eth1",
    ]
    assert typed(routed(), " ip route") == [
        "h1 ip route add default via 10.0.1.1",  # given
        "h1 ip route add 10.0.3.0/24 via 10.0.1.3",  # behind the other router: no detour
        "h2 ip route add default via 10.0.2.1",
        "h3 ip route add default via 10.0.3.1",
        "h4 ip route add default via 10.0.1.3",
        "h4 ip route add 192.168.1.0/30 via 10.0.1.1",
        "h4 ip route add 10.0.2.0/24 via 10.0.1.1",
        "r1 ip route add 10.0.3.0/24 via 10.0.1.3",
        "r1 ip route add 10.0.2.0/24 via 192.168.1.2",
        "r2 ip route add 10.0.1.0/24 via 192.168.1.1",
        "r2 ip route add 10.0.3.0/24 via 192.168.1.1",
        "r3 ip route add 192.168.1.0/30 via 10.0.1.1",
        "r3 ip route add 10.0.2.0/24 via 10.0.1.1",
    ]
    assert "r3 ethtool -K r3-eth1 tso off gso off gro off" in typed(network, "ethtool"), (
        "routers must not merge the segments that a lossy link drops"
    )
    assert not typed(routed(), "ethtool")


def follow(network, start, end):
    """The computers a packet passes, by the routes of setup() alone."""
    tables, owner = {}, {}
    for node, command in network.setup():
        if command.startswith("ip route"):
            destination, _, gateway = command.split()[3:]
            subnet = ip_network("0.0.0.0/0" if destination == "default" else destination)
            tables.setdefault(node, []).append((subnet, gateway))
    own = [(host.name, host.address) for host in network.hosts]
    own += [(router.name, address) for router in network.routers for address in router.addresses]
    for name, address in own:
        owner[address.partition("/")[0]] = name
        tables.setdefault(name, []).append((ip_network(address, strict=False), None))
    here, target, passed = start, ip_address(network.host(end).ip), [start]
    while here != end:
        _, gateway = max(
            (row for row in tables[here] if target in row[0]), key=lambda row: row[0].prefixlen
        )
        here = owner[gateway or str(target)]
        passed.append(here)
        assert len(passed) <= len(network.node_names), f"a loop: {passed}"
    return passed


@settings(max_examples=100)
@given(graphs())
def test_in_any_network_packets_take_the_shortest_way(network):
    """The cost of every way there is, and the routes that are installed."""
    graph = nx.Graph((link.a, link.b, {"link": link}) for link in network.links)

    def cost(names):
        routers = [n for n, name in enumerate(names) if name[0] == "r"]
        steps = [*pairwise(names)][: max(routers, default=0)]  # a route leads to a subnet
        links = [(graph[a][b]["link"], a) for a, b in steps]
        return len(routers), sum(link.delay_s for link, a in links if link.both or link.a == a)

    for start, end in permutations([host.name for host in network.hosts], 2):
        nodes = [start]
        for link, forward in network.path(start, end):
            assert nodes[-1] == (link.a if forward else link.b)
            nodes.append(link.b if forward else link.a)
        assert follow(network, start, end) == [name for name in nodes if name[0] != "s"]
        best = min(cost(way) for way in nx.all_simple_paths(graph, start, end))
        assert cost(nodes) == pytest.approx(best)
        delay_s = sum(link.delay_s for link in network.emulated(start, end))
        assert network.routing.one_way_ns(start, end) / 1e9 == pytest.approx(delay_s)
        assert network.rtt_s(start, end) == network.rtt_s(end, start)
    for host in network.hosts:
        for router in network.routers:  # to its first address, too
            assert follow(network, host.name, router.name)[-1] == router.name
    assert Topology.from_json(network.to_json()) == network


@settings(max_examples=100)
@given(st.lists(st.sampled_from("rs"), min_size=2, max_size=6), st.data())
def test_loops_of_switches_are_refused_and_those_through_routers_are_not(kinds, data):
    kinds, pairs = [*kinds, "h"], [(n - 1, n) for n in range(1, len(kinds) + 1)]
    others = [pair for pair in combinations(range(len(kinds) - 1), 2) if pair not in pairs]
    pairs += data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    if sound(kinds, pairs):
        assert len(network_of(data.draw, kinds, pairs).links) == len(pairs)
    else:
        with pytest.raises(SpecificationError, match=r"loop of switches|lead into one subnet"):
            network_of(data.draw, kinds, pairs)


R2, R3 = (
    Router("r2", ["192.168.2.2/30", "10.0.2.1/24"]),
    Router("r3", ["10.0.1.9/24", "10.0.3.1/24"]),
)
NEAR = Router("r3", ["10.0.1.3/24", "10.0.2.129/25"])
THREE = [Host(f"h{n}", f"10.0.0.{n}/8") for n in (1, 2, 3)]
LOOP = [Link("s1", "s2"), Link("s2", "s3"), Link("s1", "s3")]
SQUARE = [Link("s1", "s2"), Link("s1", "r1"), Link("r1", "s2")]
REFUSED = {
    "'h1' is used 2 times": lambda: Topology([H1, H1]),
    "'s9', which is not a node": lambda: Topology([H1], links=[Link("h1", "s9")]),
    "no path from 'h1' to 's1'": lambda: Topology([H1], [Switch("s1")]),
    "host 'h2' has 2 links, but one": lambda: Topology(
        THREE, links=[Link("h1", "h2"), Link("h2", "h3")]
    ),
    "is not the name of a sysctl": lambda: wan(sysctls={"net.ipv4.tcp_sack; reboot": 0}),
    "one line of words": lambda: wan(sysctls={SACK: "0\n1"}),
    r"'r1'\): this network's hosts are h1, h2": lambda: routed().tuned({SACK: 0}, "r1"),
    "limit = 3000 and queue_packets = 2: give one of them": lambda: Link(
        "h1", "h2", rate="1mbit", limit=3000, queue_packets=2
    ),
    "one for each of its 2 links.*: s1-r1, r1-r2": lambda: routed(
        routers=[Router("r1", ["10.0.1.1/24"]), *ROUTERS[1:]]
    ),
    "route = '10.0.2.1' of host 'h4': .* 10.0.1.1 .r1. or 10.0.1.3 .r3.": lambda: routed(
        "10.0.2.1"
    ),
    r"'h1' needs a route, as it can see 2 routers: 10.0.1.1 \(r1\) or 10.0.1.3 \(r3\)": lambda: (
        routed(hosts=[host.but(route=None) for host in HOSTS])
    ),
    "'r1' with address 192.168.1.1/30 and 'r2' .* are joined without a router": lambda: routed(
        routers=[ROUTERS[0], R2, ROUTERS[2]]
    ),
    "the address 10.0.1.9 is that of 'h1' and 'r3': change all but one": lambda: routed(
        routers=[*ROUTERS[:2], R3]
    ),
    "'r2' with address 10.0.2.1/24 and 'r3' .* have a router in between": lambda: routed(
        hosts=[*HOSTS[:2], Host("h3", "10.0.2.130/25"), HOSTS[3]], routers=[*ROUTERS[:2], NEAR]
    ),
    "2 links join 's1' and 'r3': keep one of them": lambda: routed(
        links=[*LINKS, Link("r3", "s1")]
    ),
    "s1-s2, s2-s3, s1-s3 make a loop of switches.* take out a link, such as s1-s3": lambda: (
        addressed(Link("h1", "s1"), *LOOP, switches=["s1", "s2", "s3"])
    ),
    "links s1-r1, r1-s2 of 'r1' lead into one subnet.* make a switch a router": lambda: addressed(
        Link("h1", "s1"), *SQUARE, switches=["s1", "s2"]
    ),
    "wan.access names h5: its hosts are h1 to h4": lambda: wan(access={"h5": "1ms"}),
    "wan: qdisc = 'codel': it needs a rate": lambda: wan(rate=None, qdisc="codel"),
    "limit = '1mb' and qdisc = 'codel': give one": lambda: wan(limit="1mb", qdisc="codel"),
    "queue_packets = 3 and qdisc = 'codel': give one": lambda: Link(
        "h1", "h2", rate="1mbit", queue_packets=3, qdisc="codel"
    ),
    "qdisc = 'fq' of host 'h3': its card h3-eth0 emulates .* h3-s1 .* at 's1'": lambda: wan(
        access={"h3": "5ms"}, host_qdisc="fq"
    ),
    "host 'h2': its card h2-eth0 makes the noise of 'h1'.* put a switch between": lambda: Topology(
        [H1.but(noise="1us"), H2.but(qdisc="fq")], links=[Link("h1", "h2")]
    ),
    r"round-trip time of 3\.1 s": lambda: wan(delay="2900ms", noise="100ms"),
}


@pytest.mark.parametrize(("words", "make"), REFUSED.items(), ids=REFUSED)
def test_a_network_that_cannot_be_is_refused(words, make):
    with pytest.raises(SpecificationError, match=words):
        make()


def test_live_routers_pass_packets_along_the_path_at_the_round_trip_time_asked_for():
    long = Link("r1", "r2", "20ms", rate="10mbit", both=True, burst="15kb", queue_packets=33)
    network = routed(long=long).tuned({SACK: 0, RMEM: "4096 87380 1000000"}, "h1")
    with Network(network) as net:
        text = net.run("h1", "ping -c 3 10.0.2.9", echo=False).text
        assert "ttl=62 time=40.0 ms" in text and "Redirect" not in text
        assert "ttl=63" in net.run("h1", "ping -c 1 10.0.3.9", echo=False).text
        assert "time=40.0 ms" in net.run("h2", "ping -c 2 10.0.1.8", echo=False).text
        kept = net.run("h1", f"sysctl -n {SACK} {RMEM}", echo=False).text.split()
        assert kept == ["0", "4096", "87380", "1000000"]
        assert net.run("h2", f"sysctl -n {SACK}", echo=False).text.split() == ["1"]


def test_access_delays_are_on_a_host_s_own_link_and_add_to_its_rtt():
    network = wan("100mbit", "10ms", access={"h3": "30ms", "h2": "5ms"})
    pairs = [("h1", "h2"), ("h3", "h4"), ("h1", "h4")]
    assert [network.rtt_s(*pair) for pair in pairs] == [0.015, 0.040, 0.010]
    assert "h3 dev h3-eth0 root handle 1: netem delay 30ms limit 1000000" in tc(network)
    assert wan(access={}) == wan(), "as if it were not there, so that records stay found"


def test_noise_is_netem_at_the_other_end_of_a_host_s_cable():
    plain, noisy = tc(wan("1gbit", pairs=1)), tc(wan("1gbit", pairs=1, noise="10us"))
    words = "netem delay 5us 5us rate 100tbit limit 1000000"
    assert [line for line in noisy if line not in plain] == [
        f"s1 dev s1-eth1 root handle 1: {words}",
        f"s2 dev s2-eth2 root handle 1: {words}",
    ]
    assert [line for line in noisy if line in plain] == plain
    delayed = tc(wan(None, None, pairs=1, noise="10us", access={"h1": "1ms", "h2": "1ms"}))
    assert delayed == [
        "h1 dev h1-eth0 root handle 1: netem delay 1ms limit 1000000",
        f"s1 dev s1-eth1 root handle 1: {words}",
        "s2 dev s2-eth2 root handle 1: netem delay 1005us 5us rate 100tbit limit 1000000",
    ]
    link = Link("h1", "h2", "20ms", "1%", "10mbit", both=True)
    assert tc(Topology([H1.but(noise="3us"), H2], links=[link]))[::2] == [
        "h1 dev h1-eth0 root handle 1: netem delay 20ms loss 1% limit 1000000",
        "h2 dev h2-eth0 root handle 1: netem delay 20001.5us 1.5us rate 100tbit loss 1% limit"
        " 1000000",
    ]


def test_no_noise_is_no_noise():
    assert tc(wan(noise="0us")) == tc(wan())
    for noise in ("0.001us", "101ms", "-1us", "10"):
        with pytest.raises(SpecificationError, match=f"wan.noise = '{noise}'"):
            wan(noise=noise)


def test_a_discipline_is_a_child_of_tbf_or_the_root_of_a_host_s_card():
    lines = tc(wan("1gbit", "20ms", pairs=1, qdisc="fq_codel  limit 9", host_qdisc="fq"))
    assert lines == [
        *tc(wan("1gbit", "20ms", pairs=1)),
        "s1 dev s1-eth2 parent 2:1 handle 3: fq_codel limit 9",
        "h1 dev h1-eth0 root fq",
        "h2 dev h2-eth0 root fq",
    ]


def test_a_network_without_them_is_the_same_text_and_with_them_survives_json():
    for text in (repr(wan()), wan().to_json()):
        assert "noise" not in text and "qdisc" not in text and "sysctls" in text
    assert "10us" in repr(wan(noise="10us"))
    network = wan("1mbit", noise="10us", qdisc="fq_codel", host_qdisc="fq")
    assert Topology.from_json(network.to_json()) == network
    assert network.links[1].but(rate="1gbit", qdisc=None) == wan("1gbit").links[1]


def test_the_commands_of_many_hosts_are_told_in_a_time_that_grows_with_their_number():
    def lines(count):
        hosts = [Host(f"h{n}", f"10.0.0.{n + 1}/8") for n in range(count)]
        own = [Link(host.name, "s1", rate="10mbit", both=True) for host in hosts]
        network = Topology(hosts, [Switch("s1")], own)
        return lines_run(lambda: list(network.setup()))

    assert lines(200) < 2.2 * lines(100)
