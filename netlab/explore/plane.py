"""Explorer of additive increase, multiplicative decrease on Chiu and Jain's plane."""

import ipywidgets as widgets
import numpy as np
import pandas as pd

import netlab as nl
from netlab import plots
from netlab.explore._explorer import Explorer
from netlab.explore._parts import LAYOUT, real, whole
from netlab.models import goodput_bps
from netlab.plots._words import check_frame, short_number

PATH = dict(rate="100mbit", delay="20ms", burst=15_000, limit=250_000)
CAPACITY_BPS = goodput_bps(100e6)
STEPS = 200
# the line, and a ring at either end
PARTS = {"": slice(None), ", first": slice(0, 1), ", last": slice(-1, None)}


def aimd(measured=None):
    """Explorer of two AIMD flows: each adds while the link has room, and reduces when it overflows.

    Sliders: ``first`` and ``second``, the first rates of h1 and h3 [Mbit/s], ``increase`` [Mbit/s],
    ``decrease``, the share that a flow gives up [1], and ``step``. Buttons: ``back``, ``forth``,
    ``reset`` and ``play``.

    Parameters
    ----------
    measured : pandas.DataFrame, optional
        Throughputs of two flows to show, as `netlab.fairness.over_time` gives them: ``start_s``
        [s], ``flow`` and ``bps`` [bit/s].

    Notes
    -----
    A step of the model: if the sum of the two rates is above what the link carries, *each* flow
    gives up the same share of its rate; else each adds the same. The button runs two Reno flows for
    20 s at 100 Mbit/s over 20 ms, with a queue of 250 kB; a point per second is drawn.

    Examples
    --------
    >>> explorer = aimd()
    >>> explorer.step.value = 10
    >>> explorer.plain_sentence()
    "Step 10: 49.0 and 19.0 Mbit/s, Jain's index 0.84. ..."
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
        step, add, decrease = self.step.value, self.increase.value, self.decrease.value
        start, capacity = [self.first.value, self.second.value], CAPACITY_BPS / 1e6
        points = model(start, capacity, add, decrease, STEPS)
        x, y = points[step]
        following = f"there is room, each adds {short_number(add)} Mbit/s"
        if x + y > capacity:
            following = f"the link overflows, each gives up {100 * decrease:.0f} %"
        index = nl.jain_index([x, y])
        sentence = (
            f"<b>Step {step}: {x:.1f} and {y:.1f} Mbit/s, Jain's index {index:.2f}.</b> Next:"
            f" {following}."
        )
        return _traces("model", points[: step + 1]), sentence

    def experiment(self):
        reno = dict(congestion="reno", time=20, get_server_output=True)
        tests = [nl.Iperf3("h1", "h2", **reno), nl.Iperf3("h3", "h4", **reno)]
        return [nl.wan(**PATH), *tests], dict(seed=self.seed + 1)

    def settings(self):
        return "two Reno flows, 100 Mbit/s, RTT 20 ms"

    def add(self, result):
        self.seed = result.experiment.seed
        self.measured = nl.fairness.over_time(result.intervals, window_s=1)
        points = trajectory(self.measured)[["x_bps", "y_bps"]].to_numpy() / 1e6
        index = nl.jain_index(result.flows.received_bps)
        return _traces("measured", points), f"Jain's index of the whole run {index:.2f}"


def model(start, capacity, increase, decrease, steps):
    """The rates of two flows that both notice when the link overflows: shape (steps + 1, 2)."""
    points = [np.array(start, dtype=float)]
    for _ in range(steps):
        here = points[-1]
        points.append(here * (1 - decrease) if here.sum() > capacity else here + increase)
    return np.array(points)


def trajectory(measured):
    """Measured rates of two flows: ``time_s`` [s], ``x_bps``, ``y_bps`` [bit/s]; else one point."""
    if measured is None:
        return pd.DataFrame(dict(time_s=[0.0], x_bps=[1e6], y_bps=[1e6]))
    rates = measured.pivot(index="start_s", columns="flow", values="bps")
    if rates.shape[1] != 2:
        raise ValueError(
            f"aimd: measured must have two flows, not {', '.join(map(str, rates.columns))}"
        )
    return rates.set_axis(["x_bps", "y_bps"], axis=1).rename_axis("time_s").reset_index()


def _figure(measured):
    """`netlab.plots.plane`, with the measured trajectory faint."""
    both = {"model": trajectory(None), "measured": trajectory(measured)}
    fig = plots.plane(both, CAPACITY_BPS, flows=("h1", "h3"))
    for label in ("model", "measured"):
        for part, trace in zip(PARTS, fig.select_traces(dict(legendgroup=label)), strict=True):
            trace.update(name=f"{label}{part}", customdata=trace.customdata[:, :1])
    # JSON has no NaN; a trace without any point would disappear from the legend
    nothing = dict(x=[None], y=[None]) if measured is None else {}
    fig.update_traces(nothing | dict(opacity=0.35), selector=dict(legendgroup="measured"))
    return fig.update_layout(width=None, height=480, **LAYOUT).update_layout(margin_t=35)


def _traces(label, points):
    """A trajectory's line and the rings at its ends; hovering shows Jain's index."""
    x, y = points.T
    index = ((x + y) ** 2 / np.maximum(2 * (x**2 + y**2), 1e-9))[:, None]
    return {
        f"{label}{name}": dict(x=x[part], y=y[part], customdata=index[part])
        for name, part in PARTS.items()
    }
