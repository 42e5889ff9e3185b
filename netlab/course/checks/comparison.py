"""An answer beside the right one, by their kinds: numbers, choices, lists, dicts and tables."""

from netlab.course.checks import slips
from netlab.course.checks.figures import compare_figures
from netlab.course.checks.verdicts import Check
from netlab.course.checks.wholes import (
    compare_algorithms,
    compare_experiments,
    compare_topologies,
)
from netlab.course.predictions import plain

KINDS = {
    "nothing": "nothing",
    "truth": "a choice",
    "number": "a number",
    "text": "a text",
    "list": "a list",
    "dict": "a dict",
    "table": "a table",
    "figure": "a figure",
    "experiment": "an experiment",
    "topology": "a network",
    "algorithm": "a congestion control",
    "function": "a function",
    "error": "an error",
    "other": "something else",
}
CHOICES = "truth", "text"
UNITS = {"_bps": "bit/s", "_s": "s", "_bytes": "byte"}  # by a column's ending
LONGEST_SHOWN = 60  # characters of a choice
LONG_NUMBER = 100_000  # from here on, zeros are hard to count
UNWRITTEN = "NotImplementedError"
STUB = "not written yet, raise NotImplementedError() still stands in it"
NOTHING = "it has no value yet (None); if a function makes it, does that end with return?"
RIGHT = Check("right", 1)


def compare_plainly(given, right, spec):
    """`compare` without mistakes that have names."""
    kind, wanted = given["kind"], right["kind"]
    if kind == "nothing" and wanted != "nothing":
        return Check("nothing", 0, NOTHING)
    if kind == "error":
        return Check("wrong", 0, STUB if given["text"].startswith(UNWRITTEN) else given["text"])
    if wanted == "nothing":
        return Check("right", 1) if kind == wanted else Check("wrong", 0, "it should be None")
    if wanted in CHOICES and kind in (*CHOICES, "number"):
        return compare_choices(given["value"], right["value"])
    if kind == wanted == "number":
        return slips.compare_numbers(given["value"], right["value"], spec)
    if wanted in ("list", "dict") and kind in ("list", "dict", "table"):
        return compare_several(given, right, spec)
    if wanted == "table" and kind in ("table", "list", "dict"):
        return compare_tables(given, right, spec)
    if kind == wanted == "function":
        return compare_calls(given["results"], right["results"], spec)
    if kind == wanted and kind in WHOLES:
        return WHOLES[kind](given, right, spec)
    return Check("wrong", 0, another_kind(given, wanted))


def compare_calls(given, right, spec):
    """What a function returns, call by call; what does not depend on the call is no function."""
    found = several(*(dict(enumerate(one, 1)) for one in (given, right)), spec, "call")
    constant = len(right) > 1 and all(one == given[0] for one in given) and found.share < 1
    if constant and given[0]["kind"] not in ("nothing", "error"):
        return Check("wrong", 0, f"it returns the same for each of {len(right)} calls")
    return found


def called(name, case):
    """A call as one writes it."""
    if isinstance(case, dict):
        values = [f"{key}={written(value)}" for key, value in case.items()]
    else:
        values = map(written, case if isinstance(case, list) else [case])
    return f"{name or 'call'}({', '.join(values)})"


def written(value):
    """A value in Python, as people write it.

    Examples
    --------
    >>> written(1e9), written([1500000.0, 0.02]), written(1048576)
    ('1e9', '[1.5e6, 0.02]', '1_048_576')
    """
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {written(one)}' for key, one in value.items())}}}"
    whole = type(value) is int or (type(value) is float and value.is_integer())
    if not whole or abs(value) < LONG_NUMBER:
        return repr(value)
    if type(value) is float:
        digits, exponent = f"{value:.15e}".split("e")
        digits = digits.rstrip("0").rstrip(".")
        if len(digits) <= len("-1.25") or abs(value) >= 1e15:
            return f"{digits}e{int(exponent)}"
    return f"{int(value):_}"


LISTABLE = "map", "filter", "zip", "generator", "dict_", "set", "frozenset"  # types
WHOLES = {
    "figure": compare_figures,
    "experiment": compare_experiments,
    "topology": compare_topologies,
    "algorithm": compare_algorithms,
}


def another_kind(given, wanted):
    """A hint where an answer is of another kind than it should be."""
    kind = given["kind"]
    if kind == "text" and wanted == "number":
        if is_numeral(given["value"]):
            return "this is a number in a text: leave out the quotes"
        return "this is a text: write a number, without its unit"
    if kind == "function" and wanted != "algorithm":
        return f"this is a function: call it, so that the answer is {KINDS[wanted]}"
    if kind == "function":
        return "this is a function, or a class of another kind: the answer is a congestion control"
    if kind == "list" and wanted == "number" and len(given["items"]) == 1:
        return "this is a list of one: take the number out of it, with [0]"
    return f"{named(given)}, and the answer is {KINDS[wanted]}"


def named(given):
    """What an answer is, in words."""
    if given["kind"] != "other":
        return f"this is {KINDS[given['kind']]}"
    listable = ": make a list of it, with list(...)" * given["type"].startswith(LISTABLE)
    return f"this is of the type {given['type']}{listable}"


def is_numeral(text):
    try:
        float(text[:100])
    except ValueError:
        return False
    return True


def compare_choices(given, right):
    """Texts and truths, as people write them."""
    said = plain(given)
    if isinstance(right, bool) and said in ("true", "false"):
        said = plain(said == "true")
    same = said == plain(right)
    if not plain(right):  # nothing but signs
        same = str(given).strip() == str(right).strip()
    return (
        Check("right", 1) if same else Check("wrong", 0, f"you gave {shown(given)}: not this one")
    )


