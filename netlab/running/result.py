"""What an experiment leaves: raw output, and the tables read from it; saved and loaded, and as the
rows of a sweep's frame.
"""

import json
import math
import warnings
from functools import cache
from math import nan
from pathlib import Path

import pandas as pd

from netlab import units
from netlab.algorithms.source import Algorithm, algorithm
from netlab.engines import evidence, files
from netlab.engines.result_store import result_name
from netlab.errors import LinkWarning, NetlabError, ReadError, SpecificationError
from netlab.experiment import Experiment
from netlab.readers._common import Printed
from netlab.traffic.base import KINDS

TOGETHER = 100  # runs whose rows make a table: a table for each would take 14 kB


class Result:
    """What an experiment left.

    Each table is an attribute; without traffic of its kind it is empty.

    Attributes
    ----------
    flows : pandas.DataFrame
        One row per test of iperf3, iperf or simpleperf: ``flow, src, dst, congestion, streams,
        sent_bps, received_bps, retransmits, start_s, end_s ...``, ``jain_index`` of its streams,
        ``halving_rate`` (see `Nstat`).
    streams : pandas.DataFrame
        One row per stream; of UDP also ``loss``, ``jitter_s``, ``packets``, ``lost_packets``.
    intervals : pandas.DataFrame
        One row per stream and report; times count from the start of the traffic. [s]
    pings : pandas.DataFrame
        One row per echo request: ``flow, src, dst, seq, rtt_s, ttl``.
    windows : pandas.DataFrame
        One row per connection and ACK, or piece of time, see `Windows`.
    queues : pandas.DataFrame
        One row per queueing discipline and packet, or piece of time, see `Queue`.
    changes : pandas.DataFrame
        One row per change of a link, see `Change`.
    counts : dict of dict of int
        By host: what an `Nstat` read there, by the kernel's own names.
    tables : dict
        All of these by name, and those of other kinds of traffic.
    raw : dict of str
        Every program's untouched output.
    commands : list of str
        What a person would have typed at Mininet's prompt, in order.
    provenance : dict
        Seed, clock, engine and its digest, versions, virtual and wall seconds, and the experiment
        itself.
    warnings : list of str
        Where a link did not do to the traffic what its description says: at the end it passed
        nothing for a second although packets waited, with its ``tc -s`` lines; a flow goes against
        the direction in which it emulates; netem has room for less than what is under way; on
        ``mininet``, a switch's queue counts against the sender. Each is a `LinkWarning`, too.

    Examples
    --------
    Two flows that share a link, measured before:

    >>> from netlab import Iperf3, run, wan
    >>> path = wan("100mbit", burst=15_000, limit=1_000_000)
    >>> duel = [Iperf3(*ends, time=60, congestion="reno") for ends in (("h1", "h2"), ("h3", "h4"))]
    >>> result = run(path, *duel, engine="recorded")
    recorded: ...
    >>> round(result.flows.received_bps.sum() / 1e6)
    96
    """

    def __init__(self, experiment, raw, commands, provenance):
        self.experiment, self.raw = experiment, raw
        self.commands, self.provenance = commands, provenance
        self.tables = read_tables(experiment.places, raw)
        for item, place in experiment.places:
            item.annotate(self.tables, place)
        vars(self).update(self.tables)
        engine = provenance["engine"]
        told = [text for item, place in experiment.places for text in item.doubts(place, engine)]
        self.warnings = [*told, *provenance.get("stalled", ())]
        for text in self.warnings:
            warnings.warn(text, LinkWarning, stacklevel=2)

    def __repr__(self):
        p, kinds = self.provenance, KINDS.values()
        parts = [text for kind in kinds for text in kind.summary(self.tables)]
        return (
            f"<Result: {', '.join(parts) or 'raw output'}; seed {p['seed']}, "
            f"{p['virtual_s']:.1f} virtual s in {p['wall_s']:.1f} s, "
            f"{p['engine']} {result_name(p['engine_digest']) or 'on Linux ' + p['kernel']}>"
        )

    def save(self, directory):
        """Write raw output, commands, provenance, and the frames as CSV to a folder; see `load`.

        A NetlabError, and nothing is written, where the folder has another result, or files that
        somebody changed.
        """
        folder = Path(directory)
        texts = {
            "experiment.json": self.experiment.to_json(),
            "commands.txt": "".join(f"{command}\n" for command in self.commands),
            "provenance.json": json.dumps(self.provenance, indent=1) + "\n",
        }
        for name, table in self.tables.items():
            if isinstance(table, pd.DataFrame):
                texts[f"{name}.csv"] = table.to_csv(index=False)
        for name, text in self.raw.items():
            if "/" in name:  # of a record that somebody else made
                raise NetlabError(f"raw output {name!r} cannot be a file: its name has a slash")
            texts[f"raw/{name}.txt"] = text
        refuse_others(folder, texts)
        for name, text in texts.items():
            files.write(folder / name, text)


