"""An experiment, and what runs it."""

import hashlib
import json
from pathlib import Path

from pydantic import Field, field_validator, model_validator

from netlab import engines, units
from netlab.engines import recorded
from netlab.errors import CommandError, NetlabError, SpecificationError
from netlab.network import Network
from netlab.result import Result, keep, name_of
from netlab.specification import Delay, Specification
from netlab.topology import Topology
from netlab.traffic import Iperf3, Nstat, Traffic

FIRST_PORT = 5201


class Experiment(Specification):
    """A topology, the traffic on it, a seed and a clock: all that decides a result.

    Parameters
    ----------
    topology : Topology
    *traffic : Ping, Iperf3, Shell or Nstat
        What runs on its hosts, at once.
    seed : int
        All that is random comes from it: losses, ports, starts.
    clock : {"virtual", "cpu", "real"}
        See `Network`.
    stagger : str
        The window in which the traffic starts, as people start things together; each start is drawn from the seed. ``"0ms"``
        starts everything at once, which makes flows run in lockstep.
    virtual_limit_s, wall_limit_s : float, optional
        It is ended, with an error, after so long; None takes them from the traffic. [s]
    """

    topology: Topology
    traffic: tuple[Traffic, ...] = Field(min_length=1)
    seed: int = Field(default=1, ge=0, lt=1 << 63)
    clock: str = Field(default="virtual", pattern="^(virtual|cpu|real)$")
    stagger: Delay = "100ms"
    virtual_limit_s: float | None = Field(default=None, gt=0)
    wall_limit_s: float | None = Field(default=None, gt=0)

    def __init__(self, topology=None, *traffic, **fields):
        if traffic:
            fields["traffic"] = traffic
        super().__init__(**{"topology": topology} if topology is not None else {}, **fields)

    @field_validator("traffic")
    @classmethod
    def _each_its_own(cls, items):
        """The same object given twice is two flows, whose outputs must not be mixed up."""
        return tuple(item.model_copy() for item in items)

    @model_validator(mode="after")
    def _check(self):
        for item in self.traffic:
            for field in ("src", "dst"):
                if hasattr(item, field):
                    self.topology.host(getattr(item, field), f"{type(item).__name__}.{field}")
        return self

    @property
    def starts_s(self):
        """When each traffic starts, drawn from the seed within `stagger`. [s]"""
        window = units.delay_s(self.stagger)
        draws = [int.from_bytes(hashlib.sha256(f"{self.seed} {n}".encode()).digest()[:4]) for n in range(len(self.traffic))]
        return [round(window * draw / 2**32, 6) for draw in draws]

    def omitted_s(self, host):
        """Time from the start until the totals of all tests that a host sends have begun; 0 where none omits anything. [s]"""
        tests = zip(self.starts_s, self.traffic, strict=True)
        return max((start + one.omit for start, one in tests if getattr(one, "omit", 0) and one.sender == host), default=0.0)

    @property
    def duration_s(self):
        """Virtual seconds that its traffic should take. [s]"""
        return max(start + item.duration_s for start, item in zip(self.starts_s, self.traffic, strict=True))


def run(topology, *traffic, engine=None, **fields):
    """Run an experiment.

    Parameters
    ----------
    topology, *traffic, **fields
        An `Experiment`, or what makes one: a `Topology`, traffic, ``seed=1``, ``clock="virtual"`` ... A clock not given
        is the engine's own: real where Mininet runs on this machine itself.
    engine : {"guest", "mininet", "recorded"}, optional
        What to run on; None is the first that works here. ``"recorded"`` gives what it left when it was run earlier.

    Returns
    -------
    Result

    Raises
    ------
    SpecificationError
        Something is not allowed; nothing was started.
    EngineError, EmulationError
        No engine works here; the network that came up is not the one asked for.
    CommandError, ReadError
        A program failed or printed what cannot be read; the error has the text, and the folder where everything lies.
    """
    if isinstance(topology, Experiment):
        if traffic:
            raise SpecificationError("run takes an Experiment alone, or a Topology and its traffic")
        experiment, own_clock = topology.but(**fields) if fields else topology, False
    else:
        experiment, own_clock = Experiment(topology, *traffic, **fields), "clock" not in fields
    chosen = engines.pick(engine)
    if own_clock:
        experiment = experiment.but(clock=chosen.clocks[0])
    result = run_on(experiment, chosen)
    recorded.tell([result], chosen, asked=engine == "recorded")
    return result


