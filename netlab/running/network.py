"""A topology that is up: commands on its nodes, and a clock that stands still between them."""

import functools
import json
import os
import time
import warnings
import weakref

from netlab import engines
from netlab.algorithms.source import Algorithm, algorithm
from netlab.engines.host_speed import wall_s
from netlab.errors import EmulationError, SpecificationError
from netlab.running.console import LOOK_S, Console, Typed, one_line
from netlab.running.delay_check import RTT_MARGIN_S, check_delays
from netlab.running.history import History
from netlab.running.host_files import Files
from netlab.running.job import Job, Plain, check_command, check_seconds, plain
from netlab.running.keys import Pressed
from netlab.running.session import Session, alone
from netlab.running.shown import as_html
from netlab.running.stop import stoppable
from netlab.topology import Topology

_up = []  # networks of this process, as weak references
SETTLE_S = 1  # before this, ping skips its interval and bridges are still learning


def as_algorithm(value):
    try:
        found = algorithm(value)
    except ValueError as error:
        raise SpecificationError(f"algorithms: {error}") from None
    if not isinstance(found, Algorithm):
        raise SpecificationError(
            f"algorithms: {value!r} is no class that derives from netlab.CongestionControl"
        )
    return found


def looks_s(seconds):
    """The last look of an engine for Ctrl-C in this time. [virtual s]"""
    return int(seconds / LOOK_S) * LOOK_S


def end_dropped(agent, process):
    """End a network that nobody refers to any more; in a fork it is still its parent's."""
    if os.getpid() == process:
        agent.close()
        warnings.warn(
            "a Network was dropped without close(): its guest has been ended. Open networks as"
            " `with nl.Network(...) as net:`",
            ResourceWarning,
            stacklevel=2,
        )


