"""Run an experiment: start its traffic at its times, wait, keep what every program printed. It runs
here, or at a worker of somebody's executor.
"""

import json
import platform
from concurrent.futures import Executor
from contextvars import ContextVar

from netlab import engines
from netlab.engines import recorded
from netlab.engines.result_store import packed_result
from netlab.errors import (
    CommandError,
    EngineError,
    GuestError,
    ReadError,
    SpecificationError,
    installed,
)
from netlab.experiment import Experiment
from netlab.running.job import LONGEST_S, check_command
from netlab.running.network import Network
from netlab.running.progress import having
from netlab.running.result import Result, keep_evidence, output_names, read_tables

_reader = ContextVar("reader", default=dict)


def run(topology, *traffic, engine=None, **fields):
    """Run an experiment.

    Parameters
    ----------
    topology, *traffic
        An `Experiment`, or what makes one: a `Topology` and traffic.
    **fields
        ``seed``, ``clock``, ``stagger``, ``virtual_limit_s`` and ``wall_limit_s``, as of
        `Experiment`. A clock not given is the engine's own: real with Mininet on this machine.
    engine : {"guest", "mininet", "recorded"}, optional
        None is the first that works here. ``"recorded"`` gives what an earlier run left.

    Returns
    -------
    Result

    Warns
    -----
    LinkWarning
        A link did not do to the traffic what its description says; see `Result.warnings`.

    Raises
    ------
    SpecificationError, EngineError, EmulationError
        A value is not allowed; no engine works here; the network is not the one asked for.
    CommandError, ReadError
        A program failed or printed what cannot be read; the error has the text, and the folder
        where everything lies.

    Examples
    --------
    >>> from netlab import Ping, wan
    >>> run(wan(delay="20ms"), Ping("h1", "h2"), engine="recorded").pings.rtt_s.tolist()
    recorded: 1 result of earlier runs on guest ...
    [0.04, 0.02, 0.02, 0.02]
    """
    if not isinstance(topology, Experiment):
        experiment = Experiment(topology, *traffic, **fields)
    elif traffic:
        raise SpecificationError("run takes an Experiment alone, or a Topology and its traffic")
    else:
        experiment = topology.but(**fields) if fields else topology
    chosen = engines.pick(engine)
    result = run_on(on_engine(experiment, chosen), chosen)
    recorded.tell([result.provenance], chosen, asked=engine == "recorded")
    return result


def on_engine(experiment, engine):
    """The experiment with the engine's own clock, unless it was given one."""
    given = "clock" in experiment.model_fields_set
    return experiment if given else experiment.but(clock=engine.clocks[0])


