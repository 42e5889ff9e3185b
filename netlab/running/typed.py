"""A line that is typed on a node's terminal, and what comes of it."""

from netlab.description import short
from netlab.errors import SpecificationError
from netlab.running.reading import read_printed

LOOK_S = 0.05  # between two looks of an engine for Ctrl-C [virtual s]
MOST_KEYS = 4095  # that a terminal takes in a line [byte]
PLAIN = str.maketrans("\u2018\u2019\u201c\u201d\xa0", "''\"\" ")


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


def looks_s(seconds):
    """The last look of an engine for Ctrl-C in this time. [virtual s]"""
    return int(seconds / LOOK_S) * LOOK_S


def one_line(line):
    """The line, with the quotes and blanks that shells know; what nobody types is refused."""
    if not isinstance(line, str) or not line.translate(PLAIN).replace("\t", "").isprintable():
        raise SpecificationError(f"line = {short(line)}: one line, without control characters")
    if len(line.encode(errors="replace")) > MOST_KEYS:
        raise SpecificationError(
            f"line = {short(line)}: a terminal takes {MOST_KEYS} bytes in a line; write longer ones"
            " to a file"
        )
    return line.translate(PLAIN)
