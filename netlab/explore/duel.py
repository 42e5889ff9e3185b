"""Explorer of a race: two congestion controls on one bottleneck, and their windows."""

import html
import time
from collections import Counter

import ipywidgets as widgets
import numpy as np
import pandas as pd
import plotly.graph_objects as go

import netlab as nl
from netlab import units
from netlab.errors import SpecificationError
from netlab.explore._explorer import Explorer
from netlab.explore._parts import SLIDER, joined, real, steps, styled, whole
from netlab.plots._style import COLOURS, FAINT, INK, from_0
from netlab.plots._words import plural, with_unit
from netlab.plots.window_traces import reductions, thinned
from netlab.running.run import so_far

KERNEL = "reno", "cubic", "bbr", "vegas"
PAIRS = ("h1", "h2"), ("h3", "h4")
FRAME_BYTES = 1514  # of a full segment, as the queue counts it
OMIT_S = 4  # of the race, which do not count: the slow start
EVERY, PIECES, MARKS = "20ms", 375, 400
PAUSE_S = 0.2  # between two drawings of a race that is being run, on the wall
COLUMNS = ["seed", "one", "other", "rate_bps", "rtt_s", "queue_bdp", "time_s", "share"]
PIPE, FULL, HINT, LOSS = "path", "path and full queue", "hint", "loss"


def race(one="reno", other="cubic", more=()):
    """Explorer of a race: two congestion controls on one bottleneck, with their windows.

    Sliders: ``queue`` [BDP], ``rate`` [bit/s], ``rtt`` [s] and ``seconds`` [s]; choices: ``one``
    and ``other``. ``measured`` has a row per race: ``seed``, ``one``, ``other``, ``rate_bps``
    [bit/s], ``rtt_s`` [s], ``queue_bdp`` [BDP], ``time_s`` [s], and ``share``, h1's [1]. ``result``
    is the `Result` of the last race.

    Parameters
    ----------
    one, other : str, CongestionControl, or its class
        What h1 and h3 run at first: a name of the kernel's such as ``"reno"``, or an algorithm in
        Python, such as your own ``Mine``, or ``Mine(0.5)``.
    more : sequence of these
        What else can be chosen.

    Raises
    ------
    SpecificationError, AlgorithmError
        One of the algorithms cannot be used.

    Notes
    -----
    No model is drawn. The two straight lines say how many segments the path holds without and with
    a full queue: what the sum of the two windows has more than that is lost. The button runs one
    connection from h1 to h2 and one from h3 to h4, and draws their windows, one value per 20 ms,
    while they run. The shares are those of what arrives after the first 4 s. Each press of the
    button takes another seed, which decides who begins, at most 0.1 s before the other.

    Examples
    --------
    >>> explorer = race("reno", "bbr")
    >>> explorer.queue.value = 1
    >>> explorer.plain_sentence()
    'Who will get more? reno (Linux) against bbr (Linux), link 100 Mbit/s, RTT 20 ms, ...'
    """
    for algorithm in (one, other, *more):
        if algorithm is None:
            raise SpecificationError('race: None is no algorithm; give a name such as "reno"')
        nl.Iperf3("h1", "h2", congestion=algorithm)  # refuses what cannot be used
    return Race(one, other, more)


