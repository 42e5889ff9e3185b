"""When a timer runs out: a socket's, and TCP's for retransmissions, probes and ACKs.

Each seed begins in another part of a tick. The kernel's timers are never early, and late by no more
than `segments.late_s` says: a row expects the middle of these times, and its margin is the half.
"""

import functools

import numpy as np

from tests.validation import answer
from tests.validation.measuring import do
from tests.validation.segments import BEGIN, DELAYS_ACKS, RTT_S, Line, late_s, python

WAITS = """
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.bind(("127.0.0.1", 0))
time.sleep(float(sys.argv[1]))
for ms in (3, 300):
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("QQ", 0, 1000 * ms))
    began = time.monotonic()
    try:
        line.recv(1)
    except BlockingIOError:
        print(1000 * (time.monotonic() - began))
"""
ONE = "s = connected(); time.sleep(0.4); send(s, 1); time.sleep(3)"
LATER = "0.02 if n >= 10 else 0"  # a longer path, from then on
LOSE_ONE = "None if n == 0 and copy < 2 else 0"
TWO = "s = connected()" + 2 * "; send(s, 1); time.sleep(4)"
MANY = """
s = connected()
for n in range({}):
    send(s, 1)
    time.sleep(1)
"""
FLIGHT = "s = connected(); send(s, 10); time.sleep(0.2); send(s, 4); time.sleep(2)"
FULL = """
s = connected()
s.setblocking(False)
s.send(bytes(100_000))
time.sleep(0.35)  # the window is closed, and was not probed
print(json.dumps(info(s)))
time.sleep(5)
"""
READS_NOTHING = """
listening = tcp()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20_000)
listening.bind(("", 5000))
listening.listen()
s, _ = listening.accept()
time.sleep(10)
"""
IDLE = """
s = connected(TCP_KEEPIDLE=2)
s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
time.sleep(2.5)
"""
CLOSE = """
def waits():
    return any(line.split()[3] == "06" for line in open("/proc/net/tcp").readlines()[1:])
connected().close()
while not waits():
    time.sleep(0.001)
began = time.monotonic()
time.sleep(59)
while waits():
    time.sleep(0.01)
print(time.monotonic() - began)
"""


def gaps_ms(rows):
    return 1000 * np.diff(rows.time_s)


@functools.cache
def waits_ms(seed):
    with Line(seed) as net:
        job = do(net, "h1", python(BEGIN + WAITS, net.random.random() / 100))
    return [float(line) for line in job.text.split()]


@functools.cache
def timeouts_ms(seed):
    """Gaps between the copies of a segment, without tail loss probes."""
    found = {}
    with Line(seed) as net:
        net.set(early_retrans=0)
        two = net.talk(TWO, "None if n == 0 and copy < 4 or n == 1 and copy < 2 else 0")
        found["20ms"], found["again"] = gaps_ms(two.data(0)), gaps_ms(two.data(1))
        net.change("100ms")
        found["100ms"] = gaps_ms(net.talk(ONE, LOSE_ONE).data(0))
        net.change("200ms")
        found["200ms"] = gaps_ms(net.talk(ONE, LOSE_ONE).data(0))
        net.change("300ms")
        many = net.talk(MANY.format(50), "None if n in (8, 48) and copy < 2 else 0")
        found["8 more"], found["48 more"] = gaps_ms(many.data(8)), gaps_ms(many.data(48))
        net.change("20ms")
        net.set(rto_min_us=1000)
        found["no floor"] = gaps_ms(net.talk(ONE, LOSE_ONE).data(0))
        found["syn"] = gaps_ms(net.talk(ONE, "None if n < 0 and copy < 8 else 0").syns())
    return found


