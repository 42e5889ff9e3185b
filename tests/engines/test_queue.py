"""Clients of one account wait for a CPU in order, see it, and leave nothing, however they end."""

import contextlib
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading

import psutil
import pytest

from netlab.engines.guest import machine
from tests.engines.afar import BUSY
from tests.engines.guest.test_process import survivors

PLENTY_S = 120
CLIENT = """
import sys, netlab as nl
with nl.Network(nl.wan("100mbit", "20ms", pairs=1), engine=sys.argv[1]) as net:
    print("up", flush=True)
    if sys.argv[2:]:
        net.run("h1", sys.argv[2], echo=False, limit_s=1e6)
    sys.stdin.readline()
print("closed", flush=True)
"""
SWEEP = """
import sys, netlab as nl
def pings(count):
    return nl.Experiment(nl.wan("100mbit", "20ms", pairs=1), nl.Ping("h1", "h2", count=count))
try:
    nl.sweep(pings, count=[2, 3], engine=sys.argv[1])
except KeyboardInterrupt:
    print("ended", flush=True)
"""


class Client:
    """Somebody with a network behind `netlab engine serve`, in a process of its own."""

    def __init__(self, address, *command, script=CLIENT):
        self.address, self.lines = address, queue.SimpleQueue()
        self.process = subprocess.Popen(
            [sys.executable, "-c", script, address, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip().removeprefix(f"{self.address}: "))

    def says(self):
        return self.lines.get(timeout=PLENTY_S)

    @property
    def server(self):
        (found,) = psutil.Process(self.process.pid).children()
        return found

    def leave(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.says() == "closed" and self.process.wait(PLENTY_S) == 0

    def end(self):
        """Kill it, and wait for what it has started, which holds a CPU."""
        started = []
        with contextlib.suppress(psutil.NoSuchProcess):
            started = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        assert psutil.wait_procs(started, PLENTY_S)[1] == []


@pytest.fixture
def come(own_cpus):
    """A function: a client more of a machine with one CPU."""
    cpu, clients = min(os.sched_getaffinity(0)), []
    serve = ["taskset", "-c", str(cpu), sys.executable, "-m", "netlab", "engine", "serve"]

    def start(*command, **more):
        clients.append(Client(f"exec:{shlex.join(serve)}", *command, **more))
        return clients[-1]

    yield start
    for client in clients:
        client.end()


def waiting(before):
    return f"waiting for a CPU: {before} before you"


def test_who_came_first_is_served_first_and_who_is_killed_leaves_nothing(come):
    runs = come(BUSY)
    assert runs.says() == "up"
    others = []
    for number in range(5):
        others.append(come())
        assert others[-1].says() == waiting(number)
    second, killed, without_server, fourth, last = others
    killed.process.send_signal(signal.SIGKILL)
    assert without_server.says() == waiting(1)
    assert fourth.says() == waiting(2) and last.says() == waiting(3)
    without_server.server.kill()
    assert fourth.says() == waiting(1) and last.says() == waiting(2)
    assert without_server.process.wait(PLENTY_S) != 0
    runs.process.send_signal(signal.SIGKILL)
    assert second.says() == "up"
    assert fourth.says() == waiting(0) and last.says() == waiting(1)
    second.leave()
    assert fourth.says() == "up" and last.says() == waiting(0)
    fourth.server.kill()
    assert last.says() == "up"
    last.leave()
    assert come().says() == "up", "nobody is before it"


def test_nothing_is_left_of_them(come, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(machine.tempfile, "tempdir", None)
    runs = come(BUSY)
    assert runs.says() == "up"
    waits = come()
    assert waits.says() == waiting(0)
    assert machine.somebody_waits()
    servers = [waits.server, runs.server]
    for one in waits, runs:
        one.process.send_signal(signal.SIGKILL)
        one.process.wait()
    assert psutil.wait_procs(servers, PLENTY_S)[1] == []
    assert survivors(tmp_path, PLENTY_S) == ([], []) and not machine.somebody_waits()
    left = [path.name for path in machine.run_folder().iterdir()]
    locks = re.compile(r"queue|cpu-\d+|user-\d+")  # nobody has them
    assert [name for name in left if not locks.fullmatch(name)] == []
    for name in left:
        descriptor = machine.try_lock(machine.run_folder() / name)
        assert descriptor is not None, name
        os.close(descriptor)


def test_a_second_ctrl_c_ends_the_runs_of_a_sweep_that_wait(come):
    runs = come(BUSY)
    assert runs.says() == "up"
    waits = come(script=SWEEP)
    assert waits.says() == waiting(0)
    waits.process.send_signal(signal.SIGINT)
    assert waits.says().startswith("sweep: interrupted; 1 of its runs are still under way")
    waits.process.send_signal(signal.SIGINT)
    assert waits.says() == "ended" and waits.process.wait(PLENTY_S) == 0
    assert runs.process.poll() is None


def test_places_are_in_order_and_given_back(own_cpus):
    """Of the queue itself: bytes of a file that are locked as long as it is open."""
    with machine.queue() as first, machine.queue() as second, machine.queue() as look:
        assert [machine.stand_in(one) for one in (first, second)] == [0, 1]
        with machine.queue() as third:
            assert machine.stand_in(third) == 2
            assert sorted(machine.taken(look, 3)) == [0, 1, 2]
            assert sorted(machine.taken(third, 2)) == [0, 1]
            first.close()
            assert machine.taken(third, 2) == [1]
            with machine.queue() as fourth:
                assert machine.stand_in(fourth) == 3, "behind all, whatever is free before"
        second.close()
        assert machine.taken(look, machine.MOST_WAITING) == []
        assert machine.stand_in(look) == 0


def test_no_more_guests_than_there_is_room_for(own_cpus, monkeypatch):
    """Of four CPUs, where there is memory for two guests."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    taken = [machine.free_cpu(2), machine.free_cpu(2)]
    assert len({number for _, number in taken}) == 2
    assert machine.free_cpu(2) is None
    taken.append(machine.free_cpu())  # as a guest that waits for nothing
    os.close(taken.pop(0)[0])
    assert machine.free_cpu(2) is None, "two others have one"
    os.close(taken.pop()[0])
    taken.append(machine.free_cpu(2))
    assert taken[-1] is not None
    for descriptor, _ in taken:
        os.close(descriptor)
