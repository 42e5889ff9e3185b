"""Models that take their arguments from the columns of a frame of runs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from netlab.models.loss import MATHIS_C, cubic_bps, mathis_bps
from netlab.models.parallel import parallel_bps
from netlab.models.path import goodput_bps
from netlab.models.timeouts import padhye_bps


@dataclass(frozen=True)
class Model:
    """A model that takes its arguments from a frame of runs, for `netlab.plots.prediction`.

    Parameters
    ----------
    label : str
        Its name in a legend.
    predict : callable
        Takes a frame of runs, and gives the throughput of all streams of each row together. The
        `Model` turns a missing column into a ``ValueError``. [bit/s]
    most_loss : float
        The highest loss rate at which the model holds; figures shade what is beyond. [1]

    Examples
    --------
    >>> import pandas as pd
    >>> twice = Model("twice the labs'", lambda runs: 2 * mathis_labs(runs))
    >>> run = {"mss_bytes": 1448, "base_rtt_s": 0.020, "loss_rate": 0.01, "streams": 8}
    >>> (twice(pd.DataFrame([run])) / 1e6).tolist()
    [92.672]
    """

    label: str
    predict: Callable
    most_loss: float = 1.0

    def __call__(self, frame):
        try:
            return self.predict(frame)
        except KeyError as error:
            raise ValueError(
                f"{self.label} needs the column {error}, not among {', '.join(map(str, frame))}"
            ) from None


MATHIS_MOST_LOSS = 8 / (3 * 8**2)
"""The highest loss rate at which Mathis's model holds: 4 %. [1]

There the top of the sawtooth, :math:`\\sqrt{8/(3p)}`, is 8 segments. With more loss, half a window
is less than the four segments that a sender needs to notice a loss without a timeout."""


def _model(label, one_bps, most_loss=MATHIS_MOST_LOSS):
    """A `Model` from a function of MSS, RTT and loss that gives the throughput of one stream."""

    def predict(runs):
        # the link is no limit where its rate is infinite or unknown
        mss, link = runs["mss_bytes"], np.inf
        if "bottleneck_bps" in runs:
            rate = runs["bottleneck_bps"]
            # headers as in goodput_bps
            link = goodput_bps(rate.where(rate < np.inf), mss, mss + 66).fillna(np.inf)
        one = one_bps(mss, runs["base_rtt_s"], runs["loss_rate"])
        return parallel_bps(one, runs["streams"], link)

    return Model(label, predict, most_loss)


mathis = _model("Mathis, C = √(3/2)", partial(mathis_bps, c=MATHIS_C["periodic"]))
"""`mathis_bps` of the columns ``mss_bytes``, ``base_rtt_s``, ``loss_rate`` and ``streams``. [bit/s]

For periodic loss and an ACK per segment. With a column ``bottleneck_bps``, the result is at most
what the link carries. Ignores queueing."""

mathis_random = _model("Mathis, C = 1.31 (random loss)", partial(mathis_bps, c=MATHIS_C["random"]))
"""As `mathis`, with the constant for random loss. [bit/s]"""

mathis_labs = _model("Mathis, C = 1 (the labs)", partial(mathis_bps, c=MATHIS_C["labs"]))
"""As `mathis`, with the labs' constant. [bit/s]"""

padhye = _model("Padhye, RTO = 0.2 s", padhye_bps, most_loss=1.0)
"""`padhye_bps` of the columns that `mathis` takes: an ACK per segment, any window. [bit/s]"""

cubic = _model("CUBIC (RFC 9438)", cubic_bps)
"""`cubic_bps` of the columns that `mathis` takes. [bit/s]"""
