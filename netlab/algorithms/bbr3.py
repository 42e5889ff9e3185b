"""BBR, version 3, as the IETF's draft has it; numbers such as 5.3.1 are sections of the draft."""

import math
import random
from collections import deque

from netlab.algorithms.base import CongestionControl


class BBR3(CongestionControl):
    """BBR version 3: paces at the bandwidth that it measures, probes for more from time to time,
    and keeps in flight what such a probe has found to lose less than 2 %.

    The names are those of the draft, in segments where the draft has bytes. A class that derives
    from this one can change the constants, such as ``beta = 0.5``.

    Notes
    -----
    What differs from the draft, or is the kernel's part:

    - The kernel finds losses and repairs them, samples the rate, paces, and chooses how many
      segments leave together. It sends its first window unpaced.
    - No state is kept with a packet. Each ACK notes what was in flight just before it; a packet
      was sent with what the first ACK after it notes. A lost packet is taken for as old as the
      newest that has arrived.
    - Of the six ranges of losses that end Startup (5.3.1.3), each ACK that shows losses is one.
    - Nothing is asked when a packet is sent. A connection restarts from idle where an ACK has left
      nothing in flight and the application was the limit.
    - A mark by ECN counts as a loss. The draft leaves the response to marks open.

    References
    ----------
    N. Cardwell, I. Swett, J. Beshay, "BBR congestion control", draft-ietf-ccwg-bbr-06, July 2026.
    """

    loss_thresh = 0.02  # the most that a probe for bandwidth may lose (2.8)
    beta = 0.7  # what a round trip with losses leaves, at least
    headroom = 0.15  # share of inflight_longterm that is left to others
    min_pipe_cwnd = 4
    pacing_margin = 0.01  # how far below bw to pace (2.5)
    startup_full_loss_count = 6
    extra_acked_rounds = 10
    min_rtt_filter_s, probe_rtt_interval_s, probe_rtt_s = 10, 5, 0.2
    gains = {  # noqa: RUF012 - of pacing rate and window, by state (5.6.1)
        "Startup": (2.77, 2),
        "Drain": (0.5, 2),
        "DOWN": (0.9, 2),
        "CRUISE": (1, 2),
        "REFILL": (1, 2),
        "UP": (1.25, 2.25),
        "ProbeRTT": (1, 0.5),
    }
    accelerating, probe_bw = ("Startup", "REFILL", "UP"), ("DOWN", "CRUISE", "REFILL", "UP")

    def start(self, tcp):  # 5.2.1, 5.6.2
        self.state, self.ack_phase, self.undo_state = "Startup", "INIT", None
        self.bw = self.max_bw = self.extra_acked = self.extra_acked_delivered = 0
        self.bw_filter, self.extra_acked_filter = [0, 0], deque()  # of the last cycle, and this one
        self.round_count = self.next_round_delivered = self.rounds_since_probe_up = 0
        self.loss_round_delivered = self.losses_in_round = self.low_until = self.prior_cwnd = 0
        self.full_bw_reached = self.repairs = self.idle_restart = self.is_bw_probe_sample = False
        self.prev_probe_too_high = self.prev_probe_precautionary = False
        self.min_rtt_s = self.probe_rtt_min_s = self.inflight_longterm = math.inf
        self.min_rtt_stamp_s = self.probe_rtt_min_stamp_s = self.extra_acked_s = tcp.now_s
        self.sent, self.known = deque(), (tcp.delivered, 0)
        self.initial_cwnd, self.mss_bytes = tcp.cwnd, tcp.mss_bytes
        self.reset_congestion_signals()
        self.reset_short_term_model()
        self.reset_full_bw(0)
        rtt_s = 0.001 if math.isnan(tcp.srtt_s) else tcp.srtt_s
        self.pacing_bps = self.gains["Startup"][0] * tcp.cwnd / rtt_s * 8 * tcp.mss_bytes
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
        self.update_min_rtt(tcp, sample)
        self.check_probe_rtt(tcp, sample)
        if self.loss_round_start:
            self.bw_latest, self.inflight_latest = self.rate, sample.delivered
        self.bw = min(self.max_bw, self.bw_shortterm)
        self.idle_restart = tcp.in_flight == 0 and self.app_limited  # 5.4.1
        gain = 1 if self.idle_restart and self.state in self.probe_bw else self.gains[self.state][0]
        self.set_pacing_rate(tcp, gain)
        self.set_cwnd(tcp, sample)

    def look_back(self, tcp, sample):  # 4.1: at the sending of the newest packet that has arrived
        (delivered, lost), lost_now = self.known, tcp.lost + tcp.marked
        self.sent.append((delivered, sample.in_flight_before, lost))
        self.known = tcp.delivered, lost_now
        while len(self.sent) > 1 and self.sent[1][0] <= sample.delivered_before:
            self.sent.popleft()
        self.tx_in_flight, self.lost = self.sent[0][1], lost_now - self.sent[0][2]
        self.rate = 0 if math.isnan(sample.interval_s) else sample.delivered / sample.interval_s
        self.app_limited = sample.app_limited or sample.delivered_before < self.low_until
        return lost_now - lost

    # Startup and Drain (5.3.1, 5.3.2)

    def reset_full_bw(self, full_bw):
        self.full_bw, self.full_bw_count, self.full_bw_now = full_bw, 0, False

    def check_full_bw_reached(self):
        if self.full_bw_now or not self.round_start or self.app_limited:
            return
        if self.rate >= 1.25 * self.full_bw:
            self.reset_full_bw(self.rate)  # it still grows
            return
        self.full_bw_count += 1
        self.full_bw_now = self.full_bw_count >= 3
        self.full_bw_reached |= self.full_bw_now

    def check_startup_and_drain_done(self, tcp):
        if self.loss_round_start:
            often = self.losses_in_round >= self.startup_full_loss_count
            self.losses_in_round = 0
            if often and tcp.state == "recovery" and self.is_inflight_too_high():
                if not self.full_bw_reached:
                    self.inflight_longterm = max(self.bdp(1), self.inflight_latest)
                    self.full_bw_reached, self.undo_state = True, "Startup"
        if self.state == "Startup" and self.full_bw_reached:
            self.state, self.drain_start_round = "Drain", self.round_count
        if self.state == "Drain" and (
            tcp.in_flight <= self.inflight(self.bdp(1))
            or self.round_count > self.drain_start_round + 3
        ):
            self.start_down(tcp)

    # ProbeBW (5.3.3)

    def start_down(self, tcp):
        self.reset_congestion_signals()
        self.rounds_since_probe_up = random.randint(0, 1)
        self.next_probe_s = tcp.now_s + 2 + random.random()
        self.state, self.ack_phase, self.next_round_delivered = "DOWN", "STOPPING", tcp.delivered

    def start_refill(self, tcp):
        self.reset_short_term_model()
        self.bw_probe_up_rounds = self.bw_probe_up_acked = 0
        self.prev_probe_precautionary = False
        self.state, self.ack_phase, self.next_round_delivered = "REFILL", "REFILLING", tcp.delivered

    def start_up(self, tcp):
        self.is_bw_probe_sample = True
        self.reset_full_bw(self.rate)
        self.state, self.ack_phase, self.next_round_delivered = "UP", "STARTING", tcp.delivered
        self.raise_slope(tcp)

    def raise_slope(self, tcp):
        self.probe_up_acked_per_inc = max(tcp.cwnd / 2**self.bw_probe_up_rounds, 1)
        self.bw_probe_up_rounds = min(self.bw_probe_up_rounds + 1, 30)

    def update_probe_bw_cycle(self, tcp, sample):
        if not self.full_bw_reached or self.adapt_long_term_model(tcp, sample):
            return
        if self.state in ("DOWN", "CRUISE"):
            rounds = min(self.bdp(1), tcp.cwnd, 63)  # as often as Reno would lose
            if tcp.now_s > self.next_probe_s or self.rounds_since_probe_up >= rounds:
                self.start_refill(tcp)
            elif tcp.in_flight <= min(
                self.inflight_with_headroom(), self.inflight(self.max_bw * self.min_rtt_s)
            ):
                self.state = "CRUISE"
        elif self.state == "REFILL" and self.round_start:
            self.start_up(tcp)
        elif self.state == "UP" and self.is_time_to_go_down(tcp, sample):
            self.prev_probe_too_high = False
            self.start_down(tcp)

    def is_time_to_go_down(self, tcp, sample):
        if self.prev_probe_too_high and sample.in_flight_before >= self.inflight_longterm:
            self.prev_probe_precautionary = True
            return True
        if tcp.cwnd_limited and tcp.cwnd >= self.inflight_longterm:
            self.reset_full_bw(self.rate)  # that is what limits it, and not the path
        return self.full_bw_now

    def adapt_long_term_model(self, tcp, sample):
        """True where it has begun another state."""
        if self.ack_phase == "STARTING" and self.round_start:
            self.ack_phase = "FEEDBACK"
        if self.ack_phase == "STOPPING" and self.round_start:
            self.is_bw_probe_sample, self.ack_phase = False, "INIT"
            if self.state in self.probe_bw and not self.app_limited and self.bw_filter[1]:
                self.bw_filter = [self.bw_filter[1], 0]  # 5.5.6
            clear = self.prev_probe_precautionary and not self.prev_probe_too_high
            if self.state in self.probe_bw and clear:
                self.start_refill(tcp)
                return True
        if self.is_inflight_too_high() or self.inflight_longterm == math.inf:
            return False
        self.inflight_longterm = max(self.inflight_longterm, self.tx_in_flight)
        if self.state == "UP" and tcp.cwnd_limited and tcp.cwnd >= self.inflight_longterm:
            self.bw_probe_up_acked += sample.acked
            grown, self.bw_probe_up_acked = divmod(
                self.bw_probe_up_acked, self.probe_up_acked_per_inc
            )
            self.inflight_longterm += grown
            if self.round_start:
                self.raise_slope(tcp)
        return False

    # ProbeRTT (5.3.4)

    def update_min_rtt(self, tcp, sample):
        now_s, rtt_s = tcp.now_s, sample.rtt_s
        self.probe_rtt_expired = now_s > self.probe_rtt_min_stamp_s + self.probe_rtt_interval_s
        if rtt_s < self.probe_rtt_min_s or (self.probe_rtt_expired and rtt_s >= 0):
            self.probe_rtt_min_s, self.probe_rtt_min_stamp_s = rtt_s, now_s
        expired = now_s > self.min_rtt_stamp_s + self.min_rtt_filter_s
        if self.probe_rtt_min_s < self.min_rtt_s or expired:
            self.min_rtt_s, self.min_rtt_stamp_s = self.probe_rtt_min_s, self.probe_rtt_min_stamp_s

    def check_probe_rtt(self, tcp, sample):
        if self.state != "ProbeRTT" and self.probe_rtt_expired and not self.idle_restart:
            self.prior_cwnd = max(self.prior_cwnd, tcp.cwnd)
            self.state, self.ack_phase, self.probe_rtt_done_s = "ProbeRTT", "STOPPING", 0
            self.next_round_delivered = tcp.delivered
        if self.state != "ProbeRTT":
            return
        self.low_until = tcp.delivered + tcp.in_flight  # its low rates say nothing
        if not self.probe_rtt_done_s and tcp.in_flight <= self.probe_rtt_cwnd():
            self.probe_rtt_done_s, self.probe_rtt_round_done = tcp.now_s + self.probe_rtt_s, False
            self.next_round_delivered = tcp.delivered
        elif self.probe_rtt_done_s:
            self.probe_rtt_round_done |= self.round_start
            if self.probe_rtt_round_done and tcp.now_s > self.probe_rtt_done_s:
                self.probe_rtt_min_stamp_s, self.state = tcp.now_s, "Startup"
                tcp.cwnd = max(tcp.cwnd, self.prior_cwnd)
                self.reset_short_term_model()
                if self.full_bw_reached:
                    self.start_down(tcp)
                    self.state = "CRUISE"

    # The model of the path (5.5)

    def update_congestion_signals(self, tcp, sample):
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

    def reset_congestion_signals(self):
        self.is_loss_in_round, self.bw_latest, self.inflight_latest = False, 0, 0

    def reset_short_term_model(self):
        self.bw_shortterm = self.inflight_shortterm = math.inf

    def update_ack_aggregation(self, tcp, sample):  # 5.5.9
        expected = self.bw * (tcp.now_s - self.extra_acked_s)
        if self.extra_acked_delivered <= expected:
            self.extra_acked_delivered, self.extra_acked_s, expected = 0, tcp.now_s, 0
        self.extra_acked_delivered += sample.acked
        extra, found = min(self.extra_acked_delivered - expected, tcp.cwnd), self.extra_acked_filter
        rounds = self.extra_acked_rounds if self.full_bw_reached else 1
        while found and (found[-1][1] <= extra or found[-1][0] <= self.round_count - rounds):
            found.pop()
        found.append((self.round_count, extra))
        while found[0][0] <= self.round_count - rounds:
            found.popleft()
        self.extra_acked = found[0][1]

    def is_inflight_too_high(self):
        return self.lost > self.loss_thresh * self.tx_in_flight

    def lose(self, tcp, newly_lost):  # 5.5.10.2
        if not self.is_loss_in_round:
            self.loss_round_delivered, self.is_loss_in_round = tcp.delivered, True
        self.losses_in_round += 1
        if self.is_bw_probe_sample and self.is_inflight_too_high():
            # how much was in flight when too much was lost
            before, lost_before = self.tx_in_flight - newly_lost, self.lost - newly_lost
            more = (self.loss_thresh * before - lost_before) / (1 - self.loss_thresh)
            self.prev_probe_too_high, self.is_bw_probe_sample = True, False
            if not self.app_limited:
                target = min(self.bdp(1), tcp.cwnd)
                self.inflight_longterm = max(before + more, self.beta * target)
            if self.state == "UP":
                self.undo_state = "UP"
                self.start_down(tcp)

    def on_loss(self, tcp):  # 5.5.11.1, 5.6.4.4: a repair begins
        again = self.repairs or self.state == "ProbeRTT"
        self.prior_cwnd = max(self.prior_cwnd if again else 0, tcp.cwnd)
        self.repairs, self.undo_state, tcp.ssthresh = True, None, 2
        self.undo = self.bw_shortterm, self.inflight_shortterm, self.inflight_longterm

    def undo_loss(self, tcp):  # 5.5.11.2
        tcp.cwnd, tcp.ssthresh = max(tcp.cwnd, self.prior_cwnd), 2
        self.is_loss_in_round = False
        self.reset_full_bw(0)
        now = self.bw_shortterm, self.inflight_shortterm, self.inflight_longterm
        restored = map(max, now, self.undo)
        self.bw_shortterm, self.inflight_shortterm, self.inflight_longterm = restored
        self.full_bw_reached &= self.undo_state != "Startup"
        if self.state != "ProbeRTT" and self.undo_state == "Startup":
            self.state = "Startup"
        elif self.state not in ("UP", "ProbeRTT") and self.undo_state == "UP":
            self.start_refill(tcp)
        self.undo_state = None

    # Pacing rate and window (5.6)

    def bdp(self, gain):
        return self.initial_cwnd if self.min_rtt_s == math.inf else gain * self.bw * self.min_rtt_s

    def inflight(self, cap):  # 5.5.8: with what waits in the hosts, 3 times what leaves together
        together = max(min(self.pacing_bps / 8 * 0.001, 65536) / self.mss_bytes, 2)
        return max(cap, 3 * together, self.min_pipe_cwnd) + 2 * (self.state == "UP")

    def inflight_with_headroom(self):
        most = min((1 - self.headroom) * self.inflight_longterm, self.inflight_longterm - 1)
        return max(most, self.min_pipe_cwnd)

    def probe_rtt_cwnd(self):
        return max(self.bdp(self.gains["ProbeRTT"][1]), self.min_pipe_cwnd)

    def set_pacing_rate(self, tcp, gain):
        bps = gain * self.bw * (1 - self.pacing_margin) * 8 * tcp.mss_bytes
        if bps > self.pacing_bps or (self.full_bw_reached and bps):
            self.pacing_bps = bps
        tcp.pacing_bps = self.pacing_bps

    def set_cwnd(self, tcp, sample):
        max_inflight = self.inflight(self.bdp(self.gains[self.state][1]) + self.extra_acked)
        cwnd, most = tcp.cwnd, self.inflight_shortterm
        if self.full_bw_reached:
            cwnd = min(cwnd + sample.acked, max_inflight)
        elif cwnd < max_inflight or tcp.delivered < self.initial_cwnd:
            cwnd += sample.acked
        if self.state == "ProbeRTT":
            most = min(most, self.probe_rtt_cwnd())
        if self.state in ("CRUISE", "ProbeRTT"):
            most = min(most, self.inflight_with_headroom())
        elif self.state in self.probe_bw:
            most = min(most, self.inflight_longterm)
        tcp.cwnd = max(min(cwnd, most), self.min_pipe_cwnd)
