"""The other end of `netlab.engines.remote`: guests of this machine, for netlab on another.

It serves the one client that started it, over standard input and output. Many clients of an account
have a process like this each, and their networks wait for a CPU in order (`guest.machine`).
"""

import contextlib
import io
import os
import threading
import time

from netlab.engines import evidence
from netlab.engines.agent_line import LineDown
from netlab.engines.guest import GuestEngine, machine, walls
from netlab.engines.jail import JailedEngine
from netlab.engines.json_lines import JsonLines
from netlab.engines.remote import PROTOCOL
from netlab.errors import EngineError, NetlabError, SpecificationError, installed

IDLE_S = 600  # without a question: then a line ends; with a network, where somebody waits
LOOK_S = 1  # between two looks whether it has been so long
TAKEN_S = 600  # that a client may take to read what it is sent
DONE_S = 1  # that a question may still take after its answer
MOST_BYTES = 64 << 20  # of a message; the longest write files
SHARED_AT_ONCE, SHARED_WALL_S = 2, 3600  # of one client of many: a sweep's networks; a network


class Client:
    """Whom a line serves: a network at a time. `shared`: it is one of many strangers, whose
    algorithms run in jails and whose networks have an end.
    """

    def __init__(self, line, engine, shared=False):
        self.line, self.engine, self.shared = line, engine, shared
        self.guest = self.work = self.before = None
        # the line has ended; it waits for no network any more
        self.gone = self.given_up = self.known = self.watching = False
        engine.cpu = self.cpu

    def tell(self, **message):
        """Send a message; where nobody hears it any more, the network is ended."""
        try:
            if not self.gone:
                self.line.send(message)
        except (LineDown, OSError):
            self.hang_up()

    def hang_up(self):
        self.gone = True
        if guest := self.guest:
            guest.interrupt()

    def serve(self):
        """Answer until the line ends."""
        idle_since = time.monotonic()
        try:
            while not self.gone:
                if what := self.line.receive(time.monotonic() + LOOK_S):
                    self.hear(what)
                if what or self.busy:
                    idle_since = time.monotonic()
                elif time.monotonic() > idle_since + IDLE_S and (
                    not self.guest or machine.somebody_waits()
                ):
                    break
        except (LineDown, OSError):
            """It has ended, or is ended as it sent what makes no sense."""
        finally:
            self.hang_up()
            if self.work:
                self.work.join()
            self.end()

    @property
    def busy(self):
        """Is a question being carried out?"""
        return self.work is not None and self.work.is_alive()

    def hear(self, what):
        if "key" in what:
            if what["key"] not in ("I", "K"):
                raise LineDown("there is no such key")
            if self.guest and self.busy:
                self.guest.ask(op="key", key=what["key"])
            self.given_up = not self.guest  # it waits for a CPU
        elif "watched" in what:
            if not (self.guest and self.watching and isinstance(what["watched"], int)):
                raise LineDown("nothing is watched")
            found = self.guest.ask(op="watched", began_ns=what["watched"])
            self.tell(watched=found["texts"])
        else:
            if self.busy:
                self.work.join(DONE_S)
            if self.busy:
                raise LineDown("it asked before it was answered")
            self.work = threading.Thread(target=self.carry_out, args=(what,))
            self.work.start()

    def carry_out(self, what):
        try:
            ((name, value),) = what.items()
            if name not in ("hello", "connect", "ask", "watch", "answer_by", "close"):
                raise EngineError(f"{name[:50]!r} is nothing that can be asked here")
            if name != "hello" and not self.known:
                raise EngineError("who does not say hello is told nothing")
            answer = getattr(self, f"do_{name}")(value)
        except BaseException as error:
            if not isinstance(error, SpecificationError):
                self.end()
            answer = {"raise": told(error)}
        self.tell(done=True, **answer)
        if not self.known:
            self.hang_up()

    def do_hello(self, value):
        own = installed().version
        if (value.get("protocol"), value.get("netlab")) != (PROTOCOL, own):
            raise EngineError(
                f"there is netlab {own} with protocol {PROTOCOL}, and here {value.get('netlab')}"
                f" with {value.get('protocol')}: install the same on both"
            )
        self.known, engine = True, self.engine
        if value.get("jailed") and not self.shared:
            self.engine = JailedEngine(cpu=engine.cpu)
        at_once = min(engine.at_once, SHARED_AT_ONCE) if self.shared else engine.at_once
        told = {"name": engine.name, "digest": engine.digest, "clocks": engine.clocks}
        return told | {"about": engine.about, "at_once": at_once}

    def do_connect(self, value):
        seed, clock, limit_s = value
        if clock not in self.engine.clocks or self.guest:
            raise SpecificationError(f"clock = {clock!r}: one of {', '.join(self.engine.clocks)}")
        if type(seed) is not int or not 0 <= seed < 1 << 63 or not limit_s > 0:
            raise SpecificationError(f"seed = {seed!r}, wall_limit_s = {limit_s!r}: not allowed")
        limit_s = min(float(limit_s), SHARED_WALL_S) if self.shared else float(limit_s)
        self.given_up = self.watching = False
        self.before = None
        self.guest = self.engine.connect(seed, clock, limit_s)
        self.gives_up()
        return {}

    @contextlib.contextmanager
    def cpu(self):
        """A CPU for its network, when it is its turn."""
        with machine.next_cpu(self.engine.at_once, self.waits) as number:
            self.gives_up()  # it may have gone since the last look
            yield number

    def waits(self, before):
        """Hear how many networks wait before its own; tell the client where that has changed."""
        self.gives_up()
        if before != self.before:
            self.before = before
            self.tell(event={"waiting": before})

    def gives_up(self):
        if self.gone or self.given_up:
            raise EngineError("nobody waits for it any more")

    def do_ask(self, value):
        return self.guest.ask(lambda event: self.tell(event=event), **value)

    def do_watch(self, value):
        self.watching = self.guest.ask(op="watch", watches=value)["kept"]
        return {"answer": self.watching}

    def do_answer_by(self, value):
        algorithms, seed = value
        self.guest.ask(op="algorithms", algorithms=algorithms, seed=int(seed))
        return {}

    def do_close(self, value):
        self.end()
        return {}

    def end(self):
        """End the network, and leave its CPU to others."""
        guest, self.guest = self.guest, None
        if guest:
            guest.close()


