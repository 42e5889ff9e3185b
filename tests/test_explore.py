"""Explorers without a browser: what sliders draw is what the models say, and what the button
measures is added.
"""

import asyncio
import signal
import threading
import time
from pathlib import Path

import nbclient
import nbformat
import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab import explore
from netlab.cli import record_notebooks
from netlab.explore import duel, plane, shares
from netlab.explore._explorer import on_interrupt, pace
from netlab.running.progress import progress, told
from tests.programs import names


def lossy(loss, parallel):
    """Notebook 03's experiment, which is recorded."""
    test = nl.Iperf3("h1", "h2", parallel=parallel, congestion="reno", time=20, omit=3)
    path = nl.wan("1gbit", "20ms", loss, pairs=1)
    return nl.Experiment(path, test)


@pytest.fixture(scope="module")
def grid():
    return nl.sweep(
        lossy, loss=["0.01%", "0.1%", "1%"], parallel=[1, 4, 8], seeds=[1, 2, 3], engine="recorded"
    )


def duels(*pairs):
    """Two rows per run: (streams, RTT, rate) of flow 1 and of flow 2."""
    rows = [
        dict(seed=seed, flow=flow, streams=k, base_rtt_s=rtt, received_bps=bps)
        for seed, both in enumerate(pairs, 1)
        for flow, (k, rtt, bps) in enumerate(both, 1)
    ]
    return pd.DataFrame(rows)


def trace(explorer, name):
    (found,) = (one for one in explorer.figure.data if one.name == name)
    return np.asarray(found.x, dtype=float), np.asarray(found.y, dtype=float)


def measure(explorer):
    explorer.button.click()
    explorer.wait(120)
    assert not explorer.button.disabled and explorer.bar.layout.visibility == "hidden"
    return explorer.status.value


def test_what_was_measured_shows_below_the_diamond_and_errors_in_any_theme(grid):
    explorer = explore.mathis(grid)
    (sliders,) = (one for one in explorer.figure.data if one.name == "sliders")
    assert sliders.marker.symbol == "diamond-open"
    explorer._fail(nl.NetlabError("no <room>"))
    assert "no &lt;room&gt;" in explorer.status.value and "border-left" in explorer.status.value
    assert "; color:" not in explorer.status.value, "the theme's own is read well"


def test_mathis_draws_the_limits_and_the_least_of_them(grid):
    explorer = explore.mathis(grid)
    measured = trace(explorer, "measured")
    assert measured[0] == pytest.approx(100 * grid.loss_rate)
    assert measured[1] == pytest.approx(grid.received_bps / 1e6)
    explorer.streams.value, explorer.rtt.value, explorer.constant.value = 4, 0.05, 1.31
    explorer.rate.value, explorer.window.value = 1e8, 1e5
    loss = trace(explorer, "loss")[0] / 100
    limits = {
        "loss": nl.models.mathis_bps(1448, 0.05, loss, 1.31, streams=4),
        "window": np.full_like(loss, nl.models.buffer_limited_bps(1e5, 0.05, streams=4)),
        "link": np.full_like(loss, nl.models.goodput_bps(1e8)),
        "all three": nl.models.limited_bps(1448, 0.05, loss, 1e8, 1e5, c=1.31, streams=4),
    }
    for name, bps in limits.items():
        assert trace(explorer, name)[1] == pytest.approx(bps / 1e6), name
    for one, same in zip(trace(explorer, "measured"), measured, strict=True):
        assert (one == same).all(), "what was measured stays where it is"


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        (dict(loss=0.01), "loss"),
        (dict(loss=1e-5, rate=1e8), "link"),
        (dict(loss=1e-5, window=5e4), "window"),
    ],
)
def test_mathis_says_which_limit_binds(settings, limit):
    explorer = explore.mathis()
    for name, value in settings.items():
        explorer.sliders[name].value = value
    assert f"the {limit} is the limit" in explorer.said.value
    (_, (here,)), (losses, least) = trace(explorer, "sliders"), trace(explorer, "all three")
    assert here == pytest.approx(np.interp(settings["loss"], losses / 100, least), rel=0.01)


