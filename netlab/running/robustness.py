"""Does a conclusion hold with other seeds, noise, longer runs, and on another kernel?"""

import pandas as pd

from netlab.engines.recorded import second_kernel
from netlab.errors import EngineError, SpecificationError
from netlab.running.sweep import listed, sweep

AS_IT_IS, LONGER = "as it is", "twice as long"


def robustness(
    function,
    conclusion,
    holds=None,
    seeds=range(1, 11),
    noise=("1us", "10us", "100us"),
    engine=None,
    offload=None,
    **axes,
):
    """Try whether a conclusion survives other seeds, noise, longer runs and another kernel.

    The variants of the experiment: as it is; with random processing times in all hosts (see
    `Host`); for twice as long; if asked for, with segmentation offload switched the other way; and
    on another kernel, which was recorded for the experiments of this project's notebooks only.

    Parameters
    ----------
    function : callable
        Takes the axes as keywords, returns an `Experiment`; see `sweep`.
    conclusion : callable
        Takes the frame that `sweep` gives for one seed, returns the number that is concluded from
        it.
    holds : callable, optional
        Takes that number, says whether the conclusion holds.
    seeds, engine, **axes
        As for `sweep`.
    noise : iterable of str
        Longest processing times, as `Host.noise`; one variant for each.
    offload : bool, optional
        One more variant, with the hosts' segmentation offload on (True) or off (False): say what
        the experiment does not have. A host with offload sends in bunches of up to 64 KB.

    Returns
    -------
    pandas.DataFrame
        One row per variant: ``seeds``, how many; ``lowest``, ``median``, ``highest`` of the
        numbers; ``sent again``, the median of a run's retransmitted packets; with `holds`,
        ``holds``, as in "9 of 10". A kernel without a record has no numbers.

    Examples
    --------
    >>> def duel():
    ...     tests = [Iperf3("h1", "h2", time=60), Iperf3("h3", "h4", time=60)]
    ...     return Experiment(wan("100mbit", "20ms"), *tests)
    >>> index = lambda runs: jain_index(runs.received_bps)
    >>> robustness(duel, index, holds=lambda index: index > 0.9)  # doctest: +SKIP
    """
    seeds, noise = listed("seeds", seeds), listed("noise", noise)
    if "variant" in axes:
        raise SpecificationError("variant: the name of robustness's own axis; choose another")
    if len(set(seeds)) < len(seeds):
        raise SpecificationError(f"seeds = {seeds}: give each of them once")
    changes = {AS_IT_IS: lambda one: one}
    changes |= {f"noise of {time}": lambda one, time=time: noisy(one, time) for time in noise}
    changes[LONGER] = lambda one: longer(one, 2)
    if offload is not None:
        changes[f"offload {'on' if offload else 'off'}"] = lambda one: offloading(one, offload)

    def varied(variant, **place):
        return changes[variant](function(**place))

    runs = sweep(varied, seeds, engine, variant=list(changes), **axes)
    table = {name: numbers(runs[runs.variant == name], conclusion, holds) for name in changes}
    runs, kernel = on_second_kernel(varied, seeds, axes)
    table[kernel] = numbers(runs, conclusion, holds)
    return pd.DataFrame(table).T.convert_dtypes()


def noisy(experiment, time):
    topology = experiment.topology
    hosts = [host.but(noise=time) for host in topology.hosts]
    return experiment.but(topology=topology.but(hosts=hosts))


def offloading(experiment, offload):
    return experiment.but(topology=experiment.topology.but(offload=bool(offload)))


def longer(experiment, factor):
    limits = {
        name: limit * factor
        for name in ("virtual_limit_s", "wall_limit_s")
        if (limit := getattr(experiment, name)) is not None
    }
    return experiment.but(traffic=[item.longer(factor) for item in experiment.traffic], **limits)


def on_second_kernel(varied, seeds, axes):
    """The runs as they are, on another kernel, and its name; no runs where it has no record."""
    try:
        engine = second_kernel()
        runs = sweep(varied, seeds, engine, variant=[AS_IT_IS], **axes)
        archive, entry = engine.records.entries()[0]
        return runs, f"Linux {archive.record(entry)['provenance']['kernel']}"
    except EngineError as error:
        print(f"another kernel: {str(error).splitlines()[0]}")
        return None, "another kernel"


def numbers(runs, conclusion, holds):
    """One row: what is concluded with each seed; failed runs are left out."""
    if runs is None:
        return {"seeds": 0}
    if "error" in runs:
        runs = runs[~runs.seed.isin(runs.seed[runs.error.notna()])]
    concluded = [conclusion(one) for _, one in runs.groupby("seed")]
    try:
        found = pd.Series([float(one) for one in concluded], dtype=float)
    except (TypeError, ValueError):
        raise SpecificationError(
            f"conclusion gave {concluded[0]!r}: it must make one number of the frame of one seed,"
            " such as runs.received_bps.sum()"
        ) from None
    row = {"seeds": len(found), "lowest": found.min()}
    row |= {"median": found.median(), "highest": found.max()}
    if "retransmits" in runs and runs.retransmits.notna().any():
        row["sent again"] = runs.groupby("seed").retransmits.sum().median()
    if holds:
        row["holds"] = f"{sum(bool(holds(one)) for one in found)} of {len(found)}"
    return row
