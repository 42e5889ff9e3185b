"""An engine at the other end of a line gives what it gives here, and leaves nothing there."""

import contextlib
import json
import math
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

import psutil
import pytest

import netlab as nl
from netlab.engines import evidence, serve
from netlab.engines.base import Connection, Engine
from netlab.engines.guest import machine, walls
from netlab.engines.jail import JailedEngine, contents
from netlab.engines.remote import PROTOCOL, RemoteEngine, command_for, remote
from netlab.engines.transports import Descriptors, JsonLines
from netlab.errors import installed
from tests.engines.afar import BUSY, EXPERIMENT, PATH, SERVE, Loud
from tests.programs import named


@pytest.fixture(scope="module")
def there(own_cpus):
    engine = RemoteEngine(SERVE)
    yield engine
    for server in engine.idle:
        server.close()


def guests():
    """Kernels of guests that this process, or one that it has started, has started."""
    return [one for one, name in named() if name == "linux"]


def test_it_says_what_the_engine_here_says(there):
    here = nl.engines.pick("guest")
    assert (there.clocks, there.at_once) == (here.clocks, here.at_once)
    assert there.about == here.about


def test_a_run_has_the_same_bytes(here, there, capsys):
    elsewhere = nl.run(EXPERIMENT, engine=there)
    assert elsewhere.raw == here.raw and elsewhere.commands == here.commands
    assert capsys.readouterr().out == here.printed
    assert {**elsewhere.provenance, "wall_s": 0} == {**here.provenance, "wall_s": 0}


def test_an_algorithm_runs_in_a_jail_there_where_that_is_asked_for(here, tmp_path):
    (tmp_path / "experiment.json").write_text(EXPERIMENT.to_json())
    command = ["-m", "netlab", "run", "experiment.json", "--engine", SERVE, "-o", "out"]
    done = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "loss at" not in done.stdout, done.stderr
    assert nl.load(tmp_path / "out").raw == here.raw


def test_a_line_has_one_network_after_the_other_and_several_at_once(there):
    with nl.Network(PATH, engine=there) as first, nl.Network(PATH, engine=there) as second:
        assert len(guests()) == 2
        texts = [one.run("h1", "ping -c 1 10.0.0.2", echo=False).text for one in (first, second)]
        assert texts[0] == texts[1] and not there.idle
    assert len(there.idle) == 2 and guests() == []
    kept = there.idle[-1]
    with nl.Network(PATH, engine=there) as third:
        assert third._connection.server is kept
        third.interrupt()  # which is closed quietly
    assert guests() == []


def test_a_sweep_runs_as_many_at_once_as_there_is_room_for(there, monkeypatch):
    connect, together = there.connect, threading.Barrier(2)

    def both(*what):
        together.wait(60)
        return connect(*what)

    monkeypatch.setattr(there, "at_once", 2)
    monkeypatch.setattr(there, "connect", both)
    grid = nl.sweep(
        lambda n: nl.Experiment(PATH, nl.Ping("h1", "h2", count=n)), n=[1, 2], engine=there
    )
    assert grid.n.tolist() == [1, 2, 2]


def test_ctrl_c_ends_what_runs_and_keeps_the_network(there):
    with nl.Network(PATH, engine=there) as net:
        threading.Timer(1, signal.raise_signal, [signal.SIGINT]).start()
        job = net.run("h1", BUSY, echo=False)
        assert job.status == 0 and net.clock < 600  # ping ends well at Ctrl-C
        assert net.run("h1", "echo on", echo=False).text == "on\n"
        threading.Timer(1, net.interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            net.run("h1", BUSY, echo=False)
    assert guests() == []


def test_an_error_comes_as_it_was_with_what_was_kept(there):
    with pytest.raises(nl.AlgorithmError, match=r"(?s)Loud\(2\) failed.*too many"):
        nl.run(PATH, nl.Iperf3("h1", "h2", congestion=Loud(losses=2), time=5), engine=there)
    net = nl.Network(PATH, engine=there)
    (kernel,) = guests()
    kernel.kill()
    with pytest.raises(nl.GuestError, match=r"the guest died") as died:
        net.run("h1", "true")
    assert [one.name for one in died.value.evidence.iterdir()] == ["console"]
    assert str(died.value.evidence) in str(died.value)


@pytest.mark.parametrize("who", ["here", pytest.param("there", marks=pytest.mark.long)])
def test_a_line_that_breaks_ends_the_network_on_both_sides(there, who):
    net = nl.Network(PATH, engine=there)
    program = net._connection.server.program.process
    if who == "there":
        program.kill()
    else:
        threading.Timer(0.5, program.stdin.close).start()
    with pytest.raises(nl.GuestError, match=r"has gone"):
        net.run("h1", BUSY, echo=False)
    until = time.monotonic() + 10
    while guests() and time.monotonic() < until:
        time.sleep(0.1)
    assert guests() == []
    net.close()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("exec:/nowhere/netlab", "/nowhere/netlab cannot be started: No such file"),
        ("exec:echo {}", "no netlab engine answers there"),
        ("exec:echo '{\"done\": true}'", "what answers there is no netlab engine"),
        ("exec:echo '{\"done\": tr'", "it sent what no agent sends"),
        ("exec:yes Welcome", "it says much, and nothing that an engine says"),
        ("exec:echo This account is not available.", r"This account is not available\."),
        ("exec:bash -c 'echo I am somebody else >&2; exit 3'", "I am somebody else"),
    ],
)
def test_who_is_no_engine_is_named(address, words):
    with pytest.raises(nl.EngineError, match=words):
        nl.engines.pick(address)


