"""How windows grow and shrink, what losses and marks leave of a rate, and how flows share."""

import functools
import math
import re

import numpy as np

import netlab as nl
from tests.validation import answer

FRAME_BYTES, MSS_BYTES = 1514, 1448
REST_S = 5  # the start, which no answer here is about
FULL = "protocol ip u32 match u16 1500 0xffff at 2"  # segments that are full


def one_of(segments):
    """What to type so that h2's card loses one of so many segments: Linux numbers the packets of a
    connection in their IP header, and the last bits of the number choose.
    """
    number = f"match u16 0 {segments - 1:#x} at 4"
    return (
        "tc qdisc add dev h2-eth0 handle ffff: ingress && tc filter add dev h2-eth0 parent ffff:"
        f" {FULL} {number} action drop"
    )


def losing(line, congestion, delay, time_s, seed, host_qdisc=None):
    """One flow over a long line that nothing but `line` limits."""
    path = nl.wan("1gbit", delay, pairs=1, offload=False, host_qdisc=host_qdisc)
    flow = nl.Iperf3("h1", "h2", congestion=congestion, time=time_s, omit=REST_S, start=1)
    return nl.run(path, nl.Shell("h2", line), flow, nl.Windows("h1"), seed=seed, stagger="0ms")


def cycles(windows, after_s=REST_S):
    """The rows from the start of one repair to that of the next."""
    began = (windows.state == "recovery") & (windows.state.shift() != "recovery")
    numbers = began.cumsum().where(windows.time_s > after_s)
    parts = [rows for _, rows in windows.groupby(numbers)]
    return parts[1:-1]  # whole ones


def growth_per_rtt(windows, rtt_s):
    """The slopes of the lines through the windows of each cycle, on average."""
    open_rows = [rows[rows.state == "open"] for rows in cycles(windows)]
    return rtt_s * np.mean([np.polyfit(rows.time_s, rows.cwnd, 1)[0] for rows in open_rows])


def mean_window(parts):
    """Over time, from the first row to the last."""
    rows = [(part.cwnd.to_numpy()[:-1], np.diff(part.time_s)) for part in parts]
    windows, times_s = map(np.concatenate, zip(*rows, strict=True))
    return np.average(windows, weights=times_s)


RENO_SEGMENTS, RENO_RTT_S = 2048, 0.02


@functools.cache
def reno(seed):
    return losing(one_of(RENO_SEGMENTS), "reno", "20ms", 30, seed)


@answer(
    "Reno's window: growth per round trip in congestion avoidance, delayed ACKs",
    "RFC 5681, 3.1, with bytes counted as in RFC 3465: 1 segment per RTT",
    1,
    0.02,
)
def reno_increase(seed):
    return growth_per_rtt(reno(seed).windows, RENO_RTT_S)


@answer(
    "Reno's window after a repair, divided by the one before the loss",
    "RFC 5681, equation 4: 1/2, of which Linux takes the whole part: at most half a segment of 70",
    0.5,
    0.01,
)
def reno_halving(seed):
    parts = cycles(reno(seed).windows)
    before = [part.cwnd.iloc[-1] for part in parts[:-1]]
    after = [part.cwnd[part.state == "open"].iloc[0] for part in parts[1:]]
    return np.mean(np.divide(after, before))


@answer(
    "Reno's mean window divided by its top, one of 2048 segments lost",
    "Mathis et al. 1997: between W/2 and W, 3/4 W",
    0.75,
    0.02,
)
def reno_mean_window(seed):
    parts = cycles(reno(seed).windows)
    return mean_window(parts) / np.mean([part.cwnd.max() for part in parts])


@answer(
    "Reno's sawtooth, one of 2048 segments lost: its period in round trips",
    "Mathis et al. 1997: W/2 = sqrt(2/(3 p)); the repair, which it leaves out, takes 1 more",
    math.sqrt(2 * RENO_SEGMENTS / 3),
    1.5,
    "RTT",
)
def reno_period(seed):
    began = [part.time_s.iloc[0] for part in cycles(reno(seed).windows)]
    return np.mean(np.diff(began)) / RENO_RTT_S


