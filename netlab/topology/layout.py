r"""The positions of nodes, links and labels in the picture of a topology, and the labels' words.

::

    h1 --\                                        /-- h2
          s1 ====== r1 ====== r2 ====== r3 ====== s3
    h3 --/                     |                  \-- h4
                              s2
                           /   |   \
                         h5   h6   h7

The *spine* is the longest path through switches and routers; here from s1 to s3. It runs from left
to right. Other nodes hang above and below it, and the hosts at its two ends are in columns.

Where links make loops, all nodes of the loops are on the spine, other nodes hang above it, and
a link that does not join neighbours is a *lane* below it::

            h2        h3
             |        |
    h1 ---- r1 ====== r2 ====== r3 ---- h4
             |                   |
             \\=================/

Coordinates are in pixels; y grows downwards, and is 0 on the spine.
"""

from typing import NamedTuple

import networkx as nx

from netlab import units
from netlab.topology.routing import cables

GAP = 16  # between neighbours
ROW = 54  # between rows of hosts
BUS = 16  # between a node and the line from which its links branch off
SEGMENT = 40  # length of a link without a label
LANE = 24  # from a lane to what is above or below it
ARROW_PX = 27  # from an interface to the point of its arrow, and a little more
LINE_PX, CHAR_PX = 14, 7.0  # a label's line, and its letter in the widest font
MONO_PX = 6.1  # a letter of an address


RATES = {"Gbit/s": 1e9, "Mbit/s": 1e6, "kbit/s": 1e3, "bit/s": 1}
TIMES = {"s": 1, "ms": 1e-3, "µs": 1e-6}


def words(link):
    """The words of a link's label: rate (of a line, not a bucket), delay, loss, queue; none for a
    plain cable.
    """
    found = [_scaled(units.rate_bps(link.rate), RATES)] if link.rate else []
    found += ["serialised"] if link.serialise else []
    found += [_scaled(link.delay_s, TIMES)] if link.delay_s else []
    found += [f"{units.fraction(link.loss) * 100:g} %"] if link.lossy else []
    return [*found, queue] if (queue := _queue_word(link)) else found


def _queue_word(link):
    """The queue's length in packets or its discipline; nothing where neither was asked for."""
    return f"queue {link.queue_packets}" if link.queue_packets else (link.qdisc or "").split(" ")[0]


def _scaled(value, scales):
    unit = next((unit for unit, scale in scales.items() if value >= scale), [*scales][-1])
    return f"{value / scales[unit]:g} {unit}"


def _spine(topology):
    """The nodes of the spine: the end near the first host first."""
    graph, hosts = cables(topology), [host.name for host in topology.hosts]
    inner = [name for name in graph if name not in hosts]
    if not inner:
        return list(graph)
    away = nx.single_source_shortest_path_length(graph, hosts[0])
    loops = set(nx.k_core(graph, 2))
    if not loops:
        found = _longest(graph, inner, hosts)
        return found if away[found[0]] <= away[found[-1]] else found[::-1]
    # all nodes of the loops and what joins them, and at both ends the longest path on; by a view
    # that keeps the order of nodes, where `subgraph` has that of a set
    core = nx.restricted_view(graph, [name for name in graph if name not in loops], [])
    order = list(nx.dfs_preorder_nodes(core, min(core, key=away.get)))
    left, right = (
        _longest(graph, [end], {*hosts, *loops} - {end})[1:] for end in (order[0], order[-1])
    )
    return [*left[::-1], *order, *right]


def _longest(graph, starts, without):
    """The longest path from one of these nodes; of equals, the one that emulates most."""

    def walk(path, emulating):
        yield len(path), emulating, path
        for other, edge in graph[path[-1]].items():
            if other not in path and other not in without:
                yield from walk([*path, other], emulating + bool(words(edge["link"])))

    paths = (path for start in starts for path in walk([start], 0))
    return max(paths, key=lambda path: path[:2])[2]


class Box(NamedTuple):
    """A rectangle around its centre."""

    x: float
    y: float
    width: float
    height: float


class Line(NamedTuple):
    """A link's corners; links that branch off one line share corners, but never the last two."""

    link: object
    points: list
    towards_b: bool  # the points go from link.a to link.b
    lane: bool = False


class Lane(NamedTuple):
    """A link between two nodes of the spine that are not neighbours there."""

    first: int  # where they are on the spine
    last: int
    link: object


