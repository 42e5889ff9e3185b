"""The terminals of a network's nodes: what is typed on them, and what comes of it.

A terminal is one job of the network: a bash that stays, with its variables, its folder and its
jobs. The agent types on it, and time passes until bash shows its next prompt. There it also says
how the last line ended and which folder it is in, in a sequence that terminals do not show.
"""

import functools
import hashlib
import re
import shlex

from netlab.engines.base import ignore
from netlab.errors import CommandError
from netlab.readers.by_tool import read_printed
from netlab.running.job import check_command, check_seconds, ending, one_line, plain, whole
from netlab.running.session import alone
from netlab.topology.typed_tc import doubts

TICK_S = 0.05  # between two looks of an engine for Ctrl-C [virtual s]
LEAVE_S = 0.1  # for the first words of what stays, and for its last before Ctrl-C [virtual s]
LOOK_S = 0.01  # that one has to end, or to begin, which may do so just now [virtual s]
OPENS_S = 60  # that bash may take to its first prompt [virtual s]
KILLED = -9  # by SIGKILL; a Python in a browser has no names of signals
# In the words of terminals (OSC 133) A is where a prompt begins and B where it ends. A program that
# does not know the number cannot print a prompt; one that does only ends the wait for itself, and
# says how. It is no secret: who types `echo $PS1` reads it.
RC = r"""exec 3<&-
PS1='\[\e]133;A;aid=ID;status=$?;cwd=${PWD//[[:cntrl:]]/?}\a\]root@HOST:\w\$ \[\e]133;B;aid=ID\a\]'
PS2='\[\e]133;A;aid=ID;k=s\a\]> \[\e]133;B;aid=ID\a\]'
PATH=$PATH:~/bin HISTFILE= MAIL= PAGER=cat
sudo() { "$@"; }
cd ~
"""
PROMPT = r"\x1b\]133;A;aid=ID;(?:status=(\d{1,3});cwd=([^\x07]*)|k=s)\x07"
READY = "\x1b]133;B;aid=ID\x07"


class Typed:
    """A line that was typed on a node.

    Attributes
    ----------
    host, line : str
    text : str
        What the terminal showed for it: the prompt, the line, and what was printed.
    output : str
        What was printed alone.
    status : int or None
        Its exit status; None where it has not ended.
    ended_after_s : float or None
        How long it ran until Ctrl-C, or its limit, ended it. [virtual s]
    refused : bool
        It was not typed, because something else runs there.
    stays : bool
        It was left running, so that the next lines of other nodes find it.
    doubts : list of str
        Warnings about a ``tc`` line that harms a link.
    """

    def __init__(self, host, line, stays=False):
        self.host, self.line, self.stays = host, line, stays
        self.text, self.status, self.ended_after_s, self.refused = "", None, None, False
        self.doubts = []

    @property
    def output(self):
        return self.text.partition("\n")[2]

    def read(self):
        """What was printed, by the reader of its tool, as `netlab.running.job.Job.read`."""
        return read_printed(self.line, self.output)

    def __repr__(self):
        state = "runs" if self.status is None else f"status {self.status}"
        return f"<Typed {self.host} {self.line!r}: {state}>"