@functools.cache
def others_ms(seed):
    """Of probes, ACKs and closed connections."""
    found = {}
    with Line(seed) as net:
        tail = net.talk(FLIGHT, "None if n >= 10 and copy < 2 else 0").data()
        found["tlp"] = 1000 * (tail.time_s.iloc[14] - tail.time_s.iloc[13])
        small = net.talk(ONE, server=DELAYS_ACKS)
        acked_s = small.acks().time_s.iloc[0] - small.data(0).time_s.iloc[0]
        found["ack"] = 1000 * (acked_s - RTT_S)
        full = net.talk(FULL, server=READS_NOTHING)
        closed_s = full.acks()[full.acks().win == 0].time_s.iloc[0]
        probes = full.segments[(full.segments.src == "h1") & (full.segments.time_s > closed_s)]
        found["rto"] = full.said[0]["rto_us"] / 1000
        found["first probe"] = 1000 * (probes.time_s.iloc[0] - closed_s)
        third_s, fourth_s = probes.time_s.iloc[2:4]
        answered_s = full.acks()[full.acks().time_s > third_s].time_s.iloc[0]
        found["fourth probe"] = 1000 * (fourth_s - answered_s)
        idle = net.talk(IDLE).segments
        found["idle"] = gaps_ms(idle[idle.src == "h1"])
        found["time-wait"] = 1000 * net.talk(CLOSE).said[0]
        rows = net.talk(MANY.format(18), LATER).windows
        found["srtt"] = 1000 * rows.srtt_s.max()
        net.change("300ms")
        found["tlp of one"] = gaps_ms(net.talk(ONE, LOSE_ONE).data(0))[0]
    return found


def due(wait_ms):
    """The middle of the times at which such a timer may run out, and the margin. [ms]"""
    late = 1000 * late_s(wait_ms / 1000)
    return wait_ms + late / 2, late / 2


WHEEL = "Linux's timer wheel: not early, late by less than a tick and the wheel's granularity"


@answer(
    "time that a read of a socket with a timeout of 3 ms takes",
    f"3 ms and half a tick; {WHEEL}, 1 tick",
    3.5,
    0.6,
    "ms",
)
def receive_timeout(seed):
    return waits_ms(seed)[0]


@answer(
    "the same with 300 ms",
    f"300 ms and half of what it may be late; {WHEEL}, here 8 ticks",
    *due(300),
    "ms",
)
def long_receive_timeout(seed):
    return waits_ms(seed)[1]


@answer(
    "first RTO after a handshake over an RTT of 20 ms: the time to the first retransmission",
    "RFC 6298 2.2, SRTT + 4·RTTVAR, where Linux takes at least 200 ms for the second part (and"
    " RFC 6298 2.4 would make it 1 s): 20 + 200",
    *due(220),
    "ms",
)
def rto_20ms(seed):
    return timeouts_ms(seed)["20ms"][0]


@answer(
    "the same over an RTT of 20 ms with `tcp_rto_min_us` of 1 ms",
    "RFC 6298 2.2, the first sample: R + 4·R/2",
    *due(60),
    "ms",
)
def rto_20ms_no_floor(seed):
    return timeouts_ms(seed)["no floor"][0]


@answer(
    "the same over an RTT of 100 ms",
    "RFC 6298 2.2, the first sample: R + 4·R/2, which is Linux's floor here, too: 100 + 200",
    *due(300),
    "ms",
)
def rto_100ms(seed):
    return timeouts_ms(seed)["100ms"][0]


@answer(
    "the same over an RTT of 200 ms",
    "RFC 6298 2.2, the first sample: R + 4·R/2, which is above Linux's floor: 200 + 400",
    *due(600),
    "ms",
)
def rto_200ms(seed):
    return timeouts_ms(seed)["200ms"][0]


@answer(
    "RTO over a constant RTT of 300 ms, after the handshake and 8 samples more",
    "RFC 6298 2.3: RTTVAR is 150 · (3/4)^8 = 15 ms, and 4 · 15 is below Linux's 200 ms: 300 + 200",
    *due(500),
    "ms",
    cause="Linux smooths the deviation as the RFC says, but the RTO comes from `rttvar_us`, the"
    " largest smoothed deviation of a round trip. A larger one counts at once, and after smaller"
    " ones it falls by a quarter of the difference per round trip (`tcp_rtt_estimator` in"
    " net/ipv4/tcp_input.c). From 600 ms after the handshake, with deviations of 338, 253 and then"
    " 200 ms, it is at 262 ms after these samples: an RTO of 562 ms, at which the wheel has a"
    " granularity of 64 ticks (562 to 627 ms).",
)
def rto_after_8_samples(seed):
    return timeouts_ms(seed)["8 more"][0]


@answer(
    "the same after 48 samples more",
    "RFC 6298 2.3, and Linux's 200 ms: 300 + 200",
    *due(500),
    "ms",
)
def rto_after_48_samples(seed):
    return timeouts_ms(seed)["48 more"][0]


@answer(
    "smoothed RTT when it was 20 ms, and 40 ms in the last 8 samples",
    "RFC 6298 2.3, alpha = 1/8: 40 - 20 · (7/8)^8",
    40 - 20 * (7 / 8) ** 8,
    0.1,
    "ms",
)
def srtt_after_a_step(seed):
    return others_ms(seed)["srtt"]


