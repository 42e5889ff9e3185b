"""Measure the throughput between two hosts over TCP: run a server on one, a client on the other.

  server:  python3 simpleperf.py -s -b 10.0.5.2 -p 8088
  client:  python3 simpleperf.py -c -I 10.0.5.2 -p 8088 -t 25

The client sends chunks of 1000 bytes, then BYE; the server answers ACK: BYE. Each of the two prints
what it counted: the client what it handed to its kernel, the server what arrived.

Units: 1 KB is 1000 bytes, 1 MB is 1000 KB, and 1 Mbps is 1,000,000 bit/s (iperf prints the same
rates, but its MBytes are 1024 * 1024 bytes).
Exit status: 0 all went well; 1 nobody reads the output; 2 an option is not valid; 3 the server
cannot listen; 4 the client cannot connect; 5 a connection ended without BYE and ACK: BYE; 130
Ctrl-C. It runs on Linux, with Python 3.11 or later.
"""
# One file, standard library only, so that it runs on any host that has Python.

import argparse
import contextlib
import math
import os
import re
import socket
import struct
import sys
import threading
import time

UNREAD, BAD_OPTION, NOT_LISTENING, NOT_CONNECTED, BROKEN_OFF, INTERRUPTED = 1, 2, 3, 4, 5, 130
BYE, ACK = b"BYE", b"ACK: BYE"  # chunks are zeros: data never looks like these
UNITS = {"B": 1, "KB": 1000, "MB": 1_000_000}
DECIMALS = {"B": 0, "KB": 3, "MB": 6}  # so that every byte shows
TOGETHER = threading.RLock()  # held while a line is made and printed
HAS_ENDED = threading.Event()  # Thread.join in its place may forget the thread at Ctrl-C


def say(text, file=None):
    """Print one or more lines at once; `file` is as in `print`."""
    with TOGETHER:
        try:
            print(f"{text}\n", end="", file=file, flush=True)
        except OSError:  # as after `| head -1`
            os._exit(UNREAD)


def complain(text):
    """Print what went wrong, on the standard error."""
    say(f"simpleperf: {text}", sys.stderr)


def parse_data_size(text):
    """Read a size such as "10MB"; -> bytes."""
    found = re.fullmatch(r"([0-9]{1,15})(B|KB|MB)", text)
    if not found or not int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number with B, KB or MB, as in 10MB")
    return int(found[1]) * UNITS[found[2]]


def parse_host(text):
    """An address or the name of a host, if it can be one."""
    try:
        text.isascii() or text.encode("idna")
    except UnicodeError as error:
        hint = "an address such as 10.0.5.2, or a host's name"
        raise argparse.ArgumentTypeError(f"{text!r}: {hint}") from error
    return text


def parse_algorithm(text):
    """The name of a congestion control, if it can be one."""
    if not re.fullmatch(r"[\w-]+", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r}: a name such as reno or cubic")
    return text


def validate_positive(kind, least, most):
    """A reader of an option's number, which refuses what is not from `least` to `most`."""

    def check(text):
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            what = "whole number" if kind is int else "number"
            hint = "; the server's address is -I, a capital i" * (text.count(".") == 3)
            raise argparse.ArgumentTypeError(f"{text!r}: a {what} from {least} to {most}{hint}")
        return number

    return check


