"""The line to an engine elsewhere: over the standard input and output of a program here."""

import contextlib
import functools
import json
import math
import os
import queue
import shlex
import subprocess
import tempfile
import threading
import time
import weakref
from collections import deque

from netlab.engines.agent_line import LOOK_S, Line, LineDown, OutOfTime, TooMuch, message
from netlab.errors import EngineError, printable

HELLO_S = 300  # that the other end may take to say who it is, where a machine is emulated
CLOSING_S = 10  # that a program may take to end
MOST_BYTES = 256 << 20  # of one message; the longest are windows
MOST_WAITING = 1000  # messages that have come and were not taken
MARK = b'{"done"'  # with this the answer to the hello begins
MOST_BANNER = 1 << 16  # bytes before it, such as the greeting of a shell

_lines = weakref.WeakSet()


def let_go():
    """In a fork: let its parent's lines end with its parent."""
    for line in _lines:
        with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nothing:
            # closed, its number could become another file's
            os.dup2(nothing.fileno(), line.writer.fileno(), inheritable=False)


if os.name == "posix":
    os.register_at_fork(after_in_child=let_go)


class ProgramLine(Line):
    """The line to a program that is started here, over its standard input and output. A thread
    reads and a thread writes, so that it works where only sockets can be waited for, and a key
    never comes inside a message.

    What comes before the first `mark` is passed over, and kept as `banner`.
    """

    def __init__(self, command, mark=b""):
        super().__init__(math.inf)
        self.said, self.last = tempfile.TemporaryFile(), ""  # noqa: SIM115
        try:
            self.program = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.said,
                start_new_session=True,  # Jupyter's interrupt goes to the whole process group
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            self.said.close()
            name = command if isinstance(command, str) else command[0]
            raise EngineError(f"{name} cannot be started: {error.strerror}") from None
        self.begun = False  # the other end has said who it is
        self.mark, self.banner = mark, b""
        self.writer = self.program.stdin
        _lines.add(self)
        self.came, self.changed = deque(), threading.Condition()
        self.looking = 0  # threads that wait for what was watched
        self.answers, self.to_send = queue.SimpleQueue(), queue.SimpleQueue()
        for target in (self._read, self._write):
            threading.Thread(target=target, daemon=True).start()

    def _read(self):
        """Take messages; at the end, or where one cannot be read, the `LineDown` that says so."""
        end = LineDown()
        try:
            for data in self._heard():
                if not data.endswith(b"\n"):
                    raise TooMuch("it sent a message without an end")
                found = message(data)
                if "watched" in found:
                    self.answers.put(found["watched"])
                else:
                    self._keep(found)
        except LineDown as error:
            end = error
        except (OSError, ValueError):
            """Closed by `end`."""
        self.answers.put(end)
        self._keep(end)

    def _heard(self):
        """The lines that come, from the mark on."""
        lines = iter(functools.partial(self.program.stdout.readline, MOST_BYTES), b"")
        for data in lines if self.mark else ():
            before, mark, after = data.partition(self.mark)
            self.banner += before
            if len(self.banner) > MOST_BANNER:
                raise TooMuch("it says much, and nothing that an engine says")
            if mark:
                yield mark + after
                break
        yield from lines

    def _keep(self, found):
        """Add it to what has come; the other end is held up while nobody takes that."""
        with self.changed:
            # what was watched comes behind what waits, and who asks may be who takes that
            while len(self.came) >= MOST_WAITING and not (self.looking or self.closed):
                self.changed.wait(1)
            self.came.append(found)
            self.changed.notify_all()

    def _write(self):
        with contextlib.suppress(OSError, ValueError):
            while (data := self.to_send.get()) is not None:
                self.writer.write(data)
                self.writer.flush()
        with contextlib.suppress(OSError):
            self.writer.close()

    def send(self, message, until=None):
        self.to_send.put(json.dumps(message).encode() + b"\n")
        return True

    def receive(self, until):
        with self.changed:
            if not self.changed.wait_for(lambda: self.came, max(0, until - time.monotonic())):
                return None
            if isinstance(self.came[0], LineDown):  # it stays: nothing comes after it
                raise self.came[0]
            found = self.came.popleft()
            self.changed.notify_all()
        if "printed" in found:
            print(printable(found["printed"]), end="", flush=True)
            return None
        event = found.get("event", found)
        if not isinstance(event, dict):
            raise LineDown("it sent what no engine sends")
        return event

    def watched(self, began_ns):
        """What has been observed. Any thread may ask, also while something else is asked, and an
        `on_event`; `OutOfTime` where it takes longer than all answers together may.
        """
        until = time.monotonic() + self.wall_limit_s
        self._look(1)
        try:
            self.send({"watched": began_ns})
            while not (self.interrupted or self.closed):
                if time.monotonic() > until:
                    raise OutOfTime("did not say what it has observed")
                with contextlib.suppress(queue.Empty):
                    found = self.answers.get(timeout=LOOK_S)
                    if isinstance(found, LineDown):
                        self.answers.put(found)
                        raise found
                    return found
            raise LineDown
        finally:
            self._look(-1)

    def _look(self, more):
        with self.changed:
            self.looking += more
            self.changed.notify_all()

    def send_key(self, key):
        if not self.begun:
            self.interrupt()
        elif not self.closed:
            self.send({"key": key})

    def drop_keys(self):
        """Nothing to do: the other end passes over keys while nothing is asked."""

    def why(self):
        """Why it has ended, as far as this end knows: the last that it has said."""
        if not self.said.closed:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.program.wait(1)  # its last words come with its end
            self.said.seek(0)
            said = self.said.read() if self.begun else self.banner + self.said.read()
            self.last = said.decode(errors="replace").strip()[-1000:]
        return self.last

    def hang_up(self):
        self.program.terminate()

    def end(self):
        self.to_send.put(None)  # and the program sees the end of its input
        try:
            self.program.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            self.program.kill()
            self.program.wait()
        self.why()
        self.said.close()


def open_line(address):
    """A line to an address, as `netlab.engines.remote.RemoteEngine` has it."""
    kind, _, rest = address.partition(":")
    if kind == "exec":
        try:
            return ProgramLine(shlex.split(rest) if os.name == "posix" else rest, MARK)
        except ValueError as error:
            raise EngineError(f"{address}: no command that a shell could read: {error}") from None
    place, _, path = rest.removeprefix("//").partition("/")
    options = ["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15"]
    there = shlex.quote(f"/{path}") if path else "netlab"
    return ProgramLine(["ssh", *options, f"ssh://{place}", f"{there} engine serve"], MARK)
