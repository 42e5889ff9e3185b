"""An algorithm as a part of an experiment: its name, its parameters and its whole source."""

import ast
import builtins
import contextlib
import difflib
import functools
import inspect
import json
import keyword
import linecache
import math
import re
import symtable
import sysconfig
import textwrap
import threading
import types
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from netlab.algorithms.base import CongestionControl, called, made_with
from netlab.algorithms.unchanged import FUNCTIONS, first_line, refuse_changed
from netlab.description import Description, short
from netlab.errors import SpecificationError

MOST_CHARACTERS = 100_000
EVENTS = "start", "on_ack", "on_sample", "on_loss", "on_timeout"  # what the kernel asks
OF_PYTHON = re.compile("netlab([0-9]+)")  # what the kernel calls those in Python
# CPython 3.11 counts the depth of a parse once for all threads: two at a time end in a SystemError.
PARSING = threading.Lock()
WITH_SOURCE = type, types.FunctionType, functools._lru_cache_wrapper
LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))


def class_name(text):
    if not text.isidentifier() or keyword.iskeyword(text):
        raise ValueError("the name of a class, such as 'Mine'")
    return text


class Algorithm(Description):
    """A congestion control that was written in Python, with everything that it needs."""

    name: Annotated[str, Field(max_length=100), AfterValidator(class_name)]  # of its class
    parameters: dict[str, Any]  # of each connection's instance: numbers and texts
    source: str = Field(max_length=MOST_CHARACTERS)  # executed where CongestionControl is known

    def __str__(self):
        return called(self.name, self.parameters)

    __repr__ = __str__


def algorithm(value):
    """The `Algorithm` of a class or an instance of `CongestionControl`; anything else unchanged."""
    if isinstance(value, CongestionControl):
        cls, parameters = type(value), value._made_with
    elif isinstance(value, type) and issubclass(value, CongestionControl):
        cls = value
        try:
            parameters = made_with(cls, (), {})
        except TypeError as error:
            why = f"{error}. Give it as {cls.__name__}(...), with its parameters"
            raise ValueError(why) from None
    else:
        return value
    if cls is CongestionControl:
        raise ValueError("CongestionControl itself decides nothing: derive a class from it")
    check_methods(cls)
    parameters = {
        name: written(one, f"{cls.__name__}'s {name}") for name, one in parameters.items()
    }
    gathered = Gathered()
    with PARSING:
        gathered.add(cls.__name__, cls)
    source = "\n\n".join(gathered.parts) + "\n"
    return Algorithm(name=cls.__name__, parameters=parameters, source=source)


def check_methods(cls):
    """Refuse a method that the kernel would never ask, or could not ask: ValueError."""
    for name in dir(cls):
        base, own = getattr(CongestionControl, name, None), getattr(cls, name)
        if name.startswith("on_") and not base:
            close = difflib.get_close_matches(name, EVENTS, 1)
            meant = f"; {close[0]} is one" if close else ""
            raise ValueError(
                f"{cls.__name__}.{name} is never asked: the kernel asks {', '.join(EVENTS)}{meant}."
                " Give a method of your own a name that does not begin with on_"
            )
        if name not in EVENTS or not isinstance(own, types.FunctionType):
            continue
        expected = [*inspect.signature(base).parameters]
        try:
            inspect.signature(own).bind(*expected)
        except TypeError:
            raise ValueError(
                f"{cls.__name__}.{name} is asked as {name}({', '.join(expected[1:])}): write"
                f" def {name}({', '.join(expected)})"
            ) from None
        if inspect.isgeneratorfunction(own) or inspect.iscoroutinefunction(own):
            raise ValueError(f"{cls.__name__}.{name} must end with return, without yield and async")


def as_algorithm(value):
    """The `Algorithm` of a class or an instance; else ValueError."""
    found = algorithm(value)
    if not isinstance(found, Algorithm):
        raise ValueError(f"{value!r} is no class that derives from netlab.CongestionControl")
    return found


