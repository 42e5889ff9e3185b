"""By two Dask workers, one of which is killed on the way: a sweep of 10,000 runs, none of which is
lost or done twice, while the memory of the scheduler and of the sweep's side stays as it is; and a
class of 60, which gets the marks that it gets without a cluster.

RUNS and CLASS set how many there are, SET names a problem set in place of a small one. With
STAND_IN the workers of a sweep start no guests: every run gives the result of the same ping, so
that the numbers of both sides are those of 10,000 runs in some minutes.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time

import psutil

import netlab as nl
from netlab.course import invented
from netlab.course.grading.batch import Batch
from netlab.course.sets import source
from netlab.engines import files
from netlab.engines.result_store import packed_result
from tests.course import small

SET, CLASS = os.environ.get("SET"), int(os.environ.get("CLASS", 60))
RUNS = int(os.environ.get("RUNS", 10_000))
# no loss: with it, a network takes four times as long to start
DELAYS, RATES = [f"{n}ms" for n in range(1, 11)], [f"{10 * n}mbit" for n in range(1, 11)]
KILLED_AT = 0.3  # of all runs
EVERY_S = 20
STAND_IN = """
from pathlib import Path
from netlab.engines.result_store import unpacked
from netlab.running import run as executors
from netlab.running.result import Result
kept = unpacked(Path("kept").read_bytes())
executors.run_on = lambda experiment, engine: Result(
    experiment, kept["raw"], kept["commands"], kept["provenance"]
)
"""


def pinged(delay, rate):
    return nl.Experiment(nl.wan(rate, delay, pairs=1), nl.Ping("h1", "h2", count=1))


@contextlib.contextmanager
def two_workers(folder):
    """A scheduler and two workers on loopback, each a process; -> its address, the processes, and
    a function that kills the first worker, in whose place another starts.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, processes = f"tcp://127.0.0.1:{port}", []

    def start(program, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *arguments]
        with open(folder / f"{program}.log", "ab") as log:
            look = (*command, "--no-dashboard")
            processes.append(subprocess.Popen(look, stdout=log, stderr=log, cwd=folder))

    def worker():
        look = ("--no-nanny", "--nthreads", "1", "--local-directory", str(folder / "dask"))
        start("worker", address, "--preload", "preload.py", *look)

    def kill():
        processes[1].kill()
        worker()

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", str(port))
        worker(), worker()
        yield address, processes, kill
        assert processes[1].returncode == -9
    finally:
        for process in processes:
            process.terminate()
            process.wait()


class Watch(threading.Thread):
    """Notes every so often how many results have come, and what processes take. [MB]"""

    def __init__(self, pids, folder):
        super().__init__(daemon=True)
        self.pids, self.folder, self.seen, self.ended = pids, folder, [], threading.Event()

    def run(self):
        while not self.ended.wait(EVERY_S):
            taken = [psutil.Process(pid).memory_info().rss / 1e6 for pid in self.pids]
            done = sum(1 for _ in self.folder.glob("*.zip"))
            self.seen.append((done, *taken))
            print(f"{time.strftime('%X')} {done} runs; client, scheduler: {taken} MB", flush=True)


def test_ten_thousand_runs(tmp_path, monkeypatch):
    import distributed

    monkeypatch.setattr("netlab.running.unfinished.cache_folder", lambda: tmp_path)
    written, write = {}, files.write

    def counted(path, *what):
        written[path.name] = written.get(path.name, 0) + 1
        write(path, *what)

    monkeypatch.setattr("netlab.running.unfinished.files.write", counted)
    (tmp_path / "kept").write_bytes(packed_result(nl.run(pinged("1ms", "10mbit"))))
    (tmp_path / "preload.py").write_text(STAND_IN if "STAND_IN" in os.environ else "")
    with (
        two_workers(tmp_path) as (address, processes, kill),
        distributed.Client(address, timeout=60) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        watch = Watch([os.getpid(), processes[0].pid], tmp_path / "sweeps")

        def kill_later():
            while len(written) < KILLED_AT * RUNS and not watch.ended.wait(0.1):
                pass
            kill()
            print(f"killed a worker after {len(written)} runs", flush=True)

        killer = threading.Thread(target=kill_later, daemon=True)
        watch.start(), killer.start()
        began_s = time.monotonic()
        seeds = range(RUNS // len(DELAYS) // len(RATES))
        frame = nl.sweep(pinged, delay=DELAYS, rate=RATES, seeds=seeds, executor=client)
        took_s = time.monotonic() - began_s
        watch.ended.set()
        killer.join()
        processes[1].wait()
    print(f"{len(frame)} runs in {took_s:.0f} s")
    assert len(frame) == len(written) == RUNS and {*written.values()} == {1}
    assert not frame.duplicated(["delay", "rate", "seed"]).any() and "error" not in frame
    some = frame.sample(0 if "STAND_IN" in os.environ else 10, random_state=1)
    for row in some.itertuples():
        assert nl.run(pinged(row.delay, row.rate), seed=row.seed).pings.rtt_s[0] == row.rtt_s


def test_a_class_is_graded_as_without_a_cluster(tmp_path):
    path = source.find(SET).absolute() if SET else small.write(tmp_path)
    submitted, works = tmp_path / "submitted", [tmp_path / "here", tmp_path / "there"]
    intended = invented.write(source.read(path), submitted, CLASS)
    took_s = [-time.monotonic()]
    marks = Batch(path, submitted, works[0]).grade()
    took_s[0] += time.monotonic()
    (tmp_path / "preload.py").write_text("")
    with two_workers(tmp_path) as (address, processes, kill):

        def kill_later():
            while len([*works[1].glob("marks/*.json")]) < KILLED_AT * CLASS:
                time.sleep(0.05)
            kill()
            print("killed a worker", flush=True)

        threading.Thread(target=kill_later, daemon=True).start()
        took_s.append(-time.monotonic())
        batch = Batch(path, submitted, works[1], scheduler=address)
        assert batch.grade() == marks
        took_s[1] += time.monotonic()
        batch.workers.stop()
        processes[1].wait()
    here, there = ({one.name: one.read_bytes() for one in work.glob("marks/*")} for work in works)
    assert here == there and len(here) == CLASS and invented.misjudged(marks, intended) == {}
    print(f"{CLASS} students here in {took_s[0]:.0f} s, by two workers in {took_s[1]:.0f} s")
