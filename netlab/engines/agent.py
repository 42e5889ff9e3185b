"""The one script that talks to Mininet: it runs as root beside the network and does what it is told
over a line.

docs/protocol.md has the questions, which `do_...` answer one after the other, and the events. Needs
nothing but Python and Mininet.

In a guest the line is /dev/netlab: reading it is one blocking call of the whole kernel, so time
stands still until the parent has answered. What this script does costs virtual time, so its text is
part of the engine's identity. On any other machine (``agent.py --pipe FOLDER``) the line is
standard input and output.
"""

import codecs
import contextlib
import ctypes
import fcntl
import itertools
import json
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PIECE = 60_000
TICK_NS = 50_000_000  # between two looks for an interrupt while something runs
GRACE_NS = 1_000_000_000  # between ^C and SIGKILL, and between SIGKILL and the end
CGROUPS, MNT_DETACH = b"/sys/fs/cgroup", 2
MARK = "--netlab--"  # between the outputs of set-up commands
# What programs may do, as root: all that concerns networks, users and files, and nothing that
# concerns the machine (mount, enter another host, look into another process, go before others,
# power off).
CAPABILITIES = [
    *("net_admin", "net_raw", "net_bind_service", "net_broadcast"),
    *("chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid"),
]


def shell(pid, script):
    """Run a script beside a process, in its namespaces."""
    command = ["mnexec", "-a", str(pid), "sh", "-c", script]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Batch:
    """What Mininet has done one command after the other, through an interactive shell for each
    node, is written down here and done at once: a process costs milliseconds in a guest.
    """

    links: list = []  # noqa: RUF012 - for ip -batch, on the machine of the switches

    @classmethod
    def node_classes(cls):
        from mininet.link import Intf, Link
        from mininet.node import Host, Switch

        class BatchIntf(Intf):
            def ifconfig(self, *words):
                if words == ("up",):
                    self.node.lines.append(f"link set {self.name} up")
                elif len(words) == 2 and words[1] == "up":
                    self.node.lines.append(f"addr add {words[0]} broadcast + dev {self.name}")
                else:
                    raise ValueError(words)
                return ""

            def setMAC(self, mac):
                self.mac = mac
                self.node.lines.append(f"link set {self.name} address {mac}")

        class BatchLink(Link):
            def __init__(self, *ends, **options):
                super().__init__(*ends, **{**options, "intf": BatchIntf})

            @classmethod
            def makeIntfPair(cls, name1, name2, addr1, addr2, node1, node2, deleteIntfs):
                ends = f"{name1} netns {node1.pid} type veth peer name {name2} netns {node2.pid}"
                Batch.links.append(f"link add name {ends}")

        class BatchHost(Host):
            def startShell(self, mnopts=None):
                self.lines = ["link set lo up"]
                # the host's namespaces live as long as this, which waits for an end of its input
                self.shell = subprocess.Popen(
                    ["mnexec", "-np", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
                self.pid = self.shell.pid
                self.shell.stdout.readline()  # its number: it has its namespaces now

            def cmd(self, *words, **options):
                if words != ("ifconfig lo up",):
                    raise ValueError(words)

        class BatchSwitch(Switch):
            def startShell(self, mnopts=None):
                self.lines, self.pid = [], os.getpid()

            def cmd(self, *words, **options):
                if words != ("ifconfig", "lo", "up"):
                    raise ValueError(words)

            def start(self, controllers):
                self.lines[:0] = [
                    f"link add name {self.name} type bridge",
                    f"link set {self.name} up",
                ]
                self.lines += [
                    f"link set {port} master {self.name}"
                    for port in self.intfList()
                    if port.name != "lo"
                ]

        return {"host": BatchHost, "switch": BatchSwitch, "link": BatchLink}

    @classmethod
    def carry_out(cls, net):
        cls.run(os.getpid(), cls.links)
        for node in (*net.switches, *net.hosts):
            cls.run(node.pid, node.lines)

    @staticmethod
    def run(pid, lines):
        done = shell(pid, "ip -batch - <<END\n" + "\n".join(lines) + "\nEND")
        if done.returncode:
            raise RuntimeError(f"ip -batch said: {done.stdout}")


class Group:
    """All programs that run on hosts, and all their children: one control group, ended as one.

    Its file system is no longer mounted: only this process has a descriptor of it.
    """

    def __init__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"cgroup", CGROUPS, b"cgroup2", 0, None):
            raise OSError(ctypes.get_errno(), "no control groups")
        self.folder = os.open(CGROUPS, os.O_RDONLY | os.O_DIRECTORY)
        if libc.umount2(CGROUPS, MNT_DETACH):
            raise OSError(ctypes.get_errno(), "the control groups stay in sight")
        os.mkdir("programs", dir_fd=self.folder)

    def open(self, name, mode):
        flags = os.O_RDONLY if mode == "r" else os.O_WRONLY
        return open(os.open(name, flags, dir_fd=self.folder), mode)

    def enter(self, name="programs"):
        """Move this process to a group; its later children will be there, too."""
        with self.open(f"{name}/cgroup.procs", "w") as file:
            file.write("0")

    def end(self):
        """End all of them; this process leaves the group meanwhile."""
        self.enter(".")
        end = time.monotonic_ns() + GRACE_NS
        with self.open("programs/cgroup.kill", "w") as file:
            file.write("1")
        while True:
            with self.open("programs/cgroup.events", "r") as file:
                if "populated 0" in file.read():
                    break
            if time.monotonic_ns() > end:
                raise RuntimeError("programs that were left running do not end")
            # the group's kill passes over threads whose first one has ended
            with self.open("programs/cgroup.procs", "r") as file:
                for number in file.read().split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(number), signal.SIGKILL)
            time.sleep(0.001)
        self.enter()


