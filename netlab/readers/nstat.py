"""What nstat printed: the counters of a host's kernel."""

import json
import re
import reprlib
from dataclasses import dataclass

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, LIMIT, NAN, last_of, read

REDUCED = (
    *("TcpExtTCPSackRecovery", "TcpExtTCPRenoRecovery"),
    *("TcpExtTCPLossProbeRecovery", "TcpExtTCPTimeouts"),
)  # fmt: skip
UNDONE = ("TcpExtTCPFullUndo", "TcpExtTCPDSACKUndo", "TcpExtTCPLossUndo")


@dataclass(frozen=True, repr=False)
class NstatOutput:
    """What one nstat says.

    Attributes
    ----------
    counts : dict of int
        By the kernel's own names: ``TcpOutSegs``, ``TcpRetransSegs``, ``TcpExtTCPTimeouts`` ...

    Examples
    --------
    >>> out = read_nstat("tests/data/nstat/linux-7.2-reno-1-percent.json")
    >>> out.halvings, round(out.halving_rate, 4)
    (55, 0.008)
    """

    counts: dict

    @property
    def halvings(self):
        """How often a sender reduced its window, without reductions that it took back. [1]"""
        counts = self.counts
        return sum(counts[name] for name in REDUCED) - sum(counts[name] for name in UNDONE)

    @property
    def halving_rate(self):
        """Reductions of the window per segment sent, the p of Mathis's model where losses come in
        bursts; NaN where none was sent. [1]
        """
        sent, halvings = self.counts["TcpOutSegs"], self.halvings
        # a reduction before the first reading may be taken back after it
        return halvings / sent if sent and 0 <= halvings <= sent else NAN

    def since(self, before):
        """What was counted since an earlier `NstatOutput` of the same host.

        nstat's JSON has counters modulo 2**32, which those of octets reach in 3.4 s at 10 Gbit/s.
        Another counter that is lower than before raises ReadError.
        """
        for name, earlier in before.counts.items():
            if self.counts.get(name, 0) < earlier and not name.endswith("Octets"):
                raise ReadError(
                    f"nstat's counter {name} fell from {earlier} to {self.counts.get(name, 0)}, and"
                    " counters only grow. Give two outputs of one host, the earlier one as before."
                )
        earlier = before.counts
        return NstatOutput({k: (n - earlier.get(k, 0)) % 2**32 for k, n in self.counts.items()})

    def __repr__(self):
        return (
            f"NstatOutput({self.counts['TcpOutSegs']} segments sent, {self.halvings} reductions of"
            " the window)"
        )


def read_nstat(source):
    """Read the counters that ``nstat -a -z -j`` printed: all since the host came up.

    The names are the kernel's: see ``nstat(8)`` and the kernel's documentation, "SNMP counter".
    Without ``-z``, the counters that are zero are missing, and the text is refused.

    Examples
    --------
    >>> counts = read_nstat("tests/data/nstat/linux-7.2-reno-1-percent.json").counts
    >>> counts["TcpOutSegs"], counts["TcpRetransSegs"]
    (6904, 66)
    """
    return read(source, "nstat", _output)


def _output(text, doubts):
    try:
        counts = json.loads(text, object_pairs_hook=last_of(doubts))["kernel"]
        items = list(counts.items())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        plain = re.match(r"\s*#\w|(?:Ip|Icmp|Tcp|Udp)\w+\s+[0-9]", text)
        what = "it is nstat's text. Run nstat with -j" if plain else "give all of its JSON text"
        raise ReadError(f"This is not what `nstat -a -z -j` prints: {what}.") from None
    for name, count in items:
        if type(count) is not int or not 0 <= count <= LIMIT:
            raise ReadError(
                f"nstat's counter {name} = {reprlib.repr(count)} is no whole number from 0 to"
                f" {LIMIT}. {AGAIN}"
            )
    if missing := [name for name in ("TcpOutSegs", *REDUCED, *UNDONE) if name not in counts]:
        raise ReadError(
            f"nstat's output lacks {', '.join(missing)}: `nstat -a -z -j` prints every counter."
        )
    out = NstatOutput(counts)
    if not 0 <= out.halvings <= counts["TcpOutSegs"]:
        raise ReadError(
            f"nstat's counters contradict each other: TcpOutSegs = {counts['TcpOutSegs']}, but"
            f" {out.halvings} reductions of the window. {AGAIN}"
        )
    return out
