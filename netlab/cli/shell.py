"""``netlab shell``: a network, and Mininet's prompt on it; ``netlab replay``: what was typed there,
once more.
"""

import contextlib
import sys
from pathlib import Path

from netlab import Network, portfolio, read_miniedit, replay, wan
from netlab.cli.output import show
from netlab.cli.prompt import Prompt
from netlab.engines.files import check, write
from netlab.errors import CommandError, NetlabError, SpecificationError
from netlab.readers._common import read_file
from netlab.running.history import MOST_BYTES, History
from netlab.topology.picture import alt_text


def is_script(file):
    """Is this what --save wrote, which it may replace?"""
    with contextlib.suppress(SpecificationError, UnicodeDecodeError):
        return History.wrote(file.read(MOST_BYTES + 1).decode())
    return False


class Shell(Prompt):
    """Mininet's prompt on standard input."""

    def precmd(self, line):
        if not sys.stdin.isatty() and line != "EOF":
            self.show(f"{line}\n")  # which a terminal has shown
        return line

    def loop(self):
        """Take lines until one leaves."""
        left = False
        while not left:
            with contextlib.suppress(KeyboardInterrupt):  # a second one, while this is told
                try:
                    self.cmdloop()
                    left = True
                except KeyboardInterrupt:
                    self.show("\nInterrupt\n")
                except (CommandError, SpecificationError) as error:
                    self.show(f"*** {error}\n")


def topology(name, **options):
    """The network of this name or file; `options` are those of `netlab.wan` that were given."""
    given = {key: value for key, value in options.items() if value is not None}
    if name == "wan":
        return wan(**given)
    if given:
        raise SpecificationError(f"--{next(iter(given))} is of wan alone; {name} has its own")
    if name == "portfolio":
        return portfolio()
    if not name.endswith(".mn"):
        raise SpecificationError(f"{name!r}: wan, portfolio, or a file of MiniEdit, FILE.mn")
    try:
        return read_miniedit(Path(name))
    except OSError as error:
        raise NetlabError(f"{name}: {error.strerror}; give a file of MiniEdit") from error


def shell(network, save=None, **options):
    """Open a network (`options` are those of `Network`) and take lines at its prompt."""
    if save:
        check(save, "--save", is_script)
    with Network(network, **options) as net:
        show(f"*** {alt_text(network)}\n*** Clock: {net.clock_kind}\n")
        show("*** help lists commands; exit or Ctrl-D leaves, and ends the network\n")
        sys.stdin.reconfigure(errors="backslashreplace")
        try:
            Shell(net, show).loop()
        finally:
            if save:
                write(save, net.history.to_text(), "--save", ours=is_script)
    if save:
        show(f"*** `netlab replay {save}` does it again\n")


def again(path, engine=None):
    """Do again what a script says, and print it; -> whether it printed the same bytes."""
    try:
        script = read_file(path, MOST_BYTES).decode(errors="backslashreplace")
        script = History.from_text(script)
    except (OSError, SpecificationError) as error:
        told = getattr(error, "strerror", error)
        raise NetlabError(f"{path}: {told}; give what --save wrote") from error
    with replay(script, engine) as net:
        printed = net.history.transcript
        show(printed if printed.endswith("\n") else f"{printed}\n" * bool(printed))
    if script.same(net.history):
        show(f"*** The same {script.printed[0]} bytes as when it was saved\n")
        return True
    was, now = script.network.get("engine"), net.engine.digest
    about = f"on the {net.clock_kind} clock; engine {now}, then {was}. {net.unrepeatable}"
    show(f"*** Not the same as when it was saved: {about}\n")
    return False
