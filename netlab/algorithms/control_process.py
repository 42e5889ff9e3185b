"""The process that answers a guest's kernel: congestion control in Python, from its source.

Standard input is the socket of `ASK` and `ANSWER`, standard output that of its parent: the
algorithms in, as JSON in pieces (see `take`); then JSON out, ``{"ready"}``, ``{"out"}`` (it has
printed) and ``{"failed"}`` (what it did wrong; the last). It needs nothing but Python; its
arguments are the file of `netlab.algorithms.base`, the seed, and how long one answer may take [s].

It refuses what would not repeat, against accidents. It is no wall: an algorithm is as trusted as
the cell that it comes from.
"""

import ast
import datetime
import faulthandler
import json
import linecache
import math
import os
import random
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import types

ASK = struct.Struct("<4IQ4s4s2H9IQ2I5i3I")
ANSWER = struct.Struct("<IIQQ")
EVENTS = START, END, ACK, LOSS, TIMEOUT, SAMPLE = range(6)
SAMPLED, SCALABLE = 1, 2  # kinds of algorithms, which the answer to START chooses
FIELDS = (
    *("event", "connection", "algorithm", "acked", "now_ns", "source", "destination"),
    *("source_port", "destination_port", "cwnd", "ssthresh", "in_flight", "mss"),
    *("rtt_us", "srtt_us", "min_rtt_us", "lost", "limited", "delivered", "marked", "state"),
    # of the sample
    *("sample_delivered", "sample_marked", "interval_us", "sample_rtt_us", "losses"),
    *("prior_in_flight", "prior_delivered", "flags"),
)
CALLED = "start", "end", "on_ack", "on_loss", "on_timeout", "on_sample"  # the methods that answer
FASTEST = 2**64 - 1  # a pacing rate that limits nothing
LONGEST_S = 10  # for the answer to one question
PIECE = 10_000  # bytes or characters of one message; a socket takes no very long ones
MOST_PRINTED = 100_000  # characters
MOST_TOLD = 2_000  # characters of what went wrong
MOST_MEMORY_BYTES = 1 << 30
OF_CLOCKS = "an algorithm has no clock but tcp.now_s, or a run would not repeat"
OF_CHANCE = "the module random has numbers that come from the seed"
OF_THREADS = "with a thread, a run would not repeat"
OF_ITSELF = "an algorithm ends by an exception, and changes nothing beyond itself"
# Python's audit events that an algorithm must not cause: beginnings of their names, and why
REFUSED = {
    ("_thread.start",): OF_THREADS,
    ("subprocess", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn"): "no processes",
    ("socket.connect", "socket.bind", "socket.sendto"): "no connections of its own",
    ("os.kill", "signal.", "ctypes."): "nothing beyond itself",
    ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.listdir", "os.scandir"): "no files",
    ("shutil.", "glob."): "no files",
}
# Functions that Python tells no audit hook of, and why an algorithm must not call them
CLOCKS = "time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime"
TEXTS = "localtime", "gmtime", "ctime", "asctime", "strftime"
CALLS = [
    *((time, name, OF_CLOCKS) for name in (*CLOCKS, *(f"{one}_ns" for one in CLOCKS), *TEXTS)),
    (os, "times", OF_CLOCKS),
    (time, "sleep", "virtual time stands still meanwhile; wait until tcp.now_s has come"),
    *((os, name, OF_CHANCE) for name in ("urandom", "getrandom")),
    (random, "_urandom", OF_CHANCE),  # SystemRandom's, and with it that of secrets
    (threading, "_start_new_thread", OF_THREADS),
    *((os, name, OF_ITSELF) for name in ("_exit", "abort")),
    *((signal, name, OF_ITSELF) for name in ("alarm", "setitimer", "signal", "raise_signal")),
    *((faulthandler, name, OF_ITSELF) for name in vars(faulthandler) if name[:2] != "__"),
]


class NotAllowed(BaseException):
    """The algorithm did what would not repeat, or could not end; no `except Exception` hides it."""


class Printed:
    """Standard output, which goes to the parent."""

    def __init__(self, tell):
        self.tell, self.left = tell, MOST_PRINTED

    def write(self, text):
        self.left -= len(text)
        if self.left < 0:
            raise NotAllowed(f"it has printed more than {MOST_PRINTED:,} characters")
        for first in range(0, len(text), PIECE):
            self.tell(out=text[first : first + PIECE])
        return len(text)

    def flush(self):
        """Nothing is buffered."""


class Netlab:
    """In place of the package netlab, which is not there."""

    def __init__(self, known):
        self.known = known

    def __getattr__(self, name):
        if name == "algorithms":
            return self
        if name in self.known:
            return self.known[name]
        raise AttributeError(
            f"netlab.{name}: of netlab, an algorithm has CongestionControl and the classes of"
            " netlab.algorithms that it derives from"
        )


def watch_over():
    """Refuse, while an algorithm is asked, what would not repeat."""

    def audit(event, arguments):
        if not Progress.watched:
            return
        for beginnings, why in REFUSED.items():
            if event.startswith(beginnings):
                raise NotAllowed(f"an algorithm only computes, {why}: {event}")
        # an import opens files, too
        if event == "open" and not str(arguments[0]).endswith((".py", ".pyc", ".so")):
            raise NotAllowed(f"an algorithm only computes, no files: it opens {arguments[0]!r}")

    def refusing(module, name, why, original):
        def call(*values, **named):
            if Progress.watched:
                raise NotAllowed(f"{module.__name__}.{name}: {why}")
            return original(*values, **named)

        return call

    for module, name, why in CALLS:
        if original := getattr(module, name, None):
            setattr(module, name, refusing(module, name, why, original))
    for cls, names in (("date", ["today"]), ("datetime", ["today", "now", "utcnow"])):
        own = getattr(datetime, cls)
        refused = {name: refusing(own, name, OF_CLOCKS, getattr(own, name)) for name in names}
        setattr(datetime, cls, type(cls, (own,), refused))
    seed = random.Random.seed

    def seeded(self, a=None, version=2):
        if a is None and Progress.watched:
            raise NotAllowed(f"random.seed: give it a number; without one, {OF_CHANCE}")
        seed(self, a, version)

    random.Random.seed = seeded
    sys.addaudithook(audit)


def given(algorithms):
    """The messages that hand over algorithms (`Algorithm`): their length as JSON, and pieces."""
    text = json.dumps([one.model_dump() for one in algorithms]).encode()
    pieces = (text[first : first + PIECE] for first in range(0, len(text), PIECE))
    return [str(len(text)).encode(), *pieces]


def take(parent):
    """What the messages of `given` hand over: JSON."""
    length, text = int(parent.recv(100)), b""
    while len(text) < length:
        text += parent.recv(2 * PIECE)
    return text


def load(file, text):
    """The algorithms as (name, class, parameters), in the order of their numbers."""
    base = types.ModuleType("base")
    base.__file__ = file
    with open(file, encoding="utf-8") as source:
        exec(compile(source.read(), file, "exec"), vars(base))
    found = []
    for number, one in enumerate(json.loads(text)):
        name = f"<algorithm {number + 1}>" if number else "<algorithm>"
        known = {"CongestionControl": base.CongestionControl, "__name__": "algorithm"}
        known["netlab"] = Netlab(known)
        linecache.cache[name] = (len(one["source"]), None, one["source"].splitlines(True), name)
        for node in ast.parse(one["source"], name).body:
            if isinstance(node, ast.Import | ast.ImportFrom):  # which does what no algorithm may
                exec(compile(ast.Module([node], []), name, "exec"), dict(known))
        Progress.begin()
        exec(compile(one["source"], name, "exec"), known)
        Progress.watched = False
        found.append((one["name"], known[one["name"]], one["parameters"]))
    return base, found


class Window:
    """One connection: its algorithm's instance, and the fractions that the kernel leaves out."""

    def __init__(self, base, cls, parameters):
        self.tcp, self.control = base.Connection(), cls(**parameters)
        self.infinite, self.sample = base.INFINITE, base.Sample()
        sampled = type(self.control).on_sample is not base.CongestionControl.on_sample
        self.kind = SAMPLED * sampled + SCALABLE * bool(self.control.scalable)
        # the window to go on with, and the least and most that the kernel's own is by then, unless
        # it has taken the reduction back, or its timer has run out once more
        self.after_repair = None

    def answer(self, asked):
        """What to answer: window, threshold, pacing rate, kind; zeros change nothing."""
        tcp, event = self.tcp, asked["event"]
        tcp._asked = asked
        self.take_over(asked)
        tcp._set.clear()
        before = tcp._cwnd
        if event == ACK:
            self.control.on_ack(tcp, asked["acked"])
        elif event == SAMPLE:
            self.sample._asked = asked
            self.control.on_sample(tcp, self.sample)
        elif event == LOSS:
            return self.lost()
        elif event == START:
            self.control.start(tcp)
        else:
            self.control.on_timeout(tcp)
            if "cwnd" in tcp._set:
                self.after_repair = tcp._cwnd, 0, max(int(before), 1) - 1
                tcp._cwnd = before
        threshold = self.whole_threshold() * ("ssthresh" in tcp._set)
        return self.whole_window(), threshold, self.pacing(), self.kind * (event == START)

    def take_over(self, asked):
        """The kernel's numbers, wherever it has changed them itself."""
        tcp = self.tcp
        if asked["event"] in (ACK, SAMPLE, TIMEOUT):
            window, least, most = self.after_repair or (0, 1, 0)
            if asked["event"] != TIMEOUT and least <= asked["cwnd"] <= most:
                tcp._cwnd = window
                asked["cwnd"] = self.whole_window()
            self.after_repair = None
        if asked["cwnd"] != self.whole_window():
            tcp._cwnd = float(asked["cwnd"])
        if asked["ssthresh"] != self.whole_threshold():
            infinite = asked["ssthresh"] >= self.infinite
            tcp._ssthresh = math.inf if infinite else float(asked["ssthresh"])

    def lost(self):
        tcp, before = self.tcp, self.tcp._cwnd
        self.control.on_loss(tcp)
        if self.kind & SAMPLED:  # the kernel leaves the window alone
            if "cwnd" in tcp._set:
                self.after_repair, tcp._cwnd = (tcp._cwnd, 0, self.infinite), before
            return 0, self.whole_threshold(), self.pacing(), 0
        if "ssthresh" not in tcp._set:
            tcp._ssthresh = tcp._cwnd
        window = tcp._cwnd if "cwnd" in tcp._set else min(tcp._ssthresh, before)
        threshold = self.whole_threshold()
        self.after_repair, tcp._cwnd = (window, threshold, threshold), before
        return 0, threshold, self.pacing(), 0

    def whole_window(self):
        return max(int(self.tcp._cwnd), 1)

    def whole_threshold(self):
        threshold = self.tcp._ssthresh
        return self.infinite if threshold == math.inf else max(int(threshold), 2)

    def pacing(self):
        bps = self.tcp._pacing_bps
        return (FASTEST if bps == math.inf else round(bps)) * ("pacing_bps" in self.tcp._set)


def serve(kernel, base, algorithms):
    """Answer until the guest has gone."""
    windows = {}
    while data := kernel.recv(256):
        asked = dict(zip(FIELDS, ASK.unpack(data), strict=True))
        connection, answer = asked["connection"], (0, 0, 0, 0)
        Progress.asked = asked
        Progress.begin()
        if asked["event"] == END:
            windows.pop(connection, None)
        else:
            if asked["event"] == START:
                windows[connection] = Window(base, *algorithms[asked["algorithm"]][1:])
            answer = windows[connection].answer(asked)
        Progress.watched = False
        kernel.send(ANSWER.pack(*answer))


class Progress:
    """The question that is asked, while `watched`. After `longest_s` the process ends: by a signal,
    or by Python's watchdog where Python does not look at signals.
    """

    questions, watched = 0, False
    asked = types.MappingProxyType({})  # the last question
    seen, seen_s = -1, 0
    longest_s = LONGEST_S

    @classmethod
    def begin(cls):
        cls.questions += 1
        cls.watched = True

    @classmethod
    def look(cls, tell, frame):
        """To be called every second."""
        if not cls.watched or cls.questions != cls.seen:
            cls.seen, cls.seen_s = cls.questions, 0
            WATCHDOG(cls.longest_s + 1, exit=True, file=2)
        cls.seen_s += 1
        if cls.seen_s > cls.longest_s:
            frames = traceback.StackSummary.extract(traceback.walk_stack(frame), limit=10_000)
            what = f"it did not answer within {cls.longest_s:g} seconds"
            tell(failed={"what": what} | where([*frames][::-1]))
            EXIT(0)


WATCHDOG, EXIT = faulthandler.dump_traceback_later, os._exit


def told(error):
    """What went wrong, and at which lines of the algorithm."""
    try:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    except BaseException:
        what = f"{type(error).__name__}, whose text could not be made"
    what = str(error) if isinstance(error, NotAllowed) else what
    what = what[:MOST_TOLD] + " ..." * (len(what) > MOST_TOLD)
    return {"what": what} | where(traceback.extract_tb(error.__traceback__))


def where(frames):
    """The lines of these frames that are of an algorithm, and which algorithm it is."""
    own = [one for one in frames if one.filename.startswith("<algorithm")]
    number = Progress.asked.get("algorithm")
    if own:
        number = max(int("0" + "".join(filter(str.isdigit, own[0].filename))) - 1, 0)
    lines = [place("".join(linecache.getlines(one.filename)), one.lineno) for one in own]
    return {"lines": lines, "algorithm": number, "event": Progress.asked.get("event")}


def place(source, number):
    """A line of an algorithm's source, counted as people do: within its class or function."""
    text = source.splitlines()[number - 1].strip()
    holders = (ast.ClassDef, ast.FunctionDef)
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, holders))
    around = [(one.lineno, one.name) for one in nodes if one.lineno <= number <= one.end_lineno]
    if not around:
        return text
    names = ".".join(name for _, name in sorted(around))
    return f"{names}, line {number - min(around)[0] + 1}: {text}"