def run_on(experiment, engine):
    """Run an experiment on an engine, or have the engine recall it; -> `Result`."""
    check_congestion(experiment, engine)
    if hasattr(engine, "recall"):
        return Result(experiment, *engine.recall(experiment))
    limit_s = experiment.virtual_limit_s or experiment.duration_s
    wall_limit_s = experiment.wall_limit_s or 120 + 30 * limit_s
    with Network(experiment.topology, experiment.seed, experiment.clock, engine, wall_limit_s) as net:
        raw = carry_out(experiment, net, limit_s)
        provenance = {
            "seed": experiment.seed,
            "clock": experiment.clock,
            "engine": engine.name,
            "engine_digest": engine.digest,
            **{key: engine.about[key] for key in ("kernel", "iperf3", "mininet")},
            "virtual_s": net.clock,
            "wall_s": net.wall_s,
            "experiment": json.loads(experiment.to_json()),
        }
    result = Result(experiment, raw, net.commands, provenance)
    if recorded.wanted():
        recorded.record(result)
    return result


def check_congestion(experiment, engine):
    """Refuse an algorithm that the engine's kernel lacks, before anything starts."""
    known = engine.about.get("congestion")
    for item in experiment.traffic if known else ():
        if getattr(item, "congestion", None) not in (None, *known):
            raise SpecificationError(
                f"{type(item).__name__}.congestion = {item.congestion!r}: this engine's kernel has {', '.join(known)}"
            )


def carry_out(experiment, net, limit_s):
    """Start servers, then everything else at its time, wait, and read counters; -> what each command printed, by name."""
    jobs, servers = {}, {}
    for port, item in enumerate(experiment.traffic, FIRST_PORT):
        if isinstance(item, Iperf3):
            servers[name_of(experiment, item) + "-server"] = net.start(item.dst, item.server_command(port))
    if servers:
        net.sleep(0.5)
    for item in experiment.traffic:
        if isinstance(item, Nstat) and (omitted_s := experiment.omitted_s(item.src)):
            jobs[name_of(experiment, item) + "-before"] = net.start(item.src, item.command(after_s=omitted_s))
    began = 0.0
    for number in sorted(range(len(experiment.traffic)), key=lambda n: experiment.starts_s[n]):
        item, start = experiment.traffic[number], experiment.starts_s[number]
        if isinstance(item, Nstat):
            continue  # it was started before, or is when all has ended
        if start > began:
            net.sleep(round(start - began, 6))
            began = start
        words = {} if item.kind == "shell" else {"address": experiment.topology.host(item.dst).ip}
        if isinstance(item, Iperf3):
            words["port"] = FIRST_PORT + number
        jobs[name_of(experiment, item)] = net.start(item.src, item.command(**words))
    sending = max(getattr(item, "time", 0) + getattr(item, "omit", 0) for item in experiment.traffic)
    ended_by = net.wait(*jobs.values(), limit_s=limit_s, total_s=sending or None)
    if not ended_by:
        net.wait(*servers.values(), limit_s=10)
        for item in experiment.traffic:
            if isinstance(item, Nstat):
                jobs[name_of(experiment, item)] = net.start(item.src, item.command()).wait()
    raw = {name: job.text for name, job in (jobs | servers).items()}
    if ended_by == "interrupt":
        raise KeyboardInterrupt
    for name, job in jobs.items():
        if ended_by or (job.status and not name.partition("-")[2].startswith("iperf3")):
            why = f"was ended after {limit_s:g} virtual seconds" if ended_by else f"failed with status {job.status}"
            raise CommandError(
                f"`{job.command}` on {job.host} {why}; everything lies in {keep(experiment, raw)}. It printed:\n"
                f"{job.text[-2000:]}",
                job.command,
                job.text,
                job.status,
            )
    return raw


def load(directory):
    """Read what `Result.save` left; the frames are read anew from the raw output.

    Raises
    ------
    NetlabError
        The folder is not one that `Result.save` left.
    """
    folder = Path(directory)
    try:
        experiment = Experiment.from_json((folder / "experiment.json").read_text())
        raw = {path.stem: path.read_text() for path in sorted((folder / "raw").glob("*.txt"))}
        commands = (folder / "commands.txt").read_text().splitlines()
        provenance = json.loads((folder / "provenance.json").read_text())
    except OSError as error:
        raise NetlabError(f"{folder} is not a folder that Result.save left: {error}") from None
    return Result(experiment, raw, commands, provenance)
