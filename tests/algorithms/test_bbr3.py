"""BBR3: its states on a path that a few lines of Python make up, and beside the kernel's own v1."""

import heapq
import itertools
import math
import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netlab as nl
from netlab.algorithms import BBR3, base

MSS = 1448
STATES = ["Startup", "Drain", "DOWN", "CRUISE", "REFILL", "UP", "ProbeRTT"]


def asked(tcp, **fields):
    """Show `tcp` what the kernel would, and its sample."""
    defaults = dict(limited=1, in_flight=10, mss=MSS, now_ns=0, delivered=0, lost=0, marked=0)
    defaults |= dict(state=0, rtt_us=0, srtt_us=0, min_rtt_us=0, prior_in_flight=10, flags=0)
    defaults |= dict(sample_delivered=1, interval_us=-1, sample_rtt_us=-1, losses=0)
    tcp._asked = defaults | dict(prior_delivered=0, acked=1) | fields
    sample = base.Sample()
    sample._asked = tcp._asked
    return sample


class Path:
    """A sender behind a bottleneck, packet by packet, and the states it goes through.

    Parameters
    ----------
    rate, rtt_s, queue : float
        Of the bottleneck [segment/s], the path, and the buffer. [segment]
    loss : callable
        Of the time: the probability that a packet is lost.
    """

    def __init__(self, rate=1000, rtt_s=0.1, queue=10_000, loss=lambda now_s: 0, algorithm=BBR3):
        self.rate, self.rtt_s, self.queue, self.loss = rate, rtt_s, queue, loss
        self.bbr, self.tcp, self.chance = algorithm(), base.Connection(), random.Random(1)
        random.seed(1)
        self.now_s = self.free_s = self.next_s = 0.0
        self.events, self.number = [], itertools.count()
        self.delivered = self.lost = self.in_flight = self.recovers = 0
        self.delivered_s = self.first_sent_s = 0.0
        self.seen, self.pending = [], 0
        asked(self.tcp, now_ns=0)
        self.tcp._cwnd = 10.0
        self.bbr.start(self.tcp)

    def run(self, until_s, idle=lambda now_s: False):
        while self.now_s < until_s:
            may = self.in_flight < int(self.tcp.cwnd) and not idle(self.now_s)
            arrives_s = self.events[0][0] if self.events else math.inf
            if may and max(self.next_s, self.now_s) <= arrives_s:
                self.send()
            elif self.events:
                self.acknowledge(heapq.heappop(self.events))
            else:
                self.now_s += 0.001
        return self

    def send(self):
        self.now_s = max(self.next_s, self.now_s)
        self.next_s = self.now_s + MSS * 8 / self.tcp.pacing_bps
        if not self.in_flight:
            self.first_sent_s = self.delivered_s = self.now_s
        self.in_flight += 1
        waits = (self.free_s - self.now_s) * self.rate
        if waits > self.queue or self.chance.random() < self.loss(self.now_s):
            self.pending += 1  # what comes after it tells
            return
        self.free_s = max(self.free_s, self.now_s) + 1 / self.rate
        kept = self.delivered, self.delivered_s, self.now_s, self.first_sent_s, self.pending
        self.pending = 0
        heapq.heappush(self.events, (self.free_s + self.rtt_s, next(self.number), kept))

    def acknowledge(self, event):
        self.now_s, _, (before, before_s, sent_s, first_s, lost) = event
        prior = self.in_flight
        self.delivered, self.in_flight = self.delivered + 1, self.in_flight - 1 - lost
        self.lost += lost
        interval_s = max(sent_s - first_s, self.now_s - before_s)
        self.first_sent_s, self.delivered_s = sent_s, self.now_s
        fields = dict(now_ns=round(1e9 * self.now_s), delivered=self.delivered, lost=self.lost)
        fields |= dict(in_flight=self.in_flight, limited=prior >= int(self.tcp.cwnd))
        fields |= dict(prior_in_flight=prior, prior_delivered=before, losses=lost)
        if lost and before >= self.recovers:
            asked(self.tcp, **fields)
            self.bbr.on_loss(self.tcp)
            self.recovers = self.delivered + self.in_flight
        state = base.STATES.index("recovery" if before < self.recovers else "open")
        fields |= dict(sample_delivered=self.delivered - before, state=state)
        fields |= dict(interval_us=round(1e6 * interval_s))
        fields |= dict(sample_rtt_us=round(1e6 * (self.now_s - sent_s)))
        sample = asked(self.tcp, **fields)
        self.bbr.on_sample(self.tcp, sample)
        self.tcp._cwnd = float(int(self.tcp._cwnd))
        now = self.bbr.state, self.now_s, self.delivered, self.tcp.cwnd, self.in_flight
        self.seen.append((*now, 1e3 * (self.now_s - sent_s)))

    def states(self, since_s=0):
        """The states in their order: (state, from, to)."""
        found = []
        for state, run in itertools.groupby(self.seen, key=lambda one: one[0]):
            rows = [*run]
            found.append((state, rows[0][1], rows[-1][1]))
        return [one for one in found if one[2] > since_s]

    def goodput(self, since_s):
        """Share of the bottleneck."""
        rows = [one for one in self.seen if one[1] > since_s]
        return (rows[-1][2] - rows[0][2]) / (rows[-1][1] - rows[0][1]) / self.rate


