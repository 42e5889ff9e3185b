"""What queueing disciplines do before a link of 10 Mbit/s: wait, mark, drop, share, pace."""

import functools
import math

import numpy as np

import netlab as nl
from tests.validation import answer
from tests.validation.measuring import arrived, datagrams, do, iperf3, quiet, start

FRAME_MS = 1514 * 8 / 10e3  # at 10 Mbit/s
ECT_0, ECT_1, CE = 2, 1, 3
MANY = 1514 * 8 / 12e6  # every so many seconds a frame: 12 Mbit/s [s]


def path(qdisc, burst=1514):
    """h1 and h3 to h2 and h4; where tbf's bucket is one frame, each takes its time."""
    return nl.wan("10mbit", None, burst=burst, offload=False, qdisc=qdisc)


@functools.cache
def one_flow(seed, qdisc, count, every_s=MANY, tos=0, at_once=1, burst=1514, frame_bytes=1514):
    """Frames, with their ``waited_ms`` in the discipline: tbf takes one out of it as soon as the
    one before has gone.
    """
    with nl.Network(path(qdisc, burst), seed) as net:
        quiet(net)
        table = datagrams(net, "h1", "h2", count, every_s, frame_bytes, tos, at_once)
    taken_s = np.maximum(table.received_s.shift(fill_value=0), table.sent_s)
    return table.assign(taken_s=taken_s, waited_ms=1000 * (taken_s - table.sent_s))


def marked(table):
    return table.tos.mod(4) == CE


def frames_mbps(seed, qdisc, mbps, *typed):
    """What two flows get that send so much, from second 0.7 to 1.7. [Mbit/s, in frames]"""
    with nl.Network(path(qdisc), seed) as net:
        quiet(net)
        for line in typed:
            do(net, "s1", line)
        began_s = net.clock
        every_s = [1514 * 8 / (1e6 * one) for one in mbps]
        jobs = [
            start(net, *ends, round(1.7 / one_s), one_s, 1514)
            for ends, one_s in zip((("h1", "h2"), ("h3", "h4")), every_s, strict=True)
        ]
        tables = arrived(net, *jobs)
    return [
        table.received_s.between(began_s + 0.7, began_s + 1.7).sum() * 1514 * 8 / 1e6
        for table in tables
    ]


@answer(
    "pfifo, limit of 50 frames, 12 Mbit/s of UDP offered: longest time in the queue and the bucket",
    "arithmetic: 50 · 1514 · 8 / 10 Mbit/s",
    50 * FRAME_MS,
    0.02,
    "ms",
)
def longest_wait(seed):
    return one_flow(seed, "pfifo limit 50", 1000, burst=5000).delay_ms.max()


LOAD, ARRIVALS = 0.7, 20_000


@functools.cache
def poisson(seed):
    """Frames of 1,514 bytes that come at random to an idle line, with how long each waited for the
    ones before it [ms], and how long it should have, by Lindley's recursion.
    """
    with nl.Network(
        nl.wan("10mbit", None, limit=10**6, pairs=1, offload=False, serialise=True), seed
    ) as net:
        quiet(net)
        every_s = FRAME_MS / 1000 / LOAD
        table = datagrams(net, "h1", "h2", ARRIVALS, every_s, 1514, poisson=seed)
    if len(table) < ARRIVALS:
        raise RuntimeError("frames were lost: the queue is not long enough for M/D/1")
    due_ms, waits_ms = 0, []
    for sent_ms in 1000 * table.sent_s:
        waits_ms.append(max(0, due_ms - sent_ms))
        due_ms = sent_ms + waits_ms[-1] + FRAME_MS
    return table.assign(waited_ms=table.delay_ms - FRAME_MS, expected_ms=waits_ms)


@answer(
    "20,000 frames that come at random times (Poisson) to a line of 10 Mbit/s, load 0.7: their mean"
    " time in the queue",
    "M/D/1 (Pollaczek and Khinchine): 0.7 / (2 · (1 - 0.7)) · 1.2112 ms; the margin is four"
    " standard deviations of such a mean, of 1000 that were drawn by Lindley's recursion",
    LOAD / (2 * (1 - LOAD)) * FRAME_MS,
    0.22,
    "ms",
)
def random_arrivals(seed):
    return poisson(seed).waited_ms.mean()


