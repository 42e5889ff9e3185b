"""Mininet's own prompt, on a network of netlab: what its lines do, and what they print.

What a line says happens on the network by `Network.type`, `run`, `start` and `sleep`, so that it is
in the network's history, and replays.
"""

import functools
import re
import shlex
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
        self.names = topology.node_names
        hosts = [*topology.hosts, *topology.routers]  # to Mininet, a router is a host
        self.hosts = [one.name for one in hosts]
        self.cards, self.peers = {one.name: ["lo"] for one in topology.switches}, {}
        self.cards = {name: [] for name in self.hosts} | self.cards
        for link in topology.links:
            a, b = (topology.interface(link, name) for name in (link.a, link.b))
            self.cards[link.a].append(a)
            self.cards[link.b].append(b)
            self.peers |= {a: b, b: a}
        self.addresses = {one.name: [one.address] for one in topology.hosts}
        self.addresses |= {one.name: one.addresses for one in topology.routers}
        self.address = {name: own[0].partition("/")[0] for name, own in self.addresses.items()}
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
        if name not in ("sh", "noecho", *self.names):  # bash knows comments
            line = re.sub(r"(^|\s)#.*", "", line)
        return super().onecmd(line)

    def emptyline(self):
        """Nothing; `Cmd` would repeat the last line."""

    def default(self, line):
        """A node, and what is typed there."""
        name, args, line = self.parseline(line)
        if name not in self.names:
            return self.show(f"*** Unknown command: {line}\n")
        if not args:
            return self.show(f"*** Please enter a command for node: {name} <cmd>\n")
        self._type(name, " ".join(self.address.get(word, word) for word in args.split(" ")))

    def completenames(self, text, *_):
        return super().completenames(text) + self.completedefault(text)

    def completedefault(self, text, *_):
        return [name for name in self.names if name.startswith(text)]

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
        if job.ended_after_s is not None:
            raise KeyboardInterrupt
        return job.text

    def do_help(self, arg):
        """List the commands, or explain one: help link"""
        super().do_help(arg)
        if not arg:
            self.show(HELP)

    def do_nodes(self, _):
        """List all nodes."""
        self.show(f"available nodes are: \n{' '.join(sorted(self.names))}\n")

    def do_net(self, _):
        """List what each interface is connected to."""
        for name, cards in self.cards.items():
            pairs = "".join(f" {card}:{self.peers.get(card, ' ')}" for card in cards)
            self.show(f"{name}{pairs}\n")

    def do_links(self, _):
        """List the links, and whether their interfaces are there."""
        there = " ".join(self._run(name, "ls /sys/class/net") for name in self.names).split()
        for a, b in list(self.peers.items())[::2]:
            states = " ".join("OK" if card in there else "MISSING" for card in (a, b))
            self.show(f"{a}<->{b} ({states}) \n")

    def do_intfs(self, _):
        """List interfaces."""
        for name, cards in self.cards.items():
            self.show(f"{name}: {','.join(cards)}\n")

    def do_dump(self, _):
        """List nodes, with the addresses that their interfaces had at first."""
        topology = self.net.topology
        kinds = {one.name: "Host" for one in topology.hosts}
        kinds |= {one.name: "Node" for one in topology.routers}
        for name, cards in self.cards.items():
            own = [one.partition("/")[0] for one in self.addresses.get(name, ["127.0.0.1"])]
            own += ["None"] * (len(cards) - len(own))
            pairs = ",".join(f"{card}:{ip}" for card, ip in zip(cards, own, strict=False))
            self.show(f"<{kinds.get(name, 'LinuxBridge')} {name}: {pairs}> \n")

    def do_pingall(self, timeout):
        """Ping between all hosts: pingall [seconds to wait for each]"""
        self.show("*** Ping: testing ping reachability\n")
        self._ping(self.hosts, timeout)

    def do_pingallfull(self, _):
        """Ping between all hosts, with their round-trip times."""
        self.show("*** Ping: testing ping reachability\n")
        self._ping(self.hosts, full=True)

    def do_pingpair(self, _):
        """Ping between the first two hosts."""
        self._ping(self.hosts[:2])

    def do_pingpairfull(self, _):
        """Ping between the first two hosts, with their round-trip times."""
        self._ping(self.hosts[:2], full=True)

    def _ping(self, hosts, timeout="", full=False):
        came, times = [], []
        wait = f" -W {timeout}" if timeout else ""
        for one in hosts:
            self.show(f"{one} -> ")
            for other in [name for name in hosts if name != one]:
                said = self._run(one, f"ping -c1{wait} {self.address[other]}")
                came.append(" 1 received" in said)
                rtt = re.search(r"= ([\d./]+ ms)", said)
                rtt = rtt[1] if rtt else "0.000/0.000/0.000/0.000 ms"
                times.append(f" {one}->{other}: 1/{came[-1]:d}, rtt min/avg/max/mdev {rtt}\n")
                self.show(f"{other} " if came[-1] else "X ")
            self.show("\n")
        if full:
            self.show(f"*** Results: \n{''.join(times)}")
        elif came:
            lost = 100 * came.count(False) // len(came)
            self.show(f"*** Results: {lost}% dropped ({sum(came)}/{len(came)} received)\n")
        else:
            self.show("*** Warning: No packets sent\n")

    def do_iperf(self, args):
        """TCP throughput between two hosts, or the first and the last: iperf [h1 h2]"""
        words = args.split() or [self.hosts[0], self.hosts[-1]]
        if len(words) != 2:
            return self.show("invalid number of args: iperf src dst\n")
        self._iperf("TCP", *words)

    def do_iperfudp(self, args):
        """What arrives of a UDP stream between two hosts: iperfudp [10M h1 h2]"""
        words = args.split() or ["10M", self.hosts[0], self.hosts[-1]]
        if len(words) != 3:
            return self.show("invalid number of args: iperfudp bw src dst\nbw examples: 10M\n")
        rate, *ends = words
        self._iperf("UDP", *ends, " -u", f" -b {shlex.quote(rate)}", [rate])

    def _iperf(self, kind, client, server, how="", to="", results=()):
        if self._lacks("node '{}' not in network\n", client, server):
            return
        self.show(f"*** Iperf: testing {kind} bandwidth between {client} and {server} \n")
        to = f"{self.address.get(server, '127.0.0.1')}{to}"
        listening = self.net.start(server, f"iperf -p 5001{how} -s")
        try:
            said = self._run(client, f"iperf -p 5001{how} -t {IPERF_S} -c {to}")
        finally:
            listening.stop()
        rates = [
            re.findall(r"(?<![\d.])[\d.]{1,20} \w{1,9}/sec", text)
            for text in (listening.text, said)
        ]
        if not all(rates):
            return self.show(f"could not parse iperf output: {said}\n")
        self.show(f"*** Results: {[*results, *(found[-1] for found in rates)]}\n")

    def _lacks(self, text, *names):
        unknown = [name for name in names if name not in self.names]
        for name in unknown:
            self.show(text.format(name))
        return unknown

    def do_link(self, args):
        """Bring the links between two nodes up or down: link s1 s2 down"""
        words = args.split()
        if len(words) != 3:
            return self.show("invalid number of args: link end1 end2 [up down]\n")
        one, other, state = words
        if state not in ("up", "down"):
            return self.show("invalid type: link end1 end2 [up down]\n")
        if self._lacks("src not in network: {}\n", one) or self._lacks(
            "dst not in network: {}\n", other
        ):
            return
        cards = [card for card in self.cards[one] if self.peers.get(card) in self.cards[other]]
        if not cards:
            self.show(f"src and dst not connected: {one} {other}\n")
        for card in cards:
            for end, name, own in (("src", one, card), ("dst", other, self.peers[card])):
                if said := self._run(name, f"ifconfig {own} {state}"):
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

    def do_xterm(self, names):
        """What gives a node a terminal of its own here: xterm h1"""
        if not names:
            self.show("usage: xterm node1 node2 ...\n")
        for name in names.split():
            if not self._lacks("node '{}' not in network\n", name):
                self.show(
                    f"*** There are no windows here: `netlab attach {name}`, in another terminal,"
                    f" opens one on {name}\n"
                )

    do_gterm = do_x = do_xterm

    def do_py(self, _):
        """Not here: Python is for notebooks and scripts."""
        self.show(
            "*** Python is not taken here: in a notebook or a script, netlab.Network is such a"
            " network, and net.run('h1', 'ls') does what h1.cmd('ls') does\n"
        )

    do_px = do_py

    def do_switch(self, _):
        """Not here: switches are the kernel's bridges."""
        self.show(
            "*** The switches are the kernel's bridges, without a controller or OpenFlow: `sh ip"
            " link set s1 down` ends s1's forwarding, `sh bridge fdb show` tells what was learned\n"
        )

    do_dpctl = do_switch

    def do_exit(self, _):
        """Leave, and end the network."""
        return True

    do_quit = do_exit

    def do_EOF(self, _):
        """Leave, and end the network; Ctrl-D."""
        self.show("\n")
        return True


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
