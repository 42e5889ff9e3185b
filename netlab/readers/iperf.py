"""What iperf (version 2) printed: the client's text, or the server's."""

import math
import re

import pandas as pd

from netlab.errors import ReadError
from netlab.readers._common import NAN, StreamsOutput, read, tidy
from netlab.readers._iperf_text import lines, runs, whose

_STREAMS = [
    "stream", "port", "src", "dst", "sent_bps", "received_bps", "retransmits", "start_s", "end_s",
    "loss", "jitter_s", "packets", "lost_packets", "out_of_order", "sent_bytes", "received_bytes",
]  # fmt: skip
_INTERVALS = [name for name in _STREAMS if not name.endswith("_bytes")]


class IperfOutput(StreamsOutput):
    """What one side's text says.

    Attributes
    ----------
    streams : DataFrame
        One row per stream and direction (those back, of ``--full-duplex``, come last), with the
        columns of `Iperf3Output`, but without ``congestion``, windows and round-trip times; besides
        ``port`` (the client's, which both sides' texts have) and ``out_of_order``. ``packets`` are
        counted by the receiver, or else by the sender; ``retransmits`` are known with ``-e``.
    intervals : DataFrame
        One row per stream and report of ``-i``: the same names, without the bytes.
    meta : dict
        ``role`` ("client" or "server": whose text it is), ``protocol``, ``reverse``,
        ``bidirectional`` (``--full-duplex``), ``streams`` (per direction), ``server`` and ``port``
        (the server's), ``datagram_bytes``, ``ipg_s`` (the gap between two datagrams that the client
        aims at), ``offered_bps`` (the rate of that gap),
        ``buffer_bytes``, ``congestion``, ``version`` (of the *other* side, where known),
        ``acknowledged`` (False: one side has not heard from the other) and ``interrupted`` (the
        server was stopped before the client had ended). What is not told is NaN, or None for texts.

    Examples
    --------
    >>> out = read_iperf("tests/data/iperf/2.2.1-tcp-2-server.txt")
    >>> out
    IperfOutput(TCP, the server's: 2 streams, 7 intervals)
    >>> out.streams[["port", "received_bytes"]].astype(int).values.tolist()
    [[54308, 6427770], [54312, 5284823]]
    """


def read_iperf(source):
    """Read what ``iperf`` printed, of any version from 2.0.5 to 2.2.1: the client's text or the
    server's, TCP or UDP, with or without ``-i``, ``-P``, ``-e``, ``-f``, ``-R`` and
    ``--full-duplex``.

    Notes
    -----
    Each side measures its own end; the other side's columns are NaN. Of a UDP test the server
    tells the client its totals (``Server Report:``), so that a client's text has both. A server's
    text with several runs is read with a warning.

    iperf prints three digits unless it is told otherwise (``-f b`` prints them all). Its MBytes are
    :math:`1024^2` bytes and its Mbits :math:`10^6` bits. In ``-b``, a capital ``M`` is
    :math:`1024^2` bit/s and a small one :math:`10^6`: ``-b 20M`` offers 20.97 Mbit/s, in steps of
    ``IPG target: 560.76 us`` with datagrams of 1470 bytes. (iperf3 has one ``M``, :math:`10^6`.)

    A datagram that comes late, or twice, counts as out of order and is taken off the lost ones
    again, so duplicates hide losses.

    Version 2.2.1 prints ``IPG target: 0.00 us``: ``ipg_s`` and ``offered_bps`` are NaN. Without
    ``-e`` its clients print the server's jitter as 0: ``jitter_s`` is NaN.

    Examples
    --------
    >>> out = read_iperf('''Client connecting to 10.0.5.2, UDP port 5001
    ... Sending 1470 byte datagrams, IPG target: 560.76 us (kalman adjust)
    ... [  3] local 10.0.0.2 port 53017 connected with 10.0.5.2 port 5001
    ... [ ID] Interval       Transfer     Bandwidth
    ... [  3]  0.0-10.0 sec  25.0 MBytes  21.0 Mbits/sec
    ... [  3] Sent 17833 datagrams
    ... [  3] Server Report:
    ... [  3]  0.0-10.0 sec  24.9 MBytes  20.9 Mbits/sec   0.858 ms   51/17833 (0.29%)
    ... ''')
    >>> round(out.meta["offered_bps"] / 2**20, 2)
    20.0
    >>> out.streams[["received_bps", "lost_packets", "jitter_s"]].values.tolist()
    [[20900000.0, 51.0, 0.000858]]
    """
    return read(source, "iperf", _output)


