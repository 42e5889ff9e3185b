from ipaddress import ip_address, ip_network
from itertools import combinations, pairwise, permutations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlab import Host, Link, Network, Ping, SpecificationError, Switch, Topology, run, wan
from netlab.topology import Router

SACK, RMEM = "net.ipv4.tcp_sack", "net.ipv4.tcp_rmem"


def routed(route=None, long=None, **topology):
    r"""Two subnets behind routers, a stub network behind a third, and a host that can see two
    routers.

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


@st.composite
def trees(draw, most=9):
    """Networks of any shape without circles: hosts at the ends of a tree of switches and routers,
    each segment with a subnet of its own.
    """
    parents = [draw(st.integers(0, n - 1)) for n in range(1, draw(st.integers(2, most)))]
    pairs = [(parent, n) for n, parent in enumerate(parents, start=1)]
    degree = [sum(n in pair for pair in pairs) for n in range(len(parents) + 1)]
    ends = [n for n, count in enumerate(degree) if count == 1]
    kinds = [
        "h" if n == ends[0] else draw(st.sampled_from("hhsr" if n in ends else "sr"))
        for n in range(len(degree))
    ]
    return network_of(draw, kinds, pairs)


def sound(kinds, pairs):
    """Whether switches make no circle, and no router has two links into one subnet."""
    wires = nx.Graph(
        [n if kinds[n] == "s" else (n, link) for n in pair] for link, pair in enumerate(pairs)
    )
    parts = [
        [end[0] for end in part if isinstance(end, tuple)]
        for part in nx.connected_components(wires)
    ]
    return nx.is_forest(wires) and all(len(part) == len(set(part)) for part in parts)


@st.composite
def graphs(draw, most=6):
    """Networks with any number of circles, each through two routers or more."""
    kinds = draw(st.lists(st.sampled_from("rrs"), min_size=2, max_size=most))
    pairs = [(draw(st.integers(0, n - 1)), n) for n in range(1, len(kinds))]
    for pair in draw(st.lists(st.sampled_from([*combinations(range(len(kinds)), 2)]), unique=True)):
        if pair not in pairs and sound(kinds, [*pairs, pair]):
            pairs.append(pair)
    for parent in draw(st.lists(st.integers(0, len(kinds) - 1), min_size=2, max_size=4)):
        pairs.append((parent, len(kinds)))
        kinds.append("h")
    return network_of(draw, kinds, pairs)


def network_of(draw, kinds, pairs):
    """A network of nodes of these kinds, joined in these pairs; each segment has its subnet."""
    names = [f"{kind}{kinds[: n + 1].count(kind)}" for n, kind in enumerate(kinds)]
    segment = list(range(len(pairs)))
    for n, kind in enumerate(kinds):
        near = [segment[i] for i, pair in enumerate(pairs) if n in pair] if kind == "s" else []
        segment = [near[0] if number in near else number for number in segment]
    addresses = {name: [] for name in names}
    for i, pair in enumerate(pairs):
        for n in pair:
            if kinds[n] != "s":
                addresses[names[n]].append(f"10.0.{segment[i]}.{n + 1}/24")
    delays = st.sampled_from([None, None, "5ms", "20ms"])
    extras = st.sampled_from(
        [
            {},
            {},
            {"rate": "10mbit"},
            {"queue_packets": 33},
            {"rate": "2500kbit", "queue_packets": 100},
            {"rate": "10mbit", "qdisc": "fq_codel limit 1000"},
        ]
    )
    links = [
        Link(names[a], names[b], draw(delays), both=draw(st.booleans()), **draw(extras))
        for a, b in pairs
    ]
    first = {}  # a router of every segment, for the hosts that see more than one
    for i, pair in enumerate(pairs):
        for n in pair:
            if kinds[n] == "r":
                first.setdefault(segment[i], f"10.0.{segment[i]}.{n + 1}")
    hosts = []
    for n, name in enumerate(names):
        if kinds[n] == "h":
            number = next(segment[i] for i, pair in enumerate(pairs) if n in pair)
            hosts.append(Host(name, addresses[name][0], first.get(number)))
    return Topology(
        hosts=hosts,
        switches=[Switch(name) for name in names if name[0] == "s"],
        routers=[Router(name, addresses[name]) for name in names if name[0] == "r"],
        links=(
            draw(st.permutations(links))
            if all(len(found) < 2 for found in addresses.values())
            else links
        ),
    )


def test_the_wan_is_set_up_with_the_labs_lines():
    assert [f"{node} {command}" for node, command in wan().setup() if command.startswith("tc")] == [
        "s1 tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms limit 1000000",
        (
            "s1 tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 10gbit burst 5000000 limit"
            " 15000000"
        ),
    ]


def test_loss_and_delay_are_netems_and_either_may_be_missing():
    def netem(**link):
        return [command for _, command in wan(**link).setup() if " netem " in command]

    assert "netem delay 20ms loss 1% limit" in netem(loss="1%")[0]
    assert "netem loss 1% limit" in netem(delay=None, loss="1%")[0]
    assert netem(delay=None) == []
    assert next(command for _, command in wan(delay=None).setup() if "tbf" in command).split()[
        5:7
    ] == ["root", "handle"]


@pytest.mark.parametrize(
    ("loss", "offload", "on"),
    [("0%", None, True), ("1%", None, False), ("1%", True, True), ("0%", False, False)],
)
def test_offload_is_off_where_segments_are_lost_unless_asked_for(loss, offload, on):
    network = wan(loss=loss, offload=offload)
    assert network.offloading is on
    assert (
        any(
            "ethtool -K h1-eth0 tso off gso off gro off" in command
            for _, command in network.setup()
        )
        is not on
    )


def test_buffers_set_both_maxima_on_every_host():
    lines = [
        (node, command) for node, command in wan(buffers=52_428_800).setup() if "mem" in command
    ]
    assert [node for node, _ in lines] == ["h1", "h1", "h2", "h2", "h3", "h3", "h4", "h4"]
    assert lines[0][1] == "sysctl -w net.ipv4.tcp_rmem='10240 87380 52428800'"


def test_delay_is_one_way_so_it_is_the_round_trip_time():
    network = wan(delay="20ms")
    assert network.rtt_s("h1", "h2") == network.rtt_s("h2", "h1") == 0.02
    assert network.rtt_s("h1", "h3") == 0
    assert network.bottleneck_bps("h1", "h2") == 10e9
    assert network.bottleneck_bps("h2", "h1") == float("inf")


def test_interfaces_are_numbered_in_the_order_of_links():
    network = wan()
    assert [network.interface(link, link.a) for link in network.links] == [
        "h1-eth0",
        "s1-eth2",
        "s2-eth2",
        "h3-eth0",
        "s2-eth3",
    ]


def test_a_link_is_checked_between_hosts_it_joins():
    network = wan()
    start, end, path = network.across(network.links[1])
    assert (start.name, end.name) == ("h1", "h2") and network.links[1] in path


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"hosts": [Host("h1", "10.0.0.1/8"), Host("h1", "10.0.0.2/8")]}, "'h1' is used 2 times"),
        (
            {"hosts": [Host("h1", "10.0.0.1/8")], "links": [Link("h1", "s9")]},
            "'s9', which is not a node",
        ),
        (
            {"hosts": [Host("h1", "10.0.0.1/8")], "switches": [Switch("s1")]},
            "no path from 'h1' to 's1'",
        ),
        (
            {
                "hosts": [Host("h1", "10.0.0.1/8")],
                "switches": [Switch("s1"), Switch("s2")],
                "links": [Link("h1", "s1"), Link("s1", "s2"), Link("s2", "h1")],
            },
            "host 'h1' has 2 links, but one network card",
        ),
    ],
)
def test_a_network_that_cannot_be_is_refused(parts, words):
    with pytest.raises(SpecificationError, match=words):
        Topology(**parts)


def test_a_wrong_address_is_refused_where_it_is_written():
    for address in ("10.0.0.1", "10.0.0.300/8", "10.0.0.1/33", "::1/8", "10.0.0.1/255.0.0.0"):
        with pytest.raises(
            SpecificationError, match="an IPv4 address with the length of its prefix"
        ):
            Host("h1", address)
    with pytest.raises(
        SpecificationError,
        match=r"means the subnet itself: a node's lies between 10.0.0.1 and 10.255.255.254",
    ):
        Host("h1", "10.0.0.0/8")
    with pytest.raises(SpecificationError, match="means everybody"):
        Router("r1", ["10.0.0.255/24"])


def test_sysctls_are_set_on_the_hosts_that_are_named():
    network = wan(pairs=1, sysctls={RMEM: "1 2 3"}).tuned({SACK: 0}, "h1")
    lines = [
        f"{node} {command}"
        for node, command in network.setup()
        if SACK in command or RMEM in command
    ]
    assert lines == [
        f"h1 sysctl -w {RMEM}='1 2 3'",
        f"h1 sysctl -w {SACK}=0",
        f"h2 sysctl -w {RMEM}='1 2 3'",
    ]
    everywhere = wan().tuned({SACK: 0}).tuned({SACK: 1}, "h4")
    assert [host.sysctls[SACK] for host in everywhere.hosts] == [0, 0, 0, 1]


def test_sysctls_come_after_the_buffers_so_that_they_win():
    lines = [
        command
        for _, command in wan(pairs=1, buffers="1mb", sysctls={RMEM: "1 2 3"}).setup()
        if RMEM in command
    ]
    assert lines[1] == f"sysctl -w {RMEM}='1 2 3'"


@pytest.mark.parametrize(
    ("sysctls", "words"),
    [
        (
            {"vm.overcommit_memory": 1},
            "'vm.overcommit_memory' is not a host's own: hosts share one kernel",
        ),
        ({"net.ipv4.tcp_sack; reboot": 0}, "is not the name of a sysctl"),
        ({SACK: "0\n1"}, "one line of words"),
    ],
)
def test_sysctls_that_are_not_a_hosts_own_are_refused(sysctls, words):
    with pytest.raises(SpecificationError, match=words):
        wan(sysctls=sysctls)


def test_tuning_a_host_that_is_not_there_is_refused():
    with pytest.raises(
        SpecificationError, match=r"'r1'\): this network's hosts are h1, h2, h3, h4"
    ):
        routed().tuned({SACK: 0}, "r1")


def test_both_ends_emulate_as_mininets_tclink_does():
    one, two = (wan("10mbit", "20ms", "1%").links[1].but(both=both) for both in (False, True))
    near, far = (wan().but(links=[*wan().links[:1], link, *wan().links[2:]]) for link in (one, two))
    tc = [f"{node} {command}" for node, command in far.setup() if command.startswith("tc")]
    assert [line.split()[:6] for line in tc[::2]] == [
        [s, "tc", "qdisc", "add", "dev", f"{s}-eth{n}"] for s, n in (("s1", 2), ("s2", 1))
    ]
    assert near.rtt_s("h1", "h2") == 0.02 and far.rtt_s("h1", "h2") == far.rtt_s("h4", "h3") == 0.04
    assert (
        near.bottleneck_bps("h2", "h1") == float("inf") and far.bottleneck_bps("h2", "h1") == 10e6
    )
    assert near.emulated("h2", "h1") == [] and far.emulated("h2", "h1") == [two]


def test_emulated_links_are_those_walked_from_their_first_node():
    network = wan()
    assert network.links[1] in network.emulated("h1", "h2") and network.links[
        1
    ] not in network.emulated("h2", "h1")


def queue(**link):
    network = Topology(
        [Host("h1", "10.0.0.1/8"), Host("h2", "10.0.0.2/8")], links=[Link("h1", "h2", **link)]
    )
    return network.offloading, [
        command.partition(" root ")[2] for _, command in network.setup() if command.startswith("tc")
    ]


def test_a_queue_in_packets_is_the_bottlenecks():
    offloading, lines = queue(rate="20mbit", queue_packets=33)
    assert lines == ["handle 2: tbf rate 20mbit burst 10000 limit 49962"]
    assert not offloading, "with offload a packet is up to 64 KB"
    assert (
        queue(rate="20mbit", delay="1ms", queue_packets=33)[1][0]
        == "handle 1: netem delay 1ms limit 1000000"
    )


def test_without_a_rate_a_queue_in_packets_is_netems():
    assert queue(delay="1ms", queue_packets=33) == (False, ["handle 1: netem delay 1ms limit 33"])
    assert queue(queue_packets=33) == (False, ["handle 1: netem limit 33"])


def test_one_queue_has_one_length():
    with pytest.raises(
        SpecificationError, match="limit = 3000 and queue_packets = 2: give one of them"
    ):
        Link("h1", "h2", rate="1mbit", limit=3000, queue_packets=2)


def test_routers_forward_and_know_every_subnet():
    lines = [
        f"{node} {command}"
        for node, command in routed().setup()
        if " ip " in f" {command}" or "forward" in command
    ]
    assert lines[:3] == [
        "r1 sysctl -w net.ipv4.ip_forward=1",
        "r1 ip addr add 10.0.1.1/24 dev r1-eth0",
        "r1 ip addr add 192.168.1.1/30 dev r1-eth1",
    ]
    assert [line for line in lines if line.startswith("r1 ip route")] == [
        "r1 ip route add 10.0.3.0/24 via 10.0.1.3",
        "r1 ip route add 10.0.2.0/24 via 192.168.1.2",
    ]
    assert [line for line in lines if line.startswith("r2 ip route")] == [
        "r2 ip route add 10.0.1.0/24 via 192.168.1.1",
        "r2 ip route add 10.0.3.0/24 via 192.168.1.1",
    ]


def test_a_default_route_follows_from_the_network_where_there_is_no_choice():
    lines = [f"{node} {command}" for node, command in routed().setup() if "route" in command]
    assert "h2 ip route add default via 10.0.2.1" in lines
    assert "h1 ip route add default via 10.0.1.1" in lines, "given"
    assert "h1 ip route add 10.0.3.0/24 via 10.0.1.3" in lines, (
        "what is behind the other router is reached without a detour"
    )
    with pytest.raises(
        SpecificationError,
        match=r"'h1' needs a route, as it can see 2 routers: 10.0.1.1 \(r1\) or 10.0.1.3 \(r3\)",
    ):
        routed(hosts=[host.but(route=None) for host in routed().hosts])


def follow(network, start, end):
    """The computers a packet passes, by the routes of setup() alone."""
    tables, owner = {}, {}
    for node, command in network.setup():
        if command.startswith("ip route"):
            destination, _, gateway = command.split()[3:]
            subnet = ip_network("0.0.0.0/0" if destination == "default" else destination)
            tables.setdefault(node, []).append((subnet, gateway))
    for host in network.hosts:
        owner[host.ip] = host.name
        tables.setdefault(host.name, []).append((ip_network(host.address, strict=False), None))
    for router in network.routers:
        for address in router.addresses:
            owner[address.partition("/")[0]] = router.name
            tables.setdefault(router.name, []).append((ip_network(address, strict=False), None))
    here, target, passed = start, ip_address(network.host(end).ip), [start]
    while here != end:
        _, gateway = max(
            (row for row in tables[here] if target in row[0]), key=lambda row: row[0].prefixlen
        )
        here = owner[gateway or str(target)]
        passed.append(here)
        assert len(passed) <= len(network.node_names), f"a loop: {passed}"
    return passed


@settings(max_examples=150)
@given(trees())
def test_in_any_tree_packets_take_the_path_of_the_links(network):
    for start, end in permutations([host.name for host in network.hosts], 2):
        nodes = [start]
        for link, forward in network.path(start, end):
            nodes.append(link.b if forward else link.a)
        assert follow(network, start, end) == [name for name in nodes if name[0] != "s"]


@settings(max_examples=150)
@given(graphs())
def test_in_any_graph_packets_take_the_shortest_way(network):
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
    for host in network.hosts:
        for router in network.routers:  # to its first address, too
            assert follow(network, host.name, router.name)[-1] == router.name


@settings(max_examples=100)
@given(st.lists(st.sampled_from("rs"), min_size=2, max_size=6), st.data())
def test_circles_of_switches_are_refused_and_those_through_routers_are_not(kinds, data):
    kinds, pairs = [*kinds, "h"], [(n - 1, n) for n in range(1, len(kinds) + 1)]
    others = [pair for pair in combinations(range(len(kinds) - 1), 2) if pair not in pairs]
    pairs += data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    if sound(kinds, pairs):
        assert len(network_of(data.draw, kinds, pairs).links) == len(pairs)
    else:
        with pytest.raises(SpecificationError, match=r"circle of switches|lead into one subnet"):
            network_of(data.draw, kinds, pairs)


@settings(max_examples=50)
@given(trees() | graphs())
def test_any_network_survives_json_and_has_the_same_round_trip_both_ways(network):
    assert Topology.from_json(network.to_json()) == network
    for start, end in permutations([host.name for host in network.hosts], 2):
        assert network.rtt_s(start, end) == network.rtt_s(end, start)


def test_router_interfaces_are_numbered_from_zero():
    network = routed()
    assert (
        network.interface(network.links[1], "r1") == "r1-eth0"
        and network.interface(network.links[2], "r1") == "r1-eth1"
    )
    assert network.interface(network.links[1], "s1") == "s1-eth2"
    assert (
        network.address("r2", network.links[3]) == "10.0.2.1/24"
        and network.host("r2").ip == "192.168.1.2"
    )


def test_routers_must_not_merge_the_segments_that_a_lossy_link_drops():
    lines = [
        f"{node} {command}" for node, command in routed(long=Link("r1", "r2", loss="1%")).setup()
    ]
    assert "r3 ethtool -K r3-eth1 tso off gso off gro off" in lines
    assert not [line for node, line in routed().setup() if "ethtool" in line]


def test_a_link_to_a_router_without_hosts_can_be_checked_too():
    stub = Topology(
        [Host("h1", "10.0.0.1/8")],
        links=[Link("h1", "r1", "5ms")],
        routers=[Router("r1", ["10.0.0.2/8"])],
    )
    start, end, _ = stub.across(stub.links[0])
    assert (start.name, end.name, end.ip) == ("h1", "r1", "10.0.0.2")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"routers": [Router("r1", ["10.0.1.1/24"]), *routed().routers[1:]]},
            "one for each of its 2 links.*: s1-r1, r1-r2",
        ),
        (
            {"route": "10.0.2.1"},
            "route = '10.0.2.1' of host 'h4': .* here 10.0.1.1 .r1. or 10.0.1.3 .r3.",
        ),
        (
            {
                "routers": [
                    routed().routers[0],
                    Router("r2", ["192.168.2.2/30", "10.0.2.1/24"]),
                    routed().routers[2],
                ]
            },
            (
                "'r1' with address 192.168.1.1/30 and 'r2' with address 192.168.2.2/30 are joined"
                " without a router in between"
            ),
        ),
        (
            {"routers": [*routed().routers[:2], Router("r3", ["10.0.1.9/24", "10.0.3.1/24"])]},
            "the address 10.0.1.9 of 'h1' is another node's, too",
        ),
        (
            {
                "hosts": [*routed().hosts[:2], Host("h3", "10.0.2.130/25"), routed().hosts[3]],
                "routers": [*routed().routers[:2], Router("r3", ["10.0.1.3/24", "10.0.2.129/25"])],
            },
            (
                "'r2' with address 10.0.2.1/24 and 'r3' with address 10.0.2.129/25 have a router in"
                " between"
            ),
        ),
        ({"links": [*routed().links, Link("h2", "h3")]}, "host 'h2' has 2 links"),
        (
            {"links": [*routed().links, Link("r3", "s1")]},
            "2 links join 's1' and 'r3', .* keep one of them, or put a router into the other",
        ),
    ],
)
def test_routers_that_cannot_work_are_refused(change, words):
    with pytest.raises(SpecificationError, match=words):
        routed(**change)


def test_a_host_has_one_network_card():
    hosts = [Host(f"h{n}", f"10.0.0.{n}/8") for n in (1, 2, 3)]
    with pytest.raises(SpecificationError, match="host 'h2' has 2 links, but one network card"):
        Topology(hosts, links=[Link("h1", "h2"), Link("h2", "h3")])


def test_live_routers_pass_packets_along_the_path_at_the_round_trip_time_asked_for():
    network = routed(
        long=Link("r1", "r2", "20ms", rate="10mbit", both=True, burst="15kb", queue_packets=33)
    )
    network = network.tuned({SACK: 0, RMEM: "4096 87380 1000000"}, "h1")
    with Network(network) as net:
        text = net.run("h1", "ping -c 3 10.0.2.9", echo=False).text
        assert "ttl=62 time=40.0 ms" in text and "Redirect" not in text
        assert "ttl=63" in net.run("h1", "ping -c 1 10.0.3.9", echo=False).text
        assert net.run("h1", f"sysctl -n {SACK} {RMEM}", echo=False).text.split() == [
            "0",
            "4096",
            "87380",
            "1000000",
        ]
        assert net.run("h2", f"sysctl -n {SACK}", echo=False).text.split() == ["1"]
    assert run(network, Ping("h2", "h4", count=2)).pings.rtt_s.tolist()[1] == pytest.approx(
        0.04, abs=1e-4
    )


def test_access_delays_are_on_a_host_s_own_link_and_add_to_its_rtt():
    network = wan(access={"h3": "60ms", "h2": "5ms"})
    assert (network.rtt_s("h1", "h2"), network.rtt_s("h3", "h4"), network.rtt_s("h1", "h4")) == (
        0.025,
        0.080,
        0.020,
    )
    assert ("h3", "tc qdisc add dev h3-eth0 root handle 1: netem delay 60ms limit 1000000") in list(
        network.setup()
    )
    assert wan(access={}) == wan(), "as if it were not there, so that records stay found"
    with pytest.raises(SpecificationError, match=r"wan.access names h5: its hosts are h1 to h4"):
        wan(access={"h5": "1ms"})
    with pytest.raises(SpecificationError, match="sixty"):
        wan(access={"h3": "sixty"})


def test_pings_take_the_access_delays():
    pings = run(
        wan("100mbit", "10ms", access={"h3": "30ms"}), Ping("h1", "h2"), Ping("h3", "h4")
    ).pings
    assert pings.groupby("src").rtt_s.min().round(6).to_dict() == {"h1": 0.010, "h3": 0.040}


def tc(network):
    return [f"{node} {line[13:]}" for node, line in network.setup() if line.startswith("tc")]


def test_noise_is_netem_at_the_other_end_of_a_host_s_cable():
    plain, noisy = tc(wan("1gbit", pairs=1)), tc(wan("1gbit", pairs=1, noise="10us"))
    words = "netem delay 5us 5us rate 100tbit limit 1000000"
    assert [line for line in noisy if line not in plain] == [
        f"s1 dev s1-eth1 root handle 1: {words}",
        f"s2 dev s2-eth2 root handle 1: {words}",
    ]
    assert [line for line in noisy if line in plain] == plain


def test_noise_joins_what_an_interface_emulates_already():
    delayed = tc(wan(None, None, pairs=1, noise="10us", access={"h1": "1ms", "h2": "1ms"}))
    assert delayed == [
        "h1 dev h1-eth0 root handle 1: netem delay 1ms limit 1000000",
        "s1 dev s1-eth1 root handle 1: netem delay 5us 5us rate 100tbit limit 1000000",
        "s2 dev s2-eth2 root handle 1: netem delay 1005us 5us rate 100tbit limit 1000000",
    ]
    hosts = [Host("h1", "10.0.0.1/8", noise="3us"), Host("h2", "10.0.0.2/8")]
    link = Link("h1", "h2", "20ms", "1%", "10mbit", both=True)
    assert [line for line in tc(Topology(hosts, links=[link])) if "netem" in line] == [
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


def test_a_discipline_counts_packets_so_offload_is_off():
    assert not wan(qdisc="codel").offloading and wan(qdisc="codel", offload=True).offloading
    assert wan(host_qdisc="fq", noise="10us").offloading


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda: wan(rate=None, qdisc="codel"), "wan: qdisc = 'codel': it needs a rate"),
        (lambda: wan(limit="1mb", qdisc="codel"), "limit = '1mb' and qdisc = 'codel': give one"),
        (
            lambda: Link("h1", "h2", rate="1mbit", queue_packets=3, qdisc="codel"),
            "queue_packets = 3 and qdisc = 'codel': give one",
        ),
        (
            lambda: wan(access={"h3": "5ms"}, host_qdisc="fq"),
            "qdisc = 'fq' of host 'h3': its card h3-eth0 emulates .* h3-s1 .* at 's1'",
        ),
        (
            lambda: Topology(
                [Host("h1", "10.0.0.1/8", noise="1us"), Host("h2", "10.0.0.2/8", qdisc="fq")],
                links=[Link("h1", "h2")],
            ),
            "of host 'h2': its card h2-eth0 makes the noise of 'h1'.* put a switch between",
        ),
    ],
)
def test_a_discipline_that_has_no_place_is_refused(asked, words):
    with pytest.raises(SpecificationError, match=words):
        asked()


def test_a_network_without_them_is_the_same_text_and_with_them_survives_json():
    assert "noise" not in wan().to_json() and "qdisc" not in wan().to_json()
    network = wan("1mbit", noise="10us", qdisc="fq_codel", host_qdisc="fq")
    assert Topology.from_json(network.to_json()) == network
    assert network.links[1].but(rate="1gbit", qdisc=None) == wan("1gbit").links[1]


def test_noise_counts_where_an_address_must_be_found_in_time():
    assert wan(delay="2900ms").rtt_s("h1", "h2") == 2.9
    with pytest.raises(SpecificationError, match=r"round-trip time of 3\.1 s"):
        wan(delay="2900ms", noise="100ms")