@answer(
    "time from the first to the second retransmission, RTT 20 ms",
    "RFC 6298 5.5: twice the first RTO of 220 ms",
    *due(440),
    "ms",
)
def rto_second(seed):
    return timeouts_ms(seed)["20ms"][1]


@answer(
    "time from the second to the third retransmission, RTT 20 ms",
    "RFC 6298 5.5: four times the first RTO of 220 ms",
    *due(880),
    "ms",
)
def rto_third(seed):
    return timeouts_ms(seed)["20ms"][2]


@answer(
    "RTO of the next segment, when that was retransmitted three times and acknowledged",
    "RFC 6298 5, last but one paragraph: a new sample of 20 ms brings the RTO back, to 20 + 200",
    *due(220),
    "ms",
)
def rto_after_backoff(seed):
    return timeouts_ms(seed)["again"][0]


@answer("time from a lost SYN to the second one", "RFC 6298 2.1: 1 s", *due(1000), "ms")
def syn_first(seed):
    return timeouts_ms(seed)["syn"][0]


@answer(
    "time from the fifth to the sixth SYN",
    "Linux's documentation of `tcp_syn_linear_timeouts`, which is 4: 1, 1, 1, 1, 1, 2, 4 s ..."
    " (RFC 6298 5.5 doubles each time)",
    *due(1000),
    "ms",
)
def syn_fifth(seed):
    return timeouts_ms(seed)["syn"][4]


@answer(
    "time from the seventh to the eighth SYN",
    "Linux's documentation of `tcp_syn_linear_timeouts`, which is 4: 1, 1, 1, 1, 1, 2, 4 s ..."
    " (RFC 6298 5.5 doubles each time)",
    *due(4000),
    "ms",
)
def syn_seventh(seed):
    return timeouts_ms(seed)["syn"][6]


@answer(
    "how long the receiver's TCP delays the ACK of a single segment, `TCP_QUICKACK` being off",
    "Linux's `TCP_DELACK_MIN`, 40 ms (RFC 1122, 4.2.3.2: less than 500 ms)",
    *due(40),
    "ms",
)
def delayed_ack(seed):
    return others_ms(seed)["ack"]


@answer(
    "time to the probe of a lost flight of four segments, RTT 20 ms",
    "RFC 8985 7.2: 2 · SRTT; Linux adds 2 ms",
    *due(42),
    "ms",
)
def tail_loss_probe(seed):
    return others_ms(seed)["tlp"]


@answer(
    "the same of one segment, RTT 300 ms (the RTO is 900 ms)",
    "RFC 8985 7.2: 2 · SRTT and the longest delay of an ACK, for Linux 200 ms",
    *due(800),
    "ms",
)
def tail_loss_probe_of_one(seed):
    return others_ms(seed)["tlp of one"]


@answer(
    "time from the ACK that closes the receiver's window to the first probe of it, less the RTO"
    " that the sender's `TCP_INFO` shows then",
    "RFC 1122, 4.2.2.17: the first probe when the window was closed for the RTO",
    due(240)[1],
    due(240)[1],
    "ms",
)
def window_probe(seed):
    return others_ms(seed)["first probe"] - others_ms(seed)["rto"]


@answer(
    "time from the answer to the third probe of a closed window to the fourth probe, in RTOs",
    "RFC 1122, 4.2.2.17: the intervals grow exponentially; 1, 2, 4, 8",
    due(8 * 240)[0] / 240,
    due(8 * 240)[1] / 240,
    "RTO",
)
def window_probe_fourth(seed):
    return others_ms(seed)["fourth probe"] / others_ms(seed)["rto"]


@answer(
    "time from a handshake to the first keep-alive probe, with `TCP_KEEPIDLE` of 2 s",
    "RFC 9293, 3.8.4, and tcp(7)",
    *due(2000),
    "ms",
)
def keep_alive(seed):
    return others_ms(seed)["idle"][1]


@answer(
    "how long a closed connection is in TIME-WAIT, looked at every 10 ms",
    "Linux's `TCP_TIMEWAIT_LEN`, 60 s (RFC 9293, 3.4.2: 2·MSL, 4 minutes)",
    60 + late_s(60) / 2,
    late_s(60) / 2 + 0.01,
    "s",
)
def time_wait(seed):
    return others_ms(seed)["time-wait"] / 1000