def _output(text, doubts):
    role, protocol, port = whose(text)
    streams, notes = lines(text, role, doubts)
    if (count := len(runs(text))) > 1:
        doubts.append(
            f"these are {count} runs, one after another, and no parallel streams: `split_outputs`"
            " gives the text of each"
        )
    if not streams and re.search(r"^\[SUM.* sec ", text, re.M):
        raise ReadError(
            "This has sums of streams, [SUM], and no streams, as with --sum-only. Run it without"
            " --sum-only."
        )
    if not streams:
        raise ReadError(
            f"This {role} measured nothing: no line says that the two sides connected. Give all"
            " that it printed, and look whether the other side ran."
        )
    rows, intervals = [], []
    streams.sort(key=lambda stream: stream["reverse"])
    for number, stream in enumerate(streams, 1):
        ends = {"stream": number} | {name: stream[name] for name in ("port", "src", "dst")}
        whole, parts = _whole(stream, protocol, doubts)
        _check_datagrams(stream, whole, notes["datagram_bytes"], doubts)
        rows.append(ends | whole)
        intervals += [ends | part for part in parts]
    first = streams[0]
    both = first["reverse"] != streams[-1]["reverse"]
    if both and not all(stream["both"] for stream in streams):
        raise ReadError("Streams go both ways here (-d, -r). Test one direction at a time.")
    meta = {"role": role, "protocol": protocol, "reverse": first["reverse"], "bidirectional": both}
    meta["streams"] = len(rows) // (1 + both)
    meta |= {"server": first["src" if first["reverse"] else "dst"], "port": port, **notes}
    intervals = pd.DataFrame(intervals, columns=None if intervals else _INTERVALS)
    return IperfOutput(tidy(pd.DataFrame(rows), _STREAMS), tidy(intervals, _INTERVALS), meta)


def _whole(stream, protocol, doubts):
    """A stream's row, and the rows of its intervals."""
    own, told, who = stream["own"], stream["told"], f"the stream from port {stream['port']:.0f}"
    counts = protocol == "UDP" and not stream["sends"]
    if any(("packets" in row) != counts for row in own):
        doubts.append(f"a line of {who} has other columns than this side prints: it is left out")
        own = [row for row in own if ("packets" in row) == counts]
    if not own:
        raise ReadError(
            f"iperf's output is cut off: {who} has no results. Give all that it printed."
        )
    *parts, total = own
    if total["start_s"] != 0:
        parts, total = own, _sum(own)
        doubts.append(
            f"{who} has no last line, as of an iperf that was killed: its intervals add up"
        )
    _check_parts(parts, total, who, doubts)
    for row in own:
        _check_percent(row, doubts)
    row = _sided(total, stream["sends"])
    if stream["sends"] and protocol == "UDP":
        row["packets"] = stream["sent"]
        if math.isnan(stream["sent"]):
            doubts.append(f"{who} does not say how many datagrams it sent: packets is NaN")
        if told:
            row |= _heard(told[-1], stream, doubts)
            each_bytes = total["bytes"] / (stream["sent"] or NAN)
            counted = row["packets"] - row["lost_packets"]
            if row["received_bytes"] + told[-1]["off_bytes"] < 0.9 * each_bytes * counted:
                doubts.append(
                    f"the server told {who} of {row['lost_packets']:.0f} lost datagrams, and of"
                    f" fewer bytes than the {counted:.0f} others have: what was lost is NaN"
                )
                row |= {"lost_packets": NAN, "loss": NAN}
        elif told is not None:
            doubts.append(f"{who} has no line in its server's report: what it received is NaN")
    return row, [_sided(part, stream["sends"]) for part in parts]


