"""Throughput of TCP connections according to theory: pure functions of SI numbers.

Every function takes scalars, arrays or Series and broadcasts them as numpy does. Scalars give a
float, a Series gives a Series. NaN means *missing*, and gives NaN. An argument that is outside its
range, or not a number, raises ``ValueError``. One that a formula takes, but that is outside the
domain in which the model holds, makes one `ModelWarning` for the call: an RTT above 3 s, a timeout
above 120 s, an MSS below 88 or above 65,535 bytes, a loss above `MATHIS_MOST_LOSS` (0.5 in
`padhye_bps` and `padhye_simple_bps`), a window above 0 but below 88 bytes. Often it is another
unit. A throughput is that of all streams together. The unit of a result ends the first sentence.
Arguments of one name mean the same in all functions: `mathis_bps` explains ``mss_bytes``,
``rtt_s``, ``loss``, ``c`` and ``streams``, `aimd_bps` ``beta``, `buffer_limited_bps`
``window_bytes`` and `goodput_bps` ``rate_bps``.

- Loss, the buffers and the link each limit a connection: `mathis_bps`, `buffer_limited_bps`,
  `goodput_bps`. `limited_bps` is the lowest of these limits, `limiting` names it.
- Other laws of loss: `aimd_bps` (any increase and decrease), `cubic_bps` (the default of Linux),
  `padhye_bps` and `padhye_simple_bps` (Reno with timeouts).
- Several streams: `parallel_bps` (equal ones, until the link is full), `hacker_bps` (that differ),
  `altman_bps` (on a link without a queue), `rtt_shares` (of different RTTs),
  `bbr_share` (of BBR beside Reno or CUBIC).
- The path: `bandwidth_delay_product_bytes`, `sawtooth_utilisation` (of a link with a short queue).
- The inverse: `affordable_loss`, `streams_needed`.
- Time: `slow_start_s`, `transfer_s`; `slow_start_trace` and `aimd_trace` give a window over time,
  as a frame.

A `Model` is one of these functions applied to the columns of a frame of runs: `mathis`,
`mathis_random`, `mathis_labs`, `padhye`, `cubic`. `fit_constant` finds the constant C that fits
measured runs best, and `log_error` says how far a model is from them.
"""

from netlab.models.limits import (
    bandwidth_delay_product_bytes,
    buffer_limited_bps,
    goodput_bps,
    limited_bps,
    limiting,
    sawtooth_utilisation,
    streams_needed,
)
from netlab.models.loss import (
    MATHIS_C,
    affordable_loss,
    aimd_bps,
    cubic_bps,
    mathis_bps,
    padhye_bps,
    padhye_simple_bps,
)
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
from netlab.models.parallel import altman_bps, bbr_share, hacker_bps, parallel_bps, rtt_shares
from netlab.models.startup import aimd_trace, slow_start_s, slow_start_trace, transfer_s

__all__ = [
    "MATHIS_C", "MATHIS_MOST_LOSS", "Fit", "Model", "affordable_loss", "aimd_bps", "aimd_trace",
    "altman_bps", "bandwidth_delay_product_bytes", "bbr_share", "buffer_limited_bps", "cubic",
    "cubic_bps", "fit_constant", "goodput_bps", "hacker_bps", "limited_bps", "limiting",
    "log_error", "mathis", "mathis_bps", "mathis_labs", "mathis_random", "padhye", "padhye_bps",
    "padhye_simple_bps", "parallel_bps", "rtt_shares", "sawtooth_utilisation", "slow_start_s",
    "slow_start_trace", "streams_needed", "transfer_s",
]  # fmt: skip
