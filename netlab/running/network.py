"""A topology that is up: commands on its nodes, and a clock that stands still between them."""

import itertools
import os
import time
import warnings
import weakref
from html import escape

from netlab import engines, units
from netlab.algorithms.source import as_algorithm
from netlab.errors import EmulationError, LinkWarning, SpecificationError
from netlab.running.history import History
from netlab.running.job import EscapeFilter, Files, Job, check_command, check_seconds, plain
from netlab.running.link_checks import RTT_MARGIN_S, check_delays, stalled
from netlab.running.session import Session, alone, stoppable
from netlab.running.terminal import Terminals, floor_to_tick
from netlab.topology import Topology
from netlab.topology.typed_tc import doubts

WALL_LIMIT_S = 3600  # that all commands of a network may take, where nothing else is said
_numbers = itertools.count(1)
_up = weakref.WeakValueDictionary()  # networks of this process, as they were opened


def end_dropped(connection, process):
    """End a network that nobody refers to any more; in a fork it is still its parent's."""
    if os.getpid() == process:
        connection.close()
        warnings.warn(
            "a Network was dropped without close(): its guest has been ended. Open networks as"
            " `with nl.Network(...) as net:`",
            ResourceWarning,
            stacklevel=2,
        )


class Network(Terminals):
    """A network that is up.

    Time passes only inside `run`, `wait` and `sleep`, and a job's `wait` and `stop`. It stands
    still between two calls, so what happens depends on the commands and the seed alone.

    Parameters
    ----------
    topology : Topology
    seed : int
        Every random number in the network comes from it.
    clock : {"virtual", "cpu", "real"}
        ``"virtual"``: hosts are infinitely fast. ``"cpu"``: computing takes as long as it takes on
        this machine, and waiting is skipped. ``"real"``: time passes as on the wall; it is the only
        clock of Mininet on this machine. None is the engine's first.
    engine : str, optional
        What to run on; None is the first that works here.
    wall_limit_s : float, optional
        How long all its commands together may take on the wall; None is an hour. [s]
    algorithms : sequence of CongestionControl
        At most eight classes or instances: its commands know them as netlab0, netlab1 ..., as in
        ``iperf3 -C netlab0``.

    Raises
    ------
    SpecificationError, EngineError
        A value is not allowed, or no engine works here; nothing has been started.
    EmulationError
        It could not be set up, or does not have the delays that were asked for.

    Examples
    --------
    >>> with Network(wan("100mbit", "20ms")) as net:  # doctest: +SKIP
    ...     net.run("h1", "ping -c 4 10.0.0.2")
    """

    def __init__(self, topology, seed=1, clock=None, engine=None, wall_limit_s=None, algorithms=()):
        if not isinstance(topology, Topology):
            raise SpecificationError(
                f"topology = {topology!r}: a netlab.Topology, such as netlab.wan() gives"
            )
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 1 << 63:
            raise SpecificationError(f"seed = {seed!r}: a whole number from 0 to 2**63 - 1")
        self.engine = engines.pick(engine)
        wall_limit_s = WALL_LIMIT_S if wall_limit_s is None else wall_limit_s
        check_seconds("wall_limit_s", wall_limit_s)
        clock = self.engine.clocks[0] if clock is None else clock
        if clock not in self.engine.clocks:
            raise SpecificationError(
                f"clock = {clock!r}: the {self.engine.name} engine has"
                f" {', '.join(self.engine.clocks)}"
            )
        topology.check_engine(self.engine.about)
        try:
            algorithms = [as_algorithm(one) for one in algorithms]
        except ValueError as error:
            raise SpecificationError(f"algorithms: {error}") from None
        if algorithms and "netlab0" not in self.engine.about.get("congestion", ()):
            raise SpecificationError(
                f"algorithms = {algorithms}: the {self.engine.name} engine does not ask Python"
            )
        self.topology, self.seed, self.commands = topology, seed, []
        self._started = time.monotonic()
        self._connection = self.engine.connect(seed, clock, float(wall_limit_s))
        super().__init__(Session(self._connection), clock)
        self.files = Files(self)
        network = {"topology": topology.model_dump(mode="json"), "seed": seed, "clock": clock}
        network["algorithms"] = told = [one.model_dump() for one in algorithms]
        self.history = History(network | {"engine": self.engine.digest})
        self._session.history = self.history
        try:
            stoppable(self)
            if algorithms:
                self._connection.ask(op="algorithms", algorithms=told, seed=seed)
            setup = list(topology.setup())
            self.commands += [f"{node} {command}" for node, command in setup]
            self._session.set_up(topology, setup)
            try:
                check_delays(topology, self._session.output, RTT_MARGIN_S[clock])
            except EmulationError as error:
                raise EmulationError("\n".join([str(error), *self.stalled()])) from None
        except BaseException:
            self._connection.close()
            raise
        self._dropped = weakref.finalize(self, end_dropped, self._connection, os.getpid())
        self._dropped.atexit = False  # what is open then ends with this process
        _up[next(_numbers)] = self

    @staticmethod
    def all_up():
        """The networks of this process that are up, in the order in which they were opened."""
        return [net for one in _up.valuerefs() if (net := one()) and net.up]

    @property
    def clock(self):
        """Virtual time since the network's hosts booted. [s]"""
        return self._session.clock_ns / 1e9

    @property
    def up(self):
        """Whether it is up: nobody has closed it."""
        return self._dropped.alive

    @property
    def jobs(self):
        """The jobs of `start` and `run` that have not ended, as far as is known: a job's end is
        seen where it is waited for, or stopped.
        """
        own = (step.done for step in self.history.steps if step.what in ("run", "start"))
        return [job for job in own if job.status is None] if self.up else []

    @property
    def unrepeatable(self):
        """Why this would not happen again to the byte (a program computed for too long), or ""."""
        return self._session.unrepeatable

    @property
    def wall_s(self):
        """Time on the wall since the network was asked for. [s]"""
        return time.monotonic() - self._started

    @alone
    def run(self, host, command, limit_s=600, echo=True):
        """Run a command on a node and wait until it has ended.

        Ctrl-C ends the command, not the network.

        Parameters
        ----------
        host : str
            Name of a host, router or switch.
        command : str
            A line for bash.
        limit_s : float
            It is ended (Ctrl-C, then SIGKILL) after so long. [virtual s]
        echo : bool
            Print its output as it comes, without the escape sequences that set colours.

        Returns
        -------
        Job
            With ``status`` and ``text``.

        Raises
        ------
        SpecificationError, CommandError
            A value is not allowed, and nothing was started; it took or printed too much.
        KeyboardInterrupt
            Ctrl-C was pressed, but the command ended by itself at that moment.

        Notes
        -----
        A command on a switch sees the interfaces of all switches. The hosts of a network share
        their files: /tmp, /root, /run and /var are the network's own, in memory, and everything
        else can only be read. With Mininet on this machine, commands run as root among this
        machine's own files, processes and interfaces.
        """
        limit_s = check_seconds("limit_s", limit_s)
        began_s, job, shown = self.clock, self._begin(host, command, ""), EscapeFilter()
        self.history.add("run", f"{host} {command}", job)

        def show(printing, out):
            if echo and printing is job:
                print(shown.add(out), end="", flush=True)

        try:
            ended_by = self._session.let_run([job], limit_s, show)
        finally:
            print(plain(shown.held), end="", flush=True)
        if ended_by:
            passed_s = floor_to_tick(self.clock - began_s)
            job.ended_after_s = limit_s if ended_by == "limit" else passed_s
        if ended_by == "limit":
            raise job.ended_at(limit_s)
        found = doubts(command, self.commands[:-1], self.topology.offloading)
        for text in found if job.status == 0 else ():
            warnings.warn(text, LinkWarning, stacklevel=3)
        return job

    @alone
    def start(self, host, command, typed=None):
        """Start a command on a node, as `run` does, and leave it running; -> `Job`.

        `typed` is what a person would type for it, if that differs, for `commands` and messages.
        """
        job = self._begin(host, command, " &", typed)
        self.history.add("start", f"{host} {command}", job)
        return job

    def _begin(self, host, command, suffix, typed=None):
        check_command(self.topology, host, command)
        self.commands.append(f"{host} {typed or command}{suffix}")
        job = self._session.start(host, command)
        job.command = typed or command
        return job

    @alone
    def wait(self, *jobs, limit_s=600, total_s=None):
        """Let time pass until these jobs have ended; -> ``""``, or ``"limit"`` where they were
        ended (Ctrl-C, then SIGKILL) after `limit_s`. [virtual s]

        `total_s` is how long it should take, for a progress bar. [virtual s] A CommandError where
        a program printed too much; a KeyboardInterrupt where Ctrl-C ended them.
        """
        for job in jobs:
            if not isinstance(job, Job) or job.session is not self._session:
                raise SpecificationError(f"jobs: {job!r} is not a job of this network")
        return self._session.wait(jobs, check_seconds("limit_s", limit_s), total_s)

    @alone
    def sleep(self, seconds):
        """Let time pass, at most a million virtual seconds; Ctrl-C ends it: KeyboardInterrupt."""
        seconds = check_seconds("seconds", seconds, most=1_000_000, zero=True)
        self.commands.append(f"sh sleep {units.pause(seconds)}")
        began_s = self.clock
        try:
            self._session.sleep(f"{seconds:016.6f}")
        except KeyboardInterrupt:
            seconds = floor_to_tick(self.clock - began_s)
            raise
        finally:
            self.history.slept(f"sleep {units.digits(round(seconds, 6))}")

    def end_all(self):
        """End every program that was started, and all that these have started; a CommandError on
        an engine that is no guest.
        """
        self._session.ask(op="end_all")

    @alone
    def stalled(self):
        """Say of each interface where packets wait, and none leaves within a second, what
        ``tc -s`` shows there; a list of texts. Time passes only where packets wait.
        """
        return stalled(self.topology, self._session)

    def watch(self, watches):
        """Have the engine observe these (a dict of `Watch`); False where it cannot."""
        return self._connection.ask(op="watch", watches=watches)["kept"]

    def watched(self, began_s):
        """What the engine observed, by name; its times count from `began_s` of `clock`."""
        return self._connection.ask(op="watched", began_ns=round(1e9 * began_s))["texts"]

    def ctrl_c(self):
        """Press Ctrl-C for what is waited for in another thread; nothing, where nothing is."""
        self._connection.ask(op="key", key="I")

    def interrupt(self):
        """End the network at once, from any thread; what waits in it raises KeyboardInterrupt."""
        self._connection.interrupt()

    def close(self):
        """Stop everything that runs in it, and the network. Its jobs keep their text.

        What another thread waits for in it raises KeyboardInterrupt there.
        """
        self._dropped.detach()
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        hosts = ", ".join(host.name for host in self.topology.hosts)
        closed = "" if self.up else ", closed"
        return f"<Network {hosts}; {self.clock:.3f} s on {self.engine.name}{closed}>"

    def _repr_html_(self):
        """Its picture, and below it what is up and what runs."""
        engine = f"{self.engine.name} {self.engine.digest or ''}".strip()
        about = (
            f"{self.clock:.3f} s on the {self.clock_kind} clock; engine {engine}, seed {self.seed}."
        )
        rows = [
            f"<li>{escape(node)}: <code>{escape(command)}</code>, {where}</li>"
            for node, command, where in self._running()
        ]
        runs = f"Running:<ul>{''.join(rows)}</ul>" if rows else "Nothing runs."
        state = f"<b>Up</b>, {about} {runs}" if self.up else f"<b>Closed</b>, at {about}"
        return f"<div>{self.topology._repr_html_()}<div>{state}</div></div>"

    def _running(self):
        """What runs: node, command, where."""
        found = [(job.host, job.command, "in the background") for job in self.jobs]
        if self.up:
            typed = [console.busy for console in self.consoles.values() if console.busy]
            found += [(line.host, line.line, "on its terminal") for line in typed]
        return found
