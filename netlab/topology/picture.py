"""The picture of a topology that a notebook shows, and its text for those who do not see it."""

from html import escape

from netlab.topology.layout import LINE_PX, Box, Layout, words

INK, SOFT, CABLE, EMULATED = "#0f172a", "#475569", "#94a3b8", "#475569"
SANS = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def svg(topology, buttons=False):
    """The picture as SVG: the same text for the same topology.

    With `buttons`, nodes and links are buttons for a pointer, the keyboard and screen readers, with
    the name of a node, or the number of a link, as ``data-target``.

    Hosts have rounded corners, switches square corners and arrows, routers cut corners and their
    addresses in the order of their interfaces. A thick line emulates what its label says. An arrow
    at one end means: only on this interface, in the arrow's direction. No arrow means: on both.
    """
    layout = Layout(topology)
    boxes = [*layout.nodes.values(), *(box for box, _, _ in layout.labels)]
    boxes += [Box(*point, 0, 0) for line in layout.lines if line.lane for point in line.points]
    left = min(box.x - box.width / 2 for box in boxes) - 20
    right = max(box.x + box.width / 2 for box in boxes) + 20
    top = min(box.y - box.height / 2 for box in boxes) - 20
    bottom = max(box.y + box.height / 2 for box in boxes) + 20
    width, height = right - left, bottom - top
    parts = []
    for line in layout.lines:
        if line.lane:  # it may cross others: as a bridge
            parts.append(_path(line.points, "white", 8))
        parts.append(_path(line.points, CABLE, 2))
    for line in layout.lines:
        if words(line.link) and line.lane:
            parts += [_path(line.points, "white", 10), _path(line.points, EMULATED, 4)]
        elif words(line.link):
            (x, y), (to_x, to_y) = line.points[-2:]
            away = 8 if len(line.points) > 2 else 0  # from the corner where other links begin
            dx, dy = (to_x > x) - (to_x < x), (to_y > y) - (to_y < y)
            parts.append(_path([(x + away * dx, y + away * dy), (to_x, to_y)], EMULATED, 4))
        if words(line.link) and not line.link.both:
            parts.append(_arrow(line))
    for box, text, _ in layout.labels:
        parts.append(_rectangle(Box(box.x, box.y, box.width + 2, box.height + 4), "white", None, 4))
        for row, word in enumerate(text):
            y = box.y + (row - (len(text) - 1) / 2) * LINE_PX + 4
            parts.append(_text(box.x, y, word, 11, INK))
    for host in topology.hosts:
        box = layout.nodes[host.name]
        parts.append(_rectangle(box, "#eff6ff", "#2563eb", 10))
        parts.append(_text(box.x, box.y - 3, host.name, 13, INK, bold=True))
        parts.append(_text(box.x, box.y + 12, host.address, 10, SOFT, MONO))
    for switch in topology.switches:
        box = layout.nodes[switch.name]
        parts.append(_rectangle(box, "#ecfdf5", "#059669", 2))
        parts.append(_text(box.x, box.y - 1, switch.name, 13, INK, bold=True))
        for y, way in ((box.y + 7, 1), (box.y + 13, -1)):
            start, point, back = box.x - way * 12, box.x + way * 12, box.x + way * 8
            parts.append(_path([(start, y), (point, y)], "#059669", 1.5))
            parts.append(_path([(back, y - 3), (point, y), (back, y + 3)], "#059669", 1.5))
    for router in topology.routers:
        box = layout.nodes[router.name]
        parts.append(_octagon(box, "#fff7ed", "#ea580c"))
        y = box.y - box.height / 2 + 18
        parts.append(_text(box.x, y, router.name, 13, INK, bold=True))
        for row, address in enumerate(router.addresses, start=1):
            parts.append(_text(box.x, y + 1 + 13 * row, address, 10, SOFT, MONO))
    role = "img"
    if buttons:
        role = "group"
        for number, line in enumerate(topology.links):
            (found,) = (one for one in layout.lines if one.link is line)
            path = _path(found.points if found.lane else found.points[-2:], "transparent", 22)
            parts.append(_button(number, f"link {_link_text(line)}", path))
        for kind, nodes in _kinds(topology).items():
            for node in nodes:
                box = layout.nodes[node.name]
                area = _rectangle(box, "transparent", "transparent", 8)
                parts.append(_button(node.name, f"{kind} {node.name}", area))
    view = f"{_n(left)} {_n(top)} {_n(width)} {_n(height)}"
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" width="{_n(width)}"'
        f' height="{_n(height)}" style="max-width: 100%; height: auto" role="{role}"'
        f' aria-labelledby="title desc"><title id="title">A network</title>'
        f'<desc id="desc">{escape(alt_text(topology))}</desc>'
    )
    frame = Box(left + width / 2, top + height / 2, width - 2, height - 2)
    return "\n".join([start, _rectangle(frame, "white", "#e2e8f0", 12), *parts, "</svg>"])


