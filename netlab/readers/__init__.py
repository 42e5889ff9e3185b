"""What the tools printed, as tidy tables: SI units, one row per thing, the same columns for every
file.

Each reader takes ``source``, the path of a file or its text, and gives the output of its tool, such
as an `Iperf3Output`. What the tool did not measure is NaN, never 0. What iperf3, iperf and ping
really printed is read: where lines are missing or figures contradict each other, one
:class:`netlab.errors.ReadWarning` names them and says what was taken. What is not the output of one
test that measured something raises :class:`netlab.errors.ReadError`, which says what the text is
and what to do next, and keeps the text in its ``raw``.
"""

from netlab.readers.iperf import IperfOutput, read_iperf
from netlab.readers.iperf3 import Iperf3Output, read_iperf3
from netlab.readers.kernel_traces import (
    QueuesOutput,
    WindowsOutput,
    read_queues,
    read_ss,
    read_tc,
    read_windows,
)
from netlab.readers.nstat import NstatOutput, read_nstat
from netlab.readers.ping import PingOutput, read_ping
from netlab.readers.simpleperf import SimpleperfOutput, read_simpleperf
from netlab.readers.splitting import split_outputs

__all__ = [
    "Iperf3Output", "IperfOutput", "NstatOutput", "PingOutput", "QueuesOutput", "SimpleperfOutput",
    "WindowsOutput", "read_iperf", "read_iperf3", "read_nstat", "read_ping", "read_queues",
    "read_simpleperf", "read_ss", "read_tc", "read_windows", "split_outputs",
]  # fmt: skip
