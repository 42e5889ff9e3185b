"""Throughput over loss: what loss, the window and the link allow, and what is measured."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import netlab as nl
from netlab import units
from netlab.explore._explorer import (
    HERE,
    LAYOUT,
    LINES,
    MEASURED,
    MEASURED_SO,
    POINTS,
    Explorer,
    real,
    steps,
    whole,
)
from netlab.models import (
    MATHIS_C,
    buffer_limited_bps,
    goodput_bps,
    limited_bps,
    limiting,
    mathis_bps,
)
from netlab.plots._style import COLOURS, apply_style, check_frame, plural, short_number, with_unit
from netlab.running.sweep import rows

COLUMNS = [
    "streams",
    "loss_rate",
    "received_bps",
    "mss_bytes",
    "base_rtt_s",
    "bottleneck_bps",
    "seed",
]
LOSSES = np.geomspace(1e-5, 0.1, 81)
TIMESTAMPS_BYTES = 12  # iperf3's -M counts them, a segment's payload does not
HEADERS_BYTES = 66  # as in `goodput_bps`
SAME = "same settings"


def mathis(measured=None):
    """Throughput over the loss rate: move MSS, RTT, streams ... and see which limit binds.

    Parameters
    ----------
    measured : pandas.DataFrame, optional
        Points to show, a row per run, as `netlab.sweep` gives: ``streams`` [1], ``loss_rate`` [1],
        ``received_bps`` [bit/s], ``mss_bytes`` [byte], ``base_rtt_s`` [s], ``bottleneck_bps``
        [bit/s] and ``seed``. Runs without loss have no place on a logarithmic axis: they are left
        out, and the line below the figure says how many.

    Returns
    -------
    Explorer
        Its sliders are ``loss`` [1], ``streams`` [1], ``rtt`` [s], ``mss`` [byte], ``constant``
        [1], ``rate`` [bit/s] and ``window`` [byte].

    Notes
    -----
    The lines are `mathis_bps`, `buffer_limited_bps`, `goodput_bps`, and the least of the three.
    What is measured with the sliders' K, RTT, MSS, link and window is filled. The button runs Reno
    for 20 s, after 3 s that do not count. It sets socket buffers of twice the window, as the labs
    do; Linux makes windows of 0.98 to 1.17 times the slider's of them. "No limit", and whatever is
    given as `measured`, stands for Mininet's buffers, 16 MiB.
    """
    if measured is None:
        measured = pd.DataFrame(columns=COLUMNS, dtype=float)
    else:
        check_frame("mathis", measured, *COLUMNS)
    return Mathis(measured.assign(window_bytes=np.inf))


class Mathis(Explorer):
    def __init__(self, measured):
        sliders = {
            "loss": steps("loss rate", 0.001, 1e-5, 0.1, "%"),
            "streams": whole("streams K", 1, 1, 16),
            "rtt": steps("RTT", 0.02, 1e-3, 0.2, "s"),
            "mss": whole("MSS [byte]", 1448, 88, 1448, 8),
            "constant": real("constant C", round(MATHIS_C["periodic"], 2), 0.8, 1.4, 0.01),
            "rate": steps("link", 1e9, 1e8, 1e10, "bit/s"),
            "window": steps("window", np.inf, 5e4, 5e6, "byte", more=[("no limit", np.inf)]),
        }
        super().__init__(_figure(measured), sliders, measured)
        if lossless := len(measured) - (measured.loss_rate > 0).sum():
            self._say(f"{plural(lossless, 'run')} without loss not shown")

    def draw(self):
        mss, rtt, streams, window = (
            self.mss.value,
            self.rtt.value,
            self.streams.value,
            self.window.value,
        )
        path = dict(
            rate_bps=self.rate.value, window_bytes=window, c=self.constant.value, streams=streams
        )

        def limits_bps(loss):
            flat = np.ones_like(loss)
            return {
                "loss": mathis_bps(mss, rtt, loss, self.constant.value, streams),
                "window": buffer_limited_bps(window, rtt, streams) * flat,
                "link": goodput_bps(self.rate.value, mss, mss + HEADERS_BYTES) * flat,
            }

        curves, here = limits_bps(LOSSES), limits_bps(np.array([self.loss.value]))
        binding, least = (
            limiting(mss, rtt, self.loss.value, **path),
            limited_bps(mss, rtt, LOSSES, **path),
        )
        curves = {
            name: np.where(curve < np.inf, curve, np.nan) for name, curve in curves.items()
        } | {"all three": least}
        traces = {name: dict(x=100 * LOSSES, y=curve / 1e6) for name, curve in curves.items()}
        traces |= {
            SAME: _place(self.alike()),
            "sliders": dict(x=np.array([100 * self.loss.value]), y=here[binding] / 1e6),
        }
        told = {
            name: with_unit(limit[0], "bit/s") if limit[0] < np.inf else "anything"
            for name, limit in here.items()
        }
        verb = "gets" if self.streams.value == 1 else "get"
        said = (
            f"<b>{plural(self.streams.value, 'stream')} {verb} {told[binding]}: the {binding} is"
            " the limit.</b> "
        )
        return (
            traces,
            said + f"The loss allows {told['loss']}, the window {told['window']}, the link"
            f" {told['link']}.",
        )

    def alike(self):
        """What was measured with the sliders' settings, at any loss rate."""
        same = np.isclose(self.measured.mss_bytes, self.mss.value) & np.isclose(
            self.measured.base_rtt_s, self.rtt.value
        )
        same &= np.isclose(
            self.measured.bottleneck_bps, self.rate.value
        ) & self.measured.window_bytes.eq(self.window.value)
        return self.measured[same & self.measured.streams.eq(self.streams.value)]

    def experiment(self):
        mss, window, runs = self.mss.value, self.window.value, self.alike()
        path = dict(
            rate=units.format_rate(self.rate.value), delay=units.format_delay(self.rtt.value)
        )
        path |= dict(
            loss=units.format_fraction(self.loss.value),
            buffers=None if window == np.inf else round(2 * window),
            burst=5_000_000,  # as in the recorded runs
            limit=15_000_000,
        )
        size = None if mss == 1448 else mss + TIMESTAMPS_BYTES
        test = nl.Iperf3(
            "h1", "h2", parallel=self.streams.value, congestion="reno", mss=size, time=20, omit=3
        )
        taken = runs.seed[np.isclose(runs.loss_rate, self.loss.value)]
        return [nl.wan(**path, pairs=1), test], dict(seed=int(max(taken, default=0)) + 1)

    def add(self, result):
        buffers, asked = result.experiment.topology.buffers, result.experiment.traffic[0].mss
        new = rows({}, result.experiment, result).assign(
            window_bytes=np.inf if buffers is None else buffers / 2
        )
        if asked:
            new["mss_bytes"] = asked - TIMESTAMPS_BYTES
        self.measured = (
            new if self.measured.empty else pd.concat([self.measured, new], ignore_index=True)
        )
        return {"measured": _place(self.measured) | _hover(self.measured)}, with_unit(
            new.received_bps[0], "bit/s"
        )


