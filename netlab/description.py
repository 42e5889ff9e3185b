"""The base of everything that describes an experiment: frozen, JSON in and out, and refusing with
words people can use.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from netlab import units
from netlab.errors import SpecificationError


def _checked(read):
    """A string in tc's notation that `read` understands, kept as it was written."""

    def check(text):
        read(text)
        return text

    return AfterValidator(check)


Rate = Annotated[str, _checked(units.rate_bps)]
Delay = Annotated[str, _checked(units.delay_s)]
Fraction = Annotated[str, _checked(units.fraction)]
Size = Annotated[int | str, _checked(units.size_bytes)]


class Description(BaseModel):
    """A frozen description. Fields may be given by position, in the order they are declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, *values, **fields):
        names = [name for name in type(self).model_fields if name != "kind"]
        if len(values) > len(names):
            raise SpecificationError(
                f"{type(self).__name__} takes {len(names)} values ({', '.join(names)}), not"
                f" {len(values)}"
            )
        for name, value in zip(names, values, strict=False):
            if name in fields:
                raise SpecificationError(
                    f"{type(self).__name__}.{name} was given twice: {value!r} and {fields[name]!r}"
                )
            fields[name] = value
        with speaking(type(self).__name__):
            super().__init__(**fields)

    @classmethod
    def from_json(cls, text):
        """Read what `to_json` wrote.

        Raises
        ------
        SpecificationError
            Not JSON, an unknown key, or a value that is not allowed.
        """
        with speaking(cls.__name__):
            return cls.model_validate_json(text)

    def to_json(self):
        """As JSON text; what has its default value is written too, so that a record stays true when
        a default changes.
        """
        return self.model_dump_json(indent=1) + "\n"

    def but(self, **changes):
        """The same with some fields changed, checked like a new one."""
        return type(self)(**{name: getattr(self, name) for name in self.model_fields_set} | changes)


class speaking:
    """Turns pydantic's errors into a `SpecificationError` of one line per field: its name, its
    value, what is allowed.
    """

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if not isinstance(error, ValidationError):
            return
        lines = []
        for found in error.errors(include_url=False):
            cause = found.get("ctx", {}).get("error")
            if isinstance(cause, SpecificationError):
                lines.append(str(cause))
                continue
            field = ".".join([self.name, *(str(part) for part in found["loc"])])
            problem = str(cause) if cause else found["msg"][0].lower() + found["msg"][1:]
            if found["type"] == "json_invalid":
                problem = f"this is not JSON: {found['ctx']['error']}"
            if found["type"] == "missing":
                lines.append(f"{field} is missing: it is required")
            elif found["type"] == "extra_forbidden":
                lines.append(f"{field} = {found['input']!r}: there is no such field")
            elif not found["loc"]:
                lines.append(f"{self.name}: {problem}")
            else:
                lines.append(f"{field} = {found['input']!r}: {problem}")
        raise SpecificationError("\n".join(lines)) from None
