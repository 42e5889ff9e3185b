"""``%%on h1``: what is in the cell is typed on h1's terminal."""

import shlex

from netlab.errors import SpecificationError
from netlab.running.network import Network

USAGE = "%%on NODE [NETWORK] [--stay] [--limit SECONDS]"


def on(shell, line, cell):
    """Type the lines of a cell on a node; see `netlab.Network.type`.

    ``%%on h1`` is of the network that was opened last and is up; ``%%on h1 net2`` names the
    variable of another. ``--stay`` leaves the last line in the foreground, as a server;
    ``--limit 60`` ends a line that takes longer. [virtual s]
    """
    words = shlex.split(line)
    options = {"stays": False, "limit_s": 600}
    names = []
    while words:
        word = words.pop(0)
        if word == "--stay":
            options["stays"] = True
        elif word == "--limit" and words:
            options["limit_s"] = float(words.pop(0))
        else:
            names.append(word)
    if not 1 <= len(names) <= 2 or any(name.startswith("-") for name in names):
        raise SpecificationError(f"%%on {line}: {USAGE}, as in `%%on h1` or `%%on h2 --stay`")
    net = shell.user_ns.get(names[1]) if names[1:] else Network.newest()
    if not isinstance(net, Network):
        raise SpecificationError(
            f"%%on {line}: no network is up; `net = nl.Network(nl.wan())` opens one"
            if not names[1:]
            else f"%%on {line}: {names[1]} is no netlab.Network"
        )
    lines = cell.strip("\n").split("\n")
    for number, text in enumerate(lines):
        last = number == len(lines) - 1
        typed = net.type(names[0], text, options["limit_s"], options["stays"] and last)
        if typed.ended_after_s is not None:
            break  # Ctrl-C is for the whole cell


def register(shell):
    """Give IPython the magic."""
    shell.register_magic_function(
        lambda line, cell: on(shell, line, cell), magic_kind="cell", magic_name="on"
    )