def congestion_control(value):
    """None, the kernel's name of a congestion control, or an `Algorithm`; else ValueError."""
    if isinstance(value, dict):
        return Algorithm(**value)
    found = algorithm(value)
    if found is None or isinstance(found, Algorithm):
        return found
    if isinstance(found, str) and re.fullmatch("[a-z0-9_]+", found):
        return found
    raise ValueError(
        "the kernel's name of one, such as 'bbr', or a class that derives from"
        " netlab.CongestionControl"
    )


def check_known(field: str, name: str, about: dict) -> None:
    """Refuse, by a `SpecificationError`, a congestion control that an engine's kernel lacks."""
    known = about.get("congestion", ())
    if known and name not in known:
        known = [one for one in known if not OF_PYTHON.fullmatch(one)]
        close = difflib.get_close_matches(name, known, 1)
        raise SpecificationError(
            f"{field} = {name!r}: this engine's kernel has no such congestion control"
            f"{f'; did you mean {close[0]!r}?' if close else ';'} It has {', '.join(known)}"
        )


Congestion = Annotated[str | Algorithm | None, BeforeValidator(congestion_control)]


def written(value, what):
    """A parameter as JSON has it."""
    if type(value) in (list, tuple):
        return [written(one, what) for one in value]
    if type(value) is dict:
        for key in value:
            if not isinstance(key, str):
                raise ValueError(
                    f"{what} has the key {short(key)}, of type {type(key).__name__}: a parameter's"
                    f" keys are texts, such as {str(key)!r}"
                )
        return {key: written(one, what) for key, one in value.items()}
    try:
        return json.loads(json.dumps(plain(value, what), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} = {short(value)} cannot be written as JSON: {error}") from None


def plain(value, what):
    """The value as plain numbers, texts, lists, tuples, sets and dicts; ValueError for others."""
    if value is None or isinstance(value, bool | str | bytes):
        return value
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)  # numpy's float is one, and prints otherwise
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(plain(one, what) for one in value)
    if type(value) is dict:
        return {plain(key, what): plain(one, what) for key, one in value.items()}
    if type(value).__module__ == "numpy" and not value.shape:
        return plain(value.item(), what)
    raise ValueError(
        f"{what} is {short(value)}, of type {type(value).__name__}: an algorithm can take along"
        " numbers, texts, and lists, tuples, sets and dicts of them, functions, classes and modules"
    )