def test_ctrl_c_ends_a_wait_for_an_answer_to_hello():
    before = psutil.Process().children()
    threading.Timer(1, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        RemoteEngine("exec:sleep 1000")
    assert psutil.Process().children() == before


def test_another_thread_may_ask_what_has_been_observed(there):
    experiment = nl.Experiment(PATH, nl.Iperf3("h1", "h2", time=1), nl.Windows("h1"))
    (name, watch), *_ = [
        (item.output_name(place.flow, program.name), program.watch)
        for item, place in experiment.places
        for program in item.programs(place)
        if program.watch
    ]
    with nl.Network(PATH, engine=there) as net:
        assert net.watch({name: watch})
        texts = []
        thread = threading.Timer(0.3, lambda: texts.append(net.watched(0)))
        thread.start()
        assert net.run("h1", "timeout 10 " + BUSY, echo=False).status == 124  # of timeout
        thread.join(10)
    assert texts and texts[0].keys() == {name}


UP = {"op": "up", "hosts": [["pc", "10.0.0.1/8"]], "switches": [], "links": [], "setup": []}
SAYS = {"done": True, "name": "guest", "digest": "0" * 12, "clocks": ["virtual"], "at_once": 1}
KNOWS = {"kernel": "0", "iperf3": "0", "mininet": "0", "congestion": []}
FAILED = {"kind": "GuestError", "text": "", "fields": {}}


@pytest.mark.parametrize(
    "answers",
    [
        [SAYS],  # without `about`
        [SAYS | {"about": "x"}],
        [SAYS | {"about": {}}],
        [SAYS | {"about": KNOWS, "clocks": []}],
        [SAYS | {"about": KNOWS, "at_once": "many"}],
        [{"done": True, "raise": "x"}],
        [SAYS | {"about": KNOWS}, {"event": 5}],
        [SAYS | {"about": KNOWS}, "text"],
        [SAYS | {"about": KNOWS}, {"done": True}, {"done": True}],  # without `clock_ns`
        [SAYS | {"about": KNOWS}, {"done": True}, {"done": True, "clock_ns": "1"}],
        [SAYS | {"about": KNOWS}, {"job": 1}],
        [SAYS | {"about": KNOWS}, {"id": 7, "done": True}],
        [SAYS | {"about": KNOWS}, {"waiting": "x"}, {"done": True}, {"done": True}],
        [SAYS | {"about": KNOWS}, {"done": True, "raise": {"kind": "Exception"}}],
        [SAYS | {"about": KNOWS}, {"done": True, "raise": FAILED | {"fields": [1]}}],
        [SAYS | {"about": KNOWS}, {"done": True, "raise": FAILED | {"kept": []}}],
        [SAYS | {"about": KNOWS}, {"done": True, "raise": FAILED | {"kept": {"files": {"\0": 1}}}}],
    ],
)
def test_what_no_engine_says_is_an_error_of_netlabs(answers, says):
    with pytest.raises(nl.NetlabError):
        nl.run(PATH, nl.Ping("h1", "h2"), engine=says(*answers))


CONTROLS = "red \x9b31m bell \a return \r turned \u202e escape \x1b[2J line\u2028two\nthree\tfour"


def test_nothing_that_a_server_says_controls_a_terminal_or_sets_what_an_error_is(says, capsys):
    fields = {"console": "c", "evidence": "/etc", "args": 1, "__notes__": "n", "x": 2}
    said = {"kind": "GuestError", "text": CONTROLS, "fields": fields}
    about = KNOWS | {"kernel": CONTROLS}
    address = says(SAYS | {"about": about}, {"printed": CONTROLS}, {"done": True, "raise": said})
    with pytest.raises(nl.GuestError) as raised:
        nl.run(PATH, nl.Ping("h1", "h2"), engine=address)
    error = raised.value
    assert vars(error) == {"console": "c", "evidence": None}
    for text in (
        str(error),
        "".join(traceback.format_exception(error)),
        repr(remote(address)),
    ):
        assert set(text) & set("\x9b\a\r\u202e\x1b\u2028") == set()
    assert "three\tfour" in str(error) and "\n" in str(error)
    printed = capsys.readouterr().out
    assert "turned ? escape" in printed and "\nthree\tfour" in printed


def test_a_greeting_before_the_first_answer_is_passed_over(says):
    banner = f"Welcome to the lab!\n{CONTROLS}\n[1]\nno newline: "
    engine = RemoteEngine(says(SAYS | {"about": KNOWS}, banner=banner))
    assert engine.name == "guest"


def test_who_hears_what_happens_may_ask_what_was_watched_however_much_waits(says):
    """It asks in an `on_event`, and the answer lies behind many others."""
    ticks = [{"id": 3, "tick": number} for number in range(100_000)]
    done = {"id": 3, "done": True, "clock_ns": 1, "status": [], "ended_by": ""}
    texts = {"done": True, "texts": {}}
    engine = RemoteEngine(
        says(SAYS | {"about": KNOWS}, {"done": True}, *ticks, {"id": 4, **texts}, done)
    )
    connection, heard = engine.connect(1, "virtual", 60), []

    def hear(event):
        heard.append(event["tick"])
        if len(heard) == 1:
            heard.append(connection.ask(op="watched", began_ns=0)["texts"])

    asking = threading.Thread(target=connection.ask, args=(hear,), kwargs={"op": "wait"})
    asking.daemon = True
    asking.start()
    asking.join(60)
    assert not asking.is_alive() and heard == [0, {}, *range(1, len(ticks))]


def test_a_server_that_does_not_say_what_was_watched_has_the_wall_limit(says, monkeypatch):
    monkeypatch.setattr("netlab.engines.remote.LATER_S", 0)
    engine = RemoteEngine(says(SAYS | {"about": KNOWS}, {"done": True}))
    connection = engine.connect(1, "virtual", 0.5)
    with pytest.raises(nl.LimitError, match=r"its limit of 0.5 wall-clock seconds"):
        connection.ask(op="watched", began_ns=0)
    assert connection.channel.ended


class Nothing(Engine, Connection):
    """Stands for an engine, and for its networks: every question waits until it is told to go."""

    name, digest, about, clocks, at_once = "guest", "0" * 12, {"kernel": "0"}, ("virtual",), 1

    def __init__(self):
        self.may_go, self.running = threading.Event(), 0

    def connect(self, *_):
        self.place = contextlib.ExitStack()
        self.place.enter_context(self.cpu())
        self.running += 1
        return self

    def carry_out(self, on_event, question):
        op = question["op"]
        on_event({"tick": 1})
        while op == "up" and not self.may_go.is_set():
            on_event({"job": 1, "out": "x" * 100_000})
        self.may_go.wait(10)
        return {"clock_ns": 1}

    def do_algorithms(self, algorithms, seed):
        return {}

    def interrupt(self):
        self.may_go.set()

    def close(self):
        self.running -= 1
        self.place.close()


class Client:
    """The client's end of a line to a server in this process, and what serves it."""

    def __init__(self, engine, shared):
        self.number = 0
        self.here, self.there = socket.socketpair()
        self.heard, self.engine = self.here.makefile("rb"), engine
        self.there.setblocking(False)
        number = self.there.fileno()
        lines = JsonLines(Descriptors(number, number), serve.MOST_BYTES)
        self.served = serve.Client(lines, engine, shared)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with self.there:
            self.served.serve()

    def send(self, data):
        """Send bytes, or a message, as far as the other end takes them."""
        with contextlib.suppress(OSError):
            self.here.sendall(
                data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n"
            )

    def ask(self, op, **what):
        """Send a question; -> its answer, None where the other end hangs up."""
        self.number += 1
        self.send({"id": self.number, "op": op, **what})
        with contextlib.suppress(OSError):
            for line in self.heard:
                told = json.loads(line)
                assert told.pop("id") == self.number
                if told.pop("done", False):
                    return told
        return None

    def leave(self):
        with contextlib.suppress(OSError):  # the other end has left
            self.here.shutdown(socket.SHUT_RDWR)
        self.heard.close()
        self.here.close()

    def ended(self, within_s=60):
        self.thread.join(within_s)
        return not self.thread.is_alive()


@pytest.fixture
def meet(tmp_path, monkeypatch):
    """A function: a client more of this machine, with an engine of its own, who has said hello. At
    the end all lines end, and nothing is left.
    """
    monkeypatch.setattr(machine.tempfile, "tempdir", str(tmp_path))  # nobody else's guests
    served, clients = guests(), []

    def connect(engine=None, shared=False, hello=HELLO):
        clients.append(Client(engine or Nothing(), shared))
        if hello:
            assert clients[-1].ask("hello", **hello)["digest"] == clients[-1].engine.digest
        return clients[-1]

    yield connect
    for client in clients:
        client.leave()
    assert all(client.ended() for client in clients)
    assert not machine.somebody_waits() and guests() == served
    engines = [one.engine for one in clients if isinstance(one.engine, Nothing)]
    assert not any(engine.running for engine in engines)
    cpu = machine.free_cpu(1)
    assert cpu, "nobody has one"
    os.close(cpu[0])


HELLO = {"protocol": PROTOCOL, "netlab": installed().version}
CONNECT = {"op": "connect", "seed": 1, "clock": "virtual", "limit_s": 5}


def test_who_has_another_netlab_is_told_so_and_may_not_try_again(meet):
    for wrong in ({"protocol": 1}, {"netlab": "0.0"}):
        for what in (CONNECT, {"op": "hello"} | HELLO | wrong, {"op": "hello"}):
            client = meet(hello=None)
            assert client.ask(**what).keys() == {"raise"}
            assert client.ask("hello", **HELLO) is None
    assert meet().ask(**CONNECT) == {}


def test_what_makes_no_sense_is_an_error_and_the_line_goes_on(meet):
    client = meet()
    for what in (
        {"op": "up"},  # nothing is connected
        {"op": "watched", "began_ns": 0},
        CONNECT | {"clock": "sundial"},
        CONNECT | {"seed": []},
        CONNECT | {"limit_s": math.nan},
        CONNECT | {"seed": 1 << 63},
        CONNECT | {"limit_s": "5"},
        CONNECT | {"more": 1},
        {"op": "close", "seed": 1},
        {"op": "evil"},
        {"op": ["up"]},
        {"op": "hello", **HELLO},
        {"op": "watch", "watches": {"a": ["windows"]}},
    ):
        assert client.ask(**what)["raise"]["kind"] in ("EngineError", "SpecificationError")
        assert client.ask(**CONNECT) == {} and client.ask("close") == {}


def test_who_waits_may_give_up(meet):
    first, other = meet(), meet()
    assert first.ask(**CONNECT) == {}
    threading.Timer(0.5, other.send, [{"op": "key", "key": "I"}]).start()
    assert "nobody waits" in other.ask(**CONNECT)["raise"]["text"]
    assert first.engine.running == 1 and not machine.somebody_waits()
    assert first.ask("close") == other.ask(**CONNECT) == {}


def test_a_network_of_nobody_is_ended_where_somebody_waits(meet, monkeypatch):
    monkeypatch.setattr(serve, "IDLE_S", 0.5)
    monkeypatch.setattr(serve, "LOOK_S", 0.1)
    first = meet()
    assert first.ask(**CONNECT) == {}
    time.sleep(2)
    assert first.engine.running == 1, "nobody waits for its CPU"
    assert meet().ask(**CONNECT) == {} and first.ended()


def test_in_a_shared_account_python_runs_in_a_jail_and_a_network_has_an_end(meet, monkeypatch):
    engine, limits = Nothing(), []
    connect, engine.at_once = engine.connect, 16
    monkeypatch.setattr(engine, "connect", lambda *what: limits.append(what[2]) or connect(*what))
    client = meet(engine, shared=True, hello=None)
    assert client.ask("hello", **HELLO, jailed=False)["at_once"] == serve.SHARED_AT_ONCE
    client.ask(**CONNECT | {"limit_s": 1e9})
    assert limits == [serve.SHARED_WALL_S]


@pytest.fixture
def shared(monkeypatch):
    """What `netlab engine serve --shared` serves, without a client."""
    found = []
    monkeypatch.setattr(serve.Client, "serve", lambda client: found.append(client))
    monkeypatch.setattr(evidence, "_kept", [True])
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    monkeypatch.setattr(os, "set_blocking", lambda *_: None)
    return found


def test_a_shared_account_has_jails_and_keeps_nothing(shared):
    serve.over_standard_input(shared=True)
    (client,) = shared
    assert isinstance(client.engine, JailedEngine) and client.shared
    assert evidence.save("guest", {"console": ""}) == ("", None)
    for number in (client.lines.stream.target, client.lines.stream.source):
        os.close(number)


def test_a_shared_account_needs_two_walls(shared, monkeypatch):
    monkeypatch.setattr(walls, "here", lambda: {"files": "", "user": "no root", "calls": "none"})
    monkeypatch.delenv("NETLAB_ONE_WALL", raising=False)
    with pytest.raises(nl.EngineError, match=r"two walls .* 1 holds .*user: no root; calls: none"):
        serve.over_standard_input(shared=True)
    assert shared == []


def test_a_shared_account_needs_what_jails_need(shared, monkeypatch):
    monkeypatch.setattr(contents, "PACKAGES", [*contents.PACKAGES, "netlab-nowhere"])
    with pytest.raises(nl.EngineError, match=r"needs the Python package netlab-nowhere"):
        serve.over_standard_input(shared=True)
    assert shared == []


CONVERSATION = [{}, CONNECT, {"op": "wait"}]
HOSTILE = {
    "it ends": b"",
    "no JSON": b"{\n",
    "no object": b"[1]\n",
    "deep": b"[" * 100_000 + b"\n",
    "no end": b"a" * (serve.MOST_BYTES + 1_000_000),
    "no op": b"{}\n",
    "no key": b'{"op": "key", "key": "III"}\n',
    "nothing is watched": b'{"op": "watched", "began_ns": []}\n',
    "two at a time": b'{"op": "wait"}\n' * 2,
    "it reads nothing": b'{"op": "up"}\n',
}


@pytest.mark.parametrize("stage", range(len(CONVERSATION) + 1))
@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE)
def test_whoever_misbehaves_leaves_the_cpu_to_others(sent, stage, meet, monkeypatch):
    monkeypatch.setattr(serve, "TAKEN_S", 1)
    monkeypatch.setattr(serve, "LOOK_S", 0.1)
    client = meet(hello=HELLO if stage else None)
    for message in CONVERSATION[1:stage]:
        if message["op"] == "wait":
            client.send(message)
        else:
            assert client.ask(**message) == {}
    client.send(sent)
    if b"up" not in sent or stage != 2:
        client.leave()
    assert client.ended(20)


