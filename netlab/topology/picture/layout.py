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

Coordinates are in pixels; y grows downwards, and is 0 on the spine.
"""

from typing import NamedTuple

from netlab import units

GAP = 16  # between neighbours
ROW = 54  # between rows of hosts
BUS = 16  # between a node and the line from which its links branch off
SEGMENT = 40  # length of a link without a label
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


def words(link):
    """The words of a link's label: rate, delay, loss, queue; none for a plain cable."""
    found = []
    if link.rate:
        prefixes = (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1))
        found.append(_scaled(units.rate_bps(link.rate), prefixes))
    if link.delay_s:
        found.append(_scaled(link.delay_s, (("s", 1), ("ms", 1e-3), ("µs", 1e-6))))
    if link.lossy:
        found.append(f"{units.fraction(link.loss) * 100:g} %")
    return [*found, queue] if (queue := queue_word(link)) else found


def queue_word(link):
    """The queue's length in packets or its discipline; nothing where neither was asked for."""
    return f"queue {link.queue_packets}" if link.queue_packets else (link.qdisc or "").split(" ")[0]


def _scaled(value, names):
    name, scale = next((pair for pair in names if value >= pair[1]), names[-1])
    return f"{value / scale:g} {name}"


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
        self.place()

    def spine(self):
        """The longest way through switches and routers, with the end near the first host first.

        Of equally long ways, the one with the most links that emulate something.
        """

        def walk(way, emulating):
            yield len(way), emulating, way
            for link, other in self.near[way[-1]]:
                if other not in way and other not in self.ends:
                    yield from walk([*way, other], emulating + bool(words(link)))

        inner = [name for name in self.near if name not in self.ends]
        if not inner:
            return list(self.near)
        ways = [way for start in inner for way in walk([start], 0)]
        spine = max(ways, key=lambda way: way[:2])[2]
        first = self.topology.hosts[0].name
        steps = [len(self.topology.path(first, end)) for end in (spine[0], spine[-1])]
        return spine if steps[0] <= steps[1] else spine[::-1]

    def place(self):
        spine = self.spine()
        beside = [[pair for pair in self.near[name] if pair[1] not in spine] for name in spine]
        left, right = beside[0], beside[-1]
        if len(spine) == 1:
            left, right = left[: (len(left) + 1) // 2], left[(len(left) + 1) // 2 :]
        hanging = [[], *beside[1:-1], []][: len(spine)]
        sides = [
            self.sides([self.branch(*pair, name) for pair in pairs])
            for name, pairs in zip(spine, hanging, strict=True)
        ]
        taken = [-BUS, -BUS]  # right end of the space in use above and below the spine
        x = 0
        for number, name in enumerate(spine):
            if number:
                link = next(link for link, other in self.near[name] if other == spine[number - 1])
                start, x = (x, 0), x + self.length(link)
            x += self.sizes[name][0] / 2
            both = zip(sides[number], taken, strict=True)
            x = max(x, 0, *(used + GAP + _width(side) / 2 for side, used in both if side))
            self.put(name, x, 0)
            if number:
                self.join(link, spine[number - 1], [start, (x - self.sizes[name][0] / 2, 0)])
            for n, side in enumerate(sides[number]):
                self.hang(side, name, x, 2 * n - 1, max(self.sizes[name][1] for name in spine) / 2)
                taken[n] = x + _width(side) / 2 if side else taken[n]
            x += self.sizes[name][0] / 2
        self.column(left, spine[0], -1, -BUS)
        self.column(right, spine[-1], 1, max(x, *(used + GAP - BUS for used in taken)) + BUS)

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
        for side, line in zip((-1, 1), self.two_lines(link), strict=True):
            if line:
                middle = (x + to_x) / 2, y + side * (4 + LINE_PX / 2)
                box = Box(*middle, CHAR_PX * len(line), LINE_PX)
                self.picture.labels.append((box, [line], link))


def _width(branches):
    return sum(branch.width for branch in branches) + GAP * (len(branches) - 1) if branches else 0


def arrange(topology):
    """The `Picture` of a topology."""
    return Arrangement(topology).picture
