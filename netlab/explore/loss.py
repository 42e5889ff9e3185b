"""Explorer of throughput over loss: the limits by loss, window and link, and measured runs."""

import numpy as np
import plotly.graph_objects as go

import netlab as nl
from netlab import models, units
from netlab.explore._explorer import Explorer
from netlab.explore._parts import add_points, checked, joined, real, steps, styled, whole
from netlab.models.argument_checks import model
from netlab.plots._style import COLOURS
from netlab.plots._words import plural, short_number, with_unit
from netlab.running.result import rows

HOVER = ["streams", "base_rtt_s", "mss_bytes", "bottleneck_bps", "seed"]
COLUMNS = [*HOVER, "loss_rate", "received_bps"]
LOSSES = np.geomspace(1e-5, 0.1, 81)
TIMESTAMPS_BYTES = 12  # iperf3's -M counts them, a segment's payload does not
HEADERS_BYTES = 66  # as in `goodput_bps`
SAME = "same settings"


def mathis(measured=None):
    """Explorer of throughput over the loss rate: change MSS, RTT, streams ... and see the limit.

    Sliders: ``loss`` [1], ``streams`` [1], ``rtt`` [s], ``mss`` [byte], ``constant`` [1], ``rate``
    [bit/s] and ``window`` [byte].

    Parameters
    ----------
    measured : pandas.DataFrame, optional
        Points to show, a row per run, as `netlab.sweep` gives: ``streams`` [1], ``loss_rate`` [1],
        ``received_bps`` [bit/s], ``mss_bytes`` [byte], ``base_rtt_s`` [s], ``bottleneck_bps``
        [bit/s] and ``seed``. Runs without loss, which a logarithmic axis cannot show, are counted.

    Notes
    -----
    The lines are `mathis_bps`, `buffer_limited_bps`, `goodput_bps`, and the lowest of the three.
    Filled points were measured with the K, RTT, MSS, link and window of the sliders. The button
    runs Reno for 20 s, after 3 s that do not count. It sets socket buffers of twice the window, as
    the labs do; with these Linux has windows of about 1.15 to 1.21 times the slider's value. "No
    limit" means Mininet's buffers of 16 MiB, which are also assumed for the runs in `measured`.

    Examples
    --------
    >>> explorer = mathis()
    >>> explorer.streams.value = 8
    >>> explorer.plain_sentence()
    '8 streams get 179 Mbit/s: the loss is the limit. ...'
    """
    return Mathis(checked("mathis", measured, COLUMNS).assign(window_bytes=np.inf))