def test_the_first_states_on_a_path_that_loses_nothing():
    path = Path().run(5)
    states = [state for state, *_ in path.states()]
    assert states[:6] == ["Startup", "Drain", "CRUISE", "REFILL", "UP", "DOWN"]
    startup, drain = path.states()[:2]
    assert startup[2] < 1.4, "from 10 to 100 segments and three round trips in eight"
    assert drain[2] - drain[1] < 0.4
    assert path.bbr.max_bw == pytest.approx(1000, rel=0.02)
    assert path.bbr.min_rtt_s == pytest.approx(0.101, abs=0.001)
    assert path.bbr.inflight_longterm == math.inf


def test_a_cycle_of_probe_bw_keeps_the_path_full_and_the_queue_short():
    path = Path().run(20)
    assert path.goodput(since_s=3) > 0.95
    rtts_ms = [one[5] for one in path.seen if one[1] > 3]
    assert np.median(rtts_ms) < 105 and max(rtts_ms) < 101 * 2.3
    cycles = "".join(state[0] for state, *_ in path.states(3))
    assert re.fullmatch("(C?RUD|CPC?|P)*(CR?U?)?", cycles) and cycles.count("RUD") >= 3
    cruising = [to - since for state, since, to in path.states(3) if state == "CRUISE"]
    assert max(cruising) < 3.1, "it probes at least every three seconds"


def test_probe_rtt_comes_every_five_seconds_at_half_of_the_bdp():
    path = Path().run(22)
    probes = [(since, to) for state, since, to in path.states() if state == "ProbeRTT"]
    assert len(probes) >= 3
    for (_, ended), (since, to) in itertools.pairwise(probes):
        assert since - ended == pytest.approx(5, abs=0.3) and 0.2 < to - since < 0.6
    least = min(one[4] for one in path.seen if one[0] == "ProbeRTT" and one[1] > 8)
    assert least == pytest.approx(50, abs=3)


@pytest.mark.parametrize(("share", "least", "most"), [(0.01, 0.6, 1), (0.05, 0.1, 0.5)])
def test_it_survives_random_loss_below_two_percent_and_yields_beyond(share, least, most):
    assert least < Path(loss=lambda now_s: share).run(15).goodput(since_s=5) < most


def test_loss_beyond_two_percent_bounds_what_is_in_flight():
    path = Path(loss=lambda now_s: 0.15 if now_s > 8 else 0).run(8)
    assert path.bbr.inflight_longterm == math.inf
    assert path.run(14).bbr.inflight_longterm < 101
    assert path.goodput(since_s=11) < 0.75


def test_startup_ends_by_losses_of_a_short_queue_and_leaves_headroom():
    path = Path(queue=30).run(15)
    assert path.states()[0][2] < 1.4
    assert 95 < path.bbr.inflight_longterm < 150, "a BDP and the queue"
    cruise = [one[3] for one in path.seen if one[0] == "CRUISE" and one[1] > 8]
    assert max(cruise) <= 0.85 * 150
    assert path.goodput(since_s=3) > 0.85
    assert path.lost / path.delivered < 0.03


def test_losses_while_it_cruises_shorten_its_memory_and_a_refill_forgets_them():
    path = Path().run(3)
    bbr, tcp = path.bbr, path.tcp
    bbr.state, bbr.next_probe_s, bbr.rounds_since_probe_up = "CRUISE", 10, -1000
    path.loss = lambda now_s: 0.1
    path.run(4)
    assert 0.5 * 1000 < bbr.bw_shortterm < 1000 and bbr.bw == bbr.bw_shortterm
    assert bbr.max_bw == pytest.approx(1000, rel=0.02) and bbr.inflight_shortterm < 200
    bbr.start_refill(tcp)
    assert bbr.bw_shortterm == bbr.inflight_shortterm == math.inf


def test_a_probe_after_one_that_was_too_high_is_cautious():
    path = Path(queue=30).run(4)
    bbr, tcp = path.bbr, path.tcp
    bbr.state, bbr.prev_probe_too_high, bbr.inflight_longterm = "UP", True, 120
    sample = asked(tcp, prior_in_flight=121, in_flight=120, now_ns=4_100_000_000)
    bbr.round_start, bbr.full_bw_now = False, False
    bbr.inflight_too_high = True  # nothing is adapted
    bbr.update_probe_bw_cycle(tcp, sample)
    assert (bbr.state, bbr.prev_probe_precautionary) == ("DOWN", True)
    bbr.round_start = True  # a round trip without losses: at once again
    bbr.update_probe_bw_cycle(tcp, sample)
    assert bbr.state == "REFILL"


