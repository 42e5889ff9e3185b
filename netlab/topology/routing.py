r"""Which path packets take through a network of routers, and the routes that send them there.

::

          r1 ===== r2           h1 to h2: r1, r2 - the fewest routers, whatever the delays are
         / |       | \          h1 to h3: two paths have three routers each, and the one with the
       h1  |       |  h2                  smaller delay is taken
           r4 ---- r3 --- h3

Packets take the path with the fewest routers; of equals, the one with the smallest delay; of those,
the one whose links come first. So the routes follow from the network alone. Paths of equal cost do
not share the load, and no protocol looks for another path when a link fails.
"""

from collections import Counter
from functools import cached_property
from itertools import pairwise, permutations

import networkx as nx

from netlab.topology import addressing


def check(topology):
    """Refuse doubled links, nodes without a path, and loops of switches."""
    times = Counter(frozenset((link.a, link.b)) for link in topology.links)
    for link in topology.links:
        if (count := times[frozenset((link.a, link.b))]) > 1:
            raise ValueError(
                f"{count} links join {link.a!r} and {link.b!r}: keep one of them, or put a router"
                " into the other"
            )
    graph = cables(topology)
    first, *others = graph
    reached = nx.node_connected_component(graph, first)
    for name in others:
        if name not in reached:
            raise ValueError(f"no path from {first!r} to {name!r}: add a link")
    ends = [node.name for node in (*topology.hosts, *topology.routers)]
    for loop in nx.cycle_basis(nx.restricted_view(graph, ends, []))[:1]:
        pairs = [{a, b} for a, b in pairwise([*loop, loop[0]])]
        links = [f"{link.a}-{link.b}" for link in topology.links if {link.a, link.b} in pairs]
        raise ValueError(
            f"the links {', '.join(links)} make a loop of switches, in which a broadcast would"
            f" go round for ever: make two of them routers, or take out a link, such as {links[-1]}"
        )
    for part in addressing.joined(topology.switches, topology.links):
        for name, count in Counter(name for name, _ in part).items():
            if count > 1:
                links = [f"{link.a}-{link.b}" for node, link in part if node == name]
                raise ValueError(
                    f"the links {', '.join(links)} of {name!r} lead into one subnet: keep one of"
                    " them, or make a switch a router"
                )


def cables(topology):
    """The network as an undirected graph; each edge has its `link`."""
    graph = nx.Graph()
    graph.add_nodes_from(topology.node_names)
    graph.add_edges_from((link.a, link.b, {"link": link}) for link in topology.links)
    return graph


