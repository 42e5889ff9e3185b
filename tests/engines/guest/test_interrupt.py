"""A run is ended at once from another thread, and by the third Ctrl-C; nothing is left of it."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

import netlab as nl

HOST = nl.Topology([nl.Host("pc", "10.9.9.9/8")])
FOR_EVER = "trap '' INT; while true; do sleep 1000; done"
# Virtual time hardly passes meanwhile, so the agent does not hear of the first two.
BUSY = "while true; do :; done"
PRESS = """
import os, signal, sys, threading, time, netlab as nl
net = nl.Network(nl.Topology([nl.Host("pc", "10.9.9.9/8")]))
def press():
    for _ in range(3):
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press).start()
try:
    net.run("pc", sys.argv[1], limit_s=1e6)
except KeyboardInterrupt:
    print("interrupted")
    print("closed:", net._connection.process is None, not net._connection.folder.exists())
"""


@pytest.fixture
def net(tmp_path, monkeypatch):
    """A host in a guest; what it would leave as evidence goes to a folder of the test's own."""
    engine = nl.engines.pick("guest")
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    with nl.Network(HOST, engine=engine, wall_limit_s=120) as net:
        yield net


@pytest.fixture
def nothing_left(net, tmp_path):
    """Checks that the guest has gone, with its folder, and left no evidence."""
    pid, folder = net._connection.process.pid, net._connection.folder

    def check():
        for _ in range(50):  # init reaps the last of them
            if not (left := members(pid)):
                break
            time.sleep(0.1)
        assert left == [] and not folder.exists()
        assert list(tmp_path.iterdir()) == []

    return check


def members(group):
    """The processes of a group that live."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def ended(net):
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            net.run("pc", "true")


@pytest.mark.parametrize("asked_in", ["main thread", "another thread"])
def test_a_run_is_ended_from_another_thread(net, nothing_left, asked_in):
    def run():
        with pytest.raises(KeyboardInterrupt):
            net.run("pc", FOR_EVER, limit_s=1e6)
        stopped.append(True)

    stopped = []
    threading.Timer(1, net._connection.interrupt).start()
    if asked_in == "main thread":
        run()
    else:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join(100)
    assert stopped
    nothing_left()
    ended(net)
    net._connection.interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_between_two_questions_ends_the_next(net, nothing_left):
    assert net.run("pc", "echo here", echo=False).text == "here\n"
    net._connection.interrupt()
    net._connection.interrupt()
    ended(net)
    nothing_left()


def test_an_interrupt_after_closing_does_nothing(net, nothing_left):
    net.close()
    net._connection.interrupt()
    assert net._connection.ask(op="key", key="I") == {}
    nothing_left()
    with pytest.raises(nl.GuestError, match="closed"):
        net.run("pc", "true")
    net.close()


def test_interrupts_at_any_moment_leave_nothing(tmp_path, monkeypatch, draw):
    engine = nl.engines.pick("guest")
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    for delay_s in (0.0, draw("moments").uniform(0, 1)):
        guest = engine.connect(1, "virtual", 120)
        threading.Timer(delay_s, guest.interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            guest.ask(op="up", hosts=[["pc", "10.9.9.9/8"]], switches=[], links=[], setup=[])
            while True:
                guest.ask(op="sleep", seconds=10)
        assert guest.process is None and not guest.folder.exists()
    assert list(tmp_path.iterdir()) == []


def test_the_third_ctrl_c_is_an_interrupt_and_no_traceback_of_the_agent(tmp_path):
    command, own = [sys.executable, "-c", PRESS, BUSY], os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=own)
    assert done.stdout.splitlines() == ["interrupted", "closed: True True"], done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("who", ["what hears of it", "another thread"])
def test_a_connection_may_be_closed_while_something_is_asked(who):
    """Who asks hears that it was ended, and not that a descriptor is bad."""
    guest = nl.engines.pick("guest").connect(1, "virtual", 120)
    guest.ask(op="up", hosts=[["pc", "10.9.9.9/8"]], switches=[], links=[], setup=[])
    number = guest.ask(op="start", host="pc", command="while sleep 1; do echo on; done")["job"]
    begun = threading.Event()
    closing = threading.Thread(target=lambda: begun.wait() and guest.close())
    closing.start()
    folder, hear = guest.folder, guest.close if who == "what hears of it" else begun.set
    with pytest.raises(KeyboardInterrupt):
        guest.ask(lambda event: hear(), op="wait", numbers=[number], limit_s=1e9)
    assert guest.process is None and not folder.exists()
    begun.set()
    closing.join()


def test_closing_a_network_ends_what_another_thread_asks():
    """... by an end that it hears, and not by closing descriptors under it."""
    ended, begun = [], threading.Event()

    def ask(net):
        try:
            begun.set()
            net.sleep(1e6)
        except BaseException as error:
            ended.append(type(error))

    for _ in range(3):
        net = nl.Network(nl.wan("100mbit", "20ms", pairs=1))
        net.start("h1", "while :; do ping -c 1000 -i 0.001 10.0.0.2; done")
        thread = threading.Thread(target=ask, args=(net,))
        thread.start()
        begun.wait()
        net.close()
        assert net._connection.process is None
        thread.join()
        begun.clear()
        assert not net.up
    assert ended == 3 * [KeyboardInterrupt]
