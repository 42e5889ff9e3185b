"""A topology that is up: commands on its hosts, and a clock that stands still between them."""

import time

from netlab import engines, units
from netlab.description import Description
from netlab.errors import CommandError, EmulationError, SpecificationError
from netlab.readers import read_ping
from netlab.running.progress import progress

SETTLE_S = 1  # before this, ping skips its interval and bridges are still learning
# What a check ping may take beyond the emulated delay: on a busy machine's own clock, until its
# processor comes round to it.
RTT_MARGIN_S = {"virtual": 0.001, "cpu": 0.010, "real": 0.010}


class Network:
    """A network that is up.

    Time passes only inside `run`, `sleep` and a job's `wait` and `stop`, however long you think in
    between, so what happens depends on the commands and the seed alone.

    Parameters
    ----------
    topology : Topology
    seed : int
        All that is random comes from it.
    clock : {"virtual", "cpu", "real"}
        ``"virtual"``: hosts are infinitely fast, only the network limits. ``"cpu"``: computing
        takes the time it takes here, and waiting is skipped. ``"real"``: as on the wall, the only
        one that Mininet on this machine has. None is the engine's first.
    engine : str, optional
        What to run on; None is the first that works here.
    wall_limit_s : float
        How long its commands may take in all, on the wall. [s]

    Raises
    ------
    SpecificationError
        A value is not allowed; nothing has been started.
    EngineError
        No engine works here.
    EmulationError
        The network that came up has not the delays that were asked for, or could not be set up.

    Examples
    --------
    # doctest: +SKIP
    >>> with Network(wan("100mbit", "20ms")) as net:
    ...     net.run("h1", "ping -c 4 10.0.0.2")
    """

    def __init__(self, topology, seed=1, clock=None, engine=None, wall_limit_s=3600.0):
        if not isinstance(topology, Description):
            raise SpecificationError(
                f"topology = {topology!r}: a netlab.Topology, such as netlab.wan() gives"
            )
        if not isinstance(seed, int) or not 0 <= seed < 1 << 63:
            raise SpecificationError(f"seed = {seed!r}: a whole number from 0 to 2**63 - 1")
        if not wall_limit_s > 0:
            raise SpecificationError(f"wall_limit_s = {wall_limit_s!r}: more than 0")
        self.engine = engines.pick(engine)
        clock = clock or self.engine.clocks[0]
        if clock not in self.engine.clocks:
            raise SpecificationError(
                f"clock = {clock!r}: the {self.engine.name} engine has"
                f" {', '.join(self.engine.clocks)}"
            )
        self.topology, self.seed, self.commands, self.jobs, self._clock_ns = (
            topology,
            seed,
            [],
            {},
            0,
        )
        self._started, self.margin_s = time.monotonic(), RTT_MARGIN_S[clock]
        self._agent = self.engine.connect(seed, clock, wall_limit_s)
        try:
            self._set_up()
        except BaseException:
            self._agent.close()
            raise

    def _set_up(self):
        setup = list(self.topology.setup())
        self.commands += [f"{host} {command}" for host, command in setup]
        answer = self._ask(
            op="up",
            hosts=[[host.name, host.address] for host in self.topology.hosts]
            + [[router.name, None] for router in self.topology.routers],
            switches=[switch.name for switch in self.topology.switches],
            links=[[link.a, link.b] for link in self.topology.links],
            setup=setup,
        )
        if "failed" in answer:
            node, command, output = answer["failed"]
            raise EmulationError(
                f"{node} could not be set up, so nothing was measured: `{command}` said:"
                f" {output.strip()}"
            )
        self._ask(op="sleep", seconds=SETTLE_S)
        self._check_delays()

    def _check_delays(self):
        """Ping across every link that emulates something; refuse a network whose round trips are
        not those asked for.
        """
        unchecked = [
            link
            for link in self.topology.links
            if (link.delay or link.lossy) and self.topology.across(link)
        ]
        while unchecked:
            start, end, path = self.topology.across(unchecked[0])
            loss = max(units.fraction(link.loss) for link in path)
            expected_s = self.topology.rtt_s(start.name, end.name)
            text = self._quietly(
                start.name, f"ping -c {20 if loss else 2} -i {expected_s + 0.01:.3f} -W 5 {end.ip}"
            )
            check_rtt(text, expected_s, f"{start.name} and {end.name}", loss, self.margin_s)
            for name in dict.fromkeys(
                [start.name, end.name, *(router.name for router in self.topology.routers)]
            ):
                self._quietly(name, "ip neigh flush all")  # as if nobody had pinged yet
            unchecked = [link for link in unchecked if link not in path]

    def _quietly(self, host, command):
        job = self._start(host, command)
        self._wait([job], 60)
        return job.text

    def _ask(self, on_tick=lambda seconds: None, echo=None, **question):
        def on_event(event):
            if "tick" in event:
                on_tick(event["tick"])
            else:
                self.jobs[event["job"]].text += event["out"]
                if echo and event["job"] in echo:
                    print(event["out"], end="", flush=True)

        answer = self._agent.ask(on_event, **question)
        self._clock_ns = answer["clock_ns"]
        if "error" in answer:
            raise CommandError(f"the agent could not do this: {answer['error']}")
        return answer

    def _start(self, host, command):
        answer = self._ask(op="start", host=host, command=command)
        job = self.jobs[answer["job"]] = Job(self, answer["job"], host, command)
        return job

    def _wait(self, jobs, limit_s, echo=(), total_s=None):
        with progress(total_s) as on_tick:
            answer = self._ask(
                on_tick,
                [job.number for job in echo],
                op="wait",
                numbers=[job.number for job in jobs],
                limit_s=f"{limit_s:016.6f}",
            )
        for job, status in zip(jobs, answer["status"], strict=True):
            job.status = status
        return answer["rung"]

    @property
    def clock(self):
        """Virtual time since the network's hosts booted. [s]"""
        return self._clock_ns / 1e9

    @property
    def wall_s(self):
        """Time on the wall since the network was asked for. [s]"""
        return time.monotonic() - self._started

    def run(self, host, command, limit_s=600, echo=True):
        """Run a command on a host and wait until it has ended. Ctrl-C ends the command, not the
        network.

        Parameters
        ----------
        host : str
        command : str
            A line for bash.
        limit_s : float
            It is ended (Ctrl-C, then SIGKILL) after so long. [virtual s]
        echo : bool
            Print its output as it comes.

        Returns
        -------
        Job
            With ``status`` and ``text``.

        Raises
        ------
        CommandError
            It was ended at the limit.
        """
        job = self._begin(host, command, "")
        if self._wait([job], limit_s, echo=[job] if echo else []) == "limit":
            raise CommandError(
                f"`{command}` on {host} was ended after {limit_s:g} virtual seconds: give it a"
                f" limit_s, or an end of its own (`ping -c 4`). It printed:\n{job.text[-2000:]}",
                command,
                job.text,
                job.status,
            )
        return job

    def start(self, host, command):
        """Start a command on a host and leave it running; -> `Job`."""
        return self._begin(host, command, " &")

    def _begin(self, host, command, suffix):
        self.topology.host(host)
        if not isinstance(command, str) or not command.strip():
            raise SpecificationError(f"command = {command!r}: a line for bash")
        self.commands.append(f"{host} {command}{suffix}")
        return self._start(host, command)

    def wait(self, *jobs, limit_s=600, total_s=None):
        """Let time pass until these jobs have ended; at the limit, or on Ctrl-C, they are ended.

        Returns
        -------
        str
            ``""``, or ``"limit"`` or ``"interrupt"`` for what ended them.
        """
        return self._wait(jobs, limit_s, total_s=total_s)

    def sleep(self, seconds):
        """Let time pass. [virtual s]"""
        if not 0 <= seconds <= 1e6:
            raise SpecificationError(f"seconds = {seconds!r}: from 0 to a million")
        self.commands.append(f"sh sleep {seconds:g}")
        if self._ask(op="sleep", seconds=f"{seconds:016.6f}")["rung"]:
            raise KeyboardInterrupt

    def close(self):
        """Stop everything that runs in it, and the network. Its jobs keep their text."""
        self._agent.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        hosts = ", ".join(host.name for host in self.topology.hosts)
        return f"<Network {hosts}; {self.clock:.3f} s on {self.engine.name}>"


