"""The parts of a network: hosts, switches, routers and links. Each checks here what can be checked
without the others.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from netlab import units
from netlab.description import Delay, Description, Fraction, Rate, Size
from netlab.topology import addressing

# netem's own default, 1000 packets, would make the delay line a second bottleneck
NETEM_PACKETS = 1_000_000
FRAME_BYTES = 1514  # the largest Ethernet frame of an MTU of 1500 bytes, as tbf counts it
BURST_BYTES, LIMIT_BYTES = 5_000_000, 15_000_000  # the labs', at 10 Gbit/s over 20 ms
SIZE_BYTES = 2**32 - 1  # tc's largest size


def default_burst_bytes(rate_bps):
    """tbf's default bucket: what a rate carries in 4 ms, at least a frame. [byte]"""
    return min(max(round(rate_bps * 0.004 / 8), FRAME_BYTES), SIZE_BYTES)


def default_limit_bytes(rate_bps, delay_s):
    """tbf's default queue: 0.6 of what a rate carries in its delay, or in 20 ms where the delay is
    shorter, and at least ten frames, TCP's initial window. [byte]
    """
    longest = rate_bps * max(delay_s, 0.020) / 8
    return min(max(round(0.6 * longest), 10 * FRAME_BYTES), SIZE_BYTES)


# Settings in net. that all hosts share: a host lacks them, or has them read-only, and then
# ``sysctl -w`` changes nothing and reports no failure.
SHARED = re.compile(
    r"net\.core\.(?!(somaxconn|optmem_max|txrehash|txq_reselection_ms|tstamp_allow_data"
    r"|bypass_prot_mem|xfrm_\w+)$).*"
    r"|net\.ipv4\.(tcp_mem|udp_mem|tcp_max_orphans|tcp_low_latency|tcp_ehash_entries"
    r"|udp_hash_entries|tcp_(allowed|available)_\w+|inet_peer_\w+|fib_sync_mem"
    r"|ipfrag_secret_interval|route\.(?!(flush|min_adv_mss|min_pmtu|mtu_expires)$).*)"
)
# Names that a kernel gives to interfaces of its own, on the machine where the switches are, too.
KERNELS = re.compile(r"(bond|dummy|eth|gre|ifb|sit|teql|tunl|wlan)[0-9]+")


def check_name(name):
    """A node's name, of which its interfaces' names are made."""
    if not re.fullmatch(r"[a-z][a-z0-9]{0,9}", name):
        raise ValueError("1 to 10 lower-case letters and digits, a letter first, such as 'h1'")
    return name


def check_switch_name(name):
    """A name that Mininet and the kernel allow for a switch."""
    if not re.search("[0-9]", name):
        raise ValueError(
            "a switch's name needs a number, as Mininet derives its datapath ID from it: write"
            f" '{name[:9]}1'"
        )
    if KERNELS.fullmatch(name):
        raise ValueError(
            "the kernel uses this name for an interface of its own, and a switch is an interface"
            " too: choose another name, such as 's1'"
        )
    return name


def check_sysctls(sysctls):
    """Names and values that ``sysctl -w`` can set for one host."""
    for name, value in sysctls.items() if isinstance(sysctls, dict) else ():
        if not str(name).startswith("net.") or SHARED.fullmatch(name):
            raise ValueError(
                f"{name!r} is not a host's own: hosts share one kernel, and only some settings,"
                " such as most in net.ipv4., are kept per host. (TCP's buffers are"
                " net.ipv4.tcp_rmem and net.ipv4.tcp_wmem, or `buffers` of the network.)"
            )
        if not re.fullmatch(r"net(\.[A-Za-z0-9_-]+)+", name):
            raise ValueError(
                f"{name!r} is not the name of a sysctl: write it with dots, as in"
                " 'net.ipv4.tcp_sack'"
            )
        if not isinstance(value, str | int) or not re.fullmatch(r"\S+( \S+)*", str(value)):
            raise ValueError(
                f"{name} = {value!r}: a number, or one line of words or numbers with single spaces"
                " between them"
            )
    return sysctls


Name = Annotated[str, AfterValidator(check_name)]
Address = Annotated[str, AfterValidator(addressing.check_address)]
Sysctls = Annotated[dict[str, str | int], BeforeValidator(check_sysctls)]


class Host(Description):
    """A computer with one network card, ``<name>-eth0``.

    Parameters
    ----------
    name : str
    address : str
        IPv4 address with prefix length, such as ``"10.0.0.1/8"``.
    route : str, optional
        Default route: the address of a router in the host's subnet. None takes the only router
        there is.
    sysctls : dict
        Settings of its kernel, such as ``{"net.ipv4.tcp_sack": 0}``. Only some of those in
        ``net.`` are a host's own.
    """

    name: Name
    address: Address
    route: str | None = None
    sysctls: Sysctls = Field(default_factory=dict)

    @property
    def ip(self):
        return self.address.partition("/")[0]


class Switch(Description):
    """A learning Ethernet switch (a Linux bridge).

    Parameters
    ----------
    name : str
        With a number in it, such as ``"s1"``.
    """

    name: Annotated[Name, AfterValidator(check_switch_name)]


