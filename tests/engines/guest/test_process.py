import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from netlab import EngineError, GuestError, Host, Network, Topology, wan
from netlab.engines.guest import failure, machine, store
from tests import cases
from tests.engines.afar import SERVE
from tests.programs import names

PATH = wan("100mbit", "20ms", pairs=1)
VICTIM = """
import os, sys, netlab
os.environ["NETLAB_PROGRESS"] = "off"
print("begun", flush=True)
limit_s, time = map(float, sys.argv[1:])
netlab.run(netlab.wan(), netlab.Iperf3("h1", "h2", parallel=8, time=time), wall_limit_s=limit_s)
"""


def ours(tmp):
    """Processes of guests whose folder is below `tmp`, and those folders. One whose parent was
    killed before its watcher began is deleted by a later start.
    """
    processes = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            processes += [path.name] if str(tmp).encode() in (path / "cmdline").read_bytes() else []
            processes += [path.name] if str(tmp) in os.readlink(path / "cwd") else []
    begun = [path.parent for path in tmp.glob("netlab-*/guest-*/console")]
    return processes, begun


def survivors(tmp, within_s=5):
    end = time.monotonic() + within_s
    while any(ours(tmp)) and time.monotonic() < end:
        time.sleep(0.1)
    return ours(tmp)


def run_one(way, tmp, killed_after_s=0):
    """Run an experiment in a process of its own, and end it in one of four ways."""
    limit_s, time_s = "0.5" if way == "wall limit" else "60", "1" if way == "it ends" else "5"
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, limit_s, time_s],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(tmp)},
    )
    victim.stdout.readline()
    if way in ("kill -9", "Ctrl-C"):
        time.sleep(killed_after_s)
        victim.send_signal(signal.SIGKILL if way == "kill -9" else signal.SIGINT)
    victim.wait(150)


@pytest.mark.parametrize("way", cases(["kill -9", "Ctrl-C", "wall limit", "it ends"]))
def test_nothing_outlives_the_parent(way, tmp_path, draw):
    moments = draw(way)
    for _ in range(2 if way in ("kill -9", "Ctrl-C") else 1):
        run_one(way, tmp_path, moments.uniform(0, 3))
    assert survivors(tmp_path) == ([], [])


FORKS = """
import os, sys, time, netlab as nl
from netlab.engines.jail import JailedEngine
engine = JailedEngine() if sys.argv[1] == "jail" else sys.argv[1]
path, reno = nl.wan("100mbit", "20ms", pairs=1), nl.algorithms.Reno
with nl.Network(path, engine=engine, algorithms=[reno]) as net:
    net.start("h1", "sleep 100000")
    if (child := os.fork()) == 0:
        time.sleep(100)
        os._exit(0)
    print(child, flush=True)
    net.sleep(1e6)
"""


@pytest.mark.parametrize("engine", cases(["guest", "jail", SERVE]))
def test_a_fork_of_the_parent_keeps_nothing_alive(engine, tmp_path):
    """It has all descriptors of its parent."""
    victim = subprocess.Popen(
        [sys.executable, "-c", FORKS, engine],
        stdout=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path), "NETLAB_PROGRESS": "off"},
    )
    fork = psutil.Process(int(victim.stdout.readline()))
    started = {*psutil.Process(victim.pid).children(recursive=True)} - {fork}
    try:
        assert {"linux", "python"} <= names(started)
        victim.kill()
        victim.wait()
        assert psutil.wait_procs(started, 20)[1] == []
        assert survivors(tmp_path) == ([], [])
        assert fork.is_running()
    finally:
        fork.kill()


def test_a_fork_of_the_parent_ends_no_guest_of_it():
    with Network(PATH) as net:
        if (child := os.fork()) == 0:
            with contextlib.suppress(BaseException):
                net.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert net.run("h1", "echo up", echo=False).text == "up\n"


def test_a_guest_that_is_killed_gives_its_evidence():
    net = Network(PATH)
    os.killpg(net._connection.process.pid, signal.SIGKILL)
    with pytest.raises(GuestError, match=r"the guest died") as died:
        net.run("h1", "true")
    assert {path.name for path in died.value.evidence.iterdir()} == {"console"}
    with pytest.raises(GuestError, match=r"closed"):
        net.run("h1", "true")


