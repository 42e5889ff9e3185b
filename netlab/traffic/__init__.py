"""What runs on the hosts, a module per kind; a new kind derives from `base.Traffic`."""

from netlab.traffic.base import BetweenHosts, Place, Program, Traffic
from netlab.traffic.change import Change
from netlab.traffic.iperf import Iperf
from netlab.traffic.iperf3 import Iperf3
from netlab.traffic.nstat import Nstat
from netlab.traffic.observers import Queue, Windows
from netlab.traffic.ping import Ping
from netlab.traffic.shell import Shell
from netlab.traffic.simpleperf import Simpleperf

__all__ = [
    "BetweenHosts", "Change", "Iperf", "Iperf3", "Nstat", "Ping", "Place", "Program", "Queue",
    "Shell", "Simpleperf", "Traffic", "Windows",
]  # fmt: skip
