"""The algorithms in Python beside the kernel's own: goodput, losses and mean window, over ten seeds
and three paths. SEEDS and ALGORITHMS (such as Cubic,BBR3) choose; `make bench` prints the tables.
"""

import os

import numpy as np
import pytest

import netlab as nl

SEEDS = range(1, int(os.environ.get("SEEDS", 10)) + 1)
CHOSEN = os.environ.get("ALGORITHMS", "Reno,Cubic,DCTCP,BBR3").split(",")
KERNELS = {"Reno": "reno", "Cubic": "cubic", "DCTCP": "dctcp", "BBR3": "bbr"}
LOSSY = {
    "0.1 % of loss, 50 Mbit/s, 20 ms": nl.wan("50mbit", "20ms", "0.1%", burst=15_000, pairs=1),
    "1 % of loss, 20 Mbit/s, 40 ms": nl.wan(
        "20mbit", "40ms", "1%", burst=3028, pairs=1, offload=False
    ),
    "a queue of one BDP, 20 Mbit/s, 20 ms": nl.wan(
        "20mbit", "20ms", burst=3028, limit=50_000, pairs=1, offload=False
    ),
}
MARKING = {
    f"marks above {mark}, 50 Mbit/s, {delay}": nl.wan(
        "50mbit",
        delay,
        burst=15_000,
        pairs=1,
        qdisc=f"fq_codel ce_threshold {mark} ecn",
        sysctls={"net.ipv4.tcp_ecn": 3},
    )
    for mark, delay in (("2ms", "2ms"), ("4ms", "2ms"), ("2ms", "10ms"))
}


def measured(congestion, path, seed):
    """Goodput [Mbit/s], losses, mean window after 3 s [segment]."""
    test = nl.Iperf3("h1", "h2", congestion=congestion, time=12)
    result = nl.run(path, test, nl.Windows("h1"), seed=seed)
    rows = result.windows[result.windows.time_s > 3]
    window = np.average(rows.cwnd[:-1], weights=np.diff(rows.time_s))
    return result.flows.received_bps[0] / 1e6, result.flows.retransmits[0], window


@pytest.mark.parametrize("name", CHOSEN)
def test_beside_the_kernels_own(name):
    for where, path in (MARKING if name == "DCTCP" else LOSSY).items():
        algorithms = KERNELS[name], getattr(nl.algorithms, name)
        kernels, own = (
            np.array([measured(one, path, seed) for seed in SEEDS], float) for one in algorithms
        )
        print(f"\n{name}, {where}, {len(SEEDS)} seeds: kernel's, Python's, difference +- its error")
        for column, what in enumerate(("Mbit/s", "losses", "window")):
            theirs, ours = kernels[:, column], own[:, column]
            error = np.std(ours - theirs, ddof=1) / len(SEEDS) ** 0.5
            difference = np.mean(ours) - np.mean(theirs)
            print(
                f"  {what:7} {theirs.mean():8.2f} ({theirs.std(ddof=1):.2f})"
                f" {ours.mean():8.2f} ({ours.std(ddof=1):.2f}) {difference:+7.2f} +- {error:.2f}"
            )
