"""Networks for tests: with addresses that follow from their links, and of any shape."""

from itertools import combinations

import networkx as nx
from hypothesis import strategies as st

from netlab import Host, Link, Router, Switch, Topology


def addressed(*links, switches=(), choose=False, **routes):
    """Hosts h..., routers r... and these switches, with addresses that follow from the links.

    Hosts have the default routes that are given; with `choose`, all others the first router they
    see.
    """
    subnet, addresses, first = list(range(len(links))), {}, {}
    for name in switches:
        near = [subnet[n] for n, link in enumerate(links) if name in (link.a, link.b)]
        subnet = [near[0] if number in near else number for number in subnet]
    for number, link in zip(subnet, links, strict=True):
        for name in [end for end in (link.a, link.b) if end not in switches]:
            start = f"10.0.{number}."
            taken = [a for found in addresses.values() for a in found if a.startswith(start)]
            addresses.setdefault(name, []).append(f"{start}{len(taken) + 1}/24")
            if choose and name[0] == "r":
                first.setdefault(number, f"{start}{len(taken) + 1}")
    names = sorted(name for name in addresses if name[0] == "h")
    for name in names:
        routes.setdefault(name, first.get(int(addresses[name][0].split(".")[2])))
    return Topology(
        [Host(name, addresses[name][0], routes[name]) for name in names],
        [Switch(name) for name in switches],
        links,
        routers=[Router(name, found) for name, found in addresses.items() if name[0] == "r"],
    )


def network_of(draw, kinds, pairs):
    """A network of nodes of these kinds, joined in these pairs."""
    names = [f"{kind}{kinds[: n + 1].count(kind)}" for n, kind in enumerate(kinds)]
    delays = st.sampled_from([None, None, "5ms", "20ms"])
    queues = [{}, {}, {"rate": "10mbit"}, {"queue_packets": 33}]
    queues += [{"rate": "2500kbit", "queue_packets": 100}, {"rate": "10mbit", "qdisc": "fq_codel"}]
    fields = st.tuples(delays, st.booleans(), st.sampled_from(queues))
    links = []
    for a, b in pairs:
        delay, both, queue = draw(fields)
        links.append(Link(names[a], names[b], delay, both=both, **queue))
    switches = [name for name in names if name[0] == "s"]
    return addressed(*draw(st.permutations(links)), switches=switches, choose=True)


def sound(kinds, pairs):
    """Whether switches make no loop, and no router has two links into one subnet."""
    wires = nx.Graph(
        [n if kinds[n] == "s" else (n, link) for n in pair] for link, pair in enumerate(pairs)
    )
    subnets = [
        [end[0] for end in part if isinstance(end, tuple)]
        for part in nx.connected_components(wires)
    ]
    return nx.is_forest(wires) and all(len(one) == len({*one}) for one in subnets)


@st.composite
def graphs(draw, most=6):
    """Networks of any shape: trees, or with any number of loops, each through two routers."""
    kinds = draw(st.lists(st.sampled_from("rrs"), min_size=2, max_size=most))
    pairs = [(draw(st.integers(0, n - 1)), n) for n in range(1, len(kinds))]
    others = st.sampled_from([*combinations(range(len(kinds)), 2)])
    for pair in draw(st.just([]) | st.lists(others, unique=True)):
        if pair not in pairs and sound(kinds, [*pairs, pair]):
            pairs.append(pair)
    for parent in draw(st.lists(st.integers(0, len(kinds) - 1), min_size=2, max_size=4)):
        pairs.append((parent, len(kinds)))
        kinds.append("h")
    return network_of(draw, kinds, pairs)
