"""The figures in lines of iperf (version 2), in SI units."""

import re

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, NAN

_N = r"([0-9]{1,18}(?:\.[0-9]{1,6})?)"
# a star marks what goes from the server to the client (-R, --full-duplex)
_ID = r"^\[ *(\*?[0-9]{1,5})\] "
_ROLE = re.compile(r"^(Client connecting to|Server listening on) .*?(TCP|UDP) port ([0-9]{1,5})")
_CONNECTED = re.compile(
    rf"{_ID}local ([0-9A-Za-z.:*_-]+)(?:%\S+)? port ([0-9]{{1,5}}) connected"
    r" with ([0-9A-Za-z.:*_-]+)(?:%\S+)? port ([0-9]{1,5})(.*)"
)
_RESULT = re.compile(
    rf"{_ID}+{_N} ?- *{_N} +sec +{_N} ([KMGT]?)Bytes +{_N} ([KMGT]?)(bits|Bytes)/sec(?: +(.*))?$"
)
_RECEIVED = re.compile(
    rf"^(?:{_N}|-?nan) ms +([0-9]{{1,18}})/ *([0-9]{{1,18}}) \((-?[0-9.e+]{{1,20}}|-?nan|-?inf)%\)"
)
_OF_STREAM = re.compile(_ID)
_REPORT = re.compile(rf"{_ID}Server Report:")
_UNREADABLE = re.compile(rf"{_ID}(?:local\b|.*\bsec\b)")
_LATE = re.compile(rf"{_ID}+{_N} ?- *{_N} sec +([0-9]{{1,18}}) datagrams rec")
_SENT = re.compile(rf"{_ID}Sent ([0-9]{{1,18}}) datagrams")
_SENDING = re.compile(
    rf"^(?:Send|Receiv)ing ([0-9]{{1,6}}) byte datagrams(?:, IPG target: {_N} us)?"
)
_BUFFER = re.compile(rf"^(?:TCP window|UDP buffer) size: +{_N} ([KMGT]?)Byte")
_CSV = re.compile(r"\s*(?:time(?:stamp)?,.*\n\s*)?(?:[0-9]{14}|[-+:.0-9]{20,30}),", re.I)
_CONGESTION = re.compile(r"^TCP congestion control (?:default|using|set to \S+ using) (\S+)", re.M)
# where a run begins, and what iperf prints in place of one
RUN = re.compile(  # iperf3's server listens on a number, and iperf's on "TCP port"
    r"^(?:-{20,80}\r?\n)?(?:Client connecting to |Server listening on (?![0-9]))", re.M
)
FAILED = re.compile(r"^error: .*\s*", re.M)
_PROBLEM = re.compile(r"failed|refused|unreachable|No route|not known", re.I)
# of the end of a test that was all right
_HARMLESS = re.compile(r"WARNING: (?:ack of last datagram failed|did not receive ack)|shutdown")
BINARY = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
DECIMAL = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def measured(printed, unit=1):
    """A printed number in SI units, and half of its last digit."""
    printed = printed.replace(",", ".")
    return float(printed) * unit, 0.5 * 10.0 ** -len(printed.partition(".")[2]) * unit


def whose(text):
    """Which side's text it is, the protocol, and the server's port."""
    roles = {found.groups() for line in text.splitlines() if (found := _ROLE.match(line))}
    if len(roles) > 1:
        raise ReadError(
            "This is more than one side's text, or both directions' (-d, -r). Give the client's"
            " alone, or the server's; `split_outputs` gives the text of each, where they come one"
            " after another."
        )
    if roles:
        what, protocol, port = roles.pop()
        return what.split()[0].lower(), protocol, int(port)
    if re.search(r"^(?:Connecting to host|Server listening on [0-9])", text, re.M):
        raise ReadError("This is iperf3's text. Use read_iperf3.")
    if _CSV.match(text):
        raise ReadError(
            "This is iperf 2's CSV, what iperf -y C prints, which does not say whose side it is."
            " Run it without -y."
        )
    if own := re.search(r"^iperf: .*|^.*\bfailed: .*", text, re.M):
        raise ReadError(f"iperf says: {own[0].strip(' :.')[:200]}. Mend that, and run it again.")
    raise ReadError(
        "This is not all that iperf (version 2) printed: no line begins with 'Client connecting to'"
        " or 'Server listening on'."
    )


def runs(text):
    """Numbers of the lines at which a server's runs begin: all earlier streams have ended there."""
    spans, last = [], {}
    for number, line in enumerate(text.splitlines()):
        if found := _CONNECTED.match(line):
            last[found[1].strip("*")] = len(spans)
            spans.append([number, number])
        elif (found := _OF_STREAM.match(line)) and (one := found[1].strip("*")) in last:
            spans[last[one]][1] = number
    starts, end = [], -1
    for first, ends in spans:
        if first > end:
            starts.append(first)
        end = max(end, ends)
    return starts


