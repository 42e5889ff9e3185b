"""What theory says a TCP connection carries: pure functions of SI numbers.

Every function takes scalars, arrays or Series and broadcasts them as numpy does; scalars give a
float, Series a Series. NaN means *missing*, and gives NaN. An argument that is outside its range,
or no number, raises ``ValueError``.

A connection gets the least of what loss, its buffers (`buffer_limited_bps`) and the link
(`goodput_bps`) allow: `limited_bps` is that least, `limiting` its name,
`bandwidth_delay_product_bytes` the window that fills the path.

====================
=========================================================================================
`mathis_bps`          Reno that repairs each loss without a timeout; the constant is yours to choose
(`MATHIS_C`) `aimd_bps`            the same for any gain per round trip and any share that remains
after a loss `cubic_bps`           CUBIC, the default of Linux: Reno where RTT or window are small,
else faster `padhye_bps`          Reno that often waits for a timeout; `padhye_simple_bps` is the
usual approximation `parallel_bps`        equal streams add up until the link is full `hacker_bps`
streams that differ add up, along the last axis, while the link is not full `altman_bps`
flows that fill a link without a queue and lose one at a time `rtt_shares`          flows whose
round trips differ, along the last axis, share a bottleneck `affordable_loss`     the loss rate at
which a rate is still carried `streams_needed`      how many streams a rate takes `slow_start_s`
the time until slow start has reached a window `transfer_s`          the time until a file has
arrived, connection set-up and slow start included
====================
=========================================================================================

`slow_start_trace` and `aimd_trace` draw a window over time: a connection's beginning, and the
sawtooth behind the formulas for loss. They take scalars and give a frame.

A `Model` is such a function bound to the columns of a frame of runs: `mathis`, `mathis_random`,
`mathis_labs`, `padhye`, `cubic`; `fit_constant` finds the C that runs ask for, `log_error` how far
a model is from them.
"""

from netlab.models.fit import Fit, fit_constant, log_error
from netlab.models.inverse import affordable_loss, streams_needed
from netlab.models.limits import limited_bps, limiting
from netlab.models.loss import MATHIS_C, aimd_bps, cubic_bps, mathis_bps
from netlab.models.on_frames import (
    MATHIS_MOST_LOSS,
    Model,
    cubic,
    mathis,
    mathis_labs,
    mathis_random,
    padhye,
)
from netlab.models.parallel import altman_bps, hacker_bps, parallel_bps, rtt_shares
from netlab.models.path import bandwidth_delay_product_bytes, buffer_limited_bps, goodput_bps
from netlab.models.startup import slow_start_s, transfer_s
from netlab.models.timeouts import padhye_bps, padhye_simple_bps
from netlab.models.traces import aimd_trace, slow_start_trace

__all__ = [
    "MATHIS_C",
    "MATHIS_MOST_LOSS",
    "Fit",
    "Model",
    "affordable_loss",
    "aimd_bps",
    "aimd_trace",
    "altman_bps",
    "bandwidth_delay_product_bytes",
    "buffer_limited_bps",
    "cubic",
    "cubic_bps",
    "fit_constant",
    "goodput_bps",
    "hacker_bps",
    "limited_bps",
    "limiting",
    "log_error",
    "mathis",
    "mathis_bps",
    "mathis_labs",
    "mathis_random",
    "padhye",
    "padhye_bps",
    "padhye_simple_bps",
    "parallel_bps",
    "rtt_shares",
    "slow_start_s",
    "slow_start_trace",
    "streams_needed",
    "transfer_s",
]
