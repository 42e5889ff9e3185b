"""Models bound to the columns of a frame of runs, as `netlab.plots.prediction` takes them."""

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
    """A model bound to a frame's columns, as `netlab.plots.prediction` takes it.

    Parameters
    ----------
    label : str
        What a legend calls it.
    predict : callable
        From a frame of runs to what all streams of each row carry; a missing column is a
        ``ValueError``. [bit/s]
    most_loss : float
        The highest loss rate at which it holds; beyond, figures are shaded. [1]

    Examples
    --------
    >>> import pandas as pd
    >>> twice = Model("twice the labs'", lambda runs: 2 * mathis_labs(runs))
    >>> runs = pd.DataFrame({"mss_bytes": [1448], "base_rtt_s": [0.020], "loss_rate": [0.01], "streams": [8]})
    >>> (twice(runs) / 1e6).tolist()
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
"""Where a sawtooth's top, :math:`\\sqrt{8/(3p)}`, is 8 segments: below, half a window holds fewer than the four segments whose
ACKs tell a loss without a timeout. [1]"""


def _bound(label, one_bps, most_loss=MATHIS_MOST_LOSS):
    """A model from what one stream carries, of its MSS, RTT and loss."""

    def predict(runs):
        # the link is no limit where its rate is infinite, or not known
        mss, link = runs["mss_bytes"], np.inf
        if "bottleneck_bps" in runs:
            rate = runs["bottleneck_bps"]
            # headers as in goodput_bps
            link = goodput_bps(rate.where(rate < np.inf), mss, mss + 66).fillna(np.inf)
        return parallel_bps(
            one_bps(mss, runs["base_rtt_s"], runs["loss_rate"]), runs["streams"], link
        )

    return Model(label, predict, most_loss)


mathis = _bound("Mathis, C = √(3/2)", partial(mathis_bps, c=MATHIS_C["periodic"]))
"""`mathis_bps` of the columns ``mss_bytes``, ``base_rtt_s``, ``loss_rate`` and ``streams``, periodic loss, each segment
acknowledged; never more than the link carries where there is a column ``bottleneck_bps``. Ignores queueing. [bit/s]"""

mathis_random = _bound("Mathis, C = 1.31 (random loss)", partial(mathis_bps, c=MATHIS_C["random"]))
"""As `mathis`, with the constant for random loss. [bit/s]"""

mathis_labs = _bound("Mathis, C = 1 (the labs)", partial(mathis_bps, c=MATHIS_C["labs"]))
"""As `mathis`, with the labs' constant. [bit/s]"""

padhye = _bound("Padhye, RTO = 0.2 s", padhye_bps, most_loss=1.0)
"""`padhye_bps` of the columns that `mathis` takes: each segment acknowledged, no limit of the window. [bit/s]"""

cubic = _bound("CUBIC (RFC 9438)", cubic_bps)
"""`cubic_bps` of the columns that `mathis` takes. [bit/s]"""
