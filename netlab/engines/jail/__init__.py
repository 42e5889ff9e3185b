"""A jail for programs of strangers: a guest that has Python and netlab, and nothing else.

Whatever runs in it is nobody on a machine of its own: without a network, without a file of this
machine but the jail's copy of Python, with little memory, and gone afterwards. All that comes out
are the packets that it sends, one after the other, to whom it asked for.
"""

from netlab.engines.jail.engine import JailedEngine
from netlab.engines.jail.process import Jail

__all__ = ["Jail", "JailedEngine"]
