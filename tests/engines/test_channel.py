"""Our end of a channel, and what carries its messages."""

import contextlib
import os
import socket
import sys
import threading
import time

import pytest

from netlab.engines import transports
from netlab.engines.channel import Channel, Interrupted, OutOfTime
from netlab.engines.guest.hooks import Hooks
from netlab.engines.mininet import MininetConnection
from netlab.engines.program import Program
from netlab.engines.transports import ChannelDown, Descriptors, JsonLines, Packets, TooMuch, parsed

MOST = 1_000_000


@pytest.fixture
def packets():
    """The line to a guest, and the guest's end."""
    hooks = Hooks()
    line = Packets(hooks)
    yield line
    line.close()
    hooks.close()


@pytest.fixture
def pair():
    """A channel over a pair of sockets, and the other end's lines; both are closed."""
    ours, theirs = socket.socketpair()
    cleanup = contextlib.ExitStack()
    cleanup.callback(ours.close)
    stream = Descriptors(ours.fileno(), ours.fileno())
    stream.hang_up = lambda: ours.shutdown(socket.SHUT_RDWR)
    with theirs:
        other = JsonLines(Descriptors(theirs.fileno(), theirs.fileno()), MOST)
        yield Channel(JsonLines(stream, MOST), 10, cleanup, numbered=True), other
        cleanup.close()


def soon():
    return time.monotonic() + 5


def test_a_message_without_an_end_is_not_taken_for_ever(packets, monkeypatch):
    monkeypatch.setattr(transports, "MOST_BYTES", 100_000)
    for _ in range(4):
        packets.guest_socket.send(b"+" + b"x" * 40_000)
    with pytest.raises(TooMuch):
        packets.receive(soon())


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"a":' * 100_000])
def test_what_no_agent_sends_ends_the_line(data):
    with pytest.raises(ChannelDown, match="it sent what no agent sends"):
        parsed(data)


def test_nothing_is_written_where_nobody_reads():
    ours, theirs = socket.socketpair()
    with ours:
        line = JsonLines(Descriptors(ours.fileno(), ours.fileno()), MOST)
        assert line.send({"done": True}, soon())
        assert theirs.recv(100) == b'{"done": true}\n'
        theirs.close()
        with pytest.raises(ChannelDown):  # in a virtual machine, the write would never end
            line.send({"done": True}, soon())


def test_a_write_has_a_deadline():
    source, target = os.pipe()
    os.set_blocking(target, False)
    began, line = time.monotonic(), JsonLines(Descriptors(source, target), MOST)
    assert not line.send({"text": "x" * MOST}, began + 0.2)
    assert 0.2 <= time.monotonic() - began < 2
    os.close(source)
    os.close(target)


def test_answers_are_matched_by_their_numbers_whatever_their_order(pair):
    """Two threads ask, and the `on_event` of one; the other end answers in the opposite order."""
    channel, other = pair
    heard, answers = [], {}

    def hear(event):
        heard.append(event["tick"])
        if len(heard) == 1:
            answers["within"] = channel.ask({"op": "within"})

    def ask(op):
        answers[op] = channel.ask({"op": op}, hear if op == "first" else lambda event: None)

    def receive():
        return other.receive(soon())

    threads = [threading.Thread(target=ask, args=(op,)) for op in ("first", "second")]
    threads[0].start()
    first = receive()
    threads[1].start()
    second = receive()
    other.send({"id": first["id"], "tick": 1}, soon())
    within = receive()
    for number in range(2, 5000):  # far more than is read at once
        other.send({"id": first["id"], "tick": number}, soon())
    other.send({"id": within["id"], "done": True, "n": 3}, soon())
    other.send({"done": True, "n": 1}, soon())  # of the first that is open
    other.send({"id": second["id"], "done": True, "n": 2}, soon())
    for thread in threads:
        thread.join(10)
    assert [first["id"], second["id"], within["id"]] == [1, 2, 3]
    assert answers == {"first": {"n": 1}, "second": {"n": 2}, "within": {"n": 3}}
    assert heard == [*range(1, 5000)]


@pytest.mark.parametrize("number", [7, "1", [], None])
def test_an_answer_to_what_nobody_has_asked_ends_the_channel(pair, number):
    channel, other = pair
    other.send({"id": number, "done": True}, soon())
    with pytest.raises(ChannelDown, match="nobody has asked"):
        channel.ask({"op": "x"})
    assert not channel.in_step


def test_all_answers_together_have_a_limit(pair):
    channel, _ = pair
    channel.wall_limit_s, channel.wall_s = 10.2, 10.0
    with pytest.raises(OutOfTime, match=r"limit of 10.2 wall-clock seconds"):
        channel.ask({"op": "x"})
    assert 0.2 <= channel.wall_s - 10 < 2


def test_who_asks_gives_back_what_a_channel_holds(pair):
    """... and not the thread that closes it, under the one that asks (B4)."""
    channel, other = pair
    gave_back, ended = [], []
    channel.at_end.callback(lambda: gave_back.append(threading.get_ident()))

    def ask():
        with channel.used():
            try:
                channel.ask({"op": "x"})
            except Interrupted:
                time.sleep(0.2)  # it looks at what is left
                assert not gave_back
                ended.append(threading.get_ident())

    thread = threading.Thread(target=ask)
    thread.start()
    assert other.receive(soon()) == {"id": 1, "op": "x"}
    began = time.monotonic()
    channel.close()
    assert gave_back == ended == [thread.ident] and time.monotonic() - began < 1
    channel.close()
    with pytest.raises(Interrupted):
        channel.ask({"op": "x"})


class Ticks:
    """A transport by which at once ever more events of the first question come."""

    def __init__(self, most):
        self.numbers = iter(range(1, most + 1))

    def send(self, message, until):
        return True

    def receive(self, until):
        number = next(self.numbers, None)
        return {"id": 1, "done": True} if number is None else {"id": 1, "tick": number}

    def drop_keys(self):
        """There are none."""

    hang_up = drop_keys


def test_events_keep_their_order_whichever_thread_reads(monkeypatch):
    before, heard = sys.getswitchinterval(), []
    channel = Channel(Ticks(20_000), 20, contextlib.ExitStack(), numbered=True)
    began = threading.Event()

    def hear(event):
        heard.append(event["tick"])
        began.set()

    def other():
        began.wait(5)
        with contextlib.suppress(ChannelDown, Interrupted, OutOfTime):
            channel.ask({"op": "second"})

    thread = threading.Thread(target=other)
    thread.start()
    sys.setswitchinterval(1e-6)
    try:
        with contextlib.suppress(ChannelDown):
            channel.ask({"op": "first"}, hear)
    finally:
        sys.setswitchinterval(before)
        channel.close()
        thread.join(10)
    assert heard == [*range(1, len(heard) + 1)] and len(heard) == 20_000


def test_a_program_that_cannot_be_killed_is_not_waited_for_without_end(monkeypatch):
    """As where sudo refuses: what is left of a network is removed all the same."""
    program = Program([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        monkeypatch.setattr(program, "closing_s", 0.2)
        monkeypatch.setattr(program, "kill", lambda: None)
        program.close()
        assert program.process.returncode is None
        connection = MininetConnection.__new__(MininetConnection)
        connection.program, connection.added, connection.switches = program, [], []
        connection._remove_left()
    finally:
        program.process.kill()
        program.process.wait()
