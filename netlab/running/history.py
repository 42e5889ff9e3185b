"""What was typed and run on a network, as a script that does it again to the byte.

Its first line describes the network, in JSON. The others are what a person would type at Mininet's
prompt, with what decides the bytes behind ``#:``::

    h2 iperf3 -s  #: stays
    h1 ping 10.0.0.2  #: ^C after 3.2 s
    h2 ^C
    sh sleep 2
    sh sleep 0.05  #: 40 times
    run h1 ping -c 4 10.0.0.2

``run``, ``start``, ``wait`` and ``stop`` are the calls of those names; ``wait 2`` waits for the
second job that was run or started.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from netlab import units
from netlab.description import short
from netlab.errors import SpecificationError
from netlab.running.terminal import Typed

MOST_LINES, MOST_CHARACTERS = 100_000, 4_000_000
MOST_BYTES = 4 * MOST_CHARACTERS  # of a file
HOW = re.compile(
    r"  #: (?:(quoted)(?:, |\Z))?"
    r"(?:(stays|refused)|\^C after (\d+(?:\.\d+)?) s|(\d{1,6}) times)?\Z"
)
PRINTED = re.compile(r"#: printed (\d+) bytes, sha256 ([0-9a-f]{64})\Z")


@dataclass
class Step:
    """One line of a script: `what` is a node, whose `line` was typed, or a call; `done` is the
    `Typed` or `Job` that came of it. In a script that is read, it says what is to become of it.
    """

    what: str
    line: str
    done: object = None
    times: int = 1

    def __str__(self):
        # of more than one line, or with what would be taken for more than it is
        quoted = not self.line.replace("\t", "").isprintable() or "  #: " in self.line
        how = ["quoted"] if quoted else []
        if getattr(self.done, "ended_after_s", None) is not None:
            how.append(f"^C after {units.digits(round(self.done.ended_after_s, 6))} s")
        elif getattr(self.done, "stays", False):
            how.append("stays")
        elif getattr(self.done, "refused", False):
            how.append("refused")
        elif self.times > 1:
            how.append(f"{self.times} times")
        line = json.dumps(self.line) if quoted else self.line
        return f"{self.what} {line}{'  #: ' if how else ''}{', '.join(how)}"

    @classmethod
    def read(cls, text):
        """The step that a line of a script says."""
        found = HOW.search(text)
        what, _, line = text[: found and found.start()].partition(" ")
        quoted, word, after, times = found.groups() if found else (None,) * 4
        try:
            line = json.loads(line) + "" if quoted else line
        except (ValueError, TypeError, RecursionError):
            raise SpecificationError(f"`{short(text)}`: what is quoted is no text") from None
        done = Typed(what, line, stays=word == "stays")
        done.refused, done.ended_after_s = word == "refused", after and float(after)
        return cls(what, line, done, int(times or 1))


class History:
    """What was typed and run on a network, in order.

    Attributes
    ----------
    network : dict
        Its ``topology``, ``seed``, ``clock``, ``algorithms``, and the ``engine`` it was on.
    steps : list of Step

    Examples
    --------
    >>> net.history.save("lab9.txt")  # doctest: +SKIP
    >>> with nl.replay("lab9.txt") as net:  # doctest: +SKIP
    ...     net.history[-1].output
    """

    def __init__(self, network, steps=(), printed=None):
        self.network, self.steps, self.printed = network, list(steps), printed

    def add(self, what, line, done=None):
        self.steps.append(Step(what, line, done))

    def slept(self, line):
        """Add a sleep; the same again is counted in its line."""
        if self.steps and (self.steps[-1].what, self.steps[-1].line) == ("sh", line):
            self.steps[-1].times += 1
        else:
            self.add("sh", line)

    def numbers(self, jobs):
        """Jobs of `run` and `start` by their numbers, in one text."""
        started = [step.done for step in self.steps if step.what in ("run", "start")]
        return " ".join(str(started.index(job) + 1) for job in jobs if job in started)

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, index):
        """What came of a step: a `Typed`, or a `Job`."""
        return self.steps[index].done

    def __str__(self):
        return "".join(f"{step}\n" for step in self.steps)

    __repr__ = __str__

    @property
    def transcript(self):
        """Everything that was printed, in order."""
        return "".join(step.done.text for step in self.steps if step.done)

    def to_text(self):
        """The script; see `from_text`."""
        data = self.transcript.encode(errors="backslashreplace")
        return self._script(len(data), hashlib.sha256(data).hexdigest())

    def _script(self, length, digest):
        return f"{json.dumps(self.network)}\n{self}#: printed {length} bytes, sha256 {digest}\n"

    @classmethod
    def wrote(cls, text):
        """Is a text as `to_text` writes it? A SpecificationError where it is no script."""
        found = cls.from_text(text)
        return found.printed is not None and text == found._script(*found.printed)

    def save(self, path):
        """Write the script to a file."""
        Path(path).write_text(self.to_text(), encoding="utf-8")

    @classmethod
    def from_text(cls, text):
        """Read a script; a SpecificationError where it is none."""
        first, *lines = text.splitlines()[: MOST_LINES + 2] or [""]
        if len(text) > MOST_CHARACTERS or len(lines) > MOST_LINES:
            raise SpecificationError(
                f"this script has {len(text):,} characters; {MOST_CHARACTERS:,} in"
                f" {MOST_LINES:,} lines are read"
            )
        try:
            network = json.loads(first)
            network["topology"], network["seed"], network["clock"]
            network["algorithms"] = [{**one} for one in network.get("algorithms", ())]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise SpecificationError(
                "no script of a network: its first line describes that, as net.history.save writes"
                " it"
            ) from None
        last = PRINTED.match(lines[-1]) if lines else None
        steps = [Step.read(line) for line in lines if line.strip() and not line.startswith("#")]
        return cls(network, steps, last and last.groups())

    def same(self, other):
        """Did another history print the same bytes as this one says of itself?"""
        data = other.transcript.encode(errors="backslashreplace")
        return self.printed == (str(len(data)), hashlib.sha256(data).hexdigest())
