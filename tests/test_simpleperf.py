"""simpleperf as people run it: processes on the loopback interface, and clients that misbehave."""

import argparse
import contextlib
import functools
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlab import simpleperf
from netlab.readers import read_simpleperf

FILE = Path(simpleperf.__file__)
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close() sends RST
TOTAL = re.compile(r"(\S+) +0.000 - (\S+) s +(\S+) MB +\S+ Mbps  total \((.*)\)")
HOST = "127.0.0.1"


def free_port():
    with socket.create_server((HOST, 0)) as one:
        return one.getsockname()[1]


def totals(text):
    """By connection: its bytes, and how it ended."""
    return {name: (round(1e6 * float(mb)), how) for name, _, mb, how in TOTAL.findall(text)}


class Server:
    """A server in a process of its own, which listens when this has been made."""

    def __init__(self, folder, *options, **how):
        self.port = free_port()
        self.files = [folder / f"{self.port}.{kind}" for kind in ("out", "err")]
        command = [sys.executable, FILE, "-s", "-b", HOST, "-p", str(self.port), *options]
        with open(self.files[0], "w") as out, open(self.files[1], "w") as err:
            self.process = subprocess.Popen(command, stdout=out, stderr=err, **how)
        self.wait_for(lambda: "Rate" in self.out)

    @property
    def out(self):
        return self.files[0].read_text()

    @property
    def err(self):
        return self.files[1].read_text()

    @property
    def used(self):
        """How many threads and descriptors it has."""
        proc = Path(f"/proc/{self.process.pid}")
        return len(list((proc / "task").iterdir())), len(list((proc / "fd").iterdir()))

    def wait_for(self, what):
        end_s = time.monotonic() + 60
        while not what():
            assert self.process.poll() is None and time.monotonic() < end_s, self.out + self.err
            time.sleep(0.02)

    def connect(self):
        sock = socket.create_connection((HOST, self.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def client(self, *options):
        return run("-c", "-I", HOST, "-p", self.port, *options)


def run(*words, **how):
    command = [sys.executable, FILE, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **how)


@pytest.fixture
def serve(tmp_path):
    started = []

    def start(*options, **how):
        started.append(Server(tmp_path, *options, **how))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()
        assert "Traceback" not in one.out + one.err


def test_both_count_each_byte_and_their_interval_lines_add_up(serve):
    """The reader refuses lines that do not follow one another, or do not add up to the byte. All at
    once, as a server with -1 waits a while before it ends.
    """

    def told(client, both=()):
        server = serve("-1", *both)
        done = server.client(*client, *both)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        assert server.process.wait(60) == 0 and server.err == ""
        return done.stdout, server.out

    amounts = [("3MB", 1, 3_000_000), ("3MB", 5, 3_000_000), ("1B", 1, 1), ("1003B", 1, 1003)]
    units = ["B", "KB", "MB"]
    with ThreadPoolExecutor(7) as pool:
        counted = [pool.submit(told, ("-n", size, "-P", n)) for size, n, _ in amounts]
        client = ("-t", "1", "-P", "2")
        timed = [pool.submit(told, client, ("-i", "0.2", "-f", unit)) for unit in units]
    for (_, parallel, count), run in zip(amounts, counted, strict=True):
        sent, received = (read_simpleperf(text).streams for text in run.result())
        assert {*sent.port} == {*received.port} and len(sent) == parallel
        assert {*sent.sent_bytes, *received.received_bytes} == {count}
        assert sent.acknowledged.all() and received.acknowledged.all()
    for unit, run in zip(units, timed, strict=True):
        sent, received = map(read_simpleperf, run.result())
        for out, text in zip((sent, received), run.result(), strict=True):
            assert len(out.streams) + len(out.intervals) == text.count("Mbps") >= 2 * (2 + 1)
            assert text.count(f" {unit} ") == text.count("Mbps")
        assert sorted(sent.streams.sent_bytes) == sorted(received.streams.received_bytes)


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from([b"0", b"00", b"B", b"Y", b"BY", b"EB"]), max_size=20),
    st.lists(st.integers(1, 5), min_size=1),
)
def test_however_it_is_cut_the_server_counts_what_comes_before_bye(data, cuts):
    whole = b"".join(data)
    stream = whole + b"BYE"
    if b"BYE" in stream[:-1]:
        return
    options = argparse.Namespace(timeout=10, length=1000)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # keeps the cuts
    with ours, theirs:
        connection = simpleperf.Connection(ours, options)
        for cut in [*cuts, len(stream)]:
            if stream:
                theirs.send(stream[:cut])
            stream = stream[cut:]
        simpleperf.process_client(connection)
        assert connection.count == len(whole)
        assert theirs.recv(100) == b"ACK: BYE"


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    sock.close()


