"""``%%on h1``: what is in a notebook's cell is typed on h1's terminal; ``%%on mininet``: at
Mininet's prompt.
"""

import ast
import contextlib
import re

from netlab.cli.prompt import Prompt
from netlab.errors import SpecificationError, needs_notebooks
from netlab.running.network import Network

with needs_notebooks():
    from IPython.core.magic_arguments import MagicArgumentParser

PROMPT = "mininet"
PARSER = MagicArgumentParser("%%on", add_help=False)
PARSER.add_argument("node")
PARSER.add_argument("network", nargs="?")
_last = PARSER.add_mutually_exclusive_group()
_last.add_argument("--stay", action="store_true")
_last.add_argument("--for", type=float, dest="for_s", metavar="SECONDS")


def on(shell, line, cell):
    """Type the lines of a cell on a node; see `netlab.Network.type`.

    ``%%on h1`` is of the network that was opened last and is up; ``%%on h1 net2`` names the
    variable of another. ``--stay`` leaves the last line in the foreground, as a server;
    ``--for 4`` presses Ctrl-C after so long, as one does with ``ping 10.0.0.2``. [virtual s]
    Ctrl-C ends the line that runs; the lines after it are not typed. ``%%on mininet`` takes the
    lines of Mininet's prompt, ``h1 ping -c 4 h2`` or ``pingall``; see `netlab.cli.prompt.Prompt`.
    """
    asked = PARSER.parse_argstring(line)
    node, name, for_s = asked.node, asked.network, asked.for_s
    net = shell.user_ns.get(name) if name else (Network.all_up() or [None])[-1]
    if not isinstance(net, Network):
        why = f"{name} is no netlab.Network" if name else "no network is up"
        raise SpecificationError(f"%%on {line}: {why}; `net = nl.Network(nl.wan())` opens one")
    stays = asked.stay or for_s is not None
    if node == PROMPT and PROMPT not in net.topology.node_names:
        if stays:
            raise SpecificationError(
                f"%%on {line}: --stay and --for are for the terminal of a node"
            )
        return at_prompt(net, cell)
    *before, last = cell.strip("\n").split("\n")
    for text in before:
        if net.type(node, text).ended_after_s is not None:
            return
    net.type(node, last, stays=stays)
    if for_s is not None:
        net.sleep(for_s)
        net.type(node, "^C")


def at_prompt(net, cell):
    """Type the lines of a cell at Mininet's prompt, up to `exit` or Ctrl-C."""
    prompt = Prompt(net)
    with contextlib.suppress(KeyboardInterrupt):
        for text in cell.strip("\n").split("\n"):
            prompt.show(f"{prompt.prompt}{text}\n")
            if prompt.line(text):
                break


def first(lines):
    """Of a cell's lines, those from `%%on` on, where only comments and blank lines are above: a
    magic is a cell's first line, and an answer of a set begins with "# YOUR CODE HERE". A
    SyntaxError where other code is above.
    """
    at = next((at for at, line in enumerate(lines) if re.match(r"%%on\s", line)), 0)
    if not at or lines[0].startswith("%%"):
        return lines
    above = [line.strip() for line in lines[:at]]
    if code := [line for line in above if line and not line.startswith("#")]:
        if is_python(lines):  # in a text of several lines
            return lines
        raise SyntaxError(
            f"{lines[at].strip()} must be the first line of its cell, and above it is {code[-1]!r}:"
            " delete that, or move it to a cell of its own"
        )
    return lines[at:]


def is_python(lines):
    """Is this a cell in Python, but for line magics?"""
    try:
        ast.parse(re.sub(r"(?m)^([ \t]*)[%!](?!%).*$", r"\1pass", "".join(lines)))
    except (SyntaxError, ValueError):
        return False
    return True


def register(shell):
    """Give IPython the magic."""
    if first not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(first)
    shell.register_magic_function(
        lambda line, cell: on(shell, line, cell), magic_kind="cell", magic_name="on"
    )