def create_arg_parser():
    """The parser of the options. Those of one mode only are None where they are not given."""
    parser = argparse.ArgumentParser(
        "simpleperf",
        description=__doc__,
        epilog="(ours): an extension of netlab; the course's simpleperf does not have it.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("-s", "--server", action="store_true", help="be the server")
    mode.add_argument("-c", "--client", action="store_true", help="be the client")
    seconds, add = validate_positive(float, 0.01, 1_000_000), parser.add_argument
    port, length = validate_positive(int, 1, 65535), validate_positive(int, 1, 1_000_000)
    add("-p", "--port", type=port, default=8088, help="the server's port (8088)")
    add("-f", "--format", choices=UNITS, default="MB", help="unit of amounts of data (MB)")
    add("-i", "--interval", type=seconds, metavar="S", help="also print a line every S seconds")
    text = "(ours) bytes given to send(), or asked of recv(), at a time (1000)"
    add("-l", "--length", type=length, default=1000, metavar="BYTES", help=text)
    text = "(ours) give up a connection on which nothing has moved for S seconds (60)"
    add("--timeout", type=seconds, default=60.0, metavar="S", help=text)
    add = parser.add_argument_group("server only").add_argument
    text = "own address to listen on (0.0.0.0, which is all)"
    add("-b", "--bind", type=parse_host, metavar="IP", help=text)
    text = "(ours) end after the first client, when all its connections have ended"
    add("-1", "--once", action="store_const", const=True, help=text)
    add = parser.add_argument_group("client only").add_argument
    text = "the server's address (127.0.0.1); a capital i"
    add("-I", "--serverip", type=parse_host, metavar="IP", help=text)
    add("-t", "--time", type=seconds, metavar="S", help="send for S seconds (25)")
    text = "what each connection sends, as 10MB or 500KB, instead of -t"
    add("-n", "--num", type=parse_data_size, metavar="SIZE", help=text)
    number = validate_positive(int, 1, 128)
    add("-P", "--parallel", type=number, metavar="N", help="parallel connections, up to 128 (1)")
    text = "(ours) congestion control, such as reno"
    add("-C", "--congestion", type=parse_algorithm, metavar="NAME", help=text)
    return parser


class Connection:
    """One TCP connection, and what was counted on it.

    Attributes
    ----------
    name : str
        The client's address and port: the same on both sides.
    count : int
        Data so far, without BYE. [byte]
    start_s, end_s : float or None
        When its data began and ended, on `time.monotonic`. [s]
    until_s : float
        When its data will end, where that is known; infinity where it is not. [s]
    shown_s, shown : float, int
        Up to where interval lines have told: time since `start_s` [s], and `count` [byte].
    ended : str
        How it ended; "" until then.
    """

    def __init__(self, sock, options):
        self.sock, self.options, self.name, self.ended = sock, options, "", ""
        self.start_s, self.end_s, self.until_s = None, None, math.inf
        self.count, self.shown, self.shown_s = 0, 0, 0.0
        # The kernel's own limits: with settimeout(), Python calls poll() before each chunk.
        limit = struct.pack("ll", int(options.timeout), int(options.timeout % 1 * 1e6))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)

    def row(self, from_s, to_s, count, note=""):
        """A line of the table."""
        unit, seconds = self.options.format, to_s - from_s
        amount = f"{count / UNITS[unit]:.{DECIMALS[unit]}f} {unit}"
        rate = f"{8 * count / seconds / 1e6:.6f}" if seconds >= 0.001 else "-"  # too short
        when = f"{from_s:.3f} - {to_s:.3f} s"
        return f"{self.name:<21} {when:>23} {amount:>18} {rate:>14} Mbps{note}"

    def next_row_s(self):
        """When an interval line is due; infinity where none is. [s]"""
        interval_s = self.options.interval
        if not interval_s or self.end_s:
            return math.inf
        if not self.start_s:  # look again before the first can be due
            return time.monotonic() + interval_s
        due_s = self.start_s + (round(self.shown_s / interval_s) + 1) * interval_s
        last = due_s > self.until_s - interval_s / 2  # that line comes when all has been sent
        return math.inf if last else due_s

    def interval(self):
        """Print the line of an interval that ends now, or has ended with the data."""
        with TOGETHER:
            to_s, count = (self.end_s or time.monotonic()) - self.start_s, self.count
            if not self.ended and to_s > self.shown_s:
                say(self.row(self.shown_s, to_s, count - self.shown))
                self.shown_s, self.shown = to_s, count

    def carry_out(self, work, good):
        """Do all of its `work`, print the total, and close it; its own thread runs this."""
        problem = ""
        try:
            work(self)
        except BlockingIOError:  # how SO_RCVTIMEO and SO_SNDTIMEO end
            problem = f"nothing has moved for {self.options.timeout:g} s (--timeout)"
        except OSError as error:
            problem = error.strerror or str(error)
        with TOGETHER:
            self.end_s = self.end_s or time.monotonic()
            self.start_s = self.start_s or self.end_s
            if self.options.interval:
                self.interval()
            self.ended = f"no {good}" if problem else good
            say(self.row(0.0, self.end_s - self.start_s, self.count, f"  total ({self.ended})"))
            if problem:
                complain(f"{self.name}: {problem}")
        self.sock.close()
        HAS_ENDED.set()

    def begin(self, work, good):
        """Start the work in a thread of its own."""
        self.thread = threading.Thread(target=self.carry_out, args=(work, good))
        self.thread.start()


