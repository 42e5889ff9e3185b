"""Congestion windows and queues over time: a guest's traces, or what ``ss -tniO`` and ``tc -s -j
qdisc show`` printed, once, or repeatedly after lines ``at SECONDS``.
"""

import io
import json
import re
from itertools import pairwise
from typing import NamedTuple

import pandas as pd

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, NAN, given, looks, read

ENDS = ["source", "source_port", "destination", "destination_port"]
VALUES = ["cwnd", "ssthresh", "in_flight", "mss_bytes", "srtt_s", "state", "timeout", "retransmits"]
WINDOWS = ["time_s", *ENDS, *VALUES]
QUEUES = ["time_s", "interface", "handle", "packets", "backlog_bytes", "drops"]
STATES = "open", "disorder", "cwr", "recovery", "loss"
# "0 1448 10.0.0.1:40312 10.0.0.2:5201 reno wscale:9,9 rto:224 rtt:20.1/0.2 mss:1448 cwnd:10 ..."
_END = re.compile(r"(\S{1,200}):([0-9]{1,5})")
_WHOLE = re.compile(r"([0-9]{1,20})")
_TIMES = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?)/.*")
_RETRANSMITS = re.compile(r"[0-9]{1,20}/([0-9]{1,20})")


class WindowsOutput(NamedTuple):
    """A frame: ``time_s`` [s], the addresses and ports of both ends, ``cwnd``, ``ssthresh`` (NaN
    before the first loss) and ``in_flight`` [segment], ``mss_bytes`` [byte], ``srtt_s`` [s],
    ``state``, ``timeout``, ``retransmits``.

    Examples
    --------
    >>> rows = read_ss("tests/data/ss/iproute2-reno-2.txt").windows
    >>> rows[["cwnd", "srtt_s"]].iloc[-1].tolist()
    [49.0, 0.020108]
    """

    windows: pd.DataFrame


class QueuesOutput(NamedTuple):
    """A frame: ``time_s`` [s], ``interface``, ``handle`` (tc's, such as ``"2:"``), ``packets``,
    ``backlog_bytes`` [byte] and ``drops`` so far.

    Examples
    --------
    >>> rows = read_tc("tests/data/tc/iproute2-tbf-netem.txt").queues
    >>> rows[["packets", "backlog_bytes", "drops"]].max().tolist()
    [168, 254352, 330]
    """

    queues: pd.DataFrame


def read_windows(source):
    """Read a guest's trace of windows, or what `read_ss` reads: a `WindowsOutput`.

    Examples
    --------
    >>> int(read_windows("tests/data/ss/iproute2-reno-2.txt").windows.cwnd.max())
    161
    """
    return read(source, "trace of windows", _windows)


def read_ss(source):
    """Read what ``ss -tniO`` printed: a `WindowsOutput`.

    ``time_s`` counts from the first line ``at``, and is NaN without one. ss prints no ``state``
    and ``timeout``: they are NaN.

    Examples
    --------
    >>> out = read_ss("10.0.0.1:40254 10.0.0.2:5201 reno rtt:20.378/0.189 mss:1448 cwnd:24")
    >>> out.windows[["cwnd", "srtt_s"]].values.tolist()
    [[24.0, 0.020378]]
    """
    return read(source, "ss", _ss)


def read_queues(source):
    """Read a guest's trace of queues, or what `read_tc` reads: a `QueuesOutput`.

    Examples
    --------
    >>> int(read_queues("tests/data/tc/iproute2-tbf-netem.txt").queues.packets.max())
    168
    """
    return read(source, "trace of queues", _queues)


def read_tc(source):
    """Read what ``tc -s -j qdisc show`` printed: a `QueuesOutput`.

    Examples
    --------
    >>> out = read_tc('[{"kind": "tbf", "handle": "2:", "qlen": 2, "backlog": 3028, "drops": 1}]')
    >>> out.queues[["packets", "backlog_bytes", "drops"]].values.tolist()
    [[2, 3028, 1]]
    """
    return read(source, "tc", _tc)


def _traced(text, texts, counts, **other_names):
    """The table of a guest's trace, whose times rise and whose counts are whole numbers."""
    table = pd.read_csv(io.StringIO(text), dtype=dict.fromkeys(texts, str)).rename(
        columns=other_names
    )
    if len(table) and not all(table[counts].dtypes == "int64"):  # a part of a number, or of a line
        raise ReadError(f"A number of packets or bytes in it is not whole. {AGAIN}")
    if (table[counts] < 0).any(axis=None) or not table.time_s.is_monotonic_increasing:
        raise ReadError(f"A number in it cannot be, or its times do not rise. {AGAIN}")
    return table.astype(dict.fromkeys(counts, int))


def _windows(text, doubts):
    if not text.startswith("time_s,"):
        return _ss(text, doubts)
    counts = ["source_port", "destination_port", "cwnd", "in_flight", "mss_bytes", "retransmits"]
    texts = ["source", "destination", "state"]
    table = _traced(text, texts, counts, retransmitted="retransmits")
    words = set(table.state) <= {*STATES} and set(table.event) <= {"ack", "timeout"}
    table["timeout"] = table.pop("event") == "timeout"
    table = table[WINDOWS].astype({"ssthresh": float, "srtt_s": float})
    if not words or (table.cwnd < 1).any() or not (table.srtt_s >= 0).all():
        raise ReadError(f"A number or a word in it cannot be. {AGAIN}")
    return WindowsOutput(table)


def _queues(text, doubts):
    if not text.startswith("time_s,"):
        return _tc(text, doubts)
    counts = ["packets", "backlog_bytes", "drops"]
    table = _traced(text, ["interface", "handle"], counts, bytes="backlog_bytes")
    return QueuesOutput(table[QUEUES])


def _ss(text, doubts):
    rows = []
    for time_s, line in looks(text):
        words = line.split()
        ends = [_END.fullmatch(word) for word in words]
        first = next((n for n, pair in enumerate(pairwise(ends)) if all(pair)), None)
        if first is None:
            continue
        (source, sport), (to, dport) = (end.groups() for end in ends[first : first + 2])
        values = _of_connection(words[first + 2 :])
        if values[0] == values[0]:
            rows.append([time_s, source, int(sport), to, int(dport), *values])
    if not rows and not re.search(r"(?m)^at [0-9]", text):
        raise ReadError(f"No line of it is a TCP connection as ss -tniO prints it. {AGAIN}")
    return WindowsOutput(pd.DataFrame(rows, columns=WINDOWS))


def _of_connection(words):
    """The values of one connection, from ss's words such as ``cwnd:10``."""
    said = {}
    for word in words:
        name, _, value = word.partition(":")
        said.setdefault(name, value)

    def value(name, pattern=_WHOLE, without=NAN):
        found = pattern.fullmatch(said.get(name, ""))
        return float(found[1]) if found else without

    window = [value("cwnd"), value("ssthresh"), value("unacked", without=0)]  # ss leaves out 0
    srtt_s = value("rtt", _TIMES) / 1e3
    return [*window, value("mss"), srtt_s, NAN, NAN, value("retrans", _RETRANSMITS, 0)]


def _tc(text, doubts):
    rows = []
    for time_s, line in looks(text):
        for one in json.loads(line):
            if "handle" in one:
                counts = [int(given(one, name)) for name in ("qlen", "backlog", "drops")]
                rows.append([time_s, one.get("dev"), one["handle"], *counts])
    if not rows:
        raise ReadError(f"There is no queueing discipline in it. {AGAIN}")
    return QueuesOutput(pd.DataFrame(rows, columns=QUEUES))