def test_a_panic_shows_the_end_of_the_console(tmp_path, monkeypatch):
    (tmp_path / "boot.sh").write_text("exit 3\n")  # the kernel's first program
    monkeypatch.setattr(store, "BOOTED", [tmp_path / "boot.sh"])
    with pytest.raises(GuestError, match=r"its kernel panicked"):
        Network(PATH)


GREEDY = "python3 -c 'x = [bytearray(1 << 20) for _ in range(2000)]'"
FILLS = "dd if=/dev/zero of=/tmp/a bs=1M; dd if=/dev/zero of=/root/a bs=1M"


@pytest.mark.parametrize("command", [pytest.param(GREEDY, marks=pytest.mark.long), FILLS])
def test_running_out_of_memory_is_an_error_that_says_what_to_do(command, tmp_path, monkeypatch):
    monkeypatch.setattr(machine.tempfile, "tempdir", str(tmp_path))
    net = Network(PATH, wall_limit_s=300)
    with pytest.raises(GuestError, match=r"ran out of memory.*/tmp.*1024 MB.*write less") as ended:
        net.run("h1", command, echo=False)
    assert "panic" not in str(ended.value) and "Out of memory" in ended.value.console
    assert not [*tmp_path.glob("netlab-*/guest-*")]
    assert {path.name for path in ended.value.evidence.iterdir()} == {"console"}


def guest_processes(net):
    """The kernel, and its child processes: one for each program in the guest."""
    kernel = psutil.Process(net._connection.kernel)
    return [kernel, *sorted(kernel.children(), key=lambda child: child.pid)]


@pytest.mark.long
def test_killing_any_of_a_guest_s_processes_ends_the_run(request, draw):
    """Its first process, the agent, the host's shell and two commands, one of which has nothing to
    do; and the kernel itself.
    """
    for number in range(6) if request.config.option.every else draw("victims").sample(range(6), 3):
        with Network(Topology([Host("pc", "10.9.9.9/8")]), wall_limit_s=120) as net:
            net.start("pc", "sleep 1000000")
            net.start("pc", "while sleep 1; do :; done")
            net.sleep(0.5)
            assert len(guest_processes(net)) == 7  # the last of them comes and goes
            victim = guest_processes(net)[number]
            killer = threading.Timer(1, victim.kill)
            killer.start()
            with pytest.raises(GuestError, match=r"the guest died: .*(killed|powered)") as ended:
                net.sleep(1e6)
            killer.join()
            assert ended.value.evidence.is_dir()


@pytest.mark.long
def test_programs_that_come_and_go_are_not_taken_for_killed_ones():
    with Network(Topology([Host("pc", "10.9.9.9/8")])) as net:
        net.run("pc", "(exit 3) | cat & sleep 1000 & kill -KILL $!; sleep 2", echo=False)
        many = net.run("pc", "for n in $(seq 200); do true | cat; done; echo all", echo=False)
        assert many.text == "all\n"


def test_guests_that_run_at_once_are_pinned_to_different_cpus(tmp_path, monkeypatch):
    monkeypatch.setattr(machine.tempfile, "tempdir", str(tmp_path))  # nobody else's guests
    with Network(PATH) as one, Network(PATH) as two:
        cpus = [os.sched_getaffinity(net._connection.process.pid) for net in (one, two)]
    assert all(len(cpu) == 1 for cpu in cpus)
    if len(os.sched_getaffinity(0)) > 1:
        assert cpus[0] != cpus[1]


def test_folders_of_the_killed_are_swept_and_those_in_use_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(machine.tempfile, "tempdir", str(tmp_path))
    run_folder = machine.run_folder()
    left, used = run_folder / "guest-left", run_folder / "guest-used"
    for folder in (left, used):
        folder.mkdir()
    lock = machine.try_lock(used / "lock")
    for folder in (left, used):
        os.utime(folder, (0, 0))
    machine.remove_leftovers()
    assert not left.exists() and used.exists()
    os.close(lock)


def a_link(place, elsewhere):
    elsewhere.mkdir(mode=0o700)
    place.symlink_to(elsewhere)


def somebody_else_s(place, elsewhere):
    if os.getuid() != 0:
        pytest.skip("only root gives a folder away")
    place.mkdir(mode=0o700)
    os.chown(place, 65534, 65534)


