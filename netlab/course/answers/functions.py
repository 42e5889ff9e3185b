"""Functions as answers: what they return when they are called with the cases of a set."""

import json
from typing import ClassVar, Literal

from netlab.course.answers.algorithms import Algorithm
from netlab.course.answers.base import Answer, AnyAnswer, ListOf
from netlab.course.answers.bounds import TooMuch, failure
from netlab.course.answers.several import compare_parts, numbered
from netlab.course.answers.verdicts import Check

LONG_NUMBER = 100_000  # from here on, zeros are hard to count


class Function(Answer):
    """A function, by its result for each case that it was called with."""

    kind: Literal["function"] = "function"
    results: ListOf[AnyAnswer]
    words: ClassVar = "a function"

    @classmethod
    def form(cls, value, forming, cases):
        if not callable(value):
            return None
        return {"results": [result(value, case, forming) for case in cases or ()]}

    def compare(self, given, rule):
        """Call by call; a result that is the same for each call is worth nothing."""
        given, right = given.results, self.results
        calls = [called(rule.name, case) for case in rule.cases]
        found = compare_parts(numbered(given), numbered(right), rule, "call", calls=calls)
        constant = len(right) > 1 and all(one == given[0] for one in given) and found.share < 1
        if constant and given[0].kind not in ("nothing", "error"):
            text = f"it returns the same for each of {len(right)} calls"
            return Check("wrong", 0, text, found.good)
        return found

    def describe(self, unit):
        return f"{self.words} or class itself, not what it returns"

    def other_than(self, wanted):
        if wanted is Algorithm:
            text = "this is a function, or a class of another kind"
            return f"{text}: the answer is {wanted.words}"
        return f"this is a function: call it, so that the answer is {wanted.words}"

    def not_comparable(self):
        if self.results:
            return ""
        return "a function without cases; call it, and compare what it returns"


def result(function, case, forming):
    """The form of what a function returns for a case: a list of arguments, a dict, or one."""
    given = json.loads(json.dumps(case))  # a function may change what it is given
    try:
        if isinstance(given, dict):
            return forming.form(function(**given))
        return forming.form(function(*given) if isinstance(given, list) else function(given))
    except TooMuch:
        raise
    except (Exception, SystemExit) as error:
        return failure(error)


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