def _sum(parts):
    """The line that iperf would have printed at the end of these."""
    names = ["bytes", *(["lost_packets", "packets"] if "packets" in parts[0] else [])]
    sums = {name: sum(part[name] for part in parts) for name in names}
    seconds = sum(part["end_s"] - part["start_s"] for part in parts)
    last = {name: parts[-1].get(name, NAN) for name in ("end_s", "off_s", "jitter_s")}
    total = last | sums | {"start_s": parts[0]["start_s"], "off_bytes": 0.0}
    total["bps"] = 8 * sums["bytes"] / seconds if seconds else NAN
    if sums.get("packets"):
        total["loss"] = sums["lost_packets"] / sums["packets"]
    return total


def _sided(figures, sends):
    """A line's figures under the names of the side that counted them."""
    side = "sent" if sends else "received"
    row = {name: value for name, value in figures.items() if name in _STREAMS}
    if not sends and "packets" in figures:
        row["out_of_order"] = figures.get("out_of_order", 0.0)
    return row | {f"{side}_bps": figures["bps"], f"{side}_bytes": figures["bytes"]}


def _heard(told, stream, doubts):
    """What the server reported to a client that sends."""
    row, sent = _sided(told, sends=False), stream["sent"]
    told_of = row.get("packets", NAN)
    # the last datagram is sent up to ten times, until the client hears of the server
    if not 0.99 * sent - 2 <= told_of <= sent + 11:
        taken = "what the server said is taken"
        if not told_of < sent:
            row |= {"packets": sent, "lost_packets": NAN, "loss": NAN}
            taken = "packets is what the client sent, and loss NaN"
        doubts.append(
            f"the client sent {sent:.0f} datagrams, and the server reported of {told_of:.0f} (it"
            f" ended earlier, or the two are versions that count differently): {taken}"
        )
    nothing = row.get("jitter_s") == 0 == float(told["percent"])
    if nothing and (stream["silent"] or row["lost_packets"]):
        row["jitter_s"] = NAN
    if not stream["silent"]:
        _check_percent(told, doubts)
    return {name: value for name, value in row.items() if name not in ("start_s", "end_s")}


def _check_datagrams(stream, whole, each_bytes, doubts):
    """Doubt bytes that are not those of the datagrams that were sent, and jitter above the time."""
    who, of_datagrams = f"the stream from port {stream['port']:.0f}", each_bytes * stream["sent"]
    off_bytes = stream["own"][-1]["off_bytes"] + 0.02 * of_datagrams + 12 * each_bytes
    if stream["sends"] and abs(whole["sent_bytes"] - of_datagrams) > off_bytes:
        doubts.append(
            f"{who} sent {stream['sent']:.0f} datagrams of {each_bytes:.0f} bytes, which are not"
            f" the {whole['sent_bytes']:.4g} bytes that it says: they are taken as printed"
        )
    if whole.get("jitter_s", NAN) > whole["end_s"] / 8:
        doubts.append(
            f"jitter_s = {whole['jitter_s']:.9g} of {who} is more than packets in order can have"
            f" within {whole['end_s']:g} s: it is taken as printed"
        )


def _check_parts(parts, total, who, doubts):
    """Doubt intervals that do not follow each other, or have more than their total."""
    end_s = parts[0]["start_s"] if parts else 0.0
    for part in parts:
        if abs(part["start_s"] - end_s) > part["off_s"] + 1e-3:
            doubts.append(
                f"an interval of {who} begins at {part['start_s']:g} s where one at {end_s:g} s"
                " should: lines are missing, and the total is taken as printed"
            )
        end_s = part["end_s"]
    size, off = (sum(part[name] for part in parts) for name in ("bytes", "off_bytes"))
    late = end_s > total["end_s"] + total["off_s"] + 1e-3
    if late or size - off > (total["bytes"] + total["off_bytes"]) * 1.001:
        doubts.append(f"the intervals of {who} sum to more than their total: both are as printed")


def _check_percent(row, doubts):
    """Doubt a percentage that is not that of its counts."""
    true = 100 * row.get("loss", NAN)
    if not math.isnan(true) and not abs(float(row["percent"]) - true) <= max(0.06 * true, 1e-3):
        doubts.append(
            f"loss = {row['percent'][:12]} %, but {row['lost_packets']:.0f} of"
            f" {row['packets']:.0f} datagrams: their quotient is taken"
        )
