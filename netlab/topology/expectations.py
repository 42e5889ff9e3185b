"""The round-trip times, bottlenecks and fair shares that flows have in a network."""

import math
from numbers import Integral
from typing import NamedTuple

import pandas as pd

from netlab.errors import SpecificationError
from netlab.fairness import alpha_fair, max_min
from netlab.topology.qdisc import rate_limits_bps
from netlab.topology.topology import Topology

COLUMNS = [
    "flow", "src", "dst", "streams", "rtt_s", "bottleneck", "rate_bps", "queue_bytes", "split_bps",
    "max_min_bps", "proportional_bps",
]  # fmt: skip


def expected(topology, *flows):
    """Round-trip time, bottleneck and fair share of flows that cross a network at the same time.

    Parameters
    ----------
    topology : Topology
    *flows : tuple
        From whom, to whom, and how many parallel connections (one, where it is left out):
        ``("h1", "h4")``, ``("h1", "h4", 2)``.

    Returns
    -------
    DataFrame
        One row per flow: ``flow`` (1, 2 ...), ``src``, ``dst``, ``streams``; ``rtt_s``, the delays
        there and back, all queues empty [s]; ``bottleneck``, the slowest link of the path (the
        first of equals), or the host whose queueing discipline lets through less; its ``rate_bps``
        [bit/s] and ``queue_bytes`` [byte]; and three rules for what all connections of the flow get
        together [bit/s]: ``split_bps`` splits its bottleneck evenly among all connections that
        cross it; ``max_min_bps`` and ``proportional_bps`` are max-min and proportionally fair
        shares (`netlab.fairness.max_min`, `netlab.fairness.alpha_fair`). Where nothing on the path
        has a rate, ``bottleneck`` is "", ``rate_bps`` is infinity, the others are NaN.

    Raises
    ------
    SpecificationError
        A flow is no such tuple, or its ends are not two different nodes of the network.

    Notes
    -----
    ``split_bps`` promises too much to a flow that a link other than its slowest holds back, and
    never gives what such a flow leaves to the others.

    Rates are those of whole frames: multiply by `netlab.models.goodput_bps` of 1, 0.956, for what
    remains without headers. TCP follows none of the rules: a longer RTT costs a flow, and so does
    each further full queue on its path, which ``max_min_bps`` does not count.

    Examples
    --------
    >>> from netlab import portfolio
    >>> table = expected(portfolio(), ("h1", "h4"), ("h7", "h9"))
    >>> table[["src", "dst", "bottleneck", "split_bps", "max_min_bps"]]
      src dst bottleneck   split_bps  max_min_bps
    0  h1  h4      r2-r3  15000000.0   15000000.0
    1  h7  h9      r3-r4  20000000.0   15000000.0
    """
    if not isinstance(topology, Topology):
        raise SpecificationError(f"expected.topology = {topology!r}: a Topology, such as nl.wan()")
    if not flows:
        raise SpecificationError("expected: no flows; give some, such as ('h1', 'h2')")
    rows, rates, connections = [], {}, {}
    for number, flow in enumerate(flows, 1):
        src, dst, streams = _flow(topology, flow)
        limits = list(_limits(topology, src, dst, streams, number))
        rates |= {limit.key: limit.rate_bps for limit in limits}
        connections |= {(number, n): [limit.key for limit in limits] for n in range(streams)}
        slowest = min(limits, key=lambda limit: limit.rate_bps, default=NOTHING)
        row = number, src, dst, streams, topology.rtt_s(src, dst), *slowest[:3]
        rows.append(dict(zip(COLUMNS, row, strict=False)))
    crossed = {which: keys for which, keys in connections.items() if keys}
    for rule, name in ((max_min, "max_min_bps"), (alpha_fair, "proportional_bps")):
        fair = rule(rates, crossed).to_dict() if crossed else {}
        for row in rows:
            own = [(row["flow"], n) for n in range(row["streams"])]
            row[name] = math.fsum(fair.get(which, math.nan) for which in own)
    for row in rows:
        own = [(row["flow"], n) for n in range(row["streams"])]
        if own[0] in crossed:
            slowest = min(crossed[own[0]], key=rates.get)
            users = sum(slowest in keys for keys in crossed.values())
            row["split_bps"] = row["streams"] * rates[slowest] / users
    return pd.DataFrame(rows, columns=COLUMNS)


def _flow(topology, flow):
    """A flow's two ends and its number of connections."""
    if not (isinstance(flow, tuple | list) and len(flow) in (2, 3)):
        raise SpecificationError(
            f"expected: {flow!r} is no flow; write from whom, to whom and, if more than one, how"
            " many connections, such as ('h1', 'h2') or ('h1', 'h2', 8)"
        )
    src, dst, streams = (*flow, 1)[:3]
    topology.host(src, "from")
    topology.host(dst, "to")
    if src == dst:
        raise SpecificationError(f"expected: {flow!r} goes from {src!r} to itself")
    if not isinstance(streams, Integral) or isinstance(streams, bool) or streams < 1:
        raise SpecificationError(
            f"expected: {streams!r} connections in {flow!r}: a whole number from 1"
        )
    return src, dst, streams


class _Limit(NamedTuple):
    """What limits a flow; flows with the same key share it."""

    name: str
    rate_bps: float
    queue_bytes: float
    key: tuple = ()


NOTHING = _Limit("", math.inf, math.nan)


def _limits(topology, src, dst, streams, number):
    """The links with a rate that a flow crosses, and the limits of its host's discipline."""
    for link, forward in topology.path(src, dst):
        if link.rate and (forward or link.both):
            key = topology.links.index(link), forward
            yield _Limit(f"{link.a}-{link.b}", float(link.rate_bps), link.queue_bytes, key)
    in_all, each = rate_limits_bps(getattr(topology.host(src, "from"), "qdisc", None))
    for rate_bps, key in ((in_all, (src,)), (streams * each, (src, number))):
        if rate_bps < math.inf:
            yield _Limit(src, float(rate_bps), math.nan, key)
