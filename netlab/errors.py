"""Everything netlab raises on purpose, in one tree.

NetlabError
 ├─ SpecificationError    a topology, traffic or experiment that is not possible
 ├─ EngineError           no engine here works, or one could not be built
 │   └─ GuestError        a running guest died; its evidence is kept
 │       └─ LimitError    it was ended at a limit of output, memory or wall-clock time
 ├─ CommandError          a command on a host failed; its output is kept
 ├─ AlgorithmError        a congestion control in Python failed, at the lines that it says
 ├─ EmulationError        the network that came up is not the network that was asked for
 ├─ ReadError             a tool's output that cannot be read; the raw text is kept
 └─ MissingPackageError   a Python package that only a part of netlab needs is not installed

Three are not errors. ``ReadWarning``: a tool's output was read, though it contradicts itself.
``ModelWarning``: a model was given what is outside its domain. ``LinkWarning``: a link did not do
what its description says.

The pure functions (models, fairness, units) raise plain ``ValueError`` for a bad argument.
``SpecificationError`` and ``ReadError`` are ``ValueError`` too, so ``except ValueError`` catches
every kind of bad input. ``MissingPackageError`` is an ``ImportError`` too.

In notebooks these errors are shown without netlab's own lines: the message with its notes, what
caused it, and the reader's lines that led to it, unless ``%xmode`` has set another mode.
"""

import contextlib
import linecache
import os
import re
import shlex
import sys
import sysconfig
import traceback
from pathlib import Path

