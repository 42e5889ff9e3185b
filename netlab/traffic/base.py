"""What every kind of traffic has.

To add a kind, write one class that derives from `Traffic` (or from `BetweenHosts`), with a ``kind``
of its own: which programs run on which hosts and when, which tables their outputs become, and what
it adds to the tables of other kinds. The rest of netlab knows no kind by name.
"""

from typing import Annotated, Any, ClassVar, NamedTuple

import pandas as pd
from pydantic import BeforeValidator, SerializeAsAny, model_validator

from netlab.description import Description
from netlab.engines.base import Watch
from netlab.errors import SpecificationError

FIRST_PORT = 5201
MOST_TRAFFIC = 1000  # of an experiment
KINDS = {}  # name of a kind -> its class, in the order in which they were defined


class Input(NamedTuple):
    """What a program reads on its standard input: a file's name and text."""

    name: str
    text: str  # a newline is added where it does not end with one


class Program(NamedTuple):
    """A command that a traffic runs on a host: ``command`` is a line for bash.

    Attributes
    ----------
    name : str
        Key of its output in `read`; at most one program of a traffic has the name ``""``.
    when : {"server", "begin", "start", "end"}
        "server": before everything else; it must end by itself, within 10 s after the others.
        "begin": when the first traffic may start. "start": at the time that the seed gave this
        traffic. "exactly": then, by the network's clock, however late what started before was.
        "end": when all other programs have ended.
    may_fail : bool
        Ignore its exit status: `read` finds a failure in its output.
    watch : Watch, optional
        What an engine that sees into its kernel is asked instead of running the command.
    stdin : Input, optional
        What it reads on its standard input. Default: its terminal, on which nobody types.
    """

    host: str
    command: str
    name: str = ""
    when: str = "start"
    may_fail: bool = False
    watch: Watch | None = None
    stdin: Input | None = None

    @property
    def typed(self):
        """What a person would type."""
        return f"{self.command} < {self.stdin.name}" if self.stdin else self.command

    @property
    def line(self):
        """What bash is given: it brings the input along, so that no file has to be written."""
        if self.stdin is None:
            return self.command
        end = "END"
        while end in self.stdin.text:
            end += "_"
        text = self.stdin.text.removesuffix("\n")
        return f"{self.command} <<'{end}'\n{text}\n{end}"


class Place(NamedTuple):
    """A traffic's experiment, and its number there."""

    experiment: Any
    flow: int  # from 1: the column ``flow`` of every table

    @property
    def start_s(self):
        """When it starts, counted from the start of all traffic. [s]"""
        return self.experiment.starts_s[self.flow - 1]

    @property
    def port(self):
        """A port that no other traffic of the experiment uses."""
        return FIRST_PORT + self.flow - 1

    def address(self, host):
        return self.experiment.topology.host(host).ip

    def kernels_name(self, congestion):
        """What the kernel calls a congestion control: those in Python are netlab0, netlab1 ..."""
        own = self.experiment.algorithms
        return f"netlab{own.index(congestion)}" if congestion in own else congestion


