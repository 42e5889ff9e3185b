import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from types import SimpleNamespace

import pandas as pd
import pytest

import netlab as nl
from netlab.engines.guest import GuestEngine
from netlab.engines.result_store import packed_result
from netlab.running.result import Result, Rows
from netlab.running.run import identity, measure
from netlab.running.sweep import MOST_LOST
from netlab.running.unfinished import WEEK_S, UnfinishedSweep
from tests import cases


def transfer(delay, parallel, loss="0%"):
    """Without loss, as the check of a network that loses costs more than all the rest."""
    return nl.Experiment(
        nl.wan("100mbit", delay, loss),
        nl.Iperf3("h1", "h2", parallel=parallel, time=2, congestion="reno"),
    )


AXES = {"delay": ["5ms", "20ms"], "parallel": [1, 2], "seeds": [1, 2]}


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
        return nl.sweep(transfer, **AXES)


class Here(Executor):
    """An executor that runs what is submitted at once, but for what `act` does first, with the
    number of the run; `identity` is asked before the first.
    """

    def __init__(self, act=lambda number: None):
        self.act, self.ran = act, 0

    def submit(self, function, *arguments):
        future = Future()
        try:
            if function is not identity:
                self.ran += 1
                self.act(self.ran)
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_sweep_has_a_row_per_cell_and_seed_in_the_order_of_its_axes(grid):
    assert grid[["delay", "parallel", "seed"]].values.tolist() == [
        [delay, parallel, seed]
        for delay in ("5ms", "20ms")
        for parallel in (1, 2)
        for seed in (1, 2)
    ]
    assert grid.base_rtt_s.tolist() == [0.005] * 4 + [0.02] * 4
    assert (grid.loss_rate == 0).all() and (grid.bottleneck_bps == 100e6).all()
    assert "error" not in grid and grid.received_bps.nunique() == len(grid)
    alone = nl.run(transfer("20ms", 2), seed=2).flows.received_bps[0]
    assert grid.received_bps.iloc[-1] == alone, "guests that run at once do not disturb each other"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"delay": ["1ms"], "loss": ["200%"], "parallel": [1]}, "200%"),
        ({"delay": [], "parallel": [1]}, "delay"),
        ({"delay": ["1ms"], "parallel": [1], "seeds": []}, "seeds"),
        ({"delay": ["1ms"], "parallel": 4}, r"parallel = 4: a list"),
        ({"delay": "1ms", "parallel": [1]}, r"delay = '1ms': a list"),
        ({"delay": ["1ms"], "parallel": [1], "seeds": 3}, r"seeds = 3: a list"),
        ({"delay": ["1ms"]}, r"transfer takes delay, parallel, loss, and the axes are delay \(mis"),
        ({"delay": ["1ms"], "parallel": [1], "mss": [88]}, r"are delay, parallel, mss .*'mss'"),
    ],
)
def test_a_bad_cell_is_refused_before_anything_starts(arguments, words, monkeypatch):
    monkeypatch.setattr(GuestEngine, "connect", lambda *_: pytest.fail("nothing must start"))
    with pytest.raises(nl.SpecificationError, match=words):
        nl.sweep(transfer, **arguments)
    with pytest.raises(nl.SpecificationError, match=r"must return a netlab.Experiment"):
        nl.sweep(lambda loss: None, loss=["1%"])


@pytest.mark.long
def test_an_interrupted_sweep_goes_on_where_it_was(
    grid, place, tmp_path, monkeypatch, capsys, draw
):
    last = draw("sweep").randrange(1, len(grid))  # the run after which somebody presses Ctrl-C

    def interrupt(number):
        if number > last:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nl.sweep(transfer, **AXES, executor=Here(interrupt))
    assert len(list(place.glob("*.zip"))) == last
    monkeypatch.setenv("NETLAB_PROGRESS", "on")
    monkeypatch.setenv("NETLAB_RECORD", "on")
    monkeypatch.setenv("NETLAB_RECORDS", str(tmp_path / "records"))
    resumed = nl.sweep(transfer, **AXES, executor=(rest := Here()))
    assert rest.ran == len(grid) - last, "what was measured is not measured again"
    pd.testing.assert_frame_equal(resumed, grid, check_exact=True)
    assert f"{last} of {len(grid)} runs were kept" in capsys.readouterr().out
    assert len(list((tmp_path / "records").iterdir())) == len(grid), "what was kept, too"
    # a complete sweep leaves nothing: run again, it measures again
    assert not list(place.iterdir())


