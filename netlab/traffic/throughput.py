"""The base of all throughput tests: when they send, and the tables that they fill."""

from math import nan
from typing import ClassVar

from pydantic import field_validator, model_validator

from netlab import units
from netlab.algorithms.source import OF_PYTHON, Algorithm, check_known
from netlab.errors import SpecificationError
from netlab.fairness import jain_index
from netlab.readers.iperf3 import _INTERVALS, _STREAMS
from netlab.traffic.base import BetweenHosts, Program, frames, rows, seen_by_the_sender

FLOW_COLUMNS = [
    "flow", "src", "dst", "congestion", "streams", "sent_bps", "received_bps", "retransmits",
    "start_s", "end_s", "rtt_s", "rtt_min_s", "mss_bytes", "jain_index",
]  # fmt: skip
WHO = ["flow", "src", "dst"]


class ThroughputTest(BetweenHosts):
    """A test from one host to another: with the fields ``time``, ``start`` and ``congestion``."""

    ending_s: ClassVar[float] = 20  # for connecting, and for what waits in buffers at the end
    most_window_bytes: ClassVar[int] = 2**32 - 1
    tables: ClassVar[dict] = {
        "flows": rows(FLOW_COLUMNS),
        "streams": frames([*WHO, *(name for name in _STREAMS if name not in WHO)]),
        "intervals": frames([*WHO, *(name for name in _INTERVALS if name not in WHO)]),
    }
    measures: ClassVar[str] = "flows"
    stdin: ClassVar = None  # an `Input` of both programs
    other_names: ClassVar[dict] = {
        **dict.fromkeys(("streams", "flows", "P"), "parallel"),
        **dict.fromkeys(("duration", "seconds", "t"), "time"),
        **dict.fromkeys(("algorithm", "cc", "C"), "congestion"),
    }

    @model_validator(mode="after")
    def _check_congestion(self):
        udp = "udp" in type(self).model_fields and self.udp
        if udp and self.congestion:
            raise ValueError(
                f"congestion = {self.congestion!r} with udp: UDP has no congestion control"
            )
        return self

    @property
    def algorithms(self):
        return [self.congestion] if isinstance(self.congestion, Algorithm) else []

    @property
    def starts_after_s(self):
        return self.start

    @property
    def sends_s(self):
        return self.start + self.omitted_s + self.time

    @property
    def duration_s(self):
        """How long it should take, from its start. [s]"""
        return self.omitted_s + self.time + self.ending_s

    def longer(self, factor):
        return self.but(time=self.time * factor, start=self.start * factor)

    @field_validator("window", check_fields=False)
    @classmethod
    def _check_window(cls, size):
        if size is not None and not 0 < units.size_bytes(size) <= cls.most_window_bytes:
            raise ValueError(f"from 1 byte to {cls.most_window_bytes}, such as '1mb'")
        return size

    @field_validator("bitrate", check_fields=False)
    @classmethod
    def _check_bitrate(cls, rate):
        if rate is not None and units.rate_bps(rate) < 1:
            raise ValueError("at least '1bit': iperf3 takes less for no limit")
        return rate

    def programs(self, place):
        server, client = self.both(place)
        return [  # their outputs say why a test failed
            Program(self.dst, server, "server", "server", may_fail=True, stdin=self.stdin),
            Program(self.src, client, may_fail=True, stdin=self.stdin),
        ]

    def both(self, place):
        """What to type on `dst` first, and on `src`."""
        raise NotImplementedError(f"{type(self).__name__} does not say what to type")

    def doubts(self, place, engine):
        topology, src, dst = place.experiment.topology, *self.ends.values()
        bottleneck_bps, who = topology.bottleneck_bps(src, dst), f"flow {place.flow}"
        told = []
        for link, forward in topology.path(src, dst):
            against = not (forward or link.both)
            if against and (link.lossy or link.rate_bps < bottleneck_bps):
                own = [f"rate ({link.rate})"] * bool(link.rate) + ["loss"] * link.lossy
                told.append(
                    f"{who} sends from {src} to {dst}, and the link {link.a}-{link.b} emulates from"
                    f" {link.a} to {link.b} alone: the data do not meet its {' and '.join(own)}."
                    f" Let the test send the other way, or give the link both=True, which adds its"
                    " delay to both ways"
                )
            elif not against and not topology.offloading:
                told += link.short_line(bottleneck_bps)
        if engine == "mininet":
            told += [
                seen_by_the_sender(f"{who} from {src} to {dst}", link)
                for link in topology.queues_that_the_sender_sees(src, dst)[:1]
            ]
        return told

    def check(self, experiment):
        super().check(experiment)
        of_python = isinstance(self.congestion, str) and OF_PYTHON.fullmatch(self.congestion)
        if of_python and int(of_python[1]) >= len(experiment.algorithms):
            raise SpecificationError(
                f"{type(self).__name__}.congestion = {self.congestion!r}: no traffic of this"
                " experiment has a congestion control in Python that would be called so; give the"
                " class itself"
            )

    def check_engine(self, about):
        known, field = about.get("congestion"), f"{type(self).__name__}.congestion"
        if not self.algorithms and self.congestion:
            check_known(field, self.congestion, about)
        elif self.algorithms and known and "netlab0" not in known:
            raise SpecificationError(
                f"{field} = {self.congestion!r}: this engine's kernel does not ask Python; it has"
                f" {', '.join(known)}"
            )


def counted(table):
    """Retransmits as whole numbers, where each is known: NaN is none."""
    known = len(table) and table.retransmits.notna().all()
    return table.assign(retransmits=table.retransmits.astype(int)) if known else table


def flow_row(streams, start_s, mss_bytes):
    """A flow's row: its streams added up; NaN where a stream's figure is not known."""
    total = streams[["sent_bps", "received_bps"]].sum(min_count=len(streams))
    shared = total.received_bps > 0
    return {
        **streams.iloc[0][[*WHO, "congestion"]],
        "streams": len(streams),
        **total,
        "retransmits": streams.retransmits.sum(min_count=len(streams)),
        "start_s": start_s,
        "end_s": start_s + streams.end_s.max(),
        "rtt_s": streams.rtt_s.mean(),
        "rtt_min_s": streams.rtt_min_s.min(),
        "mss_bytes": mss_bytes,
        "jain_index": jain_index(streams.received_bps) if shared else nan,
    }
