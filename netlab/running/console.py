"""A terminal on a node: a bash that stays, with its variables, its folder and its jobs.

bash has a terminal of its own, which `socat` holds for a job of the network. A second job types a
line on it, and ends once bash asks for the next one; until then time passes.
"""

import re
import shlex

from netlab.engines.protocol import ignore
from netlab.errors import CommandError
from netlab.running.job import Plain, ending, plain
from netlab.running.typed import LOOK_S

FOLDER = "/run/netlab"
SHOWN_S = {"virtual": 0.001}  # until what bash prints is shown; on other clocks 50 times as long
LEAVE_S = 0.1  # that a command which stays has for its first words [virtual s]
READY = "\x1b]133;A\x07"  # terminals know it: what follows is a prompt
ENDED = "\x1b]133;D\x07"  # and this: bash has ended
# What bash asks with goes to the job that types: "status folder", or that a line is continued.
RC = r"""exec 9>&-
PS1='\[\e]133;A\a\]root@HOST:\w\$ '
PS2='$(echo more >FOLDER/asks)\[\e]133;A\a\]> '
PROMPT_COMMAND='echo "$? $PWD" >FOLDER/asks'
PATH=$PATH:~/bin HISTFILE= MAIL= PAGER=cat
sudo() { "$@"; }
tty >FOLDER/tty; stty tab0 rows 50 cols 200
cd ~
"""
PREPARE = (
    "mkdir -p {folder} && cd {folder} && rm -f keys asks && mkfifo keys asks && printf %s {rc} >rc"
)
START = (
    "cd {folder} && exec 9<>asks && socat -d0 OPEN:keys,rdwr!!STDOUT"
    " EXEC:'bash --noediting --rcfile {folder}/rc -i',pty,setsid,ctty,stderr,sane 2>/dev/null;"
    " echo ended >asks; printf '\\e]133;D\\a'"
)
TYPE = (
    "exec 3<>{folder}/asks 4<>{folder}/keys; trap 'echo $EPOCHREALTIME; printf \"\\003\" >&4' INT;"
    " {first} echo $EPOCHREALTIME; printf %s {keys} >&4; {wait}"
)
# As the job's terminal closes, the agent is woken, and would look for its end until the next tick.
FIRST = "chrt -f -p 1 $$"
WAIT = (
    "until read -r asked <&3; do [ $? -gt 128 ] || exit 1; done; echo $asked; read -t {shown} <&3; "
) + FIRST
# What it asked with in the meantime is of no line.
FORGET = "while read -t 0 <&3; do read -r asked <&3; done;"
LOOK = f"read -r -t {{seconds}} asked <&3 && echo $asked; {FIRST}"