def display_interval_stats(connections):
    """Print the interval lines that are due; -> seconds until the next is, None for never."""
    now_s = time.monotonic()
    for one in connections:
        if one.next_row_s() <= now_s:
            one.interval()
    next_s = min((one.next_row_s() for one in connections), default=math.inf)
    return None if next_s == math.inf else max(0.001, next_s - time.monotonic())


def hang_up(connections):
    """At Ctrl-C: end what still runs. Each thread finds its connection closed, and says so."""
    complain("interrupted")
    for one in connections:
        with TOGETHER, contextlib.suppress(OSError):
            if not one.ended:
                one.sock.shutdown(socket.SHUT_RDWR)


def headline(text, amount, rate):
    """The header of the table."""
    rule = "-" * len(text)
    return f"{rule}\n{text}\n{rule}\n{'ID':<21} {'Interval':>23} {amount:>18} {rate:>19}"


def process_client(connection):
    """Server: receive until BYE, which may come in pieces, or glued to data; answer it."""
    sock, length, total, tail = connection.sock, connection.options.length, 0, b""
    while tail != BYE:
        data = sock.recv(length)
        connection.start_s = connection.start_s or time.monotonic()
        if not data:
            connection.count = total
            raise ConnectionError("the connection was closed without BYE")
        total += len(data)
        tail = (tail + data[-3:])[-3:]
        connection.count = total - len(tail)  # the last three bytes may be BYE, and no data
    connection.end_s = time.monotonic()
    sock.sendall(ACK)


def accept_client(listener, options):
    """Server: accept the next connection, and serve it in a thread."""
    sock, address = listener.accept()
    connection = Connection(sock, options)
    connection.name = "{}:{}".format(*address)
    say("{} connected with {}:{}".format(connection.name, *sock.getsockname()))
    connection.begin(process_client, "BYE")
    return connection


def server_mode(options):
    """Serve clients until Ctrl-C, or the first one with --once; -> exit status."""
    try:
        listener = socket.create_server((options.bind, options.port), backlog=1024)
    except OSError as error:
        said = error.strerror.partition(" (while")[0]  # Python adds the address, in its own way
        complain(f"cannot listen on {options.bind}, port {options.port}: {said}")
        return NOT_LISTENING
    text = f"A simpleperf server is listening on port {options.port}"
    say(headline(text, "Received", "Rate"))
    connections, status, served, full = [], 0, False, False
    try:
        while True:
            wait_s, was_quiet = display_interval_stats(connections), not connections
            if options.once:
                wait_s = 1 if wait_s is None else min(wait_s, 1)
            try:
                listener.settimeout(wait_s)
                connections.append(accept_client(listener, options))
                served, full = True, False
            except TimeoutError:
                if options.once and served and was_quiet:  # for a second: that was the client
                    return status
            except (OSError, RuntimeError) as error:  # too many files, or threads
                if not full:
                    complain(f"no room for more connections, they have to wait: {error}")
                full = True
                time.sleep(0.1)
            for one in [one for one in connections if not one.thread.is_alive()]:
                connections.remove(one)
                status = status if one.ended == "BYE" else BROKEN_OFF
    except KeyboardInterrupt:
        hang_up(connections)
        return INTERRUPTED
    finally:
        listener.close()


