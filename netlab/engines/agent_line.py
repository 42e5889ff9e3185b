"""The parent's end of the line to an agent: one question, many events, one answer.

While nobody has asked anything the agent waits in one blocking read. In a guest that read holds the
whole kernel, so virtual time stands still between two calls of `Line.ask`, for as long as it takes.
"""

import contextlib
import json
import os
import select
import signal
import socket
import threading
import time

PIECE = 60_000


class LineDown(Exception):
    """The other end has gone."""


class OutOfTime(Exception):
    """The wall-clock limit has passed; the message says so, of whatever it was a limit."""


class Line:
    """What both kinds of line share: how questions are asked, how long answers may take, and what
    Ctrl-C does meanwhile.

    `wall_limit_s` is what all answers together may take; the time between two questions does not
    count. [s]

    A line has ``send(message)``, ``receive(deadline)``, ``ring(key)``, which the agent hears while
    something runs, ``unring()``, ``hang_up()`` and ``close()``.
    """

    def __init__(self, wall_limit_s):
        self.wall_limit_s, self.wall_s = wall_limit_s, 0.0

    def ask(self, on_event, **question):
        """Send a question, hand every event to `on_event`, return the answer.

        Ctrl-C never raises between two messages, which would leave the two ends out of step: the
        first is passed on as Ctrl-C to what is running, the second as SIGKILL, the third raises
        `LineDown`. Where nothing runs that it could end, it raises KeyboardInterrupt after the
        answer; so does an exception in `on_event`.
        """
        pressed, failure = 0, None

        def press(*_):
            nonlocal pressed
            pressed += 1
            if pressed > 2:
                self.hang_up()
            else:
                self.ring("I" if pressed == 1 else "K")

        in_main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, press) if in_main else None
        asked = time.monotonic()
        deadline = asked + self.wall_limit_s - self.wall_s
        try:
            self.send(question)
            while True:
                event = self.receive(deadline)
                if event.pop("done", False):
                    self.unring()
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
        except OutOfTime:
            limit = f"its limit of {self.wall_limit_s:g} wall-clock seconds has passed"
            raise OutOfTime(
                f"was ended: {limit}. Ask for less, or give it more with wall_limit_s."
            ) from None
        finally:
            self.wall_s += time.monotonic() - asked
            if in_main:
                signal.signal(signal.SIGINT, before)


class GuestLine(Line):
    """The line to a guest's /dev/netlab: a socket for messages, and a pipe of which this side keeps
    both ends for ringing.
    """

    def __init__(self, wall_limit_s):
        super().__init__(wall_limit_s)
        self.socket, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.socket, self.theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.bell, self.rope = os.pipe()
        os.set_blocking(self.bell, False)

    def send(self, message):
        data = json.dumps(message).encode()
        try:
            while len(data) > PIECE:
                self.socket.send(b"+" + data[:PIECE])
                data = data[PIECE:]
            self.socket.send(b"." + data)
        except OSError as error:
            raise LineDown from error

    def receive(self, deadline):
        data = b""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise OutOfTime
            self.socket.settimeout(left)
            try:
                piece = self.socket.recv(65536)
            except TimeoutError:
                raise OutOfTime from None
            except OSError as error:
                raise LineDown from error
            if not piece:
                raise LineDown
            data += piece[1:]
            if piece[:1] == b".":
                return json.loads(data)

    def ring(self, key):
        os.write(self.rope, key.encode())

    def unring(self):
        """Take back a bell that came too late: the agent is in its next blocking read by now and
        looks no more.
        """
        with contextlib.suppress(BlockingIOError):
            os.read(self.bell, 64)

    def hang_up(self):
        self.socket.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.socket.close()
        os.close(self.bell)
        os.close(self.rope)


class PipeLine(Line):
    """The line to an agent on the same machine, over its standard input and output: one JSON text
    per line.

    Parameters
    ----------
    there, back : int
        Descriptors: what the agent reads, and what it writes.
    """

    def __init__(self, wall_limit_s, there, back):
        super().__init__(wall_limit_s)
        self.there, self.back, self.read = there, back, b""

    def send(self, message):
        data = json.dumps(message).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self.there, data) :]
        except OSError as error:
            raise LineDown from error

    def receive(self, deadline):
        while b"\n" not in self.read:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise OutOfTime
            piece = os.read(self.back, 65536)
            if not piece:
                raise LineDown
            self.read += piece
        text, _, self.read = self.read.partition(b"\n")
        return json.loads(text)

    def ring(self, key):
        with contextlib.suppress(LineDown):
            self.send({"bell": key})

    def unring(self):
        """Nothing to do: an agent that waits for a question passes over bells."""

    def hang_up(self):
        """The agent sees the end of its input, ends everything and goes."""
        if self.there is not None:
            os.close(self.there)
            self.there = None

    def close(self):
        self.hang_up()
        os.close(self.back)