class Job:
    """A command on a host.

    Attributes
    ----------
    host, command : str
    text : str
        What it has printed so far.
    status : int or None
        Its exit status, negative for a signal; None while it runs.
    """

    def __init__(self, network, number, host, command):
        self.network, self.number, self.host, self.command = network, number, host, command
        self.text, self.status = "", None

    def wait(self, limit_s=600):
        """Let time pass until it has ended; -> itself."""
        self.network._wait([self], limit_s)
        return self

    def stop(self):
        """End it as Ctrl-C would, after a second by SIGKILL; -> itself."""
        if self.status is None:
            (self.status,) = self.network._ask(op="stop", number=self.number)["status"]
        return self

    def __repr__(self):
        return (
            f"<Job {self.host} {self.command!r}:"
            f" {'running' if self.status is None else f'status {self.status}'}>"
        )


def check_rtt(text, expected_s, between, loss=0.0, margin_s=RTT_MARGIN_S["virtual"]):
    """Refuse what a check ping contradicts.

    Parameters
    ----------
    text : str
        Output of ping.
    expected_s : float
        Round-trip time that was asked for. [s]
    between : str
        Whom, for the message.
    loss : float
        Where the path loses half of its packets or more, silence proves nothing. [1]
    margin_s : float
        What the best ping may take on top. [s]

    Raises
    ------
    EmulationError
        No answer, or a round-trip time that is not the one asked for.
    """
    measured = read_ping(text)
    if not measured.meta["received"]:
        if loss < 0.5:
            raise EmulationError(
                f"no answer to {measured.meta['transmitted']} pings between {between}, so nothing"
                f" was measured:\n{text}"
            )
        return
    best = measured.meta["rtt_min_s"]
    if not expected_s - 0.0001 <= best <= expected_s * 1.01 + margin_s:
        raise EmulationError(
            f"the round-trip time between {between} is {best * 1000:.3f} ms where"
            f" {expected_s * 1000:.3f} ms was asked for, so nothing was measured. Is netem there"
            " (`tc qdisc show`)?"
        )
