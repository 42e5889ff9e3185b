"""The figures in lines that iperf3 prints without ``-J``, in SI units."""

import re
from itertools import accumulate

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, NAN
from netlab.readers._iperf_text import BINARY, DECIMAL, measured

_N = r"([0-9]{1,15}(?:[.,][0-9]{1,6})?)"
_ID = r"(\[?) ?(SUM|[0-9]{1,9})\](?:\[([TR]X)-([CS])\])?"
_SPAN = r"([0-9]{1,9}[.,][0-9]{2})- ?([0-9]{1,9}[.,][0-9]{2}) sec"
_UNIT = "bits|bis|Bytes"  # 3.0.2 leaves out a t
_RESULT = re.compile(rf"{_ID} {_SPAN} {_N} ([KMGT]?)Bytes {_N} ([KMGT]?)({_UNIT})/sec(?!\S)(.*)")
# After the rate: retransmits and window; or jitter and datagrams; or the datagrams that were sent.
_COLUMNS = re.compile(
    rf" ?(?:(-?[0-9]{{1,18}})(?: {_N} ([KMGT]?)Bytes)?(?!\S)"
    rf"|(?:{_N}|-?nan) ms (-?[0-9]{{1,18}}|Unknown)/ ?(-?[0-9]{{1,18}})"
    r"(?: \([^)]{1,12}%\))?(?!\S))?(.*)"
)
_TAG = re.compile(r" (sender|receiver|\(omitted\))(?!\S)")
_CONNECTED = re.compile(
    rf"{_ID} local ([-\w.:%*]{{1,60}}) port ([0-9]{{1,5}})"
    r" connected (?:to|with) ([-\w.:%*]{1,60}) port ([0-9]{1,5})"
)
CLIENT, SERVER = re.compile("Connecting to host "), re.compile("Accepted connection from ")
HEAD = re.compile(f"{CLIENT.pattern}|{SERVER.pattern}")
DONE, LISTENS = re.compile(r"iperf Done\."), re.compile(r"Server listening on [0-9]")
_LONGEST = 2000  # characters of a line
_OTHER_SIDE = re.compile(r"Server (?:JSON )?output:$")
# What iperf3 prints above the head of a test.
_ABOVE = re.compile(
    r"$|-{20}|.*(?:Server listening on [0-9]|Control connection MSS|Time: )|iperf 3\."
    r"|(?:Linux|Darwin|FreeBSD|NetBSD|OpenBSD|CYGWIN|MSYS|MINGW)\S* "
)
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][A-Z0-9])")
_QUOTED = re.compile(r"^(?:> ?)+")
_OPEN = re.compile(rf"{_ID}(?:$| [0-9]| local )")
_REST = re.compile(
    r"(?:(?:-?[0-9][-0-9.,/%]*|\([0-9.e+-]+%\)|sec|ms|[KMGT]?Bytes|[KMGT]?(?:bits|bis|Bytes)/sec"
    r"|sender|receiver|\(omitted\)|Unknown/[0-9]+|port)(?: |$))+"
)
_DAMAGED = re.compile(rf"{_ID}.{{0,60}}(?:\bsec\b|\blocal\b)|{_SPAN}")
_HARMLESS = re.compile(r"datagrams received out-of-order|bytes read")


def recognised(text):
    """Is there iperf3's text in this?"""
    return any(one.search(line) for line in lines(text) for one in (HEAD, LISTENS, _RESULT))


def starts(text):
    """Where each test begins: a client's, with its server's if it printed that, or a server's."""
    raw, found, told = text.splitlines(keepends=True), [], False
    for number, line in enumerate(raw):
        if CLIENT.search(line) or DONE.search(line):
            told = False
        elif _OTHER_SIDE.search(line.strip()):
            told = True
        if HEAD.search(line) and not told:
            first, least = number, found[-1] + 1 if found else 0
            while first > least and _ABOVE.match(raw[first - 1].strip()):
                first -= 1
            found.append(first)
    ends = [0, *accumulate(map(len, raw))]
    return [ends[first] for first in found]


def lines(text, doubts=None):
    """Its lines without what terminals add; the parts of a wrapped line are joined."""
    found, wrapped = [], 0
    for line in _ANSI.sub("", text).splitlines():
        line = _QUOTED.sub("", " ".join(line.split())) if len(line) <= _LONGEST else ""
        opened = found and len(found[-1]) <= _LONGEST and _OPEN.search(found[-1])
        if opened and line and _REST.fullmatch(line):
            found[-1] += f" {line}"
            wrapped += 1
        else:
            found.append(line)
    if wrapped and doubts is not None:
        doubts.append(f"{wrapped} lines go on where another ends, as if wrapped: they are joined")
    return found