class Branch(NamedTuple):
    """A node that hangs on a link, and the branches that hang on the node."""

    link: object
    name: str
    branches: list
    width: float


class Layout:
    """Where all nodes, links and labels of a topology are."""

    def __init__(self, topology):
        self.nodes, self.lines = {}, []  # each a `Box`, by name; each a `Line`
        self.labels = []  # each a `Box`, a list of lines of text, and a link
        # node -> its links, each with the node at the other end
        self.near = {name: [] for name in topology.node_names}
        for link in topology.links:
            self.near[link.a].append((link, link.b))
            self.near[link.b].append((link, link.a))
        self.ends = {host.name for host in topology.hosts}
        host = max(44, *(16 + MONO_PX * len(host.address) for host in topology.hosts))
        self.sizes = dict.fromkeys(self.ends, (host, 40)) | {
            switch.name: (max(48, 16 + 9 * len(switch.name)), 40) for switch in topology.switches
        }
        for router in topology.routers:
            width = max(60, 24 + MONO_PX * max(map(len, router.addresses)))
            self.sizes[router.name] = (width, 30 + 13 * len(router.addresses))
        self.spine = _spine(topology)
        place = {name: number for number, name in enumerate(self.spine)}
        lanes = [
            Lane(*sorted((place[link.a], place[link.b])), link)
            for link in topology.links
            if link.a in place and link.b in place and abs(place[link.a] - place[link.b]) > 1
        ]
        self.lanes = sorted(lanes, key=lambda lane: lane.last - lane.first)
        self.place()

    def place(self):
        names, lanes = self.spine, self.lanes
        for number, name in enumerate(names):
            width, height = self.sizes[name]
            self.sizes[name] = (max(width, GAP * (len(self.ports(number)) + 1)), height)
        reach = max(self.sizes[name][1] for name in names) / 2
        beside = [[pair for pair in self.near[name] if pair[1] not in names] for name in names]
        left, right = beside[0], beside[-1]
        if len(names) == 1:
            left, right = left[: (len(left) + 1) // 2], left[(len(left) + 1) // 2 :]
        hanging = [[], *beside[1:-1], []][: len(names)]
        branches = [
            [self.branch(*pair, name) for pair in pairs]
            for name, pairs in zip(names, hanging, strict=True)
        ]
        sides = [(found, []) if lanes else self.sides(found) for found in branches]
        taken = [-BUS, -BUS]  # right end of the space in use above and below the spine
        x = 0
        for number, name in enumerate(names):
            link = None
            if number:
                near = (link for link, other in self.near[name] if other == names[number - 1])
                link = next(near, None)
                below = [lane.link for lane in lanes if lane.first < number <= lane.last]
                start = (x, 0)
                x += max((self.length(link) for link in [link, *below] if link), default=SEGMENT)
            x += self.sizes[name][0] / 2
            both = zip(sides[number], taken, strict=True)
            x = max(x, 0, *(used + GAP + _width(side) / 2 for side, used in both if side))
            self.put(name, x, 0)
            if link:
                self.join(link, names[number - 1], [start, (x - self.sizes[name][0] / 2, 0)])
            for n, side in enumerate(sides[number]):
                self.hang(side, name, x, 2 * n - 1, reach)
                taken[n] = x + _width(side) / 2 if side else taken[n]
            x += self.sizes[name][0] / 2
        self.column(left, names[0], -1, -BUS)
        self.column(right, names[-1], 1, max(x, *(used + GAP - BUS for used in taken)) + BUS)
        self.below(reach + BUS)

    def ports(self, number):
        """The lanes that end at a node of the spine, so that none of them cross there."""
        left = [lane for lane in self.lanes if lane.last == number]
        return [*left, *(lane for lane in self.lanes[::-1] if lane.first == number)]

    def below(self, y):
        """Put each lane in a row: down from one node, along, and up to the other."""
        nodes = [self.nodes[name] for name in self.spine]
        for lane in self.lanes:
            points = []
            for number in (lane.first, lane.last):
                node, ports = nodes[number], self.ports(number)
                share = (ports.index(lane) + 1) / (len(ports) + 1)
                points.append((node.x + node.width * (share - 0.5), node.height / 2))
            space = LANE if words(lane.link) else BUS / 2
            y += space
            points[1:1] = [(points[0][0], y), (points[1][0], y)]
            towards_b = lane.link.a == self.spine[lane.first]
            self.lines.append(Line(lane.link, points, towards_b, lane=True))
            # between two nodes, as other lanes come down below a node
            near, far = nodes[lane.first], nodes[lane.first + 1]
            self.label(lane.link, (near.x + near.width / 2 + far.x - far.width / 2) / 2, y)
            y += space

    def sides(self, branches):
        """The branches above and those below the spine: equally wide; in doubt, hosts are above."""
        above, below = [], []
        for branch in sorted(branches, key=lambda branch: -branch.width):
            more = _width(above) - _width(below)
            side = above if more < 0 or (more == 0 and branch.name in self.ends) else below
            side.append(branch)
        return [sorted(side, key=branches.index) for side in (above, below)]

    def branch(self, link, name, parent):
        branches = [self.branch(*pair, name) for pair in self.near[name] if pair[1] != parent]
        width = max(self.sizes[name][0], self.label_size(link)[0], _width(branches))
        return Branch(link, name, branches, width)

    def label_size(self, link):
        """Width of the label on a vertical link, and the length that the link needs for it."""
        text = words(link)
        if not text:
            return 0, 0
        ends = 20 if link.both else 2 * ARROW_PX
        return CHAR_PX * max(map(len, text)), LINE_PX * len(text) + ends

    def hang(self, branches, parent, x, direction, reach):
        """Put branches in a row above (-1) or below (1) their parent, whose row ends at `reach`."""
        node, bus = self.nodes[parent], reach + BUS
        edge = bus + BUS + max((self.label_size(branch.link)[1] for branch in branches), default=0)
        height = max((self.sizes[branch.name][1] for branch in branches), default=0)
        here = x - _width(branches) / 2
        for branch in branches:
            here += branch.width / 2
            # straight down from the parent, in spite of rounding errors
            here = x if abs(here - x) < 0.1 else here
            start = (x, node.y + direction * node.height / 2)
            points = [start, (x, direction * bus), (here, direction * bus)]
            points = points[:1] if len(branches) == 1 else points[:2] if here == x else points
            self.put(branch.name, here, direction * (edge + self.sizes[branch.name][1] / 2))
            self.join(branch.link, parent, [*points, (here, direction * edge)])
            self.hang(branch.branches, branch.name, here, direction, edge + height)
            here += branch.width / 2 + GAP

    def column(self, pairs, parent, direction, bus):
        """Put hosts in a column at one end of the spine."""
        if not pairs:
            return
        node, length = self.nodes[parent], max(self.length(link) for link, _ in pairs)
        for row, (link, name) in enumerate(pairs):
            y = (row - (len(pairs) - 1) / 2) * ROW
            edge = bus + direction * length
            self.put(name, edge + direction * self.sizes[name][0] / 2, y)
            points = [(node.x + direction * node.width / 2, 0), (bus, 0), (bus, y)]
            points = points[:1] if len(pairs) == 1 else points if y else points[:2]
            self.join(link, parent, [*points, (edge, y)])

    def length(self, link):
        """Length of a horizontal link, so that its label fits."""
        letters = max(map(len, self.two_lines(link)))
        ends = 16 if link.both else 2 * ARROW_PX
        return max(SEGMENT, CHAR_PX * letters + ends) if letters else SEGMENT

    def two_lines(self, link):
        """The label of a horizontal link: the line above it, and the line below it (the queue)."""
        text = words(link)
        below = text.pop() if _queue_word(link) else ""
        return " · ".join(text), below

    def put(self, name, x, y):
        self.nodes[name] = Box(x, y, *self.sizes[name])

    def join(self, link, start, points):
        """Add a link that starts at a node, with the label on its last part."""
        self.lines.append(Line(link, points, link.a == start))
        (x, y), (to_x, to_y) = points[-2:]
        text = words(link)
        if not text:
            return
        if x == to_x:
            box = Box(x, (y + to_y) / 2, self.label_size(link)[0], LINE_PX * len(text))
            self.labels.append((box, text, link))
            return
        self.label(link, (x + to_x) / 2, y)

    def label(self, link, x, y):
        """Put a label above and below the middle of a horizontal line."""
        for side, line in zip((-1, 1), self.two_lines(link), strict=True):
            if line:
                box = Box(x, y + side * (4 + LINE_PX / 2), CHAR_PX * len(line), LINE_PX)
                self.labels.append((box, [line], link))


def _width(branches):
    return sum(branch.width for branch in branches) + GAP * (len(branches) - 1) if branches else 0
