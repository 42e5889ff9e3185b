"""What tests of engines elsewhere run there."""

import shlex
import sys

import netlab as nl

SERVE = f"exec:{shlex.quote(sys.executable)} -m netlab engine serve"
PATH = nl.wan("100mbit", "20ms", "1%", pairs=1)
BUSY = "ping -i 0.001 10.0.0.2 > /dev/null"  # ten minutes of it take one


class Loud(nl.algorithms.Reno):
    """Reno, which says so, and may fail."""

    def __init__(self, losses=1000):
        self.losses = losses

    def on_loss(self, tcp):
        super().on_loss(tcp)
        print("loss at", tcp.cwnd)
        self.losses -= 1
        if not self.losses:
            raise ValueError("too many")


EXPERIMENT = nl.Experiment(
    PATH,
    nl.Iperf3("h1", "h2", congestion=Loud, parallel=2, time=2),
    nl.Ping("h2", "h1", count=3),
    nl.Windows("h1"),
    nl.Queue("s1", "s2"),
    nl.Change("s1", "s2", "1s", "20mbit", "60ms", "0%"),
    seed=5,
)
