"""What MiniEdit writes into a file, and what of it netlab has no use for, or cannot do.

MiniEdit keeps the options of a node, a link and the whole drawing as it finds them, so that files
of other programs in its format have options that it does not know: these are allowed. Everywhere
else an unknown key means that the file is not MiniEdit's.
"""

import re
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from netlab.errors import ReadError


class _Saved(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


class _Options(_Saved, extra="allow"):
    @model_validator(mode="before")
    @classmethod
    def _given(cls, table):
        """Without the empty ones: they ask for nothing."""
        if not isinstance(table, dict):
            return table
        return {name: value for name, value in table.items() if value not in ("", None, [], {})}


_Digits = Annotated[str, Field(pattern="^[0-9]{1,9}$")]
_Number = Annotated[int, Field(ge=0, lt=10**9)]


class HostOptions(_Options):
    hostname: str = ""
    nodeNum: _Number | None = None
    ip: str = ""
    defaultRoute: str = ""


class SwitchOptions(_Options):
    hostname: str = ""
    nodeNum: _Number | None = None
    dpid: str = ""


class LinkOptions(_Options):
    bw: str = ""
    delay: str = ""
    loss: str = ""
    max_queue_size: str = ""


class ControllerOptions(_Options):
    hostname: str = "c0"


class Preferences(_Options):
    ipBase: str = "10.0.0.0/8"
    netflow: _Options = _Options()
    sflow: _Options = _Options()


class _Item(_Saved):
    x: Any = None
    y: Any = None


class SavedController(_Item):
    opts: ControllerOptions


class SavedHost(_Item):
    number: _Digits
    opts: HostOptions


class SavedSwitch(_Item):
    number: _Digits
    opts: SwitchOptions


class SavedLink(_Saved):
    src: str
    dest: str
    opts: LinkOptions

    def __str__(self):
        return f"{shown(self.src)}-{shown(self.dest)}"

    def beside(self, others):
        """What it is called among others: with its options where one joins the same nodes."""
        if not any(other is not self and {*other.ends} == {*self.ends} for other in others):
            return str(self)
        options = ", ".join(f"{name} {shown(str(value))}" for name, value in self.opts if value)
        return f"{self} ({options or 'without options'})"

    @property
    def ends(self):
        return self.src, self.dest


def _as_in_version_2(controllers):
    """In version 1, controllers are a table of options by name."""
    if not isinstance(controllers, dict) or not all(
        isinstance(opts, dict) for opts in controllers.values()
    ):
        return controllers
    return [{"opts": {"hostname": name, **opts}} for name, opts in controllers.items()]


class File(_Saved):
    version: Annotated[str, Field(pattern="^[12]$")]
    application: Preferences = Preferences()
    controllers: Annotated[list[SavedController], BeforeValidator(_as_in_version_2)] = []
    hosts: list[SavedHost]
    switches: list[SavedSwitch]
    links: list[SavedLink]


class Node(NamedTuple):
    kind: str
    name: str
    number: int
    opts: HostOptions | SwitchOptions

    @classmethod
    def of(cls, kind, item):
        name = item.opts.hostname or f"{kind[0]}{item.number}"
        number = int(item.number) if item.opts.nodeNum is None else item.opts.nodeNum
        if kind == "switch" and item.opts.model_extra.get("switchType") == "legacyRouter":
            kind = "router"
        return cls(kind, name, number, item.opts)

    @property
    def datapath_id(self):
        """A switch's, as Mininet gives it: the file's, or the first number in its name."""
        try:
            return int(self.opts.dpid.replace(":", ""), 16)
        except ValueError:
            found = re.search("[0-9]{1,15}", self.name)
            return int(found[0]) if found else self.number

    def __str__(self):
        return shown(self.name)


def parse(text, source):
    """The file that a text is.

    Raises
    ------
    ReadError
        It is not one of MiniEdit's: a line for each thing that is not as MiniEdit writes it.
    """
    try:
        return File.model_validate_json(text)
    except ValidationError as error:
        lines = []
        for found in error.errors(include_url=False):
            if found["type"] == "json_invalid":
                raise ReadError(
                    f"{source} is not a MiniEdit file, as it is not JSON: {found['ctx']['error']}",
                    text,
                ) from None
            place = shown(".".join(str(part) for part in found["loc"]) or "it")
            value = "" if found["type"] == "missing" else f" = {_brief(found['input'])}"
            lines.append(f"{place}{value}: {found['msg'][0].lower()}{found['msg'][1:]}")
        raise ReadError(
            "\n".join([f"{source} is not a MiniEdit file of version 1 or 2:", *few(lines)]), text
        ) from None


MOST_LINES, LONGEST_LINE = 30, 500  # of an error or a warning


def few(lines):
    """The first lines, shortened, and how many more there are."""
    told = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} ..." for line in lines]
    more = [f"and {len(told) - MOST_LINES} more"] if len(told) > MOST_LINES else []
    return told[:MOST_LINES] + more