@answer(
    "Mathis' C, one of 2048 segments lost: goodput · RTT / MSS · sqrt(p)",
    "Mathis et al. 1997: sqrt(3/2); the repair, which it leaves out, is 1 round trip of 37",
    math.sqrt(3 / 2),
    0.04,
)
def mathis_periodic(seed):
    goodput_bps = reno(seed).flows.received_bps[0]
    return goodput_bps * RENO_RTT_S / (8 * MSS_BYTES) / math.sqrt(RENO_SEGMENTS)


BUFFER_RTT_S, BUFFER_MBPS = 0.1, 20
BUFFER_BDP = BUFFER_MBPS * 1e6 * BUFFER_RTT_S / 8 / FRAME_BYTES  # [frame]


def used_by_reno(seed, share):
    """The part of a line that one Reno flow uses, whose queue holds this share of a BDP. [%]"""
    path = nl.wan(
        f"{BUFFER_MBPS}mbit",
        f"{1000 * BUFFER_RTT_S:g}ms",
        pairs=1,
        offload=False,
        serialise=True,
        limit=round(share * BUFFER_BDP) * FRAME_BYTES,
        host_qdisc="fq",
    )
    flow = nl.Iperf3("h1", "h2", congestion="reno", time=150, omit=30)
    goodput_bps = nl.run(path, flow, seed=seed).flows.received_bps[0]
    return 100 * goodput_bps / (BUFFER_MBPS * 1e6 * MSS_BYTES / FRAME_BYTES)


def sawtooth_uses(share):
    """The part that a sawtooth uses: (1 - b) / 2 round trips per segment of the BDP with windows
    from (1 + b) / 2 to 1, and b with an RTT that grows to 1 + b. [%]
    """
    short, full = (1 - share) / 2, share * (1 + share / 2)
    return 100 * (short * (3 + share) / 4 + full) / (short + full)


@answer(
    "what one paced Reno flow uses of 20 Mbit/s, 100 ms, with a queue of 0.06 BDP (10 frames)",
    "Mathis et al. 1997: 3/4 without a queue; with b = 0.06: a window between (1 + b)/2 and 1 + b"
    " BDP, one segment more per RTT, which grows with the queue",
    sawtooth_uses(10 / BUFFER_BDP),
    1.5,
    "%",
)
def without_a_buffer(seed):
    return used_by_reno(seed, 10 / BUFFER_BDP)


@answer(
    "the same with a queue of a quarter of the BDP",
    "the same with b = 1/4",
    sawtooth_uses(0.25),
    1.5,
    "%",
)
def quarter_of_a_buffer(seed):
    return used_by_reno(seed, 0.25)


@answer(
    "the same with a queue of one BDP",
    "Villamizar and Song 1994, Appenzeller et al. 2004: the line is never idle",
    100,
    0.5,
    "%",
)
def full_buffer(seed):
    return used_by_reno(seed, 1)


def with_random_loss(seed, delay, loss, time_s, **sysctls):
    """A Reno flow's goodput [segment/s], and how many of its windows' losses it saw: repairs, and
    timeouts that came without.
    """
    path = nl.wan("1gbit", delay, loss, pairs=1, offload=False, sysctls=sysctls)
    flow = nl.Iperf3("h1", "h2", congestion="reno", time=time_s, omit=REST_S)
    run = nl.run(path, flow, nl.Windows("h1"), seed=seed)
    rows = run.windows[run.windows.time_s > REST_S]
    before = rows.state.shift()
    repairs = (rows.state == "recovery") & (before != "recovery")
    timeouts = (rows.state == "loss") & ~before.isin(["recovery", "loss"])
    return run.flows.received_bps[0] / (8 * MSS_BYTES), repairs.sum() + timeouts.sum()


