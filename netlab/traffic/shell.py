"""Any command on a host."""

from typing import Literal

from pydantic import Field, field_validator

from netlab.traffic.base import Program, Traffic

LONGEST_BYTES = 128 * 1024 - 1  # the kernel's MAX_ARG_STRLEN, which counts the NUL at the end


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
    Hosts share the file system of the guest, which lies on the disk of the machine: what ``df``,
    ``stat`` and ``ls -l`` print of free space, inode numbers, owners and dates differs from machine
    to machine, and so does such an output.
    """

    kind: Literal["shell"] = "shell"
    line: str = Field(min_length=1)
    time: float = Field(default=60, gt=0, le=86_400)

    @field_validator("line")
    @classmethod
    def _fits_a_command_line(cls, line):
        if "\0" in line:
            raise ValueError(r"a command cannot hold the character NUL: printf '\0' prints one")
        if len(line.encode(errors="surrogatepass")) > LONGEST_BYTES:
            raise ValueError(
                f"at most {LONGEST_BYTES} bytes, the longest that the kernel takes; let the"
                " command make its data itself"
            )
        return line

    @property
    def duration_s(self):
        return self.time

    @property
    def sends_s(self):
        return self.time

    def programs(self, place):
        return [Program(self.src, self.line)]