@answer(
    "the same: farthest that a frame's time in the queue is from what it is by the times of the"
    " frames before it",
    "Lindley's recursion: the time of the one before and 1.2112 ms, less what has passed between"
    " them; the margin is a tenth of a frame's time",
    0,
    0.12,
    "ms",
)
def each_arrival(seed):
    table = poisson(seed)
    return (table.waited_ms - table.expected_ms).abs().max()


RED = "red limit 400000 min 30000 max 90000 avpkt 1000 probability 0.1 bandwidth 10mbit ecn"
IN_RED = "RED, min 30 kB, max 90 kB, probability 0.1; ECT frames at the link's rate behind {}"
RED_P = 0.1 * (40 * 1514 - 30000) / 60000


def marked_by_red(seed, waiting, count=500):
    """Share of marks of frames that find so many frames waiting; the first 500 aside."""
    table = one_flow(seed, RED, count + 500, FRAME_MS / 1000, ECT_0, waiting + 1)
    return 100 * marked(table[table.number >= 500]).mean()


@answer(
    IN_RED.format("40 that wait") + "; share of marks",
    "Floyd and Jacobson (1993), section 7: p = 0.1 · (60,560 - 30,000) / 60,000, and gaps uniform"
    " from 1 to 1/p, so that one frame of 1/(2p) + 1/2 is marked; the margin is four standard"
    " deviations of a count of such gaps",
    100 * 2 * RED_P / (1 + RED_P),
    100 * 4 * math.sqrt(4000 * 2 * RED_P / 3) / 4000,
    "%",
)
def red_between(seed):
    return marked_by_red(seed, 40, 4000)


@answer(
    IN_RED.format("70 that wait, which is above max") + "; share of marks",
    "Floyd and Jacobson (1993): every packet is marked",
    100,
    0.01,
    "%",
)
def red_above(seed):
    return marked_by_red(seed, 70)


@functools.cache
def codel_drops_ms(seed):
    """When CoDel begins to see its target exceeded, and when it drops for the first ten times."""
    table = one_flow(seed, "codel", 1000)
    above_ms = 1000 * table.taken_s[table.waited_ms >= 5].iloc[0]
    missing = table.number.diff() > 1
    return above_ms, 1000 * table.taken_s[missing].to_numpy()[:10]


@answer(
    "CoDel, 12 Mbit/s of UDP offered: time from the first frame that waited 5 ms to the first drop",
    "RFC 8289: the interval, 100 ms, and up to one frame's time",
    100 + FRAME_MS / 2,
    FRAME_MS / 2,
    "ms",
)
def codel_first_drop(seed):
    above_ms, drops_ms = codel_drops_ms(seed)
    return drops_ms[0] - above_ms


@answer(
    "from the first drop to the second",
    "RFC 8289, control law: 100 ms / √1, and up to one frame's time",
    100 + FRAME_MS / 2,
    FRAME_MS / 2,
    "ms",
)
def codel_second_drop(seed):
    drops_ms = codel_drops_ms(seed)[1]
    return drops_ms[1] - drops_ms[0]


@answer(
    "from the first drop to the tenth",
    "RFC 8289, control law: 100 ms · (1/√1 + ... + 1/√9), and up to one frame's time",
    sum(100 / math.sqrt(n) for n in range(1, 10)) + FRAME_MS / 2,
    FRAME_MS / 2,
    "ms",
    "Linux computes 1/√n by one step of Newton's method at each drop, from the last value on"
    " (`codel_Newton_step` in `include/net/codel_impl.h`). Beginning at 1, this gives 1, 0.5,"
    " 0.5625, 0.488, 0.442, 0.404, 0.375, 0.351 and 0.332, of which the sum is 4.454 in place of"
    " 4.705: 445 ms.",
)
def codel_tenth_drop(seed):
    drops_ms = codel_drops_ms(seed)[1]
    return drops_ms[9] - drops_ms[0]


