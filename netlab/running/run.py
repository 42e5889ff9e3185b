"""Run an experiment: start its traffic at its times, wait, and keep what every program printed."""

import json

from netlab import engines
from netlab.engines import recorded
from netlab.errors import CommandError, SpecificationError
from netlab.experiment import Experiment
from netlab.running.network import Network
from netlab.running.result import Result, keep, name_of
from netlab.traffic import Iperf3, Nstat

FIRST_PORT = 5201


def run(topology, *traffic, engine=None, **fields):
    """Run an experiment.

    Parameters
    ----------
    topology, *traffic, **fields
        An `Experiment`, or what makes one: a `Topology`, traffic, ``seed=1``, ``clock="virtual"``
        ... A clock not given is the engine's own: real where Mininet runs on this machine itself.
    engine : {"guest", "mininet", "recorded"}, optional
        What to run on; None is the first that works here. ``"recorded"`` gives what it left when it
        was run earlier.

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
        A program failed or printed what cannot be read; the error has the text, and the folder
        where everything lies.
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
    if (recalled := engine.recall(experiment)) is not None:
        return Result(experiment, *recalled)
    limit_s = experiment.virtual_limit_s or experiment.duration_s
    wall_limit_s = experiment.wall_limit_s or 120 + 30 * limit_s
    with Network(
        experiment.topology, experiment.seed, experiment.clock, engine, wall_limit_s
    ) as net:
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
                f"{type(item).__name__}.congestion = {item.congestion!r}: this engine's kernel has"
                f" {', '.join(known)}"
            )


def carry_out(experiment, net, limit_s):
    """Start servers, then everything else at its time, wait, and read counters; -> what each
    command printed, by name.
    """
    jobs, servers = {}, {}
    for port, item in enumerate(experiment.traffic, FIRST_PORT):
        if isinstance(item, Iperf3):
            servers[name_of(experiment, item) + "-server"] = net.start(
                item.dst, item.server_command(port)
            )
    if servers:
        net.sleep(0.5)
    for item in experiment.traffic:
        if isinstance(item, Nstat) and (omitted_s := experiment.omitted_s(item.src)):
            jobs[name_of(experiment, item) + "-before"] = net.start(
                item.src, item.command(after_s=omitted_s)
            )
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
    sending = max(
        getattr(item, "time", 0) + getattr(item, "omit", 0) for item in experiment.traffic
    )
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
            why = (
                f"was ended after {limit_s:g} virtual seconds"
                if ended_by
                else f"failed with status {job.status}"
            )
            raise CommandError(
                f"`{job.command}` on {job.host} {why}; everything lies in {keep(experiment, raw)}."
                f" It printed:\n{job.text[-2000:]}",
                job.command,
                job.text,
                job.status,
            )
    return raw
