"""A network of hosts, switches, routers and links, and the commands that give them their rates,
delays and losses.

::

    h1 --- s1 --- r1 ============ r2 --- h3      a switch joins what is in one subnet,
    h2 --/           rate, delay,                a router joins subnets,
                     loss                        a link may emulate a long, slow or bad line
"""

import base64
import math
import shlex
from collections import Counter
from functools import cached_property
from html import escape
from itertools import count

from pydantic import Field, model_validator

from netlab import units
from netlab.algorithms.source import check_known
from netlab.description import Description, Size
from netlab.errors import SpecificationError
from netlab.topology import addressing, limits, qdisc, routing
from netlab.topology.links import WIRE, Link
from netlab.topology.nodes import Host, Router, Switch
from netlab.topology.picture import alt_text, svg

CONGESTION = "net.ipv4.tcp_congestion_control"
OFFLOAD_OFF = "tso off gso off gro off"
# TCP hands over pieces also where offload is off: they are cut after the card's queue
ONE_SEGMENT = "gso_max_segs 1"


class Topology(Description):
    """Hosts, switches and routers, joined by links; every host can reach every other.

    Parameters
    ----------
    hosts : sequence of Host
    switches : sequence of Switch
    links : sequence of Link
        A node's interfaces are numbered in the order of its links: ``s1-eth1``, ``s1-eth2`` ... on
        switches, from ``r1-eth0`` on hosts and routers.
    buffers : int or str, optional
        Maximum of ``tcp_rmem`` and ``tcp_wmem`` on every host [byte, or tc's notation]; None leaves
        Mininet's, 16 MiB.
    offload : bool, optional
        Segmentation offload on hosts and routers. None turns it off where a link loses packets,
        counts its queue in packets or has a `qdisc`: netem drops what the qdisc sees as a packet,
        and with offload that is up to 64 KB, so that "1 % loss" would be far less than one segment
        in a hundred.
    routers : sequence of Router

    Notes
    -----
    In a notebook it draws itself. Nodes that are joined without a router in between are in one
    subnet. Routers get a static route to every subnet, hosts a default route, and one via another
    router that they can see to every subnet to which that is the shorter path.

    Each loop of links has two routers in it or more. Packets take the path through the fewest
    routers; of those, the one with the smallest delay; of those, the one whose links come first.
    The path back may differ where delays differ by direction.

    Examples
    --------
    >>> hosts = Host("h1", "10.0.0.1/8"), Host("h2", "10.0.0.2/8")
    >>> links = Link("h1", "s1"), Link("s1", "h2", delay="20ms", rate="10mbit")
    >>> Topology(hosts, [Switch("s1")], links).rtt_s("h1", "h2")
    0.02
    """

    hosts: tuple[Host, ...] = Field(min_length=1)
    switches: tuple[Switch, ...] = ()
    links: tuple[Link, ...] = ()
    buffers: Size | None = None
    offload: bool | None = None
    routers: tuple[Router, ...] = ()

    @model_validator(mode="after")
    def _check(self):
        names, links = self.node_names, {name: [] for name in self.node_names}
        if len(names) > (most := limits.MOST_NODES) or len(self.links) > 2 * most:
            raise ValueError(
                f"{len(names)} hosts, switches and routers, and {len(self.links)} links: at most"
                f" {most} and {2 * most}"
            )
        for name, times in Counter(names).items():
            if times > 1:
                raise ValueError(
                    f"the name {name!r} is used {times} times: each node needs its own"
                )
        for link in self.links:
            for name in (link.a, link.b):
                if name not in links:
                    raise ValueError(
                        f"link {link.a}-{link.b} ends at {name!r}, which is not a node of this"
                        f" network ({', '.join(names)})"
                    )
                links[name].append(link)
        for host in self.hosts:
            if len(links[host.name]) > 1:
                raise ValueError(
                    f"host {host.name!r} has {len(links[host.name])} links, but one network card:"
                    " join them with a switch, or make it a router"
                )
        routing.check(self)
        for router in self.routers:
            own = [f"{link.a}-{link.b}" for link in links[router.name]]
            if len(router.addresses) != len(own):
                raise ValueError(
                    f"addresses = {router.addresses!r} of router {router.name!r}: one for each of"
                    f" its {len(own)} links, in their order: {', '.join(own)}"
                )
        switches = {switch.name for switch in self.switches}
        for name, own in links.items():
            last = f"{name}-eth{len(own) - (name not in switches)}"
            if any(name in (link.b, link.a)[: len(link.ends)] for link in own if link.serialise):
                last = WIRE.format(interface=last)
            if own and len(last) > limits.NAME_LENGTH:
                raise ValueError(
                    f"the name {name!r} is too long for a node with {len(own)} links: its interface"
                    f" {last} has {len(last)} characters, and Linux allows {limits.NAME_LENGTH}"
                )
        limits.check_cards(self)
        addressing.check(self)
        limits.check_delays(self)
        least, most = limits.BUFFERS
        if self.buffers is not None and not least <= units.size_bytes(self.buffers) <= most:
            raise ValueError(f"buffers = {self.buffers!r}: from {least} to {most} bytes")
        return self

    def check_engine(self, about):
        """Refuse, by a `SpecificationError`, what an engine lacks; `about` describes it."""
        for host in self.hosts:
            if (name := host.sysctls.get(CONGESTION)) is not None:
                check_known(f"{CONGESTION} of host {host.name!r}", str(name), about)

    @property
    def node_names(self):
        return [node.name for node in (*self.hosts, *self.switches, *self.routers)]

    def host(self, name, field="host"):
        """The host, or the router, of this name.

        Raises
        ------
        SpecificationError
            There is none; the message lists those there are.
        """
        for host in (*self.hosts, *self.routers):
            if host.name == name:
                return host
        known = ", ".join(host.name for host in self.hosts)
        if self.routers:
            known += f", its routers {', '.join(router.name for router in self.routers)}"
        raise SpecificationError(f"{field} = {name!r}: this network's hosts are {known}")

    def tuned(self, sysctls, *hosts):
        """The same network with these kernel settings on the hosts that are named, or on all.

        Parameters
        ----------
        sysctls : dict
            They are added to what a host has already.
        *hosts : str

        Examples
        --------
        >>> from netlab import wan
        >>> old = wan(loss="1%").tuned({"net.ipv4.tcp_sack": 0}, "h1", "h2")
        >>> [command for node, command in old.setup() if node == "h1" and "sack" in command]
        ['sysctl -w net.ipv4.tcp_sack=0']
        """
        names = [host.name for host in self.hosts]
        for name in hosts:
            if name not in names:
                raise SpecificationError(
                    f"tuned(..., {name!r}): this network's hosts are {', '.join(names)}"
                )
        tuned = {host.name: host.but(sysctls=host.sysctls | sysctls) for host in self.hosts}
        chosen = hosts or names
        return self.but(hosts=[tuned[h.name] if h.name in chosen else h for h in self.hosts])

    @property
    def offloading(self):
        """Whether segmentation offload is on."""
        if self.offload is not None:
            return self.offload
        return not any(link.counts_packets for link in self.links)

    def meets_segments(self, link):
        """Whether a link that is emulated meets single segments, and not pieces of up to 64 KB."""
        own = {host.name: host for host in self.hosts}
        ends = (own[node] for node in link.ends if node in own)
        return not self.offloading and all(map(self._hands_over_segments, ends))

    def _hands_over_segments(self, host):
        """Whether a host is told to: its own card loses packets, or queues them."""
        own = [link for link in self.links_of(host.name) if host.name in link.ends]
        queues = host.qdisc or any(link.rate or link.counts_packets for link in own)
        return bool(queues) and not self.offloading

    def links_of(self, node):
        """The links that end at a node, in order."""
        return [link for link in self.links if node in (link.a, link.b)]

    @cached_property
    def routing(self):
        """The `netlab.topology.routing.Routing` that the routes of `setup` follow."""
        return routing.Routing(self)

    def __getstate__(self):
        """Drop the cached routing; it is recomputed."""
        state = super().__getstate__()
        return state | {"__dict__": {name: getattr(self, name) for name in type(self).model_fields}}

    def path(self, start, end):
        """The links from one node to another along the routes, each with True where it is walked
        from `a` to `b`.

        It leads to the first address of a router. The path back may be another one, where delays
        differ by direction. Switches neither send nor receive: from and to a switch, it is the
        path with the fewest links.
        """
        for name in {start, end} - {switch.name for switch in self.switches}:
            self.host(name, "node")
        return self.routing.path(start, end)

    def emulated(self, start, end):
        """The links whose rate, delay and loss a packet meets on its path between two nodes."""
        return [link for link, forward in self.path(start, end) if forward or link.both]

    def across(self, link, forward=True):
        """Two hosts (or routers) whose packets take a link from its `a` to its `b` (back, where
        `forward` is False), and the links of their path there and back; None where no packet to the
        first address of a host or router takes the link in this direction.
        """
        pair = self.routing.met.get((link.a, link.b, forward))
        if not pair:
            return None
        steps = [*self.path(*pair), *self.path(*pair[::-1])]
        return *map(self.host, pair), list(dict.fromkeys(step for step, _ in steps))

    def queues_that_the_sender_sees(self, start, end, states=None):
        """The links whose queue counts against the sender's socket where all nodes share a kernel
        in which packets keep their socket: those with a rate on switches, before anything takes
        the packet off its socket. netem does that to what it delays, and a router to all that it
        receives. A queue on the sender's own card counts on any machine, and is none of them.

        `states` has other states of links, by the link.
        """
        found, node, routers = [], start, {router.name for router in self.routers}
        for link, forward in self.path(start, end):
            other, state = (link.b if forward else link.a), (states or {}).get(link, link)
            emulates = node in link.ends
            if self.noises_s.get(other) or (emulates and state.delay_s and not state.serialise):
                break
            if emulates and state.rate and node != start:
                found.append(link)
            # a line that serialises is a netem behind the queue
            if (emulates and state.serialise) or other in routers:
                break
            node = other
        return found

    def rtt_s(self, start, end):
        """Round-trip time between two nodes: the sum of the links' delays, without queues. [s]"""
        return math.fsum(
            link.delay_s for link in [*self.emulated(start, end), *self.emulated(end, start)]
        )

    @cached_property
    def noises_s(self):
        """By host, how long a packet that arrives there waits at most. [s]"""
        return {host.name: host.noise_s for host in self.hosts}

    def bottleneck_bps(self, start, end, streams=1):
        """The lowest rate on the path from one node to another [bit/s]; infinity where nothing
        limits it.

        It counts the links' rates and those of queueing disciplines: cake's ``bandwidth``, on a
        link or on the first host, and fq's ``maxrate`` there, which each of `streams` connections
        has for itself.
        """
        in_all, each = qdisc.rate_limits_bps(getattr(self.host(start, "node"), "qdisc", None))
        return min([in_all, streams * each, *(link.rate_bps for link in self.emulated(start, end))])

    def interface(self, link, node):
        """The name of a node's interface on a link."""
        return self.interfaces[link.a, link.b, node]

    @cached_property
    def interfaces(self):
        """The names of all interfaces, by the ends of their link, `a` and `b`, and their node."""
        switches, found = {switch.name for switch in self.switches}, {}
        numbers = {name: count(name in switches) for name in self.node_names}
        for link in self.links:
            for node in (link.a, link.b):
                found[link.a, link.b, node] = f"{node}-eth{next(numbers[node])}"
        return found

    def interface_to(self, node, other):
        """The name of a node's interface on its link to another node."""
        return self.interface(self.link_to(node, other), node)

    def link_to(self, node, other):
        """The link between two nodes."""
        for link in self.links:
            if {link.a, link.b} == {node, other}:
                return link
        links = ", ".join(f"{link.a} - {link.b}" for link in self.links)
        raise SpecificationError(
            f"there is no link between {node!r} and {other!r}: this network's links are {links}"
        )

    def setup(self):
        """Yield (node, command): what turns plain cables into this network."""
        offloading = self.offloading
        for host in self.hosts:
            # one test must not shape the next
            yield host.name, "sysctl -w net.ipv4.tcp_no_metrics_save=1"
            if self.buffers is not None:
                # the labs' minimum and default
                sizes = f"10240 {limits.BUFFERS[0]} {units.size_bytes(self.buffers)}"
                yield host.name, f"sysctl -w net.ipv4.tcp_rmem='{sizes}'"
                yield host.name, f"sysctl -w net.ipv4.tcp_wmem='{sizes}'"
            for name, value in host.sysctls.items():
                yield host.name, f"sysctl -w {name}={shlex.quote(str(value))}"
            if not offloading and self.links_of(host.name):
                yield host.name, f"ethtool -K {host.name}-eth0 {OFFLOAD_OFF}"
                if self._hands_over_segments(host):
                    yield host.name, f"ip link set dev {host.name}-eth0 {ONE_SEGMENT}"
        for router in self.routers:
            yield router.name, "sysctl -w net.ipv4.ip_forward=1"
            for number, address in enumerate(router.addresses):
                yield router.name, f"ip addr add {address} dev {router.name}-eth{number}"
                if not offloading:  # a router must not merge again what the hosts keep apart
                    yield router.name, f"ethtool -K {router.name}-eth{number} {OFFLOAD_OFF}"
        for node, destination, gateway in self.routing.routes():
            yield node, f"ip route add {destination} via {gateway}"
        for link in self.links:
            for node, _, command in self.emulation(link, link):
                yield node, command
        for host in self.hosts:
            if host.qdisc and self.links_of(host.name):
                yield host.name, f"tc qdisc add dev {host.name}-eth0 root {host.qdisc}"

    def emulation(self, link, state):
        """Yield (node, device, command): what gives one of its links the state of another.

        All commands for a device come one after another.
        """
        noises_s = self.noises_s
        for node, other in ((link.a, link.b), (link.b, link.a)):
            emulated = state if node in link.ends else Link(link.a, link.b)
            own, its = self.interface(link, node), self.interface(link, other)
            for command in emulated.setup(own, noises_s.get(other, 0.0)):
                yield node, own, command
            for command in emulated.wire(its):
                yield other, WIRE.format(interface=its), command

    def _repr_html_(self):
        """A picture as an image: JupyterLab shows SVG itself in trusted notebooks only."""
        picture = base64.b64encode(svg(self).encode()).decode()
        return (
            f'<img alt="{escape(alt_text(self))}" src="data:image/svg+xml;base64,{picture}"'
            ' style="max-width: 100%"/>'
        )
