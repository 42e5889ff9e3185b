"""What the figures of one iperf3 report say about each other, whatever was measured: a report that
breaks one of these rules was changed after iperf3 wrote it.
"""

from itertools import pairwise
from math import fsum, isnan

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, number

WAYS = ("sent", "received")


def agree(streams, intervals, total, omits):
    """Refuse one side's figures if they contradict each other; NaN contradicts nothing.

    Parameters
    ----------
    streams, intervals : list of dict
        The rows of the tables; a stream's ``until_s`` is its end by this side's clock.
    total : callable
        iperf3's own total of ("sent" or "received", back), or None.
    omits : bool
        Was a time left out (``-O``)? Each side leaves out its own, so their figures differ.
    """
    rows = {stream["port"]: [] for stream in streams}
    for row in (*streams, *intervals):
        _refuse(row, row["end_s"] < row["start_s"], "start_s", "end_s")
        _refuse(row, not omits and row["lost_packets"] > row["packets"], "lost_packets", "packets")
        _rate_is_bytes(row, "sent", row["end_s"] - row["start_s"])
    for row in intervals:
        _rate_is_bytes(row, "received", row["end_s"] - row["start_s"])
        rows[row["port"]].append(row)
    for stream in streams:
        for less, more in (("rtt_min_s", "rtt_s"), ("rtt_s", "rtt_max_s")):
            _refuse(stream, stream[less] > stream[more], less, more)
        if not omits:
            _refuse(stream, stream["lost_packets"] < 0, "lost_packets")
            # the sender may still write while it counts
            most = 1.01 * stream["sent_bytes"] + 2**20
            _refuse(stream, stream["received_bytes"] > most, "sent_bytes", "received_bytes")
        _rows_are_the_whole(stream, rows[stream["port"]], omits)
    for back in {stream["back"] for stream in streams}:
        for way in WAYS:
            _add_up([stream for stream in streams if stream["back"] == back], way, total(way, back))


def _rate_is_bytes(row, way, seconds):
    """A rate is 8 times its bytes by its time, of which old versions print six digits."""
    bits, rate = 8 * row[f"{way}_bytes"], row[f"{way}_bps"]
    wrong = abs(bits - rate * seconds) > 0.01 * bits + 2e-5 * rate * row["end_s"] + 8
    _refuse(row, wrong, f"{way}_bps", f"{way}_bytes", "start_s", "end_s")


def _add_up(streams, way, total):
    """The streams of one direction were measured for one time, and add up to iperf3's total."""
    data, rate = (sum(stream[f"{way}_{what}"] for stream in streams) for what in ("bytes", "bps"))
    if total:
        printed, rate = number(total, "bytes"), number(total, "bits_per_second")
        if abs(printed - data) > 1e-5 * data + 1:
            raise ReadError(
                f"iperf3's sum_{way} has {printed:.0f} bytes, but its streams {data:.0f}. {AGAIN}"
            )
    for stream in streams:
        _rate_is_bytes(stream, way, 8 * data / rate if rate else 0)


def _rows_are_the_whole(stream, rows, omits):
    """The intervals follow each other until the end, and what they count is in the total."""
    slack = max((row["end_s"] - row["start_s"] for row in rows), default=0) / 5
    start = {"end_s": 0, "omitted": None}
    for before, row in pairwise([start, *rows]):
        follows = before["end_s"] if before["omitted"] == row["omitted"] else 0
        _refuse(row, abs(row["start_s"] - follows) > slack, "start_s")
    rows = [row for row in rows if not row["omitted"]]
    left = stream["until_s"] - (rows[-1]["end_s"] if rows else 0)
    # iperf3 does not print a last interval of less than a tenth
    _refuse(stream, not rows or abs(left) > slack, "until_s")

    def counted(figure):
        return [row[figure] for row in rows if not isnan(row[figure])]

    for figure in ("sent_bytes", "received_bytes"):
        _refuse(stream, fsum(counted(figure)) > stream[figure] * (1 + 1e-6), figure)
    again, packets = counted("retransmits"), counted("packets")
    _refuse(stream, sum(again) > stream["retransmits"], "retransmits")
    if not omits:
        # a datagram may come between the two counts
        _refuse(stream, sum(packets) > stream["packets"] + 1, "packets")
        fewer = again and left < 2e-6 and sum(again) < stream["retransmits"]
        _refuse(stream, fewer, "retransmits")
    for figure, most in (("cwnd_bytes", "cwnd_bytes"), ("rtt_s", "rtt_max_s")):
        _refuse(stream, max(counted(figure), default=0) > stream[most], most)
    least = min(counted("rtt_s"), default=stream["rtt_min_s"])
    _refuse(stream, least < stream["rtt_min_s"], "rtt_min_s")


def _refuse(row, wrong, *names):
    if wrong:
        where = (
            f"from {row['start_s']:g} to {row['end_s']:g} s" if "omitted" in row else "at its end"
        )
        figures = ", ".join(f"{name} = {row[name]:.9g}" for name in names)
        raise ReadError(
            f"iperf3's figures of the stream with port {row['port']} {where} contradict others in"
            f" this report: {figures}. {AGAIN}"
        )
