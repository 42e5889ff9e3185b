"""What Linux, and the check of a network that has come up, allow: a network beyond these limits is
refused before anything starts.
"""

import math

from netlab import units
from netlab.topology import addressing

FRAME_BYTES = 1514  # the largest Ethernet frame of an MTU of 1500 bytes, as tbf counts it
NAME_LENGTH = 15  # the longest name that Linux gives an interface
LEAST_BUFFER_BYTES = 87_380  # the default size of a new socket's buffer
MOST_BUFFER_BYTES = 2**31 - 1  # the kernel counts them in an int
# Linux asks for an Ethernet address three times, a second apart (ARP). When the answer takes
# longer, it drops the packets that wait for it, and connections fail.
ARP_S = 3
CHECK_S = 5  # how long the pings that check a network's delays wait


def check_names(links, switches):
    """Refuse names of nodes that make the names of their interfaces too long.

    Parameters
    ----------
    links : dict
        By the name of each node, its links.
    switches : set of str
    """
    for name, own in links.items():
        last = f"{name}-eth{len(own) - (name not in switches)}"
        if own and len(last) > NAME_LENGTH:
            raise ValueError(
                f"the name {name!r} is too long for a node with {len(own)} links: its interface"
                f" {last} has {len(last)} characters, and Linux allows {NAME_LENGTH}"
            )


def check_buffers(buffers):
    """Refuse maxima of ``tcp_rmem`` and ``tcp_wmem`` that the kernel does not take."""
    if not LEAST_BUFFER_BYTES <= units.size_bytes(buffers) <= MOST_BUFFER_BYTES:
        raise ValueError(
            f"buffers = {buffers!r}: from {LEAST_BUFFER_BYTES} bytes, the default size of a new"
            f" socket's buffer, to {MOST_BUFFER_BYTES}, the most that the kernel takes"
        )


def check_cards(topology):
    """Refuse a host's qdisc where netem or tbf has the place at the root of its card."""
    noises_s = topology.noises_s
    for host in topology.hosts:
        for link in topology.links_of(host.name) if host.qdisc else ():
            (other,) = {link.a, link.b} - {host.name}
            start = f"qdisc = {host.qdisc!r} of host {host.name!r}: its card {host.name}-eth0"
            if host.name in link.ends and list(link.setup("")):
                raise ValueError(
                    f"{start} emulates the link {link.a}-{link.b} already. Emulate it at {other!r},"
                    " in the other direction, or on a link behind a switch"
                )
            if noises_s.get(other):
                raise ValueError(
                    f"{start} makes the noise of {other!r}, at the other end of its cable: put a"
                    " switch between the two"
                )


def check_delays(topology):
    """Refuse round-trip times with which hosts could not find each other, or not be checked."""
    noises_s = topology.noises_s.values()
    if math.fsum([*(2 * link.delay_s for link in topology.links), *noises_s]) <= ARP_S:
        return
    arp, check = "within a subnet, as ARP gives up then", "as their check waits no longer"
    subnets = [(list(part), ARP_S, arp) for part in addressing.segments(topology)]
    everybody = [node.name for node in (*topology.hosts, *topology.routers)]
    for names, most_s, why in [*subnets, (everybody, CHECK_S, check)]:
        # in a tree, the farthest from any node is one end of the longest path
        _, end = farthest(topology, names[0], names)
        rtt_s, start = farthest(topology, end, names)
        if rtt_s > most_s:
            raise ValueError(
                f"the delays between {start!r} and {end!r} add up to a round-trip time of"
                f" {rtt_s:.9g} s: at most {most_s} s {why}"
            )


def farthest(topology, start, names):
    """The longest round-trip time from a node to one of these [s], and the name of that one."""
    paths = topology.paths(start)
    noises_s = topology.noises_s
    rtts_s = {
        name: math.fsum(
            [noises_s.get(start, 0), noises_s.get(name, 0)]
            + [link.delay_s * len(link.ends) for link, _ in paths[name]]
        )
        for name in names
    }
    found = max(rtts_s, key=rtts_s.get)
    return rtts_s[found], found