class Mathis(Explorer):
    def __init__(self, measured):
        sliders = {
            "loss": steps("loss rate", 0.001, 1e-5, 0.1, "%"),
            "streams": whole("streams K", 1, 1, 16),
            "rtt": steps("RTT", 0.02, 1e-3, 0.2, "s"),
            "mss": whole("MSS [byte]", 1448, 88, 1448, 80),
            "constant": real("constant C", round(models.MATHIS_C["periodic"], 2), 0.8, 1.4, 0.01),
            "rate": steps("link", 1e9, 1e8, 1e10, "bit/s"),
            "window": steps("window", np.inf, 5e4, 5e6, "byte", more=[("no limit", np.inf)]),
        }
        super().__init__(_figure(measured), sliders, measured)
        if lossless := len(measured) - (measured.loss_rate > 0).sum():
            self._say(f"{plural(lossless, 'run')} without loss not shown")

    @model(apart=["loss"])  # the curves go on where timeouts matter
    def draw(self):
        mss, rtt, streams = self.mss.value, self.rtt.value, self.streams.value
        rate, window, c = self.rate.value, self.window.value, self.constant.value
        path = dict(rate_bps=rate, window_bytes=window, c=c, streams=streams)

        def limits_bps(loss):
            flat = np.ones_like(loss)
            return {
                "loss": models.mathis_bps(mss, rtt, loss, c, streams),
                "window": models.buffer_limited_bps(window, rtt, streams) * flat,
                "link": models.goodput_bps(rate, mss, mss + HEADERS_BYTES) * flat,
            }

        curves, here = limits_bps(LOSSES), limits_bps(np.array([self.loss.value]))
        limit = models.limiting(mss, rtt, self.loss.value, **path)
        curves = {name: np.where(bps < np.inf, bps, np.nan) for name, bps in curves.items()}
        curves["all three"] = models.limited_bps(mss, rtt, LOSSES, **path)
        traces = {name: dict(x=100 * LOSSES, y=bps / 1e6) for name, bps in curves.items()}
        traces[SAME] = _points(self.same_settings())
        traces["sliders"] = dict(x=np.array([100 * self.loss.value]), y=here[limit] / 1e6)
        text = {
            name: with_unit(bps[0], "bit/s") if bps[0] < np.inf else "anything"
            for name, bps in here.items()
        }
        verb = "gets" if streams == 1 else "get"
        sentence = (
            f"<b>{plural(streams, 'stream')} {verb} {text[limit]}: the {limit} is the limit.</b>"
            f" The loss allows {text['loss']}, the window {text['window']}, the link"
            f" {text['link']}."
        )
        return traces, sentence

    def same_settings(self):
        """The measured runs with the sliders' settings, at any loss rate."""
        runs = self.measured
        same = np.isclose(runs.mss_bytes, self.mss.value)
        same &= np.isclose(runs.base_rtt_s, self.rtt.value)
        same &= np.isclose(runs.bottleneck_bps, self.rate.value)
        same &= runs.window_bytes.eq(self.window.value) & runs.streams.eq(self.streams.value)
        return runs[same]

    def experiment(self):
        mss, window, runs = self.mss.value, self.window.value, self.same_settings()
        path = dict(
            rate=units.format_rate(self.rate.value),
            delay=units.format_delay(self.rtt.value),
            loss=units.format_fraction(self.loss.value),
            buffers=None if window == np.inf else round(2 * window),
        )
        size = None if mss == 1448 else mss + TIMESTAMPS_BYTES
        reno = dict(congestion="reno", mss=size, time=20, omit=3)
        test = nl.Iperf3("h1", "h2", parallel=self.streams.value, **reno)
        taken = runs.seed[np.isclose(runs.loss_rate, self.loss.value)]
        return [nl.wan(**path, pairs=1), test], dict(seed=int(max(taken, default=0)) + 1)

    def settings(self):
        parts = [plural(self.streams.value, "stream"), f"loss {self.loss.label}"]
        parts += [f"RTT {self.rtt.label}", f"MSS {self.mss.value} byte"]
        return ", ".join([*parts, f"link {self.rate.label}", f"window {self.window.label}"])

    def add(self, result):
        buffers, size = result.experiment.topology.buffers, result.experiment.traffic[0].mss
        new = rows({}, result.experiment, result)
        new["window_bytes"] = np.inf if buffers is None else buffers / 2
        if size:
            new["mss_bytes"] = size - TIMESTAMPS_BYTES
        self.measured = joined(self.measured, new)
        traces = {"measured": _points(self.measured) | _hover_data(self.measured)}
        return traces, with_unit(new.received_bps[0], "bit/s")


def _points(runs):
    runs = runs[runs.loss_rate > 0]
    return dict(x=100 * runs.loss_rate.to_numpy(float), y=runs.received_bps.to_numpy(float) / 1e6)


def _hover_data(runs):
    return dict(customdata=runs[runs.loss_rate > 0][HOVER].to_numpy(float) / [1, 1e-3, 1, 1e6, 1])


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
        " %{customdata[2]} byte, link %{customdata[3]:,} Mbit/s, seed %{customdata[4]}<br>%{y:.4~g}"
        " Mbit/s<extra>measured</extra>"
    )
    points = _points(measured) | _hover_data(measured)
    add_points(fig, points, SAME, hover, "%{x:.3~g} %: %{y:.4~g} Mbit/s")

    def axis(title, ends, ticks):
        texts = list(map(short_number, ticks))
        return dict(title=title, type="log", range=ends, tickvals=ticks, ticktext=texts)

    xaxis = axis("loss rate [%]", [-3.05, 1.05], [0.001, 0.01, 0.1, 1, 10])
    yaxis = axis("throughput [Mbit/s]", [-1.7, 4.3], [0.1, 1, 10, 100, 1000, 10_000])
    return styled(fig, xaxis, yaxis, lines="allowed by")
