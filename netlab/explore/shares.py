"""Explorer of the shares of one bottleneck: numbers of streams, and short against long RTTs."""

from collections import Counter

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import netlab as nl
from netlab.explore._explorer import Explorer
from netlab.explore._parts import add_points, checked, joined, real, styled, whole
from netlab.models import rtt_shares
from netlab.plots._style import COLOURS, FAINT
from netlab.plots._words import short_number
from netlab.running.result import rows

COLUMNS = ["seed", "flow", "streams", "base_rtt_s", "received_bps"]
RATIOS = np.linspace(1, 8, 71)
# a quarter of the BDP, as in notebook 5
PATH = dict(rate="100mbit", delay="20ms", burst=15_000, limit=62_500)
RTT_MS = 20
SAME = "same N and M"
EVEN = "without RTT bias"


def fairness(measured=None):
    """Explorer of shares: N flows of h1 against M flows of h3, which have a longer RTT.

    Sliders: ``mine`` (N), ``theirs`` (M), ``ratio``, h3's RTT over h1's, ``exponent``. [1]

    Parameters
    ----------
    measured : pandas.DataFrame, optional
        Runs to show, as `netlab.sweep` gives them for two iperf3 tests: for each run the row of
        flow 1 and then that of flow 2, with ``seed``, ``flow``, ``streams`` [1], ``base_rtt_s`` [s]
        and ``received_bps`` [bit/s].

    Notes
    -----
    The line is `rtt_shares` of the RTTs without queueing. The button runs Reno at 100 Mbit/s for
    60 s, after 5 s that do not count. The RTT of h1 is 20 ms. The queue holds 62.5 kB (5 ms): a
    long queue would add the same long delay to both RTTs, so that their ratio would be near 1.

    Examples
    --------
    >>> explorer = fairness()
    >>> explorer.theirs.value = 4
    >>> explorer.plain_sentence()
    "h1 gets 50 %, h3 50 %. A flow of h1 gets 4 times what one of h3 gets; ..."
    """
    return Fairness(checked("fairness", measured, COLUMNS))


class Fairness(Explorer):
    def __init__(self, measured):
        sliders = {
            "mine": whole("N, of h1", 1, 1, 16),
            "theirs": whole("M, of h3", 1, 1, 16),
            "ratio": real("RTT h3 / h1", 4, 1, 8, 0.5, ".1f"),
            "exponent": real("exponent e", 1, 1, 2, 0.1, ".1f"),
        }
        # number of runs by N, M and ratio, for the next seed; `measured` may have another network
        self.seeds = Counter()
        super().__init__(_figure(runs(measured)), sliders, measured)

    def share(self, ratio):
        """h1's share at an array of RTT ratios. [1]"""
        rtts = np.stack([np.ones_like(ratio), ratio], axis=-1)
        return rtt_shares(rtts, [self.mine.value, self.theirs.value], self.exponent.value)[..., 0]

    def draw(self):
        mine, theirs, ratio = self.mine.value, self.theirs.value, self.ratio.value
        share, found = self.share(np.array([ratio])), runs(self.measured)
        traces = {
            "h1's share": dict(x=RATIOS, y=100 * self.share(RATIOS)),
            EVEN: dict(x=RATIOS[[0, -1]], y=np.full(2, 100 * mine / (mine + theirs))),
            SAME: _points(found[(found.mine == mine) & (found.theirs == theirs)]),
            "sliders": dict(x=np.array([ratio]), y=100 * share),
        }
        share, times = float(share[0]), short_number(ratio**self.exponent.value)
        index = nl.jain_index([share / mine] * mine + [(1 - share) / theirs] * theirs)
        sentence = (
            f"<b>h1 gets {100 * share:.0f} %, h3 {100 - 100 * share:.0f} %.</b> A flow of h1 gets"
            f" {times} times what one of h3 gets; Jain's index of the {mine + theirs} flows is"
            f" {index:.2f}."
        )
        return traces, sentence

    def experiment(self):
        mine, theirs, ratio = self.mine.value, self.theirs.value, self.ratio.value
        access = {"h3": f"{RTT_MS * (ratio - 1):g}ms"} if ratio > 1 else None
        reno = dict(congestion="reno", time=60, omit=5)
        tests = [
            nl.Iperf3("h1", "h2", parallel=mine, **reno),
            nl.Iperf3("h3", "h4", parallel=theirs, **reno),
        ]
        seed = self.seeds[mine, theirs, ratio] + 1
        return [nl.wan(**PATH, access=access), *tests], dict(seed=seed)

    def settings(self):
        return f"N = {self.mine.value}, M = {self.theirs.value}, RTTs 1 : {self.ratio.value:g}"

    def add(self, result):
        new = rows({}, result.experiment, result)
        self.measured = joined(self.measured, new)
        (mine, theirs, ratio, share, _), found = runs(new).iloc[0], runs(self.measured)
        self.seeds[mine, theirs, round(ratio, 6)] += 1
        text = f"h1 got {100 * share:.0f} %, h3 {100 - 100 * share:.0f} %"
        return {"measured": _points(found) | _hover_data(found)}, text


def runs(measured):
    """A row per run, from a row per flow: ``mine`` and ``theirs``, the streams of flow 1 and flow 2
    [1]; ``ratio``, the RTT of flow 2 over that of flow 1 [1]; ``share`` of flow 1 [1]; ``seed``.
    """
    in_pairs = list(measured.flow) == [1, 2] * (len(measured) // 2)
    if not in_pairs or (measured.seed[::2].to_numpy() != measured.seed[1::2]).any():
        raise ValueError(
            "fairness: measured must have the rows of flow 1 and flow 2 for each run, one after the"
            " other"
        )
    one, two = (measured[first::2].reset_index(drop=True) for first in (0, 1))
    share = one.received_bps / (one.received_bps + two.received_bps)
    ratio = two.base_rtt_s / one.base_rtt_s
    columns = dict(mine=one.streams, theirs=two.streams, ratio=ratio, share=share, seed=one.seed)
    return pd.DataFrame(columns)


def _points(found):
    return dict(x=found.ratio.to_numpy(float), y=100 * found.share.to_numpy(float))


def _hover_data(found):
    return dict(customdata=found[["mine", "theirs", "seed"]].to_numpy(float))


def _figure(found):
    fig, look = go.Figure(), dict(mode="lines", hoverinfo="skip")
    fig.add_scatter(name="h1's share", line=dict(color=COLOURS[0], width=4), **look)
    fig.add_scatter(name=EVEN, line=dict(color=FAINT, width=2, dash="dash"), **look)
    hover = (
        "%{customdata[0]} against %{customdata[1]}, RTTs 1 : %{x:.3~g}, seed %{customdata[2]}<br>h1"
        " got %{y:.1f} %"
    )
    slider_hover = "RTTs 1 : %{x:.3~g}<br>h1 gets %{y:.1f} %"
    measured = _points(found) | _hover_data(found)
    add_points(fig, measured, SAME, hover, slider_hover, cliponaxis=False)
    xaxis = dict(title="RTT of h3 / RTT of h1 [1]", range=[0.8, 8.2], dtick=1)
    return styled(fig, xaxis, dict(title="h1's share [%]", range=[0, 100], dtick=20))