@answer(
    "Mathis' C, netem's random loss of 0.1 %; p is repairs per segment, as counted",
    "Mathis et al. 1997, table 1, after Ott et al.: 1.31; left out are the repair (one round trip"
    " of 24: 0.03), and delayed ACKs, whole segments and a second loss in a window (0.01 each):"
    " from 1.25 to 1.31, and chance (0.02)",
    1.28,
    0.05,
    cause="ns-3 has 1.341. With periodic loss it is above the formula, too, by 0.03; why is open.",
)
def mathis_random(seed):
    segments_per_s, losses = with_random_loss(seed, "20ms", "0.1%", 120)
    return segments_per_s * 0.02 * math.sqrt(losses / (segments_per_s * 120))


@answer(
    "netem's random loss of 1 %, RTT 40 ms, without SACK, RACK and TLP: goodput divided by the"
    " model's; p is repairs and timeouts per segment, as counted",
    "Padhye et al. 1998, the full model, b = 1 (Linux counts bytes), RTO 40 + 200 ms; left out are"
    " what is sent twice (0.01), whole segments (0.02) and chance (0.02). Two errors of a tenth"
    " cancel: the model has 16 % of losses end in a timeout, as it takes them to come together, and"
    " netem's come alone (2 %); and it has no time for repairs, which take 1.6 round trips each",
    1,
    0.05,
)
def padhye(seed):
    old = dict.fromkeys(["tcp_sack", "tcp_recovery", "tcp_early_retrans"], 0)
    old = {f"net.ipv4.{name}": value for name, value in old.items()}
    segments_per_s, losses = with_random_loss(seed, "40ms", "1%", 150, **old)
    model_bps = nl.models.padhye_bps(MSS_BYTES, 0.04, losses / (segments_per_s * 150), 0.24)
    return segments_per_s * 8 * MSS_BYTES / model_bps


def after_the_last_repair(windows):
    """Times from its end on [s], and windows; and the window before the loss."""
    after = np.flatnonzero((windows.state == "open") & (windows.state.shift() == "recovery"))[-1]
    first = np.flatnonzero((windows.state == "disorder") & (windows.state.shift() == "open"))[-1]
    rows = windows.iloc[after:]
    times_s = (rows.time_s - rows.time_s.iloc[0]).to_numpy()
    return times_s, rows.cwnd.to_numpy(), windows.cwnd.iloc[first - 1]


@functools.cache
def cubic_after_a_loss(seed):
    """Times from the end of the repair on, and windows; and the window before the loss."""
    line = f"sleep 2.2; {one_of(64)}; sleep 0.08; tc qdisc del dev h2-eth0 ingress"
    return after_the_last_repair(losing(line, "cubic", "100ms", 11, seed, "fq").windows)


def reached_s(seed, more):
    """When the window is so much above the one before the loss. [s]"""
    times_s, windows, before = cubic_after_a_loss(seed)
    return times_s[np.argmax(windows >= before + more)]


@answer(
    "CUBIC's window after a repair, divided by the one before the loss",
    "RFC 9438, 4.6: 0.7",
    0.7,
    0.005,
)
def cubic_beta(seed):
    _, windows, before = cubic_after_a_loss(seed)
    return windows[0] / before


@answer(
    "CUBIC, 100 ms: the middle between 10 segments below and above the old window, divided by K",
    "RFC 9438, 4.2: K = cbrt(0.3 W / 0.4) s, about which the cubic is symmetric; a round"
    " trip and a segment are 0.2 s of 6.5",
    1,
    0.03,
)
def cubic_k(seed):
    _, _, before = cubic_after_a_loss(seed)
    return (reached_s(seed, -10) + reached_s(seed, 10)) / 2 / np.cbrt(0.3 * before / 0.4)


