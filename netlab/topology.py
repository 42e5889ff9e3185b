"""What the network is: hosts, switches, links, and the commands that give them their rates, delays and losses."""

from collections import deque
from typing import ClassVar

from pydantic import Field, model_validator

from netlab import units
from netlab.errors import SpecificationError
from netlab.specification import Delay, Fraction, Rate, Size, Specification

NETEM_PACKETS = 1_000_000  # netem's own default, 1000, would make the delay line a second bottleneck


class Host(Specification):
    """A computer with one network card, ``<name>-eth0``.

    Parameters
    ----------
    name : str
    address : str
        IPv4 address with prefix length, such as ``"10.0.0.1/8"``.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9]{0,9}$")
    address: str = Field(pattern=r"^\d+\.\d+\.\d+\.\d+/\d+$")

    @property
    def ip(self):
        return self.address.partition("/")[0]


class Switch(Specification):
    """A learning Ethernet switch (a Linux bridge)."""

    name: str = Field(pattern=r"^[a-z][a-z0-9]{0,9}$")


class Link(Specification):
    """A cable between two nodes; what it emulates happens on the first one's interface, towards the second.

    Parameters
    ----------
    a, b : str
        Names of the nodes.
    delay : str, optional
        netem's one-way delay, such as ``"20ms"``. As only one direction is delayed, it is also what the link adds to the RTT.
    loss : str
        netem's probability of losing a packet, ``"0%"`` to ``"100%"``.
    rate : str, optional
        tbf's rate, such as ``"10gbit"``, counted in whole Ethernet frames.
    burst, limit : int or str
        tbf's bucket and queue. [byte, or tc's notation]
    """

    a: str
    b: str
    delay: Delay | None = None
    loss: Fraction = "0%"
    rate: Rate | None = None
    burst: Size = 5_000_000
    limit: Size = 15_000_000

    @property
    def delay_s(self):
        return units.delay_s(self.delay) if self.delay else 0.0

    @property
    def lossy(self):
        return units.fraction(self.loss) > 0

    @model_validator(mode="after")
    def _check(self):
        if self.a == self.b:
            raise ValueError(f"a and b are both {self.a!r}: a link joins two different nodes")
        if self.rate and units.size_bytes(self.burst) < 1514:
            raise ValueError(f"burst = {self.burst!r}: the bucket must hold at least one frame of 1514 bytes, or nothing passes")
        if self.rate and units.size_bytes(self.limit) < 1514:
            raise ValueError(f"limit = {self.limit!r}: the queue must hold at least one frame of 1514 bytes, or nothing passes")
        return self


class Topology(Specification):
    """Hosts and switches, joined by links; every host can reach every other along exactly one path.

    Parameters
    ----------
    hosts : sequence of Host
    switches : sequence of Switch
    links : sequence of Link
        A node's interfaces are numbered in the order of its links: ``s1-eth1``, ``s1-eth2`` ...
    buffers : int or str, optional
        Maximum of ``tcp_rmem`` and ``tcp_wmem`` on every host [byte, or tc's notation]; None leaves Mininet's, 16 MiB.
    offload : bool, optional
        Segmentation offload on the hosts. None turns it off where a link loses packets, and leaves it on elsewhere: netem drops
        what the qdisc sees as a packet, and with offload that is up to 64 KB, so that "1 % loss" would be far less than one
        segment in a hundred.
    """

    hosts: tuple[Host, ...] = Field(min_length=1)
    switches: tuple[Switch, ...] = ()
    links: tuple[Link, ...] = ()
    buffers: Size | None = None
    offload: bool | None = None

    BUFFERS: ClassVar[tuple[int, int]] = (10_240, 87_380)  # the labs' minimum and default

    @model_validator(mode="after")
    def _check(self):
        names = self.node_names
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the name {name!r} is used {names.count(name)} times: every node needs its own")
        for link in self.links:
            for name in (link.a, link.b):
                if name not in names:
                    raise ValueError(
                        f"link {link.a}-{link.b} ends at {name!r}, which is not a node of this network ({', '.join(names)})"
                    )
        for name in names[1:]:
            if self.path(names[0], name) is None:
                raise ValueError(f"no path from {names[0]!r} to {name!r}: add a link")
        if len(self.links) > len(names) - 1:
            raise ValueError(f"{len(names)} nodes and {len(self.links)} links make a loop: there must be one path only")
        if self.buffers is not None and units.size_bytes(self.buffers) < self.BUFFERS[1]:
            raise ValueError(
                f"buffers = {self.buffers!r}: at least {self.BUFFERS[1]} bytes, the default size of a new socket's buffer"
            )
        return self

    @property
    def node_names(self):
        return [node.name for node in (*self.hosts, *self.switches)]

    def host(self, name, field="host"):
        """The host of this name.

        Raises
        ------
        SpecificationError
            There is none; the message lists those there are.
        """
        for host in self.hosts:
            if host.name == name:
                return host
        raise SpecificationError(f"{field} = {name!r}: this network's hosts are {', '.join(host.name for host in self.hosts)}")

    @property
    def offloading(self):
        """Is segmentation offload on?"""
        return not any(link.lossy for link in self.links) if self.offload is None else self.offload

    def path(self, start, end):
        """The links from one node to another, each with True where it is walked from `a` to `b`; None where there is no path."""
        found, waiting = {start: []}, deque([start])
        while waiting:
            here = waiting.popleft()
            for link in self.links:
                for near, far in ((link.a, link.b), (link.b, link.a)):
                    if near == here and far not in found:
                        found[far] = [*found[here], (link, near == link.a)]
                        waiting.append(far)
        return found.get(end)

    def across(self, link):
        """Two hosts that can check a link, and the links between them: the first host is on the side of its `a`."""
        for start in self.hosts:
            for end in self.hosts:
                path = self.path(start.name, end.name)
                if (link, True) in path:
                    return start, end, [step for step, _ in path]
        raise SpecificationError(f"no two hosts are joined by link {link.a}-{link.b}: what it emulates could not be checked")

    def rtt_s(self, start, end):
        """Round-trip time between two nodes that the links' delays add up to, queues left out. [s]"""
        there, back = self.path(start, end), self.path(end, start)
        return sum(link.delay_s for link, forward in [*there, *back] if forward)

    def bottleneck_bps(self, start, end):
        """The lowest rate on the way from one node to another [bit/s]; infinity where no link has one."""
        return min(
            (units.rate_bps(link.rate) for link, forward in self.path(start, end) if forward and link.rate),
            default=float("inf"),
        )

    def interface(self, link, node):
        """The name of a node's interface on a link."""
        first = 0 if node in {host.name for host in self.hosts} else 1
        here = [other for other in self.links if node in (other.a, other.b)]
        return f"{node}-eth{first + here.index(link)}"

    def setup(self):
        """What a person would type to make this network from plain cables: (node, command) pairs, in order."""
        for host in self.hosts:
            yield host.name, "sysctl -w net.ipv4.tcp_no_metrics_save=1"  # one test must not shape the next
            if self.buffers is not None:
                size = units.size_bytes(self.buffers)
                for way in ("rmem", "wmem"):
                    yield host.name, f"sysctl -w net.ipv4.tcp_{way}='{self.BUFFERS[0]} {self.BUFFERS[1]} {size}'"
            if not self.offloading:
                yield host.name, f"ethtool -K {host.name}-eth0 tso off gso off gro off"
        for link in self.links:
            interface, parent = self.interface(link, link.a), "root"
            if link.delay or link.lossy:
                words = [f"delay {link.delay}"] if link.delay else []
                words += [f"loss {link.loss}"] if link.lossy else []
                yield (
                    link.a,
                    f"tc qdisc add dev {interface} root handle 1: netem {' '.join(words)} limit {NETEM_PACKETS}",
                )
                parent = "parent 1:"
            if link.rate:
                burst, limit = units.size_bytes(link.burst), units.size_bytes(link.limit)
                yield (
                    link.a,
                    f"tc qdisc add dev {interface} {parent} handle 2: tbf rate {link.rate} burst {burst} limit {limit}",
                )


def wan(rate="10gbit", delay="20ms", loss="0%", burst=5_000_000, limit=15_000_000, buffers=None, pairs=2, offload=None):
    r"""The labs' wide-area network: pairs of hosts, two switches, and one long link between them.

    ::

        h1 --- s1 ============ s2 --- h2
        h3 --/    rate, delay,   \--- h4
                      loss

    Parameters
    ----------
    rate, burst, limit : str or int
        tbf's, on s1's interface to s2 (``s1-eth2``). [tc's notation; byte]
    delay, loss : str
        netem's, on the same interface: one way, so that a delay of 20 ms is an RTT of 20 ms.
    buffers : int or str, optional
        Maximum of the hosts' TCP buffers [byte]; None leaves Mininet's 16 MiB.
    pairs : int
        How many pairs of hosts: h1 to h2, h3 to h4 ...
    offload : bool, optional
        See `Topology`.

    Returns
    -------
    Topology
    """
    if not isinstance(pairs, int) or not 1 <= pairs <= 100:
        raise SpecificationError(f"wan.pairs = {pairs!r}: a whole number from 1 to 100")
    hosts = [Host(f"h{n}", f"10.0.{n // 256}.{n % 256}/8") for n in range(1, 2 * pairs + 1)]
    long_link = Link("s1", "s2", delay, loss, rate, burst, limit)
    links = [Link("h1", "s1"), long_link, Link("s2", "h2")]
    for n in range(3, 2 * pairs + 1, 2):
        links += [Link(f"h{n}", "s1"), Link("s2", f"h{n + 1}")]
    return Topology(hosts=hosts, switches=[Switch("s1"), Switch("s2")], links=links, buffers=buffers, offload=offload)
