"""Who gets what of one bottleneck: streams against streams, near against far."""

from collections import Counter

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import netlab as nl
from netlab.explore._explorer import (
    HERE,
    LAYOUT,
    LINES,
    MEASURED,
    MEASURED_SO,
    POINTS,
    Explorer,
    real,
    whole,
)
from netlab.models import rtt_shares
from netlab.plots._style import COLOURS, FAINT, apply_style, check_frame, short_number
from netlab.running.sweep import rows

COLUMNS = ["seed", "flow", "streams", "base_rtt_s", "received_bps"]
RATIOS = np.linspace(1, 8, 71)
# a quarter of the BDP, as in notebook 5
PATH = dict(rate="100mbit", delay="20ms", burst=15_000, limit=62_500)
RTT_MS = 20
SAME = "same N and M"
EVEN = "without RTT bias"


def fairness(measured=None):
    """Who gets what: N flows of h1 against M flows of h3, whose round trips are longer, on one
    bottleneck.

    Parameters
    ----------
    measured : pandas.DataFrame, optional
        Runs to show, as `netlab.sweep` gives experiments of two iperf3 tests: for each run the row
        of flow 1 and then that of flow 2, with ``seed``, ``flow``, ``streams`` [1], ``base_rtt_s``
        [s] and ``received_bps`` [bit/s].

    Returns
    -------
    Explorer
        Its sliders are ``mine`` (N) and ``theirs`` (M) [1], ``ratio``, h3's RTT over h1's [1], and
        ``exponent`` [1].

    Notes
    -----
    The line is `rtt_shares` of the RTTs without queueing. The button runs Reno at 100 Mbit/s, for
    60 s after 5 s that do not count, with an RTT of 20 ms for h1 and a queue of 62.5 kB, 5 ms: in a
    long queue all would wait for about as long, and the RTTs be alike.
    """
    if measured is None:
        measured = pd.DataFrame(columns=COLUMNS, dtype=float)
    else:
        check_frame("fairness", measured, *COLUMNS)
    return Fairness(measured)


class Fairness(Explorer):
    def __init__(self, measured):
        sliders = {
            "mine": whole("N, of h1", 1, 1, 16),
            "theirs": whole("M, of h3", 1, 1, 16),
            "ratio": real("RTT h3 / h1", 4, 1, 8, 0.5, ".1f"),
            "exponent": real("exponent e", 1, 1, 2, 0.1, ".1f"),
        }
        # those taken, by N, M and ratio; what is given as measured may be of another network
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
            SAME: _place(found[(found.mine == mine) & (found.theirs == theirs)]),
            "sliders": dict(x=np.array([ratio]), y=100 * share),
        }
        share, times = float(share[0]), short_number(ratio**self.exponent.value)
        index = nl.jain_index([share / mine] * mine + [(1 - share) / theirs] * theirs)
        said = (
            f"<b>h1 gets {100 * share:.0f} %, h3 {100 - 100 * share:.0f} %.</b> A flow of h1 gets"
            f" {times} times what one of "
        )
        return traces, said + f"h3 gets; Jain's index of the {mine + theirs} flows is {index:.2f}."

    def experiment(self):
        mine, theirs, ratio = self.mine.value, self.theirs.value, self.ratio.value
        access = {"h3": f"{RTT_MS * (ratio - 1):g}ms"} if ratio > 1 else None
        reno = dict(congestion="reno", time=60, omit=5)
        tests = [
            nl.Iperf3("h1", "h2", parallel=mine, **reno),
            nl.Iperf3("h3", "h4", parallel=theirs, **reno),
        ]
        return [nl.wan(**PATH, access=access), *tests], dict(
            seed=self.seeds[mine, theirs, ratio] + 1
        )

    def add(self, result):
        new = rows({}, result.experiment, result)
        self.measured = (
            new if self.measured.empty else pd.concat([self.measured, new], ignore_index=True)
        )
        (mine, theirs, ratio, share, _), found = runs(new).iloc[0], runs(self.measured)
        self.seeds[mine, theirs, round(ratio, 6)] += 1
        return {
            "measured": _place(found) | _hover(found)
        }, f"h1 got {100 * share:.0f} %, h3 {100 - 100 * share:.0f} %"


def runs(measured):
    """A row per run of a sweep's two flows.

    Returns
    -------
    DataFrame
        ``mine``, ``theirs``: streams of flow 1 and 2 [1]; ``ratio`` of the RTTs, flow 2's over flow
        1's [1]; ``share`` of flow 1 [1]; ``seed``.
    """
    if (list(measured.flow) != [1, 2] * (len(measured) // 2)) or (
        measured.seed[::2].to_numpy() != measured.seed[1::2]
    ).any():
        raise ValueError(
            "fairness: measured must have the rows of flow 1 and flow 2 for each run, one after the"
            " other"
        )
    one, two = (measured[first::2].reset_index(drop=True) for first in (0, 1))
    share = one.received_bps / (one.received_bps + two.received_bps)
    ratio = two.base_rtt_s / one.base_rtt_s
    return pd.DataFrame(
        dict(mine=one.streams, theirs=two.streams, ratio=ratio, share=share, seed=one.seed)
    )


def _place(found):
    """Where runs lie."""
    return dict(x=found.ratio.to_numpy(float), y=100 * found.share.to_numpy(float))


def _hover(found):
    """What hovering tells of runs."""
    return dict(customdata=found[["mine", "theirs", "seed"]].to_numpy(float))


def _figure(found):
    fig = go.Figure()
    fig.add_scatter(
        name="h1's share", mode="lines", line=dict(color=COLOURS[0], width=4), hoverinfo="skip"
    )
    fig.add_scatter(
        name=EVEN, mode="lines", line=dict(color=FAINT, width=2, dash="dash"), hoverinfo="skip"
    )
    look = dict(mode="markers", cliponaxis=False, legend="legend2")
    hover = (
        "%{customdata[0]} against %{customdata[1]}, RTTs 1 : %{x:.3~g}, seed %{customdata[2]}<br>h1"
        " got %{y:.1f} %"
    )
    fig.add_scatter(
        **_place(found) | _hover(found),
        name="measured",
        marker=MEASURED,
        hovertemplate=hover,
        **look,
    )
    fig.add_scatter(name=SAME, marker=MEASURED_SO, hoverinfo="skip", **look)
    fig.add_scatter(
        name="sliders",
        marker=HERE,
        hovertemplate="RTTs 1 : %{x:.3~g}<br>h1 gets %{y:.1f} %",
        **look,
    )
    xaxis = dict(title="RTT of h3 / RTT of h1 [1]", range=[0.8, 8.2], dtick=1)
    yaxis = dict(title="h1's share [%]", range=[0, 100], dtick=20)
    return apply_style(
        fig, xaxis=xaxis, yaxis=yaxis, height=440, **LAYOUT | dict(legend=LINES, legend2=POINTS)
    )
