"""A program at the other end of a channel, over its standard input and output."""

import contextlib
import os
import queue
import subprocess
import tempfile
import threading
import time
import weakref

from netlab.engines.transports import READ_BYTES
from netlab.errors import EngineError

MOST_WAITING = 16  # pieces that have come and were not taken: the program is held up behind them

_programs = weakref.WeakSet()


def let_go():
    """In a fork: let its parent's programs end with its parent."""
    for program in _programs:
        with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nothing:
            # closed, its number could become another file's
            os.dup2(nothing.fileno(), program.process.stdin.fileno(), inheritable=False)


if os.name == "posix":
    os.register_at_fork(after_in_child=let_go)


class Program:
    """A program, started here, as a stream of `netlab.engines.transports.JsonLines`. A thread reads
    and a thread writes: this works where only sockets can be waited for (Windows), and a
    question and a key never come out mixed.
    """

    closing_s = 10  # that it may take to end

    def __init__(self, command):
        self.said, self.last = tempfile.TemporaryFile(), ""  # noqa: SIM115
        try:
            self.process = subprocess.Popen(
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
        _programs.add(self)
        self.ended = False
        self.came, self.to_send = queue.Queue(MOST_WAITING), queue.SimpleQueue()
        for target in (self._read, self._write):
            threading.Thread(target=target, daemon=True).start()

    def _read(self):
        piece = b"begun"
        with self.process.stdout as source:
            while piece:
                piece = os.read(source.fileno(), READ_BYTES)
                while not self.ended:
                    with contextlib.suppress(queue.Full):
                        self.came.put(piece, timeout=1)
                        break

    def _write(self):
        with contextlib.suppress(OSError, ValueError):
            while (data := self.to_send.get()) is not None:
                self.process.stdin.write(data)
                self.process.stdin.flush()
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def read(self, until):
        try:
            piece = self.came.get(timeout=max(0, until - time.monotonic()))
        except queue.Empty:
            return None
        if not piece:  # it stays: nothing comes after it
            self.came.put(piece)
        return piece

    def write(self, data, until):
        self.to_send.put(data)
        return True

    def last_words(self):
        """The last that it has written to standard error."""
        if not self.said.closed:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(1)  # they come with its end
            self.said.seek(0)
            self.last = self.said.read().decode(errors="replace").strip()[-1000:]
        return self.last

    def hang_up(self):
        self.process.terminate()

    def kill(self):
        self.process.kill()

    def close(self):
        self.to_send.put(None)  # and the program sees the end of its input
        try:
            self.process.wait(self.closing_s)
        except subprocess.TimeoutExpired:
            self.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # sudo may refuse it by now
                self.process.wait(self.closing_s)
        self.last_words()
        self.said.close()
        self.ended = True
