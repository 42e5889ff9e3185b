import gc
import hashlib
import os
import signal
import tempfile
import threading
import time
import warnings

import psutil
import pytest
from jupyter_client.manager import start_new_kernel

from netlab import CommandError, EmulationError, Iperf3, Network, SpecificationError, Topology, wan
from netlab import run as run_experiment
from netlab.engines.base import Watch
from netlab.engines.guest.machine import run_folder
from netlab.errors import EngineError, LimitError
from tests import cases
from tests.running import scripted


def session(pause_s):
    """Fourteen commands with pauses between them; -> a digest of every byte that was printed, and
    of the clock after each.
    """
    seen = []

    def note(done):
        seen.extend([getattr(done, "text", None), getattr(done, "status", None), net.clock])
        time.sleep(pause_s)
        return done

    with Network(wan("100mbit", "20ms", "0.1%"), seed=3) as net:
        chance = "date +%s.%N; od -An -tx1 -N16 /dev/urandom; cat /proc/interrupts"
        note(net.run("h1", chance, echo=False))
        note(net.run("h1", "ping -c 4 10.0.0.2", echo=False))
        server = note(net.start("h2", "iperf3 -s"))
        note(net.sleep(0.5))
        note(net.run("h1", "iperf3 -c 10.0.0.2 -t 3 -P 2 -J", echo=False))
        note(net.sleep(1))
        note(net.run("h1", "iperf3 -c 10.0.0.2 -u -b 20M -t 2 -i 0.5", echo=False))
        note(net.sleep(1))
        flow = note(net.start("h1", "iperf3 -c 10.0.0.2 -t 5 --forceflush"))
        note(net.sleep(1.5))
        note(net.run("h1", "ping -c 3 10.0.0.2", echo=False))  # while the flow is running
        note(flow.wait())
        note(net.run("h2", "ss -tin; cat /proc/net/snmp", echo=False))
        note(server.stop())
    return hashlib.sha256(repr(seen).encode()).hexdigest()


@pytest.mark.long
def test_a_session_repeats_to_the_byte_however_long_one_thinks():
    assert session(0) == session(0.1)


def test_time_stands_still_and_costs_nothing_between_commands(network):
    text = network.run("h1", "ping -c 4 10.0.0.2", echo=False).text
    times = [float(part.split()[0]) for part in text.split("time=")[1:]]
    # the first echo waits for ARP, which crosses the link too
    assert times == pytest.approx([40, 20, 20, 20], abs=0.1)
    before, used, guest_cpu = network.clock, os.times(), cpu_seconds(network)
    time.sleep(1)
    assert network.clock == before
    assert cpu_seconds(network) - guest_cpu < 0.01, "an idle guest must use less than 1 % of a core"
    assert os.times().user - used.user < 0.01
    network.sleep(1)
    assert network.clock == pytest.approx(before + 1, abs=0.001)


def cpu_seconds(network):
    times = psutil.Process(network._connection.kernel).cpu_times()
    return times.user + times.system


def test_ctrl_c_ends_the_command_and_the_second_kills_what_ignores_the_first(network):
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    job = network.run("h1", "ping 10.0.0.2", limit_s=10**6, echo=False)
    assert "packets transmitted" in job.text and job.status == 0, "ping sums up at Ctrl-C"
    for delay in (1, 1.5):
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)).start()
    job = network.run("h1", "trap '' INT; while sleep 1; do :; done", limit_s=10**7, echo=False)
    assert job.status == -signal.SIGKILL
    assert network.run("h1", "true").status == 0


def test_a_command_that_does_not_end_is_ended_at_its_virtual_limit(network):
    with pytest.raises(CommandError, match=r"5 virtual seconds") as ended:
        network.run("h1", "echo begun; sleep 1000", limit_s=5, echo=False)
    assert ended.value.output == "begun\n"
    with pytest.raises(CommandError):  # needs SIGKILL, makes no system call
        network.run("h1", "trap '' INT; while true; do :; done", limit_s=0.1, echo=False)
    assert network.run("h1", "true").status == 0


