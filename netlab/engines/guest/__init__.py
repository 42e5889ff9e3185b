"""The virtual-time guest: a User-Mode Linux kernel, an ordinary process, with Mininet in it and a
clock of its own.
"""

import math
import time

from netlab.engines.guest import host_checks, store, wheel
from netlab.engines.guest.process import CLOCKS, Guest

__all__ = ["GuestEngine"]


class GuestEngine:
    """The engine in the cache, or of the package netlab_engine (`wheel`).

    Parameters
    ----------
    build : store.Build, optional
        One that is not in use; its files are not checked.

    Attributes
    ----------
    name, digest : str
        ``"guest"``, and what stands for everything that decides a run's bytes.
    about : dict
        ``kernel``, ``iperf3``, ``mininet`` (versions) and ``congestion``, the algorithms its kernel
        has.

    Raises
    ------
    EngineError
        There is none, or it is damaged; the message says how to get one.
    """

    name = "guest"
    clocks = tuple(CLOCKS)

    def __init__(self, build=None):
        self.build = build or wheel.current()
        self.sound_until_s = math.inf if build else time.monotonic() + 1
        self.digest, self.about = self.build.digest, self.build.about
        self.at_once = host_checks.guests_at_once()

    def __repr__(self):
        return (
            f"<GuestEngine {self.digest}: Linux {self.about['kernel']}, iperf3"
            f" {self.about['iperf3']}>"
        )

    def connect(self, seed, clock, wall_limit_s):
        """Start a guest; see `netlab.engines.protocol.Engine`."""
        if time.monotonic() > self.sound_until_s:  # the files may have changed since
            store.check(self.build)
        return Guest(self.build, seed, clock, wall_limit_s)

    def recall(self, experiment):
        """Always None: this engine keeps no results."""
