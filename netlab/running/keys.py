"""What a node's terminal needs for keys, and does not need for lines: line editing, a size, and a
kind of terminal that full-screen programs know.
"""

import base64
import shlex
from pathlib import Path

from netlab.running.job import plain

RUNS = "\x1b]133;C\x07"  # terminals know it: what follows is printed by what was typed
TERM = Path(__file__).with_name("xterm-256color")  # as tic writes it; a guest has none
TERMS = "/run/netlab/terminfo"
EDIT = rf"""history -d -1
if [ $1 = -o ]; then
  export TERMINFO={TERMS} TERM={TERM.name}
  PS0='\e]133;C\a'
  stty rows $2 cols $3
  bind 'set enable-bracketed-paste on'
else
  export TERM=dumb
  unset TERMINFO PS0
  stty rows 50 cols 200
fi
"""
# bash takes the option from the line alone, not from a file; $? stays what it was
TO_EDIT = " netlab=$?; . {place}/edit {how} {rows} {columns}; set {how} emacs; (exit $netlab)\n"
PREPARE = (
    "mkdir -p {place} && printf %s {term} | base64 -d >{place}/{name} && printf %s {edit} >{edits}"
)
PRESS = (
    "exec 3<>{folder}/asks 4<>{folder}/keys; while read -t 0 <&3 && read -r asked <&3; do"
    " echo $asked; done; printf %s {keys} >&4; "
)


class Pressed:
    """Keys that were pressed on a node; `text` is what its terminal showed until the next ones."""

    def __init__(self, keys):
        self.keys, self.pieces = keys, []

    @property
    def text(self):
        return plain("".join(self.pieces))


def prepare(place):
    """The command that writes what `to_edit` reads, for the terminal in this folder."""
    return PREPARE.format(
        place=f"{TERMS}/{TERM.name[0]}",
        name=TERM.name,
        term=base64.b64encode(TERM.read_bytes()).decode(),
        edit=shlex.quote(EDIT),
        edits=f"{place}/edit",
    )


def to_edit(place, on, size):
    """The line that sets a bash for keys, or for lines."""
    rows, columns = size
    return TO_EDIT.format(place=place, how="-o" if on else "+o", rows=rows, columns=columns)
