"""Answers that are experiments and networks."""

import json
import math
import re

from netlab import units
from netlab.course.checks import numbers
from netlab.course.checks.verdicts import RIGHT, Check
from netlab.topology import Topology, expected

PARTS = {"topology": 0.4, "traffic": 0.4, "seed": 0.1}  # of an experiment
REST = 0.1  # all its other parts together
CLOSE, LEAST = 0.8, 0.5  # an experiment that agrees less is wrong, and worth nothing
MOST_PLACES = 4  # that a hint names
MOST_LISTED = 100  # hosts, routers, switches, links of a network that is looked into
COMPARED = "rtt_s", "rate_bps", "queue_bytes", "split_bps", "max_min_bps", "loss"


def compare_experiments(given, right, spec):
    """Topology, traffic, seed, and the rest; the hint names the places that differ."""
    places = differences(given["json"], right["json"])
    if not places:
        return RIGHT
    differ = {re.match(r"\w*", place)[0] for place in places}
    share = 1 - sum(PARTS[name] for name in differ & PARTS.keys())
    share = round(share - REST * bool(differ - PARTS.keys()), 6)
    verdict = "close" if share >= CLOSE else "wrong"
    return Check(verdict, share if share >= LEAST else 0, not_as_asked(places))


def not_as_asked(places):
    more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
    return f"not as asked for: {', '.join(places[:MOST_PLACES])}{more}"


def look_at_arguments(given, arguments):
    """Compare an experiment with what the text says of it; the hint names what differs."""
    wrong = [one for name, value in arguments.items() if (one := not_as_said(given, name, value))]
    if wrong:
        return Check("wrong", 0, "; ".join(wrong))
    *names, last = arguments
    listed = f"{', '.join(names)} and {last} are" if names else f"{last} is"
    return Check("noted", 0, f"this is an experiment; {listed} as the text asks")


def not_as_said(given, name, wanted):
    """How an argument of an experiment differs from what is wanted; "" where it does not."""
    if name == "topology":
        places = differences(given["topology"], json.loads(wanted.to_json()))
        return f"another network than the text's: {', '.join(places[:MOST_PLACES])}" * bool(places)
    if name == "traffic":
        own = [one["kind"] for one in given["traffic"]]
    elif name in given:
        own = given[name]
    else:
        own = [one[name] for one in given["traffic"] if name in one]
        if own and not isinstance(wanted, list):
            own = wanted if all(same(one, wanted) for one in own) else own
    if not differences(own, wanted):
        return ""
    return f"{name} is {said(own)}, and the text asks for {said(wanted)}"


def said(value):
    """A value, or some, as people write them."""
    values = value if isinstance(value, list) else [value]
    texts = [f"{one:g}" if isinstance(one, float) else str(one) for one in values]
    return ", ".join(texts[:MOST_PLACES]) or "nothing"


def differences(given, right, place=""):
    """The places where two documents differ, without what should be there."""
    if isinstance(given, dict) and isinstance(right, dict):
        names = dict.fromkeys([*right, *given])
        parts = [(f".{name}", given.get(name), right.get(name)) for name in names]
    elif isinstance(given, list) and isinstance(right, list) and len(given) == len(right):
        parts = [(f"[{n}]", *both) for n, both in enumerate(zip(given, right, strict=True))]
    else:
        return [] if same(given, right) else [place]
    return [
        one for name, *both in parts for one in differences(*both, f"{place}{name}".lstrip("."))
    ]


def same(given, right):
    """Are two single values the same? Rates, delays and shares are, however they are written."""
    if isinstance(given, str) and isinstance(right, str) and given != right:
        for read in (units.rate_bps, units.delay_s, units.fraction, units.size_bytes):
            try:
                return read(given) == read(right)
            except ValueError:
                continue
    return given == right and isinstance(given, bool) == isinstance(right, bool)


def compare_topologies(given, right, spec):
    """Compare what flows between `pairs` may expect; without pairs, all that a network is."""
    pairs = spec.get("pairs")
    if not pairs:
        places = differences(given["json"], right["json"])
        return Check("wrong", 0, not_as_asked(places)) if places else RIGHT
    for name in ("hosts", "routers", "switches", "links"):
        listed = given["json"].get(name)
        if isinstance(listed, list) and len(listed) > MOST_LISTED:
            return Check("wrong", 0, f"{len(listed)} {name} are too many to look into")
    own, wanted = what_to_expect(given, pairs), what_to_expect(right, pairs)
    bad = {
        f"{name} from {src} to {dst}": name
        for number, (src, dst) in enumerate(pairs)
        for name in COMPARED
        if not numbers.near(
            float(own[name][number]), float(wanted[name][number]), numbers.tolerance(spec)
        )
    }
    share = 1 - len({*bad.values()}) / len(COMPARED)
    return Check("wrong", share, not_as_asked([*bad])) if bad else RIGHT


def what_to_expect(form, pairs):
    """`netlab.expected`, and with what probability a packet is lost on the way. [1]"""
    network = Topology.from_json(json.dumps(form["json"]))
    found = expected(network, *pairs)
    links = [network.emulated(*pair) for pair in zip(found.src, found.dst, strict=True)]
    passed = [math.prod(1 - units.fraction(link.loss) for link in path) for path in links]
    return found.assign(loss=[1 - one for one in passed])
