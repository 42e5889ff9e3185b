"""Congestion control in Python for a real kernel: a base class, and algorithms to read and race."""

from netlab.algorithms.base import CongestionControl
from netlab.algorithms.bbr3 import BBR3
from netlab.algorithms.classics import AIMD, DCTCP, Cubic, Delay, MulTCP, Reno

__all__ = ["AIMD", "BBR3", "DCTCP", "CongestionControl", "Cubic", "Delay", "MulTCP", "Reno"]
