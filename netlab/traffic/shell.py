"""Any command on a host."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from netlab.description import check_command_line
from netlab.traffic.base import Program, Traffic


class Shell(Traffic):
    """Any command on a host; its output is kept, not parsed.

    Parameters
    ----------
    src : str
        Name of the host.
    line : str
        A line for bash.
    time : float
        How long it may take. [virtual s]

    Notes
    -----
    Hosts share the files of the guest, which are the same on every machine; with Mininet on this
    machine they share this machine's.

    Examples
    --------
    What `Result.raw` calls its output, if it is the second traffic of an experiment:

    >>> Shell("h1", "ss -tin").output_name(2)
    '2-shell-h1'
    """

    kind: Literal["shell"] = "shell"
    line: Annotated[str, AfterValidator(check_command_line)]
    time: float = Field(default=60, gt=0, le=86_400)

    @property
    def duration_s(self):
        return self.time

    sends_s = duration_s

    def programs(self, place):
        return [Program(self.src, self.line)]
