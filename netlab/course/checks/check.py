"""Is an answer right? Both the check cells of a problem set and its grader ask here."""

import os
from numbers import Real

from netlab.course.checks import forms, slips
from netlab.course.checks.comparison import (
    CHOICES,
    KINDS,
    NOTHING,
    another_kind,
    by_name,
    compare_plainly,
    named,
    part,
    shown,
)
from netlab.course.checks.figures import look_at_figure
from netlab.course.checks.verdicts import CANNOT_VALIDATE, CannotValidate, Check
from netlab.course.checks.wholes import look_at_arguments
from netlab.course.graders_python import warn_of_foreign_modules
from netlab.course.predictions import plain
from netlab.errors import SpecificationError

OMITTED = object()
PLAUSIBLE = "plausible, not checked"
UNUSUAL = "possible, but farther off than usual; not checked"
PARTS = {"list": "items", "dict": "items", "function": "results", "table": "columns"}
AS_ASKED = "as the text asks"


def check(
    given, right=OMITTED, unit="", within=0.01, exact=False, mistakes=None, *, allowed="",
    call=None, plausible=False, arguments=None,
):  # fmt: skip
    """Is an answer right? It never shows what is.

    Parameters
    ----------
    given : anything
        The answer: a number, a choice, lists, dicts and tables of them, a function's result, a
        figure, an experiment or its result, a network, a congestion control.
    right : anything, optional
        What it should be. Without it, the check says what the answer is, and whether it can be one;
        of a figure, whether it has data, and axes with titles and units.
    unit : str, optional
        Of the numbers; it decides which slips are looked for.
    within : float
        How far off a number may be, relatively. [1]
    exact : bool
        It is to be as it was measured; for numbers that are read off.
    mistakes : dict, optional
        A hint for each wrong answer that is likely, as ``{hint: that answer}``.
    allowed : str or tuple, optional
        What can be an answer that is compared with nothing: a kind, such as ``"number"``,
        ``"table"`` or ``"experiment"``; the smallest and the largest number; or some texts.
    call : list or dict, optional
        `given` is a function: what it returns for these arguments is looked at.
    plausible : bool
        `right` is a bound, an estimate or a part of what the text asks for: what agrees with it is
        called plausible, and never right.
    arguments : dict, optional
        What the text says of an experiment, by name: its `topology`, its `seed`, the kinds of its
        `traffic`, or a field of that, such as `time` (one value for all, or a list of each one's).

    Returns
    -------
    Check

    Raises
    ------
    SpecificationError
        `within` is no number from 0 to 1, `mistakes` or `arguments` no dict, or `allowed` something
        else.
    CannotValidate
        nbgrader's Validate has run this: a problem set's notebook has no tests of nbgrader's.

    Examples
    --------
    >>> check(1e6, 8e6, "bit/s")
    Not yet: you gave 1 000 000 bit/s: bits or bytes? A byte has 8 bits.
    >>> check(8.2e6, 8e6, "bit/s")
    Close: you gave 8 200 000 bit/s: within 5 per cent; did you round?
    >>> check("H-TCP", "htcp")
    Right.
    >>> check([8, 1], [1, 1], "byte")
    Not yet: 1 of 2 are right; item 1: you gave 8 byte: bits or bytes? A byte has 8 bits.
    >>> check(9.4e6, 9.56e6, "bit/s", within=0.05, plausible=True)
    Plausible, not checked.
    >>> check(max, 3, call=[2, 3])
    Right for this example.
    >>> check("12 Mbit/s", allowed=(0, 1))
    Not yet: this is a text: write a number, without its unit; allowed: 0 to 1.
    >>> check(len, 3, call=[5])
    Not yet: TypeError: object of type 'int' has no len().
    """
    if not isinstance(within, Real) or isinstance(within, bool) or not 0 <= within <= 1:
        raise SpecificationError(f"check: within = {within!r}: a number from 0 to 1, such as 0.01")
    if mistakes is not None and not isinstance(mistakes, dict):
        raise SpecificationError(f"check: mistakes = {mistakes!r}: a dict, hint: that answer")
    if arguments is not None and not isinstance(arguments, dict):
        raise SpecificationError(f"check: arguments = {arguments!r}: a dict, such as dict(seed=5)")
    if os.environ.get("NBGRADER_VALIDATING"):
        raise CannotValidate(CANNOT_VALIDATE)
    if "NETLAB_STUDENT" not in os.environ:  # graders set it
        warn_of_foreign_modules()
    form = forms.form(given, None if call is None else [call])
    if call is not None and form["kind"] not in ("nothing", "error"):
        (form,) = form.get("results") or [{"kind": "error", "text": another_kind(form, "function")}]
    if right is OMITTED:
        why = refused(form, "experiment" if arguments else allowed)
        if why or not arguments or form["kind"] != "experiment":
            return Check("wrong", 0, why) if why else look_at(form, unit)
        return look_at_arguments(form["json"], arguments)
    wrong = {str(hint): forms.form(one) for hint, one in (mistakes or {}).items()}
    spec = {"unit": unit, "within": within, "exact": exact, "mistakes": wrong}
    found = compare(form, forms.form(right), spec | {"plausible": plausible})
    if plausible and found.verdict in ("right", "close"):
        good = AS_ASKED if exact else PLAUSIBLE
        return Check("noted", 0, good if found.verdict == "right" else UNUSUAL)
    return Check("right", 1, "for this example") if call and found.verdict == "right" else found