class GuestLine(Batch):
    """The line to the parent of a guest. Messages travel in pieces, each behind ``+`` (more
    follows) or ``.`` (the last).
    """

    epoch_ns = 0  # the guest's clock begins with it
    group = Group
    confined = ("setpriv", "--bounding-set", ",+".join(("-all", *CAPABILITIES)))

    def __init__(self):
        self.wire = os.open("/dev/netlab", os.O_RDWR)
        self.interrupts = os.open("/dev/netlab", os.O_RDWR | os.O_NONBLOCK)

    def send(self, **message):
        data = json.dumps(message).encode()
        while len(data) > PIECE:
            os.write(self.wire, b"+" + data[:PIECE])
            data = data[PIECE:]
        os.write(self.wire, b"." + data)

    def receive(self):
        data = b""
        while True:
            piece = os.read(self.wire, 65536)
            if not piece:
                self.hang_up()
            data += piece[1:]
            if piece[:1] == b".":
                return json.loads(data)

    def interrupted(self):
        """A key of the parent's: b"I" (as Ctrl-C), b"K" (SIGKILL), or None. Never waits, and always
        costs the same.
        """
        byte = os.read(self.interrupts, 1)
        if not byte:
            self.hang_up()
        return None if byte == b"\0" else byte

    def hang_up(self):
        """Power the guest off at once."""
        ctypes.CDLL(None).reboot(0x4321FEDC)


