"""What ``iperf3 -J`` printed: a row per stream, a row per stream and interval, and what was asked
for.
"""

import json
import math
import re
from dataclasses import dataclass

import pandas as pd

from netlab.errors import ReadError
from netlab.readers._common import read_text, tidy

NAN = math.nan

# column: (whose figure, iperf3's name at a stream's end, iperf3's name in an interval, its units in
# one SI unit)
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
# What iperf3 prints where it has no figure.
_NOT_KNOWN = {"retransmits": -1, "cwnd_bytes": 0, "rtt_s": 0, "rtt_min_s": 0, "rtt_max_s": 0}

_STREAMS = [
    "stream", "src", "dst", "congestion", "sent_bps", "received_bps", "retransmits", "start_s",
    "end_s", "cwnd_bytes", "rtt_s", "rtt_min_s", "rtt_max_s", "loss", "jitter_s", "packets",
    "lost_packets", "sent_bytes", "received_bytes",
]  # fmt: skip
_INTERVALS = [
    "stream", "src", "dst", "start_s", "end_s", "sent_bps", "received_bps", "retransmits",
    "cwnd_bytes", "rtt_s", "rttvar_s", "omitted", "loss", "jitter_s", "packets", "lost_packets",
]  # fmt: skip

# A part of iperf3's own error: what to do about it.
_AGAIN = "Keep both sides running until the test is over, and run it again."
_REMEDIES = {
    "busy": "Wait until that test ends, or give each test its own server: iperf3 -s -1 -p 5202.",
    "unable to connect": "Start iperf3 -s on the other host first, and check its address and port.",
    "terminated": _AGAIN,
    "stream socket": _AGAIN,
}
# printed by old versions
_NAN_TOKEN = re.compile(r'(?<!\\)(":\s*)-?(?:nan|inf)(?:\(\w*\))?(?=\s*[,}\]])', re.I)


@dataclass(frozen=True, eq=False, repr=False)
class Iperf3Output:
    """What one iperf3 report says.

    Attributes
    ----------
    streams : DataFrame
        One row per stream: ``stream`` (1, 2, ... as they connected; with ``--bidir`` those back
        come last), ``src`` and ``dst`` (addresses; ``src`` sends the data, also with ``-R``),
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
        ``interrupted`` and ``error`` (what iperf3 wrote of the interruption). Texts that are not
        there are None.
    """

    streams: pd.DataFrame
    intervals: pd.DataFrame
    meta: dict

    def __repr__(self):
        ways = dict.fromkeys(
            f"{src} -> {dst}" for src, dst in zip(self.streams.src, self.streams.dst, strict=True)
        )
        what = (
            f"{len(self.streams)} streams, {len(self.intervals)} intervals, iperf3"
            f" {self.meta['version']}"
        )
        what += ", interrupted" * self.meta["interrupted"]
        return f"Iperf3Output({self.meta['protocol']}, {', '.join(ways)}: {what})"


def read_iperf3(source):
    """The report that ``iperf3 -J`` wrote, of any version from 3.0 on, client's or server's.

    Parameters
    ----------
    source : path or str
        A file, or its text.

    Returns
    -------
    Iperf3Output

    Raises
    ------
    ReadError
        If the text is not one complete report: says what is wrong, and what to do next.

    Notes
    -----
    Each side measures its own end. A client learns the other side's totals when the test is over; a
    server does not, nor does an interrupted client: then the other side's columns are NaN, whatever
    zeros the file holds. Only the sender's own report has ``cwnd_bytes`` and ``rtt_s``. With
    ``--get-server-output`` (and ``iperf3 -s -J``) the server's figures fill the client's gaps; in
    an interval, if both sides' clocks agree to a tenth of its length.

    Over UDP no version prints a received rate per stream. It is the file's total if there is one
    stream in that direction (3.11 on), else the sum of the receiver's intervals if the file has
    them, else NaN.

    A run that was interrupted on this side (Ctrl-C) is read, with ``meta["interrupted"]`` True. If
    the *other* side stopped, iperf3 divides all bytes by the end of the last whole interval: such a
    file is refused.
    """
    text = read_text(source)
    where = "" if source is text else f"{source}: "
    try:
        doc = _report(text, source)
        streams, intervals = _side(doc)
        if "server_output_json" in doc:
            _check(doc["server_output_json"], text)
            streams, intervals = _fill(streams, intervals, *_side(doc["server_output_json"]))
        number = dict(zip(streams.port, range(1, len(streams) + 1), strict=True))
        return Iperf3Output(
            tidy(streams.assign(stream=streams.port.map(number)), _STREAMS),
            tidy(intervals.assign(stream=intervals.port.map(number)), _INTERVALS),
            _meta(doc, streams),
        )
    except ReadError as error:
        raise ReadError(f"{where}{error}", text) from error.__cause__
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        what = (
            f"{where}This report lacks what every known iperf3 prints ({type(error).__name__}:"
            f" {error})."
        )
        raise ReadError(f"{what} Look at the text: it is in this error's raw.", text) from error


