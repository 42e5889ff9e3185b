"""How evenly flows share a link: Jain's index, shares, both over time, and fair allocations.

The unit of a result ends the first sentence of its function.
"""

from netlab.fairness.allocation import max_min
from netlab.fairness.evolution import convergence_s, index_over_time, over_time
from netlab.fairness.indices import jain_index, per_stream_share, shares

__all__ = [
    "convergence_s", "index_over_time", "jain_index", "max_min", "over_time", "per_stream_share",
    "shares",
]  # fmt: skip
