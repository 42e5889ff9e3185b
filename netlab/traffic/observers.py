"""Congestion windows and queues, watched while other traffic runs.

The guest's kernel reports every change, in no virtual time. Another engine runs a command every
50 ms, which costs processor time and misses what happens in between.
"""

from typing import ClassVar, Literal

import pandas as pd

from netlab import units
from netlab.description import Delay
from netlab.engines.base import Watch
from netlab.errors import SpecificationError
from netlab.readers import read_queues, read_windows
from netlab.readers.kernel_traces import ENDS, VALUES
from netlab.traffic.base import OnLink, Program, Traffic, frames

LOOK_S = 0.05  # between two runs of a command, on engines whose kernel does not report
# bash: a line with the time, the command, a pause, until the traffic has been sent
LOOK = (
    'end=$((SECONDS + {seconds})); while [ $SECONDS -lt $end ]; do echo "at $EPOCHREALTIME";'
    " {command}; sleep {pause}; done"
)
HANDLES = {"1:": "netem", "2:": "tbf", "10:": "netem"}  # as `Link.setup` types them

WINDOWS = ["time_s", "src", "flow", "stream", *VALUES]
QUEUES = ["time_s", "src", "dst", "qdisc", "packets", "backlog_bytes", "drops"]


class Observer(Traffic):
    """Traffic that only observes; it comes after all other."""

    last: ClassVar[bool] = True
    duration_s: ClassVar[float] = 1

    @property
    def every_s(self):
        return units.delay_s(self.every) if self.every else 0.0

    def may_send_tcp(self, host):
        return False

    def looking(self, place, command):
        """The command for engines whose kernel does not report."""
        seconds = round(max(item.sends_s for item in place.experiment.traffic)) + 2
        return LOOK.format(
            seconds=seconds, command=command, pause=units.digits(self.every_s or LOOK_S)
        )


class Windows(Observer):
    """The congestion windows of all TCP connections that send from a host.

    Parameters
    ----------
    src : str
        Name of the host.
    every : str, optional
        Keep the last row of each connection per such time, as in ``"10ms"``, and each in which
        its state changes or its timer runs out. None keeps every ACK, which may be 10,000 rows per
        second at 100 Mbit/s.

    Notes
    -----
    It fills `Result.windows`: ``time_s`` since the traffic started [s], ``flow``, ``stream`` (from
    1, as the test counts; iperf3's control connection is left out), ``cwnd``, ``ssthresh`` (NaN
    before the first loss) and ``in_flight`` [segment], ``mss_bytes`` [byte], ``srtt_s`` [s],
    ``state`` ("open", "disorder", "cwr", "recovery", "loss", as Linux calls them), ``timeout`` (is
    it a retransmission timeout, and no ACK?) and ``retransmits`` so far.

    The guest's kernel reports each ACK, in no virtual time: the run has the same bytes without it.
    On another engine ``ss`` runs every 50 ms: ``state`` and ``timeout`` are not known, and streams
    that opened between the same two runs may have each other's numbers.

    Examples
    --------
    A start that overflows the queue, measured before:

    >>> from netlab import Iperf3, run, wan
    >>> path = wan("100mbit", "100ms", burst=15_000, limit=1_250_000, pairs=1, offload=False)
    >>> test = Iperf3("h1", "h2", congestion="reno")
    >>> result = run(path, test, Windows("h1", every="10ms"), engine="recorded")
    recorded: ...
    >>> result.windows.state.unique().tolist()
    ['open', 'disorder', 'recovery']
    """

    kind: Literal["windows"] = "windows"
    every: Delay | None = None

    tables: ClassVar[dict] = {"windows": frames(WINDOWS)}

    def check(self, experiment):
        super().check(experiment)
        for item in experiment.traffic:
            if item.sender == self.src != item.src:
                raise SpecificationError(
                    f"Windows.src = {self.src!r}: with reverse, iperf3's server sends, through an"
                    " IPv6 socket, which the guest's kernel does not report; let the test go from"
                    f" {self.src} to {item.src} instead, without reverse"
                )

    def programs(self, place):
        address = place.address(self.src)
        command = self.looking(place, f"ss -tniOH state established src {address}")
        watch = Watch("windows", address, self.every_s)
        return [Program(self.src, command, "", "begin", watch=watch)]

    def read(self, outputs, place):
        table = read_windows(outputs[""]).windows
        kept = []
        for number, item in enumerate(place.experiment.traffic, 1):
            port = place._replace(flow=number).port
            own = table[(table.source_port == port) | (table.destination_port == port)]
            if item.last or item.sender != self.src or own.empty:
                continue
            # connections in the order of their first record
            stream = own.groupby(ENDS, sort=False).ngroup() + 1 - item.control_connections
            kept.append(own.assign(src=self.src, flow=number, stream=stream)[stream > 0])
        found = pd.concat(kept or [pd.DataFrame(columns=WINDOWS)])
        return {"windows": found[WINDOWS].sort_index()}


class Queue(Observer, OnLink):
    """The queueing disciplines of an interface: what they hold, and what they have dropped.

    Parameters
    ----------
    src, dst : str
        Names of two nodes with a link between them: src's interface to dst.
    every : str, optional
        Keep one row per discipline per such time: the one that holds most. None keeps every packet
        that comes or goes, which may be a million rows per second at 10 Gbit/s.

    Notes
    -----
    It fills `Result.queues`: ``time_s`` since the traffic started [s], ``src``, ``dst``, ``qdisc``
    (its kind: tbf holds what waits before the bottleneck, netem what is under way on the delayed
    line and that, too), ``packets``, ``backlog_bytes`` [byte] and ``drops`` so far. Guests report
    every change, as for `Windows`; another engine runs ``tc -s`` every 50 ms.

    Examples
    --------
    A queue of 100 packets that fills, measured before:

    >>> from netlab import Iperf, portfolio, run
    >>> flood = Iperf("h1", "h4", udp=True, bitrate="20mibit", start=1)
    >>> result = run(portfolio(tclink=True), flood, Queue("r2", "r3"), engine="recorded")
    recorded: ...
    >>> int(result.queues.packets.max())
    100
    """

    kind: Literal["queue"] = "queue"
    every: Delay | None = "10ms"

    tables: ClassVar[dict] = {"queues": frames(QUEUES)}

    def programs(self, place):
        interface = place.experiment.topology.interface_to(self.src, self.dst)
        command = self.looking(place, f"tc -s -j qdisc show dev {interface}")
        watch = Watch("queues", interface, self.every_s)
        return [Program(self.src, command, "", "begin", watch=watch)]

    def read(self, outputs, place):
        table, topology = read_queues(outputs[""]).queues, place.experiment.topology
        table = table[table.handle != "0:"]  # a part of another, which says the same
        link = topology.link_to(self.src, self.dst)
        kinds = HANDLES | ({"3:": link.qdisc.split()[0]} if link.qdisc else {})
        table = table.assign(src=self.src, dst=self.dst, qdisc=table.handle.replace(kinds))
        return {"queues": table[QUEUES]}
