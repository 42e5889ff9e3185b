"""What of a machine guests may take, and what they may not."""

import signal

import pytest

import netlab as nl
from netlab.engines.guest import host_checks, machine
from netlab.errors import LimitError

# Each page that is only read is the guest's page of zeros, and a mapping of its own on the host.
TOUCH = """
import mmap, os, time
private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
for _ in range(15):
    if not os.fork():
        pages = mmap.mmap(-1, 20_000 * 4096, flags=private)
        for page in range(20_000):
            pages[page * 4096]
        time.sleep(1000)
time.sleep(1000)
"""


@pytest.mark.long
def test_pages_of_zeros_do_not_fill_the_hosts_memory(monkeypatch):
    monkeypatch.setattr(machine, "MOST_MAPPINGS", 100_000)
    with pytest.raises(LimitError, match="pieces of memory"):
        nl.run(
            nl.wan("10mbit", "20ms", pairs=1), nl.Shell("h1", f"python3 -c '{TOUCH}'", time=1000)
        )


def test_processes_are_counted_whatever_the_guest_allows(monkeypatch):
    monkeypatch.setattr(machine, "MOST_PROCESSES", 100)
    forks = "for n in $(seq 150); do sleep 1000 & done; wait"
    with pytest.raises(LimitError, match="100 are allowed"):
        nl.run(nl.wan("10mbit", "20ms", pairs=1), nl.Shell("h1", forks, time=1000))


def test_many_small_processes_are_no_harm():
    forks = "for n in $(seq 150); do sleep 2 & done; wait; echo all"
    run = nl.run(nl.wan("10mbit", "20ms", pairs=1), nl.Shell("h1", forks, time=5))
    assert "all" in run.raw["1-shell-h1"]


def test_a_trial_that_cannot_be_undone_happens_in_a_child():
    assert host_checks.in_child(lambda: 3) == 3
    assert host_checks.in_child(host_checks.seccomp_trap) == -signal.SIGSYS


LIMITS = {
    "version 1": {
        "memory/memory.limit_in_bytes": f"{1 << 62}",
        "memory/slurm/job_7/memory.limit_in_bytes": f"{300 << 20}",
        "memory/slurm/job_7/step_0/memory.limit_in_bytes": f"{1 << 62}",
        "cpu/slurm/job_7/cpu.cfs_quota_us": "100000",
        "cpu/slurm/job_7/cpu.cfs_period_us": "100000",
        "cpu/slurm/job_7/step_0/cpu.cfs_quota_us": "-1",
        "cpu/slurm/job_7/step_0/cpu.cfs_period_us": "100000",
        "own": "5:memory:/slurm/job_7/step_0\n4:cpu,cpuacct:/slurm/job_7/step_0\n0::/\n",
    },
    "version 2": {
        "slurm/job_7/memory.max": f"{300 << 20}\n",
        "slurm/job_7/step_0/memory.max": "max\n",
        "slurm/job_7/cpu.max": "100000 100000\n",
        "slurm/job_7/step_0/cpu.max": "max 100000\n",
        "slurm/job_8/memory.max": "1000\n",  # somebody else's
        "own": "0::/slurm/job_7/step_0\n",
    },
    "container": {
        "memory.max": f"{300 << 20}\n",
        "cpu.max": "100000 100000\n",
        "own": "0::/../not/to/be/seen\n",
    },
}


@pytest.mark.parametrize("files", LIMITS.values(), ids=LIMITS)
def test_the_limits_of_a_container_or_job_count(files, monkeypatch, tmp_path):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(host_checks, "CGROUPS", tmp_path)
    monkeypatch.setattr(host_checks, "OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr(host_checks.os, "sched_getaffinity", lambda _: {*range(64)})
    monkeypatch.delenv("MEM_LIMIT", raising=False)
    assert host_checks.memory_limit_bytes() == 300 << 20
    assert host_checks.guests_at_once() == 1
    monkeypatch.setattr(host_checks, "memory_limit_bytes", lambda: 1 << 40)
    assert host_checks.guests_at_once() == 1, "by the quota of CPUs alone"