def two_sides(found):
    """The lines of one side, and the text of the other that ``--get-server-output`` adds, or ""."""
    for first, line in enumerate(found):
        if _OTHER_SIDE.search(line):
            # up to 3.9, --bidir prints the client's second direction after it
            mine = (
                n for n, one in enumerate(found) if n > first and (DONE.search(one) or "-C]" in one)
            )
            end = next(mine, len(found))
            return found[:first] + found[end:], "\n".join(found[first + 1 : end]).strip()
    return found, ""


def last_result(found):
    """The number of the last line with a result, or -1."""
    return max((number for number, line in enumerate(found) if _RESULT.search(line)), default=-1)


def figures(found, doubts):
    """Rows of intervals, rows of totals, and by id the two ends of each stream."""
    parts, ends, connected, pending, closing, ruled = [], [], {}, {}, False, False
    for nth, line in enumerate(found):
        if "- - - - -" in line:
            ruled, pending = True, {}
        elif "[ ID]" in line or "Summary Results" in line:
            closing |= ruled
            pending = {}
        elif result := _RESULT.search(line):
            row, ruled = _row(result, doubts) | {"nth": nth}, False
            final = row["tag"] in ("sender", "receiver")
            group = pending.setdefault((row["way"], row["tag"] if final else ""), [])
            if row["id"] == "SUM":
                _check_sum(row, group, line, doubts)
                group.clear()
            else:
                group.append(row)
                # UDP before 3.2 has totals that only their place tells from intervals
                (ends if final or (closing and "lost_packets" in row) else parts).append(row)
        elif ended := _CONNECTED.search(line):
            if ended[2] in connected:
                raise ReadError(f"Two streams have one number: {line[:100]!r}. {AGAIN}")
            connected[ended[2]] = (ended[5], ended[6]), (ended[7], ended[8])
            if max(int(ended[6]), int(ended[8])) > 65535:
                raise ReadError(f"Ports go to 65535: {line[:100]!r}. {AGAIN}")
        elif _DAMAGED.search(line) and not _HARMLESS.search(line):
            doubts.append(f"{line[:80]!r} is no line of iperf3's: it is left out")
    if any(row["tag"] for row in ends):
        parts += [row for row in ends if not row["tag"]]
        ends = [row for row in ends if row["tag"]]
    counts = [row for row in parts if row["count"] == row["count"]]
    udp = any("lost_packets" in row for row in parts + ends) or bool(
        counts and all(row["cwnd_bytes"] != row["cwnd_bytes"] for row in counts)
    )
    for row in parts + ends:
        row["packets" if udp else "retransmits"] = row.get("packets", row["count"])
    return parts, ends, connected, udp


def _row(found, doubts):
    """One line of results."""
    bracket, name, way, who, start, end, size, unit, rate, rate_unit, kind, rest = found.groups()
    rest, *tags = _TAG.split(rest, maxsplit=1)
    tag, more = tags or ("", "")
    count, window, window_unit, jitter, lost, packets, extra = _COLUMNS.match(rest).groups()
    more = f"{extra}{more}"
    if more.strip():
        doubts.append(f"{more.strip()[:80]!r} is no part of a result: it is left out")
    if not bracket:
        doubts.append("a line begins without its bracket: it is read as if that were there")
    row = {"id": name, "way": way, "who": who, "tag": tag.strip("()")}
    row |= {"start_s": measured(start)[0], "end_s": measured(end)[0]}
    row["bytes"], row["off_bytes"] = measured(size, BINARY[unit])
    per_unit = DECIMAL[rate_unit] if kind != "Bytes" else 8 * BINARY[rate_unit]
    row["bps"], row["off_bps"] = measured(rate, per_unit)
    if not row["bps"] and row["bytes"]:
        row["bps"] = NAN
        doubts.append(f"{found[0][:80]!r}: no digit of the rate is left (-f), which is NaN")
    counted = int(count) if count else -1
    row["count"] = float(counted) if 0 <= counted < 2**32 - 1 else NAN  # -1: not known
    row["cwnd_bytes"] = measured(window, BINARY[window_unit])[0] or NAN if window else NAN
    if packets:
        row |= {"packets": float(packets) if int(packets) >= 0 else NAN}
        row["jitter_s"] = measured(jitter, 1e-3)[0] if jitter else NAN
        row["lost_packets"] = NAN if lost == "Unknown" else float(lost)
    return row


def _check_sum(total, group, line, doubts):
    """Doubt a line [SUM] that is not the sum of the streams above it."""
    wrong, parts = [], {"bytes": 0, "bps": 0.02, "count": 0, "packets": 0, "lost_packets": 0}
    for name, part in parts.items():
        ours = sum(row.get(name, NAN) for row in group)
        off = sum(row.get(f"off_{name}", 0) for row in [total, *group]) * (1 + 1e-9)
        if abs(total.get(name, NAN) - ours) > off + part * ours:
            wrong.append(f"{name} = {ours:.6g}")
    if group and wrong:
        doubts.append(
            f"{line[:80]!r} is not the sum of its {len(group)} streams, which have"
            f" {', '.join(wrong)}: theirs are taken"
        )
