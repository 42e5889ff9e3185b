"""`netlab attach` in a real terminal, on networks of this process and of others."""

import contextlib
import gc
import os
import re
import signal
import subprocess
import sys
import termios
import threading
import time
from multiprocessing import AuthenticationError

import pexpect
import pytest
from jupyter_client.manager import start_new_kernel

import netlab as nl
from netlab import History, Network, replay, wan
from netlab.cli import doors
from netlab.errors import CommandError

PROMPT, LIMIT_S = "root@{}:~# ", 20
KERNEL = """
import sys, netlab as nl
from netlab.cli import doors
nets = [nl.Network(nl.wan("100mbit", "20ms")) for _ in range(int(sys.argv[1]))]
doors.open_door()
print(*[told["id"] for told in doors._here.networks()], flush=True)
sys.stdin.read()
"""


class Terminal(pexpect.spawn):
    """`netlab` with a terminal of its own."""

    def __init__(self, *words, rows=30, columns=100):
        options = dict(encoding="utf-8", codec_errors="replace", timeout=LIMIT_S)
        super().__init__(
            sys.executable, ["-m", "netlab", *words], dimensions=(rows, columns), **options
        )
        self.delaybeforesend = None
        self.settings = termios.tcgetattr(self.child_fd)

    def until(self, pattern):
        """What is shown from where we were, up to this."""
        self.expect(pattern)
        return self.before + self.after

    def line(self, line, host="h1"):
        """Type a line; -> what is shown until the next prompt."""
        self.send(f"{line}\r")
        self.until(r"\x1b\]133;C\x07")
        return self.until(PROMPT.format(host))

    def ended(self):
        """Its exit status, and is its terminal as it was before?"""
        self.expect(pexpect.EOF)
        return self.wait(), termios.tcgetattr(self.child_fd) == self.settings

    def leave(self):
        self.send("\x1d")
        text = self.until(": left")
        assert self.ended() == (0, True)
        return text


@pytest.fixture
def terminal():
    """Opens terminals, and closes them."""
    with contextlib.ExitStack() as stack:

        def open_(*words, **options):
            found = Terminal(*words, **options)
            stack.callback(found.close, force=True)
            return found

        yield open_


@pytest.fixture
def door():
    """This process has a door, and no more threads afterwards than before."""
    before = threading.active_count()
    doors.open_door()
    yield doors._here
    card, address = doors._here.card, doors._here.address
    doors._here.close()
    assert not card.exists() and not address.exists()
    end = time.monotonic() + LIMIT_S
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() <= before  # those of tests before it may end, too


@pytest.fixture
def attach(door, terminal):
    """Opens a terminal on a node of a network of this process, at its first prompt."""

    def open_(net, host="h1", **options):
        found = terminal("attach", host, "--network", doors.id_of(net), **options)
        found.until(re.escape(doors.ERASE) + ".*" + PROMPT.format(host))
        return found

    return open_


