"""Figures as answers: curves, and axes with titles and units."""

from netlab.course.checks import numbers
from netlab.course.checks.spelling import plain
from netlab.course.checks.unit_names import meaning, units_of
from netlab.course.checks.verdicts import RIGHT, Check

DATA, TITLES, UNITS = 0.6, 0.2, 0.2  # shares of a figure
NO_TITLE = "the {} axis has no title"
NO_UNIT = "the title of the {} axis has no unit, such as [ms]"
OTHER_UNIT = "is the unit in the title of the {} axis that of its values?"
MOST_TIMES = 3  # a figure may have so many times the curves that were asked for
IN_ORDER = "lines"  # in a trace's mode: its points are joined one after the other


def look_at_figure(given):
    """Has a figure data, and axes with titles and units?"""
    missing = flaws(given)
    if missing:
        return Check("wrong", 0, "; ".join(missing))
    bare = [letter for letter in "xy" if not units_of(given[f"{letter}axis"]["title"])]
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
        elif not units_of(title) and needs_unit(given, letter):
            missing.append(NO_UNIT.format(letter))
    return missing


def needs_unit(given, letter):
    """Whether some value is no whole number; names and counts have no unit."""
    values = [one for trace in given["traces"] for one in trace[letter]]
    return any(type(one) is float and not one.is_integer() for one in values)


def compare_figures(given, right, spec):
    """Curves, titles and units: each has its part of the share."""
    found, strange = matched(given, right, spec)
    count, hints = len(right["traces"]), []
    if not any(points(trace) for trace in given["traces"]):
        hints = ["the figure has no data"]
    elif found < count:
        few = f"{found} of {count} curves are right"
        none = "the curves are not those that were asked for: look at the values, and the unit"
        hints = [(few if found else none) + strange]
    titled, measured = {}, {}
    for letter in "xy":
        title, wanted = (one[f"{letter}axis"]["title"].strip() for one in (given, right))
        if wanted:
            titled[letter] = bool(title)
            hints += [] if title else [NO_TITLE.format(letter)]
        if units_of(wanted):
            kinds = [one and one[0] for one in (meaning(title), meaning(wanted))]
            measured[letter] = bool(units_of(title)) and (None in kinds or kinds[0] == kinds[1])
            if title and not measured[letter]:
                lacks = OTHER_UNIT if units_of(title) else NO_UNIT
                hints.append(lacks.format(letter))
    if not hints:
        return RIGHT
    share = DATA * (found / count if count else 1)
    for weight, parts in ((TITLES, titled), (UNITS, measured)):
        share += weight * (sum(parts.values()) / len(parts) if parts else 1)
    verdict = "close" if found == count else "wrong"
    return Check(verdict, round(share, 6) if found or not count else 0, "; ".join(hints))


def matched(given, right, spec):
    """How many of the right curves are there, in any order; and which given ones are none."""
    if len(given["traces"]) > MOST_TIMES * len(right["traces"]) + MOST_TIMES:
        return 0, ""  # as many curves as it takes to have the right ones among them
    factors, within = [factor(given, right, letter) for letter in "xy"], numbers.tolerance(spec)
    names = {plain(trace["name"]) for trace in right["traces"]} - {""}
    left, found = [trace for trace in given["traces"] if points(trace)], 0
    for wanted in right["traces"]:
        for number, own in enumerate(left):
            name = plain(own["name"])
            another = name in names and name != plain(wanted["name"]) != ""
            if not another and same_curve(own, wanted, factors, within):
                del left[number]
                found += 1
                break
    strange = [trace["name"] for trace in left if trace["name"]]
    return found, f"; not among them: yours called {', '.join(strange[:3])}" if strange else ""


def factor(given, right, letter):
    """The factor from the unit on a given axis to that on the right one; 1 if one is unknown."""
    own, wanted = (meaning(one[f"{letter}axis"]["title"]) for one in (given, right))
    return own[1] / wanted[1] if own and wanted and own[0] == wanted[0] else 1


def same_curve(given, right, factors, within):
    """Are the points of two curves the same? Those of bars and markers stand in any order."""
    if (given["orientation"] == "h") != (right["orientation"] == "h"):
        return False
    own, wanted = points(given), points(right)
    if len(own) != len(wanted):
        return False
    if any(same_points(one, wanted, factors, within) for one in (own, own[::-1])):
        return True
    # without a mode, plotly joins the points, or it does not
    dots = right["type"] in ("scatter", "scattergl") and given["mode"]
    if not (dots or right["type"] == "bar") or IN_ORDER in given["mode"]:
        return False
    return same_points(sorted(own, key=place), sorted(wanted, key=place), factors, within)


def place(point):
    """Sorts points: numbers before texts."""
    return [(0, one, "") if type(one) in (int, float) else (1, 0, plain(one)) for one in point]


def same_points(given, right, factors, within):
    return len(given) == len(right) and all(
        len(one) == len(it) and all(map(same_value, one, it, [*factors, 1], [within] * 3))
        for one, it in zip(given, right, strict=True)
    )


def same_value(given, right, by, within):
    """Are two values the same, once the given one is in the unit of the right one's axis?"""
    if {type(given), type(right)} <= {int, float}:
        return numbers.near(float(given) * by, float(right), within)
    return (given is None) == (right is None) and plain(given) == plain(right)


def points(trace):
    """A curve's points (x, y), a map's (x, y, z); no x or y are numbers from 0, as in plotly."""
    x, y, rows = trace["x"], trace["y"], trace["z"]
    if rows:
        rows = [one["items"] if isinstance(one, dict) and "items" in one else [one] for one in rows]
        return [
            (at(x, column), at(y, row), height)
            for row, heights in enumerate(rows)
            for column, height in enumerate(heights)
        ]
    size = min(map(len, filter(None, (x, y))), default=0)  # plotly leaves out the rest
    return [(at(x, number), at(y, number)) for number in range(size)]


def at(values, number):
    return (values[number] if number < len(values) else None) if values else number
