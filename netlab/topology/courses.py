"""The networks of the courses: the labs' wide-area network, and the portfolio's nine hosts behind
four routers in a row.
"""

from netlab.description import Delay, Fraction, Rate, Size, checked
from netlab.errors import SpecificationError
from netlab.topology.links import Link
from netlab.topology.nodes import Host, Noise, Router, Switch, Sysctls
from netlab.topology.qdisc import Qdisc
from netlab.topology.topology import Topology

# the portfolio's: name: rate, one-way delay, max_queue_size [packet]
LINKS = {"L1": ("40mbit", "10ms", 67), "L2": ("30mbit", "20ms", 100), "L3": ("20mbit", "10ms", 33)}
ADDRESSES = {  # the portfolio's, in 10.0.0.0/16, of each interface
    **{"h1": "0.2", "h2": "0.3", "h3": "0.4", "h4": "5.2", "h5": "5.3", "h6": "5.4"},
    **{"h7": "2.2", "h8": "4.2", "h9": "7.2", "r1": "0.1 1.1", "r2": "1.2 2.1 3.1"},
    **{"r3": "3.2 5.1 4.1 6.1", "r4": "6.2 7.1"},
}


@checked
def wan(
    rate: Rate | None = "10gbit",
    delay: Delay | None = "20ms",
    loss: Fraction = "0%",
    burst: Size | None = None,
    limit: Size | None = None,
    buffers: Size | None = None,
    pairs=2,
    offload: bool | None = None,
    sysctls: Sysctls | None = None,
    access: dict[str, Delay | None] | None = None,
    noise: Noise | None = None,
    qdisc: Qdisc | None = None,
    host_qdisc: Qdisc | None = None,
    serialise: bool = False,
):
    r"""The labs' wide-area network: pairs of hosts, two switches, and one long link between them.

    ::

        h1 --- s1 ============ s2 --- h2
        h3 --/    rate, delay,   \--- h4
                      loss

    Parameters
    ----------
    rate, burst, limit : str or int, optional
        tbf's, on s1's interface to s2 (``s1-eth2``), see `Link`. [tc's notation; byte]
    delay, loss : str, optional
        netem's, on the same interface: one way, so that a delay of 20 ms is an RTT of 20 ms.
    buffers : int or str, optional
        Maximum of the hosts' TCP buffers [byte]; None leaves Mininet's 16 MiB.
    pairs : int
        How many pairs of hosts: h1 to h2, h3 to h4 ...
    offload : bool, optional
        See `Topology`.
    sysctls : dict, optional
        Kernel settings of all hosts; see `Topology.tuned` for some of them.
    access : dict of str, optional
        By host: netem's delay on its own link, on top of `delay`. With ``{"h3": "60ms"}``, h3 is
        80 ms from h4 where h1 is 20 ms from h2.
    noise : str, optional
        How long a packet that arrives at a host waits at most, such as ``"200us"``; see `Host`, and
        docs/defaults.md for what it changes.
    qdisc : str, optional
        The queueing discipline before the long link, such as ``"fq_codel"`` or ``"red limit 400kb
        min 30kb max 90kb avpkt 1000 bandwidth 100mbit ecn"``; see `Link`.
    host_qdisc : str, optional
        The queueing discipline of every host's card, such as ``"fq"``; see `Host`.
    serialise : bool
        On the long link a frame takes its length divided by the rate to arrive, as on a real line;
        see `Link`. Without it, the link is the labs' bucket (tbf), which an idle link's frames
        pass in no time.

    Returns
    -------
    Topology

    Notes
    -----
    Only what goes from s1 to s2 meets rate, queue, delay and loss. Data that go the other way, from
    h2 to h1 or with `reverse`, pass a plain cable, as fast as hosts compute; a result of such a
    test has a `netlab.LinkWarning`. ``Link(..., both=True)`` emulates both ways.

    Examples
    --------
    ECN, where the queue marks packets in place of dropping them. The hosts agree on it only when
    they are told to:

    >>> path = wan("100mbit", qdisc="fq_codel", sysctls={"net.ipv4.tcp_ecn": 1})

    Hosts that are not in lockstep:

    >>> setup = wan("100mbit", noise="200us").setup()
    >>> next(line for node, line in setup if node == "s1" and "s1-eth1" in line)
    'tc qdisc add dev s1-eth1 root handle 1: netem delay 100us 100us rate 100tbit limit 1000000'
    """
    if not isinstance(pairs, int) or not 1 <= pairs <= 100:
        raise SpecificationError(f"wan.pairs = {pairs!r}: a whole number from 1 to 100")
    names = [f"h{n}" for n in range(1, 2 * pairs + 1)]
    own = access or {}
    if unknown := [name for name in own if name not in names]:
        raise SpecificationError(
            f"wan.access names {', '.join(unknown)}: its hosts are h1 to h{2 * pairs}"
        )
    links = [
        Link(name, "s1", own.get(name)) if n % 2 else Link("s2", name, own.get(name))
        for n, name in enumerate(names, 1)
    ]
    long = Link("s1", "s2", delay, loss, rate, burst, limit, qdisc=qdisc, serialise=serialise)
    links.insert(1, long)
    return Topology(
        hosts=[
            Host(name, f"10.0.0.{n}/8", None, sysctls or {}, noise, host_qdisc)
            for n, name in enumerate(names, 1)
        ],
        switches=[Switch("s1"), Switch("s2")],
        links=links,
        buffers=buffers,
        offload=offload,
    )


