"""Names for nodes whose own ones netlab, or Mininet, cannot use."""

import re
import unicodedata
from itertools import count

from netlab.errors import SpecificationError
from netlab.topology.nodes import Host, Router, Switch

INTERFACE_CHARACTERS = 15  # the longest name that Linux gives an interface
_AS = {  # any node of its kind
    "host": lambda name: Host(name, "10.0.0.1/8"),
    "switch": Switch,
    "router": lambda name: Router(name, ["10.0.0.1/8"]),
}


def allowed(kind, name, links):
    """May a node of this kind, with so many links, have this name?"""
    try:
        _AS[kind](name)
    except SpecificationError:
        return False
    if kind == "switch":
        last = links
    else:
        last = max(links - 1, 0)  # theirs begin with -eth0
    numbered = kind != "switch" or re.search("[0-9]", name)  # Mininet's datapath ID is that number
    return bool(numbered) and len(f"{name}-eth{last}") <= INTERFACE_CHARACTERS


def names(nodes, links):
    """A name that is allowed for each node, its own where it can be.

    Parameters
    ----------
    nodes : iterable
        Each with its `kind`, `name` and `number`.
    links : dict of int
        How many links a node has, by name.

    Returns
    -------
    dict of str
    """
    found = {
        node.name: node.name for node in nodes if allowed(node.kind, node.name, links[node.name])
    }
    for node in nodes:
        if node.name not in found:
            taken = set(found.values())
            found[node.name] = next(
                name
                for name in _candidates(node, links[node.name])
                if name not in taken and allowed(node.kind, name, links[node.name])
            )
    return found


def _candidates(node, links):
    """What is near a node's name: "gs2switch" for "GS2 Switch", "h1" for "h1 - 192.168.1.10"."""
    longest = min(10, INTERFACE_CHARACTERS - len(f"-eth{links}"))
    plain = unicodedata.normalize("NFKD", node.name).encode("ascii", "ignore").decode().lower()
    words = re.findall(
        "[a-z0-9]+", re.sub(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", " ", plain)
    )  # without addresses
    whole = "".join(words).lstrip("0123456789")
    base = whole if len(whole) <= longest or not words[0][0].isalpha() else words[0]
    base = base[:longest] or f"{node.kind[0]}{node.number}"
    yield base
    if not re.search("[0-9]", base):
        yield base[: longest - len(str(node.number))] + str(node.number)
    for number in count(2):
        yield base[: longest - len(f"x{number}")] + f"x{number}"
