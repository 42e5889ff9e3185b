"""The rows of a sweep: what each run measured, its place among the axes, and its path."""

import math
from functools import cache

import pandas as pd

from netlab import units
from netlab.algorithms.source import Algorithm, algorithm
from netlab.errors import SpecificationError
from netlab.running.result import joined
from netlab.traffic.base import KINDS

TOGETHER = 100  # runs whose rows make a table: a table for each would take 14 kB


class Rows:
    """The rows of so many runs, which come in any order."""

    def __init__(self, total):
        self.total, self.new, self.tables = total, {}, {}

    def add(self, number, table):
        """Take the rows of a run."""
        self.new[number] = table
        first = number - number % TOGETHER
        part = range(first, min(first + TOGETHER, self.total))
        if all(one in self.new for one in part):
            of_part = [self.new.pop(one) for one in part]
            self.tables[first] = pd.concat(of_part, ignore_index=True)

    def frame(self):
        """The rows of all runs, in the runs' order."""
        return pd.concat([self.tables[first] for first in sorted(self.tables)], ignore_index=True)


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


def rows(place, experiment, result):
    """One run's rows of the frame: its place among the axes, what was measured, and the path."""
    return beside(place, experiment, result.tables[table_of(experiment)])


def without_figures(place, experiment, error):
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


def of_path(network, src, dst, streams):
    """What a topology says of the way from one host to another, for so many connections."""
    passed = math.prod(1 - units.fraction(link.loss) for link in network.emulated(src, dst))
    return {
        "loss_rate": round(1 - passed, 12),
        "base_rtt_s": network.rtt_s(src, dst),
        "bottleneck_bps": network.bottleneck_bps(src, dst, streams),
    }
