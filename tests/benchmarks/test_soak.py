"""What is rare, tried often: `make bench`; the test suite has shorter ones."""

import multiprocessing
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import netlab as nl
from tests import traced
from tests.engines.guest.test_process import survivors
from tests.test_repeats import SURROUNDINGS, in_another_process


def test_a_hundred_runs_have_the_same_events(tmp_path):
    """In all surroundings of tests/test_repeats.py by turns, half of them beside busy processes."""
    first = traced.trace(traced.experiment())
    differing = []
    for number in range(100):
        busy = [
            subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(os.cpu_count() * (number % 2))
        ]
        name, surroundings = random.Random(number).choice([*SURROUNDINGS.items()])
        try:
            again = in_another_process(tmp_path, "again", **surroundings)
        finally:
            for process in busy:
                process.kill()
                process.wait()
        if difference := traced.first_difference(first, again):
            differing.append((number, name, difference))
    print(f"\n100 runs, {sum(map(len, first.values()))} events each: {len(differing)} differ")
    assert not differing


def run_in(folder):
    os.environ["TMPDIR"] = folder
    nl.run(nl.wan(), nl.Iperf3("h1", "h2", parallel=8, time=60))


def test_a_thousand_kills_leave_nothing(tmp_path):
    """Of a process that starts a guest, or has one, each at a moment of its own."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    random.seed(1000)

    def killed(seconds):
        victim = context.Process(target=run_in, args=(str(tmp_path),))
        victim.start()
        time.sleep(seconds)
        victim.kill()
        victim.join()
        return victim.exitcode

    with ThreadPoolExecutor(2) as pool:
        codes = list(pool.map(killed, [random.uniform(0, 1.5) for _ in range(1000)]))
    left = survivors(tmp_path)
    print(f"\n1,000 kills: {len(left[0])} processes and {len(left[1])} folders left")
    assert all(codes), "none ended by itself"
    assert left == ([], [])


def test_a_day_of_simpleperf_takes_no_memory():
    """86,400 virtual seconds over 64 kbit/s; each hour, what both processes hold."""
    held = "; ".join(f"awk '/^{what}:/ {{print $2}}' $proc/status" for what in ("VmRSS", "Threads"))
    each = f"for proc in $(pgrep -f '^python3 - [-][sc]' | sed s,^,/proc/,); do {held};"
    look = f"{each} ls $proc/fd | wc -l; done | xargs"
    watch = nl.Shell("h1", f"for i in $(seq 24); do sleep 3590; {look}; done", time=86_400)
    path = nl.wan("64kbit", "20ms", burst=3000, limit=15_000, pairs=1)
    test = nl.Simpleperf("h1", "h2", time=86_400, interval=60, parallel=2)
    run = nl.run(path, test, watch)
    hours = [[*map(int, line.split())] for line in run.raw["2-shell-h1"].splitlines()]
    print(f"\n{run}\n{len(run.intervals)} intervals; server's and client's kB, threads, files:")
    print("\n".join(str(hour) for hour in hours))
    assert len(hours) == 24 and all(len(hour) == 6 for hour in hours)
    assert run.flows.received_bps[0] == pytest.approx(nl.models.goodput_bps(64e3), rel=0.03)
    settled = hours[1]  # by then all its code has run
    for column in (0, 3):
        assert max(hour[column] for hour in hours) - settled[column] <= 256, "no more than 256 kB"
    for column in (1, 2, 4, 5):
        assert {hour[column] for hour in hours[1:]} == {settled[column]}
