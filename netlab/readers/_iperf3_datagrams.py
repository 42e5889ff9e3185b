"""How much arrived over UDP: iperf3's JSON has no figure of it per stream."""

from netlab.readers import _iperf3_document as document
from netlab.readers._common import NAN, given, number

# the receiver's own counts are better than those that it sent to the sender
COUNTED = "jitter_s", "lost_packets"


def corrected(row, other, doubts):
    """A client's row, with the counts of the server's own report."""
    own = {name: other[name] for name in COUNTED if other.get(name, NAN) == other.get(name)}
    lost, truly = row["lost_packets"], own.get("lost_packets", NAN)
    if abs(lost - truly) > 0.01 * row["packets"]:
        doubts.append(
            f"lost_packets = {lost:.0f} of the stream with port {row['port']}, and {truly:.0f} in"
            " the server's own report: the server's is taken"
        )
    return row | own


def arrived(streams, doc, doubts):
    """Fill, in the rows of a report's streams, what arrived: what was sent, without what was lost.
    Where the losses contradict what the receiver counted, they are unknown.
    """
    block_bytes = given(doc["start"]["test_start"], "blksize")
    for back in sorted({row["back"] for row in streams}):
        rows = [row for row in streams if row["back"] == back]
        whole = document.total(doc, "received", back) or {}
        size, packets, in_all = (
            number(whole, name, []) for name in ("bytes", "packets", "lost_packets")
        )
        came = size / block_bytes
        sent, lost = (sum(row[name] for row in rows) for name in ("packets", "lost_packets"))
        # a receiver knows of losses by what comes later: of none, if nothing does
        if came < 0.9 * (packets - lost) or (lost == 0 and came < 0.5 * sent):
            doubts.append(
                f"lost_packets = {lost:.0f} of {sent:.0f} sent, but only {came:.0f} arrived: it and"
                " loss are NaN"
            )
            for row in rows:
                row["lost_packets"] = NAN
        elif "server_output_json" not in doc and abs(lost - in_all) > 0.01 * packets:
            doubts.append(
                f"lost_packets = {in_all:.0f} in all, and {lost:.0f} in its streams: theirs count"
            )
        seconds = number(whole or doc["end"].get("sum", {}), "seconds", [])
        _without_the_lost(rows, size, seconds)
    for row in streams:
        row["loss"] = row["lost_packets"] / (row["packets"] or NAN)


def _without_the_lost(rows, most_bytes, seconds):
    """Rates and bytes that arrived; together no more than the receiver counted, if it did."""
    unknown = [row for row in rows if row["received_bytes"] != row["received_bytes"]]
    for row in unknown:
        left = 1 - row["lost_packets"] / (row["packets"] or NAN)
        row["received_bytes"] = row["sent_bytes"] * left if 0 <= left <= 1 else NAN
    # what was still on its way when the test ended has not arrived, and is not lost
    together = sum(row["received_bytes"] for row in rows)
    share = most_bytes / together if len(unknown) == len(rows) and most_bytes < together else 1
    for row in unknown:
        row["received_bytes"] *= share
        took_s = max(row["end_s"] - row["start_s"], seconds if seconds == seconds else 0)
        row["received_bps"] = 8 * row["received_bytes"] / (took_s or NAN)
