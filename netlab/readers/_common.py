"""Shared by the readers: the text of a source, checked numbers, and tables of fixed columns."""

import errno
import json
import math
import os
import re
import reprlib
import stat
import warnings
from dataclasses import dataclass

import pandas as pd

from netlab.errors import ReadError, ReadWarning, printable

NAN = math.nan
# What to do about a text that no tool printed like this.
AGAIN = "The text was changed after it was printed, or it is damaged. Run the test again."
LIMIT = 2**64 - 1  # no tool here counts with more than 64 bits
LARGEST_BYTES = 500_000_000  # of a file that is read
_TYPES = {"stream": "int64", "seq": "int64", "omitted": "bool"}
_TYPES |= dict.fromkeys(("src", "dst", "congestion"), "object")
_LOOK = re.compile(r"at (\d+[.,]\d+)")  # bash has the decimal point of its locale
_PASSED = re.compile(r"/dev/stdin|/(dev|proc/self)/fd/\d+")  # `|` and `<(...)` of a shell
_TOLD, _LONGEST = 3, 600  # doubts in a warning, and characters of each, or of an error
_ANY_FAULT = LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError


def read(source, tool, parse, looks=False):
    """`parse(text, doubts)` of a source; its doubts become one warning, its errors a ReadError.

    A text that is there twice is read once, unless it has `looks`, of which two may be equal.
    """
    text, doubts = read_text(source), []
    where = "" if source is text else f"{source}: "
    try:
        out = parse(text if looks else _once(text, doubts), doubts)
    except ReadError as error:
        raise ReadError(f"{where}{_short(error)}", text) from error.__cause__
    except _ANY_FAULT as error:
        raise ReadError(
            f"{where}This lacks what every known {tool} prints ({type(error).__name__}:"
            f" {_short(error, 200)}). Look at the text: it is in this error's raw.",
            text,
        ) from error
    if doubts:
        told = list(dict.fromkeys(map(_short, doubts)))
        more = f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
        warnings.warn(
            f"{where}this is not quite what {tool} prints, and was read all the same:"
            f" {'; '.join(told[:_TOLD])}{more}",
            ReadWarning,
            stacklevel=3,
        )
    return out


def _once(text, doubts):
    """A text, or its first half where the second has the same lines."""
    lines = [*filter(str.strip, text.splitlines(keepends=True))]
    half, odd = divmod(len(lines), 2)
    pairs = zip(lines, lines[half:], strict=False)
    if odd or not half or any(one.strip() != other.strip() for one, other in pairs):
        return text
    doubts.append("the same text stands here twice: it counts once")
    return "".join(lines[:half])


def _short(said, most=_LONGEST):
    """A message, shortened in its middle, without control characters."""
    said = str(said)
    if len(said) > most:
        said = f"{said[: most // 2]} ... {said[-most // 2 :]}"
    return printable(said)


def read_text(source):
    """The text given, or of the file named, in any Unicode encoding; other bytes are escaped."""
    if isinstance(source, Printed):
        return source
    if isinstance(source, os.PathLike) or (isinstance(source, str) and os.path.isfile(source)):
        data = read_file(source)
        return data.decode(json.detect_encoding(data), errors="backslashreplace")
    if isinstance(source, str):
        return source
    raise TypeError(f"source must be a path or the text itself, not {type(source).__name__}")


@dataclass(frozen=True, eq=False, repr=False)
class StreamsOutput:
    """What one side of a throughput test says."""

    streams: pd.DataFrame
    intervals: pd.DataFrame
    meta: dict

    def __repr__(self):
        protocol = f"{self.meta['protocol']}, " if "protocol" in self.meta else ""
        return (
            f"{type(self).__name__}({protocol}the {self.meta['role']}'s: {len(self.streams)}"
            f" streams, {len(self.intervals)} intervals{self._told()})"
        )

    def _told(self):
        """What a kind of output adds to its `repr`."""
        return ""


class Printed(str):
    """What a program printed: never taken for the name of a file."""

    __slots__ = ()