def literal(value):
    """Python's text for a plain value; infinity and NaN have no literal."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if type(value) in (list, tuple, set, frozenset):
        ordered = value if isinstance(value, list | tuple) else sorted(value, key=repr)
        return f"{type(value).__name__}([{', '.join(map(literal, ordered))}])"
    if type(value) is dict:
        inner = ", ".join(f"{literal(key)}: {literal(one)}" for key, one in value.items())
        return f"{{{inner}}}"
    return repr(value)


class Gathered:
    """The source of an algorithm and of everything that it names, in executable order."""

    def __init__(self):
        self.parts, self.known = [], {}

    def add(self, name, value):
        """Add what defines `name` as this value."""
        if name in self.known:
            if self.known[name] is not value:
                raise ValueError(f"two different things are called {name}: rename one of them")
            return
        self.known[name] = value
        if value is CongestionControl or inspect.ismodule(value):
            self.parts += import_line(name, value)
        elif isinstance(value, type) and issubclass(value, CongestionControl):
            for base in value.__bases__:
                if base is not CongestionControl and issubclass(base, CongestionControl):
                    self.add(base.__name__, base)
            self.add_source(name, value)
        elif isinstance(value, WITH_SOURCE) and is_own(value):
            self.add_source(name, value)
        elif isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
            line = f"from {value.__module__} import {value.__name__}"
            self.parts.append(line + f" as {name}" * (name != value.__name__))
        else:
            self.parts.append(f"{name} = {literal(plain(value, name))}")

    def add_source(self, name, value):
        text, known = source_of(value), namespace(value)
        for needed in sorted(names_used(text)):
            if needed != name and needed in known:
                self.add(needed, known[needed])
        self.parts.append(text)
        if name != value.__name__:
            self.parts.append(f"{name} = {value.__name__}")


def import_line(name, value):
    """What makes a module known; netlab itself, and CongestionControl, are known already."""
    if value is CongestionControl:
        return [f"{name} = CongestionControl"] * (name != "CongestionControl")
    if value.__name__.partition(".")[0] == "netlab":
        return [f"{name} = {value.__name__}"]
    return [f"import {value.__name__} as {name}" if name != value.__name__ else f"import {name}"]


def is_own(value):
    """Is it defined outside Python and its installed libraries?"""
    module = inspect.getmodule(value)
    file = getattr(module, "__file__", None) or ""
    return module is not builtins and not file.startswith(LIBRARIES)


def namespace(value):
    """The values of names in the source of a class or function: closures, then globals."""
    if not isinstance(value, type):
        functions = [inspect.unwrap(value)]
    else:
        functions = [one for one in vars(value).values() if isinstance(one, types.FunctionType)]
    module = inspect.getmodule(value)
    known = dict(vars(module)) if module else {}
    for function in functions:
        known |= function.__globals__
    for function in functions:
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        known |= {name: cell.cell_contents for name, cell in cells if name != "__class__"}
    return known


def names_used(text):
    """The names in a source that are defined outside it."""
    used, tables = set(), [symtable.symtable(text, "algorithm", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        used |= {
            one.get_name() for one in table.get_symbols() if one.is_referenced() and one.is_global()
        }
        if table.get_type() == "module":
            used |= {one.get_name() for one in table.get_symbols() if one.is_referenced()}
    return used


def source_of(value):
    """The text of a class or function, wherever it stands."""
    value = inspect.unwrap(value)
    if value.__name__ == "<lambda>":
        raise ValueError("an algorithm cannot take a lambda along: write it as a function with def")
    file, line = written_at(value)
    lines = lines_of(file)
    found = [node for node in stated(value, lines) if first_line(node) <= line <= node.end_lineno]
    if not found:
        raise ValueError(
            f"the source of {value.__name__} is not known: write it in a cell of a notebook, or in"
            " a file"
        )
    refuse_changed(value, found[-1], "".join(lines))
    text = "".join(lines[first_line(found[-1]) - 1 : found[-1].end_lineno])
    text = textwrap.dedent(text).rstrip()
    own = isinstance(value, type) and issubclass(value, CongestionControl)
    return without_docstrings(text) if own and value.__module__.startswith("netlab.") else text


def lines_of(file):
    linecache.checkcache(file)  # it may have been edited
    return linecache.getlines(file)


def stated(value, lines):
    """The statements in a text that define a class, or function, of this name."""
    kinds = ast.ClassDef if isinstance(value, type) else FUNCTIONS
    named = [one for one in ast.walk(ast.parse("".join(lines))) if isinstance(one, kinds)]
    return [one for one in named if one.name == value.__name__]


def written_at(value):
    """The file, or the cell, of a class or function, and one of its lines."""
    if not isinstance(value, type):
        return value.__code__.co_filename, value.__code__.co_firstlineno
    if issubclass(value, CongestionControl):
        return value._written_at
    for name, part in vars(value).items():
        code = getattr(inspect.unwrap(part) if callable(part) else part, "__code__", None)
        if (
            code
            and code.co_qualname == f"{value.__qualname__}.{name}"
            and code.co_filename != "<string>"
        ):
            return code.co_filename, code.co_firstlineno
    # It has no methods: the last class of this name in its module, or in a cell.
    cells = [file for file, of in linecache.cache.items() if len(of) > 1 and of[1] is None]
    module = getattr(inspect.getmodule(value), "__file__", None)
    for file in filter(None, [module, *reversed(cells)]):
        with contextlib.suppress(SyntaxError):  # of a cell that Python could not read
            if found := stated(value, lines_of(file)):
                return file, found[-1].lineno
    return "", 0


def without_docstrings(text):
    """The source without docstrings, so that changed documentation changes no experiment."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            said = node.body[0]
            lines[said.lineno - 1 : said.end_lineno] = [None] * (said.end_lineno - said.lineno + 1)
    return "\n".join(line for line in lines if line is not None)
