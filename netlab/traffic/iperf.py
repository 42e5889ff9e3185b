"""iperf (version 2) tests: TCP, and UDP at a rate that is offered."""

from math import ceil, nan
from typing import ClassVar, Literal

from pydantic import Field

from netlab import units
from netlab.description import Rate, Size, unless_given
from netlab.errors import ReadError
from netlab.readers import read_iperf
from netlab.readers._common import beside, tidy
from netlab.readers.iperf3 import _INTERVALS, _STREAMS
from netlab.traffic.base import owned
from netlab.traffic.throughput import ThroughputTest, flow_row

# How long a server stays when its client should have ended: a client asks ten times, a quarter of a
# second apart, for the server's totals of a UDP test.
STAYS_S = 8
_OF_RECEIVER = [
    "received_bps", "received_bytes", "loss", "jitter_s", "packets", "lost_packets", "out_of_order",
]  # fmt: skip


class Iperf(ThroughputTest):
    """A test of iperf, version 2, from one host to another.

    Parameters
    ----------
    src, dst, parallel, time, interval, window, start : as of `Iperf3`
        `src` sends; `time` need not be whole seconds.
    udp : bool
        UDP instead of TCP, at `bitrate`. [``-u``]
    bitrate : str, optional
        Rate of the payload that each stream offers, in tc's notation; without it, TCP has no limit
        and UDP has iperf's own, :math:`1024^2` bit/s. [``-b``]
    length : int, optional
        Payload of a UDP datagram, iperf's own is 1470; of TCP, what it writes at once. [byte,
        ``-l``]
    congestion : str, optional
        TCP's congestion control, one of the kernel's. [``-Z``]

    Notes
    -----
    iperf's ``-b 20M`` is :math:`20 \\times 1024^2` bit/s, and ``-b 20m`` :math:`20 \\times 10^6`
    (2.0.13 to 2.2.1). Here the rate is in tc's notation and typed as a plain number: ``"20mibit"``
    and ``"20mbit"``.

    The client counts ``sent_bps``, ``sent_bytes`` and the times of the payload that it gave to its
    kernel; over UDP this is what was *offered*. The server counts ``received_bps``,
    ``received_bytes``, ``jitter_s``, ``loss``, ``packets``, ``lost_packets`` and ``out_of_order``
    over its own time, from the first datagram that arrived to the last. Where it never hears of the
    end, what the client sent and the server did not receive is lost. All of them are in
    `Result.streams` and `Result.intervals`; `Result.flows` has the rates. A sweep collects the
    streams, so that it has the loss, too, unless one of its axes has this name.

    The first datagrams of a UDP test wait for ARP, a round trip per link, and then leave in one
    burst. Where it is longer than a queue on the way, or than the 92 datagrams that Linux keeps for
    an address which it does not know yet, the test begins with losses. To measure without them,
    send a `Ping` first, and the test a second later, with ``start=1``.

    Nothing ends iperf's server reliably by itself (neither ``-1``, nor ``-t`` where its link is
    overloaded): `timeout` interrupts it, some seconds after the client.

    Examples
    --------
    >>> Iperf("h1", "h4", udp=True, bitrate="20mbit").command("10.0.5.2", 5201)
    'iperf -c 10.0.5.2 -u -b 20000000 -t 10 -i 1 -f b -p 5201'
    """

    kind: Literal["iperf"] = "iperf"
    parallel: int = Field(default=1, ge=1, le=128)
    time: float = Field(default=10, ge=0.1, le=86_400)
    udp: bool = False
    bitrate: Rate | None = None
    length: int | None = Field(default=None, ge=64, le=65_507)
    interval: float = Field(default=1, ge=0.1, le=60)
    window: Size | None = None
    congestion: str | None = Field(default=None, pattern="^[a-z][a-z0-9_]{0,14}$")
    start: float = unless_given(0, ge=0, le=86_400)

    measures: ClassVar[str] = "streams"
    other_names: ClassVar[dict] = {
        **ThroughputTest.other_names,
        **dict.fromkeys(("bandwidth", "rate", "b"), "bitrate"),
        **dict.fromkeys(("len", "size", "l"), "length"),
        "Z": "congestion",
    }

    def may_send_tcp(self, host):
        return not self.udp and super().may_send_tcp(host)

    def both(self, place):
        client = self.command(place.address(self.dst), place.port)
        return self.server_command(place.port, place.start_s), client

    def server_command(self, port, start_s=0.0):
        """What to type on `dst` first: a server for a client that begins at `start_s`."""
        seconds = ceil(start_s + self.time + STAYS_S)
        return f"timeout -k 1 -s INT {seconds} iperf -s {self._options(port)}"

    def command(self, address, port):
        """What to type on `src`."""
        options = ["-u"] if self.udp else ["-e"]  # which names the congestion control
        options += [f"-b {units.digits(units.rate_bps(self.bitrate))}"] if self.bitrate else []
        options += [f"-t {units.digits(self.time)}"]
        options += [f"-P {self.parallel}"] if self.parallel > 1 else []
        options += [f"-Z {self.congestion}"] if self.congestion else []
        return " ".join([f"iperf -c {address}", *options, self._options(port, udp=False)])

    def _options(self, port, udp=True):
        """The options of both sides; with ``-f b`` they print every digit."""
        options = ["-u"] if udp and self.udp else []
        options += [f"-i {units.digits(self.interval)}", "-f b", f"-p {port}"]
        options += [f"-l {self.length}"] if self.length else []
        options += [f"-w {units.size_bytes(self.window)}"] if self.window is not None else []
        return " ".join(options)

    def read(self, outputs, place):
        sent, text = read_iperf(outputs[""]), outputs["server"]
        if "connected with" in text or not self.udp:
            received = read_iperf(text)
            # stopped while a client still waited for it; one that gave up has ended before
            if received.meta["interrupted"] and sent.meta["acknowledged"]:
                raise ReadError(
                    f"iperf's server on {self.dst} was stopped {STAYS_S} s after the test's time,"
                    " and data was still on its way. A smaller window, or queue, lets it end.",
                    text,
                )
            streams, parts = both_sides(sent, received)
        else:
            streams, parts = sent.streams, sent.intervals
        if self.udp:
            streams = with_unheard(streams, sent.streams)
        congestion = sent.meta["congestion"]
        streams = owned(shaped(streams, _STREAMS, congestion), place, self.ends)
        parts = owned(shaped(parts, _INTERVALS, congestion).assign(omitted=False), place, self.ends)
        parts[["start_s", "end_s"]] += place.start_s
        flow = flow_row(streams, place.start_s, nan)
        return {"flows": flow, "streams": streams, "intervals": parts}


