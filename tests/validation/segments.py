"""One TCP connection, segment by segment: what may be lost on the way, and what was sent.

h1 sends to h2 over a path whose one-way delay is its RTT. Where packets are to be lost or late, a
program on h2, the *wire*, gets each one that arrives there, and passes it on to h2's TCP, holds it
for a while, or loses it. That costs some 7 µs a packet, of system calls.

h1's TCP and h2's are the kernel's own. What is measured is seen by tcpdump on h1, by h1's kernel
(the windows, at each ACK), or by the program on h1 that sends.
"""

import json
import random
import re
import shlex

import pandas as pd

import netlab as nl
from netlab.engines.base import Watch
from netlab.engines.guest import store
from netlab.readers import read_windows
from tests.validation.measuring import do

MSS = 1448  # of Ethernet's 1500 bytes, without the headers of IP and TCP and its time stamps
RTT_S = 0.02
TICK_S = 1 / store.ticks_per_s()  # the kernel's timers count these

# Both programs begin so. TCP_INFO is the kernel's struct tcp_info, with the RTO at byte 8 and the
# congestion window at 80.
BEGIN = """
import json, os, select, socket, struct, sys, time

def tcp():
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    return s

def connected(congestion="reno", **options):
    s = tcp()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    for name, value in options.items():
        s.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    s.connect(("10.0.0.2", 5000))
    return s

def send(s, segments):
    s.sendall(bytes(1448 * segments))

def info(s):
    known = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    rto_us, cwnd = (struct.unpack_from("I", known, place)[0] for place in (8, 80))
    return dict(rto_us=rto_us, cwnd=cwnd)
"""
SERVER = """
listening = tcp()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)  # is never what limits
listening.bind(("", 5000))
listening.listen()
while True:
    s, _ = listening.accept()
    while s.recv(1 << 20):
        pass
    s.close()
"""
DELAYS_ACKS = SERVER.replace(
    "    while", "    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)\n    while"
)
# The rule is an expression: None loses the packet, 0 passes it on, MARKED passes it on with CE (an
# ECN mark), else it is held for so long [s].
# It knows of a packet `n`, its place among the connection's segments of MSS bytes (-1 is the SYN);
# `copy`, which copy of it that is (1 is the first), and `t`, the time since the first SYN.
WIRE = """
import fcntl, heapq
wire = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(wire, 0x400454CA, struct.pack("16sH", b"wire", 0x1001))  # TUNSETIFF: IP packets
os.system("ip link set wire up; tc qdisc add dev h2-eth0 clsact; tc filter add dev h2-eth0 ingress"
          " protocol ip u32 match ip protocol 6 0xff action mirred egress redirect dev wire")

def marked(packet):
    # with CE in its IP header, of 20 bytes, and the sum of this (RFC 1071)
    words = [*struct.unpack("!10H", packet[:20])]
    words[0] |= 3
    words[5] = 0
    words[5] = 0xFFFF - (sum(words) - 1) % 0xFFFF - 1
    return struct.pack("!10H", *words) + packet[20:]

rule, held, copies, number = compile(sys.argv[1], "rule", "eval"), [], {}, 0
while True:
    wait = max(0, held[0][0] - time.monotonic()) if held else None
    if wire in select.select([wire], [], [], wait)[0]:
        packet = os.read(wire, 2000)
        if packet[0] != 0x45:
            continue  # IPv6's
        sequence, flags = struct.unpack_from("!I5xB", packet, 24)
        size = len(packet) - 20 - 4 * (packet[32] >> 4)
        if flags & 2:
            n, first = -1, sequence + 1
            began = began if copies else time.monotonic()
        elif size:
            n = (sequence - first) % (1 << 32) / 1448
        if size or flags & 2:
            copies[n] = copies.get(n, 0) + 1
            known = dict(n=n, copy=copies[n], t=time.monotonic() - began, MARKED=-1)
            said = eval(rule, known)
        else:
            said = 0  # only an ACK, or a FIN
        if said == -1:
            packet, said = marked(packet), 0
        if said is not None:
            number += 1
            heapq.heappush(held, (time.monotonic() + said, number, packet))
    while held and held[0][0] <= time.monotonic():
        os.write(wire, heapq.heappop(held)[2])
"""
SEGMENT = re.compile(
    r"(?P<time_s>[\d.]+) IP (?P<src>[\d.]+)\.\d+ > [\d.]+: Flags \[(?P<flag>[^\]]+)\]"
    r"(?:, seq (?P<seq>\d+)(?::\d+)?)?(?:, ack (?P<ack>\d+))?, win (?P<win>\d+)"
    r"(?:, options \[(?P<options>[^\]]*)\])?, length (?P<bytes>\d+)"
)