class PipeLine:
    """The line to a parent on the same machine: a line of JSON for each message, and for keys."""

    confined = ()  # programs are this machine's own, and run with all its rights
    group = None

    def node_classes(self):
        from mininet.link import Link
        from mininet.nodelib import LinuxBridge

        return {"switch": LinuxBridge, "link": Link}

    def carry_out(self, net):
        """Nothing: these classes have done it."""

    def __init__(self):
        self.epoch_ns, self.read = time.monotonic_ns(), b""
        self.there, self.back = os.dup(0), os.dup(1)
        # what Mininet starts must not read or write on the line
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(2, 1)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.hang_up)

    def send(self, **message):
        data = json.dumps(message).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self.back, data) :]
        except BrokenPipeError:
            self.hang_up()

    def receive(self):
        while True:
            message = self.next()
            if message["op"] != "key":  # one that came too late
                return message

    def interrupted(self):
        coming = select.poll()
        coming.register(self.there, select.POLLIN)
        return self.next()["key"].encode() if b"\n" in self.read or coming.poll(0) else None

    def next(self):
        while b"\n" not in self.read:
            piece = os.read(self.there, 65536)
            if not piece:
                self.hang_up()
            self.read += piece
        text, _, self.read = self.read.partition(b"\n")
        return json.loads(text)

    def hang_up(self, *_):
        """The parent has gone: `Agent.serve` ends everything on the way out."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        sys.exit()


class Job:
    """A program on a host, with a terminal of its own, which shows what is typed if `echo`."""

    def __init__(self, number, node, command, confined, echo=False):
        self.number, self.status = number, None
        self.held = True  # by a program; the terminal of one that closed it is always readable
        self.keys, self.until, self.seen = b"", None, b""  # see `type`
        self.terminal, theirs = os.openpty()
        if not echo:
            modes = termios.tcgetattr(theirs)
            modes[1] &= ~termios.ONLCR
            modes[3] &= ~(termios.ECHO | termios.ECHOCTL)
            termios.tcsetattr(theirs, termios.TCSANOW, modes)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        # setsid makes the terminal the session's, so that Ctrl-C works on it
        self.process = subprocess.Popen(
            ["mnexec", "-a", str(node.pid), *confined, "setsid", "-c", "bash", "-c", command],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        os.set_blocking(self.terminal, False)
        self.ended = os.pidfd_open(self.process.pid)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def type(self, keys, until):
        """Write keys to the terminal (`pump` writes what it does not take at once), and look for
        the bytes `until` in what is printed from now on.
        """
        self.keys, self.until, self.seen = keys, until, b""
        self.write()

    def write(self):
        with contextlib.suppress(OSError):  # it is full, or nobody holds the other end
            while self.keys and self.status is None:
                self.keys = self.keys[os.write(self.terminal, self.keys) :]

    def look(self, data):
        seen = self.seen + data  # the mark may have come in two pieces
        self.seen = seen[-len(self.until) :]
        if self.until in seen:
            self.until = b""

    @property
    def awaited(self):
        """Has it still to end, or (where something was typed) to take the keys and to print what is
        looked for?
        """
        return self.status is None and (self.until is None or bool(self.until or self.keys))

    def pump(self, line):
        """Send on what was printed since; False once the program has ended and nothing holds its
        terminal any more.
        """
        if self.keys:
            self.write()
        if self.status is None:
            self.status = self.process.poll()
        # bounded: `yes` must not keep us from looking for an interrupt
        for _ in range(1 if self.status is None else 64):
            try:
                data = os.read(self.terminal, 32768)
                self.held = True
            except BlockingIOError:  # nothing new, but somebody holds the other end
                self.held = True
                return True
            except OSError:
                self.held = False
                return self.status is None
            line.send(job=self.number, out=self.decoder.decode(data))
            if self.until:
                self.look(data)
        return True

    def signal(self, key):
        if key == b"I":
            with contextlib.suppress(OSError):  # full of keys that nobody reads, or closed
                os.write(self.terminal, b"\x03")  # as Ctrl-C on its terminal
        else:
            subprocess.call(["pkill", "-KILL", "-s", str(self.process.pid)])

    def close(self):
        os.close(self.terminal)
        os.close(self.ended)


class Agent:
    """Carries out one message after another; `jobs` are all programs so far, `open` those whose
    terminal is still held.
    """

    def __init__(self, line):
        self.line, self.net, self.jobs, self.open = line, None, {}, []
        self.group = None

    def serve(self):
        try:
            while True:
                message = self.line.receive()
                try:
                    answer = getattr(self, "do_" + message.pop("op"))(**message)
                except Exception as error:
                    answer = {"error": f"{type(error).__name__}: {error}"}
                clock_ns = time.monotonic_ns() - self.line.epoch_ns
                self.line.send(done=True, clock_ns=clock_ns, **answer)
        finally:
            self.end()

    def do_up(self, hosts, switches, links, setup):
        """Start the network and run the set-up commands on its nodes; hosts and routers are both
        hosts to Mininet.
        """
        for name in switches:
            if os.path.exists(f"/sys/class/net/{name}"):
                why = (
                    "this machine has one: another network is up, or a crash left it (`sudo mn -c`"
                    " removes every such network)"
                )
                return {"failed": [name, f"ip link add {name} type bridge", why]}
        from mininet.log import setLogLevel
        from mininet.net import Mininet

        setLogLevel("warning")
        self.net = Mininet(controller=None, autoSetMacs=True, **self.line.node_classes())
        for name, address in hosts:
            self.net.addHost(name, ip=address)
        for name in switches:
            self.net.addSwitch(name)
        for ends in links:
            self.net.addLink(*ends)
        self.net.start()
        self.line.carry_out(self.net)
        for name, group in itertools.groupby(setup, key=lambda pair: pair[0]):
            commands = [command for _, command in group]
            script = "\n".join(f"echo {MARK}; {{ {command}\n}} || exit 1" for command in commands)
            done = shell(self.net[name].pid, script)
            if done.returncode:
                printed = done.stdout.split(MARK + "\n")
                return {"failed": [name, commands[len(printed) - 2], printed[-1]]}
        if self.line.group:  # what holds the hosts' namespaces stays outside of it
            self.group = self.line.group()
            self.group.enter()
        return {}

    def do_start(self, host, command, echo=False):
        number = len(self.jobs) + 1
        job = Job(number, self.net[host], command, self.line.confined, echo)
        self.jobs[number] = job
        self.open.append(job)
        return {"job": number}

    def do_wait(self, numbers, limit_s):
        """Let time run until these jobs have ended; at the limit, or at an interrupt, end them."""
        jobs = [self.jobs[number] for number in numbers]
        return self.finish(jobs, int(float(limit_s) * 1e9), b"I")

    def do_type(self, number, text, until, limit_s, leave=False):
        """Type on a job's terminal and let time run until it has printed `until` since, or has
        ended; at the limit, or at an interrupt, end it as `do_wait` does, or leave it running.

        One question, so that nothing can be printed between the keys and the wait.
        """
        job = self.jobs[number]
        if text:
            self.pump()  # what was printed before does not count
        job.type(text.encode(errors="replace"), until.encode())
        end = time.monotonic_ns() + int(float(limit_s) * 1e9)
        ended_by = self.run_time(end, [job], None if leave else b"I")
        self.pump()  # what is left in its terminal
        untyped, job.keys, job.until = len(job.keys), b"", None
        after_s = self.interrupted_ns / 1e9
        return {
            "status": [job.status],
            "ended_by": ended_by,
            "after_s": after_s,
            "untyped": untyped,
        }

    def do_stop(self, number):
        """Ctrl-C for a job, then SIGKILL if that does not end it."""
        job = self.jobs[number]
        if job.status is None:
            job.signal(b"I")
        return self.finish([job], GRACE_NS, b"K")

    def do_end_all(self):
        """End every program that was started, and all its children."""
        if self.group is None:
            raise RuntimeError("only a guest can end all that was started in it")
        self.group.end()
        self.pump()
        return {}

    def do_sleep(self, seconds):
        return {"ended_by": self.run_time(time.monotonic_ns() + int(float(seconds) * 1e9))}

    def end(self):
        for job in self.open:
            job.signal(b"K")
        if self.net:
            self.net.stop()

    def finish(self, jobs, limit_ns, key_at_limit):
        ended_by = self.run_time(time.monotonic_ns() + limit_ns, jobs, key_at_limit)
        self.pump()  # what is left in their terminals
        return {"status": [job.status for job in jobs], "ended_by": ended_by}

    def run_time(self, end, jobs=None, key_at_end=None):
        """Let time run, passing on what programs print, until `end` or, given jobs, until none of
        them is `awaited` any more.

        An interrupt ends a sleep, and is passed on to the jobs; so is `key_at_end` when the end
        comes before theirs. Without such a key they are left running then.
        Returns "", "interrupt" or "limit": what happened before they ended by themselves; the first
        interrupt came `interrupted_ns` after the beginning.
        """
        start = time.monotonic_ns()
        ticks = seconds = self.interrupted_ns = 0
        ended_by = ""
        while any(job.awaited for job in jobs) if jobs is not None else time.monotonic_ns() < end:
            now = time.monotonic_ns()
            if jobs is not None and not key_at_end and now >= end:
                return ended_by or "limit"
            if now - start >= (ticks + 1) * TICK_NS:
                ticks = (now - start) // TICK_NS
                if ticks * TICK_NS // 10**9 > seconds:
                    seconds = ticks * TICK_NS // 10**9
                    self.line.send(tick=seconds)
                key = self.line.interrupted()
                if key:
                    ended_by = "interrupt"
                    self.interrupted_ns = self.interrupted_ns or ticks * TICK_NS
                    if jobs is None:
                        return ended_by
                elif jobs is not None and now >= end:
                    key, key_at_end, end = key_at_end, b"K", now + GRACE_NS
                    ended_by = ended_by or "limit"
                for job in jobs or [] if key else []:
                    if job.status is None:
                        job.signal(key)
                continue
            poll = select.poll()
            for job in self.open:
                if job.held:
                    poll.register(job.terminal, select.POLLIN)
                if job.status is None:
                    poll.register(job.ended, select.POLLIN)
            wake = start + (ticks + 1) * TICK_NS
            if not key_at_end:
                wake = min(wake, end)
            poll.poll(max(0, (wake - now) // 1_000_000) + 1)
            self.pump()
        return ended_by

    def pump(self):
        for job in list(self.open):
            if not job.pump(self.line):
                job.close()
                self.open.remove(job)


def on_this_machine(folder):
    """Serve over standard input and output, from a folder that goes when this does."""
    import shutil

    os.chdir(folder)
    try:
        Agent(PipeLine()).serve()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--pipe"]:
        on_this_machine(sys.argv[2])
    else:
        Agent(GuestLine()).serve()
