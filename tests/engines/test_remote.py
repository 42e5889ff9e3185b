"""An engine at the other end of a line gives what it gives here, and leaves nothing there."""

import contextlib
import json
import math
import multiprocessing
import os
import re
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
from netlab.engines import json_lines, listen, remote_line, serve
from netlab.engines.agent_line import LineDown
from netlab.engines.guest import walls
from netlab.engines.jail import JailedEngine
from netlab.engines.places import Places
from netlab.engines.remote import RemoteEngine, remote
from netlab.errors import installed
from tests.engines.afar import BUSY, EXPERIMENT, PATH, SERVE, Loud


@pytest.fixture(scope="module")
def there():
    engine = RemoteEngine(SERVE)
    yield engine
    for line in engine.idle:
        line.close()


def guests():
    """Kernels of guests that this process, or one that it has started, has started."""
    return [one for one in psutil.Process().children(recursive=True) if one.name() == "linux"]


def test_it_says_what_the_engine_here_says(there):
    here = nl.engines.pick("guest")
    assert (there.clocks, there.at_once) == (here.clocks, here.at_once)
    assert there.about == here.about | {"slower": 1}


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
        assert third._agent.line is kept
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
    program = net._agent.line.program
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
        ("exec:bash -c 'echo I am somebody else >&2; exit 3'", "I am somebody else"),
        ("tcp://127.0.0.1:1", "nobody answers there"),
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
SAYS = {"name": "guest", "digest": "0" * 12, "clocks": ["virtual"], "at_once": 1, "done": True}
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
        [{"event": 5}],
        ["text"],
        [SAYS | {"about": KNOWS}, {"event": {"place": 1}}, {"done": True}, {"done": True}],
        [SAYS | {"about": KNOWS}, {"done": True, "raise": {"kind": "Exception"}}],
        [SAYS | {"about": KNOWS}, {"done": True, "raise": FAILED | {"fields": [1]}}],
        [SAYS | {"about": KNOWS}, {"done": True, "raise": FAILED | {"kept": []}}],
        [SAYS | {"about": KNOWS}, {"done": True, "raise": FAILED | {"kept": {"files": {"\0": 1}}}}],
    ],
)
def test_what_no_engine_says_is_an_error_of_netlabs(answers, tmp_path):
    (tmp_path / "says.py").write_text(
        f"import sys, json\nfor one in {answers!r}:\n"
        "    print(json.dumps(one), flush=True)\nsys.stdin.read()"
    )
    with pytest.raises(nl.NetlabError):
        nl.run(PATH, nl.Ping("h1", "h2"), engine=f"exec:{sys.executable} {tmp_path}/says.py")


CONTROLS = "red \x9b31m bell \a return \r turned \u202e escape \x1b[2J line\u2028two\nthree\tfour"


def test_nothing_that_a_server_says_controls_a_terminal_or_sets_what_an_error_is(tmp_path, capsys):
    fields = {"console": "c", "evidence": "/etc", "args": 1, "__notes__": "n", "x": 2}
    said = {"kind": "GuestError", "text": CONTROLS, "fields": fields}
    about = KNOWS | {"kernel": CONTROLS}
    answers = [SAYS | {"about": about}, {"printed": CONTROLS}, {"done": True, "raise": said}]
    (tmp_path / "says.py").write_text(
        f"import sys, json\nfor one in {answers!r}:\n"
        "    print(json.dumps(one), flush=True)\nsys.stdin.read()"
    )
    with pytest.raises(nl.GuestError) as raised:
        nl.run(PATH, nl.Ping("h1", "h2"), engine=f"exec:{sys.executable} {tmp_path}/says.py")
    error = raised.value
    assert vars(error) == {"console": "c", "evidence": None}
    engine = remote(f"exec:{sys.executable} {tmp_path}/says.py")
    for text in (str(error), "".join(traceback.format_exception(error)), repr(engine)):
        assert set(text) & set("\x9b\a\r\u202e\x1b\u2028") == set()
    assert "three\tfour" in str(error) and "\n" in str(error)
    printed = capsys.readouterr().out
    assert "turned ? escape" in printed and "\nthree\tfour" in printed


class Nothing:
    """Stands for an engine, and for its networks: every question waits until it is told to go."""

    name, digest, about, clocks, at_once = "guest", "0" * 12, {"kernel": "0"}, ("virtual",), 1

    def __init__(self):
        self.may_go, self.running = threading.Event(), 0

    def connect(self, *_):
        self.running += 1
        return self

    def ask(self, on_event, op):
        on_event({"tick": 1})
        while op == "flood" and not self.may_go.is_set():
            on_event({"out": "x" * 100_000})
        self.may_go.wait(10)
        return {"clock_ns": 1}

    def answer_by(self, algorithms, seed):
        """There are none."""

    def interrupt(self):
        self.may_go.set()

    def close(self):
        self.running -= 1


