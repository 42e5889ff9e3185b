"""Limits of Linux and of the delay check: a network beyond them is refused when it is described."""

from itertools import combinations

FRAME_BYTES = 1514  # the largest Ethernet frame of an MTU of 1500 bytes, as tbf counts it
# The largest packet of a host that offloads segmentation, as tbf counts it: 64 KB are 45 frames
PACKET_BYTES = 45 * FRAME_BYTES
MOST_NODES = 500  # each host is a process of the guest; starting 500 takes a minute
NAME_LENGTH = 15  # the longest name that Linux gives an interface
BUFFERS = 87_380, 2**31 - 1  # the default size of a new socket's, and what an int holds
# Linux asks for an Ethernet address three times, a second apart (ARP). When the answer takes
# longer, it drops the packets that wait for it, and connections fail.
ARP_S = 3
CHECK_S = 5  # how long the pings that check a network's delays wait


def check_cards(topology):
    """Refuse a host's qdisc or noise on an interface that emulates a link."""
    noises_s = topology.noises_s
    for link in topology.links:
        noisy = [name for name in (link.a, link.b) if noises_s.get(name)]
        if link.tclink and noisy:
            raise ValueError(
                f"noise of host {noisy[0]!r} and tclink of the link {link.a}-{link.b}: they need"
                " the same interface; put a switch between the two"
            )
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
    """Refuse round-trip times that are too long for ARP, or for the check of delays."""
    delays_ns = {(link.a, link.b): round(link.delay_s * 1e9) for link in topology.links}
    noises_ns = {name: round(noise_s * 1e9) for name, noise_s in topology.noises_s.items()}
    if 2 * sum(delays_ns.values()) + sum(noises_ns.values()) <= ARP_S * 10**9:
        return
    routing, found = topology.routing, []
    for subnet, part in enumerate(routing.parts):
        for start, end in combinations(part, 2):
            links = [link for link, _ in routing.within(start, subnet, end)]
            asked_ns = sum(delays_ns[link.a, link.b] * len(link.ends) for link in links)
            found.append((start, end, asked_ns, ARP_S, "within a subnet, as ARP gives up then"))
    for start, end in combinations([*routing.defaults, *routing.routers], 2):
        both_ns = routing.one_way_ns(start, end) + routing.one_way_ns(end, start)
        found.append((start, end, both_ns, CHECK_S, "as their check waits no longer"))
    for start, end, of_links_ns, most_s, why in found:
        rtt_ns = of_links_ns + sum(noises_ns.get(name, 0) for name in (start, end))
        if rtt_ns > most_s * 10**9:
            raise ValueError(
                f"the delays between {start!r} and {end!r} add up to a round-trip time of"
                f" {rtt_ns / 1e9:.9g} s: at most {most_s} s {why}"
            )
