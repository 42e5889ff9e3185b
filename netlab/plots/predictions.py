"""Runs of a sweep beside the predictions of models."""

from html import escape

import numpy as np
from plotly.subplots import make_subplots

from netlab.models import fit_constant, goodput_bps
from netlab.plots._style import COLOURS, DASHES, FAINT, INK, SYMBOLS, apply_style, each
from netlab.plots._words import check_frame, log_ticks, plural, short_number, unit_prefix, with_unit

ABOVE, BELOW = dict(row=1, col=1), dict(row=2, col=1)
PATH = ["streams", "mss_bytes", "base_rtt_s", "bottleneck_bps"]
RATES = {"loss_rate": "loss rate", "halving_rate": "window reductions per segment"}
SHADE = dict(fillcolor="#8C8C8C", opacity=0.15, line_width=0, layer="below")


def prediction(grid, models, rate="loss_rate", title=None):
    """Throughput over loss: measured, predicted by models, and the ratio of the two.

    Above, the throughput over the rate: each run, the mean and the range of those with the same
    loss rate and number of streams, and the models. Below, measured over predicted. Shaded: more
    than the link carries, and more loss than a model allows. The title has the constant C that fits
    best, with its 95 % interval, if five runs are in the domain of Mathis's model.

    Parameters
    ----------
    grid : pandas.DataFrame
        A row per run, as `netlab.sweep` gives: ``loss_rate`` [1], ``streams`` [1], ``seed``,
        ``received_bps`` [bit/s], ``mss_bytes`` [byte], ``base_rtt_s`` [s] and ``bottleneck_bps``
        [bit/s]. The title counts runs without loss or result, which have no place on the axes.
    models : iterable of netlab.models.Model
        At least one, such as ``[models.mathis]``.
    rate : {"loss_rate", "halving_rate"}
        What the models take as loss rate: that of the path, or window reductions per segment, which
        the kernel counts (see `Nstat`): the p of Mathis et al. where losses come in bursts. [1]
    title : str, optional
        Default: what the runs have in common.

    Examples
    --------
    >>> import pandas as pd
    >>> from netlab import models
    >>> path = dict(streams=1, seed=1, mss_bytes=1448, base_rtt_s=0.02, bottleneck_bps=1e9)
    >>> grid = pd.DataFrame({"loss_rate": [1e-4, 1e-3], "received_bps": [70e6, 22e6]})
    >>> prediction(grid.assign(**path), [models.mathis]).layout.yaxis.title.text
    'throughput [Mbit/s]'
    """
    if rate not in RATES:
        raise ValueError(f"prediction: rate must be one of {', '.join(RATES)}, not {rate!r}")
    check_frame("prediction", grid, "loss_rate", "seed", "received_bps", rate, *PATH)
    placed = (grid[rate] > 0) & (grid.received_bps > 0)
    runs = grid.assign(cell=grid.loss_rate, loss_rate=grid[rate])[placed]
    runs = runs.sort_values("loss_rate", ignore_index=True)
    models = list(models)
    if not models:
        raise ValueError("prediction: models is empty, take [models.mathis]")
    if runs.empty:
        raise ValueError(f"prediction: no run of the grid has {rate} and received_bps above 0")
    scale, unit = unit_prefix("bit/s", runs.received_bps.max())
    runs = runs.assign(measured=runs.received_bps / scale)
    ratios = [f"ratio {number}" for number, _ in enumerate(models)]
    for name, model in zip(ratios, models, strict=True):
        runs[name] = runs.received_bps / model(runs)
    fig = make_subplots(2, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.62, 0.38])
    losses = np.geomspace(runs.loss_rate.min() / 1.4, runs.loss_rate.max() * 1.4, 33)
    _lines(fig, runs, models, losses, scale)
    runs["hover"] = [
        _hover(run, rate, models, [run[name] for name in ratios]) for run in runs.to_dict("records")
    ]
    # In the lower panel the numbers of streams are side by side, and their models close together
    step = (losses[-1] / losses[0]) ** (1 / 55)
    middle = (runs.streams.nunique() - 1) / 2
    coloured = each(runs.groupby("streams"), COLOURS)
    for place, ((count, own), colour) in enumerate(coloured):
        look = dict(name=plural(count, "stream"), colour=colour)
        _points(fig, own, "measured", "circle", 1, ABOVE, **look)
        for number, (column, symbol) in enumerate(each(ratios, SYMBOLS)):
            shift = step ** (place - middle + 0.35 * number)
            _points(fig, own, column, symbol, shift, BELOW, **look)
    for column, model, dash in each(ratios, models, DASHES):
        means = runs.groupby("cell").agg(x=("loss_rate", _geometric_mean), y=(column, "mean"))
        look = dict(name=model.label, legendgroup=model.label, mode="lines")
        look |= dict(line=dict(color=FAINT, dash=dash), hoverinfo="skip")
        fig.add_scatter(x=100 * means.x, y=means.y, **look, **BELOW)
    fig.add_hline(1, line=dict(color=INK, width=1.5), **BELOW)
    _shade(fig, runs, models, losses, scale)
    ends = list(np.log10(100 * losses[[0, -1]]))
    fig.update_xaxes(type="log", range=ends, **log_ticks(100 * losses))
    fig.update_xaxes(title=f"{RATES[rate]} [%]", **BELOW)
    fig.update_yaxes(title=f"throughput [{unit}]", type="log", **log_ticks(runs.measured), **ABOVE)
    low, high = runs[ratios].min(axis=None), runs[ratios].max(axis=None)
    ends = [min(0.8, 0.95 * low), 1.05 * max(1, high)]
    fig.update_yaxes(title="measured /<br>predicted [1]", range=ends, **BELOW)
    subtitle = _subtitle(runs, len(grid) - len(runs))
    return apply_style(fig, title or _title(runs), subtitle, height=700)


