"""Congestion windows and queues over time: a guest's traces, or what ``ss -tniO`` and ``tc -s -j
qdisc show`` printed, once, or repeatedly after lines ``at SECONDS``.
"""

import io
import json
import re
from ipaddress import ip_address
from itertools import chain, pairwise
from typing import NamedTuple

import pandas as pd

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, NAN, given, looks, read

ENDS = ["source", "source_port", "destination", "destination_port"]
VALUES = ["cwnd", "ssthresh", "in_flight", "mss_bytes", "srtt_s", "state", "timeout", "retransmits"]
WINDOWS = ["time_s", *ENDS, *VALUES]
QUEUES = ["time_s", "interface", "handle", "packets", "backlog_bytes", "drops"]
STATES = "open", "disorder", "cwr", "recovery", "loss"
_STATE = re.compile(r"[A-Z][A-Z0-9-]{3,12}")
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
    return read(source, "trace of windows", _windows, looks=True)


def read_ss(source):
    """Read what ``ss -tniO`` printed, or ``ss -tni`` in two lines: a `WindowsOutput`.

    Other options, such as ``-o``, ``-m``, ``-p`` and ``-e``, may be there, too. ``time_s`` counts
    from the first line ``at``, and is NaN without one. ss prints no ``state`` and ``timeout``: they
    are NaN.

    Examples
    --------
    >>> out = read_ss("10.0.0.1:40254 10.0.0.2:5201 reno rtt:20.378/0.189 mss:1448 cwnd:24")
    >>> out.windows[["cwnd", "srtt_s"]].values.tolist()
    [[24.0, 0.020378]]
    """
    return read(source, "ss", _ss, looks=True)


def read_queues(source):
    """Read a guest's trace of queues, or what `read_tc` reads: a `QueuesOutput`.

    Examples
    --------
    >>> int(read_queues("tests/data/tc/iproute2-tbf-netem.txt").queues.packets.max())
    168
    """
    return read(source, "trace of queues", _queues, looks=True)


def read_tc(source):
    """Read what ``tc -s -j qdisc show`` printed: a `QueuesOutput`.

    Examples
    --------
    >>> out = read_tc('[{"kind": "tbf", "handle": "2:", "qlen": 2, "backlog": 3028, "drops": 1}]')
    >>> out.queues[["packets", "backlog_bytes", "drops"]].values.tolist()
    [[2, 3028, 1]]
    """
    return read(source, "tc", _tc, looks=True)


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
    rows, connections = [], _connections(text)
    for time_s, ends, words in connections:
        values = _of_connection(words)
        if ends and values[0] == values[0]:
            rows.append([time_s, *ends, *values])
        elif not ends and values[0] == values[0] and not any(one.endswith(":*") for one in words):
            doubts.append(f"{' '.join(words)[:80]!r} has no numbers of ports (ss -n): left out")
    if not rows and not re.search(r"(?m)^at [0-9]", text):
        if any(ends for _, ends, _ in connections):
            raise ReadError("These connections have no windows: run ss with -i, as in ss -tniO.")
        raise ReadError(f"No line of it is a TCP connection as ss -tniO prints it. {AGAIN}")
    return WindowsOutput(pd.DataFrame(rows, columns=WINDOWS))


def _connections(text):
    """A list of (time, ends, words) of what ss printed; without -O, a connection has two lines."""
    found = []
    for time_s, line in looks(text):
        ends, words = _ends(line.split())
        if ends or any(map(_STATE.fullmatch, words[:2])) or "Recv-Q" in words:
            found.append((time_s, ends, words))
        elif found and (found[-1][0] == time_s or time_s != time_s):
            found[-1][2].extend(words)
    return found


def _ends(words):
    """Both ends of a connection, and the words behind them; None, where these are not there."""
    pairs = [_END.fullmatch(word) for word in words]
    for n, (one, other) in enumerate(pairwise(pairs)):
        # -i has counters such as "ato:40 mss:1448"
        queues = n > 1 and all(map(_WHOLE.fullmatch, words[n - 2 : n]))
        if one and other and (queues or (_is_address(one[1]) and _is_address(other[1]))):
            ends = ((_plain(end[1]), int(end[2])) for end in (one, other))
            return [*chain(*ends)], words[n + 2 :]
    return None, words


def _plain(host):
    """An address without brackets, and without the interface that it is bound to."""
    host = host.replace("[", "").replace("]", "")
    return host if host.startswith("fe80:") else host.partition("%")[0]


def _is_address(host):
    try:
        return bool(ip_address(_plain(host)))
    except ValueError:
        return False


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
    if re.match(r"\s*(?:at \S+\s+)?qdisc ", text):
        raise ReadError("This is tc's text, without -j: run tc -s -j qdisc show.")
    rows = []
    for time_s, line in looks(text):
        for one in json.loads(line):
            if "handle" in one:
                counts = [int(given(one, name)) for name in ("qlen", "backlog", "drops")]
                rows.append([time_s, one.get("dev"), one["handle"], *counts])
    if not rows:
        raise ReadError(f"There is no queueing discipline in it. {AGAIN}")
    return QueuesOutput(pd.DataFrame(rows, columns=QUEUES))
