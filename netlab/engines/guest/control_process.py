"""The process that answers a guest's kernel: congestion control in Python, from its source.

It is started for a run and ends with it. Standard input is the socket of `ASK` and `ANSWER`,
standard output that of its parent: JSON, the algorithms in, then ``{"ready"}``, ``{"out"}`` (it has
printed) and ``{"failed"}`` (what it did wrong; the last) out. It needs nothing but Python; its
arguments are the file of `netlab.algorithms.base` and the seed.
"""

import ast
import faulthandler
import json
import linecache
import math
import os
import random
import resource
import signal
import socket
import struct
import sys
import time
import traceback
import types

ASK = struct.Struct("<4IQ4s4s2H9IQ")
ANSWER = struct.Struct("<IIQ")
EVENTS = START, END, ACK, LOSS, TIMEOUT = range(5)
FIELDS = (
    *("event", "connection", "algorithm", "acked", "now_ns", "source", "destination"),
    *("source_port", "destination_port", "cwnd", "ssthresh", "in_flight", "mss"),
    *("rtt_us", "srtt_us", "min_rtt_us", "lost", "limited", "delivered"),
)
FASTEST = 2**64 - 1  # a pacing rate that limits nothing
FILE = "<algorithm>"  # of the first one; what its lines are said to be in
LONGEST_S = 10  # for the answer to one question
MOST_PRINTED = 100_000  # characters
MOST_MEMORY_BYTES = 4 << 30
# Python's audit events that an algorithm must not cause: beginnings of their names, and why
REFUSED = {
    ("_thread.start",): "with a thread, a run would not repeat",
    ("subprocess", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn"): "no processes",
    ("socket.connect", "socket.bind", "socket.sendto"): "no connections of its own",
    ("os.kill", "signal.", "ctypes."): "nothing beyond itself",
    ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "shutil."): "no files",
}
CLOCKS = "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"


class NotAllowed(BaseException):
    """The algorithm did what would not repeat, or could not end; no `except Exception` hides it."""


class Printed:
    """Standard output: every text is handed to the parent."""

    def __init__(self, tell):
        self.tell, self.left = tell, MOST_PRINTED

    def write(self, text):
        self.left -= len(text)
        if self.left < 0:
            raise NotAllowed(f"it has printed more than {MOST_PRINTED:,} characters")
        self.tell(out=text)
        return len(text)

    def flush(self):
        """Nothing waits."""


class Netlab(types.SimpleNamespace):
    """Stands for the package netlab, which is not there."""

    def __init__(self, known):
        super().__init__(known=known)

    def __getattr__(self, name):
        if name == "algorithms":
            return self
        if name in self.known:
            return self.known[name]
        raise AttributeError(
            f"netlab.{name}: of netlab, an algorithm has CongestionControl and the classes of"
            " netlab.algorithms that it derives from"
        )


def watch_over(watched):
    """Refuse, while `watched` is not empty, what would not repeat."""

    def audit(event, arguments):
        if not watched:
            return
        for beginnings, why in REFUSED.items():
            if event.startswith(beginnings):
                raise NotAllowed(f"an algorithm only computes, {why}: {event}")
        if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
            raise NotAllowed(f"an algorithm only computes, no files: it opens {arguments[0]!r}")

    def refusing(module, name, why):
        original = getattr(module, name)

        def call(*values, **named):
            if watched:
                raise NotAllowed(f"{module.__name__}.{name}: {why}")
            return original(*values, **named)

        setattr(module, name, call)

    for name in CLOCKS:
        refusing(time, name, "an algorithm has no clock but tcp.now_s, or a run would not repeat")
    refusing(time, "sleep", "virtual time stands still meanwhile; wait until tcp.now_s has come")
    refusing(os, "urandom", "the module random has numbers that come from the seed")
    sys.addaudithook(audit)


def load(file, text):
    """The algorithms as (name, class, parameters), in the order of their numbers."""
    base = types.ModuleType("base")
    base.__file__ = file
    with open(file) as source:
        exec(compile(source.read(), file, "exec"), vars(base))
    found = []
    for number, one in enumerate(json.loads(text)):
        name = FILE if not number else f"<algorithm {number + 1}>"
        known = {"CongestionControl": base.CongestionControl, "__name__": "algorithm"}
        known["netlab"] = Netlab(known)
        linecache.cache[name] = (len(one["source"]), None, one["source"].splitlines(True), name)
        exec(compile(one["source"], name, "exec"), known)
        found.append((one["name"], known[one["name"]], one["parameters"]))
    return base, found


