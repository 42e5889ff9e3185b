"""A jail for strangers' programs: a guest that has Python and netlab, and nothing else.

A program runs in it as nobody, without network, files of this machine or much memory. Only packets
come out, to the process that asked for them.
"""

from netlab.engines.jail.engine import JailedEngine
from netlab.engines.jail.process import Jail

__all__ = ["Jail", "JailedEngine"]
