import signal

from netlab.engines.guest import doctor


def test_this_machine_runs_the_guest():
    findings = [*doctor.machine(), *doctor.engine()]
    assert [finding for finding in findings if finding.state == "FAIL"] == []
    assert {"processor", "kernel", "seccomp filters", "memory file", "engine", "reference run"} <= {
        finding.name for finding in findings
    }


def test_a_trial_that_cannot_be_undone_happens_in_a_child():
    assert doctor.in_child(lambda: 3) == 3
    assert doctor.in_child(doctor.seccomp_trap) == -signal.SIGSYS


def test_a_machine_without_an_engine_is_told_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    (finding,) = doctor.engine()
    assert finding.state == "FAIL" and "netlab engine build" in finding.text


def test_a_container_s_memory_limit_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("268435456\n")
    monkeypatch.setattr(doctor, "CGROUP_LIMITS", (str(tmp_path / "memory.max"),))
    assert doctor.memory_limit_bytes() == 268435456