def test_a_storm_of_keys_leaves_nothing(meet):
    client = meet(JailedEngine())
    assert client.ask(**CONNECT | {"limit_s": 60}) == {}
    client.send(UP | {"setup": [["pc", "while :; do :; done"]]})
    for _ in range(200):
        client.send(b'{"op": "key", "key": "I"}\n' * 400)


@pytest.mark.parametrize("after_s", [0, 1])
def test_a_jail_ends_with_the_line_also_while_it_starts(after_s, meet):
    client = meet(JailedEngine())
    client.ask(**CONNECT | {"limit_s": 3600})
    endless = "while True: pass\nclass A(CongestionControl): pass"
    algorithm = {"name": "A", "parameters": {}, "source": endless}
    client.send({"op": "algorithms", "algorithms": [algorithm], "seed": 1})
    time.sleep(after_s)


@pytest.mark.long
def test_a_fork_has_lines_of_its_own(there):
    def run():
        nl.run(PATH, nl.Ping("h1", "h2", count=1), engine=there)

    def in_the_fork():
        run()
        assert not {*there.idle} & {*kept}

    kept = [*there.idle]
    fork = multiprocessing.get_context("fork").Process(target=in_the_fork)
    fork.start()
    fork.join()
    run()
    assert fork.exitcode == 0 and kept and there.idle == kept


def test_the_address_of_ssh_is_no_option_and_no_shell():
    addresses = "ssh://lab", "ssh://-oProxyCommand=x", "ssh://a@b:22/opt/x;y/netlab"
    assert [command_for(address)[-2:] for address in addresses] == [
        ["ssh://lab", "netlab engine serve"],
        ["ssh://-oProxyCommand=x", "netlab engine serve"],
        ["ssh://a@b:22", "'/opt/x;y/netlab' engine serve"],
    ]
