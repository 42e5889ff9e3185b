"""Which nodes of a picture are in its middle row, and which links run below that row."""

from typing import NamedTuple

import networkx as nx

from netlab.topology.picture.told import words
from netlab.topology.routing import cables


class Lane(NamedTuple):
    """A link that joins two nodes of the spine that are not neighbours there."""

    first: int  # where they are on the spine
    last: int
    row: int  # below the spine; the longer ones are lower
    link: object

    def overlaps(self, first, last):
        return self.first < last and first < self.last


def spine(topology):
    """The longest way through switches and routers, with the end near the first host first.

    Where links make circles, it is all nodes of the circles, one after the other, in an order that
    needs few and short lanes; at both ends it goes on along the longest way.
    """
    graph, hosts = cables(topology), [host.name for host in topology.hosts]
    inner = [name for name in graph if name not in hosts]
    if not inner:
        return list(graph)
    circles = set(nx.k_core(graph, 2))  # and what joins them
    if not circles:
        found = _longest(graph, inner, hosts)
        steps = [nx.shortest_path_length(graph, hosts[0], end) for end in (found[0], found[-1])]
        return found if steps[0] <= steps[1] else found[::-1]
    # a view that keeps the order of nodes, where `subgraph` has that of a set
    core = nx.restricted_view(graph, [name for name in graph if name not in circles], [])

    def cost(order):
        place = {name: number for number, name in enumerate(order)}
        steps = [abs(place[a] - place[b]) for a, b in core.edges]
        away = nx.shortest_path_length(graph, hosts[0], order[0])
        return sum(number > 1 for number in steps), sum(steps), away

    orders = [list(nx.dfs_preorder_nodes(core, name)) for name in core]
    order = min((way for found in orders for way in (found, found[::-1])), key=cost)
    left, right = (
        _longest(graph, [end], {*hosts, *circles} - {end})[1:] for end in (order[0], order[-1])
    )
    return [*left[::-1], *order, *right]


def _longest(graph, starts, without):
    """The longest way from one of these nodes; of equally long ones, the one with the most links
    that emulate something.
    """

    def walk(way, emulating):
        yield len(way), emulating, way
        for other, edge in graph[way[-1]].items():
            if other not in way and other not in without:
                yield from walk([*way, other], emulating + bool(words(edge["link"])))

    ways = (way for start in starts for way in walk([start], 0))
    return max(ways, key=lambda way: way[:2])[2]


def lanes(topology, spine):
    """The lanes, from the shortest to the longest: none is in the same row as one that it overlaps.

    Parameters
    ----------
    topology : Topology
    spine : list of str

    Returns
    -------
    list of Lane
    """
    place, found = {name: number for number, name in enumerate(spine)}, []
    ends = [
        (link, *sorted((place[link.a], place[link.b])))
        for link in topology.links
        if link.a in place and link.b in place
    ]
    for link, first, last in sorted(ends, key=lambda end: end[2] - end[1]):
        if last - first > 1:
            rows = [lane.row for lane in found if lane.overlaps(first, last)]
            found.append(Lane(first, last, max(rows, default=-1) + 1, link))
    return found


def at(lanes, number):
    """The lanes that end at a node of the spine, in the order in which none of them cross there."""
    left = sorted((lane for lane in lanes if lane.last == number), key=lambda lane: lane.row)
    right = sorted((lane for lane in lanes if lane.first == number), key=lambda lane: -lane.row)
    return [*left, *right]
