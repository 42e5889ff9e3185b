"""The constant of Mathis's model, estimated from measured runs."""

from typing import NamedTuple

import numpy as np

from netlab.models.on_frames import MATHIS_MOST_LOSS, mathis, mathis_labs

RESAMPLES = 10_000


class Fit(NamedTuple):
    """A constant, the ends of its confidence interval, and how many runs it comes from. [1]"""

    c: float
    low: float
    high: float
    runs: int

    def __str__(self):
        return f"C = {self.c:.2f} ({self.low:.2f} to {self.high:.2f}, {self.runs} runs)"


def fit_constant(runs, level=0.95):
    """The constant C with which `mathis_bps` fits measured runs best.

    Parameters
    ----------
    runs : pandas.DataFrame
        The columns that `netlab.models.mathis` takes, and ``received_bps`` [bit/s].
    level : float
        Confidence level of the interval, between 0 and 1. [1]

    Returns
    -------
    Fit
        The constant, and its confidence interval. [1]

    Raises
    ------
    ValueError
        Fewer than five runs are within the model's domain.

    Notes
    -----
    .. math:: \\ln C = \\frac{1}{n} \\sum_i \\ln \\frac{B_i}{K_i \\cdot 8\\,MSS_i / (RTT_i
    \\sqrt{p_i})}

    The geometric mean of measured over predicted throughput: least squares on a logarithmic axis.
    Only runs in the model's domain count: some loss, but at most `MATHIS_MOST_LOSS`, and a
    prediction of at most 80 % of the link. The interval comes from the bootstrap: the runs are
    drawn anew 10,000 times, with replacement and a fixed seed, and the interval holds the middle
    `level` of the means. It shows how much chance is in the runs, not whether the model is right.

    References
    ----------
    B. Efron, R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"mss_bytes": 1448, "base_rtt_s": 0.020, "streams": 1,
    ...                      "loss_rate": [1e-4, 1e-3] * 4})
    >>> print(fit_constant(runs.assign(received_bps=1.25 * mathis_labs(runs))))
    C = 1.25 (1.25 to 1.25, 8 runs)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be above 0 and below 1, not {level!r}")
    free = mathis(runs.assign(bottleneck_bps=np.inf))
    link = mathis(runs.assign(loss_rate=0.0))
    inside = runs[
        (runs.loss_rate > 0)
        & (runs.loss_rate <= MATHIS_MOST_LOSS)
        & (free <= 0.8 * link)
        & (runs.received_bps > 0)
    ]
    if len(inside) < 5:
        raise ValueError(
            f"{len(inside)} runs are within the domain of Mathis's model: a constant and its"
            " interval take five"
        )
    logs = np.log(inside.received_bps / mathis_labs(inside)).to_numpy()
    means = np.random.default_rng(1).choice(logs, (RESAMPLES, len(logs))).mean(axis=1)
    low, high = np.exp(np.quantile(means, [(1 - level) / 2, (1 + level) / 2]))
    return Fit(float(np.exp(logs.mean())), float(low), float(high), len(logs))


def log_error(runs, model):
    """Distance of a model from measured runs: mean of ``abs(ln(measured / predicted))``.

    Parameters
    ----------
    runs : pandas.DataFrame
        The columns that the model takes, and ``received_bps`` [bit/s].
    model : Model

    Returns
    -------
    float
        0 if all predictions are right, 0.10 if they are about 10 % too high or too low, 0.69 for a
        factor of two; NaN without runs. [1]
    """
    return float(np.abs(np.log(runs.received_bps / model(runs))).mean())
