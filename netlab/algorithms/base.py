"""What a congestion control in Python derives from, and the connection that it is shown.

It needs nothing but Python: the process that answers the guest's kernel reads this file alone.
"""

import inspect
import math
import numbers
import operator
import sys

MOST_SEGMENTS = 10_000_000  # a window of 14 GB: 100 Gbit/s over a second
INFINITE = 0x7FFFFFFF  # the kernel's threshold before the first loss
STATES = "open", "disorder", "cwr", "recovery", "loss"


class CongestionControl:
    """Congestion control that a cell of a notebook writes, and the guest's Linux kernel runs.

    Derive a class from this one, and give it to a test: ``Iperf3("h1", "h2", congestion=Mine)``, or
    ``congestion=Mine(8)`` where its ``__init__`` has parameters. Each connection gets an instance
    of its own, made with the same parameters.

    The kernel asks on every ACK while virtual time stands still. So that a run repeats to the byte,
    the class has no clock but ``tcp.now_s``, and its `random` numbers come from the seed. It runs
    in a process of its own, from its source, which is part of the experiment: it sees the
    functions, classes, modules, numbers, texts and lists that it names, as they were when it was
    given to a test. Nothing reaches the notebook but what it prints.

    Notes
    -----
    The kernel finds losses (SACK, RACK and TLP), repairs them, and meanwhile brings what is in
    flight down to ``tcp.ssthresh`` evenly (PRR, RFC 6937). It takes a reduction back that was made
    for nothing. It does not ask `on_ack` while it repairs losses, except after a timeout: then the
    window grows from one segment on as `on_ack` says.

    A class that defines `on_sample` is asked that on every ACK, in repairs too, in place of
    `on_ack`; the kernel leaves window and pacing rate to it, as to its own BBR.

    Marks of routers (ECN, RFC 3168) are heard of where both hosts agree on it:
    ``sysctls={"net.ipv4.tcp_ecn": 1}`` of the topology. With 3 in place of 1, the receiver counts
    every mark (accurate ECN, RFC 9768); else it repeats one for a round trip.

    Attributes
    ----------
    scalable : bool
        Of the class. Its packets say that it reacts to marks in proportion, as DCTCP and L4S do
        (ECT(1), RFC 9331); a router with two queues serves them in the one with short delays.

    Examples
    --------
    >>> class Mine(CongestionControl):
    ...     def on_ack(self, tcp, acked):
    ...         tcp.cwnd += acked / tcp.cwnd
    ...
    ...     def on_loss(self, tcp):
    ...         tcp.ssthresh = tcp.cwnd / 2
    """

    scalable = False

    def __new__(cls, *values, **named):
        self = super().__new__(cls)
        self._made_with = made_with(cls, values, named)
        return self

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        frame = sys._getframe(1)  # where the class statement is
        cls._written_at = frame.f_code.co_filename, frame.f_lineno

    def __repr__(self):
        return called(type(self).__name__, self._made_with)

    def start(self, tcp):
        """A connection begins; its window is the kernel's initial one."""

    def on_ack(self, tcp, acked):
        """`acked` segments have arrived for the first time, and nothing is lost. [segment]"""

    def on_sample(self, tcp, sample):
        """Something was delivered, or lost; `sample` is the kernel's `Sample` of it.

        Only this sets ``tcp.cwnd`` and ``tcp.pacing_bps``, and a timeout, after which the window is
        one segment more than what is in flight. A loss asks `on_loss` before, whose
        ``tcp.ssthresh`` the kernel does not act on. A pacing rate that `start` sets is the most
        that later ones can be. Without one the rate stays that of the handshake, two first windows
        per round trip, and behind ``host_qdisc="fq"`` the connection gets no faster.
        """

    def on_loss(self, tcp):
        """A segment is lost, or marked by ECN; asked once for all that is lost in a round trip.

        The kernel brings the window down to ``tcp.ssthresh``, and goes on with ``tcp.cwnd`` after
        the repair; where this sets only one of the two, that is both.
        """

    def on_timeout(self, tcp):
        """No ACK has come for the retransmission timeout; `on_loss` has been asked before.

        The kernel goes on with a window of one segment, unless this sets ``tcp.cwnd``. In the
        repair of an earlier loss of the same window it asks neither `on_loss` nor this.
        """