def compare(given, right, spec):
    """Compare an answer's form with the right one.

    Parameters
    ----------
    given, right : dict
        See `netlab.course.checks.forms`.
    spec : dict
        May have ``unit``, ``within``, ``exact``, ``pairs``; ``mistakes``, a form for each hint;
        of a function ``name`` and ``cases``; ``plausible`` where `right` need not be right.

    Returns
    -------
    Check

    Raises
    ------
    SpecificationError
        `right` is none itself: it is an error, or of no kind that can be compared.
    """
    if why := not_comparable(right):
        raise SpecificationError(f"what an answer is compared with cannot be compared: {why}")
    found = compare_plainly(given, right, spec)
    if found.verdict in ("right", "nothing"):
        return found
    mistakes = (spec.get("mistakes") or {}).items()
    if hints := [hint for hint, one in mistakes if is_mistake(given, one, right, spec)]:
        return Check(
            "wrong", parts_right(given, right, spec), you_gave(given, spec) + "; or: ".join(hints)
        )
    return found


def parts_right(given, right, spec):
    """Share of the parts of an answer that are right, though a mistake has spoiled others."""
    kind = right["kind"]
    if kind != given["kind"] or kind not in PARTS:
        return 0
    own, wanted = (one[PARTS[kind]] for one in (given, right))
    if kind == "table":
        pairs = [(by_name(own, name) or [], cells) for name, cells in wanted.items()]
        return sum(same_items(*pair, spec) for pair in pairs) / max(len(pairs), 1)
    if kind == "dict":
        own, wanted = [by_name(own, name) for name in wanted], [*wanted.values()]
    return same_items(own, wanted, spec)


def same_items(own, wanted, spec):
    """Share of the items that are right."""
    good = sum(part(one, it, spec).verdict == "right" for one, it in zip(own, wanted, strict=False))
    return good / max(len(own), len(wanted), 1)


def you_gave(given, spec):
    """The beginning of a hint for a single value."""
    if given["kind"] == "number":
        return f"you gave {slips.readable(float(given['value']), spec)}: "
    return f"you gave {shown(given['value'])}: " if given["kind"] in CHOICES else ""


def not_comparable(right):
    """Why nothing can be compared with this; "" where it can."""
    if right["kind"] == "function" and not right["results"]:
        return "a function without cases; call it, and compare what it returns"
    return right.get("text", right.get("type", "")) if right["kind"] in ("error", "other") else ""


def is_mistake(given, mistake, right, spec):
    """Is an answer that is not right just this one?"""
    if mistake["kind"] == "nothing" or not_comparable(mistake):
        return False
    sharp = max(1e-6, min(slips.tolerance(spec), slips.MOST_SLIP))
    spec = {key: one for key, one in spec.items() if key != "mistakes"}
    same = compare_plainly(given, mistake, spec | {"within": sharp, "exact": False})
    if same.verdict == "right" and {"number"} == {given["kind"], mistake["kind"], right["kind"]}:
        value, wrong, right = (float(one["value"]) for one in (given, mistake, right))
        return not abs(value - right) < abs(value - wrong)
    return same.verdict == "right"


def refused(given, allowed):
    """A hint where an answer is not among what is allowed; "" where it is."""
    kind, words = kind_allowed(allowed)
    if not kind or given["kind"] in ("nothing", "error"):
        return ""
    if given["kind"] != kind:
        return "; ".join(filter(None, [another_kind(given, kind), words]))
    if not words:
        return ""
    if kind == "number":
        return "" if allowed[0] <= float(given["value"]) <= allowed[1] else words
    return "" if plain(given["value"]) in map(plain, allowed) else words


def kind_allowed(allowed):
    """The kind of answer that is allowed, and which ones, in words; "" for any.

    Raises
    ------
    SpecificationError
        This can be no answer at all.
    """
    if isinstance(allowed, str) and allowed in ("", *KINDS):
        return allowed, ""
    types = {type(one) for one in allowed} if isinstance(allowed, tuple) else set()
    if types == {str}:
        return "text", f"allowed: {', '.join(allowed)}"
    if types and len(allowed) == 2 and all(issubclass(one, Real) for one in types):
        return "number", f"allowed: {allowed[0]} to {allowed[1]}"
    raise SpecificationError(
        f"check: allowed = {allowed!r}: one of {', '.join(KINDS)}; or two numbers, such as (0, 1);"
        ' or texts, such as ("rate", "delay")'
    )


def look_at(given, unit):
    """What an answer is, and whether it can be one."""
    kind = given["kind"]
    if kind == "nothing":
        return Check("nothing", 0, NOTHING)
    if kind == "error":
        return Check("wrong", 0, given["text"])
    if kind == "other":
        return Check("wrong", 0, f"{named(given)}, which can be no answer")
    if kind == "figure":
        return look_at_figure(given)
    if kind == "algorithm" and given["failed"]:
        return Check("wrong", 0, f"{given['name']} fails: {given['failed']}")
    if kind == "number" and isinstance(given["value"], str):
        return Check("wrong", 0, "this is not a finite number")
    if kind == "text" and unit:
        return Check("wrong", 0, another_kind(given, "number"))
    return Check("noted", 0, f"this is {told(given, unit)}; it can be an answer")


def told(given, unit):
    kind, word = given["kind"], KINDS[given["kind"]]
    if kind == "number":
        return f"{word}, {slips.readable(given['value'], {'unit': unit})}"
    if kind == "truth":
        return f"{word}, {given['value']}"
    if kind == "text":
        return f'{word}, "{given["value"]}"'
    if kind == "function":
        return f"{word} or class itself, not what it returns"
    if kind == "experiment":
        return f"{word} with the seed {given['json'].get('seed')}"
    if kind in ("list", "dict"):
        return f"{word} of {len(given['items'])}"
    if kind == "table":
        rows = max(map(len, given["columns"].values()), default=0)
        return f"{word} of {rows} rows with the columns {', '.join(given['columns'])}"
    return f"{word}, {given['name']}" if kind == "algorithm" else word
