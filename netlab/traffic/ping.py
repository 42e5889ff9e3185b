"""ICMP echo requests."""

from typing import ClassVar, Literal

from pydantic import Field

from netlab import units
from netlab.description import unless_given
from netlab.readers import read_ping
from netlab.traffic.base import BetweenHosts, Program, frames, owned

COLUMNS = ["flow", "src", "dst", "seq", "rtt_s", "ttl"]


class Ping(BetweenHosts):
    """ICMP echo requests from one host to another.

    Parameters
    ----------
    src, dst : str
        Names of the hosts.
    count : int
        How many requests.
    interval : float
        Time between two of them. [s]
    size : int
        Bytes of data in each; with the headers of ICMP, IP and Ethernet a frame of 42 bytes more.

    Notes
    -----
    Where `src` does not know the Ethernet address of `dst` yet, the first request waits for ARP, a
    round trip more: its time is twice that of the others. It is in ``pings`` as it was, and in
    every mean of them, ping's own included; ``pings.query("seq > 1")`` leaves it out.

    Examples
    --------
    >>> Ping("h1", "h2", count=10, interval=0.2).command("10.0.0.2")
    'ping -c 10 -i 0.2 10.0.0.2'
    >>> Ping("h1", "h2", size=1472).command("10.0.0.2")  # a packet of 1500 bytes
    'ping -c 4 -s 1472 10.0.0.2'
    """

    kind: Literal["ping"] = "ping"
    count: int = Field(default=4, ge=1, le=100_000)
    interval: float = Field(default=1.0, ge=0.001, le=3600)
    # ping measures no time with less than 16 bytes, in which it sends its clock
    size: int = unless_given(56, ge=16, le=65_507)

    tables: ClassVar[dict] = {"pings": frames(COLUMNS)}
    measures: ClassVar[str] = "pings"

    def may_send_tcp(self, host):
        return False

    @property
    def duration_s(self):
        """How long it should take, waiting for the last answer included. [s]"""
        return self.count * self.interval + 10

    def command(self, address):
        """What to type on `src`."""
        interval = "" if self.interval == 1 else f" -i {units.digits(self.interval)}"
        size = "" if self.size == 56 else f" -s {self.size}"
        return f"ping -c {self.count}{interval}{size} {address}"

    def programs(self, place):
        # it fails where no answer came; `read_ping` refuses what is no output of a ping
        return [Program(self.src, self.command(place.address(self.dst)), may_fail=True)]

    def read(self, outputs, place):
        return {"pings": owned(read_ping(outputs[""]).pings, place, self.ends)}

    @classmethod
    def summary(cls, tables):
        return [f"{len(tables['pings'])} pings"] if len(tables["pings"]) else []
