r"""The positions of nodes, links and labels in the picture of a topology.

::

    h1 --\                                        /-- h2
          s1 ====== r1 ====== r2 ====== r3 ====== s3
    h3 --/                     |                  \-- h4
                              s2
                           /   |   \
                         h5   h6   h7

The *spine* is the longest way through switches and routers; here from s1 to s3. It runs from left
to right. Other nodes hang above and below it, and the hosts at its two ends are in columns.

Where links make circles, all nodes of the circles are on the spine, other nodes hang above it, and
below it are the links that do not join neighbours::

            h2        h3
             |        |
    h1 ---- r1 ====== r2 ====== r3 ---- h4
             |                   |
             \\=================/

Coordinates are in pixels; y grows downwards, and is 0 on the spine.
"""

from typing import NamedTuple

from netlab.topology.picture import spine
from netlab.topology.picture.told import queue_word, words

GAP = 16  # between neighbours
ROW = 54  # between rows of hosts
BUS = 16  # between a node and the line from which its links branch off
SEGMENT = 40  # length of a link without a label
LANE = 24  # from the line of a link below the spine to what is above or below it
ARROW_PX = 27  # from an interface to the point of its arrow, and a little more
LINE_PX, CHAR_PX = 14, 7.0  # a label's line, and its letter in the widest font
MONO_PX = 6.1  # a letter of an address


class Box(NamedTuple):
    """A rectangle around its centre."""

    x: float
    y: float
    width: float
    height: float

    def overlaps(self, other):
        apart_x, apart_y = abs(self.x - other.x), abs(self.y - other.y)
        return 2 * apart_x < self.width + other.width and 2 * apart_y < self.height + other.height


class Line(NamedTuple):
    """A link: its corners from one node to the other.

    Links that branch off the same line share corners, but never the last two.
    """

    link: object
    points: list
    towards_b: bool  # the points go from link.a to link.b
    alone: bool = False  # it shares no corner


class Picture(NamedTuple):
    nodes: dict  # name: Box
    lines: list  # of Line
    labels: list  # of (Box, text, link)


class Branch(NamedTuple):
    """A node that hangs on a link, and the branches that hang on the node."""

    link: object
    name: str
    branches: list
    width: float


class Arrangement:
    """Places all nodes, links and labels of a topology in `picture`."""

    def __init__(self, topology):
        self.topology, self.picture = topology, Picture({}, [], [])
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
        self.spine = spine.spine(topology)
        self.place()

    def place(self):
        names, lanes = self.spine, spine.lanes(self.topology, self.spine)
        for number, name in enumerate(names):
            width, height = self.sizes[name]
            self.sizes[name] = (max(width, GAP * (len(spine.at(lanes, number)) + 1)), height)
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
                below = [lane.link for lane in lanes if lane.overlaps(number - 1, number)]
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
        self.below(lanes, reach + BUS)

    def below(self, lanes, y):
        """Put lanes below the spine: down from one node, along, and up to the other."""
        nodes, ports = [self.picture.nodes[name] for name in self.spine], {}
        for number, node in enumerate(nodes):
            here = spine.at(lanes, number)
            for n, lane in enumerate(here, start=1):
                ports[number, lane] = node.x + node.width * (n / (len(here) + 1) - 0.5)
        for row in range(1 + max((lane.row for lane in lanes), default=-1)):
            here = [lane for lane in lanes if lane.row == row]
            space = LANE if any(words(lane.link) for lane in here) else BUS / 2
            y += space
            for lane in here:
                link, ends = lane.link, (lane.first, lane.last)
                (x, start), (to_x, end) = ((ports[n, lane], nodes[n].height / 2) for n in ends)
                points = [(x, start), (x, y), (to_x, y), (to_x, end)]
                towards_b = link.a == self.spine[lane.first]
                self.picture.lines.append(Line(link, points, towards_b, alone=True))
                middle = (x + to_x) / 2
                reach = max(map(len, self.two_lines(link))) * CHAR_PX / 2 + BUS / 2
                if any(abs(port - middle) < reach for (_, other), port in ports.items()):
                    near, far = (nodes[(lane.first + lane.last + n) // 2] for n in (-1, 1))
                    middle = (near.x + near.width / 2 + far.x - far.width / 2) / 2
                self.label(link, middle, y)
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
        """Put branches in a row above (-1) or below (1) their parent.

        `reach` is the distance from the spine to the far edge of the parent's row.
        """
        node, bus = self.picture.nodes[parent], reach + BUS
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
        node, length = self.picture.nodes[parent], max(self.length(link) for link, _ in pairs)
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
        below = text.pop() if queue_word(link) else ""
        return " · ".join(text), below

    def put(self, name, x, y):
        self.picture.nodes[name] = Box(x, y, *self.sizes[name])

    def join(self, link, start, points):
        """Add a link that starts at a node, with the label on its last part."""
        self.picture.lines.append(Line(link, points, link.a == start))
        (x, y), (to_x, to_y) = points[-2:]
        text = words(link)
        if not text:
            return
        if x == to_x:
            box = Box(x, (y + to_y) / 2, self.label_size(link)[0], LINE_PX * len(text))
            self.picture.labels.append((box, text, link))
            return
        self.label(link, (x + to_x) / 2, y)

    def label(self, link, x, y):
        """Put a label above and below the middle of a horizontal line."""
        for side, line in zip((-1, 1), self.two_lines(link), strict=True):
            if line:
                box = Box(x, y + side * (4 + LINE_PX / 2), CHAR_PX * len(line), LINE_PX)
                self.picture.labels.append((box, [line], link))


def _width(branches):
    return sum(branch.width for branch in branches) + GAP * (len(branches) - 1) if branches else 0


def arrange(topology):
    """The `Picture` of a topology."""
    return Arrangement(topology).picture
