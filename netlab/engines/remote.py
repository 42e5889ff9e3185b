"""An engine at the other end of a line: netlab here, its guests on another machine.

A line carries messages in both directions, each a line of JSON; `netlab.engines.serve` is its other
end. It has one network at a time, and another when that is closed.

=========================================  =====================================================
here                                       there
=========================================  =====================================================
``{"hello": {protocol, netlab, ...}}``     ``{"done", name, digest, about, clocks, at_once}``
``{"connect": [seed, clock, limit_s]}``    ``{"event": {"waiting": others}}``, then ``{"done"}``
``{"ask": question}``                      ``{"event": ...}``, then ``{"done", **answer}``
``{"key": "I"}``, while that is asked      nothing
``{"watch": {name: watch}}``               ``{"done", "answer": bool}``
``{"watched": began_ns}``, at any time     ``{"watched": {name: text}}``
``{"answer_by": [algorithms, seed]}``      ``{"done"}``
``{"close": true}``                        ``{"done"}``
=========================================  =====================================================

In place of an answer there may be ``{"done", "raise": error}``, and ``{"printed": text}`` at any
time after the hello; what is no answer before is a banner. `others` wait for a CPU before this one.
Either end ends the network by ending the line.
"""

import functools
import math
import os
import re

from netlab import errors
from netlab.engines import evidence
from netlab.engines.agent_line import CLOSED, Interrupted, LineDown, OutOfTime, OverLine
from netlab.engines.protocol import Engine, ignore
from netlab.engines.remote_line import HELLO_S, open_line
from netlab.errors import printable

PROTOCOL = 2
ABOUT = ("kernel", "iperf3", "mininet", "congestion")
# what reading a message raises that is not as it should be
NONSENSE = LookupError, TypeError, ValueError, AttributeError
# the attributes that errors may have beside their message
FIELDS = {"console": str, "command": str, "output": str, "status": int, "raw": str}
MOST_KEPT = 10  # files of an error
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


class RemoteConnection(OverLine):
    """A network at the other end of a line; a `netlab.engines.protocol.Connection`."""

    def __init__(self, engine, seed, clock, wall_limit_s):
        self.engine, self.closed = engine, False
        self.line = engine.take_line()
        try:
            self._call(self._queue, connect=[seed, clock, wall_limit_s])
        except BaseException:
            self.line.close()
            raise
        self.line.wall_limit_s, self.line.wall_s = wall_limit_s + LATER_S, 0.0

    def _queue(self, event):
        if isinstance(others := event.get("waiting"), int):
            text = f"{self.engine.address}: waiting for a CPU: {others} before you"
            print(printable(text), flush=True)

    def _call(self, on_event=ignore, **what):
        if self.closed or (self.line.closed and not self.line.interrupted):
            raise errors.GuestError(CLOSED)
        return self.engine.ask(self.line, what, on_event)

    def carry_out(self, on_event, question):
        answer = self._call(on_event, ask=question)
        if not isinstance(answer.get("clock_ns"), int):
            raise self._nonsense()
        return answer

    def _nonsense(self):
        self.line.close()
        return errors.EngineError(f"{self.engine.address} answered what no engine answers")

    def do_watch(self, watches):
        return {"kept": bool(self._call(watch=watches)["answer"])}

    def do_watched(self, began_ns):
        try:
            found = self.line.watched(began_ns)
            if not isinstance(found, dict):
                raise self._nonsense()
            return {"texts": found}
        except OutOfTime as error:
            self.line.close()
            raise errors.LimitError(f"{self.engine.address} {error}") from None
        except LineDown:
            raise errors.GuestError(f"{self.engine.address} has gone. {self.line.why()}") from None

    def do_algorithms(self, algorithms, seed):
        self._call(answer_by=[algorithms, seed])
        return {}

    def close(self):
        """End the network; the line is kept for the next one."""
        if self.line.interrupted:
            self.line.close()
        elif not self.closed and not self.line.closed:
            self.line.wall_limit_s = self.line.wall_s + CLOSE_S
            try:
                self.engine.ask(self.line, {"close": True})
                self.engine.idle.append(self.line)
            except errors.NetlabError:
                self.line.close()
            except KeyboardInterrupt:
                self.line.close()
                raise
        self.closed = True


class RemoteEngine(Engine):
    """The engine at an address. ``ssh://HOST``, with user, port and path of ``netlab`` where they
    are needed: ``ssh://ada@lab.example.org:2222/opt/netlab/bin/netlab``. ``exec:COMMAND``: any
    program that speaks as ``netlab engine serve`` does, over its standard input and output. See
    `netlab.engines.protocol.Engine`.

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
        self.idle.append(self.new_line())

    def new_line(self):
        """A line whose other end has said who it is."""
        line = open_line(self.address)
        try:
            self.greet(line)
        except BaseException:
            line.close()
            raise
        line.begun = True
        return line

    def greet(self, line):
        line.wall_limit_s = HELLO_S
        hello = {"protocol": PROTOCOL, "netlab": errors.installed().version, "jailed": self.jailed}
        told = self.ask(line, {"hello": hello})
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

    def ask(self, line, question, on_event=ignore):
        """One question on one of its lines; -> its answer. After an error the line is closed."""
        try:
            told = line.ask(question, on_event)
        except Interrupted:
            line.close()
            raise KeyboardInterrupt from None
        except OutOfTime as error:
            line.close()
            if "hello" in question:
                raise errors.EngineError(
                    f"{self.address}: nothing was heard from there within {line.wall_limit_s:g}"
                    " seconds"
                ) from None
            raise errors.LimitError(f"{self.address} {error}") from None
        except LineDown as error:
            why = f"{error} {line.why()}".strip()
            line.close()
            if "hello" in question:
                ssh = re.match("ssh://[^/]+", self.address)
                asks = f". `ssh {ssh[0]}` must ask nothing: try it in a terminal" if ssh else ""
                raise errors.EngineError(
                    f"{self.address}: no netlab engine answers there. {why}\nThere,"
                    f" `netlab engine serve` must run, of the same netlab as here{asks}"
                ) from None
            raise errors.GuestError(f"{self.address} has gone, and the network. {why}") from None
        if "raise" in told:
            error = raised(told["raise"])
            if not isinstance(error, errors.SpecificationError):  # the network is still up
                line.close()
            raise error
        return told

    def take_line(self):
        """A line without a network: one that is idle and still there, or a new one."""
        if self.process != os.getpid():  # a fork has no threads for its parent's lines
            self.idle, self.process = [], os.getpid()
        while self.idle:
            line = self.idle.pop()
            if not (line.came or line.closed):  # not even its end has come
                break
            line.close()
        else:
            line = self.new_line()
        line.wall_limit_s = math.inf  # it may wait in a queue
        return line

    def connect(self, seed, clock, wall_limit_s):
        return RemoteConnection(self, seed, clock, wall_limit_s)


@functools.cache
def remote(address, jailed=False):
    """The engine at an address, whose idle lines this process keeps."""
    return RemoteEngine(address, jailed)
