"""What runs on the hosts: each kind of traffic knows the commands to type and how its output is
read.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from netlab import units
from netlab.description import Description, Rate, Size


class Ping(Description):
    """ICMP echo requests from one host to another.

    Parameters
    ----------
    src, dst : str
        Names of the hosts.
    count : int
        How many requests.
    interval : float
        Time between two of them. [s]
    """

    kind: Literal["ping"] = "ping"
    src: str
    dst: str
    count: int = Field(default=4, ge=1, le=100_000)
    interval: float = Field(default=1.0, ge=0.001, le=3600)

    @model_validator(mode="after")
    def _check(self):
        return _two_ends(self)

    @property
    def duration_s(self):
        """How long it should take, waiting for the last answer included. [s]"""
        return self.count * self.interval + 10

    def command(self, address):
        """What to type on `src`."""
        interval = "" if self.interval == 1 else f" -i {self.interval:g}"
        return f"ping -c {self.count}{interval} {address}"


class Iperf3(Description):
    """An iperf3 test from one host to another.

    Parameters
    ----------
    src, dst : str
        Names of the client's and the server's host. The client sends, unless `reverse`.
    parallel : int
        Parallel streams, 1 to 128. [``-P``]
    time : float
        How long it sends. [s, ``-t``]
    congestion : str, optional
        Congestion control, one the engine's kernel has; None leaves the kernel's default, cubic.
        [``-C``]
    udp : bool
        UDP instead of TCP, at `bitrate`. [``-u``]
    bitrate : str, optional
        Rate that each stream is limited to, in tc's notation; UDP's is 1 Mbit/s where it is not
        given. [``-b``]
    reverse : bool
        The server sends. [``-R``]
    omit : float
        How much of the start is left out of the totals, on top of `time`. [s, ``-O``]
    interval : float
        Time between two reports. [s, ``-i``]
    mss : int, optional
        Maximum segment size. [byte, ``-M``]
    window : int or str, optional
        Socket buffer, set on both ends; switches the kernel's autotuning off. [byte, ``-w``]
    get_server_output : bool
        Intervals as the receiver counts them too, who unlike the sender does not count what is
        still in its buffers.
    """

    kind: Literal["iperf3"] = "iperf3"
    src: str
    dst: str
    parallel: int = Field(default=1, ge=1, le=128)
    time: float = Field(default=10, gt=0, le=86_400)
    congestion: str | None = Field(default=None, pattern=r"^[a-z0-9_]+$")
    udp: bool = False
    bitrate: Rate | None = None
    reverse: bool = False
    omit: float = Field(default=0, ge=0, le=60)
    interval: float = Field(default=1, ge=0.1, le=60)
    mss: int | None = Field(default=None, ge=88, le=9216)
    window: Size | None = None
    get_server_output: bool = False

    @model_validator(mode="after")
    def _check(self):
        if self.udp and self.congestion:
            raise ValueError(
                f"congestion = {self.congestion!r} with udp: UDP has no congestion control; leave"
                " one of them out"
            )
        if self.udp and self.mss:
            raise ValueError(
                f"mss = {self.mss} with udp: UDP has no segments; leave one of them out"
            )
        return _two_ends(self)

    @property
    def sender(self):
        """The host that sends."""
        return self.dst if self.reverse else self.src

    @property
    def duration_s(self):
        """How long it should take, connecting and handing over the results included. [s]"""
        return self.omit + self.time + 20

    def server_command(self, port):
        """What to type on `dst` first: a server for one test."""
        options = (
            [f"-i {self.interval:g}"] * (self.interval != 1) + ["-J"]
            if self.get_server_output
            else []
        )
        return " ".join([f"iperf3 -s -1 -p {port}", *options])

    def command(self, address, port):
        """What to type on `src`."""
        options = [
            f"-c {address}",
            f"-p {port}",
            f"-t {self.time:g}",
            f"-P {self.parallel}",
            f"-i {self.interval:g}",
        ]
        options += [f"-C {self.congestion}"] if self.congestion else []
        options += ["-u"] if self.udp else []
        options += [f"-b {units.rate_bps(self.bitrate)}"] if self.bitrate else []
        options += ["-R"] if self.reverse else []
        options += [f"-O {self.omit:g}"] if self.omit else []
        options += [f"-M {self.mss}"] if self.mss else []
        options += [f"-w {units.size_bytes(self.window)}"] if self.window is not None else []
        options += ["--get-server-output"] if self.get_server_output else []
        return " ".join(["iperf3", *options, "-J"])


class Shell(Description):
    """Any command on a host; its output is kept, not parsed.

    Parameters
    ----------
    src : str
        Name of the host.
    line : str
        A line for bash.
    time : float
        How long it may take. [virtual s]
    """

    kind: Literal["shell"] = "shell"
    src: str
    line: str = Field(min_length=1)
    time: float = Field(default=60, gt=0, le=86_400)

    @property
    def duration_s(self):
        return self.time

    def command(self):
        """What to type on `src`."""
        return self.line


class Nstat(Description):
    """What a host's kernel counts while the traffic runs: retransmissions, recoveries, timeouts ...

    It is read when all other traffic has ended, and, where the host sends tests that `omit` their
    start, once before: what their totals leave out is left out here. Where the host sent one TCP
    test, `Result.flows` has its ``halving_rate``.

    Parameters
    ----------
    src : str
        Name of the host.
    """

    kind: Literal["nstat"] = "nstat"
    src: str

    @property
    def duration_s(self):
        return 1

    def command(self, after_s=0.0):
        """What to type on `src`: all counters since it came up, those that are zero too, as JSON."""
        return f"sleep {after_s:g}; " * bool(after_s) + "nstat -a -s -z -j"


def _two_ends(traffic):
    if traffic.src == traffic.dst:
        raise ValueError(
            f"src and dst are both {traffic.src!r}: traffic goes from one host to another"
        )
    return traffic


Traffic = Annotated[Ping | Iperf3 | Nstat | Shell, Field(discriminator="kind")]
