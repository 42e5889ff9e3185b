"""Additive increase, multiplicative decrease, step by step on Chiu and Jain's plane."""

import ipywidgets as widgets
import numpy as np
import pandas as pd

import netlab as nl
from netlab import plots
from netlab.explore._explorer import LAYOUT, Explorer, real, whole
from netlab.models import goodput_bps
from netlab.plots._style import check_frame, short_number

PATH = dict(rate="100mbit", delay="20ms", burst=15_000, limit=250_000)
CAPACITY_BPS = goodput_bps(100e6)
STEPS = 200
# the line, and a ring at either end
PARTS = {"": slice(None), ", first": slice(0, 1), ", last": slice(-1, None)}


def aimd(measured=None):
    """Two flows that add while the link has room and give up a share when it overflows, one step at
    a time.

    Parameters
    ----------
    measured : pandas.DataFrame, optional
        A measured path to show, as `netlab.fairness.over_time` gives it for two flows: ``start_s``
        [s], ``flow`` and ``bps`` [bit/s].

    Returns
    -------
    Explorer
        Its sliders are ``first`` and ``second``, what h1 and h3 begin with [Mbit/s], ``increase``
        [Mbit/s], ``decrease``, the share given up [1], and ``step``; ``back``, ``forth`` and
        ``reset`` are buttons, and ``play`` walks.

    Notes
    -----
    A step of the model: where both together have more than the link carries, *each* gives up the
    same share of what it has; else each adds the same. The button runs two Reno flows for 20 s at
    100 Mbit/s over 20 ms, with a queue of 250 kB, and draws a point per second, as the receivers
    count.
    """
    if measured is not None:
        check_frame("aimd", measured, "start_s", "flow", "bps")
    return Aimd(measured)


class Aimd(Explorer):
    def __init__(self, measured):
        step = whole("step", 0, 0, STEPS)
        sliders = {
            "first": whole("h1 at [Mbit/s]", 70, 1, 95),
            "second": whole("h3 at [Mbit/s]", 10, 1, 95),
            "increase": real("add [Mbit/s]", 2, 0.5, 10, 0.5, ".1f"),
            "decrease": real("give up [1]", 0.5, 0.05, 0.95, 0.05),
            "step": step,
        }
        self.seed, self.play = 0, widgets.Play(min=0, max=STEPS, interval=250)
        widgets.jslink((self.play, "value"), (step, "value"))
        self.back, self.forth, self.reset = (
            widgets.Button(description=text, icon=icon, layout=dict(width="90px"))
            for text, icon in (
                ("Back", "step-backward"),
                ("Step", "step-forward"),
                ("Reset", "fast-backward"),
            )
        )
        self.back.on_click(lambda _: step.set_trait("value", max(step.value - 1, 0)))
        self.forth.on_click(lambda _: step.set_trait("value", min(step.value + 1, STEPS)))
        self.reset.on_click(lambda _: step.set_trait("value", 0))
        walk = widgets.HBox(
            [self.back, self.forth, self.reset, self.play], layout=dict(flex_flow="row wrap")
        )
        super().__init__(_figure(measured), sliders, measured, [walk])

    def draw(self):
        both, step, add, give = (
            [self.first.value, self.second.value],
            self.step.value,
            self.increase.value,
            self.decrease.value,
        )
        points = model(both, CAPACITY_BPS / 1e6, add, give, STEPS)
        x, y = points[step]
        full = x + y > CAPACITY_BPS / 1e6
        then = (
            f"the link overflows, each gives up {100 * give:.0f} %"
            if full
            else f"there is room, each adds {short_number(add)} Mbit/s"
        )
        traces = _traces("model", points[: step + 1])
        return (
            traces,
            (
                f"<b>Step {step}: {x:.1f} and {y:.1f} Mbit/s, Jain's index"
                f" {nl.jain_index([x, y]):.2f}.</b> Next: {then}."
            ),
        )

    def experiment(self):
        reno = dict(congestion="reno", time=20, get_server_output=True)
        tests = [nl.Iperf3("h1", "h2", **reno), nl.Iperf3("h3", "h4", **reno)]
        return [nl.wan(**PATH), *tests], dict(seed=self.seed + 1)

    def add(self, result):
        self.seed = result.experiment.seed
        self.measured = nl.fairness.over_time(result.intervals, window_s=1)
        traces = _traces("measured", way(self.measured)[["x_bps", "y_bps"]].to_numpy() / 1e6)
        return (
            traces,
            f"Jain's index of the whole run {nl.jain_index(result.flows.received_bps):.2f}",
        )


def model(start, capacity, increase, decrease, steps):
    """The path of two flows that both notice when the link overflows.

    Parameters
    ----------
    start : pair of float
        What they begin with. [Mbit/s]
    capacity, increase : float
        What the link carries, what each adds in a step. [Mbit/s]
    decrease : float
        The share that each gives up when both have more than `capacity`. [1]
    steps : int

    Returns
    -------
    array of shape (steps + 1, 2) [Mbit/s]
    """
    points = [np.array(start, dtype=float)]
    for _ in range(steps):
        here = points[-1]
        points.append(here * (1 - decrease) if here.sum() > capacity else here + increase)
    return np.array(points)


def way(measured):
    """The path of two flows on the plane: ``time_s`` [s], ``x_bps``, ``y_bps`` [bit/s]; a single
    point where none is measured.
    """
    if measured is None:
        return pd.DataFrame(dict(time_s=[0.0], x_bps=[1e6], y_bps=[1e6]))
    rates = measured.pivot(index="start_s", columns="flow", values="bps")
    if rates.shape[1] != 2:
        raise ValueError(
            f"aimd: measured must have two flows, not {', '.join(map(str, rates.columns))}"
        )
    return rates.set_axis(["x_bps", "y_bps"], axis=1).rename_axis("time_s").reset_index()


def _figure(measured):
    """`netlab.plots.plane`, with the measured path faint."""
    fig = plots.plane(
        {"model": way(None), "measured": way(measured)}, CAPACITY_BPS, flows=("h1", "h3")
    )
    for label in ("model", "measured"):
        for part, trace in zip(PARTS, fig.select_traces(dict(legendgroup=label)), strict=True):
            trace.update(name=f"{label}{part}", customdata=trace.customdata[:, :1])
    nothing = dict(x=[np.nan], y=[np.nan]) if measured is None else {}
    fig.update_traces(nothing | dict(opacity=0.35), selector=dict(legendgroup="measured"))
    return fig.update_layout(width=None, height=480, **LAYOUT).update_layout(margin_t=35)


def _traces(label, points):
    """A path's line, the ring where it begins and the one where it ends; hovering tells Jain's
    index.
    """
    x, y = points.T
    told = ((x + y) ** 2 / np.maximum(2 * (x**2 + y**2), 1e-9))[:, None]
    return {
        f"{label}{name}": dict(x=x[part], y=y[part], customdata=told[part])
        for name, part in PARTS.items()
    }
