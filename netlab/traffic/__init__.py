"""What runs on the hosts, a module per kind."""

from netlab.traffic.kinds import Iperf3, Nstat, Ping, Shell, Traffic

__all__ = ["Iperf3", "Nstat", "Ping", "Shell", "Traffic"]
