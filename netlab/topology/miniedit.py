"""Networks drawn in MiniEdit, Mininet's graphical editor: its ``.mn`` files."""

import json
import re
import warnings
from collections import Counter
from contextlib import contextmanager
from ipaddress import IPv4Interface, IPv4Network
from itertools import chain, count, pairwise

import networkx as nx

from netlab.errors import SpecificationError
from netlab.readers._common import read_file
from netlab.topology import addressing
from netlab.topology.links import Link
from netlab.topology.miniedit_file import BARE, REFUSED, bare_delay, parse
from netlab.topology.nodes import Host, Router, Switch, check_name, check_switch_name
from netlab.topology.topology import Topology
from netlab.units import short

MOST_LINES, LONGEST_LINE = 30, 500  # of an error or a warning


def read_miniedit(source):
    """Read a network that was drawn in MiniEdit.

    Parameters
    ----------
    source : path or str
        A ``.mn`` file of version 1 or 2.

    Returns
    -------
    Topology

    Warns
    -----
    UserWarning
        One for the file: which nodes, links and options netlab leaves out, and which names it
        changes, a line for each.

    Raises
    ------
    ReadError
        It is not such a file.
    SpecificationError
        Its network cannot be, or would be another one here; a line for each reason.

    Notes
    -----
    - A link with options is Mininet's ``TCLink``: it has its `bw` [Mbit/s], `delay` and `loss` [%]
      on both interfaces, so it adds *twice* its delay to the RTT. Mininet hands a delay without a
      unit to tc as it is, and that of iproute2 6.15 reads nanoseconds: so does this.
      `max_queue_size` is `Link.queue_packets`; where it is not given, the queue has Mininet's 1000
      packets.
    - A host has one address, which Mininet gives to its first link. Its others carry nothing there,
      and are left out.
    - A host without an address has the one of its number in `ipBase`: h3 is 10.0.0.3. An address
      without a prefix length has /8. Hosts come in the order of their numbers.
    - Switches learn, as they do under MiniEdit's own controllers and as its legacy switches do.
      Controllers and preferences other than `ipBase` make no difference.
    - Where switches make a loop, the links are left out that the spanning tree protocol would
      block: the switch with the lowest datapath ID (its number, where the file gives none) is the
      root, and every link costs the same. So are switches that are on the way to no host. Where a
      loop leads through routers, all links stay.
    - A legacy router's address beside hosts is their default route. Where only routers meet, their
      addresses come from a subnet that the file does not use, 192.168.1.0/30, 192.168.2.0/30 ...
    - Parts that no link joins stay apart: a link that loses every packet joins a switch of each.
    - A name that a node cannot have here is changed: "R1" to "r1", "h1 - 10.0.0.1" to "h1", "File
      server" to "h" and a number.

    Examples
    --------
    >>> read_miniedit("data/lab9.mn").node_names
    ['h1', 'h2', 'h3', 'h4', 's1', 's2']
    """
    data = read_file(source)
    text = data.decode(json.detect_encoding(data), errors="backslashreplace")
    drawing = _Drawing(parse(text, source))
    with drawing.refusing():
        network = drawing.topology()
    if drawing.refused:
        raise SpecificationError(_told(f"{source} cannot become a network:", drawing.refused))
    if drawing.left_out:
        warnings.warn(_told(f"{source} was read with changes:", drawing.left_out), stacklevel=2)
    return network


def _told(title, lines):
    more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return "\n".join([title, *(line[:LONGEST_LINE] for line in lines[:MOST_LINES]), *more])


