"""Code in the place of a guest's kernel can neither block its parent nor fill this machine."""

import contextlib
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from netlab import GuestError, LimitError
from netlab.engines.guest import failure, machine, walls
from netlab.engines.guest.process import Guest

WAYS = (
    *("well", "keys", "deaf", "asks on", "half", "disk", "flood", "memfds", "private"),
    *("processes", "files"),
)
WAIT_S = 50  # less than an attack takes to end by itself


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("hostile"))


def compiled(folder):
    """An engine whose kernel is hostile."""
    kernel = folder / "kernel"
    kernel.mkdir()
    source = Path(__file__).with_name("hostile.c")
    subprocess.run(["gcc", "-O1", "-static", "-o", kernel / "linux", source], check=True)
    (folder / "root.tar").write_bytes(b"")
    for one in (folder, kernel, kernel / "linux"):
        one.chmod(0o755)
    return SimpleNamespace(
        linux=kernel / "linux", shim=Path("/nonexistent"), archive=folder / "root.tar"
    )


def sets_of_walls():
    """All that hold here, and without namespaces."""
    names = walls.standing()
    return [names, [name for name in names if name not in ("namespaces", "user")]]


@pytest.fixture(params=sets_of_walls(), ids="+".join)
def started(build, monkeypatch, request):
    """A function: a guest with this way of being hostile, that has answered once if `asked`."""
    monkeypatch.setattr(walls, "standing", lambda: request.param)
    open_guests = []

    def start(way, wall_limit_s=WAIT_S, asked=True):
        guest = Guest(build, WAYS.index(way), "virtual", wall_limit_s)
        open_guests.append(guest)
        if asked:
            guest.ask(op="up")
        return guest

    yield start
    for guest in open_guests:
        guest.close()


def asked_until_it_ends(guest):
    with pytest.raises(GuestError) as ended:
        while True:
            guest.ask(op="up")
    return ended.value


def test_it_answers_as_long_as_it_behaves(started):
    guest = started("well")
    assert [guest.ask(op="up")["clock_ns"] for _ in range(3)] == [0, 0, 0]


def test_a_parent_does_not_wait_for_a_key_that_nobody_pressed(started):
    guest = started("keys")
    assert guest.ask(op="up")["clock_ns"] == 0


@pytest.mark.parametrize("question", [{}, {"setup": "x" * (4 << 20)}], ids=["short", "long"])
def test_a_guest_that_hears_nothing_is_ended_at_the_limit(started, question):
    guest = started("deaf", wall_limit_s=2)
    with pytest.raises(LimitError):
        guest.ask(op="up", **question)


@pytest.mark.parametrize("way", ["asks on", "half"])
def test_what_no_kernel_asks_ends_the_run(started, way):
    error = asked_until_it_ends(started(way, asked=False))
    assert not isinstance(error, LimitError)


def test_disk_beyond_the_end_of_the_console_is_refused(started):
    guest = started("disk")
    guest.ask(op="up")
    assert (guest.folder / "console").stat().st_blocks * 512 <= 1 << 20
    assert guest.console.text() is not None


def test_a_flood_of_the_console_stops_where_nobody_looks(started):
    guest = started("flood")
    console = guest.folder / "console"
    descriptor = os.open(console, os.O_RDONLY)  # the folder goes with the guest
    try:
        with contextlib.suppress(LimitError):  # the flood may be seen with the first answer
            guest.ask(op="up")
            guest.process.wait(WAIT_S)
            assert isinstance(asked_until_it_ends(guest), LimitError)
        assert os.fstat(descriptor).st_blocks * 512 <= failure.MOST_BYTES + (2 << 20)
    finally:
        os.close(descriptor)


def test_it_gets_no_memory_but_what_it_was_given(started):
    guest = started("memfds")
    assert guest.ask(op="up")["clock_ns"] == 0


FILLING = {
    "private": ("MOST_PRIVATE_MB", 100),
    "processes": ("MOST_PROCESSES", 100),
    "files": ("MOST_DESCRIPTORS", 500),
}


@pytest.mark.parametrize("way", FILLING)
def test_what_fills_the_machine_ends_it_whether_it_is_asked_or_not(started, monkeypatch, way):
    name, most = FILLING[way]
    monkeypatch.setattr(machine, name, most)
    guest = started(way)
    guest.process.wait(WAIT_S)
    error = asked_until_it_ends(guest)
    assert isinstance(error, LimitError) and f"{most} are allowed" in str(error)


def test_while_it_is_asked_too(started, monkeypatch):
    monkeypatch.setattr(machine, "MOST_PRIVATE_MB", 100)
    assert isinstance(asked_until_it_ends(started("private", asked=False)), LimitError)
