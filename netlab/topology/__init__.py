"""What a network is: hosts, switches, routers and links, and files that describe one."""

from netlab.topology.courses import portfolio, wan
from netlab.topology.expectations import expected
from netlab.topology.links import Link
from netlab.topology.miniedit import read_miniedit
from netlab.topology.nodes import Host, Router, Switch
from netlab.topology.topology import Topology

__all__ = [
    "Host",
    "Link",
    "Router",
    "Switch",
    "Topology",
    "expected",
    "portfolio",
    "read_miniedit",
    "wan",
]