def told(error):
    """An error as a message; see `netlab.engines.remote.raised`."""
    if not isinstance(error, NetlabError):
        error = EngineError(f"it failed: {type(error).__name__}: {str(error)[:500]}")
    plain = {name: value for name, value in vars(error).items() if isinstance(value, str | int)}
    found = {"kind": type(error).__name__, "text": str(error), "fields": plain}
    if place := getattr(error, "evidence", None):
        with contextlib.suppress(OSError):
            files = {one.name: one.read_text(errors="backslashreplace") for one in place.iterdir()}
            found["kept"] = {"place": str(place), "files": files}
    return found


class Printed(io.TextIOBase):
    """What algorithms print goes to the client."""

    def __init__(self, client):
        self.client = client

    def write(self, text):
        self.client.tell(printed=text)


def over_standard_input(shared=False):
    """Serve one client over standard input and output, until it closes them. With `shared`, an
    EngineError where fewer than two walls stand around guests.
    """
    to_client = os.dup(1)
    os.dup2(2, 1)  # whatever else is printed
    if not os.isatty(to_client):
        os.set_blocking(to_client, False)  # a write that nobody takes would never end
    if shared:
        walls.check_for_strangers()
        evidence.keep_none()
    engine = JailedEngine() if shared else GuestEngine()
    client = Client(JsonLines(to_client, os.dup(0), MOST_BYTES, TAKEN_S), engine, shared)
    with contextlib.redirect_stdout(Printed(client)):
        client.serve()
