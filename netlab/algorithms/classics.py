"""Algorithms to read in a minute each, to race, and to derive from."""

import math

from netlab.algorithms.base import CongestionControl


class Reno(CongestionControl):
    """Slow start, then a segment per round trip; half of it after a loss.

    References
    ----------
    M. Allman, V. Paxson, E. Blanton, "TCP congestion control", RFC 5681, 2009.

    Examples
    --------
    >>> class Gentle(Reno):
    ...     decrease = 0.3
    >>> from netlab import Iperf3
    >>> Iperf3("h1", "h2", congestion=Gentle).congestion
    Gentle
    """

    increase = 1  # segments per round trip
    decrease = 0.5  # share of the window that a loss takes

    def on_ack(self, tcp, acked):
        if not tcp.cwnd_limited:
            return  # what is not used does not grow
        if tcp.cwnd < tcp.ssthresh:  # slow start
            grown = min(tcp.cwnd + acked, tcp.ssthresh)
            tcp.cwnd, acked = grown, acked - (grown - tcp.cwnd)
        tcp.cwnd += self.increase * acked / tcp.cwnd

    def on_loss(self, tcp):
        tcp.ssthresh = max((1 - self.decrease) * tcp.cwnd, 2)


class AIMD(Reno):
    """Reno with another step up and another step down, in the order of ORNL's AIMD(0.06, 8).

    Parameters
    ----------
    decrease : float
        Share of the window that a loss takes, between 0 and 1; Reno's is 0.5. [1]
    increase : float
        Segments that a round trip without loss adds; Reno's is 1. [segment]

    References
    ----------
    D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion avoidance
    in computer networks", Computer Networks and ISDN Systems 17, 1989.

    Examples
    --------
    >>> from netlab import Iperf3
    >>> Iperf3("h1", "h2", congestion=AIMD(0.06, 8), time=20).congestion
    AIMD(0.06, 8)
    """

    def __init__(self, decrease=0.5, increase=1):
        self.decrease, self.increase = decrease, increase


class MulTCP(Reno):
    """One connection that behaves like N connections of Reno together where losses come one by one:
    N segments more per round trip, and 1/(2 N) less after a loss, which hits one of the N.

    A full queue drops several packets at once: N connections then reduce several windows, this one
    reduces its only one once, and takes more than N would.

    Parameters
    ----------
    streams : float
        How many connections it behaves like, at least 1. [1]

    References
    ----------
    J. Crowcroft, P. Oechslin, "Differentiated end-to-end Internet services using a weighted
    proportional fair sharing TCP", ACM SIGCOMM Computer Communication Review 28(3), 1998.

    Examples
    --------
    >>> from netlab import Iperf3
    >>> Iperf3("h1", "h2", congestion=MulTCP(8), time=20).congestion
    MulTCP(8)
    """

    def __init__(self, streams=2):
        self.increase, self.decrease = streams, 1 / (2 * streams)


class Delay(CongestionControl):
    """Keeps a few of its own segments in the queue, by what the round trip has grown: Vegas.

    Once per round trip, the window grows by one segment where fewer than `alpha` are queued, and
    shrinks by one where more than `beta` are. Slow start doubles every other round trip, and ends
    as soon as one is queued.

    Parameters
    ----------
    alpha, beta : float
        The least and the most segments in the queue. [segment]

    References
    ----------
    L. Brakmo, S. O'Malley, L. Peterson, "TCP Vegas: new techniques for congestion detection and
    avoidance", ACM SIGCOMM 1994.

    Examples
    --------
    >>> from netlab import Iperf3
    >>> Iperf3("h1", "h2", congestion=Delay(alpha=3, beta=6)).congestion
    Delay(3, 6)
    """

    def __init__(self, alpha=2, beta=4):
        self.alpha, self.beta = alpha, beta

    def start(self, tcp):
        self.end, self.least_s, self.doubles = 0, float("inf"), True

    def on_ack(self, tcp, acked):
        self.least_s = min(self.least_s, tcp.rtt_s)
        if tcp.cwnd < tcp.ssthresh and self.doubles:
            tcp.cwnd += acked
        if tcp.delivered < self.end:  # the round trip is not over
            return
        queued = tcp.cwnd * (1 - tcp.min_rtt_s / self.least_s)
        if tcp.cwnd < tcp.ssthresh:
            self.doubles = not self.doubles
            if queued > 1:
                tcp.cwnd -= queued
                tcp.ssthresh = tcp.cwnd
        elif queued < self.alpha:
            tcp.cwnd += 1
        elif queued > self.beta:
            tcp.cwnd -= 1
        self.end, self.least_s = tcp.delivered + tcp.in_flight, float("inf")

    def on_loss(self, tcp):
        tcp.ssthresh = max(tcp.cwnd / 2, 2)


