"""Everything netlab raises on purpose, in one tree.

NetlabError
 ├─ SpecificationError    a topology, traffic or experiment that is not possible
 ├─ EngineError           no engine here works, or one could not be built
 │   └─ GuestError        a running guest died or reached a limit; its evidence is kept
 ├─ CommandError          a command on a host failed; its output is kept
 ├─ EmulationError        the network that came up is not the network that was asked for
 ├─ ReadError             a tool's output that cannot be read; the raw text is kept
 └─ MissingPackageError   a Python package that only a part of netlab needs is not installed

The pure functions (models, fairness, units) raise plain ``ValueError`` for a bad argument.
``SpecificationError`` and ``ReadError`` are ``ValueError`` too, so ``except ValueError`` catches
every kind of bad input. ``MissingPackageError`` is an ``ImportError`` too.
"""

import contextlib


class NetlabError(Exception):
    """Base of every error that netlab raises on purpose."""


class SpecificationError(NetlabError, ValueError):
    """A topology, traffic or experiment that is not possible.

    The message names the field, the value and what is allowed.
    """


class EngineError(NetlabError):
    """No engine works here, or one could not be built: what is missing, and how to get it."""


class GuestError(EngineError):
    """A guest died, or reached its limit of virtual or wall-clock time.

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


class MissingPackageError(NetlabError, ImportError):
    """A Python package that only a part of netlab needs, such as Jupyter's, is not installed."""


@contextlib.contextmanager
def needs_notebooks(extra="notebooks", purpose="everything for notebooks"):
    """Around imports of Jupyter's packages, or of another extra's: one that is missing makes a
    `MissingPackageError`.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = error.name.partition(".")[0]
        if package == "netlab":
            raise
        raise MissingPackageError(
            f"{package} is not installed here, and this part of netlab needs it: `pip install"
            f" 'netlab[{extra}]'` installs {purpose}"
        ) from None
