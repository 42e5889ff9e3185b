"""Networks drawn in MiniEdit, Mininet's graphical editor: its ``.mn`` files."""

import json
from decimal import Decimal, InvalidOperation
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path
from typing import NamedTuple

from netlab.errors import ReadError, SpecificationError
from netlab.topology import addressing
from netlab.topology.nodes import FRAME_BYTES, Host, Link, Router, Switch
from netlab.topology.topology import Topology

HTB_BURST = "15kb"  # Mininet's: tc prints it as 15Kb
PREFIX = 8  # what Mininet's Node.setIP gives an address that has none
QUEUE_BYTES = (
    1000 * FRAME_BYTES
)  # Mininet's queues, where max_queue_size is not given: 1000 packets

_NO_COMMANDS = "give commands to Network.run, or nl.Shell to nl.run"
_ONE_CARD = "here a host has one network card, and a network is closed"
_CPU = "netlab does not limit a host's CPU (see the clock of nl.run)"
_BRIDGE = "here a switch is a learning bridge that nobody talks to"
UNSUPPORTED = {  # and why, unless it has one of the values that ask for nothing
    "startCommand": (_NO_COMMANDS, ()),
    "stopCommand": (_NO_COMMANDS, ()),
    "externalInterfaces": (_ONE_CARD, ()),
    "vlanInterfaces": (_ONE_CARD, ()),
    "privateDirectory": ("a host's files are not kept", ()),
    "cpu": (_CPU, ()),
    "cores": (_CPU, ()),
    "sched": (_CPU, ("host",)),
    "switchIP": (_BRIDGE, ()),
    "dpctl": (_BRIDGE, ()),
    "netflow": (_BRIDGE, ("0",)),
    "sflow": (_BRIDGE, ("0",)),
    "nflowTarget": (_BRIDGE, ()),
    "sflowTarget": (_BRIDGE, ()),
    "jitter": ("a link's delay is constant", ("0", "0us", "0ms", "0s")),
    "speedup": ("a link has one rate", ("0",)),
    "switchType": (
        "'default', 'ovs' and 'legacySwitch' are (learning switches), and 'legacyRouter'",
        ("default", "ovs", "legacySwitch", "legacyRouter"),
    ),
    "controllerType": (
        (
            "'ref' and 'ovsc' are, MiniEdit's own: they make switches learn; what another program"
            " would tell them is unknown"
        ),
        ("ref", "ovsc"),
    ),
}
SUPPORTED = {  # what is read, or changes nothing about the network
    "file": {"application", "controllers", "hosts", "links", "switches", "version"},
    "application": (
        {"ipBase", "startCLI", "terminalType", "openFlowVersions", "nflowAddId", "nflowTimeout"}
        | {"sflowHeader", "sflowPolling", "sflowSampling"}
    ),
    "controller": {"controllerProtocol", "hostname", "remoteIP", "remotePort"},
    "switch": {"controllers", "dpid", "hostname", "nodeNum"},
    "host": {"defaultRoute", "hostname", "ip", "nodeNum"},
    "item": {"number", "opts", "x", "y"},
    "line": {"dest", "opts", "src"},
    "link": {"bw", "delay", "loss", "max_queue_size"},
}


class Unreadable(Exception):
    """It is not MiniEdit's: something is not where it should be."""


class Node(NamedTuple):
    number: int
    name: str
    opts: dict


