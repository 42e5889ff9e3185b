"""What all tests share: quiet progress, the seed of random draws, and how workers share tests."""

import os
import random
import signal
import sys
import threading

import pytest
from hypothesis import settings

from netlab import Network, wan
from tests import not_compared

# doctests import all modules: the one takes Unix away from the process, the other needs ns-3
collect_ignore = ["without_unix.py", "validation/ns3_side.py"]
os.environ["NETLAB_PROGRESS"] = "off"
# jsonschema imports it with nbformat if it is there, which takes a second: checks of formats that
# notebooks do not have
sys.modules["rfc3987_syntax"] = None
# no example fails for having taken long: that is the machine's doing
settings.register_profile("netlab", deadline=None)
settings.load_profile("netlab")
# a shell's background job ignores Ctrl-C, and so would every program that the tests start
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, help="seed of the tests' random draws; the header has it")
    parser.addoption("--every", action="store_true", help="run all of what tests draw some of")


def pytest_configure(config):
    if hasattr(config, "workerinput"):  # a worker of pytest-xdist has its parent's seed
        config.option.seed = config.workerinput["seed"]
    elif config.option.seed is None:
        config.option.seed = random.randrange(2**32)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_configure_node(node):
    node.workerinput["seed"] = node.config.option.seed


def pytest_report_header(config):
    return f"random draws: --seed={config.option.seed}"


def pytest_terminal_summary(terminalreporter, config):
    if terminalreporter.stats.keys() & {"failed", "error"}:
        terminalreporter.write_line(pytest_report_header(config))
    skipped = terminalreporter.stats.get("skipped", ())
    if line := not_compared(str(report.longrepr[2]) for report in skipped):
        terminalreporter.write_line(line)


def group_of(item):
    """What runs on one worker: a file, whose tests share fixtures, or what a mark names."""
    mark = item.get_closest_marker("xdist_group")
    return mark.args[0] if mark else item.nodeid.partition("::")[0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put groups with long tests first, so that no worker waits for the other at the end."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    long = {group_of(item) for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: group_of(item) not in long)


@pytest.fixture(scope="session")
def draw(request):
    """Random generators that `--seed` repeats, whatever else runs: ``draw("whom").choice(...)``."""
    return lambda name: random.Random(f"{request.config.option.seed} {name}")


@pytest.fixture(autouse=True)
def no_test_has_the_ctrl_c_of_another():
    """What a test has planned is off, and the handler is Python's: nbclient leaves its own where a
    kernel does not start, and its loop would take every later Ctrl-C for one of its next notebook.
    """
    yield
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.set_wakeup_fd(-1)


@pytest.fixture
def network():
    """A live network: 100 Mbit/s, 20 ms, two pairs of hosts."""
    with Network(wan("100mbit", "20ms")) as net:
        yield net
