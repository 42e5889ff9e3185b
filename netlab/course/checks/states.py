"""States of a network that a set asks for, and what the grader's own commands find of them.

They are looked at by jobs of the network's own, outside the bash that was typed into, and programs
have their full path, where nobody can write or mount: an alias, a function, a variable or a program
of the student's own changes nothing. The grader ends what was left running first, and again once
it has run a program of the student's. What a test carried is what the grader's own server counted.
"""

import math
import os
import re
import shlex
import warnings

from netlab import units
from netlab.course.answers.verdicts import Check
from netlab.errors import ReadError, ReadWarning, SpecificationError
from netlab.readers import read_iperf3, read_ping
from netlab.running.history import History
from netlab.running.network import Network
from netlab.running.replay import replay

PORT = 52_019  # of the grader's servers
PINGS = 10
SETTLED_S = 2  # of a test that do not count, at its begin
LONGEST_S = 60.0  # of one command [virtual s]
MOST_READ = 10_000  # characters at the end of what a program printed
LONGEST_SAID = 80  # characters of what a program printed, in a hint
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
LATER = "its state is looked at when the notebook has been run"
REACHED = "the network is in the state that is asked for"


def goodput(
    src, dst, at_least=None, at_most=None, seconds=5, streams=1, rtt_at_least="0ms", resent=0
):
    """Of one iperf3 test from `src` to `dst`, as the server counts it, its first two seconds left
    out; `at_least` and `at_most` in tc's notation. Its own round-trip time was never below
    `rtt_at_least`, and at least so many segments were sent again.

    Examples
    --------
    >>> goodput("h1", "h2", at_least="90mbit", seconds=3)
    {'what': 'goodput', 'least': 90000000.0, 'most': None, 'src': 'h1', ...}
    """
    return _range("goodput", units.rate_bps, at_least, at_most) | {
        "src": src, "dst": dst, "seconds": seconds, "streams": streams,
        "rtt_s": units.delay_s(rtt_at_least), "resent": resent,
    }  # fmt: skip


def rtt(src, dst, at_least=None, at_most=None):
    """The median round-trip time of ten pings; `at_least` and `at_most` in tc's notation.

    Examples
    --------
    >>> rtt("h1", "h2", at_least="20ms", at_most="21ms")
    {'what': 'rtt', 'least': 0.02, 'most': 0.021, 'src': 'h1', 'dst': 'h2'}
    """
    return _range("rtt", units.delay_s, at_least, at_most) | {"src": src, "dst": dst}


def says(host, command, pattern):
    """What a command prints has this regular expression in it; give programs their full path.

    Examples
    --------
    >>> says("h1", "/usr/sbin/ip route", "10.0.0.2 via")
    {'what': 'says', 'host': 'h1', 'command': '/usr/sbin/ip route', 'pattern': '10.0.0.2 via'}
    """
    re.compile(pattern)
    return {"what": "says", "host": host, "command": command, "pattern": pattern}


def prints(host, command, at_least=None, at_most=None, files=None):
    """The last number that a command prints, such as ``/usr/sbin/sysctl net.ipv4.tcp_rmem``, beside
    `files` (texts by name) of the grader's; give programs their full path.

    Examples
    --------
    >>> prints("h1", "/usr/sbin/sysctl -n net.ipv4.tcp_sack", at_most=0)
    {'what': 'prints', 'least': None, 'most': 0.0, 'host': 'h1', ...}
    """
    more = {"host": host, "command": command, "files": dict(files or {})}
    return _range("prints", float, at_least, at_most) | more


def _range(what, read, at_least, at_most):
    least, most = (None if one is None else float(read(one)) for one in (at_least, at_most))
    return {"what": what, "least": least, "most": most}


def check(given, wanted):
    """`nl.check` of a network: its history is carried out again on a second one, which is looked
    at. In a graded notebook that is left to the grader."""
    history = given.history if isinstance(given, Network) else given
    if not isinstance(history, History):
        return Check("wrong", 0, "this is no network: the answer is what nl.Network(...) gave")
    if not history.steps:
        return Check("nothing", 0, "nothing has been typed on it")
    if "NETLAB_STUDENT" in os.environ:
        return Check("noted", 0, LATER)
    engine = given.engine if isinstance(given, Network) else None
    with replay(history, engine) as net:
        found = look(net, wanted)
    if found.verdict != "right":
        return found
    return Check("noted", 0, f"{REACHED}; looked at: {', '.join(map(looked_at, wanted))}")


def looked_at(one):
    """One of the things that are looked at, in words."""
    if "src" in one:
        return f"{one['what']} from {one['src']} to {one['dst']}"
    return f"`{one['command'][:LONGEST_SAID]}` on {one['host']}"


def look(net, wanted, end_all=None):
    """Is a network in this state, a list of what the functions above give? All of it counts, or
    nothing does. `end_all()` is called where a program of the student's may run."""
    if not isinstance(wanted, list) or not wanted:
        raise SpecificationError(f"state = {wanted!r}: a list, such as [nl.course.rtt(...)]")
    may_run = True
    for one in sorted(wanted, key=lambda one: LAST.get(one["what"], 0)):
        if end_all and may_run:
            end_all()
        if why := LOOKS[one["what"]](net, one):
            return Check("wrong", 0, why)
        may_run = one["what"] == "prints"
    return Check("right", 1)


