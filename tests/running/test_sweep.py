import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context

import pandas as pd
import pytest

import netlab as nl
from netlab.running.unfinished import WEEK_S, UnfinishedSweep


def lossy(loss, parallel):
    return nl.Experiment(
        nl.wan("100mbit", "20ms", loss),
        nl.Iperf3("h1", "h2", parallel=parallel, time=2, congestion="reno"),
    )


AXES = {"loss": ["0.1%", "1%"], "parallel": [1, 2], "seeds": [1, 2]}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Where results are kept until a sweep is complete."""
    monkeypatch.setattr("netlab.running.unfinished.cache_folder", lambda: tmp_path)
    return tmp_path / "sweeps"


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "netlab.running.unfinished.cache_folder", lambda: tmp_path_factory.mktemp("cache")
        )
        return nl.sweep(lossy, **AXES)


class Here:
    """An executor that runs what is submitted at once, but for what `act` does first, with the
    number of the run.
    """

    def __init__(self, act=lambda number: None):
        self.act, self.ran = act, 0

    def submit(self, function, *arguments):
        future = Future()
        self.ran += 1
        try:
            self.act(self.ran)
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_sweep_has_a_row_per_cell_and_seed_in_the_order_of_its_axes(grid):
    assert grid[["loss", "parallel", "seed"]].values.tolist() == [
        [loss, parallel, seed] for loss in ("0.1%", "1%") for parallel in (1, 2) for seed in (1, 2)
    ]
    assert grid.loss_rate.tolist() == [0.001] * 4 + [0.01] * 4
    assert (
        (grid.base_rtt_s == 0.02).all()
        and (grid.bottleneck_bps == 100e6).all()
        and "error" not in grid
    )
    alone = nl.run(lossy("1%", 2), seed=2).flows.received_bps[0]
    assert grid.received_bps.iloc[-1] == alone, "guests that run at once do not disturb each other"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"loss": ["0.1%", "200%"], "parallel": [1]}, "200%"),
        ({"loss": [], "parallel": [1]}, "loss"),
        ({"loss": ["1%"], "parallel": [1], "seeds": []}, "seeds"),
    ],
)
def test_a_bad_cell_is_refused_before_anything_starts(arguments, words, monkeypatch):
    monkeypatch.setattr(
        nl.engines.guest.GuestEngine, "connect", lambda *_: pytest.fail("nothing must start")
    )
    with pytest.raises(nl.SpecificationError, match=words):
        nl.sweep(lossy, **arguments)


def test_a_function_that_gives_no_experiment_is_refused():
    with pytest.raises(nl.SpecificationError, match=r"must return a netlab.Experiment"):
        nl.sweep(lambda loss: None, loss=["1%"])


def test_an_axis_named_like_a_flow_s_column_keeps_its_own():
    def of(congestion):
        test = nl.Iperf3("h1", "h2", time=1, congestion=congestion)
        return nl.Experiment(nl.wan("100mbit", "20ms"), test)

    grid = nl.sweep(of, congestion=["reno", "bbr"])
    assert grid.congestion.tolist() == ["reno", "bbr"] and grid.columns.is_unique


def test_an_interrupted_sweep_goes_on_where_it_was(grid, place, monkeypatch, capsys):
    last = random.randrange(1, len(grid))  # the run after which somebody presses Ctrl-C

    def interrupt(number):
        if number > last:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nl.sweep(lossy, **AXES, executor=Here(interrupt))
    assert len(list(place.glob("*.json.xz"))) == last
    monkeypatch.setenv("NETLAB_PROGRESS", "on")
    resumed = nl.sweep(lossy, **AXES, executor=(rest := Here()))
    assert rest.ran == len(grid) - last, "what was measured is not measured again"
    pd.testing.assert_frame_equal(resumed, grid, check_exact=True)
    assert f"{last} of {len(grid)} runs were kept" in capsys.readouterr().out
    assert not list(place.iterdir()), (
        "a complete sweep leaves nothing: run again, it measures again"
    )


INTERRUPTED = """
import sys, netlab as nl
nl.kept.cache_folder = lambda: __import__("pathlib").Path(sys.argv[1])
from tests.test_sweep import AXES, lossy
nl.sweep(lossy, **AXES)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_lost_when_the_process_is_killed(grid, place, number):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, place.parent], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while (
        not (place.exists() and list(place.glob("*.json.xz")))
        and process.poll() is None
        and time.monotonic() < deadline
    ):
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(60) != 0, "it was ended before its end"
    kept = len(list(place.glob("*.json.xz")))
    resumed = nl.sweep(lossy, **AXES, executor=(rest := Here()))
    assert kept and rest.ran == len(grid) - kept
    pd.testing.assert_frame_equal(resumed, grid, check_exact=True)