def made_with(cls, values, named):
    """The parameters of an instance by name, defaults included."""
    if cls.__init__ is object.__init__:
        if values or named:
            raise TypeError(f"{cls.__name__} takes no parameters: it has no __init__")
        return {}
    found = inspect.signature(cls.__init__).bind(None, *values, **named)
    found.apply_defaults()
    kinds = {one.kind for one in found.signature.parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        raise TypeError(f"{cls.__name__}.__init__: give each parameter a name, without * and **")
    return dict([*found.arguments.items()][1:])


def called(name, parameters):
    """How an algorithm is written, such as ``AIMD(0.06, 8)``."""
    values = ", ".join(map(repr, parameters.values()))
    return f"{name}({values})" if parameters else name


def positive(name, value, most, unit, infinite=False):
    """A number above 0 and not above `most`; infinity only where that is allowed."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"{name} = {value!r}: a number of {unit}")
    if not 0 < value <= most and not (infinite and value == math.inf):
        raise ValueError(f"{name} = {value!r}: {unit} above 0, at most {most:,}")
    return float(value)


def settable(name, most, unit, infinite=False):
    """An attribute of a `Connection` that an algorithm may set; `_set` has its name then."""

    kept = f"_{name}"

    def set_checked(tcp, value):
        setattr(tcp, kept, positive(f"tcp.{name}", value, most, unit, infinite))
        tcp._set.add(name)

    return property(operator.attrgetter(kept), set_checked)


class Connection:
    """A TCP connection, as a congestion control sees it: ``tcp``.

    Attributes
    ----------
    cwnd : float
        Congestion window; can be set. The kernel takes its whole part, at least 1. [segment]
    ssthresh : float
        Slow-start threshold, infinite before the first loss; can be set. The kernel takes at least
        2. [segment]
    pacing_bps : float
        Can be set: the most payload that the kernel sends; infinite before. [bit/s]
    cwnd_limited : bool
        Was the window what kept the sender from sending more? Else Reno does not let it grow.
    in_flight : int
        Sent and not yet acknowledged, less what is known to be lost. [segment]
    mss_bytes : int
        Payload of a full segment. [byte]
    rtt_s, srtt_s, min_rtt_s : float
        The last round-trip time, the kernel's moving average (RFC 6298), and the least of the last
        five minutes; NaN before the first. [s]
    now_s : float
        Virtual time since the hosts booted. [s]
    delivered, lost : int
        Segments that have arrived, and that were taken for lost, since the connection began,
        counted again when sent again. [segment]
    marked : int
        Of the delivered, those whose ACKs said that a router had marked them by ECN. [segment]
    state : str
        ``"open"``, ``"disorder"`` (something arrived out of order), ``"cwr"`` (reducing after a
        mark), ``"recovery"``, or ``"loss"`` (after a timeout).
    """

    __slots__ = ("_asked", "_cwnd", "_pacing_bps", "_set", "_ssthresh")

    def __init__(self):
        self._cwnd, self._ssthresh, self._pacing_bps, self._set = 1.0, math.inf, math.inf, set()

    cwnd = settable("cwnd", MOST_SEGMENTS, "segments")
    ssthresh = settable("ssthresh", INFINITE, "segments", infinite=True)
    pacing_bps = settable("pacing_bps", 10**12, "bit/s", infinite=True)
    cwnd_limited = property(lambda self: bool(self._asked["limited"]))
    in_flight = property(lambda self: self._asked["in_flight"])
    mss_bytes = property(lambda self: self._asked["mss"])
    now_s = property(lambda self: self._asked["now_ns"] / 1e9)
    delivered = property(lambda self: self._asked["delivered"])
    lost = property(lambda self: self._asked["lost"])
    marked = property(lambda self: self._asked["marked"])
    state = property(lambda self: STATES[self._asked["state"]])
    rtt_s = property(lambda self: self._asked["rtt_us"] / 1e6 or math.nan)
    srtt_s = property(lambda self: self._asked["srtt_us"] / 1e6 or math.nan)

    @property
    def min_rtt_s(self):
        least_us = self._asked["min_rtt_us"]
        return math.nan if least_us in (0, 0xFFFFFFFF) else least_us / 1e6

    def __repr__(self):
        return (
            f"<tcp: cwnd {self.cwnd:g}, ssthresh {self.ssthresh:g}, {self.in_flight} in flight,"
            f" RTT {1e3 * self.rtt_s:g} ms at {self.now_s:.6f} s>"
        )


class Sample:
    """What the kernel measured on an ACK, for `CongestionControl.on_sample`.

    The rate is what was delivered between the sending and the ACK of the last segment that it
    delivers, over the longer of the times that sending and delivering took.

    Attributes
    ----------
    acked, lost : int
        Segments that this ACK delivers, by SACK too, and that it shows to be lost. [segment]
    delivered, marked : int
        Segments that were delivered over the interval, and of them the marked. [segment]
    interval_s : float
        NaN where the kernel cannot tell, as on an ACK that delivers nothing. [s]
    delivered_before : int
        ``tcp.delivered`` when the segment was sent: a round trip is over when this reaches what
        that was at its beginning. [segment]
    in_flight_before : int
        In flight before this ACK. [segment]
    rtt_s : float
        Of the segment; NaN where none was measured. [s]
    app_limited, sent_again, ack_delayed : bool
        The application had too little to send in the interval; the segment was a retransmission;
        the receiver has probably delayed this ACK.

    References
    ----------
    Y. Cheng, N. Cardwell, S. Yeganeh, V. Jacobson, "Delivery rate estimation",
    draft-cheng-iccrg-delivery-rate-estimation.
    """

    __slots__ = ("_asked",)

    acked = property(lambda self: self._asked["acked"])
    lost = property(lambda self: self._asked["losses"])
    delivered = property(lambda self: max(self._asked["sample_delivered"], 0))
    marked = property(lambda self: max(self._asked["sample_marked"], 0))
    delivered_before = property(lambda self: self._asked["prior_delivered"])
    in_flight_before = property(lambda self: self._asked["prior_in_flight"])
    app_limited = property(lambda self: bool(self._asked["flags"] & 1))
    sent_again = property(lambda self: bool(self._asked["flags"] & 2))
    ack_delayed = property(lambda self: bool(self._asked["flags"] & 4))

    @property
    def interval_s(self):
        interval_us = self._asked["interval_us"]
        return interval_us / 1e6 if interval_us > 0 else math.nan

    @property
    def rtt_s(self):
        rtt_us = self._asked["sample_rtt_us"]
        return rtt_us / 1e6 if rtt_us >= 0 else math.nan

    def __repr__(self):
        return (
            f"<sample: {self.delivered} segments in {1e3 * self.interval_s:g} ms, {self.acked}"
            f" acked, {self.lost} lost, {self.marked} marked>"
        )