@answer(
    "CoDel with `ce_threshold 10ms`: how many of 20 ECT frames that come at once are marked",
    "tc-codel(8): those that wait longer than 10 ms; frame n waits (n - 2) · 1.2112 ms",
    10,
    0.5,
    "frames",
)
def codel_ce_threshold(seed):
    return marked(one_flow(seed, "codel ecn ce_threshold 10ms", 20, 1, ECT_0, 20)).sum()


@answer(
    "PIE, 12 Mbit/s of UDP offered: mean time in its queue from second 6 to 16",
    "RFC 8033: QDELAY_REF, 15 ms, as the controller integrates what is left: with alpha = 1/8, a"
    " mean error of 1 ms in 10 s would change its probability, 1/6, by a half",
    15,
    1,
    "ms",
)
def pie_target(seed):
    table = one_flow(seed, "pie", 16_000)
    return table[table.sent_s > table.sent_s[0] + 6].waited_ms.mean()


@answer(
    "fq_codel, flows of 8 and 16 Mbit/s of UDP offered: what the first one gets",
    "RFC 8290: byte-based fairness, 10 / 2 Mbit/s",
    5,
    0.05,
    "Mbit/s",
)
def fq_codel_share(seed):
    return frames_mbps(seed, "fq_codel", (8, 16))[0]


@answer(
    "sfq, the same",
    "tc-sfq(8): each flow sends in turn, 10 / 2 Mbit/s",
    5,
    0.05,
    "Mbit/s",
)
def sfq_share(seed):
    return frames_mbps(seed, "sfq", (8, 16))[0]


@answer(
    "fq_codel, 16 Mbit/s of UDP offered: mean delay of 300 sparse frames of 142 bytes beside them",
    "RFC 8290: a sparse flow's frame waits only for the one that is being sent, half a frame's time"
    " on average, and takes its own; the margin is four standard deviations",
    FRAME_MS / 2 + 142 * 8 / 10e3,
    4 * FRAME_MS / math.sqrt(12) / math.sqrt(300),
    "ms",
)
def fq_codel_sparse(seed):
    with nl.Network(path("fq_codel"), seed) as net:
        quiet(net)
        bulk = start(net, "h1", "h2", 5000, 1514 * 8 / 16e6, 1514)
        net.sleep(0.2)
        return arrived(net, bulk, start(net, "h3", "h4", 300, 0.010317))[1].delay_ms.mean()


@answer(
    "prio, flows of 6 and 12 Mbit/s of UDP offered, the first one in the first band: what the"
    " second one gets",
    "tc-prio(8): a band is served when those before it are empty; 10 - 6 Mbit/s",
    4,
    0.05,
    "Mbit/s",
)
def prio_rest(seed):
    lines = (
        "tc qdisc replace dev s1-eth2 parent 2:1 handle 4: prio",
        "tc filter add dev s1-eth2 parent 4: protocol ip u32 match ip src 10.0.0.1 flowid 4:1",
    )
    return frames_mbps(seed, "pfifo limit 50", (6, 12), *lines)[1]


@answer(
    "htb, classes of 1 and 3 Mbit/s below one of 10 Mbit/s, both with more offered: what the first"
    " one gets",
    "tc-htb(8): its rate, and the rest in proportion of quanta, which follow rates: 1 + 6 · 1/4"
    " Mbit/s",
    2.5,
    0.05,
    "Mbit/s",
)
def htb_borrows(seed):
    lines = (
        "tc qdisc replace dev s1-eth2 root handle 1: htb",
        "tc class add dev s1-eth2 parent 1: classid 1:1 htb rate 10mbit",
        "tc class add dev s1-eth2 parent 1:1 classid 1:2 htb rate 1mbit ceil 10mbit",
        "tc class add dev s1-eth2 parent 1:1 classid 1:3 htb rate 3mbit ceil 10mbit",
        "tc filter add dev s1-eth2 parent 1: protocol ip u32 match ip src 10.0.0.1 flowid 1:2",
        "tc filter add dev s1-eth2 parent 1: protocol ip u32 match ip src 10.0.0.3 flowid 1:3",
    )
    return frames_mbps(seed, "pfifo limit 50", (12, 12), *lines)[0]


