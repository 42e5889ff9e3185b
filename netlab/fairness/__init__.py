"""How evenly flows share a link: Jain's index, shares, both over time, harm, and fair allocations.

The unit of a result ends the first sentence of its function.
"""

from netlab.fairness.allocation import alpha_fair, max_min
from netlab.fairness.evolution import convergence_s, index_over_time, over_time
from netlab.fairness.harm import harm
from netlab.fairness.indices import jain_index, per_stream_share, shares

__all__ = [
    "alpha_fair", "convergence_s", "harm", "index_over_time", "jain_index", "max_min", "over_time",
    "per_stream_share", "shares",
]  # fmt: skip
