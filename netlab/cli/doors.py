"""The server of `netlab attach`, in the process that has networks up: a notebook's or a shell's.

A process has one `Door`: a Unix socket in netlab's cache, beside a file with its address and its
key (its card), in a folder that only its user can open. Messages are JSON. Who is attached has a
`Visit`, whose threads wait for keys; virtual time stands still meanwhile, unless something runs in
the foreground.
"""

import atexit
import contextlib
import json
import os
import queue
import secrets
import sys
import threading
import time
import warnings
import weakref
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener, answer_challenge, deliver_challenge
from pathlib import Path

from netlab.engines.cache import own_cache
from netlab.errors import NetlabError
from netlab.readers._common import read_file
from netlab.running.network import Network

SLICE_S = 0.05  # of virtual time, in as much time on the wall, while something runs
LEAST_S, SLOW_S = SLICE_S / 32, 0.2  # slices are shorter where one takes longer on the wall
ECHO_S = {"virtual": 0.01}  # after keys; on other clocks programs are slower [virtual s]
OTHER_ECHO_S = 0.2
MOST_KEYS = 1000  # characters at once
ANSWERS_S = 5  # until a door does, at the latest
ABOUT = {"id", "name", "nodes", "where", "clock_s"}  # a network, as a door tells of it
RETRY_S = 0.02  # while a cell has the network
LONGEST = 1 << 20  # message [byte]
NONSENSE = (
    *(OSError, EOFError, AuthenticationError),
    *(ValueError, TypeError, LookupError, RecursionError),
)
ERASE = "\r\x1b[K"  # the line that the cursor is in

_here = None  # the door of this process


def open_door(names=dict):
    """Let `netlab attach` in, from now on; `names` gives the variables of a notebook."""
    global _here
    if sys.platform == "win32" or (_here and _here.is_open()):
        return
    try:
        _here = Door(names)
    except OSError as error:
        warnings.warn(
            f"`netlab attach` cannot come in: {error.strerror or error}. NETLAB_CACHE names"
            " another folder, a new or an empty one with a short name.",
            stacklevel=2,
        )


def folder():
    """Where doors and their cards are."""
    found = own_cache() / "doors"
    found.mkdir(mode=0o700, exist_ok=True)
    found.chmod(0o700)  # or an OSError: it is somebody else's
    return found


