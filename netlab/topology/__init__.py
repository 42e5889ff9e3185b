"""What a network is: hosts, switches, routers and links, and files that describe one."""

from netlab.topology.miniedit import read_miniedit
from netlab.topology.nodes import Host, Link, Router, Switch
from netlab.topology.topology import Topology
from netlab.topology.wan import wan

__all__ = ["Host", "Link", "Router", "Switch", "Topology", "read_miniedit", "wan"]