def read_miniedit(source):
    """Read a network that was drawn in MiniEdit.

    Parameters
    ----------
    source : path or str
        A ``.mn`` file of version 1 or 2.

    Returns
    -------
    Topology

    Raises
    ------
    ReadError
        It is not such a file.
    SpecificationError
        It has an option that netlab does not support, or describes a network that cannot be; says
        which.

    Notes
    -----
    Everything is taken as MiniEdit takes it:

    - A link with options is Mininet's ``TCLink``: it has its `bw` [Mbit/s], `delay` and `loss` [%]
      on both interfaces, so it adds *twice* its delay to the RTT. A delay without a unit is in
      microseconds, as tc reads it. `max_queue_size` is `Link.queue_packets`; where it is not given,
      the queue has Mininet's 1000 packets.
    - A host without an address has the one of its number in `ipBase`: h3 is 10.0.0.3. An address
      without a prefix length has /8, whatever `ipBase` says. Hosts come in the order of their
      numbers.
    - Switches learn, as they do under MiniEdit's own controllers and as its legacy switches do;
      whether a controller was drawn makes no difference here (in MiniEdit a switch without one
      forwards nothing). A switch's datapath ID and the OpenFlow versions are for its controller
      only.
    - MiniEdit leaves it to you to give a legacy router its addresses and routes. Here a router's
      address beside hosts is their default route. Where only routers meet, netlab chooses a subnet
      that the file does not use, 192.168.1.0/30, 192.168.2.0/30 ..., and the addresses in it in the
      order of the file.

    Where things are on the canvas is not kept: a `Topology` draws itself.
    """
    text = _text(source)
    try:
        return _topology(json.loads(text))
    except json.JSONDecodeError as error:
        raise ReadError(
            f"{source} is not a MiniEdit file, as it is not JSON: {error}", text
        ) from None
    except Unreadable as error:
        raise ReadError(
            f"{source} is not a MiniEdit file of version 1 or 2: {error}", text
        ) from None
    except SpecificationError as error:
        raise SpecificationError(f"{source}: {error}") from None


def _text(source):
    data = Path(source).read_bytes()
    return data.decode(json.detect_encoding(data), errors="backslashreplace")


def _topology(saved):
    version = str(_part(saved, "version", (str, int), "it"))
    if version not in ("1", "2"):
        raise Unreadable(f"its version is {version!r}")
    _check(saved, "file", "the file")
    settings = dict(_part(saved, "application", dict, "it")) if "application" in saved else {}
    for name in ("netflow", "sflow"):
        settings |= settings.pop(name, None) or {}
    _check(settings, "application", "the preferences")
    controllers = _part(saved, "controllers", (list, dict), "it") if "controllers" in saved else []
    if isinstance(controllers, dict):  # version 1
        controllers = [{"opts": {"hostname": name, **opts}} for name, opts in controllers.items()]
    for item in controllers:
        opts = _part(item, "opts", dict, "a controller")
        _check(item, "item", "a controller")
        _check(opts, "controller", f"controller {opts.get('hostname')}")
    hosts = sorted(
        (_node(item, "host") for item in _part(saved, "hosts", list, "it")),
        key=lambda node: node.number,
    )
    bridges = [_node(item, "switch") for item in _part(saved, "switches", list, "it")]
    routers = [node.name for node in bridges if node.opts.get("switchType") == "legacyRouter"]
    switches = [Switch(node.name) for node in bridges if node.name not in routers]
    links = [_link(item) for item in _part(saved, "links", list, "it")]
    base = str(settings.get("ipBase") or "10.0.0.0/8")
    hosts = [
        Host(node.name, _address(node, base), node.opts.get("defaultRoute") or None)
        for node in hosts
    ]
    return Topology(hosts, switches, links, routers=_routers(routers, hosts, switches, links))


def _part(table, key, kind, where):
    """What a table has under a key, if it is of this kind."""
    if not isinstance(table, dict) or not isinstance(table.get(key), kind):
        raise Unreadable(f"{where} has no {key!r}")
    return table[key]


def _check(options, kind, where):
    """Refuse options that netlab would have to ignore."""
    for name, value in options.items():
        reason, allowed = UNSUPPORTED.get(name, ("MiniEdit has no such option", ()))
        if name not in SUPPORTED[kind] and str(value) not in (*allowed, "", "[]", "{}", "None"):
            raise SpecificationError(f"{name} = {value!r} of {where} is not supported: {reason}")