@pytest.mark.parametrize(
    ("leave", "words"),
    [
        (socket.socket.close, "closed without BYE"),
        (reset, "Connection reset by peer"),
        (None, "nothing has moved"),
    ],
)
def test_a_client_that_vanishes_is_reported_and_the_next_is_served(serve, leave, words):
    server = serve("--timeout", "0.3" if leave is None else "60")
    sock = server.connect()
    sock.sendall(b"0" * 1234 + b"BY")
    server.wait_for(lambda: "connected with" in server.out)
    time.sleep(0.1)  # until it has been read: RST takes away what has not
    if leave:
        leave(sock)
    server.wait_for(lambda: words in server.err)
    ((name, (count, how)),) = totals(server.out).items()
    assert how == "no BYE" and count in (1233, 1236) and f"simpleperf: {name}: " in server.err
    assert server.client("-n", "1MB").returncode == 0
    sock.close()


def test_a_server_whose_only_client_broke_off_says_so_in_its_status(serve):
    server = serve("-1")
    server.connect().close()
    assert server.process.wait(60) == 5


BEHAVIOURS = [
    lambda sock: sock.close(),
    reset,
    lambda sock: (sock.sendall(b"0" * 500 + b"BY"), sock.close()),
    lambda sock: (sock.sendall(b"0" * 700), reset(sock)),
    lambda sock: sock.sendall(b"0" * 900),  # stays
    lambda sock: (sock.sendall(b"0BYE"), reset(sock)),  # hears no answer
    lambda sock: (sock.sendall(b"GET / HTTP/1.1\r\n\r\n"), sock.close()),
    lambda sock: (sock.sendall(b"0" * 300 + b"BYE"), sock.recv(100), sock.close()),  # all right
]


def test_hundreds_of_bad_connections_leave_no_thread_and_no_descriptor(serve):
    server = serve("--timeout", "2")
    assert server.client("-n", "1MB").returncode == 0
    server.wait_for(lambda: server.used[0] == 1)
    before, kept, peak = server.used, [], (0, 0)
    for number in range(400):
        sock = server.connect()
        kept.append(sock)  # otherwise Python closes it
        with contextlib.suppress(ConnectionError):
            BEHAVIOURS[number % len(BEHAVIOURS)](sock)
        peak = max(peak, server.used) if number % 50 == 0 else peak
        if number % 100 == 99:
            assert server.client("-n", "100KB").returncode == 0  # it serves in between
    # by lines, as a port whose connection was reset is used again
    server.wait_for(lambda: server.out.count("total (") == server.out.count("connected with"))
    server.wait_for(lambda: server.used == before)
    assert server.client("-n", "1MB").returncode == 0
    server.wait_for(lambda: server.used == before)
    counts = Counter(how for *_, how in TOTAL.findall(server.out))
    assert counts["no BYE"] >= 280 and counts["BYE"] >= 50
    assert peak[0] > 20  # the silent ones are held until their time is over
    for sock in kept:
        sock.close()


def test_more_connections_than_files_wait_until_there_is_room(serve):
    few_files = functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (20, 20))
    server = serve("--timeout", "1", preexec_fn=few_files)
    before = server.used
    held = [server.connect() for _ in range(30)]
    server.wait_for(lambda: "no room for more connections" in server.err)
    assert server.client("-n", "100KB", "--timeout", "30").returncode == 0
    for sock in held:
        sock.close()
    server.wait_for(lambda: server.used == before)
    assert server.err.count("no room") < 30  # it does not say so again and again


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "one of the arguments -s/--server -c/--client is required"),
        ("-s -c", "not allowed with argument"),
        ("-s -P 2", "-P is an option of the client"),
        (f"-s -I {HOST}", "-I is an option of the client"),
        (f"-c -b {HOST}", "-b is an option of the server"),
        ("-c -1", "-1 is an option of the server"),
        ("-c -n 10MB -t 5", "-t and -n: give one of them"),
        ("-c -n 10mb", "'10mb': a whole number with B, KB or MB"),
        ("-c -n 0MB", "'0MB': a whole number"),
        ("-c -n -5MB", "expected one argument"),
        ("-c -P 0", "'0': a whole number from 1 to 128"),
        ("-c -P 1.5", "'1.5': a whole number from 1 to 128"),
        ("-c -t nan", "'nan': a number from 0.01"),
        ("-c -t 0", "'0': a number from 0.01"),
        ("-c -i x", "'x': a number from 0.01"),
        ("-c -p 70000", "'70000': a whole number from 1 to 65535"),
        ("-c -f GB", "invalid choice: 'GB'"),
        ("-c -l 10.0.5.2", "the server's address is -I, a capital i"),
        (f"-c --serv {HOST}", "unrecognized arguments"),
        ("-c -C nosuch -p 9", "-C nosuch: this kernel does not offer it"),
        ("-c -I \udcff", r"'\udcff': an address such as 10.0.5.2"),  # a byte, not UTF-8
        ("-c -I " + "ü" * 64, "an address such as 10.0.5.2"),
        ("-s -b h1\udcff", r"'h1\udcff': an address such as 10.0.5.2"),
        ("-c -C \udcff", r"'\udcff': a name such as reno"),
        ("-c -f \udcff", r"invalid choice: '\udcff'"),
    ],
)
def test_options_that_are_not_valid_are_named(words, said, capsys):
    try:
        status = simpleperf.simpleperf_main(words.split())
    except SystemExit as ended:
        status = ended.code
    assert status == 2 and said in capsys.readouterr().err