class _Drawing:
    """Makes a topology of a file, and collects what it refuses and what it leaves out."""

    def __init__(self, saved):
        self.saved, self.links = saved, saved.links
        self.nodes = [*sorted(saved.hosts, key=lambda node: node.place), *saved.switches]
        self.refused, self.left_out = [], []

    @contextmanager
    def refusing(self, where=""):
        try:
            yield
        except SpecificationError as error:
            self.refused.append(f"{where}{error}")

    def topology(self):
        self._check_names()
        for item in (*self.nodes, *self.links):
            for option, value in item.opts.others.items():
                line = f"{short(option)[1:-1]} = {short(value)} of {item}"
                if option in REFUSED:
                    self.refused.append(
                        f"{line} is not supported: it would make another network; delete it, if"
                        " the network may do without"
                    )
                else:
                    self.left_out.append(f"{line}: left out")
        self._first_links()
        parts = self._parts() if not self.refused else []
        self._rename()
        links, hosts = [*map(self._link, self.links)], [*map(self._host, self._of("host"))]
        if self.refused:
            return None
        offload = None
        if len(parts) > 1:  # loss alone would turn offload off
            offload = None if any(link.lossy or link.queue_packets for link in links) else True
            links += [
                Link(self.names[a], self.names[b], loss="100%", both=True)
                for a, b in pairwise(parts)
            ]
        switches = [Switch(self.names[node.name]) for node in self._of("switch")]
        names = [self.names[node.name] for node in self._of("router")]
        addresses = _router_addresses(names, hosts, switches, links)
        routers = [
            Router(name, [addresses[name, link] for link in links if name in (link.a, link.b)])
            for name in names
        ]
        return Topology(hosts, switches, links, routers=routers, offload=offload)

    def _of(self, kind):
        return [node for node in self.nodes if node.kind == kind]

    def _check_names(self):
        times = Counter(node.name for node in self.nodes)
        self.refused += [
            f"the name {short(name)} is used {number} times: each node needs its own"
            for name, number in times.items()
            if number > 1
        ]
        self.refused += [
            f"{link} ends at {short(end)}, which is not a node of the file"
            for link in self.links
            for end in link.ends
            if end not in times
        ]

    def _first_links(self):
        """Leave out the links of hosts that have no address, as Mininet gives it to the first."""
        for host in self._of("host"):
            own = [link for link in self.links if host.name in link.ends]
            if gone := own[1:]:
                self.links = [link for link in self.links if all(link is not one for one in gone)]
                self.left_out.append(
                    f"{host} has one address, which Mininet gives to {own[0]}: left out, as nothing"
                    f" goes there, {', '.join(map(str, gone))}. Draw it as a legacy router, if it"
                    " is to be in several networks"
                )

    def _parts(self):
        """Leave out loops, and what leads to no host; a switch of each part that is left."""
        switches = {node.name: (node.datapath_id, n) for n, node in enumerate(self._of("switch"))}
        found = blocked(switches, [link.ends for link in self.links])
        for root, numbers in found.items():
            gone = ", ".join(str(self.links[number]) for number in numbers)
            self.left_out.append(
                "left out, as they make loops, and the spanning tree protocol with root"
                f" {short(root)} would block them: {gone}"
            )
        cut = {number for numbers in found.values() for number in numbers}
        self.links = [link for number, link in enumerate(self.links) if number not in cut]
        graph = nx.MultiGraph([link.ends for link in self.links])
        kinds = {node.name: node.kind for node in self.nodes}
        graph.add_nodes_from(kinds)
        while gone := [
            name
            for name, degree in graph.degree
            if not degree
            or (
                degree == 1 and kinds[name] == "switch" and kinds[next(iter(graph[name]))] != "host"
            )
        ]:
            graph.remove_nodes_from(gone)
        if gone := [str(node) for node in self.nodes if node.name not in graph]:
            self.left_out.append(
                f"left out, as they have no link, or no host behind them: {', '.join(gone)}"
            )
        self.nodes = [node for node in self.nodes if node.name in graph]
        self.links = [link for link in self.links if link.src in graph and link.dest in graph]
        if not self._of("host"):
            self.refused.append("no host has a link: draw some, from each host to a switch")
        order = {node.name: number for number, node in enumerate(self.nodes)}
        parts = [sorted(part, key=order.get) for part in nx.connected_components(graph)]
        parts.sort(key=lambda part: order[part[0]])
        found = [next((name for name in part if kinds[name] == "switch"), None) for part in parts]
        if len(parts) > 1:
            listed = "; ".join(", ".join(map(short, part)) for part in parts)
            line = f"no link joins these parts: {listed}"
            if None in found:
                self.refused.append(
                    f"{line}. Join them, delete all but one, or put a switch into each"
                )
            else:
                self.left_out.append(f"{line}. Here a link that loses every packet does")
        return found

    def _rename(self):
        """Map the file's names to allowed ones: the same, or else a similar one."""
        self.names, taken, numbers = {}, set(), count(1)
        for node in sorted(self.nodes, key=lambda node: not _allowed(node.kind, node.name)):
            plain = re.sub(r"[0-9]{1,3}(\.[0-9]{1,3}){3}|[^a-z0-9]", "", node.name.lower())
            letter = node.kind[0]
            near = [node.name, plain, f"{letter}{node.place}"]
            self.names[node.name] = next(
                name
                for name in chain(near, (f"{letter}{n}" for n in numbers))
                if name not in taken and _allowed(node.kind, name)
            )
            taken.add(self.names[node.name])
        if changed := [f"{short(old)} is {new}" for old, new in self.names.items() if old != new]:
            self.left_out.append(f"names that a node cannot have here: {', '.join(changed)}")

    def _link(self, link):
        delay = link.opts.delay
        if BARE.fullmatch(delay) and delay.strip("0."):
            self.left_out.append(
                f"delay = {delay!r} of {link} has no unit: Mininet hands it to tc as it is, which"
                f" takes nanoseconds, and here, too, it is {bare_delay(delay)}; write {delay}ms or"
                f" {delay}us, if that is meant"
            )
        with self.refusing(f"{link}: "):
            fields = link.opts.fields
            ends = [self.names.get(end, end) for end in link.ends]
            return Link(*ends, **fields, both=bool(fields))

    def _host(self, node):
        """A host with the address of the file; if it has none, its number in `ipBase`."""
        address, base = node.opts.ip, self.saved.application.ipBase
        with self.refusing(f"{node}: "):
            if not address:
                try:
                    subnet = IPv4Network(base if "/" in base else f"{base}/24", strict=False)
                    address = str(subnet[node.place])
                except (ValueError, IndexError):
                    raise SpecificationError(
                        f"ipBase = {short(base)} has no address of number {node.place}: write a"
                        " larger subnet, such as '10.0.0.0/8', or give it an ip"
                    ) from None
            # the prefix length that Mininet's Node.setIP gives an address that has none
            address = address if "/" in address else f"{address}/8"
            route = node.opts.defaultRoute if self._of("router") else None
            if node.opts.defaultRoute and not route:
                self.left_out.append(
                    f"defaultRoute of {node}: there is no router, all hosts are in one subnet"
                )
            return Host(self.names[node.name], address, route or None)