def refuse_others(folder, texts):
    """Raise where a folder has files of another result; the times in provenance.json may differ."""
    others = {path.relative_to(folder).as_posix() for path in folder.glob("raw/*.txt")} - {*texts}
    for name, text in texts.items():
        files.check(folder / name)
        if (folder / name).exists() and name != "provenance.json":
            data = text.encode(errors="backslashreplace")  # as `files.write` does
            others |= {name} if (folder / name).read_bytes() != data else set()
    if others:
        raise NetlabError(
            f"{folder / min(others)} is there already, and is of another result, or was changed;"
            " save to a new folder"
        )


NEEDED = {"seed", "clock", "engine", "engine_digest", "kernel", "virtual_s", "wall_s"}


def load(directory):
    """Read what `Result.save` left; the tables are read anew from the raw output.

    A NetlabError where a file is missing, or is not what it was.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from netlab import Ping, run, wan
    >>> result = run(wan(), Ping("h1", "h2"), engine="recorded")
    recorded: ...
    >>> with TemporaryDirectory() as folder:
    ...     result.save(folder)
    ...     load(folder)
    <Result: 4 pings; seed 1, ...>
    """
    folder = Path(directory)
    try:
        experiment = Experiment.from_json((folder / "experiment.json").read_text(encoding="utf-8"))
        texts = sorted((folder / "raw").glob("*.txt"))
        raw = {path.stem: path.read_bytes().decode() for path in texts}
        commands = (folder / "commands.txt").read_text(encoding="utf-8").splitlines()
        provenance = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
        if lacking := NEEDED - (provenance if isinstance(provenance, dict) else {}).keys():
            raise ValueError(f"provenance.json lacks {', '.join(sorted(lacking))}")
        return Result(experiment, raw, commands, provenance)
    except KeyError as missing:
        why = f"raw/{missing.args[0]}.txt is missing"
    except ReadError:
        raise
    except (OSError, ValueError) as error:
        why = error
    raise NetlabError(f"{folder} cannot be read as a folder that Result.save left: {why}")


def output_names(item, place):
    """The names of a traffic's raw outputs, by those of its programs."""
    return {one.name: item.output_name(place.flow, one.name) for one in item.programs(place)}


def read_tables(places, raw):
    """Every table of every kind of traffic, by name, of what ran at these places."""
    parts = {}
    for item, place in places:
        outputs = {one: Printed(raw[name]) for one, name in output_names(item, place).items()}
        for name, part in item.read(outputs, place).items():
            parts.setdefault(name, []).append(part)
    return joined(parts)


def joined(parts):
    """The tables that lists of parts make, by name; empty ones where there are no parts."""
    tables = {}
    for kind in KINDS.values():
        tables |= {name: join(parts.get(name, [])) for name, join in kind.tables.items()}
    for kind in KINDS.values():
        for name, columns in kind.adds.items():
            tables[name] = tables[name].assign(**dict.fromkeys(columns, nan))
    return tables


def keep_evidence(experiment, raw):
    """Save what a failed run left; -> a sentence that says where it is."""
    texts = {f"{name}.txt": text for name, text in raw.items()}
    return evidence.save("run", {"experiment.json": experiment.to_json(), **texts})[0]


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