@checked
def portfolio(
    tclink: bool = False,
    offload: bool | None = None,
    sysctls: Sysctls | None = None,
    noise: Noise | None = None,
):
    r"""The network of the DATA2410 portfolio: nine hosts, two switches, and four routers in a row,
    joined by the links L1, L2 and L3, each of which is slower than the one before.

    ::

        h1 --\            h7                  h8
        h2 -- s1 --- r1 ======= r2 ========= r3 ======= r4 --- h9
        h3 --/           L1           L2      |    L3
                      40 Mbit/s    30 Mbit/s  s2   20 Mbit/s
                        10 ms        20 ms   /|\     10 ms
                                       h4 h5 h6

    (h7 is at r2, h8 and s2 are at r3.)

    Parameters
    ----------
    tclink : bool
        L1, L2 and L3 as Mininet's ``TCLink`` makes them, with shorter queues; see `Link`.
    offload : bool, optional
        See `Topology`. None is off here, as these queues count packets.
    sysctls : dict, optional
        Kernel settings of all hosts.
    noise : str, optional
        Of all hosts, such as ``"200us"``; see `Host`.

    Returns
    -------
    Topology
        Subnets are 10.0.0.0/24 (h1 to h3), 10.0.1.0/24 (L1), 10.0.2.0/24 (h7), 10.0.3.0/24 (L2),
        10.0.4.0/24 (h8), 10.0.5.0/24 (h4 to h6), 10.0.6.0/24 (L3) and 10.0.7.0/24 (h9).

    Notes
    -----
    The queues hold 67, 100 and 33 packets in either direction, one bandwidth-delay product of each
    *link*. A flow that crosses several links has a longer round trip: for h1 to h9, 33 packets
    before L3 are a quarter of 20 Mbit/s in 80 ms, too few to bridge what Reno's halving takes away
    (see `netlab.models.sawtooth_utilisation`).

    Examples
    --------
    >>> network = portfolio()
    >>> network.rtt_s("h1", "h9"), network.bottleneck_bps("h1", "h9")
    (0.08, 20000000)
    """
    addresses = {
        name: [f"10.0.{end}/24" for end in ends.split()] for name, ends in ADDRESSES.items()
    }

    def line(a, b, name):
        rate, delay, packets = LINKS[name]
        return Link(a, b, delay, rate=rate, both=True, queue_packets=packets, tclink=tclink)

    return Topology(
        hosts=[
            Host(name, found[0], None, sysctls or {}, noise)
            for name, found in addresses.items()
            if name[0] == "h"
        ],
        switches=[Switch("s1"), Switch("s2")],
        links=[
            *(Link(name, "s1") for name in ("h1", "h2", "h3")),
            Link("s1", "r1"),
            line("r1", "r2", "L1"),
            Link("r2", "h7"),
            line("r2", "r3", "L2"),
            Link("r3", "s2"),
            *(Link("s2", name) for name in ("h4", "h5", "h6")),
            Link("r3", "h8"),
            line("r3", "r4", "L3"),
            Link("r4", "h9"),
        ],
        offload=offload,
        routers=[Router(name, found) for name, found in addresses.items() if name[0] == "r"],
    )
