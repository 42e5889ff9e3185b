"""Units as people write them, beside a number and in the title of an axis."""

import re

LONGEST = 300  # characters of a title that are looked at
# "Goodput [Mbit/s]", "RTT (ms)", "RTT, ms", "RTT / ms", "RTT in ms", "Share, %"
BASES = r"(?:bits?|bytes?|[bB]|s|sec|bits?/s|bytes?/s|[bB]/s|[bB]ps)"
WORDS = r"segments?|packets?|frames?|seconds?|MSS|per cent"
UNIT = re.compile(
    rf"\[\s*[^\]\s][^\]]*\]|\(\s*[^)\s][^)]*\)"
    rf"|(?:,|/|\bin)\s*(?:[numkKMGTµ\u03bc]?{BASES}|{WORDS})\s*$|%"
)
PREFIXES = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
SMALL = {"": 1, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "\u03bc": 1e-6, "m": 1e-3}
DATA = re.compile(r"([kKMGTm]?)(bits?|Bits?|bytes?|Bytes?|[bB])(/s|ps|/sec|/second| per second)?")
TIME = re.compile(r"([numµ\u03bc]?)(s|sec|secs|seconds?)|(milli|micro|nano)seconds?")
COUNT = re.compile(r"(?i)(segment|packet|frame|mss)s?")
SHARES = {"%": 0.01, "per cent": 0.01, "percent": 0.01, "1": 1}


def units_of(title):
    """The units in a title, as texts."""
    found = UNIT.finditer(title[:LONGEST])
    return [one[0].strip(",/ ()[]").removeprefix("in ").strip() for one in found]


def meaning(title):
    """`known` of the first known unit in a title; None where there is none."""
    return next(filter(None, map(known, units_of(title))), None)


def known(unit):
    """Kind and size of a unit, such as ("data/s", 1e6) for Mbit/s; None for other texts."""
    if found := DATA.fullmatch(unit):
        prefix, base, rate = found.groups()
        bits = 8 if base == "B" or base.lower().startswith("byte") else 1
        prefix = prefix.replace("m", "M")  # nobody counts thousandths of a bit
        return ("data/s" if rate else "data"), bits * PREFIXES[prefix]
    if found := TIME.fullmatch(unit):
        return "s", SMALL[found[1] or {"milli": "m", "micro": "u", "nano": "n"}.get(found[3], "")]
    if found := COUNT.fullmatch(unit):
        return found[1].lower(), 1
    return ("share", SHARES[unit]) if unit in SHARES else None
