"""Throughput of TCP connections according to theory: pure functions of SI numbers.

Every function takes scalars, arrays or Series and broadcasts them as numpy does. Scalars give a
float, a Series gives a Series. NaN means *missing*, and gives NaN. An argument that is outside its
range, or not a number, raises ``ValueError``. Arguments of one name mean the same in all functions;
`mathis_bps` explains ``mss_bytes``, ``rtt_s``, ``loss``, ``c`` and ``streams``.

Loss, the buffers and the link each limit a connection: `mathis_bps`, `buffer_limited_bps` and
`goodput_bps` say how far. `limited_bps` is the lowest of these limits, `limiting` names it, and
`bandwidth_delay_product_bytes` is the window that fills the path.

`mathis_bps`
    Reno that repairs each loss without a timeout; the caller chooses the constant (`MATHIS_C`).
`aimd_bps`
    The same for any increase per round trip and any decrease after a loss.
`cubic_bps`
    CUBIC, the default of Linux: like Reno where RTT or window are small, else faster.
`padhye_bps`
    Reno that often waits for a timeout; `padhye_simple_bps` is the usual approximation.
`parallel_bps`
    Equal streams: their rates add up until the link is full.
`hacker_bps`
    Streams that differ, along the last axis: their rates add up while the link is not full.
`altman_bps`
    Flows that fill a link without a queue, of which one at a time meets a loss.
`sawtooth_utilisation`
    How busy one flow keeps a link whose queue is shorter than its bandwidth-delay product.
`rtt_shares`
    How flows with different RTTs, along the last axis, share a bottleneck.
`affordable_loss`, `streams_needed`
    The highest loss rate at which a rate is reached, and the number of streams that reach it.
`slow_start_s`, `transfer_s`
    Time until slow start has reached a window, and until a file has arrived.

`slow_start_trace` and `aimd_trace` give a window over time: the start of a connection, and the
sawtooth behind the formulas for loss. They take scalars and give a frame.

A `Model` is one of these functions applied to the columns of a frame of runs: `mathis`,
`mathis_random`, `mathis_labs`, `padhye`, `cubic`. `fit_constant` finds the constant C that fits
measured runs best, and `log_error` tells how far a model is from them.
"""

from netlab.models.limits import limited_bps, limiting, streams_needed
from netlab.models.loss import MATHIS_C, affordable_loss, aimd_bps, cubic_bps, mathis_bps
from netlab.models.on_frames import (
    MATHIS_MOST_LOSS,
    Fit,
    Model,
    cubic,
    fit_constant,
    log_error,
    mathis,
    mathis_labs,
    mathis_random,
    padhye,
)  # fmt: skip
from netlab.models.parallel import altman_bps, hacker_bps, parallel_bps, rtt_shares
from netlab.models.path import (
    bandwidth_delay_product_bytes,
    buffer_limited_bps,
    goodput_bps,
    sawtooth_utilisation,
)
from netlab.models.startup import slow_start_s, transfer_s
from netlab.models.timeouts import padhye_bps, padhye_simple_bps
from netlab.models.traces import aimd_trace, slow_start_trace

__all__ = [
    "MATHIS_C", "MATHIS_MOST_LOSS", "Fit", "Model", "affordable_loss", "aimd_bps", "aimd_trace",
    "altman_bps", "bandwidth_delay_product_bytes", "buffer_limited_bps", "cubic", "cubic_bps",
    "fit_constant", "goodput_bps", "hacker_bps", "limited_bps", "limiting", "log_error", "mathis",
    "mathis_bps", "mathis_labs", "mathis_random", "padhye", "padhye_bps", "padhye_simple_bps",
    "parallel_bps", "rtt_shares", "sawtooth_utilisation", "slow_start_s", "slow_start_trace",
    "streams_needed", "transfer_s",
]  # fmt: skip
