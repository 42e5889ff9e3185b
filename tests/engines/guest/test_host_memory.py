"""What a guest may take of the host's memory beside its own."""

import pytest

import netlab as nl
from netlab.engines.guest import host_memory
from netlab.errors import LimitError

# Each page that is only read is the guest's page of zeros, and a mapping of its own on the host.
TOUCH = """
import mmap, os, time
private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
for _ in range(15):
    if not os.fork():
        pages = mmap.mmap(-1, 20_000 * 4096, flags=private)
        for page in range(20_000):
            pages[page * 4096]
        time.sleep(1000)
time.sleep(1000)
"""


def test_pages_of_zeros_do_not_fill_the_hosts_memory(monkeypatch):
    monkeypatch.setattr(host_memory, "MOST_MAPPINGS", 100_000)
    with pytest.raises(LimitError, match="pieces of memory"):
        nl.run(nl.wan("10mbit", "20ms"), nl.Shell("h1", f"python3 -c '{TOUCH}'", time=1000))


def test_processes_are_counted_whatever_the_guest_allows(monkeypatch):
    monkeypatch.setattr(host_memory, "MOST_PROCESSES", 100)
    forks = "for n in $(seq 150); do sleep 1000 & done; wait"
    with pytest.raises(LimitError, match="100 are allowed"):
        nl.run(nl.wan("10mbit", "20ms"), nl.Shell("h1", forks, time=1000))


def test_many_small_processes_are_no_harm():
    forks = "for n in $(seq 150); do sleep 2 & done; wait; echo all"
    run = nl.run(nl.wan("10mbit", "20ms"), nl.Shell("h1", forks, time=5))
    assert "all" in run.raw["1-shell-h1"]
