"""An answer's form beside the right one: numbers, choices, lists, dicts and tables."""

import re

from netlab.course.checks import numbers
from netlab.course.checks.bounds import failure
from netlab.course.checks.descriptions import compare_experiments, compare_topologies
from netlab.course.checks.figures import compare_figures
from netlab.course.checks.script import compare_algorithms
from netlab.course.checks.spelling import NUMBER, plain
from netlab.course.checks.verdicts import RIGHT, Check
from netlab.errors import NetlabError, SpecificationError

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
    "network": "a network that is up, or its history",
    "algorithm": "a congestion control",
    "function": "a function",
    "error": "an error",
    "other": "something else",
}
CHOICES = "truth", "text"
UNITS = {"_bps": "bit/s", "_s": "s", "_bytes": "byte"}  # by a column's ending
LONGEST_SHOWN = 60  # characters of a choice
LONG_NUMBER = 100_000  # from here on, zeros are hard to count
GROUPS = re.compile(r"(?<=\d)[ .,'_](?=\d{3}(?!\d))")  # between thousands
UNWRITTEN = "NotImplementedError"
STUB = "not written yet, raise NotImplementedError() still stands in it"
NOTHING = "it has no value yet (None); if a function makes it, does that end with return?"
NO_ITEM = {"kind": "nothing"}  # in the place of one that is not there
LISTABLE = "map", "filter", "zip", "generator", "dict_", "set", "frozenset"  # types


def compare(given, right, spec):
    """Compare an answer's form (`netlab.course.checks.forms`) with the right one.

    `spec` may have ``unit``, ``within``, ``exact``, ``pairs``; ``mistakes``, a form for each hint;
    of a function ``name`` and ``cases``; ``plausible`` where `right` need not be right.
    """
    if why := not_comparable(right):
        raise SpecificationError(f"what an answer is compared with cannot be compared: {why}")
    given = taken_out(given, right["kind"])
    found = compare_plainly(given, right, spec)
    if found.verdict in ("right", "nothing"):
        return found
    mistakes = (spec.get("mistakes") or {}).items()
    hints = [hint for hint, one in mistakes if is_mistake(given, one, right, spec)]
    if not hints:
        return found
    hint, good = "; or: ".join(hints), found.good if given["kind"] == right["kind"] else 0
    if given["kind"] == "number":
        hint = f"you gave {numbers.readable(float(given['value']), spec.get('unit'))}: {hint}"
    elif given["kind"] in CHOICES:
        hint = f"you gave {shown(given['value'])}: {hint}"
    return Check("wrong", good, hint)


def not_comparable(right):
    """Why nothing can be compared with this; "" where it can."""
    if right["kind"] == "function" and not right["results"]:
        return "a function without cases; call it, and compare what it returns"
    if right["kind"] == "table" and not right["columns"]:
        return "a table without columns"
    if right["kind"] == "figure" and not any(
        one[axis] for one in right["traces"] for axis in "xyz"
    ):
        return "a figure without data"
    if right["kind"] == "algorithm" and not right["trace"]:
        return f"a congestion control that fails: {right['failed']}"
    return right.get("text", right.get("type", "")) if right["kind"] in ("error", "other") else ""


def is_mistake(given, mistake, right, spec):
    """Whether an answer that is not right is this mistake."""
    if mistake["kind"] == "nothing" or not_comparable(mistake):
        return False
    sharp = max(1e-6, min(numbers.tolerance(spec), numbers.MOST_SLIP))
    try:
        same = compare_plainly(given, mistake, spec | {"within": sharp, "exact": False})
    except NetlabError:  # it cannot be compared: a network without the path in `pairs`
        return False
    if same.verdict == "right" and {"number"} == {given["kind"], mistake["kind"], right["kind"]}:
        value, wrong, right = (float(one["value"]) for one in (given, mistake, right))
        return not abs(value - right) < abs(value - wrong)
    return same.verdict == "right"


def compare_plainly(given, right, spec):
    """`compare` without mistakes that have names; an answer that raises is wrong."""
    try:
        return compare_kinds(given, right, spec)
    except Exception as error:  # a stranger's values cause it
        compare_kinds(right, right, spec)  # raises where the solution is at fault
        return Check("wrong", 0, failure(error)["text"])


def taken_out(given, wanted):
    """The one value of a Series, an array or a list of one, where one value is asked for."""
    while wanted in ("number", *CHOICES) and given["kind"] in ("list", "dict"):
        items = given["items"]
        if len(items) != 1:
            break
        (item,) = items.values() if isinstance(items, dict) else items
        given = as_form(item)
    return given