def test_a_silence_is_no_reason_for_probe_rtt():
    path = Path().run(4).run(8, idle=lambda now_s: True)
    assert not path.events and path.in_flight == 0
    path.bbr.idle_restart = True  # the application was the limit
    path.run(9)
    assert "ProbeRTT" not in [state for state, *_ in path.states()]


def test_the_kernel_takes_a_repair_back():
    path = Path().run(3)
    bbr, tcp = path.bbr, path.tcp
    bbr.state, bbr.bw_shortterm, bbr.inflight_longterm = "UP", 900, 200
    tcp.cwnd = 180
    bbr.on_loss(tcp)
    bbr.start_down(tcp)
    bbr.undo_state, bbr.bw_shortterm, bbr.inflight_longterm, tcp.cwnd = "UP", 500, 100, 90
    tcp.ssthresh = 135  # what the kernel had kept
    bbr.undo_loss(tcp)
    assert (tcp.cwnd, tcp.ssthresh, bbr.inflight_longterm) == (180, 2, 200)
    assert bbr.state == "REFILL" and bbr.undo_state is None


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 50),  # acked
            st.integers(0, 20),  # newly lost
            st.integers(0, 400),  # in flight
            st.sampled_from([-1, 200, 20_000, 3_000_000]),  # interval, RTT
            st.integers(0, 3_000_000_000),  # time that passes
            st.integers(0, len(base.STATES) - 1),
            st.integers(0, 1),  # the application is the limit
        ),
        max_size=60,
    )
)
def test_whatever_it_is_told_its_answers_can_be_used(steps):
    bbr, tcp = BBR3(), base.Connection()
    asked(tcp)
    tcp._cwnd = 10.0
    bbr.start(tcp)
    now_ns = delivered = lost = 0
    for acked, newly_lost, in_flight, us, passes_ns, state, app_limited in steps:
        now_ns, before, delivered, lost = (
            now_ns + passes_ns,
            delivered,
            delivered + acked,
            lost + newly_lost,
        )
        fields = dict(now_ns=now_ns, delivered=delivered, lost=lost, in_flight=in_flight)
        fields |= dict(acked=acked, sample_delivered=acked, prior_delivered=before, state=state)
        fields |= dict(interval_us=us, sample_rtt_us=us, flags=app_limited)
        sample = asked(tcp, **fields)
        if newly_lost:
            bbr.on_loss(tcp)
        bbr.on_sample(tcp, sample)
        assert bbr.state in STATES
        assert tcp.cwnd >= 4 or not delivered
        assert math.isfinite(tcp.cwnd) and tcp.pacing_bps > 0
        assert bbr.bw <= bbr.max_bw and len(bbr.sent) <= len(steps)


# On the kernel

CLEAN = nl.wan("50mbit", "20ms", burst=3028, limit=500_000, pairs=1, offload=False)  # 4 BDP


def run(congestion, path=CLEAN, *more, time=6, **options):
    test = nl.Iperf3("h1", "h2", congestion=congestion, time=time)
    return nl.run(path, test, nl.Windows("h1"), *more, **options)


def test_it_fills_the_path_and_keeps_the_queue_short():
    result = run(BBR3)
    rows = result.windows[result.windows.time_s > 3]
    assert result.flows.received_bps[0] > 0.92 * 50e6 * MSS / (MSS + 66)
    assert rows.srtt_s.median() < 0.0235 and rows.srtt_s.max() < 0.045
    assert result.flows.retransmits[0] == 0


@pytest.mark.long
@pytest.mark.parametrize("offload", [False, True])
def test_beside_reno_it_takes_less_and_loses_less_than_v1(offload):
    """Behind a queue of one BDP; behind deeper ones both leave more to Reno."""
    burst = 15_000 if offload else 3028
    path = nl.wan("10mbit", "40ms", burst=burst, limit=50_000, pairs=2, offload=offload)
    reno = nl.Iperf3("h3", "h4", congestion="reno", time=30)
    shares, losses = {}, {}
    for one in (BBR3, "bbr"):
        test = nl.Iperf3("h1", "h2", congestion=one, time=30)
        flows = nl.run(path, test, reno).flows
        shares[one] = flows.received_bps[0] / flows.received_bps.sum()
        losses[one] = flows.retransmits[0]
    assert shares[BBR3] < shares["bbr"] - 0.05 and losses[BBR3] < 0.6 * losses["bbr"]
    assert shares[BBR3] > 0.4


@pytest.mark.long
def test_random_loss_of_one_percent_costs_it_little_and_of_five_much():
    paths = [
        nl.wan("20mbit", "40ms", loss, burst=3028, pairs=1, offload=False) for loss in ("1%", "5%")
    ]
    little, much, reno = (
        run(one, path, time=12).flows.received_bps[0]
        for one, path in ((BBR3, paths[0]), (BBR3, paths[1]), ("reno", paths[0]))
    )
    # seeds 1 to 6: 15.1 to 17.0 Mbit/s, and 0.30 to 0.61 of that; deaf to loss it would be 0.96
    assert 13e6 < little < 19e6 and much < 0.8 * little and reno < 5e6
