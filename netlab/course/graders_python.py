"""What a notebook uses that the grader does not have, or refuses: found by reading its code."""

import ast
import importlib
import re
import sys
import warnings
from functools import cache
from itertools import dropwhile

from netlab.course.texts import printable
from netlab.errors import NetlabError

SHELLS = ("bash", "sh", "script", "writefile", "html", "javascript")
INSTALL = ("pip", "pip3", "conda", "mamba", "micromamba", "uv")
OF_A_SHELL = ("system", "getoutput", "sx", "sc")  # of IPython's, as methods or as magics
RUN_PYTHON = ("time", "timeit", "capture", "prun")  # magics whose lines and cells are Python
# IPython rewrites one line after the other, and reads the whole cell for each
MOST_MAGICS, LONGEST_CELL = 50, 50_000
# Python takes quadratic memory for `import a.a.a. ...`, in which blanks may be, and ends of lines
LONG_NAME = re.compile(r"(?:\.(?:[\w \t\f\\]|[^\x00-\x7f]|(?<=\\)\n)++){100,}+")
MOST_TOLD, LONGEST_TOLD = 5, 200  # of one cell, and characters of each
CLOCKS = ("cpu", "real")
READERS = ("read_csv", "read_json", "read_excel", "read_pickle", "read_parquet", "read_table")
READERS += ("loadtxt", "genfromtxt")
OF_A_PATH = ("open", "read_text", "read_bytes")
PATHS = ("Path", "PurePath", "PosixPath", "join", "abspath", "expanduser", "str", "format")
COMMANDS = {  # by what they are called on
    "os": ("system", "popen", "execv", "execvp", "execl", "execlp"),
    "subprocess": ("run", "Popen", "call", "check_call", "check_output", "getoutput"),
}
NO_FILES = "the grader has none of your files"
NO_SHELL = "the grader runs no commands of a shell"
NO_KEYS = "nobody answers input() in the grader: it fails there"
ENDS = "os._exit() ends the whole notebook: no answer below it counts"
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
    found = []
    try:
        tree = ast.parse(as_python(LONG_NAME.sub(".a", source)))
        in_memory = {
            one.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and not is_path(node.value)
            for one in node.targets
            if isinstance(one, ast.Name)
        }
        nodes = [*ast.walk(tree)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        nodes, in_memory = [], ()  # it fails here, too, and that is told
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [no_module(one.name) for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(no_module(node.module or "") if not node.level else NO_FILES)
        elif isinstance(node, ast.Call):
            found += of_ipython(node) if is_ipython(node.func) else of_call(node, in_memory)
    return filter(None, found)


def as_python(source):
    """A cell's code without IPython's own syntax: `!ls` is ``get_ipython().system('ls')``."""
    marks = len(re.findall(r"^[ \t]*[%!?,;/]|[!?][ \t]*$|=[ \t]*[%!]", source, re.M))
    plain = not marks and source[:1] not in (" ", "\t")
    if plain or marks > MOST_MAGICS or len(source) > LONGEST_CELL:
        return source
    try:
        transformer = importlib.import_module("IPython.core.inputtransformer2")
    except ImportError:  # no notebook runs here
        return source
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformer.TransformerManager().transform_cell(source)


def is_ipython(function):
    """Is this ``get_ipython().name``?"""
    owner = getattr(function, "value", None)
    return isinstance(owner, ast.Call) and getattr(owner.func, "id", "") == "get_ipython"


def of_ipython(node):
    """What is refused of a call of IPython's: a command of a shell, or a magic."""
    name, words = node.func.attr, [getattr(one, "value", None) for one in node.args]
    words = [one if isinstance(one, str) else "" for one in words] or [""]
    if name in ("run_line_magic", "run_cell_magic", "magic"):
        if name == "magic":
            words = words[0].lstrip("%").split(" ", 1)
        name, words = words[0], words[1:] or [""]
        if name in SHELLS and node.func.attr == "run_cell_magic":
            return [f"the grader runs no %%{name}"]
        if name in RUN_PYTHON:
            parts = [without_options(words[0]), *words[1:]]
            parts = parts[name == "capture" :]  # the line names a variable
            return [told for part in parts for told in all_refused(part)]
        if name in INSTALL:
            return [f"the grader installs nothing: %{name} does nothing there"]
    if name in OF_A_SHELL:
        return [of_shell(words[0])]
    if name in ("run", "load") and node.func.attr != "run_cell":
        return [f"{NO_FILES}: %{name} fails there"]
    return []


def without_options(line):
    """The code behind a magic's options, such as ``-n 10``."""
    words = line.split(" ")
    return " ".join(dropwhile(lambda one: not one or one[0] == "-" or one.isdigit(), words))


def of_shell(line):
    """What is refused of a command of a shell."""
    words = re.findall(r"[\w./-]+", line)[:4]
    installer = next((one for one in words if one.rpartition("/")[2] in INSTALL), "")
    return f"the grader installs nothing: {installer} does nothing there" if installer else NO_SHELL


def no_module(name):
    lacking = lacks(name)
    return f"the grader has no {lacking}: what imports it fails there" if lacking else ""


def of_call(node, in_memory=()):
    """What is refused of a call; `in_memory` are variables that are not paths."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    owner = getattr(node.func, "value", None)
    first = node.args[0] if node.args else None
    text = getattr(first, "value", None)
    if name in ("import_module", "__import__") and isinstance(text, str):
        yield no_module(text)
    if name in COMMANDS.get(getattr(owner, "id", ""), ()):
        words = first.elts if isinstance(first, ast.List | ast.Tuple) else [first]
        words = [one.value if isinstance(one, ast.Constant) else "x" for one in words]
        yield of_shell(" ".join(map(str, words)))
    if name == "input" and owner is None:
        yield NO_KEYS
    if name == "_exit":
        yield ENDS
    known = isinstance(first, ast.Name) and first.id in in_memory
    if name == "open" and getattr(owner, "id", "io") in ("io", "gzip", "codecs"):
        if not writes(node, 1) and not known:
            yield f"{NO_FILES}: open(...) fails there"
    elif name in OF_A_PATH and isinstance(owner, ast.Call) and is_path(owner):
        if not writes(node, 0):
            yield f"{NO_FILES}: {name}(...) fails there"
    elif name in READERS and first is not None and is_path(first) and not known:
        yield f"{NO_FILES}: {name}(...) fails there"
    for keyword in node.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else ""
        if keyword.arg == "engine" and value not in (None, "guest"):
            yield "the grader has one engine of its own: leave engine= out"
        if keyword.arg == "clock" and value in CLOCKS:
            yield f"the grader has no clock {value!r}: leave clock= out"


def is_path(node):
    """May this expression be a file's name? A variable may; a call only where it makes paths."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", getattr(node.func, "id", "")) in PATHS
    return isinstance(node, ast.JoinedStr | ast.BinOp | ast.Name)


def writes(node, place):
    """Is a file opened to be written, by the mode at this place of the arguments?"""
    modes = [*node.args[place : place + 1], *(k.value for k in node.keywords if k.arg == "mode")]
    return any(isinstance(one, ast.Constant) and {*str(one.value)} & {*"wax"} for one in modes)


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
            f"the grader has no {name}: a cell that imports or uses it fails there", stacklevel=4
        )
