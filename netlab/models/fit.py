"""The constant of Mathis's model that runs themselves ask for."""

from typing import NamedTuple

import numpy as np

from netlab.models.on_frames import MATHIS_MOST_LOSS, mathis, mathis_labs

RESAMPLES = 10_000


class Fit(NamedTuple):
    """A constant, the ends of its interval, and how many runs it is from. [1]"""

    c: float
    low: float
    high: float
    runs: int

    def __str__(self):
        return f"C = {self.c:.2f} ({self.low:.2f} to {self.high:.2f}, {self.runs} runs)"


def fit_constant(runs, level=0.95):
    """The C with which `mathis_bps` fits runs best.

    Parameters
    ----------
    runs : pandas.DataFrame
        As `netlab.models.mathis` takes it, and ``received_bps`` [bit/s].
    level : float
        How sure the interval is to be, between 0 and 1. [1]

    Returns
    -------
    Fit
        The constant, and the interval that holds it. [1]

    Raises
    ------
    ValueError
        Fewer than five runs are within the model's domain.

    Notes
    -----
    .. math:: \\ln C = \\frac{1}{n} \\sum_i \\ln \\frac{B_i}{K_i \\cdot 8\\,MSS_i / (RTT_i
    \\sqrt{p_i})}

    The geometric mean of measured over predicted: least squares on a logarithmic axis. Only runs in
    the model's domain count: some loss, but no more than `Model.most_loss` of Mathis's, and a
    prediction of at most 80 % of the link. The interval is the bootstrap's: percentiles of the same
    mean over runs drawn anew, with replacement, 10,000 times from a fixed seed. It says how much
    the runs leave open, not whether the model is right.

    References
    ----------
    B. Efron, R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"mss_bytes": 1448, "base_rtt_s": 0.020, "loss_rate": [1e-4, 1e-3] * 4, "streams": 1})
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
    """How far a model is from runs, in either direction: the mean of ``abs(ln(measured /
    predicted))``.

    Parameters
    ----------
    runs : pandas.DataFrame
        As the model takes it, and ``received_bps`` [bit/s].
    model : Model

    Returns
    -------
    float
        0 where it is right, 0.10 for about 10 % off, 0.69 for a factor of two; NaN without runs.
        [1]
    """
    return float(np.abs(np.log(runs.received_bps / model(runs))).mean())
