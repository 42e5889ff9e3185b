"""Opening a connection, and slow start, in segments per round trip.

The RTT is 20 ms and nothing is lost, but where an answer says otherwise.
"""

import functools
import re

import numpy as np
import pandas as pd

from tests.validation import answer
from tests.validation.segments import DELAYS_ACKS, SERVER, Line

OPEN = """
began = time.monotonic()
s = connected()
print(1000 * (time.monotonic() - began))
"""
BULK = "s = connected(); send(s, {}); time.sleep(1)"
IDLE = """
s = connected()
send(s, 70)
time.sleep(0.4)
send(s, 80)
time.sleep(10)
send(s, 160)
time.sleep(1)
"""
FIVES = """
s = connected()
for n in range(50):
    send(s, 5)
    time.sleep(0.03)
print(info(s)["cwnd"])
"""
SMALL = """
s = connected()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, {})
for n in range(10):
    s.send(bytes(100))
time.sleep(1)
"""
STEADY = """
s = connected()
for n in range(300):
    send(s, 1)
    time.sleep(0.001)
time.sleep(1)
"""
SMALL_BUFFER = SERVER.replace("1 << 22", "20_000")


def took_ms(talk):
    """From the SYN to the last ACK."""
    return 1000 * (talk.acks().time_s.iloc[-1] - talk.syns().time_s.iloc[0])


def unused_bytes(talk):
    """The shortest way from the end of a segment to the end of the window that h2 had offered."""
    scale = int(re.search(r"wscale (\d+)", talk.segments.options[1])[1])
    acks, data = talk.acks(), talk.data()
    ends = np.maximum.accumulate(acks.ack + acks.win * 2**scale)
    offered = pd.merge_asof(data, acks.assign(end=ends)[["time_s", "end"]], "time_s")
    return (offered.end - offered.seq - offered.bytes).min()


@functools.cache
def found(seed):
    with Line(seed) as net:
        steady = net.talk(STEADY, server=DELAYS_ACKS)
        return {
            "open": net.talk(OPEN).said[0],
            "rounds": net.talk(BULK.format(640)).rounds(),
            "delayed": net.talk(BULK.format(320), server=DELAYS_ACKS).rounds(),
            "70": took_ms(net.talk(BULK.format(70))),
            "71": took_ms(net.talk(BULK.format(71))),
            "idle": net.talk(IDLE).rounds(),
            "fives": net.talk(FIVES).said[0],
            "window": unused_bytes(net.talk(BULK.format(120), server=SMALL_BUFFER)),
            "syn lost": net.talk(BULK.format(30), "None if n < 0 and copy < 2 else 0").rounds(),
            "syns lost": net.talk(BULK.format(30), "None if n < 0 and copy < 3 else 0").rounds(),
            "nagle": len(net.talk(SMALL.format(0)).data()),
            "no delay": len(net.talk(SMALL.format(1)).data()),
            "acks": len(steady.acks()) / len(steady.data()),
        }


@functools.cache
def hystart_exit(seed):
    with Line(seed, "100mbit", "100ms", burst=15_000, limit=5_000_000) as net:
        windows = net.talk("s = connected('cubic'); send(s, 2000); time.sleep(2)").windows
    return windows.ssthresh.dropna().iloc[0]


@answer(
    "time that `connect()` takes", "RFC 9293, 3.5: SYN and SYN-ACK, one RTT of 20 ms", 20, 0.1, "ms"
)
def handshake(seed):
    return found(seed)["open"]


@answer("segments in the first round trip", "RFC 6928: 10 segments", 10, 0.5, "segments")
def initial_window(seed):
    return found(seed)["rounds"][0]


@answer(
    "segments in the second round trip",
    "RFC 5681, 3.1: one more for each one acknowledged, 2 · 10",
    20,
    0.5,
    "segments",
)
def second_round(seed):
    return found(seed)["rounds"][1]


@answer("segments in the sixth round trip", "RFC 5681, 3.1: 2^5 · 10", 320, 0.5, "segments")
def sixth_round(seed):
    return found(seed)["rounds"][5]


