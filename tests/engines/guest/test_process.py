import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from netlab import GuestError, Network, wan
from netlab.engines.guest import process

VICTIM = """
import os, sys, netlab
os.environ["NETLAB_PROGRESS"] = "off"
print("begun", flush=True)
test = netlab.Iperf3("h1", "h2", parallel=8, time=5)
netlab.run(netlab.wan(), test, wall_limit_s=float(sys.argv[1]))
"""


def ours(tmp):
    """Processes of guests whose folder is below `tmp`, and those folders."""
    processes = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            processes += [path.name] if str(tmp).encode() in (path / "cmdline").read_bytes() else []
            processes += [path.name] if str(tmp) in os.readlink(path / "cwd") else []
        except OSError:
            pass
    return processes, list(tmp.glob("netlab-*/guest-*"))


def survivors(tmp, within_s=5):
    end = time.monotonic() + within_s
    while any(ours(tmp)) and time.monotonic() < end:
        time.sleep(0.1)
    return ours(tmp)


def run_one(way, tmp, wall_limit_s="60", killed_within_s=3):
    """Run an experiment in a process of its own, and end it in one of four ways."""
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, wall_limit_s],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(tmp)},
    )
    victim.stdout.readline()
    if way in ("kill -9", "Ctrl-C"):
        time.sleep(random.uniform(0, killed_within_s))
        victim.send_signal(signal.SIGKILL if way == "kill -9" else signal.SIGINT)
    victim.wait(150)


@pytest.mark.parametrize("way", ["it ends", "kill -9", "Ctrl-C", "wall limit"])
def test_nothing_outlives_the_parent(way, tmp_path):
    random.seed(way)
    for _ in range(3):
        run_one(way, tmp_path, "0.5" if way == "wall limit" else "60")
    assert survivors(tmp_path) == ([], [])


def test_a_guest_that_is_killed_gives_its_evidence():
    net = Network(wan("100mbit", "20ms"))
    os.killpg(net._agent.process.pid, signal.SIGKILL)
    with pytest.raises(GuestError, match=r"the guest died") as died:
        net.run("h1", "true")
    assert {path.name for path in died.value.evidence.iterdir()} == {"console", "agent.log"}
    with pytest.raises(GuestError, match=r"closed"):
        net.run("h1", "true")


def test_a_panic_shows_the_end_of_the_console():
    net = Network(wan("100mbit", "20ms"))
    with pytest.raises(GuestError, match=r"panic"):
        net.run("h1", "echo c >/proc/sysrq-trigger; sleep 1")


def test_running_out_of_memory_is_an_error_and_not_a_hang():
    net = Network(wan("100mbit", "20ms"), wall_limit_s=60)
    with pytest.raises(GuestError, match=r"(?i)memory"):
        net.run("h1", "python3 -c 'x = [bytearray(1 << 20) for _ in range(2000)]'")


def test_guests_that_run_at_once_are_pinned_to_different_cpus():
    with Network(wan("100mbit", "20ms")) as one, Network(wan("100mbit", "20ms")) as two:
        cpus = [os.sched_getaffinity(net._agent.process.pid) for net in (one, two)]
    assert all(len(cpu) == 1 for cpu in cpus)
    if len(os.sched_getaffinity(0)) > 1:
        assert cpus[0] != cpus[1]


def test_folders_of_the_killed_are_swept_and_those_in_use_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(process.tempfile, "tempdir", str(tmp_path))
    run_folder = process.run_folder()
    left, used = run_folder / "guest-left", run_folder / "guest-used"
    for folder in (left, used):
        folder.mkdir()
    lock = process.hold(used / "lock")
    for folder in (left, used):
        os.utime(folder, (0, 0))
    process.sweep()
    assert not left.exists() and used.exists()
    os.close(lock)


def test_a_folder_for_memory_must_have_room_and_allow_programs(monkeypatch, tmp_path):
    assert process.unfit(tmp_path) is None
    monkeypatch.setattr(process.store, "MEMORY_MB", 10**12)
    assert "MB free" in process.unfit(tmp_path)
    assert process.unfit(tmp_path / "missing")
    process.memory_folder.cache_clear()
    with pytest.raises(process.EngineError, match=r"set TMPDIR"):
        process.memory_folder()
    process.memory_folder.cache_clear()
