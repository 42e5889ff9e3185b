"""What an engine is: derive from these two classes, and netlab runs on yours (``nl.run(...,
engine=YourEngine())``).

An `Engine` starts networks. A `Connection` is one of these: it is asked one question after the
other, and tells what happens meanwhile. docs/protocol.md has all questions, answers and events,
`netlab.engines.messages` their types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from netlab.engines import messages
from netlab.errors import EngineError


class Record(NamedTuple):
    """What a run left; `netlab.Result` documents the three."""

    raw: dict[str, str]
    commands: list[str]
    provenance: dict


class Watch(NamedTuple):
    """What an engine that sees into its kernel is to tell of a run."""

    #: "windows" of connections that send, at each ACK; or "queues", at each change
    kind: str
    #: The IPv4 address that sends; the interface.
    place: str
    #: At most one record of each connection, or discipline, in so long; 0 is each. [s]
    every_s: float


class Finding(NamedTuple):
    """What one check of `netlab doctor` found."""

    #: "ok", "note" (it runs, but ...) or "FAIL" (it cannot run here)
    state: str
    name: str
    text: str


def ignore(*_) -> None:
    """Pass over an event."""


class Connection:
    """A network, from its start to its end. A class of your own has `carry_out` and `close`, and
    what it does differently.
    """

    #: What all programs of the network may print, None for the usual. [byte]
    most_output_bytes: int | None = None

    def ask(self, on_event: Callable[[dict], None] = ignore, **question) -> dict:
        """Carry out one question, as ``ask(op="start", host="h1", command="ls")``; -> its answer.

        An exception that `on_event` raises is raised after the answer. A connection over a channel
        passes the first Ctrl-C on to the jobs that are waited for; the second is SIGKILL for them,
        the third is `interrupt`. Where Ctrl-C found nothing to end, KeyboardInterrupt is raised
        after the answer. Without a channel, Ctrl-C raises KeyboardInterrupt as anywhere in Python.

        ``key`` and ``watched`` may be asked at any time, by any thread, and by an `on_event`.

        Raises
        ------
        EngineError
            The network has gone, or its limit on the wall has passed. The connection is closed.
        KeyboardInterrupt
            See above; or `interrupt` was called. After that, every `ask` raises it.
        """
        if question["op"] in messages.OUR_END:
            return getattr(self, f"do_{question.pop('op')}")(**question)
        return self.carry_out(on_event, question)

    def carry_out(self, on_event: Callable[[dict], None], question: dict) -> dict:
        """Answer a question that none of the methods below answers."""
        raise NotImplementedError

    def do_watch(self, watches: dict[str, Watch]) -> dict:
        """``{"kept": False}``: this engine's kernel does not report by itself."""
        return {"kept": False}

    def do_watched(self, began_ns: int) -> dict:
        """What has been kept: nothing."""
        return {"texts": {}}

    def do_algorithms(self, algorithms: list, seed: int) -> dict:
        """Refuse them."""
        raise EngineError("this engine's kernel does not ask Python")

    def do_key(self, key: str) -> dict:
        """Nothing: this engine ends no command before its end."""
        return {}

    def interrupt(self) -> None:
        """End the network at once; may be called from any thread, at any time.

        An `ask` that is under way in another thread raises KeyboardInterrupt, and so does every
        later one: override this where `close` alone does not do that. On a connection that is
        closed it does nothing.
        """
        self.close()

    def close(self) -> None:
        """End the network and leave nothing behind. Closing again does nothing.

        Any thread may call it. What another thread asks is interrupted first, and that thread
        gives back what the network holds.
        """


class Engine:
    """What networks run on. A class of your own has a `name`, `about`, `connect` or `recall`."""

    #: How a result and a message name it.
    name: str
    #: Of all that decides the bytes of a run; None where runs do not repeat.
    digest: str | None = None
    #: ``kernel``, ``iperf3``, ``mininet`` (versions) and ``congestion``, the list of algorithms
    #: that its kernel has; empty where nothing is run.
    about: dict
    #: Its clocks, of ``"virtual"``, ``"cpu"`` and ``"real"``; the first is its own.
    clocks: tuple[str, ...] = ("virtual",)
    #: How many networks it can run at once on this machine.
    at_once: int = 1

    def connect(self, seed: int, clock: str, wall_limit_s: float) -> Connection:
        """Start a network that is still to be asked ``up``; an EngineError where it cannot be.

        Parameters
        ----------
        seed : int
            All that is random in it comes from this, as far as the engine can decide it.
        clock : str
            One of `clocks`.
        wall_limit_s : float
            What all answers together may take; the time between two questions does not count. [s]
        """
        raise EngineError(f"the {self.name} engine runs no networks")

    def recall(self, experiment: Any) -> Record | None:
        """What this experiment left when it was run earlier; None means: run it. An EngineError
        where this engine runs nothing, and has no record of it.
        """
        return None

    def refusal(self) -> str:
        """Why this machine cannot run it, "" where it can."""
        return ""
