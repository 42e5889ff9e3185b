"""A guided search for the rate at which a path begins to lose."""

from math import ceil, inf
from typing import Annotated

import pandas as pd
from pydantic import Field

from netlab import engines, units
from netlab.description import Rate, checked
from netlab.engines import recorded
from netlab.errors import NetlabError, SpecificationError
from netlab.experiment import Experiment
from netlab.running.progress import stepping
from netlab.running.run import on_engine, run_on
from netlab.topology import Topology
from netlab.traffic import Iperf, Ping

PING_EVERY_S = 0.2
BEFORE_S = 1.0  # pings alone: they have ARP done, and tell the RTT of the idle path
HALVINGS = 10
LEAST_DATAGRAMS = 10  # of a test; one datagram more or less is no loss


@checked
def loss_onset(
    topology: Topology,
    src: str,
    dst: str,
    start: Rate = "1mbit",
    precision: Annotated[float, Field(ge=0.001, le=1)] = 0.02,
    time: Annotated[int | float, Field(gt=0)] = 5,
    loss: Annotated[float, Field(ge=0, lt=1)] = 0.001,
    length: int = 1470,
    seed=1,
    clock=None,
    engine=None,
):
    r"""Search the rate at which a path begins to lose, in both directions.

    From `start` on, the offered rate is doubled until more than `loss` of the datagrams is lost.
    Then the gap between the highest rate that was carried and the lowest that was not is halved
    until it is narrower than `precision`. Then the same from `dst` to `src`. Each step is a run: a
    UDP test of iperf, and pings beside it, as latency grows before anything is lost.

    Parameters
    ----------
    topology : Topology
    src, dst : str
        Names of the hosts.
    start : str
        The first rate of the payload; halved, ten times at most, where it loses already.
    precision : float
        How wide the gap may be, over its lower end: 0.001 to 1. [1]
    time : float
        How long each test sends. [s]
    loss : float
        The fraction of the datagrams that may be lost. [1]
    length : int
        Payload of a datagram. [byte]
    seed, clock, engine
        As for `run`.

    Returns
    -------
    pandas.DataFrame
        A row per step: ``direction`` (such as "h1 → h2"), ``src``, ``dst``, ``step``,
        ``offered_bps``, ``received_bps`` (payload) [bit/s], ``loss`` [1], ``jitter_s`` [s],
        ``rtt_idle_s`` (before the test), ``rtt_mean_s`` and ``rtt_max_s`` (during it) [s],
        ``ping_loss`` [1], and ``too_much`` (more was lost than is allowed). ``attrs["onset_bps"]``
        has, by direction, the highest rate that was carried and the lowest that was not [bit/s]:
        infinite, without steps, where no link has a rate, such as back over `wan`.

    Raises
    ------
    SpecificationError
        A value is not allowed, or no link between the hosts has a rate.
    NetlabError
        The path loses at random, as no ping waits in a queue; even the lowest rate is too much; the
        sending host offers less than it was asked to; or what `run` raises.

    Notes
    -----
    What is found is a rate of payload, while a link's rate :math:`R` counts frames. Datagrams of
    :math:`L` bytes and UDP's, IP's and Ethernet's headers (8 + 20 + 14 bytes) leave

    .. math:: C = R \frac{L}{L + 42}

    A queue hides a small excess: as long as it fills, nothing is lost. With a queue of :math:`B`
    bytes (tbf's bucket among them), a test of :math:`T` seconds and a fraction :math:`f` that may
    be lost, the search ends at

    .. math:: \frac{C + \frac{8 B}{T} \frac{L}{L + 42}}{1 - f}

    Longer tests make the error smaller. Latency is never hidden: as soon as more than :math:`C` is
    offered, ``rtt_max_s`` grows, to :math:`8 B / R` on top of ``rtt_idle_s``.

    Examples
    --------
    >>> steps = loss_onset(wan("30mbit", "20ms"), "h1", "h2")  # doctest: +SKIP
    >>> steps.attrs["onset_bps"]["h1 → h2"]  # doctest: +SKIP
    """
    first_bps = units.rate_bps(start)
    if first_bps * time < 8 * length * LEAST_DATAGRAMS:
        raise SpecificationError(
            f"loss_onset.start = {start!r}: fewer than {LEAST_DATAGRAMS} datagrams of {length}"
            f" bytes in {time:g} s; begin with a higher rate, or let tests last longer with time"
        )
    chosen = engines.pick(engine)
    for field, name in {"src": src, "dst": dst}.items():
        topology.host(name, f"loss_onset.{field}")
    if topology.bottleneck_bps(src, dst) == topology.bottleneck_bps(dst, src) == inf:
        raise SpecificationError(
            f"loss_onset: no link between {src} and {dst} has a rate, so that nothing is too much"
        )
    frames, onset_bps, provenances = [], {}, []
    fields = {"seed": seed, "stagger": "0ms"} | ({"clock": clock} if clock else {})
    with stepping() as showing:
        for one, other in ((src, dst), (dst, src)):
            direction, steps = f"{one} → {other}", []
            if topology.bottleneck_bps(one, other) == inf:
                onset_bps[direction] = inf, inf
                continue

            def step(rate_bps, pair=(one, other), direction=direction, steps=steps):
                """Offer this rate; -> whether too much was lost."""
                offered = dict(bitrate=f"{round(rate_bps)}bit", length=length, time=time)
                test = Iperf(*pair, udp=True, start=BEFORE_S, **offered)
                pings = Ping(*pair, ceil((BEFORE_S + time) / PING_EVERY_S), PING_EVERY_S)
                experiment = on_engine(Experiment(topology, pings, test, **fields), chosen)
                number = len(steps) + 1
                mbps = f"{rate_bps / 1e6:.4g} Mbit/s"
                with showing(f"loss_onset {direction}: step {number}, {mbps}"):
                    result = run_on(experiment, chosen)
                provenances.append(result.provenance)
                row = {"direction": direction, "src": pair[0], "dst": pair[1], "step": number}
                row |= measured(result, time)
                steps.append(row | {"too_much": row["loss"] > loss})
                check(steps[-1], rate_bps, length)
                return steps[-1]["too_much"]

            search(step, first_bps, precision, direction)
            frames.append(pd.DataFrame(steps))
            onset_bps[direction] = ends(frames[-1])
    recorded.tell(provenances, chosen, asked=engine == "recorded")
    frame = pd.concat(frames, ignore_index=True)
    frame.attrs["onset_bps"] = onset_bps
    return frame