def test_who_cannot_listen_or_connect_says_why(serve):
    server = serve()
    done = run("-s", "-b", HOST, "-p", server.port)
    assert done.returncode == 3
    assert f"cannot listen on {HOST}, port {server.port}: Address already in use" in done.stderr
    done = run("-s", "-b", "192.0.2.1")
    assert done.returncode == 3 and "192.0.2.1" in done.stderr and done.stdout == ""
    done = run("-c", "-p", (port := free_port()))
    said = f"simpleperf: cannot connect to 127.0.0.1, port {port}: Connection refused\n"
    assert (done.returncode, done.stderr) == (4, said)


@contextlib.contextmanager
def strange_server(answer):
    """One that reads until BYE, answers this, and closes."""

    def serve_one():
        sock = listener.accept()[0]
        with sock:
            tail = b""
            while not tail.endswith(b"BYE"):
                tail = tail[-3:] + sock.recv(65536)
            sock.sendall(answer)

    with socket.create_server((HOST, 0)) as listener:
        thread = threading.Thread(target=serve_one)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "closed the connection without ACK: BYE"),
        (b"ACK: B", "closed the connection without ACK: BYE"),
        (b"NO: BYE!", "the server answered b'NO: BYE!', not b'ACK: BYE'"),
    ],
)
def test_a_server_that_does_not_acknowledge_is_reported(answer, said):
    with strange_server(answer) as port:
        done = run("-c", "-p", port, "-n", "10KB")
    assert done.returncode == 5 and said in done.stderr
    assert [*totals(done.stdout).values()] == [(10_000, "no ACK: BYE")]


def test_a_server_that_takes_nothing_is_given_up():
    with socket.create_server((HOST, 0)) as listener:
        done = run("-c", "-p", listener.getsockname()[1], "-t", "60", "--timeout", "0.3")
    assert done.returncode == 5 and "nothing has moved for 0.3 s (--timeout)" in done.stderr


@contextlib.contextmanager
def sending(server, *options):
    """A client that would send for long, in a process of its own."""
    command = [sys.executable, FILE, "-c", "-p", str(server.port), "-t", "100", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as client:
        yield client


@pytest.mark.long
def test_ctrl_c_ends_both_with_their_totals(serve):
    server = serve("-i", "0.1")
    with sending(server, "-i", "0.1", "--timeout", "5") as client:
        other = server.connect()
        server.wait_for(lambda: server.out.count("Mbps") >= 3)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) == 130
        out, err = client.communicate(timeout=60)
        assert client.returncode == 5 and "Traceback" not in err and "total (no ACK: BYE)" in out
    assert server.out.count("total (no BYE)") == 2 and "simpleperf: interrupted" in server.err
    other.close()


def test_ctrl_c_ends_a_client_of_two_connections_that_both_send(serve):
    with sending(serve(), "-P", "2", "-i", "1") as client:
        names = set()  # of those that have printed a first interval
        while len(names) < 2:
            line = client.stdout.readline()
            assert line, "it has ended before"
            names |= {line.split()[0]} if "Mbps" in line else set()
        client.send_signal(signal.SIGINT)
        out, err = client.stdout.read(), client.stderr.read()
    assert client.returncode == 130 and "simpleperf: interrupted" in err and "Traceback" not in err
    assert out.count("total (no ACK: BYE)") == 2


def test_output_that_nobody_reads_ends_it():
    read_end, write_end = os.pipe()
    os.close(read_end)
    with socket.create_server((HOST, 0)) as listener:
        command = [sys.executable, FILE, "-c", "-p", str(listener.getsockname()[1])]
        done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, timeout=60)
    os.close(write_end)
    assert done.returncode == 1 and b"Traceback" not in done.stderr


def test_it_is_a_script_for_standard_input_and_takes_the_long_dashes_of_a_pdf(serve):
    words = ["–c", "–I", HOST, "–p", str(serve().port), "–n", "1MB"]  # noqa: RUF001
    with open(FILE) as script:
        done = subprocess.run(
            [sys.executable, "-", *words], stdin=script, capture_output=True, text=True
        )
    assert done.returncode == 0
    assert [*totals(done.stdout).values()] == [(1_000_000, "ACK: BYE")]


def test_netlab_simpleperf_hands_all_its_options_on():
    def netlab(*words):
        command = [sys.executable, "-m", "netlab", "simpleperf", *words]
        return subprocess.run(command, capture_output=True, text=True)

    told = netlab("--help").stdout
    assert "--serverip" in told and "(ours)" in told
    for name in "sbpcIPtnif":
        line = re.search(rf"^  -{name}[ ,].*(?:\n {{10,}}.*)*", told, re.M)
        assert line and "(ours)" not in line[0], f"-{name} is of the course"
    assert netlab("-c", "-p", str(free_port())).returncode == 4


def test_it_needs_the_standard_library_only():
    names = re.findall(r"^(?:import|from) (\w+)", FILE.read_text(), re.M)
    assert set(names) <= sys.stdlib_module_names
