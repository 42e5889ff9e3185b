import signal

from netlab.engines.guest import host_checks


def test_a_trial_that_cannot_be_undone_happens_in_a_child():
    assert host_checks.in_child(lambda: 3) == 3
    assert host_checks.in_child(host_checks.seccomp_trap) == -signal.SIGSYS


def test_a_container_s_memory_limit_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("268435456\n")
    monkeypatch.setattr(host_checks, "CGROUP_LIMITS", (str(tmp_path / "memory.max"),))
    assert host_checks.memory_limit_bytes() == 268435456
