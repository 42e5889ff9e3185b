"""BBR, version 3, as the IETF's draft has it; numbers such as 5.3.1 are sections of the draft."""

import math
import random
from collections import deque

from netlab.algorithms.base import CongestionControl


class BBR3(CongestionControl):
    """BBR version 3: paces at the bandwidth that it measures, probes for more from time to time,
    and keeps in flight what such a probe has found to lose less than 2 %. Names are the draft's, in
    segments where that has bytes. A class that derives from this one can change the constants. With
    a `loss_thresh` of 1, a round trip that loses more than it had in flight divides by zero.

    Notes
    -----
    What differs from the draft, or is the kernel's part:

    - The kernel finds and repairs losses, samples the rate, paces (but for the first window), and
      chooses how many segments leave together.
    - A packet was sent with as much in flight as the first ACK after it found. What is lost is
      taken for as old as the newest that has arrived.
    - Of the six ranges of losses that end Startup (5.3.1.3), an ACK that shows losses is one.
    - A connection is idle where an ACK leaves nothing in flight and the application was the limit.
    - The draft leaves marks by ECN open. Here a mark counts as a loss.
    - After a round trip with losses, both short-term bounds start from the smaller of the bound and
      of the newest bandwidth, or window; the draft takes the newest only where there is no bound
      yet (5.5.10.3).
    - The state for an undo is kept when a repair begins; in the draft, at the first loss of a round
      trip (5.5.11.1), which may be earlier.
    - Without SACK, the draft ends Startup, and calls what is in flight too much, at any loss
      (5.3.1.3, 5.5.10.1). Here the same shares and counts hold as with SACK.
    - The filter of bandwidth moves on only where a cycle has a sample (5.5.6).
    - A restart from idle (5.4.1) neither begins the interval of `extra_acked` anew, nor ends a
      ProbeRTT that is due to end; the next ACK does.

    References
    ----------
    N. Cardwell, I. Swett, J. Beshay, "BBR congestion control", draft-ietf-ccwg-bbr-06, July 2026.

    Examples
    --------
    >>> from netlab import Iperf3
    >>> Iperf3("h1", "h2", congestion=BBR3, time=20).congestion
    BBR3
    """

    loss_thresh = 0.02  # the most that a probe for bandwidth may lose (2.8)
    beta = 0.7  # what a round trip with losses leaves, at least
    headroom = 0.15  # share of inflight_longterm that is left to others
    min_pipe_cwnd = 4
    pacing_margin = 0.01  # how far below bw to pace (2.5)
    min_rtt_window_s, probe_rtt_interval_s, probe_rtt_s = 10, 5, 0.2
    accelerating, probe_bw = ("Startup", "REFILL", "UP"), ("DOWN", "CRUISE", "REFILL", "UP")

    def gains(self):  # of pacing rate and window (5.6.1)
        own = {"Startup": (2.77, 2), "Drain": (0.5, 2), "DOWN": (0.9, 2), "UP": (1.25, 2.25)}
        return (own | {"ProbeRTT": (1, 0.5)}).get(self.state, (1, 2))

    def start(self, tcp):  # 5.2.1, 5.6.2
        self.state, self.stopping, self.undo_state = "Startup", False, None
        self.bw = self.max_bw = self.extra_acked = self.extra_acked_delivered = 0
        self.bw_filter, self.extra_acked_filter = [0, 0], []  # bw: of the last cycle, of this one
        self.round_count = self.next_round_delivered = self.rounds_since_probe_up = 0
        self.loss_round_delivered = self.losses_in_round = self.low_until = self.prior_cwnd = 0
        self.bw_latest = self.inflight_latest = self.is_loss_in_round = self.repairs = 0
        self.full_bw_reached = self.idle_restart = self.is_bw_probe_sample = False
        self.prev_probe_too_high = self.prev_probe_precautionary = False
        self.bw_shortterm = self.inflight_shortterm = self.inflight_longterm = math.inf
        self.min_rtt_s = self.probe_rtt_min_s = math.inf
        self.min_rtt_stamp_s = self.probe_rtt_min_stamp_s = self.extra_acked_s = tcp.now_s
        self.sent, self.known = deque(), (tcp.delivered, 0)
        self.initial_cwnd, self.mss_bytes = tcp.cwnd, tcp.mss_bytes
        self.reset_full_bw(0)
        rtt_s = 0.001 if math.isnan(tcp.srtt_s) else tcp.srtt_s
        self.pacing_bps = self.gains()[0] * tcp.cwnd / rtt_s * 8 * tcp.mss_bytes
        tcp.ssthresh = 2  # the kernel raises it where it takes a repair back

    def on_sample(self, tcp, sample):  # 5.2.3
        newly_lost = self.look_back(tcp, sample)
        if self.repairs and tcp.state not in ("recovery", "loss"):  # 5.6.4.4
            tcp.cwnd, self.repairs = max(tcp.cwnd, self.prior_cwnd), False
        if tcp.ssthresh > 2:
            self.undo_loss(tcp)
        if newly_lost:
            self.lose(tcp, newly_lost)
        if not sample.acked:
            return
        self.update_congestion_signals(tcp, sample)
        self.update_ack_aggregation(tcp, sample)
        self.check_full_bw_reached()
        self.check_startup_and_drain_done(tcp)
        self.update_probe_bw_cycle(tcp, sample)
        self.update_min_rtt_and_check_probe_rtt(tcp, sample)
        if self.loss_round_start:
            self.bw_latest, self.inflight_latest = self.rate, sample.delivered
        self.bw = min(self.max_bw, self.bw_shortterm)
        self.idle_restart = tcp.in_flight == 0 and self.app_limited  # 5.4.1
        self.set_pacing_rate_and_cwnd(tcp, sample)

    def look_back(self, tcp, sample):  # 4.1: at the sending of the newest packet that has arrived
        (delivered, lost), lost_now = self.known, tcp.lost + tcp.marked
        self.sent.append((delivered, sample.in_flight_before, lost))
        self.known = tcp.delivered, lost_now
        while len(self.sent) > 1 and self.sent[1][0] <= sample.delivered_before:
            self.sent.popleft()
        self.tx_in_flight, self.lost = self.sent[0][1], lost_now - self.sent[0][2]
        self.inflight_too_high = self.lost > self.loss_thresh * self.tx_in_flight
        self.rate = 0 if math.isnan(sample.interval_s) else sample.delivered / sample.interval_s
        self.app_limited = sample.app_limited or sample.delivered_before < self.low_until
        return lost_now - lost

    def reset_full_bw(self, full_bw):
        self.full_bw, self.full_bw_count, self.full_bw_now = full_bw, 0, False

    def check_full_bw_reached(self):  # 5.3.1.2
        if self.round_start and not self.full_bw_now and not self.app_limited:
            self.full_bw_count += 1
            if self.rate >= 1.25 * self.full_bw:
                self.reset_full_bw(self.rate)  # it still grows
            self.full_bw_now = self.full_bw_count >= 3
            self.full_bw_reached |= self.full_bw_now

    def check_startup_and_drain_done(self, tcp):  # 5.3.1.3, 5.3.2
        if self.loss_round_start:
            often = self.losses_in_round >= 6 and tcp.state == "recovery"
            self.losses_in_round = 0
            if often and not self.full_bw_reached and self.inflight_too_high:
                self.inflight_longterm = max(self.bdp(), self.inflight_latest)
                self.full_bw_reached, self.undo_state = True, "Startup"
        if self.state == "Startup" and self.full_bw_reached:
            self.state, self.drain_start_round = "Drain", self.round_count
        if self.state == "Drain":
            long = self.round_count > self.drain_start_round + 3
            if long or tcp.in_flight <= self.inflight(self.bdp()):
                self.start_down(tcp)

    def start_down(self, tcp):  # 5.3.3
        self.bw_latest = self.inflight_latest = self.is_loss_in_round = 0
        self.rounds_since_probe_up = random.randint(0, 1)
        self.next_probe_s = tcp.now_s + 2 + random.random()
        self.state, self.stopping, self.next_round_delivered = "DOWN", True, tcp.delivered

    def start_refill(self, tcp):
        self.bw_shortterm = self.inflight_shortterm = math.inf
        self.bw_probe_up_acked, self.prev_probe_precautionary = 0, False
        self.state, self.stopping, self.next_round_delivered = "REFILL", False, tcp.delivered

    def update_probe_bw_cycle(self, tcp, sample):
        if not self.full_bw_reached or self.adapt_long_term_model(tcp, sample):
            return
        if self.state in ("DOWN", "CRUISE"):
            rounds = min(self.bdp(), tcp.cwnd, 63)  # as often as Reno would lose
            full = self.inflight(self.max_bw * self.min_rtt_s)
            if tcp.now_s > self.next_probe_s or self.rounds_since_probe_up >= rounds:
                self.start_refill(tcp)
            elif tcp.in_flight <= min(self.inflight_with_headroom(), full):
                self.state = "CRUISE"
        elif self.state == "REFILL" and self.round_start:
            self.is_bw_probe_sample = True
            self.reset_full_bw(self.rate)
            self.probe_up_acked_per_inc, self.growth = tcp.cwnd, 1
            self.state, self.next_round_delivered = "UP", tcp.delivered
        elif self.state == "UP":
            risky = self.prev_probe_too_high and sample.in_flight_before >= self.inflight_longterm
            if not risky and tcp.cwnd_limited and tcp.cwnd >= self.inflight_longterm:
                self.reset_full_bw(self.rate)  # that is what limits it, and not the path
            if risky or self.full_bw_now:
                self.prev_probe_precautionary, self.prev_probe_too_high = risky, False
                self.start_down(tcp)

    def adapt_long_term_model(self, tcp, sample):  # True where it has begun another state
        if self.stopping and self.round_start:  # no more samples of the probe
            self.is_bw_probe_sample = self.stopping = False
            if self.state in self.probe_bw:
                if not self.app_limited and self.bw_filter[1]:  # 5.5.6
                    self.bw_filter = [self.bw_filter[1], 0]
                if self.prev_probe_precautionary and not self.prev_probe_too_high:
                    self.start_refill(tcp)
                    return True
        if not self.inflight_too_high and self.inflight_longterm < math.inf:
            self.inflight_longterm = max(self.inflight_longterm, self.tx_in_flight)
            if self.state == "UP" and tcp.cwnd_limited and tcp.cwnd >= self.inflight_longterm:
                self.bw_probe_up_acked += sample.acked
                self.inflight_longterm += self.bw_probe_up_acked // self.probe_up_acked_per_inc
                self.bw_probe_up_acked %= self.probe_up_acked_per_inc
                if self.round_start:
                    self.growth = min(2 * self.growth, 2**30)
                    self.probe_up_acked_per_inc = max(tcp.cwnd / self.growth, 1)
        return False

    def update_min_rtt_and_check_probe_rtt(self, tcp, sample):  # 5.3.4
        now_s, rtt_s = tcp.now_s, sample.rtt_s
        due = now_s > self.probe_rtt_min_stamp_s + self.probe_rtt_interval_s
        if rtt_s < self.probe_rtt_min_s or (due and rtt_s >= 0):
            self.probe_rtt_min_s, self.probe_rtt_min_stamp_s = rtt_s, now_s
        old = now_s > self.min_rtt_stamp_s + self.min_rtt_window_s
        if old or self.probe_rtt_min_s < self.min_rtt_s:
            self.min_rtt_s, self.min_rtt_stamp_s = self.probe_rtt_min_s, self.probe_rtt_min_stamp_s
        if self.state != "ProbeRTT" and due and not self.idle_restart:
            self.prior_cwnd = max(self.prior_cwnd, tcp.cwnd)
            self.stopping, self.next_round_delivered = True, tcp.delivered
            self.state, self.probe_rtt_done_s, self.probe_rtt_round_done = "ProbeRTT", 0, False
        if self.state == "ProbeRTT":
            self.low_until = tcp.delivered + tcp.in_flight  # its low rates say nothing
            if self.probe_rtt_done_s:
                self.probe_rtt_round_done |= self.round_start
                if self.probe_rtt_round_done and now_s > self.probe_rtt_done_s:
                    self.probe_rtt_min_stamp_s, self.state = now_s, "Startup"
                    tcp.cwnd = max(tcp.cwnd, self.prior_cwnd)
                    self.bw_shortterm = self.inflight_shortterm = math.inf
                    if self.full_bw_reached:
                        self.start_down(tcp)
                        self.state = "CRUISE"
            elif tcp.in_flight <= max(self.gains()[1] * self.bdp(), self.min_pipe_cwnd):
                self.probe_rtt_done_s = now_s + self.probe_rtt_s
                self.next_round_delivered = tcp.delivered

    def update_congestion_signals(self, tcp, sample):  # 5.5.1, 5.5.5, 5.5.10.3
        self.bw_latest = max(self.bw_latest, self.rate)
        self.inflight_latest = max(self.inflight_latest, sample.delivered)
        self.round_start = sample.delivered_before >= self.next_round_delivered
        if self.round_start:
            self.next_round_delivered = tcp.delivered
            self.round_count += 1
            self.rounds_since_probe_up += 1
        if self.rate >= self.max_bw or not self.app_limited:
            self.bw_filter[1] = max(self.bw_filter[1], self.rate)
            self.max_bw = max(self.bw_filter)
        self.loss_round_start = sample.delivered_before >= self.loss_round_delivered
        if self.loss_round_start:
            self.loss_round_delivered = tcp.delivered
            if self.is_loss_in_round and self.state not in self.accelerating:
                bw = self.beta * min(self.bw_shortterm, self.max_bw)
                inflight = self.beta * min(self.inflight_shortterm, tcp.cwnd)
                self.bw_shortterm = max(self.bw_latest, bw)
                self.inflight_shortterm = max(self.inflight_latest, inflight)
            self.is_loss_in_round = False

    def update_ack_aggregation(self, tcp, sample):  # 5.5.9
        expected = self.bw * (tcp.now_s - self.extra_acked_s)
        if self.extra_acked_delivered <= expected:
            self.extra_acked_delivered, self.extra_acked_s, expected = 0, tcp.now_s, 0
        self.extra_acked_delivered += sample.acked
        extra = min(self.extra_acked_delivered - expected, tcp.cwnd)
        since = self.round_count - (10 if self.full_bw_reached else 1)
        later = [one for one in self.extra_acked_filter if one[0] > since and one[1] > extra]
        self.extra_acked_filter = [*later, (self.round_count, extra)]  # the largest is the first
        self.extra_acked = self.extra_acked_filter[0][1]

    def lose(self, tcp, newly_lost):  # 5.5.10.2
        if not self.is_loss_in_round:
            self.loss_round_delivered, self.is_loss_in_round = tcp.delivered, True
        self.losses_in_round += 1
        if self.is_bw_probe_sample and self.inflight_too_high:
            # how much was in flight when too much was lost
            before, lost_before = self.tx_in_flight - newly_lost, self.lost - newly_lost
            more = (self.loss_thresh * before - lost_before) / (1 - self.loss_thresh)
            self.prev_probe_too_high, self.is_bw_probe_sample = True, False
            if not self.app_limited:
                target = self.beta * min(self.bdp(), tcp.cwnd)
                self.inflight_longterm = max(before + more, target)
            if self.state == "UP":
                self.undo_state = "UP"
                self.start_down(tcp)

    def on_loss(self, tcp):  # 5.5.11.1, 5.6.4.4: a repair begins
        again = self.repairs or self.state == "ProbeRTT"
        self.prior_cwnd = max(self.prior_cwnd if again else 0, tcp.cwnd)
        self.repairs, self.undo_state, tcp.ssthresh = True, None, 2
        self.old = self.bw_shortterm, self.inflight_shortterm, self.inflight_longterm

    def undo_loss(self, tcp):  # 5.5.11.2
        tcp.cwnd, tcp.ssthresh = max(tcp.cwnd, self.prior_cwnd), 2
        self.is_loss_in_round = False
        self.reset_full_bw(0)
        now = self.bw_shortterm, self.inflight_shortterm, self.inflight_longterm
        self.bw_shortterm, self.inflight_shortterm, self.inflight_longterm = map(max, now, self.old)
        self.full_bw_reached &= self.undo_state != "Startup"
        if self.state != "ProbeRTT" and self.undo_state == "Startup":
            self.state = "Startup"
        elif self.state not in ("UP", "ProbeRTT") and self.undo_state == "UP":
            self.start_refill(tcp)
        self.undo_state = None

    def bdp(self):  # 5.6.4.2
        return self.initial_cwnd if self.min_rtt_s == math.inf else self.bw * self.min_rtt_s

    def inflight(self, cap):  # 5.5.8: with what waits in the hosts, 3 times what leaves together
        together = max(min(self.pacing_bps / 8 * 0.001, 65536) / self.mss_bytes, 2)
        return max(cap, 3 * together, self.min_pipe_cwnd) + 2 * (self.state == "UP")

    def inflight_with_headroom(self):
        most = min((1 - self.headroom) * self.inflight_longterm, self.inflight_longterm - 1)
        return max(most, self.min_pipe_cwnd)

    def set_pacing_rate_and_cwnd(self, tcp, sample):  # 5.6.2, 5.6.4
        pacing_gain, cwnd_gain = self.gains()
        if self.idle_restart and self.state in self.probe_bw:
            pacing_gain = 1
        bps = min(pacing_gain * self.bw * (1 - self.pacing_margin) * 8 * tcp.mss_bytes, 1e12)
        if bps > self.pacing_bps or (self.full_bw_reached and bps):
            self.pacing_bps = bps
        tcp.pacing_bps = self.pacing_bps
        by_gain = cwnd_gain * self.bdp()
        cwnd, max_inflight = tcp.cwnd, self.inflight(by_gain + self.extra_acked)
        if self.full_bw_reached:
            cwnd = min(cwnd + sample.acked, max_inflight)
        elif cwnd < max_inflight or tcp.delivered < self.initial_cwnd:
            cwnd += sample.acked
        most = min(self.inflight_shortterm, by_gain if self.state == "ProbeRTT" else math.inf)
        if self.state in ("CRUISE", "ProbeRTT"):
            most = min(most, self.inflight_with_headroom())
        elif self.state in self.probe_bw:
            most = min(most, self.inflight_longterm)
        tcp.cwnd = max(min(cwnd, most), self.min_pipe_cwnd)