def test_what_a_person_would_type_is_run_shown_and_kept(network, capsys):
    server = network.start("h2", "iperf3 -s")
    network.sleep(0.5)
    assert network.commands[-2:] == ["h2 iperf3 -s &", "sh sleep 0.5"]
    delay = "s1 tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms limit 1000000"
    assert delay in network.commands
    assert server.status is None and "Server listening" in server.text
    assert "terminated" in server.stop().text and server.status is not None
    assert server.stop() is server, "stopping twice is harmless"
    network.run("h1", "echo one; sleep 1; echo two")
    assert capsys.readouterr().out == "one\ntwo\n"
    text = network.run("h1", "seq 100000", echo=False).text
    assert text == "".join(f"{n}\n" for n in range(1, 100001)), "longer than a message"
    longest = "echo " + "x" * (131_071 - len("echo "))
    assert len(network.run("h1", longest, echo=False).text) == 131_067
    # switches and routers, too; traffic is sent by hosts only
    shown = network.run("s1", "tc qdisc show dev s1-eth2", echo=False)
    assert shown.text.startswith("qdisc netem 1: root refcnt 2 limit 1000000 delay 20ms")
    assert network.commands[-1] == "s1 tc qdisc show dev s1-eth2"
    names = network.run("s2", "ls /sys/class/net", echo=False).text.split()
    assert {"s1-eth1", "s2-eth1"} <= set(names), "switches share one network namespace"
    with pytest.raises(SpecificationError, match=r"'s1'.*hosts are h1, h2, h3, h4"):
        run_experiment(wan(), Iperf3("s1", "h2"))


NO_NUMBER = [-1, float("nan"), float("inf"), "5", None, True, 10**10]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (lambda net: net.run("h9", "true"), "host = 'h9': this network's nodes are h1, h2, s1"),
        (lambda net: net.run(net.topology.hosts[0], "true"), r"host = Host\(.* are h1, h2"),
        (lambda net: net.start(["h1"], "true"), r"host = \['h1'\]: .* are h1, h2"),
        (lambda net: net.run("h1", ""), "command = '': a line for bash"),
        (lambda net: net.run("h1", ["ls"]), r"command = \['ls'\]: a line for bash"),
        (lambda net: net.run("h1", "a\0b"), r"command = 'a\\x00b': .*NUL"),
        (lambda net: net.run("h1", "a\ud800"), r"command = 'a\\ud800': .*surrogate"),
        (lambda net: net.start("h1", "x" * 131_072), "x.*: it has 131072 bytes.* 131071"),
        (lambda net: net.run("h1", "é" * 65_536), "it has 131072 bytes"),
        (lambda net: net.wait("h1"), "jobs: 'h1' is not a job of this network"),
        (lambda net: net.sleep(1_000_001), "seconds = 1000001: .*from 0 to 1,000,000"),
    ],
)
def test_a_bad_call_is_refused_and_nothing_is_sent(bad, words):
    network = scripted.network()
    asked = len(network.engine.questions)
    with pytest.raises(SpecificationError, match=words):
        bad(network)
    assert len(network.engine.questions) == asked
    assert network.commands == scripted.network().commands


@pytest.mark.parametrize("value", NO_NUMBER, ids=repr)
def test_what_is_no_length_of_time_is_refused_and_nothing_is_sent(value):
    network = scripted.network()
    job, asked = network.start("h1", "true"), len(network.engine.questions)
    calls = [
        ("limit_s", lambda: network.run("h1", "true", limit_s=value)),
        ("limit_s", lambda: network.wait(job, limit_s=value)),
        ("limit_s", lambda: job.wait(limit_s=value)),
        ("seconds", lambda: network.sleep(value)),
    ]
    if value is not None:  # which is netlab's own limit
        calls.append(("wall_limit_s", lambda: Network(wan(), wall_limit_s=value)))
    for field, call in calls:
        with pytest.raises(SpecificationError, match=f"{field} = {value!r}: a number of seconds"):
            call()
    assert len(network.engine.questions) == asked


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": "one"}, "seed = 'one'"),
        ({"seed": True}, "seed = True"),
        ({"seed": -1}, "seed = -1"),
        ({"clock": "fast"}, "virtual, cpu, real"),
        ({"clock": ""}, "clock = ''"),
        ({"engine": "mine"}, "'mine'.*guest"),
        ({"wall_limit_s": 0}, "wall_limit_s = 0"),
        ({"topology": wan().hosts[0]}, r"topology = Host\(.*: a netlab.Topology"),
    ],
)
def test_bad_options_are_refused_before_anything_starts(options, words):
    with pytest.raises(SpecificationError, match=words):
        Network(**{"topology": wan()} | options)


