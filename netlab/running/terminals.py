"""The terminals of a network's nodes: lines that are typed, kept in its history."""

import functools

from netlab.running.console import Console
from netlab.running.host_files import Files
from netlab.running.job import check_command, check_seconds
from netlab.running.session import alone
from netlab.running.typed import Typed, one_line
from netlab.running.typed_tc import doubts


class Terminals:
    """The part of a `Network` that types; `consoles` are its terminals by node, as far as they have
    been used, and `files` the texts of its hosts' files.
    """

    def __init__(self, session, clock):
        self._session, self.lock, self.clock_kind = session, session.lock, clock
        self.consoles, self.files = {}, Files(self)

    @alone
    def type(self, host, line, limit_s=600, stays=False, show=None):
        """Type a line on a node's terminal, whose bash stays from line to line.

        Parameters
        ----------
        host : str
            Name of a host, router or switch.
        line : str
            As a person types it. Typographic quotes become straight ones. ``^C`` is Ctrl-C for what
            stays in the foreground.
        limit_s : float
            It is ended as Ctrl-C would after so long. [virtual s]
        stays : bool
            Leave it in the foreground, as a server; else time passes until it has ended.
        show : callable, optional
            Is told what the terminal shows, as it comes; None prints it.

        Returns
        -------
        Typed
            With ``text``, ``output`` and ``status``.

        Raises
        ------
        SpecificationError, CommandError
            It is no line; something else is in the foreground there, or it took too long.

        Notes
        -----
        Its time is until bash shows its next prompt. A line that is continued, as ``for i in 1 2``
        is, ends at the prompt ``>``. Warnings about a ``tc`` line that harms a link, such
        as a bucket through which nothing passes, are shown after it, and are in ``doubts``.
        """
        show = functools.partial(print, end="", flush=True) if show is None else show
        console, typed = self.console(host), Typed(host, one_line(line), stays)
        before = [*self.commands]
        self.commands.append(f"{host} {typed.line}")
        self.history.add(host, typed.line, typed)
        console.type(typed, check_seconds("limit_s", limit_s), show)
        if typed.status == 0:
            typed.doubts = doubts(typed.line, before, self.topology.offloading)
            for text in typed.doubts:
                show(f"*** netlab: {text}\n")
        return typed

    def console(self, host):
        """The terminal of a node: `netlab.running.console.Console`."""
        check_command(self.topology, host, "true")
        if host not in self.consoles:
            self.consoles[host] = Console(self._session, host, self.clock_kind)
        return self.consoles[host]