@answer(
    "CUBIC, 100 ms: its C, by the time from 30 segments below the old window to 30 above",
    "RFC 9438, 4.2: W + C (t - K)³ with C = 0.4; whole segments make 30 one more or less",
    0.4,
    0.03,
    "/s³",
)
def cubic_c(seed):
    half_s = (reached_s(seed, 30) - reached_s(seed, -30)) / 2
    return 30 / half_s**3


@functools.cache
def cubic_after_two_losses(seed):
    """As `cubic_after_a_loss`, where the next one comes before the window is what it was."""
    on, off = one_of(64), "tc qdisc del dev h2-eth0 ingress"
    line = f"sleep 2.2; {on}; sleep 0.08; {off}; sleep 1; {on}; sleep 0.08; {off}"
    return after_the_last_repair(losing(line, "cubic", "100ms", 12, seed, "fq").windows)


@answer(
    "CUBIC, 100 ms, a second loss below the old window: the middle between 10 segments below and"
    " above 0.85 of the window before it, divided by K",
    "RFC 9438, 4.7 (fast convergence): the plateau is at W (1 + 0.7)/2, which is reached after K ="
    " cbrt((0.85 - 0.7) W / 0.4) s; a round trip and a segment are 0.2 s of 4.5",
    1,
    0.045,
)
def cubic_fast_convergence(seed):
    times_s, windows, before = cubic_after_two_losses(seed)
    near_s = [times_s[np.argmax(windows >= 0.85 * before + more)] for more in (-10, 10)]
    return sum(near_s) / 2 / np.cbrt(0.15 * before / 0.4)


@functools.cache
def cubic_beside_reno(seed):
    return losing(one_of(4096), "cubic", "20ms", 35, seed)


@answer(
    "CUBIC's window on a short path: growth per round trip",
    "RFC 9438, 4.3: 3 (1 - 0.7) / (1 + 0.7); Linux computes 8/15",
    3 * 0.3 / 1.7,
    0.02,
)
def cubic_alpha(seed):
    return growth_per_rtt(cubic_beside_reno(seed).windows, 0.02)


@answer(
    "the same where one of 512 segments is lost, so that the window is small",
    "RFC 9438, 4.3: 3 (1 - 0.7) / (1 + 0.7)",
    3 * 0.3 / 1.7,
    0.02,
    cause="Probably that Linux looks at its targets again only when the window has changed or after"
    " 31 ms (`HZ / 32` in `bictcp_update`, net/ipv4/tcp_cubic.c), and that what it has counted is"
    " added in whole segments, of which a cycle of a small window has few.",
)
def cubic_alpha_of_small_windows(seed):
    return growth_per_rtt(losing(one_of(512), "cubic", "20ms", 35, seed).windows, 0.02)


@answer(
    "CUBIC's mean window on a short path, one of 4096 segments lost",
    "RFC 9438, 4.3: Reno's, sqrt(3/2) sqrt(4096); the repair, which it leaves out, is 1 of 53 RTTs",
    math.sqrt(1.5 * 4096),
    2.5,
    "segments",
)
def cubic_friendly(seed):
    return mean_window(cycles(cubic_beside_reno(seed).windows))


@answer(
    "CUBIC's mean window over 100 ms, one of 8192 segments lost, without fast convergence; after"
    " 150 s",
    "RFC 9438, 5.1: (0.4 · 3.7 / 1.2)^(1/4) (RTT/p)^(3/4)",
    (0.4 * 3.7 / 1.2) ** 0.25 * (0.1 * 8192) ** 0.75,
    8,
    "segments",
    "Linux rounds the cubic to whole segments, and so the window stays at W from K - 1.35 s to K +"
    " 1.35 s. A loss in this time finds the same window as the one before, and all begins anew:"
    " with periodic loss each cycle from K - 1.35 s to K + 1.35 s keeps itself up. From slow start"
    " the window comes from above, within two minutes, and stays at the first of these. In real"
    " numbers a cycle takes K, 5.1 s; one of K - 1.35 s, with as many segments in it, has W = 218,"
    " K = 5.5 s and a mean window of 197.",
)
def cubic_window(seed):
    off = "echo 0 >/sys/module/tcp_cubic/parameters/fast_convergence"
    run = losing(f"{off}; {one_of(8192)}", "cubic", "100ms", 180, seed)
    return mean_window(cycles(run.windows, 150))


