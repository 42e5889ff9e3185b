"""A link that changes while traffic runs, and traces of such changes."""

import io
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

import pandas as pd
from pydantic import model_validator

from netlab import units
from netlab.description import Delay, Fraction, Rate
from netlab.errors import SpecificationError
from netlab.readers._common import read_text
from netlab.topology.retyping import changing, holding, setups, stay
from netlab.traffic.base import MOST_TRAFFIC, OnLink, Program, rows, seen_by_the_sender
from netlab.traffic.throughput import ThroughputTest

COLUMNS = ["flow", "time_s", "src", "dst", "rate_bps", "delay_s", "loss_rate", "change"]
MOST_DELAY_S = 1.5  # there and back it is what ARP waits
# column of a trace -> the field it gives, and how a number is written
TRACE = {
    "rate_bps": ("rate", units.format_rate),
    "delay_s": ("delay", units.format_delay),
    "loss_rate": ("loss", units.format_fraction),
}


class Change(OnLink):
    """A new rate, delay or loss of a link, at a time while the other traffic runs.

    Parameters
    ----------
    src, dst : str
        Names of two nodes with a link between them, in either order.
    at : str
        When, from the start of the traffic, such as ``"5s"``.
    rate, delay, loss : str, optional
        What the link has from then on, as for `Link`; what is not given stays.

    Notes
    -----
    ``tc ... change`` is typed on the interfaces on which the link emulates, with the words that set
    the link up. What waits there, or is under way, stays. The queue keeps its limit; a bucket that
    was not given is 4 ms of the new rate, or as large as the largest packet that may wait already:
    where hosts offload segmentation, up to 68,130 bytes (64 KB in 45 frames). The link must have
    what is to change from the start: a `rate`, and for `delay` or `loss` a delay, which may be
    ``"0ms"``. Routes, ``base_rtt_s`` and ``bottleneck_bps`` of sweeps, models and `Topology`'s own
    figures are of the network as it begins.

    Packets that come after a change to a shorter delay overtake those on the line, as where the
    path changes; only netem that has a rate (a `noise` at the other end) keeps their order.

    The command runs within a millisecond of `at` and takes some [virtual] milliseconds more. Its
    raw output is what the kernel has then, with the packets that wait. It fills `Result.changes`:
    ``flow``, ``time_s`` [s], ``src``, ``dst``, what the link then has (``rate_bps`` [bit/s], NaN
    without a rate; ``delay_s`` [s]; ``loss_rate`` [1]) and ``change``, what was asked for.

    Examples
    --------
    >>> Change("s1", "s2", at="5s", rate="20mbit", delay="60ms").named
    {'rate': '20mbit', 'delay': '60ms'}
    """

    kind: Literal["change"] = "change"
    at: Delay
    rate: Rate | None = None
    delay: Delay | None = None
    loss: Fraction | None = None

    last: ClassVar[bool] = True
    duration_s: ClassVar[float] = 1
    tables: ClassVar[dict] = {"changes": rows(COLUMNS)}

    @model_validator(mode="after")
    def _check(self):
        if not self.named:
            raise ValueError("nothing changes: give rate, delay or loss")
        if self.delay and units.delay_s(self.delay) > MOST_DELAY_S:
            raise ValueError(f"delay = {self.delay!r}: at most {MOST_DELAY_S} s, as ARP gives up")
        return self

    @cached_property
    def starts_after_s(self):
        return units.delay_s(self.at)

    @property
    def named(self):
        """The link's fields that it changes."""
        fields = {name: getattr(self, name) for name, _ in TRACE.values()}
        return {name: value for name, value in fields.items() if value is not None}

    def longer(self, factor):
        return self.but(at=units.format_delay(self.starts_after_s * factor))

    def may_send_tcp(self, host):
        return False

    def check(self, experiment):
        super().check(experiment)
        topology, start = experiment.topology, f"Change of {self.src} - {self.dst} at {self.at}"
        others = [one for one in experiment.traffic if not one.last]
        ends_s = max((one.sends_s or one.duration_s for one in others), default=0)
        if self.starts_after_s >= ends_s:
            raise SpecificationError(
                f"Change.at = {self.at!r}: the other traffic has ended by then, after {ends_s:g} s;"
                " give an earlier time, or leave it out"
            )
        if [time_s for time_s, _ in self._all(experiment)].count(self.starts_after_s) > 1:
            raise SpecificationError(f"{start}: there are two at this time; make them one")
        try:
            link, before, after = self._links(experiment)
        except SpecificationError as error:
            raise SpecificationError(f"{start}: {error}") from None
        if not all(stay(*lines) for lines in setups(topology, link, before, after).values()):
            raise SpecificationError(
                f"{start}: to change its {' and '.join(self.named)}, the link needs a rate and a"
                " delay from the start, such as delay='0ms', so that nothing that waits is lost"
            )
        if after.lossy and not topology.meets_segments(link) and not topology.offload:
            remedy = "give the network offload=False"
            if topology.offload is False:
                remedy = "put it on a link between switches, or give this one a rate or a loss"
            raise SpecificationError(
                f"{start}: loss = {after.loss!r} on a link that begins without loss: {remedy}, or"
                " netem loses up to 64 KB at once (offload=True allows that)"
            )

    def _all(self, experiment):
        """The times of all changes of this link, and their fields."""
        ends, changes = {self.src, self.dst}, experiment.traffic
        own = (one for one in changes if isinstance(one, Change) and {one.src, one.dst} == ends)
        return [(one.starts_after_s, one.named) for one in own]

    def _links(self, experiment):
        """The link as it is described, as it is before this change, and after it."""
        topology = experiment.topology
        link = topology.link_to(self.src, self.dst)
        fields = {} if link.queue_packets or link.qdisc or link.tclink else {"limit": link.limit}
        states = [link.but(**fields)]
        for time_s, named in sorted(self._all(experiment), key=lambda one: one[0]):
            if time_s <= self.starts_after_s:
                fields |= named
                states.append(holding(topology, link, states[-1], link.but(**fields)))
        return link, *states[-2:]

    def doubts(self, place, engine):
        if engine != "mininet":
            return []
        experiment, (link, before, after) = place.experiment, self._links(place.experiment)
        told = []
        for flow, test in enumerate(experiment.traffic, 1):
            if isinstance(test, ThroughputTest):
                was, now = (
                    experiment.topology.queues_that_the_sender_sees(
                        *test.ends.values(), {link: state}
                    )
                    for state in (before, after)
                )
                told += [(flow, one) for one in now if one not in was][:1]
        return [seen_by_the_sender(f"flow {flow}, from {self.at} on", one) for flow, one in told]

    def programs(self, place):
        topology, links = place.experiment.topology, self._links(place.experiment)
        lines = {}
        for (node, device), (was, now) in setups(topology, *links).items():
            if was == now and node not in links[0].ends:
                continue  # a noise at the other end
            shows = f"tc -s qdisc show dev {device}"
            lines.setdefault(node, []).extend([*changing(was, now), shows])
        return [Program(node, " && ".join(typed), node, "exactly") for node, typed in lines.items()]

    def read(self, outputs, place):
        _, _, link = self._links(place.experiment)
        values = [place.flow, self.starts_after_s, self.src, self.dst]
        values += [units.rate_bps(link.rate) if link.rate else float("nan"), link.delay_s]
        values += [units.fraction(link.loss), ", ".join(map(" ".join, self.named.items()))]
        return {"changes": dict(zip(COLUMNS, values, strict=True))}

    @classmethod
    def trace(cls, src, dst, table):
        """The changes that a table tells, one for each row.

        Parameters
        ----------
        src, dst : str
            As above.
        table : path or pandas.DataFrame
            A CSV file with ``#`` before remarks, or its frame. Columns: ``time_s`` [s], and one or
            more of ``rate_bps`` [bit/s], ``delay_s`` [s], ``loss_rate`` [1]. Where a cell is
            empty, what it was before stays.

        Returns
        -------
        list of Change

        Raises
        ------
        SpecificationError
            What is wrong, in which row.

        Examples
        --------
        >>> train = pd.DataFrame({"time_s": [0, 15], "rate_bps": [2e7, 1e7]})
        >>> Change.trace("s1", "s2", train)[1].named
        {'rate': '10mbit'}
        """
        given = isinstance(table, pd.DataFrame)
        name, frame = ("trace", table) if given else (f"trace {table}", _read_csv(table))
        columns, changes = [*frame.columns], []
        others = {*columns} - {"time_s"}
        if "time_s" not in columns or not others or not others <= TRACE.keys():
            raise SpecificationError(
                f"{name}: the columns are {', '.join(map(str, columns))}: time_s and one or more of"
                f" {', '.join(TRACE)}"
            )
        if len(frame) > MOST_TRAFFIC:
            raise SpecificationError(f"{name}: {len(frame)} rows: at most {MOST_TRAFFIC}")
        for number, row in enumerate(frame.to_dict("records"), 1):
            fields = {}
            for column, value in row.items():
                field, write = TRACE.get(column, ("at", units.format_delay))
                try:
                    if field == "at" or not pd.isna(value):
                        fields[field] = write(float(value))
                except (TypeError, ValueError) as error:
                    raise SpecificationError(f"{name}: row {number}, {column}: {error}") from None
            changes += [cls(src, dst, **fields)] if len(fields) > 1 else []
        return changes


def _read_csv(path):
    try:
        text = read_text(Path(path))
        return pd.read_csv(io.StringIO(text), comment="#", skipinitialspace=True)
    except (OSError, TypeError, ValueError) as error:
        raise SpecificationError(f"trace = {path!r}: {error}") from None
