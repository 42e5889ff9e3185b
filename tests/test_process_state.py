"""What a user's process is like is not changed by running something in it."""

import decimal
import gc
import locale
import logging
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
import warnings

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab.engines.recorded import records

EXPERIMENT = nl.Experiment(
    nl.wan("10mbit", "20ms", pairs=1),
    nl.Iperf3("h1", "h2", time=1),
    nl.Windows("h1"),
    nl.Iperf3("h1", "h2", time=1, congestion=nl.algorithms.Reno),
)


def state():
    """By name, what any part of a program can change for all others."""
    gc.collect()
    with open("/proc/self/status") as status:
        umask = next(line for line in status if line.startswith("Umask"))
    return {
        "random": random.getstate(),
        "numpy.random": [str(one) for one in np.random.get_state()],
        "numpy": (np.geterr(), np.get_printoptions()),
        "decimal": str(decimal.getcontext()),
        "pandas": (pd.get_option("display.max_rows"), pd.get_option("display.precision")),
        "working directory": os.getcwd(),
        "umask": umask,
        "signals": {one: signal.getsignal(one) for one in signal.valid_signals()},
        "blocked signals": signal.pthread_sigmask(signal.SIG_BLOCK, []),
        "wake-up": signal.set_wakeup_fd(-1),
        "timer": signal.getitimer(signal.ITIMER_REAL),
        "locale": locale.setlocale(locale.LC_ALL),
        "warnings": list(warnings.filters),
        "how they are shown": warnings.showwarning,
        "environment": dict(os.environ),
        "limits": {
            name: resource.getrlimit(getattr(resource, name))
            for name in dir(resource)
            if name.startswith("RLIMIT_")
        },
        "CPUs": os.sched_getaffinity(0),
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "descriptors": sorted(os.listdir("/proc/self/fd")),
        "children": open("/proc/thread-self/children").read(),
        # tqdm keeps one for all its bars
        "threads": {one.name for one in threading.enumerate()} - {"tqdm_monitor"},
        "logging": (logging.root.level, logging.root.handlers, logging.root.manager.disable),
        "sockets": socket.getdefaulttimeout(),
        "sys": (sys.path[:], sys.excepthook, sys.displayhook, sys.stdout, sys.stderr, sys.argv),
        "recursion": (sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled()),
    }


def run():
    nl.run(EXPERIMENT, engine="guest")


def network():
    with nl.Network(EXPERIMENT.topology, engine="guest") as net:
        net.type("h1", "ping -c 1 10.0.0.2", show=lambda text: None)


def sweep():
    ping = nl.Ping("h1", "h2", count=1)
    nl.sweep(lambda: nl.Experiment(EXPERIMENT.topology, ping), seeds=[1, 2], engine="guest")


def recorded():
    _, entry = records().entries()[0]
    experiment = nl.Experiment.from_json(entry.experiment)
    assert nl.run(experiment, engine="recorded").raw


def an_error():
    with pytest.raises(nl.CommandError):
        nl.run(nl.wan(), nl.Shell("h1", "false", time=1), engine="guest")


@pytest.mark.parametrize("what", [run, network, sweep, recorded, an_error])
def test_nothing_of_the_process_is_changed(what):
    random.seed(1)
    np.random.seed(1)
    before = state()
    what()
    after = state()
    assert {name for name in before if before[name] != after[name]} == set()


def test_nothing_of_a_fresh_process_is_changed():
    """... by what is imported when it is used, either."""
    code = (
        "import sys; sys.path.insert(0, ''); from tests import test_process_state as t;"
        " before = t.state(); t.network(); t.run(); after = t.state();"
        " print({one: (before[one], after[one]) for one in before if before[one] != after[one]})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["{}"], done.stdout + done.stderr
