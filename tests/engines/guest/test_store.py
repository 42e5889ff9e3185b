import json
import os

import pytest

from netlab import EngineError
from netlab.engines.guest import store


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "engine.tar.gz"
    store.export(path)
    return path


def test_an_exported_engine_is_the_same_engine_elsewhere(exported, tmp_path, monkeypatch):
    here = store.current()
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "elsewhere"))
    with pytest.raises(
        EngineError, match=r"no engine in .*netlab engine build.*netlab engine import"
    ):
        store.current()
    there = store.import_file(exported)
    assert there.digest == here.digest and there.about == here.about
    assert there.linux.is_relative_to(tmp_path) and os.access(there.linux, os.X_OK)
    assert {path.name.split("-")[0] for path in (tmp_path / "elsewhere").iterdir()} == {
        "engine.json",
        "kernel",
        "rootfs",
        "lock",
    }
    store.remove()
    assert {path.name for path in (tmp_path / "elsewhere").iterdir()} == {"lock"}


def test_an_altered_engine_is_refused(exported, tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "elsewhere"))
    (tmp_path / "opened").mkdir()
    store.tar("--extract", "--file", exported, "--directory", tmp_path / "opened")
    (root,) = (tmp_path / "opened").glob("rootfs-*")
    (root / "etc/hostname").write_text("mallory\n")
    store.tar(
        "--create",
        "--file",
        tmp_path / "altered.tar",
        "--directory",
        tmp_path / "opened",
        *(part.name for part in (tmp_path / "opened").iterdir()),
    )
    with pytest.raises(EngineError, match="altered or damaged"):
        store.import_file(tmp_path / "altered.tar")
    with pytest.raises(EngineError, match="no engine"):
        store.current()


def test_a_cut_off_or_foreign_file_is_refused(exported, tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "elsewhere"))
    (tmp_path / "cut").write_bytes(exported.read_bytes()[:1_000_000])
    (tmp_path / "foreign").write_text("hello")
    for name in ("cut", "foreign"):
        with pytest.raises(EngineError, match="not an engine"):
            store.import_file(tmp_path / name)
    assert not list((tmp_path / "elsewhere").glob("building-*"))


def test_an_engine_of_another_recipe_is_refused(tmp_path, monkeypatch):
    record = json.loads((store.cache_folder() / "engine.json").read_text()) | {"recipe": "0" * 12}
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    (tmp_path / "engine.json").write_text(json.dumps(record))
    with pytest.raises(EngineError, match="another version of netlab"):
        store.current()


def test_the_workshop_leaves_nothing_half_made(tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    with pytest.raises(KeyboardInterrupt), store.workshop() as folder:
        (folder / "half").mkdir()
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
    (tmp_path / "building-killed").mkdir()  # as kill -9 leaves it
    with store.workshop():
        assert not (tmp_path / "building-killed").exists()


def test_a_tree_digest_sees_paths_modes_links_and_contents(tmp_path):
    def digest():
        return store.tree_digest(tmp_path)

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
