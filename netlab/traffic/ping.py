"""ICMP echo requests."""

from typing import ClassVar, Literal

from pydantic import Field

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

    Examples
    --------
    >>> Ping("h1", "h2", count=10, interval=0.2).command("10.0.0.2")
    'ping -c 10 -i 0.2 10.0.0.2'
    """

    kind: Literal["ping"] = "ping"
    count: int = Field(default=4, ge=1, le=100_000)
    interval: float = Field(default=1.0, ge=0.001, le=3600)

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
        interval = "" if self.interval == 1 else f" -i {self.interval:g}"
        return f"ping -c {self.count}{interval} {address}"

    def programs(self, place):
        # it fails where no answer came; `read_ping` refuses what is no output of a ping
        return [Program(self.src, self.command(place.address(self.dst)), may_fail=True)]

    def read(self, outputs, place):
        return {"pings": owned(read_ping(outputs[""]).pings, place, self.ends)}

    @classmethod
    def summary(cls, tables):
        return [f"{len(tables['pings'])} pings"] if len(tables["pings"]) else []
