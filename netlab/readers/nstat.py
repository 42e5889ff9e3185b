"""What nstat printed: the counters of a host's kernel."""

import json
from dataclasses import dataclass

from netlab.errors import ReadError
from netlab.readers._common import read_text

REDUCED = (
    "TcpExtTCPSackRecovery",
    "TcpExtTCPRenoRecovery",
    "TcpExtTCPLossProbeRecovery",
    "TcpExtTCPTimeouts",
)
UNDONE = ("TcpExtTCPFullUndo", "TcpExtTCPDSACKUndo", "TcpExtTCPLossUndo")


@dataclass(frozen=True, repr=False)
class NstatOutput:
    """What one nstat says.

    Attributes
    ----------
    counts : dict of int
        By the kernel's own names: ``TcpOutSegs``, ``TcpRetransSegs``, ``TcpExtTCPTimeouts`` ...
    """

    counts: dict

    @property
    def halvings(self):
        """How often a sender reduced its window: fast recoveries, with and without SACK, losses
        that a probe found, and timeouts, without those that it took back. [1]
        """
        return sum(self.counts[name] for name in REDUCED) - sum(
            self.counts[name] for name in UNDONE
        )

    @property
    def halving_rate(self):
        """Reductions of the window per segment sent, the p of Mathis's model where losses come in
        bursts; NaN where none was sent. [1]
        """
        sent = self.counts["TcpOutSegs"]
        return self.halvings / sent if sent else float("nan")

    def since(self, before):
        """What was counted since an earlier `NstatOutput` of the same host."""
        return NstatOutput(
            {name: count - before.counts.get(name, 0) for name, count in self.counts.items()}
        )

    def __repr__(self):
        return (
            f"NstatOutput({self.counts['TcpOutSegs']} segments sent, {self.halvings} reductions of"
            " the window)"
        )


def read_nstat(source):
    """What ``nstat -a -z -j`` printed: all counters since the host came up.

    Parameters
    ----------
    source : path or str
        A file, or its text.

    Returns
    -------
    NstatOutput

    Raises
    ------
    ReadError
        The text is not what nstat prints as JSON, or lacks one of TCP's counters (without ``-z``,
        those that are zero).

    Notes
    -----
    The names are the kernel's: see ``nstat(8)`` and the kernel's documentation, "SNMP counter".
    """
    text = read_text(source)
    try:
        counts = json.loads(text)["kernel"]
        wrong = [name for name, count in counts.items() if type(count) is not int]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ReadError(
            "This is not what `nstat -a -z -j` prints: give all of its JSON text.", text
        ) from None
    if wrong:
        raise ReadError(
            f"nstat's counter {wrong[0]} = {counts[wrong[0]]!r} is no whole number.", text
        )
    if missing := [name for name in ("TcpOutSegs", *REDUCED, *UNDONE) if name not in counts]:
        raise ReadError(
            f"nstat's output lacks {', '.join(missing)}: `nstat -a -z -j` prints every counter.",
            text,
        )
    return NstatOutput(counts)
