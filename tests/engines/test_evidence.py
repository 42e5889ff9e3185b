"""What a failed run left is kept, or a sentence says why not; the run's own error stays."""

import contextlib
import os
import resource
import signal

import pytest

import netlab as nl
from netlab.engines import evidence


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@contextlib.contextmanager
def full_disk():
    """No file may get longer than 100 bytes: the log that pytest itself writes, neither."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_it_is_kept_to_the_byte(cache):
    said = evidence.save("today-1", {"a.txt": "naïve \ud800", "b": b"\0\xff"})
    place = cache / "evidence" / "today-1"
    assert said == f"Everything it left is in {place}" and evidence.folder("today-1") == place
    assert (place / "b").read_bytes() == b"\0\xff"
    assert (place / "a.txt").read_text() == "naïve \\ud800"


def test_a_full_disk_is_said_and_nothing_half_is_left(cache):
    with full_disk():
        said = evidence.save("today-1", {"short": "x", "long": "x" * 200})
    assert said == f"It could not be kept in {cache / 'evidence' / 'today-1'}: File too large"
    assert not (cache / "evidence" / "today-1").exists()


def test_earlier_evidence_of_this_name_is_not_touched(cache):
    evidence.save("today-1", {"a": "first"})
    assert "could not be kept" in evidence.save("today-1", {"a": "second"})
    assert (cache / "evidence" / "today-1" / "a").read_text() == "first"


def test_a_cache_that_cannot_be_written_does_not_hide_why_the_guest_died(cache):
    with pytest.MonkeyPatch.context() as outside:
        outside.delenv("NETLAB_CACHE")
        engine = nl.engines.pick("guest")
    cache.write_text("a file, and no folder")
    net = nl.Network(nl.wan("100mbit", "20ms"), engine=engine)
    os.killpg(net._agent.process.pid, signal.SIGKILL)
    with pytest.raises(nl.GuestError, match=r"the guest died") as died:
        net.run("h1", "true")
    assert f"It could not be kept in {cache}" in str(died.value)
    assert "Not a directory" in str(died.value) and died.value.evidence is None


def test_of_what_is_too_long_the_end_is_kept(cache, monkeypatch):
    monkeypatch.setattr(evidence, "MOST_BYTES", 1000)
    files = {"small": "s" * 100, "large": "a" * 5000 + "z", "other": b"b" * 3000, "fits": "f" * 300}
    evidence.save("today-1", files)
    place = cache / "evidence" / "today-1"
    kept = {name: (place / name).read_text() for name in files}
    assert kept["small"] == files["small"] and kept["fits"] == files["fits"]
    assert kept["large"].startswith("(4") and kept["large"].endswith("aaaz")
    assert "bytes before this are left out" in kept["other"]
    assert sum(map(len, kept.values())) < 1000 + 2 * 50
