"""An engine handed over in a file is the same engine elsewhere, or it is not put in use."""

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

import netlab as nl
from netlab.engines.guest import packages, store, transfer
from netlab.engines.guest.integrity import hash_of, kernel_digest, tree_digest
from tests.engines.guest.engines_in_files import copied, packed, parts


def netlab(*words, cache):
    command = [sys.executable, "-m", "netlab", *map(str, words)]
    own = os.environ | {"NETLAB_CACHE": str(cache), "NETLAB_PROGRESS": "off"}
    return subprocess.run(command, capture_output=True, text=True, env=own)


NO_RECORD = [
    *(("kernel", "../../etc"), ("rootfs", None), ("about", []), ("kernel_binary", 5)),
    *(("source_sha256", one) for one in ("none", 7, None)),
]


def accept(build):
    """Without a trial run, where something else is tried."""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "engine.tar.gz"
    transfer.export(path)
    return path


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """What is in the file, to be altered; a test that does puts it back."""
    return copied(tmp_path_factory.mktemp("opened"))


@pytest.fixture
def kept(opened):
    """A function that notes a file of the opened engine, which is then put back after the test."""
    sound = {}

    def keep(pattern):
        (path,) = opened.glob(pattern)
        sound[path] = path.read_bytes()
        return path

    yield keep
    for path, content in sound.items():
        path.write_bytes(content)
    record = json.loads((opened / "engine.json").read_text())
    build = store.Build(opened, record)
    assert kernel_digest(build.linux.parent) == record["kernel_binary"]
    assert tree_digest(build.rootfs) == record["rootfs"]


def refused(file, match, cache):
    """It is not put in use, whatever was in use before; nothing half-made is left."""
    before = {path.name for path in cache.glob("*")}
    with pytest.raises(nl.EngineError, match=match) as error:
        transfer.import_file(file, accept)
    assert str(file) in str(error.value)
    assert {path.name for path in cache.glob("*")} == before | {"CACHEDIR.TAG", "lock"}
    return str(error.value)


@pytest.mark.long
def test_an_exported_engine_is_the_same_engine_elsewhere(exported, elsewhere, monkeypatch):
    with pytest.raises(nl.EngineError, match=r"no engine in .*netlab engine build.*engine import"):
        store.current()
    done = netlab("engine", "import", exported, cache=elsewhere)
    assert done.returncode == 0, done.stderr
    there = store.current()
    names = {"engine.json", "engine.stamp", "kernel", "rootfs", "CACHEDIR.TAG", "lock"}
    assert {path.name.split("-")[0] for path in elsewhere.iterdir()} == names
    there.archive.write_text("damaged\n")
    there.linux.write_bytes(b"damaged")
    again = netlab("engine", "import", exported, cache=elsewhere)
    assert again.returncode == 0, "it mends what was damaged: " + again.stderr
    assert store.current().linux.is_relative_to(elsewhere) and os.access(there.linux, os.X_OK)
    monkeypatch.delenv("NETLAB_CACHE")
    here = store.current()
    assert there.digest == here.digest and there.about == here.about
    assert here.digest in again.stdout
    assert netlab("engine", "remove", cache=elsewhere).returncode == 0
    assert {path.name for path in elsewhere.iterdir()} == {"CACHEDIR.TAG", "lock"}


