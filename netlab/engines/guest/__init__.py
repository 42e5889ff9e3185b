"""The virtual-time guest: a User-Mode Linux kernel, an ordinary process, with Mininet in it and a
clock of its own.
"""

from netlab.engines.guest import host_checks, store
from netlab.engines.guest.process import CLOCKS, Guest

__all__ = ["GuestEngine", "introduce"]


class GuestEngine:
    """The engine in the cache.

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
        None is built; the message says how to get one.
    """

    name = "guest"
    clocks = tuple(CLOCKS)

    def __init__(self):
        self.build = store.current()
        self.digest, self.about = self.build.digest, self.build.about
        self.at_once = host_checks.guests_at_once()

    def __repr__(self):
        return (
            f"<GuestEngine {self.digest}: Linux {self.about['kernel']}, iperf3"
            f" {self.about['iperf3']}>"
        )

    def recall(self, experiment):
        return None

    def connect(self, seed, clock, wall_limit_s):
        """Start a guest, with no network in it yet; it has ``ask`` and ``close``."""
        return Guest(self.build, seed, clock, wall_limit_s)


def introduce(build):
    """Start an engine once and ask it what is in it."""
    commands = {
        "kernel": "uname -r",
        "iperf3": "iperf3 --version | head -n 1 | cut -d' ' -f2",
        "mininet": "mn --version",
        "congestion": "cat /proc/sys/net/ipv4/tcp_available_congestion_control",
    }
    about = {}
    guest = Guest(build, 1, "virtual", 60)
    try:
        guest.ask(op="up", hosts=[["h1", "10.0.0.1/8"]], switches=[], links=[], setup=[])
        for key, command in commands.items():
            said = []
            job = guest.ask(op="start", host="h1", command=command)["job"]
            guest.ask(
                lambda event, said=said: said.append(event.get("out", "")),
                op="wait",
                numbers=[job],
                limit_s="10",
            )
            about[key] = "".join(said).strip()
    finally:
        guest.close()
    return about | {"congestion": sorted(about["congestion"].split())}