def lines(text, role, doubts):
    """The streams, each with its lines in order; and what the text says of all of them."""
    streams, by_id, ports, header, tries = [], {}, set(), "", False
    notes = dict.fromkeys(("datagram_bytes", "ipg_s", "offered_bps", "buffer_bytes"), NAN)
    notes |= {"congestion": None, "version": None}
    notes["acknowledged"] = "WARNING: did not receive ack of last datagram" not in text
    notes["interrupted"] = "Waiting for server threads to complete" in text
    if found := _CONGESTION.search(text):
        notes["congestion"] = found[1]
    # 2.2.1 without -e prints 0 for the server's jitter and percentage
    silent = "IPG target: 0.00 us" in text and "Latency" not in text
    heard = "Server Report:" in text  # all was well, whatever came after the last datagram
    for line in map(str.rstrip, text.splitlines()):
        late = heard and "UDP fin failed" in line
        if _PROBLEM.search(line) and not (late or _HARMLESS.search(line)):
            several = FAILED.match(line) or len(RUN.findall(text)) > 1
            if several and any(map(_RESULT.match, text.splitlines())):
                raise ReadError(
                    f"These are several runs, and of one iperf says: {line[:200].strip()}."
                    " `split_outputs` gives the text of each of the others."
                )
            raise ReadError(f"iperf says: {line[:200].strip()}. Mend that, and run it again.")
        if found := _SENDING.match(line):
            notes["datagram_bytes"] = float(found[1])
            if found[2] and (gap_s := float(found[2]) / 1e6):
                notes |= {"ipg_s": gap_s, "offered_bps": 8 * float(found[1]) / gap_s}
        elif found := _BUFFER.match(line):
            notes["buffer_bytes"] = float(found[1]) * BINARY[found[2]]
        elif found := _CONNECTED.match(line):
            one, full_duplex = found[1].strip("*"), "full-duplex" in found[6]
            for back in (False, True)[: 1 + full_duplex]:
                streams.append(_connected(found, role, back) | {"silent": silent})
                by_id["*" * back + one] = by_id["*" + one] = streams[-1]
            ports.add(found[5 if role == "client" else 3])
            if (told := re.search(r"\(peer (\S+?)\)", found[6])) and not notes["version"]:
                notes["version"] = told[1]
            if len(ports) > 1:
                raise ReadError(
                    "These streams have servers at two ports: this is both sides' text, or of a"
                    " test both ways (-d, -r). Give one side's alone, of one direction."
                )
        elif line.startswith("[ ID]"):
            # of both directions, each has its own header before its lines, if it changes
            header, tries = line, tries or "Rtry" in line
        elif found := _RESULT.match(line):
            if figures := _figures(found, header, tries, doubts):
                _of(by_id, found)["last"].append(figures)
        elif (found := _LATE.match(line)) and (before := _of(by_id, found)["last"]):
            before[-1]["out_of_order"] = float(found[4])
        elif found := _SENT.match(line):
            own, back = _of(by_id, found), by_id["*" + found[1].strip("*")]
            (own if own["sends"] else back)["sent"] = float(found[2])
        elif found := _REPORT.match(line):
            stream = _of(by_id, found)
            stream["told"] = stream["last"] = []
        elif _UNREADABLE.match(line):
            doubts.append(f"{line[:80]!r} is no line of iperf's: it is left out")
        elif line.startswith("[FD") and not any(one["reverse"] for one in streams):
            raise ReadError("This ran both ways at once. Test one direction at a time.")
    return streams, notes


def _connected(found, role, back):
    """A stream without results: its ends, and which of them sends. `back`: of both directions, the
    server's.
    """
    here, there = (found[2], found[3]), (found[4], found[5])
    client, server = (here, there) if role == "client" else (there, here)
    if max(int(client[1]), int(server[1])) > 65535:
        raise ReadError(f"Ports go to 65535: {found[0][:100]!r}. {AGAIN}")
    reverse, lines, both = back or "reverse" in found[6], [], "full-duplex" in found[6]
    src, dst = (server[0], client[0]) if reverse else (client[0], server[0])
    ends = {"port": float(client[1]), "src": src, "dst": dst, "reverse": reverse, "both": both}
    sends = (role == "client") != reverse
    # `told` are the lines of the server's report, `last` is the list that the next line is of
    return ends | {"sends": sends, "own": lines, "told": None, "last": lines, "sent": NAN}


def _of(by_id, found):
    """The stream of a line."""
    if found[1] not in by_id:
        raise ReadError(
            f"{found[0][:100]!r} is of a stream whose beginning is missing. Give all that iperf"
            " printed, from its first line on."
        )
    return by_id[found[1]]


def _figures(found, header, tries, doubts):
    """One line of results in SI units; None, if it is none."""
    start_s, end_s, size_unit, rest = float(found[2]), float(found[3]), BINARY[found[5]], found[9]
    rate_unit = DECIMAL[found[7]] if found[8] == "bits" else 8 * BINARY[found[7]]
    (size, off_bytes), (rate, off_bps) = (
        measured(found[4], size_unit),
        measured(found[6], rate_unit),
    )
    off_s, udp = measured(found[2])[1] + measured(found[3])[1], None
    if rest:
        udp = _RECEIVED.match(rest)
    if end_s < start_s or ("Jitter" in header and rest and not udp):
        doubts.append(f"{found[0][:80]!r} is no result of iperf's: it is left out")
        return None
    low = 8 * (size - off_bytes) / (end_s - start_s + off_s)
    high = 8 * (size + off_bytes) / max(end_s - start_s - off_s, 1e-9)
    if not low * 0.998 - off_bps <= rate <= high * 1.002 + off_bps:
        doubts.append(f"the rate in {found[0][:80]!r} is not its bytes by its time: as printed")
    row = {"start_s": start_s, "end_s": end_s, "off_s": off_s, "bps": rate}
    row |= {"bytes": size, "off_bytes": off_bytes}
    if udp:
        lost, total = float(udp[2]), float(udp[3])
        if lost > total:
            doubts.append(f"lost_packets = {lost:.0f} of {total:.0f} datagrams: NaN")
            lost = NAN
        row |= {"jitter_s": float(udp[1] or NAN) / 1e3, "lost_packets": lost, "packets": total}
        row |= {"loss": lost / total if total else NAN, "percent": udp[4]}
    elif tries and (tcp := re.match(r"[0-9]+/[0-9]+ +([0-9]{1,12})\b", rest or "")):
        row["retransmits"] = float(tcp[1])
    return row
