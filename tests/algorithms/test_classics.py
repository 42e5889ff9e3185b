"""The algorithms that come with netlab, against the kernel's own, and what an algorithm may do."""

import re

import numpy as np
import pytest

import netlab as nl
from netlab.algorithms import AIMD, DCTCP, Cubic, Delay, Reno, base
from tests import cases

CLEAN = nl.wan("100mbit", "20ms", burst=15_000, limit=250_000, pairs=1)
LOSSY = nl.wan("100mbit", "20ms", "0.1%", burst=15_000, pairs=1)
ROOMY = nl.wan("500mbit", "20ms", "0.1%", burst=15_000, pairs=1)  # for streams that do not meet
MSS = 1448
RED = "red limit 400kb min 30kb max 90kb avpkt 1000 bandwidth 100mbit ecn"


def run(congestion, path=CLEAN, *more, time=3, seed=1, **options):
    test = nl.Iperf3("h1", "h2", congestion=congestion, time=time, **options)
    return nl.run(path, test, nl.Windows("h1"), *more, seed=seed)


def mean_window(result, since_s=3):
    """The mean over time and streams. [segment]"""
    streams = result.windows[result.windows.time_s > since_s].groupby("stream")
    return np.mean(
        [np.average(rows.cwnd[:-1], weights=np.diff(rows.time_s)) for _, rows in streams]
    )


@pytest.mark.parametrize(
    ("path", "streams"), [(CLEAN, 1), pytest.param(ROOMY, 4, marks=pytest.mark.long)]
)
@pytest.mark.parametrize(
    ("algorithms", "time", "within"), [(("reno", Reno), 20, 0.05), (("cubic", Cubic), 12, 0.06)]
)
def test_it_is_the_kernels(algorithms, time, within, path, streams):
    kernels, own = (run(one, path, time=time, parallel=streams) for one in algorithms)
    for measure in (mean_window, lambda result: result.flows.received_bps[0]):
        assert measure(own) == pytest.approx(measure(kernels), rel=within)


@pytest.mark.long
def test_one_stream_of_ornls_aimd_carries_what_eight_of_reno_do():
    eight = run("reno", LOSSY, parallel=8, time=10).flows.received_bps[0]
    assert run(AIMD(0.06, 8), LOSSY, time=10).flows.received_bps[0] == pytest.approx(eight, rel=0.1)
    assert run(Reno, LOSSY, time=10).flows.received_bps[0] < 0.5 * eight


@pytest.mark.long
def test_delay_is_near_the_kernels_vegas():
    path = CLEAN.but(offload=False)
    vegas, own = (run(one, path, time=20) for one in ("vegas", Delay))
    assert mean_window(own) == pytest.approx(mean_window(vegas), rel=0.05)
    assert own.flows.received_bps[0] == pytest.approx(vegas.flows.received_bps[0], rel=0.01)
    assert mean_window(own) < 0.8 * mean_window(run("reno", path, time=20))


@pytest.mark.long
def test_cubic_with_the_rfcs_rule_carries_what_reno_does():
    """At 1 % of loss, where Linux's carries a twentieth less."""
    path = nl.wan("100mbit", "20ms", "1%", burst=15_000, pairs=1)
    rates = [
        run(one, path, time=20, parallel=5).flows.received_bps[0]
        for one in ("reno", Cubic, Cubic(alpha_rule=True))
    ]
    assert rates[1] < rates[0] and rates[2] > 1.04 * rates[1]
    assert rates[2] == pytest.approx(rates[0], rel=0.1)


class Alpha(DCTCP):
    """Prints its average share of marks ten times a second."""

    said_s = 4

    def on_sample(self, tcp, sample):
        super().on_sample(tcp, sample)
        if tcp.now_s > self.said_s + 0.1:
            self.said_s = tcp.now_s
            print(self.alpha)


def test_dctcp_is_the_kernels_dctcp(capsys):
    """The same marks, rate and window; the kernel's `alpha` in 1024ths is what ss shows."""
    qdisc, sysctls = "fq_codel ce_threshold 1ms ecn", {"net.ipv4.tcp_ecn": 3}
    path = nl.wan("100mbit", "2ms", burst=15_000, pairs=1, qdisc=qdisc, sysctls=sysctls)
    look = nl.Shell("h1", "for i in $(seq 25); do sleep 0.2; ss -tin dst 10.0.0.2; done")
    kernel, own = run("dctcp", path, look, time=6), run(Alpha, path, time=6)
    shown = re.findall(r"alpha:([\d.]+)", str(kernel.raw))
    theirs = np.mean([float(one) for one in shown[-15:]]) / 1024
    ours = np.mean([*map(float, capsys.readouterr().out.split())])
    assert 0.03 < theirs < 0.2 and ours == pytest.approx(theirs, rel=0.15)
    assert mean_window(own) == pytest.approx(mean_window(kernel), rel=0.05)
    rates = [one.flows.received_bps[0] for one in (own, kernel)]
    assert rates[0] == pytest.approx(rates[1], rel=0.01) and rates[0] > 90e6