class Traffic(Description):
    """Something that runs on a host.

    A kind sets ``kind: Literal["its name"] = "its name"`` and defines `duration_s`, `programs` and,
    if its output is to be read, `tables` and `read`.

    Attributes
    ----------
    tables : dict
        The tables that it fills, and how each is made from the parts that `read` returned: `rows`,
        `frames` or `by_host`.
    adds : dict of list of str
        Columns that it adds to the tables of other kinds (see `annotate`); NaN where nothing adds
        them.
    measures : str or None
        The table that a sweep of this traffic collects: a frame with the columns ``src`` and
        ``dst``.
    last : bool
        Does it come after all other traffic? Then their flows, ports and starts are the same
        without it, and its own start is not drawn.
    control_connections : int
        How many of its TCP connections, the first to its port, carry no data.
    starts_after_s, sends_s, omitted_s : float
        How much later than the others it starts; until when it sends, which the progress bar shows,
        0 where that is not known; how much of its start its totals leave out. [s]
    algorithms : sequence
        The congestion controls in Python that its connections have.
    """

    kind: str
    src: str

    tables: ClassVar[dict] = {}
    adds: ClassVar[dict] = {}
    measures: ClassVar[str | None] = None
    last: ClassVar[bool] = False
    control_connections: ClassVar[int] = 0
    starts_after_s: ClassVar[float] = 0.0
    sends_s: ClassVar[float] = 0.0
    omitted_s: ClassVar[float] = 0.0
    algorithms: ClassVar = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **options):
        super().__pydantic_init_subclass__(**options)
        if not isinstance(kind := cls.model_fields["kind"].default, str):
            return  # a base of kinds, such as BetweenHosts
        known = KINDS.get(kind)
        if known and known.__qualname__ != cls.__qualname__:  # a cell of a notebook may run twice
            raise SpecificationError(
                f"kind = {kind!r} of {cls.__qualname__}: {known.__qualname__} has this name already"
            )
        KINDS[kind] = cls

    @property
    def hosts(self):
        """The fields that name a host, and whom they name."""
        return {"src": self.src}

    @property
    def sender(self):
        """The host that sends the data."""
        return self.src

    @property
    def ends(self):
        """From whom to whom the data flow: ``src`` and ``dst`` of its rows."""
        return {"src": self.sender}

    @property
    def duration_s(self):
        """How long it takes at most; a run that takes longer is ended with an error. [virtual s]"""
        raise NotImplementedError(f"{type(self).__name__} does not say how long it takes")

    def longer(self, factor):
        """A copy that lasts `factor` times as long; itself, where it has no duration."""
        return self

    def may_send_tcp(self, host):
        """May its programs send TCP segments, acknowledgements included, from this host?"""
        return True

    def check(self, experiment):
        """Refuse, by a `SpecificationError`, what does not fit the network or the other traffic."""
        for field, name in self.hosts.items():
            experiment.topology.host(name, f"{type(self).__name__}.{field}")

    def check_engine(self, about):
        """Refuse, by a `SpecificationError`, what an engine lacks; `about` describes it."""

    def programs(self, place):
        """The programs to run, a list of `Program`."""
        raise NotImplementedError(f"{type(self).__name__} does not say what to run")

    def output_name(self, flow, program=""):
        """What a program's output is called in `Result.raw`."""
        return "-".join([str(flow), self.kind, *self.hosts.values(), *filter(None, [program])])

    def read(self, outputs, place):
        """Read what its programs printed: `outputs` by the program's name -> what it adds to each
        table, by the table's name; a ReadError where the test has failed.
        """
        return {}

    def doubts(self, place, engine):
        """Warnings about links that, on the engine of this name, do not limit it as their
        descriptions suggest; -> texts.
        """
        return []

    def annotate(self, tables, place):
        """Add to the tables, once they are complete, what is known of other traffic."""

    @classmethod
    def summary(cls, tables):
        """What the tables say in a few words, for the line that shows a result; -> list of str."""
        return []


def _as_its_kind(value):
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    known = KINDS.get(kind) if isinstance(kind, str) else None
    if known and isinstance(value, dict) and "self" not in value:
        return known(**value)
    if known is None or type(value) is not known:
        raise ValueError(f"one of netlab's kinds of traffic ({', '.join(sorted(KINDS))})")
    return value


AnyTraffic = Annotated[SerializeAsAny[Traffic], BeforeValidator(_as_its_kind)]


class BetweenHosts(Traffic):
    """Traffic that goes from one host to another."""

    dst: str

    @model_validator(mode="after")
    def _check_ends(self):
        if self.src == self.dst:
            raise ValueError(f"src and dst are both {self.src!r}: name two different hosts")
        return self

    @property
    def hosts(self):
        return {"src": self.src, "dst": self.dst}

    ends = hosts

    def may_send_tcp(self, host):
        return host in (self.src, self.dst)


class OnLink(Traffic):
    """Traffic that concerns the link between two nodes, which may be switches."""

    dst: str

    @property
    def hosts(self):
        return {}

    def check(self, experiment):
        experiment.topology.interface_to(self.src, self.dst)

    def output_name(self, flow, program=""):
        return "-".join([str(flow), self.kind, self.src, self.dst, *filter(None, [program])])


def seen_by_the_sender(who, link):
    """The warning that a switch's queue counts against the sender's socket."""
    return (
        f"{who}: no delay comes before the queue of the link {link.a}-{link.b}. All nodes share"
        " this machine's kernel (Linux since 4.19), which counts what waits there as if it waited"
        " in the sender: it then sends less, may lose nothing, and equal flows may share unevenly."
        " Give the link a delay, such as '10us', or run this with engine='guest', whose kernel does"
        " not count so"
    )


def rows(columns):
    """A table whose parts are rows, each a dict."""
    return lambda parts: pd.DataFrame(parts, columns=columns)


def frames(columns):
    """A table whose parts are frames of these columns."""

    def join(parts):
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)

    return join


def by_host(parts):
    """A dict by host, whose parts are such dicts."""
    return {host: value for part in parts for host, value in part.items()}


def owned(frame, place, ends):
    """A reader's frame, with the columns ``flow``, ``src`` and ``dst`` that say whose it is."""
    who = pd.DataFrame({"flow": place.flow, **ends}, index=frame.index)
    return pd.concat([who, frame.drop(columns=["src", "dst"], errors="ignore")], axis=1)