def _title(runs):
    """What is shown, and what all runs have in common."""
    common = []
    for column, unit in (("congestion", None), ("base_rtt_s", "s"), ("bottleneck_bps", "bit/s")):
        values = runs[column].dropna().unique() if column in runs else []
        if len(values) == 1 and values[0] != np.inf:
            common.append(with_unit(values[0], unit) if unit else escape(str(values[0]), False))
    return ": ".join(["Throughput under loss", *[", ".join(common)] * bool(common)])


def _geometric_mean(values):
    return np.exp(np.log(values).mean())


def _lines(fig, runs, models, losses, scale):
    """Draw the models' predictions for each path, in the colour of its number of streams."""
    colours = dict(each(sorted(runs.streams.unique()), COLOURS))
    for (count, *_), same in runs.groupby(PATH, dropna=False):
        path_only = same.iloc[[0] * len(losses)].assign(loss_rate=losses)
        for model, dash in each(models, DASHES):
            look = dict(name=model.label, legendgroup=model.label, showlegend=False, mode="lines")
            look |= dict(line=dict(color=colours[count], dash=dash), hoverinfo="skip")
            fig.add_scatter(x=100 * losses, y=model(path_only) / scale, **look, **ABOVE)


def _hover(run, rate, models, ratios):
    """The text that hovering over a run shows: its experiment, and its ratios."""
    path = [plural(run["streams"], "stream"), with_unit(run["base_rtt_s"], "s")]
    if np.isfinite(run["bottleneck_bps"]):
        path.append(with_unit(run["bottleneck_bps"], "bit/s"))
    path += [escape(run["congestion"], False)] if isinstance(run.get("congestion"), str) else []
    place = f"{RATES[rate]} {short_number(100 * run['loss_rate'])} %, seed {run['seed']:g}"
    lines = [", ".join(path), place, with_unit(run["received_bps"], "bit/s")]
    pairs = zip(models, ratios, strict=True)
    return "<br>".join([*lines, *(f"{ratio:.2f} of {model.label}" for model, ratio in pairs)])


def _points(fig, own, column, symbol, shift, place, name, colour):
    """Draw the runs of one number of streams, and the mean and the range of each cell; `shift` is a
    factor on the x-axis, so that ranges do not hide each other.
    """
    shared = dict(name=name, legendgroup=name, mode="markers", **place)
    shared |= dict(hovertemplate="%{text}<extra></extra>")
    look = dict(marker=dict(color=colour, symbol=symbol, size=6, opacity=0.45), showlegend=False)
    fig.add_scatter(x=100 * shift * own.loss_rate, y=own[column], text=own.hover, **look, **shared)
    groups = own.groupby(["cell", *PATH[1:]], dropna=False)
    cells = groups[column].agg(["mean", "min", "max", "size"])
    text = [
        f"{name}: mean {short_number(mean)}, {short_number(low)} to {short_number(high)},"
        f" runs: {count:.0f}"
        for mean, low, high, count in cells.to_numpy()
    ]
    spread = dict(array=cells["max"] - cells["mean"], arrayminus=cells["mean"] - cells["min"])
    spread |= dict(color=colour, thickness=2, width=5)
    look = dict(marker=dict(color=colour, symbol=symbol, size=10), showlegend=place is ABOVE)
    x = 100 * shift * groups.loss_rate.agg(_geometric_mean)
    fig.add_scatter(x=x, y=cells["mean"], text=text, error_y=spread, **look, **shared)


def _shade(fig, runs, models, losses, scale):
    """Shade what is not possible (more than the link carries), and loss beyond a model's limit."""
    ends = zip(runs.bottleneck_bps, runs.mss_bytes, strict=True)
    links, most = {goodput_bps(rate, mss, mss + 66) for rate, mss in ends}, losses[-1]
    look = dict(yanchor="bottom", font=dict(color=FAINT, size=14), showarrow=False, **ABOVE)
    if len(links) == 1 and (link := links.pop() / scale) < 5 * runs.measured.max():
        fig.add_hrect(link, 3 * link, **SHADE, **ABOVE)
        text = dict(text=f"the link carries {short_number(link)}", xanchor="right")
        fig.add_annotation(x=np.log10(100 * most), y=np.log10(link), **text, **look)
        fig.update_yaxes(range=[np.log10(runs.measured.min() / 1.6), np.log10(1.6 * link)], **ABOVE)
    for limit in sorted({model.most_loss for model in models if model.most_loss < most}):
        limited = [model.label.partition(",")[0] for model in models if model.most_loss == limit]
        for place in (ABOVE, BELOW):
            fig.add_vrect(100 * limit, 100 * most, **SHADE, **place)
        text = dict(text=f"beyond {' and '.join(dict.fromkeys(limited))}", textangle=-90)
        text |= dict(xanchor="left", x=np.log10(100 * limit), y=0.02, yref="y domain")
        fig.add_annotation(**text, **look)


def _subtitle(runs, left_out):
    parts = [f"not shown: {plural(left_out, 'run')} without loss or result"] if left_out else []
    try:
        fit = fit_constant(runs)
    except ValueError:
        return "; ".join(parts)
    interval = f"{fit.low:.2f} to {fit.high:.2f}"
    best = f"Mathis fits best with C = {fit.c:.2f} (95 % interval: {interval}, {fit.runs} runs)"
    return "; ".join([best, *parts])