SHOWN = r"bbr:\(bw:(\d+)bps,.*?pacing_gain:([\d.]+),.*? pacing_rate (\d+)bps"
BBR_RTT_S = 0.02


def looks(times):
    look = 'echo "at $EPOCHREALTIME"; ss -tinH dst 10.0.0.2; sleep 0.004'
    return f"for n in {{1..{times}}}; do {look}; done"


@functools.cache
def bbr(seed):
    path = nl.wan("30mbit", "20ms", limit=300_000, pairs=1, offload=False, serialise=True)
    line = f"sleep 0.1; {looks(40)}; sleep 5; {looks(100)}"
    flow = nl.Iperf3("h1", "h2", congestion="bbr", time=25)
    return nl.run(path, flow, nl.Shell("h1", line), nl.Windows("h1"), seed=seed)


def bbr_shown(seed):
    """When ss looked [s]; bandwidth, pacing gain and pacing rate, as it showed them [bit/s]."""
    rows = []
    for part in bbr(seed).raw["2-shell-h1"].split("at ")[1:]:
        if found := re.search(SHOWN, part):
            rows.append([float(part.split()[0]), *map(float, found.groups())])
    return np.array(rows).T


@answer(
    "BBR, 30 Mbit/s: its estimate of the bandwidth, five seconds after the start",
    "Cardwell et al. 2016: the bottleneck's, here in payload: 30 Mbit/s · 1448/1514",
    30 * MSS_BYTES / FRAME_BYTES,
    0.15,
    "Mbit/s",
)
def bbr_bandwidth(seed):
    _, bandwidths_bps, _, _ = bbr_shown(seed)
    return bandwidths_bps[-1] / 1e6


@answer(
    "BBR's Startup: pacing rate divided by estimated bandwidth",
    "Cardwell et al. 2016: 2/ln 2; Linux paces 1 % below all gains",
    0.99 * 2 / math.log(2),
    0.01,
)
def bbr_startup(seed):
    _, bandwidths_bps, gains, rates_bps = bbr_shown(seed)
    return (rates_bps / bandwidths_bps)[gains > 2][-1]


@answer(
    "BBR's ProbeBW: the time from one phase with gain 5/4 to the next",
    "Cardwell et al. 2016: 8 phases of a minimal RTT; each ends at the next ACK (0.8 ms = 0.04),"
    " and that of 5/4 when so much is in flight (up to 1/4 more)",
    8,
    0.6,
    "RTT",
)
def bbr_cycle(seed):
    times_s, _, gains, _ = bbr_shown(seed)
    began_s = times_s[1:][(gains[1:] == 1.25) & (gains[:-1] < 1.25)]
    return np.mean(np.diff(began_s)) / BBR_RTT_S


@functools.cache
def probe_rtts(seed):
    """Start and end of each ProbeRTT, and when at last 4 segments were in flight. [s]"""
    rows = bbr(seed).windows
    few = rows.cwnd <= 4
    began_s = rows.time_s[few & ~few.shift(fill_value=True)].to_numpy()
    ended_s = rows.time_s[~few & few.shift(fill_value=False)].to_numpy()
    still = rows[few & (rows.in_flight <= 4)]
    empty_s = [still.time_s[still.time_s >= began].iloc[0] for began in began_s]
    return began_s, np.array(empty_s), ended_s


@answer(
    "BBR's ProbeRTT: the time from the end of one to the start of the next",
    "Cardwell et al. 2016: 10 s, unless a smaller RTT was seen",
    10,
    0.1,
    "s",
)
def bbr_probe_rtt_every(seed):
    began_s, _, ended_s = probe_rtts(seed)
    return began_s[1] - ended_s[0]


