"""Known answers: values that arithmetic, an RFC or a paper gives, and what the engine measures.

Each module has the answers of one topic. `make validation` measures them with ten seeds, and
writes docs/validation.json, docs/validation.md and its figures.

To add one: a function of a seed under `@answer` in its topic's module, named as its row
(`idle_ping` is `links/idle-ping`); then `make validation ARGS=links/idle-ping`. Start from
`links.rtts_ms` (pings), `measuring.iperf3`, `measuring.datagrams` or, segment by segment,
`segments.Line.talk`. A row needs a `cause` where one of its columns is outside, and must
have none elsewhere.
"""

import dataclasses
import importlib
from collections.abc import Callable

SEEDS = 10
TOPICS = {  # the title, and what is set otherwise than in a network that nobody has tuned
    "links": (
        "Links",
        "Segmentation offload is off where datagrams are sent, and so is IPv6, whose hosts would"
        " look for routers.",
    ),
    "queues": (
        "Queues and marks",
        "A line of 10 Mbit/s without delay: a tbf whose bucket holds one frame, and in it the"
        " discipline, so that what waits, waits there. Nearly all rows are of UDP;"
        " for these offload and IPv6 are off.",
    ),
    "timers": (
        "Timers",
        "One connection, Reno, offload off. Where an RTO is measured, tail loss probes are off"
        " (`tcp_early_retrans=0`), which would come first.",
    ),
    "growth": (
        "Connections and slow start",
        "One connection, Reno, offload off, RTT 20 ms, no loss, but where a row says otherwise.",
    ),
    "recovery": (
        "Recovery from losses",
        "One connection, Reno, offload off, RTT 20 ms. The receiver sends an ACK for each segment"
        " that is out of order (`tcp_comp_sack_nr=0`). Where an RTO is measured, tail loss probes"
        " are off, and for what follows it F-RTO (`tcp_frto=0`), too.",
    ),
    "congestion": (
        "Congestion avoidance",
        "Offload is off. Senders are paced (`fq`) for CUBIC's K, C and fast convergence and for"
        " what Reno uses of a line; the link serialises there, for BBR and for DCTCP. Two flows at"
        " one queue have noise of 1 ms: without it they lose in step. DCTCP's receiver sends an ACK"
        " for each segment.",
    ),
    "limits": (
        "Windows, packets and UDP",
        "iperf3, nearly always with blocks of 1,448 bytes. Offload is off where the RTT is 100 ms,"
        " for jitter, and for an MTU of 9,000 bytes.",
    ),
}


@dataclasses.dataclass(frozen=True)
class Answer:
    """One value that is known without the engine."""

    name: str  # "links/idle-ping"
    about: str  # what is measured, in one sentence
    source: str  # who says what comes out, with the formula
    expected: float
    margin: float  # each seed is to be as near as that
    unit: str
    measure: Callable[[int], float]  # of a seed
    cause: str  # why a measured value is not near, as far as known; Markdown

    @property
    def topic(self) -> str:
        return self.name.split("/")[0]

    def is_near(self, value: float) -> bool:
        return abs(value - self.expected) <= self.margin * (1 + 1e-9)  # which is a sum of floats


def answer(
    about: str, source: str, expected: float, margin: float, unit: str = "", cause: str = ""
) -> Callable[[Callable[[int], float]], Callable[[int], float]]:
    """A decorator: the function measures a known answer with a seed."""

    def add(measure: Callable[[int], float]) -> Callable[[int], float]:
        topic = measure.__module__.rsplit(".", 1)[-1]
        name = f"{topic}/{measure.__name__.replace('_', '-')}"
        if name in _answers:
            raise ValueError(f"two answers are named {name}")
        _answers[name] = Answer(name, about, source, expected, margin, unit, measure, cause)
        return measure

    return add


_answers: dict[str, Answer] = {}


def answers() -> dict[str, Answer]:
    """All of them, by name, in the order of the page."""
    for topic in TOPICS:
        importlib.import_module(f"{__name__}.{topic}")
    order = list(TOPICS)
    return dict(sorted(_answers.items(), key=lambda item: order.index(item[1].topic)))


def state(one: Answer, values: list[float] | None) -> str:
    """What the measured values say: "within", "outside" or "open"."""
    if not values:
        return "open"
    return "within" if all(map(one.is_near, values)) else "outside"
