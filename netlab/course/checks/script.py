"""What a congestion control answers to a script of ACKs, losses and a timeout, without a kernel.

Two connections live through the same script, one an event behind the other: an algorithm whose
connections do not each remember their own answers otherwise than one whose do. Each phase begins
with a window of the kernel's, so that a phase that goes wrong spoils no later one.
"""

import math

from netlab.algorithms import base
from netlab.algorithms.source import algorithm, check_methods
from netlab.course.checks.bounds import LONGEST_ERROR, class_name, clean, failure

SLOW_START_ACKS, AVOIDANCE_ACKS, UNUSED_ACKS, LATE_ACKS = 10, 20, 3, 5
# Name of each phase, and how many of the trace's entries it has
PHASES = [
    ("slow start", 1 + SLOW_START_ACKS),
    ("a loss", 1),
    ("congestion avoidance", AVOIDANCE_ACKS),
    ("a window that is not full", UNUSED_ACKS),
    ("a timeout", 2 + LATE_ACKS),
]
FIRST_WINDOW, AVOIDANCE_WINDOW, UNUSED_WINDOW, LATE_WINDOW = 10, 37, 53, 41  # segments
EMPTY_RTT_US, FULL_RTT_US = 40_000, 65_000
STEP_NS = 10_000_000  # between events
ACKED = 2  # segments that an ACK acknowledges
MSS_BYTES = 1448
DIGITS = 9  # of windows, after the point


def form(value):
    """The form of an algorithm: a class that derives from `CongestionControl`, or an instance."""
    instance = not isinstance(value, type)
    cls = type(value) if instance else value
    check_methods(cls)
    parameters, source, sent, why = value._made_with if instance else {}, "", cls, ""
    try:
        told = algorithm(value)
        sent, source = as_sent(told), told.source
        parameters = told.parameters
    except Exception as error:  # its source is not known, or it takes along what cannot be sent
        why = f"the kernel's process cannot have it: {error}"
    trace, failed = played(sent, parameters)
    return {
        "kind": "algorithm",
        "name": class_name(cls),
        "parameters": parameters if source else {},
        "source": clean(source),
        "trace": trace,
        "failed": failed or clean(why, LONGEST_ERROR),
    }


def as_sent(told):
    """The class that the process beside the kernel makes of an algorithm's source."""
    from netlab.engines.guest.control_process import Netlab

    known = {"CongestionControl": base.CongestionControl, "__name__": "algorithm"}
    known["netlab"] = Netlab(known)
    exec(compile(told.source, "<algorithm>", "exec"), known)
    return known[told.name]


def played(cls, parameters):
    """What the first of two connections answers: [window, threshold] after each event; and the
    error that ended it, or "".
    """
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
    """A connection of an algorithm, and what its kernel would know."""

    def __init__(self, cls, parameters):
        # the process that answers a real kernel; it needs what Python in a browser lacks
        from netlab.engines.guest import control_process as answering

        self.events = answering
        self.window = answering.Window(base, cls, parameters)
        self.cwnd, self.ssthresh = FIRST_WINDOW, base.INFINITE
        self.now_ns = self.delivered = self.lost = 0

    def ask(self, event, window=None, rtt_us=EMPTY_RTT_US, limited=1):
        """Ask it, and do with its answer as the kernel does; -> its window and its threshold."""
        self.now_ns += STEP_NS
        if window is not None:
            self.cwnd, self.ssthresh = window, AVOIDANCE_WINDOW
        if event == "ACK" and self.window.kind & self.events.SAMPLED:
            event = "SAMPLE"
        acked = ACKED if event in ("ACK", "SAMPLE") else 0
        self.delivered += acked
        self.lost += event == "LOSS"
        measured = {"rtt_us": rtt_us, "srtt_us": rtt_us, "min_rtt_us": EMPTY_RTT_US}
        if event == "START":
            measured = dict.fromkeys(measured, 0)
        known = {"cwnd": self.cwnd, "ssthresh": self.ssthresh, "in_flight": self.cwnd}
        known |= {"now_ns": self.now_ns, "delivered": self.delivered, "lost": self.lost}
        known |= {"event": getattr(self.events, event), "acked": acked, "mss": MSS_BYTES}
        known |= {"limited": limited, "marked": 0, "state": 0}
        known |= {"sample_delivered": self.cwnd, "sample_marked": 0, "losses": 0, "flags": 0}
        known |= {"interval_us": rtt_us, "sample_rtt_us": rtt_us, "prior_in_flight": self.cwnd}
        known["prior_delivered"] = max(self.delivered - self.cwnd, 0)
        cwnd, ssthresh, *_ = self.window.answer(known | measured)
        self.cwnd, self.ssthresh = cwnd or self.cwnd, ssthresh or self.ssthresh
        repaired = self.window.after_repair
        if event == "TIMEOUT":
            self.cwnd = 1
        tcp = self.window.tcp
        window = self.cwnd if event == "TIMEOUT" else tcp.cwnd
        return [told(repaired[0] if repaired else window), told(tcp.ssthresh)]


def told(segments):
    """A number as forms have it."""
    return "inf" if math.isinf(segments) else round(segments, DIGITS)
