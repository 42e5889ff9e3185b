"""What iperf3 prints without ``-J``: the rows that its JSON would give, to the digits printed."""

import re
from email.utils import parsedate_to_datetime

from netlab.errors import ReadError
from netlab.readers import _iperf3_document as document
from netlab.readers import _iperf3_lines as grammar
from netlab.readers._common import NAN
from netlab.readers._iperf3_agreement import contradictions, signed

_VERSION_2 = re.compile(r"^(?:Client connecting to|Server listening on (?:TCP|UDP)) ", re.M)
_MESSAGE = re.compile(
    r"(?:^|(?<![@\w])(?=iperf3: (?:error|interrupt|the client|the server)))"
    r"iperf3: (?!OUT OF ORDER)(?:error - )?(.*)"
)
_START = re.compile(
    r"Starting Test: protocol: (\w+), ([0-9]{1,6}) streams, ([0-9]{1,12}) byte blocks, omitting"
    r" ([0-9]{1,9}) seconds, ([0-9]{1,18}) (second test|bytes|blocks)"
)
_CPU = re.compile(
    r"CPU Utilization: local/\w{1,9} ([0-9.]{1,9})% \([^()]{0,40}\), remote/\w{1,9} ([0-9.]{1,9})%"
)
_FIGURES = """sent_bps received_bps retransmits start_s end_s cwnd_bytes rtt_s rtt_min_s rtt_max_s
    rttvar_s loss jitter_s packets lost_packets sent_bytes received_bytes until_s
    received_until_s"""
_UNKNOWN = dict.fromkeys(_FIGURES.split(), NAN)
_SIDE = {"sender": "sent", "receiver": "received"}
_HALF_S = 0.005  # of the last digit of a time


def is_text(text):
    """Is this iperf3's text, and not its JSON?"""
    if text.lstrip("\ufeff \r\n").startswith("{"):
        return False
    if document.REPORT.search(text) and "Server JSON output:" not in text:
        return False
    if _VERSION_2.search(text) and not any(map(grammar.HEAD.search, text.splitlines())):
        raise ReadError("This is the text of iperf, version 2. Use read_iperf.")
    return grammar.recognised(text)


