"""What carries the messages of a channel: packets of a guest's line, or lines of JSON over bytes.

A transport has ``send(message, until)`` (False where not all of it could be sent by then; called
again, it goes on), ``receive(until)`` (None where no whole message has come by then), ``key(key)``,
``drop_keys()`` and ``hang_up()``. docs/protocol.md has the framings.
"""

import contextlib
import json
import math
import os
import select
import socket
import threading
import time

PIECE = 60_000  # bytes of one packet of a guest's line
READ_BYTES = 1 << 16  # of a stream, at once
MOST_BYTES = 16 << 20  # of one message from an agent; the longest are pieces of output, 32 kB
MOST_BANNER = 1 << 16  # bytes before an engine's first message, such as the greeting of a shell


class ChannelError(Exception):
    """What can happen to a channel; `netlab.engines.channel` makes it an error of netlab's."""


class ChannelDown(ChannelError):
    """The other end has gone; the message says why, where that is known."""


class TooMuch(ChannelDown):
    """The other end has sent or written more than it may."""


def parsed(data):
    """The message that these bytes are; anything but a JSON object ends the channel."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ChannelDown("it sent what no agent sends")
    return found


def ready(sources, what, until):
    """Those of these sockets or descriptors that can be read or written (`what`) by then.

    `ChannelDown` where nobody reads what would be written: in a virtual machine, to write would
    take for ever.
    """
    waiting = select.poll()
    try:
        for one in sources:
            waiting.register(one, what)
        left_s = until - time.monotonic()
        found = dict(waiting.poll(None if left_s == math.inf else max(0, 1000 * left_s)))
    except (OSError, ValueError) as error:  # closed by another thread
        raise ChannelDown from error
    if what == select.POLLOUT and any(events & select.POLLHUP for events in found.values()):
        raise ChannelDown
    return [one for one in sources if (one if isinstance(one, int) else one.fileno()) in found]


def pieces(data, most=PIECE):
    """Bytes as packets of at most so many, each behind ``+`` (more follows) or ``.`` (the last)."""
    starts = range(0, max(len(data), 1), most)
    return [(b"." if at == starts[-1] else b"+") + data[at : at + most] for at in starts]


class Packets:
    """The line to a guest's /dev/netlab: a socket for messages, one for keys (Ctrl-C, SIGKILL).

    The guest gets `guest_socket` and `guest_keys`; `started` closes the first here. What the
    guest's `hooks` tell is heard before a later message. No call waits for a guest longer than it
    is told.
    """

    def __init__(self, hooks):
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
        self.unsent = self.unsent or pieces(json.dumps(message).encode())
        while self.unsent and ready([self.socket], select.POLLOUT, until):
            try:
                self.socket.send(self.unsent[0], socket.MSG_DONTWAIT)
                del self.unsent[0]
            except BlockingIOError:
                """It could be written, but not so much."""
            except OSError as error:
                raise ChannelDown from error
        return not self.unsent

    def receive(self, until):
        while time.monotonic() < until:
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
                raise ChannelDown from error
            if not piece:
                raise ChannelDown
            self.begun += piece[1:]
            if len(self.begun) > MOST_BYTES:
                raise TooMuch(f"it sent a message of more than {MOST_BYTES >> 20} MB")
            if piece[:1] == b".":
                data, self.begun = self.begun, bytearray()
                return parsed(data)
        return None

    def key(self, key):
        with contextlib.suppress(OSError):  # it has thousands already, or has gone
            self.keys.send(key.encode(), socket.MSG_DONTWAIT)

    def drop_keys(self):
        """Take back a key that came too late: the agent would read it in the next question."""
        with contextlib.suppress(OSError):  # there is none
            self.guest_keys.recv(64, socket.MSG_DONTWAIT)

    def hang_up(self):
        with contextlib.suppress(OSError):  # the guest has gone
            self.socket.shutdown(socket.SHUT_RDWR)

    def close(self):
        for end in (self.socket, self.guest_socket, self.keys, self.guest_keys):
            end.close()


class JsonLines:
    """Messages of at most `most_bytes`, a line of JSON each, over `stream`, which has ``read(until)
    -> bytes`` (None where none have come by then, b"" at the end), ``write(bytes, until)`` (False
    where not all could be written by then) and ``hang_up()``.

    What comes before the first `mark` is passed over, and kept as `banner`.
    """

    def __init__(self, stream, most_bytes, mark=b""):
        self.stream, self.most_bytes, self.mark = stream, most_bytes, mark
        self.begun, self.banner = bytearray(), b""

    def send(self, message, until):
        return self.stream.write(json.dumps(message).encode() + b"\n", until)

    def receive(self, until):
        while self.mark and self.mark not in self.begun:
            self.banner = bytes(self.begun)
            if len(self.banner) > MOST_BANNER:
                raise TooMuch("it says much, and nothing that an engine says")
            if not self._more(until):
                return None
        if self.mark:
            start = self.begun.index(self.mark)
            self.banner, self.mark = bytes(self.begun[:start]), b""
            del self.begun[:start]
        looked = 0  # a long message comes in many pieces, each of which is looked at once
        while (end := self.begun.find(b"\n", looked)) < 0 and len(self.begun) <= self.most_bytes:
            looked = len(self.begun)
            if not self._more(until):
                return None
        if not 0 <= end <= self.most_bytes:
            raise TooMuch("it sent too long a message")
        text = self.begun[:end]
        del self.begun[: end + 1]
        return parsed(text)

    def _more(self, until):
        """Read on; False where nothing has come by then."""
        if (piece := self.stream.read(until)) is None:
            return False
        if not piece:
            raise ChannelDown
        self.begun += piece
        return True

    def key(self, key):
        self.send({"op": "key", "key": key}, math.inf)

    def drop_keys(self):
        """Nothing to do: the other end passes over keys while nothing is asked."""

    def hang_up(self):
        self.stream.hang_up()


class Descriptors:
    """A stream: two descriptors that can be waited for."""

    def __init__(self, source, target):
        self.source, self.target, self.lock = source, target, threading.Lock()

    def read(self, until):
        if ready([self.source], select.POLLIN, until):
            with contextlib.suppress(BlockingIOError):
                return os.read(self.source, READ_BYTES)
        return None

    def write(self, data, until):
        data = memoryview(data)
        with self.lock:
            while data and ready([self.target], select.POLLOUT, until):
                with contextlib.suppress(BlockingIOError):
                    data = data[os.write(self.target, data[:READ_BYTES]) :]
        return not data
