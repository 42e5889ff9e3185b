"""A command on a node of a network, and what it has printed."""

from netlab.errors import CommandError
from netlab.running.arguments import check_seconds
from netlab.running.terminal import plain

OUTPUT_LIMIT = 64_000_000  # what is kept of one program's output [byte of UTF-8]
ALL_OUTPUT_LIMIT = 2 * OUTPUT_LIMIT  # of all programs of a network
ENDING_LINES, ENDING_CHARACTERS = 10, 2000


class Job:
    """A command on a node of a network.

    Attributes
    ----------
    host : str
        The host, router or switch that it runs on.
    command : str
    text : str
        What it has printed so far, without the escape sequences that set colours on a terminal.
    raw : str
        The same with escape sequences.
    status : int or None
        Its exit status; negative where a signal ended it; None while it runs.
    """

    def __init__(self, session, number, host, command):
        self.session, self.number, self.host, self.command = session, number, host, command
        self.status, self._printed, self._missing = None, bytearray(), 0
        self.cut_off = False  # was it still running at the limit of time?

    @property
    def raw(self):
        return self._printed.decode(errors="ignore")  # it may end within a character

    @property
    def text(self):
        return plain(self.raw)

    def keep(self, out, room):
        """Keep what it has just printed, as far as `room` reaches [byte]; -> how much it took, and
        whether this is the first that is too much.
        """
        data, before = out.encode(errors="replace"), self._missing
        kept = data[: max(0, min(room, OUTPUT_LIMIT - len(self._printed)))]
        self._printed += kept
        self._missing += len(data) - len(kept)
        return len(kept), self._missing > 0 and not before

    def wait(self, limit_s=600):
        """Let time pass until it has ended.

        Parameters
        ----------
        limit_s : float
            It is ended (Ctrl-C, then SIGKILL) after so long. [virtual s]

        Returns
        -------
        Job
            Itself.

        Raises
        ------
        CommandError
            It was ended at the limit, or it printed too much.
        KeyboardInterrupt
            Ctrl-C was pressed, which ended it.
        """
        if self.session.wait([self], check_seconds("limit_s", limit_s)):
            raise self.ended_at(limit_s)
        return self

    def stop(self):
        """End it as Ctrl-C would, and with SIGKILL if it still runs a second later; -> itself."""
        if self.status is None:
            self.session.stop(self)
        return self

    def ended_at(self, limit_s):
        """The error that says that it was ended at its limit of virtual time."""
        return self.failed(
            f"did not end within {limit_s:g} virtual seconds, and was ended: give it more with"
            " limit_s=..., or an end of its own, as `ping -c 4` has"
        )

    def flooded(self, most_bytes):
        """The error that says that it was ended because its output was too long."""
        return self.failed(
            f"printed more than {OUTPUT_LIMIT / 1e6:g} MB, or all programs of its network more than"
            f" {most_bytes / 1e6:g} MB, and was ended; only what came first is kept. Let it"
            " print less, as with `| tail`"
        )

    def failed(self, why):
        """A `CommandError` about this command."""
        return CommandError(
            f"`{self.command}` on {self.host} {why}. {ending(self.text)}",
            self.command,
            self.text,
            self.status,
        )

    def __repr__(self):
        state = "running" if self.status is None else f"status {self.status}"
        return f"<Job {self.host} {self.command!r}: {state}>"


def ending(text):
    """The last lines of what a program printed, for a message: at most ten."""
    text = text.strip("\n")
    shown = "\n".join(text[-ENDING_CHARACTERS:].split("\n")[-ENDING_LINES:])
    if not shown:
        return "It printed nothing."
    return f"{'It printed' if shown == text else 'The end of what it printed'}:\n{shown}"