def _goodput(net, one):
    for host in (one["src"], one["dst"]):  # what the kernel remembers of earlier tests
        net.run(host, "/usr/sbin/ip tcp_metrics flush", echo=False)
    server = net.start(one["dst"], f"/usr/bin/iperf3 -s -1 -J -p {PORT}")
    net.sleep(0.2)
    client = (
        f"/usr/bin/iperf3 -c {_address(net, one)} -p {PORT} -J"
        f" -t {one['seconds']} -O {SETTLED_S} -P {one['streams']}"
    )
    client = net.start(one["src"], client)
    net.sleep(SETTLED_S)
    # the kernel's least: iperf3 looks once a second, and then sees what waits in queues, too
    look = f"/usr/bin/ss -tinHO dst {_address(net, one)} dport = :{PORT}"
    looked = net.run(one["src"], look, LONGEST_S, echo=False).text
    net.wait(client, limit_s=LONGEST_S + one["seconds"])
    if server.status is None:
        net.wait(server, limit_s=SETTLED_S)
    way = f"from {one['src']} to {one['dst']}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadWarning)
            streams = read_iperf3(server.text).streams  # what the grader's own server has counted
            sent = read_iperf3(client.text).streams
    except (ReadError, SpecificationError):
        return f"no test {way} comes to its end"
    least_ms = min(map(float, re.findall(r"minrtt:([\d.]+)", looked)), default=0)
    if least_ms < 1e3 * one["rtt_s"]:
        return f"round-trip time of a test {way} is {least_ms:.4g} ms: too little"
    resent = sent.retransmits.sum()
    if not resent >= one["resent"]:
        return f"a test {way} sends {resent:.0f} segments again: too few are lost"
    found = float(streams.received_bps.sum())
    why = _outside(one, found, f"goodput {way}", f"{found / 1e9:.3g} Gbit/s")
    return why and why + _interfaces(net, one)


def _interfaces(net, one):
    """Where something is set, and by which interfaces packets leave on this way, for a hint: most
    often the right line was typed for another interface.
    """
    topology, leaves, own = net.topology, [], {}
    for link, forward in topology.path(one["src"], one["dst"]):
        leaves.append(topology.interface(link, link.a if forward else link.b))
    nodes = [*topology.switches[:1], *topology.hosts, *topology.routers]  # switches share theirs
    for node in nodes:
        shown = net.run(node.name, "/usr/sbin/tc qdisc show", echo=False).text
        for kind, name in re.findall(r"^qdisc (\w{1,20}) \S+ dev ([\w.-]{1,15}) root", shown, re.M):
            if kind != "noqueue":
                own[name] = kind
    at = ", ".join(f"{kind} at {name}" for name, kind in own.items()) or "no discipline anywhere"
    return f". There is {at}; packets leave by {', '.join(leaves)}"


def _address(net, one):
    return net.topology.host(one["dst"]).address.partition("/")[0]


def _rtt(net, one):
    ping = f"/usr/bin/ping -n -i 0.2 -c {PINGS} {_address(net, one)}"
    before = _asked(net, one["dst"])
    said = net.run(one["src"], ping, LONGEST_S, echo=False)
    came = _asked(net, one["dst"]) - before
    way = f"from {one['src']} to {one['dst']}"
    try:
        found = float(read_ping(said.text).pings.rtt_s.median())
    except (ReadError, SpecificationError):
        found = math.nan
    if math.isnan(found):
        return f"no ping {way} comes back"
    if came < PINGS / 2:  # an address of `dst` elsewhere, which answers in its place
        return f"pings {way} are answered, but do not come to {one['dst']}"
    why = _outside(one, found, f"round-trip time {way}", f"{1e3 * found:.4g} ms")
    return why and why + _interfaces(net, one)


def _asked(net, host):
    """How many echo requests have come to a host, as its kernel counts them."""
    said = net.run(host, "/usr/bin/cat /proc/net/snmp", echo=False).text
    names, values = re.findall(r"^Icmp: (.*)$", said, re.M)
    return int(dict(zip(names.split(), values.split(), strict=True))["InEchos"])


def _says(net, one):
    said = net.run(one["host"], one["command"], LONGEST_S, echo=False).text
    if re.search(one["pattern"], said):
        return ""
    return f"`{one['command']}` on {one['host']} does not say so"


def _prints(net, one):
    for name, text in one["files"].items():
        quoted = f"printf %s {shlex.quote(text)} > {shlex.quote(name)}"
        net.run(one["host"], quoted, echo=False)
    what = f"`{one['command']}` on {one['host']}"
    job = net.run(one["host"], one["command"], LONGEST_S, echo=False)
    why = _last(one, job.text, what)
    if why and job.status:  # the last number is that of a traceback's line
        return f"{what} fails: {job.text.strip()[-LONGEST_SAID:]}"
    return why


def _last(one, said, what):
    numbers = NUMBER.findall(said[-MOST_READ:])
    if not numbers:
        return f"{what}: no number, but {said.strip()[-LONGEST_SAID:] or 'nothing'}"
    return _outside(one, float(numbers[-1]), what, numbers[-1][:LONGEST_SAID])


def _outside(one, found, what, told):
    least, most = one["least"], one["most"]
    if least is not None and not found >= least:
        return f"{what} is {told}: too little"
    if most is not None and not found <= most:
        return f"{what} is {told}: too much"
    return ""


LOOKS = {"goodput": _goodput, "rtt": _rtt, "says": _says, "prints": _prints}
LAST = {"says": 1, "prints": 2}  # what may run a program of the student's, after all else
