"""What is drawn beside what: which links the spanning tree protocol would block, which nodes lead
nowhere, and which parts no link joins.

Everywhere here, a network is its nodes, by name, and the pairs of names that its links join; a link
is the index of its pair.
"""

from collections import deque

import networkx as nx


def blocked(switches, ends):
    """The links that switches with the spanning tree protocol (IEEE 802.1D) would block.

    Parameters
    ----------
    switches : dict
        The bridge ID of each, by name: anything that can be sorted.
    ends : list of (str, str)

    Returns
    -------
    dict of list of int
        By the switch that is the root of a tree, where any link is blocked.

    Notes
    -----
    The lowest bridge ID is the root. Every other switch keeps the link towards it with the lowest
    path cost; among equals, the one to the lowest bridge ID, and there the lowest port number. All
    links cost the same, as Mininet's do: their virtual interfaces claim 10 Gbit/s, whatever tc
    makes of them. Ports are numbered in the order of the links.
    """
    ports = {name: [link for link, pair in enumerate(ends) if name in pair] for name in switches}
    found, left = {}, set(switches)
    for root in sorted(switches, key=switches.get):
        if root not in left:
            continue
        left.discard(root)
        level, here, tree = [root], {root}, set()
        while level:
            best = {}
            for near in level:
                for port, link in enumerate(ports[near]):
                    far = _other(ends[link], near)
                    if far in left:
                        offer = (switches[near], port, link)
                        best[far] = min(offer, best.get(far, offer))
            tree |= {link for _, _, link in best.values()}
            level = list(best)
            here.update(level)
            left.difference_update(level)
        without = [link for link, (a, b) in enumerate(ends) if a in here and b in here]
        if without := [link for link in without if link not in tree]:
            found[root] = without
    return found


def needless(kinds, ends):
    """Nodes without a link, and switches with nothing behind them.

    Parameters
    ----------
    kinds : dict of str
        ``"host"``, ``"switch"`` or ``"router"``, by name.
    ends : list of (str, str)

    Returns
    -------
    list of str
    """
    near = {name: [] for name in kinds}
    for a, b in ends:
        near[a].append(b)
        near[b].append(a)
    found, waiting = {}, deque(kinds)
    while waiting:
        name = waiting.popleft()
        last = kinds[name] == "switch" and len(near[name]) == 1 and kinds[near[name][0]] != "host"
        if name not in found and (last or not near[name]):
            found[name] = None
            for other in near[name]:
                near[other].remove(name)
                waiting.append(other)
    return [name for name in kinds if name in found]


def parts(names, ends):
    """The names in groups that links join."""
    graph = nx.Graph(ends)
    graph.add_nodes_from(names)
    found = nx.connected_components(graph)
    return sorted(
        (sorted(part, key=names.index) for part in found), key=lambda part: names.index(part[0])
    )


def _other(pair, name):
    return pair[1] if pair[0] == name else pair[0]
