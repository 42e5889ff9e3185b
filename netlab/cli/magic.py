"""``%%on h1``: what is in a notebook's cell is typed on h1's terminal; ``%%on mininet``: at
Mininet's prompt.
"""

import contextlib
import shlex

from netlab.cli.prompt import Prompt
from netlab.errors import SpecificationError
from netlab.running.network import Network

PROMPT = "mininet"
USAGE = "%%on NODE [NETWORK] [--stay | --for SECONDS] [--limit SECONDS]"


def on(shell, line, cell):
    """Type the lines of a cell on a node; see `netlab.Network.type`.

    ``%%on h1`` is of the network that was opened last and is up; ``%%on h1 net2`` names the
    variable of another. ``--stay`` leaves the last line in the foreground, as a server;
    ``--for 4`` presses Ctrl-C after so long, as one does with ``ping 10.0.0.2``. [virtual s]
    ``--limit 60`` ends a line that takes longer. [virtual s] Ctrl-C ends the line that runs; the
    lines after it are not typed. ``%%on mininet`` takes the lines of Mininet's prompt, ``h1 ping
    -c 4 h2`` or ``pingall``; see `netlab.cli.prompt.Prompt`.
    """
    names, stay, for_s, limit_s = arguments(line)
    net = shell.user_ns.get(names[1]) if names[1:] else (Network.all_up() or [None])[-1]
    if not isinstance(net, Network):
        why = f"{names[1]} is no netlab.Network" if names[1:] else "no network is up"
        raise SpecificationError(f"%%on {line}: {why}; `net = nl.Network(nl.wan())` opens one")
    if names[0] == PROMPT and PROMPT not in net.topology.node_names:
        if stay or for_s is not None:
            raise SpecificationError(
                f"%%on {line}: --stay and --for are for the terminal of a node"
            )
        return at_prompt(net, cell)
    *before, last = cell.strip("\n").split("\n")
    for text in before:
        if net.type(names[0], text, limit_s).ended_after_s is not None:
            return
    net.type(names[0], last, limit_s, stays=stay or for_s is not None)
    if for_s is not None:
        net.sleep(for_s)
        net.type(names[0], "^C")


def at_prompt(net, cell):
    """Type the lines of a cell at Mininet's prompt, up to `exit` or Ctrl-C."""
    prompt = Prompt(net)
    with contextlib.suppress(KeyboardInterrupt):
        for text in cell.strip("\n").split("\n"):
            prompt.show(f"{prompt.prompt}{text}\n")
            if prompt.line(text):
                break


def arguments(line):
    """The names in a line of the magic, whether its last line stays, for how long, its limit."""
    names, stay, for_s, limit_s = [], False, None, 600.0
    words = iter(shlex.split(line))
    try:
        for word in words:
            if word == "--stay":
                stay = True
            elif word == "--for":
                for_s = float(next(words))
            elif word == "--limit":
                limit_s = float(next(words))
            elif word.startswith("-"):
                raise ValueError
            else:
                names.append(word)
        if not 1 <= len(names) <= 2 or (stay and for_s is not None):
            raise ValueError
    except (ValueError, StopIteration):
        raise SpecificationError(f"%%on {line}: it is {USAGE}, such as `%%on h2 --stay`") from None
    return names, stay, for_s, limit_s


def register(shell):
    """Give IPython the magic."""
    shell.register_magic_function(
        lambda line, cell: on(shell, line, cell), magic_kind="cell", magic_name="on"
    )
