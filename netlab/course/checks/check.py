"""`nl.check`: is an answer right? The check cells of problem sets ask here."""

import os
from inspect import CO_VARARGS, CO_VARKEYWORDS
from numbers import Real
from types import FunctionType

from netlab.course.answers import forms, numbers
from netlab.course.answers.bounds import failure
from netlab.course.answers.descriptions import look_at_arguments
from netlab.course.answers.forms import KINDS
from netlab.course.answers.spelling import plain
from netlab.course.answers.verdicts import CANNOT_VALIDATE, CannotValidate, Check
from netlab.course.checks import states
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
        (form,) = form.get("results") or [no_function(form)]
    if right is OMITTED:
        answer = forms.answer(form)
        why = refused(answer, "experiment" if arguments else allowed, unit)
        if why or not arguments or answer.kind != "experiment":
            return Check("wrong", 0, why) if why else answer.look(unit)
        return look_at_arguments(answer.document, arguments)
    wrong = {str(hint): forms.form(one) for hint, one in (mistakes or {}).items()}
    spec = {"unit": unit, "within": within, "exact": exact, "mistakes": wrong}
    found = forms.compare(form, forms.form(right), spec | {"plausible": plausible})
    if plausible and found.verdict in ("right", "close"):
        good = AS_ASKED if exact else PLAUSIBLE
        return Check("noted", 0, good if found.verdict == "right" else UNUSUAL)
    if call is not None and found.verdict == "right":
        return Check("right", 1, "for this example")
    return found


def no_function(form):
    """The form of an error, where a function was to be called."""
    return {"kind": "error", "text": forms.answer(form).other_than(KINDS["function"])}


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
    if not kind:
        return ""
    given = given.taken_out_for(KINDS[kind])
    if given.kind in ("nothing", "error"):
        return ""
    if given.kind != kind:
        return "; ".join(filter(None, [given.other_than(KINDS[kind]), words]))
    if words and kind == "number":
        return "" if allowed[0] <= float(given) <= allowed[1] else words
    return "" if not words or plain(given.value) in map(plain, allowed) else words


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