class Client:
    """The client's end of a line to a server in this process, and what serves it."""

    def __init__(self, engine, places, token):
        self.here, there = socket.socketpair()
        self.heard = self.here.makefile("rb")
        arguments = there, engine, places, "eve", token
        self.thread = threading.Thread(target=listen.serve_socket, args=arguments, daemon=True)
        self.thread.start()

    def send(self, data):
        """Send bytes, or a message, as far as the other end takes them."""
        with contextlib.suppress(OSError):
            self.here.sendall(
                data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n"
            )

    def ask(self, **what):
        """Send a message; -> its answer, None where the other end hangs up."""
        self.send(what)
        with contextlib.suppress(OSError):
            for line in self.heard:
                if (told := json.loads(line)).pop("done", False):
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
def meet():
    """A function: a stranger more on a line to the same engine and places, who has said hello. At
    the end all lines end, and nothing is left.
    """
    served, engine, places, clients = guests(), Nothing(), Places(1), []

    def connect(engine=engine, places=places, token="right", hello=HELLO):
        clients.append(Client(engine, places, token))
        clients[-1].engine, clients[-1].places = engine, places
        if hello:
            assert clients[-1].ask(hello=hello)["digest"] == engine.digest
        return clients[-1]

    yield connect
    for client in clients:
        client.leave()
    assert all(client.ended() for client in clients)
    assert all(client.places.taken == client.places.waiting == [] for client in clients)
    assert engine.running == 0 and guests() == served


HELLO = {"protocol": 1, "netlab": installed().version, "token": "right"}
CONNECT = {"connect": [1, "virtual", 5]}


def test_who_has_not_the_token_is_told_nothing_and_may_not_try_again(meet):
    for wrong in ({"token": "wrong"}, {"protocol": 2}, {"netlab": "0.0"}):
        for what in (CONNECT, {"hello": HELLO | wrong}):
            client = meet(hello=None)
            answer = client.ask(**what)
            assert answer.keys() == {"raise"} and "right" not in answer["raise"]["text"]
            assert client.ask(hello=HELLO) is None
    assert meet().ask(**CONNECT) == {}


def test_what_makes_no_sense_is_an_error_and_the_line_goes_on(meet):
    client = meet(token=None)
    for what in (
        {"ask": {"op": "up"}},  # nothing is connected
        {"connect": [1, "sundial", 5]},
        {"connect": [[], "virtual", 5]},
        {"connect": [1, "virtual", math.nan]},
        {"connect": [1 << 63, "virtual", 5]},
        {"connect": [1, "virtual", "5"]},
        {"close": 1, "connect": 1},
        {"evil": 1},
        {"watch": {"a": ["windows"]}},
    ):
        assert client.ask(**what)["raise"]["kind"] in ("EngineError", "SpecificationError")
        assert client.ask(**CONNECT) == {} and client.ask(close=True) == {}
    assert client.ask(**CONNECT) == client.ask(answer_by=[[], 1]) == {}
    assert "has its algorithms already" in client.ask(answer_by=[[], 1])["raise"]["text"]


def test_so_many_at_once_and_of_each_client_so_many():
    places, order = Places(2, each=1), []

    def take(client, until):
        with places.one(client, lambda place: order.append((client, place)), lambda: None):
            order.append((client, 0))
            until.wait(10)

    events = [threading.Event() for _ in range(4)]
    threads = []
    for client, event in zip(["ada", "ada", "bob", "cy"], events, strict=True):
        threads.append(threading.Thread(target=take, args=(client, event)))
        threads[-1].start()
        time.sleep(0.1)
    assert order == [("ada", 0), ("ada", 1), ("bob", 0), ("cy", 2)]
    for event in events:
        event.set()
    for thread in threads:
        thread.join(10)
    assert order[4:] and {one for one in order if not one[1]} == {("ada", 0), ("bob", 0), ("cy", 0)}
    assert places.taken == places.waiting == []


def test_who_waits_may_give_up(meet):
    first, other = meet(), meet(token=None)
    assert first.ask(**CONNECT) == {}
    threading.Timer(0.5, other.send, [{"key": "I"}]).start()
    assert "nobody waits" in other.ask(**CONNECT)["raise"]["text"]
    assert first.engine.running == 1 and first.places.waiting == []
    assert first.ask(close=True) == other.ask(**CONNECT) == {}


