"""The parent's end of the line to an agent: one question, many events, one answer.

Between two calls of `Line.ask` the agent waits in one blocking read, which holds a guest's whole
kernel: virtual time stands still.
"""

import contextlib
import json
import os
import select
import signal
import socket
import threading
import time

PIECE = 60_000  # bytes of one message of a guest; a longer one travels in several
MOST_BYTES = 16 << 20  # of one message from an agent; the longest are pieces of output, 32 kB
CLOSED = "this network has been closed; `net = nl.Network(...)` opens another"
LOOK_S = 0.1  # between two looks whether the other end is still whole


class LineDown(Exception):
    """The other end has gone; the message says why, where that is known."""


class TooMuch(LineDown):
    """The other end has sent or written more than it may."""


class OutOfTime(Exception):
    """The wall-clock limit has passed; the message says so, of whatever it was a limit."""


class Interrupted(Exception):
    """`Line.interrupt` was called: nothing more can be asked."""


def message(data):
    """What an agent has sent; anything but a JSON object ends the line."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise LineDown("it sent what no agent sends")
    return found


class Line:
    """How questions are asked, what Ctrl-C does, and `wall_limit_s` for all answers together. [s]

    A line has ``send(message)``, ``receive(until)`` (None where no whole message has come by then),
    ``send_key(key)`` (heard while something runs), ``drop_keys()``, ``hang_up()`` and ``end()``.
    """

    def __init__(self, wall_limit_s):
        self.wall_limit_s, self.wall_s = wall_limit_s, 0.0
        self.interrupted, self.closed = False, False
        # of keys, hanging up and the end; the handler of Ctrl-C may run inside either
        self.lock = threading.RLock()

    def ask(self, question, on_event, look=lambda: None):
        """Send a question, hand every event to `on_event`, return the answer.

        The first Ctrl-C is passed on to what runs, the second as SIGKILL, the third is `interrupt`.
        Where it ended nothing, KeyboardInterrupt is raised after the answer, as is an exception of
        `on_event`: both ends stay in step. `look` is called ten times a second; it may raise
        `LineDown`.
        """
        if self.interrupted:
            raise Interrupted
        pressed, failure = 0, None

        def press(*_):
            nonlocal pressed
            pressed += 1
            if pressed > 2:
                self.interrupt()
            else:
                self.send_key("I" if pressed == 1 else "K")

        self.drop_keys()  # one that came after the last answer
        in_main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, press) if in_main else None
        asked = time.monotonic()
        deadline, next_look = asked + self.wall_limit_s - self.wall_s, asked + LOOK_S
        try:
            self.send(question)
            while True:
                if self.interrupted:
                    raise LineDown
                now = time.monotonic()
                if now >= deadline:
                    raise OutOfTime(
                        f"was ended: its limit of {self.wall_limit_s:g} wall-clock seconds has"
                        " passed. Ask for less, or give it more with wall_limit_s."
                    )
                if now >= next_look:
                    look()
                    next_look = time.monotonic() + LOOK_S
                event = self.receive(min(deadline, next_look))
                if event is None:
                    continue
                if event.pop("done", False):
                    self.drop_keys()
                    if failure:
                        raise failure
                    # nothing was running that it could have ended
                    if pressed and event.get("rung") != "interrupt":
                        raise KeyboardInterrupt
                    return event
                try:
                    on_event(event)
                except Exception as error:
                    failure = failure or error
        except LineDown:
            if self.interrupted:
                raise Interrupted from None
            raise
        finally:
            self.wall_s += time.monotonic() - asked
            if in_main:
                signal.signal(signal.SIGINT, before)

    def interrupt(self):
        """Hang up, from any thread: an `ask`, under way or the next, raises `Interrupted`."""
        with self.lock:
            if not self.closed:
                self.interrupted = True
                self.hang_up()

    def close(self):
        """Give back what the line holds; the agent sees the end of it."""
        with self.lock:
            if not self.closed:
                self.closed = True
                self.end()


class OverLine:
    """What every `netlab.engines.protocol.Connection` over a `line` does alike."""

    def send_key(self, key):
        self.line.send_key(key)

    def interrupt(self):
        self.line.interrupt()


class GuestLine(Line):
    """The line to a guest's /dev/netlab: a socket for messages, a pipe for keys (Ctrl-C, SIGKILL).

    The guest gets `guest_socket` and `guest_keys`. This side keeps the latter open, to take back a
    key. What the guest's `hooks` tell is heard before a later message.
    """

    def __init__(self, wall_limit_s, hooks):
        super().__init__(wall_limit_s)
        self.hooks = hooks
        self.socket, self.guest_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.socket, self.guest_socket):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.guest_keys, self.keys = os.pipe()
        for end in (self.guest_keys, self.keys):
            os.set_blocking(end, False)
        self.begun = bytearray()  # the pieces so far of a message that has not come whole

    def send(self, message):
        data = json.dumps(message).encode()
        last = (len(data) - 1) // PIECE * PIECE
        try:
            for first in range(0, last, PIECE):
                self.socket.send(b"+" + data[first : first + PIECE])
            self.socket.send(b"." + data[last:])
        except OSError as error:
            raise LineDown from error

    def receive(self, until):
        while True:
            left = until - time.monotonic()
            if left <= 0:
                return None
            try:
                ready = select.select([*self.hooks.sockets, self.socket], [], [], left)[0]
            except (OSError, ValueError) as error:  # closed by another thread
                raise LineDown from error
            if not ready:
                return None
            if ready[0] is not self.socket:
                self.hooks.serve(ready[0])
                continue
            try:
                piece = self.socket.recv(65536)
            except OSError as error:
                raise LineDown from error
            if not piece:
                raise LineDown
            self.begun += piece[1:]
            if len(self.begun) > MOST_BYTES:
                raise TooMuch(f"it sent a message of more than {MOST_BYTES >> 20} MB")
            if piece[:1] == b".":
                data, self.begun = self.begun, bytearray()
                return message(data)

    def send_key(self, key):
        with self.lock, contextlib.suppress(BlockingIOError):  # it has thousands already
            if not self.closed:
                os.write(self.keys, key.encode())

    def drop_keys(self):
        """Take back a key that came too late: the agent would read it in the next question."""
        with contextlib.suppress(OSError):  # there is none
            os.read(self.guest_keys, 64)

    def hang_up(self):
        with contextlib.suppress(OSError):  # the guest has gone
            self.socket.shutdown(socket.SHUT_RDWR)

    def end(self):
        self.socket.close()
        os.close(self.guest_keys)
        os.close(self.keys)
