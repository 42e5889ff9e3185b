"""What would be fair: max-min and alpha-fair allocations."""

from math import fsum, inf
from numbers import Real

import numpy as np
import pandas as pd

from netlab.fairness.indices import positive

MOST_ROUNDS = 2000  # of setting all prices; a few hundred are many


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
    demands = _checked(capacities, routes, demands)
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
    return _by_flow(routes, [rates[flow] for flow in routes])


def alpha_fair(capacities, routes, alpha=1.0):
    """The alpha-fair allocation: alpha says how much a flow may lose so that others gain more.

    Parameters
    ----------
    capacities, routes : as in `max_min`
    alpha : float
        From 0.25 to 8. 1: proportional fairness, 2: minimum potential delay. The larger it is, the
        nearer is `max_min`; the smaller, the nearer the largest sum of all rates. [1]

    Returns
    -------
    Series
        Flow -> rate, in the order of ``routes``. [bit/s]

    Notes
    -----
    .. math:: \\max \\sum_f U(x_f), \\qquad U(x) = \\begin{cases} \\log x & \\alpha = 1 \\\\
        x^{1-\\alpha} / (1-\\alpha) & \\text{else} \\end{cases}

    while no link carries more than its capacity. Then each full link l has a price :math:`p_l`, and
    each flow pays for all links that it passes:

    .. math:: x_f = \\Bigl(\\sum_{l \\in f} p_l\\Bigr)^{-1/\\alpha}

    One price after the other is set so that its link is just full, until all are, to a billionth.

    On n equal links with one flow across all and one on each, the long flow gets
    :math:`1 / (1 + n^{1/\\alpha})` of a link. With the links' loss rates as prices, alpha = 2 is
    Reno's law of the square root (`netlab.models.mathis_bps`), for equal RTTs.

    References
    ----------
    F. Kelly, A. Maulloo, D. Tan, "Rate control for communication networks: shadow prices,
    proportional fairness and stability", Journal of the Operational Research Society 49, 1998.
    J. Mo, J. Walrand, "Fair end-to-end window-based congestion control", IEEE/ACM Transactions on
    Networking 8(5), 2000.

    Examples
    --------
    >>> lot = {"L1": 30e6, "L2": 30e6}, {"long": ["L1", "L2"], "one": ["L1"], "two": ["L2"]}
    >>> (alpha_fair(*lot) / 1e6).round(3).to_dict()
    {'long': 10.0, 'one': 20.0, 'two': 20.0}
    """
    _checked(capacities, routes)
    if not isinstance(alpha, Real) or not 0.25 <= alpha <= 8:
        raise ValueError(f"alpha must be a number from 0.25 to 8, not {alpha!r}")
    if not routes:
        return _by_flow(routes, [])
    passed = [link for link in capacities if any(link in links for links in routes.values())]
    full = np.array([capacities[link] for link in passed if capacities[link] < inf])
    crosses = np.array(
        [[link in links for link in passed if capacities[link] < inf] for links in routes.values()]
    )
    unit = full.max(initial=1.0)
    full, prices = full / unit, np.ones(len(full))

    def rates():
        return (crosses @ prices) ** (-1 / alpha)

    with np.errstate(all="ignore"):  # a price may be 0, or too large for a float
        for _ in range(MOST_ROUNDS):
            for link, users in enumerate(crosses.T):
                low, high = 0.0, (users.sum() / full[link]) ** alpha
                for _ in range(60):
                    prices[link] = (low + high) / 2
                    if rates()[users].sum() > full[link]:
                        low = prices[link]
                    else:
                        high = prices[link]
                prices[link] = high if low else 0.0
            load = rates() @ crosses
            fits, fills = load <= full * (1 + 1e-9), load >= full * (1 - 1e-9)
            if np.all(fits & (fills | (prices == 0))):
                return _by_flow(routes, rates() * unit)
    raise ValueError(
        f"capacities: no prices were found in {MOST_ROUNDS} rounds; are they near zero?"
    )


def _by_flow(routes, rates):
    return pd.Series(rates, pd.Index(routes, tupleize_cols=False), dtype=float, name="bps")


def _checked(capacities, routes, demands=None):
    """The demand of each flow; ValueError where an argument is not as `max_min` says."""
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
    return demands