def test_runs_without_loss_are_left_out_and_counted(grid):
    explorer = explore.mathis(pd.concat([grid, grid.head(2).assign(loss_rate=0.0)]))
    assert "2 runs without loss not shown" in explorer.status.value
    assert len(trace(explorer, "measured")[0]) == len(grid)


def test_points_with_the_sliders_settings_are_filled(grid):
    explorer = explore.mathis(grid)
    explorer.streams.value = 8
    mbps = grid[grid.streams == 8].received_bps / 1e6
    assert sorted(trace(explorer, "same settings")[1]) == pytest.approx(sorted(mbps))
    explorer.rtt.value = 0.05
    assert np.isnan(trace(explorer, "same settings")).all(), "no point, but a place in the legend"


def test_the_button_measures_what_the_sliders_say(grid, monkeypatch):
    monkeypatch.setenv("NETLAB_ENGINE", "recorded")
    explorer = explore.mathis()
    explorer.streams.value = 4
    for seed in (1, 2):  # every click another seed
        said = measure(explorer)
        (bps,) = grid.query("loss == '0.1%' and streams == 4 and seed == @seed").received_bps
        assert "4 streams, loss 0.1 %, RTT 20 ms, MSS 1448 byte" in said, "for which settings"
        assert f"seed {seed}: " in said and "recorded earlier" in said
        assert trace(explorer, "measured")[1][-1] == pytest.approx(bps / 1e6)
    assert len(trace(explorer, "same settings")[0]) == len(explorer.measured) == 2
    explorer.streams.value = 5
    said = measure(explorer)
    assert "not among the recorded ones" in said and "netlab engine build" in said, "all of it"
    assert len(explorer.measured) == 2


def test_stop_ends_the_run_and_a_double_click_starts_only_one(monkeypatch):
    explorer = explore.mathis()
    path, test = nl.wan(buffers="50mb"), nl.Iperf3("h1", "h2", parallel=8, time=20_000)
    monkeypatch.setattr(explorer, "experiment", lambda: ([path, test], dict(seed=1)))
    points = len(explorer.measured)
    explorer.button.click()
    running = explorer._thread
    explorer.button.click()
    assert explorer._thread is running and not explorer.stop_button.disabled
    while "virtual s" not in explorer.status.value and running.is_alive():
        time.sleep(0.05)
    explorer.stop_button.click()
    explorer.wait(60)
    assert not running.is_alive(), "hours of work were ended"
    assert "stopped" in explorer.status.value and len(explorer.measured) == points
    assert explorer.stop_button.disabled and not explorer.button.disabled
    assert "linux" not in names()


@pytest.mark.long
def test_a_smaller_mss_is_measured_as_it_is_predicted():
    explorer = explore.mathis()
    explorer.mss.value, explorer.loss.value = 712, 0.01
    said = measure(explorer)
    assert "seed 1: " in said and "virtual s in" in said
    (mbps,), (predicted,) = trace(explorer, "measured")[1], trace(explorer, "sliders")[1]
    assert mbps == pytest.approx(predicted, rel=0.3) and (explorer.measured.mss_bytes == 712).all()
    assert explorer.bar.value == explorer.bar.max == 23


def test_fairness_draws_the_shares_of_the_model():
    measured = duels([(1, 0.02, 8e6), (1, 0.08, 2e6)], [(1, 0.02, 5e6), (4, 0.08, 5e6)])
    explorer = explore.fairness(measured)
    assert trace(explorer, "sliders") == (pytest.approx([4]), pytest.approx([80]))
    assert trace(explorer, "measured") == (pytest.approx([4, 4]), pytest.approx([80, 50]))
    assert trace(explorer, "same N and M")[1] == pytest.approx([80])
    explorer.theirs.value, explorer.exponent.value = 4, 2
    x, y = trace(explorer, "h1's share")
    assert y == pytest.approx(100 * x**2 / (x**2 + 4))
    assert explorer.figure.description.startswith("h1 gets 80 %, h3 20 %. A flow of h1")
    assert trace(explorer, "same N and M")[1] == pytest.approx([50])
    late = explorer.figure.get_state()["_widget_data"]  # of a page that is opened now
    (sent,) = (one for one in late if one["name"] == "h1's share")
    assert np.frombuffer(sent["y"]["buffer"]) == pytest.approx(y)