CONVERSATION = [{}, CONNECT, {"ask": {"op": "wait"}}]
HOSTILE = {
    "it ends": b"",
    "no JSON": b"{\n",
    "no object": b"[1]\n",
    "deep": b"[" * 100_000 + b"\n",
    "no end": b"a" * (20 << 20),
    "no key": b'{"key": "III"}\n',
    "nothing is watched": b'{"watched": []}\n',
    "two at a time": b'{"ask": {"op": "wait"}}\n' * 2,
    "it reads nothing": b'{"ask": {"op": "flood"}}\n',
}


@pytest.mark.parametrize("stage", range(len(CONVERSATION) + 1))
@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE)
def test_whoever_misbehaves_leaves_the_place_to_others(sent, stage, meet, monkeypatch):
    monkeypatch.setattr(listen, "SEND_S", 1)
    client = meet(hello=HELLO if stage else None)
    for message in CONVERSATION[1:stage]:
        if "ask" in message:
            client.send(message)
        else:
            assert client.ask(**message) == {}
    client.send(sent)
    if "flood" not in str(sent) or stage != 2:
        client.leave()
    assert client.ended(20)


def test_nobody_waits_for_a_client_that_does_not_read(meet):
    honest, slow = meet(), meet()
    assert honest.ask(**CONNECT) == {}
    slow.here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    for _ in range(20):  # names are not echoed at length
        slow.send({"A" * 100_000: 1})
    slow.send(CONNECT)
    assert honest.ask(close=True) == {}
    slow.leave()
    assert honest.ask(**CONNECT) == {}


@pytest.mark.parametrize("sent", [b'{"key": "I"}\n', b"a", b"[", {"hello": HELLO | {"token": "?"}}])
def test_who_does_not_say_hello_in_time_is_cut_off_whatever_is_sent(sent, meet, monkeypatch):
    monkeypatch.setattr(serve, "HELLO_S", 0.5)
    client, began = meet(hello=None), time.monotonic()
    while not client.ended(0.1):
        client.send(sent)
        assert time.monotonic() - began < 5


def test_a_strangers_network_has_an_end_however_busy_it_is(meet, monkeypatch):
    monkeypatch.setattr(serve, "LATER_S", 0)
    client = meet(places=Places(1, longest_s=0.5))
    client.engine.may_go.set()
    client.ask(connect=[1, "virtual", 1e9])
    while not client.ended(0.1):
        client.send({"ask": {"op": "sleep"}})
    assert client.engine.running == 0 and client.places.taken == []


def test_who_takes_too_long_is_told_so(meet):
    client = meet(JailedEngine(), Places(1, longest_s=2))
    client.ask(connect=[1, "real", 1000])
    answers = [client.ask(ask=one) for one in (UP, {"op": "sleep", "seconds": 100})]
    told = next(one["raise"] for one in answers if "raise" in one)
    assert told["kind"] == "LimitError" and "wall_limit_s" in told["text"]


def entered(door, addresses):
    """The clients' ends of connections from these addresses."""
    pairs = [socket.socketpair() for _ in addresses]
    for address, (_, there) in zip(addresses, pairs, strict=True):
        door.enter(there, address)
    return [here for here, _ in pairs]


def says_hello(here):
    """-> What it is told."""
    with contextlib.suppress(BrokenPipeError):  # it has been told already
        here.sendall(json.dumps({"hello": HELLO}).encode() + b"\n")
    return here.recv(1 << 16)


def test_who_says_hello_comes_in_however_many_of_the_same_address_do_not(monkeypatch):
    monkeypatch.setattr(listen, "MOST_UNKNOWN", 2)
    door = listen.Door(Nothing(), Places(1), "right")
    other, oldest, _, newest = ends = entered(door, "baaa")
    assert oldest.recv(1) == b""
    assert all(b"digest" in says_hello(here) for here in (newest, other))
    assert {("a", True), ("a", False), ("b", True)} <= {*door.inside.values()}
    for here in ends:
        here.close()
    until = time.monotonic() + 10
    while door.inside and time.monotonic() < until:
        time.sleep(0.05)
    assert door.inside == {}


@pytest.mark.parametrize(("each", "most"), [(2, 3), (5, 5)])
def test_of_an_address_half_of_all_come_in_or_as_many_as_may_run_at_once(each, most):
    door = listen.Door(Nothing(), Places(1, each), "right")
    door.most = 6
    ends = entered(door, "aaaaaab")
    assert [b"digest" in says_hello(here) for here in ends] == [
        n < most or n == 6 for n in range(7)
    ]
    for here in ends:
        here.close()