def shown(name):
    """A name of the file, as far as people can read it."""
    return name if re.fullmatch(r"[\w.\- ]{1,60}", name) else _brief(name)


def _brief(value):
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]} ... {text[-15:]}"


_NO_COMMANDS = "not run; give commands to Network.run, or nl.Shell to nl.run"
_BRIDGE = "here a switch is a learning bridge, without OpenFlow or an address"
_LEFT_OUT = {  # the network is the same without it
    "startCommand": _NO_COMMANDS,
    "stopCommand": _NO_COMMANDS,
    "privateDirectory": "a host's files are not kept",
    "cores": "in netlab's own time a host's CPU is never the bottleneck",
    "switchIP": _BRIDGE,
    "switchType": _BRIDGE,
    "dpctl": _BRIDGE,
    "netflow": _BRIDGE,
    "sflow": _BRIDGE,
    "nflowTarget": _BRIDGE,
    "sflowTarget": _BRIDGE,
    "openFlowVersions": _BRIDGE,
    "controllerType": "here switches learn by themselves, and no controller tells them more",
    "terminalType": "netlab opens no terminals",
    "port1": "here interfaces are numbered in the order of the links",
    "port2": "here interfaces are numbered in the order of the links",
}
_REFUSED = {  # the network would be another one
    "externalInterfaces": "a network is closed here; delete them, if it can do without",
    "vlanInterfaces": "without VLANs hosts would meet that are separate; delete them, if they may",
    "cpu": "the host would be faster than drawn; delete the limit, if it is not the bottleneck",
    "jitter": "here a link's delay is constant; delete it, if it may be",
    "speedup": "here a link has one rate; delete it, if it may",
}
_REFUSED_OF_LINKS = {  # what else Mininet's TCLink takes
    *("disable_gro", "enable_ecn", "enable_red", "gro", "ifconfig", "ip", "latency_ms", "params1"),
    *("params2", "rxo", "txo", "up", "use_hfsc", "use_tbf"),
}
_SILENT = {  # of MiniEdit's windows, of a controller, or without effect alone
    *("startCLI", "nflowAddId", "nflowTimeout", "sflowHeader", "sflowPolling", "sflowSampling"),
    *("controllerProtocol", "remoteIP", "remotePort", "controllers", "sched"),
}
_USUAL = {  # what is no different here
    "controllerType": ("ref", "ovsc"),
    "switchType": ("default", "ovs", "legacySwitch", "legacyRouter"),
    "terminalType": ("xterm",),
    "openFlowVersions": ({"ovsOf10": "1", "ovsOf11": "0", "ovsOf12": "0", "ovsOf13": "0"},),
    **dict.fromkeys(("disable_gro", "rxo", "txo", "up"), (True,)),
}
_OFF = re.compile(r"(0+(\.0*)?|\.0+)(us|ms|s)?|False", re.IGNORECASE)


def remarks(places):
    """What netlab does not take over.

    Parameters
    ----------
    places : iterable of (kind, name, options)
        Such as ``("host", "h1", HostOptions())``.

    Returns
    -------
    refused, left_out : list of str
        A line for each option: its value, where it is, and why.
    """
    found = {}
    for kind, name, options in places:
        for option, value in options.model_extra.items():
            off = value in _USUAL.get(option, ()) or (
                option not in _USUAL and _OFF.fullmatch(str(value))
            )
            if option not in _SILENT and not off:
                found.setdefault((option, kind), []).append((name, _brief(value)))
    refused, left_out = [], []
    for (option, kind), where in found.items():
        values = {value for _, value in where}
        names = list(dict.fromkeys(name for name, _ in where))
        several = ("es" if kind == "switch" else "s") if len(names) > 1 else ""
        line = (
            f"{shown(option)}{f' = {values.pop()}' if len(values) == 1 else ''} of {kind}{several}"
        )
        line += f" {', '.join(names)}".rstrip()
        if kind == "link" and option in _REFUSED_OF_LINKS:
            why = "a link has bw, delay, loss and max_queue_size here; delete it, if it may"
        else:
            why = _REFUSED.get(option)
        if why:
            refused.append(f"{line} is not supported: {why}")
        else:
            left_out.append(f"{line}: {_LEFT_OUT.get(option, 'MiniEdit does nothing with it')}")
    return refused, left_out
