"""Mininet's own prompt, on a network of netlab: what its lines do, and what they print.

What a line says happens on the network by `Network.type`, `run`, `start` and `sleep`, so that it is
in the network's history, and replays.
"""

import functools
import re
from cmd import Cmd
from types import SimpleNamespace

from netlab.engines.protocol import ignore
from netlab.errors import ReadError
from netlab.readers._common import read_file
from netlab.running.console import one_line

IPERF_S = 5  # that `iperf` sends; Mininet's [virtual s]
HELP = """\
You may also send a command to a node:
  <node> command {args}
For example:
  mininet> h1 ifconfig

Addresses take the place of the names of hosts and routers, so that
  mininet> h2 ping -c 4 h3
works. Each node has a bash that stays: variables, folders and jobs last
from line to line (h2 iperf3 -s &).

Time passes while a line runs. sh sleep 2 lets two seconds pass, in
which jobs go on. `netlab attach h1`, in another terminal, gives h1 keys.
"""


class Prompt(Cmd):
    """Takes the lines that Mininet's prompt takes.

    Parameters
    ----------
    net : Network
    show : callable, optional
        Is told what is printed, as it comes; None prints it.

    Examples
    --------
    >>> Prompt(net).line("h1 ping -c 4 h2")  # doctest: +SKIP
    """

    prompt = "mininet> "
    doc_header = "Documented commands (type help <topic>):"

    def __init__(self, net, show=None):
        self.net, topology = net, net.topology
        self.show = functools.partial(print, end="", flush=True) if show is None else show
        super().__init__(stdout=SimpleNamespace(write=self.show, flush=ignore))
        self.hosts = [*topology.hosts, *topology.routers]  # to Mininet, a router is a host
        self.nodes = [*self.hosts, *topology.switches]
        self.addresses = {one.name: addresses(one)[0].partition("/")[0] for one in self.hosts}
        self.sources = []  # files that are being read

    def line(self, text):
        """Carry out a line; -> True where it was `exit`.

        A KeyboardInterrupt where Ctrl-C ended it: the network is up, and takes the next line.
        """
        return bool(self.onecmd(text))

    def onecmd(self, line):
        name, _, line = self.parseline(line)
        if line.startswith("#"):
            return False
        if name not in ("sh", "noecho", *self.net.topology.node_names):  # bash knows comments
            line = re.sub(r"(^|\s)#.*", "", line)
        return super().onecmd(line)

    def emptyline(self):
        """Nothing; `Cmd` would repeat the last line."""

    def default(self, line):
        """A node, and what is typed there."""
        name, args, line = self.parseline(line)
        if name not in self.net.topology.node_names:
            return self.show(f"*** Unknown command: {line}\n")
        if not args:
            return self.show(f"*** Please enter a command for node: {name} <cmd>\n")
        self._type(name, " ".join(self.addresses.get(word, word) for word in args.split(" ")))

    def completenames(self, text, *_):
        return super().completenames(text) + self.completedefault(text)

    def completedefault(self, text, *_):
        return [name for name in self.net.topology.node_names if name.startswith(text)]

    def _type(self, node, line):
        printed = Printed(self.show, node, one_line(line))
        try:
            typed = self.net.type(node, line, show=printed.add)
        finally:
            printed.end()
        if typed.ended_after_s is not None:
            raise KeyboardInterrupt

    def _run(self, node, command):
        job = self.net.run(node, command, echo=False)
        if getattr(job,"ended_after_s",None) is not None:
            raise KeyboardInterrupt
        return job.text

    def do_help(self, arg):
        """List the commands, or explain one: help link"""
        super().do_help(arg)
        if not arg:
            self.show(HELP)

    def do_nodes(self, _):
        """List all nodes."""
        names = " ".join(sorted(self.net.topology.node_names))
        self.show(f"available nodes are: \n{names}\n")

    def do_net(self, _):
        """List what each interface is connected to."""
        topology = self.net.topology
        other = {}
        for link in topology.links:
            a, b = topology.interface(link, link.a), topology.interface(link, link.b)
            other |= {a: b, b: a}
        for node in self.nodes:
            pairs = "".join(f" {one}:{other.get(one, ' ')}" for one in self._interfaces(node))
            self.show(f"{node.name}{pairs}\n")

    def do_links(self, _):
        """List the links, and whether their interfaces are there."""
        topology = self.net.topology
        there = {}
        for name in topology.node_names:
            there[name] = self._run(name, "ls /sys/class/net").split()
        for link in topology.links:
            ends = [(name, topology.interface(link, name)) for name in (link.a, link.b)]
            states = " ".join("OK" if card in there[name] else "MISSING" for name, card in ends)
            self.show(f"{ends[0][1]}<->{ends[1][1]} ({states}) \n")

    def do_ports(self, _):
        """List the ports of each switch."""
        for switch in self.net.topology.switches:
            ports = "".join(f"{one}:{n} " for n, one in enumerate(self._interfaces(switch)))
            self.show(f"{switch.name} {ports}\n")

    def do_intfs(self, _):
        """List interfaces."""
        for node in self.nodes:
            self.show(f"{node.name}: {','.join(self._interfaces(node))}\n")

    def do_dump(self, _):
        """List nodes, with the addresses of their interfaces."""
        kinds = {"Router": "Node", "Switch": "LinuxBridge"}
        for node in self.nodes:
            kind, cards = type(node).__name__, self._interfaces(node)
            own = [one.partition("/")[0] for one in addresses(node)]
            own += ["None"] * (len(cards) - len(own))
            pairs = ",".join(map(":".join, zip(cards, own, strict=False)))
            self.show(f"<{kinds.get(kind, kind)} {node.name}: {pairs}> \n")

    def _interfaces(self, node):
        topology = self.net.topology
        own = [topology.interface(link, node.name) for link in topology.links_of(node.name)]
        return [*(["lo"] if node in topology.switches else []), *own]

    def do_pingall(self, timeout):
        """Ping between all hosts: pingall [seconds to wait for each]"""
        self._ping(self.hosts, timeout)

    def do_pingpair(self, _):
        """Ping between the first two hosts."""
        self._ping(self.hosts[:2])

    def do_pingallfull(self, _):
        """Ping between all hosts, with their round-trip times."""
        self._ping(self.hosts, full=True)

    def do_pingpairfull(self, _):
        """Ping between the first two hosts, with their round-trip times."""
        self._ping(self.hosts[:2], full=True)

    def _ping(self, hosts, timeout="", full=False):
        if hosts == self.hosts:
            self.show("*** Ping: testing ping reachability\n")
        sent, received, times = 0, 0, []
        for one in hosts:
            self.show(f"{one.name} -> ")
            for other in hosts:
                if other == one:
                    continue
                wait = f" -W {timeout}" if timeout else ""
                said = self._run(one.name, f"ping -c1{wait} {self.addresses[other.name]}")
                came = int(" 1 received" in said)
                sent, received = sent + 1, received + came
                found = re.search(r"= ([\d./]+ ms)", said)
                rtt = found[1] if found else "0.000/0.000/0.000/0.000 ms"
                times.append(f" {one.name}->{other.name}: 1/{came}, rtt min/avg/max/mdev {rtt}\n")
                self.show(f"{other.name} " if came else "X ")
            self.show("\n")
        if full:
            self.show("*** Results: \n" + "".join(times))
        elif sent:
            lost = 100 * (sent - received) // sent
            self.show(f"*** Results: {lost}% dropped ({received}/{sent} received)\n")
        else:
            self.show("*** Warning: No packets sent\n")

    def do_iperf(self, args):
        """TCP throughput between two hosts, or the first and the last: iperf [h1 h2]"""
        words = args.split() or [self.hosts[0].name, self.hosts[-1].name]
        if len(words) != 2:
            return self.show("invalid number of args: iperf src dst\n")
        self._iperf(*words)

    def do_iperfudp(self, args):
        """What arrives of a UDP stream between two hosts: iperfudp [10M h1 h2]"""
        words = args.split() or ["10M", self.hosts[0].name, self.hosts[-1].name]
        if len(words) != 3:
            return self.show("invalid number of args: iperfudp bw src dst\nbw examples: 10M\n")
        self._iperf(*words[1:], words[0])

    def _iperf(self, client, server, udp=None):
        if not all([self._is_there(client), self._is_there(server)]):
            return
        kind = "UDP" if udp else "TCP"
        self.show(f"*** Iperf: testing {kind} bandwidth between {client} and {server} \n")
        iperf = f"iperf -p 5001{' -u' if udp else ''}"
        to = self.addresses.get(server, "127.0.0.1")
        listening = self.net.start(server, f"{iperf} -s")
        try:
            said = self._run(client, f"{iperf} -t {IPERF_S} -c {to}{f' -b {udp}' if udp else ''}")
        finally:
            listening.stop()
        rates = [re.findall(r"[\d.]+ \w+/sec", text) for text in (listening.text, said)]
        if not all(rates):
            return self.show(f"could not parse iperf output: {said}\n")
        results = [udp] * bool(udp) + [found[-1] for found in rates]
        self.show(f"*** Results: {results}\n")

    def _is_there(self, name, what="node '{}' not in network\n"):
        there = name in self.net.topology.node_names
        if not there:
            self.show(what.format(name))
        return there

    def do_link(self, args):
        """Bring the links between two nodes up or down: link s1 s2 down"""
        words = args.split()
        if len(words) != 3:
            return self.show("invalid number of args: link end1 end2 [up down]\n")
        *ends, state = words
        if state not in ("up", "down"):
            return self.show("invalid type: link end1 end2 [up down]\n")
        if not all(
            self._is_there(name, f"{end} not in network: {{}}\n")
            for end, name in zip(("src", "dst"), ends, strict=True)
        ):
            return
        topology = self.net.topology
        links = [link for link in topology.links if {link.a, link.b} == set(ends)]
        if not links:
            self.show(f"src and dst not connected: {' '.join(ends)}\n")
        for link in links:
            for end, name in zip(("src", "dst"), ends, strict=True):
                said = self._run(name, f"ifconfig {topology.interface(link, name)} {state}")
                if said:
                    self.show(f"link {end} status change failed: {said}")

    def do_sh(self, line):
        """Run a command on the machine of the switches, or let time pass: sh sleep 2"""
        switches = self.net.topology.switches
        if found := re.fullmatch(r"sleep (\d+(?:\.\d+)?)s?", line):
            self.net.sleep(float(found[1]))
        elif line and switches:
            self._type(switches[0].name, line)
        elif line:
            self.show("*** sh is the machine of the switches: this network has none\n")

    def do_source(self, name):
        """Carry out the lines of a file: source FILE"""
        if len(name.split()) != 1:
            return self.show("usage: source <file>\n")
        if name in self.sources:
            return self.show(f"error reading file {name}: it is being read\n")
        try:
            lines = read_file(name).decode(errors="backslashreplace").splitlines()
        except (OSError, ReadError):
            return self.show(f"error reading file {name}\n")
        self.sources.append(name)
        try:
            any(self.line(line) for line in lines)
        finally:
            self.sources.remove(name)

    def do_noecho(self, line):
        """The same as without it, since keys are not shown twice here: noecho h2 cat FILE"""
        return self.default(line)

    def do_time(self, line):
        """Tell how long a line takes, in the network's time: time pingall"""
        began_s = self.net.clock
        ended = self.line(line)
        self.show(f"*** Elapsed time: {self.net.clock - began_s:.6f} secs\n")
        return ended

    def do_wait(self, _):
        """Wait until the switches forward; they do so from the start."""

    def do_xterm(self, names):
        """What gives a node a terminal of its own here: xterm h1"""
        for name in names.split() or self.show("usage: xterm node1 node2 ...\n") or ():
            if self._is_there(name):
                self.show(
                    f"*** There are no windows here: `netlab attach {name}`, in another terminal,"
                    f" opens one on {name}\n"
                )

    do_gterm = do_x = do_xterm

    def do_py(self, _):
        """Not here: Python is in notebooks and scripts."""
        self.show(
            "*** Python is not taken here: in a notebook or a script, netlab.Network is this"
            " network, and net.run('h1', 'ls') does what h1.cmd('ls') does\n"
        )

    do_px = do_py

    def do_switch(self, _):
        """Not here: switches are bridges of the kernel."""
        self.show(
            "*** The switches are bridges of the kernel, and there is nothing to start or stop:"
            " `sh ip link set s1 down` ends s1's forwarding, `up` begins it again\n"
        )

    def do_dpctl(self, _):
        """Not here: switches are bridges of the kernel."""
        self.show(
            "*** The switches are bridges of the kernel, without OpenFlow: `sh bridge fdb show`"
            " lists what they have learned\n"
        )

    def do_exit(self, _):
        """Leave, and end the network."""
        return True

    do_quit = do_exit

    def do_EOF(self, _):
        """Leave, and end the network; Ctrl-D."""
        self.show("\n")
        return True


def addresses(node):
    """The addresses of a node's interfaces, as a topology has them."""
    kinds = {"Host": lambda: [node.address], "Router": lambda: list(node.addresses)}
    return kinds.get(type(node).__name__, lambda: ["127.0.0.1"])()


class Printed:
    """Shows what a line printed, without bash's prompt and the line itself."""

    def __init__(self, show, node, line):
        self.show, self.line, self.held, self.echoed = show, f"{line}\n", "", False
        self.prompt = re.compile(rf"(root@{node}:.*?[#$] |> )")

    def add(self, piece):
        self.held += piece
        if not self.echoed:
            before, echo, after = self.held.partition(self.line)
            if not echo:
                return
            self.echoed, self.held = True, self.prompt.sub("", before, count=1) + after
        self.end()

    def end(self):
        """Show what is held back."""
        held, self.held = self.held, ""
        if held:
            self.show(held)
