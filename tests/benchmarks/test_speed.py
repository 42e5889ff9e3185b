"""How fast runs and sweeps are, as ratios of two things measured in one run: `make bench`."""

import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import netlab as nl


def seconds(action):
    start = time.monotonic()
    action()
    return time.monotonic() - start


def test_from_nothing_to_mininet_ready():
    """Against starting Python and importing netlab, which every use of it costs as well."""
    importing = [sys.executable, "-c", "import netlab"]
    ready, python = [], []
    for _ in range(5):
        python.append(seconds(lambda: subprocess.run(importing, check=True)))
        ready.append(seconds(lambda: nl.Network(nl.wan(pairs=1)).close()))
    wall_s, import_s = statistics.median(ready), statistics.median(python)
    print(f"\nMininet ready after {wall_s:.2f} s, {wall_s / import_s:.2f} times importing netlab")


@pytest.mark.parametrize(
    ("what", "path", "test"),
    [
        ("8 streams, 10 Gbit/s", {}, {"parallel": 8}),
        ("1 stream, 10 Gbit/s, 2 BDP of buffer", {"buffers": 52_428_800}, {}),
        ("1 stream, 100 Mbit/s", {"rate": "100mbit"}, {"time": 120}),
        (
            "4 streams, 1 Gbit/s, 0.1 % loss, no offload",
            {"rate": "1gbit", "loss": "0.1%"},
            {"parallel": 4, "time": 60, "congestion": "reno"},
        ),
    ],
)
def test_virtual_seconds_per_wall_second(what, path, test):
    experiment = nl.Experiment(nl.wan(**path, pairs=1), nl.Iperf3("h1", "h2", **test))
    runs = [nl.run(experiment).provenance for _ in range(3)]
    rate = statistics.median(run["virtual_s"] / run["wall_s"] for run in runs)
    print(f"\n{what}: {rate:.1f} virtual seconds per wall second, start included")


SLOW = nl.wan("100mbit", "20ms", burst=15_000, limit=250_000, pairs=1)
FAST = nl.wan("10gbit", "20ms", pairs=1)


@pytest.mark.parametrize(
    ("what", "path", "time"), [("100 Mbit/s", SLOW, 40), ("10 Gbit/s", FAST, 8)]
)
def test_reno_in_python_against_the_kernels(what, path, time):
    def run(congestion, *more):
        return nl.run(path, nl.Iperf3("h1", "h2", congestion=congestion, time=time), *more)

    def wall_s(congestion):
        return run(congestion).provenance["wall_s"]

    pairs = [(wall_s("reno"), wall_s(nl.algorithms.Reno)) for _ in range(3)]  # by turns
    kernel_s, own_s = map(statistics.median, zip(*pairs, strict=True))
    asked = len(run(nl.algorithms.Reno, nl.Windows("h1")).windows)
    more_us = 1e6 * (own_s - kernel_s) / asked
    print(f"\n{what}: Python / kernel {own_s / kernel_s:.2f}; {more_us:.0f} us more per ACK")


def lossy(loss, parallel):
    path = nl.wan("1gbit", "20ms", loss, pairs=1)
    return nl.Experiment(path, nl.Iperf3("h1", "h2", parallel=parallel, congestion="reno", time=20))


CELLS = {"loss": ["0.01%", "0.03%", "0.1%", "0.3%", "1%"], "parallel": [1, 2, 4], "seeds": range(4)}


def test_a_sweep_of_60_runs_by_one_worker_two_and_a_dask_cluster_of_two(tmp_path, monkeypatch):
    import distributed

    monkeypatch.setattr("netlab.running.unfinished.cache_folder", lambda: tmp_path)

    def sweep(executor):
        start = time.monotonic()
        return nl.sweep(lossy, **CELLS, executor=executor), time.monotonic() - start

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(2) as two:
        (alone, alone_s), (both, both_s) = sweep(one), sweep(two)
    where = dict(dashboard_address=None, local_directory=str(tmp_path / "dask"))
    with (
        distributed.LocalCluster(2, threads_per_worker=1, **where) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(lambda: __import__("netlab"))
        dask, dask_s = sweep(client.get_executor())
    assert len(alone) == 60 and alone.equals(both) and alone.equals(dask)
    print(f"\none worker {alone_s:.1f} s, one / two {alone_s / both_s:.2f}")
    print(f"Dask with two / two {dask_s / both_s:.2f}")