def both_sides(sent, received):
    """The client's streams and intervals, with the columns that the server counted."""
    streams = sent.streams.set_index("port")
    streams[_OF_RECEIVER] = received.streams.set_index("port")[_OF_RECEIVER].reindex(streams.index)
    parts, own = beside(received.intervals, sent.intervals, "port")
    parts["stream"] = streams.stream.reindex(parts.index.get_level_values("port")).to_numpy()
    parts[["sent_bps", "retransmits"]] = own[["sent_bps", "retransmits"]]
    return streams.reset_index(), parts.reset_index().sort_values(["start_s", "stream"])


def with_unheard(streams, sent):
    """UDP streams; what the client sent and a server that heard no end did not receive is lost."""
    silent = streams.received_bps.isna()
    unheard = silent | (streams.packets < 0.99 * sent.packets - 2)
    arrived = (streams.packets - streams.lost_packets).where(~silent, 0)
    lost = sent.packets - arrived
    told = {"packets": sent.packets, "lost_packets": lost, "loss": lost / sent.packets}
    for name, value in told.items():
        streams[name] = streams[name].where(~unheard, value)
    return streams.fillna({"received_bps": 0.0, "received_bytes": 0.0})


def shaped(table, columns, congestion):
    """A table of the columns that iperf3's have, and ``out_of_order``."""
    table = table.assign(congestion=congestion if congestion else nan)
    return tidy(table, [*columns, "out_of_order"]).reset_index(drop=True)
