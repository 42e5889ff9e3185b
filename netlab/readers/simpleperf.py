"""What simpleperf printed: the text in the client's terminal, or in the server's."""

import re
from decimal import Decimal

import pandas as pd

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, NAN, StreamsOutput, read, tidy

_STREAMS = [
    "stream", "port", "src", "dst", "congestion", "sent_bps", "received_bps", "start_s", "end_s",
    "sent_bytes", "received_bytes",
]  # fmt: skip
_INTERVALS = ["stream", "port", "src", "dst", "start_s", "end_s", "sent_bps", "received_bps"]

_NAME = r"([A-Za-z0-9._-]{1,253})"  # of a host, or its address
_TITLE = re.compile(
    rf"A simpleperf (?:client connecting to (server) {_NAME},|server is listening on) port"
    r" ([0-9]{1,5})"
)
_HEAD = {
    "client": r"ID\s+Interval\s+Transfer\s+Bandwidth",
    "server": r"ID\s+Interval\s+Received\s+Rate",
}
_ID = r"((?:[0-9]{1,3}\.){3}[0-9]{1,3}):([0-9]{1,5})"
_CONNECTED = re.compile(
    rf"{_ID} connected with {_NAME}:([0-9]{{1,5}})"
    r"(?: \(([a-z0-9_]+), segments of ([0-9]{1,7}) bytes\))?"
)
_ROW = re.compile(
    rf"{_ID}\s+([0-9]{{1,9}}\.[0-9]{{3}}) - ([0-9]{{1,9}}\.[0-9]{{3}}) s"
    r"\s+([0-9]{1,18}(?:\.[0-9]{3}|\.[0-9]{6})?) (B|KB|MB)\s+([0-9]{1,9}\.[0-9]{6}|-) Mbps"
    r"(?:\s+total \((no )?(ACK: BYE|BYE)\))?",
    re.ASCII,
)
_SCALE = {"B": 1, "KB": 1000, "MB": 1_000_000}
_GOOD = {"client": "ACK: BYE", "server": "BYE"}
# A line of simpleperf's that is damaged: it matches none of the above.
_DAMAGED = re.compile("Mbps|connected with|simpleperf|total")


class SimpleperfOutput(StreamsOutput):
    """What one side's text says.

    Attributes
    ----------
    streams : DataFrame
        One row per connection: ``stream``, ``src``, ``dst``, ``congestion``, rates, times and bytes
        as in `Iperf3Output`, ``port`` (the client's, which both sides' texts have) and
        ``acknowledged`` (False: it ended without BYE and ACK: BYE).
    intervals : DataFrame
        One row per connection and line of ``-i``: ``stream``, ``port``, ``src``, ``dst``,
        ``start_s``, ``end_s``, ``sent_bps``, ``received_bps``.
    meta : dict
        ``role`` ("client" or "server": whose text it is), ``server`` (its address), ``port`` (its
        port), ``streams``, ``congestion`` (of the first connection), ``mss_bytes``, ``duration_s``
        and ``errors`` (what simpleperf complained of, a list of str). What is not told is NaN, or
        None for texts.

    Notes
    -----
    A client counts what it handed to its kernel, from the moment in which all its connections were
    there until its last chunk was taken; a server counts what arrived, from the first byte until
    BYE. Each text has its own side's figures; the other side's are NaN.

    Examples
    --------
    >>> out = read_simpleperf("tests/data/simpleperf/server-intervals-2.txt")
    >>> out
    SimpleperfOutput(the server's: 2 streams, 12 intervals)
    >>> out.streams.received_bps.tolist()
    [8908956.0, 10261783.0]
    """


def read_simpleperf(source):
    """Read what ``netlab simpleperf`` printed, the client's text or the server's.

    What stands before the title, such as the command, and a prompt at the end are left out. A text
    that contradicts itself is refused: the intervals of a connection must follow one another, and
    add up to its total to the byte.

    Examples
    --------
    >>> out = read_simpleperf('''A simpleperf client connecting to server 10.0.0.2, port 8088
    ... ID                    Interval        Transfer       Bandwidth
    ... 10.0.0.1:36204 connected with 10.0.0.2:8088 (cubic, segments of 1448 bytes)
    ... 10.0.0.1:36204    0.000 - 25.000 s   62.500000 MB   20.000000 Mbps  total (ACK: BYE)
    ... ''')
    >>> out.streams.sent_bps.tolist(), out.streams.received_bps.tolist()
    ([20000000.0], [nan])
    """
    return read(source, "simpleperf", _output)