def read_file(path, most_bytes=LARGEST_BYTES, flags=0):
    """The bytes of a file, or of a pipe that a shell has opened; OSError for what is no file."""
    # a named pipe without a writer would not be opened before there is one
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | flags)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        passed = stat.S_ISFIFO(found.st_mode) and _PASSED.fullmatch(os.fsdecode(path))
        if not (stat.S_ISREG(found.st_mode) or passed):
            raise OSError(errno.EINVAL, "this is a pipe or a device, and no file", str(path))
        if passed:
            os.set_blocking(descriptor, True)
        data = b"" if found.st_size > most_bytes else file.read(most_bytes + 1)
        if max(found.st_size, len(data)) > most_bytes:
            many = f"this has more than the {most_bytes / 1e6:g} MB that are read at most"
            raise OSError(errno.EFBIG, many, str(path))
        return data


def looks(text):
    """Lines of repeated runs, each with its time since the first ``at SECONDS`` [s], or NaN."""
    at_s = first_s = NAN
    for line in filter(None, map(str.strip, text.splitlines())):
        if look := _LOOK.fullmatch(line):
            at_s = float(look[1].replace(",", "."))
            first_s = at_s if math.isnan(first_s) else first_s
        else:
            yield at_s - first_s, line


def number(printed, name, doubts, least=0, most=LIMIT, unknown=None):
    """A number in an object of a tool's JSON; NaN where it has none, or one that cannot be."""
    value = printed.get(name)
    if value is None or value != value or value == unknown:
        return NAN
    if type(value) not in (int, float) or not least <= value <= most:
        doubts.append(f"{name} = {reprlib.repr(value)} is no number from {least} to {most}: NaN")
        return NAN
    return float(value)


def given(printed, name, most=LIMIT):
    """A number that the tool always prints; ReadError without it."""
    value = number(printed, name, wrong := [], most=most)
    if math.isnan(value):
        what = wrong[0].removesuffix(": NaN") if wrong else f"{name} is missing, or is no number"
        raise ReadError(f"{what}. {AGAIN}")
    return value


def word(printed, name):
    """A text in an object of a tool's JSON."""
    value = printed[name]
    if not isinstance(value, str) or not "".join(value.split()).isprintable():
        raise ReadError(f"{name} = {reprlib.repr(value)}: this must be a readable text. {AGAIN}")
    return value


def one_of(printed, name, *allowed):
    """A value in an object of a tool's JSON, which must be one of `allowed`."""
    value = printed[name]
    if value not in allowed:
        must = " or ".join(map(repr, allowed))
        raise ReadError(f"{name} = {reprlib.repr(value)}: this must be {must}. {AGAIN}")
    return value


def last_of(doubts):
    """An ``object_pairs_hook`` that takes the last of two values under one name."""

    def hook(pairs):
        found = dict(pairs)
        if len(found) < len(pairs):
            for name, value in pairs:
                # iperf3 repeats some, and before 3.10 the sums of two directions, which none reads
                if found[name] is not value and found[name] != value and name[:3] != "sum":
                    doubts.append(f"{name} stands twice in one object: the last is taken")
        return found

    return hook


def beside(intervals, others, *keys):
    """One side's intervals, and the other's of the same times to a tenth of one; else NaN."""

    def numbered(table):
        return table.assign(nth=table.groupby([*keys]).cumcount()).set_index([*keys, "nth"])

    own = numbered(intervals)
    others, times = numbered(others).reindex(own.index), ["start_s", "end_s"]
    apart_s = (own[times] - others[times]).abs().max(axis=1)
    return own, others.where(apart_s <= (own.end_s - own.start_s) / 10)


def table(rows, columns):
    """Rows as a table, as `tidy` makes it."""
    types = {name: _TYPES.get(name, "float64") for name in columns}
    values = {name: [row.get(name, NAN) for row in rows] for name in columns}
    return pd.DataFrame({name: pd.Series(values[name], dtype=types[name]) for name in columns})


def tidy(table, columns):
    """These columns in this order, floats where `_TYPES` names no other type."""
    return table.reindex(columns=columns).astype({c: _TYPES.get(c, "float64") for c in columns})
