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
from netlab.engines.guest import GuestEngine, machine, walls
from netlab.engines.jail import JailedEngine, contents
from netlab.engines.messages import AGENT, OUR_END
from netlab.engines.remote import PROTOCOL
from netlab.engines.transports import ChannelDown, Descriptors, JsonLines
from netlab.errors import EngineError, NetlabError, SpecificationError, installed

IDLE_S = 600  # without a question: then a client ends; with a network, where somebody waits
LOOK_S = 1  # between two looks whether it has been so long
TAKEN_S = 600  # that a client may take to read what it is sent
DONE_S = 1  # that a question may still take after its answer
MOST_BYTES = 64 << 20  # of a message; the longest write files
SHARED_AT_ONCE, SHARED_WALL_S = 2, 3600  # of one client of many: a sweep's networks; a network


class Client:
    """Whom a stream serves: a network at a time. `shared`: it is one of many strangers, whose
    algorithms run in jails and whose networks have an end.
    """

    def __init__(self, lines, engine, shared=False):
        self.lines, self.engine, self.shared = lines, engine, shared
        self.guest = self.work = None  # its network; the thread that carries out `asked`
        self.asked = None  # the number of a question
        self.gone = self.cancelled = False  # nobody listens; nobody waits for a CPU
        engine.cpu = self.cpu

    def tell(self, **message):
        """Send a message; where nobody takes it, the network is ended."""
        with contextlib.suppress(ChannelDown, OSError):
            if self.gone or self.lines.send(message, time.monotonic() + TAKEN_S):
                return
        self.hang_up()

    def hang_up(self):
        self.gone = True
        if guest := self.guest:
            guest.interrupt()

    def serve(self):
        """Answer until the client has gone."""
        try:
            if self.greet(self.next()):
                while True:
                    self.hear(self.next())
        except (ChannelDown, OSError):
            """It has gone, or is ended as it sent what makes no sense."""
        finally:
            self.hang_up()
            if self.work:
                self.work.join()
            self.end()

    def next(self):
        """The next message; `ChannelDown` where none has come for long."""
        idle_since = time.monotonic()
        while not self.gone:
            message = self.lines.receive(time.monotonic() + LOOK_S)
            if message is not None:
                return message
            if self.busy:
                idle_since = time.monotonic()
            elif time.monotonic() > idle_since + IDLE_S and (
                not self.guest or machine.somebody_waits()
            ):
                break
        raise ChannelDown

    @property
    def busy(self):
        """Is a question being carried out?"""
        return self.work is not None and self.work.is_alive()

    def greet(self, question):
        """Answer the first question; -> has the client the same netlab?"""
        number = question.pop("id", None)
        try:
            if question.pop("op", None) != "hello":
                raise EngineError("the first question must be hello")
            answer = self.do_hello(**question)
        except Exception as error:
            answer = {"raise": told(error)}
        self.tell(done=True, id=number, **answer)
        return "raise" not in answer

    def hear(self, question):
        """Keys, and what was watched, may be asked while another question is carried out."""
        number, op = question.pop("id", None), question.pop("op", None)
        if op == "key":
            if question.get("key") not in ("I", "K"):
                raise ChannelDown("a key must be I or K")
            guest = self.guest  # the thread that works may end it meanwhile
            if guest and self.busy:
                guest.ask(op=op, key=question["key"])
            self.cancelled = not guest
        elif op == "watched":
            self.carry_out(number, op, question)
        else:
            if self.busy:
                self.work.join(DONE_S)
            if self.busy:
                raise ChannelDown("it asked before it was answered")
            self.asked, self.cancelled = number, False
            self.work = threading.Thread(target=self.carry_out, args=(number, op, question))
            self.work.start()

    def carry_out(self, number, op, question):
        try:
            if op in ("connect", "close"):
                answer = getattr(self, f"do_{op}")(**question)
            elif op in AGENT or op in OUR_END:
                hear = lambda event: self.tell(id=number, **event)  # noqa: E731
                answer = self.guest.ask(hear, op=op, **question)
            else:
                raise EngineError(f"{str(op)[:50]!r} is nothing that can be asked here")
        except BaseException as error:
            if not isinstance(error, SpecificationError):
                self.end()
            answer = {"raise": told(error)}
        self.tell(done=True, id=number, **answer)

    def do_hello(self, protocol, netlab, jailed=False):
        own = installed().version
        if (protocol, netlab) != (PROTOCOL, own):
            raise EngineError(
                f"there is netlab {own} with protocol {PROTOCOL}, and here {netlab} with"
                f" {protocol}: install the same on both"
            )
        engine = self.engine
        if jailed and not self.shared:
            self.engine = JailedEngine(cpu=engine.cpu)
        at_once = min(engine.at_once, SHARED_AT_ONCE) if self.shared else engine.at_once
        told = {"name": engine.name, "digest": engine.digest, "clocks": engine.clocks}
        return told | {"about": engine.about, "at_once": at_once}

    def do_connect(self, seed, clock, limit_s):
        if clock not in self.engine.clocks or self.guest:
            raise SpecificationError(f"clock = {clock!r}: one of {', '.join(self.engine.clocks)}")
        if type(seed) is not int or not 0 <= seed < 1 << 63 or not limit_s > 0:
            raise SpecificationError(f"seed = {seed!r}, wall_limit_s = {limit_s!r}: not allowed")
        limit_s = min(float(limit_s), SHARED_WALL_S) if self.shared else float(limit_s)
        self.guest = self.engine.connect(seed, clock, limit_s)
        self.wanted()
        return {}

    @contextlib.contextmanager
    def cpu(self):
        """A CPU for its network, when it is its turn; the client hears how many are before it."""
        said = None

        def waits(before):
            nonlocal said
            self.wanted()
            if before != said:
                said = before
                self.tell(id=self.asked, waiting=before)

        with machine.next_cpu(self.engine.at_once, waits) as number:
            self.wanted()  # it may have gone since the last look
            yield number

    def wanted(self):
        """An EngineError where nobody waits for the network any more."""
        if self.gone or self.cancelled:
            raise EngineError("nobody waits for it any more")

    def do_close(self):
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
        self.client.tell(id=self.client.asked, printed=text)


def over_standard_input(shared=False):
    """Serve one client over standard input and output, until it closes them. With `shared`, an
    EngineError where fewer than two walls stand around guests, or a jail lacks a package.
    """
    to_client = os.dup(1)
    os.dup2(2, 1)  # whatever else is printed
    if not os.isatty(to_client):
        os.set_blocking(to_client, False)  # a write that nobody takes would never end
    if shared:
        walls.check_for_strangers()
        contents.needed()  # algorithms run in jails
        evidence.keep_none()
    engine = JailedEngine() if shared else GuestEngine()
    lines = JsonLines(Descriptors(os.dup(0), to_client), MOST_BYTES)
    client = Client(lines, engine, shared)
    with contextlib.redirect_stdout(Printed(client)):
        client.serve()
