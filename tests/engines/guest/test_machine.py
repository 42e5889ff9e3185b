import signal

from netlab.engines.guest import machine


def test_a_trial_that_cannot_be_undone_happens_in_a_child():
    assert machine.in_child(lambda: 3) == 3
    assert machine.in_child(machine.seccomp_trap) == -signal.SIGSYS


def test_a_container_s_memory_limit_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("268435456\n")
    monkeypatch.setattr(machine, "CGROUP_LIMITS", (str(tmp_path / "memory.max"),))
    assert machine.memory_limit_bytes() == 268435456
