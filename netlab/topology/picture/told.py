"""What the picture of a topology shows, in words, for those who do not see it."""

from netlab import units


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