def _place(runs):
    """Where runs lie; those without loss have no place."""
    runs = runs[runs.loss_rate > 0]
    return dict(x=100 * runs.loss_rate.to_numpy(float), y=runs.received_bps.to_numpy(float) / 1e6)


def _hover(runs):
    """What hovering tells of runs."""
    told = runs[runs.loss_rate > 0][
        ["streams", "base_rtt_s", "mss_bytes", "bottleneck_bps", "seed"]
    ]
    return dict(customdata=told.to_numpy(float) / [1, 1e-3, 1, 1e6, 1])


def _figure(measured):
    fig = go.Figure()

    def line(name, colour, width, dash="solid", rank=1):
        look = dict(color=colour, width=width, dash=dash)
        fig.add_scatter(name=name, mode="lines", line=look, hoverinfo="skip", legendrank=rank)

    line("all three", "#C9C9C9", 11, rank=2)
    line("loss", COLOURS[0], 3)
    line("window", COLOURS[2], 3, "dash")
    line("link", COLOURS[3], 3, "dot")
    hover = (
        "K = %{customdata[0]}, loss %{x:.3~g} %, RTT %{customdata[1]:.3~g} ms<br>MSS"
        " %{customdata[2]} byte, link "
    )
    hover += (
        "%{customdata[3]:,} Mbit/s, seed %{customdata[4]}<br>%{y:.4~g}"
        " Mbit/s<extra>measured</extra>"
    )
    points = _place(measured) | _hover(measured)
    look = dict(mode="markers", legend="legend2")
    fig.add_scatter(**points, name="measured", marker=MEASURED, hovertemplate=hover, **look)
    fig.add_scatter(name=SAME, marker=MEASURED_SO, hoverinfo="skip", **look)
    fig.add_scatter(
        name="sliders", marker=HERE, hovertemplate="%{x:.3~g} %: %{y:.4~g} Mbit/s", **look
    )
    loss, rate = [0.001, 0.01, 0.1, 1, 10], [0.1, 1, 10, 100, 1000, 10_000]
    xaxis = dict(
        title="loss rate [%]",
        type="log",
        range=[-3.05, 1.05],
        tickvals=loss,
        ticktext=list(map(short_number, loss)),
    )
    yaxis = dict(
        title="throughput [Mbit/s]",
        type="log",
        range=[-1.7, 4.3],
        tickvals=rate,
        ticktext=list(map(short_number, rate)),
    )
    lines = LINES | dict(title_text="allowed by")
    return apply_style(
        fig, xaxis=xaxis, yaxis=yaxis, height=440, **LAYOUT | dict(legend=lines, legend2=POINTS)
    )