class DCTCP(Reno):
    """Data Center TCP: gives up half the share of its window that routers have marked.

    Both hosts must agree on accurate ECN: ``sysctls={"net.ipv4.tcp_ecn": 3}`` of the topology.
    With 1 in place of 3, the receiver repeats a mark for a round trip. Linux's own also has the
    receiver send an ACK whenever marks begin or end. Where that brings its window down in the
    course of a round trip, this one does at once. It sets no pacing rate, so that hosts that pace
    (``host_qdisc="fq"``) keep it at that of its handshake.

    Parameters
    ----------
    gain : float
        Weight of the last round trip in `alpha`, the average share of marked segments. [1]

    References
    ----------
    S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert, G. Judd, "Data Center TCP (DCTCP)",
    RFC 8257, 2017.

    Examples
    --------
    >>> from netlab import Experiment, Iperf3, wan
    >>> path = wan("100mbit", qdisc="fq_codel ce_threshold 1ms", sysctls={"net.ipv4.tcp_ecn": 3})
    >>> Experiment(path, Iperf3("h1", "h2", congestion=DCTCP)).traffic[0].congestion
    DCTCP(0.0625)
    """

    def __init__(self, gain=1 / 16):
        self.gain = gain

    def start(self, tcp):
        self.alpha, self.lost = 1, 0
        self.delivered, self.marked = tcp.delivered, tcp.marked
        self.end = tcp.delivered  # the handshake is not a round trip of data

    def measure(self, tcp):
        if tcp.delivered > self.end:  # a round trip is over
            share = (tcp.marked - self.marked) / (tcp.delivered - self.delivered)
            self.alpha += self.gain * (share - self.alpha)
            self.delivered, self.marked = tcp.delivered, tcp.marked
            self.end = tcp.delivered + tcp.in_flight

    def on_sample(self, tcp, sample):
        self.measure(tcp)
        self.lost = tcp.lost
        if tcp.state not in ("cwr", "recovery"):
            self.on_ack(tcp, sample.acked)

    def on_loss(self, tcp):
        self.measure(tcp)
        share = (1 if tcp.lost > self.lost else self.alpha) / 2  # of a loss, or of marks
        tcp.cwnd = tcp.ssthresh = max(int(tcp.cwnd) - int(tcp.cwnd * share), 2)


