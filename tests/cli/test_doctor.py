import json

import pytest

from netlab import EngineError
from netlab.cli import doctor
from netlab.engines import recorded
from netlab.engines.guest import GuestEngine


def test_this_machine_runs_the_guest():
    findings = list(doctor.findings())
    assert [finding for finding in findings if finding.state == "FAIL"] == []
    assert {"processor", "kernel", "engine", "reference run"} <= {
        finding.name for finding in findings
    }


def test_a_machine_without_an_engine_is_told_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    (finding,) = doctor.engine()
    assert finding.state == "FAIL" and "netlab engine build" in finding.text


def test_an_engine_that_is_damaged_is_told_so(monkeypatch, tmp_path):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    for text in ("", "{}", "null", "[]"):
        (tmp_path / "engine.json").write_text(text)
        (finding,) = doctor.engine()
        assert finding.state == "FAIL" and "netlab engine import FILE" in finding.text


def test_numbers_that_are_not_the_published_ones_are_noticed(monkeypatch, tmp_path):
    engine = GuestEngine()
    (tmp_path / "reference.json").write_text(json.dumps({engine.digest: "0000"}))
    monkeypatch.setattr(recorded, "PUBLISHED", tmp_path / "reference.json")
    finding = list(doctor.engine())[-1]
    assert finding.state == "note" and "not the published ones (0000)" in finding.text


@pytest.mark.long
def test_an_engine_is_put_in_use_only_where_its_numbers_are_the_published_ones(
    monkeypatch, tmp_path
):
    build = GuestEngine().build
    doctor.refuse_other_numbers(build)
    (tmp_path / "reference.json").write_text(json.dumps({build.digest: "0000"}))
    monkeypatch.setattr(recorded, "PUBLISHED", tmp_path / "reference.json")
    with pytest.raises(EngineError, match=r"other bytes .* than that \(0000\)"):
        doctor.refuse_other_numbers(build)
    (tmp_path / "reference.json").write_text("{}")
    doctor.refuse_other_numbers(build)
