"""Notebooks on TCP parallel streams and fairness, over real Mininet and iperf3 experiments that
repeat to the byte.
"""

from netlab import algorithms, course, fairness, models, plots, readers, units
from netlab.algorithms import CongestionControl
from netlab.course.checks.answers import check
from netlab.course.predictions import you_said
from netlab.errors import (
    AlgorithmError,
    CommandError,
    EmulationError,
    EngineError,
    GuestError,
    LimitError,
    MissingPackageError,
    NetlabError,
    ReadError,
    ReadWarning,
    SpecificationError,
)
from netlab.experiment import Experiment
from netlab.fairness import jain_index
from netlab.running.loss_onset import loss_onset
from netlab.running.network import Network
from netlab.running.result import Result, load
from netlab.running.robustness import robustness
from netlab.running.run import run
from netlab.running.sweep import sweep
from netlab.topology import Topology, expected, portfolio, wan
from netlab.topology.links import Link
from netlab.topology.miniedit import read_miniedit
from netlab.topology.nodes import Host, Router, Switch
from netlab.traffic import Iperf, Iperf3, Nstat, Ping, Queue, Shell, Simpleperf, Windows

__all__ = [
    "AlgorithmError",
    "CommandError",
    "CongestionControl",
    "EmulationError",
    "EngineError",
    "Experiment",
    "GuestError",
    "Host",
    "Iperf",
    "Iperf3",
    "LimitError",
    "Link",
    "MissingPackageError",
    "NetlabError",
    "Network",
    "Nstat",
    "Ping",
    "Queue",
    "ReadError",
    "ReadWarning",
    "Result",
    "Router",
    "Shell",
    "Simpleperf",
    "SpecificationError",
    "Switch",
    "Topology",
    "Windows",
    "algorithms",
    "check",
    "course",
    "expected",
    "fairness",
    "jain_index",
    "load",
    "loss_onset",
    "models",
    "plots",
    "portfolio",
    "read_miniedit",
    "readers",
    "robustness",
    "run",
    "sweep",
    "units",
    "wan",
    "you_said",
]
