"""What the tools printed, as tidy tables: SI units, one row per thing, the same columns for every
file.

A reader takes a path or the text itself. What the tool did not measure is NaN, never 0. A text that
is broken, cut off or not that tool's, and figures that cannot be or that contradict each other,
raise :class:`netlab.errors.ReadError`, which keeps the text in its ``raw``.
"""

from netlab.readers.iperf import IperfOutput, read_iperf
from netlab.readers.iperf3 import Iperf3Output, read_iperf3
from netlab.readers.nstat import NstatOutput, read_nstat
from netlab.readers.ping import PingOutput, read_ping
from netlab.readers.queues import QueuesOutput, read_queues, read_tc
from netlab.readers.simpleperf import SimpleperfOutput, read_simpleperf
from netlab.readers.windows import WindowsOutput, read_ss, read_windows

__all__ = [
    "Iperf3Output",
    "IperfOutput",
    "NstatOutput",
    "PingOutput",
    "QueuesOutput",
    "SimpleperfOutput",
    "WindowsOutput",
    "read_iperf",
    "read_iperf3",
    "read_nstat",
    "read_ping",
    "read_queues",
    "read_simpleperf",
    "read_ss",
    "read_tc",
    "read_windows",
]
