"""What limits a transfer: windows, the sizes of packets, a constant rate of UDP."""

import functools
import json
import statistics

import netlab as nl
from tests.validation import answer
from tests.validation.links import sent_bytes
from tests.validation.measuring import do, iperf3, quiet
from tests.validation.segments import SEGMENT

RTT_S = 0.1
LONG = {"rate": None, "delay": "100ms", "pairs": 1, "offload": False}
SLOW = {"rate": "10mbit", "delay": "20ms", "pairs": 1, "burst": 20_000, "limit": 60_000}
GOODPUT = "goodput of TCP over tbf of 10 Mbit/s, RTT 20 ms, {}"


def goodput_mbps(seed, path, words, *typed, address=None):
    """What iperf3's receiver counts, after lines that are typed on nodes."""
    with nl.Network(path, seed) as net:
        for node, line in typed:
            do(net, node, line)
        return iperf3(net, "h1", "h2", words, address).read().streams.received_bps[0] / 1e6


def steady_mbps(net):
    """What iperf3's receiver counts from second 1 to 19, by whole seconds of ten round trips: its
    sum has an uneven number of windows.
    """
    test = iperf3(net, "h1", "h2", "-t 20 -O 2 --get-server-output")
    parts = [one["sum"] for one in json.loads(test.text)["server_output_json"]["intervals"]]
    parts = [one for one in parts if not one["omitted"] and 0.9 < one["start"] < 18.5]
    return sum(8 * one["bytes"] for one in parts) / (parts[-1]["end"] - parts[0]["start"]) / 1e6


@answer(
    "a receive buffer of 131,072 bytes at h2, RTT 100 ms: goodput times RTT, divided by the window"
    " that h2 promises",
    "one window for each RTT; up to a segment of some 60 is not sent, as it would not be whole",
    1,
    0.02,
)
def window_per_rtt(seed):
    path = nl.wan(**LONG).tuned({"net.ipv4.tcp_rmem": "4096 131072 131072"}, "h2")
    run = nl.run(path, nl.Iperf3("h1", "h2", time=20, omit=2), seed=seed)
    seconds = json.loads(run.raw["1-iperf3-h1-h2"])["intervals"]
    window_bytes = seconds[-1]["streams"][0]["snd_wnd"]
    return run.flows.received_bps[0] * RTT_S / 8 / window_bytes


@answer(
    "iperf3 with `-w 128K`, RTT 100 ms: goodput",
    "iperf3(1): a window of 131,072 bytes; Linux doubles the buffer (socket(7)) and promises half"
    " of it (Linux's ip-sysctl before 6.6, tcp_adv_win_scale = 1); 131,072 · 8 / 100 ms",
    131_072 * 8 / RTT_S / 1e6,
    0.15,
    "Mbit/s",
    "Linux promises another part since 6.6, and ignores tcp_adv_win_scale: the share of payload in"
    " the memory of a segment that came (`scaling_ratio`, `tcp_measure_rcv_mss` in"
    " `net/ipv4/tcp_input.c`). Here this is 152/256 of 262,144 bytes. h2 promises 143,000 to"
    " 156,000 bytes, as what has come and is not read yet is taken off: 11.4 to 12.5 Mbit/s.",
)
def window_of_iperf3(seed):
    return goodput_mbps(seed, nl.wan(**LONG), "-t 20 -O 2 -w 128K")


@answer(
    "without window scaling, RTT 100 ms: goodput",
    "RFC 9293: a window of 65,535 bytes at most, 45 whole segments and a part of one; 65,535 · 8 /"
    " 100 ms, and one window of 180 more or less",
    65_535 * 8 / RTT_S / 1e6,
    65_535 * 8 / RTT_S / 1e6 / 180,
    "Mbit/s",
    "ns-3 sends the 45 whole segments only: 45 · 1448 · 8 / 100 ms = 5.2128 Mbit/s.",
)
def without_window_scaling(seed):
    path = nl.wan(**LONG).tuned({"net.ipv4.tcp_window_scaling": 0})
    with nl.Network(path, seed) as net:
        return steady_mbps(net)


@answer(
    "a route with `cwnd lock 20`, RTT 100 ms: goodput of the second connection",
    "ip-route(8): a clamp for the congestion window; 20 · 1448 · 8 / 100 ms, and one window of"
    " 180 more or less",
    20 * 1448 * 8 / RTT_S / 1e6,
    20 * 1448 * 8 / RTT_S / 1e6 / 180,
    "Mbit/s",
)
def congestion_window_clamped(seed):
    path = nl.wan(**LONG).tuned({"net.ipv4.tcp_no_metrics_save": 0}, "h1")
    with nl.Network(path, seed) as net:
        do(net, "h1", "ip route change 10.0.0.0/8 dev h1-eth0 cwnd lock 20")
        iperf3(net, "h1", "h2", "-t 1")  # Linux reads the route when it keeps what it has learned
        return steady_mbps(net)


@answer(
    GOODPUT.format("without timestamps"),
    "arithmetic: 10 Mbit/s · 1460 / 1514",
    10 * 1460 / 1514,
    0.02,
    "Mbit/s",
)
def without_timestamps(seed):
    path = nl.wan(**SLOW).tuned({"net.ipv4.tcp_timestamps": 0})
    return goodput_mbps(seed, path, "-t 20 -O 2")