INTERRUPTED = """
import pathlib, sys, netlab as nl
from netlab.running import unfinished
from tests.running.test_sweep import AXES, transfer
unfinished.cache_folder = lambda: pathlib.Path(sys.argv[1])
nl.sweep(transfer, **AXES)
"""


@pytest.mark.parametrize("number", cases([signal.SIGKILL, signal.SIGINT]))
def test_nothing_is_lost_when_the_process_is_killed(grid, place, number):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, place.parent], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while not list(place.glob("*.zip")) and time.monotonic() < deadline:
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(number)
    assert process.wait(300) != 0, "it was ended before its end"
    kept = len(list(place.glob("*.zip")))
    resumed = nl.sweep(transfer, **AXES, executor=(rest := Here()))
    assert kept and rest.ran == len(grid) - kept
    pd.testing.assert_frame_equal(resumed, grid, check_exact=True)


def test_a_run_that_fails_is_reported_with_its_evidence_and_does_not_end_the_sweep(grid, place):
    def failing(delay, parallel):
        if (delay, parallel) != ("20ms", 1):
            return transfer(delay, parallel)
        return transfer(delay, parallel, "1%").but(virtual_limit_s=0.5)

    words = r"2 of 8 runs failed.*The first, delay='20ms', parallel=1, seed=1:\nCommandError"
    with pytest.warns(UserWarning, match=words) as told:
        part = nl.sweep(failing, **AXES)
    bad = part[part.error.notna()]
    assert bad[["delay", "parallel", "seed"]].values.tolist() == [["20ms", 1, 1], ["20ms", 1, 2]]
    assert bad.received_bps.isna().all()
    assert (bad.src == "h1").all() and (bad.loss_rate == 0.01).all()
    (said,) = (str(one.message) for one in told if "runs failed" in str(one.message))
    evidence = re.search(r"it left is in (\S+?)\. ", said)
    assert evidence and os.path.isdir(evidence[1]), said
    good = part[part.error.isna()].drop(columns="error")
    pd.testing.assert_frame_equal(good, grid.loc[good.index], check_exact=True, check_dtype=False)
    whole = nl.sweep(transfer, **AXES, executor=(rest := Here()))
    assert rest.ran == 2, "run again, only what failed is tried"
    pd.testing.assert_frame_equal(whole, grid, check_exact=True)


def test_where_every_run_fails_so_does_the_sweep():
    with pytest.raises(nl.CommandError, match="had not ended after"):
        nl.sweep(lambda n: transfer("20ms", n).but(virtual_limit_s=0.5), n=[1], seeds=[1, 2])


class Dies(ProcessPoolExecutor):
    """A pool whose process ends itself at its second run."""

    ran = 0

    def submit(self, function, *arguments):
        self.ran += function is not identity
        return super().submit(*((os._exit, 1) if self.ran == 2 else (function, *arguments)))


@pytest.mark.long
def test_any_executor_will_do_and_a_pool_that_lost_its_process_is_no_longer_one(grid, place):
    spawn = get_context("spawn")
    with Dies(1, mp_context=spawn) as pool, pytest.raises(nl.EngineError) as told:
        nl.sweep(transfer, **AXES, executor=pool)
    assert re.search(r"BrokenProcessPool.*: it goes on where it was", str(told.value))
    kept = len(list(place.iterdir()))
    with ProcessPoolExecutor(2, mp_context=spawn) as pool:
        whole = nl.sweep(transfer, **AXES, executor=pool)
    pd.testing.assert_frame_equal(whole, grid, check_exact=True)
    assert kept <= 1 and not list(place.iterdir())


@pytest.mark.long
def test_a_dask_cluster_loses_a_worker_and_no_run(grid, place, tmp_path):
    import dask
    import distributed

    look = dict(threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "d"))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),  # its own tries
        distributed.LocalCluster(2, **look) as cluster,
        distributed.Client(cluster) as client,
    ):

        def kill():
            while not list(place.glob("*.zip")):
                time.sleep(0.01)
            client.submit(os._exit, 1, priority=100, pure=False)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        whole = nl.sweep(transfer, **AXES, executor=client)
        killer.join()
        pd.testing.assert_frame_equal(whole, grid, check_exact=True)
        with pytest.warns(UserWarning, match="1 of 2 runs failed"):
            part = nl.sweep(
                lambda limit: transfer("20ms", 1).but(virtual_limit_s=limit),
                limit=[0.5, None],
                executor=client.get_executor(),
            )
    assert part.error.notna().tolist() == [True, False]
    assert part.received_bps[1] == grid.received_bps[4]


