"""Subnets: the parts into which routers divide a network of links.

::

    h1 --- s1 --- r1 ======= r2 --- h7        three segments, each of one subnet:
    h2 --/                                    h1 h2 r1   r1 r2   r2 h7

A *segment* is what cables and switches join: its interfaces reach each other directly, so they
share one subnet. Every other subnet is reached via a router; `netlab.topology.routing` says which.
"""

import re
from collections import Counter
from ipaddress import IPv4Interface, IPv4Network

import networkx as nx

RESERVED = {  # what the kernel gives no interface, or no route
    IPv4Network("0.0.0.0/8"): "'this network'",
    IPv4Network("127.0.0.0/8"): "the computer itself",
    IPv4Network("224.0.0.0/4"): "groups of computers (multicast)",
    IPv4Network("255.255.255.255/32"): "everybody",
}


def check_address(text):
    """Refuse a text that is no address, with prefix length, that an interface may have."""
    try:
        if not re.fullmatch(r"[0-9.]+/([1-9]|[12][0-9]|3[0-2])", text):
            raise ValueError
        found = IPv4Interface(text)
    except ValueError:
        allowed = "an IPv4 address with its prefix length, 1 to 32, such as '10.0.0.1/8'"
        raise ValueError(allowed) from None
    subnet = found.network
    for reserved, meaning in RESERVED.items():
        if found.ip in reserved or subnet.network_address in reserved:
            what = "it lies" if found.ip in reserved else f"its subnet {subnet} begins"
            raise ValueError(
                f"{what} in {reserved}, which means {meaning}: choose another, such as '10.0.0.1/8'"
            )
    if subnet.prefixlen < 31 and found.ip in (subnet.network_address, subnet.broadcast_address):
        meaning = "the subnet itself" if found.ip == subnet.network_address else "everybody in it"
        between = f"{subnet[1]} and {subnet[-2]}"
        raise ValueError(f"it means {meaning}: a node's address lies between {between}")
    return text


def joined(switches, links):
    """The segments, each as a list of (node, link): the ends of its links that are at no switch."""
    names = {switch.name for switch in switches}
    wires = nx.empty_graph(len(links))  # links by their numbers, and the switches at their ends
    wires.add_edges_from(
        (number, node)
        for number, link in enumerate(links)
        for node in (link.a, link.b)
        if node in names
    )
    found, taken = [], set()
    for first in wires:
        if first not in taken and first not in names:
            part = [first, *(node for _, node in nx.bfs_edges(wires, first) if node not in names)]
            taken.update(part)
            ends = ((node, links[n]) for n in part for node in (links[n].a, links[n].b))
            found.append([end for end in ends if end[0] not in names])
    return found


def segments(topology):
    """The segments, each as {host or router: its `IPv4Interface` there}."""
    left = {host.name: [host.address] for host in topology.hosts}
    left |= {router.name: list(router.addresses) for router in topology.routers}
    addresses = {
        (node, link): IPv4Interface(left[node].pop(0))
        for link in topology.links
        for node in (link.a, link.b)
        if node in left
    }
    parts = joined(topology.switches, topology.links)
    return [{node: addresses[node, link] for node, link in part} for part in parts]


def check(topology):
    """Refuse addresses and default routes with which some host could not reach another."""
    parts, routers = segments(topology), {router.name for router in topology.routers}
    near = {}  # by node, the addresses of the routers in its (last) subnet, by name
    for number, part in enumerate(parts):
        first = next(iter(part))
        count = Counter(address.ip for address in part.values())
        for node in part:
            if count[part[node].ip] > 1:
                same = [repr(name) for name in part if part[name].ip == part[node].ip]
                raise ValueError(
                    f"the address {part[node].ip} is that of {' and '.join(same)}: change all but"
                    " one"
                )
            if part[node].network != part[first].network:
                raise ValueError(
                    f"{first!r} with address {part[first]} and {node!r} with address {part[node]}"
                    " are joined without a router in between: write addresses of one subnet"
                )
        gateways = {name: str(part[name].ip) for name in part if name in routers}
        near |= dict.fromkeys(part, gateways)
        for other in parts[:number]:
            far = next(iter(other))
            if other[far].network.overlaps(part[first].network):
                raise ValueError(
                    f"{far!r} with address {other[far]} and {first!r} with address {part[first]}"
                    " have a router in between: their subnets must not overlap. Choose other"
                    " addresses, or longer prefixes, such as /24"
                )
    for host in topology.hosts:
        gateways = near.get(host.name, {})
        allowed = " or ".join(f"{address} ({name})" for name, address in gateways.items())
        if host.route is None and len(gateways) > 1:
            raise ValueError(
                f"host {host.name!r} needs a route, as it can see {len(gateways)} routers:"
                f" {allowed}"
            )
        if host.route is not None and host.route not in gateways.values():
            raise ValueError(
                f"route = {host.route!r} of host {host.name!r}: the address of a router in its own"
                " subnet, here " + (allowed or "there is none")
            )
