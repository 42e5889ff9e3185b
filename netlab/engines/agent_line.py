"""The parent's end of the line to an agent: one question, many events, one answer.

Between two calls of `Line.ask` the agent waits in one blocking read, which holds a guest's whole
kernel: virtual time stands still.
"""

import contextlib
import json
import math
import select
import signal
import socket
import threading
import time

from netlab.engines.protocol import Connection

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


def ready(sources, what, until):
    """Those of these sockets or descriptors that can be read or written (`what`) by then."""
    waiting = select.poll()
    try:
        for one in sources:
            waiting.register(one, what)
        left_s = until - time.monotonic()
        found = dict(waiting.poll(None if left_s == math.inf else max(0, 1000 * left_s)))
    except (OSError, ValueError) as error:  # closed by another thread
        raise LineDown from error
    return [one for one in sources if (one if isinstance(one, int) else one.fileno()) in found]


class Line:
    """How questions are asked, what Ctrl-C does, and `wall_limit_s` for all answers together. [s]

    A line has ``send(message, until)`` (False where not all of it could be sent by then; called
    again, it goes on), ``receive(until)`` (None where no whole message has come by then),
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
        pressed, failure, sent = 0, None, False

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
                until = min(deadline, next_look)
                if not sent:
                    sent = self.send(question, until)
                    continue
                event = self.receive(until)
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


class OverLine(Connection):
    """What every `Connection` over a `line` does alike."""

    def do_key(self, key):
        self.line.send_key(key)
        return {}

    def interrupt(self):
        self.line.interrupt()


class GuestLine(Line):
    """The line to a guest's /dev/netlab: a socket for messages, one for keys (Ctrl-C, SIGKILL).

    The guest gets `guest_socket` and `guest_keys`; `started` closes the first here. What the
    guest's `hooks` tell is heard before a later message. No call waits for a guest longer than it
    is told.
    """

    def __init__(self, wall_limit_s, hooks):
        super().__init__(wall_limit_s)
        self.hooks = hooks
        self.socket, self.guest_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.socket, self.guest_socket):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.keys, self.guest_keys = socket.socketpair()
        self.begun = bytearray()  # the pieces so far of a message that has not come whole
        self.unsent = []  # the pieces that are left of a question

    def started(self):
        """The guest has its end of the line: close ours of it."""
        self.guest_socket.close()

    def send(self, message, until):
        if not self.unsent:
            data = json.dumps(message).encode()
            pieces = [data[first : first + PIECE] for first in range(0, len(data), PIECE)]
            self.unsent = [b"+" + piece for piece in pieces[:-1]] + [b"." + pieces[-1]]
        while self.unsent and ready([self.socket], select.POLLOUT, until):
            try:
                self.socket.send(self.unsent[0], socket.MSG_DONTWAIT)
                del self.unsent[0]
            except BlockingIOError:
                """It could be written, but not so much."""
            except OSError as error:
                raise LineDown from error
        return not self.unsent

    def receive(self, until):
        while True:
            if time.monotonic() >= until:
                return None
            came = ready([*self.hooks.sockets, self.socket], select.POLLIN, until)
            if not came:
                return None
            if came[0] is not self.socket:
                self.hooks.serve(came[0])
                continue
            try:
                piece = self.socket.recv(65536, socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
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
        with self.lock, contextlib.suppress(OSError):  # it has thousands already, or has gone
            if not self.closed:
                self.keys.send(key.encode(), socket.MSG_DONTWAIT)

    def drop_keys(self):
        """Take back a key that came too late: the agent would read it in the next question."""
        with contextlib.suppress(OSError):  # there is none
            self.guest_keys.recv(64, socket.MSG_DONTWAIT)

    def hang_up(self):
        with contextlib.suppress(OSError):  # the guest has gone
            self.socket.shutdown(socket.SHUT_RDWR)

    def end(self):
        for end in (self.socket, self.guest_socket, self.keys, self.guest_keys):
            end.close()
