"""What congestion control in Python costs, as ratios of runs that take turns: `make bench`."""

import statistics

import pytest

import netlab as nl

SLOW = nl.wan("100mbit", "20ms", burst=15_000, limit=250_000, pairs=1)
FAST = nl.wan("10gbit", "20ms", pairs=1)


@pytest.mark.parametrize(
    ("what", "path", "time"), [("100 Mbit/s", SLOW, 40), ("10 Gbit/s", FAST, 8)]
)
def test_reno_in_python_against_the_kernels(what, path, time):
    def run(congestion, *more):
        return nl.run(path, nl.Iperf3("h1", "h2", congestion=congestion, time=time), *more)

    kernels, own = [], []
    for _ in range(3):
        kernels.append(run("reno").provenance["wall_s"])
        own.append(run(nl.algorithms.Reno).provenance["wall_s"])
    asked = len(run(nl.algorithms.Reno, nl.Windows("h1")).windows)
    kernel_s, own_s = statistics.median(kernels), statistics.median(own)
    print(
        f"\n{what}, {time} s: Python / kernel {own_s / kernel_s:.2f} (kernel {kernel_s:.2f} s,"
        f" Python {own_s:.2f} s); {asked} ACKs, {1e6 * (own_s - kernel_s) / asked:.0f} us more per"
        " ACK"
    )
