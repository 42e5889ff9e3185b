"""What code in the place of a guest's kernel reaches, behind the walls that the launcher puts up.

``python -m tests.engines.guest.test_launcher`` prints the table of docs/engine.md.
"""

import contextlib
import functools
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from netlab import EngineError
from netlab.cli.commands import app
from netlab.engines.cache import cache_folder
from netlab.engines.guest import launcher, store, walls
from netlab.engines.jail import Jail

# What reaches out of the guest, each by the probe's word for it.
HARM = {
    *("read a file", "write a file", "make a file", "make a folder", "list a folder"),
    *("change a mode", "rename a file", "delete a file", "cut a file", "read /etc/passwd"),
    *("read another's environment", "open another's memory", "open another's root"),
    *("signal another", "signal all", "queue a signal", "end another", "trace another"),
    *("copy another's memory", "hold another", "limit another", "send to a socket"),
    *("send to an abstract socket", "send by a pair", "send to a port", "a raw socket"),
    *("start a program", "start a program by descriptor", "start a program by execveat"),
}
# What only widens what the host's kernel can be attacked by; and vsock sockets, which lead to the
# host of a virtual machine, and which of these walls the filter alone refuses.
SURFACE = {
    "a vsock socket",
    *("a netlink socket", "a user namespace", "a mount namespace", "a clone in a user namespace"),
    *("mount", "another root", "io_uring", "bpf", "perf", "keys", "userfaultfd"),
    *("push input to a terminal", "signal by owner"),
    *("disk beyond a file's end", "memory that no file counts"),
    *("memory in a file", "a longer file"),
}
# What a limit refuses, whichever walls stand, unless root has kept the right to raise it.
LIMITED = {"more open files than it was given"}
OWN = {"its own memory"}


# What a filter cannot tell: another's process by its number, and a name behind a pointer from the
# empty one, with which the launcher starts the kernel.
NOT_TOLD_APART = {"end another", "start a program by execveat"}
# What the kernel's own filter does not refuse: to tell a process something that it can tell itself.
LEFT_TO_OTHERS = NOT_TOLD_APART | {
    *("signal another", "signal all", "queue a signal", "hold another", "limit another"),
    *("send by a pair", "signal by owner"),
}


def compiled(folder):
    """The probe, with the filter that the patch of the kernel has."""
    patch = (store.HERE / "kernel/netlab-line.patch").read_text(encoding="utf-8")
    (function,) = re.findall(r"^\+int netlab_host_confine\(void\)\n.*?^\+}$", patch, re.M | re.S)
    (folder / "filter.h").write_text(re.sub(r"^\+", "", function, flags=re.M), encoding="utf-8")
    program, source = folder / "linux", Path(__file__).with_name("probe.c")
    command = ["gcc", "-O1", "-static", f"-I{folder}", "-o", program, source]
    subprocess.run(command, check=True)
    return program


@pytest.fixture(scope="module")
def attempts(tmp_path_factory):
    """A function: what the probe says behind these walls, each set of which it tries once."""
    probe = compiled(tmp_path_factory.mktemp("kernel"))
    return functools.cache(lambda *names, filtered=False: tried(probe, names, filtered))


@contextlib.contextmanager
def somebody_else(folder):
    """A secret, a process and sockets that listen; -> the probe's arguments, and the sockets."""
    secret = folder / "secret"
    secret.write_text("a reference answer")
    secret.chmod(0o644)
    abstract = f"netlab-probe-{os.getpid()}"
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as named,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as nameless,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port,
        subprocess.Popen(["sleep", "600"]) as process,
        subprocess.Popen(["sleep", "600"]) as victim,
    ):
        try:
            named.bind(str(folder / "socket"))
            nameless.bind(f"\0{abstract}")
            port.bind(("127.0.0.1", 0))
            number = str(port.getsockname()[1])
            pids = str(process.pid), str(victim.pid)
            yield [str(secret), pids[0], named.getsockname(), abstract, number, pids[1]]
            assert process.poll() is None, "the other process was ended"
        finally:
            process.kill()
            victim.kill()


def tried(probe, names, filtered=False):
    """What the probe says of everything that it tries behind these walls, and perhaps behind the
    filter of the kernel.
    """
    folder = Path(tempfile.mkdtemp(prefix="probe-"))
    try:
        own, outside = folder / "guest", folder / "outside"
        own.mkdir()
        outside.mkdir()
        shutil.copytree(probe.parent, folder / "kernel")
        for one in (folder, *folder.rglob("*")):
            one.chmod(0o755)
        build = SimpleNamespace(linux=folder / "kernel/linux", shim=Path("/nonexistent"))
        with somebody_else(outside) as arguments, walls.Walls(own) as around:
            around.names = [*names]
            command = [str(build.linux), *arguments, *["filtered"] * filtered]
            start = around.launcher(build, command, {}, min(os.sched_getaffinity(0)))
            said = subprocess.run(start, cwd="/", capture_output=True, text=True, timeout=60)
        assert "all tried" in said.stdout, said.stdout + said.stderr
        return dict(line.split(": ") for line in said.stdout.splitlines()[:-1])
    finally:
        shutil.rmtree(folder)