class Cubic(CongestionControl):
    """CUBIC as Linux has it: the window grows by the cube of the time since the last loss, around
    the window of that loss, and no slower than an AIMD with the mean of Reno.

    Slow start ends where round trips grow, or ACKs keep coming for half of one (HyStart); in Linux
    for a whole one, where ``fq`` paces the sender. So behind ``host_qdisc="fq"`` this class may
    leave slow start earlier: at 200 Mbit/s over 20 ms, with a queue of one bandwidth-delay product,
    it carried 176 where Linux carried 187 Mbit/s in the first 5 s, and lost 36 segments in place of
    406. Without pacing, behind that queue, the two agree: rates to 0.1 Mbit/s, and mean RTTs, 33
    to 36 ms, to 2 ms, at 10 to 200 Mbit/s. Linux also takes an application's silences out of the
    time since the last loss.

    Parameters
    ----------
    alpha_rule : bool
        RFC 9438's rule for the AIMD (section 4.3), which Linux lacks: from the window of the last
        loss on, it adds a whole segment per round trip, as Reno does.

    References
    ----------
    L. Xu, S. Ha, I. Rhee, V. Goel, L. Eggert, "CUBIC for fast and long-distance networks",
    RFC 9438, 2023. S. Ha, I. Rhee, "Taming the elephants: new TCP slow start", Computer Networks
    55(9), 2011.

    Examples
    --------
    >>> from netlab import Iperf3
    >>> Iperf3("h1", "h2", congestion=Cubic(alpha_rule=True)).congestion
    Cubic(True)
    """

    kept = 0.7  # of the window, after a loss
    scale = 0.4  # segments per cubic second

    def __init__(self, alpha_rule=False):
        self.alpha_rule = alpha_rule

    def start(self, tcp):
        self.before = self.top = 0  # windows: of the last loss; where the curve is flat
        self.began_s = None  # when the curve began
        self.acked = self.counted = self.seen_cwnd = self.seen_s = 0
        self.end = -1  # of the round trip, for HyStart

    def on_ack(self, tcp, acked):
        if tcp.cwnd < tcp.ssthresh:
            self.look_for_a_queue(tcp)
        if not tcp.cwnd_limited:
            return
        if tcp.cwnd < tcp.ssthresh:
            grown = min(tcp.cwnd + acked, tcp.ssthresh)
            tcp.cwnd, acked = grown, int(acked - (grown - tcp.cwnd))
        if acked:
            self.follow_the_curve(tcp, acked)
            more = self.counted >= self.each  # more than the curve asks for now
            self.counted = acked + self.counted * (not more)
            tcp.cwnd += more + self.counted // self.each
            self.counted %= self.each

    def follow_the_curve(self, tcp, acked):
        """Set `each`: after how many ACKs the window grows by a segment."""
        cwnd, now_s = int(tcp.cwnd), tcp.now_s
        self.acked += acked
        if cwnd == self.seen_cwnd and now_s - self.seen_s <= 1 / 32:
            return  # Linux saves the work
        self.seen_cwnd, self.seen_s = cwnd, now_s
        if self.began_s is None:
            self.began_s, self.reno, self.acked = now_s, cwnd, acked
            self.origin = max(self.top, cwnd)
            self.flat_s = ((self.origin - cwnd) / self.scale) ** (1 / 3)
        after_s = now_s + tcp.min_rtt_s - self.began_s - self.flat_s
        target = int(self.origin + self.scale * after_s**3)
        self.each = cwnd // (target - cwnd) if target > cwnd else 100 * cwnd
        if not self.top:  # no loss yet
            self.each = min(self.each, 20)
        whole = self.alpha_rule and self.reno >= self.before
        alpha = 1 if whole else 3 * (1 - self.kept) / (1 + self.kept)
        self.reno, self.acked = self.reno + alpha * self.acked / cwnd, 0
        if self.reno >= cwnd + 1:
            self.each = min(self.each, cwnd // int(self.reno - cwnd))
        self.each = max(self.each, 2)

    def look_for_a_queue(self, tcp):
        """HyStart: end slow start where this round trip has found a queue."""
        if tcp.delivered > self.end:  # another round trip
            self.end = tcp.delivered + tcp.in_flight
            self.round_s = self.train_s = tcp.now_s
            self.round_rtts, self.round_rtt_s = 0, math.inf
        self.round_rtts += 1
        self.round_rtt_s = min(self.round_rtt_s, tcp.rtt_s)
        if tcp.cwnd < 16:
            return
        if tcp.now_s - self.train_s <= 0.002:
            self.train_s = tcp.now_s
        long = self.train_s - self.round_s > (tcp.min_rtt_s + 0.001) / 2
        late_s = min(max(tcp.min_rtt_s / 8, 0.004), 0.016)
        if long or (self.round_rtts > 8 and self.round_rtt_s > tcp.min_rtt_s + late_s):
            tcp.ssthresh = tcp.cwnd

    def on_loss(self, tcp):
        self.began_s, self.before = None, tcp.cwnd
        # fast convergence: who has lost below the last top leaves room for others
        self.top = tcp.cwnd * (1 + self.kept) / 2 if tcp.cwnd < self.top else tcp.cwnd
        tcp.ssthresh = max(int(tcp.cwnd * self.kept), 2)

    def on_timeout(self, tcp):
        self.start(tcp)