@pytest.mark.long
def test_fairness_measures_each_case_with_seeds_of_its_own():
    """What is given as measured is of another network."""
    explorer = explore.fairness(duels([(1, 0.02, 8e6), (1, 0.08, 2e6)]))
    for ratio, seed in ((4, 1), (4, 2), (2, 1)):
        explorer.ratio.value = ratio
        assert f"seed {seed}: h1 got " in measure(explorer)
    x, y = trace(explorer, "measured")
    assert x == pytest.approx([4, 4, 4, 2]) and y[1:] == pytest.approx([80, 80, 67], abs=7)


def test_fairness_takes_the_two_rows_of_each_run():
    runs = shares.runs(duels([(3, 0.02, 6e6), (1, 0.04, 2e6)]))
    assert runs.iloc[0].to_dict() == dict(mine=3, theirs=1, ratio=2, share=0.75, seed=1)
    with pytest.raises(ValueError, match="flow 1 and flow 2 for each run"):
        explore.fairness(duels([(1, 0.02, 8e6), (1, 0.08, 2e6)])[:1])


def test_aimd_walks_as_by_hand():
    assert plane.model([70, 10], 95, 2, 0.5, 2).tolist() == [[70, 10], [72, 12], [74, 14]]
    overflows = plane.model([60, 40], 95, 2, 0.25, 1).tolist()
    assert overflows == [[60, 40], [45, 30]], "each gives up a quarter"
    explorer = explore.aimd()
    for _ in range(3):
        explorer.forth.click()
    explorer.back.click()
    assert trace(explorer, "model") == (pytest.approx([70, 72, 74]), pytest.approx([10, 12, 14]))
    explorer.reset.click()
    assert "Step 0: 70.0 and 10.0 Mbit/s" in explorer.said.value


def test_aimd_meets_the_fair_line():
    """Each round of giving up halves the gap, and adding keeps it."""
    gaps = np.abs(np.diff(plane.model([70, 10], 95, 2, 0.5, 200), axis=1)).ravel()
    assert set(np.round(gaps[1:] / gaps[:-1], 6)) == {1.0, 0.5} and gaps[-1] < 0.1


def test_aimd_measures_a_path(monkeypatch):
    monkeypatch.setenv("NETLAB_ENGINE", "recorded")
    explorer = explore.aimd()
    assert np.isnan(trace(explorer, "measured")).all()
    assert "seed 1: Jain's index" in measure(explorer).replace("&#x27;", "'")
    x, y = trace(explorer, "measured")
    assert len(x) > 15 and (x + y)[2:] == pytest.approx(plane.CAPACITY_BPS / 1e6, rel=0.1)
    again = explore.aimd(explorer.measured)
    assert trace(again, "measured") == (pytest.approx(x), pytest.approx(y))


class Steady(nl.CongestionControl):
    """Always the same window: a student's first try."""

    def __init__(self, segments=20):
        self.segments = segments

    def start(self, tcp):
        tcp.cwnd = self.segments

    def on_loss(self, tcp):
        tcp.ssthresh = self.segments