@pytest.fixture
def kernel():
    """Starts another process with this many networks; -> it, and their numbers."""
    with contextlib.ExitStack() as stack:

        def start(count=1):
            process = subprocess.Popen(
                [sys.executable, "-c", KERNEL, str(count)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process, process.stdout.readline().split()

        yield start


def test_lines_keys_and_sizes(network, attach):
    h1 = attach(network)
    assert h1.line("echo hi$((1 + 1))").startswith("hi2\r\n")
    assert h1.line("stty size").startswith("30 100\r\n")
    h1.setwinsize(40, 120)
    h1.until(PROMPT.format("h1"))  # drawn anew
    assert h1.line("stty size").startswith("40 120\r\n")
    h1.send("echo abc\x1b[D\x1b[DX\r")  # arrow keys
    assert "aXbc" in h1.until(r"\naXbc\r|133;C\x07aXbc")
    h1.until(PROMPT.format("h1"))
    assert h1.line("\x1b[A").startswith("aXbc")  # the line before
    assert h1.line("(exit 3)") and h1.line("echo $?").startswith("3\r\n")
    assert h1.line("x=5; cd /tmp; cd") and h1.line("echo $x").startswith("5\r\n")
    h1.leave()


def test_time_stands_still_at_the_prompt(network, attach):
    h1 = attach(network)
    h1.line("true")
    before = network.clock
    time.sleep(0.5)
    assert network.clock == before
    h1.send("ping 10.0.0.2\r")
    h1.until("icmp_seq=3 .*20.0 ms")
    h1.send("\x03")
    assert "3 packets transmitted, 3 received" in h1.until(PROMPT.format("h1"))


def test_full_screen_programs(network, attach):
    h1 = attach(network)
    h1.send("top\r")
    assert "Tasks:" in h1.until("PID USER .*COMMAND")
    h1.setwinsize(20, 90)
    h1.until("PID USER .*COMMAND")
    h1.send("q")
    h1.until(PROMPT.format("h1"))
    h1.send("seq 100 | more\r")
    assert "\r\n18\r\n" in h1.until("--More--")
    h1.send(" ")
    h1.until("--More--")
    h1.send("q")
    h1.until(PROMPT.format("h1"))
    h1.send("watch -n 1 hostname\r")
    h1.until(re.escape("\x1b[?1049h"))
    assert "\x1b[?1049l" in h1.leave()  # the screen is as before
    with pytest.raises(CommandError, match="begun by keys"):
        network.type("h1", "echo", show=lambda text: None)
    assert network.type("h1", "^C", show=lambda text: None).text.count("\n") < 3


def test_a_cell_beside_a_terminal(network, attach):
    network.type("h1", "x=1", show=lambda text: None)
    h1 = attach(network)
    h1.line("x=$((x + 1))")
    h1.send("begun")
    h1.until("begun")
    while network.console("h1").fresh[-5:] != "begun":
        time.sleep(0.01)
    typed = network.type("h1", "echo x is $x; stty size; echo $TERM", show=lambda text: None)
    assert typed.text.endswith(
        "root@h1:~# echo x is $x; stty size; echo $TERM\nx is 2\n50 200\ndumb\n"
    )
    h1.until("x is 2\r\n50 200\r\ndumb\r\n.*" + PROMPT.format("h1"))
    assert h1.line("echo $TERM; stty size").startswith("xterm-256color\r\n30 100\r\n")
    h1.leave()
    typed = network.type("h1", "echo $TERM", show=lambda text: None)
    assert typed.text == "root@h1:~# echo $TERM\ndumb\n"


def test_output_is_shown_while_a_cell_runs_and_keys_wait(network, attach):
    h1 = attach(network)
    h1.line("(sleep 0.2; echo from be''hind) &")
    with network.lock:  # a cell has it
        network.run("h2", "sleep 1", echo=False)
        h1.send("echo from keys\r")
        h1.until("from behind")
        steps = len(network.history)
    h1.until(r"133;C\x07from keys")
    assert len(network.history) > steps


def test_two_terminals_on_two_hosts(network, attach):
    h1, h2 = attach(network), attach(network, "h2")
    h2.send("iperf3 -s\r")
    h2.until("Server listening")
    h1.send("iperf3 -c 10.0.0.2 -t 1\r")
    h1.until("iperf Done")
    h2.until("receiver")
    h2.send("\x03")
    h2.until(PROMPT.format("h2"))
    assert h1.leave() and h2.leave()


def test_what_was_typed_replays_to_the_byte(network, attach):
    h1 = attach(network)
    h1.send("pin")
    h1.until("pin")
    h1.send("g 10.0.0.2\r")
    h1.until("icmp_seq=2")
    h1.send("\x03")
    h1.until(PROMPT.format("h1"))
    h1.line("cd /tmp; cd; echo $RANDOM $EPOCHREALTIME")
    h1.leave()
    network.type("h1", "ping -c 1 10.0.0.2", show=lambda text: None)
    text = network.history.to_text()
    assert re.search(r"sh sleep 0\.05  #: \d+ times\n", text)
    with replay(text) as again:
        assert again.history.to_text() == text and again.clock == network.clock
        assert History.from_text(text).same(again.history)
    assert "icmp_seq=2" in network.history.transcript


def test_bash_that_ends_is_said(network, attach):
    h1 = attach(network)
    h1.send("exit\r")
    h1.until("h1: bash has ended")
    assert attach(network).line("echo new").startswith("new\r\n")


def test_a_killed_client_leaves_nothing(network, attach, door):
    before = threading.active_count()
    h1 = attach(network)
    h1.send("ping 10.0.0.2\r")
    h1.until("icmp_seq=1")
    h1.kill(signal.SIGKILL)
    end = time.monotonic() + LIMIT_S
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    clock = network.clock
    time.sleep(0.2)
    assert network.clock == clock
    again = attach(network)
    again.send("\x03")
    again.until("packets transmitted")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_client_that_is_told_to_end_restores_its_terminal(network, attach, number):
    h1 = attach(network)
    h1.kill(number)
    assert h1.ended() == (128 + number, True)


def test_a_network_that_is_closed_or_dropped(attach):
    with Network(wan("100mbit", "20ms")) as net:
        h1 = attach(net)
        h1.send("ping 10.0.0.2\r")
        h1.until("icmp_seq=1")
    h1.until("h1: the network has been closed")
    assert h1.ended() == (0, True)
    net = Network(wan("100mbit", "20ms"))
    h1 = attach(net)
    with pytest.warns(ResourceWarning):
        del net
        gc.collect()
    h1.until("h1: the network has been closed")


def test_a_kernel_that_is_killed(kernel, terminal):
    process, (number,) = kernel()
    h1 = terminal("attach", "h1", "--network", number)
    h1.until(PROMPT.format("h1"))
    process.kill()
    h1.until("h1: its process has ended")
    assert h1.ended() == (0, True)
    end = time.monotonic() + LIMIT_S
    while [*doors.folder().glob(f"{process.pid}-*")]:  # its guest has the socket, until it ends
        doors.networks()  # whoever knocks removes what it left
        assert time.monotonic() < end


def test_a_kernel_that_ends(kernel, terminal):
    process, _ = kernel()
    process.stdin.close()
    assert process.wait(LIMIT_S) == 0
    assert [*doors.folder().glob(f"{process.pid}-*")] == []


def test_a_notebook(terminal):
    manager, client = start_new_kernel()
    try:

        def said(code):
            told = []
            client.execute_interactive(
                code, output_hook=lambda message: told.append(message["content"].get("text", ""))
            )
            return "".join(told)

        code = (
            "%load_ext netlab\nimport os, netlab as nl\nnet = nl.Network(nl.wan('1gbit', '20ms'))"
        )
        number = said(f"{code}\nprint(os.getpid(), end='')") + ".1"
        assert f"net ({number}): h1 h2" in command().stdout
        h1 = terminal("attach", "h1", "--network", number)
        h1.until(re.escape(doors.ERASE) + ".*" + PROMPT.format("h1"))
        h1.line("x=5")
        assert said("%%on h1\necho x is $x").endswith("\nx is 5\n")
        assert h1.line("echo $x").startswith("5\r\n")
        manager.shutdown_kernel(now=True)
        h1.until("h1: its process has ended")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.long
def test_several_networks_at_once(kernel, terminal):
    _, numbers = kernel(4)
    assert len(numbers) == 4
    opened = [terminal("attach", "h2", "--network", number) for number in numbers]
    for number, one in zip(numbers, opened, strict=True):
        one.until(re.escape(doors.ERASE) + ".*" + PROMPT.format("h2"))
        assert one.line(f"echo {number}", "h2").startswith(number)
    for one in opened:
        one.leave()


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "netlab", "attach", *words], capture_output=True, text=True
    )


