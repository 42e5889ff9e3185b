"""Files are whole or absent, what netlab did not make stays, and evidence is kept."""

import os
import signal
import time
from types import SimpleNamespace

import nbformat
import pytest

import netlab as nl
from netlab.cli import notebook_file
from netlab.engines import cache, evidence, files
from netlab.engines.guest import store
from netlab.running.unfinished import UnfinishedSweep
from tests.cli.test_outputs import full_disk

FOREIGN = (  # names that begin as netlab's do
    *("kernel-6.1", "kernel-0123456789abc", "rootfs-old", "jail-notes", "jail-python-mine"),
    *("making-of", "making-a-film-1", "sweeps/thesis.zip", "evidence/photo.jpg"),
)


def fill(folder, names=FOREIGN):
    for name in names:
        place = folder / name if "/" in name else folder / name / "file"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("mine")
        for path in (place, place.parent):
            os.utime(path, (0, 0))


def mine(folder):
    return sum(path.read_text() == "mine" for path in folder.rglob("*") if path.is_file())


NAMED_ALIKE = (  # by a student: what netlab would remove from a cache of its own
    "sweeps/0123456789abcdef-guest.zip",
    *(f"evidence/20260101-0000{number:02d}-photo.jpg" for number in range(60)),
    "making-pictures/file",
    "kernel-0123456789ab/file",
)


@pytest.mark.parametrize("names", [FOREIGN, NAMED_ALIKE, ["engine.json/mine"], ["lock/mine"]])
@pytest.mark.parametrize("tag", [None, "# made by another program\n"])
def test_a_folder_without_netlabs_tag_is_not_netlabs(tag, names, elsewhere):
    fill(elsewhere, names)
    if tag:
        (elsewhere / cache.TAG).write_text(cache.TAG_TEXT.splitlines(True)[0] + tag)
    before = sorted(elsewhere.rglob("*"))
    for use in (store.remove, lambda: store.work_folder().__enter__()):
        with pytest.raises(nl.EngineError, match="other things"):
            use()
    assert "other things" in evidence.save("guest", {"a": "text"})[0]
    UnfinishedSweep(SimpleNamespace(name="guest", digest="0"))
    assert sorted(elsewhere.rglob("*")) == before and mine(elsewhere) == len(names)


def test_names_that_netlab_does_not_make_stay_and_the_fifty_newest_of_evidence(elsewhere):
    assert cache.own_cache() == elsewhere and (elsewhere / cache.TAG).is_file()
    fill(elsewhere)
    for name in ("kernel", "rootfs"):
        (elsewhere / f"{name}-0123456789ab").mkdir()
    for number in range(60):
        _, newest = evidence.save("guest", {"console": "text"})
        os.utime(newest, (number, number))
    kept = [path for path in (elsewhere / "evidence").iterdir() if path.is_dir()]
    assert len(kept) == 50 and newest in kept
    store.remove()
    UnfinishedSweep(SimpleNamespace(name="guest", digest="0"))
    assert mine(elsewhere) == len(FOREIGN) and not (elsewhere / "kernel-0123456789ab").exists()


def test_the_mode_is_the_umasks_or_that_of_the_old_file(tmp_path):
    before = os.umask(0o027)
    try:
        files.write(tmp_path / "a", "one")
        (tmp_path / "a").chmod(0o604)
        files.write(tmp_path / "a", "two")
        files.write(tmp_path / "b", "one")
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in "ab"]
    assert modes == [0o604, 0o640] and (tmp_path / "a").read_text() == "two"


def test_whatever_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), files.replacing(path) as file:
        file.write(b"new")
        _ = 1 / 0
    with pytest.raises(nl.NetlabError, match=r"-o .*file cannot be written"), full_disk():
        files.write(path, "new" * 1000, "-o")
    assert path.read_text() == "old" and [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_full_disk_leaves_a_notebook_as_it_was(tmp_path):
    path = tmp_path / "nb.ipynb"
    notebook_file.write(nbformat.v4.new_notebook(), path)
    before = path.read_bytes()
    link = tmp_path / "link.ipynb"
    link.symlink_to(path)
    with pytest.raises(nl.NetlabError, match=r"nb\.ipynb cannot be written"), full_disk():
        notebook_file.write(nbformat.v4.new_notebook(), link)
    assert path.read_bytes() == before
    notebook_file.write(nbformat.v4.new_notebook(), link)
    assert link.is_symlink()


def test_only_what_is_old_and_has_the_name_is_pruned(tmp_path):
    for name, age_s in (("aa", 100), ("bb", 5), ("other", 100)):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    files.prune(tmp_path, "[a-z]{2}", older_s=50)
    assert {path.name for path in tmp_path.iterdir()} == {"bb", "other"}


def test_evidence_is_kept_to_the_byte_or_not_at_all(elsewhere):
    cache.own_cache()
    with full_disk():
        said, place = evidence.save("run", {"short": "x", "long": "x" * 200})
    assert said.startswith(f"It could not be kept in {elsewhere / 'evidence'}")
    assert said.endswith(": File too large") and place is None
    assert list((elsewhere / "evidence").iterdir()) == []
    said, place = evidence.save("run", {"a.txt": "naïve \ud800", "b": b"\0\xff"})
    assert said == f"Everything it left is in {place}"
    assert (place / "b").read_bytes() == b"\0\xff"
    assert (place / "a.txt").read_text() == "naïve \\ud800"


def test_a_cache_that_cannot_be_written_does_not_hide_why_the_guest_died(elsewhere):
    with pytest.MonkeyPatch.context() as outside:
        outside.delenv("NETLAB_CACHE")
        engine = nl.engines.pick("guest")
    elsewhere.write_text("a file, and no folder")
    net = nl.Network(nl.wan("100mbit", "20ms", pairs=1), engine=engine)
    os.killpg(net._connection.process.pid, signal.SIGKILL)
    with pytest.raises(nl.GuestError, match=r"the guest died") as died:
        net.run("h1", "true")
    assert f"It could not be kept in {elsewhere}" in str(died.value)
    assert "Not a directory" in str(died.value) and died.value.evidence is None


def test_of_what_is_too_long_the_end_is_kept(elsewhere, monkeypatch):
    monkeypatch.setattr(evidence, "MOST_BYTES", 1000)
    files = {"small": "s" * 100, "large": "a" * 5000 + "z", "other": b"b" * 3000, "fits": "f" * 300}
    _, place = evidence.save("run", files)
    kept = {name: (place / name).read_text() for name in files}
    assert kept["small"] == files["small"] and kept["fits"] == files["fits"]
    assert kept["large"].startswith("(4") and kept["large"].endswith("aaaz")
    assert "bytes before this are left out" in kept["other"]
    assert sum(map(len, kept.values())) < 1000 + 2 * 50
