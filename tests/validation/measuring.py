"""What several topics measure with: datagrams that are numbered, and iperf3 in small blocks.

Two scripts of Python send and receive the datagrams in the network. All its hosts have one clock;
the receiver's kernel says when a frame has arrived, so that a busy receiver does not count.
"""

import io
import shlex

import pandas as pd

BOOTED_NS = 1_700_000_000 * 10**9  # the date at which a network's clock begins
SEND = """import random, socket, sys, time
address, count, every_ns, size, tos, at_once, seed = sys.argv[1], *map(int, sys.argv[2:])
draw = random.Random(seed)
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end.setsockopt(socket.SOL_IP, socket.IP_TOS, tos)
end.connect((address, 9))
due_ns = time.time_ns()
for number in range(count):
    if number >= at_once:
        due_ns += round(draw.expovariate(1 / every_ns)) if seed else every_ns
    wait_ns = due_ns - time.time_ns()
    if wait_ns > 0:
        time.sleep(wait_ns / 1e9)
    end.send((b"%d,%d," % (number, time.time_ns())).ljust(size - 42, b"."))
"""
RECEIVE = """import socket, struct
STAMP, BUFFER = 35, 33  # SO_TIMESTAMPNS, SO_RCVBUFFORCE
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end.setsockopt(socket.SOL_SOCKET, STAMP, 1)
end.setsockopt(socket.SOL_IP, socket.IP_RECVTOS, 1)
end.setsockopt(socket.SOL_SOCKET, BUFFER, 10**7)
end.bind(("", 9))
end.settimeout(3)
print("number,sent_ns,received_ns,tos")
try:
    while True:
        text, said, *_ = end.recvmsg(2000, 100)
        told = {kind: data for _, kind, data in said}
        seconds, ns = struct.unpack("2q", told[STAMP])
        number, sent_ns, _ = text.split(b",")
        when_ns = seconds * 10**9 + ns
        print(int(number), int(sent_ns), when_ns, told[socket.IP_TOS][0], sep=",")
except TimeoutError:
    pass
"""


def do(net, node, line):
    """Type a line that must not fail; its `Job`."""
    job = net.run(node, line, echo=False)
    if job.status:
        raise RuntimeError(f"{node}: {line}: {job.text}")
    return job


def start(net, src, dst, count, every_s, frame_bytes=142, tos=0, at_once=1, poisson=0):
    """Start `count` frames of so many bytes, one every `every_s`, the first few at once; -> jobs
    for `arrived`. With `poisson`, a seed, that is the mean of times that are drawn. A host receives
    one such flow at a time.
    """
    receiver = net.start(dst, f"python3 -c {shlex.quote(RECEIVE)}")
    net.sleep(0.2)  # until it listens
    numbers = f"{count} {round(every_s * 1e9)} {frame_bytes} {tos} {at_once} {poisson}"
    address = net.topology.host(dst).ip
    return receiver, net.start(src, f"python3 -c {shlex.quote(SEND)} {address} {numbers}")


def arrived(net, *jobs):
    """For each pair of jobs a frame: ``number``, ``tos``, ``sent_s``, ``received_s``, ``delay_ms``;
    a row for each datagram that has come, in the order in which they came.
    """
    net.wait(*(job for pair in jobs for job in pair))
    for job in (job for pair in jobs for job in pair):
        if job.status:
            raise RuntimeError(job.text)
    tables = [pd.read_csv(io.StringIO(receiver.text)) for receiver, _ in jobs]
    for table in tables:
        table["sent_s"] = (table.pop("sent_ns") - BOOTED_NS) / 1e9
        table["received_s"] = (table.pop("received_ns") - BOOTED_NS) / 1e9
        table["delay_ms"] = 1000 * (table.received_s - table.sent_s)
    return tables


def datagrams(net, *args, **named):
    """`start` and `arrived` of one flow."""
    return arrived(net, start(net, *args, **named))[0]


def quiet(net):
    """End IPv6, whose hosts look for routers now and then, and let each pair of hosts learn their
    addresses: h1 and h2, h3 and h4.
    """
    for node in net.topology.node_names:
        do(net, node, "sysctl -wq net.ipv6.conf.all.disable_ipv6=1")
    hosts = net.topology.hosts
    for one, other in zip(hosts[::2], hosts[1::2], strict=True):
        do(net, one.name, f"ping -c 1 {other.ip}")


def iperf3(net, src, dst, words, address=None):
    """An iperf3 that has ended, a `Job`. Its blocks are 1448 bytes, as the receiver counts whole
    ones only, and usual are 128 KiB.
    """
    server = net.start(dst, "iperf3 -s -1 -J")
    net.sleep(0.2)
    address = address or net.topology.host(dst).ip
    job = do(net, src, f"iperf3 -c {address} -l 1448 -J {words}")
    net.wait(server)
    return job
