"""What the figures of one iperf3 report should say about each other, whatever was measured."""

from netlab.readers._common import NAN, number


def signed(row, seconds, doubts, off_s=0):
    """The first row that counts, where an interval began in the time that ``-O`` leaves out; its
    length is known to within `off_s`.
    """
    start_s, end_s = row["start_s"], row["end_s"]
    # iperf3 leaves out the sign, and divides the bytes since 0 by the whole interval
    if start_s < 0.01 * end_s or not abs(start_s + end_s - seconds) <= 1e-3 * seconds + off_s:
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
    # total("sent" or "received", back) is iperf3's own, or None; each side omits its own time;
    # `off` has half of the last digit of what was printed rounded
    rows, own, ends_s = [], {row["port"]: [] for row in streams}, {}
    for row in intervals:
        group = row["port"], row["omitted"]
        rows.append(row | {"gap_s": row["start_s"] - ends_s.get(group, 0)})
        own[row["port"]].append(row)
        ends_s[group] = row["end_s"]

    slacks_s = {
        port: max((one["end_s"] - one["start_s"] for one in its), default=0) / 5
        for port, its in own.items()
    }

    def counted(r, figure):
        """The known ones of a stream's figures, of the intervals that count."""
        figures = [one[figure] for one in own[r["port"]] if not one["omitted"]]
        return [value for value in figures if value == value]

    def most(r, figure):
        return max(counted(r, figure), default=NAN)

    def off(r, figure):
        return sum(_half_digit(one, figure) for one in [r, *own[r["port"]]])

    def left_s(r):
        # iperf3 does not print a last interval of less than a tenth
        return r["until_s"] - most(r, "end_s")

    def ends_elsewhere(r):
        return rows and (not counted(r, "end_s") or abs(left_s(r)) > slacks_s[r["port"]])

    def resent(r):
        parts, end = counted(r, "retransmits"), r["retransmits"]
        whole = not left_s(r) + _half_digit(r, "s") >= 2e-6
        return bool(parts) and (sum(parts) > end or (sum(parts) < end and whole and not omits))

    rules = [
        (rows, "start_s", lambda r: abs(r["gap_s"]) > slacks_s[r["port"]]),
        (streams, "until_s", ends_elsewhere),
        (streams, "rtt_s", lambda r: r["rtt_min_s"] > r["rtt_s"]),
        (streams, "rtt_max_s", lambda r: r["rtt_s"] > r["rtt_max_s"]),
        (streams, "rtt_max_s", lambda r: most(r, "rtt_s") > r["rtt_max_s"]),
        (streams, "rtt_min_s", lambda r: min(counted(r, "rtt_s"), default=NAN) < r["rtt_min_s"]),
        (streams, "cwnd_bytes", lambda r: most(r, "cwnd_bytes") > r["cwnd_bytes"]),
        (streams, "retransmits", resent),
    ]
    rules += [
        (
            streams,
            way,
            lambda r, way=way: sum(counted(r, way)) > r[way] * (1 + 1e-6) + off(r, way),
        )
        for way in ("sent_bytes", "received_bytes")
    ]
    if not omits:
        # the sender may still write while it counts, and a datagram come between two counts
        rules += [
            (
                streams,
                "received_bytes",
                lambda r: (
                    r["received_bytes"] > 1.01 * r["sent_bytes"] + 2**20 + off(r, "sent_bytes")
                ),
            ),
            (streams, "packets", lambda r: sum(counted(r, "packets")) > r["packets"] + 1),
            (streams, "lost_packets", lambda r: r["lost_packets"] < 0),
            (rows, "lost_packets", lambda r: r["lost_packets"] > r["packets"]),
            (streams, "lost_packets", lambda r: r["lost_packets"] > r["packets"]),
        ]
    for table in (streams, rows):
        rules.append((table, "end_s", lambda r: r["end_s"] < r["start_s"]))
        rules.append((table, "sent_bps", lambda r: _off(r, "sent", r["start_s"], r["end_s"])))
    rules += [
        (rows, "received_bps", lambda r: _off(r, "received", r["start_s"], r["end_s"])),
        (streams, "received_bps", lambda r: _off(r, "received", 0, r["received_until_s"])),
    ]

    def faster(r, way):
        """Whether the total of one's own count has a higher rate than the intervals that count."""
        counted_s = most(r, "end_s")
        if not (counted_s > 0 and r["end_s"] > 0):
            return False
        return (r[way] - off(r, way)) / r["end_s"] > 1.015 * sum(counted(r, way)) / counted_s

    # what -O leaves out may be in the total of old versions
    rules += [
        (streams, way, lambda r, way=way: omits and counted(r, way) and faster(r, way))
        for way in ("sent_bytes", "received_bytes")
    ]
    # Of packets in order, jitter is at most an eighth of the time: those of old versions begin with
    # the difference of two clocks. Packets that overtake each other may have more for a while.
    rules.append((streams, "jitter_s", lambda r: r["jitter_s"] > r["end_s"] / 8))
    rules.append((rows, "jitter_s", lambda r: not omits and r["jitter_s"] > r["end_s"]))
    for table, figure, wrong in rules:
        if row := next(filter(wrong, table), None):
            where = f" from {row['start_s']:g} to {row['end_s']:g} s" if table is rows else ""
            yield (
                f"{figure} = {row[figure]:.9g} of the stream {_name(row)}{where} does"
                " not go with the other figures: it is taken as printed"
            )
    for back in sorted({row["back"] for row in streams}):
        for way in ("sent", "received"):
            figures = [row[f"{way}_bytes"] for row in streams if row["back"] == back]
            ours = sum(value for value in figures if value == value)
            printed = number(total(way, back) or {}, "bytes", [])
            if abs(printed - ours) > 1e-5 * ours + 1:
                yield f"sum_{way} has {printed:.0f} bytes, its streams {ours:.0f}: theirs are taken"


def _name(row):
    return f"with port {row['port']}" if row["port"] >= 0 else f"[{-row['port']}]"


def _half_digit(row, figure):
    return row.get("off", {}).get(figure, 0)


def _off(row, way, start_s, end_s):
    """Is a rate not 8 times its bytes by its time, of which old versions print six digits?"""
    bits, rate = 8 * row[f"{way}_bytes"], row[f"{way}_bps"]
    rounding = 8 * _half_digit(row, f"{way}_bytes") + rate * 2 * _half_digit(row, "s")
    rounding += _half_digit(row, f"{way}_bps") * (end_s - start_s)
    return abs(bits - rate * (end_s - start_s)) > 0.01 * bits + 2e-5 * rate * end_s + 8 + rounding