@answer(
    "segments in the fifth round trip where the receiver delays its ACKs",
    "RFC 3465 counts bytes and not ACKs: 2^4 · 10 (RFC 5681, 3.1, counts ACKs: 10 · 1.5^4 = 51)",
    160,
    0.5,
    "segments",
    cause="ns-3 has 144: it limits how much one ACK can open the window, most likely.",
)
def round_with_delayed_acks(seed):
    return found(seed)["delayed"][4]


@answer(
    "ACKs per segment at one segment each millisecond, `TCP_QUICKACK` being off",
    "RFC 5681, 4.2: for every second full-sized segment at least",
    0.5,
    0.005,
)
def acks_per_segment(seed):
    return found(seed)["acks"]


@answer(
    "time from the SYN to the ACK of 70 segments",
    "a round trip for the handshake, and ceil(log2(70/10 + 1)) = 3: 4 · 20 ms",
    80,
    0.1,
    "ms",
)
def time_of_70_segments(seed):
    return found(seed)["70"]


@answer(
    "time from the SYN to the ACK of 71 segments",
    "a round trip for the handshake, and ceil(log2(71/10 + 1)) = 4: 5 · 20 ms",
    100,
    0.1,
    "ms",
)
def time_of_71_segments(seed):
    return found(seed)["71"]


@answer(
    "segments in the first round trip after more than one RTO of silence, a window of 80",
    "Linux, after RFC 2861 (Historic): half for each RTO of silence, 80 / 2 (RFC 5681, 4.1: 10)",
    40,
    0.5,
    "segments",
)
def after_a_pause(seed):
    return found(seed)["idle"][3]


@answer(
    "segments in the first round trip after 10 s of silence",
    "RFC 5681, 4.1: not more than the first window, 10",
    10,
    0.5,
    "segments",
)
def after_a_long_pause(seed):
    return found(seed)["idle"][5]


@answer(
    "window after 50 times five segments, 30 ms apart",
    "RFC 7661: a window of which no more than half is used does not grow, 10",
    10,
    0.5,
    "segments",
)
def unused_window(seed):
    return found(seed)["fives"]


@answer(
    "how near the end of a segment comes to the end of the window that a receiver with a buffer of"
    " 20,000 bytes has offered",
    "RFC 9293, 3.8.6: never beyond it; and as near as a whole segment fits, 0 to 1447 bytes",
    723.5,
    724,
    "bytes",
)
def receivers_window(seed):
    return found(seed)["window"]


@answer(
    "segments in the first round trip, when the first SYN was lost",
    "RFC 6928, 2: 10 still, as one retransmission may be spurious",
    10,
    0.5,
    "segments",
)
def window_after_a_lost_syn(seed):
    return found(seed)["syn lost"][0]


@answer(
    "segments in the first round trip, when two SYNs were lost",
    "RFC 6928, 2, and RFC 5681, 3.1: 1",
    1,
    0.5,
    "segments",
)
def window_after_two_lost_syns(seed):
    return found(seed)["syns lost"][0]


@answer(
    "segments that ten writes of 100 bytes at once become, `TCP_NODELAY` being off",
    "RFC 9293, 3.7.4 (Nagle): the first alone, and the rest when it is acknowledged",
    2,
    0.5,
    "segments",
)
def nagle(seed):
    return found(seed)["nagle"]


@answer(
    "segments that ten writes of 100 bytes at once become, `TCP_NODELAY` being on",
    "tcp(7): each at once",
    10,
    0.5,
    "segments",
)
def no_nagle(seed):
    return found(seed)["no delay"]


@answer(
    "CUBIC's window where it leaves slow start: 100 Mbit/s, an RTT of 100 ms, a bucket of 15,000"
    " bytes",
    "HyStart (Ha and Rhee 2011) as in Linux (HyStart++, RFC 9406, has no such trains of ACKs):"
    " when the ACKs of a round trip have come for half of the RTT and 0.5 ms, here in the"
    " seventh. 640 at its start, the bucket's 15,000 / 1514 at once and one each 121.12 µs: 640"
    " + 9.9 + 417",
    1067,
    5,
    "segments",
)
def hystart(seed):
    return hystart_exit(seed)
