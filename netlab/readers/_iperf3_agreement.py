"""What the figures of one iperf3 report should say about each other, whatever was measured."""

import numpy as np
import pandas as pd

from netlab.readers._common import number


def signed(row, seconds, doubts):
    """The first row that counts, where an interval began in the time that ``-O`` leaves out."""
    start_s, end_s = row["start_s"], row["end_s"]
    # iperf3 leaves out the sign, and divides the bytes since 0 by the whole interval
    if start_s < 0.01 * end_s or not abs(start_s + end_s - seconds) <= 1e-3 * seconds:
        return row
    doubts.append(
        f"start = {start_s:g} of the first interval after the omitted time is before 0, without its"
        " sign: 0 is taken, and its bytes by its end as its rate"
    )
    rates = {f"{way}_bps": 8 * row[f"{way}_bytes"] / end_s for way in ("sent", "received")}
    return row | {"start_s": 0.0} | rates


def contradictions(streams, intervals, total, omits):
    """A sentence for each kind of figure on one side that others contradict."""
    # `until_s` is a stream's end by this side's clock, `received_until_s` by the receiver's;
    # total("sent" or "received", back) is iperf3's own, or None; each side omits its own time
    streams, rows = pd.DataFrame(streams).set_index("port", drop=False), pd.DataFrame(intervals)
    of = rows[~rows.omitted].groupby("port")
    ends_s, most, least, sums, told = (
        figures.reindex(streams.index)
        for figures in (of.end_s.max(), of.max(), of.min(), of.sum(), of.retransmits.count())
    )
    slack_s = (rows.end_s - rows.start_s).groupby(rows.port).max() / 5
    follows_s = rows.groupby(["port", "omitted"]).end_s.shift(fill_value=0)
    # iperf3 does not print a last interval of less than a tenth
    left_s = (streams.until_s - ends_s).fillna(0)
    fewer = (told > 0) & (left_s < 2e-6) & (sums.retransmits < streams.retransmits)
    rules = [
        (rows, "start_s", (rows.start_s - follows_s).abs() > rows.port.map(slack_s)),
        (streams, "until_s", (left_s.abs() > slack_s.reindex(streams.index)) | ends_s.isna()),
        (streams, "rtt_s", streams.rtt_min_s > streams.rtt_s),
        (streams, "rtt_max_s", np.fmax(streams.rtt_s, most.rtt_s) > streams.rtt_max_s),
        (streams, "rtt_min_s", least.rtt_s < streams.rtt_min_s),
        (streams, "cwnd_bytes", most.cwnd_bytes > streams.cwnd_bytes),
        (streams, "retransmits", (sums.retransmits > streams.retransmits) | (fewer & (not omits))),
        (streams, "sent_bytes", sums.sent_bytes > streams.sent_bytes * (1 + 1e-6)),
        (streams, "received_bytes", sums.received_bytes > streams.received_bytes * (1 + 1e-6)),
    ]
    if not omits:
        # the sender may still write while it counts, and a datagram come between two counts
        rules += [
            (streams, "received_bytes", streams.received_bytes > 1.01 * streams.sent_bytes + 2**20),
            (streams, "packets", sums.packets > streams.packets + 1),
            (streams, "lost_packets", streams.lost_packets < 0),
            (rows, "lost_packets", rows.lost_packets > rows.packets),
            (streams, "lost_packets", streams.lost_packets > streams.packets),
        ]
    for table in (streams, rows):
        rules.append((table, "end_s", table.end_s < table.start_s))
        rules.append((table, "sent_bps", _off(table, "sent", table.start_s, table.end_s)))
    rules.append((rows, "received_bps", _off(rows, "received", rows.start_s, rows.end_s)))
    rules.append((streams, "received_bps", _off(streams, "received", 0, streams.received_until_s)))
    for table, figure, wrong in rules:
        if wrong.any():
            row = table[wrong].iloc[0]
            where = f" from {row.start_s:g} to {row.end_s:g} s" if table is rows else ""
            yield (
                f"{figure} = {row[figure]:.9g} of the stream with port {row.port}{where} does not"
                " go with the other figures: it is taken as printed"
            )
    for back, own in streams.groupby("back"):
        for way in ("sent", "received"):
            printed, ours = number(total(way, back) or {}, "bytes", []), own[f"{way}_bytes"].sum()
            if abs(printed - ours) > 1e-5 * ours + 1:
                yield f"sum_{way} has {printed:.0f} bytes, its streams {ours:.0f}: theirs are taken"


def _off(table, way, start_s, end_s):
    """Where a rate is not 8 times its bytes by its time, of which old versions print six digits."""
    bits, rate = 8 * table[f"{way}_bytes"], table[f"{way}_bps"]
    return (bits - rate * (end_s - start_s)).abs() > 0.01 * bits + 2e-5 * rate * end_s + 8
