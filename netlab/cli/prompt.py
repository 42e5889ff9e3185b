"""Mininet's own prompt, on a network of netlab: what its lines do, and what they print.

What a line says happens on the network by `Network.type`, `run`, `start` and `sleep`, so that it is
in the network's history, and replays.
"""

import functools
import re
from cmd import Cmd
from types import SimpleNamespace

from netlab.engines.base import ignore
from netlab.errors import ReadError
from netlab.readers._common import read_file
from netlab.running.job import one_line

IPERF_S = 5  # that `iperf` sends; Mininet's [virtual s]
LISTENS_S = 0.5  # by then iperf's server listens [virtual s]
HELP = """\
<node> <command> types on the bash of a node, which stays: variables, folders
and jobs last. Addresses take the place of names: h2 ping -c 4 h3

Time passes while a line runs. sh sleep 2 lets two seconds pass, in
which jobs go on.
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
        self.names, self.sources = topology.node_names, []  # files that are being read
        self.address = {host.name: host.address.partition("/")[0] for host in topology.hosts}
        for router in topology.routers:  # to Mininet, a host
            self.address[router.name] = router.addresses[0].partition("/")[0]
        self.ends = []  # of each link both ways: node, its interface, the other's, the other
        for link in topology.links:
            a, b = (topology.interface(link, name) for name in (link.a, link.b))
            self.ends += [(link.a, a, b, link.b), (link.b, b, a, link.a)]

    def line(self, text):
        """Carry out a line; -> True where it was `exit`.

        A KeyboardInterrupt where Ctrl-C ended it: the network is up, and takes the next line.
        """
        return bool(self.onecmd(text))

    def onecmd(self, line):
        name, _, line = self.parseline(line)
        if line.startswith("#"):
            return False
        if name not in ("sh", *self.names):  # bash knows comments
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
        for name in self.names:
            lo = "" if name in self.address else " lo: "  # a switch's
            cards = (f" {own}:{its}" for node, own, its, _ in self.ends if node == name)
            self.show(f"{name}{lo}{''.join(cards)}\n")

    def do_links(self, _):
        """List the links, and whether their interfaces are there."""
        there = " ".join(self._run(name, "ls /sys/class/net") for name in self.names).split()
        for _, a, b, _ in self.ends[::2]:
            states = " ".join("OK" if card in there else "MISSING" for card in (a, b))
            self.show(f"{a}<->{b} ({states}) \n")

    def do_pingall(self, timeout):
        """Ping between all hosts: pingall [seconds to wait for each]"""
        self.show("*** Ping: testing ping reachability\n")
        wait, came = f" -W {timeout}" if timeout else "", []
        for one in self.address:
            self.show(f"{one} -> ")
            for other in (name for name in self.address if name != one):
                said = self._run(one, f"ping -c1{wait} {self.address[other]}")
                came.append(" 1 received" in said)
                self.show(f"{other} " if came[-1] else "X ")
            self.show("\n")
        lost = 100 * came.count(False) // max(1, len(came))
        self.show(f"*** Results: {lost}% dropped ({sum(came)}/{len(came)} received)\n")

    def do_iperf(self, args):
        """TCP throughput between two hosts, or the first and the last: iperf [h1 h2]"""
        hosts = [*self.address]
        ends = args.split() or [hosts[0], hosts[-1]]
        if len(ends) != 2 or not {*ends} <= {*hosts}:
            return self.show("usage: iperf src dst, two hosts of this network\n")
        client, server = ends
        self.show(f"*** Iperf: testing TCP bandwidth between {client} and {server} \n")
        listening = self.net.start(server, "iperf -p 5001 -s")
        try:
            self.net.sleep(LISTENS_S)
            said = self._run(client, f"iperf -p 5001 -t {IPERF_S} -c {self.address[server]}")
        finally:
            listening.stop()
        pattern = r"(?<![\d.])[\d.]{1,20} \w{1,9}/sec"
        rates = [re.findall(pattern, text) for text in (listening.text, said)]
        if not all(rates):
            return self.show(f"could not parse iperf output: {said}\n")
        self.show(f"*** Results: {[found[-1] for found in rates]}\n")

    def do_link(self, args):
        """Bring the links between two nodes up or down: link s1 s2 down"""
        *ends, state = args.split() or [""]
        if len(ends) != 2 or state not in ("up", "down"):
            return self.show("usage: link end1 end2 [up down]\n")
        between = [end for end in self.ends if end[::3] in (tuple(ends), tuple(ends[::-1]))]
        if not between:
            self.show(f"src and dst not connected: {' '.join(ends)}\n")
        for node, card, _, _ in between:
            if said := self._run(node, f"ifconfig {card} {state}"):
                self.show(f"link status change failed: {said}")

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

    def do_xterm(self, names):
        """What gives a node a terminal of its own here: xterm h1"""
        for name in names.split() or ["h1"]:
            self.show(
                f"*** There are no windows here: `{name} COMMAND` types on the terminal of {name},"
                f" and in a notebook a cell `%%on {name}` does\n"
            )

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
        self.prompt = re.compile(rf"(root@{node}:(?:(?!root@{node}:).)*?[#$] |> )")

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
