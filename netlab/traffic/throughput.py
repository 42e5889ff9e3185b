"""The base of all throughput tests: when they send, and the tables that they fill."""

from math import nan
from typing import ClassVar

from pydantic import field_validator, model_validator

from netlab import units
from netlab.algorithms.source import Algorithm
from netlab.errors import SpecificationError
from netlab.fairness import jain_index
from netlab.readers.iperf3 import _INTERVALS, _STREAMS
from netlab.traffic.base import BetweenHosts, Program, frames, rows

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

    def programs(self, place):
        server, client = self.both(place)
        return [  # their outputs say why a test failed
            Program(self.dst, server, "server", "server", may_fail=True, stdin=self.stdin),
            Program(self.src, client, may_fail=True, stdin=self.stdin),
        ]

    def both(self, place):
        """What to type on `dst` first, and on `src`."""
        raise NotImplementedError(f"{type(self).__name__} does not say what to type")

    def check_engine(self, about):
        known = about.get("congestion")
        name = "netlab0" if self.algorithms else self.congestion
        if known and name not in (None, *known):
            why = "does not ask Python; it has" if self.algorithms else "has"
            raise SpecificationError(
                f"{type(self).__name__}.congestion = {self.congestion!r}: this engine's kernel"
                f" {why} {', '.join(known)}"
            )


def counted(table):
    """Retransmits as whole numbers, where each is known: NaN is none."""
    known = len(table) and table.retransmits.notna().all()
    return table.assign(retransmits=table.retransmits.astype(int)) if known else table


def flow_row(streams, start_s, mss_bytes):
    """A flow's row: its streams added up."""
    total = streams[["sent_bps", "received_bps"]].sum(min_count=1)
    shared = streams.received_bps.sum(min_count=len(streams)) > 0
    return {
        **streams.iloc[0][[*WHO, "congestion"]],
        "streams": len(streams),
        **total,
        "retransmits": streams.retransmits.sum(min_count=1),
        "start_s": start_s,
        "end_s": start_s + streams.end_s.max(),
        "rtt_s": streams.rtt_s.mean(),
        "rtt_min_s": streams.rtt_min_s.min(),
        "mss_bytes": mss_bytes,
        "jain_index": jain_index(streams.received_bps) if shared else nan,
    }
