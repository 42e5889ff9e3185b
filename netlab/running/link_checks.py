"""Does a network pass what it should? Its round-trip times before the traffic (ping across its
links), and after it the links where packets wait and none passes (``tc -s``).

tc is asked when the traffic has ended, so that no byte of a run depends on it.
"""

import math
import re

from netlab import units
from netlab.errors import EmulationError
from netlab.readers import read_ping
from netlab.running.job import plain

# what a ping may take beyond the emulated delay: a busy machine may come round to it late
RTT_MARGIN_S = {"virtual": 0.001, "cpu": 0.010, "real": 0.010}
RTT_SHORT_S = 0.0001  # what it may fall short of it
ATTEMPTS = 10  # how often one path is pinged at most
PING_BYTES = 98  # a frame of ping's: 56 bytes, and the headers of ICMP, IP and Ethernet
PROBES = 20  # echo requests of one ping where the path loses some
ARP_REQUESTS = 3  # the kernel sends so many, a second apart, before it gives up
IMPROBABLE = 1e-4  # a network is refused where a correct one would rarely be as silent

LOOK_S = 1  # a discipline is stalled where packets wait and none leaves for so long
# netem holds each packet for its delay, at most 3 s, and an htb above it counts that, too
HOLDING, HOLD_S = ("netem", "htb"), 3
# kind, handle and interface; packets that were sent, and that wait
_QDISC = re.compile(
    r"^qdisc (\S{1,40}) (\S{1,40}) dev (\S{1,40})(?: .*)?\n"
    r" Sent \d{1,20} bytes (\d{1,20}) pkt.*\n backlog \S{1,40} (\d{1,20})p",
    re.M,
)


def check_delays(topology, run, margin_s):
    """Ping across every link that emulates a delay or a loss; an EmulationError where it is wrong.

    `run` takes a host's name and a command, and returns what that printed. The best ping may take
    `margin_s` on top of the links' delays.
    """
    unchecked = [
        (link, forward)
        for link in topology.links
        if link.delay or link.lossy
        for forward in ((True, False) if link.both else (True,))
    ]
    # A router asks from the interface by which it sends. Where links make loops, the path back to
    # that address may be another one than to the router's first.
    loops = len(topology.links) >= len(topology.node_names)
    while unchecked:
        if not (across := topology.across(*unchecked[0])):  # nothing that is sent ever meets it
            del unchecked[0]
            continue
        start, end, path = across
        there, back = ([start.name, end.name][::step] for step in (1, -1))
        lines = [*topology.emulated(*there), *topology.emulated(*back)]
        expected_s = topology.rtt_s(*there) + sum(one.transmission_s(PING_BYTES) for one in lines)
        noise_s = sum(topology.noises_s.get(node.name, 0) for node in (start, end))
        ping = f"ping -I {start.ip}" if loops and start in topology.routers else "ping"
        check_path(start, end, path, expected_s, run, margin_s + noise_s, ping)
        for name in dict.fromkeys(node.name for node in (start, end, *topology.routers)):
            run(name, "ip neigh flush all")  # restore empty ARP caches
        met = topology.path(start.name, end.name) + topology.path(end.name, start.name)
        unchecked = [step for step in unchecked if step not in met]


def check_path(start, end, path, expected_s, run, margin_s, ping):
    """Ping, again where the answer contradicts the network, as lost ARP requests delay pings."""
    lossy = any(link.lossy for link in path)
    interval_s = expected_s + 0.01
    command = f"{ping} -c {PROBES if lossy else 2} -i {interval_s:.3f} -W 5 {end.ip}"
    probability, wrong_s = 1.0, None  # of so much silence where the network is right
    for _ in range(ATTEMPTS):
        text = run(start.name, command)
        measured = read_ping(text).meta
        if not measured["received"]:
            if any(units.fraction(link.loss) >= 0.5 for link in path):
                return  # silence proves nothing
            probability *= silence(path)
            if probability < IMPROBABLE:
                break
            continue
        best_s = measured["rtt_min_s"]
        if expected_s - RTT_SHORT_S <= best_s <= expected_s * 1.01 + margin_s:
            return
        wrong_s = best_s if wrong_s is None or best_s > expected_s else wrong_s
        if best_s < expected_s:  # no loss makes a ping faster
            break
    between = f"between {start.name} and {end.name}"
    if wrong_s is not None:
        raise EmulationError(
            f"the round-trip time {between} is {wrong_s * 1000:.3f} ms where"
            f" {expected_s * 1000:.3f} ms was asked for, so nothing was measured. Is netem there"
            " (`tc qdisc show`)?"
        )
    if probability < IMPROBABLE:
        raise EmulationError(
            f"no answer to {measured['transmitted']} pings {between}, so nothing was measured:\n"
            f"{text}"
        )


def silence(path):
    """The probability, at most, that no ARP request or no echo request of a ping is answered."""
    both_ways = ((1 - units.fraction(link.loss)) ** len(link.ends) for link in path)
    answered = math.prod(both_ways)
    return (1 - answered) ** ARP_REQUESTS + (1 - answered) ** PROBES


def stalled(topology, session):
    """Warnings about interfaces that pass nothing although packets wait there; a list of texts."""
    switches = {switch.name for switch in topology.switches}  # they share one machine
    typing = [node for node, line in topology.setup() if line.startswith("tc qdisc add")]
    nodes = {"" if node in switches else node: node for node in typing}.values()
    own = {*topology.interfaces.values()}  # a machine that runs Mininet has others, too

    def waiting():
        shown = "\n".join(session.output(node, "tc -s qdisc show") for node in nodes)
        return {key: found for key, found in _waiting(shown).items() if key[2] in own}

    stuck = waiting()
    if stuck:
        session.sleep(LOOK_S)
        stuck = _alike(stuck, waiting())
    if any(kind in HOLDING for kind, *_ in stuck):
        session.sleep(HOLD_S)
        stuck = _alike(stuck, waiting())
    return [_said(interface, stuck) for interface in dict.fromkeys(key[2] for key in stuck)]


def _waiting(text):
    """The disciplines that hold packets, by kind, handle and interface: how many packets each has
    sent, and its lines.
    """
    found = _QDISC.finditer(plain(text).replace("\r\n", "\n"))
    # what has no handle is a part of another, which says the same
    return {one.groups()[:3]: (one[4], one[0]) for one in found if one[5] != "0" and one[2] != "0:"}


def _alike(before, after):
    """The disciplines that sent nothing in between, with their later lines."""
    return {key: two for key, two in after.items() if before.get(key, ("",))[0] == two[0]}


def _said(interface, stuck):
    lines = "\n".join(lines for key, (_, lines) in stuck.items() if key[2] == interface)
    return (
        f"{interface} passes nothing although packets wait there: `tc -s qdisc show dev"
        f" {interface}` shows\n{lines}\nA tbf whose bucket (burst) is smaller than the first packet"
        " that waits never passes it; a rate may be too low for one packet in a second"
    )
