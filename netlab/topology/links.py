"""The links of a network: plain cables, and those that emulate a long, slow or bad line."""

import math

from pydantic import Field, model_validator

from netlab import units
from netlab.description import Delay, Description, Fraction, Rate, Size, of_json, unless_given
from netlab.topology.limits import FRAME_BYTES
from netlab.topology.qdisc import Qdisc, rate_limits_bps

# netem's own default, 1000 packets, would make the delay line a second bottleneck
NETEM_PACKETS = 1_000_000
NETEM_DEFAULT_PACKETS = 1000  # without a limit, as Mininet's TCLink leaves it
# Above any link's rate: with a rate, netem keeps the packets in order that it delays at random, and
# this rate is so high that it adds no delay.
NOISE_RATE = "100tbit"
# What comes in by an interface from a link that serialises is sent through a device of this name.
WIRE = "{interface}-in"
BURST_BYTES, LIMIT_BYTES = 5_000_000, 15_000_000  # the labs', at 10 Gbit/s over 20 ms
SIZE_BYTES = 2**32 - 1  # tc's largest size


class Link(Description):
    """A cable between two nodes; what it emulates happens on the first one's interface, towards the
    second.

    Parameters
    ----------
    a, b : str
        Names of the nodes.
    delay : str, optional
        netem's one-way delay, such as ``"20ms"``. Where only one direction is delayed, it is also
        what the link adds to the RTT.
    loss : str
        netem's probability of losing a packet, ``"0%"`` to ``"100%"``.
    rate : str, optional
        tbf's rate, such as ``"10gbit"``, counted in whole Ethernet frames.
    burst, limit : int or str, optional
        tbf's bucket and queue [byte, or tc's notation]. Without them, the bucket is 4 ms of the
        rate, at least one frame; the queue is 0.6 of rate times delay (or 20 ms, where the delay is
        shorter), at least ten frames. At 10 Gbit/s over 20 ms these are the labs' 5,000,000 and
        15,000,000 bytes. `but` keeps what was given, and computes anew what was not; read from
        JSON, a value that is the computed one counts as not given.
    both : bool
        Emulate on both interfaces, as Mininet's ``TCLink`` does: the RTT grows by twice the delay.
    queue_packets : int, optional
        The queue's length in packets, Mininet's ``max_queue_size``.
    qdisc : str, optional
        The queueing discipline before the bottleneck, in place of tbf's queue, `limit` and
        `queue_packets`, in tc's notation: pfifo, bfifo, pfifo_fast, sfq, fq, codel, fq_codel, red,
        pie or cake, such as ``"fq_codel limit 1000"``. It needs a rate.
    tclink : bool
        The very commands of Mininet's ``TCLink(bw=, delay=, loss=, max_queue_size=)``: HTB has the
        rate, and netem below it the delay, the loss and the queue. It needs a rate and `both`.
    serialise : bool
        A frame takes its length divided by the rate to arrive, as on a real line. It needs a rate.
        Without it, tbf lets frames pass at once as long as its bucket has tokens.

    Notes
    -----
    With a rate, `queue_packets` is the queue before the bottleneck: tbf counts bytes, so its limit
    is ``queue_packets`` frames of 1514 bytes. Without a rate, it is netem's limit, that is, how
    many packets fit on the line.

    With `tclink` it is netem's limit, too, and netem counts the packets in flight on the delayed
    line beside those that wait: 33 packets at 20 Mbit/s and 10 ms leave room for 16 that wait.
    Where it is None, netem has its own limit of 1000. TCLink does not set HTB's second bucket
    (``cburst``), which is then one frame: on a host that is busy, in real time, such a link carries
    less than its rate.

    A bucket is not a line. With tokens in its bucket, tbf passes a frame in no time, whatever the
    rate: over an idle link all pings take the delay, short or long. With `serialise`, the queue is
    followed by the line: a frame of 1514 bytes takes 1.2 ms at 10 Mbit/s, and then the delay.
    tbf's bucket is then one frame, and netem has the rate, the delay and the loss, on what comes in
    by the second node's interface (by an ``ifb`` device, such as ``s2-eth1-in``).
    Round-trip times that are computed, as `Topology.rtt_s`, are of frames without a length.
    What passes the bucket in no time also arrives in no time, and a receiver then acknowledges
    several segments at once: docs/defaults.md.

    A discipline marks packets (ECN) where it is told to (``ecn``; fq_codel and cake need no
    telling) *and* the hosts' sysctl ``net.ipv4.tcp_ecn`` is 1; see `wan` for an example. ``red``
    computes how its average decays in idle times from its ``bandwidth``: give the link's rate
    there, or tc takes 10 Mbit/s.

    All hosts and switches share one kernel, so that ``fq`` on a link would pace the sending sockets
    as if it were on their host. Only ``"fq nopacing"`` is allowed. (Measured with pacing: two BBR
    flows got 33 and 6 of 100 Mbit/s.)

    Examples
    --------
    >>> link = Link("s1", "s2", rate="100mbit", qdisc="fq_codel limit 1000")
    >>> list(link.setup("s1-eth2"))[-1]
    'tc qdisc add dev s1-eth2 parent 2:1 handle 3: fq_codel limit 1000'

    How long the largest frame takes on a line, and through a bucket:

    >>> [one.transmission_s(1514) for one in (link.but(serialise=True), link)]
    [0.00012112, 0.0]
    """

    a: str
    b: str
    delay: Delay | None = None
    loss: Fraction = "0%"
    rate: Rate | None = None
    burst: Size | None = None
    limit: Size | None = None
    both: bool = False
    queue_packets: int | None = Field(default=None, ge=1, le=2_000_000)
    qdisc: Qdisc | None = unless_given()
    tclink: bool = unless_given(False)
    serialise: bool = unless_given(False)

    @property
    def delay_s(self):
        return units.delay_s(self.delay) if self.delay else 0.0

    @property
    def rate_bps(self):
        """The lower of its rate and its discipline's own, such as cake's ``bandwidth``; infinite
        without a rate. [bit/s]
        """
        own = units.rate_bps(self.rate) if self.rate else math.inf
        return min(own, rate_limits_bps(self.qdisc)[0])

    def transmission_s(self, frame_bytes):
        """How long a frame takes to pass an idle link, its delay aside. [s]"""
        return frame_bytes * 8 / units.rate_bps(self.rate) if self.serialise else 0.0

    @property
    def lossy(self):
        return units.fraction(self.loss) > 0

    @property
    def counts_packets(self):
        """Whether it loses, counts or drops what its qdisc sees as a packet."""
        return bool(self.lossy or self.queue_packets or self.qdisc)

    @property
    def ends(self):
        """The nodes on whose interfaces it emulates."""
        return (self.a, self.b) if self.both else (self.a,)

    @property
    def queue_bytes(self):
        """What can wait before the bottleneck. [byte]"""
        if self.tclink:
            under_way = units.rate_bps(self.rate) * self.delay_s / 8
            return max(
                (self.queue_packets or NETEM_DEFAULT_PACKETS) * FRAME_BYTES - round(under_way), 0
            )
        return (
            units.size_bytes(self.limit)
            if self.queue_packets is None
            else self.queue_packets * FRAME_BYTES
        )

    def short_line(self, bps):
        """As `short_netem`, at this rate [bit/s]."""
        if not (self.tclink or (self.queue_packets and not self.rate)):
            return []
        place = f"the link {self.a}-{self.b}"
        return short_netem(place, bps, self.delay_s, self.queue_packets, "queue_packets=")

    @model_validator(mode="after")
    def _check(self):
        if self.a == self.b:
            raise ValueError(f"a and b are both {self.a!r}: a link joins two different nodes")
        if self.rate and units.rate_bps(self.rate) < 8:
            raise self._wrong("at least '8bit', as tc counts in whole bytes per second", "rate")
        own, given = self._defaults(), []
        for name, value in own.items():
            one = getattr(self, name)
            was_given = name in self.model_fields_set and one is not None
            if not was_given or units.size_bytes(one) == value:
                self.__dict__[name] = value  # sets a field of a frozen model
                was_given &= not of_json.get()  # JSON has all of them, given or not
            if was_given:
                given.append(name)
            else:
                self.model_fields_set.discard(name)  # `but` computes it anew
        if self.serialise and not self.rate:
            raise self._wrong("it needs a rate, which a frame's time follows from", "serialise")
        if self.tclink:
            self._check_tclink(given)
        if self.qdisc:
            self._check_qdisc(given)
        if self.queue_packets and "limit" in given:
            raise self._wrong("give one of them", "limit", "queue_packets")
        if self.rate and not self.tclink:
            sizes = {"burst": units.size_bytes(self.burst), "limit": self.queue_bytes}
            for name in [name for name, size in sizes.items() if size < FRAME_BYTES]:
                raise self._wrong("at least one frame of 1514 bytes, or nothing passes", name)
        return self

    def _wrong(self, allowed, *names):
        values = " and ".join(f"{name} = {getattr(self, name)!r}" for name in names)
        return ValueError(f"{values}: {allowed}")

    def _defaults(self):
        """The bucket and the queue where none are given."""
        own = {"burst": BURST_BYTES, "limit": LIMIT_BYTES}
        if self.rate:
            bps = units.rate_bps(self.rate)
            bucket = 0 if self.serialise else min(round(bps * 0.004 / 8), SIZE_BYTES)
            own["burst"] = max(bucket, FRAME_BYTES)
            if self.queue_packets is None:
                longest = 0.6 * (bps * max(self.delay_s, 0.020) / 8)
                own["limit"] = min(max(round(longest), 10 * FRAME_BYTES), SIZE_BYTES)
        return own

    def _check_tclink(self, given):
        if not (self.rate and self.both):
            raise self._wrong("it needs a rate and both = True, as Mininet's TCLink does", "tclink")
        takes = "TCLink takes rate (bw), delay, loss and queue_packets (max_queue_size) only"
        others = [name for name in ("qdisc", "serialise") if getattr(self, name)]
        for name in others + given:
            raise self._wrong(f"{takes}; leave one of them out", name, "tclink")

    def _check_qdisc(self, given):
        if not self.rate:
            raise self._wrong("it needs a rate, as no queue builds up without one", "qdisc")
        if self.qdisc.split()[0] == "fq" and "nopacing" not in self.qdisc:
            why = "fq would pace the senders' sockets, which share one kernel with all switches"
            raise self._wrong(f"on a link, write 'fq nopacing', as {why}", "qdisc")
        if self.queue_packets or "limit" in given:
            name = "queue_packets" if self.queue_packets else "limit"
            own = "a discipline has a limit of its own, as in 'pfifo limit 100'"
            raise self._wrong(f"give one of them; {own}", name, "qdisc")

    def setup(self, interface, noise_s=0.0):
        """Yield an interface's tc commands: this link, and the noise of the host behind it.

        Where the link serialises, its delay and its loss are in `wire`.
        """
        if self.tclink:
            yield from self._tclink_setup(interface)
            return
        parent, netem = "root", []
        delay_s = 0.0 if self.serialise else self.delay_s
        if noise_s:
            delay, jitter = (
                units.format_delay(round(time_s, 9))
                for time_s in (delay_s + noise_s / 2, noise_s / 2)
            )
            netem = [f"delay {delay} {jitter}", f"rate {NOISE_RATE}"]
        if not self.serialise:
            netem = (netem or self._netem_delay()) + self._netem_loss()
        packets = NETEM_PACKETS if self.rate or not self.queue_packets else self.queue_packets
        if netem or packets != NETEM_PACKETS:
            yield (
                f"tc qdisc add dev {interface} root handle 1: netem"
                f" {' '.join([*netem, f'limit {packets}'])}"
            )
            parent = "parent 1:"
        if self.rate:
            words = (
                f"tbf rate {self.rate} burst {units.size_bytes(self.burst)} limit"
                f" {self.queue_bytes}"
            )
            yield f"tc qdisc add dev {interface} {parent} handle 2: {words}"
        if self.qdisc:
            yield f"tc qdisc add dev {interface} parent 2:1 handle 3: {self.qdisc}"

    def wire(self, interface):
        """Yield the commands that make frames take their time to come in by an interface."""
        if not self.serialise:
            return
        device = WIRE.format(interface=interface)
        words = [f"rate {self.rate}", *self._netem_delay(), *self._netem_loss()]
        yield f"ip link add {device} type ifb"
        yield f"ip link set {device} up"
        yield (
            f"tc qdisc add dev {device} root handle 4: netem {' '.join(words)} limit"
            f" {NETEM_PACKETS}"
        )
        yield f"tc qdisc add dev {interface} handle ffff: ingress"
        yield (
            f"tc filter add dev {interface} parent ffff: matchall action mirred egress redirect dev"
            f" {device}"
        )

    def _netem_delay(self):
        return [f"delay {self.delay}"] if self.delay else []

    def _netem_loss(self):
        return [f"loss {self.loss}"] if self.lossy else []

    def _tclink_setup(self, interface):
        """The commands of Mininet 2.3's ``TCIntf.config`` (mininet/link.py)."""
        yield f"tc qdisc add dev {interface} root handle 5:0 htb default 1"
        yield (
            f"tc class add dev {interface} parent 5:0 classid 5:1 htb rate"
            f" {units.rate_bps(self.rate) / 1e6:f}Mbit burst 15k"
        )
        words = self._netem_delay() + self._netem_loss()
        words += [f"limit {self.queue_packets}"] if self.queue_packets else []
        if words:
            yield f"tc qdisc add dev {interface} parent 5:1 handle 10: netem {' '.join(words)}"


def short_netem(place, bps, delay_s, packets, option, room=1):
    """A list of one warning where netem's limit [packet, None: its default] is below what is under
    way at this rate [bit/s]; else of none. `option` sets the limit, to `room` times as much.
    """
    under_way = bps * delay_s / 8 / FRAME_BYTES
    most = NETEM_DEFAULT_PACKETS if packets is None else packets
    if not most < under_way < math.inf:
        return []
    return [
        f"netem of {place} holds {most} packets at most, and {units.format_delay(delay_s)} at"
        f" {units.format_rate(round(bps))} are {under_way:.0f} frames: it drops the rest. Give it"
        f" {option}{math.ceil(room * under_way)} or more"
    ]
