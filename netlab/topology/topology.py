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
from collections import Counter, deque
from html import escape
from typing import ClassVar

from pydantic import Field, model_validator

from netlab import units
from netlab.description import Description, Size
from netlab.errors import SpecificationError
from netlab.topology.picture.svg import svg
from netlab.topology.picture.told import told
from netlab.topology import addressing, limits
from netlab.topology.links import Link
from netlab.topology.nodes import Host, Router, Switch

OFFLOAD_OFF = "tso off gso off gro off"


class Topology(Description):
    """Hosts, switches and routers, joined by links; every host can reach every other along exactly
    one path.

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
        counts its queue in packets or has a `qdisc`, and leaves it on elsewhere: netem drops what
        the qdisc sees as a packet, and with offload that is up to 64 KB, so that "1 % loss" would
        be far less than one segment in a hundred.
    routers : sequence of Router

    Notes
    -----
    In a notebook it draws itself. Nodes that are joined without a router in between are in one
    subnet. Routers get a static route to every subnet, hosts a default route.
    """

    hosts: tuple[Host, ...] = Field(min_length=1)
    switches: tuple[Switch, ...] = ()
    links: tuple[Link, ...] = ()
    buffers: Size | None = None
    offload: bool | None = None
    routers: tuple[Router, ...] = ()

    # the labs' minimum and default
    BUFFERS: ClassVar[tuple[int, int]] = (10_240, limits.LEAST_BUFFER_BYTES)

    @model_validator(mode="after")
    def _check(self):
        names, links = self.node_names, {name: [] for name in self.node_names}
        for name, count in Counter(names).items():
            if count > 1:
                raise ValueError(
                    f"the name {name!r} is used {count} times: every node needs its own"
                )
        for link in self.links:
            for name in (link.a, link.b):
                if name not in links:
                    raise ValueError(
                        f"link {link.a}-{link.b} ends at {name!r}, which is not a node of this"
                        f" network ({', '.join(names)})"
                    )
                links[name].append(link)
        reached = self.paths(names[0])
        for name in names:
            if name not in reached:
                raise ValueError(f"no path from {names[0]!r} to {name!r}: add a link")
        if len(self.links) > len(names) - 1:
            raise ValueError(
                f"{len(names)} nodes and {len(self.links)} links make a loop: there must be one"
                " path only"
            )
        for host in self.hosts:
            if len(links[host.name]) > 1:
                raise ValueError(
                    f"host {host.name!r} has {len(links[host.name])} links, but one network card:"
                    " join them with a switch, or make it a router"
                )
        for router in self.routers:
            own = [f"{link.a}-{link.b}" for link in links[router.name]]
            if len(router.addresses) != len(own):
                raise ValueError(
                    f"addresses = {router.addresses!r} of router {router.name!r}: one for each of"
                    f" its {len(own)} links, in their order: {', '.join(own)}"
                )
        limits.check_names(links, {switch.name for switch in self.switches})
        limits.check_cards(self)
        addressing.check(self)
        limits.check_delays(self)
        if self.buffers is not None:
            limits.check_buffers(self.buffers)
        return self

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
        routers = (
            f", its routers {', '.join(router.name for router in self.routers)}"
            if self.routers
            else ""
        )
        known = ", ".join(host.name for host in self.hosts)
        raise SpecificationError(f"{field} = {name!r}: this network's hosts are {known}{routers}")

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
        return self.but(
            hosts=[
                host.but(sysctls=host.sysctls | sysctls) if host.name in (hosts or names) else host
                for host in self.hosts
            ]
        )

    @property
    def offloading(self):
        """Whether segmentation offload is on."""
        return (
            not any(link.counts_packets for link in self.links)
            if self.offload is None
            else self.offload
        )

    def links_of(self, node):
        """The links that end at a node, in order."""
        return [link for link in self.links if node in (link.a, link.b)]

    def paths(self, start):
        """The links from one node to each that it can reach, by that node's name; each link with
        True where it is walked from `a` to `b`.
        """
        near = {}
        for link in self.links:
            near.setdefault(link.a, []).append((link.b, link, True))
            near.setdefault(link.b, []).append((link.a, link, False))
        found, waiting = {start: []}, deque([start])
        while waiting:
            here = waiting.popleft()
            for there, link, forward in near.get(here, ()):
                if there not in found:
                    found[there] = [*found[here], (link, forward)]
                    waiting.append(there)
        return found

    def path(self, start, end):
        """The links from one node to another, as `paths` has them; None where there is no path."""
        return self.paths(start).get(end)

    def emulated(self, start, end):
        """The links whose rate, delay and loss a packet meets on its way between two nodes."""
        return [link for link, forward in self.path(start, end) if forward or link.both]

    def across(self, link):
        """Two hosts (or routers, where there is no host) that can check a link, and the links
        between them, from its `a` on; None where it joins no two of them, so that nothing they send
        ever meets it.
        """
        ends = (*self.hosts, *self.routers)
        paths = self.paths(link.a)
        start = next((end for end in ends if (link, True) not in paths[end.name]), None)
        end = next((end for end in ends if (link, True) in paths[end.name]), None)
        if start and end:
            return start, end, [step for step, _ in self.path(start.name, end.name)]
        return None

    def rtt_s(self, start, end):
        """Round-trip time between two nodes: the sum of the links' delays, without queues. [s]"""
        return math.fsum(
            link.delay_s for link in [*self.emulated(start, end), *self.emulated(end, start)]
        )

    @property
    def noises_s(self):
        """By host, how long a packet that arrives there waits at most. [s]"""
        return {host.name: host.noise_s for host in self.hosts}

    def bottleneck_bps(self, start, end):
        """The lowest rate on the way from one node to another [bit/s]; infinity where no link has
        one.
        """
        return min(
            (units.rate_bps(link.rate) for link in self.emulated(start, end) if link.rate),
            default=float("inf"),
        )

    def interface(self, link, node):
        """The name of a node's interface on a link."""
        first = 1 if node in {switch.name for switch in self.switches} else 0
        return f"{node}-eth{first + self.links_of(node).index(link)}"

    def interface_to(self, node, other):
        """The name of a node's interface on its link to another node.

        Raises
        ------
        SpecificationError
            There is no such link; the message lists those there are.
        """
        for link in self.links:
            if {link.a, link.b} == {node, other}:
                return self.interface(link, node)
        links = ", ".join(f"{link.a} - {link.b}" for link in self.links)
        raise SpecificationError(
            f"there is no link between {node!r} and {other!r}: this network's links are {links}"
        )

    def address(self, node, link):
        """The address, with the length of its prefix, that a host or router has on a link."""
        found = self.host(node, "node")
        return (
            found.address
            if isinstance(found, Host)
            else found.addresses[self.links_of(node).index(link)]
        )

    def setup(self):
        """What a person would type to make this network from plain cables: (node, command) pairs,
        in order.
        """
        offloading = self.offloading
        for host in self.hosts:
            # one test must not shape the next
            yield host.name, "sysctl -w net.ipv4.tcp_no_metrics_save=1"
            if self.buffers is not None:
                size = units.size_bytes(self.buffers)
                for way in ("rmem", "wmem"):
                    yield (
                        host.name,
                        (
                            f"sysctl -w net.ipv4.tcp_{way}='{self.BUFFERS[0]} {self.BUFFERS[1]}"
                            f" {size}'"
                        ),
                    )
            for name, value in host.sysctls.items():
                yield host.name, f"sysctl -w {name}={shlex.quote(str(value))}"
            if not offloading and self.links_of(host.name):
                yield host.name, f"ethtool -K {host.name}-eth0 {OFFLOAD_OFF}"
        for router in self.routers:
            yield router.name, "sysctl -w net.ipv4.ip_forward=1"
            for number, address in enumerate(router.addresses):
                yield router.name, f"ip addr add {address} dev {router.name}-eth{number}"
                if not offloading:  # a router must not merge again what the hosts keep apart
                    yield router.name, f"ethtool -K {router.name}-eth{number} {OFFLOAD_OFF}"
        for node, destination, gateway in addressing.routes(self):
            yield node, f"ip route add {destination} via {gateway}"
        noises_s = self.noises_s
        for link in self.links:
            for node, other in ((link.a, link.b), (link.b, link.a)):
                emulated = link if node in link.ends else Link(link.a, link.b)
                lines = emulated.setup(self.interface(link, node), noises_s.get(other, 0.0))
                yield from ((node, command) for command in lines)
        for host in self.hosts:
            if host.qdisc and self.links_of(host.name):
                yield host.name, f"tc qdisc add dev {host.name}-eth0 root {host.qdisc}"

    def _repr_html_(self):
        """As a picture: JupyterLab shows SVG itself in trusted notebooks only."""
        picture = base64.b64encode(svg(self).encode()).decode()
        return (
            f'<img alt="{escape(told(self))}" src="data:image/svg+xml;base64,{picture}"'
            ' style="max-width: 100%"/>'
        )
