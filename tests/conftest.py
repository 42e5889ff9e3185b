"""What all tests share: quiet progress, and no test that depends on another's engine."""

import os

import pytest

from netlab import Network, wan

os.environ["NETLAB_PROGRESS"] = "off"


@pytest.fixture
def network():
    """A live network: 100 Mbit/s, 20 ms, two pairs of hosts."""
    with Network(wan("100mbit", "20ms")) as net:
        yield net