class Line(nl.Network):
    """h1 and h2, `delay` apart."""

    def __init__(self, seed, rate=None, delay="20ms", **more):
        super().__init__(nl.wan(rate, delay, pairs=1, offload=False, **more), seed=seed)
        self.random = random.Random(seed)

    def change(self, delay):
        netem = f"root handle 1: netem delay {delay} limit 1000000"
        do(self, "s1", f"tc qdisc change dev s1-eth2 {netem}")

    def set(self, **settings):
        """Settings of both hosts' TCP, such as early_retrans=0."""
        line = " ".join(f"net.ipv4.tcp_{name}={value}" for name, value in settings.items())
        for host in ("h1", "h2"):
            do(self, host, f"sysctl -w {line}")

    def talk(self, script, rule=None, server=SERVER):
        """What happens while h1 carries out this script, and h2 this server's: a `Talk`.

        Without a rule there is no wire.
        """
        running = [
            self.start("h2", python(BEGIN + server)),
            self.start("h1", "exec tcpdump -i h1-eth0 -n -tt --nano -s 120 tcp"),
        ]
        if rule:
            running.insert(0, self.start("h2", python(BEGIN + WIRE, rule)))
        self.run("h1", "ping -c 2 -i 0.2 10.0.0.2", echo=False)  # both know the other's address
        self.watch({"windows": Watch("windows", "10.0.0.1", 0)})
        # each seed begins in another part of a tick
        self.sleep(0.5 + round(self.random.random() * 8 * TICK_S, 6))
        job = self.run("h1", python(BEGIN + script), echo=False)
        self.sleep(0.5)
        for one in running[::-1]:
            one.stop()
        if rule:
            do(self, "h2", "tc qdisc del dev h2-eth0 clsact")
        if job.status:
            raise RuntimeError("\n".join([job.text, *(one.text for one in running)]))
        return Talk(job.text, running[-1].text, self.watched(0)["windows"])


class Talk:
    """`said` by the sending program (JSON, a line each); `segments`, seen on h1; `windows`."""

    def __init__(self, said, captured, windows):
        self.said = [json.loads(line) for line in said.splitlines()]
        rows = pd.DataFrame(match.groupdict() for match in SEGMENT.finditer(captured))
        numbers = ["time_s", "seq", "ack", "win", "bytes"]
        rows[numbers] = rows[numbers].astype(float)
        rows["src"] = rows.src.map({"10.0.0.1": "h1", "10.0.0.2": "h2"})
        rows["n"] = ((rows.seq - 1) / MSS).where(rows["bytes"] > 0)  # its place among the segments
        self.segments = rows
        self.windows = read_windows(windows).windows

    def data(self, n=None):
        """What h1 sent: all copies of its n-th segment; or all."""
        rows = self.segments[(self.segments.src == "h1") & (self.segments["bytes"] > 0)]
        return rows if n is None else rows[rows.n == n]

    def rounds(self):
        """How many segments h1 sent in each round trip: between pauses of a quarter of `RTT_S`."""
        return self.data().groupby((self.data().time_s.diff() > RTT_S / 4).cumsum()).size().tolist()

    def syns(self):
        return self.segments[(self.segments.src == "h1") & (self.segments.flag == "S")]

    def acks(self):
        return self.segments[(self.segments.src == "h2") & (self.segments.flag == ".")]


def python(program, *words):
    words = " ".join(shlex.quote(str(word)) for word in words)
    return f"exec python3 -u - {words} <<'END'\n{program.strip()}\nEND"


def late_s(wait_s):
    """How late a timer of the kernel may be, which is never early.

    A wait is rounded up to whole ticks, and then to what the timer wheel distinguishes
    (kernel/time/timer.c): 1 tick below 63 ticks, 8 below 63·8, 64 below 63·64, and so on. The
    programs' system calls, of a microsecond each, come to less than 0.1 ms.
    """
    level, ticks = 0, wait_s / TICK_S
    while ticks >= 63 * 8**level:
        level += 1
    return TICK_S * (1 + 8**level) + 1e-4
