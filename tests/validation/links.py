"""What a link does to a frame: delay, serialisation, tbf's bucket, netem's chances."""

import functools
import json
import math

import netlab as nl
from tests.validation import answer
from tests.validation.measuring import datagrams, do, iperf3, quiet

COUNT = 5000  # datagrams of 142 bytes, one each ms
BUCKET = {"rate": "10mbit", "delay": None, "pairs": 1, "offload": False}
NETEM = "netem: {} over a link without a rate; 5000 datagrams, one each ms"


def four_sigma_percent(share, count=COUNT):
    """Four standard deviations of the share that is found of `count` trials."""
    return 400 * math.sqrt(share * (1 - share) / count)


def rtts_ms(seed, path, **ping):
    """The RTTs of pings from h1 to h2, without the first, which waits for ARP."""
    run = nl.run(path, nl.Ping("h1", "h2", count=20, **ping), seed=seed)
    return 1000 * run.pings.rtt_s[run.pings.seq > 1]


@answer(
    "mean RTT of 19 pings over an idle link that delays one way by 20 ms",
    "arithmetic: 20 ms + 0 ms; `ping` prints tenths of a ms",
    20,
    0.05,
    "ms",
)
def idle_ping(seed):
    return rtts_ms(seed, nl.wan("100mbit", "20ms")).mean()


@answer(
    "mean RTT of pings of 1,472 bytes over an idle line of 10 Mbit/s without delay",
    "arithmetic: a frame has 1472 + 42 bytes; 1514 · 8 / 10 Mbit/s; `ping` prints hundredths",
    1.2112,
    0.005,
    "ms",
)
def long_ping_over_a_line(seed):
    return rtts_ms(seed, nl.wan("10mbit", None, serialise=True), size=1472).mean()


@answer(
    "the same over two lines in a row, of 10 and 20 Mbit/s",
    "arithmetic: a switch sends on what has arrived whole; 1514 · 8 · (1/10 + 1/20) µs",
    1.8168,
    0.005,
    "ms",
)
def long_ping_over_two_lines(seed):
    hosts = nl.Host("h1", "10.0.0.1/8"), nl.Host("h2", "10.0.0.2/8")
    links = [
        nl.Link("h1", "s1"),
        nl.Link("s1", "s2", rate="10mbit", serialise=True),
        nl.Link("s2", "s3", rate="20mbit", serialise=True),
        nl.Link("s3", "h2"),
    ]
    path = nl.Topology(hosts, [nl.Switch(f"s{n}") for n in (1, 2, 3)], links)
    return rtts_ms(seed, path, size=1472).mean()


@answer(
    "the same over one idle tbf of 10 Mbit/s with a bucket of 5,000 bytes",
    "tc-tbf(8): a frame passes at once if there are tokens for it",
    0,
    0.005,
    "ms",
)
def long_ping_over_a_bucket(seed):
    return rtts_ms(seed, nl.wan("10mbit", None), size=1472).mean()


@functools.cache
def burst(seed):
    """When each of 100 frames arrives that are sent at once over a bucket of ten frames, and a
    queue of 75,700 bytes, which are fifty; and what tc has counted for them. [s, byte]
    """
    path = nl.wan(**BUCKET, burst=15_200, limit=75_700)
    with nl.Network(path, seed) as net:
        quiet(net)
        before = sent_bytes(net)
        table = datagrams(net, "h1", "h2", 100, 1, 1514, at_once=100)
        return table, sent_bytes(net) - before


def sent_bytes(net):
    job = do(net, "s1", "tc -s -j qdisc show dev s1-eth2")
    return json.loads(job.text)[0]["bytes"]


@answer(
    "tbf, bucket of 15,200 bytes: how many of 100 frames that come at once pass within 0.5 ms",
    "tc-tbf(8): as many as it has tokens for; 15,200 / 1514, rounded down",
    10,
    0.5,
    "frames",
)
def bucket_passes_at_once(seed):
    arrived_s = burst(seed)[0].received_s
    return (arrived_s - arrived_s[0] < 0.0005).sum()


@answer(
    "the mean interval between those that follow",
    "tc-tbf(8): then the rate; 1514 · 8 / 10 Mbit/s",
    1.2112,
    0.001,
    "ms",
)
def interval_behind_the_bucket(seed):
    return 1000 * burst(seed)[0].received_s[10:].diff().mean()


@answer(
    "tbf, limit of 75,700 bytes: how many of the 100 frames wait behind the bucket",
    "tc-tbf(8): what can wait for tokens; 75,700 / 1514",
    50,
    0.5,
    "frames",
)
def queue_of_the_bucket(seed):
    return len(burst(seed)[0]) - bucket_passes_at_once(seed)


