"""The labs' wide-area network."""

from netlab.description import Delay, Fraction, Rate, Size, checked
from netlab.errors import SpecificationError
from netlab.topology.links import Link
from netlab.topology.nodes import Host, Noise, Switch, Sysctls
from netlab.topology.qdisc import Qdisc
from netlab.topology.topology import Topology


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
        How long a packet that arrives at a host waits at most, such as ``"10us"``; see `Host`.
    qdisc : str, optional
        The queueing discipline before the long link, such as ``"fq_codel"`` or ``"red limit 400kb
        min 30kb max 90kb avpkt 1000 bandwidth 100mbit ecn"``; see `Link`.
    host_qdisc : str, optional
        The queueing discipline of every host's card, such as ``"fq"``; see `Host`.

    Returns
    -------
    Topology

    Examples
    --------
    ECN, where the queue marks packets in place of dropping them. The hosts agree on it only when
    they are told to:

    >>> path = wan("100mbit", qdisc="fq_codel", sysctls={"net.ipv4.tcp_ecn": 1})

    Hosts that are not in lockstep:

    >>> setup = wan("100mbit", noise="10us").setup()
    >>> next(line for node, line in setup if node == "s1" and "s1-eth1" in line)
    'tc qdisc add dev s1-eth1 root handle 1: netem delay 5us 5us rate 100tbit limit 1000000'
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
    links.insert(1, Link("s1", "s2", delay, loss, rate, burst, limit, qdisc=qdisc))
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
