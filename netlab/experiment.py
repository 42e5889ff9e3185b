"""An experiment: a topology, the traffic on it, a seed and a clock."""

import hashlib
from typing import Literal

from pydantic import Field, field_validator, model_validator

from netlab import units
from netlab.description import Delay, Description
from netlab.errors import SpecificationError
from netlab.topology import Topology
from netlab.traffic.base import MOST_TRAFFIC, AnyTraffic, Place

MOST_ALGORITHMS = 8  # netlab0 to netlab7


class Experiment(Description):
    """A topology, the traffic on it, a seed and a clock: all that decides a result.

    Parameters
    ----------
    topology : Topology
    *traffic : Traffic
        What runs on its hosts, at once.
    seed : int
        All that is random comes from it: losses, ports, starts.
    clock : {"virtual", "cpu", "real"}
        See `Network`.
    stagger : str
        The window in which the traffic starts, as people start things together; each start is drawn
        from the seed. ``"0ms"`` starts everything at once, which makes flows run in lockstep; what
        else does, and what helps: docs/defaults.md.
    virtual_limit_s, wall_limit_s : float, optional
        It is ended, with an error, after so long, a million at most; None takes them from the
        traffic. [s]

    Examples
    --------
    >>> from netlab import Iperf3, wan
    >>> duel = Experiment(wan("100mbit"), Iperf3("h1", "h2"), Iperf3("h3", "h4"), seed=2)
    >>> duel.starts_s, duel.but(seed=3).starts_s
    ([0.011162, 0.08964], [0.073065, 0.016032])
    """

    topology: Topology
    traffic: tuple[AnyTraffic, ...] = Field(min_length=1, max_length=MOST_TRAFFIC)
    seed: int = Field(default=1, ge=0, lt=1 << 63)
    clock: Literal["virtual", "cpu", "real"] = "virtual"
    stagger: Delay = "100ms"
    virtual_limit_s: float | None = Field(default=None, gt=0, le=1_000_000)
    wall_limit_s: float | None = Field(default=None, gt=0, le=1_000_000)

    def __init__(self, topology=None, /, *traffic, **fields):
        if traffic and "traffic" in fields:
            raise SpecificationError("Experiment.traffic was given twice: by position and by name")
        if traffic:
            fields["traffic"] = traffic
        super().__init__(**{"topology": topology} if topology is not None else {}, **fields)

    @field_validator("traffic")
    @classmethod
    def _each_its_own(cls, items):
        """The same object given twice is two flows; what comes last changes no other's number."""
        return tuple(item.model_copy() for item in sorted(items, key=lambda item: item.last))

    @model_validator(mode="after")
    def _check(self):
        for item in self.traffic:
            item.check(self)
        if len(self.algorithms) > MOST_ALGORITHMS:
            raise ValueError(
                f"{len(self.algorithms)} congestion controls in Python: the kernel has names for"
                f" {MOST_ALGORITHMS}; run some of them apart"
            )
        return self

    def check_engine(self, about):
        """Refuse, by a `SpecificationError`, what an engine lacks; `about` describes it."""
        self.topology.check_engine(about)
        for item in self.traffic:
            item.check_engine(about)

    @property
    def algorithms(self):
        """The different congestion controls in Python, in the order of their traffic."""
        found = []
        for item in self.traffic:
            found += [one for one in item.algorithms if one not in found]
        return found

    @property
    def places(self):
        """Each traffic with its `Place`."""
        return [(item, Place(self, flow)) for flow, item in enumerate(self.traffic, 1)]

    @property
    def starts_s(self):
        """When each traffic starts: after its own `starts_after_s`, and a time that is drawn from
        the seed within `stagger`. [s]
        """
        window = units.delay_s(self.stagger)
        starts = []
        for n, item in enumerate(self.traffic):
            draw = int.from_bytes(hashlib.sha256(f"{self.seed} {n}".encode()).digest()[:4])
            drawn_s = 0 if item.last else window * draw / 2**32
            starts.append(round(item.starts_after_s + drawn_s, 6))
        return starts

    def omitted_s(self, host):
        """Time from the start until the totals of all tests that a host sends have begun; 0 where
        none omits anything. [s]
        """
        tests = zip(self.starts_s, self.traffic, strict=True)
        return max(
            (start + one.omitted_s for start, one in tests if one.omitted_s and one.sender == host),
            default=0.0,
        )

    @property
    def duration_s(self):
        """Virtual seconds that its traffic should take. [s]"""
        tests = zip(self.starts_s, self.traffic, strict=True)
        return max(start + one.duration_s for start, one in tests)
