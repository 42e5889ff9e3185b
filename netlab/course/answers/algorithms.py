"""Congestion controls as answers: compared by what they answer to a script (`script`)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from netlab.algorithms.base import CongestionControl
from netlab.algorithms.source import algorithm, check_methods
from netlab.course.answers import numbers
from netlab.course.answers.base import Answer, ListOf
from netlab.course.answers.bounds import LONGEST_ERROR, clean
from netlab.course.answers.script import LENGTH, PHASES, as_sent, first_other, played
from netlab.course.answers.verdicts import RIGHT, Check

NOT_SENT = 0.5  # of the share, where a rule cannot be sent to the kernel's process
WINDOW = 1e-6  # relative; windows of different ways to write the same formula


class Algorithm(Answer):
    """A class that derives from `CongestionControl`, or an instance."""

    kind: Literal["algorithm"] = "algorithm"
    name: str
    parameters: dict
    source: str
    # after each event of the script its window and its threshold
    trace: ListOf[Annotated[list[numbers.Value], Field(min_length=2, max_length=2)]]
    failed: str  # the error that ended the trace, or ""
    words: ClassVar = "a congestion control"

    @classmethod
    def form(cls, value, forming, cases):
        instance = not isinstance(value, type)
        made_of = type(value) if instance else value
        if not issubclass(made_of, CongestionControl):
            return None
        check_methods(made_of)
        parameters, source, sent, why = value._made_with if instance else {}, "", made_of, ""
        try:
            told = algorithm(value)
            sent, source, parameters = as_sent(told), told.source, told.parameters
        except Exception as error:  # its source is not known, or it takes along what cannot be sent
            why = f"the kernel's process cannot have it: {error}"
        trace, failed = played(sent, parameters)
        return {
            "name": clean(made_of.__name__),
            "parameters": parameters if source else {},
            "source": clean(source),
            "trace": trace,
            "failed": failed or clean(why, LONGEST_ERROR),
        }

    def compare(self, given, rule):
        """The share of the phases in which every answer is right."""
        own, wanted, failed = given.trace, self.trace, given.failed
        agree = [same_windows(*pair) for pair in zip(own, wanted, strict=False)]
        agree += [False] * (len(wanted) - len(agree))
        first, bad = 0, []
        for name, length in PHASES:
            bad += [] if all(agree[first : first + length]) else [name]
            first += length
        if not bad and not failed:
            return RIGHT
        if not bad:
            return Check("wrong", NOT_SENT, f"its rule is right, but {failed}")
        hint = f"it answers otherwise than it should in {', '.join(bad)}"
        if False in agree[: len(own)]:
            hint += first_other(own, agree.index(False))
        share = (len(PHASES) - len(bad)) / len(PHASES)
        if failed:
            hint += f"; it fails: {failed}"
            share *= NOT_SENT if len(own) == LENGTH else 1  # it lived through the script
        return Check("wrong", share, hint)

    def describe(self, unit):
        return f"{self.words}, {self.name}"

    def flaw(self, unit):
        return f"{self.name} fails: {self.failed}" if self.failed else ""

    def not_comparable(self):
        return "" if self.trace else f"a congestion control that fails: {self.failed}"


def same_windows(given, right):
    return all(
        numbers.near(float(one), float(it), WINDOW) for one, it in zip(given, right, strict=True)
    )