def check(row, asked_bps, length):
    """Refuse a step that tells nothing of where the path begins to lose."""
    who, offered_bps = f"loss_onset: from {row['direction']}", row["offered_bps"]
    if offered_bps < 0.9 * asked_bps and not row["too_much"]:
        raise NetlabError(
            f"{who}, {offered_bps:.4g} bit/s were offered where {asked_bps:.4g} were asked for: the"
            " host is slower than the path, so that the path's limit cannot be found. With"
            ' clock="virtual" hosts are fast enough'
        )
    # of a queue that is full, half of the pings and more come through, and wait for a datagram
    waited = row["rtt_max_s"] - row["rtt_idle_s"] >= 8 * length / offered_bps
    if row["too_much"] and not waited and row["ping_loss"] < 0.5:
        raise NetlabError(
            f"{who}, {row['loss']:.2%} is lost at {offered_bps:.4g} bit/s, but no ping waited in a"
            " queue: the path loses at random, whatever is offered. Allow more than that with loss"
        )


def search(step, first_bps, precision, direction):
    """Call `step`, which says whether a rate is too much, until the gap is narrow enough."""
    low_bps = high_bps = first_bps
    if step(first_bps):
        for _ in range(HALVINGS):
            low_bps, high_bps = low_bps / 2, low_bps
            if not step(low_bps):
                break
        else:
            raise NetlabError(
                f"loss_onset: from {direction}, too much is lost even at {low_bps:.4g} bit/s: begin"
                " with a lower start"
            )
    else:
        high_bps = 2 * first_bps
        while not step(high_bps):
            low_bps, high_bps = high_bps, 2 * high_bps
    while high_bps > low_bps * (1 + precision):
        middle_bps = (low_bps + high_bps) / 2
        if step(middle_bps):
            high_bps = middle_bps
        else:
            low_bps = middle_bps


def ends(steps):
    """The highest rate that was carried below the lowest that was too much, and the latter."""
    high_bps = steps.offered_bps[steps.too_much].min()
    carried = steps.offered_bps[~steps.too_much]
    return float(carried[carried < high_bps].max()), float(high_bps)


def measured(result, time):
    """What one step tells of its path."""
    (stream,), pings = result.streams.itertuples(), result.pings
    sent_s = PING_EVERY_S * (pings.seq - 1)
    before = pings.rtt_s[(pings.seq > 1) & (sent_s < BEFORE_S)]  # the first waited for ARP
    during = pings.rtt_s[(sent_s >= BEFORE_S) & (sent_s < BEFORE_S + time)]
    return {
        "offered_bps": stream.sent_bps,
        "received_bps": stream.received_bps,
        "loss": stream.loss,
        "jitter_s": stream.jitter_s,
        "rtt_idle_s": before.mean(),
        "rtt_mean_s": during.mean(),
        "rtt_max_s": during.max(),
        "ping_loss": during.isna().mean(),
    }