@answer(
    "what `tc -s` counts for a datagram of 1,472 bytes, of those that have passed",
    "IEEE 802.3: 1472 + 8 (UDP) + 20 (IP) + 14 (Ethernet; Linux counts no preamble, FCS and gap)",
    1514,
    0.01,
    "bytes",
)
def counted_bytes(seed):
    table, counted = burst(seed)
    return counted / len(table)


@answer(
    "goodput of a TCP stream over tbf of 10 Mbit/s, RTT 20 ms, from second 2 to 22",
    "arithmetic: 10 Mbit/s · 1448 / 1514, the part of a frame that is payload",
    9.5641,
    0.02,
    "Mbit/s",
)
def goodput_over_a_bucket(seed):
    path = nl.wan("10mbit", "20ms", pairs=1)
    with nl.Network(path, seed) as net:
        return iperf3(net, "h1", "h2", "-t 20 -O 2").read().streams.received_bps[0] / 1e6


@functools.cache
def through_netem(seed, words):
    """The datagrams that arrive, in the order in which they do."""
    with nl.Network(nl.wan(None, None, pairs=1, offload=False), seed) as net:
        quiet(net)
        do(net, "s1", f"tc qdisc add dev s1-eth2 root netem {words} limit 100000")
        return datagrams(net, "h1", "h2", COUNT, 0.001)


@answer(
    NETEM.format("`loss 5%`") + "; share that is lost",
    "binomial; the margin is four standard deviations",
    5,
    four_sigma_percent(0.05),
    "%",
)
def loss(seed):
    return 100 * (1 - len(through_netem(seed, "loss 5%")) / COUNT)


BURSTS = "loss gemodel 5% 50%"


@answer(
    NETEM.format("`loss gemodel 5% 50%`") + "; share that is lost",
    "Gilbert (1960): p / (p + r); the margin is four standard deviations, with"
    " (1 + c) / (1 - c) times the binomial's variance, c = 1 - p - r",
    100 * 0.05 / 0.55,
    four_sigma_percent(0.05 / 0.55) * math.sqrt(1.45 / 0.55),
    "%",
)
def loss_in_bursts(seed):
    return 100 * (1 - len(through_netem(seed, BURSTS)) / COUNT)


@answer(
    "the mean length of the bursts of these losses",
    "Gilbert (1960): geometric, 1 / r; the margin is four standard deviations, √(1 - r) / r of"
    " one of 5000 · p · r / (p + r) bursts",
    2,
    4 * math.sqrt(0.5) / 0.5 / math.sqrt(COUNT * 0.05 * 0.5 / 0.55),
    "datagrams",
)
def length_of_bursts(seed):
    missing = through_netem(seed, BURSTS).number.diff() - 1
    return missing[missing > 0].mean()


@answer(
    NETEM.format("`duplicate 10%`") + "; share that comes twice",
    "binomial; the margin is four standard deviations",
    10,
    four_sigma_percent(0.1),
    "%",
)
def duplicates(seed):
    return 100 * (len(through_netem(seed, "duplicate 10%")) / COUNT - 1)


@answer(
    NETEM.format("`delay 10ms reorder 25%`") + "; share that is not delayed",
    "tc-netem(8): these are sent at once; the margin is four standard deviations",
    25,
    four_sigma_percent(0.25),
    "%",
)
def reordered(seed):
    return 100 * (through_netem(seed, "delay 10ms reorder 25%").delay_ms < 1).mean()


@answer(
    NETEM.format("`delay 20ms 5ms`") + "; standard deviation of the delays",
    "uniform in ±5 ms: 5 / √3 ms; the margin is four standard deviations",
    5 / math.sqrt(3),
    4 * 5 * math.sqrt((1 / 5 - 1 / 9) / COUNT) / 2 * math.sqrt(3),
    "ms",
)
def uniform_jitter(seed):
    return through_netem(seed, "delay 20ms 5ms").delay_ms.std()


@answer(
    NETEM.format("`delay 20ms 2ms distribution normal`") + "; standard deviation of the delays",
    "tc-netem(8): 2 ms; the margin is four standard deviations, 2 / √(2 · 5000) ms each",
    2,
    4 * 2 / math.sqrt(2 * COUNT),
    "ms",
)
def normal_jitter(seed):
    return through_netem(seed, "delay 20ms 2ms distribution normal").delay_ms.std()


@answer(
    "netem: `rate 10mbit 20`; mean delay of 20 frames of 1,514 bytes, each alone",
    "tc-netem(8): 20 bytes more are counted for each packet; (1514 + 20) · 8 / 10 Mbit/s",
    1.2272,
    0.01,
    "ms",
)
def rate_with_overhead(seed):
    with nl.Network(nl.wan(None, None, pairs=1, offload=False), seed) as net:
        quiet(net)
        do(net, "s1", "tc qdisc add dev s1-eth2 root netem rate 10mbit 20")
        return datagrams(net, "h1", "h2", 20, 0.01, 1514).delay_ms.mean()
