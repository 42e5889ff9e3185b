"""What all tests share: quiet progress, and no test that depends on another's engine."""

import os
import signal

import pytest
from hypothesis import settings

from netlab import Network, wan

os.environ["NETLAB_PROGRESS"] = "off"
# no example fails for having taken long: that is the machine's doing
settings.register_profile("netlab", deadline=None)
settings.load_profile("netlab")
# a shell's background job ignores Ctrl-C, and so would every program that the tests start
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def network():
    """A live network: 100 Mbit/s, 20 ms, two pairs of hosts."""
    with Network(wan("100mbit", "20ms")) as net:
        yield net