def compare_kinds(given, right, spec):
    given = taken_out(given, right["kind"])
    kind, wanted = given["kind"], right["kind"]
    if kind != wanted and (why := missing(given)):
        return Check("nothing", 0, why)
    if kind == "error":
        return Check("wrong", 0, given["text"])
    if wanted == "nothing":
        return RIGHT if kind == wanted else Check("wrong", 0, "it should be None")
    if wanted in CHOICES and kind in (*CHOICES, "number"):
        return compare_choices(given["value"], right["value"])
    if wanted in ("list", "dict") and kind in ("list", "dict", "table"):
        return compare_several(given, right, spec)
    if wanted == "table" and kind in ("table", "list", "dict"):
        return compare_tables(given, right, spec)
    if kind == wanted and kind in WHOLES:
        return WHOLES[kind](given, right, spec)
    return Check("wrong", 0, another_kind(given, wanted))


def missing(given):
    """Why this is no answer: no value, or a function as it was handed out; "" for all else."""
    if given["kind"] == "error" and given["text"].startswith(UNWRITTEN):
        return STUB
    return NOTHING if given["kind"] == "nothing" else ""


def compare_calls(given, right, spec):
    """Results of a function, call by call; one that is the same for each call is worth nothing."""
    given, right = given["results"], right["results"]
    found = several(numbered(given), numbered(right), spec, "call")
    constant = len(right) > 1 and all(one == given[0] for one in given) and found.share < 1
    if constant and given[0]["kind"] not in ("nothing", "error"):
        return Check("wrong", 0, f"it returns the same for each of {len(right)} calls", found.good)
    return found


def called(name, case):
    """A call in Python."""
    if isinstance(case, dict):
        values = [f"{key}={written(value)}" for key, value in case.items()]
    else:
        values = map(written, case if isinstance(case, list) else [case])
    return f"{name or 'call'}({', '.join(values)})"


