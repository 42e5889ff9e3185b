r"""Where everything goes in the picture of a topology.

::

    h1 --\                    h7                         /-- h2        the spine, from left to
    right: the longest way
          s1 ====== r1 ====== r2 ====== r3 ====== s3 --<              through switches and routers;
          what hangs above
    h3 --/                               |                \-- h4        and below it; the hosts at
    its two ends
                                        s2
                                     /   |   \
                                   h5   h6   h8

Coordinates are in pixels, y grows downwards, the spine is at 0.
"""

from typing import NamedTuple

from netlab import units

# between neighbours; rows of hosts; a node and its bus; a cable without a label
GAP, ROW, BUS, SEGMENT = 16, 54, 16, 40
ARROW_PX = 27  # from an interface to the point of its arrow, and a little more
LINE_PX, CHAR_PX, MONO_PX = (
    14,
    7.0,
    6.1,
)  # a label's line and letter, as wide as any font has it; an address's letter


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
    """A link: its corners from one node to the other, of which the last two are its own and no
    other link's.
    """

    link: object
    points: list
    towards_b: bool  # are the points in the order a, b?


class Picture(NamedTuple):
    nodes: dict  # name: Box
    lines: list  # of Line
    labels: list  # of (Box, text, link)


class Branch(NamedTuple):
    """What hangs on a link."""

    link: object
    name: str
    branches: list
    width: float


def words(link):
    """What a link emulates, as people write it; nothing for a plain cable."""
    found = []
    if link.rate:
        found.append(
            _scaled(
                units.rate_bps(link.rate),
                (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1)),
            )
        )
    if link.delay_s:
        found.append(_scaled(link.delay_s, (("s", 1), ("ms", 1e-3), ("µs", 1e-6))))
    if link.lossy:
        found.append(f"{units.fraction(link.loss) * 100:g} %")
    return [*found, f"queue {link.queue_packets}"] if link.queue_packets else found


def _scaled(value, names):
    name, scale = next((pair for pair in names if value >= pair[1]), names[-1])
    return f"{value / scale:g} {name}"


class Arrangement:
    """Finds a place for everything."""

    def __init__(self, topology):
        self.topology, self.picture = topology, Picture({}, [], [])
        # of each node: (link, its other end)
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
            longest = max(len(address) for address in router.addresses)
            self.sizes[router.name] = (
                max(60, 24 + MONO_PX * longest),
                30 + 13 * len(router.addresses),
            )
        self.place()

    def spine(self):
        """The longest way through switches and routers; of equally long ones, that with most
        emulation. h1 is on its left.
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
        taken = [-BUS, -BUS]  # how far to the right the space above and below the spine is used
        x = 0
        for number, name in enumerate(spine):
            if number:
                link = next(link for link, other in self.near[name] if other == spine[number - 1])
                start, x = (x, 0), x + self.length(link)
            x += self.sizes[name][0] / 2
            x = max(
                x,
                *(
                    used + GAP + _width(side) / 2
                    for side, used in zip(sides[number], taken, strict=True)
                    if side
                ),
                0,
            )
            self.put(name, x, 0)
            if number:
                self.join(link, spine[number - 1], [start, (x - self.sizes[name][0] / 2, 0)])
            for n, side in enumerate(sides[number]):
                self.hang(side, name, x, 2 * n - 1, max(self.sizes[name][1] for name in spine) / 2)
                taken[n] = x + _width(side) / 2 if side else taken[n]
            x += self.sizes[name][0] / 2
        self.column(left, spine[0], -1, -BUS)
        self.column(
            right, spine[-1], 1, max(x, *(used + GAP - BUS for used in taken)) + BUS if right else 0
        )

    def sides(self, branches):
        """What hangs above, and what below: about equally much, switches and routers rather below."""
        above, below = [], []
        for branch in sorted(branches, key=lambda branch: -branch.width):
            more = _width(above) - _width(below)
            side = above if more < 0 or (more == 0 and branch.name in self.ends) else below
            side.append(branch)
        order = [branch.name for branch in branches]
        return [
            sorted(side, key=lambda branch: order.index(branch.name)) for side in (above, below)
        ]

    def branch(self, link, name, parent):
        branches = [self.branch(*pair, name) for pair in self.near[name] if pair[1] != parent]
        return Branch(
            link, name, branches, max(self.sizes[name][0], self.chip(link)[0], _width(branches))
        )

    def chip(self, link):
        """The width of a label on the vertical part of a link, and how much longer the link must be
        for it.
        """
        text = words(link)
        if not text:
            return 0, 0
        return CHAR_PX * max(len(word) for word in text), LINE_PX * len(text) + (
            20 if link.both else 2 * ARROW_PX
        )

    def hang(self, branches, parent, x, direction, reach):
        """Put branches in a row above or below their parent; `reach` is how far the parent's row
        goes.
        """
        node = self.picture.nodes[parent]
        bus, edge = (
            reach + BUS,
            reach + 2 * BUS + max((self.chip(branch.link)[1] for branch in branches), default=0),
        )
        height = max((self.sizes[branch.name][1] for branch in branches), default=0)
        here = x - _width(branches) / 2
        for branch in branches:
            here += branch.width / 2
            # straight on, whatever the sum of widths was rounded to
            here = x if abs(here - x) < 0.1 else here
            points = [
                (x, node.y + direction * node.height / 2),
                (x, direction * bus),
                (here, direction * bus),
            ]
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
        """How long the horizontal part of a link is, so that its label fits above it."""
        letters = max(len(text) for text in self.two_lines(link))
        return (
            max(SEGMENT, CHAR_PX * letters + (16 if link.both else 2 * ARROW_PX))
            if letters
            else SEGMENT
        )

    def two_lines(self, link):
        """What is written above, and what below, the horizontal part of a link."""
        text = words(link)
        return " · ".join(text[:-1] if link.queue_packets else text), (
            text[-1] if link.queue_packets else ""
        )

    def put(self, name, x, y):
        self.picture.nodes[name] = Box(x, y, *self.sizes[name])

    def join(self, link, start, points):
        """Draw a link that starts at a node, with its label at its own last part."""
        self.picture.lines.append(Line(link, points, link.a == start))
        (x, y), (to_x, to_y) = points[-2:]
        text = words(link)
        if not text:
            return
        if x == to_x:
            box = Box(x, (y + to_y) / 2, self.chip(link)[0], LINE_PX * len(text))
            self.picture.labels.append((box, text, link))
            return
        for side, line in zip((-1, 1), self.two_lines(link), strict=True):
            if line:
                box = Box(
                    (x + to_x) / 2, y + side * (4 + LINE_PX / 2), CHAR_PX * len(line), LINE_PX
                )
                self.picture.labels.append((box, [line], link))


def _width(branches):
    return sum(branch.width for branch in branches) + GAP * (len(branches) - 1) if branches else 0


def arrange(topology):
    """Where everything goes: a `Picture`."""
    return Arrangement(topology).picture
