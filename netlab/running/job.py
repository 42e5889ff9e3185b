"""A command on a node of a network: what may be one, what it has printed, how it ended. And the
files of hosts, which commands read and write.
"""

import base64
import posixpath
import re
import shlex
from collections.abc import Mapping
from numbers import Real

from netlab.description import check_command_line, short
from netlab.engines.base import ignore
from netlab.errors import CommandError, SpecificationError
from netlab.readers.by_tool import read_printed

LONGEST_S = 1_000_000_000  # the timers of the engines end at nine times as much
OUTPUT_LIMIT = 64_000_000  # what is kept of one program's output [byte of UTF-8]
ALL_OUTPUT_LIMIT = 2 * OUTPUT_LIMIT  # of all programs of a network
ENDING_LINES, ENDING_CHARACTERS = 10, 2000
MOST_KEYS = 4095  # that a terminal takes in a line [byte]
STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d\xa0", "''\"\" ")
END = "END_OF_FILE"
PIECE = 24 << 10  # of a file, quoted in an argument, which has at most 128 KiB (MAX_ARG_STRLEN)
# Escape sequences by ECMA-48: control sequences, as in ``ESC [ 31 m``; strings, as in ``ESC ] 0 ;
# title BEL``; short ones, as in ``ESC ( B``. Their lengths are bounded, so that a sequence which
# never ends holds back little.
_PARAMETERS, _MIDDLE = "[0-?]{0,200}[ -/]{0,9}", "[ -/]{0,9}"
_STRING = r"[\]PX^_][^\x07\x1b\n]{0,2000}"
_ESCAPE = re.compile(
    rf"\x1b(?:\[{_PARAMETERS}[@-~]|{_STRING}(?:\x07|\x1b\\)?|{_MIDDLE}[0-OQ-WYZ\\`-~])?"
)
_UNFINISHED = re.compile(rf"\x1b(?:\[{_PARAMETERS}|{_STRING}\x1b?|{_MIDDLE})\Z")


def check_seconds(field, value, most=LONGEST_S, zero=False):
    """A length of time as a float: above 0 (or 0, where that is allowed), at most `most`. [s]"""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 <= value <= most or (value == 0 and not zero):
        least = "from 0 to" if zero else "above 0 and at most"
        raise SpecificationError(f"{field} = {value!r}: a number of seconds {least} {most:,}")
    return float(value)


def check_command(topology, host, command):
    """Refuse a node that there is not, and what is no line that bash can be given."""
    nodes = topology.node_names
    if not isinstance(host, str) or host not in nodes:
        raise SpecificationError(f"host = {host!r}: this network's nodes are {', '.join(nodes)}")
    if not isinstance(command, str):
        raise SpecificationError(f"command = {command!r}: a line for bash, 'ping -c 4 10.0.0.2'")
    try:
        check_command_line(command)
    except ValueError as error:
        raise SpecificationError(f"command = {short(command)}: {error}") from None


def one_line(line):
    """The line, with the quotes and blanks that shells know; what nobody types is refused."""
    if not isinstance(line, str) or not line.translate(STRAIGHT).replace("\t", "").isprintable():
        raise SpecificationError(f"line = {short(line)}: one line, without control characters")
    if len(line.encode(errors="replace")) > MOST_KEYS:
        raise SpecificationError(
            f"line = {short(line)}: a terminal takes {MOST_KEYS} bytes in a line; write longer ones"
            " to a file"
        )
    return line.translate(STRAIGHT)


class Job:
    """A command on a node of a network.

    Attributes
    ----------
    host : str
        The host, router or switch that it runs on.
    command : str
    raw, text : str
        What it has printed so far, with and without the escape sequences that set colours.
    status : int or None
        Its exit status; negative where a signal ended it; None while it runs.
    """

    def __init__(self, session, number, host, command):
        self.session, self.number, self.host, self.command = session, number, host, command
        self.status, self._printed, self._missing = None, bytearray(), 0
        self.ended_after_s = None  # of `run`: when Ctrl-C or its limit ended it [virtual s]
        self.cut_off = False  # was it still running at the limit of time?
        self.heard = ignore  # is told what it prints

    @property
    def raw(self):
        return self._printed.decode(errors="ignore")  # it may end within a character

    @property
    def text(self):
        return plain(self.raw)

    def last(self, most):
        """The end of `text`, of about so many characters."""
        return plain(self._printed[-most:].decode(errors="ignore"))

    def read(self):
        """What it has printed, by the reader of its tool: for ping, a `netlab.readers.PingOutput`.

        A SpecificationError where no reader knows the tool, a ReadError where it printed something
        else: nstat needs ``-a -z -j``, ss ``-tniO``, and tc ``-s -j qdisc``.
        """
        return read_printed(self.command, self.text)

    def keep(self, out, room):
        """Keep what it printed, up to `room` [byte]; -> bytes kept, did it just pass a limit?"""
        data, before = out.encode(errors="replace"), self._missing
        kept = data[: max(0, min(room, OUTPUT_LIMIT - len(self._printed)))]
        self._printed += kept
        self._missing += len(data) - len(kept)
        return len(kept), self._missing > 0 and not before

    def wait(self, limit_s=600):
        """Let time pass until it has ended; -> itself.

        A CommandError where it was ended at `limit_s` [virtual s] (by Ctrl-C, then SIGKILL), or
        because it printed too much; a KeyboardInterrupt where Ctrl-C ended it.
        """
        if self.session.wait([self], check_seconds("limit_s", limit_s)):
            raise self.ended_at(limit_s)
        return self

    def stop(self):
        """End it as Ctrl-C would, and with SIGKILL if it still runs a second later; -> itself."""
        if self.status is None:
            self.session.stop(self)
        return self

    def ended_at(self, limit_s):
        """The error of a job that was ended at its limit of virtual time."""
        return self.failed(
            f"did not end within {limit_s:g} virtual seconds, and was ended: give it more with"
            " limit_s=..., or an end of its own, as `ping -c 4` has"
        )

    def flooded(self, most_bytes):
        """The error of a job that was ended because its output was too long."""
        return self.failed(
            f"printed more than {OUTPUT_LIMIT / 1e6:g} MB, or all programs of its network more than"
            f" {most_bytes / 1e6:g} MB, and was ended; only what came first is kept. Let it"
            " print less, as with `| tail`"
        )

    def failed(self, why):
        """A `CommandError` about this command."""
        message = f"`{self.command}` on {self.host} {why}. {ending(self.text)}"
        return CommandError(message, self.command, self.text, self.status)

    def __repr__(self):
        state = "running" if self.status is None else f"status {self.status}"
        return f"<Job {self.host} {self.command!r}: {state}>"