@answer(
    GOODPUT.format("all cards with an MTU of 9,000 bytes"),
    "arithmetic: 10 Mbit/s · 8948 / 9014",
    10 * 8948 / 9014,
    0.02,
    "Mbit/s",
)
def jumbo_frames(seed):
    cards = ("h1", 0), ("s1", 1), ("s1", 2), ("s2", 1), ("s2", 2), ("h2", 0)
    lines = [(node, f"ip link set dev {node}-eth{number} mtu 9000") for node, number in cards]
    return goodput_mbps(seed, nl.wan(**SLOW, offload=False), "-t 20 -O 2", *lines)


@answer(
    GOODPUT.format("IPv6"),
    "arithmetic: 10 Mbit/s · 1428 / 1514, as IPv6's header has 20 bytes more",
    10 * 1428 / 1514,
    0.02,
    "Mbit/s",
)
def ipv6(seed):
    lines = [(f"h{n}", f"ip -6 addr add fd00::{n}/64 dev h{n}-eth0 nodad") for n in (1, 2)]
    return goodput_mbps(seed, nl.wan(**SLOW), "-t 20 -O 2", *lines, address="fd00::2")


@answer(
    "iperf3 with `-u -b 12M -l 1448` over tbf of 10 Mbit/s: share that is lost in 10 s",
    "arithmetic: 1 - carried / offered; 12 Mbit/s of payload are 12 · 1490 / 1448 of frames, and"
    " 10 s of the rate, the bucket's 3,028 bytes and the queue's 15,140 are carried",
    100 * (1 - (100e6 + 8 * 18_168) / (120e6 * 1490 / 1448)),
    0.03,
    "%",
)
def lost_datagrams(seed):
    path = nl.wan("10mbit", "20ms", pairs=1, burst=3028, limit=15_140)
    with nl.Network(path, seed) as net:
        return 100 * iperf3(net, "h1", "h2", "-u -b 12M -t 10").read().streams.loss[0]


@functools.cache
def datagrams_of_iperf3(seed, delay):
    """1 Mbit/s of UDP for 20 s, of which a datagram of 1,448 bytes is sent each 11.6 ms."""
    with nl.Network(nl.wan(None, None, pairs=1, offload=False), seed) as net:
        quiet(net)
        do(net, "s1", f"tc qdisc add dev s1-eth2 root netem delay {delay}")
        return iperf3(net, "h1", "h2", "-u -b 1M -t 20 -i 0.5 --get-server-output")


@answer(
    "iperf3 with `-u -b 1M -l 1448` over 20 ms: its jitter",
    "RFC 3550: 0, where each takes as long as the one before",
    0,
    0.01,
    "ms",
)
def jitter_of_an_idle_path(seed):
    return 1000 * datagrams_of_iperf3(seed, "20ms").read().streams.jitter_s[0]


@answer(
    "the same with netem's `delay 20ms 5ms`: mean of its jitter from second 2 on, each half second",
    "RFC 3550: the mean difference of two delays, uniform in ±5 ms, is 2 · 5 / 3 ms; the margin is"
    " four standard deviations of such a mean, of 2,000 that were drawn",
    10 / 3,
    0.315,
    "ms",
)
def jitter_of_random_delays(seed):
    told = json.loads(datagrams_of_iperf3(seed, "20ms 5ms").text)["server_output_json"]
    parts = [part["streams"][0] for part in told["intervals"]]
    return statistics.mean(part["jitter_ms"] for part in parts if part["start"] > 1.9)


@answer(
    "how many of these datagrams iperf3 sends in 20 s",
    "arithmetic: 1 Mbit/s · 20 s / (1448 · 8), rounded up",
    1727,
    1.5,
    "datagrams",
)
def datagrams_sent(seed):
    return datagrams_of_iperf3(seed, "20ms").read().streams.packets[0]


@answer(
    "payload of the largest TCP segment that arrives over two routers, whose link has an MTU of"
    " 1,400 bytes",
    "RFC 1191: 1400 - 20 (IP) - 20 (TCP) - 12 (timestamps); the end hosts' own would be 1,448",
    1348,
    0.5,
    "bytes",
)
def path_mtu(seed):
    path = nl.Topology(
        hosts=[nl.Host("h1", "10.0.1.1/24"), nl.Host("h2", "10.0.2.1/24")],
        routers=[
            nl.Router("r1", ["10.0.1.254/24", "10.1.0.1/24"]),
            nl.Router("r2", ["10.0.2.254/24", "10.1.0.2/24"]),
        ],
        links=[nl.Link("h1", "r1"), nl.Link("h2", "r2"), nl.Link("r1", "r2", rate="10mbit")],
        offload=False,
    )
    with nl.Network(path, seed) as net:
        for router in ("r1", "r2"):
            do(net, router, f"ip link set dev {router}-eth1 mtu 1400")
        capture = net.start("h2", "timeout 4 tcpdump -nn -i h2-eth0 tcp and dst host 10.0.2.1")
        net.sleep(0.5)
        iperf3(net, "h1", "h2", "-t 2")
        net.wait(capture)
    return max(int(one["bytes"]) for one in SEGMENT.finditer(capture.text))


@answer(
    "what `tc -s` counts for a ping of 4,000 bytes",
    "RFC 791: three fragments, of 1480, 1480 and 1048 bytes; with IP and Ethernet, 34 more each",
    4110,
    0.5,
    "bytes",
)
def fragments(seed):
    with nl.Network(nl.wan("10mbit", "20ms", pairs=1, offload=False), seed) as net:
        quiet(net)
        before = sent_bytes(net)
        do(net, "h1", "ping -c 1 -s 4000 10.0.0.2")
        return sent_bytes(net) - before
