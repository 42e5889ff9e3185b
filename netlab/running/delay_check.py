"""Ping across every link that emulates something: a network is used only where its round trips are
those asked for. A link that no packet between two hosts or routers takes is not checked.
"""

import math

from netlab import units
from netlab.errors import EmulationError
from netlab.readers import read_ping

# What a ping may take beyond the emulated delay: on a busy machine's own clock, until its processor
# comes round to it.
RTT_MARGIN_S = {"virtual": 0.001, "cpu": 0.010, "real": 0.010}
RTT_SHORT_S = 0.0001  # what it may fall short of it
ATTEMPTS = 10  # how often one path is pinged at most
PROBES = 20  # echo requests of one ping where the path loses some
ARP_REQUESTS = 3  # the kernel sends so many, a second apart, before it gives up
# A network is refused if a correct one would be as silent with a lower probability than this.
IMPROBABLE = 1e-4


def check_delays(topology, run, margin_s):
    """Ping across every link that emulates a delay or a loss.

    Parameters
    ----------
    topology : Topology
        What was asked for.
    run : callable
        Takes the name of a host and a command, gives what the command printed there.
    margin_s : float
        What the best ping may take on top of the links' delays. [s]

    Raises
    ------
    EmulationError
        A round-trip time is not the one asked for, or there is no answer.
    """
    unchecked = [
        (link, forward)
        for link in topology.links
        if link.delay or link.lossy
        for forward in ((True, False) if link.both else (True,))
    ]
    while unchecked:
        if not (across := topology.across(*unchecked[0])):  # nothing that is sent ever meets it
            del unchecked[0]
            continue
        start, end, path = across
        expected_s = topology.rtt_s(start.name, end.name)
        noise_s = sum(topology.noises_s.get(name, 0) for name in (start.name, end.name))
        # a router asks from the interface by which it sends, and where links make circles, the way
        # back to that address may be another one than to the router's first
        circles = len(topology.links) >= len(topology.node_names)
        ping = f"ping -I {start.ip}" if circles and start in topology.routers else "ping"
        check_path(start, end, path, expected_s, run, margin_s + noise_s, ping)
        for name in dict.fromkeys(
            [start.name, end.name, *(router.name for router in topology.routers)]
        ):
            run(name, "ip neigh flush all")  # as if nobody had pinged yet
        met = topology.path(start.name, end.name) + topology.path(end.name, start.name)
        unchecked = [step for step in unchecked if step not in met]


def check_path(start, end, path, expected_s, run, margin_s, ping="ping"):
    """Ping from one host to another, and again where the answer contradicts the network: a lost ARP
    request holds back every ping behind it for a second, or silences them all.
    """
    lossy = any(link.lossy for link in path)
    interval_s = expected_s + 0.01
    command = f"{ping} -c {PROBES if lossy else 2} -i {interval_s:.3f} -W 5 {end.ip}"
    probability, late_s = 1.0, None  # of so much silence where the network is right
    for _ in range(ATTEMPTS):
        text = run(start.name, command)
        measured = read_ping(text).meta
        silent, best_s = not measured["received"], measured["rtt_min_s"]
        if silent:
            if any(units.fraction(link.loss) >= 0.5 for link in path):
                return  # silence proves nothing
            probability *= silence(path)
            if probability < IMPROBABLE:
                break
        elif best_s < expected_s - RTT_SHORT_S:  # no loss makes a ping faster
            break
        elif best_s <= expected_s * 1.01 + margin_s:
            return
        else:
            late_s = best_s
    between = f"between {start.name} and {end.name}"
    if late_s is not None:
        silent, best_s = False, late_s
    if not silent:
        raise EmulationError(
            f"the round-trip time {between} is {best_s * 1000:.3f} ms where"
            f" {expected_s * 1000:.3f} ms was asked for, so nothing was measured. Is netem there"
            " (`tc qdisc show`)?"
        )
    if probability < IMPROBABLE:
        raise EmulationError(
            f"no answer to {measured['transmitted']} pings {between}, so nothing was measured:\n"
            f"{text}"
        )


def silence(path):
    """How probable it is, at most, that no ping of one command is answered on such a path: no ARP
    request is, or no echo request.
    """
    answered = math.prod(
        (1 - units.fraction(link.loss)) ** len(link.ends) for link in path
    )  # both directions
    return (1 - answered) ** ARP_REQUESTS + (1 - answered) ** PROBES
