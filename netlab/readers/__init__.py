"""What the tools printed, as tidy tables: SI units, one row per thing, the same columns for every
file.

A reader takes a path or the text itself. What the tool did not measure is NaN, never 0. A text that
is broken, cut off or not that tool's, and figures that cannot be or that contradict each other,
raise :class:`netlab.errors.ReadError`, which keeps the text in its ``raw``.
"""

from netlab.readers.iperf3 import Iperf3Output, read_iperf3
from netlab.readers.nstat import NstatOutput, read_nstat
from netlab.readers.ping import PingOutput, read_ping
from netlab.readers.queues import QueuesOutput, read_queues, read_tc
from netlab.readers.windows import WindowsOutput, read_ss, read_windows

__all__ = [
    "Iperf3Output",
    "NstatOutput",
    "PingOutput",
    "QueuesOutput",
    "WindowsOutput",
    "read_iperf3",
    "read_nstat",
    "read_ping",
    "read_queues",
    "read_ss",
    "read_tc",
    "read_windows",
]
