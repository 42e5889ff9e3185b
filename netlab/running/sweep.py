"""Many experiments, one tidy frame: a sweep is a function of its axes."""

import contextlib
import inspect
import itertools
import math
import platform
import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from functools import cache

import pandas as pd

from netlab import engines, units
from netlab.algorithms.source import Algorithm, algorithm
from netlab.engines import recorded
from netlab.errors import EngineError, SpecificationError
from netlab.experiment import Experiment
from netlab.running.progress import counting
from netlab.running.result import joined
from netlab.running.run import on_engine, run_on
from netlab.running.stop import Stop
from netlab.running.unfinished import UnfinishedSweep
from netlab.traffic.base import KINDS


def sweep(function, seeds=(1,), engine=None, executor=None, **axes):
    """Run an experiment for every combination of its axes and every seed, one guest per core.

    Parameters
    ----------
    function : callable
        Takes the axes as keywords, returns an `Experiment`.
    seeds : iterable of int
        Each combination is run with every one of them.
    engine : str, optional
        What to run on; None is the first that works here.
    executor : concurrent.futures.Executor, optional
        What the runs are submitted to, such as ``distributed.Client(...).get_executor()``; it is
        left open. Its workers need the same engine. None: this machine, a guest per core.
    **axes : iterable
        The values of each axis.

    Returns
    -------
    pandas.DataFrame
        One row per run and flow, or ping where nothing else was sent: the axes, ``seed``, the
        columns of `Result.flows` (`Result.pings`), and what the topology says of the path:
        ``loss_rate`` [1], ``base_rtt_s`` [s], ``bottleneck_bps`` [bit/s]. Where runs failed, a
        column ``error`` says why, and what they should have measured is NaN.

    Warns
    -----
    UserWarning
        Some runs failed; it says where the first one's evidence lies.

    Raises
    ------
    SpecificationError, NetlabError
        An experiment is not allowed, and none has been started; or every run failed.

    Notes
    -----
    Results are kept in the cache until the sweep is complete: run again after an interruption, or a
    failure, it goes on where it was. In a notebook they are kept until its kernel ends.

    Examples
    --------
    >>> def lossy(loss, parallel):
    ...     test = Iperf3("h1", "h2", parallel=parallel, congestion="reno")
    ...     return Experiment(wan("1gbit", "20ms", loss), test)
    >>> sweep(lossy, loss=["0.1%", "1%"], parallel=[1, 8], seeds=range(3))  # doctest: +SKIP
    """
    chosen = engines.pick(engine)
    places, experiments = cells(function, seeds, axes, chosen)
    measured, errors, futures = {}, {}, {}
    if chosen.recall(experiments[0]) is not None:
        provenances = []
        for number, experiment in enumerate(experiments):
            result = run_on(experiment, chosen)
            measured[number] = rows(places[number], experiment, result)
            provenances.append(result.provenance)
        recorded.tell(provenances, chosen, asked=engine == "recorded")
        return pd.concat(measured.values(), ignore_index=True)
    unfinished, stop = UnfinishedSweep(chosen), Stop()
    for number, experiment in enumerate(experiments):
        if result := unfinished.find(experiment):
            measured[number] = rows(places[number], experiment, result)
    unfinished.tell(len(measured), len(experiments))

    def keep(number, result):
        """Results are large: from here on, this one is in its file, and its numbers in a frame."""
        unfinished.add(result)
        measured[number] = rows(places[number], experiments[number], result)

    def run_here(number):
        with stop.covering(), count.covering(number):
            keep(number, measure(experiments[number], chosen, chosen.digest))

    with (
        ThreadPoolExecutor(chosen.at_once) if executor is None else contextlib.nullcontext() as own,
        counting(len(experiments), len(measured)) as count,
    ):
        try:
            for number in sorted({*range(len(experiments))} - measured.keys()):
                if own:
                    future = own.submit(run_here, number)
                else:  # another process picks its own engine of this name
                    work = experiments[number], chosen.name, chosen.digest
                    future = executor.submit(measure, *work)
                futures[future] = number
            for future in as_completed(futures):
                number = futures.pop(future)
                if error := future.exception():
                    errors[number] = error
                elif not own:
                    keep(number, future.result())
                future = None  # it refers to the result
                count.ended(number)
        except BaseException as error:
            try:
                for future in futures:
                    future.cancel()
                running = [future for future in futures if own and future.running()]
                if running and isinstance(error, KeyboardInterrupt):
                    print(
                        f"sweep: interrupted; {len(running)} of its runs are still under way, and"
                        " kept when they end; press Ctrl-C again to end them now",
                        flush=True,
                    )
                while wait(running, timeout=1).not_done:  # without an end, a signal can be missed
                    pass
            except KeyboardInterrupt:  # a second one
                stop.now()
            for future, number in futures.items():
                ended = future.done() and not future.cancelled() and not future.exception()
                if ended and not own:
                    keep(number, future.result())
            raise
    if len(errors) == len(experiments) or (errors and recorded.anew()):
        raise errors[min(errors)]  # records are only made of what ran
    if errors:
        warnings.warn(report(places, experiments, errors), stacklevel=2)
        for number, error in errors.items():
            measured[number] = failed(places[number], experiments[number], error)
    else:
        unfinished.remove(experiments)
    return pd.concat([measured[number] for number in range(len(experiments))], ignore_index=True)


