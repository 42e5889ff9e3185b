"""The Mininet engine on a machine that has Mininet and root: a guest whose clock is the wall's,
running this very Python.

The guest has no walls: its programs keep all rights, and it mounts this machine's files, read-only,
below /tmp/here, and starts this Python from there. Every program that the engine runs is the
guest's own.
"""

import base64
import io
import json
import shlex
import tarfile
from pathlib import Path

import pytest

import netlab as nl
from netlab.engines import mininet
from netlab.engines.guest import GuestEngine, archives, store
from netlab.engines.guest.process import Guest
from netlab.engines.jail.contents import ARCHIVE, LOADER, contents
from netlab.engines.mininet import MininetEngine

HERE = "/tmp/here"
EXPERIMENT = nl.Experiment(
    nl.wan("20mbit", "20ms", "0.1%", burst=5000, limit=60_000, noise="99us", host_qdisc="fq"),
    nl.Ping("h1", "h2", count=2),
    nl.Iperf3("h1", "h2", time=2, congestion="reno", parallel=2),
    nl.Iperf3("h3", "h4", time=2, congestion="bbr"),
    nl.Change("s1", "s2", "1500ms", rate="10mbit", delay="30ms"),
    clock="real",
)
STOPPED = """
import threading, netlab as nl
for delay_s in (0.5, 3):
    net = nl.Network(nl.wan("20mbit", "20ms"), engine="mininet")
    threading.Timer(delay_s, net._connection.interrupt).start()
    try:
        while True:
            net.run("h1", "trap '' INT; ping 10.0.0.2 >/dev/null; sleep 100", limit_s=1000)
    except KeyboardInterrupt:
        print("interrupted")
    net._connection.interrupt()
    try:
        net.run("h1", "true")
    except KeyboardInterrupt:
        print("for ever")
"""
COLLECT = """
import os, sys, netlab as nl
before = sorted(os.listdir("/sys/class/net"))
experiment = nl.Experiment.from_json(open(sys.argv[1]).read())
nl.run(experiment, engine="mininet").save(sys.argv[2])
print(before == sorted(os.listdir("/sys/class/net")) and "as before", os.listdir("/tmp"))
"""
LONG = """
import netlab as nl
with nl.Network(nl.wan("20mbit", "20ms"), engine="mininet") as net:
    print("up", flush=True)
    net.run("h1", "iperf3 -s & ping 10.0.0.2")
"""


class Open(Guest):
    """A guest that has this machine's Python and netlab, as jails do."""

    def archives(self, build):
        python, own = contents()
        opened = {"p": archives.open_(python / ARCHIVE), "n": archives.open_(own / ARCHIVE)}
        return super().archives(build) | opened