class Race(Explorer):
    def __init__(self, one, other, more):
        python = nl.algorithms
        usual = [python.Reno, python.AIMD(0.06, 8), python.MulTCP(8), python.Delay()]
        algorithms = {called(item): item for item in (*KERNEL, *usual, one, other, *more)}
        look = dict(options=[*algorithms.items()], **SLIDER)
        sliders = {
            "one": widgets.Dropdown(description="h1 runs", value=algorithms[called(one)], **look),
            "other": widgets.Dropdown(
                description="h3 runs", value=algorithms[called(other)], **look
            ),
            "queue": real("queue [BDP]", 1, 0.25, 8, 0.25),
            "rate": steps("link", 1e8, 1e7, 1e9, "bit/s"),
            "rtt": steps("RTT", 0.02, 0.01, 0.1, "s"),
            "seconds": whole("time [s]", 20, 10, 60, 5),
        }
        self.result, self.live = None, None  # the last race; the windows so far of one that runs
        self.row = {}  # of `measured`, for the race that was begun last
        self.running, self.drawn = "", ""  # settings of the race that runs, and of the one drawn
        self.sentence = ""  # about the race that is drawn
        self.seeds, self.drawn_s = Counter(), 0.0
        super().__init__(_figure(), sliders, pd.DataFrame(columns=COLUMNS))

    def draw(self):
        now, drawn = self.settings(), self.result and self.result.windows
        drawn = drawn if self.live is None else self.live
        holds = np.array([1, 1 + self.queue.value]) * self.bdp_bytes / FRAME_BYTES
        time_s = np.array([0.0, self.seconds.value])
        traces = {
            PIPE: dict(x=time_s, y=np.full(2, holds[0])),
            FULL: dict(x=time_s, y=np.full(2, holds[1])),
            HINT: dict(x=time_s[:0], y=time_s[:0]),
            **_windows(drawn),
        }
        if drawn is None:
            traces[HINT] = dict(x=time_s[1:] / 2, y=holds[:1] / 2)
        if self.live is not None:
            sentence = f"<b>They race:</b> {html.escape(self.running)}."
        elif self.result is None:
            sentence = f"<b>Who will get more?</b> {html.escape(now)}."
        else:
            sentence = self.sentence
            if now != self.drawn:
                sentence += f" That was {html.escape(self.drawn)}, not what is chosen now."
        return traces, sentence

    @property
    def bdp_bytes(self):
        return self.rate.value * self.rtt.value / 8

    def experiment(self):
        algorithms = self.one, self.other
        tests = [
            nl.Iperf3(*pair, congestion=who.value, time=self.seconds.value - OMIT_S, omit=OMIT_S)
            for pair, who in zip(PAIRS, algorithms, strict=True)
        ]
        rate, delay = units.format_rate(self.rate.value), units.format_delay(self.rtt.value)
        limit = max(2 * FRAME_BYTES, round(self.queue.value * self.bdp_bytes))
        row = [self.seeds[self.settings()] + 1, *(who.label for who in algorithms)]
        row += [self.rate.value, self.rtt.value, self.queue.value, self.seconds.value]
        self.row = dict(zip(COLUMNS, [*row, np.nan], strict=True))
        observers = [nl.Windows(src, every=EVERY) for src, _ in PAIRS]
        return [nl.wan(rate, delay, limit=limit), *tests, *observers], dict(seed=row[0])

    def settings(self):
        path = f"link {self.rate.label}, RTT {self.rtt.label}, queue {self.queue.value:g} BDP"
        return f"{self.one.label} against {self.other.label}, {path}, {self.seconds.value} s"

    def _measure(self, arguments, named, settings):
        self.running = settings
        super()._measure(arguments, named, settings)
        if self.live is not None:  # it was stopped, or has failed
            self.live = None
            self.redraw()

    def meanwhile(self):
        if time.monotonic() > self.drawn_s + PAUSE_S:
            with self._drawing:
                self.live = so_far().get("windows")
                self.redraw()
            self.drawn_s = time.monotonic()

    def add(self, result):
        self.result, self.live, self.drawn = result, None, self.running
        self.seeds[self.drawn] += 1
        bps = result.flows.received_bps.to_numpy(float)
        shares, marks = 100 * bps / bps.sum(), [found.flow for _, found in _found(result.windows)]
        lost = pd.concat([pd.Series(dtype=int), *marks])
        parts = [
            f"{src} with {self.row[key]} got {share:.0f} %"
            for (src, _), key, share in zip(PAIRS, ("one", "other"), shares, strict=True)
        ]
        text = f"{' and '.join(parts)} of {with_unit(bps.sum(), 'bit/s')}"
        times = [plural((lost == flow).sum(), "time") for flow in (1, 2)]
        self.sentence = (
            f"<b>{html.escape(text)}.</b> Jain's index is {nl.jain_index(bps):.2f}; h1 lost"
            f" something {times[0]}, h3 {times[1]}."
        )
        row = self.row | dict(share=shares[0] / 100)
        self.measured = joined(self.measured, pd.DataFrame([row]))
        return _windows(result.windows), text


def called(algorithm):
    """What an algorithm is called in the choices."""
    if isinstance(algorithm, str):
        return f"{algorithm} (Linux)"
    cls = algorithm if isinstance(algorithm, type) else type(algorithm)
    name = cls.__name__ if cls is algorithm else repr(algorithm)
    return f"{name} ({'netlab' if cls.__module__.startswith('netlab.') else 'yours'})"


def _found(windows):
    """Where windows were reduced."""
    return [] if windows is None or windows.empty else reductions(windows)


def _windows(windows):
    """The data of both hosts' windows, which may be None, and of the losses."""
    traces = {}
    for flow, (src, _) in enumerate(PAIRS, 1):
        time_s, cwnd = np.empty(0), np.empty(0)
        if windows is not None and len(own := windows[windows.flow == flow]):
            time_s, cwnd = thinned(own.time_s, own.cwnd, PIECES)
        traces[src] = dict(x=time_s, y=cwnd.astype(float))
    marks = [found[["time_s", "before"]].to_numpy(float) for _, found in _found(windows)]
    marks = np.concatenate([np.empty((0, 2)), *marks])
    x, y = marks[:: len(marks) // MARKS + 1].T
    return traces | {LOSS: dict(x=x, y=y)}


def _figure():
    fig, hover = go.Figure(), "%{x:.4~g} s: %{y:.0f}"
    for number, (src, _) in enumerate(PAIRS):
        line = dict(color=COLOURS[number], width=2.5, shape="hv")
        fig.add_scatter(name=src, mode="lines", line=line, hovertemplate=hover)
    look = dict(symbol="x-thin-open", size=8, color=INK, line_width=2)
    fig.add_scatter(name=LOSS, mode="markers", marker=look, hovertemplate=hover)
    for name, dash in ((PIPE, "dash"), (FULL, "dot")):
        line = dict(color=FAINT, width=2, dash=dash)
        look = dict(mode="lines", line=line, legend="legend2", hovertemplate="%{y:.0f}")
        fig.add_scatter(name=name, **look)
    look = dict(mode="text", text=["press Measure here"], textfont_size=20, hoverinfo="skip")
    fig.add_scatter(name=HINT, showlegend=False, **look)
    axes = from_0("time [s]"), from_0("congestion window [segments]")
    return styled(fig, *axes, lines="windows", points="room of the")