def test_a_run_that_fails_is_reported_with_its_evidence_and_does_not_end_the_sweep(grid, place):
    def failing(loss, parallel):
        return lossy(loss, parallel).but(
            virtual_limit_s=0.5 if (loss, parallel) == ("1%", 1) else None
        )

    with pytest.warns(
        UserWarning,
        match=r"2 of 8 runs failed.*The first, loss='1%', parallel=1, seed=1:\nCommandError",
    ) as told:
        part = nl.sweep(failing, **AXES)
    bad = part[part.error.notna()]
    assert bad[["loss", "parallel", "seed"]].values.tolist() == [["1%", 1, 1], ["1%", 1, 2]]
    assert (
        bad.received_bps.isna().all() and (bad.src == "h1").all() and (bad.loss_rate == 0.01).all()
    )
    evidence = str(told[0].message).partition("everything lies in ")[2].split(". ")[0].strip(".;")
    assert os.path.isdir(evidence), str(told[0].message)
    good = part[part.error.isna()].drop(columns="error")
    pd.testing.assert_frame_equal(good, grid.loc[good.index], check_exact=True, check_dtype=False)
    whole = nl.sweep(lossy, **AXES, executor=(rest := Here()))
    assert rest.ran == 2, "run again, only what failed is tried"
    pd.testing.assert_frame_equal(whole, grid, check_exact=True)


def test_where_every_run_fails_so_does_the_sweep():
    with pytest.raises(nl.CommandError, match=r"was ended after 0.5 virtual seconds"):
        nl.sweep(lambda loss: lossy(loss, 1).but(virtual_limit_s=0.5), loss=["1%"], seeds=[1, 2])


def test_a_worker_with_another_engine_is_refused(monkeypatch):
    engine = nl.engines.pick("guest")
    with pytest.raises(
        nl.EngineError,
        match=r"has the engine .*, the sweep was asked for on 0123: `netlab engine export",
    ):
        sys.modules["netlab.running.sweep"].measure(lossy("1%", 1), engine.name, "0123")


def test_any_executor_will_do(grid, place):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        pd.testing.assert_frame_equal(
            nl.sweep(lossy, **AXES, executor=pool), grid, check_exact=True
        )
    assert not list(place.iterdir())


def test_on_a_dask_cluster(grid, place, tmp_path):
    import distributed

    directory = str(tmp_path / "dask")
    with (
        distributed.LocalCluster(
            2, threads_per_worker=1, dashboard_address=None, local_directory=directory
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert len(client.scheduler_info()["workers"]) == 2
        pd.testing.assert_frame_equal(
            nl.sweep(lossy, **AXES, executor=client.get_executor()), grid, check_exact=True
        )
        with pytest.warns(UserWarning, match="1 of 2 runs failed"):
            part = nl.sweep(
                lambda limit: lossy("1%", 1).but(virtual_limit_s=limit),
                limit=[0.5, None],
                executor=client.get_executor(),
            )
    assert (
        part.error.notna().tolist() == [True, False]
        and part.received_bps[1] == grid.received_bps[4]
    )


def test_what_is_kept_belongs_to_its_engine_and_lasts_a_week(grid, place):
    engine, experiment = nl.engines.pick("guest"), lossy("1%", 1)
    kept, result = UnfinishedSweep(engine), nl.run(experiment)
    kept.add(result)
    assert UnfinishedSweep(engine).find(experiment).raw == result.raw
    assert kept.find(experiment.but(seed=2)) is None
    other = type("Other", (), {"name": "guest", "digest": "0123"})()
    assert UnfinishedSweep(other).find(experiment) is None, "another engine measures other numbers"
    (path,) = place.iterdir()
    os.utime(path, (0, time.time() - WEEK_S - 1))
    assert UnfinishedSweep(engine).find(experiment) is None and not path.exists()
