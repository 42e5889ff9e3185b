"""What a host's kernel counts while other traffic runs."""

from typing import ClassVar, Literal

from netlab import units
from netlab.readers import NstatOutput, read_nstat
from netlab.traffic.base import Program, Traffic, by_host

# -a: since the host came up, -s: no history, -z: those that are zero too, -j: as JSON
COMMAND = "nstat -a -s -z -j"


class Nstat(Traffic):
    """What a host's kernel counts while the traffic runs: retransmissions, recoveries, timeouts ...

    It is read when all other traffic has ended. Where the host sends tests that `omit` their start,
    it is read after that, too, and what was counted before is left out.

    Parameters
    ----------
    src : str
        Name of the host.

    Notes
    -----
    A test from this host gets the column ``halving_rate`` in `Result.flows`: how often its window
    was reduced per segment that it sent. The counters are those of the whole host, and
    acknowledgements count as segments. So the rate is that of one test only where no other traffic
    sends or receives TCP on the host; elsewhere it is NaN. A `Shell` on any host makes it NaN, as
    nobody knows to whom its command talks.

    Examples
    --------
    A link that loses 2 %, measured before:

    >>> from netlab import Iperf3, run, wan
    >>> test = Iperf3("h1", "h2", time=40, congestion="reno", omit=3)
    >>> result = run(wan("1gbit", loss="2%", pairs=1), test, Nstat("h1"), engine="recorded")
    recorded: ...
    >>> result.flows.halving_rate.round(2).tolist()
    [0.02]
    """

    kind: Literal["nstat"] = "nstat"

    tables: ClassVar[dict] = {"counts": by_host}
    adds: ClassVar[dict] = {"flows": ["halving_rate"]}
    duration_s: ClassVar[float] = 1

    def may_send_tcp(self, host):
        return False

    def programs(self, place):
        after_s = place.experiment.omitted_s(self.src)
        line = f"sleep {units.pause(after_s)}; {COMMAND}"
        before = [Program(self.src, line, "before", "begin")]
        return before * bool(after_s) + [Program(self.src, COMMAND, when="end")]

    def read(self, outputs, place):
        report = read_nstat(outputs[""])
        if "before" in outputs:
            report = report.since(read_nstat(outputs["before"]))
        return {"counts": {self.src: report.counts}}

    def annotate(self, tables, place):
        traffic = enumerate(place.experiment.traffic, 1)
        here = [(flow, item) for flow, item in traffic if item.may_send_tcp(self.src)]
        if len(here) == 1 and here[0][1].sender == self.src:
            flows = tables["flows"]
            one = (flows.flow == here[0][0]) & flows.congestion.notna()  # UDP has no window
            flows.loc[one, "halving_rate"] = NstatOutput(tables["counts"][self.src]).halving_rate
