"""Whoever hands on an engine can also hand on its licences, a list of it, and its sources."""

import json
import re
import tarfile

import pytest
from typer.testing import CliRunner

from netlab import EngineError
from netlab.cli.commands import app
from netlab.engines.guest import materials, packages, store
from tests.engines.guest import archives
from tests.engines.guest.archives import SNAPSHOT, serve

LOCK = packages.read_lock()


def test_every_package_has_its_exact_source_and_every_file_is_named_with_its_bytes():
    sources = {(source["name"], source["version"]): source["files"] for source in LOCK["sources"]}
    every = [*LOCK["packages"], LOCK["kernel"]]
    assert {(package["source"], package["source_version"]) for package in every} == set(sources)
    for name, files in sources.items():
        paths = [file["path"] for file in files]
        assert sum(path.endswith(".dsc") for path in paths) == 1, name
        assert any(".tar." in path for path in paths), name
        every += files
    assert len(every) > 300
    for file in every:
        assert re.fullmatch(r"pool/main/[\w./+~-]+", file["path"])
        assert re.fullmatch(r"[0-9a-f]{64}", file["sha256"]) and file["size"] > 0
    assert re.fullmatch(r"\d{8}T\d{6}Z", LOCK["snapshot"])


def test_the_lock_is_that_of_the_list():
    """After a change of rootfs.txt: `make engine-lock`."""
    lines = (store.HERE / "rootfs.txt").read_text().splitlines()
    assert LOCK["requested"] == sorted(line for line in lines if not line.startswith("#"))
    assert set(LOCK["requested"]) <= {package["name"] for package in LOCK["packages"]}


def test_every_package_has_its_licence_in_the_guest(tmp_path):
    root = tmp_path
    with tarfile.open(store.current().archive) as archive:
        archive.extractall(root, filter="tar")
    for package in LOCK["packages"]:
        path = (root / "usr/share/doc" / package["name"] / "copyright").resolve()
        assert path.is_relative_to(root.resolve()), package["name"]
        text = path.read_text(errors="replace")
        assert "opyright" in text or "public domain" in text, package["name"]
        for name in re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", text):
            licence = root / "usr/share/common-licenses" / name
            assert licence.is_file(), f"{package['name']} refers to {name}"
    text = (store.current().linux.parent / "copyright").read_text()
    assert "GPL-2.0 WITH Linux-syscall-note" in text and "GNU GENERAL PUBLIC LICENSE" in text


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """An archive with the sources of a lock of two packages."""
    pool = tmp_path / "site" / "pool"
    names = ["apple_1.0-1.dsc", "apple_1.0.orig.tar.xz", "linux_7.2.dsc", "linux-source_7.2.deb"]
    for name in names:
        path = pool / "main" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    apple, orig, linux, kernel = (archives.entry(pool / "main" / name, pool) for name in names)
    lock = {
        "snapshot": SNAPSHOT,
        "kernel": kernel,
        "sources": [{"files": [apple, orig]}, {"files": [linux]}],
    }
    monkeypatch.setattr(packages, "LOCK", tmp_path / "engine.lock")
    packages.LOCK.write_text(json.dumps(lock))
    archives.configure_apt(monkeypatch, tmp_path)
    monkeypatch.setenv("NETLAB_DEBIAN_SNAPSHOT", "no")
    return tmp_path / "site"


def test_netlab_engine_sources_fetches_all_of_them(tiny, tmp_path, monkeypatch):
    with serve(tiny) as (mirror, _):
        monkeypatch.setenv("NETLAB_DEBIAN_MIRROR", mirror)
        done = CliRunner().invoke(app, ["engine", "sources", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    found = {path.name: path for path in (tmp_path / "out").iterdir()}
    for name in ["apple_1.0-1.dsc", "apple_1.0.orig.tar.xz", "linux_7.2.dsc"]:
        assert found[name].read_text() == name
    for path in store.RECIPE:
        assert found[path.name].read_bytes() == path.read_bytes(), "what netlab changes and adds"
    assert f"{len(found)} files" in done.output and str(tmp_path / "out") in done.output


def test_a_falsified_source_is_refused_by_its_name(tiny, tmp_path, monkeypatch):
    with serve(tiny, falsifies=["orig"]) as (mirror, _):
        monkeypatch.setenv("NETLAB_DEBIAN_MIRROR", mirror)
        with pytest.raises(EngineError, match=r"apple_1\.0\.orig\.tar\.xz \(.*refused") as error:
            materials.fetch_sources(tmp_path / "out")
    assert "The others are in" in str(error.value) and "import" not in str(error.value)
    others = {"apple_1.0-1.dsc", "linux_7.2.dsc", "linux-source_7.2.deb"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == others