def _node(item, kind):
    number = str(_part(item, "number", (str, int), f"a {kind}"))
    if not number.isdecimal():
        raise Unreadable(f"the number of a {kind} is {number!r}")
    opts = _part(item, "opts", dict, f"{kind} {number}")
    name = str(opts.get("hostname") or f"{kind[0]}{number}")
    _check(item, "item", f"{kind} {name}")
    _check(opts, kind, f"{kind} {name}")
    return Node(int(opts.get("nodeNum", number)), name, opts)


def _address(node, base):
    address = str(node.opts.get("ip") or "")
    if not address:
        try:
            address = str(IPv4Network(base, strict=False).network_address + node.number)
        except ValueError:
            raise SpecificationError(f"ipBase = {base!r}: a subnet, such as '10.0.0.0/8'") from None
    return address if "/" in address else f"{address}/{PREFIX}"


def _link(item):
    ends = [_part(item, end, str, "a link") for end in ("src", "dest")]
    where = f"link {'-'.join(ends)}"
    opts = {
        name: value
        for name, value in _part(item, "opts", dict, where).items()
        if value not in ("", None)
    }
    _check(item, "line", where)
    _check(opts, "link", where)
    emulated = {}
    if "bw" in opts:
        emulated |= {
            "rate": f"{_number(opts, 'bw', where)}mbit",
            "burst": HTB_BURST,
            "limit": QUEUE_BYTES,
        }
    if "delay" in opts:
        delay = str(opts["delay"])
        emulated["delay"] = f"{delay}us" if delay.replace(".", "", 1).isdecimal() else delay
    if "loss" in opts:
        emulated["loss"] = f"{_number(opts, 'loss', where)}%"
    if "max_queue_size" in opts:
        emulated.pop("limit", None)
        emulated["queue_packets"] = _number(opts, "max_queue_size", where)
    try:
        return Link(*ends, **emulated, both=bool(emulated))
    except SpecificationError as error:
        raise SpecificationError(f"{where}: {error}") from None


def _number(opts, name, where):
    try:
        return f"{Decimal(str(opts[name])):f}"
    except InvalidOperation:
        raise SpecificationError(f"{name} = {opts[name]!r} of {where}: a number") from None


def _routers(names, hosts, switches, links):
    """Routers with addresses that follow from the default routes of the hosts beside them."""
    addresses, used = {}, [IPv4Interface(host.address).network for host in hosts]
    for part in addressing.joined(switches, links):
        here = [(node, link) for node, link in part if node in names]
        near = [host for host in hosts if host.name in [node for node, _ in part]]
        if here and not near:
            length = 30 if len(here) <= 2 else 24
            subnets = (IPv4Network(f"192.168.{number}.0/{length}") for number in range(1, 256))
            subnet = next(
                subnet for subnet in subnets if not any(subnet.overlaps(other) for other in used)
            )
            used.append(subnet)
            addresses |= {
                place: f"{subnet[number]}/{length}" for number, place in enumerate(here, start=1)
            }
        elif here:
            addresses |= dict.fromkeys(
                here, _router_address(sorted({node for node, _ in here}), near)
            )
    return [
        Router(name, [addresses[name, link] for link in links if name in (link.a, link.b)])
        for name in names
    ]


def _router_address(routers, hosts):
    """The address of the only router beside some hosts, in their subnet."""
    if len(routers) > 1:
        raise SpecificationError(
            f"routers {' and '.join(routers)} are joined to the same hosts"
            f" ({', '.join(host.name for host in hosts)}), and the file does not say which has"
            " which address: put a router between them, or describe it as a Topology"
        )
    for host in hosts:
        if not host.route:
            raise SpecificationError(
                f"host {host.name} lacks a defaultRoute: the address of router {routers[0]}, beside"
                " it, follows from it"
            )
        if host.route != hosts[0].route:
            raise SpecificationError(
                f"defaultRoute = {host.route!r} of host {host.name}, but {hosts[0].route!r} of host"
                f" {hosts[0].name}: both must be the address of router {routers[0]}"
            )
    return f"{hosts[0].route}/{hosts[0].address.partition('/')[2]}"
