"""Links that pass nothing while packets wait there, as ``tc -s`` shows them.

tc is asked when the traffic has ended, so that no byte of a run depends on it.
"""

import re

from netlab.running.job import plain

LOOK_S = 1  # a discipline is stalled where packets wait and none leaves for so long
# netem holds each packet for its delay, at most 3 s, and an htb above it counts that, too
HOLDING, HOLD_S = ("netem", "htb"), 3
# kind, handle and interface; packets that were sent, and that wait
_QDISC = re.compile(
    r"^qdisc (\S{1,40}) (\S{1,40}) dev (\S{1,40})(?: .*)?\n"
    r" Sent \d{1,20} bytes (\d{1,20}) pkt.*\n backlog \S{1,40} (\d{1,20})p",
    re.M,
)


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