class Routing:
    """The routes of a network, and the paths of packets that follow from them.

    A path is a list of (link, True where it is walked from `a` to `b`).
    """

    def __init__(self, topology):
        self.graph, self._paths = cables(topology), {}
        self.parts = addressing.segments(topology)  # elsewhere here, a subnet is its number
        self.defaults = {host.name: host.route for host in topology.hosts}
        self.routers = [router.name for router in topology.routers]
        own = {*self.routers}
        self.near = [[name for name in part if name in own] for part in self.parts]
        # by host or router and subnet: the neighbour there, and the number of the link to it
        self.neighbours, cards = {}, {}
        numbers = {(link.a, link.b): number for number, link in enumerate(topology.links)}
        switches = {switch.name for switch in topology.switches}
        self.onward = nx.DiGraph(self.graph)  # only switches send on what is not theirs
        self.onward.remove_edges_from(
            [pair for pair in self.onward.edges if pair[0] not in switches]
        )
        for subnet, part in enumerate(addressing.joined(topology.switches, topology.links)):
            for name, link in part:
                self.neighbours[name, subnet] = link.b if link.a == name else link.a
                cards[name, subnet] = numbers[link.a, link.b]
        self.home = {}  # by host or router, the subnet of its first address
        for name, subnet in sorted(cards, key=cards.get):
            self.home.setdefault(name, subnet)
        # more than all delays together, so that a router more is never worth it [ns]
        passing_ns = 1 + 2 * _delays_ns((link, True) for link in topology.links)
        # by host or router: what a step to a next router costs, and which comes first
        self.steps = {name: {} for name in self.home}
        self.back = nx.DiGraph()  # from each router to those that may send to it
        self.back.add_nodes_from(self.routers)
        for name, subnet in cards:
            for router in self._routers_in(subnet, name):
                cost_ns = passing_ns + _delays_ns(self.within(name, subnet, router))
                detour = self.defaults.get(name) != self._address(router, subnet)
                order = detour, cards[name, subnet], cards[router, subnet]
                self.steps[name][router, subnet] = cost_ns, order
                if name in self.routers:
                    known = self.back.get_edge_data(router, name, {"weight": cost_ns})
                    self.back.add_edge(router, name, weight=min(cost_ns, known["weight"]))
        self.joints = nx.Graph(  # subnets, and the routers that join them
            (subnet, name) for subnet in range(len(self.parts)) for name in self._routers_in(subnet)
        )
        self._steps, self._one_way_ns = {}, {}

    def within(self, name, subnet, end):
        """The path from a host or router to a node of one of its subnets."""
        if end == name:
            return []
        return self._links([name, *self._from(self.neighbours[name, subnet])[end]])

    def _from(self, name):
        """The nodes on the way from a node to each that it reaches through switches."""
        if name not in self._paths:
            self._paths[name] = nx.single_source_shortest_path(self.onward, name)
        return self._paths[name]

    def _links(self, names):
        """The links between neighbours in a row of nodes."""
        links = [(self.graph[a][b]["link"], a) for a, b in pairwise(names)]
        return [(link, link.a == start) for link, start in links]

    def _routers_in(self, subnet, *without):
        return [name for name in self.near[subnet] if name not in without]

    def step(self, name, subnet):
        """The next router on the path to a subnet from outside, and the subnet in between."""
        if subnet not in self._steps:
            left_ns = nx.multi_source_dijkstra_path_length(self.back, self._routers_in(subnet))

            def cost(step):
                cost_ns, order = step[1]
                return cost_ns + left_ns[step[0][0]], order

            self._steps[subnet] = {
                name: min(steps.items(), key=cost)[0]
                for name, steps in self.steps.items()
                if name not in self.parts[subnet] and steps
            }
        return self._steps[subnet][name]

    def _onward(self, here, end):
        """The next host or router on the path to another, and the links to it."""
        subnet = self.home[end]
        near, through = (end, subnet) if here in self.parts[subnet] else self.step(here, subnet)
        return near, self.within(here, through, near)

    def path(self, start, end):
        """As `Topology.path`."""
        if start not in self.home or end not in self.home:
            return self._links(nx.shortest_path(self.graph, start, end))
        found = []
        while start != end:
            start, links = self._onward(start, end)
            found += links
        return found

    def one_way_ns(self, start, end):
        """The delays that a packet meets on its path from a host or router to another. [ns]"""
        if start == end:
            return 0
        if (start, end) not in self._one_way_ns:
            near, links = self._onward(start, end)
            self._one_way_ns[start, end] = _delays_ns(links) + self.one_way_ns(near, end)
        return self._one_way_ns[start, end]

    @cached_property
    def met(self):
        """By a link's `a` and `b` and its direction: the first two ends whose packets take it."""
        found = {}
        for pair in permutations((*self.defaults, *self.routers), 2):
            for link, forward in self.path(*pair):
                found.setdefault((link.a, link.b, forward), pair)
        return found

    def routes(self):
        """Yield a node, ``"default"`` or a subnet, and the address of the next router."""
        for host, route in self.defaults.items():
            routers = self._routers_in(self.home[host]) if host in self.home else ()
            if routers:
                default = route or self._address(routers[0], self.home[host])
                yield host, "default", default
                yield from self._routes_from(host, self.home[host], default)
        for router in self.routers:
            for subnet, part in enumerate(self.parts):
                if router in part:
                    yield from self._routes_from(router, subnet)

    def _routes_from(self, name, subnet, default=None):
        """A node's routes via the routers of one of its subnets, without the default one."""
        for router in self._routers_in(subnet, name):
            if (gateway := self._address(router, subnet)) != default:
                behind = nx.restricted_view(self.joints, [subnet, name], [])
                for far in nx.dfs_preorder_nodes(behind, router):
                    if far in self.routers or name in self.parts[far]:
                        continue
                    if self.step(name, far) == (router, subnet):
                        yield name, str(next(iter(self.parts[far].values())).network), gateway

    def _address(self, router, subnet):
        return str(self.parts[subnet][router].ip)


def _delays_ns(path):
    return sum(round(link.delay_s * 1e9) for link, forward in path if forward or link.both)