class Wrong(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        if tcp.now_s > 3:
            raise ValueError("no idea what to do now")
        tcp.cwnd += acked


def test_a_race_is_of_what_is_chosen():
    explorer = explore.race()
    assert (explorer.one.label, explorer.other.label) == ("reno (Linux)", "cubic (Linux)")
    assert explorer.plain_sentence() == (
        "Who will get more? reno (Linux) against cubic (Linux), link 100 Mbit/s, RTT 20 ms, queue"
        " 1 BDP, 20 s."
    )
    assert np.isnan(trace(explorer, "h1")).all() and not np.isnan(trace(explorer, "hint")).any()
    explorer.rate.value, explorer.rtt.value, explorer.queue.value = 2e7, 0.05, 0.5
    explorer.seconds.value = 10
    explorer.other.value = dict(explorer.other.options)["AIMD(0.06, 8) (netlab)"]
    bdp = 2e7 * 0.05 / 8 / 1514
    assert trace(explorer, "path")[1] == pytest.approx([bdp, bdp])
    time_s, full = trace(explorer, "path and full queue")
    assert [*time_s] == [0, 10] and full == pytest.approx([1.5 * bdp, 1.5 * bdp])
    (path, one, other, *eyes), named = explorer.experiment()
    assert path == nl.wan("20mbit", "50ms", limit=62_500) and named == dict(seed=1)
    assert [str(test.congestion) for test in (one, other)] == ["reno", "AIMD(0.06, 8)"]
    assert one.time + one.omit == 10 and [eye.src for eye in eyes] == ["h1", "h3"]


def test_a_race_is_measured_and_drawn_while_it_runs(monkeypatch):
    monkeypatch.setattr(duel, "PAUSE_S", 0)
    explorer = explore.race(Steady, "cubic", more=[Steady(5)])
    labels = [name for name, _ in explorer.one.options]
    assert labels[-2:] == ["Steady (yours)", "Steady(5) (yours)"] and len(labels) == 10
    explorer.rate.value, explorer.seconds.value = 2e7, 20
    seen, draw = [], explorer.draw

    def drawn():
        traces, sentence = draw()
        seen.append((traces["h1"]["x"].max(initial=0), sentence))
        return traces, sentence

    explorer.draw = drawn
    said = measure(explorer)
    live = [until_s for until_s, sentence in seen if "<b>They race:</b> Steady" in sentence]
    assert len(live) > 10 and live == sorted(live) and 0 <= live[1] < 10 < live[-1]
    assert "Steady (yours) against cubic (Linux), link 20 Mbit/s" in said and "seed 1: h1" in said
    time_s, cwnd = trace(explorer, "h1")
    assert np.median(cwnd) == cwnd[-1] == 20 and time_s.max() == pytest.approx(20, abs=0.5)
    share = explorer.measured.share[0]
    got = explorer.result.flows.received_bps
    assert share == pytest.approx(got[0] / got.sum()) and np.isnan(trace(explorer, "hint")).all()
    # the window is all that Steady has under way: it gets that per round trip
    rtt_s = explorer.result.windows.query("flow == 1 and time_s > 4").srtt_s.mean()
    assert got[0] == pytest.approx(20 * 1448 * 8 / rtt_s, rel=0.1)
    assert f"h1 with Steady (yours) got {100 * share:.0f} %" in explorer.plain_sentence()
    explorer.queue.value = 2
    assert "That was Steady (yours) against cubic" in explorer.plain_sentence()
    assert trace(explorer, "h1")[1] == pytest.approx(cwnd), "what was measured stays"
    explorer.queue.value, explorer.one.value = 1, explorer.one.options[-1][1]
    assert "seed 1: h1 with Steady(5) (yours) got" in measure(explorer)
    assert explorer.measured.share[1] < share and len(explorer.measured) == 2


def test_an_error_of_a_students_algorithm_is_shown_and_leaves_the_figure_as_it_was():
    explorer = explore.race(Wrong)
    explorer.rate.value, explorer.seconds.value = 2e7, 10
    said = measure(explorer)
    assert "Wrong.on_ack, line 4: raise ValueError" in said and "no idea what to do now" in said
    assert np.isnan(trace(explorer, "h1")).all() and "Who will get more?" in explorer.said.value
    assert explorer.result is None and explorer.measured.empty


@pytest.mark.parametrize("wrong", [None, 5, "none such", int])
def test_a_race_refuses_what_is_no_algorithm(wrong):
    with pytest.raises(nl.SpecificationError):
        explore.race("reno", wrong)


def test_what_nobody_expected_is_shown_in_full(monkeypatch):
    def broken(*arguments, **named):
        raise RuntimeError("out of tape")

    monkeypatch.setattr(nl, "run", broken)
    said = measure(explore.aimd())
    assert "RuntimeError: out of tape" in said and "in broken" in said


def test_what_is_measured_is_what_the_sliders_said_at_the_click(monkeypatch):
    monkeypatch.setenv("NETLAB_ENGINE", "recorded")
    explorer, run = explore.mathis(), nl.run

    def slow(*arguments, **named):
        explorer.streams.value = 8  # somebody moves a slider
        return run(*arguments, **named)

    monkeypatch.setattr(nl, "run", slow)
    explorer.streams.value = 4
    said = measure(explorer)
    assert "4 streams" in said and explorer.measured.streams.tolist() == [4]


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ((0, 20, 30), "0 of 20 virtual s, 30 s on the wall"),
        ((5, 20, 1), "5 of 20 virtual s, 1 s on the wall"),
        ((5, 20, 10), "5 of 20 virtual s, 10 s on the wall, about 30 s left"),
        ((1, 61, 10), "1 of 61 virtual s, 10 s on the wall, about 10 min left"),
    ],
)
def test_how_long_it_will_take_is_said_as_soon_as_it_is_known(told, text):
    assert pace(*told) == text


