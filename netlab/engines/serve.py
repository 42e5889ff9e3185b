"""The other end of `netlab.engines.remote`: guests of this machine, for netlab on another.

Over standard input and output it serves the one client that started it, as that user. Where it
listens, it serves many: their algorithms in Python run in jails, a limited number of networks run
at once, and the others wait in a queue.
"""

import contextlib
import hmac
import math
import os
import socket
import struct
import sys
import threading
import time
from importlib.metadata import version

from netlab.algorithms.source import Algorithm
from netlab.engines import host_speed
from netlab.engines.agent_line import LineDown, PipeLine
from netlab.engines.guest import GuestEngine
from netlab.engines.jail import JailedEngine
from netlab.engines.protocol import Watch
from netlab.engines.remote import PROTOCOL
from netlab.errors import EngineError, NetlabError, SpecificationError

HELLO_S = 10  # that a client may take to say who it is
IDLE_S = 600  # without a question; then a line ends, of a stranger also where it has a network
MOST_WALL_S = 3600  # of a stranger's network
MOST_WATCHES = 200
MOST_LINES = 500  # of strangers, at a time
SEND_S = 30  # that a stranger may take to read what it is told
LOOPBACK = "127.0.0.1", "::1", "localhost"


class Places:
    """Places for so many networks, and for so many of each client; others wait in a queue."""

    def __init__(self, at_once, each=math.inf):
        self.at_once, self.each, self.waiting, self.taken = at_once, each, [], []
        self.changed = threading.Condition()

    @contextlib.contextmanager
    def one(self, client, tell, gives_up):
        """Within it, a network has its place. `tell` hears the place in the queue;
        `gives_up` raises an exception where nobody waits for it any more.
        """
        me, told = object(), None
        with self.changed:
            self.waiting.append((me, client))
            try:
                while place := self._ahead(me, client):
                    gives_up()
                    if place != told:
                        tell(event={"waiting": place})
                        told = place
                    self.changed.wait(1)
            finally:
                self.waiting.remove((me, client))
                self.changed.notify_all()
            self.taken.append(client)
        try:
            yield
        finally:
            with self.changed:
                self.taken.remove(client)
                self.changed.notify_all()

    def _ahead(self, me, client):
        """Which in the queue this one is; 0 where it may begin."""
        allowed, before = self.at_once - len(self.taken), 0
        counts = {one: self.taken.count(one) for one in set(self.taken)}
        for other, whose in self.waiting:
            may = counts.get(whose, 0) < self.each and allowed > 0
            if other is me:
                return 0 if may else before + 1
            before += 1
            if may:
                allowed -= 1
                counts[whose] = counts.get(whose, 0) + 1
        return before