def written(value):
    """A value in Python, as people write it.

    Examples
    --------
    >>> written(1e9), written([1500000.0, 0.02, 2.0, 1234567.5]), written(1048576)
    ('1e9', '[1.5e6, 0.02, 2.0, 1234567.5]', '1_048_576')
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


def another_kind(given, wanted):
    """A hint where an answer is of another kind than it should be."""
    kind = given["kind"]
    if kind == "text" and wanted == "number":
        if NUMBER.fullmatch(given["value"].strip()):
            return "this is a number in a text: leave out the quotes"
        if NUMBER.fullmatch(given["value"].strip().replace(",", ".", 1)):
            return "this is a number in a text, with a comma: write it with a point, without quotes"
        if NUMBER.fullmatch(GROUPS.sub("", given["value"].strip())):
            return "this is a number in a text: leave out the quotes, and what parts its digits"
        return "this is a text: write a number, without its unit"
    if kind == "function" and wanted != "algorithm":
        return f"this is a function: call it, so that the answer is {KINDS[wanted]}"
    if kind == "function":
        return "this is a function, or a class of another kind: the answer is a congestion control"
    comma = with_comma(given["items"]) if kind == "list" and wanted == "number" else ""
    return f"{named(given)}, and the answer is {KINDS[wanted]}{comma}"


def with_comma(items):
    """A hint where a list can be a number that was written with commas; "" elsewhere."""
    if len(items) < 2 or type(items[0]) is not int or any(type(one) is bool for one in items):
        return ""
    if len(items) == 2 and type(items[1]) in (int, float) and items[1] >= 0:
        return "; Python takes 0,5 for two numbers: write 0.5, with a point"
    if all(type(one) is int and 0 <= one < 1000 for one in items[1:]):
        return "; Python takes 1,250,000 for three numbers: write 1_250_000 or 1250000"
    return ""


def named(given):
    """The kind of an answer, in words."""
    if given["kind"] != "other":
        return f"this is {KINDS[given['kind']]}"
    listable = ": make a list of it, with list(...)" * given["type"].startswith(LISTABLE)
    return f"this is of the type {given['type']}{listable}"


def compare_choices(given, right):
    """Compare texts and truths, however they are spelled."""
    said = plain(given)
    if isinstance(right, bool) and said in ("true", "false"):
        said = plain(said == "true")
    same = said == plain(right)
    if not plain(right):  # nothing but signs
        same = str(given).strip() == str(right).strip()
    return RIGHT if same else Check("wrong", 0, f"you gave {shown(given)}: not this one")


def shown(value):
    """A choice as it was given."""
    return f'"{value[:LONGEST_SHOWN]}"' if isinstance(value, str) else str(value)


def compare_several(given, right, spec):
    """Lists by position, dicts by name; a dict is compared with a list in its order."""
    if given["kind"] == "table":
        columns = given["columns"].items()
        columns = {name: {"kind": "list", "items": cells} for name, cells in columns}
        if right["kind"] == "list" and len(columns) != 1:
            return Check("wrong", 0, "this is a table: take the column that was asked for")
        one = {"kind": "dict", "items": columns}
        given = one if right["kind"] == "dict" else next(iter(columns.values()))
    items = given["items"]
    if right["kind"] == "dict":
        if given["kind"] == "list":
            return Check("wrong", 0, f"{another_kind(given, 'dict')}, which names its values")
        return several(items, right["items"], spec)
    if given["kind"] == "dict":
        values = [float(name) for name in items if NUMBER.fullmatch(name)]
        if values != sorted(values):
            return Check("wrong", 0, f"{another_kind(given, 'list')}: in which order?")
        items = items.values()
    return several(numbered(items), numbered(right["items"]), spec, "item", len(items))


def numbered(items):
    return dict(enumerate(items, 1))


def several(given, right, spec, what="", count=0):
    """Parts by name: the mean of their shares, and the hint of the first that is not right."""
    if right and not what:  # people write names as they like
        given = by_name(given, right)
    parts = {name: part(given.get(name, NO_ITEM), one, spec) for name, one in right.items()}
    wrong = [name for name, one in parts.items() if one.verdict != "right"]
    size = max(len(right), count, 0 if right else len(given))
    share = sum(one.share for one in parts.values()) / size if size else 1
    good = (len(right) - len(wrong)) / max(size, 1)
    if not wrong and size == len(right):
        return RIGHT
    if not wrong:
        return Check("wrong", share, f"{size} items are more than there should be", good)
    first = parts[wrong[0]]
    why = first.hint
    if first.verdict == "nothing" and why != STUB:
        why = "it returns nothing" if what == "call" else "it is missing"
    place = f"{what} {wrong[0]}" if what else str(wrong[0])
    if what == "call" and wrong[0] <= len(spec.get("cases") or ()):
        place = called(spec.get("name", ""), spec["cases"][wrong[0] - 1])
    hint = f"{place}: {why}"
    if not len(right) == len(wrong) == size == 1:
        hint = f"{len(right) - len(wrong)} of {size} are right; {hint}"
    verdicts = {one.verdict for one in parts.values()}
    nearly = verdicts <= {"right", "close"} and count <= len(right)
    verdict = "nothing" if verdicts == {"nothing"} else "close" if nearly else "wrong"
    return Check(verdict, share, hint, good)


def by_name(given, names):
    """Values by `names`, however they are spelled; None where two could be meant."""
    found = {}
    for name, value in given.items():
        found.setdefault(plain(name), []).append(value)
    alike = {name: found.get(plain(name), []) for name in names}
    return {
        name: given.get(name, values[0] if len(values) == 1 else NO_ITEM)
        for name, values in alike.items()
    }


def part(given, right, spec):
    """One of several: an item, or a form."""
    if type(given) is type(right) is float and numbers.near(given, right, numbers.tolerance(spec)):
        return RIGHT  # there may be many
    if given is not NO_ITEM and unknown(given) and unknown(right):
        return RIGHT
    return compare_plainly(as_form(given), as_form(right), spec)


def unknown(item):
    """Is an item None, pandas' NA or NaN? Which of them a column has, its type decides."""
    form = as_form(item)
    return form["kind"] == "nothing" or (form["kind"] == "number" and form["value"] == "nan")


def as_form(item):
    """The form of an item of a list or a column."""
    if isinstance(item, dict):
        return item
    if item is None:
        return {"kind": "nothing"}
    kind = {bool: "truth", str: "text"}.get(type(item), "number")
    return {"kind": kind, "value": item}


def compare_tables(given, right, spec):
    """Columns by name, rows in their order: the mean share of the columns' cells."""
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
    rows = max((len(one) for one in wanted.values()), default=0)
    share, good, hints = 0, 0, []
    for name, own in by_name(columns, wanted).items():
        cells = wanted[name]
        if own is NO_ITEM:
            hints.append(f"the column {name} is missing")
            continue
        unit = next((unit for ending, unit in UNITS.items() if name.endswith(ending)), "")
        found = [part(*both, {"unit": unit} | spec) for both in zip(own, cells, strict=False)]
        size, bad = max(len(own), rows), [one for one in found if one.verdict != "right"]
        share += sum(one.share for one in found) / size if size else 1
        good += (len(found) - len(bad)) / max(size, 1)
        if len(own) != rows:
            hints.append(f"the table has {len(own)} rows, and another number was asked for")
        elif bad:
            why = f"row {found.index(bad[0])}: {bad[0].hint}"
            hints.append(f"column {name}, {rows - len(bad)} of {rows} are right; {why}")
    if not hints:
        return RIGHT
    return Check("wrong", share / len(wanted), hints[0], good / len(wanted))


WHOLES = {
    "number": numbers.compare_numbers,
    "figure": compare_figures,
    "experiment": compare_experiments,
    "topology": compare_topologies,
    "algorithm": compare_algorithms,
    "function": compare_calls,
}