def send_data(connection):
    """Client: send chunks, then BYE, and wait for the answer."""
    sock, length = connection.sock, connection.options.length
    chunk, left = memoryview(b"0" * length), connection.options.num or math.inf
    while left > 0 and time.monotonic() < connection.until_s:
        sent = sock.send(chunk if left >= length else chunk[:left])
        connection.count += sent
        left -= sent
    connection.end_s = time.monotonic()
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # BYE does not wait for an ACK
    sock.sendall(BYE)
    answer = b""
    while len(answer) < len(ACK):
        data = sock.recv(64)
        if not data:
            raise ConnectionError("the server closed the connection without ACK: BYE")
        answer += data
    if answer != ACK:
        raise ConnectionError(f"the server answered {answer!r}, not {ACK!r}")


def connect(options):
    """Client: a new connection to the server."""
    connection = Connection(socket.socket(), options)
    sock, server = connection.sock, (options.serverip, options.port)
    try:
        if options.congestion:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, options.congestion.encode())
        sock.connect(server)
    except OSError:
        sock.close()
        raise
    connection.name = "{}:{}".format(*sock.getsockname())
    used = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).partition(b"\0")[0]
    size = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
    to = f"{options.serverip}:{options.port} ({used.decode()}, segments of {size} bytes)"
    say(f"{connection.name} connected with {to}")
    return connection


def client_mode(options):
    """Open all connections, then send on all of them at once; -> exit status."""
    text = f"A simpleperf client connecting to server {options.serverip}, port {options.port}"
    say(headline(text, "Transfer", "Bandwidth"))
    connections = []
    try:
        for _ in range(options.parallel):
            connections.append(connect(options))
        start_s = time.monotonic()
        for one in connections:
            one.start_s, one.until_s = start_s, start_s + (options.time or math.inf)
            one.begin(send_data, "ACK: BYE")
        while not all(one.ended for one in connections):
            HAS_ENDED.wait(display_interval_stats(connections))
            HAS_ENDED.clear()
    except KeyboardInterrupt:
        hang_up(connections)
        return INTERRUPTED
    except OSError as error:
        for one in connections:
            one.sock.close()
        if options.congestion and isinstance(error, (FileNotFoundError, PermissionError)):
            complain(f"-C {options.congestion}: this kernel does not offer it")
            return BAD_OPTION
        late = isinstance(error, BlockingIOError)
        said = f"no answer for {options.timeout:g} s (--timeout)" if late else error.strerror
        complain(f"cannot connect to {options.serverip}, port {options.port}: {said}")
        return NOT_CONNECTED
    return 0 if all(one.ended == "ACK: BYE" for one in connections) else BROKEN_OFF


def simpleperf_main(argv=None):
    """Read the options (None: the command line's), and do what they ask for; -> exit status."""
    parser = create_arg_parser()
    # text that is copied from a PDF may have a long dash in place of the hyphen
    words = [
        re.sub("^[\u2013\u2014]", "-", word) for word in (sys.argv[1:] if argv is None else argv)
    ]
    options = parser.parse_args(words)
    servers = {"-b": options.bind, "-1": options.once}
    clients = {"-I": options.serverip, "-t": options.time, "-n": options.num}
    clients |= {"-P": options.parallel, "-C": options.congestion}
    for name, value in (clients if options.server else servers).items():
        if value is not None:
            parser.error(f"{name} is an option of the {'client' if options.server else 'server'}")
    if options.num and options.time:
        parser.error("-t and -n: give one of them")
    options.bind, options.serverip = options.bind or "0.0.0.0", options.serverip or "127.0.0.1"
    options.parallel = options.parallel or 1
    options.time = options.time or (None if options.num else 25.0)
    return server_mode(options) if options.server else client_mode(options)


if __name__ == "__main__":
    sys.exit(simpleperf_main())