def side(text, doubts, inner=False):
    """What one test's text says: rows of streams and intervals, its meta data, and the text of the
    other side that is in it (which is read as `inner`), or "".
    """
    if (several := len(grammar.starts(text))) > 1:
        raise ReadError(
            f"There are the texts of {several} tests of iperf3 here, one after another."
            " `split_outputs` gives the text of each."
        )
    found, other = grammar.two_sides(grammar.lines(text, doubts))
    parts, ends, connected, udp = grammar.figures(found, doubts)
    role = _role(found, parts + ends, connected, doubts)
    over, message = _end(found, role, bool(parts or ends), doubts)
    if not parts and not ends:
        if grammar.last_result(found) >= 0:
            raise ReadError("Only sums ([SUM]) are here. Give the lines of each stream, too.")
        nothing = f"iperf3's {role} measured nothing here: no line is a result of a stream."
        raise ReadError(f"{nothing} Give all that it printed, and see if the other side ran.")
    if parts:
        document.refuse_unfinished(
            [(row["id"], row["start_s"], row["end_s"], row["tag"] == "omitted") for row in parts]
        )
    else:
        doubts.append("the lines of the intervals are missing")
    names = list(dict.fromkeys([*connected, *(row["id"] for row in parts + ends)]))
    if len(connected) < len(names):
        doubts.append("the lines with the streams' addresses are missing: src and dst are unknown")
    ways = {row["id"]: row["way"] == "TX" for row in parts + ends if row["way"]}
    sends = None if ways else _sends(found, role, parts, ends, doubts)
    congestions = re.findall(r"snd_tcp_congestion (\S{1,30})", "\n".join(found))
    told = role == "client" and not message
    streams, intervals, of = [], [], {name: ([], []) for name in names}
    for row in parts:
        of[row["id"]][0].append(row)
    for row in ends:
        of[row["id"]][1].append(row)
    for name, (own_parts, own) in of.items():
        if name not in connected and len({row["tag"] for row in own}) < len(own):
            raise ReadError(
                "These are totals of several tests. Give one test's text, from its first line on."
            )
        sent = ways.get(name, sends)
        ends_at = connected.get(name, ((NAN, None), (NAN, None)))
        port = ends_at[0 if role == "client" else 1][1]
        back = sent != (role == "client")
        (src, _), (dst, _) = ends_at[:: 1 if sent else -1]
        stream = {"port": int(port or -int(name)), "src": src, "dst": dst}
        named = congestions[bool(ways and back) :]  # the client's comes first with --bidir
        stream |= {"congestion": named[0] if named else NAN, "back": back}
        whole = _whole(own, own_parts, sent, told, over, doubts)
        if not own and not inner:  # 3.0 gives the client its server's intervals only
            doubts.append("a stream's totals are missing, as if the text is cut off: they are NaN")
        streams.append(_UNKNOWN | stream | whole)
        intervals += _intervals(own_parts, stream, sent, doubts)
    intervals.sort(key=lambda row: row["nth"])
    omits = any(row["omitted"] for row in intervals)
    doubts += contradictions(streams, intervals, lambda *_: None, omits)
    meta = _meta(found, role, streams, connected, doubts)
    meta["protocol"] = meta["protocol"] or ("UDP" if udp else "TCP")
    meta |= {"bidirectional": bool(ways), "reverse": not ways and streams[0]["back"]}
    meta |= {"streams": len(names) // (1 + bool(ways)), "error": message}
    meta["interrupted"] = bool(message)
    return streams, intervals, meta, other


def _role(found, rows, connected, doubts):
    """Whose text is it?"""
    if ways := {row["who"] for row in rows if row["who"]}:
        return "server" if "S" in ways else "client"
    signs = {grammar.CLIENT: "client", grammar.SERVER: "server", grammar.DONE: "client"}
    for sign, role in (signs | {grammar.LISTENS: "server"}).items():
        if any(map(sign.search, found)):
            return role
    ports = [{end[1] for end in ends} for ends in zip(*connected.values(), strict=True)]
    if ports and len(ports[0]) == 1 < len(ports[1]):
        return "server"
    doubts.append("its first line does not say whose text this is: it is taken as the client's")
    return "client"


def _end(found, role, measured, doubts):
    """The number of the line that says that the test is over, and how it was interrupted, if so."""
    last, sign = grammar.last_result(found), grammar.DONE if role == "client" else grammar.LISTENS
    over = next((n for n, line in enumerate(found) if n > last and sign.search(line)), None)
    head = next((n for n, line in enumerate(found) if grammar.HEAD.search(line)), 0)
    message = None
    for number, line in enumerate(found):
        if not (said := _MESSAGE.search(line)):
            continue
        interrupted = said[1].startswith("interrupt")
        # stderr is not buffered as a file is: its lines may come before what was printed earlier
        above = interrupted or (number < head and role == "client")
        elsewhere = over is not None and (number > over or above)
        if not elsewhere and not (interrupted and measured):
            raise document.own_error(said[1])
        if not elsewhere:
            message = said[1]
        elif not interrupted:
            doubts.append(f"what iperf3 says of another test is left out: {line[:100]!r}")
    return over, message


def _sends(found, role, parts, ends, doubts):
    """Does this side send, where all streams go one way?"""
    columns = said = None
    if any("lost_packets" in row for row in parts):
        columns = False
    elif any(row[name] == row[name] for row in parts for name in ("count", "cwnd_bytes")):
        columns = True
    if role == "client" and any(map(grammar.CLIENT.search, found)):
        said = not any("Reverse mode, remote host" in line for line in found)
    if columns is not None:
        if said not in (None, columns):
            doubts.append(
                "the intervals have the columns of the other direction: they are believed"
            )
        return columns
    if said is not None:
        return said
    carried = {tag: sum(row["bytes"] for row in ends if row["tag"] == tag) for tag in _SIDE}
    if len(known := [tag for tag in _SIDE if carried[tag]]) == 1:
        return known == ["sender"]
    if role == "client":
        doubts.append("no line says which side sends: this is taken as the sender's text")
    return role == "client"


def _counted(row, side):
    """A line's bytes and rate under the name of the side that counted them, with their rounding."""
    names = {f"{_SIDE[side]}_{unit}": unit for unit in ("bytes", "bps")}
    off = {name: row[f"off_{unit}"] for name, unit in names.items()}
    return {name: row[unit] for name, unit in names.items()} | {"off": off | {"s": _HALF_S}}


def _counts(row):
    """What a line says besides its bytes and its rate."""
    names = ("retransmits", "cwnd_bytes", "jitter_s", "packets", "lost_packets")
    figures = {name: row[name] for name in names if name in row}
    figures["loss"] = row.get("lost_packets", NAN) / (row.get("packets") or NAN)
    return figures


def _intervals(parts, stream, sends, doubts):
    """A stream's rows of intervals."""
    side, rows = "sender" if sends else "receiver", []
    omits, first = any(part["tag"] == "omitted" for part in parts), True
    for part in parts:
        row = _UNKNOWN | stream | _counts(part) | _counted(part, side)
        row |= {name: part[name] for name in ("start_s", "end_s", "nth")}
        row["omitted"] = part["tag"] == "omitted"
        if omits and first and not row["omitted"]:
            first, seconds = False, 8 * part["bytes"] / (part["bps"] or NAN)
            off = sum(part[f"off_{unit}"] / (part[unit] or NAN) for unit in ("bytes", "bps"))
            row = signed(row, seconds, doubts, seconds * off + 2 * _HALF_S)
        rows.append(row)
    return rows


def _whole(own, parts, sends, told, over, doubts):
    """A stream's totals, as far as its side knows them."""
    mine, other = ("sender", "receiver")[:: 1 if sends else -1]
    by = {row["tag"]: row for row in own}
    if old := by.get(""):  # UDP before 3.2 has one line: what was sent, and how it was received
        by = {"sender": old, "receiver": old}
    if len(own) > len(by) - bool(old):
        doubts.append("a stream has two lines of one side's totals: the last is taken")
    if own and mine not in by:
        doubts.append(f"what a stream's {mine} counted is missing: it is NaN")
    elif told and over is None and len(by) == 2 and by[mine]["bytes"] and not by[other]["bytes"]:
        doubts.append(f"no line says that the test is over, and its {other}'s zeros are NaN")
        del by[other]
    sender, receiver = (by.get(side) if told or side == mine else None for side in _SIDE)
    counted = [part for part in parts if part["tag"] != "omitted"]
    row = _UNKNOWN | {"off": {"s": _HALF_S}}
    if receiver:
        row |= _counts(receiver) | {"end_s": receiver["end_s"], "retransmits": NAN}
        if not old:
            row = _with(row, _counted(receiver, "receiver"))
            row["received_until_s"] = receiver["end_s"]
        elif not sends:
            size, off = (sum(part[name] for part in counted) for name in ("bytes", "off_bytes"))
            per_s = 8 / (sum(part["end_s"] - part["start_s"] for part in counted) or NAN)
            whole = {"bytes": size, "off_bytes": off, "bps": size * per_s, "off_bps": off * per_s}
            row = _with(row, _counted(whole, "receiver"))
    if sender:
        row |= {"end_s": sender["end_s"], "retransmits": sender.get("retransmits", NAN)}
        row["packets"] = sender.get("packets", NAN)
        row = _with(row, _counted(sender, "sender"))
    row["start_s"] = min((line["start_s"] for line in (sender, receiver) if line), default=NAN)
    arrived = row["received_bytes"] / (row["sent_bytes"] / (row["packets"] or NAN) or NAN)
    if len(counted) == len(parts) and arrived < 0.9 * (row["packets"] - row["lost_packets"]):
        doubts.append(
            f"lost_packets = {row['lost_packets']:.0f} of {row['packets']:.0f}, but only about"
            f" {arrived:.0f} arrived: lost_packets and loss are NaN"
        )
        row["lost_packets"] = NAN
    row["loss"] = row["lost_packets"] / (row["packets"] or NAN)
    row["until_s"] = row["end_s"] if sends or not told else NAN
    return row


def _with(row, counted):
    return row | counted | {"off": row["off"] | counted["off"]}


def _meta(found, role, streams, connected, doubts):
    """What the text says of the test as a whole; most of it only with ``-V``."""
    text = "\n".join(found)

    def first(pattern):
        found = re.search(pattern, text)
        return found[1] if found else None

    def number(pattern):
        return float(first(pattern) or NAN)

    start, cpu = _START.search(text), _CPU.search(text)
    protocol, asked, block_bytes, omit_s, amount, of = start.groups() if start else [None] * 6
    if asked and int(asked) * len({row["back"] for row in streams}) != len(streams):
        doubts.append(f"the test is said to have {asked} streams, and {len(streams)} are here")
    block_bytes, amount = float(block_bytes or NAN), float(amount or NAN) or NAN
    local, remote = (float(share) / 100 for share in cpu.groups()) if cpu else (NAN, NAN)
    try:
        started_unix_s = parsedate_to_datetime(first(r"(?m)Time: (.{20,40})$") or "").timestamp()
    except (ValueError, OverflowError):
        started_unix_s = NAN
    server = next(iter(connected.values()), [(None, NAN)] * 2)[1 if role == "client" else 0]
    rates = [
        row["off"][f"{way}_bps"] / row[f"{way}_bps"]
        for row in streams
        for way in _SIDE.values()
        if row[f"{way}_bps"] > 0
    ]
    return {
        "version": first(r"(?m)^iperf (3\.[-+.\w]{1,30})"),
        "role": role,
        "protocol": protocol,
        "duration_s": amount if of == "second test" else NAN,
        "bytes_asked": {"bytes": 1.0, "blocks": block_bytes}.get(of, NAN) * amount,
        "omit_s": float(omit_s or NAN),
        "target_bps": number(r"Target Bitrate: ([0-9]{1,18})"),
        "block_bytes": block_bytes,
        "mss_bytes": number(r"TCP MSS: ([0-9]{1,9})") or NAN,
        "sndbuf_bytes": NAN,
        "rcvbuf_bytes": NAN,
        "congestion": next(
            (row["congestion"] for row in streams if row["congestion"] == row["congestion"]), None
        ),
        "sent_bytes": float(sum(row["sent_bytes"] for row in streams)),
        "received_bytes": float(sum(row["received_bytes"] for row in streams)),
        "server": server[0],
        "port": int(server[1]) if server[0] else NAN,
        "started_unix_s": started_unix_s if started_unix_s >= 0 else NAN,
        "title": None,
        "cookie": first(r"Cookie: (\w{1,60})"),
        "client_cpu": local if role == "client" else NAN,
        "server_cpu": remote if role == "client" else local,
        "rounding": max(rates, default=NAN),
    }