def _output(text, doubts):
    lines = [line.strip() for line in text.splitlines()]
    titles = [(n, found) for n, line in enumerate(lines) if (found := _TITLE.fullmatch(line))]
    errors = [line for line in lines if line.startswith("simpleperf: ")]
    if not titles and errors:
        raise ReadError(f"{errors[0]}. Mend that, and run it again.")
    if len(titles) != 1:
        raise ReadError(
            f"This is not one output of simpleperf, but {len(titles) or 'none'}. Give all that one"
            " client, or one server, printed, from 'A simpleperf ...' on."
        )
    first, title = titles[0]
    role = "client" if title[1] else "server"
    running, ended = {}, []  # connections, each with its rows
    for line in lines[first + 1 :]:
        if row := _ROW.fullmatch(line):
            name = row[1], row[2]
            if name not in running:
                raise ReadError(f"{line[:100]!r} is of no connection that was there. {AGAIN}")
            running[name]["rows"].append(_row(row, role))
            if row[9]:
                ended.append(running.pop(name) | {"acknowledged": not row[8]})
                _check_sums(ended[-1]["rows"], row)
        elif found := _CONNECTED.fullmatch(line):
            name = found[1], found[2]
            if name in running or bool(found[5]) != (role == "client"):
                raise ReadError(f"{line[:100]!r} cannot be in a {role}'s output. {AGAIN}")
            number = len(running) + len(ended) + 1
            running[name] = {"stream": number, "connected": found, "rows": []}
        elif not _other(line, role) and (running or not ended or _DAMAGED.search(line)):
            raise ReadError(f"simpleperf prints no such line: {line[:100]!r}. {AGAIN}")
    if not ended and not running:
        said = f": {errors[0]}" if errors else ""
        raise ReadError(f"Nothing was sent in this output of simpleperf{said}. Run a client.")
    if running:
        missing = ", ".join(":".join(name) for name in running)
        raise ReadError(
            f"simpleperf's output is cut off: it has no total for {missing[:200]}. Give all that it"
            " printed, to the last line."
        )
    return _tables(sorted(ended, key=lambda one: one["stream"]), role, title, errors)


def _other(line, role):
    """Is this a line between the rows?"""
    return not line.strip("-") or re.fullmatch(_HEAD[role], line) or line.startswith("simpleperf: ")


def _row(row, role):
    """A line of the table; its times and its amount exact."""
    from_s, to_s, scale = Decimal(row[3]), Decimal(row[4]), _SCALE[row[6]]
    count, no_rate = Decimal(row[5]) * scale, row[7] == "-"
    bps = NAN if no_rate else float(f"{row[7]}e6")
    # times are rounded to milliseconds, rates to bits per second
    wrong = abs(bps * float(to_s - from_s) - 8 * float(count)) > 0.0011 * bps + 1 + float(to_s)
    wrong |= no_rate and to_s - from_s > Decimal("0.001")
    decimals = len(row[5].partition(".")[2])
    note = row[9] or _GOOD[role]
    if wrong or from_s > to_s or decimals != len(str(scale)) - 1 or note != _GOOD[role]:
        raise ReadError(f"simpleperf prints no such line: {row[0][:100]!r}. {AGAIN}")
    return {"from_s": from_s, "to_s": to_s, "count": int(count), "bps": bps}


def _check_sums(rows, last):
    """A connection's intervals must follow one another, and add up to its total."""
    *parts, total = rows
    edges = [Decimal(0), *(row["to_s"] for row in parts)]
    fits = [row["from_s"] for row in rows] == [*edges[:-1], Decimal(0)]
    if parts:
        fits &= edges[-1] == total["to_s"]
        fits &= sum(row["count"] for row in parts) == total["count"]
    if not fits:
        raise ReadError(
            f"The intervals of {last[1]}:{last[2]} do not add up to its total"
            f" ({total['count']} byte in {total['to_s']} s). {AGAIN}"
        )


def _tables(connections, role, title, errors):
    way = "sent" if role == "client" else "received"
    streams, intervals = [], []
    for one in connections:
        src, port, dst, server_port, congestion, _ = one["connected"].groups()
        if int(port) > 65535 or (server_port, dst) != (title[3], title[2] or dst):
            raise ReadError(f"{one['connected'][0][:100]!r} does not fit its title. {AGAIN}")
        rows = [
            {"stream": one["stream"], "port": int(port), "src": src, "dst": dst}
            | {"start_s": float(row["from_s"]), "end_s": float(row["to_s"])}
            | {f"{way}_bps": row["bps"], f"{way}_bytes": row["count"]}
            for row in one["rows"]
        ]
        intervals += rows[:-1]
        streams.append(rows[-1] | {"congestion": congestion or NAN})
    first = connections[0]["connected"]
    meta = {
        "role": role,
        "server": title[2] or first[3],
        "port": int(title[3]),
        "streams": len(streams),
        "congestion": first[5],
        "mss_bytes": float(first[6] or NAN),
        "duration_s": max(row["end_s"] for row in streams),
        "errors": errors,
    }
    streams, intervals = (
        tidy(pd.DataFrame(rows), columns).astype({"port": int})
        for rows, columns in ((streams, _STREAMS), (intervals, _INTERVALS))
    )
    acknowledged = [one["acknowledged"] for one in connections]
    return SimpleperfOutput(streams.assign(acknowledged=acknowledged), intervals, meta)
