"""The nodes of a network: hosts, switches and routers."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from netlab import units
from netlab.description import Delay, Description, unless_given
from netlab.topology import addressing
from netlab.topology.qdisc import Qdisc

NOISE_S = 0.1  # the most; netem computes a jitter in ns with 32 bits
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
    if not re.fullmatch(r"[a-z][a-z0-9]{0,9}", name):
        raise ValueError("1 to 10 lower-case letters and digits, a letter first, such as 'h1'")
    return name


def check_switch_name(name):
    if not re.search("[0-9]", name):
        raise ValueError(f"a switch's name needs a number, its datapath ID: write '{name[:9]}1'")
    if KERNELS.fullmatch(name):
        raise ValueError("the kernel uses this name for an interface: choose another, such as 's1'")
    return name


def check_sysctls(sysctls):
    for name, value in sysctls.items() if isinstance(sysctls, dict) else ():
        if not str(name).startswith("net.") or SHARED.fullmatch(name):
            raise ValueError(
                f"{name!r} is not a host's own, as all share one kernel: take one such as most in"
                " net.ipv4.; TCP's buffers are `buffers` of the network"
            )
        if not re.fullmatch(r"net(\.[A-Za-z0-9_-]+)+", name):
            raise ValueError(f"{name!r} is not the name of a sysctl, such as 'net.ipv4.tcp_sack'")
        if not isinstance(value, str | int) or not re.fullmatch(r"\S+( \S+)*", str(value)):
            raise ValueError(
                f"{name} = {value!r}: a number, or one line of words with single spaces"
            )
    return sysctls


def check_noise(text):
    if not (units.delay_s(text) == 0 or 1e-8 <= units.delay_s(text) <= NOISE_S):
        raise ValueError("at least '0.01us' and at most '100ms', such as '10us'; '0us' is none")
    return text


Name = Annotated[str, AfterValidator(check_name)]
Address = Annotated[str, AfterValidator(addressing.check_address)]
Sysctls = Annotated[dict[str, str | int], BeforeValidator(check_sysctls)]
Noise = Annotated[Delay, AfterValidator(check_noise)]


class Host(Description):
    """A computer with one network card, ``<name>-eth0``.

    Parameters
    ----------
    name : str
    address : str
        IPv4 address with prefix length, such as ``"10.0.0.1/8"``.
    route : str, optional
        Default route: the address of a router in the host's subnet. None takes the only router
        there is. Where a host sees several, it gets routes via the others to what is nearer to
        them.
    sysctls : dict
        Settings of its kernel in ``net.``, such as ``{"net.ipv4.tcp_sack": 0}``.
    noise : str, optional
        Every packet that arrives waits a random time, uniform between 0 and this one, such as
        ``"200us"``, as if the processor were busy; packets stay in order. The times are drawn from
        the seed. They cost half of this time on average, and up to all of it where packets arrive
        at shorter intervals.
    qdisc : str, optional
        The queueing discipline of its network card in tc's notation, such as ``"fq"``, which paces
        each flow; see `Link` for what there is. The card itself is never busy, so that another
        discipline has a queue only where it has a rate of its own (``"cake bandwidth 1gbit"``).

    Notes
    -----
    Without noise, the hosts are infinitely fast and do equal things at equal times. A flow may then
    win for ever because its packets always come just before another's: the *phase effects* of Floyd
    and Jacobson [1]_, who recommend random processing time against them. docs/defaults.md has what
    noise and ``fq`` change in ACKs, in ECN's marks, and in twenty conclusions of the notebooks.

    The noise is netem's, on the interface at the other end of the host's cable, before the rate of
    a link that is emulated there. What arrives in one piece, with segmentation offload up to 64 KB,
    waits once.

    References
    ----------
    .. [1] Sally Floyd, Van Jacobson: On Traffic Phase Effects in Packet-Switched Gateways.
       Internetworking: Research and Experience 3 (1992).

    Examples
    --------
    >>> Host("h1", "10.0.0.1/8", noise="200us", qdisc="fq").noise_s
    0.0002
    """

    name: Name
    address: Address
    route: str | None = None
    sysctls: Sysctls = Field(default_factory=dict)
    noise: Noise | None = unless_given()
    qdisc: Qdisc | None = unless_given()

    @property
    def ip(self):
        return self.address.partition("/")[0]

    @property
    def noise_s(self):
        return units.delay_s(self.noise) if self.noise else 0.0


class Switch(Description):
    """A learning Ethernet switch (a Linux bridge).

    Parameters
    ----------
    name : str
        With a number in it, such as ``"s1"``.

    Examples
    --------
    >>> Switch("s1")
    Switch(name='s1')
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

    Examples
    --------
    >>> Router("r1", ["10.0.0.1/24", "10.0.1.1/24"]).ip
    '10.0.0.1'
    """

    name: Name
    addresses: tuple[Address, ...] = Field(min_length=1)

    @property
    def ip(self):
        """The address of its first interface, ``<name>-eth0``."""
        return self.addresses[0].partition("/")[0]