def test_what_there_is_and_what_is_refused(network, door):
    number = doors.id_of(network)
    door.names = lambda: {"net": network, "_": network}
    assert f"net ({number}): h1 h2 h3 h4 s1 s2; " in command().stdout
    for words in (("h9", "--network", number), ("h1", "--network", "elsewhere")):
        said = command(*words).stderr
        assert f"no network {words[2]} has a node {words[0]}; there are" in said and number in said
    assert "needs a terminal" in command("h1", "--network", number).stderr
    with nl.Network(nl.wan("100mbit", "20ms")) as other:
        said = command("h1").stderr
        assert "networks have h1; name one, as --network" in said and doors.id_of(other) in said


def test_only_its_user_can_come_in(door):
    assert doors.folder().stat().st_mode & 0o077 == 0
    assert door.card.stat().st_mode & 0o077 == 0
    line = doors.Client(str(door.address), "AF_UNIX")
    with line, pytest.raises(AuthenticationError):
        doors.answer_challenge(line, b"another key")
    doors.folder().chmod(0o777)
    assert doors.folder().stat().st_mode & 0o077 == 0


def test_who_comes_and_says_nothing_keeps_nobody_out(network, door):
    with doors.Client(str(door.address), "AF_UNIX"):
        assert doors.id_of(network) in [told["id"] for _, told in doors.networks()]


def test_cards_that_are_none_are_passed_over(network, door):
    odd = [doors.folder() / f"1-{name}.json" for name in ("deep", "list", "pipe")]
    try:
        odd[0].write_text("[" * 100_000)
        odd[1].write_text("[]")
        assert doors.networks()
        os.mkfifo(odd[2])
        assert doors.networks()
    finally:
        for path in odd:
            path.unlink(missing_ok=True)
