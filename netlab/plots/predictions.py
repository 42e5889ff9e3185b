"""A sweep: what its runs measured over what was varied, beside what models say."""

from itertools import cycle

import numpy as np
from plotly.subplots import make_subplots

from netlab.models import fit_constant, goodput_bps
from netlab.plots._style import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    SYMBOLS,
    digits,
    finish,
    log_ticks,
    need,
    plural,
    prefix,
    say,
)

ABOVE, BELOW = dict(row=1, col=1), dict(row=2, col=1)
PATH = ["streams", "mss_bytes", "base_rtt_s", "bottleneck_bps"]
RATES = {"loss_rate": "loss rate", "halving_rate": "window reductions per segment"}
SHADE = dict(fillcolor="#8C8C8C", opacity=0.15, line_width=0, layer="below")


def prediction(grid, models, rate="loss_rate"):
    """Throughput over loss, measured and as models have it, and the ratio of the two.

    Parameters
    ----------
    grid : pandas.DataFrame
        One row per run, as `netlab.sweep` gives: ``loss_rate`` [1], ``streams`` [1], ``seed``,
        ``received_bps`` [bit/s], ``mss_bytes`` [byte], ``base_rtt_s`` [s] and ``bottleneck_bps``
        [bit/s]. Runs without loss have no place on a logarithmic axis, nor have those without a
        result: they are left out, and the title says how many.
    models : iterable of netlab.models.Model
        At least one, such as ``[models.mathis]``.
    rate : {"loss_rate", "halving_rate"}
        What the models take for the loss rate: the path's, or the kernel's own count of how often
        it reduced the window, which is the p of Mathis et al. where losses come in bursts (an
        `Nstat` counts it). [1]

    Returns
    -------
    plotly.graph_objects.Figure
        Over the rate [%]: per loss rate and number of streams the mean of the runs, their range,
        and each run; a line per model and number of streams [Gbit/s, Mbit/s, ...]. Below: measured
        over predicted [1], the same way, streams side by side, and a line through each model's
        means. Shaded: more than the link carries, and loss beyond what a model is for. The title
        has the C that fits best, with its 95 % interval, where five runs or more are within
        Mathis's domain.
    """
    if rate not in RATES:
        raise ValueError(f"prediction: rate must be one of {', '.join(RATES)}, not {rate!r}")
    need("prediction", grid, "loss_rate", "seed", "received_bps", rate, *PATH)
    placed = (grid[rate] > 0) & (grid.received_bps > 0)
    runs = grid.assign(cell=grid.loss_rate, loss_rate=grid[rate])[placed].sort_values(
        "loss_rate", ignore_index=True
    )
    models = list(models)
    if not models:
        raise ValueError("prediction: models is empty, take [models.mathis]")
    if runs.empty:
        raise ValueError(f"prediction: no run of the grid has {rate} and received_bps above 0")
    scale, unit = prefix("bit/s", runs.received_bps.max())
    runs = runs.assign(measured=runs.received_bps / scale)
    ratios = [f"ratio {number}" for number, _ in enumerate(models)]
    for name, model in zip(ratios, models, strict=True):
        runs[name] = runs.received_bps / model(runs)
    fig = make_subplots(2, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.62, 0.38])
    losses = np.geomspace(runs.loss_rate.min() / 1.4, runs.loss_rate.max() * 1.4, 33)
    _lines(fig, runs, models, losses, scale)
    runs["said"] = [
        _said(run, rate, models, [run[name] for name in ratios]) for run in runs.to_dict("records")
    ]
    step = (losses[-1] / losses[0]) ** (
        1 / 55
    )  # below, streams stand side by side, and each one's models close together
    middle = (runs.streams.nunique() - 1) / 2
    for place, ((count, own), colour) in enumerate(
        zip(runs.groupby("streams"), cycle(COLOURS), strict=False)
    ):
        look = dict(name=plural(count, "stream"), colour=colour)
        _points(fig, own, "measured", "circle", 1, ABOVE, **look)
        for number, (column, symbol) in enumerate(zip(ratios, cycle(SYMBOLS), strict=False)):
            _points(
                fig, own, column, symbol, step ** (place - middle + 0.35 * number), BELOW, **look
            )
    for column, model, dash in zip(ratios, models, cycle(DASHES), strict=False):
        means = runs.groupby("cell").agg(x=("loss_rate", _middle), y=(column, "mean"))
        fig.add_scatter(
            x=100 * means.x, y=means.y, name=model.label, mode="lines", legendgroup=model.label, hoverinfo="skip",
            line=dict(color=FAINT, dash=dash), legend="legend2", **BELOW,
        )  # fmt: skip
    fig.add_hline(1, line=dict(color=INK, width=1.5), **BELOW)
    _shade(fig, runs, models, losses, scale)
    fig.update_xaxes(
        type="log", range=list(np.log10(100 * losses[[0, -1]])), **log_ticks(100 * losses)
    )
    fig.update_xaxes(title=f"{RATES[rate]} [%]", **BELOW)
    fig.update_yaxes(title=f"throughput [{unit}]", type="log", **log_ticks(runs.measured), **ABOVE)
    fig.update_yaxes(
        title="measured /<br>predicted [1]",
        range=[
            min(0.8, 0.95 * runs[ratios].min(axis=None)),
            1.05 * max(1, runs[ratios].max(axis=None)),
        ],
        **BELOW,
    )
    fig.update_layout(
        legend_title_text="mean, range, runs",
        legend2=dict(title_text="predicted", tracegroupgap=0, y=0.36, yanchor="top"),
    )
    return finish(fig, "Throughput under loss", _subtitle(runs, len(grid) - len(runs)), height=700)


