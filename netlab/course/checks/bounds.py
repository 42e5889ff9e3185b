"""Forms from outside, which may be anything that JSON can say: checked, within bounds."""

import math

from netlab.errors import NetlabError

MOST_ITEMS = 100_000  # of one form, all its parts together
LONGEST_TEXT = 10_000  # characters of one text
LONGEST_SOURCE = 100_000  # characters of an algorithm
MOST_CHARACTERS = 1_000_000  # of all texts of a form
LONGEST_ERROR = 300  # characters
LONGEST_NAME = 100  # characters
DEEPEST = 12  # forms within forms
DEEPEST_JSON = 20  # of what describes an experiment
MOST_BITS = 1000  # of a whole number, which a float can still hold
NOT_FINITE = ("nan", "inf", "-inf")


class TooMuch(NetlabError):
    """A value that is larger than any answer."""


class Budget:
    """What a form may still take."""

    def __init__(self):
        self.items, self.characters = MOST_ITEMS, MOST_CHARACTERS

    def take(self, depth=0, items=1, deepest=DEEPEST):
        self.items -= items
        if self.items < 0:
            raise TooMuch(f"this is too much for an answer: more than {MOST_ITEMS:,} values")
        if depth > deepest:
            raise TooMuch(f"this is too much for an answer: nested more than {deepest} deep")

    def take_text(self, text, longest=LONGEST_TEXT):
        self.characters -= len(text)
        if len(text) > longest or self.characters < 0:
            raise TooMuch(
                f"this is too much for an answer: texts of more than {longest:,} characters, or of"
                f" {MOST_CHARACTERS:,} together"
            )


def clean(text, most=None):
    """A text that every file can hold: halves of surrogate pairs become question marks."""
    return text[:most].encode(errors="replace").decode()


def class_name(cls):
    """A class' name, which its own class may tell otherwise."""
    return clean(str.__str__(type.__dict__["__name__"].__get__(cls)), LONGEST_NAME)


def failure(error):
    """The form of an exception, which may be one of a student's own."""
    name = class_name(type(error))
    try:
        text = f"{name}: {error}" if not isinstance(error, NetlabError) else str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:
        text = name
    return {"kind": "error", "text": clean(str.__str__(text), LONGEST_ERROR)}


def checked(data):
    """A form that came from outside, as it is, once it has been found to be one.

    Parameters
    ----------
    data : anything that `json.loads` makes

    Returns
    -------
    dict
        A copy, with what belongs to its kind and nothing else.

    Raises
    ------
    NetlabError
        It is no form, or larger than any answer.
    """
    return Checking().form(data, 0)