class Window:
    """One connection: its algorithm's instance, and what the kernel's whole numbers leave out."""

    def __init__(self, base, cls, parameters):
        self.tcp, self.control = base.Connection(), cls(**parameters)
        self.infinite = base.INFINITE
        self.after_repair = None  # the window to go on with, and the threshold that was answered

    def answer(self, asked):
        """What to answer: window, threshold, pacing rate; zeros change nothing."""
        tcp, event = self.tcp, asked["event"]
        tcp._asked = asked
        self.take_over(asked)
        tcp._set.clear()
        before = tcp._cwnd
        if event == ACK:
            self.control.on_ack(tcp, asked["acked"])
        elif event == LOSS:
            return self.lost()
        elif event == START:
            self.control.start(tcp)
        else:
            self.control.on_timeout(tcp)
            if "cwnd" in tcp._set:
                self.after_repair = tcp._cwnd, math.inf
                tcp._cwnd = before
        return self.whole_window(), self.whole_threshold() * ("ssthresh" in tcp._set), self.pacing()

    def take_over(self, asked):
        """The kernel's numbers, wherever it has changed them itself."""
        tcp = self.tcp
        if self.after_repair and asked["event"] == ACK:
            window, answered = self.after_repair
            if asked["cwnd"] <= answered:  # else the kernel has taken the reduction back
                tcp._cwnd = window
                asked["cwnd"] = self.whole_window()
        if asked["event"] in (ACK, TIMEOUT):
            self.after_repair = None
        if asked["cwnd"] != self.whole_window():
            tcp._cwnd = float(asked["cwnd"])
        if asked["ssthresh"] != self.whole_threshold():
            infinite = asked["ssthresh"] >= self.infinite
            tcp._ssthresh = math.inf if infinite else float(asked["ssthresh"])

    def lost(self):
        tcp, before = self.tcp, self.tcp._cwnd
        self.control.on_loss(tcp)
        if "ssthresh" not in tcp._set:
            tcp._ssthresh = tcp._cwnd
        window = tcp._cwnd if "cwnd" in tcp._set else min(tcp._ssthresh, before)
        self.after_repair, tcp._cwnd = (window, self.whole_threshold()), before
        return 0, self.whole_threshold(), self.pacing()

    def whole_window(self):
        return max(int(self.tcp._cwnd), 1)

    def whole_threshold(self):
        threshold = self.tcp._ssthresh
        return self.infinite if threshold == math.inf else max(int(threshold), 2)

    def pacing(self):
        bps = self.tcp._pacing_bps
        return (FASTEST if bps == math.inf else round(bps)) * ("pacing_bps" in self.tcp._set)


def serve(kernel, base, algorithms, watched):
    """Answer until the guest has gone."""
    windows = {}
    while data := kernel.recv(256):
        asked = dict(zip(FIELDS, ASK.unpack(data), strict=True))
        connection, answer = asked["connection"], (0, 0, 0)
        Progress.questions += 1
        watched.append(True)
        if asked["event"] == END:
            windows.pop(connection, None)
        else:
            if asked["event"] == START:
                windows[connection] = Window(base, *algorithms[asked["algorithm"]][1:])
            answer = windows[connection].answer(asked)
        watched.clear()
        Progress.answers += 1
        kernel.send(ANSWER.pack(*answer))


class Progress:
    """How many questions have come and gone: a question that is not answered for `LONGEST_S` ends
    this process, and Python's own watchdog, which needs no Python to run, says where it was.
    """

    questions = answers = 0
    seen = -1

    @classmethod
    def look(cls, *_):
        if cls.questions == cls.answers or cls.questions != cls.seen:
            cls.seen = cls.questions
            faulthandler.dump_traceback_later(LONGEST_S, exit=True, file=2)


def told(error):
    """What went wrong, and at which lines of the algorithm."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    lines = [
        place("".join(linecache.getlines(one.filename)), one.lineno)
        for one in frames
        if one.filename.startswith("<algorithm")
    ]
    return {"what": str(error) if isinstance(error, NotAllowed) else text, "lines": lines}


def place(source, number):
    """A line of an algorithm's source, counted as people do: within its class or function."""
    text = source.splitlines()[number - 1].strip()
    holders = (ast.ClassDef, ast.FunctionDef)
    around = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, holders) and node.lineno <= number <= node.end_lineno
    ]
    if not around:
        return text
    names = ".".join(node.name for node in sorted(around, key=lambda node: node.lineno))
    first = min(node.lineno for node in around)
    return f"{names}, line {number - first + 1}: {text}"


def main(file, seed):
    kernel, parent = (socket.socket(fileno=os.dup(number)) for number in (0, 1))

    def tell(**message):
        parent.send(json.dumps(message).encode())

    for limit, most in ((resource.RLIMIT_AS, MOST_MEMORY_BYTES), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (most, most))
    random.seed(int(seed))
    sys.setrecursionlimit(1000)
    signal.signal(signal.SIGALRM, Progress.look)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    faulthandler.dump_traceback_later(LONGEST_S, exit=True, file=2)
    sys.stdout, watched = Printed(tell), []
    watch_over(watched)
    try:
        base, algorithms = load(file, parent.recv(1 << 20))
        tell(ready=True)
        serve(kernel, base, algorithms, watched)
    except BaseException as error:
        watched.clear()
        tell(failed=told(error))
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
