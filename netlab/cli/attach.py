"""`netlab attach`: this terminal becomes that of a node, of a network in another process."""

import codecs
import contextlib
import os
import select
import signal
import sys

from netlab.cli.doors import hear, knock, networks, say
from netlab.cli.output import printable
from netlab.errors import NetlabError

LEAVE = b"\x1d"  # Ctrl-], as in telnet
LOOK_S = 0.2  # between two looks at the size of the window
ALTERNATE, BACK = "\x1b[?1049h", "\x1b[?1049l"  # the screen of full-screen programs
AS_BEFORE = "\x1b[?25h\x1b[0m\x1b[?2004l\x1b[?1l\x1b>"  # the cursor, colours, what keys send
NONE = (
    "no network is up in a notebook or a `netlab shell` of yours. In a notebook, `%load_ext netlab`"
    " and `net = nl.Network(nl.wan())` open one; `netlab attach h1` is for another terminal then"
)


def table(found):
    """What is up, a line each."""
    for _, told in found:
        name = told["name"] or told["id"]
        also = f" ({told['id']})" if told["name"] else ""
        nodes = " ".join(told["nodes"])
        yield printable(f"{name}{also}: {nodes}; {told['clock_s']:.3f} s; {told['where']}")


def choose(found, host, network):
    """The one network that is meant; a NetlabError where there is none, or more than one."""
    if not found:
        raise NetlabError(NONE)
    named = [pair for pair in found if network in (None, pair[1]["id"], pair[1]["name"])]
    having = [pair for pair in named if host in pair[1]["nodes"]]
    if len(having) == 1:
        return having[0]
    why = f"no network {network or ''} has a node {host}; there are"
    if having:
        why = f"{len(having)} networks have {host}; name one, as --network {having[0][1]['id']}:"
    raise NetlabError("\n".join([why, *table(having or found)]))


def attach(host, network=None):
    """Have keys and screen here for a node, until Ctrl-]; -> why it ended."""
    if sys.platform == "win32":
        raise NetlabError("netlab attach needs a terminal of Unix; on Windows, WSL has one")
    card, told = choose(networks(), host, network)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NetlabError("netlab attach needs a terminal, and this is none")
    line = knock(card)
    if line is None:
        raise NetlabError(NONE)
    with line:
        size = os.get_terminal_size(1)
        say(line, attach=host, network=told["id"], rows=size.lines, columns=size.columns)
        name = told["name"] or told["id"]
        where = printable(f"{host} of {name}, {told['where']}")
        print(f"{where}. Ctrl-] leaves; what runs there stays.")
        with raw_terminal():
            return relay(line, size)


@contextlib.contextmanager
def raw_terminal():
    """Every key comes as it is; the terminal is as before afterwards."""
    import termios
    import tty

    def end(number, _):
        raise SystemExit(128 + number)

    before = termios.tcgetattr(0)
    handlers = {one: signal.signal(one, end) for one in (signal.SIGTERM, signal.SIGHUP)}
    try:
        tty.setraw(0)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def relay(line, size):
    """Keys and sizes there, what is shown here; -> why it ended."""
    decoder, alternate = codecs.getincrementaldecoder("utf-8")("replace"), False
    try:
        while True:
            ready = select.select([0, line], [], [], LOOK_S)[0]
            if line in ready:
                said = hear(line)
                if "end" in said:
                    return said["end"]
                out = said["out"]
                show(out)
                if max(out.rfind(ALTERNATE), out.rfind(BACK)) >= 0:
                    alternate = out.rfind(ALTERNATE) > out.rfind(BACK)
            if os.get_terminal_size(1) != size:
                size = os.get_terminal_size(1)
                say(line, size=(size.lines, size.columns))
            if 0 in ready:
                data = os.read(0, 65536)
                keys, leave, _ = data.partition(LEAVE)
                if text := decoder.decode(keys):
                    say(line, keys=text)
                if leave or not data:
                    return "left"
    except (OSError, EOFError):
        return "its process has ended"
    finally:
        with contextlib.suppress(OSError):
            show((BACK if alternate else "") + AS_BEFORE + "\r\n")


def show(text):
    """Write to the terminal, whole."""
    data = text.encode(errors="replace")
    while data:
        data = data[os.write(1, data) :]