_LIBRARIES = [sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")]
_NOT_THE_READERS = tuple(f"{folder}{os.sep}" for folder in (Path(__file__).parent, *_LIBRARIES))
_AT_EACH_END = 5  # lines of a long traceback that are shown


def printable(text):
    """A text with "?" for each character that could control a terminal; it keeps its lines."""
    return "".join(one if one.isprintable() or one in "\n\t" else "?" for one in str(text))


class NetlabError(Exception):
    """Base of every error that netlab raises on purpose.

    Examples
    --------
    >>> from netlab import wan
    >>> try:
    ...     wan("10 gigabytes")
    ... except NetlabError as error:
    ...     print(error)
    wan.rate = '10 gigabytes': '10 gigabytes' is not a rate: write a number ...
    """

    def __str__(self):
        """Its message, wherever that is shown; it may have what a stranger's program printed."""
        return printable(super().__str__())

    def _render_traceback_(self):
        """What IPython shows."""
        shell = sys.modules["IPython"].get_ipython()
        if shell.InteractiveTB.mode != "Context":  # somebody has asked for another one
            told = type(self), self, self.__traceback__
            return shell.InteractiveTB.structured_traceback(*told, tb_offset=1)
        lines = [*_readers_lines(shell, self.__traceback__)]
        left_out = len(lines) - 2 * _AT_EACH_END
        if left_out > 1:  # a long recursion
            lines[_AT_EACH_END:-_AT_EACH_END] = [f"... {left_out} more lines ..."]
        lines.append("(netlab's own lines are left out; %xmode Verbose and then %tb show them)")
        return [
            f"\x1b[1m{type(self).__name__}\x1b[0m: {self}",
            *_notes_and_causes(self),
            "",
            *lines,
        ]


def _notes_and_causes(error):
    """The notes of an error, and a line for each cause that the messages before do not have."""
    said, seen = str(error), set()
    yield from map(str, getattr(error, "__notes__", ()))
    while (error := error.__cause__) is not None and id(error) not in seen:
        seen.add(id(error))
        text = " ".join(str(error).split())
        if not text or text not in said:
            yield f"caused by {type(error).__name__}" + f": {text}" * bool(text)
        yield from map(str, getattr(error, "__notes__", ()))
        said += text


def _readers_lines(shell, tb):
    """A line for each call in a traceback that stands in neither netlab nor a library."""
    for frame, number in traceback.walk_tb(tb):
        file = frame.f_code.co_filename
        typed = file.startswith("<ipython-input-")  # IPython in a terminal
        if file.startswith(_NOT_THE_READERS) or (file.startswith("<") and not typed):
            continue
        where = " ".join(shell.compile.format_code_name(file) or ("File", file))
        text = linecache.getline(file, number, frame.f_globals).strip()
        yield f"{where}, line {number}:  {text}"


class SpecificationError(NetlabError, ValueError):
    """A topology, traffic or experiment that is not possible: the message says which field is."""


class EngineError(NetlabError):
    """No engine works here, or one could not be built: what is missing, and how to get it."""


class GuestError(EngineError):
    """A guest died, or its run would not repeat.

    Attributes
    ----------
    console : str
        The end of what the guest's kernel and agent printed.
    evidence : pathlib.Path or None
        The folder where everything the guest left is kept.
    """

    def __init__(self, message, console="", evidence=None):
        super().__init__(message)
        self.console = console
        self.evidence = evidence


class LimitError(GuestError):
    """A guest was ended at a limit of output, memory or wall-clock time, and would be again."""


class AlgorithmError(NetlabError):
    """A congestion control in Python ended its run: an exception at one of its lines, a value that
    no window can have, no answer in ten seconds.
    """


class CommandError(NetlabError):
    """A command on a host failed.

    Attributes
    ----------
    command, output : str
        What was typed, and everything it printed.
    status : int
        Its exit status.
    """

    def __init__(self, message, command="", output="", status=None):
        super().__init__(message)
        self.command = command
        self.output = output
        self.status = status


class EmulationError(NetlabError):
    """The network that came up is not the one that was asked for; nothing was measured."""


class ReadError(NetlabError, ValueError):
    """A tool's output that cannot be read.

    Attributes
    ----------
    raw : str
        The untouched text.
    """

    def __init__(self, message, raw=""):
        super().__init__(message)
        self.raw = raw


DISTRIBUTION = "netlab-tcp"  # what pip installs: on registries `netlab` is somebody else's


def installed():
    """The installed distribution; where it was set up before it had this name, under `netlab`."""
    from importlib import metadata

    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.distribution(DISTRIBUTION)
    return metadata.distribution("netlab")


class ReadWarning(UserWarning):
    """A tool's output that was read, though it contradicts itself: which figure was taken.

    Examples
    --------
    As an error, where a file that is doubtful shall not count:

    >>> import warnings
    >>> from netlab.readers import read_ping
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ReadWarning)
    ...     read_ping("tests/data/ping/odd/iputils-20210202-killed.txt")
    Traceback (most recent call last):
    netlab.errors.ReadWarning: ... there are no statistics, as of a ping that was killed: ...
    """


class ModelWarning(UserWarning):
    """A model was computed with an argument that is outside its domain, as of another unit.

    Examples
    --------
    >>> import warnings
    >>> from netlab.models import mathis_bps
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ModelWarning)
    ...     mathis_bps(1448, 80, loss=0.01)
    Traceback (most recent call last):
    netlab.errors.ModelWarning: mathis_bps: rtt_s = 80 is outside the model's domain, 0 to 3 ...
    """


class LinkWarning(UserWarning):
    """A link did not do to the traffic what its description says; see `Result.warnings`.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("error", LinkWarning)  # doctest: +SKIP
    """


class MissingPackageError(NetlabError, ImportError):
    """A Python package that only a part of netlab needs, such as Jupyter's, is not installed."""


@contextlib.contextmanager
def needs_notebooks(extra="notebooks", purpose="everything for notebooks"):
    """Turns a missing package of Jupyter's, or another extra's, into a `MissingPackageError`."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = error.name.partition(".")[0]
        if package == "netlab":
            raise
        asked = " ".join(map(shlex.quote, packages_of(extra) or [package]))
        raise MissingPackageError(
            f"{package} is not installed here, and this part of netlab needs it. This installs"
            f" {purpose}: `pip install {asked}`"
        ) from None


def packages_of(extra):
    """What an extra of this distribution asks for, such as "papermill>=2.6".

    Their names, and not the extra's, work for a wheel and a checkout, published or not.
    """
    lines = []
    with contextlib.suppress(ModuleNotFoundError):  # a folder that pip did not install
        lines = [line.partition(";") for line in installed().requires or ()]
    marked = re.compile(rf"""extra\s*==\s*["']{extra}["']""")
    return [package.strip() for package, _, marker in lines if marked.search(marker)]
