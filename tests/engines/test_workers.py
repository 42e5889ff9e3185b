"""Processes that do a job each. What they import is in tests/test_working_directory.py."""

import os
import subprocess
import sys
import threading

import pytest

from netlab.engines.workers import Workers, at_limit


def test_a_process_that_starts_during_a_stop_is_ended_too(monkeypatch):
    workers, start = Workers("netlab.course.grading.worker", 20), subprocess.Popen
    stops = []

    def stopped_meanwhile(*arguments, **named):
        stops.append(threading.Thread(target=workers.stop))
        stops[0].start()
        stops[0].join(0.2)  # it ends all that have begun, or waits for this one
        return start(["sleep", "100"], **named)

    monkeypatch.setattr(subprocess, "Popen", stopped_meanwhile)
    assert workers.work_on({}).startswith("status -9")
    stops[0].join()
    assert workers.work_on({}) == "it was stopped"


def test_a_process_that_ends_without_reading_its_job_says_why():
    found = Workers("netlab.there_is_none", 20).work_on({"text": "x" * 1_000_000})
    assert found.startswith("status 1") and "No module named" in found


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A function: a module whose jobs are these lines, for `Workers`."""

    def make(*lines):
        head = "import os, sys\nfrom netlab.engines import workers\ndef do(job):"
        text = "\n    ".join([head, *lines])
        (tmp_path / "netlab_job.py").write_text(f"{text}\nworkers.serve(do)")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        return "netlab_job"

    return make


def test_each_job_is_a_fork_of_its_own_and_all_end_with_the_last(module):
    workers = Workers(module("sys.exit(f'{os.getpid()} {os.getppid()} {job}')"), 20)
    told = [workers.work_on({"number": number}).split() for number in range(2)]
    assert [one[-1] for one in told] == ["0}", "1}"]
    assert told[0][2] != told[1][2] and told[0][3] == told[1][3]
    workers.stop()
    assert not os.path.exists(f"/proc/{told[0][3]}")


@pytest.mark.parametrize(
    "line", ["bytearray(5 << 30)", "import numpy; numpy.zeros(5 << 30)", "raise MemoryError('x')"]
)
def test_memory_has_a_limit_that_is_told(module, line):
    found = Workers(module(line), 20).work_on({})
    assert found.splitlines()[-1] == "it took more than 4 GB" and at_limit(found)


def test_what_takes_too_long_is_ended_at_a_limit(module):
    assert at_limit(Workers(module("import time; time.sleep(60)"), 0.5).work_on({}))
    assert not at_limit(Workers(module("raise ValueError('MemoryError')"), 20).work_on({}))


def test_only_the_end_of_what_a_process_says_is_kept(module):
    line = "for n in range(100_000): print(n, file=sys.stderr)"
    found = Workers(module(line, "sys.exit(3)"), 60).work_on({})
    assert found.startswith("status 3") and found.endswith("\n99999") and len(found) < 2100


def test_a_lower_limit_of_its_caller_stays():
    """As `ulimit -v` of a job on a cluster, which nobody may raise."""
    code = (
        "import resource; from netlab.engines.workers import Workers, limited_memory;"
        " resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30));"
        " print(Workers('netlab.there_is_none', 20).work_on({}))\n"
        "with limited_memory(): print(resource.getrlimit(resource.RLIMIT_AS))"
    )
    # root may raise it, unless it has no such right
    alone = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []
    command = [*alone, sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "No module named" in done.stdout and f"{(3 << 30, 3 << 30)}" in done.stdout, done.stderr
