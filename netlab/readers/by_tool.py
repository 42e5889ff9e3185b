"""What a command printed, as the reader gives it that the command's name asks for."""

import posixpath
import shlex

from netlab import readers
from netlab.errors import ReadError, SpecificationError
from netlab.readers._common import Printed

# by tool: its reader, and what to type so that it can be read
READERS = {
    "iperf3": (readers.read_iperf3, "iperf3 ..."),
    "iperf": (readers.read_iperf, "iperf ..."),
    "ping": (readers.read_ping, "ping ..."),
    "nstat": (readers.read_nstat, "nstat -a -z -j"),
    "simpleperf": (readers.read_simpleperf, "netlab simpleperf ..."),
    "ss": (readers.read_ss, "ss -tniO"),
    "tc": (readers.read_tc, "tc -s -j qdisc show"),
}


def read_printed(line, text):
    """Read what one command printed; its name is the first word of the line that names a tool."""
    reader, example = READERS.get(tool(line), (None, ""))
    if reader is None:
        raise SpecificationError(
            f"`{line}`: no reader knows what it prints; there are readers of {', '.join(READERS)},"
            " and the text itself is in `text`"
        )
    try:
        return reader(Printed(text.replace("\r\n", "\n")))
    except ReadError as error:
        options = [word for word in example.split() if word[0] == "-"]
        more = "" if {*options} <= {*line.split()} else f"; `{example}` prints what can be read"
        error.add_note(f"It is what `{line}` printed{more}.")
        raise


def tool(line):
    """The tool that a line runs, as in ``sudo timeout 9 ping -c 4 10.0.0.2 &``, or ""."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # a quotation without its end
        return ""
    if {"|", ";", "&&", "||"} & {*words}:
        raise SpecificationError(
            f"`{line}`: these are several commands; what one of them printed can be read, so give"
            " it a line of its own"
        )
    names = (posixpath.basename(word).removesuffix(".py") for word in words)
    return next((name for name in names if name in READERS), "")