def _allowed(kind, name):
    try:
        return bool(check_switch_name(check_name(name)) if kind == "switch" else check_name(name))
    except ValueError:
        return False


def blocked(switches, ends):
    """The links (numbers of `ends`) that IEEE 802.1D blocks, by the root of each spanning tree."""
    links = {name: [] for name in switches}  # of each switch, and the switch that a link leads to
    for number, (a, b) in enumerate(ends):
        for near, far in ((a, b), (b, a)):
            if near in switches and far in switches and near != far:
                links[near].append((far, number))
    graph = nx.Graph({name: [far for far, _ in found] for name, found in links.items()})
    gone = {}
    for part in sorted(
        nx.connected_components(graph), key=lambda part: min(map(switches.get, part))
    ):
        root = min(part, key=switches.get)  # the lowest bridge ID
        steps = nx.single_source_shortest_path_length(graph, root)
        # every other switch keeps its shortest way there; of equals, to the lowest bridge ID
        kept = {
            min((switches[far], link) for far, link in links[name] if steps[far] < steps[name])[1]
            for name in part - {root}
        }
        if others := {link for name in part for _, link in links[name]} - kept:
            gone[root] = sorted(others)
    return gone


def _router_addresses(routers, hosts, switches, links):
    """By (router, link): beside hosts their default route, elsewhere one of a free subnet."""
    addresses = {}
    used = [IPv4Interface(host.address).network for host in hosts]
    for part in addressing.joined(switches, links):
        here = [(node, link) for node, link in part if node in routers]
        names = {node for node, _ in part}
        near = [host for host in hosts if host.name in names]
        if near and here:
            beside = ", ".join(host.name for host in near)
            if len({node for node, _ in here}) > 1:
                raise SpecificationError(
                    f"several routers ({', '.join(node for node, _ in here)}) are joined to the"
                    f" same hosts ({beside}): put a router between them, or describe it as a"
                    " Topology"
                )
            if len({host.route for host in near}) > 1 or not near[0].route:
                routes = ", ".join(f"{host.name}: {host.route}" for host in near)
                raise SpecificationError(
                    f"defaultRoute of the hosts beside router {here[0][0]} ({routes}): give all of"
                    " them one, the router's address there"
                )
            prefix = near[0].address.partition("/")[2]
            addresses |= dict.fromkeys(here, f"{near[0].route}/{prefix}")
        elif here:
            length = 30 if len(here) <= 2 else 24
            subnets = (IPv4Network(f"192.168.{n}.0/{length}") for n in range(1, 256))
            subnet = next((one for one in subnets if not any(map(one.overlaps, used))), None)
            if subnet is None or len(here) + 2 > subnet.num_addresses:
                raise SpecificationError(
                    f"no subnet is left in 192.168.0.0/16 for {len(here)} interfaces of routers:"
                    " put a host with a defaultRoute beside them"
                )
            used.append(subnet)
            for number, place in enumerate(here, start=1):
                addresses[place] = f"{subnet[number]}/{subnet.prefixlen}"
    return addresses