def shown(**fields):
    """A connection that is shown these numbers."""
    tcp = base.Connection()
    tcp._asked = dict(delivered=0, marked=0, lost=0, in_flight=100, state=0, limited=1) | fields
    return tcp


def test_dctcp_gives_up_half_for_a_loss_and_by_its_share_for_marks():
    control, tcp = DCTCP(), shown()
    control.start(tcp)
    for _ in range(200):  # a tenth of each round trip is marked
        tcp._asked["delivered"] += 101
        tcp._asked["marked"] += 10
        control.measure(tcp)
    assert control.alpha == pytest.approx(10 / 101, rel=0.01)
    tcp.cwnd = 100
    control.on_loss(tcp)
    assert tcp.cwnd == tcp.ssthresh == 96  # in whole segments, as Linux
    tcp._asked["lost"] = 1
    control.on_loss(tcp)
    assert tcp.cwnd == 48


def test_dctcp_waits_for_a_first_delivery():
    """An ACK that delivers nothing, as the receiver of data has it for its FIN, says no share."""
    control, tcp = DCTCP(), shown(delivered=1)  # the handshake's
    control.start(tcp)
    control.measure(tcp)
    assert control.alpha == 1
    tcp._asked |= dict(delivered=11, marked=5)
    control.measure(tcp)
    assert control.alpha == pytest.approx(1 + (0.5 - 1) / 16)


@pytest.mark.parametrize("host_qdisc", [None, "fq"])
def test_dctcp_ends_a_connection_that_has_delivered_nothing(host_qdisc):
    """iperf3's server has the client's algorithm, and an ACK comes before its FIN is delivered."""
    qdisc, sysctls = "codel ce_threshold 1ms ecn", {"net.ipv4.tcp_ecn": 3}
    path = nl.wan("100mbit", "2ms", burst=15_000, qdisc=qdisc, sysctls=sysctls)
    path = path.but(hosts=[host.but(qdisc=host_qdisc) for host in path.hosts])
    assert run(DCTCP, path, time=5, seed=2).flows.received_bps[0] > 90e6


def test_cubic_remembers_less_of_a_second_loss():
    control, tcp = Cubic(), shown()
    control.start(tcp)
    tcp.cwnd = 100
    control.on_loss(tcp)
    assert (control.top, tcp.ssthresh) == (100, 70)
    tcp.cwnd = 80
    control.on_loss(tcp)
    assert (control.top, tcp.ssthresh) == (0.85 * 80, 56), "fast convergence"
    control.on_timeout(tcp)
    assert control.top == 0


class Tahoe(Reno):
    """Begins again after each loss."""

    def on_loss(self, tcp):
        tcp.ssthresh = max(tcp.cwnd / 2, 2)
        tcp.cwnd = 1


def begins_of_calm(result):
    """The rows in which a repair has just ended."""
    rows = result.windows
    calm = rows.state.isin(["open", "disorder"])
    return rows[calm & ~calm.shift(fill_value=True)]


@pytest.mark.long
def test_a_window_set_on_loss_is_the_one_after_the_repair():
    """Its first ACK is counted already: slow start from one segment gives 1 + what it acknowledged,
    where Reno goes on at the threshold.
    """
    result = run(Tahoe, LOSSY, time=6)
    tahoe, reno = begins_of_calm(result), begins_of_calm(run(Reno, LOSSY, time=6))
    assert len(tahoe) >= 3 and (tahoe.cwnd < tahoe.ssthresh).mean() > 0.7
    assert len(reno) >= 3 and (reno.cwnd >= reno.ssthresh).all()
    begin = tahoe.iloc[0]
    later = result.windows[result.windows.time_s.between(begin.time_s, begin.time_s + 0.1)]
    assert later.cwnd.max() >= begin.ssthresh, "it grows back to the threshold"


class Paced(Reno):
    def start(self, tcp):
        tcp.pacing_bps = 20e6


class Free(Paced):
    def on_ack(self, tcp, acked):
        super().on_ack(tcp, acked)
        tcp.pacing_bps = float("inf")


