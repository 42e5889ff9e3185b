"""What iperf3 printed: its JSON (``-J``), or its text."""

import math
from collections import deque

from netlab.readers import _iperf3_datagrams as datagrams
from netlab.readers import _iperf3_document as document
from netlab.readers import _iperf3_text as printed
from netlab.readers._common import (
    LIMIT,
    NAN,
    StreamsOutput,
    given,
    number,
    one_of,
    read,
    table,
    word,
)
from netlab.readers._iperf3_agreement import contradictions, signed

# column: (whose figure, iperf3's name at a stream's end, in an interval, its units in one SI unit)
# "kernel" is the sender's TCP: of a stream that it only receives, iperf3 prints 0 or its own idle
# socket's figure.
_FIGURES = {
    "sent_bps": ("sender", "bits_per_second", "bits_per_second", 1),
    "received_bps": ("receiver", "bits_per_second", "bits_per_second", 1),
    "retransmits": ("sender", "retransmits", "retransmits", 1),
    "cwnd_bytes": ("kernel", "max_snd_cwnd", "snd_cwnd", 1),
    "rtt_s": ("kernel", "mean_rtt", "rtt", 1e6),
    "rtt_min_s": ("kernel", "min_rtt", None, 1e6),
    "rtt_max_s": ("kernel", "max_rtt", None, 1e6),
    "rttvar_s": ("kernel", None, "rttvar", 1e6),
    "jitter_s": ("receiver", "jitter_ms", "jitter_ms", 1e3),
    "packets": ("anyone", "packets", "packets", 1),
    "lost_packets": ("receiver", "lost_packets", "lost_packets", 1),
    "sent_bytes": ("sender", "bytes", "bytes", 1),
    "received_bytes": ("receiver", "bytes", "bytes", 1),
}
# iperf3 prints 0 where it has no figure, and -1 where the kernel has none.
_NOT_ZERO = {"cwnd_bytes", "rtt_s", "rtt_min_s", "rtt_max_s"}
_NOT_TOLD = {"retransmits", "rttvar_s"} | _NOT_ZERO
# A packet that was counted as lost may still come.
_LEAST = {"lost_packets": -(2**63)}
# The kernel keeps its round-trip times in 32 bits.
_MOST_US = 2**32 - 1

_STREAMS = [
    "stream", "src", "dst", "congestion", "sent_bps", "received_bps", "retransmits", "start_s",
    "end_s", "cwnd_bytes", "rtt_s", "rtt_min_s", "rtt_max_s", "loss", "jitter_s", "packets",
    "lost_packets", "sent_bytes", "received_bytes",
]  # fmt: skip
_INTERVALS = [
    "stream", "src", "dst", "start_s", "end_s", "sent_bps", "received_bps", "retransmits",
    "cwnd_bytes", "rtt_s", "rttvar_s", "omitted", "loss", "jitter_s", "packets", "lost_packets",
]  # fmt: skip


