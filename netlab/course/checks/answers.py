"""`nl.check`: is an answer right? The check cells of problem sets ask here."""

import os
from inspect import CO_VARARGS, CO_VARKEYWORDS
from numbers import Real
from types import FunctionType

from netlab.course.checks import forms, numbers, states
from netlab.course.checks.bounds import failure
from netlab.course.checks.comparison import KINDS, another_kind, compare, missing, named, taken_out
from netlab.course.checks.descriptions import look_at_arguments
from netlab.course.checks.figures import look_at_figure
from netlab.course.checks.spelling import plain
from netlab.course.checks.verdicts import CANNOT_VALIDATE, CannotValidate, Check
from netlab.course.graders_python import warn_of_foreign_modules
from netlab.errors import SpecificationError

OMITTED = object()
TAKES_MORE = CO_VARARGS | CO_VARKEYWORDS
NO_VALUE = "{} has no value: no cell gives it one, or the cell that does has failed"
PLAUSIBLE = "plausible, not checked"
UNUSUAL = "possible, but farther off than usual; not checked"
AS_ASKED = "as the text asks"


def check(
    given, right=OMITTED, unit="", within=0.01, exact=False, mistakes=None, *, allowed="",
    call=None, plausible=False, arguments=None, state=None,
):  # fmt: skip
    """Is an answer right? It never shows what is.

    Parameters
    ----------
    given : anything
        The answer: a number, a choice, lists, dicts and tables of them, a function's result, a
        figure, an experiment or its result, a network, a congestion control. ``lambda: answer``
        stands for what it returns; where a name in it is missing, so is the answer.
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
        Likely wrong answers by their hints: ``{hint: answer}``.
    allowed : str or tuple, optional
        The answers that can be right where there is no `right`: a kind, such as ``"number"``,
        ``"table"`` or ``"experiment"``; the smallest and the largest number; or some texts.
    call : list or dict, optional
        `given` is a function: its result for these arguments is checked.
    plausible : bool
        `right` is a bound, an estimate or a part: what agrees with it is plausible, never right.
    arguments : dict, optional
        What the text says of an experiment, by name: its `topology`, its `seed`, the kinds of its
        `traffic`, or a field of that, such as `time` (one value for all, or a list of each one's).
    state : list, optional
        `given` is a network on which somebody typed, or its history: what is to hold there, such as
        ``[nl.course.rtt("h1", "h2", at_least="20ms")]``. It is done again on a second network,
        which is looked at, so the first stays as it is.

    Returns
    -------
    Check

    Raises
    ------
    SpecificationError
        An argument other than `given` is of the wrong kind.
    CannotValidate
        nbgrader's Validate has run this: a problem set's notebook has no tests of nbgrader's.

    Examples
    --------
    >>> check([8, 1], [1, 1], "byte")
    Not yet: 1 of 2 are right; item 1: you gave 8 byte: bits or bytes? A byte has 8 bits.
    >>> check("H-TCP", "htcp")
    Right.
    >>> check(max, 3, call=[2, 3])
    Right for this example.
    >>> check(lambda: goodput_bps, 94e6, "bit/s")
    No answer yet: goodput_bps has no value: no cell gives it one, or the cell that does has failed.
    >>> check("12 Mbit/s", allowed=(0, 1))
    Not yet: this is a text: write a number, without its unit; allowed: 0 to 1.
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
    raised = None
    if stands_for(given) and call not in ([], {}):
        try:
            value = given()
            # a number for a call: the answer is the lambda, and takes no arguments
            given = value if call is None or value is None or callable(value) else given
        except Exception as error:
            if isinstance(error, NameError) and is_checks_own(error):
                return Check("nothing", 0, NO_VALUE.format(error.name))
            raised = failure(error)
    if state is not None:
        return Check("wrong", 0, raised["text"]) if raised else states.check(given, state)
    form = raised or forms.form(given, None if call is None else [call])
    if call is not None and form["kind"] not in ("nothing", "error"):
        (form,) = form.get("results") or [{"kind": "error", "text": another_kind(form, "function")}]
    if right is OMITTED:
        why = refused(form, "experiment" if arguments else allowed, unit)
        if why or not arguments or form["kind"] != "experiment":
            return Check("wrong", 0, why) if why else look_at(form, unit)
        return look_at_arguments(form["json"], arguments)
    wrong = {str(hint): forms.form(one) for hint, one in (mistakes or {}).items()}
    spec = {"unit": unit, "within": within, "exact": exact, "mistakes": wrong}
    found = compare(form, forms.form(right), spec | {"plausible": plausible})
    if plausible and found.verdict in ("right", "close"):
        good = AS_ASKED if exact else PLAUSIBLE
        return Check("noted", 0, good if found.verdict == "right" else UNUSUAL)
    if call is not None and found.verdict == "right":
        return Check("right", 1, "for this example")
    return found


def stands_for(given):
    """Is it ``lambda: answer``?"""
    if type(given) is not FunctionType or given.__name__ != "<lambda>":
        return False
    code = given.__code__
    return not (code.co_argcount or code.co_kwonlyargcount or code.co_flags & TAKES_MORE)


def is_checks_own(error):
    """Was it raised by what stands after ``lambda:``, and not in a function called there?"""
    place = error.__traceback__.tb_next  # below `check`
    while place and place.tb_frame.f_code.co_name.startswith("<"):
        place = place.tb_next
    return place is None


def refused(given, allowed, unit=""):
    """A hint where an answer is not among what is allowed; "" where it is."""
    kind, words = kind_allowed(allowed, unit)
    given = taken_out(given, kind)
    if not kind or given["kind"] in ("nothing", "error"):
        return ""
    if given["kind"] != kind:
        return "; ".join(filter(None, [another_kind(given, kind), words]))
    if words and kind == "number":
        return "" if allowed[0] <= float(given["value"]) <= allowed[1] else words
    return "" if not words or plain(given["value"]) in map(plain, allowed) else words


def kind_allowed(allowed, unit=""):
    """The kind of answer that is allowed, and which ones, in words; "" for any."""
    if isinstance(allowed, str) and allowed in ("", *KINDS):
        return allowed, ""
    types = {type(one) for one in allowed} if isinstance(allowed, tuple) else set()
    if types == {str}:
        return "text", f"allowed: {', '.join(allowed)}"
    if types and len(allowed) == 2 and all(issubclass(one, Real) for one in types):
        least, most = (numbers.readable(one, unit) for one in allowed)
        return "number", f"allowed: {least} to {most}"
    raise SpecificationError(
        f"check: allowed = {allowed!r}: one of {', '.join(KINDS)}; or two numbers, such as (0, 1);"
        ' or texts, such as ("rate", "delay")'
    )


def look_at(given, unit):
    """Whether an answer that is compared with nothing can be one."""
    if why := missing(given):
        return Check("nothing", 0, why)
    match given:
        case {"kind": "figure"}:
            return look_at_figure(given)
        case {"kind": "error", "text": why}:
            pass
        case {"kind": "other"}:
            why = f"{named(given)}, which can be no answer"
        case {"kind": "algorithm", "name": name, "failed": failed} if failed:
            why = f"{name} fails: {failed}"
        case {"kind": "number", "value": str()}:
            why = "this is not a finite number"
        case {"kind": "text"} if unit:
            why = another_kind(given, "number")
        case _:
            return Check("noted", 0, f"this is {told(given, unit)}; it can be an answer")
    return Check("wrong", 0, why)


def told(given, unit):
    """The kind of an answer, with its value or size."""
    word = KINDS[given["kind"]]
    match given:
        case {"kind": "number", "value": value}:
            return f"{word}, {numbers.readable(value, unit)}"
        case {"kind": "truth", "value": value} | {"kind": "algorithm", "name": value}:
            return f"{word}, {value}"
        case {"kind": "text", "value": value}:
            return f'{word}, "{value}"'
        case {"kind": "function"}:
            return f"{word} or class itself, not what it returns"
        case {"kind": "experiment", "json": json}:
            return f"{word} with the seed {json.get('seed')}"
        case {"kind": "list" | "dict", "items": items}:
            return f"{word} of {len(items)}"
        case {"kind": "table", "columns": columns}:
            rows = max(map(len, columns.values()), default=0)
            return f"{word} of {rows} rows with the columns {', '.join(columns)}"
    return word
