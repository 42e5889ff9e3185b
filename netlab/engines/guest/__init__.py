"""The virtual-time guest: a User-Mode Linux kernel with Mininet in it and a clock of its own."""

import math
import time

from netlab.engines.base import Engine
from netlab.engines.guest import host_checks, machine, store, transfer
from netlab.engines.guest.process import CLOCKS, Guest

__all__ = ["GuestEngine"]


class GuestEngine(Engine):
    """The engine in the cache, or of the package netlab_engine; an EngineError where it is damaged
    or there is none. Or a `store.Build` that is not in use, whose files are not checked. A network
    gets its CPU by `cpu`.
    """

    name = "guest"
    clocks, connection = tuple(CLOCKS), Guest

    def __init__(self, build=None, cpu=machine.one_cpu):
        self.build, self.cpu = build or transfer.current(), cpu
        self.sound_until_s = math.inf if build else time.monotonic() + 1
        self.digest, self.about = self.build.digest, self.build.about
        self.at_once = host_checks.guests_at_once()

    def __repr__(self):
        about = f"Linux {self.about['kernel']}, iperf3 {self.about['iperf3']}"
        return f"<GuestEngine {self.digest}: {about}>"

    def connect(self, seed, clock, wall_limit_s):
        if time.monotonic() > self.sound_until_s:  # the files may have changed since
            store.check(self.build)
        return self.connection(self.build, seed, clock, wall_limit_s, self.cpu)

    def refusal(self):
        """Why no guest runs on this machine, "" where one does; found out once in a process."""
        return host_checks.refusal()
