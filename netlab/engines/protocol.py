"""What an engine is: write these two classes, and netlab runs on yours (``nl.run(...,
engine=YourEngine())``).

An `Engine` starts networks. A `Connection` is one of these: it is asked one question after the
other, and tells what happens meanwhile.

Questions, as ``connection.ask(on_event, op="start", host="h1", command="ls")``:

``up``: ``hosts, switches, links, setup``
    Start the network, once. `hosts` are pairs of a name and an address such as ``"10.0.0.1/8"``
    (None for a router), `switches` names, `links` pairs of names; `setup` are pairs of a node and
    a command, to be run in this order. Answer: ``{}``, or ``{"failed": [node, command, output]}``
    for the first command that failed.
``start``: ``host, command``, or those and ``echo``
    Start a line of bash on a host and leave it running. Each job has a terminal of its own, which
    shows what is typed where `echo` is true. Answer: ``{"job": number}``; the first job is 1.
``wait``: ``numbers, limit_s``
    Let time pass until these jobs have ended. After `limit_s` [virtual s], or at Ctrl-C, they are
    ended as Ctrl-C on their terminal would; at the limit, SIGKILL follows a second later. Answer:
    ``{"status": [one for each job], "rung": what}``. A status is as in `subprocess`, None while the
    job runs; `what` is ``""``, ``"limit"`` or ``"interrupt"`` (Ctrl-C).
``type``: ``number, text, until, limit_s``, or those and ``leave``
    Type a text on a job's terminal, and let time pass until the job has printed `until` since, or
    has ended. At the limit, or at Ctrl-C, it is ended as by ``wait``; at the limit it is left
    running where `leave` is true. Answer: as ``wait``, with ``after_s``, when Ctrl-C came [virtual
    s], and ``untyped``, how many bytes of the text its terminal has not taken: all of them where it
    had ended, or some where it is full, as nobody reads them.
``stop``: ``number``
    End one job in the same two steps. Answer: as ``wait``.
``sleep``: ``seconds``
    Let time pass. [virtual s] Answer: ``{"rung": ""}``, or ``"interrupt"`` where Ctrl-C ended it.

Numbers of seconds may come as text: where the bytes of a question cost time, they then always cost
the same. Every answer also has ``clock_ns``, the time since the hosts started [virtual ns]; or it
has ``error``, a text, where the question could not be carried out. It may have
``unrepeatable``, a text that says why what has happened so far would be something else next time,
although this engine repeats.

Events, handed to `on_event` in order, before the answer is returned:

``{"job": number, "out": text}``
    A job has printed this.
``{"tick": seconds}``
    So many whole seconds of this ``wait``, ``type``, ``stop`` or ``sleep`` have passed. [virtual s]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable


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


@runtime_checkable
class Connection(Protocol):
    """A network, from its start to its end."""

    def ask(self, on_event: Callable[[dict], None] = ignore, **question) -> dict:
        """Carry out one question (see the module's text) and return its answer.

        An exception that `on_event` raises is raised after the answer. The first Ctrl-C is passed
        on to the jobs that are waited for, the second is SIGKILL for them, the third is
        `interrupt`. Where Ctrl-C found nothing to end, KeyboardInterrupt is raised after the
        answer.

        Raises
        ------
        EngineError
            The network has gone, or its limit on the wall has passed. The connection is closed.
        KeyboardInterrupt
            See above; or `interrupt` was called. After that, every `ask` raises it.
        """

    def send_key(self, key: str) -> None:
        """End what a ``wait`` or ``type`` waits for, while it does: "I" as Ctrl-C would, "K" by
        SIGKILL.
        """

    def interrupt(self) -> None:
        """End the network at once; may be called from any thread, at any time.

        An `ask` that is under way in another thread raises KeyboardInterrupt, and so does every
        later one. On a connection that is closed it does nothing.
        """

    def watch(self, watches: dict[str, Watch]) -> bool:
        """Before ``up``: keep these, each under the name of its output. False, where this engine
        cannot; then the commands are run that look from time to time.
        """

    def watched(self, began_ns: int) -> dict[str, str]:
        """By name, what has been kept, as text (see `netlab.readers`), with times from
        `began_ns` on, a time of ``clock_ns``.
        """

    def answer_by(self, algorithms: list, seed: int) -> None:
        """Before ``up``: have congestion controls in Python (`netlab.algorithms.source.Algorithm`)
        answer for netlab0, netlab1 ... where ``about["congestion"]`` has these. An AlgorithmError
        where one of them cannot even be begun; `ask` raises it, too.
        """

    def close(self) -> None:
        """End the network and leave nothing behind. Closing again does nothing."""


@runtime_checkable
class Engine(Protocol):
    """What networks run on."""

    #: How a result and a message name it.
    name: str
    #: Of all that decides the bytes of a run; None where runs do not repeat.
    digest: str | None
    #: ``kernel``, ``iperf3``, ``mininet`` (versions) and ``congestion``, the list of algorithms
    #: that its kernel has; empty where nothing is run.
    about: dict
    #: Its clocks, of ``"virtual"``, ``"cpu"`` and ``"real"``; the first is its own.
    clocks: tuple[str, ...]
    #: How many networks it can run at once on this machine.
    at_once: int

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

    def recall(self, experiment: Any) -> Record | None:
        """What this experiment left when it was run earlier; None means: run it. An EngineError
        where this engine runs nothing, and has no record of it.
        """