def main(file, seed, longest_s=LONGEST_S):
    import resource  # Windows, where answers are checked, has none

    Progress.longest_s = float(longest_s)
    kernel, parent = (socket.socket(fileno=os.dup(number)) for number in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):  # what an algorithm finds there
        os.dup2(nothing, number)
    sys.stdin = None

    def tell(**message):
        parent.send(json.dumps(message).encode())

    for limit, most in ((resource.RLIMIT_AS, MOST_MEMORY_BYTES), (resource.RLIMIT_CORE, 0)):
        lower = [one for one in resource.getrlimit(limit) if one != resource.RLIM_INFINITY]
        resource.setrlimit(limit, 2 * (min([most, *lower]),))
    random.seed(int(seed))
    sys.setrecursionlimit(1000)
    faulthandler.enable(file=2)
    signal.signal(signal.SIGALRM, lambda _, frame: Progress.look(tell, frame))
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    WATCHDOG(Progress.longest_s + 1, exit=True, file=2)
    sys.stdout = Printed(tell)
    watch_over()
    try:
        base, algorithms = load(file, take(parent))
        if numpy := sys.modules.get("numpy"):
            numpy.random.seed(int(seed) % 2**32)
        tell(ready=True)
        serve(kernel, base, algorithms)
    except BaseException as error:
        Progress.watched = False
        tell(failed=told(error))
    EXIT(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
