"""Many experiments, one tidy frame: a sweep is a function of its axes."""

import itertools
from concurrent.futures import ThreadPoolExecutor, as_completed

import pandas as pd

from netlab import engines, units
from netlab.engines import recorded
from netlab.errors import SpecificationError
from netlab.experiment import Experiment, check_congestion, run_on
from netlab.progress import counting


def sweep(function, seeds=(1,), engine=None, **axes):
    """Run an experiment for every combination of its axes and every seed, one guest per core.

    Parameters
    ----------
    function : callable
        Takes the axes as keywords, returns an `Experiment`.
    seeds : iterable of int
        Each combination is run with every one of them.
    engine : str, optional
        What to run on; None is the first that works here.
    **axes : iterable
        The values of each axis.

    Returns
    -------
    pandas.DataFrame
        One row per run and flow: the axes, ``seed``, the columns of `Result.flows`, and what the topology says of the flow's
        path: ``loss_rate`` [1], ``base_rtt_s`` [s], ``bottleneck_bps`` [bit/s].

    Raises
    ------
    SpecificationError
        One of the experiments is not allowed; none has been started.

    Examples
    --------
    >>> def lossy(loss, parallel):
    ...     return Experiment(wan("1gbit", "20ms", loss), Iperf3("h1", "h2", parallel=parallel, congestion="reno"))
    >>> sweep(lossy, loss=["0.1%", "1%"], parallel=[1, 8], seeds=range(3))                       # doctest: +SKIP
    """
    chosen = engines.pick(engine)
    axes, seeds = {name: list(values) for name, values in axes.items()}, list(seeds)
    for name, values in {"seeds": seeds, **axes}.items():
        if not values:
            raise SpecificationError(f"{name} = []: give it at least one value")
    cells = []
    for values in itertools.product(*axes.values()):
        place = dict(zip(axes, values, strict=True))
        experiment = function(**place)
        if not isinstance(experiment, Experiment):
            raise SpecificationError(f"{function.__name__}(**{place}) gave {experiment!r}: it must return a netlab.Experiment")
        check_congestion(experiment, chosen)
        cells += [(place, experiment.but(seed=seed)) for seed in seeds]
    with ThreadPoolExecutor(chosen.at_once) as pool, counting(len(cells)) as one_done:
        futures = [pool.submit(run_on, experiment, chosen) for _, experiment in cells]
        try:
            for future in as_completed(futures):
                future.result()
                one_done()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    results = [future.result() for future in futures]
    recorded.tell(results, asked=engine == "recorded")
    return pd.concat(
        [rows(place, experiment, result) for (place, experiment), result in zip(cells, results, strict=True)],
        ignore_index=True,
    )


def rows(place, experiment, result):
    """One run's rows of the frame."""
    network, flows = experiment.topology, result.flows
    frame = pd.DataFrame(
        {name: [value] * len(flows) for name, value in place.items()} | {"seed": experiment.seed}, index=flows.index
    )
    path = [network_of_path(network, flow.src, flow.dst) for flow in flows.itertuples()]
    measured = flows.drop(columns=[name for name in place if name in flows])  # an axis keeps its own column
    return pd.concat([frame, measured, pd.DataFrame(path, index=flows.index)], axis=1)


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
