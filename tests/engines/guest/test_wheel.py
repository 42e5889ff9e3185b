"""An engine that pip installs is the engine that it was made of, or it is not put in use."""

import base64
import hashlib
import json
import lzma
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

import netlab as nl
from netlab.cli import doctor
from netlab.engines.guest import store, transfer
from tests.engines.guest.engines_in_files import small

ROOT = Path(__file__).parents[3]


def pip(*words):
    subprocess.run([sys.executable, "-m", "pip", *map(str, words)], check=True)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """The wheel of a small engine."""
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "made"))
    small(tmp_path / "made")
    return transfer.write_wheel(tmp_path / "dist")


@pytest.fixture
def package(written, elsewhere, tmp_path, monkeypatch):
    """The folder of the package, unpacked where Python finds it, beside an empty cache."""
    with zipfile.ZipFile(written) as file:
        file.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site" / "netlab_engine"


def test_the_same_engine_gives_the_same_bytes(written, tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "again"))
    build = small(tmp_path / "again")
    os.utime(build.archive, (5, 5))
    (build.folder / "engine.json").chmod(0o600)
    if os.geteuid() == 0:
        os.chown(build.archive, 1001, 1001)
    before = os.umask(0o077)
    try:
        again = transfer.write_wheel(tmp_path / "other" / "dist")
    finally:
        os.umask(before)
    assert (again.name, again.read_bytes()) == (written.name, written.read_bytes())
    (tmp_path / "file").write_text("")
    with pytest.raises(nl.NetlabError, match=r"netlab_engine-.*whl cannot be written"):
        transfer.write_wheel(tmp_path / "file")


def test_its_name_says_which_engine_it_is_and_where_it_runs(written, tmp_path):
    name, version, _, tags = parse_wheel_filename(written.name)
    assert (name, version.local) == ("netlab-engine", store.current().digest)
    assert {str(tag) for tag in tags} == {"py3-none-manylinux_2_17_x86_64"}  # the C library's


def test_what_is_in_it_is_what_its_record_says(written):
    with zipfile.ZipFile(written) as file:
        contents = {name: file.read(name) for name in file.namelist()}
    (record,) = [name for name in contents if name.endswith("/RECORD")]
    lines = [line.split(",") for line in contents[record].decode().splitlines()]
    assert sorted(name for name, _, _ in lines) == sorted(contents)
    for name, digest, size in lines:
        if name != record:
            found = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).decode()
            assert (digest, int(size)) == (f"sha256={found.rstrip('=')}", len(contents[name]))


def test_it_is_put_in_use_where_the_cache_is_empty_and_only_then(package, elsewhere, capsys):
    build = transfer.current()
    assert build.folder == elsewhere and build.archive.read_text() == "the same\n"
    assert capsys.readouterr().out == (
        f"The engine {build.digest} of netlab_engine goes to {elsewhere}, once.\n"
    )
    assert transfer.current().digest == build.digest
    assert capsys.readouterr().out == ""


def test_it_replaces_an_engine_that_is_damaged_or_another_version_s(package, elsewhere):
    digest = transfer.current().digest
    store.current().archive.write_text("damaged\n")
    assert transfer.current().digest == digest
    record = json.loads((elsewhere / "engine.json").read_text())
    (elsewhere / "engine.json").write_text(json.dumps(record | {"recipe": "0" * 12}))
    assert transfer.current().digest == digest


def test_without_the_package_the_error_is_that_there_is_no_engine(elsewhere, tmp_path, monkeypatch):
    with pytest.raises(nl.EngineError, match=r"^no engine in .*netlab engine import"):
        transfer.current()
    (tmp_path / "site" / "netlab_engine").mkdir(parents=True)  # what is left of it
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(nl.EngineError, match=r"^no engine in "):
        transfer.current()


def refused(package, cache, match):
    with pytest.raises(nl.EngineError, match=match) as error:
        transfer.current()
    assert str(package) in str(error.value)
    assert {path.name for path in cache.glob("*")} <= {"CACHEDIR.TAG", "lock"}


@pytest.mark.parametrize("change", ["recipe", "digest", None, "", "{}", "[]", '{"recipe": 5}'])
def test_a_package_of_another_version_or_that_does_not_say_what_it_holds_is_refused(
    change, package, elsewhere
):
    place, match = package / "engine.json", "cannot be used"
    if change in ("recipe", "digest"):
        change = json.dumps(json.loads(place.read_text()) | {change: "0" * 12})
        match = r"made by another version of netlab\. Install the wheel that came"
    place.unlink()
    if change is not None:
        place.write_text(change)
    refused(package, elsewhere, match)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:100] + bytes(8) + data[108:],
        lambda data: b"",
        lambda data: b"hello",
        lambda data: lzma.compress(b"hello"),
        lambda data: lzma.compress(lzma.decompress(data).replace(b"the same", b"mallory!")),
        lambda data: lzma.compress(lzma.decompress(data).replace(b"GLIBC_2.9", b"GLIBC_2.8")),
    ],
    ids=["cut", "scratched", "empty", "text", "packed text", "a file", "the library"],
)
def test_a_damaged_or_altered_engine_is_refused(damage, package, elsewhere):
    archive = package / "engine.tar.xz"
    archive.write_bytes(damage(archive.read_bytes()))
    refused(package, elsewhere, "cannot be used")


def test_another_engine_than_it_says_is_refused(package, elsewhere, tmp_path, monkeypatch):
    about = json.loads((package / "engine.json").read_text())
    about["rootfs"] = "0" * 12
    about["digest"] = store.Build(package, about).digest
    (package / "engine.json").write_text(json.dumps(about))
    refused(package, elsewhere, r"engine\.tar\.xz holds the engine")


def test_two_wheels_and_an_empty_machine_give_the_bytes_of_this_one(elsewhere, tmp_path):
    """No checkout, no compiler, no apt, no xz; the wheels are the ones of `make wheel`."""
    dist, site, tools = tmp_path / "dist", tmp_path / "site", tmp_path / "bin"
    with pytest.MonkeyPatch.context() as here:
        here.delenv("NETLAB_CACHE")
        expected = doctor.reference_run()
        engine = transfer.write_wheel(dist)
    *_, tags = parse_wheel_filename(engine.name)
    assert tags & set(sys_tags())
    pip("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", dist, ROOT)
    offline = ("--quiet", "--no-index", "--no-deps")
    pip("install", *offline, "--target", site, *dist.glob("*.whl"))
    tools.mkdir()
    for tool in ("sh", "tar", "setarch", "taskset", "true"):
        (tools / tool).symlink_to(shutil.which(tool))
    code = "import netlab.cli.doctor as doctor; print(doctor.__file__, doctor.reference_run())"
    own = {"PATH": tools, "PYTHONPATH": site, "HOME": tmp_path, "NETLAB_CACHE": elsewhere}
    own = {name: str(path) for name, path in own.items()}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=own)
    assert done.returncode == 0, done.stderr
    unpacked, ran = done.stdout.splitlines()
    assert unpacked.endswith(f"of netlab_engine goes to {elsewhere}, once.")
    assert ran == f"{site / 'netlab/cli/doctor.py'} {expected}"
