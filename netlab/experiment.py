"""An experiment, what runs it, and what it leaves."""

import hashlib
import json
import time
from pathlib import Path

import pandas as pd
from pydantic import Field, model_validator

from netlab import engines, units
from netlab.engines.guest.store import cache_folder
from netlab.errors import CommandError, NetlabError, ReadError, SpecificationError
from netlab.network import Network
from netlab.readers import read_iperf3, read_ping
from netlab.specification import Delay, Specification
from netlab.topology import Topology
from netlab.traffic import Iperf3, Ping, Traffic

FIRST_PORT = 5201


class Experiment(Specification):
    """A topology, the traffic on it, a seed and a clock: all that decides a result.

    Parameters
    ----------
    topology : Topology
    *traffic : Ping, Iperf3 or Shell
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

    @property
    def duration_s(self):
        """Virtual seconds that its traffic should take. [s]"""
        return max(start + item.duration_s for start, item in zip(self.starts_s, self.traffic, strict=True))


def run(topology, *traffic, engine=None, **fields):
    """Run an experiment.

    Parameters
    ----------
    topology, *traffic, **fields
        An `Experiment`, or what makes one: a `Topology`, traffic, ``seed=1``, ``clock="virtual"`` ...
    engine : str, optional
        What to run on; None is the first that works here.

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
        experiment = topology.but(**fields) if fields else topology
    else:
        experiment = Experiment(topology, *traffic, **fields)
    chosen = engines.pick(engine)
    check_congestion(experiment, chosen)
    limit_s = experiment.virtual_limit_s or experiment.duration_s
    with Network(experiment.topology, experiment.seed, experiment.clock, chosen,
                 experiment.wall_limit_s or 120 + 30 * limit_s) as net:
        raw = carry_out(experiment, net, limit_s)
        provenance = {"seed": experiment.seed, "clock": experiment.clock, "engine": chosen.name, "engine_digest": chosen.digest,
                      **{key: chosen.about[key] for key in ("kernel", "iperf3", "mininet")}, "virtual_s": net.clock,
                      "wall_s": net.wall_s, "experiment": json.loads(experiment.to_json())}
        commands = net.commands
    return Result(experiment, raw, commands, provenance)


def check_congestion(experiment, engine):
    """Refuse an algorithm that the engine's kernel lacks, before anything starts."""
    known = engine.about["congestion"]
    for item in experiment.traffic:
        if getattr(item, "congestion", None) not in (None, *known):
            raise SpecificationError(f"{type(item).__name__}.congestion = {item.congestion!r}: this engine's kernel has {', '.join(known)}")


def carry_out(experiment, net, limit_s):
    """Start servers, then everything else at its time, and wait; -> what each command printed, by name."""
    jobs, servers = {}, {}
    for port, item in enumerate(experiment.traffic, FIRST_PORT):
        if isinstance(item, Iperf3):
            servers[name_of(experiment, item) + "-server"] = net.start(item.dst, item.server_command(port))
    if servers:
        net.sleep(0.5)
    began = 0.0
    for number in sorted(range(len(experiment.traffic)), key=lambda n: experiment.starts_s[n]):
        item, start = experiment.traffic[number], experiment.starts_s[number]
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
    raw = {name: job.text for name, job in (jobs | servers).items()}
    if ended_by == "interrupt":
        raise KeyboardInterrupt
    for name, job in jobs.items():
        if ended_by or (job.status and not name.partition("-")[2].startswith("iperf3")):
            why = f"was ended after {limit_s:g} virtual seconds" if ended_by else f"failed with status {job.status}"
            raise CommandError(f"`{job.command}` on {job.host} {why}; everything lies in {keep(experiment, raw)}. It printed:\n"
                               f"{job.text[-2000:]}", job.command, job.text, job.status)
    return raw


def name_of(experiment, item):
    """What a traffic's output is called: its number among the experiment's traffic, its kind and its hosts."""
    ends = [getattr(item, end) for end in ("src", "dst") if hasattr(item, end)]
    number = next(n for n, other in enumerate(experiment.traffic, 1) if other is item)
    return "-".join([str(number), item.kind, *ends])


def keep(experiment, raw):
    """Save the evidence of a run that failed; -> where."""
    folder = cache_folder() / "evidence" / f"{time.strftime('%Y%m%d-%H%M%S')}-{time.monotonic_ns() % 10**6:06d}"
    folder.mkdir(parents=True)
    (folder / "experiment.json").write_text(experiment.to_json())
    for name, text in raw.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


