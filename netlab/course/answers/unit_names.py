"""Units as people write them, beside a number and in the title of an axis."""

import re

LONGEST = 300  # characters of a title that are looked at
BRACKETS = re.compile(r"[\[(]([^\[\]()]*)[\])]")
PER = re.compile(r"\s+per\s+(?=(?:s|sec|second)\b)|\s*/\s*")  # "Mbit per second", "RTT / ms"
PREFIXES = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
SMALL = {"": 1, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "\u03bc": 1e-6, "m": 1e-3}
DATA = re.compile(r"([kKMGTm]?)(bits?|Bits?|bytes?|Bytes?|[bB])(/s|ps|/sec|/second| per second)?")
TIME = re.compile(r"([numµ\u03bc]?)(s|sec|secs|seconds?)|(milli|micro|nano)seconds?")
COUNT = re.compile(r"(?i)(segment|packet|frame|mss)s?")
SHARES = {"%": 0.01, "per cent": 0.01, "percent": 0.01, "1": 1}


def units_of(title):
    """The units that a title names, as texts, those in brackets first: "Goodput [Mbit/s]",
    "RTT (ms)", "RTT, ms", "RTT / ms", "RTT in ms", "goodput Mbps", or the unit alone. Where no
    known one is named, what stands in brackets.

    Examples
    --------
    >>> units_of("Goodput / Mbit/s"), units_of("95 % of all RTTs [ms]"), units_of("Dauer (Takte)")
    (['Mbit/s'], ['ms', '%'], ['Takte'])
    """
    title = PER.sub("/", title[:LONGEST]).replace("per cent", "percent").replace("%", " % ")
    marked = [one.strip() for one in BRACKETS.findall(title)]
    *inner, last = words(BRACKETS.sub(" ", title))
    # within a title, a letter is hardly ever a unit: "host B", "the s that pass"
    bare = [one for one in inner if len(one) > 1 or one == "%"] + [last]
    found = [one for one in marked if known(one)]
    found += [one for text in marked if text not in found for one in words(text) if known(one)]
    found += [one for one in bare if known(one) and one != "1"]
    rates = [one for one in bare if "/" in one and known(one.partition("/")[0])]  # "packets/s"
    return found or [*filter(None, [*marked, *rates])]


def words(text):
    """The words of a title; of "RTT/ms" what is below the line, which a known unit stays whole."""
    found = []
    for word in re.split(r"[\s,;:]+", text.strip(" \t\n,;:/")):
        above, line, below = word.partition("/")
        found.append(below if line and not known(word) and not known(above) else word)
    return found


def asked(title):
    """Whether a title asks for a unit beside the quantity: a word for what is counted, such as
    "lost packets", is the quantity.
    """
    names_unit = any(not COUNT.fullmatch(one) for one in units_of(title))
    return names_unit or any(map(str.strip, BRACKETS.findall(title)))


def meaning(title, kind=None):
    """`known` of the first known unit in a title, or of the first of this kind, if it has one;
    None where there is none.
    """
    found = [*filter(None, map(known, units_of(title)))]
    return next((one for one in found if one[0] == kind), found[0] if found else None)


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