def worked(found):
    return {what for what, result in found.items() if result == "worked"}


def sets_of_walls():
    """All that hold here, and all but each of them."""
    names = walls.standing()
    return [names, *([name for name in names if name != left] for left in names)]


@pytest.mark.parametrize("names", sets_of_walls(), ids="+".join)
def test_with_any_wall_taken_away_the_others_hold(attempts, names):
    found = attempts(*names)
    assert set(found) == HARM | SURFACE | LIMITED | OWN
    if len(names) < 2:
        pytest.skip("two walls do not hold here")
    assert worked(found) & (HARM | LIMITED) == set()
    assert worked(found) >= OWN


def test_without_walls_the_probe_reaches_out(attempts):
    """Else it would show nothing."""
    found = worked(attempts())
    assert {"read a file", "list a folder", "signal another", "start a program"} <= found
    assert {"send to a socket", "send to an abstract socket", "send to a port"} <= found
    assert {"start a program by descriptor", "start a program by execveat"} <= found


@pytest.mark.parametrize("names", sets_of_walls(), ids="+".join)
def test_behind_the_kernels_own_filter_the_probe_reaches_no_more(attempts, names):
    assert worked(attempts(*names, filtered=True)) <= worked(attempts(*names))


def test_the_kernels_own_filter_alone_opens_nothing(attempts):
    """... so that no file depends on one wall where namespaces are refused."""
    found = worked(attempts(filtered=True))
    assert found & HARM <= LEFT_TO_OTHERS and found >= OWN


@pytest.mark.skipif("calls" not in walls.standing(), reason="this machine has no seccomp filters")
def test_where_only_filters_are_little_is_reached(attempts):
    assert worked(attempts("calls")) & SURFACE == set()
    assert worked(attempts("calls", filtered=True)) & HARM <= NOT_TOLD_APART


def test_a_kernel_is_not_run_to_ask_what_it_needs(tmp_path):
    """... outside all walls: it may be anybody's."""
    kernel, ran, own = tmp_path / "linux", tmp_path / "ran", tmp_path / "own"
    kernel.write_text(f"#!/bin/sh\ntouch {ran}\n")
    kernel.chmod(0o755)
    own.mkdir()
    with walls.Walls(own) as around:
        around.launcher(SimpleNamespace(linux=kernel, shim=kernel), [str(kernel)], {}, None)
    assert not ran.exists()
    assert any(path.endswith("/libc.so.6") for path in walls.libraries())


def test_a_jail_asks_for_two_walls(monkeypatch, tmp_path):
    monkeypatch.delenv("NETLAB_ONE_WALL", raising=False)
    trouble = dict.fromkeys(launcher.NAMES, "not here") | {"calls": ""}
    monkeypatch.setattr(walls, "here", lambda: trouble)
    with pytest.raises(EngineError, match=r"two walls.*1 holds.*Landlock.*NETLAB_ONE_WALL=1"):
        Jail("/nonexistent")
    grade = ["course", "grade", "ps1", str(tmp_path), "-o", str(tmp_path / "marks.csv")]
    refused = CliRunner().invoke(app, grade)
    assert refused.exit_code and "two walls" in str(refused.exception)
    monkeypatch.setenv("NETLAB_ONE_WALL", "1")
    walls.check_for_strangers()


def test_the_kernel_of_a_jail_has_a_user_of_its_own():
    if "user" not in walls.standing():
        pytest.skip("takes root")
    jails = [Jail("-c", "") for _ in range(2)]
    try:
        users = {os.stat(f"/proc/{jail.kernel}").st_uid for jail in jails}
        assert len(users) == 2 and users <= {*launcher.OWN_USERS}
    finally:
        for jail in jails:
            jail.close()


def test_the_cache_and_the_temporary_folder_may_be_reached_by_links(tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir()
    for one in cache_folder().iterdir():
        (tmp_path / "cache" / one.name).symlink_to(one)
    (tmp_path / "real").mkdir()
    (tmp_path / "tmp").symlink_to(tmp_path / "real")
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    Jail("-c", "").close()


def table():
    """What worked, by attempt and by walls."""
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        alone = [[name] for name in walls.standing() if name != "user"]
        columns = {
            "+".join([*names, *["filter"] * filtered]) or "none": tried(program, names, filtered)
            for filtered in (False, True)
            for names in ([], *alone, *sets_of_walls())
        }
    print(f"| tried | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for what in next(iter(columns.values())):
        cells = ("yes" if found[what] == "worked" else "-" for found in columns.values())
        print(f"| {what} | {' | '.join(cells)} |")


if __name__ == "__main__":
    sys.exit(table())