def ending(text):
    """The last lines of what a program printed, for a message: at most ten."""
    text = text.strip("\n")
    shown = "\n".join(text[-ENDING_CHARACTERS:].split("\n")[-ENDING_LINES:])
    if not shown:
        return "It printed nothing."
    return f"{'It printed' if shown == text else 'The end of what it printed'}:\n{shown}"


def plain(text):
    """The text without its escape sequences."""
    return _ESCAPE.sub("", text) if "\x1b" in text else text


def whole(text):
    """A text without the escape sequence that has only begun at its end, and that sequence."""
    unfinished = _UNFINISHED.search(text)
    end = unfinished.start() if unfinished else len(text)
    return text[:end], text[end:]


class EscapeFilter:
    """`plain` for a text that comes in pieces: it holds back a sequence that has only begun."""

    held = ""

    def add(self, piece):
        """What can be shown now that this piece has come."""
        text, self.held = whole(self.held + piece)
        return plain(text)


class Files(Mapping):
    """By host, a `Folder`: ``net.files["h1"]["out.json"]``."""

    def __init__(self, net):
        self.net = net

    def __getitem__(self, host):
        return Folder(self.net, host)

    def __iter__(self):
        return iter(self.net.topology.node_names)

    def __len__(self):
        return len(self.net.topology.node_names)


class Folder:
    """The folder that a host's terminal is in; the hosts of a network share their files.

    ``folder[name]`` is a file's text. ``folder[name] = content`` writes one: a text as a person
    would with ``cat > name <<'END'`` on the terminal, where its lines can be typed as they are;
    bytes, such as a program of your own, as they are. Iterating gives the names.
    """

    def __init__(self, net, host):
        self.net, self.host = net, host

    def __getitem__(self, name):
        return self._said(f"cat -- {shlex.quote(self._checked(name))}", name)

    def __setitem__(self, name, content):
        place = shlex.quote(self._checked(name))
        if not isinstance(content, str | bytes):
            raise SpecificationError(
                f"files[{self.host!r}][{name!r}] = {short(content)}: a text or bytes, such as"
                " str(number), json.dumps(values) or path.read_bytes()"
            )
        if isinstance(content, str) and all(map(can_be_typed, lines_of(content))):
            for line in (f"cat >{place} <<'{END}'", *lines_of(content), END):
                self.net.type(self.host, line, show=ignore)
            return
        data = content.encode() if isinstance(content, str) else content
        if isinstance(content, str) and "\0" not in content and len(data) < PIECE:
            self._said(f"printf %s {shlex.quote(content)} >{place}", name)
            return
        for at in range(0, max(1, len(data)), PIECE):
            piece = base64.b64encode(data[at : at + PIECE]).decode()
            self._said(f"printf %s {piece} | base64 -d >{'>' * bool(at)}{place}", name)

    def __iter__(self):
        return iter(self._said("ls -A1 --quoting-style=literal", ".").splitlines())

    def _checked(self, name):
        if isinstance(name, str) and name and "\0" not in name:
            return name
        raise SpecificationError(
            f"files[{self.host!r}][{short(name)}]: the name of a file, as text"
        )

    def _said(self, command, name):
        folder = self.net.console(self.host).folder
        place = shlex.quote(folder) if folder else "~"
        job = self.net.run(self.host, f"cd {place} && {command}", echo=False)
        if job.status:
            name = posixpath.join(folder, name)
            raise FileNotFoundError(f"{name} on {self.host}: {job.text.strip()}")
        return job.raw


def lines_of(text):
    """The lines of a text; the last one is whole, or the text is one that cannot be typed."""
    lines = text.splitlines()
    return lines if "\n".join(lines) == text.removesuffix("\n") else [text]


def can_be_typed(line):
    """Can this be typed as a line of a file, and stays what it is?"""
    try:
        return one_line(line) == line and line not in (END, "^C")
    except SpecificationError:
        return False