def listed(name, values):
    """The values of an axis as a list."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise SpecificationError(f"{name} = {values!r}: a list of values, such as [{values!r}]")
    return list(values)


def cells(function, seeds, axes, engine):
    """What is to be run, in order: each place among the axes, and the experiment there."""
    axes = {name: listed(name, values) for name, values in {"seeds": seeds, **axes}.items()}
    for name, values in axes.items():
        if not values:
            raise SpecificationError(f"{name} = []: give it at least one value")
    if reserved := {"seed", "error"} & axes.keys():
        raise SpecificationError(
            f"{reserved.pop()}: a column of its own; give seeds as seeds=[...]"
        )
    seeds, places, experiments = axes.pop("seeds"), [], []
    check_arguments(function, axes)
    for values in itertools.product(*axes.values()):
        place = dict(zip(axes, values, strict=True))
        experiment = function(**place)
        if not isinstance(experiment, Experiment):
            raise SpecificationError(
                f"{getattr(function, '__name__', function)}(**{place}) gave {experiment!r}: it must"
                " return a netlab.Experiment"
            )
        table_of(experiment)
        for item in experiment.traffic:
            item.check_engine(engine.about)
        experiment = on_engine(experiment, engine)
        places += [place] * len(seeds)
        experiments += [experiment.but(seed=seed) for seed in seeds]
    return places, experiments


def check_arguments(function, axes):
    """Refuse axes that the function does not take, and a function that needs others."""
    try:
        inspect.signature(function).bind(**axes)
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        takes = ", ".join(inspect.signature(function).parameters) or "nothing"
        raise SpecificationError(
            f"{name} takes {takes}, and the axes are {', '.join(axes) or 'none'} ({error}): give"
            f" sweep a list of values for each argument of {name}, and no other"
        ) from None


def table_of(experiment):
    """The name of the table that a sweep collects from this experiment."""
    for kind in KINDS.values():
        if kind.measures and any(type(item) is kind for item in experiment.traffic):
            return kind.measures
    kinds = ", ".join(sorted({type(item).__name__ for item in experiment.traffic}))
    raise SpecificationError(
        f"a sweep collects what traffic measures, and {kinds} alone measures nothing: add a test, "
        "or run the experiments one by one with nl.run"
    )


def measure(experiment, engine, digest):
    """One run, wherever an executor has it done."""
    engine = engines.pick(engine)
    if engine.digest != digest:
        raise EngineError(
            f"the worker on {platform.node()} has the engine {engine.digest}, the sweep was asked"
            f" for on {digest}: `netlab engine export FILE` here and `netlab engine import FILE`"
            " there make them the same"
        )
    return run_on(experiment, engine)


def rows(place, experiment, result):
    """One run's rows of the frame: its place among the axes, what was measured, and the path."""
    return beside(place, experiment, result.tables[table_of(experiment)])


def failed(place, experiment, error):
    """The rows of a run that failed: one for each test that it should have had, without figures."""
    name = table_of(experiment)
    traffic = enumerate(experiment.traffic, 1)
    tests = [{"flow": flow, **item.ends} for flow, item in traffic if item.measures == name]
    table = pd.DataFrame(tests).reindex(columns=joined({})[name].columns)
    return beside(place, experiment, table).assign(error=f"{type(error).__name__}: {error}")


def beside(place, experiment, table):
    """A table, with a place among the axes before it and what is known of each path behind it."""
    columns = {name: algorithm(value) for name, value in place.items()} | {"seed": experiment.seed}
    frame = pd.DataFrame(
        {
            name: [str(value) if isinstance(value, Algorithm) else value] * len(table)
            for name, value in columns.items()
        },
        index=table.index,
    )
    known = cache(lambda *path: of_path(experiment.topology, *path))
    streams = table.get("streams", pd.Series(1, table.index)).fillna(1)
    path = list(map(known, table.src, table.dst, streams))
    measured = pd.concat([table, pd.DataFrame(path, index=table.index)], axis=1)
    # an axis keeps its own column
    return pd.concat([frame, measured.drop(columns=measured.columns.intersection(place))], axis=1)


def report(places, experiments, errors):
    """What failed, and why the first of it did."""
    number = min(errors)
    place, error = places[number] | {"seed": experiments[number].seed}, errors[number]
    why = f"{type(error).__name__}: {error}"
    what = ", ".join(f"{name}={value!r}" for name, value in place.items())
    return (
        f"{len(errors)} of {len(experiments)} runs failed: they have no numbers, and an `error`."
        f" Run again, the sweep tries these alone. The first, {what}:\n{why}"
    )


def of_path(network, src, dst, streams):
    """What a topology says of the way from one host to another, for so many connections."""
    passed = math.prod(1 - units.fraction(link.loss) for link in network.emulated(src, dst))
    return {
        "loss_rate": round(1 - passed, 12),
        "base_rtt_s": network.rtt_s(src, dst),
        "bottleneck_bps": network.bottleneck_bps(src, dst, streams),
    }