@pytest.mark.long
def test_an_exported_engine_carries_a_list_of_what_it_is_made_of(exported):
    """In a format that tools for such lists read, with places that exist."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(exported.read_bytes()))) as archive:
        text = archive.extractfile("engine.cdx.json").read().decode()
        names, links = set(archive.getnames()), {}
        (root,) = (name for name in names if name.endswith(store.ARCHIVE))
        with tarfile.open(fileobj=archive.extractfile(root)) as files:
            names |= {f"{root}/{name}" for name in files.getnames()}
            links = {f"{root}/{one.name}": one.linkname for one in files if one.issym()}
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill, lock = json.loads(text), packages.read_lock()
    assert bill["metadata"]["component"]["version"] == store.current().digest
    assert {"name": "debian:snapshot", "value": lock["snapshot"]} in bill["metadata"]["properties"]
    found = {one["name"]: one for one in bill["components"]}
    assert len(found) == len(bill["components"])
    for package in [*lock["packages"], lock["kernel"]]:
        one = found.pop(package["name"])
        purl = PackageURL.from_string(one["purl"])
        assert (purl.type, purl.namespace) == ("deb", "debian")
        assert purl.name == package["name"]
        assert purl.version == one["version"] == package["version"]
        references = {}
        for reference in one["externalReferences"]:
            references.setdefault(reference["type"], []).append(reference)
        assert references["distribution"][0]["hashes"][0]["content"] == package["sha256"]
        assert any(".dsc" in reference["url"] for reference in references["source-distribution"])
        folder, _, file = references["license"][0]["url"].rpartition("/")
        if folder in links:
            folder = f"{folder.rpartition('/')[0]}/{links[folder]}"
        assert f"{folder}/{file}" in names
    assert not found
    patches = [path.read_text() for path in store.KERNEL_RECIPE if path.suffix == ".patch"]
    assert [patch["diff"]["text"]["content"] for patch in one["pedigree"]["patches"]] == patches


def test_a_damaged_engine_is_not_exported(opened, kept, tmp_path):
    with kept("kernel-*/shim.so").open("ab") as shim:
        shim.write(b"\0")
    done = netlab("engine", "export", tmp_path / "out.tar.gz", cache=opened)
    assert done.returncode == 1 and "is damaged" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out*"))


def test_cut_and_foreign_files_are_refused(opened, tmp_path, elsewhere):
    whole = gzip.compress(packed(opened, tmp_path / "whole.tar").read_bytes()[:4_000_000], 1)
    middle = len(whole) // 2
    contents = {
        "cut": whole[:middle],
        "text": b"hello",
        "empty": b"",
        "scratched": whole[:middle] + b"x" * 100 + whole[middle + 100 :],
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name, r"not an engine.*or not all of it.*Ask for the file", elsewhere)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        *(({key: value}, "not an engine") for key, value in NO_RECORD),
        ({"kernel_binary": "0" * 12}, "altered or damaged"),
        ({"source_sha256": "0" * 64}, "altered or damaged"),
        ({"recipe": "0" * 12}, "another version of netlab"),
    ],
    ids=str,
)
def test_what_a_record_says_is_compared_with_the_files(changes, match, opened, tmp_path, elsewhere):
    refused(packed(opened, tmp_path / "odd.tar", **changes), match, elsewhere)


def test_an_altered_engine_is_refused(opened, kept, tmp_path, elsewhere):
    kept("rootfs-*/root.tar").write_text("mallory\n")
    refused(packed(opened, tmp_path / "altered.tar"), "altered or damaged", elsewhere)


def with_members(opened, path, *members):
    """An archive of an engine with more members, or others in place of its own."""
    names = {member.name for member in members}
    with tarfile.open(path, "w") as archive:
        for part in parts(opened):
            archive.add(part, part.name, filter=lambda m: None if m.name in names else m)
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def member(name, kind=tarfile.REGTYPE, target="", size=0):
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, str(target), size
    return made


def link(name, target):
    return member(name, tarfile.SYMTYPE, target)


@pytest.mark.long
def test_an_archive_with_links_or_paths_that_lead_out_is_refused(opened, tmp_path, elsewhere):
    build = store.Build(opened, json.loads((opened / "engine.json").read_text()))
    kernel, root = build.linux.parent.name, build.rootfs.name
    outside = tmp_path / "outside"
    shutil.copytree(build.linux.parent, outside)
    before = hash_of(outside / "linux"), sorted(outside.iterdir())
    for number, members in enumerate(
        [
            [link(f"{kernel}/linux", outside / "linux")],
            [link(f"{kernel}/shim.so", "../../../../outside/shim.so")],
            [link(kernel, outside)],
            [link(f"{kernel}/copyright", "linux")],
            [link(f"{root}/in", outside), member(f"{root}/in/planted", size=3)],
            [member("../../outside/planted", size=3)],
            [member(f"{kernel}/linux", tarfile.LNKTYPE, outside / "linux")],
            [member("notes.txt", size=3)],
        ]
    ):
        file = with_members(opened, tmp_path / f"{number}.tar", *members)
        refused(file, "not an engine|altered or damaged", elsewhere)
        assert (hash_of(outside / "linux"), sorted(outside.iterdir())) == before, number
        file.unlink()


@pytest.fixture
def other_numbers(opened, kept, tmp_path):
    """A file whose every digest is right, and whose library draws other random numbers."""
    shim, source = kept("kernel-*/shim.so"), (store.HERE / "shim.c").read_text()
    (tmp_path / "shim.c").write_text(source.replace("0x9e3779b97f4a7c15", "0x9e3779b97f4a7c17"))
    command = ["gcc", "-O2", "-shared", "-fPIC", "-o", shim, tmp_path / "shim.c"]
    subprocess.run(command, check=True)
    return packed(opened, tmp_path / "other.tar", kernel_binary=kernel_digest(shim.parent))


@pytest.mark.long
def test_an_engine_that_gives_other_numbers_than_the_published_one_is_refused(
    other_numbers, opened
):
    """... and leaves the one in use."""
    before = {path.name: path.stat().st_mtime_ns for path in opened.glob("*") if path.is_file()}
    done = netlab("engine", "import", other_numbers, cache=opened)
    said = " ".join(done.stderr.split())
    assert done.returncode == 1 and "Traceback" not in said
    assert "is not put in use" in said and "gives other bytes" in said
    after = {path.name: path.stat().st_mtime_ns for path in opened.glob("*") if path.is_file()}
    assert after | before == after and set(after) - set(before) <= {"CACHEDIR.TAG", "lock"}
    assert not list(opened.glob("making-*"))


@pytest.mark.long
def test_a_kernel_that_does_not_start_is_refused_without_advice_on_memory(
    opened, kept, tmp_path, elsewhere
):
    linux = kept("kernel-*/linux")
    sound = linux.read_bytes()
    for number, content in enumerate([sound[: len(sound) // 2], b""]):
        linux.write_bytes(content)
        digest = kernel_digest(linux.parent)
        file = packed(opened, tmp_path / f"{number}.tar", kernel_binary=digest)
        done = netlab("engine", "import", file, cache=elsewhere)
        said = " ".join(done.stderr.split())
        assert done.returncode == 1 and "Traceback" not in said, said
        assert "is not put in use" in said and "engine is damaged" in said, said
        assert "TMPDIR" not in said and "memory" not in said, said
        assert not list(elsewhere.glob("engine.json"))
        file.unlink()
