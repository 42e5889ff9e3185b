"""Answers that are descriptions: experiments, networks and algorithms."""

import json
import math
import re

from netlab import units
from netlab.course.checks import slips
from netlab.course.checks.script import ACKED, AVOIDANCE_WINDOW, FIRST_WINDOW, PHASES, script
from netlab.course.checks.verdicts import Check
from netlab.topology import Topology, expected

PARTS = {"topology": 0.4, "traffic": 0.4, "seed": 0.1}  # of an experiment; the rest is the rest
REST = 0.1
CLOSE, LEAST = 0.8, 0.5  # an experiment that agrees less is wrong, and worth nothing
MOST_PLACES = 4  # that a hint names
MOST_LISTED = 100  # hosts, routers, switches, links of a network that is looked into
NOT_SENT = 0.5  # of the share, where a rule cannot be sent to the kernel's process
MOST_SHOWN = 1e9  # segments; more is a threshold that nothing has set
EVENTS = {"START": "first", "ACK": "at an ACK", "LOSS": "at a loss", "TIMEOUT": "after a timeout"}
WINDOW = 1e-6  # relative; windows of different ways to write the same formula
COMPARED = "rtt_s", "rate_bps", "queue_bytes", "split_bps", "max_min_bps", "loss"


def compare_experiments(given, right, spec):
    """Topology, traffic, seed, and the rest; the hint names the places that differ."""
    given, right = given["json"], right["json"]
    places = differences(given, right)
    if not places:
        return Check("right", 1)
    differ = {re.match(r"\w*", place)[0] for place in places}
    share = (
        1 - sum(PARTS[name] for name in differ & PARTS.keys()) - REST * bool(differ - PARTS.keys())
    )
    share = round(share, 6)
    verdict = "close" if share >= CLOSE else "wrong"
    return Check(verdict, share if share >= LEAST else 0, not_as_asked(places))


def not_as_asked(places):
    more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
    return f"not as asked for: {', '.join(places[:MOST_PLACES])}{more}"


def look_at_arguments(given, arguments):
    """Is an experiment what a text says of it? Its hint says what is not, with what was given."""
    wrong = [one for name, value in arguments.items() if (one := not_as_said(given, name, value))]
    if wrong:
        return Check("wrong", 0, "; ".join(wrong))
    *names, last = arguments
    listed = f"{', '.join(names)} and {last}" if names else last
    are = "are" if names else "is"
    return Check("noted", 0, f"this is an experiment; {listed} {are} as the text asks")


def not_as_said(given, name, wanted):
    """What an experiment has for an argument, where it is not what is wanted; "" where it is."""
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
        names = [*right, *(name for name in given if name not in right)]
        return [
            one
            for name in names
            for one in differences(given.get(name), right.get(name), f"{place}.{name}".lstrip("."))
        ]
    if isinstance(given, list) and isinstance(right, list) and len(given) == len(right):
        pairs = enumerate(zip(given, right, strict=True))
        return [one for n, both in pairs for one in differences(*both, f"{place}[{n}]")]
    return [] if same(given, right) else [place]


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
    """What flows between some pairs may expect; without pairs, all that a network is.

    The share is that of the quantities that are right between all pairs.
    """
    pairs = spec.get("pairs")
    if not pairs:
        places = differences(given["json"], right["json"])
        return Check("wrong", 0, not_as_asked(places)) if places else Check("right", 1)
    for name in ("hosts", "routers", "switches", "links"):
        listed = given["json"].get(name)
        if isinstance(listed, list) and len(listed) > MOST_LISTED:
            return Check("wrong", 0, f"{len(listed)} {name} are too many to look into")
    wanted = what_to_expect(right, pairs)
    try:
        own = what_to_expect(given, pairs)
    except Exception as error:  # a stranger wrote it
        return Check("wrong", 0, str(error))
    bad, hints = set(), []
    for number, (src, dst) in enumerate(zip(wanted.src, wanted.dst, strict=True)):
        for name in COMPARED:
            both = float(own[name][number]), float(wanted[name][number])
            if not slips.near(*both, slips.tolerance(spec)):
                bad.add(name)
                hints.append(f"{name} from {src} to {dst}")
    share = 1 - len(bad) / len(COMPARED)
    return Check("wrong", share, not_as_asked(hints)) if hints else Check("right", 1)


def what_to_expect(form, pairs):
    """`netlab.expected`, and with what probability a packet is lost on the way. [1]"""
    network = Topology.from_json(json.dumps(form["json"]))
    found = expected(network, *pairs)
    links = [network.emulated(*pair) for pair in zip(found.src, found.dst, strict=True)]
    passed = [math.prod(1 - units.fraction(link.loss) for link in path) for path in links]
    return found.assign(loss=[1 - one for one in passed])


def compare_algorithms(given, right, spec):
    """What it answers, phase by phase."""
    first, good, bad = 0, 0, []
    for name, length in PHASES:
        own, wanted = (one["trace"][first : first + length] for one in (given, right))
        agree = len(own) == len(wanted) and all(
            slips.near(float(one), float(it), WINDOW)
            for windows, others in zip(own, wanted, strict=True)
            for one, it in zip(windows, others, strict=True)
        )
        good += agree
        bad += [] if agree else [name]
        first += length
    if not bad and not given["failed"]:
        return Check("right", 1)
    if not bad:
        return Check("wrong", NOT_SENT, f"its rule is right, but {given['failed']}")
    why = f"; it fails: {given['failed']}" if given["failed"] else ""
    hint = (
        f"it answers otherwise than it should in {', '.join(bad)}{first_other(given, right)}{why}"
    )
    return Check("wrong", good / len(PHASES) * (NOT_SENT if not_sent(given) else 1), hint)


def not_sent(given):
    """Did it live through the script, and still fail: because nothing could be sent?"""
    return bool(given["failed"]) and len(given["trace"]) == sum(length for _, length in PHASES)


def first_other(given, right):
    """The first event that was answered otherwise, with the answer; "" where there is none."""
    trace = given["trace"]
    for number, (event, own, wanted) in enumerate(
        zip(script(), trace, right["trace"], strict=False)
    ):
        if not all(
            slips.near(float(a), float(b), WINDOW) for a, b in zip(own, wanted, strict=True)
        ):
            window = [event["window"], AVOIDANCE_WINDOW] if "window" in event else None
            cwnd, ssthresh = window or (trace[number - 1] if number else (FIRST_WINDOW, "inf"))
            acked = f", acked {ACKED}" if event["event"] == "ACK" else ""
            place = f"{EVENTS[event['event']]} at cwnd {shown(cwnd)}, ssthresh {shown(ssthresh)}"
            gave = f"you gave cwnd {shown(own[0])}, ssthresh {shown(own[1])}"
            return f": {place}{acked} {gave}; the rule of the text gives something else"
    return ""


def shown(segments):
    segments = float(segments)
    return f"{segments:.6g}" if segments < MOST_SHOWN else "infinite"
