import os
import re
import shutil
import subprocess

import pytest

from netlab import EngineError
from netlab.engines.guest import build, packages, rootfs, store
from netlab.engines.guest.integrity import tree_digest
from tests.engines.guest import archives


def test_a_missing_tool_is_named_with_its_package(monkeypatch):
    monkeypatch.setattr(build.shutil, "which", lambda tool: tool != "flex")
    with pytest.raises(EngineError, match=r"needs flex: `sudo apt-get install flex`.*import"):
        build.build()


def test_a_full_disk_is_refused_before_anything_is_fetched(monkeypatch, elsewhere):
    monkeypatch.setattr(build, "FREE_BYTES", 1 << 60)
    with pytest.raises(EngineError, match=r"MB free; building needs.*NETLAB_CACHE"):
        build.build()
    assert {path.name for path in elsewhere.iterdir()} == {"CACHEDIR.TAG", "lock"}


def test_a_step_that_fails_shows_the_end_of_its_output():
    with pytest.raises(EngineError, match=r"Trial failed \(status 7\).*\n.*the reason"):
        packages.step("Trial", ["sh", "-c", "echo the reason; exit 7"])


def test_the_recipe_covers_every_file_the_build_reads(tmp_path, monkeypatch):
    names = {path.name for path in store.RECIPE}
    assert {"config", "engine.lock", "rootfs.txt", "shim.c", "netlab-line.patch"} <= names
    before, changed = store.recipe_digest(), tmp_path / "engine.lock"
    changed.write_text(packages.LOCK.read_text() + " ")
    recipe = [changed if path == packages.LOCK else path for path in store.RECIPE]
    monkeypatch.setattr(store, "RECIPE", recipe)
    assert store.recipe_digest() != before


@pytest.fixture
def packed(tmp_path):
    """Two packages as Debian makes them: one has the links, the other files below them."""
    pool = tmp_path / "pool"
    tree = {
        "usr/bin/tool": "#!/bin/sh\n",
        "usr/share/doc/tool/changelog": "long",
        "usr/share/doc/tool/examples/one": "long",
        "usr/share/man/man1/tool.1": "long",
        "usr/share/common-licenses/GPL-2": "the licence",
        "var/lib/tool/state": "made by the build",
        "lib/tool/plugin": "below a link",
    }
    tool = archives.make_package(pool, "a-tool", **tree)
    base = tmp_path / "base"
    (base / "usr/lib").mkdir(parents=True)
    (base / "lib").symlink_to("usr/lib")
    (base / "DEBIAN").mkdir()
    (base / "DEBIAN").chmod(0o755)
    control = "Package: base-files\nVersion: 1\nArchitecture: all\nMaintainer: N <n@example.org>\n"
    (base / "DEBIAN/control").write_text(f"{control}Description: tiny\n")
    (base / "usr/share/doc/other").mkdir(parents=True)
    (base / "usr/share/doc/linked").symlink_to("a-tool")
    packages.step("Trial", ["dpkg-deb", "-b", base, tmp_path / "base-files_1_all.deb"])
    return [tool, tmp_path / "base-files_1_all.deb"]


def test_a_trimmed_tree_keeps_the_licences_and_what_programs_need(packed, tmp_path):
    root = tmp_path / "root"
    rootfs.unpack(packed, root)
    rootfs.trim(root)
    kept = {path for path in root.rglob("*") if not path.is_dir()}
    assert {str(path.relative_to(root)) for path in kept} == {
        "usr/bin/tool",
        "usr/lib/tool/plugin",
        "usr/share/common-licenses/GPL-2",
        "usr/share/doc/a-tool/copyright",
    }
    assert (root / "lib").is_symlink(), "base-files comes first, whatever the order of names"
    assert (root / "usr/share/doc/linked/copyright").read_text() == "Copyright of a-tool\n"
    assert not (root / "usr/share/doc/other").exists()


def test_who_unpacks_does_not_matter(packed, tmp_path):
    """Other masks, other order, other modes in the archive: the same tree."""
    trees = []
    for number, (mask, order) in enumerate([(0o022, packed), (0o077, packed[::-1])]):
        root, before = tmp_path / str(number), os.umask(mask)
        try:
            rootfs.unpack(order, root)
            rootfs.same_modes(root)
        finally:
            os.umask(before)
        trees.append(tree_digest(root))
    assert trees[0] == trees[1] != tree_digest(tmp_path / "pool")
    (root / "usr/bin/tool").chmod(0o4711)
    rootfs.same_modes(root)
    assert (root / "usr/bin/tool").stat().st_mode & 0o7777 == 0o755


def test_a_package_that_cannot_be_unpacked_is_named(packed, tmp_path):
    broken = tmp_path / "broken_1_all.deb"
    shutil.copy(packed[0], broken)
    with broken.open("r+b") as file:
        file.truncate(broken.stat().st_size // 2)
    with pytest.raises(EngineError, match=r"Root file system failed(?s:.*)broken_1_all\.deb"):
        rootfs.unpack([*packed, broken], tmp_path / "root")


def test_an_engine_starts_with_c_libraries_from_2_34_on_whatever_built_it():
    build = store.current()
    for binary in (build.linux, build.shim):
        symbols = subprocess.run(["objdump", "-T", binary], capture_output=True, text=True).stdout
        needed = [tuple(map(int, one)) for one in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols)]
        assert needed and max(needed) <= (2, 34), binary.name
