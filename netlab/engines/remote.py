"""An engine at the other end of a channel: netlab here, its guests on another machine.

`netlab.engines.serve` is the other end. It has one network at a time, and another when that is
closed. docs/protocol.md has what it is asked, beside what every network is asked. Either end ends
the network by ending the stream.
"""

import contextlib
import functools
import math
import os
import re
import shlex

from netlab import errors
from netlab.engines import evidence, messages
from netlab.engines.base import Connection, Engine, ignore
from netlab.engines.channel import CLOSED, Channel, ChannelConnection, OutOfTime
from netlab.engines.program import Program
from netlab.engines.transports import ChannelDown, JsonLines
from netlab.errors import printable

PROTOCOL = 3
ABOUT = ("kernel", "iperf3", "mininet", "congestion")
# what reading a message raises that is not as it should be
NONSENSE = LookupError, TypeError, ValueError, AttributeError
# the attributes that errors may have beside their message
FIELDS = {"console": str, "command": str, "output": str, "status": int, "raw": str}
MOST_KEPT = 10  # files of an error
MOST_BYTES = 256 << 20  # of one message; the longest are windows
MARK = b'{"done"'  # with this the answer to the hello begins
HELLO_S = 300  # that the other end may take to say who it is, where a machine is emulated
CLOSE_S = 30  # that the other end may take to end a network
LATER_S = 60  # the other end's own limit comes first


def raised(told):
    """The error that the other end has told of; what it kept of it is kept here, too."""
    try:
        kind = getattr(errors, str(told["kind"]), None)
        known = isinstance(kind, type) and issubclass(kind, errors.NetlabError)
        error = (kind if known else errors.EngineError)(str(told["text"]))
        for name, what in FIELDS.items():
            if name in vars(error) and isinstance(value := told["fields"].get(name), what):
                setattr(error, name, value)
        if kept := told.get("kept"):
            files = [*kept["files"].items()][:MOST_KEPT]
            plain = {file: str(text) for file, text in files if re.fullmatch(r"[\w-]+", file)}
            _, error.evidence = evidence.save("remote", plain)
            place = str(error.evidence or "the other end")
            error.args = (str(error).replace(str(kept["place"]) or place, place),)
        return error
    except NONSENSE:
        return errors.EngineError(f"the other end has failed, and sent no error: {told!a:.500}")


def command_for(address):
    """The program that speaks with an address, as `RemoteEngine` has it."""
    kind, _, rest = address.partition(":")
    if kind == "exec":
        try:
            return shlex.split(rest) if os.name == "posix" else rest
        except ValueError as error:
            text = f"{address}: no command that a shell could read: {error}"
            raise errors.EngineError(text) from None
    place, _, path = rest.removeprefix("//").partition("/")
    options = ["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15"]
    there = shlex.quote(f"/{path}") if path else "netlab"
    return ["ssh", *options, f"ssh://{place}", f"{there} engine serve"]


class Server(ChannelConnection):
    """Our end of one ``netlab engine serve``, which has one network at a time; `greeting` is its
    first answer.
    """

    died = "has gone, and the network"

    def __init__(self, address, jailed):
        self.who, self.greeting = address, None
        self.program = Program(command_for(address))
        self.lines = JsonLines(self.program, MOST_BYTES, MARK)
        cleanup = contextlib.ExitStack()
        cleanup.callback(self.program.close)
        self.channel = Channel(self.lines, HELLO_S, cleanup, numbered=True)
        self.channel.hears_keys = False  # Ctrl-C ends it, until it has said who it is
        hello = {"protocol": PROTOCOL, "netlab": errors.installed().version, "jailed": jailed}
        try:
            self.greeting = self.ask(op="hello", **hello)
        except BaseException:
            self.close()
            raise
        self.channel.hears_keys = True

    @property
    def idle(self):
        """Is it there, and can it be asked for a network? Not even its end may have come."""
        return not self.channel.closed and self.program.came.empty()

    def ask(self, on_event=ignore, **question):
        return self.carry_out(on_event, question)  # it answers all of them

    def exchange(self, on_event, question):
        answer = self.channel.ask(question, functools.partial(self._hear, on_event))
        if "raise" in answer:
            error = raised(answer["raise"])
            # after a SpecificationError the network is still up
            self.channel.in_step &= isinstance(error, errors.SpecificationError)
            raise error
        whole = not messages.lacks(question["op"], answer)
        if self.greeting and not (whole and isinstance(answer.get("clock_ns", 0), int)):
            raise ChannelDown("it answered what no engine answers")
        return answer

    def _hear(self, on_event, event):
        if not messages.is_event(event):
            raise ChannelDown("it sent what no engine sends")
        if "printed" in event:
            print(printable(event["printed"]), end="", flush=True)
        elif "waiting" in event:
            text = f"{self.who}: waiting for a CPU: {event['waiting']} before you"
            print(printable(text), flush=True)
        else:
            on_event(event)

    def diagnosed(self, error):
        if not isinstance(error, ChannelDown):
            return error
        said = "" if self.greeting else self.lines.banner.decode(errors="replace")
        words = str(error), said.strip()[-1000:], self.program.last_words()
        return type(error)(" ".join(filter(None, words)))

    def ours(self, error):
        if self.greeting or not isinstance(error, OutOfTime | ChannelDown):
            return super().ours(error)
        if isinstance(error, OutOfTime):
            text = f"{self.who}: nothing was heard from there within {HELLO_S} seconds"
            return errors.EngineError(text)
        ssh = re.match("ssh://[^/]+", self.who)
        asks = f". `ssh {ssh[0]}` must ask nothing: try it in a terminal" if ssh else ""
        return errors.EngineError(
            f"{self.who}: no netlab engine answers there. {self.diagnosed(error)}\nThere, `netlab"
            f" engine serve` must run, of the same netlab as here{asks}"
        )