class Iperf3Output(StreamsOutput):
    """What one iperf3 report says.

    Attributes
    ----------
    streams : DataFrame
        One row per stream: ``stream`` (1, 2, ... as they connected; with ``--bidir`` those back
        come last), ``src`` and ``dst`` (addresses; ``src`` sends, also with ``-R``),
        ``congestion`` (of ``src``), ``sent_bps``, ``received_bps`` [bit/s], ``retransmits``,
        ``start_s``, ``end_s`` [s], ``cwnd_bytes`` (the largest) [byte], ``rtt_s`` (the mean),
        ``rtt_min_s``, ``rtt_max_s`` [s], ``loss`` (a fraction), ``jitter_s`` [s], ``packets`` (as
        its sender counts them, else its receiver), ``lost_packets``, ``sent_bytes``,
        ``received_bytes`` [byte].
    intervals : DataFrame
        One row per stream and interval: the same names, ``rttvar_s`` [s], and ``omitted`` (True in
        the time that ``-O`` leaves out; the clock starts again at 0 after it). A packet counted as
        lost that arrives in a later interval is taken off there, so ``lost_packets`` can be
        negative.
    meta : dict
        ``version``, ``role`` (who wrote this: "client" or "server"), ``protocol``, ``reverse``,
        ``bidirectional``, ``streams`` (per direction), ``duration_s``, ``bytes_asked`` (``-t``,
        ``-n`` or ``-k``), ``omit_s``, ``target_bps`` (``-b``, per stream; old versions do not tell
        it), ``block_bytes``, ``mss_bytes``, ``sndbuf_bytes``, ``rcvbuf_bytes``, ``congestion`` (of
        the first stream), ``sent_bytes``, ``received_bytes`` (all streams), ``server``, ``port``,
        ``started_unix_s``, ``title``, ``client_cpu``, ``server_cpu`` (1 = one core),
        ``interrupted`` and ``error`` (what iperf3 wrote of the interruption), ``cookie`` and
        ``client_ports`` (alike in both sides' reports of a test, and in no other test's), and
        ``rounding`` (how far a rate of ``streams`` may be from the one that iperf3 rounded in its
        text, as a part of it; 0 of JSON). Texts that are not there are None.

    Examples
    --------
    >>> out = read_iperf3("tests/data/iperf3/3.12-tcp-8.json")
    >>> out
    Iperf3Output(TCP, the client's: 8 streams, 16 intervals)
    >>> out.meta["congestion"], out.meta["mss_bytes"]
    ('reno', 1448.0)
    """

    def _told(self):
        rounding = self.meta["rounding"]
        return f"; from text, rates within {100 * rounding:.2g} %" if rounding else ""


def read_iperf3(source):
    """Read what iperf3 printed, of any version from 3.0 on, client's or server's: the report of
    ``-J`` or ``--json-stream``, or its plain text. Text around JSON is left out with a warning, and
    a report that stands twice (as 3.16 and 3.17 may print it) is read once.

    Notes
    -----
    Each side measures its own end. A client learns the other side's totals when the test is over; a
    server does not, nor does an interrupted client: then the other side's columns are NaN, whatever
    zeros the file holds. Only the sender's own report has ``cwnd_bytes`` and ``rtt_s``. With
    ``--get-server-output`` (and ``iperf3 -s -J``) the server's figures fill the client's gaps; in
    an interval, if both sides' clocks agree to a tenth of its length.

    Over UDP no version prints a received rate per stream. It is the file's total if there is one
    stream in that direction (3.11 on), else the sum of the receiver's intervals if the file has
    them, else what was sent less what was lost, of which all streams together have no more than
    the file's total. A client of 3.20 or 3.21 is told of no losses by older servers: where none is
    said to be lost, and much less arrived, ``loss`` is NaN.

    Plain text says less. iperf3 prints three digits, which ``meta["rounding"]`` bounds, and with
    ``-f`` fewer. Its MBytes are :math:`1024^2` bytes and its Mbits :math:`10^6` bits. Round-trip
    times and the largest window are not in it, and most of ``meta`` only with ``-V``: they are NaN.
    Over UDP it has each stream's received rate (3.2 on), which JSON lacks. Lines may be copied with
    prompts, numbers or time stamps; what is missing or contradicts is named in the warning.

    A run that was interrupted on this side (Ctrl-C) is read, with ``meta["interrupted"]`` True. If
    the *other* side stopped, iperf3 divides all bytes by the end of the last whole interval: such a
    file is refused.

    Examples
    --------
    >>> streams = read_iperf3("tests/data/iperf3/3.12-tcp-8.json").streams
    >>> f"{len(streams)} streams, {streams.received_bps.sum() / 1e6:.1f} Mbit/s"
    '8 streams, 95.1 Mbit/s'
    """
    return read(source, "iperf3", _output)


