"""A machine of its own: what it says where something is missing, its line, and a real one."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

import netlab as nl
from netlab.cli.commands import app
from netlab.engines.cache import cache_folder
from netlab.engines.vm import disk, qemu
from netlab.errors import installed

REAL_CACHE = cache_folder()
PATH = nl.wan("100mbit", "20ms", "0.1%")
# It calls as QEMU does, and the server at the end of its line is here.
STAND_IN = """#!{python}
import os, re, socket, subprocess, sys

if "--version" in sys.argv:
    sys.exit(print("QEMU emulator version {version}"))
words = " ".join(sys.argv)
print(*sys.argv[-2:], file=open("started", "a"))
if "{version}" == "0.0":
    sys.exit("no such machine")
call = socket.create_connection(("127.0.0.1", int(re.search(r"port=(\\d+)", words)[1])))
server = subprocess.Popen(
    [sys.executable, "-m", "netlab", "engine", "serve"],
    stdin=call,
    stdout=call,
    env=os.environ | {{"NETLAB_CACHE": "{cache}"}},
)
call.close()
for line in sys.stdin:
    if kept := re.search("migrate (?:exec:cat>|file:)(.+)", line):
        open(kept[1], "w").close()
    if "info" in line:
        print("Migration status: completed")
    if "quit" in line:
        server.kill()
        break
