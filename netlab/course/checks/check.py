"""`nl.check`: is an answer right? The check cells of problem sets ask here."""

import os
import warnings
from inspect import CO_VARARGS, CO_VARKEYWORDS
from numbers import Real
from types import FunctionType

from netlab.course.answers import forms, numbers
from netlab.course.answers.bounds import failure
from netlab.course.answers.descriptions import look_at_arguments
from netlab.course.answers.forms import KINDS
from netlab.course.answers.rule import Rule
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
EARLIER = "check: this spelling goes with the next release: write {}"
SOON = PendingDeprecationWarning  # no notebook shows it: sets handed out earlier have the old one


def check(
    given, right=OMITTED, unit="", within=0.01, exact=False, mistakes=None, *, call=None,
    plausible=False, allowed="", arguments=None, state=None,
):  # fmt: skip
    """Is an answer right? It never shows what is.

    Parameters
    ----------
    given : anything
        The answer: a number, a choice, lists, dicts and tables of them, a function's result, a
        figure, an experiment or its result, a topology, a congestion control. ``lambda: answer``
        stands for what it returns; where a name in it is missing, so is the answer.
    right : anything
        What it should be.
    unit : str, optional
        Of the numbers; it decides which slips are looked for.
    within : float
        How far off a number may be, relatively. [1]
    exact : bool
        It is to be as it was measured; for numbers that are read off.
    mistakes : dict, optional
        Likely wrong answers by their hints: ``{hint: answer}``.
    call : list or dict, optional
        `given` is a function: its result for these arguments is checked.
    plausible : bool
        `right` is a bound, an estimate or a part: what agrees with it is plausible, never right.
    allowed, arguments, state
        Earlier spellings of `check_kind`, `check_run` and `check_state`, and so is a check without
        `right`; they go with the next release.

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
    """
    if not isinstance(within, Real) or isinstance(within, bool) or not 0 <= within <= 1:
        raise SpecificationError(f"check: within = {within!r}: a number from 0 to 1, such as 0.01")
    if mistakes is not None and not isinstance(mistakes, dict):
        raise SpecificationError(f"check: mistakes = {mistakes!r}: a dict, hint: that answer")
    if arguments is not None and not isinstance(arguments, dict):
        raise SpecificationError(f"check: arguments = {arguments!r}: a dict, such as dict(seed=5)")
    begin()
    if state is not None:
        warnings.warn(EARLIER.format("check_state(given, states)"), SOON, stacklevel=2)
        return in_state(given, state)
    if right is OMITTED:
        more = ", ".join(f"{name}=..." for name in arguments or ())
        now = f"check_run(given, {more})" if arguments else "check_kind(given, allowed)"
        warnings.warn(EARLIER.format(now), SOON, stacklevel=2)
        return of_run(given, arguments, call) if arguments else of_kind(given, allowed, unit, call)
    form, found = read(given, call)
    if found:
        return found
    wrong = {str(hint): forms.form(one) for hint, one in (mistakes or {}).items()}
    rule = Rule(unit or "", float(within), bool(exact), plausible=bool(plausible))
    given, right = forms.answer(form), forms.answer(forms.form(right))
    found = forms.compare(given, right, rule, wrong)
    if plausible and found.verdict in ("right", "close"):
        good = AS_ASKED if exact else PLAUSIBLE
        return Check("noted", 0, good if found.verdict == "right" else UNUSUAL)
    if call is not None and found.verdict == "right":
        return Check("right", 1, "for this example")
    return found


def check_kind(given, allowed="", unit="", *, call=None):
    """What an answer is, and whether it can be one; of a figure, whether it has data, and axes with
    titles and units.

    Parameters
    ----------
    given, unit, call
        As for `check`.
    allowed : str or tuple, optional
        A kind, such as ``"number"``, ``"table"`` or ``"experiment"``; the smallest and the largest
        number; or some texts. Anything, if it is not given.

    Returns
    -------
    Check

    Raises
    ------
    SpecificationError
        `allowed` is something else.

    Examples
    --------
    >>> check_kind(0.5, (0, 1))
    This is a number, 0.5; it can be an answer.
    >>> check_kind("12 Mbit/s", (0, 1))
    Not yet: this is a text: write a number, without its unit; allowed: 0 to 1.
    """
    begin()
    return of_kind(given, allowed, unit, call)