class OpenEngine(GuestEngine):
    def connect(self, *arguments):
        return Open(self.build, *arguments)


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A machine with Mininet and root."""
    folder = tmp_path_factory.mktemp("boot")
    agent, boot = (Path(path).read_text() for path in store.BOOTED)
    (folder / "agent.py").write_text(agent.replace("confined = (", "confined = () and ("))
    (folder / "boot.sh").write_text(
        boot.replace(
            "cd /root",
            f"mkdir -p {HERE}/p {HERE}/n; mount -t hostfs none {HERE}/p -o hostfs=p;"
            f" mount -t hostfs none {HERE}/n -o hostfs=n\ncd /root",
        )
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "BOOTED", [folder / "agent.py", folder / "boot.sh"])
        pc = nl.Topology([nl.Host("pc", "10.9.9.9/8")])
        with nl.Network(pc, clock="real", engine=OpenEngine()) as net:
            yield net


def python(script, *arguments):
    """The command that runs a script with this Python and this netlab on the machine."""
    own = f"{HERE}/p/lib64/{LOADER} --library-path {HERE}/p/lib64 {HERE}/p/bin/python3"
    environment = f"PYTHONHOME={HERE}/p PYTHONPATH={HERE}/p/site:{HERE}/n LANG=C.UTF-8"
    return f"NETLAB_PROGRESS=off {environment} {own} -c {shlex.join([script, *arguments])}"


def left(machine):
    """What is there of a network: interfaces, processes, folders."""
    processes = "pgrep -l 'iperf3|ping'; pgrep -f 'agent.p[y] --pipe|mininet:[h]'"
    look = f"ls -1 /sys/class/net; {processes}; ls -1d /tmp/netlab-*"
    lines = machine.run("pc", look, echo=False).text.splitlines()
    own = "lo", "pc-eth0", "sit0"
    return [line for line in lines if line not in own and "No such file" not in line]


@pytest.mark.long
def test_it_gives_what_the_guest_gives(machine, tmp_path):
    job = machine.run(
        "pc",
        f"echo {shlex.quote(EXPERIMENT.to_json())} > /root/experiment.json; "
        + python(COLLECT, "/root/experiment.json", "/root/out")
        + " && echo === && tar -C /root/out -c . | base64",
        echo=False,
        limit_s=120,
    )
    assert job.status == 0, job.text
    said, _, out = job.text.partition("===\n")
    assert "as before ['here']" in said, job.text
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(out))) as archive:
        archive.extractall(tmp_path / "out")
    assert left(machine) == []
    there, here = nl.load(tmp_path / "out"), nl.run(EXPERIMENT, engine="guest")
    # how long it has to wait for a change is what has not passed yet
    typed = [[line for line in one.commands if "sh sleep" not in line] for one in (there, here)]
    assert typed[0] == typed[1] and there.raw.keys() == here.raw.keys()
    tc = next(text for name, text in there.raw.items() if "change" in name)
    assert "rate 10Mbit" in tc and "delay 30" in tc
    told = there.provenance
    assert told.keys() == here.provenance.keys()
    assert (told["engine"], told["engine_digest"]) == ("mininet", None)
    assert json.loads(EXPERIMENT.to_json()) == told["experiment"]
    for name in ("flows", "streams", "intervals", "pings", "changes"):
        mine, its = getattr(here, name), getattr(there, name)
        assert list(mine.dtypes.items()) == list(its.dtypes.items()), name
        ends = [one[["flow", "src", "dst"]].drop_duplicates() for one in (mine, its)]
        assert ends[0].equals(ends[1]), name
    assert len(there.streams) == 3
    assert 0.0199 < there.pings.rtt_s.min() < 1  # longer than that of the link, where it is busy
    # each for itself: they do not begin and end at the same instant
    assert there.flows.received_bps.between(0, 20e6, inclusive="neither").all()


KILLS = {
    "Ctrl-C": "pkill -INT -f '^[^ ]*ld-linux'",
    "kill -9": "pkill -KILL -f '^[^ ]*ld-linux'",
    "kill -9 the agent": "pkill -KILL -f 'agent.py --pipe'",
}


@pytest.mark.parametrize("kill", KILLS.values(), ids=KILLS)
@pytest.mark.long
def test_nothing_outlives_it(machine, kill):
    job = machine.start("pc", python(LONG))
    for _ in range(60):
        machine.sleep(0.5)
        if "up" in job.text:
            break
    machine.sleep(1)
    assert [line for line in left(machine) if line.startswith("s1")]
    assert machine.run("pc", kill, echo=False).status == 0
    machine.wait(job, limit_s=40)
    for _ in range(20):
        machine.sleep(0.5)
        if not left(machine):
            break
    assert left(machine) == [], job.text


@pytest.mark.long
def test_it_is_ended_from_another_thread(machine):
    job = machine.run("pc", python(STOPPED), echo=False, limit_s=120)
    assert job.text.splitlines() == ["interrupted", "for ever"] * 2
    assert left(machine) == []


def test_another_network_of_these_names_is_refused(machine):
    machine.run("pc", "ip link add s1 type bridge", echo=False)
    job = machine.run("pc", python(LONG), echo=False, limit_s=60)
    assert "s1 could not be set up" in job.text
    assert "mn -c" in job.text
    machine.run("pc", "ip link show s1 && ip link del s1", echo=False)
    assert left(machine) == []


@pytest.fixture
def bare(monkeypatch):
    """As if nothing of it were on this machine."""
    mininet.survey.cache_clear()
    monkeypatch.setitem(mininet.ENVIRONMENT, "PATH", "/nowhere")
    monkeypatch.setattr(mininet, "PYTHONS", ())
    yield
    mininet.survey.cache_clear()


def test_it_names_everything_that_is_missing(bare, monkeypatch):
    monkeypatch.setattr(mininet, "as_root", lambda *command: ["false"])
    with pytest.raises(nl.EngineError) as refused:
        MininetEngine()
    said = str(refused.value)
    assert "apt-get install bridge-utils ethtool iperf3 iproute2 mininet procps" in said
    assert "root: run as root" in said


def test_it_refuses_a_kernel_without_netem(bare, monkeypatch):
    monkeypatch.setattr(mininet, "PROGRAMS", {})
    monkeypatch.setattr(
        mininet, "output", lambda *command: None if mininet.TRY_NETEM in command else "2.3.0"
    )
    monkeypatch.setattr(mininet, "PYTHONS", ("python3",))
    with pytest.raises(nl.EngineError, match=r"netem and tbf in this kernel: .*modprobe sch_netem"):
        MininetEngine()


def test_it_has_real_time_only(monkeypatch):
    monkeypatch.setattr(mininet, "survey", lambda: ("python3", {}))
    with pytest.raises(nl.SpecificationError, match="'virtual': the mininet engine has real"):
        nl.Network(nl.wan(), clock="virtual", engine=MininetEngine())


TYPED = """
import netlab as nl
with nl.Network(nl.wan("20mbit", "20ms"), engine="mininet") as net:
    for number in range(20):
        assert net.type("h1", f"echo {number}", show=len).output == f"{number}\\n"
    net.type("h2", "cd /tmp; iperf3 -s", stays=True, show=len)
    assert net.type("h1", "iperf3 -c 10.0.0.2 -t 1; false", show=len).status == 1
    assert "terminated" in net.type("h2", "^C", show=len).text
    typed = net.type("h2", "pwd; pgrep -fc 'rcfile /dev/f[d]'", show=len)
    print("typed", typed.output.split())
