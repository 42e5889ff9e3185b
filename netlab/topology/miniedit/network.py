"""The network that a MiniEdit file describes."""

import json
import warnings
from collections import Counter
from contextlib import contextmanager
from itertools import pairwise

from netlab.errors import SpecificationError
from netlab.readers._common import read_file
from netlab.topology.links import Link
from netlab.topology.miniedit import file, graph
from netlab.topology.miniedit.addresses import host_address, router_addresses
from netlab.topology.miniedit.emulated import emulated, without_unit
from netlab.topology.miniedit.names import names
from netlab.topology.nodes import Host, Router, Switch
from netlab.topology.topology import Topology


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
        One for the file: what it has that netlab left out or named otherwise, a line for each.

    Raises
    ------
    ReadError
        It is not such a file.
    SpecificationError
        Its network cannot be, or would be another one here; a line for each reason.

    Notes
    -----
    Everything is taken as MiniEdit takes it:

    - A link with options is Mininet's ``TCLink``: it has its `bw` [Mbit/s], `delay` and `loss` [%]
      on both interfaces, so it adds *twice* its delay to the RTT. A delay without a unit is in
      microseconds, as tc reads it. `max_queue_size` is `Link.queue_packets`; where it is not given,
      the queue has Mininet's 1000 packets.
    - A host without an address has the one of its number in `ipBase`: h3 is 10.0.0.3. An address
      without a prefix length has /8, whatever `ipBase` says. Hosts come in the order of their
      numbers.
    - Switches learn, as they do under MiniEdit's own controllers and as its legacy switches do;
      whether a controller was drawn makes no difference here (in MiniEdit a switch without one
      forwards nothing). The OpenFlow versions are for the controller only.
    - Where switches make a loop, the links are left out that the spanning tree protocol would
      block: the switch with the lowest datapath ID (its number, where the file gives none) is the
      root, and every link costs the same, as Mininet's interfaces do. So are switches that are on
      the way to no host. Where the way round leads through routers, all links stay.
    - MiniEdit leaves it to you to give a legacy router its addresses and routes. Here a router's
      address beside hosts is their default route. Where only routers meet, netlab chooses a subnet
      that the file does not use, 192.168.1.0/30, 192.168.2.0/30 ..., and the addresses in it in the
      order of the file.
    - Parts that no link joins stay apart: a link that loses every packet joins a switch of each.
    - A name that a node cannot have here is changed: "R1" to "r1", "h1 - 10.0.0.1" to "h1". A
      switch's needs a number.

    Where things are on the canvas is not kept: a `Topology` draws itself.
    """
    data = read_file(source)
    text = data.decode(json.detect_encoding(data), errors="backslashreplace")
    drawing = _Drawing(file.parse(text, source))
    network = drawing.topology()
    if drawing.refused:
        raise SpecificationError(
            "\n".join([f"{source} cannot become a network of netlab:", *file.few(drawing.refused)])
        )
    if drawing.left_out:
        warnings.warn(
            "\n".join([f"{source} was read with changes:", *file.few(drawing.left_out)]),
            stacklevel=2,
        )
    return network


class _Drawing:
    """A file on its way to a topology: what is still in, and what was refused or left out."""

    def __init__(self, saved):
        self.saved, self.links = saved, saved.links
        hosts = [file.Node.of("host", item) for item in saved.hosts]
        self.nodes = sorted(hosts, key=lambda node: node.number)
        self.nodes += [file.Node.of("switch", item) for item in saved.switches]
        self.refused, self.left_out = [], []
        self.apart = []  # a switch of each part, where no link joins them

    def topology(self):
        """Whatever is refused is then left out, so that every reason is found."""
        self._check_ends()
        sound = not self.refused
        if sound:
            self._block_loops()
            self._leave_out_needless()
            self._check_cards()
            sound = self._in_one_part()
        self._check_options()
        self._rename()
        links, hosts = [self._link(link) for link in self.links], self._hosts()
        if not sound or not hosts:
            return None
        offload = None
        if self.apart:  # loss alone would turn offload off
            offload = None if any(link.lossy or link.queue_packets for link in links) else True
            ends = [[self.names[name] for name in pair] for pair in pairwise(self.apart)]
            links += [Link(*pair, loss="100%", both=True) for pair in ends]
        bridges = [self.names[node.name] for node in self._of("switch")]
        routers = [self.names[node.name] for node in self._of("router")]
        left = {*bridges, *routers, *(host.name for host in hosts)}
        links = [link for link in links if {link.a, link.b} <= left]
        switches = [Switch(name) for name in bridges]
        addresses, refused = router_addresses(routers, hosts, switches, links)
        self.refused += refused
        if refused:
            return None
        with self._refusing():
            routers = [
                Router(name, [addresses[name, link] for link in links if name in (link.a, link.b)])
                for name in routers
            ]
            return Topology(hosts, switches, links, routers=routers, offload=offload)

    @contextmanager
    def _refusing(self, where=""):
        try:
            yield
        except SpecificationError as error:
            self.refused.append(f"{where}{error}")

    def _of(self, kind):
        return [node for node in self.nodes if node.kind == kind]

    def _ends(self):
        return [link.ends for link in self.links]

    def _listed(self, links):
        return ", ".join(self.links[number].beside(self.links) for number in links)

    def _without(self, links):
        self.links = [link for number, link in enumerate(self.links) if number not in links]

    def _check_ends(self):
        times = Counter(node.name for node in self.nodes)
        for name in times:
            if times[name] > 1:
                self.refused.append(
                    f"the name {file.shown(name)} is used {times[name]} times: every node needs its"
                    " own"
                )
        wrong = set()
        for number, link in enumerate(self.links):
            for end in {*link.ends} - times.keys():
                wrong.add(number)
                self.refused.append(
                    f"link {link} ends at {file.shown(end)}, which is not a node of the file"
                )
            if link.src == link.dest:
                wrong.add(number)
                self.refused.append(f"link {link} joins a node with itself: delete it")
        self._without(wrong)

    def _block_loops(self):
        switches = {
            node.name: (node.datapath_id, place) for place, node in enumerate(self._of("switch"))
        }
        found = graph.blocked(switches, self._ends())
        for root, links in found.items():
            self.left_out.append(
                f"left out, as they make loops, and the spanning tree protocol with root"
                f" {file.shown(root)} would block them: links {self._listed(links)}"
            )
        self._without({link for links in found.values() for link in links})

    def _leave_out_needless(self):
        kinds = {node.name: node.kind for node in self.nodes}
        gone = graph.needless(kinds, self._ends())
        if gone:
            self.left_out.append(
                "left out, as they have no link, or no host behind them: nodes"
                f" {', '.join(map(file.shown, gone))}"
            )
        self.nodes = [node for node in self.nodes if node.name not in gone]
        self.links = [link for link in self.links if not {*link.ends} & {*gone}]

    def _check_cards(self):
        """A host has one link."""
        ends, second = self._ends(), []
        for host in self._of("host"):
            own = [number for number, pair in enumerate(ends) if host.name in pair]
            if len(own) > 1:
                second += own[1:]
                self.refused.append(
                    f"host {host} has {len(own)} links ({self._listed(own)}), but one network card:"
                    f" delete {self._listed(own[1:])}, which would have no address in MiniEdit"
                    " either, or join the links with a switch"
                )
        self._without(second)

    def _in_one_part(self):
        parts = graph.parts([node.name for node in self.nodes], self._ends())
        if not self._of("host"):
            self.refused.append("no host has a link: draw some, from each host to a switch")
        elif len(parts) > 1:
            listed = "; ".join(", ".join(map(file.shown, part)) for part in parts)
            bridges = [node.name for node in self._of("switch")]
            self.apart = [next(filter(bridges.__contains__, part), None) for part in parts]
            if None in self.apart:
                self.refused.append(
                    f"no link joins these parts: {listed}. Join them, delete all but one, or put a"
                    " switch into each"
                )
                return False
            self.left_out.append(
                f"no link joins these parts: {listed}. Here a link that loses every packet does,"
                f" between {' and '.join(map(file.shown, self.apart))}: no ping gets through"
            )
        return bool(self._of("host"))

    def _check_options(self):
        application = self.saved.application
        preferences = (application, application.netflow, application.sflow)
        places = [("preferences", "", options) for options in preferences]
        controllers = (item.opts for item in self.saved.controllers)
        places += [("controller", file.shown(opts.hostname), opts) for opts in controllers]
        places += [(node.kind, str(node), node.opts) for node in self.nodes]
        places += [("link", str(link), link.opts) for link in self.links]
        refused, left_out = file.remarks(places)
        self.refused += refused
        self.left_out += left_out

    def _rename(self):
        links = Counter(end for pair in self._ends() for end in pair)
        self.names = names(self.nodes, links)
        changed = [
            f"{node} is {self.names[node.name]}"
            for node in self.nodes
            if node.name != self.names[node.name]
        ]
        if changed:
            self.left_out.append(f"names that a node cannot have here: {', '.join(changed)}")

    def _link(self, link):
        ends = [self.names[end] for end in link.ends]
        if without_unit(link.opts.delay):
            self.left_out.append(
                f"delay = {link.opts.delay!r} of link {link} has no unit: to tc, and here, it is"
                f" {link.opts.delay}us; write {link.opts.delay}ms, if that is meant"
            )
        with self._refusing(f"link {link}: "):
            fields = emulated(link.opts)
            return Link(*ends, **fields, both=bool(fields))
        return Link(*ends)

    def _hosts(self):
        """Those whose address can be, the first of each."""
        routed, found, first, astray = bool(self._of("router")), [], {}, []
        for node in self._of("host"):
            opts = node.opts
            with self._refusing(f"host {node}: "):
                address = host_address(opts.ip, node.number, self.saved.application.ipBase)
                route = opts.defaultRoute if routed else ""
                host = Host(self.names[node.name], address, route or None)
                if host.ip in first:
                    raise SpecificationError(f"{first[host.ip]} has its address, {host.ip}, too")
                first[host.ip] = node
                found.append(host)
            if opts.defaultRoute and not routed:
                astray.append(str(node))
        if astray:
            self.left_out.append(
                f"defaultRoute of {', '.join(astray)}: there is no router, all hosts are in one"
                " subnet"
            )
        return found