def check_run(given, /, **arguments):
    """Whether an experiment, or the one of a result, is as a text asks.

    Parameters
    ----------
    given : Experiment or Result
        As for `check`.
    **arguments
        What the text says: its `topology`, its `seed`, the kinds of its `traffic`, or a field of
        that, such as `time` (one value for all, or a list of each one's).

    Returns
    -------
    Check

    Examples
    --------
    >>> import netlab as nl
    >>> run = nl.Experiment(nl.wan("10mbit"), nl.Ping("h1", "h2"), seed=5)
    >>> check_run(run, seed=5, traffic=["ping"])
    This is an experiment; seed and kinds of traffic are as the text asks; not compared: topology...
    """
    begin()
    return of_run(given, arguments)


def check_state(given, states):
    """Whether a network on which somebody typed, or its history, is in a state. It is done again on
    a second network, which is looked at, so the first stays as it is.

    Parameters
    ----------
    given : Network or History
        As for `check`.
    states : list
        What is to hold there, such as ``[nl.course.rtt("h1", "h2", at_least="20ms")]``.

    Returns
    -------
    Check

    Examples
    --------
    >>> with nl.Network(nl.wan("100mbit", None)) as net:  # doctest: +SKIP
    ...     net.type("s1", "tc qdisc add dev s1-eth1 root netem delay 20ms")
    >>> nl.check_state(net, [nl.course.rtt("h1", "h2", at_least="20ms")])  # doctest: +SKIP
    """
    begin()
    return in_state(given, states)


def begin():
    """What is to be said before any check, to the cell that calls it."""
    if os.environ.get("NBGRADER_VALIDATING"):
        raise CannotValidate(CANNOT_VALIDATE)
    if "NETLAB_STUDENT" not in os.environ:  # graders set it
        warn_of_foreign_modules()


def of_kind(given, allowed, unit="", call=None):
    form, found = read(given, call)
    return found or look(form, allowed, unit)


def of_run(given, arguments, call=None):
    form, found = read(given, call)
    if found or form["kind"] != "experiment" or not arguments:
        return found or look(form, "experiment")
    return look_at_arguments(form["json"], arguments)


def in_state(given, wanted):
    given, raised, found = evaluated(given)
    if raised:
        return Check("wrong", 0, raised["text"])
    return found or states.check(given, wanted)


def look(form, allowed, unit=""):
    """Whether an answer is among what is allowed, and can be one."""
    answer = forms.answer(form)
    why = refused(answer, allowed, unit)
    return Check("wrong", 0, why) if why else answer.look(unit)


def read(given, call=None):
    """The form of an answer, and None or a `Check` that says that a name has no value."""
    given, raised, found = evaluated(given, call)
    form = raised or forms.form(given, None if call is None else [call])
    if call is not None and form["kind"] not in ("nothing", "error"):
        (form,) = form.get("results") or [no_function(form)]
    return form, found


def evaluated(given, call=None):
    """What ``lambda: answer`` stands for; the form of the error that it raises, or None; a `Check`
    where a name in it has no value, or None.
    """
    if not stands_for(given) or call in ([], {}):
        return given, None, None
    try:
        value = given()
        # a number for a call: the answer is the lambda, and takes no arguments
        stands = call is None or value is None or callable(value)
        return value if stands else given, None, None
    except Exception as error:
        if isinstance(error, NameError) and is_checks_own(error):
            return None, None, Check("nothing", 0, NO_VALUE.format(error.name))
        return None, failure(error), None


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
    place = error.__traceback__.tb_next  # below `evaluated`
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
