"""What to type so that a link which is up gets another rate, delay, loss, queue or discipline."""

import re


def retyped(topology, link, before, after):
    """By node, the line that gives one of a topology's links the state `after`.

    Where the same disciplines stay, ``tc ... change`` keeps what waits in them; else they are made
    anew, and what waits there is lost.
    """
    switches, lines = {switch.name for switch in topology.switches}, {}
    for node, (was, now) in setups(topology, link, before, after).items():
        if was == now:
            continue
        if stay(was, now):
            typed = changing(was, now)
        else:
            gone = f"tc qdisc del dev {topology.interface(link, node)} root"
            typed = [gone] * bool(was) + now
        # all switches share one machine, so that one of them can type for two
        where = link.a if {link.a, node} <= switches else node
        lines.setdefault(where, []).extend(typed)
    return {node: " && ".join(typed) for node, typed in lines.items()}


def setups(topology, link, *states):
    """By node, the lines that give one of a topology's links each of these states."""
    typed = [[*topology.emulation(link, state)] for state in states]
    return {
        node: [[line for other, line in lines if other == node] for lines in typed]
        for node in (link.a, link.b)
    }


def stay(was, now):
    """Are these lines of one interface for the same disciplines?"""
    return list(map(_shape, was)) == list(map(_shape, now))


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