@pytest.mark.parametrize(("given", "limit_s"), [({}, 3600), ({"wall_limit_s": 7}, 7)])
def test_a_network_has_an_hour_or_what_it_is_given(given, limit_s):
    class Told(scripted.Scripted):
        def connect(self, seed, clock, wall_limit_s):
            raise LimitError(f"{wall_limit_s:g}")

    with pytest.raises(LimitError, match=f"^{limit_s}$"):
        Network(wan(), engine=Told(), **given)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tc qdisc add dev h2-eth0 root netem2", r"h2 could not be set up.*netem2"),
        ("ip link set h2-eth0 down", r"no answer to 2 pings between h1 and h2"),
    ],
)
def test_what_did_not_come_up_is_refused(monkeypatch, line, words):
    honest = Topology.setup
    monkeypatch.setattr(Topology, "setup", lambda self: [*honest(self), ("h2", line)])
    with pytest.raises(EmulationError, match=words):
        Network(wan("100mbit", "20ms"))


@pytest.mark.parametrize("clock", cases(["cpu", "real"]))
def test_other_clocks_run_too(clock):
    with Network(wan("100mbit", "20ms"), clock=clock) as net:
        assert "2 received" in net.run("h1", "ping -c 2 10.0.0.2", echo=False).text


def test_the_stop_button_of_a_notebook_ends_the_command_and_keeps_the_network():
    manager, client = start_new_kernel(kernel_name="python3")
    printed = []

    def execute(code):
        printed.clear()
        hook = lambda message: printed.append(message["content"].get("text", ""))  # noqa: E731
        reply = client.execute_interactive(code, timeout=60, output_hook=hook)
        assert reply["content"]["status"] == "ok"
        return "".join(printed)

    try:
        execute("import netlab as nl; net = nl.Network(nl.wan('100mbit', '20ms'))")
        threading.Timer(2, manager.interrupt_kernel).start()
        ping = "net.run('h1', 'ping 10.0.0.2', limit_s=10**7, echo=False)"
        assert "packets transmitted" in execute(f"print({ping}.text)")
        still = "net.run('h1', 'echo still here', echo=False)"
        assert execute(f"print({still}.text); net.close()") == "still here\n\n"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def left():
    """What this process holds: descriptors, children, and folders of guests."""
    own = psutil.Process()
    return own.num_fds(), own.children(), sorted(run_folder().glob("guest-*"))


def test_a_network_that_is_dropped_leaves_nothing_and_warns(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    Network(wan("100mbit")).close()  # what is opened once, such as random numbers' file
    gc.collect()  # what other tests left
    before = left()
    net = Network(wan("100mbit"))
    job = net.run("h1", "echo done", echo=False)
    with pytest.warns(ResourceWarning, match="close"):
        del net
        gc.collect()
    assert left() == before
    assert job.text == "done\n"
    with warnings.catch_warnings(), Network(wan("100mbit")) as net:
        warnings.simplefilter("error")
        net.close()
        del net
        gc.collect()


def test_a_fork_that_drops_a_network_leaves_its_parents(network):
    dropped = Network(wan("100mbit"))
    if not (child := os.fork()):
        try:
            dropped.ctrl_c()
            dropped.interrupt()
            del dropped
            gc.collect()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert dropped.run("h1", "echo still here", echo=False).text == "still here\n"
    dropped.close()
    with pytest.raises(EngineError, match=r"has been closed; .* opens another"):
        dropped.run("h1", "true")
    # what it told the kernel by may be another file's by now
    with open(os.devnull, "wb"), pytest.raises(EngineError, match="has been closed"):
        dropped.watch({"w": Watch("windows", "10.0.0.1", 0)})
