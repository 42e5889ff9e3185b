import json

import pytest

from netlab import EngineError
from netlab.cli import doctor
from netlab.engines import result_store
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


@pytest.fixture
def published(monkeypatch, tmp_path):
    """Makes this the published numbers; a reference run gives ffff."""
    monkeypatch.setattr(result_store, "PUBLISHED", tmp_path / "reference.json")
    monkeypatch.setattr(doctor, "reference_run", lambda engine: "ffff")
    return lambda numbers: result_store.PUBLISHED.write_text(json.dumps(numbers))


def test_numbers_that_are_not_the_published_ones_are_noticed(published):
    published({GuestEngine().digest: "0000"})
    finding = list(doctor.engine())[-1]
    assert finding.state == "note" and "(ffff) are not the published ones (0000)" in finding.text


def test_an_engine_is_put_in_use_only_where_its_numbers_are_the_published_ones(published):
    build = GuestEngine().build
    published({build.digest: "0000"})
    with pytest.raises(EngineError, match=r"other bytes .* than that \(0000\)"):
        doctor.refuse_other_numbers(build)
    for numbers in ({build.digest: "ffff"}, {}):
        published(numbers)
        doctor.refuse_other_numbers(build)


@pytest.mark.long
def test_an_engine_that_is_not_in_use_yet_runs_the_reference():
    doctor.refuse_other_numbers(GuestEngine().build)
