"""A sweep: what its runs measured over what was varied, beside what models say."""

from itertools import cycle

import numpy as np
from plotly.subplots import make_subplots

from netlab.plots._style import COLOURS, DASHES, FAINT, INK, SYMBOLS, finish, log_ticks, need, plural, prefix


def prediction(grid, models):
    """Throughput over loss, measured and as models have it, and the ratio of the two.

    Parameters
    ----------
    grid : pandas.DataFrame
        One row per run, as `netlab.sweep` gives: ``loss_rate`` [1], ``streams`` [1], ``seed``, ``received_bps`` [bit/s],
        ``mss_bytes`` [byte], ``base_rtt_s`` [s] and ``bottleneck_bps`` [bit/s]. Runs without loss have no place on a
        logarithmic axis: they are left out, and the title says how many.
    models : iterable of netlab.models.Model
        At least one, such as ``[models.mathis]``.

    Returns
    -------
    plotly.graph_objects.Figure
        Over the loss rate [%]: a point per run, and a line per model and number of streams [Gbit/s, Mbit/s, ...].
        Below: measured over predicted [1], a point per run and model, and a line through each model's medians.
    """
    path = ["streams", "mss_bytes", "base_rtt_s", "bottleneck_bps"]
    need("prediction", grid, "loss_rate", "seed", "received_bps", *path)
    runs, models = grid[grid.loss_rate > 0].sort_values("loss_rate", ignore_index=True), list(models)
    if not models:
        raise ValueError("prediction: models is empty, take [models.mathis]")
    if not runs.received_bps.max() > 0:
        raise ValueError("prediction: no run of the grid has loss_rate and received_bps above 0")
    scale, unit = prefix("bit/s", runs.received_bps.max())
    ratios = [runs.received_bps / model(runs) for model in models]
    looks = list(zip(models, ratios, cycle(DASHES), cycle(SYMBOLS), strict=False))
    colours = dict(zip(sorted(runs.streams.unique()), cycle(COLOURS), strict=False))
    fig = make_subplots(2, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.64, 0.36])
    above, below = dict(row=1, col=1), dict(row=2, col=1)
    losses = np.geomspace(runs.loss_rate.min() / 1.4, runs.loss_rate.max() * 1.4, 33)

    def curve(model, x, y, **look):
        fig.add_scatter(x=100 * x, y=y, name=model.label, mode="lines", legendgroup=model.label, hoverinfo="skip", **look)

    for (count, *_), same in runs.groupby(path, dropna=False):
        path_only = same.iloc[[0] * len(losses)].assign(loss_rate=losses)
        for model, _, dash, _ in looks:
            curve(model, losses, model(path_only) / scale, line=dict(color=colours[count], dash=dash), showlegend=False, **above)
    said = "".join(f"<br>%{{customdata[{n}]:.2f}} of {model.label}" for n, model in enumerate(models, 2))
    for count, own in runs.groupby("streams"):
        name, measured = plural(count, "stream"), own.received_bps / scale
        told = np.column_stack([own.seed, measured, *(ratio[own.index] for ratio in ratios)])
        hover = f"{name}, loss %{{x:.3~g}} %, seed %{{customdata[0]}}<br>%{{customdata[1]:.3~g}} {unit}{said}<extra></extra>"
        look = dict(x=100 * own.loss_rate, name=name, legendgroup=name, mode="markers", customdata=told, hovertemplate=hover)
        fig.add_scatter(y=measured, marker=dict(color=colours[count], size=9, line_color="white", line_width=1), **look, **above)
        for _, ratio, _, symbol in looks:
            marker = dict(color=colours[count], symbol=symbol, size=8)
            fig.add_scatter(y=ratio[own.index], marker=marker, showlegend=False, **look, **below)
    for model, ratio, dash, _ in looks:
        middle = ratio.groupby(runs.loss_rate).median()
        curve(model, middle.index, middle, line=dict(color=FAINT, dash=dash), legend="legend2", **below)
    fig.add_hline(1, line=dict(color=INK, width=1.5), **below)
    fig.update_xaxes(type="log", **log_ticks(100 * losses))
    fig.update_xaxes(title="loss rate [%]", **below)
    fig.update_yaxes(title=f"throughput [{unit}]", type="log", **log_ticks(runs.received_bps / scale), **above)
    fig.update_yaxes(title="measured /<br>predicted [1]", rangemode="tozero", **below)
    fig.update_layout(legend_title_text="measured", legend2=dict(title_text="predicted", tracegroupgap=0, y=0.34, yanchor="top"))
    subtitle = f"{lossless} runs without loss are not shown" if (lossless := len(grid) - len(runs)) else ""
    return finish(fig, "Throughput under loss", subtitle, height=680)
