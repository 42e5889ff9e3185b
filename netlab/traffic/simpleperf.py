"""Tests with simpleperf, netlab's teaching throughput tool."""

import functools
import hashlib
from pathlib import Path
from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from netlab import units
from netlab.algorithms.source import Congestion, without_docstrings
from netlab.description import unless_given
from netlab.errors import ReadError, SpecificationError
from netlab.readers import read_simpleperf
from netlab.readers._common import beside
from netlab.traffic.base import Input, owned
from netlab.traffic.throughput import ThroughputTest, flow_row

FILE = Path(__file__).parents[1] / "simpleperf.py"


@functools.cache
def program_text():
    """What the hosts run. Nothing of it changes when only its documentation does."""
    return without_docstrings(FILE.read_text(encoding="utf-8")) + "\n"


@functools.cache
def digest():
    """A short name of exactly this program."""
    return hashlib.sha256(program_text().encode()).hexdigest()[:12]


class Simpleperf(ThroughputTest):
    """A test with simpleperf from one host to another.

    Parameters
    ----------
    src, dst, time, parallel, congestion, interval, start : as of `Iperf3`
        `src` sends; `time` need not be whole seconds; each connection has a thread on both sides.
    length : int
        Size of the chunks that the client hands to its kernel, and most of what the server asks of
        its kernel at a time. [byte, ``-l``]
    program : str
        Digest of simpleperf's code: a result of another program is the result of another
        experiment. Leave it out.

    Notes
    -----
    It fills the tables that `Iperf3` fills, with the rates that `SimpleperfOutput` explains.
    Connections end at different moments, so the rates of several may add up to a little more than a
    link carries. Retransmits, windows and round-trip times are NaN. Times count from when the
    program was started, which then takes some milliseconds to load.

    ``intervals`` has the server's rows. Their times count from the first byte, half a round-trip
    time after the client's; a line that came up to a tenth of an interval late has the time at
    which it was due. ``sent_bps`` is the client's rate in the same interval, and NaN where the two
    sides' times differ by more than a tenth of it. A last piece that is shorter than half an
    interval is added to the one before it.

    Examples
    --------
    >>> Simpleperf("h1", "h2", parallel=2).command("10.0.0.2", 5201)
    'python3 - -c -I 10.0.0.2 -p 5201 -t 25 -P 2 -i 1'
    """

    kind: Literal["simpleperf"] = "simpleperf"
    time: float = Field(default=25, ge=0.1, le=86_400)
    parallel: int = Field(default=1, ge=1, le=128)
    congestion: Congestion = None
    length: int = Field(default=1000, ge=1, le=1_000_000)
    interval: float = Field(default=1, ge=0.1, le=86_400)
    start: float = unless_given(0, ge=0, le=86_400)
    program: str = Field(default_factory=digest, repr=False)

    ending_s: ClassVar[float] = 30
    other_names: ClassVar[dict] = ThroughputTest.other_names | {"chunk": "length", "l": "length"}

    def check_engine(self, about):
        super().check_engine(about)
        if about and self.program != digest():  # a recorded one ran with its own
            raise SpecificationError(
                f"Simpleperf.program = {self.program!r}: this netlab's simpleperf is {digest()!r};"
                " make the experiment anew, or run it with the netlab that it was made with"
            )

    @property
    def stdin(self):
        return Input("simpleperf.py", program_text())

    def both(self, place):
        at = place.address(self.dst), place.port
        return self.server_command(*at), self.command(*at, place.kernels_name(self.congestion))

    def server_command(self, address, port):
        """What to type on `dst` first, with simpleperf.py as its input: a server for one test."""
        return f"python3 - -s -b {address} -p {port} {self._both()} -1"

    def command(self, address, port, congestion=None):
        """What to type on `src`; `congestion` is the kernel's name of one in Python."""
        congestion = congestion or self.congestion
        time = units.digits(self.time)
        words = f"python3 - -c -I {address} -p {port} -t {time} -P {self.parallel}"
        return f"{words} {self._both()}" + (f" -C {congestion}" if congestion else "")

    def _both(self):
        return f"-i {units.digits(self.interval)}" + f" -l {self.length}" * (self.length != 1000)

    def read(self, outputs, place):
        client, server = read_simpleperf(outputs[""]), read_simpleperf(outputs["server"])
        for one, whose in ((client, ""), (server, "server")):
            if not one.streams.acknowledged.all():
                why = "; ".join(one.meta["errors"])
                raise ReadError(
                    f"simpleperf from {self.src} to {self.dst} broke off: {why}", outputs[whose]
                )
        if sorted(client.streams.port) != sorted(server.streams.port):
            ends = f"simpleperf's client and server ({self.src} to {self.dst})"
            raise ReadError(f"{ends} have not the same connections", outputs["server"])
        columns = ["received_bps", "received_bytes"]
        received = server.streams[["port", *columns]]
        streams = client.streams.drop(columns=columns).merge(received, on="port", how="left")
        if self.algorithms:  # simpleperf has the kernel's name for it
            streams = streams.assign(congestion=str(self.congestion))
        got, sent = (
            whole_intervals(side.intervals, name, self.interval)
            for side, name in ((server, "received_bps"), (client, "sent_bps"))
        )
        got, sent = beside(got, sent, "port", "number")
        parts = got.assign(sent_bps=sent.sent_bps).reset_index()
        parts = parts.assign(
            stream=parts.port.map(dict(zip(streams.port, streams.stream, strict=True))),
            start_s=on_time(parts.start_s, self.interval) + place.start_s,
            end_s=on_time(parts.end_s, self.interval) + place.start_s,
            omitted=False,
        ).sort_values(["start_s", "stream"], ignore_index=True)
        streams = self._own(streams, "streams", place)
        flow = flow_row(streams, place.start_s, client.meta["mss_bytes"])
        intervals = self._own(parts, "intervals", place)
        return {"flows": flow, "streams": streams, "intervals": intervals}

    def _own(self, table, name, place):
        return owned(table, place, self.ends).reindex(columns=self.tables[name]([]).columns)


def on_time(times_s, interval_s):
    """When lines were due that came a little late: to the same time on all connections."""
    due_s = (times_s / interval_s).round() * interval_s
    return due_s.where((times_s - due_s).abs() <= interval_s / 10, times_s)


def whole_intervals(table, bps, interval_s):
    """One side's intervals with their ``number``; a short last piece is added to the one before."""
    found = []
    for port, own in table.groupby("port", sort=False):
        rows = own[["start_s", "end_s", bps]].to_dict("records")
        if len(rows) > 1 and rows[-1]["end_s"] - rows[-1]["start_s"] < interval_s / 2:
            last, before = rows.pop(), rows[-1]
            pieces = [row for row in (before, last) if row["end_s"] > row["start_s"]]
            bits = sum(row[bps] * (row["end_s"] - row["start_s"]) for row in pieces)
            before["end_s"] = last["end_s"]
            before[bps] = bits / (before["end_s"] - before["start_s"])
        for row in rows:
            found.append({"port": port, "number": round(row["start_s"] / interval_s), **row})
    return pd.DataFrame(found, columns=["port", "number", "start_s", "end_s", bps])
