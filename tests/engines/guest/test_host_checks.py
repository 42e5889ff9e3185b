import signal

import pytest

from netlab.engines.guest import host_checks


def test_a_trial_that_cannot_be_undone_happens_in_a_child():
    assert host_checks.in_child(lambda: 3) == 3
    assert host_checks.in_child(host_checks.seccomp_trap) == -signal.SIGSYS


def version_1():
    yield from {
        "memory/memory.limit_in_bytes": f"{1 << 62}",
        "memory/slurm/job_7/memory.limit_in_bytes": f"{300 << 20}",
        "memory/slurm/job_7/step_0/memory.limit_in_bytes": f"{1 << 62}",
        "cpu/slurm/job_7/cpu.cfs_quota_us": "100000",
        "cpu/slurm/job_7/cpu.cfs_period_us": "100000",
        "cpu/slurm/job_7/step_0/cpu.cfs_quota_us": "-1",
        "cpu/slurm/job_7/step_0/cpu.cfs_period_us": "100000",
    }.items()
    yield "own", "5:memory:/slurm/job_7/step_0\n4:cpu,cpuacct:/slurm/job_7/step_0\n0::/\n"


def version_2():
    yield "slurm/job_7/memory.max", f"{300 << 20}\n"
    yield "slurm/job_7/step_0/memory.max", "max\n"
    yield "slurm/job_7/cpu.max", "100000 100000\n"
    yield "slurm/job_7/step_0/cpu.max", "max 100000\n"
    yield "slurm/job_8/memory.max", "1000\n"  # somebody else's
    yield "own", "0::/slurm/job_7/step_0\n"


def container():
    yield "memory.max", f"{300 << 20}\n"
    yield "cpu.max", "100000 100000\n"
    yield "own", "0::/../not/to/be/seen\n"


@pytest.mark.parametrize("files", [version_1, version_2, container])
def test_the_limits_of_a_container_or_job_count(files, monkeypatch, tmp_path):
    for name, text in files():
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