def test_an_interrupt_of_the_idle_kernel_ends_a_run():
    """As the menu's Kernel > Interrupt sends it; while a cell runs, it is the cell's."""

    async def turns():
        stopped, thread = threading.Event(), None
        thread = threading.Thread(target=stopped.wait, args=(30,), daemon=True)
        thread.start()
        on_interrupt(stopped.set, until=thread)
        await asyncio.sleep(0.5)
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.5)
        return thread.is_alive()

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a kernel that waits
    try:
        assert not asyncio.run(turns())
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_is_sent_to_the_browser_is_json():
    """Which has no NaN; Jupyter would warn on stderr, and may refuse it one day."""
    kinds = ("mathis", "aimd", "fairness", "race")
    cells = [f"e = explore.{name}()\ne.redraw()\ne" for name in kinds]
    cells = [*map(nbformat.v4.new_code_cell, ["from netlab import explore", *cells])]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    assert not [one.text for cell in cells for one in cell.outputs if one.get("text")]


def test_progress_tells_who_listens():
    heard = []
    with told(lambda seconds, total_s: heard.append((seconds, total_s))), progress(10) as on_tick:
        on_tick(4)
        on_tick(12)
    assert heard == [(0, 10), (4, 10), (10, 10)]
    with progress(10) as on_tick:
        on_tick(4)
    assert len(heard) == 3, "afterwards nobody listens any more"


@pytest.mark.long
def test_the_notebook_of_explorers_runs_and_is_stored_without_widgets(tmp_path):
    path = Path(__file__).parent.parent / "notebooks/explorers.ipynb"
    # with an engine here, it would say where that gives other numbers
    without = {"NETLAB_ENGINE": "recorded", "NETLAB_CACHE": str(tmp_path / "none")}
    both = nbformat.read(path, as_version=4), record_notebooks.run(path, **without)
    stored, ran = ([cell for cell in one.cells if cell.cell_type == "code"] for one in both)

    def printed(cells):
        return ["".join(o.get("text", "") for o in cell.outputs) for cell in cells]

    assert printed(stored) == printed(ran)
    assert sum("recorded: " in text for text in printed(stored)) == 3
    assert [cell.execution_count for cell in stored] == [1, 2, 3, 4, 5]
    outputs = [output for cell in stored for output in cell.outputs]
    assert {output.output_type for output in outputs} == {"stream", "display_data"}
    view = "application/vnd.jupyter.widget-view+json"
    assert not any(view in one.get("data", {}) for one in outputs)
    drawn = [cell.outputs[-1].data for cell in ran if "explore." in cell.source]
    assert len(drawn) == 4 and all(view in data for data in drawn)
