"""Checks of what a network is given, before anything is sent to it."""

from numbers import Real

from netlab.description import check_command_line, short
from netlab.errors import SpecificationError

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
    if not isinstance(command, str):
        raise SpecificationError(f"command = {command!r}: a line for bash, 'ping -c 4 10.0.0.2'")
    try:
        check_command_line(command)
    except ValueError as error:
        raise SpecificationError(f"command = {short(command)}: {error}") from None