def ping(delay):
    return nl.Experiment(nl.wan("100mbit", delay, pairs=1), nl.Ping("h1", "h2", count=1))


@pytest.fixture
def stand_in(monkeypatch):
    """Runs that take no guest: a ping's, whatever the seed. -> by seed, how often it was run."""
    kept, ran = nl.run(ping("1ms")), Counter()

    def again(experiment, engine):
        ran[experiment.seed] += 1
        if experiment.seed == 13:
            raise nl.CommandError("thirteen", "ping", "", 1)
        return Result(experiment, kept.raw, kept.commands, kept.provenance)

    monkeypatch.setattr("netlab.running.run.run_on", again)
    return ran


def test_a_run_is_tried_again_whose_worker_was_lost_and_not_one_that_failed(stand_in):
    def lose(number):
        if number in (2, 7) or number > 20:  # at last, the worker of any run
            raise BrokenProcessPool("a process ended")

    with pytest.warns(UserWarning, match=r"1 of 16 runs failed.*seed=13:\nCommandError: thirteen"):
        frame = nl.sweep(ping, delay=["1ms"], seeds=range(16), executor=(some := Here(lose)))
    assert some.ran == 18 and [*stand_in.values()] == [1] * 16, "two more, and none twice"
    assert frame.seed.tolist() == [*range(16)] and frame.error.notna().sum() == 1
    with pytest.warns(
        UserWarning, match=r"(?s)2 of 8 runs failed.*BrokenProcessPool: a process ended"
    ):
        some.ran = 14
        frame = nl.sweep(ping, delay=["2ms"], seeds=range(8), executor=some)
    assert frame.error.notna().tolist() == [False] * 6 + [True] * 2
    assert some.ran == 14 + 6 + 2 * (1 + MOST_LOST), "at most so often"


@pytest.mark.parametrize("asked", ["all", "one"])
@pytest.mark.parametrize("other", ["netlab 0.1 and the engine 3865", nl.EngineError("no engine")])
def test_workers_with_another_netlab_or_engine_are_refused_before_the_first_run(other, asked):
    def tell(function, *arguments):
        assert function is identity, "nothing must run"
        if isinstance(other, Exception):
            raise other
        return {"near": function(*arguments), "far": (other, "far.example.org")}

    class Others(Here):
        def submit(self, *work):
            return super().submit(lambda: tell(*work)["far"])

    client = SimpleNamespace(run=tell, get_executor=Here)
    words = r"worker on far.example.org has netlab 0.1 .*was asked for on netlab .*engine export"
    if isinstance(other, Exception):
        words = "the workers cannot say.*EngineError: no engine.*install netlab"
    with pytest.raises(nl.EngineError, match=words):
        nl.sweep(ping, delay=["1ms"], executor=client if asked == "all" else Others())


def test_a_worker_that_came_later_with_another_engine_fails_its_runs():
    found = measure(ping("1ms"), "guest", "netlab 0.1 and the engine 3865")
    assert isinstance(found, nl.EngineError) and "asked for on netlab 0.1" in str(found)


def test_a_sweep_holds_a_bounded_number_of_futures_and_tables(stand_in, monkeypatch):
    monkeypatch.setattr("netlab.running.sweep.MOST_SUBMITTED", 20)
    monkeypatch.setattr("netlab.running.result.TOGETHER", 40)
    alive, most, tables = weakref.WeakSet(), [], []

    class Counted(ThreadPoolExecutor):
        def submit(self, *work):
            future = super().submit(*work)
            alive.add(future)
            most.append(len(alive))
            return future

    class Watched(Rows):
        def add(self, number, table):
            super().add(number, table)
            tables.append(len(self.new) + len(self.tables))

    monkeypatch.setattr("netlab.running.sweep.Rows", Watched)
    seeds = range(20, 220)
    with Counted(2) as executor:
        frame = nl.sweep(ping, delay=["1ms"], seeds=seeds, executor=executor)
    assert len(most) == 201 and 20 <= max(most) <= 23, "and those in the workers' hands"
    assert max(tables) < 5 + 40 + 20
    assert frame.seed.tolist() == [*seeds] and {*stand_in.values()} == {1}