def _middle(values):
    return np.exp(np.log(values).mean())


def _lines(fig, runs, models, losses, scale):
    """What models say of every path, in the colour of its number of streams."""
    colours = dict(zip(sorted(runs.streams.unique()), cycle(COLOURS), strict=False))
    for (count, *_), same in runs.groupby(PATH, dropna=False):
        path_only = same.iloc[[0] * len(losses)].assign(loss_rate=losses)
        for model, dash in zip(models, cycle(DASHES), strict=False):
            fig.add_scatter(
                x=100 * losses, y=model(path_only) / scale, name=model.label, mode="lines", legendgroup=model.label,
                hoverinfo="skip", line=dict(color=colours[count], dash=dash), showlegend=False, **ABOVE,
            )  # fmt: skip


def _said(run, rate, models, ratios):
    """The experiment behind a point, for who hovers over it."""
    path = [plural(run["streams"], "stream"), say(run["base_rtt_s"], "s")]
    path += [say(run["bottleneck_bps"], "bit/s")] if np.isfinite(run["bottleneck_bps"]) else []
    path += [run["congestion"]] if isinstance(run.get("congestion"), str) else []
    place = f"{RATES[rate]} {digits(100 * run['loss_rate'])} %, seed {run['seed']:g}"
    told = [f"{ratio:.2f} of {model.label}" for model, ratio in zip(models, ratios, strict=True)]
    return "<br>".join([", ".join(path), place, say(run["received_bps"], "bit/s"), *told])


def _points(fig, own, column, symbol, aside, place, name, colour):
    """The runs of one number of streams, faint, and the mean and range of each cell's; drawn aside,
    so that ranges show.
    """
    shared = dict(
        name=name, legendgroup=name, mode="markers", hovertemplate="%{text}<extra></extra>", **place
    )
    marker = dict(color=colour, symbol=symbol, size=6, opacity=0.45)
    fig.add_scatter(
        x=100 * aside * own.loss_rate,
        y=own[column],
        text=own.said,
        marker=marker,
        showlegend=False,
        **shared,
    )
    cells = own.groupby(["cell", *PATH[1:]], dropna=False).agg(
        x=("loss_rate", _middle),
        y=(column, "mean"),
        low=(column, "min"),
        high=(column, "max"),
        runs=("seed", "size"),
    )
    text = [
        f"{name}: mean {digits(c.y)}, {digits(c.low)} to {digits(c.high)}, runs: {c.runs}"
        for c in cells.itertuples()
    ]
    spread = dict(
        array=cells.high - cells.y,
        arrayminus=cells.y - cells.low,
        color=colour,
        thickness=2,
        width=5,
    )
    marker = dict(color=colour, symbol=symbol, size=10)
    fig.add_scatter(
        x=100 * aside * cells.x,
        y=cells.y,
        text=text,
        marker=marker,
        error_y=spread,
        showlegend=place is ABOVE,
        **shared,
    )


def _shade(fig, runs, models, losses, scale):
    """Grey where a prediction does not hold: more than the link carries, and more loss than a model
    is for.
    """
    links = {
        goodput_bps(rate, mss, mss + 66)
        for rate, mss in zip(runs.bottleneck_bps, runs.mss_bytes, strict=True)
    }
    low = losses[-1]
    if len(links) == 1 and (link := links.pop() / scale) < 5 * runs.measured.max():
        text = dict(
            text=f"the link carries {digits(link)}",
            xanchor="right",
            yanchor="bottom",
            font=dict(color=FAINT, size=14),
        )
        fig.add_hrect(link, 3 * link, **SHADE, **ABOVE)
        fig.add_annotation(
            x=np.log10(100 * low), y=np.log10(link), showarrow=False, **text, **ABOVE
        )
        fig.update_yaxes(range=[np.log10(runs.measured.min() / 1.6), np.log10(1.6 * link)], **ABOVE)
    for limit in sorted({model.most_loss for model in models if model.most_loss < low}):
        names = " and ".join(
            dict.fromkeys(
                model.label.partition(",")[0] for model in models if model.most_loss == limit
            )
        )
        for place in (ABOVE, BELOW):
            fig.add_vrect(100 * limit, 100 * low, **SHADE, **place)
        text = dict(
            text=f"beyond {names}",
            textangle=-90,
            xanchor="left",
            yanchor="bottom",
            font=dict(color=FAINT, size=14),
        )
        fig.add_annotation(
            x=np.log10(100 * limit), y=0.02, yref="y domain", showarrow=False, **text, **ABOVE
        )


def _subtitle(runs, left_out):
    parts = [f"not shown: {plural(left_out, 'run')} without loss or result"] if left_out else []
    try:
        fit = fit_constant(runs)
    except ValueError:
        return "; ".join(parts)
    return "; ".join(
        [
            (
                f"Mathis fits best with C = {fit.c:.2f} (95 % interval: {fit.low:.2f} to"
                f" {fit.high:.2f}, {fit.runs} runs)"
            ),
            *parts,
        ]
    )