def _report(text, source):
    """The JSON document in `text`, which is `source` or lies there, or a ReadError that says why
    there is none.
    """
    body = _NAN_TOKEN.sub(r"\1NaN", text.strip().removeprefix("\ufeff"))
    if not body:
        raise ReadError(
            "iperf3's output is empty. Run it with -J, and see what it writes to stderr.", text
        )
    if re.match(r'\{\s*"event"', body):
        raise ReadError("This is what iperf3 --json-stream writes. Run it with -J alone.", text)
    if not body.startswith("{"):
        if own := re.search(r"^iperf3: (.*)", body, re.M):
            raise _own_error(own[1], text)
        first = body.splitlines()[0][:80]
        if "{" in body and '"start"' in body:
            raise ReadError(
                f"There is text before iperf3's JSON: {first!r}. Keep only what iperf3 wrote.", text
            )
        what = (
            "neither iperf3's JSON nor the name of a file"
            if source is text
            else "not iperf3's JSON"
        )
        raise ReadError(
            f"This is {what}, it begins with {first!r}. Run iperf3 with -J, which writes it.", text
        )
    try:
        doc = json.loads(body)
    except (ValueError, RecursionError) as error:
        problem, where = str(error), getattr(error, "pos", 0)
        if problem.startswith("Extra data"):
            what = (
                f"There is text after iperf3's JSON: {body[where : where + 80]!r}. Keep one report"
                " per file."
            )
        elif problem.startswith("Unterminated") or where >= len(body) or not body.endswith("}"):
            what = (
                f"iperf3's JSON is cut off after {len(text)} characters. Let it finish, and run it"
                " again."
            )
        else:
            what = (
                f"iperf3's JSON is broken: {problem}. Something else was written into it; run it"
                " again."
            )
        raise ReadError(what, text) from error
    _check(doc, text)
    return doc


def _own_error(message, text):
    remedy = next(
        (what for part, what in _REMEDIES.items() if part in message),
        "Mend that, and run it again.",
    )
    return ReadError(f"iperf3 says: {message.strip(' :.')}. {remedy}", text)


def _check(doc, text):
    """Refuse what is not the report of a test that ended, or was interrupted on this side."""
    if not isinstance(doc, dict) or not (
        {"start", "intervals", "end"} <= doc.keys() or "error" in doc
    ):
        raise ReadError(
            "This JSON is no report of iperf3: no start, intervals, end. Give what iperf3 -J"
            " wrote.",
            text,
        )
    if "error" in doc and not doc["error"].startswith("interrupt"):
        raise _own_error(doc["error"], text)
    if not doc["end"].get("streams"):
        raise ReadError(
            "iperf3 ended before it measured anything. See its stderr, and run it again.", text
        )
    if len(doc["end"]["streams"]) != len(doc["start"]["connected"]):
        raise ReadError(
            "Not every stream that connected has an end in this report. Run it again.", text
        )
    printed = [
        (s["socket"], s["start"], s["end"], s["omitted"])
        for i in doc["intervals"]
        for s in i["streams"]
    ]
    if all(omitted for *_, omitted in printed):
        raise ReadError(
            "iperf3 ended before the first interval that counts. Run it for longer.", text
        )
    # stopped between two intervals, iperf3 prints the last one again
    if len(set(printed)) < len(printed):
        raise ReadError(
            f"The other side stopped in mid-interval, so the totals here are wrong. {_AGAIN}", text
        )


def _side(doc):
    """What one side measured, and what the other side told it: (streams, intervals), by the
    client's port.
    """
    client, test, end = "connecting_to" in doc["start"], doc["start"]["test_start"], doc["end"]
    told = {"sender", "receiver"} if client and "error" not in doc else set()
    totals = {(s.get("udp") or s["sender"])["socket"]: s for s in end["streams"]}
    both_ways = _both_ways(doc)

    streams, intervals, sockets = [], [], {}
    for c in doc["start"]["connected"]:
        entry = totals[c["socket"]].get("udp") or totals[c["socket"]]["sender"]
        # before 3.7 only the test says it
        sends = entry.get("sender", client != bool(test["reverse"]))
        back = sends != client  # from the server to the client
        src, dst = (c["local_host"], c["remote_host"])[:: 1 if sends else -1]
        stream = {"port": c["local_port" if client else "remote_port"], "src": src, "dst": dst}
        # "sender" means the data's sender; but with --bidir, in every version, the server
        who = "receiver" if both_ways and not back else "sender"
        stream |= {"congestion": end.get(f"{who}_tcp_congestion", NAN), "back": back}
        measured = {"sender", "kernel", "anyone"} if sends else {"receiver", "anyone"}
        sockets[c["socket"]] = stream, measured

    for s in (s for interval in doc["intervals"] for s in interval["streams"]):
        stream, measured = sockets[s["socket"]]
        intervals.append(
            stream | _figures("interval", s, dict.fromkeys(measured, s)) | {"omitted": s["omitted"]}
        )
    intervals = pd.DataFrame(intervals)

    for socket, (stream, measured) in sockets.items():
        ends, known = totals[socket], measured | told
        if udp := ends.get(
            "udp"
        ):  # its rate and bytes are the sender's, its loss and jitter the receiver's
            ends = {"sender": udp, "receiver": {k: udp[k] for k in ("jitter_ms", "lost_packets")}}
        ends |= {"kernel": ends["sender"], "anyone": ends["sender"]}
        row = stream | _figures("end", ends["sender"], {who: ends[who] for who in known})
        if udp and "receiver" in known:
            total = end.get(
                "sum_received_bidir_reverse" if both_ways and row["back"] else "sum_received"
            )
            if both_ways and "sum_received_bidir_reverse" not in end:
                total = None  # older versions print both directions under one name
            if total and test["num_streams"] == 1:
                row |= {
                    "received_bps": _number(total["bits_per_second"]),
                    "received_bytes": _number(total["bytes"]),
                }
            elif "receiver" in measured:
                mine = intervals[(intervals.port == row["port"]) & ~intervals.omitted]
                row["received_bytes"] = mine.received_bytes.sum()
                row["received_bps"] = (
                    8 * row["received_bytes"] / ((mine.end_s - mine.start_s).sum() or NAN)
                )
        streams.append(row)
    return pd.DataFrame(streams), intervals


