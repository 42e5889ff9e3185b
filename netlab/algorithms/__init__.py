"""Congestion control in Python for a real kernel: a base class, and algorithms to read and race."""

from netlab.algorithms.base import CongestionControl
from netlab.algorithms.classics import AIMD, Delay, MulTCP, Reno

__all__ = ["AIMD", "CongestionControl", "Delay", "MulTCP", "Reno"]
