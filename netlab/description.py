"""The base class of all descriptions of an experiment: frozen pydantic models that read and write
JSON, and whose errors name the field, the value and what is allowed.
"""

import functools
import inspect
import re
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, validate_call

from netlab import units
from netlab.errors import SpecificationError
from netlab.units import short


def _checked(read):
    """A validator: what `read` understands, in tc's notation."""

    def check(text):
        read(text)
        return units.tc_text(text)

    return BeforeValidator(check)


Rate = Annotated[str, _checked(units.rate_bps)]
Delay = Annotated[str, _checked(units.delay_s)]
Fraction = Annotated[str, _checked(units.fraction)]
Size = Annotated[int | str, _checked(units.size_bytes)]


def unless_given(default=None, **allowed):
    """A field that JSON and `repr` leave out at its default, so that older texts stay the same."""
    return Field(default=default, exclude_if=lambda value: value == default, **allowed)


of_json = ContextVar("of_json", default=False)  # is a description read from JSON?
MOST_TOLD = 10  # problems of one description
MOST_JSON = 2_000_000  # characters of one description
COMMAND_BYTES = 131_071  # the longest argument that Linux passes to a program


def check_command_line(line):
    """A text that bash can be given as one command."""
    if not line.strip():
        raise ValueError("a line for bash, such as 'ping -c 4 10.0.0.2'")
    if "\0" in line:
        raise ValueError(r"no command line can have the character NUL: printf '\0' prints one")
    try:
        length = len(line.encode(errors="surrogateescape"))
    except UnicodeEncodeError:
        raise ValueError("it has half of a surrogate pair, which is no character") from None
    if length > COMMAND_BYTES:
        raise ValueError(
            f"it has {length} bytes, and Linux takes at most {COMMAND_BYTES}; write a file in /tmp"
            " in several commands, and use that"
        )
    return line


class Description(BaseModel):
    """A frozen description. Fields may be given by position, in the order they are declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    other_names: ClassVar[dict] = {}  # what people call a field -> its name

    def __init__(self, /, *values, **fields):
        names = [name for name in type(self).model_fields if name != "kind"]
        fields = by_name(type(self).__name__, names, values, fields)
        with readable_errors(type(self).__name__, names, self.other_names):
            super().__init__(**fields)

    def __repr_args__(self):
        for name, value in super().__repr_args__():
            left_out = type(self).model_fields[name].exclude_if
            if not (left_out and left_out(value)):
                yield name, value

    @classmethod
    def from_json(cls, text):
        """Read what `to_json` wrote, at most two million characters; else SpecificationError."""
        if len(text) > MOST_JSON:
            raise SpecificationError(
                f"{cls.__name__}: this JSON has {len(text):,} characters, and {MOST_JSON:,} are"
                " read: describe less at once"
            )
        token = of_json.set(True)
        try:
            with readable_errors(cls.__name__):
                return cls.model_validate_json(text)
        finally:
            of_json.reset(token)

    def to_json(self):
        """As JSON text, with most default values, so that a record stays true when they change."""
        return self.model_dump_json(indent=1) + "\n"

    def but(self, **changes):
        """The same with some fields changed, checked like a new one."""
        return type(self)(**{name: getattr(self, name) for name in self.model_fields_set} | changes)


def by_name(whose, names, values, fields):
    """Values that were given by position, and fields that were given by name, all by name."""
    if len(values) > len(names):
        raise SpecificationError(
            f"{whose} takes {len(names)} values ({', '.join(names)}), not {len(values)}"
        )
    for name, value in zip(names, values, strict=False):
        if name in fields:
            raise SpecificationError(f"{whose}.{name} is given twice: {value!r}, {fields[name]!r}")
    return dict(zip(names, values, strict=False)) | fields


def checked(function):
    """A function whose arguments are checked against its annotations, as fields are."""
    names, checking = list(inspect.signature(function).parameters), validate_call(function)

    @functools.wraps(function)
    def call(*values, **fields):
        fields = by_name(function.__name__, names, values, fields)
        try:
            with readable_errors(function.__name__, names):
                return checking(**fields)
        except SpecificationError as error:  # of what it makes of them: still the caller's words
            raise SpecificationError(
                re.sub(r"^\w+: ", f"{function.__name__}: ", str(error))
            ) from None

    return call


class readable_errors:
    """Turns pydantic's errors into a `SpecificationError`: per field its value, what is allowed."""

    def __init__(self, name, fields=(), other_names=None):
        self.name, self.fields, self.other_names = name, fields, other_names or {}

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if not isinstance(error, ValidationError):
            return
        found = error.errors(include_url=False)
        above = {one["loc"][:n] for one in found for n in range(len(one["loc"]))}
        # what is too short lacks only those that are refused themselves
        told = [one for one in found if not (one["type"] == "too_short" and one["loc"] in above)]
        lines = [self.line(one) for one in told[:MOST_TOLD]]
        if len(told) > MOST_TOLD:
            lines.append(f"and more: {len(found)} problems in all")
        raise SpecificationError("\n".join(lines)) from None

    def line(self, found):
        """A line about one of pydantic's errors."""
        place, type_, context = found["loc"], found["type"], found.get("ctx", {})
        if isinstance(cause := context.get("error"), SpecificationError):
            return str(cause)
        field = ".".join([self.name, *(str(part)[:80] for part in place)])
        if type_ == "missing":
            return f"{field} is missing: it is required"
        problem = str(cause) if cause else found["msg"][0].lower() + found["msg"][1:]
        if type_ == "too_long":
            problem = "{actual_length} of them, and at most {max_length}".format(**context)
        elif type_ == "json_invalid":
            problem = f"this is not JSON: {cause}"
        elif type_ in ("extra_forbidden", "unexpected_keyword_argument"):
            problem = f"there is no such field{self.instead_of(place[0]) * (len(place) == 1)}"
        return f"{field} = {short(found['input'])}: {problem}" if place else f"{field}: {problem}"

    def instead_of(self, name):
        """The field that was probably meant, and all there are."""
        close = get_close_matches(str(name), self.fields, 1, 0.75)
        meant = self.other_names.get(name, close[0] if close else None)
        it_is = f", it is called {meant}" if meant else ""
        return f"{it_is}; there are {', '.join(self.fields)}"
