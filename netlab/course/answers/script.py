"""Congestion controls as answers: what one answers to a script of ACKs, losses and a timeout.

No kernel runs. Two connections run through the script, one an event behind the other, which shows
an algorithm whose connections share state. Each phase begins with a given window, so that a wrong
phase spoils no later one.
"""

import math

from netlab.algorithms import base
from netlab.course.answers.bounds import failure

SLOW_START_ACKS, AVOIDANCE_ACKS, UNUSED_ACKS, LATE_ACKS = 10, 20, 3, 5
# Name of each phase, and how many of the trace's entries it has
PHASES = [
    ("slow start", 1 + SLOW_START_ACKS),
    ("a loss", 1),
    ("congestion avoidance", AVOIDANCE_ACKS),
    ("a window that is not full", UNUSED_ACKS),
    ("a timeout", 2 + LATE_ACKS),
]
LENGTH = sum(length for _, length in PHASES)
FIRST_WINDOW, AVOIDANCE_WINDOW, UNUSED_WINDOW, LATE_WINDOW = 10, 37, 53, 41  # segments
EMPTY_RTT_US, FULL_RTT_US = 40_000, 65_000
STEP_NS = 10_000_000  # between events
ACKED = 2  # segments that an ACK acknowledges
MSS_BYTES = 1448
DIGITS = 9  # of windows, after the point
MOST_SHOWN = 1e9  # segments; more is a threshold that nothing has set
EVENTS = {"START": "first", "ACK": "at an ACK", "LOSS": "at a loss", "TIMEOUT": "after a timeout"}


def as_sent(told):
    """The class that the process beside the kernel makes of an algorithm's source."""
    from netlab.algorithms.control_process import Netlab

    known = {"CongestionControl": base.CongestionControl, "__name__": "algorithm"}
    known["netlab"] = Netlab(known)
    exec(compile(told.source, "<algorithm>", "exec"), known)
    return known[told.name]


def played(cls, parameters):
    """[window, threshold] of a connection after each event; and the error that ended it, or ""."""
    trace, events = [], list(script())
    try:
        first, second = Played(cls, parameters), Played(cls, parameters)
        for number, event in enumerate(events):
            trace.append(first.ask(**event))
            if number:
                second.ask(**events[number - 1])
    except (Exception, SystemExit) as error:  # an algorithm's own
        return trace, failure(error)["text"]
    return trace, ""


def script():
    """The events, in the order of `PHASES`."""
    yield {"event": "START"}
    yield from [{"event": "ACK"}] * SLOW_START_ACKS
    yield {"event": "LOSS"}
    yield {"event": "ACK", "window": AVOIDANCE_WINDOW}
    half = AVOIDANCE_ACKS // 2
    yield from [{"event": "ACK"}] * (half - 1)
    yield from [{"event": "ACK", "rtt_us": FULL_RTT_US}] * (AVOIDANCE_ACKS - half)
    yield {"event": "ACK", "window": UNUSED_WINDOW, "limited": 0}
    yield from [{"event": "ACK", "limited": 0}] * (UNUSED_ACKS - 1)
    yield {"event": "LOSS", "window": LATE_WINDOW}
    yield {"event": "TIMEOUT"}
    yield from [{"event": "ACK"}] * LATE_ACKS


class Played:
    """A connection that an algorithm controls, with the state that its kernel would have."""

    def __init__(self, cls, parameters):
        # the process that answers a real kernel; it needs what Python in a browser lacks
        from netlab.algorithms import control_process as answering

        self.events = answering
        self.window = answering.Window(base, cls, parameters)
        self.cwnd, self.ssthresh = FIRST_WINDOW, base.INFINITE
        self.now_ns = self.delivered = self.lost = 0

    def ask(self, event, window=None, rtt_us=EMPTY_RTT_US, limited=1):
        """Ask it, and apply its answer as the kernel does; -> its window and its threshold."""
        self.now_ns += STEP_NS
        if window is not None:
            self.cwnd, self.ssthresh = window, AVOIDANCE_WINDOW
        acked = ACKED * (event == "ACK")
        sampled = acked and self.window.kind & self.events.SAMPLED
        self.delivered += acked
        self.lost += event == "LOSS"
        known = dict.fromkeys(self.events.FIELDS, 0) | {
            **{"event": getattr(self.events, "SAMPLE" if sampled else event), "acked": acked},
            **{"cwnd": self.cwnd, "ssthresh": self.ssthresh, "in_flight": self.cwnd},
            **{"now_ns": self.now_ns, "delivered": self.delivered, "lost": self.lost},
            **{"mss": MSS_BYTES, "limited": limited, "prior_in_flight": self.cwnd},
            **{"sample_delivered": self.cwnd, "interval_us": rtt_us, "sample_rtt_us": rtt_us},
            "prior_delivered": max(self.delivered - self.cwnd, 0),
        }
        if event != "START":
            known |= {"rtt_us": rtt_us, "srtt_us": rtt_us, "min_rtt_us": EMPTY_RTT_US}
        cwnd, ssthresh, *_ = self.window.answer(known)
        self.cwnd, self.ssthresh = cwnd or self.cwnd, ssthresh or self.ssthresh
        if event == "TIMEOUT":
            self.cwnd = 1
        tcp, repaired = self.window.tcp, self.window.after_repair
        window = repaired[0] if repaired else 1 if event == "TIMEOUT" else tcp.cwnd
        return [told(window), told(tcp.ssthresh)]


def told(segments):
    """A number as forms have it."""
    return "inf" if math.isinf(segments) else round(segments, DIGITS)


def first_other(trace, number):
    """The event with the first wrong answer, in words, and that answer."""
    event = list(script())[number]
    cwnd, ssthresh = trace[number - 1] if number else (FIRST_WINDOW, "inf")
    if "window" in event:
        cwnd, ssthresh = event["window"], AVOIDANCE_WINDOW
    acked = f", acked {ACKED}" if event["event"] == "ACK" else ""
    place = f"{EVENTS[event['event']]} at cwnd {shown(cwnd)}, ssthresh {shown(ssthresh)}{acked}"
    gave = f"you gave cwnd {shown(trace[number][0])}, ssthresh {shown(trace[number][1])}"
    return f": {place} {gave}; the rule of the text gives something else"


def shown(segments):
    return f"{float(segments):.6g}" if float(segments) < MOST_SHOWN else "infinite"