class Door:
    """The door of this process."""

    def __init__(self, names):
        self.names, self.pid, self.closed = names, os.getpid(), False
        self.due = weakref.WeakKeyDictionary()  # when a network's time may go on [s, monotonic]
        self.key = key = secrets.token_bytes(32)
        self.address = folder() / f"{self.pid}-{secrets.token_hex(3)}"
        self.card = self.address.with_suffix(".json")
        self.listener = Listener(str(self.address), "AF_UNIX", 16)
        card = os.open(self.card, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(card, "w", encoding="utf-8") as file:
            json.dump({"address": str(self.address), "key": key.hex()}, file)
        atexit.register(self.close)
        self.thread = threading.Thread(target=self._answer, name="netlab door", daemon=True)
        self.thread.start()

    def is_open(self):
        return not self.closed and self.pid == os.getpid() and self.card.exists()

    def close(self):
        """Let nobody in any more."""
        if self.closed or self.pid != os.getpid():
            return
        self.closed = True
        with contextlib.suppress(OSError, EOFError):
            Client(str(self.address), "AF_UNIX").close()  # so that it looks at `closed`
        self.card.unlink(missing_ok=True)
        self.thread.join(1)

    def _answer(self):
        while not self.closed:
            try:
                line = self.listener.accept()
            except OSError:
                time.sleep(RETRY_S)
                continue
            threading.Thread(target=self._meet, args=(line,), daemon=True).start()
        self.listener.close()

    def _meet(self, line):
        with line, contextlib.suppress(*NONSENSE):
            deliver_challenge(line, self.key)  # here, where nobody else waits for the answer
            answer_challenge(line, self.key)
            asked = hear(line)
            if "attach" in asked:
                self._let_in(line, **asked)
            else:
                say(line, networks=self.networks())

    def networks(self):
        """What is up here, in words."""
        named = {id(value): name for name, value in dict(self.names()).items() if name[0] != "_"}
        place = os.path.basename(os.environ.get("JPY_SESSION_NAME", "")) or f"process {self.pid}"
        return [
            {
                "id": id_of(net),
                "name": named.get(id(net), ""),
                "nodes": net.topology.node_names,
                "where": place,
                "clock_s": net.clock,
            }
            for net in Network.all_up()
        ]

    def _let_in(self, line, attach, network, rows, columns):
        found = {id_of(net): net for net in Network.all_up()}
        if network not in found:
            return say(line, end="this network has been closed")
        try:
            visit = Visit(found[network], attach, line, self.due)
        except NetlabError as error:
            return say(line, end=str(error))
        del found  # it may be dropped while somebody is attached
        visit.stay((rows, columns))


class Visit:
    """Somebody who is attached to a node's terminal."""

    def __init__(self, net, host, line, due):
        self.net, self.host, self.line, self.due = weakref.ref(net), host, line, due
        self.console, self.events = net.console(host), queue.SimpleQueue()
        self.keys, self.size, self.met, self.slice_s = "", None, False, SLICE_S
        self.echo_s = ECHO_S.get(net.clock_kind, OTHER_ECHO_S)
        events = self.events
        net.at_end(lambda: events.put({"end": "the network has been closed"}))

    def stay(self, size):
        """Until one of the two ends goes."""
        self.size, wait_s = size, 0
        self.console.listeners.append(self._shown)
        threading.Thread(target=self._read, daemon=True).start()
        try:
            while True:
                with contextlib.suppress(queue.Empty):
                    event = self.events.get(timeout=wait_s)
                    if "out" in event:
                        say(self.line, **event)
                    elif "end" in event:
                        return say(self.line, **event)
                    elif not event:  # who was attached has left
                        return None
                    self.keys += event.get("keys", "")
                    self.size = event.get("size", self.size)
                wait_s = self._let_time_pass()
        except (NetlabError, KeyboardInterrupt) as error:
            return say(self.line, end=str(error) or "the network has been closed")
        finally:
            self.console.listeners.remove(self._shown)

    def _shown(self, out):
        self.events.put({"out": out})

    def _read(self):
        try:
            while True:
                self.events.put(hear(self.line))
        except (OSError, EOFError, ValueError, TypeError):
            self.events.put({})

    def _let_time_pass(self):
        """Do what is to be done now; -> how long nothing is [s], None until something is told."""
        net, asked = self.net(), self.keys or self.size
        if not self.events.empty():
            return 0
        if net is None or (self.console.waits and not asked):
            return None
        if not net.lock.acquire(blocking=False):
            return RETRY_S
        try:
            return self._act(net)
        finally:
            net.lock.release()

    def _act(self, net):
        now = time.monotonic()
        if self.size:
            self._resize(net)
        elif self.console.job is None:
            why = "bash has ended; the next line or `netlab attach` gets a new one"
            self.events.put({"end": why})
        elif self.keys:
            keys, self.keys = self.keys[:MOST_KEYS], self.keys[MOST_KEYS:]
            net.press(self.host, keys)
            net.sleep(self.echo_s)
        elif now >= self.due.get(net, 0):
            self.due[net] = now + self.slice_s
            net.sleep(self.slice_s)
            slow = time.monotonic() - now > SLOW_S
            self.slice_s = max(self.slice_s / 2, LEAST_S) if slow else SLICE_S
        else:
            return self.due[net] - now
        return 0.001  # others may have the network, too

    def _resize(self, net):
        (rows, columns), self.size = self.size, None
        if not self.met and rows > 1 and self.console.job and not self.console.waits:
            net.resize(self.host, rows - 1, columns)  # a full-screen program draws itself anew
        net.resize(self.host, rows, columns)
        if not self.met:
            self.met = True
            self._shown(ERASE + self.console.fresh)


def id_of(net):
    """What names a network of this process to others."""
    return f"{os.getpid()}.{net.number}"


def say(line, **message):
    """Send a message."""
    line.send_bytes(json.dumps(message).encode())


def hear(line):
    """Receive a message."""
    return dict(json.loads(line.recv_bytes(LONGEST)))


def knock(card):
    """A line to the door of this card; None where nobody opens, and then the card is removed."""
    try:
        told = json.loads(read_file(card, LONGEST))
        key, line = bytes.fromhex(told["key"]), Client(told["address"], "AF_UNIX")
        if line.poll(ANSWERS_S):
            answer_challenge(line, key)
            deliver_challenge(line, key)
            return line
        line.close()
    except (ConnectionRefusedError, FileNotFoundError):  # its process has gone
        for path in (card, card.with_suffix("")):
            path.unlink(missing_ok=True)
    except NONSENSE:
        pass  # it is just being written, or its process is going
    return None


def networks():
    """What is up behind all doors: pairs of a card and what its door tells of a network."""
    found = []
    for card in sorted(Path(folder()).glob("[0-9]*-*.json")):
        if line := knock(card):
            with line, contextlib.suppress(*NONSENSE):
                say(line)
                told = hear(line)["networks"] if line.poll(ANSWERS_S) else []
                found += [(card, one) for one in told if {*one} >= ABOUT]
    return found