def run_on(experiment, engine):
    """Run an experiment on an engine, or have the engine recall it; -> `Result`."""
    experiment.check_engine(engine.about)
    for item, place in experiment.places:
        for program in item.programs(place):
            check_command(experiment.topology, program.host, program.line)
    if (record := engine.recall(experiment)) is not None:
        return Result(experiment, *record)
    limit_s = experiment.virtual_limit_s or experiment.duration_s
    wall_limit_s = experiment.wall_limit_s or min(120 + 30 * limit_s, LONGEST_S)
    with Network(
        experiment.topology,
        experiment.seed,
        experiment.clock,
        engine,
        wall_limit_s,
        experiment.algorithms,
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
        if stuck := net.stalled():
            provenance["stalled"] = stuck
    try:
        result = Result(experiment, raw, net.commands, provenance)
    except ReadError as error:
        why = "\n".join([str(error), *stuck, keep_evidence(experiment, raw)])
        raise ReadError(why, error.raw) from None
    recorded.record_if_wanted(result, engine)
    return result


def carry_out(experiment, net, limit_s):
    """Start every program of the traffic at its time and wait; -> what each printed, by name.

    Ctrl-C raises KeyboardInterrupt, as half a run is no result; a program that failed or had not
    ended at the limit a CommandError; one that computed too long to repeat a GuestError.
    """
    programs = [
        (place.start_s, item.output_name(place.flow, program.name), program)
        for item, place in experiment.places
        for program in item.programs(place)
    ]
    watches = {name: program.watch for _, name, program in programs if program.watch}
    told = bool(watches) and net.watch(watches)
    if told:
        programs = [one for one in programs if not one[2].watch]

    def at(when):
        return [one for one in programs if one[2].when == when]

    def start(program):
        return net.start(program.host, program.line, program.typed)

    servers = {name: start(program) for _, name, program in at("server")}
    if servers:
        net.sleep(0.5)
    jobs = {name: start(program) for _, name, program in at("begin")}
    zero_s, began_s = net.clock, 0.0
    for start_s, name, program in sorted(at("start") + at("exactly"), key=lambda one: one[0]):
        if start_s > began_s:
            now_s = net.clock - zero_s if program.when == "exactly" else began_s
            net.sleep(max(0, round(start_s - now_s, 6)))
            began_s = start_s
        jobs[name] = start(program)
    sends_s = max(item.sends_s for item in experiment.traffic)
    ended_by = ""
    try:
        with having(_reader, readable(experiment, net, zero_s) if told else dict):
            ended_by = net.wait(*jobs.values(), limit_s=limit_s, total_s=sends_s or None)
        if not ended_by:
            net.wait(*servers.values(), limit_s=10)
            for _, name, program in at("end"):
                jobs[name] = start(program)
                net.wait(jobs[name])
    except CommandError as error:  # a program printed too much
        kept = keep_evidence(experiment, outputs(jobs | servers))
        message = f"{error}\n{kept}"
        raise CommandError(message, error.command, error.output, error.status) from None
    raw = outputs(jobs | servers)
    if net.unrepeatable:
        raise GuestError(f"{net.unrepeatable} {keep_evidence(experiment, raw)}")
    may_fail = {name for _, name, program in programs if program.may_fail}
    if ended_by:
        stuck = net.stalled()
        kept = keep_evidence(experiment, raw | ({"stalled": "\n".join(stuck)} if stuck else {}))
        raise at_limit(list(jobs.values()), limit_s, "\n".join([*stuck, kept]))
    for name, job in (jobs | servers).items():
        if job.status and name not in may_fail:
            why = f"failed with status {job.status}"
            raise job.failed(f"{why}. {keep_evidence(experiment, raw)}")
    return raw | (net.watched(zero_s) if told else {})


def so_far():
    """The tables that this run's observers have filled so far; for a listener of `told`."""
    return _reader.get()()


def readable(experiment, net, zero_s):
    """What `so_far` calls: reads what `net` tells of an experiment that began at `zero_s`."""

    def read():
        raw = net.watched(zero_s)
        told = [one for one in experiment.places if raw.keys() & output_names(*one).values()]
        return read_tables(told, raw)

    return read


def outputs(jobs):
    return {name: job.raw for name, job in jobs.items()}


def at_limit(jobs, limit_s, kept):
    """The error that names the programs that had not ended at the limit."""
    late = [job for job in jobs if job.cut_off] or [job for job in jobs if job.status] or jobs
    more = [f"`{job.command}` on {job.host}" for job in late[1:]]
    also = f" (nor had {', '.join(more)})" if more else ""
    return late[0].failed(
        f"had not ended after {limit_s:g} virtual seconds{also}: give it more with"
        f" virtual_limit_s, or see in its output what it waited for. {kept}"
    )


def identity(engine):
    """What a worker has: netlab and the engine of this name or address, and its machine's name."""
    digest = engines.pick(engine).digest
    return f"netlab {installed().version} and the engine {digest}", platform.node()


def workers_of(executor, engine):
    """-> a function that submits `measure` of an experiment and gives the future.

    An `EngineError` where workers cannot be asked, or have another netlab or engine: of a Dask
    client all are asked, of an executor one. The function's: where it takes nothing more.
    """
    asked = getattr(engine, "address", engine.name)  # a worker picks its own
    here, _ = identity(engine)
    try:
        if isinstance(executor, Executor):
            told = [executor.submit(identity, asked).result()]
        else:
            told, executor = executor.run(identity, asked).values(), executor.get_executor()
    except Exception as error:
        raise EngineError(
            f"the workers cannot say what they have ({type(error).__name__}: {error}): where they"
            f" run, install {here}"
        ) from error
    for one in told:
        check_worker(*one, here)

    def submit(experiment, tried):
        try:
            return executor.submit(measure, experiment, asked, here, tried)
        except RuntimeError as error:  # its pool is broken, or was shut down
            raise EngineError(
                f"the executor takes no more runs ({type(error).__name__}: {error}). Make a new one"
                " and run the sweep again: it goes on where it was"
            ) from error

    return submit


def measure(experiment, engine, here, tried=0):
    """One run, at a worker: the packed result, or the run's error.

    So any other exception means that the worker was lost. `tried` makes each try another task for
    Dask.
    """
    try:
        check_worker(*identity(engine), here)
        return packed_result(run_on(experiment, engines.pick(engine)))
    except Exception as error:
        return error


def check_worker(there, machine, here):
    """Refuse a worker that does not have what there is here."""
    if there != here:
        raise EngineError(
            f"the worker on {machine} has {there}, the sweep was asked for on {here}: install the"
            " same netlab there; `netlab engine export FILE` here and `netlab engine import FILE`"
            " there make the engines the same"
        )