class Network:
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
        How long all its commands together may take on the wall; None is an hour, times
        ``NETLAB_SLOWER``. [s]
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
        wall_limit_s = wall_s(3600, self.engine.about) if wall_limit_s is None else wall_limit_s
        check_seconds("wall_limit_s", wall_limit_s)
        clock = self.engine.clocks[0] if clock is None else clock
        if clock not in self.engine.clocks:
            raise SpecificationError(
                f"clock = {clock!r}: the {self.engine.name} engine has"
                f" {', '.join(self.engine.clocks)}"
            )
        algorithms = [as_algorithm(one) for one in algorithms]
        if algorithms and "netlab0" not in self.engine.about.get("congestion", ()):
            raise SpecificationError(
                f"algorithms = {algorithms}: the {self.engine.name} engine does not ask Python"
            )
        self.topology, self.seed, self.commands = topology, seed, []
        self._started = time.monotonic()
        self._agent = self.engine.connect(seed, clock, float(wall_limit_s))
        self._session = Session(self._agent)
        self.lock = self._session.lock
        self.clock_kind, self.consoles, self.files = clock, {}, Files(self)
        self.history = self._session.history = History(
            {
                "topology": topology.model_dump(mode="json"),
                "seed": seed,
                "clock": clock,
                "algorithms": [one.model_dump() for one in algorithms],
                "engine": self.engine.digest,
            }
        )
        try:
            stoppable(self)
            if algorithms:
                self._agent.answer_by(algorithms, seed)
            self._set_up()
            check_delays(topology, self._session.output, RTT_MARGIN_S[clock])
        except BaseException:
            self._agent.close()
            raise
        self._dropped = weakref.finalize(self, end_dropped, self._agent, os.getpid())
        self._dropped.atexit = False  # what is open then ends with this process
        self._at_end = []
        _up.append(weakref.ref(self))

    @staticmethod
    def all_up():
        """The networks of this process that are up, in the order in which they were opened."""
        found = [one() for one in tuple(_up)]
        return [one for one in found if one and one._dropped.alive]

    def at_end(self, call):
        """Have this called once, when the network is closed or dropped."""
        self._at_end.append(weakref.finalize(self, call))

    @staticmethod
    def newest():
        """The network that was opened last, of those of this process that are up, or None."""
        _up[:] = [one for one in _up if one() and one()._dropped.alive]
        return _up[-1]() if _up else None

    def _set_up(self):
        topology, setup = self.topology, list(self.topology.setup())
        self.commands += [f"{host} {command}" for host, command in setup]
        answer = self._session.ask(
            op="up",
            hosts=[[host.name, host.address] for host in topology.hosts]
            + [[router.name, None] for router in topology.routers],
            switches=[switch.name for switch in topology.switches],
            links=[[link.a, link.b] for link in topology.links],
            setup=setup,
        )
        if "failed" in answer:
            node, command, output = answer["failed"]
            raise EmulationError(
                f"{node} could not be set up, so nothing was measured: `{command}` said:"
                f" {output.strip()}"
            )
        self._session.sleep(SETTLE_S)  # as a number: the question's length costs virtual time

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
        began_s, job, shown = self.clock, self._begin(host, command, ""), Plain()
        self.history.add("run", f"{host} {command}", job)

        def show(printing, out):
            if echo and printing is job:
                print(shown.add(out), end="", flush=True)

        try:
            ended_by = self._session.let_run([job], limit_s, show)
        finally:
            print(plain(shown.held), end="", flush=True)
        if ended_by:
            job.ended_after_s = limit_s if ended_by == "limit" else looks_s(self.clock - began_s)
        if ended_by == "limit":
            raise job.ended_at(limit_s)
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
    def type(self, host, line, limit_s=600, stays=False, show=None):
        """Type a line on a node's terminal, whose bash stays from line to line.

        Parameters
        ----------
        host : str
            Name of a host, router or switch.
        line : str
            As a person types it. Typographic quotes become straight ones. ``^C`` is Ctrl-C for what
            stays in the foreground.
        limit_s : float
            It is ended as Ctrl-C would after so long. [virtual s]
        stays : bool
            Leave it in the foreground, as a server; else time passes until it has ended.
        show : callable, optional
            Is told what the terminal shows, as it comes; None prints it.

        Returns
        -------
        Typed
            With ``text``, ``output`` and ``status``.

        Raises
        ------
        SpecificationError, CommandError
            It is no line; something else is in the foreground there, or it took too long.

        Notes
        -----
        Its time is until bash shows its next prompt. A line that is continued, as ``for i in 1 2``
        is, ends at the prompt ``>``.
        """
        show = functools.partial(print, end="", flush=True) if show is None else show
        console, typed = self.console(host), Typed(host, one_line(line), stays)
        self.commands.append(f"{host} {typed.line}")
        self.history.add(host, typed.line, typed)
        return console.type(typed, check_seconds("limit_s", limit_s), show)

    @alone
    def press(self, host, keys):
        """Press keys on a node's terminal; time does not pass until `sleep` lets it."""
        console, pressed = self.console(host), Pressed(keys)
        self.history.add("keys", f"{host} {json.dumps(keys)}", pressed)
        console.press(pressed)

    @alone
    def edit(self, host, on=True):
        """Set a node's terminal for keys: bash has line editing, and full-screen programs find a
        terminal that they know. `type` sets it back, and so does ``on=False``. Nothing happens
        while something runs in it.
        """
        console = self.console(host)
        self.history.add("edit", f"{host} {'on' if on else 'off'}")
        console.edit(on)

    @alone
    def resize(self, host, rows, columns):
        """Tell the programs on a node's terminal how large its window is."""
        console = self.console(host)
        for name, number in (("rows", rows), ("columns", columns)):
            if not isinstance(number, int) or not 1 <= number <= 9999:
                raise SpecificationError(f"{name} = {number!r}: a whole number from 1 to 9999")
        self.history.add("resize", f"{host} {rows} {columns}")
        console.resize(rows, columns)

    def console(self, host):
        """The terminal of a node: `netlab.running.console.Console`."""
        check_command(self.topology, host, "true")
        if host not in self.consoles:
            self.consoles[host] = Console(self._session, host, self.clock_kind)
        return self.consoles[host]

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
        self.commands.append(f"sh sleep {seconds:g}")
        began_s = self.clock
        try:
            self._session.sleep(f"{seconds:016.6f}")
        except KeyboardInterrupt:
            seconds = looks_s(self.clock - began_s)
            raise
        finally:
            self.history.slept(f"sleep {seconds:.10g}")

    def watch(self, watches):
        """Have the engine observe these (a dict of `Watch`); False where it cannot."""
        return self._agent.watch(watches)

    def watched(self, began_s):
        """What the engine observed, by name; its times count from `began_s` of `clock`."""
        return self._agent.watched(round(1e9 * began_s))

    def ctrl_c(self):
        """Press Ctrl-C for what is waited for in another thread; nothing, where nothing is."""
        self._agent.send_key("I")

    def interrupt(self):
        """End the network at once, from any thread; what waits in it raises KeyboardInterrupt."""
        self._agent.interrupt()

    def close(self):
        """Stop everything that runs in it, and the network. Its jobs keep their text."""
        self._dropped.detach()
        for call in self._at_end:
            call()
        alone = self.lock.acquire(timeout=1)  # a terminal's thread may be asking
        try:
            self._agent.close()
        finally:
            if alone:
                self.lock.release()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        hosts = ", ".join(host.name for host in self.topology.hosts)
        closed = "" if self.up else ", closed"
        return f"<Network {hosts}; {self.clock:.3f} s on {self.engine.name}{closed}>"

    def _repr_html_(self):
        return as_html(self)
