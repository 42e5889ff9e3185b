"""A sweep of 10,000 runs by two Dask workers, one of which is killed on the way: no run is lost or
done twice, and the memory of the scheduler and of the sweep's side stays as it is.

RUNS sets how many there are. With STAND_IN the workers start no guests: every run gives the result
of the same ping, so that the numbers of both sides are those of 10,000 runs in some minutes.
"""

import os
import subprocess
import sys
import threading
import time

import psutil

import netlab as nl
from netlab.engines import files, recorded

RUNS = int(os.environ.get("RUNS", 10_000))
DELAYS, LOSSES = [f"{n}ms" for n in range(1, 11)], [f"{n / 100}%" for n in range(10)]
KILLED_AT = 0.3  # of all runs
EVERY_S = 20
STAND_IN = """
from pathlib import Path
from netlab.engines import recorded
from netlab.running import executors
from netlab.running.result import Result
kept = recorded.unpacked(Path("kept").read_bytes())
executors.run_on = lambda experiment, engine: Result(
    experiment, kept["raw"], kept["commands"], kept["provenance"]
)
"""


def pinged(delay, loss):
    return nl.Experiment(nl.wan("100mbit", delay, loss, pairs=1), nl.Ping("h1", "h2", count=1))


def start(folder, program, *arguments):
    """A process of Dask's on loopback."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *arguments]
    with open(folder / f"{program}.log", "ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)


class Watch(threading.Thread):
    """Notes every so often how many results have come, and what processes take. [MB]"""

    def __init__(self, pids, folder):
        super().__init__(daemon=True)
        self.pids, self.folder, self.seen, self.ended = pids, folder, [], threading.Event()

    def run(self):
        while not self.ended.wait(EVERY_S):
            taken = [psutil.Process(pid).memory_info().rss / 1e6 for pid in self.pids]
            done = sum(1 for _ in self.folder.glob("*.json.xz"))
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
    processes = [
        start(tmp_path, "scheduler", "--host", "127.0.0.1", "--port", "28786", "--no-dashboard")
    ]
    (tmp_path / "kept").write_bytes(recorded.packed(nl.run(pinged("1ms", "0.0%"))))
    (tmp_path / "stand_in.py").write_text(STAND_IN if "STAND_IN" in os.environ else "")
    look = (
        "--preload",
        "stand_in.py",
        "--nthreads",
        "1",
        "--no-dashboard",
        "--local-directory",
        str(tmp_path / "dask"),
    )
    try:
        for _ in range(2):
            processes.append(
                start(tmp_path, "worker", "tcp://127.0.0.1:28786", "--no-nanny", *look)
            )
        with distributed.Client("tcp://127.0.0.1:28786", timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            watch = Watch([os.getpid(), processes[0].pid], tmp_path / "sweeps")

            def kill():
                while len(written) < KILLED_AT * RUNS and not watch.ended.wait(0.1):
                    pass
                processes[1].kill()
                print(f"killed a worker after {len(written)} runs", flush=True)
                processes.append(
                    start(tmp_path, "worker", "tcp://127.0.0.1:28786", "--no-nanny", *look)
                )

            killer = threading.Thread(target=kill, daemon=True)
            watch.start(), killer.start()
            began_s = time.monotonic()
            seeds = range(RUNS // len(DELAYS) // len(LOSSES))
            frame = nl.sweep(pinged, delay=DELAYS, loss=LOSSES, seeds=seeds, executor=client)
            took_s = time.monotonic() - began_s
            watch.ended.set()
            killer.join()
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
    print(f"{len(frame)} runs in {took_s:.0f} s")
    assert len(frame) == len(written) == RUNS and {*written.values()} == {1}
    assert not frame.duplicated(["delay", "loss", "seed"]).any() and "error" not in frame
    some = frame.sample(0 if "STAND_IN" in os.environ else 10, random_state=1)
    for row in some.itertuples():
        assert nl.run(pinged(row.delay, row.loss), seed=row.seed).pings.rtt_s[0] == row.rtt_s
    assert processes[1].returncode == -9
