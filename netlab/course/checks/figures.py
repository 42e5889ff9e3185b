"""Figures as answers: curves, and axes with titles and units."""

import re

from netlab.course.checks import slips
from netlab.course.checks.verdicts import Check

DATA, TITLES, UNITS = 0.6, 0.2, 0.2  # shares of a figure
LONGEST_TITLE = 300  # characters that are looked at
NO_TITLE = "the {} axis has no title"
NO_UNIT = "the title of the {} axis has no unit, such as [ms]"
PREFIXES = {"": 1, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9}
BASES = r"(?:bits?|bytes?|[bB]|s|bit/s|byte/s|B/s|bps)"
PREFIXED = re.compile(rf"([numkMGµ]?){BASES}")
WORDS = r"segments?|packets?|seconds?|MSS|per cent"
# "Goodput [Mbit/s]", "RTT (ms)", "RTT, ms", "RTT / ms", "RTT in ms", "Share, %"
UNIT = re.compile(
    rf"\[\s*[^\]\s][^\]]*\]|\(\s*[^)\s][^)]*\)|(?:,|/|\bin)\s*(?:[numkMGµ]?{BASES}|{WORDS})\s*$|%"
)
MOST_TIMES = 3  # as many curves as asked for


def look_at_figure(given):
    """Has a figure data, and axes with titles and units?"""
    missing = flaws(given)
    if missing:
        return Check("wrong", 0, "; ".join(missing))
    bare = [letter for letter in "xy" if not has_unit(given[f"{letter}axis"]["title"])]
    said = "units" if not bare else f"no unit on {' and '.join(bare)}: right for names and counts"
    return Check("noted", 0, f"this is a figure with data, titles and {said}; it can be an answer")


def flaws(given):
    """What any figure lacks."""
    if not any(points(trace) for trace in given["traces"]):
        return ["the figure has no data"]
    missing = []
    for letter in "xy":
        title = given[f"{letter}axis"]["title"]
        if not title.strip():
            missing.append(NO_TITLE.format(letter))
        elif not has_unit(title) and needs_unit(given, letter):
            missing.append(NO_UNIT.format(letter))
    return missing


def needs_unit(given, letter):
    """Names and counts have none."""
    values = [one for trace in given["traces"] for one in trace[letter]]
    return any(type(one) is float and not one.is_integer() for one in values)


def compare_figures(given, right, spec):
    """Curves, titles and units: each has its part of the share."""
    found = matched(given, right, spec)
    count = len(right["traces"])
    hints = []
    if not any(points(trace) for trace in given["traces"]):
        hints = ["the figure has no data"]
    elif found < count:
        few = f"{found} of {count} curves are right"
        none = "the curves are not those that were asked for: look at the values, and the unit"
        hints = [few if found else none]
    titles = [(letter, given[f"{letter}axis"]["title"].strip()) for letter in "xy"]
    wanted = {letter: right[f"{letter}axis"]["title"] for letter in "xy"}
    titled = {letter: bool(one) for letter, one in titles if wanted[letter]}
    measured = {letter: has_unit(one) for letter, one in titles if has_unit(wanted[letter])}
    hints += [NO_TITLE.format(letter) for letter, one in titled.items() if not one]
    hints += [NO_UNIT.format(one) for one, there in measured.items() if titled[one] and not there]
    if not hints:
        return Check("right", 1)
    share = DATA * (found / count if count else 1)
    for weight, parts in ((TITLES, titled), (UNITS, measured)):
        share += weight * (sum(parts.values()) / len(parts) if parts else 1)
    verdict = "close" if found == count else "wrong"
    return Check(verdict, round(share, 6) if found or not count else 0, "; ".join(hints))


def matched(given, right, spec):
    """How many of the right curves are there, in whatever order and by whatever name."""
    scales, within = [scale(right), scale(given)], slips.tolerance(spec)
    factor = scales[0] / scales[1] if all(scales) else 1
    if len(given["traces"]) > MOST_TIMES * len(right["traces"]) + MOST_TIMES:
        return 0  # as many curves as it takes to have the right ones among them
    left, found = [points(trace) for trace in given["traces"]], 0
    for wanted in map(points, right["traces"]):
        for number, own in enumerate(left):
            if same_points(own, wanted, factor, within):
                del left[number]
                found += 1
                break
    return found


def same_points(given, right, factor, within):
    """Are the points of two curves the same, once those of the given one are as the title of the
    right one's axis says?
    """
    return len(given) == len(right) and all(
        slips.near(float(one) / factor, float(it), within)
        if {type(one), type(it)} <= {int, float}
        else one == it
        for one, it in zip(given, right, strict=True)
    )


def points(trace):
    """What a curve is about: heights, wherever there are numbers; else lengths of bars, samples."""
    if trace["z"]:
        rows = [
            one["items"] if isinstance(one, dict) and "items" in one else [one]
            for one in trace["z"]
        ]
        return [one for row in rows for one in row]
    numbers = [axis for axis in "yx" if any(type(one) in (int, float) for one in trace[axis])]
    return trace[numbers[0] if numbers else "y"]


def has_unit(title):
    return bool(unit_of(title))


def unit_of(title):
    """The part of a title that is its unit, as a match, or None."""
    return UNIT.search(title[:LONGEST_TITLE])


def scale(figure):
    """What one on the y axis stands for, by the prefix of its unit: 1e6 for Mbit/s; or None."""
    found = unit_of(figure["yaxis"]["title"])
    prefix = (
        PREFIXED.fullmatch(found[0].strip(",/ ()[]").removeprefix("in ").strip()) if found else None
    )
    return PREFIXES[prefix[1]] if prefix else None
