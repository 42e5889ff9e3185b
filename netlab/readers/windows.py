"""Congestion windows over time: what the guest's kernel told, or what ``ss -ti`` printed."""

import io
import re
from itertools import pairwise
from math import nan
from typing import NamedTuple

import pandas as pd

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, looks, read

ENDS = ["source", "source_port", "destination", "destination_port"]
VALUES = [
    *("cwnd", "ssthresh", "in_flight", "mss_bytes", "srtt_s", "state", "timeout", "retransmits"),
]  # fmt: skip
COLUMNS = ["time_s", *ENDS, *VALUES]
STATES = "open", "disorder", "cwr", "recovery", "loss"
# "0 1448 10.0.0.1:40312 10.0.0.2:5201 reno wscale:9,9 rto:224 rtt:20.1/0.2 mss:1448 cwnd:10 ..."
_END = re.compile(r"(\S{1,200}):([0-9]{1,5})")
_WHOLE = re.compile(r"([0-9]{1,20})")
_TIMES = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?)/.*")
_RETRANSMITS = re.compile(r"[0-9]{1,20}/([0-9]{1,20})")


class WindowsOutput(NamedTuple):
    """What `read_windows` and `read_ss` give.

    Attributes
    ----------
    windows : pandas.DataFrame
        ``time_s`` [s], the addresses and ports of both ends, ``cwnd``, ``ssthresh`` (NaN before the
        first loss) and ``in_flight`` [segment], ``mss_bytes`` [byte], ``srtt_s`` [s], ``state``,
        ``timeout``, ``retransmits``.
    """

    windows: pd.DataFrame


def read_windows(source):
    """Read what a guest's kernel told of windows, or what `read_ss` reads.

    Parameters
    ----------
    source : str or path
        A file or the text itself.

    Returns
    -------
    WindowsOutput

    Raises
    ------
    ReadError
        It is neither; the text is in the error's ``raw``.
    """
    return read(source, "trace of windows", _windows)


def read_ss(source):
    """Read what ``ss -tniO`` printed, once, or several times after lines ``at SECONDS``.

    Parameters
    ----------
    source : str or path
        A file or the text itself.

    Returns
    -------
    WindowsOutput
        ``time_s`` counts from the first line ``at``, and is NaN without one; ``state`` and
        ``timeout`` are not known to ss: they are NaN.

    Raises
    ------
    ReadError
        No line of it has a window; the text is in the error's ``raw``.
    """
    return read(source, "ss", _ss)


def _windows(text):
    if not text.startswith("time_s,"):
        return _ss(text)
    table = pd.read_csv(io.StringIO(text), dtype={"source": str, "destination": str, "state": str})
    table = table.rename(columns={"retransmitted": "retransmits"})
    words = set(table.state) <= {*STATES} and set(table.event) <= {"ack", "timeout"}
    table["timeout"] = table.pop("event") == "timeout"
    whole = ["source_port", "destination_port", "cwnd", "in_flight", "mss_bytes", "retransmits"]
    table = table[COLUMNS].astype({"ssthresh": float, "srtt_s": float} | dict.fromkeys(whole, int))
    least = table[whole].min().min() if len(table) else 0
    if not words or least < 0 or (table.cwnd < 1).any() or not (table.srtt_s >= 0).all():
        raise ReadError(f"A number or a word in it cannot be. {AGAIN}")
    if not table.time_s.is_monotonic_increasing:
        raise ReadError(f"Its times do not rise. {AGAIN}")
    return WindowsOutput(table)


def _ss(text):
    rows = []
    for time_s, line in looks(text):
        words = line.split()
        ends = [_END.fullmatch(word) for word in words]
        first = next((n for n, pair in enumerate(pairwise(ends)) if all(pair)), None)
        if first is None:
            continue
        (source, sport), (to, dport) = (end.groups() for end in ends[first : first + 2])
        values = _of(words[first + 2 :])
        if values[0] == values[0]:
            rows.append([time_s, source, int(sport), to, int(dport), *values])
    if not rows and not re.search(r"(?m)^at [0-9]", text):
        raise ReadError(f"No line of it is a TCP connection as ss -tniO prints it. {AGAIN}")
    return WindowsOutput(pd.DataFrame(rows, columns=COLUMNS))


def _of(words):
    """The values of one connection, from ss's words such as ``cwnd:10``."""
    said = {}
    for word in words:
        name, _, value = word.partition(":")
        said.setdefault(name, value)

    def value(name, pattern=_WHOLE, without=nan):
        found = pattern.fullmatch(said.get(name, ""))
        return float(found[1]) if found else without

    return [
        value("cwnd"),
        value("ssthresh"),
        value("unacked", without=0),  # ss leaves out what is 0
        value("mss"),
        value("rtt", _TIMES) / 1e3,
        nan,
        nan,
        value("retrans", _RETRANSMITS, 0),
    ]
