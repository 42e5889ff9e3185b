"""What theory says a TCP connection carries: pure functions of SI numbers.

Every function takes scalars, arrays or Series and broadcasts them as numpy does; scalars give a float, Series a Series.
NaN means *missing*, and gives NaN. An argument that is outside its range, or no number, raises ``ValueError``.

A connection gets the least of what loss, its buffers (`buffer_limited_bps`) and the link (`goodput_bps`) allow;
`parallel_bps` puts several on one link; `aimd_trace` draws the sawtooth behind the formulas for loss:

====================  =========================================================================================
`mathis_bps`          Reno that repairs each loss without a timeout; the constant is yours to choose (`MATHIS_C`)
`aimd_bps`            the same for any gain per round trip and any share that remains after a loss
`cubic_bps`           CUBIC, the default of Linux: Reno where RTT or window are small, else faster
`padhye_bps`          Reno that often waits for a timeout; `padhye_simple_bps` is the usual approximation
====================  =========================================================================================

A `Model` is such a function bound to the columns of a frame of runs: `mathis`, `mathis_labs`, `padhye`, `cubic`.
"""

from netlab.models.bound import Model, cubic, mathis, mathis_labs, padhye
from netlab.models.loss import MATHIS_C, aimd_bps, cubic_bps, mathis_bps
from netlab.models.path import bandwidth_delay_product_bytes, buffer_limited_bps, goodput_bps, parallel_bps
from netlab.models.timeouts import padhye_bps, padhye_simple_bps
from netlab.models.traces import aimd_trace

__all__ = [
    "MATHIS_C",
    "Model",
    "aimd_bps",
    "aimd_trace",
    "bandwidth_delay_product_bytes",
    "buffer_limited_bps",
    "cubic",
    "cubic_bps",
    "goodput_bps",
    "mathis",
    "mathis_bps",
    "mathis_labs",
    "padhye",
    "padhye_bps",
    "padhye_simple_bps",
    "parallel_bps",
]