def _kinds(topology):
    return {"host": topology.hosts, "switch": topology.switches, "router": topology.routers}


def _button(target, name, area):
    return (
        f'<g role="button" tabindex="0" data-target="{target}" aria-label="{escape(name)}">{area}'
        "</g>"
    )


def _n(number):
    return f"{number:.1f}".removesuffix(".0")


def _rectangle(box, fill, stroke, radius):
    edge = f' stroke="{stroke}" stroke-width="1.5"' if stroke else ""
    x, y = box.x - box.width / 2, box.y - box.height / 2
    return (
        f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(box.width)}" height="{_n(box.height)}"'
        f' rx="{radius}" fill="{fill}"{edge}/>'
    )


def _octagon(box, fill, stroke):
    x, y, cut = box.width / 2, box.height / 2, 12
    corners = [(-x, cut - y), (cut - x, -y), (x - cut, -y), (x, cut - y)]
    corners += [(x, y - cut), (x - cut, y), (cut - x, y), (-x, y - cut)]
    points = " ".join(f"{_n(box.x + dx)},{_n(box.y + dy)}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{fill}" stroke="{stroke}" stroke-width="1.5"/>'


def _text(x, y, text, size, fill, family=SANS, bold=False):
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-family="{family}" font-size="{size}"{weight}'
        f' fill="{fill}" text-anchor="middle">{text}</text>'
    )


def _path(points, stroke, width):
    """A line with rounded corners."""
    words = [f"M{_n(points[0][0])} {_n(points[0][1])}"]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        room = [abs(here[0] - end[0]) + abs(here[1] - end[1]) for end in (before, after)]
        radius = min(8, *(length / 2 for length in room)) if width >= 2 else 0
        to, fro = (
            [(here[i] + (end[i] - here[i]) * radius / max(length, 1)) for i in (0, 1)]
            for end, length in zip((before, after), room, strict=True)
        )
        words.append(
            f"L{_n(to[0])} {_n(to[1])}Q{_n(here[0])} {_n(here[1])} {_n(fro[0])} {_n(fro[1])}"
        )
    words.append(f"L{_n(points[-1][0])} {_n(points[-1][1])}")
    return f'<path d="{"".join(words)}" fill="none" stroke="{stroke}" stroke-width="{width}"/>'


def _arrow(line):
    """A triangle beside the interface that emulates, pointing along the link."""
    start = line.points[:2] if line.lane else line.points[-2:]
    here, there = start if line.towards_b else line.points[:-3:-1]
    length = abs(there[0] - here[0]) + abs(there[1] - here[1])
    ux, uy = (there[0] - here[0]) / length, (there[1] - here[1]) / length
    corners = [
        (along * ux - side * uy, along * uy + side * ux)
        for along, side in ((8, 8), (23, 0), (8, -8))
    ]
    points = " ".join(f"{_n(here[0] + dx)},{_n(here[1] + dy)}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{EMULATED}"/>'


def alt_text(topology):
    """Nodes, links, and what links emulate: one text without line breaks."""
    nodes = [f"{kind} {node.name}" for kind, some in _kinds(topology).items() for node in some]
    return f"A network of {', '.join(nodes)}. Links: {'; '.join(map(_link_text, topology.links))}."


def _link_text(link):
    """Such as "s1 to s2 with 10 Gbit/s, 20 ms, on its interface of s1 only"."""
    text = f"{link.a} to {link.b}"
    if found := words(link):
        where = "on both interfaces" if link.both else f"on the interface of {link.a} only"
        text += f" with {', '.join(found)}, {where}"
    return text