def _output(text, doubts):
    if in_words := printed.is_text(text):
        streams, intervals, meta, told = printed.side(text, doubts)
        other = told.startswith("{") and document.parse(told, doubts)
    else:
        doc = document.parse(text, doubts)
        (streams, intervals), told = _side(doc, doubts), ""
        if other := doc.get("server_output_json"):
            document.check(other, doubts)
    if other or told:
        others = _side(other, doubts) if other else printed.side(told, doubts, inner=True)[:2]
        streams, intervals = _fill(streams, intervals, *others, doubts)
    if not in_words and doc["start"]["test_start"]["protocol"] == "UDP":
        datagrams.arrived(streams, doc, doubts)
    numbers = {row["port"]: {"stream": n} for n, row in enumerate(streams, 1)}
    streams, intervals = (
        table([row | numbers[row["port"]] for row in rows], columns)
        for rows, columns in ((streams, _STREAMS), (intervals, _INTERVALS))
    )
    meta = (meta if in_words else _meta(doc, streams, doubts)) | {"client_ports": sorted(numbers)}
    return Iperf3Output(streams, intervals, meta)


def _side(doc, doubts):
    """What one side measured, and the other side told it: rows of (streams, intervals)."""
    client, test, end = "connecting_to" in doc["start"], doc["start"]["test_start"], doc["end"]
    told = {"sender", "receiver"} if client and "error" not in doc else set()
    totals = {(s.get("udp") or s["sender"])["socket"]: s for s in end["streams"]}
    both_ways = document.both_ways(doc)
    omits = given(test, "omit") > 0

    streams, intervals, sockets = [], [], {}
    for c in doc["start"]["connected"]:
        entry = totals[c["socket"]].get("udp") or totals[c["socket"]]["sender"]
        sends = client != bool(test["reverse"])
        if "sender" in entry:  # from 3.7 on
            sends = one_of(entry, "sender", True, False)
        back = sends != client  # from the server to the client
        src, dst = (word(c, "local_host"), word(c, "remote_host"))[:: 1 if sends else -1]
        port = given(c, "local_port" if client else "remote_port", 65535)
        stream = {"port": int(port), "src": src, "dst": dst}
        # "sender" means the data's sender; but with --bidir, in every version, the server
        who = "receiver" if both_ways and not back else "sender"
        own = f"{who}_tcp_congestion"
        stream |= {"congestion": word(end, own) if own in end else NAN, "back": back}
        measured = {"sender", "kernel", "anyone"} if sends else {"receiver", "anyone"}
        sockets[c["socket"]] = stream, measured

    counted = {}
    for s in (s for interval in doc["intervals"] for s in interval["streams"]):
        stream, measured = sockets[s["socket"]]
        row = stream | _figures("interval", s, dict.fromkeys(measured, s), doubts)
        if not s["omitted"]:
            if omits and s["socket"] not in counted:
                row = signed(row, number(s, "seconds", doubts), doubts)
            counted.setdefault(s["socket"], []).append(row)
        intervals.append(row | {"omitted": s["omitted"]})
    for socket, (stream, measured) in sockets.items():
        ends, known = totals[socket], measured | told
        if udp := ends.get("udp"):  # rate and bytes are the sender's, the rest is the receiver's
            ends = {"sender": udp, "receiver": {k: udp[k] for k in ("jitter_ms", "lost_packets")}}
        ends |= {"kernel": ends["sender"], "anyone": ends["sender"]}
        row = stream | _figures("end", ends["sender"], {who: ends[who] for who in known}, doubts)
        # a client that receives may print the other side's end as its own
        own_end = "sender" in measured or not told
        row["until_s"] = row["end_s"] if own_end else NAN
        row["received_until_s"] = NAN if udp else number(ends["receiver"], "end", doubts)
        if udp and "receiver" in known:
            whole = document.total(doc, "received", row["back"])
            if whole and len(totals) == 1 + both_ways:
                row["received_bps"] = number(whole, "bits_per_second", doubts)
                row["received_bytes"] = number(whole, "bytes", doubts)
            elif "receiver" in measured:
                mine = counted.get(socket, [])
                row["received_bytes"] = sum(i["received_bytes"] for i in mine)
                seconds = sum(i["end_s"] - i["start_s"] for i in mine)
                bits = 8 * row["received_bytes"]
                row["received_bps"] = bits / seconds if seconds > 0 else NAN
        streams.append(row)

    def printed(*way):
        return document.total(doc, *way) if test["protocol"] != "UDP" else None

    doubts += contradictions(streams, intervals, printed, omits)
    return streams, intervals


