"""What the picture of a topology shows, in words, for those who do not see it."""

from netlab.topology.picture.layout import words


def told(topology):
    """Nodes, links, and what links emulate: one text without line breaks."""
    kinds = {"host": topology.hosts, "switch": topology.switches, "router": topology.routers}
    nodes = [f"{kind} {node.name}" for kind, some in kinds.items() for node in some]
    return f"A network of {', '.join(nodes)}. Links: {'; '.join(map(of_link, topology.links))}."


def of_link(link):
    """Such as "s1 to s2 with 10 Gbit/s, 20 ms, on its interface of s1 only"."""
    text = f"{link.a} to {link.b}"
    if found := words(link):
        where = "on both interfaces" if link.both else f"on the interface of {link.a} only"
        text += f" with {', '.join(found)}, {where}"
    return text