class RemoteConnection(Connection):
    """A network on a `Server`, begun with its first question: it may wait in a queue there, and
    whoever has it can `interrupt` that.
    """

    def __init__(self, engine, seed, clock, wall_limit_s):
        self.engine, self.closed = engine, False
        self.server = engine.take_server()
        self.channel = self.server.channel
        self.limit_s = wall_limit_s
        self.to_begin = {"op": "connect", "seed": seed, "clock": clock, "limit_s": wall_limit_s}

    def ask(self, on_event=ignore, **question):
        if question["op"] == "key":  # not for the next network on this server
            return {} if self.closed else self.server.do_key(question["key"])
        if self.closed and not self.channel.interrupted:
            raise errors.GuestError(CLOSED)
        if self.to_begin:
            self._begin()
        return self.server.ask(on_event, **question)

    def _begin(self):
        self.channel.wall_limit_s = math.inf
        try:
            self.server.ask(**self.to_begin)
        except BaseException:
            self.server.close()
            raise
        self.to_begin = None
        self.channel.wall_limit_s, self.channel.wall_s = self.limit_s + LATER_S, 0.0

    def interrupt(self):
        if not self.closed:
            self.server.interrupt()

    def close(self):
        """End the network; the server is kept for the next one."""
        if self.closed:
            return
        self.closed = True
        if self.channel.busy or self.channel.interrupted:
            self.server.close()
        elif not self.channel.closed:
            self.channel.wall_limit_s = self.channel.wall_s + CLOSE_S
            try:
                if not self.to_begin:
                    self.server.ask(op="close")
                self.engine.idle.append(self.server)
            except errors.NetlabError:
                """It has gone."""
            except KeyboardInterrupt:
                self.server.close()
                raise


class RemoteEngine(Engine):
    """The engine at an address. ``ssh://HOST``, with user, port and path of ``netlab`` where they
    are needed: ``ssh://ada@lab.example.org:2222/opt/netlab/bin/netlab``. ``exec:COMMAND``: any
    program that speaks as ``netlab engine serve`` does, over its standard input and output. See
    `netlab.engines.base.Engine`.

    With `jailed`, algorithms in Python run in a jail there, and what they print is not shown; in an
    account that many share they always do.

    Raises
    ------
    EngineError
        Nobody answers there, or it is another netlab; the message says what to do.
    """

    def __init__(self, address, jailed=False):
        self.address, self.jailed, self.idle, self.digest = address, jailed, [], None
        self.process = os.getpid()
        self.idle.append(self.new_server())

    def new_server(self):
        """A server that is this engine."""
        server = Server(self.address, self.jailed)
        try:
            self._greeted(server.greeting)
        except BaseException:
            server.close()
            raise
        return server

    def _greeted(self, told):
        try:
            digest, about = printable(told["digest"]), {**told["about"]}
            about |= {key: printable(one) for key, one in about.items() if isinstance(one, str)}
            name, clocks = printable(told["name"]), tuple(map(printable, told["clocks"]))
            at_once, _ = int(told["at_once"]), (clocks[0], *(about[key] for key in ABOUT))
        except NONSENSE:
            raise errors.EngineError(
                f"{self.address}: what answers there is no netlab engine"
            ) from None
        if self.digest not in (None, digest):
            raise errors.EngineError(
                f"{self.address} has another engine than before: {digest}, and not {self.digest}."
                " Its results would be others; restart Python to use it"
            )
        self.name, self.digest, self.about = name, digest, about
        self.clocks, self.at_once = clocks, at_once

    def __repr__(self):
        about = f"Linux {self.about['kernel']}, iperf3 {self.about['iperf3']}"
        return f"<RemoteEngine {self.address} {self.digest}: {about}>"

    def __reduce__(self):
        return remote, (self.address, self.jailed)

    def take_server(self):
        """A server without a network: one that is idle, or a new one."""
        if self.process != os.getpid():  # a fork has no threads for its parent's servers
            self.idle, self.process = [], os.getpid()
        while True:
            try:
                server = self.idle.pop()  # another thread may have taken the last one
            except IndexError:
                return self.new_server()
            if server.idle:
                return server
            server.close()

    def connect(self, seed, clock, wall_limit_s):
        return RemoteConnection(self, seed, clock, wall_limit_s)


@functools.cache
def remote(address, jailed=False):
    """The engine at an address, whose idle servers this process keeps."""
    return RemoteEngine(address, jailed)
