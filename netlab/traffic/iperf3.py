"""iperf3 tests."""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from netlab import units
from netlab.algorithms.source import Congestion
from netlab.description import Rate, Size, unless_given
from netlab.errors import ReadError
from netlab.fairness.evolution import apart
from netlab.readers import read_iperf3
from netlab.traffic.base import owned
from netlab.traffic.throughput import ThroughputTest, counted, flow_row


class Iperf3(ThroughputTest):
    """An iperf3 test from one host to another.

    Parameters
    ----------
    src, dst : str
        Names of the client's and the server's host. The client sends, unless `reverse`.
    parallel : int
        Parallel streams, 1 to 128. [``-P``]
    time : float
        How long it sends: whole seconds, as iperf3 counts them. [s, ``-t``]
    congestion : str or CongestionControl, optional
        Congestion control, one the engine's kernel has; None leaves the kernel's default, cubic.
        Or one in Python, a class or an instance, see `CongestionControl`: iperf3 knows it as
        netlab0, netlab1 ... [``-C``]
    udp : bool
        UDP instead of TCP, at `bitrate`; what was lost, the jitter and the datagrams are in
        ``streams`` of the result (a sweep collects ``flows``; `Iperf`'s has the loss). [``-u``]
    bitrate : str, optional
        Rate that each stream is limited to, in tc's notation or iperf3's own (``"10G"``); UDP's is
        :math:`1024^2` bit/s where it is not given. [``-b``]
    reverse : bool
        The server sends: the data go from `dst` to `src`, where `nl.wan` has no rate, no queue and
        no loss, which is a warning of the result. [``-R``]
    omit : float
        How much of the start is left out of the totals, on top of `time`: whole seconds. [s,
        ``-O``]
    interval : float
        Time between two reports. [s, ``-i``]
    mss : int, optional
        Maximum segment size. [byte, ``-M``]
    window : int or str, optional
        Socket buffer, set on both ends; switches the kernel's autotuning off. [byte, ``-w``]
    get_server_output : bool
        Intervals as the receiver counts them too, who unlike the sender does not count what is
        still in its buffers.
    start : float
        How long after the others it starts. [s]

    Examples
    --------
    >>> Iperf3("h1", "h2", parallel=8, congestion="reno").command("10.0.0.2", 5201)
    'iperf3 -c 10.0.0.2 -p 5201 -t 10 -P 8 -i 1 -C reno -J'
    """

    kind: Literal["iperf3"] = "iperf3"
    parallel: int = Field(default=1, ge=1, le=128)
    time: float = Field(default=10, ge=1, le=86_400)
    congestion: Congestion = None
    udp: bool = False
    bitrate: Annotated[Rate | None, BeforeValidator(units.iperf3_rate)] = None
    reverse: bool = False
    omit: float = Field(default=0, ge=0, le=60)
    interval: float = Field(default=1, ge=0.1, le=60)
    mss: int | None = Field(default=None, ge=88, le=9216)
    window: Size | None = None
    get_server_output: bool = False
    start: float = unless_given(0, ge=0, le=86_400)

    most_window_bytes: ClassVar[int] = 512 * 1024**2  # iperf3's most
    control_connections: ClassVar[int] = 1

    @field_validator("time", "omit")
    @classmethod
    def _whole_seconds(cls, seconds):
        if seconds != int(seconds):
            raise ValueError(f"iperf3 takes whole seconds only, such as {int(seconds) + 1}")
        return seconds

    @model_validator(mode="after")
    def _check(self):
        if self.udp and self.mss:
            raise ValueError(f"mss = {self.mss} with udp: leave one of them out")
        return self

    @property
    def sender(self):
        return self.dst if self.reverse else self.src

    @property
    def ends(self):
        return {"src": self.sender, "dst": self.src if self.reverse else self.dst}

    @property
    def omitted_s(self):
        return self.omit

    def both(self, place):
        address, congestion = place.address(self.dst), place.kernels_name(self.congestion)
        return self.server_command(place.port), self.command(address, place.port, congestion)

    def server_command(self, port):
        """What to type on `dst` first: a server for one test."""
        options = f" -i {units.digits(self.interval)}" * (self.interval != 1) + " -J"
        return f"iperf3 -s -1 -p {port}" + options * self.get_server_output

    def command(self, address, port, congestion=None):
        """What to type on `src`; `congestion` is the kernel's name of one in Python."""
        congestion = congestion or self.congestion
        time, interval = units.digits(self.time), units.digits(self.interval)
        words = [f"iperf3 -c {address} -p {port} -t {time} -P {self.parallel} -i {interval}"]
        words += [f"-C {congestion}"] if congestion else []
        words += ["-u"] if self.udp else []
        words += [f"-b {units.digits(units.rate_bps(self.bitrate))}"] if self.bitrate else []
        words += ["-R"] if self.reverse else []
        words += [f"-O {units.digits(self.omit)}"] if self.omit else []
        words += [f"-M {self.mss}"] if self.mss else []
        words += [f"-w {units.size_bytes(self.window)}"] if self.window is not None else []
        words += ["--get-server-output"] if self.get_server_output else []
        return " ".join([*words, "-J"])

    def read(self, outputs, place):
        report = read_iperf3(outputs[""])
        if report.meta["interrupted"]:
            ends = f"iperf3 from {self.src} to {self.dst}"
            raise ReadError(f"{ends} was interrupted: {report.meta['error']}", outputs[""])
        streams = counted(owned(report.streams, place, self.ends))
        if self.algorithms:  # iperf3 has the kernel's name for it
            streams = streams.assign(congestion=str(self.congestion))
        parts = counted(owned(report.intervals, place, self.ends))
        # iperf3's clock starts anew after what it omits
        shift_s = place.start_s + self.omit * ~parts.omitted.astype(bool)
        parts = parts.assign(start_s=parts.start_s + shift_s, end_s=parts.end_s + shift_s)
        flow = flow_row(streams, place.start_s + self.omit, report.meta["mss_bytes"])
        return {"flows": flow, "streams": streams, "intervals": parts}

    @classmethod
    def summary(cls, tables):
        if not len(flows := tables["flows"]):
            return []
        received = f"{flows.received_bps.sum() / 1e6:.2f} Mbit/s received"
        received += apart(flows.start_s, flows.end_s, "; ")
        return [f"{len(flows)} flows, {len(tables['streams'])} streams", received]
