"""Checks of what a network is given, before anything is sent to it."""

from numbers import Real

from netlab.errors import SpecificationError

COMMAND_BYTES = 131_071  # the longest argument that Linux passes to a program
LONGEST_S = 1_000_000_000  # the timers of the engines end at nine times as much


def check_seconds(field, value, most=LONGEST_S, zero=False):
    """A length of time as a float. [s]

    Raises
    ------
    SpecificationError
        It is not a number, not above 0 (or 0, where that is allowed), or too large.
    """
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 <= value <= most or (value == 0 and not zero):
        least = "from 0 to" if zero else "above 0 and at most"
        raise SpecificationError(f"{field} = {value!r}: a number of seconds {least} {most:,}")
    return float(value)


def check_command(topology, host, command):
    """Refuse a command that no node could run.

    Raises
    ------
    SpecificationError
        There is no such node, or the command is not a line that bash can be given.
    """
    nodes = topology.node_names
    if not isinstance(host, str) or host not in nodes:
        raise SpecificationError(f"host = {host!r}: this network's nodes are {', '.join(nodes)}")
    if not isinstance(command, str) or not command.strip():
        raise SpecificationError(
            f"command = {command!r}: a line for bash, such as 'ping -c 4 10.0.0.2'"
        )
    if "\0" in command:
        raise SpecificationError(
            f"command = {short(command)}: it has a NUL character, which no command line can have"
        )
    try:
        length = len(command.encode(errors="surrogateescape"))
    except UnicodeEncodeError:
        raise SpecificationError(
            f"command = {short(command)}: it has half of a surrogate pair, which is no character"
        ) from None
    if length > COMMAND_BYTES:
        raise SpecificationError(
            f"command = {short(command)}: it has {length} bytes, and Linux takes at most"
            f" {COMMAND_BYTES}; write a file in /tmp in several commands, and use that"
        )


def short(text):
    """As Python writes it, cut where it is long."""
    return repr(text) if len(text) <= 80 else f"{text[:80]!r}..."
