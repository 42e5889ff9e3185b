"""Congestion control in Python, for a real kernel: `CongestionControl` to derive from, and some to
read, to race and to change. Each is named by the paper that it comes from.
"""

from netlab.algorithms.base import CongestionControl
from netlab.algorithms.classics import AIMD, Delay, MulTCP, Reno

__all__ = ["AIMD", "CongestionControl", "Delay", "MulTCP", "Reno"]