def shown(value):
    """A choice as it was given."""
    return f'"{value[:LONGEST_SHOWN]}"' if isinstance(value, str) else str(value)


def compare_several(given, right, spec):
    """Lists by position, dicts by name; a dict may stand for a list, in its order."""
    if right["kind"] == "dict" and given["kind"] == "table":
        given = {"kind": "dict", "items": columns_as_lists(given)}
    if given["kind"] == "table":
        if len(given["columns"]) != 1:
            return Check("wrong", 0, "this is a table: take the column that was asked for")
        given = next(iter(columns_as_lists(given).values()))
    if right["kind"] == "dict":
        if given["kind"] == "list":
            return Check("wrong", 0, f"{another_kind(given, 'dict')}, which names its values")
        return several(given["items"], right["items"], spec)
    if given["kind"] == "dict" and not ascending(given["items"]):
        return Check("wrong", 0, f"{another_kind(given, 'list')}: in which order?")
    numbered = [
        dict(enumerate(one["items"] if one["kind"] == "list" else one["items"].values(), 1))
        for one in (given, right)
    ]
    return several(*numbered, spec, "item", len(numbered[0]))


def ascending(names):
    """Do names that are numbers stand in their order?"""
    numbers = [float(name) for name in names if is_numeral(name)]
    return numbers == sorted(numbers)


def columns_as_lists(table):
    return {name: {"kind": "list", "items": one} for name, one in table["columns"].items()}


def several(given, right, spec, what="", count=0):
    """Parts by name: the share is the mean of theirs, and the hint is that of the first that is not
    right.
    """
    if not isinstance(next(iter(right), 0), int):  # people write names as they like
        given = {name: by_name(given, name) for name in right}
    parts = {name: part(given.get(name), one, spec) for name, one in right.items()}
    wrong = [name for name, one in parts.items() if one.verdict != "right"]
    size = max(len(right), count, 0 if right else len(given))
    share = sum(one.share for one in parts.values()) / size if size else 1
    if not wrong and size == len(right):
        return Check("right", 1)
    if not wrong:
        return Check("wrong", share, f"{size} items are more than there should be")
    first = parts[wrong[0]]
    why = first.hint
    if first.verdict == "nothing":
        why = "it returns nothing" if what == "call" else "it is missing"
    place = f"{what} {wrong[0]}" if what else str(wrong[0])
    if what == "call" and wrong[0] <= len(spec.get("cases") or ()):
        place = called(spec.get("name", ""), spec["cases"][wrong[0] - 1])
    hint = f"{len(right) - len(wrong)} of {size} are right; {place}: {why}"
    if len(right) == len(wrong) == 1 == size:
        hint = f"{place}: {why}"
    nothing = all(one.verdict == "nothing" for one in parts.values())
    nearly = all(one.verdict in ("right", "close") for one in parts.values())
    verdict = "nothing" if nothing else "close" if nearly and count <= len(right) else "wrong"
    return Check(verdict, share, hint)


def by_name(given, name):
    """What has a name, which people write as they like; None where two could be meant."""
    found = [one for other, one in given.items() if plain(other) == plain(name)]
    return given.get(name, found[0] if len(found) == 1 else None)


def part(given, right, spec):
    """One of several: an item, or a form."""
    if type(given) is type(right) is float and slips.near(given, right, slips.tolerance(spec)):
        return RIGHT  # there may be many
    return compare_plainly(as_form(given), as_form(right), spec)


def as_form(item):
    """The form that an item of a list stands for."""
    if isinstance(item, dict):
        return item
    if item is None:
        return {"kind": "nothing"}
    kind = {bool: "truth", str: "text"}.get(type(item), "number")
    return {"kind": kind, "value": item}


def unit_of_column(name):
    return next((unit for ending, unit in UNITS.items() if str(name).endswith(ending)), "")


def compare_tables(given, right, spec):
    """Columns by name, rows in their order: the share is the mean of the columns', and theirs is
    the mean of their cells'.
    """
    wanted = right["columns"]
    if given["kind"] == "list":
        if len(wanted) != 1:
            return Check("wrong", 0, another_kind(given, "table"))
        columns = dict.fromkeys(wanted, given["items"])
    elif given["kind"] == "dict":
        columns = {name: one.get("items") for name, one in given["items"].items()}
        columns = {name: one for name, one in columns.items() if isinstance(one, list)}
    else:
        columns = given["columns"]
    columns = {name: by_name(columns, name) for name in wanted}
    rows = max((len(one) for one in wanted.values()), default=0)
    shares, hints = [], []
    for name, cells in wanted.items():
        if columns[name] is None:
            shares.append(0)
            hints.append(f"the column {name} is missing")
            continue
        own = columns[name]
        size = max(len(own), rows)
        measured = {"unit": unit_of_column(name)} | spec
        found = [part(one, it, measured) for one, it in zip(own, cells, strict=False)]
        good = sum(one.verdict == "right" for one in found)
        shares.append(sum(one.share for one in found) / size if size else 1)
        if len(own) != rows:
            hints.append(f"the table has {len(own)} rows, and another number was asked for")
        elif good < size:
            bad = next(row for row, one in enumerate(found) if one.verdict != "right")
            why = f"row {bad}: {found[bad].hint}"
            hints.append(f"column {name}, {good} of {size} are right; {why}")
    if not hints:
        return Check("right", 1)
    return Check("wrong", sum(shares) / len(shares), hints[0])