PLANTS = {  # a folder that cannot be made, and those that somebody else may have put there
    "nowhere to make it": lambda place, _: place.parent.rmdir(),
    "a link": a_link,
    "a dangling link": lambda place, elsewhere: place.symlink_to(elsewhere),
    "a file": lambda place, _: place.write_text(""),
    "others write": lambda place, _: place.mkdir() or place.chmod(0o777),
    "others read": lambda place, _: place.mkdir() or place.chmod(0o755),
    "somebody else's": somebody_else_s,
}


@pytest.mark.parametrize(
    "plant",
    [
        pytest.param(one, id=name, marks=[pytest.mark.long] * name.endswith("link"))
        for name, one in PLANTS.items()
    ],
)
def test_a_planted_run_folder_is_refused(plant, tmp_path, monkeypatch):
    monkeypatch.setattr(machine.tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    place = tmp_path / "tmp" / f"netlab-{os.getuid()}"
    plant(place, tmp_path / "elsewhere")
    with pytest.raises(EngineError, match=r"guests run in .*TMPDIR") as refused:
        Network(PATH)
    assert str(place) in str(refused.value)
    assert list(tmp_path.glob("elsewhere/*")) == []
    if place.is_symlink() or place.is_file():
        place.unlink()
        with Network(PATH) as net:
            assert net._connection.folder.parent == place


@pytest.mark.parametrize(
    ("limit", "held"), [(64, 0), pytest.param(300, 290, marks=pytest.mark.long)]
)
def test_too_few_open_files_are_said_in_words(limit, held):
    code = """
import os, resource, sys
import netlab as nl

nl.run(nl.wan("10mbit"), nl.Ping("h1", "h2", count=1), engine="guest")
limit, held = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
while len(os.listdir("/proc/self/fd")) < held:
    os.dup(0)
try:
    nl.run(nl.wan("10mbit"), nl.Ping("h1", "h2", count=1), engine="guest")
except nl.GuestError as error:
    print(error)
"""
    command = [sys.executable, "-c", code, str(limit), str(held)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert "ulimit -n" in done.stdout, done.stderr


MANY = """
import os, resource
import netlab as nl

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
held = [os.dup(0) for _ in range(2000)]
with nl.Network(nl.wan("10mbit", pairs=1), engine="guest", algorithms=[nl.algorithms.Reno]) as net:
    print(net.type("h1", "echo a line", show=len).output)
    net.start("h2", "iperf3 -s -1")
    print(net.run("h1", "iperf3 -c 10.0.0.2 -C netlab0 -t 1", echo=False).text)
"""


def test_a_process_may_have_more_descriptors_than_select_knows():
    if 0 <= resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 4096:
        pytest.skip("this machine allows no more")
    command = [sys.executable, "-c", MANY]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and done.stdout.startswith("a line\n"), done.stderr
    assert "iperf Done" in done.stdout


def test_the_end_of_a_console_is_kept_and_signs_are_not_forgotten(tmp_path):
    path, kept = tmp_path / "console", failure.KEPT_BYTES
    with open(path, "a+b", buffering=0) as file:
        console = failure.KernelLog(file.fileno(), ["lost a stub"])
        assert console.text() == "" and not console.flooded
        path.rename(tmp_path / "other")  # another file under its name is not read
        path.write_text("planted")
        file.write(b"begun; lost a")
        assert console.text() == "begun; lost a"
        file.write(b" stub\n" + 3 * kept * b"x" + "ende é".encode()[:-1])
        text = console.text()
        assert text.startswith("lost a stub\n") and text.endswith("ende \ufffd")
        assert len(text) < kept + 100 and console.text() == text
        file.truncate(100 * failure.MOST_BYTES)
        assert console.flooded
        console.text()
        assert console.bytes_read <= failure.MOST_BYTES + kept


def test_a_flood_of_the_console_ends_the_run():
    command = "head -c 2500000000 /dev/zero > /dev/console"
    with Network(PATH, wall_limit_s=100) as net:
        with pytest.raises(GuestError, match="more than 16 MB to its console") as ended:
            net.run("h1", command, echo=False)
        assert (ended.value.evidence / "console").stat().st_size <= failure.KEPT_BYTES + 100
