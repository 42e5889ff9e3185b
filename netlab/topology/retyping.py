"""What to type so that a link which is up gets another rate, delay, loss, queue or discipline."""

import re

from netlab import units
from netlab.topology.limits import FRAME_BYTES, PACKET_BYTES


def retyped(topology, link, before, after):
    """By node, the line that gives one of a topology's links the state `after`.

    Where the same disciplines stay, ``tc ... change`` keeps what waits in them; else they are made
    anew, and what waits there is lost.
    """
    switches, lines = {switch.name for switch in topology.switches}, {}
    for (node, device), (was, now) in setups(topology, link, before, after).items():
        if was == now:
            continue
        if stay(was, now):
            typed = changing(was, now)
        else:
            typed = [f"tc qdisc del dev {device} root"] * bool(was) + now
        # all switches share one machine, so that one of them can type for two
        where = link.a if {link.a, node} <= switches else node
        lines.setdefault(where, []).extend(typed)
    return {node: " && ".join(typed) for node, typed in lines.items()}


def setups(topology, link, *states):
    """By node and device, the lines that give one of a topology's links each of these states."""
    typed = [[*topology.emulation(link, state)] for state in states]
    places = dict.fromkeys((node, device) for lines in typed for node, device, _ in lines)
    return {
        place: [[line for *own, line in lines if tuple(own) == place] for lines in typed]
        for place in places
    }


def stay(was, now):
    """Are these lines of one interface for the same disciplines?"""
    return list(map(_shape, was)) == list(map(_shape, now))


def holding(topology, link, before, after):
    """The state `after`, as one of a topology's links can have it while packets wait in `before`.

    tbf never passes a packet that is larger than its bucket, and whatever comes behind it. So
    where what waits stays, a bucket that is computed from the rate is as large as what may wait.
    """
    may_wait = PACKET_BYTES if topology.offloading else FRAME_BYTES
    least = min(units.size_bytes(before.burst), may_wait)
    tbf = before.rate and after.rate and not after.tclink
    if not tbf or units.size_bytes(after.burst) >= least:
        return after
    stays = all(stay(*lines) for lines in setups(topology, link, before, after).values())
    return after.but(burst=least) if stays else after


def changing(was, now):
    """The lines of one interface that change its disciplines, which stay the same."""
    return [
        line.replace(" add ", " change ", 1)
        for line, same in zip(now, was, strict=True)
        # tbf's new limit has become that of a fifo behind it, even if that counts packets
        if line != same or re.search(" handle 3: [pb]fifo ", line)
    ]


def _shape(line):
    """What ``tc ... change`` cannot change of a line of `Link.setup`."""
    if " handle 3: " in line:  # a discipline: parameters that are left out would stay
        return line
    return re.sub(r"(handle \S+ \w+|htb rate).*", r"\1", line)