def _figures(when, span, entries, doubts):
    """One row in SI units; `span` and each of `entries` (by who measured) are iperf3's objects."""
    row = {"start_s": given(span, "start"), "end_s": given(span, "end")}
    for column, (who, end, interval, units) in _FIGURES.items():
        name = end if when == "end" else interval
        least, most = _LEAST.get(column, 0), _MOST_US if units == 1e6 else LIMIT
        unknown = -1 if column in _NOT_TOLD else None
        value = number(entries.get(who, {}), name, doubts, least, most, unknown)
        row[column] = NAN if value == 0 and column in _NOT_ZERO else value / units
    row["loss"] = row["lost_packets"] / (row["packets"] or NAN)
    if math.isnan(row["rtt_s"]):
        row["rttvar_s"] = NAN
    return row


def _fill(streams, intervals, other_streams, other_intervals, doubts):
    """The client's rows, with the server's figures where the client has none."""
    others = {row["port"]: row for row in other_streams}
    streams = [_filled(row, others.get(row["port"], {})) for row in streams]
    streams = [datagrams.corrected(row, others.get(row["port"], {}), doubts) for row in streams]
    of = {}
    for row in other_intervals:
        of.setdefault((row["port"], row["omitted"]), deque()).append(row)
    filled = []
    for row in intervals:
        left = of.get((row["port"], row["omitted"]))
        other = left.popleft() if left else {}
        apart_s = [abs(row[end] - other.get(end, NAN)) for end in ("start_s", "end_s")]
        same_time = max(apart_s) <= (row["end_s"] - row["start_s"]) / 10
        filled.append(_filled(row, other) if same_time else row)
    return streams, filled


def _filled(row, other):
    return row | {name: other[name] for name in other if row[name] != row[name]}


def _meta(doc, streams, doubts):
    start, end, test = doc["start"], doc["end"], doc["start"]["test_start"]
    client, clock, first = "connecting_to" in start, start["timestamp"], start["connected"][0]
    milliseconds = "timemillisecs" in clock
    started_s = given(clock, "timemillisecs") / 1e3 if milliseconds else given(clock, "timesecs")
    percent = end.get("cpu_utilization_percent", {})
    cpu = [number(percent, f"{side}_total", doubts) / 100 for side in ("host", "remote")]
    if not client or "error" in doc:
        cpu[1] = NAN
    block_bytes = given(test, "blksize")

    def asked(printed, *names):  # iperf3 prints 0 for what was not asked for
        name = next((name for name in names if name in printed), "")
        return number(printed, name, doubts) or NAN

    return {
        "version": word(start, "version").removeprefix("iperf "),
        "role": "client" if client else "server",
        "rounding": 0.0,
        "protocol": one_of(test, "protocol", "TCP", "UDP", "SCTP"),
        "reverse": bool(one_of(test, "reverse", 0, 1)),
        "bidirectional": document.both_ways(doc),
        "streams": len(start["connected"]) // (1 + document.both_ways(doc)),
        "duration_s": given(test, "duration") or NAN,
        "bytes_asked": given(test, "bytes") or given(test, "blocks") * block_bytes or NAN,
        "omit_s": given(test, "omit"),
        "target_bps": asked(test if "target_bitrate" in test else start, "target_bitrate"),
        "block_bytes": block_bytes,
        "mss_bytes": asked(start, "tcp_mss", "tcp_mss_default"),
        "sndbuf_bytes": asked(start, "sndbuf_actual"),
        "rcvbuf_bytes": asked(start, "rcvbuf_actual"),
        "congestion": streams.congestion.dropna().get(0),
        "sent_bytes": float(streams.sent_bytes.sum(skipna=False)),
        "received_bytes": float(streams.received_bytes.sum(skipna=False)),
        "server": word(first, "remote_host" if client else "local_host"),
        "port": int(given(first, "remote_port" if client else "local_port", 65535)),
        "started_unix_s": started_s,
        "title": word(doc, "title") if "title" in doc else None,
        "client_cpu": cpu[0 if client else 1],
        "server_cpu": cpu[1 if client else 0],
        "interrupted": "error" in doc,
        "error": word(doc, "error") if "error" in doc else None,
        "cookie": word(start, "cookie") if "cookie" in start else None,
    }