class Console:
    """The terminal of a node, on a network's `Session`.

    `busy` is the `Typed` that still runs in it, or None; `folder` is where its bash is. `heard` is
    told every piece that is shown on it.
    """

    def __init__(self, session, host, clock="virtual"):
        self.session, self.host = session, host
        self.wait = WAIT.format(shown=SHOWN_S.get(clock, 0.05))
        self.place = f"{FOLDER}/{host}"
        self.job = self.busy = None
        self.folder, self._fresh, self.heard = "", [], ignore

    @property
    def fresh(self):
        """What has been shown since, and with, the last prompt."""
        return "".join(self._fresh)

    @fresh.setter
    def fresh(self, text):
        self._fresh = [text]

    @property
    def foreground(self):
        """`busy`, until a prompt is seen again."""
        return None if READY in self.fresh else self.busy

    def open(self):
        """Start its bash, unless it runs."""
        if self.job is None:
            rc = shlex.quote(RC.replace("FOLDER", self.place).replace("HOST", self.host))
            self.fresh = ""
            self.session.output(self.host, PREPARE.format(folder=self.place, rc=rc))
            self.job = self.session.start(self.host, START.format(folder=self.place))
            self.job.heard = self._hear
            # it may have asked already, before the job that waits for that has begun
            self._asked(self._do("", self.wait, 60, forget=False)[1])

    def type(self, typed, limit_s, show):
        """Type a line (`Typed`); see `netlab.Network.type`."""
        line = typed.line
        self.open()
        if self.busy:
            self._asked(self._do("", LOOK.format(seconds=0.001), 60, forget=False)[1])
        if self.busy and line != "^C":
            typed.refused = True
            raise CommandError(
                f"`{self.busy.line}` runs in the terminal of {self.host}: the line ^C ends it, and"
                f" `{line}` can come then"
            )
        self.busy = typed
        keys = "\x03" if line == "^C" else f"{line}\n"
        screen = Screen(show)
        screen.put(self.fresh)
        self.heard = screen.add
        wait = LOOK.format(seconds=LEAVE_S) if typed.stays else self.wait
        try:
            ended_by, said = self._do(keys, wait, limit_s)
        except CommandError:  # somebody printed too much
            self.close()
            raise
        finally:
            self.heard = ignore
            shown, self.fresh = split(self.fresh)
            typed.text = plain(shown).replace("\r\n", "\n")
        times = [float(one) for one in re.findall(r"^\d{1,12}\.\d{6}$", said, re.M)]
        if len(times) > 1:
            typed.ended_after_s = round((times[1] - times[0]) / LOOK_S) * LOOK_S
        if ended_by == "limit":
            typed.ended_after_s = limit_s
        if not self._asked(said, typed) and not typed.stays:
            self.close()  # SIGKILL met the job that types: what runs does not hear Ctrl-C
            raise CommandError(
                f"`{line}` on {self.host} did not end at Ctrl-C, and was killed with its terminal;"
                f" the next line gets a new one. {ending(typed.text)}",
                line,
                typed.text,
            )
        if ended_by == "limit":
            raise CommandError(
                f"`{line}` on {self.host} did not end within {limit_s:g} virtual seconds, and was"
                " ended. If it ends by Ctrl-C alone, as a server or ping do, let it stay (`%%on"
                f' {self.host} --stay`, or `--for 4`; on a panel, "leave it running"); if it waits'
                f" for input, give it that in its line, as in `printf 'y\\n' | ...`."
                f" {ending(typed.output)}",
                line,
                typed.text,
                typed.status,
            )
        return typed

    def close(self):
        """End its bash, and what runs in it."""
        job, self.job, self.busy = self.job, None, None
        if job:
            job.stop()

    def _do(self, keys, wait, limit_s, forget=True):
        first = FORGET if forget else ""
        words = {"folder": self.place, "keys": shlex.quote(keys), "first": first, "wait": wait}
        job = self.session.start(self.host, TYPE.format(**words))
        return self.session.let_run([job], limit_s), job.raw

    def _asked(self, said, typed=None):
        """Take what bash asked with; False where it did not ask."""
        asked = re.findall(r"^(?:(\d{1,3}) (/.*)|(more|ended))$", said, re.M)
        if not asked:
            return False
        status, folder, other = asked[-1]
        typed, self.busy = typed or self.busy, None
        if other == "ended":
            self.job = None
        if folder:
            self.folder = folder
            if typed:
                typed.status = int(status)
        return True

    def _hear(self, out):
        self._fresh.append(out)  # a text would be copied with every piece
        if ENDED in out:
            self.job = None
        self.heard(out)


class Screen:
    """Shows what comes, up to the next prompt."""

    def __init__(self, show):
        self.show, self.plain, self.held, self.ready = show, Plain(), "", False

    def add(self, out):
        if self.ready:
            return
        self.held += out
        before, mark, _ = self.held.partition(READY)
        self.ready = bool(mark)
        if not mark and (begun := re.search(r"\x1b[^\x07]{0,7}\Z", before)):
            before = before[: begun.start()]
        self.held = self.held[len(before) :]
        self.put(before)

    def put(self, out):
        """Show this, which may have prompts in it."""
        if text := self.plain.add(out).replace("\r\n", "\n"):
            self.show(text)


def split(text):
    """What was shown up to the last prompt, and that prompt."""
    at = text.rfind(READY)
    runs = at < 0 or (at == 0 and "\n" in text)
    return (text, "") if runs else (text[:at], text[at:])
