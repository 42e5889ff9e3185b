"""A server's end of the line to a client (`netlab.engines.remote_line` is the client's)."""

import contextlib
import json
import math
import os
import select
import threading
import time

from netlab.engines.agent_line import LineDown, message

PIECE = 1 << 16


class JsonLines:
    """Messages, a line of JSON each. `LineDown` where one that comes has more than `most_bytes`,
    or one that is sent is not taken within `send_s`. [s]
    """

    def __init__(self, target, source, most_bytes=math.inf, send_s=math.inf):
        self.target, self.source = target, source
        self.most_bytes, self.send_s = most_bytes, send_s
        self.read, self.lock = bytearray(), threading.Lock()

    def receive(self, until):
        """The next message; None where no whole one has come by then, `LineDown` at the end."""
        looked = 0  # a long message comes in many pieces, each of which is looked at once
        while (end := self.read.find(b"\n", looked)) < 0 and len(self.read) <= self.most_bytes:
            if not ready(self.source, select.POLLIN, until):
                return None
            with contextlib.suppress(BlockingIOError):
                piece = os.read(self.source, PIECE)
                if not piece:
                    raise LineDown
                looked = len(self.read)
                self.read += piece
        if not 0 <= end <= self.most_bytes:
            raise LineDown("it sent too long a message")
        text, self.read = self.read[:end], self.read[end + 1 :]
        return message(text)

    def send(self, told):
        """Send a message, whole."""
        until = time.monotonic() + self.send_s
        data = memoryview(json.dumps(told).encode() + b"\n")
        with self.lock:
            while data:
                if not ready(self.target, select.POLLOUT, until):
                    raise LineDown("it does not read")
                with contextlib.suppress(BlockingIOError):
                    data = data[os.write(self.target, data[:PIECE]) :]


def ready(descriptor, what, until):
    """Wait until a descriptor can be read or written; False where it cannot be by then, and
    `LineDown` where nobody reads what would be written: in a virtual machine a write would wait.
    """
    waiting = select.poll()
    waiting.register(descriptor, what)
    left_s = until - time.monotonic()
    found = waiting.poll(None if left_s == math.inf else max(0, 1000 * left_s))
    if what == select.POLLOUT and any(events & select.POLLHUP for _, events in found):
        raise LineDown
    return bool(found)
