"""What would be fair: max-min allocations."""

from math import fsum, inf

import pandas as pd

from netlab.fairness.indices import positive


def max_min(capacities, routes, demands=None):
    """The max-min fair allocation: no flow can get more unless one with the same or less loses.

    By progressive filling (D. Bertsekas, R. Gallager, "Data Networks", 2nd ed., 1992, section
    6.5.2): all rates grow together until a link is full or a demand is met; the flows concerned
    stop there. In the end each flow has its demand, or passes a *bottleneck*: a full link on which
    no other flow gets more. Fair queueing comes near to this; TCP gives less to longer RTTs.

    Parameters
    ----------
    capacities : mapping
        Link -> its capacity, above 0. [bit/s]
    routes : mapping
        Flow -> the links that it passes, each once.
    demands : mapping, optional
        Flow -> the highest rate that it asks for, above 0; a flow that is not here has no upper
        limit. [bit/s]

    Returns
    -------
    Series
        Flow -> rate, in the order of ``routes``. [bit/s]

    Examples
    --------
    >>> max_min({"L1": 10e6, "L2": 4e6}, {"long": ["L1", "L2"], "short": ["L1"]}) / 1e6
    long     4.0
    short    6.0
    Name: bps, dtype: float64
    """
    demands = dict.fromkeys(routes, inf) | dict({} if demands is None else demands)
    for link, capacity in capacities.items():
        positive(f"capacities: {link!r}", capacity)
    for flow, demand in demands.items():
        positive(f"demands: {flow!r}", demand)
        if flow not in routes:
            flows = ", ".join(map(repr, routes))
            raise ValueError(f"demands: {flow!r} is not among the flows {flows}")
    for flow, links in routes.items():
        if isinstance(links, str) or len(set(links)) < len(links):
            raise ValueError(
                f"routes: {flow!r} must have a list of links, each once, not {links!r}"
            )
        if unknown := [link for link in links if link not in capacities]:
            known = ", ".join(map(repr, capacities))
            raise ValueError(f"routes: {flow!r} passes {unknown[0]!r}, not among the links {known}")
        if min([demands[flow], *(capacities[link] for link in links)]) == inf:
            raise ValueError(
                f"routes: {flow!r} passes no finite link and has no demand: nothing bounds it"
            )
    rates = {}
    while growing := [flow for flow in routes if flow not in rates]:
        level = {}  # link -> the rate of its growing flows at which it is full
        for link, capacity in capacities.items():
            users = [flow for flow, links in routes.items() if link in links]
            if left := len(users) - len(rates.keys() & users):
                level[link] = (capacity - fsum(rates.get(flow, 0) for flow in users)) / left
        lowest = min([*level.values(), *(demands[flow] for flow in growing)])
        for flow in growing:
            if lowest in (demands[flow], *(level[link] for link in routes[flow])):
                rates[flow] = lowest
    flows = pd.Index(routes, tupleize_cols=False)
    return pd.Series([rates[flow] for flow in routes], flows, dtype=float, name="bps")