def test_whom_a_server_has_no_line_for_is_told():
    door = listen.Door(Nothing(), Places(1), "right")
    door.most = 0

    def enter():
        wire, address = server.accept()
        door.enter(wire, address[0])

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=enter).start()
        with pytest.raises(nl.EngineError, match=r"^this server has no line left"):
            RemoteEngine(f"tcp://127.0.0.1:{server.getsockname()[1]}")


def test_a_storm_of_keys_leaves_nothing(meet):
    client = meet(JailedEngine())
    assert client.ask(connect=[1, "virtual", 60]) == {}
    client.send({"ask": UP | {"setup": [["pc", "while :; do :; done"]]}})
    for _ in range(200):
        client.send(b'{"key": "I"}\n' * 400)


@pytest.mark.parametrize("after_s", [0, 1])
def test_a_jail_ends_with_the_line_also_while_it_starts(after_s, meet):
    client = meet(JailedEngine())
    client.ask(connect=[1, "virtual", 3600])
    endless = "while True: pass\nclass A(CongestionControl): pass"
    algorithm = {"name": "A", "parameters": {}, "source": endless}
    client.send({"answer_by": [[algorithm], 1]})
    time.sleep(after_s)


def test_a_server_for_many_needs_a_token(monkeypatch):
    monkeypatch.delenv("NETLAB_TOKEN", raising=False)
    with pytest.raises(nl.SpecificationError, match=r"NETLAB_TOKEN is not set"):
        listen.listen("0.0.0.0", 0)


def test_a_server_for_many_needs_two_walls(monkeypatch):
    monkeypatch.setattr(walls, "here", lambda: {"files": "", "user": "no root", "calls": "none"})
    monkeypatch.setattr(socket, "create_server", None)
    monkeypatch.delenv("NETLAB_ONE_WALL", raising=False)
    with pytest.raises(nl.EngineError, match=r"two walls .* 1 holds .*user: no root; calls: none"):
        listen.listen("127.0.0.1", 0)


@pytest.mark.long
def test_a_server_without_descriptors_lets_in_later_who_comes():
    command = [sys.executable, "-m", "netlab", "engine", "serve", "--listen", "0"]
    environment = os.environ | {"NETLAB_TOKEN": HELLO["token"]}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    try:
        port = int(re.search(r" port (\d+)$", server.stdout.readline())[1])
        process, limit = psutil.Process(server.pid), psutil.RLIMIT_NOFILE
        time.sleep(0.5)  # it opens nothing now
        taken = {int(name) for name in os.listdir(f"/proc/{server.pid}/fd")}
        free, most = min({*range(len(taken) + 1)} - taken), process.rlimit(limit)
        process.rlimit(limit, (free, most[1]))
        socket.create_connection(("127.0.0.1", port), timeout=60).close()  # it had waited for one
        time.sleep(0.5)
        with socket.create_connection(("127.0.0.1", port), timeout=60) as wire:
            wire.sendall(json.dumps({"hello": HELLO}).encode() + b"\n")
            time.sleep(0.5)
            assert process.is_running() and process.num_fds() == len(taken)
            process.rlimit(limit, most)
            assert b"digest" in wire.recv(1 << 16)
    finally:
        server.terminate()
        server.communicate()


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


def test_the_address_of_ssh_is_no_option_and_no_shell(monkeypatch):
    asked = []
    monkeypatch.setattr(remote_line, "ProgramLine", asked.append)
    for address in ("ssh://lab", "ssh://-oProxyCommand=x", "ssh://a@b:22/opt/x;y/netlab"):
        remote_line.open_line(address)
    assert [one[-2:] for one in asked] == [
        ["ssh://lab", "netlab engine serve"],
        ["ssh://-oProxyCommand=x", "netlab engine serve"],
        ["ssh://a@b:22", "'/opt/x;y/netlab' engine serve"],
    ]
    assert os.environ.get("NETLAB_TOKEN") is None


def test_nothing_is_written_where_nobody_reads():
    ours, theirs = socket.socketpair()
    with ours:
        line = json_lines.JsonLines(ours.fileno(), ours.fileno())
        line.send({"done": True})
        assert theirs.recv(100) == b'{"done": true}\n'
        theirs.close()
        with pytest.raises(LineDown):  # in a virtual machine, the write would never end
            line.send({"done": True})
