import os
import shutil

import pytest

from netlab import EngineError
from netlab.engines.cache import TAG, TAG_TEXT
from netlab.engines.guest import store
from netlab.engines.guest.integrity import tree_digest


def test_the_work_folder_leaves_nothing_half_made(tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    with pytest.raises(KeyboardInterrupt), store.work_folder() as folder:
        (folder / "half").mkdir()
        raise KeyboardInterrupt
    assert {path.name for path in tmp_path.iterdir()} == {"CACHEDIR.TAG", "lock"}
    (tmp_path / "making-killed_0").mkdir()  # as kill -9 leaves it
    with store.work_folder():
        assert not (tmp_path / "making-killed_0").exists()


def test_an_installed_part_replaces_one_that_is_not_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    for text, old in (("new", "damaged"), ("new", "new")):
        with store.work_folder() as folder:
            (folder / "part").mkdir()
            (folder / "part" / "file").write_text(text)
            shutil.rmtree(tmp_path / "rootfs-1", ignore_errors=True)
            (tmp_path / "rootfs-1").mkdir()
            (tmp_path / "rootfs-1" / "file").write_text(old)
            inode = (tmp_path / "rootfs-1" / "file").stat().st_ino
            place = store.install(folder / "part", "rootfs-1", tree_digest)
        assert place == tmp_path / "rootfs-1" and (place / "file").read_text() == "new"
        assert ((place / "file").stat().st_ino == inode) == (old == text)
    assert {path.name for path in tmp_path.iterdir()} == {"CACHEDIR.TAG", "lock", "rootfs-1"}


def test_a_cache_that_cannot_be_made_is_an_error_in_words(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(EngineError, match=r"Not a directory.*NETLAB_CACHE"), store.work_folder():
        pass


def test_a_damaged_engine_can_be_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    (tmp_path / TAG).write_text(TAG_TEXT)
    for name in ("kernel-0123456789ab", "rootfs-0123456789ab", "engine.json"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("")
    (tmp_path / "engine.stamp").symlink_to("nowhere")
    store.remove()
    assert {path.name for path in tmp_path.iterdir()} == {"CACHEDIR.TAG", "lock"}


def test_a_tree_digest_sees_paths_modes_links_and_contents(tmp_path):
    def digest():
        return tree_digest(tmp_path)

    seen = {digest()}
    (tmp_path / "file").write_text("one")
    seen.add(digest())
    (tmp_path / "file").write_text("two")
    seen.add(digest())
    (tmp_path / "file").chmod(0o755)
    seen.add(digest())
    (tmp_path / "link").symlink_to("file")
    seen.add(digest())
    os.utime(tmp_path / "file", (0, 0))
    assert digest() in seen and len(seen) == 5


def test_the_cache_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("NETLAB_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.cache_folder() == tmp_path / "netlab"
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "mine"))
    assert store.cache_folder() == tmp_path / "mine"
