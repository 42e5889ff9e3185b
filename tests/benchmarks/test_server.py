"""A server for many with 50 clients for ten minutes, ten of whom are hostile or die: the others
get the native engine's bytes and errors, and nothing is left. CLIENTS, ENEMIES, MINUTES and AT_ONCE
choose how many and how long; ONE_ADDRESS=1 has all behind one address.
"""

import contextlib
import functools
import itertools
import json
import multiprocessing
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter

import psutil

import netlab as nl
from netlab.engines import remote
from netlab.engines.cache import cache_folder
from netlab.engines.jail import JailedEngine
from netlab.errors import installed
from tests.engines.guest.test_process import survivors

CLIENTS, MINUTES = int(os.environ.get("CLIENTS", 50)), float(os.environ.get("MINUTES", 10))
ENEMIES = int(os.environ.get("ENEMIES", CLIENTS // 5))
AT_ONCE, ONE_ADDRESS = int(os.environ.get("AT_ONCE", 2)), "ONE_ADDRESS" in os.environ
TOKEN = "a-long-random-text"
HELLO = {"protocol": remote.PROTOCOL, "netlab": installed().version, "token": TOKEN}
UP = {"op": "up", "hosts": [["pc", "10.0.0.1/8"]], "switches": [], "links": [], "setup": []}
WAIT = {"op": "wait", "numbers": [1], "limit_s": 3600}
PATH = nl.wan("100mbit", "20ms", "0.1%")
QUEUE_S = 600  # that a place may take


class Failing(nl.algorithms.Reno):
    """Reno, until it has lost twice."""

    losses = 0

    def on_loss(self, tcp):
        super().on_loss(tcp)
        self.losses += 1
        if self.losses == 2:
            raise ValueError("twice")


class Endless(nl.algorithms.Reno):
    def on_ack(self, tcp, acked):
        while True:
            pass


EXPERIMENTS = {
    "streams": nl.Experiment(PATH, nl.Iperf3("h1", "h2", parallel=2, time=2), nl.Ping("h3", "h4")),
    "observed": nl.Experiment(
        PATH, nl.Iperf3("h1", "h2", time=2), nl.Windows("h1"), nl.Queue("s1", "s2"), seed=2
    ),
    "simpleperf": nl.Experiment(PATH, nl.Simpleperf("h1", "h2", time=2), seed=3),
    "Python": nl.Experiment(PATH, nl.Iperf3("h1", "h2", congestion=nl.algorithms.Reno, time=1)),
    "failing": nl.Experiment(PATH, nl.Iperf3("h1", "h2", congestion=Failing, time=3), seed=4),
    "refused": nl.Experiment(PATH, nl.Shell("h1", "exit 3")),
}


def came_of(experiment, engine):
    """What an experiment gives, as far as two engines must agree."""
    try:
        run = nl.run(experiment, engine=engine)
    except nl.NetlabError as error:
        text = re.sub(r"\s*Everything it left is in \S+", "", str(error))
        return [type(error).__name__, text]
    return [run.raw, run.commands, run.provenance["engine_digest"]]


def from_address(number):
    """Connections of this process come from an address of its own."""
    if not ONE_ADDRESS:
        here = (f"127.1.{number // 250}.{number % 250 + 1}", 0)
        new = functools.partial(socket.create_connection, source_address=here)
        socket.create_connection = new


def good(number, port, until, native, done):
    """Run experiments again and again; tell of each how long it waited and took, its place in the
    queue, and what was wrong.
    """
    from_address(number)
    connect, waits, places = remote.RemoteConnection.__init__, [], []

    def timed(self, *arguments):
        began = time.monotonic()
        connect(self, *arguments)
        waits.append(time.monotonic() - began)

    remote.RemoteConnection.__init__ = timed
    remote.RemoteConnection._place = lambda _, event: places.append(event["waiting"])
    order, engine = random.Random(number), None
    while time.time() < until:
        name = order.choice([*EXPERIMENTS])
        began = time.monotonic()
        try:
            engine = engine or remote.RemoteEngine(f"tcp://127.0.0.1:{port}")
            came = came_of(EXPERIMENTS[name], engine)
            wrong = None if came == native[name] else f"{name}: {came!r:.1000}"
        except Exception as error:
            wrong = repr(error)
        took = time.monotonic() - began
        done.put((number, (waits.pop() if waits else took, took, max(places, default=0), wrong)))
        places.clear()


class Raw:
    """A line that may say anything."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, what):
        data = what if isinstance(what, bytes) else json.dumps(what).encode() + b"\n"
        self.socket.sendall(data)

    def hear(self, word=b'"done"'):
        """Read until a word comes, or the end."""
        found = b""
        while word not in found:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise ConnectionError("it has hung up")
            found = found[-100:] + piece

    def ask(self, what):
        self.send(what)
        self.hear()

    def network(self):
        """Say hello, wait for a place, and have a network up."""
        self.ask({"hello": HELLO})
        self.socket.settimeout(QUEUE_S)
        self.ask({"connect": [1, "virtual", 60]})
        self.ask({"ask": UP})
        self.socket.settimeout(20)

    def program(self, command):
        """Start a program, and wait for it."""
        self.ask({"ask": {"op": "start", "host": "pc", "command": command}})
        self.send({"ask": WAIT})


def end_with(process):
    while psutil.pid_exists(process):
        time.sleep(0.5)
    os._exit(1)


def run_far(number, port, client):
    threading.Thread(target=end_with, args=(client,), daemon=True).start()
    from_address(number)
    nl.run(PATH, nl.Iperf3("h1", "h2", time=3600), engine=f"tcp://127.0.0.1:{port}")


def dies(number, port, chance):
    """It is killed while it waits, or in the middle of a run."""
    context = multiprocessing.get_context("forkserver")
    victim = context.Process(target=run_far, args=(number, port, os.getpid()))
    victim.start()
    time.sleep(chance.uniform(0, 60))
    victim.kill()
    victim.join()


def runs(*traffic):
    """It runs an experiment that does harm."""

    def hostile(number, port, chance):
        with contextlib.suppress(nl.NetlabError):
            nl.run(PATH, *traffic, engine=f"tcp://127.0.0.1:{port}", wall_limit_s=60)

    return hostile


def presses_keys(number, port, chance):
    with Raw(port) as raw:
        raw.network()
        raw.program("while :; do :; done")
        for _ in range(2000):
            raw.send(b'{"key": "I"}\n' * 400)


def talks_nonsense(number, port, chance):
    time.sleep(0.05)
    with Raw(port) as raw:
        if chance.random() < 0.5:
            raw.ask({"hello": HELLO})
        ends = [b"\n", b"\n[1]\n", b"[" * 100_000, b"\0\n"]
        raw.send(chance.randbytes(1000) + chance.choice(ends))
        raw.hear(b"nothing")


def never_reads(number, port, chance):
    with Raw(port) as raw:
        raw.network()
        raw.program("yes")
        time.sleep(60)


def guesses(number, port, chance):
    time.sleep(0.05)
    with Raw(port) as raw:
        raw.ask({"hello": HELLO | {"token": str(chance.random())}})
        raw.hear(b"nothing")


def says_much(number, port, chance):
    with Raw(port) as raw:
        if chance.random() < 0.5:
            raw.send(b"a" * (1 << 25))
        raw.network()
        with contextlib.suppress(OSError):
            raw.ask({"ask": UP | {"hosts": [["a" * 1000, "10.0.0.1/8"]] * 3900}})
        raw.send(b'{"ask": "' + b"a" * (1 << 25))


def flood(port):
    """30 long messages at once: malloc keeps what they took, and no more after forty floods."""

    def one():
        with contextlib.suppress(OSError), Raw(port) as raw:
            raw.ask({"hello": HELLO})
            raw.send({"connect": [1, "virtual", 60], "more": [["a" * 1000, "10.0.0.1/8"]] * 3800})
            raw.hear(b"nothing")

    threads = [threading.Thread(target=one) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def half_opens(number, port, chance):
    with contextlib.ExitStack() as stack:
        for _ in range(30):
            raw = stack.enter_context(Raw(port))
            raw.send(chance.choice([b"", b"{", b'{"hello": {']))
        time.sleep(5)


def watches(number, port, chance):
    with Raw(port) as raw:
        raw.network()
        raw.ask({"watch": {str(n): ["queues", "lo", 0] for n in range(200)}})
        raw.program("ping -f 10.0.0.1")
        for _ in range(1000):
            raw.send(b'{"watched": 0}\n' * 100)


HOSTILE = {
    "dies": dies,
    "prints without end": runs(nl.Shell("h1", "yes", time=3600)),
    "presses keys": presses_keys,
    "talks nonsense": talks_nonsense,
    "never reads": never_reads,
    "guesses tokens": guesses,
    "says much": says_much,
    "opens half": half_opens,
    "computes for ever": runs(nl.Iperf3("h1", "h2", congestion=Endless, time=5)),
    "watches": watches,
}


def hostile(number, port, until, name, done):
    from_address(number)
    chance = random.Random(number)
    while time.time() < until:
        done.put((number, tried(HOSTILE[name], number, port, chance)))


def tried(what, *arguments):
    try:
        what(*arguments)
    except OSError as error:
        return type(error).__name__
    return "done"


class Server:
    """`netlab engine serve --listen`, and what it holds."""

    def __init__(self, folder):
        each = AT_ONCE if ONE_ADDRESS else 1
        options = ["--listen", "127.0.0.1:0", "--at-once", str(AT_ONCE), "--each", str(each)]
        self.program = subprocess.Popen(
            [sys.executable, "-m", "netlab", "engine", "serve", *options],
            stdout=subprocess.PIPE,
            env=os.environ | {"NETLAB_TOKEN": TOKEN, "TMPDIR": str(folder)},
            text=True,
        )
        self.port = int(self.program.stdout.readline().split()[-1])

    def holds(self):
        """Descriptors, threads, processes, and MB of its own."""
        one = psutil.Process(self.program.pid)
        mb = round(one.memory_full_info().uss / 1e6)
        return one.num_fds(), one.num_threads(), len(one.children(recursive=True)), mb

    def end(self):
        self.program.send_signal(signal.SIGINT)
        self.program.wait(20)
        self.program.stdout.close()


def shown(values):
    median, late = statistics.median(values), statistics.quantiles(values, n=20)[-1]
    return f"median {median:.1f}, 95 % {late:.1f}, from {min(values):.1f} to {max(values):.1f}"


def report(came, enemies, held):
    """Print what came; -> what was wrong."""
    everything = []
    for number, found in sorted(came.items()):
        if number in enemies:
            print(f"{number}, who {enemies[number]}: {dict(Counter(found))}")
        else:
            everything += found
            wrong, took = sum(one[3] is not None for one in found), [one[1] for one in found]
            print(f"{number}: {len(found)} runs, {wrong} wrong, s: {sorted(map(round, took))}")
    print(f"{len(everything)} runs in {MINUTES} minutes, {AT_ONCE} at once")
    print("s in the queue:", shown([one[0] for one in everything]))
    print("s in all:", shown([one[1] for one in everything]))
    print("last place in the queue:", max(one[2] for one in everything))
    print("the server's descriptors, threads, processes, MB at first, at most, at last:", *held)
    return [one[3] for one in everything if one[3] is not None]


def test_fifty_clients_ten_of_them_hostile(tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_TOKEN", TOKEN)
    native = {name: came_of(one, JailedEngine()) for name, one in EXPERIMENTS.items()}
    assert native["failing"][0] == "AlgorithmError"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    done, cached, server = context.Queue(), sorted(cache_folder().iterdir()), Server(tmp_path)
    came, clients = {}, []
    try:
        first = remote.RemoteEngine(f"tcp://127.0.0.1:{server.port}")
        assert native == {name: came_of(one, first) for name, one in EXPERIMENTS.items()}
        while first.idle:
            first.idle.pop().close()
        flood(server.port)
        time.sleep(5)
        before, until, names = server.holds(), time.time() + 60 * MINUTES, itertools.cycle(HOSTILE)
        enemies = {number: next(names) for number in range(ENEMIES)}
        for number in range(CLIENTS):
            what = (hostile, enemies[number]) if number in enemies else (good, native)
            arguments = number, server.port, until, what[1], done
            clients.append(context.Process(target=what[0], args=arguments))
            clients[-1].start()
        most = before
        while time.time() < until:
            time.sleep(1)
            while not done.empty():
                number, found = done.get()
                came.setdefault(number, []).append(found)
            most = tuple(map(max, most, server.holds()))
        for client in clients:  # most of them wait in the queue
            client.kill()
            client.join()
        late = time.monotonic() + 60
        while server.holds()[:3] != before[:3] and time.monotonic() < late:
            time.sleep(1)
        after = server.holds()
        wrong = report(came, enemies, (before, most, after))
        again = {name: came_of(one, first) for name, one in EXPERIMENTS.items()}
        while first.idle:
            first.idle.pop().close()
    finally:
        for client in clients:
            client.kill()
        server.end()
    assert wrong == [] and {*range(CLIENTS)} - {*enemies} <= {*came}
    assert again == native and after[:3] == before[:3] and after[3] < before[3] + 50
    assert server.program.returncode == 0 and survivors(tmp_path) == ([], [])
    assert sorted(cache_folder().iterdir()) == cached