server.wait()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a disk that no machine could start from."""
    place = tmp_path / "cache/vm"
    place.mkdir(parents=True)
    shutil.copy(cache_folder() / "CACHEDIR.TAG", place.parent)
    about = {"netlab": installed().version, "engine": "0" * 12, "disk": "1" * 12}
    (place / "about.json").write_text(json.dumps(about))
    for name in ("vmlinuz", "initrd", "disk.img"):
        (place / name).write_bytes(os.urandom(1000))
    monkeypatch.setenv("NETLAB_CACHE", str(place.parent))
    return place


@pytest.fixture
def stand_in(tmp_path, folder, monkeypatch):
    """Puts a program in the place of QEMU, which says that it has this version."""
    engines = []

    def put(version):
        program = tmp_path / "bin" / qemu.QEMU
        program.parent.mkdir(exist_ok=True)
        text = STAND_IN.format(python=sys.executable, version=version, cache=REAL_CACHE)
        program.write_text(text)
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        engines.append(qemu.VirtualMachine())
        return engines[-1]

    yield put
    for line in [line for engine in engines for line in engine.idle]:
        line.close()
    assert machines() == []


def started(folder):
    return (folder / "started").read_text().splitlines()


def machines(process=None):
    """Of this process, or another."""
    found = (process or psutil.Process()).children(recursive=True)
    return [one for one in found if qemu.QEMU in " ".join(one.cmdline())]


def ended(processes, within_s=60):
    return not psutil.wait_procs(processes, timeout=within_s)[1]


@pytest.mark.parametrize(
    ("system", "command"),
    [("darwin", "brew install qemu"), ("win32", "winget install"), ("linux", "apt-get install")],
)
def test_without_qemu_it_says_how_to_get_it(system, command, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(nl.EngineError, match=rf'"vm" needs QEMU, .* is not here: `.*{command}'):
        nl.Network(PATH, engine="vm")


def test_a_program_in_the_working_directory_is_not_run(tmp_path, monkeypatch):
    (tmp_path / qemu.QEMU).write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / qemu.QEMU).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{tmp_path / 'none'}")  # Windows looks there by itself
    with pytest.raises(nl.EngineError, match="is not here"):
        qemu.qemu()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("about", [None, "{", "{}", '{"netlab": "0.0"}'])
def test_without_a_disk_of_this_netlab_it_says_how_to_get_one(about, folder):
    (folder / "about.json").unlink()
    if about is not None:
        (folder / "about.json").write_text(about)
    with pytest.raises(nl.EngineError, match=r"a disk of this netlab in .*/vm \(.+\)\. `make vm`"):
        qemu.disk()


def test_a_wheel_brings_the_disk(folder, tmp_path, monkeypatch, capsys):
    there = {one.name: one.read_bytes() for one in folder.iterdir()}
    wheel = disk.write_wheel(tmp_path / "dist")
    assert wheel.name == f"netlab_vm-{installed().version}+{'1' * 12}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    shutil.rmtree(folder)
    for said in ("goes to", ""):  # the second time, it is there
        assert qemu.disk()[0] == folder and said in capsys.readouterr().out
    assert {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()} == there | {
        "__init__.py": (tmp_path / "site/netlab_vm/__init__.py").read_bytes()
    }
    packed = tmp_path / "site/netlab_vm/disk.img.xz"
    packed.write_bytes(packed.read_bytes()[:-100])
    (folder / "about.json").unlink()
    with pytest.raises(nl.EngineError, match=r"Compressed file ended"):
        qemu.disk()
    assert not (folder / "about.json").exists()


def test_the_command_makes_the_disk_and_writes_its_wheel(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "build", lambda: json.loads((folder / "about.json").read_text()))
    for words in [], [str(tmp_path / "dist")]:
        done = CliRunner().invoke(app, ["engine", "vm", *words])
        assert done.exit_code == 0 and f"Made the disk {'1' * 12}" in done.output
        assert len([*tmp_path.glob("dist/netlab_vm-*.whl")]) == len(words)


def test_it_starts_from_its_disk_once_and_then_from_its_memory(folder, stand_in):
    (folder / "memory-of-another").touch()
    os.utime(folder / "memory-of-another", (0, 0))
    engine = stand_in("10.0")
    (kept,) = folder.glob("memory-*")
    assert started(folder) == [
        "-device virtserialport,chardev=line",
        f"-incoming file:{kept.name}",
    ]
    with nl.Network(PATH, engine=engine) as net:
        assert net.run("h1", "echo on", echo=False).text == "on\n"
        with nl.Network(PATH, engine=engine):  # has a machine of its own
            assert len(started(folder)) == 3
    assert len(engine.idle) == len(machines()) == 2


def test_one_that_does_not_start_says_why_and_leaves_nothing(folder, stand_in):
    with pytest.raises(nl.EngineError, match=r"QEMU does not start: no such machine"):
        stand_in("0.0")
    assert list(folder.glob("memory-*")) == []


def test_ctrl_c_ends_the_first_start(folder, stand_in, monkeypatch):
    monkeypatch.setattr(qemu.MachineLine, "keep", lambda *_: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        stand_in("7.2.22")
    assert list(folder.glob("memory-*")) == []


KILLED = """
import netlab as nl
net = nl.Network(nl.wan("100mbit", "20ms", "0.1%"), engine="vm")
print("up", flush=True)
net.run("h1", "ping -i 0.001 10.0.0.2 > /dev/null", echo=False)
"""


def killed_leaves_no_machine():
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE) as python:
        while b"up" not in (line := python.stdout.readline()):
            assert line
        time.sleep(1)
        running = machines(psutil.Process(python.pid))
        python.kill()
    assert len(running) == 1 and ended(running, 300)


@pytest.mark.long
def test_where_python_is_killed_the_machine_ends(folder, stand_in):
    stand_in("7.2.22")
    killed_leaves_no_machine()
    assert all(line.startswith("-incoming exec:cat<memory-") for line in started(folder)[1:])


@pytest.mark.long
@pytest.mark.skipif(not shutil.which(qemu.QEMU), reason=f"{qemu.QEMU} is not installed")
def test_a_real_machine_gives_the_bytes_of_the_engine_here(monkeypatch):
    experiment = nl.Experiment(PATH, nl.Iperf3("h1", "h2", time=1))
    here = nl.run(experiment, engine="guest")
    with tempfile.TemporaryDirectory() as folder:
        for path in cache_folder().glob("*"):
            if path.name.startswith(("engine", "kernel", "rootfs", "CACHEDIR")):
                (Path(folder) / path.name).symlink_to(path)
        monkeypatch.setenv("NETLAB_CACHE", folder)
        about = disk.build()
        assert about["engine"] == here.provenance["engine_digest"]
        engine = qemu.VirtualMachine()
        there = nl.run(experiment, engine=engine)
        assert there.raw == here.raw and engine.about["slower"] > 1
        for line in engine.idle:
            line.close()
        killed_leaves_no_machine()
