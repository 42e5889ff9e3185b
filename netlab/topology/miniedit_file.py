"""The format of MiniEdit's files, and the options that would make another network.

MiniEdit keeps the options of a node or a link as it finds them, so that files of other programs in
its format have options that it does not know: these are allowed. Everywhere else an unknown key
means that the file is not MiniEdit's.
"""

import re
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from netlab.description import readable_errors
from netlab.errors import ReadError, SpecificationError
from netlab.topology.limits import FRAME_BYTES
from netlab.units import short

# The network would be another one; the last three lines are what else Mininet's TCLink takes.
REFUSED = {
    *("externalInterfaces", "vlanInterfaces", "cpu", "jitter", "speedup"),
    *("disable_gro", "enable_ecn", "enable_red", "gro", "ifconfig", "ip", "latency_ms", "params1"),
    *("params2", "rxo", "txo", "up", "use_hfsc", "use_tbf"),
}
USUAL = {  # what is no different here
    "switchType": ("default", "ovs", "legacySwitch", "legacyRouter"),
    **dict.fromkeys(("disable_gro", "rxo", "txo", "up"), (True,)),
}
OFF = re.compile(r"(0+(\.0*)?|\.0+)(us|ms|s)?|False", re.IGNORECASE)
BARE = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")  # a number without a unit


class _Saved(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


class _Options(_Saved, extra="allow"):
    @model_validator(mode="before")
    @classmethod
    def _without_empty_ones(cls, table):
        if not isinstance(table, dict):
            return table
        return {name: value for name, value in table.items() if value not in ("", None, [], {})}

    @property
    def others(self):
        """The options that netlab does not read and that are not off, by name."""
        return {
            name: value
            for name, value in self.model_extra.items()
            if name not in ("sched", "controllers")
            and not (value in USUAL[name] if name in USUAL else OFF.fullmatch(str(value)))
        }


class NodeOptions(_Options):
    hostname: str = ""
    nodeNum: Annotated[int, Field(ge=0, lt=10**9)] | None = None
    ip: str = ""
    defaultRoute: str = ""
    dpid: str = ""


class LinkOptions(_Options):
    bw: str = ""
    delay: str = ""
    loss: str = ""
    max_queue_size: str = ""

    @property
    def fields(self):
        """The fields of a `Link` that is as Mininet's ``TCLink`` would make it."""
        found = {}
        if self.bw:  # tc prints Mininet's burst of HTB as 15Kb; its queues have 1000 packets
            found = {"rate": f"{_number('bw', self.bw)}mbit", "burst": "15kb"}
            found["limit"] = 1000 * FRAME_BYTES
        if " " in self.delay:  # Mininet hands it to tc as it is
            raise SpecificationError(f"delay = {self.delay!r}: without a space, such as '20ms'")
        if self.delay:
            found["delay"] = bare_delay(self.delay) if BARE.fullmatch(self.delay) else self.delay
        if self.loss:
            found["loss"] = f"{_number('loss', self.loss)}%"
        if self.max_queue_size:
            found.pop("limit", None)
            found["queue_packets"] = _number("max_queue_size", self.max_queue_size)
        return found


class Preferences(_Options):
    ipBase: str = "10.0.0.0/8"


class SavedNode(_Saved):
    number: Annotated[str, Field(pattern="^[0-9]{1,9}$")]
    opts: NodeOptions
    x: Any = None
    y: Any = None
    letter: ClassVar = "h"

    @property
    def name(self):
        return self.opts.hostname or f"{self.letter}{self.number}"

    @property
    def kind(self):
        if self.letter == "h":
            return "host"
        router = self.opts.model_extra.get("switchType") == "legacyRouter"
        return "router" if router else "switch"

    @property
    def place(self):
        """Its number in the subnet of all hosts."""
        return int(self.number) if self.opts.nodeNum is None else self.opts.nodeNum

    @property
    def datapath_id(self):
        """A switch's, as Mininet gives it: the file's, or the first number in its name."""
        try:
            return int(self.opts.dpid.replace(":", ""), 16)
        except ValueError:
            found = re.search("[0-9]{1,15}", self.name)
            return int(found[0]) if found else self.place

    def __str__(self):
        return f"{self.kind} {short(self.name)}"


class SavedSwitch(SavedNode):
    letter: ClassVar = "s"


class SavedLink(_Saved):
    src: str
    dest: str
    opts: LinkOptions

    @property
    def ends(self):
        return self.src, self.dest

    def __str__(self):
        return f"link {short(self.src)}-{short(self.dest)}"


class File(_Saved):
    version: Annotated[str, Field(pattern="^[12]$")]
    application: Preferences = Preferences()
    controllers: Any = None  # switches learn by themselves
    hosts: list[SavedNode]
    switches: list[SavedSwitch]
    links: list[SavedLink]


def parse(text, source):
    """Read a text as a `File`; a ReadError has a line for each key that is not MiniEdit's."""
    try:
        with readable_errors("it"):
            return File.model_validate_json(text)
    except SpecificationError as error:
        why = f"{source} is not a MiniEdit file of version 1 or 2:\n{error}"
        raise ReadError(why, text) from None


def bare_delay(text):
    """A delay without a unit: Mininet hands it to tc, which takes whole nanoseconds (6.15)."""
    return f"{Decimal(text).to_integral_value(ROUND_DOWN) / 1000:f}us"


def _number(name, text):
    try:
        value = Decimal(text)
        if not value.is_finite() or abs(value.adjusted()) > 400:
            raise InvalidOperation
    except InvalidOperation:
        raise SpecificationError(f"{name} = {short(text)}: write a number, such as 5") from None
    return f"{value:f}"
