"""What every kind of answer has."""

from typing import Annotated, ClassVar, ForwardRef, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast

from netlab.course.answers.bounds import failure
from netlab.course.answers.verdicts import Check

T = TypeVar("T")
AnyAnswer = ForwardRef("AnyAnswer")  # of any kind; `forms` says which there are
ListOf = Annotated[list[T], FailFast()]  # a list of nothing but mistakes has one error


class Part(BaseModel):
    """Plain data from a stranger: nothing is converted, and nothing may be added."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Answer(Part):
    """An answer as plain data. A class for each kind derives from this one, with a field ``kind``;
    what it declares and overrides is all that netlab knows of the kind.

    The fields are a *form* once `form` has read them from a value: a dict that JSON carries out of
    the jail. `netlab.course.answers.forms` makes and reads forms.
    """

    words: ClassVar[str]  # the kind in words, such as "a number"
    takes: ClassVar[tuple[str, ...]] = ()  # kinds that `compare` takes; its own without any
    one_value: ClassVar[bool] = False  # is it taken out of a list of one?

    @classmethod
    def form(cls, value, forming, cases) -> dict | None:
        """The fields of a value of this kind; None for a value of another kind.

        `forming` makes the forms of its parts (`netlab.course.answers.forms.Forming`); a function
        is called with each of `cases`. The value is a student's: it may raise anything.
        """
        return None

    def compare(self, given, rule) -> Check:
        """Compare an answer of a kind in `takes` with this one, the right one."""
        return Check("wrong", 0, self.refuse(given))

    def describe(self, unit) -> str:
        """The kind, with the value or the size."""
        return self.words

    def in_words(self) -> str:
        """The kind, in a sentence."""
        return f"this is {self.words}"

    def quoted(self, unit) -> str:
        """The value, before a hint about it; "" where it would be long."""
        return ""

    def missing(self) -> str:
        """Why this is no answer: no value, or a function as it was handed out; "" for all else."""
        return ""

    def flaw(self, unit) -> str:
        """Why this can be no answer; "" where it can."""
        return ""

    def not_comparable(self) -> str:
        """Why nothing can be compared with this; "" where it can."""
        return ""

    def only_item(self):
        """The one item of a list of one, as an answer; None for all else."""
        return None

    def other_than(self, wanted) -> str:
        """A hint where the answer is of another kind, the class `wanted`."""
        return f"{self.in_words()}, and the answer is {wanted.words}"

    def refuse(self, given) -> str:
        """A hint where an answer of a kind that is not in `takes` is given."""
        return given.other_than(type(self))

    def look(self, unit="") -> Check:
        """Whether this can be an answer, where it is compared with nothing."""
        if why := self.missing():
            return Check("nothing", 0, why)
        if why := self.flaw(unit):
            return Check("wrong", 0, why)
        return Check("noted", 0, f"this is {self.describe(unit)}; it can be an answer")

    def check(self, given, rule) -> Check:
        """Compare any answer with this one, the right one; an answer that raises is wrong."""
        try:
            return self._check(given, rule)
        except Exception as error:  # a stranger's values cause it
            self._check(self, rule)  # raises where the solution is at fault
            return Check("wrong", 0, failure(error)["text"])

    def _check(self, given, rule):
        given = given.taken_out_for(type(self))
        if given.kind != self.kind and (why := given.missing()):
            return Check("nothing", 0, why)
        if given.kind == "error":
            return Check("wrong", 0, given.text)
        if given.kind in (self.takes or (self.kind,)):
            return self.compare(given, rule)
        return Check("wrong", 0, self.refuse(given))

    def taken_out_for(self, wanted):
        """The one value of a Series, an array or a list of one, where one value is asked for."""
        answer = self
        while wanted.one_value and (item := answer.only_item()) is not None:
            answer = item
        return answer