@answer(
    "fq with `maxrate 10mbit` on a host's card: mean interval of 200 frames that it sends at once,"
    " which leave in pairs",
    "tc-fq(8): the rate, and a quantum of two frames: 2 · 1514 · 8 / 10 Mbit/s for a pair",
    FRAME_MS,
    0.01,
    "ms",
)
def fq_maxrate(seed):
    with nl.Network(nl.wan(None, None, pairs=1, host_qdisc="fq maxrate 10mbit"), seed) as net:
        quiet(net)
        table = datagrams(net, "h1", "h2", 200, 1, 1514, at_once=200)
    return 1000 * table.received_s[21::2].diff().mean() / 2


@answer(
    "iperf3 with `--fq-rate 5M` over a link without a rate, RTT 10 ms: goodput of TCP",
    "iperf3(1): SO_MAX_PACING_RATE, which Linux's TCP counts in payload: 5 Mbit/s",
    5,
    0.05,
    "Mbit/s",
)
def paced_by_the_socket(seed):
    with nl.Network(nl.wan(None, "10ms", pairs=1, host_qdisc="fq"), seed) as net:
        test = iperf3(net, "h1", "h2", "-t 10 -O 1 --fq-rate 5M")
        return test.read().streams.received_bps[0] / 1e6


@answer(
    "dualpi2: of 40 ECT(1) frames of 142 bytes that come at once, how many are marked that did not"
    " wait for 1 ms, or are not marked that did",
    "tc-dualpi2(8): those are marked that wait longer than 1 ms",
    0,
    0.5,
    "frames",
)
def dualpi2_step(seed):
    table = one_flow(seed, "dualpi2", 40, 1, ECT_1, 40, frame_bytes=142)
    seen, expected = marked(table), table.waited_ms > 1
    return (seen != expected).sum() if 10 < expected.sum() < 30 else math.nan


@answer(
    "dualpi2, 11 Mbit/s of UDP in frames of 1,000 bytes offered beside 1,100 sparse ECT(1) frames:"
    " share of marks of these, divided by the root of the share of drops of those",
    "RFC 9332: the coupling factor k, 2, as p_C = (p_L / k)²; the margin is four standard"
    " deviations, of 1,100 frames with p_L = 0.65, and of 8,250 with p_C = 0.11",
    2,
    2 * 4 * math.sqrt(0.35 / 0.65 / 1100 + 0.89 / 0.11 / 8250 / 4),
)
def dualpi2_coupling(seed):
    with nl.Network(path("dualpi2"), seed) as net:
        quiet(net)
        bulk = start(net, "h1", "h2", 9 * 1375, 1000 * 8 / 11e6, 1000)
        net.sleep(3)
        classic, low = arrived(net, bulk, start(net, "h3", "h4", 1100, 0.005317, tos=ECT_1))
    kept = classic[classic.sent_s.between(low.sent_s.iloc[0], low.sent_s.iloc[-1])]
    dropped = 1 - len(kept) / (kept.number.iloc[-1] - kept.number.iloc[0] + 1)
    return marked(low).mean() / math.sqrt(dropped)


@answer(
    "CoDel with `ecn`, hosts too: what a TCP stream of 10 s has sent again, although it was marked",
    "RFC 3168: a packet that can be marked is not dropped",
    0,
    0.5,
    "segments",
)
def marked_and_not_dropped(seed):
    path = nl.wan("10mbit", "20ms", pairs=1, qdisc="codel ecn").tuned({"net.ipv4.tcp_ecn": 1})
    run = nl.run(path, nl.Iperf3("h1", "h2"), nl.Nstat("h1"), nl.Nstat("h2"), seed=seed)
    if not run.counts["h2"]["IpExtInCEPkts"]:
        return math.nan
    return run.counts["h1"]["TcpRetransSegs"]
