"""Thirty clients of one account for five minutes, ten of whom are killed again and again: the
others get the native engine's bytes and errors, in turn, and nothing is left. CLIENTS, KILLED,
MINUTES and AT_ONCE choose how many and how long; ADDRESS names another server than this checkout's,
such as ssh://lab, whose account may be this machine's.
"""

import multiprocessing
import os
import random
import re
import shlex
import statistics
import sys
import tempfile
import time
from collections import Counter

import psutil

import netlab as nl
from netlab.engines import remote
from netlab.engines.guest import machine
from netlab.engines.jail import JailedEngine
from tests.engines.guest.test_process import survivors

CLIENTS, MINUTES = int(os.environ.get("CLIENTS", 30)), float(os.environ.get("MINUTES", 5))
KILLED = int(os.environ.get("KILLED", CLIENTS // 3))
CPUS = sorted(os.sched_getaffinity(0))[: int(os.environ.get("AT_ONCE", 2))]
SERVE = ["taskset", "-c", ",".join(map(str, CPUS)), sys.executable, "-m", "netlab"]
HERE = f"exec:{shlex.join([*SERVE, 'engine', 'serve', '--shared'])}"
ADDRESS = os.environ.get("ADDRESS", HERE)
PATH = nl.wan("100mbit", "20ms", "0.1%")


class Failing(nl.algorithms.Reno):
    """Reno, until it has lost twice."""

    losses = 0

    def on_loss(self, tcp):
        super().on_loss(tcp)
        self.losses += 1
        if self.losses == 2:
            raise ValueError("twice")


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


def client(number, until, native, done):
    """Run experiments again and again; tell of each how long it took, how many were before it when
    it came, and what was wrong.
    """
    before, order, engine = [], random.Random(number), None
    hear = remote.Server._hear

    def note(server, on_event, event):
        if "waiting" in event:
            before.append(event["waiting"])
        else:
            hear(server, on_event, event)

    remote.Server._hear = note
    while time.time() < until:
        name, began = order.choice([*EXPERIMENTS]), time.monotonic()
        try:
            engine = engine or remote.RemoteEngine(ADDRESS)
            came = came_of(EXPERIMENTS[name], engine)
            wrong = None if came == native[name] else f"{name}: {came!r:.1000}"
        except Exception as error:
            wrong = repr(error)
        done.put((number, time.monotonic() - began, before[0] + 1 if before else 0, wrong))
        if before != sorted(before, reverse=True):
            done.put((number, 0, 0, f"somebody went before it: {before}"))
        before.clear()


def killed(number, until, native, done):
    """It is killed while it waits, or in the middle of a run."""
    context, order = multiprocessing.get_context("forkserver"), random.Random(number)
    while time.time() < until:
        own = context.Queue()  # killed, it could leave the others' locked
        victim = context.Process(target=client, args=(number, until, native, own))
        victim.start()
        time.sleep(order.uniform(0, 60))
        victim.kill()
        victim.join()


def test_thirty_clients_of_one_account(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    native = {name: came_of(one, JailedEngine()) for name, one in EXPERIMENTS.items()}
    assert native["failing"][0] == "AlgorithmError"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    done, until, clients, came = context.Queue(), time.time() + 60 * MINUTES, [], []
    for number in range(CLIENTS):
        what = killed if number < KILLED else client
        clients.append(context.Process(target=what, args=(number, until, native, done)))
        clients[-1].start()
    most = 0
    while any(one.is_alive() for one in clients):
        time.sleep(1)
        while not done.empty():
            came.append(done.get())
        servers = [one for one in psutil.process_iter() if is_server(one)]
        most = max(most, sum(one.memory_info().rss for one in servers if one.is_running()))
    took = [one[1] for one in came if one[1]]
    print(f"\n{len(came)} runs in {MINUTES:g} minutes, {len(CPUS)} at once; s for each:", end=" ")
    late = statistics.quantiles(took, n=20)[-1]
    print(f"median {statistics.median(took):.0f}, 95 % {late:.0f}, longest {max(took):.0f}")
    print("how many were before it:", sorted(Counter(max(0, one[2] - 1) for one in came).items()))
    print(f"most memory of servers: {most / 1e9:.2f} GB (what they share counts for each)")
    assert [one[3] for one in came if one[3]] == []
    assert {one[0] for one in came} == {*range(KILLED, CLIENTS)}, "each had its turn"
    assert any(one[2] > 1 for one in came) or len(CPUS) + 1 >= CLIENTS, "nobody had to wait"
    assert survivors(tmp_path, 60) == ([], []) and not machine.somebody_waits()
    servers = [one for one in psutil.process_iter() if is_server(one)]
    assert psutil.wait_procs(servers, 60)[1] == []


def is_server(process):
    try:
        return process.cmdline()[-3:] == ["engine", "serve", "--shared"]
    except psutil.Error:
        return False
