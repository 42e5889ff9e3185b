"""What a congestion control in Python derives from, and the connection that it is shown.

It needs nothing but Python: the process that answers the guest's kernel reads this file alone.
"""

import inspect
import math
import numbers
import sys

MOST_SEGMENTS = 10_000_000  # a window of 14 GB: 100 Gbit/s over a second
INFINITE = 0x7FFFFFFF  # the kernel's threshold before the first loss


class CongestionControl:
    """Congestion control that a cell of a notebook writes, and the guest's Linux kernel runs.

    Write a class that derives from this one, and give it to a test: ``Iperf3("h1", "h2",
    congestion=Mine)``. A class whose ``__init__`` has parameters is given as ``Mine(8)``. Each
    connection gets an instance of its own, made with the same parameters, so what it remembers in
    ``self`` is its own.

    The kernel asks on every ACK while virtual time stands still: it costs no virtual time, however
    long it thinks. What it does may depend on what it is told alone, so that a run repeats to the
    byte: it has no clock but ``tcp.now_s``, and its `random` numbers come from the seed. It runs in
    a process of its own, from its source, which is part of the experiment: it sees the functions,
    classes, modules, numbers, texts and lists that its class names, as they were when it was given
    to a test, and none of what it does there reaches the notebook, except what it prints.

    Notes
    -----
    The kernel itself still does what RFC 5681 and its successors leave to any sender: it finds
    losses (SACK, RACK and TLP), repairs them, and meanwhile brings what is in flight down to
    ``tcp.ssthresh`` evenly (PRR, RFC 6937). It takes a reduction back that was made for nothing. It
    does not ask `on_ack` while it repairs losses, except after a timeout: then the window grows
    from one segment on as `on_ack` says, and what was lost is sent again within it.

    Examples
    --------
    >>> class Mine(CongestionControl):
    ...     def on_ack(self, tcp, acked):
    ...         tcp.cwnd += acked / tcp.cwnd
    ...
    ...     def on_loss(self, tcp):
    ...         tcp.ssthresh = tcp.cwnd / 2
    """

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

    def on_loss(self, tcp):
        """A segment is lost, or marked by ECN; asked once for all that is lost in a round trip.

        What it sets as ``tcp.ssthresh`` is where the kernel brings the window down to. What it sets
        as ``tcp.cwnd`` is the window after the repair; where it sets only one of the two, that is
        both.
        """

    def on_timeout(self, tcp):
        """No ACK has come for the retransmission timeout; `on_loss` has been asked before.

        The kernel goes on with a window of one segment, unless this sets ``tcp.cwnd``. When the
        timer runs out while an earlier loss of the same window is still being repaired, the kernel
        goes on with one segment, too, and asks neither `on_loss` nor this: a window is reduced
        once.
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


class Connection:
    """A TCP connection, as a congestion control sees it: ``tcp``.

    Attributes
    ----------
    cwnd : float
        Congestion window; can be set. The kernel takes its whole part, at least 1; the fraction is
        kept. [segment]
    ssthresh : float
        Slow-start threshold, infinite before the first loss; can be set. The kernel takes at least
        2. [segment]
    pacing_bps : float
        Can be set: the kernel then sends no faster than this, headers included, even where the
        window allows more; infinite before. [bit/s]
    cwnd_limited : bool
        Was the window what kept the sender from sending more? Where it was not (the other end's
        window, an application that sends little), Reno does not let the window grow.
    in_flight : int
        Sent and not yet acknowledged, less what is known to be lost. [segment]
    mss_bytes : int
        Payload of a full segment. [byte]
    rtt_s, srtt_s, min_rtt_s : float
        The last round-trip time that was measured, the kernel's moving average (RFC 6298), and the
        least of the last five minutes; NaN before the first. [s]
    now_s : float
        Virtual time since the hosts booted. [s]
    delivered, lost : int
        Segments that have arrived, and that were taken for lost, since the connection began; both
        count again what is sent again. [segment]
    """

    __slots__ = ("_asked", "_cwnd", "_pacing_bps", "_set", "_ssthresh")

    def __init__(self):
        self._cwnd, self._ssthresh, self._pacing_bps, self._set = 1.0, math.inf, math.inf, set()

    @property
    def cwnd(self):
        return self._cwnd

    @cwnd.setter
    def cwnd(self, segments):
        self._cwnd = positive("tcp.cwnd", segments, MOST_SEGMENTS, "segments")
        self._set.add("cwnd")

    @property
    def ssthresh(self):
        return self._ssthresh

    @ssthresh.setter
    def ssthresh(self, segments):
        self._ssthresh = positive("tcp.ssthresh", segments, INFINITE, "segments", infinite=True)
        self._set.add("ssthresh")

    @property
    def pacing_bps(self):
        return self._pacing_bps

    @pacing_bps.setter
    def pacing_bps(self, bps):
        self._pacing_bps = positive("tcp.pacing_bps", bps, 10**12, "bit/s", infinite=True)
        self._set.add("pacing_bps")

    cwnd_limited = property(lambda self: bool(self._asked["limited"]))
    in_flight = property(lambda self: self._asked["in_flight"])
    mss_bytes = property(lambda self: self._asked["mss"])
    now_s = property(lambda self: self._asked["now_ns"] / 1e9)
    delivered = property(lambda self: self._asked["delivered"])
    lost = property(lambda self: self._asked["lost"])
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


def positive(name, value, most, unit, infinite=False):
    """A number above 0 and not above `most`; infinity only where that is allowed."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"{name} = {value!r}: a number of {unit}")
    if not 0 < value <= most and not (infinite and value == math.inf):
        raise ValueError(f"{name} = {value!r}: {unit} above 0, at most {most:,}")
    return float(value)