class Router(Description):
    """A computer that forwards packets between the subnets of its interfaces, ``<name>-eth0``,
    ``<name>-eth1`` ...

    Parameters
    ----------
    name : str
    addresses : sequence of str
        IPv4 address with prefix length of each interface, in the order of the router's links.
    """

    name: Name
    addresses: tuple[Address, ...] = Field(min_length=1)

    @property
    def ip(self):
        """The address of its first interface, ``<name>-eth0``."""
        return self.addresses[0].partition("/")[0]


class Link(Description):
    """A cable between two nodes; what it emulates happens on the first one's interface, towards the
    second.

    Parameters
    ----------
    a, b : str
        Names of the nodes.
    delay : str, optional
        netem's one-way delay, such as ``"20ms"``. Where only one direction is delayed, it is also
        what the link adds to the RTT.
    loss : str
        netem's probability of losing a packet, ``"0%"`` to ``"100%"``.
    rate : str, optional
        tbf's rate, such as ``"10gbit"``, counted in whole Ethernet frames.
    burst, limit : int or str, optional
        tbf's bucket and queue [byte, or tc's notation]. None takes them from the rate and the
        delay: the bucket is 4 ms of the rate, and at least one frame; the queue is 0.6 of rate
        times delay (or 20 ms, where the delay is shorter), and at least ten frames. At 10 Gbit/s
        over 20 ms these are the labs' 5,000,000 and 15,000,000 bytes.
    both : bool
        Emulate on both interfaces, as Mininet's ``TCLink`` does: either direction has the rate and
        the loss, and the RTT grows by twice the delay.
    queue_packets : int, optional
        The queue's length in packets, Mininet's ``max_queue_size``.

    Notes
    -----
    With a rate, `queue_packets` is the length of the queue before the bottleneck: tbf counts bytes,
    so its limit is ``queue_packets`` frames of 1514 bytes, and takes the place of `limit`.
    Mininet's ``TCLink`` puts netem's limit there, which counts the packets in flight on the delayed
    line, too: its queue is shorter by rate times delay. Without a rate, `queue_packets` is netem's
    limit, that is, how many packets fit on the line.
    """

    a: str
    b: str
    delay: Delay | None = None
    loss: Fraction = "0%"
    rate: Rate | None = None
    burst: Size | None = None
    limit: Size | None = None
    both: bool = False
    queue_packets: int | None = Field(default=None, ge=1, le=2_000_000)

    @property
    def delay_s(self):
        return units.delay_s(self.delay) if self.delay else 0.0

    @property
    def lossy(self):
        return units.fraction(self.loss) > 0

    @property
    def ends(self):
        """The nodes on whose interfaces it emulates."""
        return (self.a, self.b) if self.both else (self.a,)

    @property
    def queue_bytes(self):
        """The length of tbf's queue. [byte]"""
        return (
            units.size_bytes(self.limit)
            if self.queue_packets is None
            else self.queue_packets * FRAME_BYTES
        )

    @model_validator(mode="after")
    def _check(self):
        if self.a == self.b:
            raise ValueError(f"a and b are both {self.a!r}: a link joins two different nodes")
        own = {"burst": BURST_BYTES, "limit": LIMIT_BYTES}
        if self.rate:
            bps = units.rate_bps(self.rate)
            if bps < 8:
                raise ValueError(
                    f"rate = {self.rate!r}: at least '8bit', as tc counts in whole bytes per second"
                )
            own["burst"] = default_burst_bytes(bps)
            if self.queue_packets is None:
                own["limit"] = default_limit_bytes(bps, self.delay_s)
        for name, value in own.items():
            if getattr(self, name) is None:
                self.__dict__[name] = value  # a frozen model allows no other way
                self.model_fields_set.discard(name)  # not given: `but` computes it anew
        if self.queue_packets and units.size_bytes(self.limit) != LIMIT_BYTES:
            raise ValueError(
                f"limit = {self.limit!r} and queue_packets = {self.queue_packets}: give one of"
                " them, both are the queue"
            )
        if self.rate and units.size_bytes(self.burst) < FRAME_BYTES:
            raise ValueError(
                f"burst = {self.burst!r}: the bucket must hold at least one frame of 1514 bytes, or"
                " nothing passes"
            )
        if self.rate and self.queue_bytes < FRAME_BYTES:
            raise ValueError(
                f"limit = {self.limit!r}: the queue must hold at least one frame of 1514 bytes, or"
                " nothing passes"
            )
        return self

    def setup(self, interface):
        """The tc commands that make one interface emulate this link."""
        parent, netem = "root", [f"delay {self.delay}"] if self.delay else []
        netem += [f"loss {self.loss}"] if self.lossy else []
        packets = NETEM_PACKETS if self.rate or not self.queue_packets else self.queue_packets
        if netem or packets != NETEM_PACKETS:
            yield (
                f"tc qdisc add dev {interface} root handle 1: netem"
                f" {' '.join([*netem, f'limit {packets}'])}"
            )
            parent = "parent 1:"
        if self.rate:
            words = (
                f"tbf rate {self.rate} burst {units.size_bytes(self.burst)} limit"
                f" {self.queue_bytes}"
            )
            yield f"tc qdisc add dev {interface} {parent} handle 2: {words}"