class Client:
    """Whom a line serves: a network at a time. One who must have a `token` is a stranger; `cut`
    ends the line, so that `serve` ends.
    """

    def __init__(self, line, engine, places, name="", token=None, cut=lambda: None):
        self.line, self.engine, self.places, self.cut = line, engine, places, cut
        self.name, self.token, self.known = name, token, token is None
        self.lock, self.guest, self.work = threading.Lock(), None, None
        # a question is being carried out; the line has ended; it waits for no place any more
        self.busy = self.gone = self.given_up = False
        self.place = contextlib.ExitStack()

    def tell(self, **message):
        """Send a message; where nobody hears it any more, the network is ended."""
        try:
            with self.lock:
                if not self.gone:
                    self.line.send(message)
        except LineDown:
            self.hang_up()

    def hang_up(self):
        self.gone = True
        self.cut()
        if guest := self.guest:
            guest.interrupt()

    def serve(self):
        """Answer until the line ends."""
        try:
            while not self.gone:
                what = self.line.receive(time.monotonic() + (IDLE_S if self.known else HELLO_S))
                if what is not None:
                    self.hear(what)
                elif not self.busy and (self.token is not None or not self.guest):
                    break
        except (LineDown, OSError):
            """It has ended, or is ended as it sent what makes no sense."""
        finally:
            self.hang_up()
            if self.work:
                self.work.join()
            self.end()

    def hear(self, what):
        if "key" in what:
            if (key := what["key"]) not in ("I", "K"):
                raise LineDown("there is no such key")
            if self.guest and self.busy:
                self.guest.send_key(key)
            self.given_up = not self.guest  # it waits for a place
        elif "watched" in what:
            if not (self.guest and isinstance(what["watched"], int)):
                raise LineDown("nothing is watched")
            self.tell(watched=self.guest.watched(what["watched"]))
        elif self.busy:
            raise LineDown("it asked before it was answered")
        else:
            self.busy = True
            self.work = threading.Thread(target=self.carry_out, args=(what,))
            self.work.start()

    def carry_out(self, what):
        try:
            ((name, value),) = what.items()
            if name not in ("hello", "connect", "ask", "watch", "answer_by", "close"):
                raise EngineError(f"{name!r} is nothing that can be asked here")
            if name != "hello" and not self.known:
                raise EngineError("who does not say hello is told nothing")
            answer = getattr(self, f"do_{name}")(value)
        except BaseException as error:
            self.end()
            answer = {"raise": told(error)}
        self.busy = False
        self.tell(done=True, **answer)

    def do_hello(self, value):
        given = str(value.get("token")).encode()
        if not self.known and not hmac.compare_digest(self.token.encode(), given):
            raise EngineError("NETLAB_TOKEN is not the one that this server was given")
        own = version("netlab")
        if (value.get("protocol"), value.get("netlab")) != (PROTOCOL, own):
            raise EngineError(
                f"there is netlab {own} with protocol {PROTOCOL}, and here {value.get('netlab')}"
                f" with {value.get('protocol')}: install the same on both"
            )
        self.known = True
        if value.get("jailed"):
            self.engine = JailedEngine()
        engine = self.engine
        about = engine.about | {"slower": host_speed.wall_s(1)}
        told = {"name": engine.name, "digest": engine.digest, "about": about}
        return told | {"clocks": engine.clocks, "at_once": self.places.at_once}

    def do_connect(self, value):
        seed, clock, wall_limit_s = value
        if clock not in self.engine.clocks or self.guest:
            raise SpecificationError(f"clock = {clock!r}: one of {', '.join(self.engine.clocks)}")
        self.given_up = False
        self.place.enter_context(self.places.one(self.name, self.tell, self.gives_up))
        if type(seed) is not int or not 0 <= seed < 1 << 63 or not wall_limit_s > 0:
            raise SpecificationError(
                f"seed = {seed!r}, wall_limit_s = {wall_limit_s!r}: not allowed"
            )
        limit_s = wall_limit_s if self.token is None else min(wall_limit_s, MOST_WALL_S)
        self.guest = self.engine.connect(seed, clock, float(limit_s))
        if self.gone:
            raise EngineError("nobody waits for it")
        return {}

    def gives_up(self):
        if self.gone or self.given_up:
            raise EngineError("it waits no longer")

    def do_ask(self, value):
        return self.guest.ask(lambda event: self.tell(event=event), **value)

    def do_watch(self, value):
        if len(value) > MOST_WATCHES:
            raise SpecificationError(f"{len(value)} watches, and at most {MOST_WATCHES}")
        return {"answer": self.guest.watch({name: Watch(*one) for name, one in value.items()})}

    def do_answer_by(self, value):
        algorithms, seed = value
        self.guest.answer_by([Algorithm(**one) for one in algorithms], int(seed))
        return {}

    def do_close(self, value):
        self.end()
        return {}

    def end(self):
        """End the network, and leave its place to others."""
        guest, self.guest = self.guest, None
        if guest:
            guest.close()
        self.place.close()


def told(error):
    """An error as a message; see `netlab.engines.remote.raised`."""
    if not isinstance(error, NetlabError):
        error = EngineError(f"it failed: {type(error).__name__}: {error}")
    plain = {name: value for name, value in vars(error).items() if isinstance(value, str | int)}
    found = {"kind": type(error).__name__, "text": str(error), "fields": plain}
    if place := getattr(error, "evidence", None):
        with contextlib.suppress(OSError):
            files = {one.name: one.read_text(errors="backslashreplace") for one in place.iterdir()}
            found["kept"] = {"place": str(place), "files": files}
    return found


class Printed:
    """What algorithms print goes to the client."""

    def __init__(self, client):
        self.client = client

    def write(self, text):
        self.client.tell(printed=text)

    def flush(self):
        """Nothing waits."""


def over_standard_input():
    """Serve one client over standard input and output, until it closes them."""
    to_client = os.dup(1)
    os.dup2(2, 1)  # whatever else is printed
    line = PipeLine(math.inf, to_client, os.dup(0))
    engine = GuestEngine()
    client = Client(line, engine, Places(engine.at_once))
    with contextlib.redirect_stdout(Printed(client)):
        client.serve()


def serve_socket(wire, engine, places, name, token):
    """Serve a stranger until the connection ends, and close it."""

    def cut():
        with contextlib.suppress(OSError):
            wire.shutdown(socket.SHUT_RDWR)

    with wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", SEND_S, 0))
        line = PipeLine(math.inf, wire.fileno(), wire.fileno())
        Client(line, engine, places, name, token, cut).serve()


def listen(host, port, at_once=None, each=2):
    """Serve everybody who has the token, until this process ends."""
    token = os.environ.get("NETLAB_TOKEN", "")
    if not token and host not in LOOPBACK:
        raise SpecificationError(
            "NETLAB_TOKEN is not set: whoever reaches this server could use it. Give it a long"
            " random text, and the same to everybody who may"
        )
    engine = JailedEngine()
    places, lines = Places(at_once or engine.at_once, each), threading.Semaphore(MOST_LINES)

    def one(wire, address):
        try:
            serve_socket(wire, engine, places, address, token)
        finally:
            lines.release()

    with socket.create_server((host, port)) as server:
        print(f"{engine!r} for {places.at_once} at once, on {host}:{server.getsockname()[1]}")
        sys.stdout.flush()
        while True:
            wire, address = server.accept()
            if not lines.acquire(blocking=False):
                wire.close()
                continue
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=one, args=(wire, address[0]), daemon=True).start()