@answer(
    "BBR's ProbeRTT: how long the window stays at 4 once no more is in flight",
    "Cardwell et al. 2016: 200 ms, and up to the ACK after these, at most a round trip later",
    210,
    11,
    "ms",
)
def bbr_probe_rtt_length(seed):
    _, empty_s, ended_s = probe_rtts(seed)
    return 1000 * np.mean(ended_s - empty_s)


@answer(
    "BBR, 30 Mbit/s, netem's random loss of 1 %: goodput, as a part of the line's",
    "Cardwell et al. 2016: a loss is no signal; 1 % is lost behind the line, and a ProbeRTT of some"
    " 200 ms in 10.2 s leaves it empty: 0.99 · 0.98 (Reno: 0.25, by Mathis)",
    0.97,
    0.015,
)
def bbr_with_loss(seed):
    path = nl.wan("30mbit", "20ms", "1%", limit=300_000, pairs=1, offload=False, serialise=True)
    flow = nl.Iperf3("h1", "h2", congestion="bbr", time=30, omit=REST_S)
    goodput_bps = nl.run(path, flow, seed=seed).flows.received_bps[0]
    return goodput_bps / (30e6 * MSS_BYTES / FRAME_BYTES)


DCTCP_BDP, DCTCP_MARK = (50e6 * time_s / 8 / FRAME_BYTES for time_s in (0.04, 0.008))
DCTCP_WINDOW = DCTCP_BDP + DCTCP_MARK  # W* of the paper: at which the queue marks
# else h1 sends what 1 ms takes, 4 segments, at once
NO_TSO = "ip link set dev h1-eth0 gso_max_segs 1"
EACH = "ip route change 10.0.0.0/8 dev h2-eth0 quickack 1"  # h2 acknowledges each segment


@functools.cache
def dctcp(seed):
    path = nl.wan(
        "50mbit",
        "40ms",
        pairs=1,
        serialise=True,
        qdisc="codel limit 1000 target 4s interval 4s ce_threshold 8ms ecn",
        sysctls={"net.ipv4.tcp_ecn": 3},  # so that h2 tells each mark
    )
    flow = nl.Iperf3("h1", "h2", congestion="dctcp", time=30, start=1)
    look = "sleep 10; for n in {1..60}; do ss -tinH dst 10.0.0.2; sleep 0.3; done"
    lines = nl.Shell("h2", EACH), nl.Shell("h1", f"{NO_TSO}; {look}")
    seen = nl.Windows("h1"), nl.Queue("s1", "s2", every="5ms")
    return nl.run(path, *lines, flow, *seen, seed=seed)


def dctcp_cycles(rows, windows):
    """The rows after 10 s, from one reduction to the next."""
    reduced_s = windows.time_s[(windows.state == "cwr") & (windows.state.shift() != "cwr")]
    numbers = np.searchsorted(reduced_s, rows.time_s)
    return [part for _, part in rows[rows.time_s > 10].groupby(numbers[rows.time_s > 10])][1:-1]


@answer(
    "DCTCP, one flow, marks above 8 ms at 50 Mbit/s: alpha, as ss shows it",
    "Alizadeh et al. 2010, 3.3: sqrt(2/W*), W* = 198 segments; a period is 10 round trips, and 1.5"
    " in which Linux's window rests after a mark are left out",
    math.sqrt(2 / DCTCP_WINDOW),
    0.015,
    "",
    "The paper has the window fall at once. Probably since Linux spreads a reduction over a"
    " round trip (PRR, RFC 6937), the queue marks on, and Linux reduces once more: in two steps,"
    " by 12 segments in place of 10, every 15 round trips in place of 10, of which little more"
    " than one is marked. (As Linux is, with segmentation offload by the millisecond and delayed"
    " ACKs, alpha is 0.05: segments come four at once, and only the last of them meets a queue"
    " above 8 ms.)",
)
def dctcp_alpha(seed):
    shown = re.findall(r"alpha:(\d+)", dctcp(seed).raw["2-shell-h1"])
    return np.mean([int(one) for one in shown]) / 1024


