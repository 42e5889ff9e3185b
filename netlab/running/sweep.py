"""Many experiments, one tidy frame: a sweep is a function of its axes."""

import contextlib
import itertools
import platform
import warnings
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import NamedTuple

import pandas as pd

from netlab import engines, units
from netlab.engines import recorded
from netlab.errors import EngineError, SpecificationError
from netlab.experiment import Experiment
from netlab.running.progress import counting
from netlab.running.result import FLOW_COLUMNS
from netlab.running.run import check_congestion, run_on
from netlab.running.unfinished import Kept
from netlab.traffic import Iperf3


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
        left open. Its workers need the engine that is in use here. None: this machine, a guest,
        which is a process of its own, per core.
    **axes : iterable
        The values of each axis.

    Returns
    -------
    pandas.DataFrame
        One row per run and flow: the axes, ``seed``, the columns of `Result.flows`, and what the
        topology says of the flow's path: ``loss_rate`` [1], ``base_rtt_s`` [s], ``bottleneck_bps``
        [bit/s]. Where runs failed, a column ``error`` says why, and what they should have measured
        is NaN.

    Warns
    -----
    UserWarning
        Some runs failed; it says how many, and where the first one's evidence lies.

    Raises
    ------
    SpecificationError
        One of the experiments is not allowed; none has been started.
    NetlabError
        Every run failed: the first one's error.

    Notes
    -----
    Results are kept as they come, in the cache, until the sweep is complete: run again after an
    interruption, or a failure, it goes on where it was.

    Examples
    --------
    >>> def lossy(loss, parallel):
    ...     return Experiment(wan("1gbit", "20ms", loss), Iperf3("h1", "h2", parallel=parallel, congestion="reno"))
    # doctest: +SKIP
    >>> sweep(lossy, loss=["0.1%", "1%"], parallel=[1, 8], seeds=range(3))
    """
    chosen = engines.pick(engine)
    places, experiments = cells(function, seeds, axes)
    for experiment in experiments:
        check_congestion(experiment, chosen)
    if isinstance(chosen, recorded.RecordedEngine):
        recalled = [run_on(experiment, chosen) for experiment in experiments]
        recorded.tell(recalled, chosen, asked=engine == "recorded")
        return pd.concat(map(rows, places, experiments, recalled), ignore_index=True)
    kept, results, errors = Kept(chosen), {}, {}
    for number, experiment in enumerate(experiments):
        if result := kept.find(experiment):
            results[number] = rows(places[number], experiment, result)
    kept.tell(len(results), len(experiments))
    own = None if executor else ThreadPoolExecutor(chosen.at_once)
    with own or contextlib.nullcontext(), counting(len(experiments), len(results)) as one_done:
        futures = {}
        try:
            for number, experiment in enumerate(experiments):
                if number not in results:
                    futures[
                        (own or executor).submit(measure, experiment, chosen.name, chosen.digest)
                    ] = number
            for future in as_completed(futures):
                number = futures[future]
                if error := future.exception():
                    errors[number] = error
                else:
                    kept.keep(future.result())
                    results[number] = rows(places[number], experiments[number], future.result())
                one_done()
        except BaseException:
            for future in futures:
                future.cancel()
            if own:
                own.shutdown()  # what is under way ends first, and is kept too
            for future in futures:
                if future.done() and not future.cancelled() and not future.exception():
                    kept.keep(future.result())
            raise
    if len(errors) == len(experiments):
        raise errors[0]
    if errors:
        results |= {
            number: failed(places[number], experiments[number], error)
            for number, error in errors.items()
        }
        warnings.warn(report(places, experiments, errors), stacklevel=2)
    else:
        kept.forget(experiments)
    return pd.concat([results[number] for number in range(len(experiments))], ignore_index=True)


def cells(function, seeds, axes):
    """What is to be run, in order: each place among the axes, and the experiment there."""
    axes, seeds, places, experiments = (
        {name: list(values) for name, values in axes.items()},
        list(seeds),
        [],
        [],
    )
    for name, values in {"seeds": seeds, **axes}.items():
        if not values:
            raise SpecificationError(f"{name} = []: give it at least one value")
    for values in itertools.product(*axes.values()):
        place = dict(zip(axes, values, strict=True))
        experiment = function(**place)
        if not isinstance(experiment, Experiment):
            raise SpecificationError(
                f"{function.__name__}(**{place}) gave {experiment!r}: it must return a"
                " netlab.Experiment"
            )
        places += [place] * len(seeds)
        experiments += [experiment.but(seed=seed) for seed in seeds]
    return places, experiments


def measure(experiment, name, digest):
    """One run, wherever an executor has it done."""
    engine = engines.pick(name)
    if engine.digest != digest:
        raise EngineError(
            f"the worker on {platform.node()} has the engine {engine.digest}, the sweep was asked"
            f" for on {digest}: `netlab engine export FILE` here and `netlab engine import FILE`"
            " there make them the same"
        )
    return run_on(experiment, engine)


def rows(place, experiment, result):
    """One run's rows of the frame."""
    network, flows = experiment.topology, result.flows
    frame = pd.DataFrame(
        {name: [value] * len(flows) for name, value in place.items()} | {"seed": experiment.seed},
        index=flows.index,
    )
    path = [network_of_path(network, flow.src, flow.dst) for flow in flows.itertuples()]
    # an axis keeps its own column
    measured = flows.drop(columns=[name for name in place if name in flows])
    return pd.concat([frame, measured, pd.DataFrame(path, index=flows.index)], axis=1)


class Unmeasured(NamedTuple):
    """What stands for a result where there is none."""

    flows: pd.DataFrame


def failed(place, experiment, error):
    """The rows of a run that failed: one for each flow it should have had, with nothing measured."""
    flows = [
        (n, item.src, item.dst)
        for n, item in enumerate(experiment.traffic, 1)
        if isinstance(item, Iperf3)
    ]
    told = Unmeasured(
        pd.DataFrame(flows, columns=["flow", "src", "dst"]).reindex(columns=FLOW_COLUMNS)
    )
    return rows(place, experiment, told).assign(error=said(error))


def said(error):
    return f"{type(error).__name__}: {error}"


def report(places, experiments, errors):
    """What failed, and why the first of it did."""
    number = min(errors)
    what = ", ".join(
        f"{name}={value!r}"
        for name, value in (places[number] | {"seed": experiments[number].seed}).items()
    )
    return (
        f"{len(errors)} of {len(experiments)} runs failed: they have no numbers, and an `error`."
        f" Run again, the sweep tries these alone. The first, {what}:\n{said(errors[number])}"
    )


def network_of_path(network, src, dst):
    """What a topology says of the way from one host to another."""
    passed = 1.0
    for link in network.emulated(src, dst):
        passed *= 1 - units.fraction(link.loss)
    return {
        "loss_rate": round(1 - passed, 12),
        "base_rtt_s": network.rtt_s(src, dst),
        "bottleneck_bps": network.bottleneck_bps(src, dst),
    }
