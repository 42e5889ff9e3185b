import pytest

from netlab import EngineError
from netlab.engines.guest import build, store


def test_a_missing_tool_is_named_with_its_package(monkeypatch):
    monkeypatch.setattr(
        build.shutil, "which", lambda tool: None if tool == "flex" else "/usr/bin/" + tool
    )
    with pytest.raises(
        EngineError, match=r"needs flex: `sudo apt-get install flex`.*netlab engine import"
    ):
        build.build()


def test_a_full_disk_is_refused_before_anything_is_fetched(monkeypatch, tmp_path):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(build, "FREE_BYTES", 1 << 60)
    with pytest.raises(EngineError, match=r"MB free; building needs.*NETLAB_CACHE"):
        build.build()
    assert not list(tmp_path.glob("building-*"))


def test_a_step_that_fails_shows_the_end_of_its_output():
    with pytest.raises(EngineError, match=r"Trial failed \(status 7\).*\n.*the reason"):
        build.step("Trial", ["sh", "-c", "echo the reason; exit 7"])


def test_the_recipe_covers_every_file_the_build_reads():
    names = {path.name for path in store.RECIPE}
    assert {"config", "rootfs.txt", "shim.c", "netlab-line.patch"} <= names