@answer(
    "DCTCP, the same: from the bottom of the window to its top",
    "Alizadeh et al. 2010, equation 8: sqrt(2 W*) / 2",
    math.sqrt(2 * DCTCP_WINDOW) / 2,
    1.5,
    "segments",
    "As for alpha: two reductions in place of one.",
)
def dctcp_amplitude(seed):
    windows = dctcp(seed).windows
    parts = dctcp_cycles(windows, windows)
    return np.mean([part.cwnd.max() - part.cwnd.min() for part in parts])


@answer(
    "DCTCP, the same: the top of the queue",
    "Alizadeh et al. 2010, equation 10: K + 1, K = 8 ms of the link",
    DCTCP_MARK + 1,
    2,
    "frames",
)
def dctcp_queue(seed):
    queues, windows = dctcp(seed).queues, dctcp(seed).windows
    parts = dctcp_cycles(queues[queues.qdisc == "codel"], windows)
    return np.mean([part.packets.max() for part in parts])


def two_flows(seed, congestion, **path):
    """Rates of two flows that share 10 Mbit/s, from 20 s to 120 s, and the run. [bit/s]"""
    more = {"rate": "10mbit", "delay": "20ms", "limit": 40 * FRAME_BYTES, "noise": "1ms"} | path
    flows = [
        nl.Iperf3(*ends, congestion=one, time=100, omit=20)
        for ends, one in zip([("h1", "h2"), ("h3", "h4")], congestion, strict=True)
    ]
    seen = nl.Windows("h1", every="100ms"), nl.Windows("h3", every="100ms")
    run = nl.run(nl.wan(offload=False, **more), *flows, *seen, seed=seed)
    return run.flows.received_bps.to_numpy(), run


@answer(
    "Jain's index of two equal Reno flows over 100 s, arrivals at hosts up to 1 ms late",
    "Chiu and Jain 1989: AIMD converges to equal shares",
    1,
    0.02,
)
def reno_fairness(seed):
    rates_bps, _ = two_flows(seed, ["reno", "reno"])
    return nl.jain_index(rates_bps)


@answer(
    "CUBIC's share beside Reno at 10 Mbit/s over 20 ms",
    "RFC 9438, 4.3: as Reno where Reno would be faster, so half",
    0.5,
    0.05,
)
def cubic_share(seed):
    rates_bps, _ = two_flows(seed, ["cubic", "reno"])
    return rates_bps[0] / sum(rates_bps)


def exponent(rates_bps, rtts_s):
    """x, where the ratio of the rates is that of the RTTs to the power -x."""
    return math.log(rates_bps[0] / rates_bps[1]) / math.log(rtts_s[1] / rtts_s[0])


@answer(
    "two Reno flows at one full queue, 20 and 80 ms: x in (RTT ratio)^x = rate ratio",
    "Lakshman and Madhow 1997, a bound: between 1 and 2; RTTs as measured, with the queue",
    1.5,
    0.5,
)
def rtt_exponent_queue(seed):
    rates_bps, run = two_flows(seed, ["reno", "reno"], access={"h3": "60ms"})
    rtts_s = run.windows[run.windows.time_s > 20].groupby("flow").srtt_s.mean()
    return exponent(rates_bps, rtts_s.to_numpy())


@answer(
    "two Reno flows with random loss of 0.5 % each, 20 and 80 ms: x, as above",
    "Mathis et al. 1997: rate ~ 1/RTT, so 1; some 100 losses of the longer leave 0.05",
    1,
    0.1,
)
def rtt_exponent_loss(seed):
    path = {"rate": "1gbit", "limit": None, "loss": "0.5%", "access": {"h3": "60ms"}, "noise": None}
    rates_bps, _ = two_flows(seed, ["reno", "reno"], **path)
    return exponent(rates_bps, (0.02, 0.08))
