"""Algorithms to read in a minute each, to race, and to derive from."""

from netlab.algorithms.base import CongestionControl


class Reno(CongestionControl):
    """Slow start, then a segment per round trip; half of it after a loss.

    References
    ----------
    M. Allman, V. Paxson, E. Blanton, "TCP congestion control", RFC 5681, 2009.
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
    """

    def __init__(self, decrease=0.5, increase=1):
        self.decrease, self.increase = decrease, increase


class MulTCP(Reno):
    """One connection that behaves like N connections of Reno together: N segments more per round
    trip, and 1/(2 N) less after a loss, which hits one of the N.

    Parameters
    ----------
    streams : float
        How many connections it behaves like, at least 1. [1]

    References
    ----------
    J. Crowcroft, P. Oechslin, "Differentiated end-to-end Internet services using a weighted
    proportional fair sharing TCP", ACM SIGCOMM Computer Communication Review 28(3), 1998.
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
