"""Models that take their arguments from the columns of a frame of runs, and how well they fit."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from netlab.models.argument_checks import MATHIS_MOST_LOSS, model
from netlab.models.limits import goodput_bps
from netlab.models.loss import MATHIS_C, cubic_bps, mathis_bps, padhye_bps
from netlab.models.parallel import parallel_bps

RESAMPLES = 10_000


@dataclass(frozen=True)
class Model:
    """A model that takes its arguments from a frame of runs, for `netlab.plots.prediction`.

    Parameters
    ----------
    label : str
        Its name in a legend.
    predict : callable
        Takes a frame of runs, and gives the throughput of all streams of each row together [bit/s].
        A column that it misses is a ``ValueError``.
    most_loss : float
        The highest loss rate at which the model holds; figures shade what is beyond. [1]

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"mss_bytes": [1448], "base_rtt_s": 0.02, "loss_rate": 0.02})
    >>> for model in mathis, mathis_random, mathis_labs, padhye, cubic:
    ...     print(f"{model(runs.assign(streams=1))[0] / 1e6:.2f} Mbit/s: {model.label}")
    5.02 Mbit/s: Mathis, C = √(3/2)
    5.37 Mbit/s: Mathis, C = 1.31 (random loss)
    4.10 Mbit/s: Mathis, C = 1 (the labs)
    3.43 Mbit/s: Padhye, RTO = 0.2 s
    5.02 Mbit/s: CUBIC (RFC 9438)
    """

    label: str
    predict: Callable
    most_loss: float = 1.0

    @model(apart=["loss"])  # for which there is `most_loss`
    def __call__(self, frame):
        try:
            return self.predict(frame)
        except KeyError as error:
            raise ValueError(
                f"{self.label} needs the column {error}, not among {', '.join(map(str, frame))}"
            ) from None


def _model(label, one_bps, most_loss=MATHIS_MOST_LOSS):
    """A `Model` from a function of MSS, RTT and loss that gives the throughput of one stream."""

    def predict(runs):
        mss, link = runs["mss_bytes"], np.inf
        if "bottleneck_bps" in runs:  # no limit where it is infinite or unknown
            rate = runs["bottleneck_bps"]
            link = goodput_bps(rate.where(rate < np.inf), mss, mss + 66).fillna(np.inf)
        one = one_bps(mss, runs["base_rtt_s"], runs["loss_rate"])
        return parallel_bps(one, runs["streams"], link)

    return Model(label, predict, most_loss)


mathis = _model("Mathis, C = √(3/2)", partial(mathis_bps, c=MATHIS_C["periodic"]))
"""`mathis_bps` of the columns ``mss_bytes``, ``base_rtt_s``, ``loss_rate`` and ``streams``. [bit/s]

For periodic loss and an ACK per segment. With a column ``bottleneck_bps``, the result is at most
what the link carries. Ignores queueing. `Model` has an example."""

mathis_random = _model("Mathis, C = 1.31 (random loss)", partial(mathis_bps, c=MATHIS_C["random"]))
"""As `mathis`, with the constant for random loss. [bit/s]"""

mathis_labs = _model("Mathis, C = 1 (the labs)", partial(mathis_bps, c=MATHIS_C["labs"]))
"""As `mathis`, with the labs' constant. [bit/s]"""

padhye = _model("Padhye, RTO = 0.2 s", padhye_bps, most_loss=1.0)
"""`padhye_bps` of the columns that `mathis` takes: an ACK per segment, any window. [bit/s]"""

cubic = _model("CUBIC (RFC 9438)", cubic_bps)
"""`cubic_bps` of the columns that `mathis` takes. [bit/s]"""


class Fit(NamedTuple):
    """A constant, the ends of its 95 % interval, and the number of runs behind it. [1]

    Examples
    --------
    >>> print(Fit(1.21, 1.15, 1.28, 5))
    C = 1.21 (1.15 to 1.28, 5 runs)
    """

    c: float
    low: float
    high: float
    runs: int

    def __str__(self):
        return f"C = {self.c:.2f} ({self.low:.2f} to {self.high:.2f}, {self.runs} runs)"


def fit_constant(runs):
    """The constant C with which `mathis_bps` fits measured runs best.

    Parameters
    ----------
    runs : pandas.DataFrame
        The columns that `mathis` takes, and ``received_bps`` [bit/s].

    Returns
    -------
    Fit
        With fewer than five runs in the model's domain, ``ValueError``.

    Notes
    -----
    .. math:: \\ln C = \\frac{1}{n} \\sum_i \\ln \\frac{B_i}{K_i \\cdot 8\\,MSS_i / (RTT_i
        \\sqrt{p_i})}

    The geometric mean of measured over predicted throughput: least squares on a logarithmic axis.
    Only runs in the model's domain count: some loss, but at most `MATHIS_MOST_LOSS`, and a
    prediction of at most 80 % of the link. The interval is the middle 95 % of the means of
    10,000 bootstrap samples, drawn with a fixed seed. It shows how much chance is in the runs, not
    whether the model is right.

    Source: B. Efron, R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"mss_bytes": 1448, "base_rtt_s": [0.01, 0.02, 0.04, 0.08, 0.16]})
    >>> runs = runs.assign(loss_rate=1e-4, streams=1)
    >>> measured = mathis_labs(runs) * [1.2, 1.3, 1.2, 1.1, 1.2]
    >>> print(fit_constant(runs.assign(received_bps=measured)))
    C = 1.20 (1.14 to 1.26, 5 runs)
    """
    free, link = mathis(runs.assign(bottleneck_bps=np.inf)), mathis(runs.assign(loss_rate=0.0))
    lossy = (runs.loss_rate > 0) & (runs.loss_rate <= MATHIS_MOST_LOSS)
    inside = runs[lossy & (free <= 0.8 * link) & (runs.received_bps > 0)]
    if len(inside) < 5:
        raise ValueError(
            f"fit_constant needs five runs in the domain of Mathis's model, not {len(inside)}: some"
            f" loss, at most {MATHIS_MOST_LOSS:.2g}, and a link that is not full"
        )
    logs = np.log(inside.received_bps / mathis_labs(inside)).to_numpy()
    means = np.random.default_rng(1).choice(logs, (RESAMPLES, len(logs))).mean(axis=1)
    low, high = np.exp(np.quantile(means, [0.025, 0.975]))
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

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"mss_bytes": 1448, "base_rtt_s": [0.02, 0.04], "loss_rate": 1e-4})
    >>> runs = runs.assign(streams=1)
    >>> round(log_error(runs.assign(received_bps=1.1 * mathis(runs)), mathis), 2)
    0.1
    """
    return float(np.abs(np.log(runs.received_bps / model(runs))).mean())