"""


@pytest.mark.long
def test_lines_are_typed_on_two_bashes(machine):
    job = machine.run("pc", python(TYPED), echo=False, limit_s=120)
    assert "typed ['/tmp', '2']" in job.text, job.text
    assert left(machine) == []


LINE = """
import netlab as nl
path = nl.wan("10mbit", "20ms", pairs=1, serialise=True)
try:
    with nl.Network(path, engine="mininet") as net:
        pings = net.run("h1", "ping -c 3 -s 1472 10.0.0.2", echo=False).read().pings
        print("took", pings.rtt_s.min())
except nl.EngineError as error:
    print(error)
"""


@pytest.mark.long
def test_a_line_takes_its_time_and_what_it_added_is_gone(machine):
    job = machine.run("pc", python(LINE), echo=False, limit_s=120)
    assert 0.0212 <= float(job.text.split("took ")[-1]) < 0.04, job.text
    assert left(machine) == []


@pytest.mark.long
def test_a_line_s_interface_that_is_somebody_else_s_stays(machine):
    machine.run("pc", "ip link add s2-eth1-in type dummy", echo=False)
    job = machine.run("pc", python(LINE), echo=False, limit_s=120)
    assert "has an interface s2-eth1-in already" in job.text
    assert machine.run("pc", "ip link del s2-eth1-in", echo=False).status == 0
    assert left(machine) == []