class Result:
    """What an experiment left.

    Attributes
    ----------
    flows : pandas.DataFrame
        One row per iperf3 test: ``flow, src, dst, congestion, streams, sent_bps, received_bps, retransmits, start_s, end_s, ...``
    streams : pandas.DataFrame
        One row per stream of each flow.
    intervals : pandas.DataFrame
        One row per stream and report; times count from the start of the traffic. [s]
    pings : pandas.DataFrame
        One row per echo request: ``flow, src, dst, seq, rtt_s``.
    raw : dict of str
        Every program's untouched output.
    commands : list of str
        What a person would have typed at Mininet's prompt, in order.
    provenance : dict
        Seed, clock, engine and its digest, versions, virtual and wall seconds, and the experiment itself.
    """

    def __init__(self, experiment, raw, commands, provenance):
        self.experiment, self.raw, self.commands, self.provenance = experiment, raw, commands, provenance
        try:
            self._read()
        except ReadError as error:
            raise ReadError(f"{error}\nEverything lies in {keep(experiment, raw)}", error.raw) from None

    def _read(self):
        flows, streams, intervals, pings = [], [], [], []
        for number, (item, start) in enumerate(zip(self.experiment.traffic, self.experiment.starts_s, strict=True), 1):
            text = self.raw[name_of(self.experiment, item)]
            if isinstance(item, Ping):
                pings.append(named(read_ping(text).pings, number, item.src, item.dst))
            elif isinstance(item, Iperf3):
                ends = (item.dst, item.src) if item.reverse else (item.src, item.dst)
                report = read_iperf3(text)
                own, parts = named(report.streams, number, *ends), named(report.intervals, number, *ends)
                streams.append(own)
                intervals.append(parts.assign(start_s=parts.start_s + start, end_s=parts.end_s + start))
                flows.append(flow_row(own, start, report.meta))
        self.flows, self.streams = pd.DataFrame(flows, columns=FLOW_COLUMNS), together(streams)
        self.intervals, self.pings = together(intervals), together(pings)

    def __repr__(self):
        p = self.provenance
        parts = [f"{len(self.flows)} flows, {len(self.streams)} streams"] if len(self.flows) else []
        parts += [f"{self.flows.received_bps.sum() / 1e6:.2f} Mbit/s received"] if len(self.flows) else []
        parts += [f"{len(self.pings)} pings"] if len(self.pings) else []
        return (f"<Result: {', '.join(parts) or 'raw output'}; seed {p['seed']}, {p['virtual_s']:.1f} virtual s in {p['wall_s']:.1f} s, "
                f"{p['engine']} {p['engine_digest']}>")

    def save(self, directory):
        """Leave everything in a folder: raw output, commands, provenance, and the frames as CSV; `load` reads it."""
        folder = Path(directory)
        (folder / "raw").mkdir(parents=True, exist_ok=True)
        for name, text in self.raw.items():
            (folder / "raw" / f"{name}.txt").write_text(text)
        (folder / "experiment.json").write_text(self.experiment.to_json())
        (folder / "commands.txt").write_text("".join(f"{command}\n" for command in self.commands))
        (folder / "provenance.json").write_text(json.dumps(self.provenance, indent=1) + "\n")
        for name in ("flows", "streams", "intervals", "pings"):
            getattr(self, name).to_csv(folder / f"{name}.csv", index=False)


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


FLOW_COLUMNS = ["flow", "src", "dst", "congestion", "streams", "sent_bps", "received_bps", "retransmits", "start_s", "end_s",
                "rtt_s", "rtt_min_s", "mss_bytes"]


def flow_row(streams, start, meta):
    """A flow's row: its streams added up."""
    total = streams[["sent_bps", "received_bps", "retransmits"]].sum(min_count=1)
    first = streams.iloc[0]
    return {**first[["flow", "src", "dst", "congestion"]], "streams": len(streams), **total, "start_s": start,
            "end_s": start + streams.end_s.max(), "rtt_s": streams.rtt_s.mean(), "rtt_min_s": streams.rtt_min_s.min(),
            "mss_bytes": meta["mss_bytes"]}


def named(frame, flow, src, dst):
    """Say whose a reader's frame is."""
    return pd.concat([pd.DataFrame({"flow": flow, "src": src, "dst": dst}, index=frame.index),
                      frame.drop(columns=["src", "dst"], errors="ignore")], axis=1)


def together(frames):
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
