"""iperf3's text of a report, from its JSON document: the formats of iperf3's iperf_locale.c and
units.c, which print at most four characters of a number.
"""


def size(count):
    """Bytes, as iperf3 prints them."""
    return _short(count, 1024, "Bytes")


def rate(bps, unit="a"):
    """A rate, for ``-f UNIT``."""
    if unit == "a":
        return f"{_short(bps, 1000, 'bits')}/sec"
    base, amount, name = (1000, bps, "bits") if unit.islower() else (1024, bps / 8, "Bytes")
    power = "_KMGT".index(unit.upper())
    return f"{_four(amount / base**power)} {'_KMGT'[power]}{name}/sec"


def _short(amount, base, name):
    power = 0
    while amount >= base and power < 4:
        amount, power = amount / base, power + 1
    return f"{_four(amount)} {['', 'K', 'M', 'G', 'T'][power]}{name}"


def _four(amount):
    return f"{amount:4.{2 if amount < 9.995 else 1 if amount < 99.95 else 0}f}"


def line(name, span, rest, way=""):
    """One line of results; `span` has start, end, bytes and bits_per_second."""
    start, end = span["start"], span["end"]
    what = f"{size(span['bytes'])}  {rate(span['bits_per_second'], span.get('unit', 'a'))}"
    return f"[{name:>3}]{way} {start:6.2f}-{end:<6.2f} sec  {what}  {rest}"


def text(doc):
    """What iperf3 would have printed without -J."""
    start, end, test = doc["start"], doc["end"], doc["start"]["test_start"]
    client, udp = "connecting_to" in start, test["protocol"] == "UDP"
    totals = [(s.get("udp") or s["sender"], s.get("receiver")) for s in end["streams"]]
    both = len({entry.get("sender") for entry, _ in totals}) > 1

    def sends(entry):
        return entry.get("sender", client != bool(test["reverse"]))

    def way(entry):
        return f"[{'TX' if sends(entry) else 'RX'}-{'C' if client else 'S'}]" * both

    if client:
        lines = ["Connecting to host {host}, port {port}".format(**start["connecting_to"])]
        lines += ["Reverse mode, remote host x is sending"] * bool(test["reverse"])
    else:
        lines = [
            "Accepted connection from {host}, port {port}".format(**start["accepted_connection"])
        ]
    for c in start["connected"]:
        here, there = (f"{c[f'{end}_host']} port {c[f'{end}_port']}" for end in ("local", "remote"))
        lines.append(f"[{c['socket']:3}] local {here} connected to {there}")
    lines.append("[ ID] Interval           Transfer     Bitrate")
    for s in (s for interval in doc["intervals"] for s in interval["streams"]):
        rest = ""
        if udp:
            rest = str(s["packets"]) if sends(s) else _received(s)
        elif sends(s) and "retransmits" in s:
            rest = f"{s['retransmits']:3}   {size(s['snd_cwnd'])}"
        omitted = "(omitted)" if s["omitted"] else ""
        lines.append(line(s["socket"], s, f"{rest}  {omitted}", way(s)))
    lines += ["- - - - - - - - - - - - -", "[ ID] Interval           Transfer     Bitrate"]
    for entry, receiver in totals:
        if udp:  # of 3.0 and 3.1: later ones print what their JSON has not
            lines.append(line(entry["socket"], entry, _received(entry), way(entry)))
            continue
        resent = f"{entry['retransmits']:3}" if "retransmits" in entry else ""
        lines.append(line(entry["socket"], entry, f"{resent}  sender", way(entry)))
        lines.append(line(entry["socket"], receiver, "receiver", way(entry)))
    over = "\niperf Done." if client else "Server listening on 5201"
    return "\n".join([*lines, f"iperf3: {doc['error']}" if "error" in doc else over, ""])


def _received(entry):
    lost = f"{entry['lost_packets']}/{entry['packets']} ({entry['lost_percent']:.2g}%)"
    return f"{entry['jitter_ms']:5.3f} ms  {lost}  "
