"""What an answer is compared by, and what it is worth: a table of a check cell's hidden tests."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from netlab.description import Description

EXACT = 1e-9  # relative: as measured


def expression(text):
    """A Python expression, which is evaluated with the names of the solution."""
    try:
        compile(text, "", "eval")
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"this is no Python expression: {error}") from None
    return text


def key(default, example, says, **allowed):
    """A field that a teacher may write: `example` and `says` are its row in the table of keys."""
    return Field(default=default, examples=[example], description=says, **allowed)


Expression = Annotated[str, AfterValidator(expression)]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
Hint = Annotated[str, Field(pattern=r"\S")]


class Rule(Description):
    """How one answer is compared with the right one, and how many points it is worth."""

    model_config = ConfigDict(strict=True)
    unit: str = key("", '"byte"', "decides which slips are recognised: bits for bytes, ms for s")
    within: float = key(
        default=0.01,
        example="0.05",
        says="how far off a number may be, relatively; 0.01, if not given",
        ge=0,
        le=1,
    )
    exact: bool = key(False, "true", "it is read off a run: right to nine digits")
    points: float | None = key(
        default=None,
        example="2",
        says="where a cell has several answers: all have points, which add up to the cell's; else"
        " they share them evenly",
        gt=0,
        allow_inf_nan=False,
    )
    cases: list[list] = key(
        default=[],
        example="[[1e9, 0.02], [5e7, 0.1]]",
        says="the answer is a function: it is called with each list of arguments, and each result"
        " is compared",
    )
    mistakes: dict[Hint, Expression] = key(
        default={},
        example='{"hint" = "expression"}',
        says="a wrong answer that is likely, as an expression in the solution's names (for a"
        " function, a `lambda`): who gives it is told the hint, and keeps the points of the parts"
        " that are right, which a number has none of: not even a quarter for its unit",
    )
    state: Expression | None = key(
        default=None,
        example='"goal"',
        says="the answer is a network on which the student typed, or its history: what is to hold"
        " there, an expression in the solution's names (below)",
    )
    pairs: list[Pair] = key(
        default=[],
        example='[["h1", "h4"]]',
        says="the answer is a topology: round-trip times and bottlenecks between these hosts are"
        " compared; each of these counts where it is right for all pairs",
    )
    name: str = ""  # of the answer, in the solution
    plausible: bool = False  # the right answer is a bound or an estimate, which need not be right

    @property
    def tolerance(self) -> float:
        """How far off, relatively, an answer may be that is right. [1]"""
        return EXACT if self.exact else self.within

    @classmethod
    def keys(cls):
        """The fields that a teacher may write: their names, with an example and a sentence."""
        return {
            name: (field.examples[0], field.description)
            for name, field in cls.model_fields.items()
            if field.description
        }
