"""How a sweep of 60 runs scales (`make bench`). A machine with two free cores is assumed."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import netlab as nl


def lossy(loss, parallel):
    path = nl.wan("1gbit", "20ms", loss, pairs=1)
    return nl.Experiment(path, nl.Iperf3("h1", "h2", parallel=parallel, congestion="reno", time=20))


CELLS = {"loss": ["0.01%", "0.03%", "0.1%", "0.3%", "1%"], "parallel": [1, 2, 4], "seeds": range(4)}


@pytest.fixture
def swept(tmp_path, monkeypatch):
    monkeypatch.setattr("netlab.running.unfinished.cache_folder", lambda: tmp_path)

    def sweep(executor=None):
        start = time.monotonic()
        return nl.sweep(lossy, **CELLS, executor=executor), time.monotonic() - start

    return sweep


def test_two_workers_and_a_dask_cluster_of_two(swept, tmp_path):
    import distributed

    directory = str(tmp_path / "dask")
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(2) as two:
        alone, alone_s = swept(one)
        both, both_s = swept(two)
    with (
        distributed.LocalCluster(
            2, threads_per_worker=1, dashboard_address=None, local_directory=directory
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(lambda: __import__("netlab"))
        dask, dask_s = swept(client.get_executor())
    assert len(alone) == 60 and alone.equals(both) and alone.equals(dask)
    print(
        f"\n60 runs: one worker {alone_s:.1f} s, two {both_s:.1f} s, Dask with two {dask_s:.1f} s"
    )
    print(f"one / two: {alone_s / both_s:.2f}; Dask / two: {dask_s / both_s:.2f}")