def test_what_is_kept_belongs_to_its_engine_and_lasts_a_week(grid, place):
    engine, experiment = nl.engines.pick("guest"), transfer("20ms", 1)
    kept, result = UnfinishedSweep(engine), nl.run(experiment)
    kept.add(experiment, packed_result(result))
    assert UnfinishedSweep(engine).find(experiment).raw == result.raw
    assert kept.find(experiment.but(seed=2)) is None
    other = type("Other", (), {"name": "guest", "digest": "0123"})()
    assert UnfinishedSweep(other).find(experiment) is None, "another engine measures other numbers"
    (path,) = place.iterdir()
    sound = path.read_bytes()
    path.write_bytes(b"cut off")
    assert kept.find(experiment) is None, "a damaged one is measured again"
    path.write_bytes(sound)
    os.utime(path, (0, time.time() - WEEK_S - 1))
    assert UnfinishedSweep(engine).find(experiment) is None and not path.exists()


def test_where_nothing_can_be_kept_it_measures_all_the_same(stand_in, place):
    place.write_text("a file, where the folder should be")
    with pytest.warns(UserWarning, match=r"cannot be kept in .*will start anew") as told:
        frame = nl.sweep(ping, delay=["1ms"], seeds=range(4), executor=Here())
    assert len(told) == 1 and frame.seed.tolist() == [*range(4)]


def test_an_engine_with_a_clock_of_its_own_sets_the_experiments_clock(monkeypatch):
    class RealTime(GuestEngine):
        clocks = ("real",)

    monkeypatch.setitem(nl.engines.ENGINES, "mininet", RealTime)

    def ping(delay):
        return nl.Experiment(nl.wan("100mbit", delay, pairs=1), nl.Ping("h1", "h2", count=1))

    assert nl.sweep(ping, delay=["20ms"], engine="mininet").rtt_s[0] > 0.02
    asked = nl.Experiment(nl.wan("100mbit", pairs=1), nl.Ping("h1", "h2"), clock="virtual")
    with pytest.raises(nl.SpecificationError, match="clock = 'virtual'"):
        nl.sweep(lambda n: asked, n=[1], engine="mininet")


LONG = """
import netlab as nl
def long(n):
    return nl.Experiment(nl.wan(buffers="50mb"), nl.Iperf3("h1", "h2", parallel=8, time=20_000))
nl.sweep(long, n=[1, 2, 3])
"""


def test_ctrl_c_says_what_it_waits_for_and_the_second_ends_it(tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-uc", LONG], stdout=subprocess.PIPE, text=True, env=environment
    )
    guests = tmp_path / f"netlab-{os.getuid()}"
    until = time.monotonic() + 120
    while not list(guests.glob("guest-*/console")) and time.monotonic() < until:
        time.sleep(0.05)
    try:
        process.send_signal(signal.SIGINT)
        assert re.search(r"still under way.*Ctrl-C again", process.stdout.readline())
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(120) != 0, "hours of work were ended"
    finally:
        process.kill()
    until = time.monotonic() + 60  # the watcher of each guest deletes its folder
    while list(guests.glob("guest-*")) and time.monotonic() < until:
        time.sleep(0.1)
    assert not list(guests.glob("guest-*"))


@pytest.mark.long
@pytest.mark.parametrize("recalls", [False, True])
def test_results_are_dropped_as_they_come(monkeypatch, recalls):
    """They are large; what is kept of each is in its file and in the frame."""
    experiment = nl.Experiment(nl.wan("100mbit", "1ms"), nl.Ping("h1", "h2", count=1))
    kept, alive, seen = nl.run(experiment), weakref.WeakSet(), []

    class Recalling(GuestEngine):
        at_once = 1

        def recall(self, experiment):
            return (kept.raw, kept.commands, kept.provenance) if recalls else None

    def again(experiment, engine):
        for _ in range(1 if recalls else 100):  # the sweep may still be at the last one
            gc.collect()
            if not alive:
                break
            time.sleep(0.01)
        seen.append(len(alive))
        result = Result(experiment, kept.raw, kept.commands, kept.provenance)
        alive.add(result)
        return result

    for module in ("sweep", "run"):
        monkeypatch.setattr(f"netlab.running.{module}.run_on", again)
    nl.sweep(lambda: experiment, seeds=range(8), engine=Recalling())
    assert len(seen) == 8 and max(seen) <= recalls
    if not recalls:  # by another's executor, the main thread keeps them
        seen.clear()
        with ThreadPoolExecutor(1) as executor:
            nl.sweep(lambda: experiment, seeds=range(8), executor=executor)
        assert seen == [0] * 8