def _figures(when, span, entries):
    """One row in SI units; `span` and each of `entries` (by who measured) are iperf3's objects."""
    row = {"start_s": _number(span["start"]), "end_s": _number(span["end"])}
    for column, (who, end, interval, units) in _FIGURES.items():
        value = _number(entries.get(who, {}).get(end if when == "end" else interval))
        row[column] = NAN if value == _NOT_KNOWN.get(column) else value / units
    row["loss"] = row["lost_packets"] / (row["packets"] or NAN)
    if math.isnan(row["rtt_s"]):
        row["rttvar_s"] = NAN
    return row


def _fill(streams, intervals, other_streams, other_intervals):
    """The client's tables, with the server's figures where the client has none."""
    streams, other = streams.set_index("port"), other_streams.set_index("port")
    streams = streams.fillna(other.reindex(streams.index)).reset_index()

    def numbered(table):
        nth = table.groupby(["port", "omitted"]).cumcount()
        return table.assign(nth=nth).set_index(["port", "omitted", "nth"])

    mine = numbered(intervals)
    other = numbered(other_intervals).reindex(mine.index)
    near = (mine.end_s - mine.start_s) / 10
    same = ((mine.start_s - other.start_s).abs() <= near) & (
        (mine.end_s - other.end_s).abs() <= near
    )
    return streams, mine.fillna(other.where(same)).reset_index()


def _meta(doc, streams):
    start, end, test = doc["start"], doc["end"], doc["start"]["test_start"]
    client, clock, first = "connecting_to" in start, start["timestamp"], start["connected"][0]
    cpu = [
        _number(end.get("cpu_utilization_percent", {}).get(f"{side}_total")) / 100
        for side in ("host", "remote")
    ]
    if not client or "error" in doc:
        cpu[1] = NAN

    def asked(value):  # 0 is iperf3's word for "not asked for"
        return _number(value) or NAN

    return {
        "version": start["version"].removeprefix("iperf "),
        "role": "client" if client else "server",
        "protocol": test["protocol"],
        "reverse": bool(test["reverse"]),
        "bidirectional": _both_ways(doc),
        "streams": test["num_streams"],
        "duration_s": asked(test["duration"]),
        "bytes_asked": asked(test["bytes"] or test["blocks"] * test["blksize"]),
        "omit_s": _number(test["omit"]),
        "target_bps": asked(test.get("target_bitrate", start.get("target_bitrate"))),
        "block_bytes": _number(test["blksize"]),
        "mss_bytes": asked(start.get("tcp_mss", start.get("tcp_mss_default"))),
        "sndbuf_bytes": asked(start.get("sndbuf_actual")),
        "rcvbuf_bytes": asked(start.get("rcvbuf_actual")),
        "congestion": (
            congestion if isinstance(congestion := streams.congestion.iloc[0], str) else None
        ),
        "sent_bytes": float(streams.sent_bytes.sum(skipna=False)),
        "received_bytes": float(streams.received_bytes.sum(skipna=False)),
        "server": first["remote_host" if client else "local_host"],
        "port": first["remote_port" if client else "local_port"],
        "started_unix_s": _number(clock.get("timemillisecs", clock["timesecs"] * 1000)) / 1000,
        "title": doc.get("title"),
        "client_cpu": cpu[0 if client else 1],
        "server_cpu": cpu[1 if client else 0],
        "interrupted": "error" in doc,
        "error": doc.get("error"),
    }


def _both_ways(doc):
    return len({(s.get("udp") or s["sender"]).get("sender") for s in doc["end"]["streams"]}) > 1


def _number(value):
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else NAN
