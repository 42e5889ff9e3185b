"""How fast the guest is, as ratios of two things measured in one run: `make bench`."""

import statistics
import subprocess
import sys
import time

import pytest

import netlab as nl


def seconds(action):
    start = time.monotonic()
    action()
    return time.monotonic() - start


def test_from_nothing_to_mininet_ready():
    """Against starting Python and importing netlab, which every use of it costs as well."""
    ready, python = [], []
    for _ in range(5):
        python.append(
            seconds(lambda: subprocess.run([sys.executable, "-c", "import netlab"], check=True))
        )
        ready.append(seconds(lambda: nl.Network(nl.wan(pairs=1)).close()))
    wall = statistics.median(ready)
    ratio = wall / statistics.median(python)
    print(
        f"\nguest and Mininet ready / Python and netlab imported: {ratio:.2f} (ready after"
        f" {wall:.2f} s)"
    )


@pytest.mark.parametrize(
    ("what", "experiment"),
    [
        (
            "8 streams, 10 Gbit/s x 20 ms",
            nl.Experiment(nl.wan(pairs=1), nl.Iperf3("h1", "h2", parallel=8)),
        ),
        (
            "1 stream, 10 Gbit/s x 20 ms, 2 BDP of buffer",
            nl.Experiment(nl.wan(pairs=1, buffers=52_428_800), nl.Iperf3("h1", "h2")),
        ),
        (
            "1 stream, 100 Mbit/s x 20 ms",
            nl.Experiment(nl.wan("100mbit", pairs=1), nl.Iperf3("h1", "h2", time=120)),
        ),
        (
            "4 streams, 1 Gbit/s x 20 ms, 0.1 % loss, no offload",
            nl.Experiment(
                nl.wan("1gbit", loss="0.1%", pairs=1),
                nl.Iperf3("h1", "h2", parallel=4, time=60, congestion="reno"),
            ),
        ),
    ],
)
def test_virtual_seconds_per_wall_second(what, experiment):
    rates = []
    for _ in range(3):
        provenance = nl.run(experiment).provenance
        rates.append(provenance["virtual_s"] / provenance["wall_s"])
    print(
        f"\n{what}: {statistics.median(rates):.1f} virtual seconds per wall second, start included"
    )


def test_two_guests_against_one():
    """Two guests at once on two cores, against one after the other."""

    def lossy(loss):
        return nl.Experiment(
            nl.wan("1gbit", "20ms", loss),
            nl.Iperf3("h1", "h2", parallel=4, time=20, congestion="reno"),
        )

    one = seconds(lambda: [nl.run(lossy("0.1%"), seed=seed) for seed in range(4)])
    both = seconds(lambda: nl.sweep(lossy, loss=["0.1%"], seeds=range(4)))
    print(f"\none at a time / all cores: {one / both:.2f}")
