"""The lines to an engine elsewhere: over a program's standard input and output, or over TCP."""

import contextlib
import json
import math
import os
import queue
import shlex
import socket
import subprocess
import tempfile
import threading
import time
import weakref

from netlab.engines.agent_line import LOOK_S, Line, LineDown, TooMuch, message
from netlab.errors import EngineError, printable

HELLO_S = 60  # that the other end may take to say who it is
CLOSING_S = 10  # that a program may take to end
MOST_BYTES = 256 << 20  # of one message; the longest are windows
MOST_WAITING = 1000  # messages that have come and were not taken


_lines = weakref.WeakSet()


def let_go():
    """In a fork: let its parent's lines end with its parent."""
    for line in _lines:
        with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nothing:
            # closed, its number could become another file's
            os.dup2(nothing.fileno(), line.writer.fileno(), inheritable=False)


if os.name == "posix":
    os.register_at_fork(after_in_child=let_go)


class StreamLine(Line):
    """A line over two binary files. A thread reads the one and a thread writes the other, so that
    it works where only sockets can be waited for, and a key never comes inside a message.
    """

    def __init__(self, reader, writer):
        super().__init__(math.inf)
        self.begun = False  # the other end has said who it is
        self.writer = writer
        _lines.add(self)
        self.came, self.answers = queue.Queue(MOST_WAITING), queue.SimpleQueue()
        self.to_send = queue.SimpleQueue()
        for target in (self._read, self._write):
            threading.Thread(target=target, args=(reader, writer), daemon=True).start()

    def _read(self, reader, _):
        """Take messages; at the end, or where one cannot be read, the `LineDown` that says so."""
        end = LineDown()
        with contextlib.suppress(OSError, ValueError):  # closed by `end`
            while data := reader.readline(MOST_BYTES):
                try:
                    if not data.endswith(b"\n"):
                        raise TooMuch("it sent a message without an end")
                    found = message(data)
                except LineDown as error:
                    end = error
                    break
                if "watched" in found:
                    self.answers.put(found["watched"])
                else:
                    self._keep(found)
        self.answers.put(end)
        self._keep(end)

    def _keep(self, found):
        while not self.closed:
            with contextlib.suppress(queue.Full):
                return self.came.put(found, timeout=1)

    def _write(self, _, writer):
        with contextlib.suppress(OSError, ValueError):
            while (data := self.to_send.get()) is not None:
                writer.write(data)
                writer.flush()
        with contextlib.suppress(OSError):
            writer.close()

    def send(self, message, until=None):
        self.to_send.put(json.dumps(message).encode() + b"\n")
        return True

    def receive(self, until):
        try:
            found = self.came.get(timeout=max(0, until - time.monotonic()))
        except queue.Empty:
            return None
        if isinstance(found, LineDown):
            self._keep(found)
            raise found
        if "printed" in found:
            print(printable(found["printed"]), end="", flush=True)
            return None
        event = found.get("event", found)
        if not isinstance(event, dict):
            raise LineDown("it sent what no engine sends")
        return event

    def watched(self, began_ns):
        """What has been observed. Any thread may ask, also while something else is asked."""
        self.send({"watched": began_ns})
        while not (self.interrupted or self.closed):
            with contextlib.suppress(queue.Empty):
                found = self.answers.get(timeout=LOOK_S)
                if isinstance(found, LineDown):
                    self.answers.put(found)
                    raise found
                return found
        raise LineDown

    def send_key(self, key):
        if not self.begun:
            self.interrupt()
        elif not self.closed:
            self.send({"key": key})

    def drop_keys(self):
        """Nothing to do: the other end passes over keys while nothing is asked."""

    def why(self):
        """Why it has ended, as far as this end knows."""
        return ""


class ProgramLine(StreamLine):
    """The line to a program that is started here, over its standard input and output."""

    output = subprocess.PIPE

    def __init__(self, command, **options):
        self.said, self.last = tempfile.TemporaryFile(), ""  # noqa: SIM115
        try:
            self.program = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=self.output or self.said,
                stderr=self.said,
                start_new_session=True,  # Jupyter's interrupt goes to the whole process group
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                **options,
            )
        except OSError as error:
            self.said.close()
            name = command if isinstance(command, str) else command[0]
            raise EngineError(f"{name} cannot be started: {error.strerror}") from None
        super().__init__(*self.files())

    def files(self):
        """What it reads and writes."""
        return self.program.stdout, self.program.stdin

    def why(self):
        if not self.said.closed:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.program.wait(1)  # its last words come with its end
            self.said.seek(0)
            self.last = self.said.read().decode(errors="replace").strip()[-1000:]
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


class SocketLine(StreamLine):
    """The line to a server that listens."""

    def __init__(self, host, port):
        try:
            self.socket = socket.create_connection((host, port), timeout=HELLO_S)
        except (OSError, OverflowError, UnicodeError) as error:
            raise EngineError(f"{host}:{port}: nobody answers there: {error}") from None
        self.socket.settimeout(None)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        super().__init__(self.socket.makefile("rb"), self.socket.makefile("wb"))

    def hang_up(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def end(self):
        self.hang_up()
        self.to_send.put(None)
        self.socket.close()


def open_line(address):
    """A line to an address, as `netlab.engines.remote.RemoteEngine` has it."""
    kind, _, rest = address.partition(":")
    if kind == "exec":
        try:
            return ProgramLine(shlex.split(rest) if os.name == "posix" else rest)
        except ValueError as error:
            raise EngineError(f"{address}: no command that a shell could read: {error}") from None
    place, _, path = rest.removeprefix("//").partition("/")
    if kind == "ssh":
        options = ["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15"]
        there = shlex.quote(f"/{path}") if path else "netlab"
        return ProgramLine(["ssh", *options, f"ssh://{place}", f"{there} engine serve"])
    host, _, port = place.rpartition(":")
    return SocketLine(host.strip("[]"), int(port))