def test_a_pacing_rate_is_kept_until_it_is_infinite():
    paced = run(Paced, time=5, reverse=True).flows
    assert 0.9 * 20e6 < paced.received_bps[0] < 20e6 and paced.retransmits[0] == 0
    assert run(Free, time=5).flows.received_bps[0] > 80e6


class Greedy(nl.CongestionControl):
    """Grows whether or not its window is what limits it; says if it was."""

    def on_ack(self, tcp, acked):
        tcp.cwnd += acked
        print("limited" if tcp.cwnd_limited else "not", end=" ")


def test_whether_the_window_is_the_limit_is_told(capsys):
    # what is not used does not grow, as in the kernel's
    most = [run(one, time=2, bitrate="5mbit").windows.cwnd.max() for one in (Greedy, Reno, "reno")]
    said = capsys.readouterr().out.split()
    assert said.count("not") > 0.9 * len(said) > 50
    assert most[0] > 300 and most[1] == pytest.approx(most[2], abs=2)


class Asked(Reno):
    def on_loss(self, tcp):
        super().on_loss(tcp)
        print("loss", end=" ")

    def on_timeout(self, tcp):
        print(f"timeout-at-{tcp.cwnd:.0f}", end=" ")


@pytest.mark.parametrize("qdisc", cases(["fq_codel", RED]))
def test_a_mark_by_ecn_is_a_loss_to_it(qdisc, capsys):
    path = nl.wan("100mbit", "20ms", pairs=1, qdisc=qdisc, sysctls={"net.ipv4.tcp_ecn": 1})
    result = run(Asked, path, time=5)
    assert capsys.readouterr().out.split().count("loss") >= 1
    assert "cwr" in set(result.windows.state)


class Again(Reno):
    def on_timeout(self, tcp):
        tcp.cwnd = 25


def test_a_timeout_is_told_and_the_window_begins_at_one_or_where_it_is_set(capsys):
    away = nl.Shell("h1", "sleep 2; ip link set h1-eth0 down; sleep 1; ip link set h1-eth0 up")
    result, kernel, again = (run(one, CLEAN, away, time=5) for one in (Asked, "reno", Again))
    asked = capsys.readouterr().out.split()
    timeouts = [re.fullmatch(r"timeout-at-(\d+)", one) for one in asked]
    assert any(timeouts) and asked.count("loss") >= sum(map(bool, timeouts))
    rows, others = result.windows, again.windows
    first, last = rows[rows.timeout].time_s.iloc[0], others[others.timeout].time_s.iloc[-1]
    assert rows[rows.time_s > first].cwnd.iloc[0] <= 10
    assert others[others.time_s > last].cwnd.iloc[:3].max() >= 25
    received = result.flows.received_bps[0], kernel.flows.received_bps[0]
    assert received[0] == pytest.approx(received[1], rel=0.05)


class Numbered(Reno):
    """Remembers its own losses."""

    def start(self, tcp):
        self.losses = 0

    def on_loss(self, tcp):
        super().on_loss(tcp)
        self.losses += 1
        print(f"{id(self)}:{self.losses}", end=" ")


@pytest.mark.long
def test_each_connection_has_an_instance_of_its_own(capsys):
    run(Numbered, LOSSY, parallel=2, time=6)
    told = [one.split(":") for one in capsys.readouterr().out.split()]
    assert len({who for who, _ in told}) == 2
    for who in {who for who, _ in told}:
        own = [int(number) for other, number in told if other == who]
        assert own == [*range(1, len(own) + 1)]


class Lucky(Reno):
    def start(self, tcp):
        import random

        tcp.cwnd = 2 + random.randrange(1000)


def test_chance_comes_from_the_seed():
    first, again, other = (run(Lucky, time=1, seed=seed) for seed in (1, 1, 2))
    assert first.raw == again.raw
    assert first.windows.cwnd[5] != other.windows.cwnd[5]


class Tells(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        print(tcp, tcp.mss_bytes, tcp.rtt_s, tcp.srtt_s, tcp.min_rtt_s, tcp.delivered, tcp.lost)


def test_what_it_is_told_is_what_the_kernel_has(capsys):
    run(Tells, time=1)
    *_, last = capsys.readouterr().out.splitlines()
    mss, rtt, srtt, least, delivered, lost = map(float, last.rpartition("> ")[2].split())
    assert re.match(r"<tcp: cwnd 10, ssthresh inf, \d+ in flight, RTT 20", last)
    assert mss == MSS and lost == 0 and delivered > 100
    assert rtt == pytest.approx(0.0205, rel=0.05) and srtt == pytest.approx(rtt, rel=0.05)
    assert 0.02 <= least <= rtt
