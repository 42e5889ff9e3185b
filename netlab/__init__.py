"""Notebooks on TCP parallel streams and fairness, over real Mininet and iperf3 experiments that
repeat to the byte.

A name is imported when it is first used, so that `import netlab` takes no time.
"""

import importlib

_NAMES = {
    "algorithms": "CongestionControl",
    "course.checks.check": "check check_kind check_run check_state",
    "course.checks.predictions": "you_said",
    "errors": (
        "AlgorithmError CommandError EmulationError EngineError GuestError LimitError LinkWarning"
        " MissingPackageError ModelWarning NetlabError ReadError ReadWarning SpecificationError"
    ),
    "experiment": "Experiment",
    "fairness": "jain_index",
    "running.history": "History",
    "running.loss_onset": "loss_onset",
    "running.network": "Network",
    "running.replay": "replay",
    "running.result": "Result load",
    "running.robustness": "robustness",
    "running.run": "run",
    "running.sweep": "sweep",
    "topology": "Topology expected portfolio wan",
    "topology.links": "Link",
    "topology.miniedit": "read_miniedit",
    "topology.nodes": "Host Router Switch",
    "traffic": "Change Iperf Iperf3 Nstat Ping Queue Shell Simpleperf Windows",
}
_MODULES = {"algorithms", "course", "fairness", "models", "plots", "readers", "units"}
_MORE = {"description", "engines", "errors", "experiment", "running", "topology", "traffic"}
_HOME = {name: f"netlab.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_MODULES | _HOME.keys())


def __getattr__(name):
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES | _MORE:
        value = importlib.import_module(f"netlab.{name}")
    else:
        raise AttributeError(f"module 'netlab' has no attribute {name!r}", name=name)
    globals()[name] = value
    return value


def __dir__():
    return __all__


def load_ipython_extension(shell):
    """``%load_ext netlab`` gives a notebook ``%%on`` (see `netlab.cli.magic.on`)."""
    from netlab.cli.magic import register

    register(shell)
