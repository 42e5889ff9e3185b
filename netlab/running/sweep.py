"""Many experiments, one tidy frame: a sweep is a function of its axes."""

import contextlib
import inspect
import itertools
import warnings
from collections import Counter, deque
from collections.abc import Iterable
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from queue import Empty, SimpleQueue

from netlab import engines
from netlab.engines import recorded
from netlab.engines.result_store import packed_result, unpacked
from netlab.errors import SpecificationError
from netlab.experiment import Experiment
from netlab.running.progress import counting
from netlab.running.result import Rows, rows, table_of, without_figures
from netlab.running.run import on_engine, run_on, workers_of
from netlab.running.session import Stop
from netlab.running.unfinished import UnfinishedSweep

MOST_SUBMITTED = 400  # at a time, as each takes memory until it is fetched
MOST_LOST = 3  # workers, with the same run


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
    executor : concurrent.futures.Executor or distributed.Client, optional
        Whose workers do the runs; it is left open. They need the same netlab and engine. None: this
        machine, a guest per core.
    **axes : iterable
        The values of each axis.

    Returns
    -------
    pandas.DataFrame
        One row per run and flow, or ping where nothing else was sent: the axes, ``seed``, the
        columns of `Result.flows` (`Result.pings`), and what the topology says of the path, as it is
        before any `Change`: ``loss_rate`` [1], ``base_rtt_s`` [s], ``bottleneck_bps`` [bit/s].
        Where runs failed, a column ``error`` says why, and what they should have measured is NaN.

    Warns
    -----
    UserWarning
        Some runs failed; it says where the first one's evidence lies.

    Raises
    ------
    SpecificationError, EngineError
        An experiment is not allowed, or a worker has another netlab or engine: none has been
        started.
    NetlabError
        Every run failed.

    Notes
    -----
    Results are kept in the cache until the sweep is complete: run again after an interruption, or a
    failure, it goes on where it was. In a notebook they are kept until its kernel ends. A run whose
    worker was lost is tried again by another, three times; one that failed is not.

    Examples
    --------
    >>> def lossy(loss, parallel):
    ...     test = Iperf3("h1", "h2", parallel=parallel, congestion="reno")
    ...     return Experiment(wan("1gbit", "20ms", loss), test)
    >>> sweep(lossy, loss=["0.1%", "1%"], parallel=[1, 8], seeds=range(3))  # doctest: +SKIP
    """
    chosen = engines.pick(engine)
    places, experiments = cells(function, seeds, axes, chosen)
    total, measured = len(experiments), Rows(len(experiments))

    def take(number, result):
        measured.add(number, rows(places[number], experiments[number], result))

    if chosen.recall(experiments[0]) is not None:
        provenances = []
        for number, experiment in enumerate(experiments):
            result = run_on(experiment, chosen)
            take(number, result)
            provenances.append(result.provenance)
        recorded.tell(provenances, chosen, asked=engine == "recorded")
        return measured.frame()
    submit = executor is not None and workers_of(executor, chosen)
    unfinished, stop, todo = UnfinishedSweep(chosen), Stop(), deque()
    for number, experiment in enumerate(experiments):
        if result := unfinished.find(experiment):
            take(number, result)
        else:
            todo.append(number)
    unfinished.tell(total - len(todo), total)

    def run_here(number):
        """Results are large: from here on, this one is in its file, and its numbers in rows."""
        try:
            with stop.covering(), count.covering(number):
                result = run_on(experiments[number], chosen)
            unfinished.add(result.experiment, packed_result(result))
            return rows(places[number], experiments[number], result)
        except Exception as error:
            return error

    def keep(number, data):
        """What a worker has packed stays as it is."""
        unfinished.add(experiments[number], data)
        result = unfinished.opened(experiments[number], unpacked(data))
        return rows(places[number], experiments[number], result)

    futures, done, lost, failed, first = {}, SimpleQueue(), Counter(), 0, None
    with (
        contextlib.nullcontext() if submit else ThreadPoolExecutor(chosen.at_once) as own,
        counting(total, total - len(todo)) as count,
    ):
        try:
            while todo or futures:
                while todo and len(futures) < MOST_SUBMITTED:
                    number = todo.popleft()
                    if own:
                        future = own.submit(run_here, number)
                    else:
                        future = submit(experiments[number], lost[number])
                    futures[future] = number
                    future.add_done_callback(done.put)
                future = next_of(done)
                number = futures.pop(future)
                ended = CancelledError() if future.cancelled() else future.exception()
                if ended and lost[number] < MOST_LOST:  # the worker failed, not the run
                    lost[number] += 1
                    todo.appendleft(number)
                    continue
                table = ended or future.result()
                future = None
                if isinstance(table, bytes):
                    table = keep(number, table)
                if isinstance(table, BaseException):
                    failed += 1
                    if not first or number < first[0]:
                        first = number, table
                    table = without_figures(places[number], experiments[number], table)
                measured.add(number, table)
                count.ended(number)
        except BaseException as error:
            give_up(futures, own, stop, isinstance(error, KeyboardInterrupt))
            for future, number in futures.items():
                ended = future.done() and not future.cancelled() and not future.exception()
                if ended and isinstance(future.result(), bytes):
                    keep(number, future.result())
            raise
    if first and (failed == total or recorded.anew()):
        raise first[1]  # records are only made of what ran
    if first:
        number, error = first
        warnings.warn(
            report(places[number], experiments[number], error, failed, total), stacklevel=2
        )
    else:
        unfinished.remove(experiments)
    return measured.frame()


def next_of(done):
    """What comes next; a wait without an end could miss a signal."""
    while True:
        with contextlib.suppress(Empty):
            return done.get(timeout=1)


def give_up(futures, own, stop, interrupted):
    """Begin nothing more, and wait for runs of this process; a Ctrl-C meanwhile ends them."""
    try:
        for future in futures:
            future.cancel()
        running = [future for future in futures if own and future.running()]
        if running and interrupted:
            print(
                f"sweep: interrupted; {len(running)} of its runs are still under way, and kept when"
                " they end; press Ctrl-C again to end them now",
                flush=True,
            )
        while wait(running, timeout=1).not_done:
            pass
    except KeyboardInterrupt:
        stop.now()


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
        experiment.check_engine(engine.about)
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


def report(place, experiment, error, failed, total):
    """How many runs failed, and why the first of them did."""
    place = place | {"seed": experiment.seed}
    what = ", ".join(f"{name}={value!r}" for name, value in place.items())
    return (
        f"{failed} of {total} runs failed: they have no numbers, and an `error`. Run again, the"
        f" sweep tries these alone. The first, {what}:\n{type(error).__name__}: {error}"
    )
