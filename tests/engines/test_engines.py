"""Which engine is taken, and what is said of those that are not."""

import os
import subprocess

import pytest
from typer.testing import CliRunner

import netlab as nl
from netlab import engines
from netlab.cli import doctor
from netlab.cli.commands import app
from netlab.engines import mininet
from netlab.engines.base import Finding
from netlab.engines.guest import GuestEngine, host_checks
from netlab.engines.recorded import RecordedEngine

NAMES = ["guest", "mininet", "recorded"]


def kinds(**reasons):
    """Engines of which those with a reason do not work."""

    def kind(name):
        def start(self):
            if reason := reasons.get(name):
                raise nl.EngineError(reason)

        said = {"__repr__": lambda self: f"<{name} fake>", "refusal": lambda self: ""}
        return type(name, (), {"name": name, "__init__": start} | said)

    return {name: kind(name) for name in NAMES}


def untried(self):
    pytest.fail("it was tried")


@pytest.mark.parametrize("first", [0, 1, 2])
def test_the_first_that_works_is_taken_and_a_line_says_why_not_the_guest(
    first, monkeypatch, capsys
):
    monkeypatch.setattr("os.geteuid", lambda: 0)  # else Mininet is not even asked
    reasons = {name: f"{name} is away.\nHere is how to get {name}." for name in NAMES[:first]}
    later = {name: type(name, (), {"__init__": untried}) for name in NAMES[first + 1 :]}
    monkeypatch.setattr(engines, "ENGINES", kinds(**reasons) | later)
    assert (chosen := engines.pick()).name == NAMES[first]
    if NAMES[first] == "recorded":  # its line comes with the results
        assert chosen.why == ", as guest: guest is away." and capsys.readouterr().out == ""
    else:
        assert capsys.readouterr().out == (
            f"netlab takes <{NAMES[first]} fake>, as guest: guest is away.\n" if first else ""
        )


def test_a_guest_that_this_machine_cannot_run_is_passed_over(monkeypatch, capsys):
    """As on Binder, where an image's engine was built on one machine and starts on another."""
    checks = [Finding("ok", "processor", "x86_64"), Finding("FAIL", "seccomp filters", "refused")]
    host_checks.refusal.cache_clear()
    monkeypatch.setattr(host_checks, "findings", lambda: iter(checks))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    try:
        chosen = engines.pick()
        assert engines.pick("guest").name == "guest", "named, it is tried all the same"
    finally:
        host_checks.refusal.cache_clear()
    assert chosen.name == "recorded" and "seccomp filters: refused" in chosen.why


def test_where_none_works_every_reason_is_named(monkeypatch, capsys):
    monkeypatch.setattr("os.geteuid", lambda: 0)  # else Mininet is not even asked
    reasons = dict(guest="no kernel", mininet="no root", recorded="no files")
    monkeypatch.setattr(engines, "ENGINES", kinds(**reasons))
    with pytest.raises(nl.EngineError, match="guest: no kernel\nmininet: no root\nrecorded: no fi"):
        nl.run(nl.wan(), nl.Ping("h1", "h2"))
    assert capsys.readouterr().out == ""


def test_another_error_than_that_it_does_not_work_is_not_passed_over(monkeypatch):
    monkeypatch.setattr(engines, "ENGINES", {"guest": lambda: 1 / 0})
    with pytest.raises(ZeroDivisionError):
        engines.pick()


def test_one_asked_for_by_name_is_that_one_or_an_error(monkeypatch, capsys):
    monkeypatch.delenv("NETLAB_RECORD", raising=False)
    monkeypatch.setattr(engines, "ENGINES", kinds(mininet="no root"))
    assert engines.pick("recorded").name == "recorded"
    with pytest.raises(nl.EngineError, match=r"^no root$"):
        engines.pick("mininet")
    with pytest.raises(nl.SpecificationError, match=r"engine = 'ns3': one of guest, mininet, rec"):
        engines.pick("ns3")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "instead"),
    [("tcp://lab:7000", "ssh://HOST"), ("tcp://", "ssh://HOST"), ("vm", "exec:COMMAND")],
)
def test_what_an_earlier_netlab_had_is_named_with_what_there_is_instead(name, instead, monkeypatch):
    with pytest.raises(nl.SpecificationError, match=rf"was dropped.*{instead}.*docs/guide\.md"):
        engines.pick(name)
    monkeypatch.setenv("NETLAB_ENGINE", name)
    with pytest.raises(nl.SpecificationError, match=rf"was dropped.*{instead}.*docs/guide\.md"):
        engines.pick()


@pytest.mark.parametrize("name", ["NETLAB_TOKEN", "NETLAB_SLOWER"])
def test_a_variable_that_an_earlier_netlab_read_is_not_passed_over(name, monkeypatch):
    monkeypatch.setenv(name, "40")
    with pytest.raises(nl.SpecificationError, match=rf"{name} was dropped.*Remove the variable"):
        engines.pick("guest")


@pytest.fixture
def student(monkeypatch):
    """Somebody who is not root, where the guest does not work."""
    away = {"guest": kinds(guest="it is away")["guest"]}
    monkeypatch.setattr(engines, "ENGINES", engines.ENGINES | away)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    mininet.survey.cache_clear()
    yield
    mininet.survey.cache_clear()


def test_nobody_is_made_root_who_did_not_ask(student, monkeypatch, tmp_path):
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: pytest.fail(f"{command} ran"))
    assert engines.pick().name == "recorded"
    assert "sudo" in doctor.mininet().text
    monkeypatch.setenv("NETLAB_RECORDS", str(tmp_path))
    with pytest.raises(nl.EngineError, match=r"mininet: it runs as root.*engine=\"mininet\""):
        engines.pick()


def test_what_a_stranger_wrote_goes_to_mininet_only_by_name(monkeypatch, capsys):
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(engines, "ENGINES", kinds(guest="it is away"))
    assert engines.pick().name == "mininet"
    assert engines.pick_jailed().name == "recorded"
    assert engines.pick_jailed("mininet").name == "mininet"
    monkeypatch.setenv("NETLAB_ENGINE", "mininet")
    assert engines.pick_jailed().name == "mininet"


def test_a_stranger_s_experiment_is_not_run_as_root(monkeypatch, tmp_path):
    """`netlab run FILE`, where only Mininet works."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    only = kinds(guest="it is away") | {"mininet": type("mininet", (), {"__init__": untried})}
    monkeypatch.setattr(engines, "ENGINES", only | {"recorded": RecordedEngine})
    monkeypatch.setenv("NETLAB_RECORDS", str(tmp_path))
    experiment = tmp_path / "experiment.json"
    experiment.write_text(nl.Experiment(nl.wan(), nl.Shell("h1", "id", time=1)).to_json())
    command = ["run", str(experiment), "-o", str(tmp_path / "out")]
    refused = CliRunner().invoke(app, command)
    assert isinstance(refused.exception, nl.EngineError)


def test_who_asks_for_mininet_is_asked_for_root(student, monkeypatch):
    run = []

    def note(command, **_):
        run.append(command[0])
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "Popen", note)
    with pytest.raises(nl.EngineError, match="root: run as root"):
        engines.pick("mininet")
    assert "sudo" in run


def test_the_order_is_guest_mininet_recorded():
    kinds = (GuestEngine, mininet.MininetEngine, RecordedEngine)
    assert [kind.name for kind in kinds] == list(engines.ENGINES) == NAMES
