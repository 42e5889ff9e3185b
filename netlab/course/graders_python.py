"""What a notebook uses that the grader does not have, or refuses: found by reading its code."""

import ast
import re
import sys
import warnings
from functools import cache

from netlab.course.texts import printable
from netlab.errors import NetlabError

MAGIC = re.compile(r"^([ \t]*)([%!].*)$", re.M)
INSTALLS = re.compile(r"[%!]\s*(?:\S*pip3?|conda|mamba|uv)\b")
SHELLS = ("%%bash", "%%sh", "%%script", "%%writefile", "%%html", "%%javascript", "!")
# Python takes quadratic memory for `import a.a.a. ...`, in which blanks may be, and ends of lines
LONG_NAME = re.compile(r"(?:\.(?:[\w \t\f\\]|[^\x00-\x7f]|(?<=\\)\n)++){100,}+")
MOST_TOLD, LONGEST_TOLD = 5, 200  # of one cell, and characters of each
CLOCKS = ("cpu", "real")
FILES = ("open", "read_csv", "read_json", "read_excel", "read_pickle", "read_parquet", "loadtxt")
NO_FILES = "the grader has none of your files"
WARNED = set()


@cache
def modules():
    """Names of the modules that a graded notebook can import; None where this cannot be told."""
    from netlab.engines.jail import contents  # starts processes

    try:
        return contents.modules()
    except NetlabError:  # IPython is not installed: no notebook runs here
        return None


def lacks(name):
    """The top-level name of a module that the grader does not have; "" of one that it has."""
    known, top = modules(), name.partition(".")[0]
    return top if known is not None and top not in known else ""


def refused(source):
    """What in a cell's code the grader lacks or refuses, a sentence each; the first few."""
    told = [*dict.fromkeys(printable(text, LONGEST_TOLD) for text in all_refused(source))]
    more = [f"and {len(told) - MOST_TOLD} more of this kind"] if len(told) > MOST_TOLD else []
    return told[:MOST_TOLD] + more


def all_refused(source):
    """What `refused` tells, in the order of the code."""
    text = MAGIC.sub(lambda line: f"{line[1]}pass", source)
    if source.lstrip().startswith("%%"):
        name = source.split()[0]
        return [f"the grader runs no {name}"] if name in SHELLS else []
    found = [no_magic(line[2]) for line in MAGIC.finditer(source)]
    try:
        nodes = [*ast.walk(ast.parse(LONG_NAME.sub(".a", text)))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        nodes = []  # it fails here, too, and that is told
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [no_module(one.name) for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(no_module(node.module or "") if not node.level else NO_FILES)
        elif isinstance(node, ast.Call):
            found += of_call(node)
    return filter(None, found)


def no_magic(line):
    if INSTALLS.match(line):
        return f"the grader installs nothing: {line.split()[0]} fails there"
    return "the grader runs no commands of a shell" if line.startswith("!") else ""


def no_module(name):
    lacking = lacks(name)
    return f"the grader has no {lacking}: what imports it fails there" if lacking else ""


def of_call(node):
    """What is refused of a call."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    first = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
    if name in ("import_module", "__import__") and isinstance(first, str):
        yield no_module(first)
    if name in FILES and not (name == "open" and isinstance(node.func, ast.Attribute)):
        yield f"{NO_FILES}: {name}(...) fails there"
    for keyword in node.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else ""
        if keyword.arg == "engine" and value not in (None, "guest"):
            yield "the grader has one engine of its own: leave engine= out"
        if keyword.arg == "clock" and value in CLOCKS:
            yield f"the grader has no clock {value!r}: leave clock= out"


def warn_of_foreign_modules():
    """Warn once of each module of a running notebook that the grader lacks."""
    if "IPython" not in sys.modules:
        return
    names = vars(sys.modules["__main__"]).values()
    used = {getattr(one, "__name__", "") for one in names if type(one) is type(sys)}
    used = {name.partition(".")[0] for name in used if isinstance(name, str)} - WARNED
    for name in sorted(filter(None, map(lacks, used - {"__main__", *sys.stdlib_module_names}))):
        WARNED.add(name)
        warnings.warn(
            f"the grader has no {name}: a cell that imports or uses it fails there", stacklevel=3
        )