class Console:
    """The terminal of a node, on a network's `Session`.

    `job` is its bash, or None; `busy` is the `Typed` that runs in it, or None; `folder` is the
    folder that bash is in.
    """

    def __init__(self, session, host, seed=0):
        self.session, self.host = session, host
        self.job = self.busy = self._show = None
        self.folder, self._fresh, self._earlier, self._begun = "", [], [], ""
        number = hashlib.sha256(f"{seed} {host}".encode()).hexdigest()[:8]
        rc, prompt, self._ready = (
            text.replace("=ID", f"={number}") for text in (RC, PROMPT, READY)
        )
        self._rc, self._prompt = rc.replace("HOST", host), re.compile(prompt)

    @property
    def fresh(self):
        """What has been shown since, and with, the last prompt."""
        return "".join(self._fresh)

    def open(self):
        """Start its bash, unless it runs."""
        if self.job is None:
            self._fresh, self._earlier, self._begun = [], [], ""
            start = f"exec bash --noediting --rcfile /dev/fd/3 -i 3<<<{shlex.quote(self._rc)}"
            job = self.job = self.session.start(self.host, start, echo=True)
            job.heard = self._hear
            self._ask("", OPENS_S)
            if self.job is None:
                raise job.failed("could not be started")

    def type(self, typed, limit_s, show):
        """Type a line (`Typed`); see `netlab.Network.type`."""
        line, keys = typed.line, "\x03" if typed.line == "^C" else f"{typed.line}\n"
        if self.busy:
            self._type("", LEAVE_S if line == "^C" else LOOK_S, leave=True)
        if self.busy and line != "^C":
            typed.refused = True
            raise CommandError(
                f"`{self.busy.line}` runs in the terminal of {self.host}: the line ^C ends it, and"
                f" `{line}` can come then"
            )

        def begin():
            self.busy, self._show = typed, show
            self._tell(self.fresh)

        try:
            limit_or_words_s = LEAVE_S if typed.stays else limit_s
            answer = self._type(keys, limit_or_words_s, leave=typed.stays, begin=begin)
        except CommandError:  # somebody printed too much
            self.close()
            raise
        finally:
            self._show, typed.text = None, self._taken()
        if answer["ended_by"] == "interrupt":
            typed.ended_after_s = answer["after_s"]
        elif answer["ended_by"] == "limit" and not typed.stays:
            typed.ended_after_s = limit_s
        if answer["ended_by"] and answer["status"] == [KILLED]:
            raise CommandError(
                f"`{line}` on {self.host} did not end at Ctrl-C, and was killed with its terminal;"
                f" the next line gets a new one. {ending(typed.text)}",
                line,
                typed.text,
            )
        if answer["ended_by"] == "limit" and not typed.stays:
            raise CommandError(
                f"`{line}` on {self.host} did not end within {limit_s:g} virtual seconds, and was"
                " ended. If it ends by Ctrl-C alone, as a server or ping do, let it stay (`%%on"
                f' {self.host} --stay`, or `--for 4`; on a panel, "leave it running"); if it waits'
                f" for input, give it that in its line, as in `printf 'y\\n' | ...`."
                f" {ending(typed.output)}",
                line,
                typed.text,
                typed.status,
            )
        return typed

    def close(self):
        """End its bash, and what runs in it."""
        job, self.job, self.busy = self.job, None, None
        if job:
            job.stop()

    def _type(self, text, limit_s, leave=False, begin=ignore):
        """Type this, and let time pass until the next prompt; -> the agent's answer."""
        for _ in range(2):  # bash may have ended before, as by another node's `pkill bash`
            self.open()
            begin()
            answer = self._ask(text, limit_s, leave)
            if self.job or not answer["untyped"]:
                break
        return answer

    def _ask(self, text, limit_s, leave=False):
        answer = self.session.type(self.job, text, self._ready, limit_s, leave)
        if self.job.status is not None:  # bash has ended
            self.job.heard = ignore  # what it has left running may still print
            self.job, self.busy = None, None
        return answer

    def _hear(self, out):
        text, self._begun = whole(self._begun + out)
        at = 0
        for prompt in self._prompt.finditer(text):
            self._add(text[at : prompt.start()])
            at = prompt.start()
            self._ended(*prompt.groups())
        self._add(text[at:])

    def _add(self, text):
        self._fresh.append(text)  # a text would be copied with every piece
        self._tell(text)

    def _tell(self, text):
        if self._show and (text := plain(text).replace("\r\n", "\n")):
            self._show(text)

    def _ended(self, status, folder):
        """A prompt begins: take what bash reports there. In a continued line it reports nothing."""
        typed, self.busy, self._show = self.busy, None, None
        self._earlier += self._fresh
        self._fresh = []
        if status:
            self.folder = folder
            if typed:
                typed.status = int(status)

    def _taken(self):
        """Take, as plain text, what was shown up to the last prompt, or all where a line runs."""
        taken, self._earlier = "".join(self._earlier), []
        if self.busy or self.job is None:
            taken, self._fresh = taken + self.fresh, []
        return plain(taken).replace("\r\n", "\n")


class Terminals:
    """The part of a `Network` that types; `consoles` are its terminals by node, as far as they have
    been used.
    """

    def __init__(self, session, clock):
        self._session, self.lock, self.clock_kind = session, session.lock, clock
        self.consoles = {}

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
        """The terminal of a node: a `Console`."""
        check_command(self.topology, host, "true")
        if host not in self.consoles:
            self.consoles[host] = Console(self._session, host, self.seed)
        return self.consoles[host]


def floor_to_tick(seconds):
    """Round down to the last look of an engine for Ctrl-C. [virtual s]"""
    return int(seconds / TICK_S) * TICK_S