class Checking:
    """One form's check, within bounds for the whole."""

    def __init__(self):
        self.budget = Budget()

    def form(self, data, depth):
        self.budget.take(depth)
        if type(data) is not dict or type(data.get("kind")) is not str:
            raise NetlabError("this is no form of an answer: a dict with its kind is expected")
        kind = data["kind"]
        parts = PARTS.get(kind)
        if parts is None or data.keys() != {"kind", *parts}:
            raise NetlabError(
                f"this is no form of an answer: kind = {kind[:50]!a} with"
                f" {', '.join(ascii(str(one)[:50]) for one in list(data)[:10])}"
            )
        return {"kind": kind} | {
            name: check(self, data[name], depth + 1) for name, check in parts.items()
        }

    def truth(self, value, depth):
        return expect(value, bool)

    def number(self, value, depth):
        if type(value) is str and value in NOT_FINITE:
            return value
        if type(value) is int and value.bit_length() <= MOST_BITS:
            return value
        if type(value) is float and math.isfinite(value):
            return value
        raise NetlabError(
            "this is no form of an answer: a number is a finite float, or a whole number of at"
            f' most {MOST_BITS} bits, or "nan", "inf" or "-inf"'
        )

    def text(self, value, depth, longest=LONGEST_TEXT):
        self.budget.take_text(expect(value, str), longest)
        if clean(value) != value:
            raise NetlabError("this is no form of an answer: a text with half a character")
        return value

    def error(self, value, depth):
        return self.text(value, depth, LONGEST_ERROR)

    def source(self, value, depth):
        return self.text(value, depth, LONGEST_SOURCE)

    def item(self, value, depth):
        if type(value) is dict:
            return self.form(value, depth)
        self.budget.take(depth)
        if value is None or type(value) is bool:
            return value
        if type(value) is str:
            return self.text(value, depth)
        if type(value) in (int, float):
            return self.number(value, depth)
        raise NetlabError("this is no form of an answer: a list stands where an item should")

    def items(self, value, depth):
        return [self.item(one, depth) for one in expect(value, list)]

    def forms(self, value, depth):
        return [self.form(one, depth) for one in expect(value, list)]

    def by_name(self, value, depth):
        return {self.text(name, depth): self.form(one, depth) for name, one in pairs(value)}

    def columns(self, value, depth):
        return {self.text(name, depth): self.items(one, depth) for name, one in pairs(value)}

    def traces(self, value, depth):
        return [self.parts(one, TRACE, depth) for one in expect(value, list)]

    def axis(self, value, depth):
        return self.parts(value, AXIS, depth)

    def parts(self, value, parts, depth):
        self.budget.take(depth)
        if expect(value, dict).keys() != parts.keys():
            raise NetlabError(f"this is no form of an answer: expected {', '.join(parts)}")
        return {name: check(self, value[name], depth + 1) for name, check in parts.items()}

    def windows(self, value, depth):
        """Of each event, the window and the threshold."""
        made = []
        for one in expect(value, list):
            self.budget.take(depth)
            if len(expect(one, list)) != 2:
                raise NetlabError("this is no form of an answer: a window and a threshold")
            made.append([self.number(number, depth) for number in one])
        return made

    def json(self, value, depth):
        """What describes an experiment, or an algorithm's parameters."""
        self.budget.take(depth, deepest=DEEPEST_JSON)
        if type(value) is dict:
            return {self.text(key, depth): self.json(one, depth + 1) for key, one in value.items()}
        if type(value) is list:
            return [self.json(one, depth + 1) for one in value]
        if type(value) is str:
            return self.text(value, depth, LONGEST_SOURCE)
        if value is None or type(value) is bool:
            return value
        if type(value) in (int, float):
            return self.number(value, depth)
        raise NetlabError("this is no form of an answer: a value that JSON does not have")

    def document(self, value, depth):
        return self.json(expect(value, dict), depth)


def expect(value, kind):
    if type(value) is not kind:
        raise NetlabError(f"this is no form of an answer: a {kind.__name__} is expected")
    return value


def pairs(value):
    return expect(value, dict).items()


TRACE = {
    "name": Checking.text, "type": Checking.text, "mode": Checking.text,
    "orientation": Checking.text,
    "x": Checking.items, "y": Checking.items, "z": Checking.items,
}  # fmt: skip
AXIS = {"title": Checking.text, "type": Checking.text}
PARTS = {
    "nothing": {},
    "truth": {"value": Checking.truth},
    "number": {"value": Checking.number},
    "text": {"value": Checking.text},
    "list": {"items": Checking.items},
    "dict": {"items": Checking.by_name},
    "table": {"columns": Checking.columns},
    "figure": {"traces": Checking.traces, "xaxis": Checking.axis, "yaxis": Checking.axis},
    "experiment": {"json": Checking.document},
    "topology": {"json": Checking.document},
    "algorithm": {
        "name": Checking.text, "parameters": Checking.document, "source": Checking.source,
        "trace": Checking.windows, "failed": Checking.error,
    },
    "function": {"results": Checking.forms},
    "error": {"text": Checking.error},
    "other": {"type": Checking.text},
}  # fmt: skip
