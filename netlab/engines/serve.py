"""The other end of `netlab.engines.remote`: guests of this machine, for netlab on another.

Over standard input and output it serves the one client that started it, as that user;
`netlab.engines.listen` serves many.
"""

import contextlib
import hmac
import io
import math
import os
import threading
import time

from netlab.algorithms.source import Algorithm
from netlab.engines.agent_line import LineDown
from netlab.engines.guest import GuestEngine
from netlab.engines.host_speed import wall_s
from netlab.engines.jail import JailedEngine
from netlab.engines.json_lines import JsonLines
from netlab.engines.places import Places
from netlab.engines.protocol import Watch, ignore
from netlab.engines.remote import PROTOCOL
from netlab.errors import EngineError, NetlabError, SpecificationError, installed

HELLO_S = 10  # that a stranger may take, in all, to say who it is
IDLE_S = 600  # without a question; then a line ends, of a stranger also where it has a network
LATER_S = 10  # a network's own limit comes first, and says so
DONE_S = 1  # that a question may still take after its answer
HELLO_BYTES, MOST_BYTES = 4096, 4 << 20  # of a stranger's message, the first and others
MOST_KEYS, MOST_WATCHES = 10, 200  # of a question; of a network


class Client:
    """Whom a line serves: a network at a time. One who must have a `token` is a stranger; `cut`
    ends the line, so that `serve` ends, and `welcome` hears that it has said hello.
    """

    def __init__(self, line, engine, places, name="", token=None, cut=ignore, welcome=ignore):
        self.line, self.engine, self.places, self.name = line, engine, places, name
        self.token, self.cut, self.welcome = token, cut, welcome
        self.strange, self.known = token is not None, token is None
        self.guest = self.work = None
        self.keys = 0  # that it has sent since its last question
        self.gone = self.given_up = False  # the line has ended; it waits for no place any more
        self.place, self.ends_at = contextlib.ExitStack(), math.inf
        if self.strange:
            self.ends_at, line.most_bytes = time.monotonic() + HELLO_S, HELLO_BYTES

    def tell(self, **message):
        """Send a message; where nobody hears it any more, the network is ended."""
        try:
            if not self.gone:
                self.line.send(message)
        except (LineDown, OSError):
            self.hang_up()

    def hang_up(self):
        self.gone = True
        self.cut()
        if guest := self.guest:
            guest.interrupt()

    def serve(self):
        """Answer until the line ends."""
        try:
            while not self.gone and time.monotonic() < self.ends_at:
                what = self.line.receive(min(self.ends_at, time.monotonic() + IDLE_S))
                if what is not None:
                    self.hear(what)
                    what = None  # as lists it takes twenty times the memory
                elif not self.busy and (self.strange or not self.guest):
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
            self.keys += 1
            if what["key"] not in ("I", "K") or not self.known:
                raise LineDown("there is no such key")
            if self.guest and self.busy and self.keys <= MOST_KEYS:
                self.guest.send_key(what["key"])
            self.given_up = not self.guest  # it waits for a place
        elif "watched" in what:
            if not (self.guest and self.watching and isinstance(what["watched"], int)):
                raise LineDown("nothing is watched")
            self.tell(watched=self.guest.watched(what["watched"]))
        else:
            if self.busy:
                self.work.join(DONE_S)
            if self.busy:
                raise LineDown("it asked before it was answered")
            self.keys = 0
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
        given = str(value.get("token")).encode()
        if not self.known and not hmac.compare_digest(self.token.encode(), given):
            raise EngineError("NETLAB_TOKEN is not the one that this server was given")
        own = installed().version
        if (value.get("protocol"), value.get("netlab")) != (PROTOCOL, own):
            raise EngineError(
                f"there is netlab {own} with protocol {PROTOCOL}, and here {value.get('netlab')}"
                f" with {value.get('protocol')}: install the same on both"
            )
        if not self.known:
            self.known, self.ends_at, self.line.most_bytes = True, math.inf, MOST_BYTES
            self.welcome()
        if value.get("jailed"):
            self.engine = JailedEngine()
        engine = self.engine
        told = {"name": engine.name, "digest": engine.digest, "clocks": engine.clocks}
        about = engine.about | {"slower": wall_s(1)}
        return told | {"about": about, "at_once": self.places.at_once}

    def do_connect(self, value):
        seed, clock, limit_s = value
        if clock not in self.engine.clocks or self.guest:
            raise SpecificationError(f"clock = {clock!r}: one of {', '.join(self.engine.clocks)}")
        if type(seed) is not int or not 0 <= seed < 1 << 63 or not limit_s > 0:
            raise SpecificationError(f"seed = {seed!r}, wall_limit_s = {limit_s!r}: not allowed")
        longest_s = wall_s(self.places.longest_s)
        self.given_up = self.watching = self.answered = False
        try:
            tell = lambda place: self.tell(event={"waiting": place})  # noqa: E731
            self.place.enter_context(self.places.one(self.name, tell, self.gives_up))
            self.ends_at = time.monotonic() + longest_s + LATER_S
            self.guest = self.engine.connect(seed, clock, min(float(limit_s), longest_s))
            self.gives_up()
        except BaseException:
            self.end()
            raise
        return {}

    def gives_up(self):
        if self.gone or self.given_up:
            raise EngineError("nobody waits for it any more")

    def do_ask(self, value):
        return self.guest.ask(lambda event: self.tell(event=event), **value)

    def do_watch(self, value):
        if len(value) > MOST_WATCHES:
            raise SpecificationError(f"{len(value)} watches, and at most {MOST_WATCHES}")
        self.watching = self.guest.watch({name: Watch(*one) for name, one in value.items()})
        return {"answer": self.watching}

    def do_answer_by(self, value):
        algorithms, seed = value
        if self.answered:
            raise EngineError("this network has its algorithms already")
        self.answered = True
        self.guest.answer_by([Algorithm(**one) for one in algorithms], int(seed))
        return {}

    def do_close(self, value):
        self.end()
        return {}

    def end(self):
        """End the network, and leave its place to others."""
        guest, self.guest = self.guest, None
        if self.known:
            self.ends_at = math.inf
        if guest:
            guest.close()
        self.place.close()


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


def over_standard_input():
    """Serve one client over standard input and output, until it closes them."""
    to_client = os.dup(1)
    os.dup2(2, 1)  # whatever else is printed
    if not os.isatty(to_client):
        os.set_blocking(to_client, False)  # a write that nobody takes would never end
    engine = GuestEngine()
    client = Client(JsonLines(to_client, os.dup(0)), engine, Places(engine.at_once))
    with contextlib.redirect_stdout(Printed(client)):
        client.serve()
