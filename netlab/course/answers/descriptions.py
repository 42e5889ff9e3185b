"""Descriptions as answers, experiments and networks; and what was typed on a network."""

import json
import math
import re
from typing import ClassVar, Literal

from pydantic import Field

from netlab import experiment, topology, units
from netlab.algorithms import source
from netlab.course.answers import numbers
from netlab.course.answers.base import Answer
from netlab.course.answers.bounds import clean
from netlab.course.answers.verdicts import RIGHT, Check
from netlab.running import network
from netlab.running.history import History
from netlab.running.result import Result
from netlab.traffic.base import KINDS

PARTS = {"topology": 0.4, "traffic": 0.4, "seed": 0.1}  # of an experiment
REST = 0.1  # all its other parts together
CLOSE, LEAST = 0.8, 0.5  # an experiment that agrees less is wrong, and worth nothing
# Fields of a traffic whose values the texts give: a hint may repeat them
GIVEN = ("time", "omit", "start", "count", "every", "interval", "congestion", "udp")
MOST_PLACES = 4  # that a hint names
LONGEST_SAID = 40  # characters of one value
MOST_LISTED = 100  # hosts, routers, switches, links of a network that is looked into
COMPARED = "rtt_s", "rate_bps", "queue_bytes", "split_bps", "max_min_bps", "loss"


class Experiment(Answer):
    """An `Experiment`, or the one that a `Result` is of."""

    kind: Literal["experiment"] = "experiment"
    document: dict = Field(alias="json")
    words: ClassVar = "an experiment"

    @classmethod
    def form(cls, value, forming, cases):
        value = value.experiment if isinstance(value, Result) else value
        known = isinstance(value, experiment.Experiment)
        return {"json": json.loads(value.to_json())} if known else None

    def compare(self, given, rule):
        """Topology, traffic, seed, and the rest; the hint names the places that differ."""
        places = differences(given.document, self.document)
        if not places:
            return RIGHT
        differ = {re.match(r"\w*", place)[0] for place in places}
        share = 1 - sum(PARTS[name] for name in differ & PARTS.keys())
        share = round(share - REST * bool(differ - PARTS.keys()), 6)
        verdict = "close" if share >= CLOSE else "wrong"
        hints = [not_as_asked(places), *others_than_asked(given.document, self.document)]
        return Check(verdict, share if share >= LEAST else 0, "; ".join(hints))

    def describe(self, unit):
        return f"{self.words} with the seed {self.document.get('seed')}"


class Topology(Answer):
    """A `Topology`."""

    kind: Literal["topology"] = "topology"
    document: dict = Field(alias="json")
    words: ClassVar = "a network"

    @classmethod
    def form(cls, value, forming, cases):
        known = isinstance(value, topology.Topology)
        return {"json": json.loads(value.to_json())} if known else None

    def compare(self, given, rule):
        """Compare what flows between `pairs` may expect; without pairs, all that a network is."""
        pairs = rule.pairs
        if not pairs:
            places = differences(given.document, self.document)
            return Check("wrong", 0, not_as_asked(places)) if places else RIGHT
        for name in ("hosts", "routers", "switches", "links"):
            listed = given.document.get(name)
            if isinstance(listed, list) and len(listed) > MOST_LISTED:
                return Check("wrong", 0, f"{len(listed)} {name} are too many to look into")
        own, wanted = given.expected(pairs), self.expected(pairs)
        bad = {
            f"{name} from {src} to {dst}": name
            for number, (src, dst) in enumerate(pairs)
            for name in COMPARED
            if not numbers.near(
                float(own[name][number]), float(wanted[name][number]), rule.tolerance
            )
        }
        share = 1 - len({*bad.values()}) / len(COMPARED)
        return Check("wrong", share, not_as_asked([*bad])) if bad else RIGHT

    def expected(self, pairs):
        """`netlab.expected`, and with what probability a packet is lost on the way. [1]"""
        net = topology.Topology.from_json(json.dumps(self.document))
        found = topology.expected(net, *pairs)
        links = [net.emulated(*pair) for pair in zip(found.src, found.dst, strict=True)]
        passed = [math.prod(1 - units.fraction(link.loss) for link in path) for path in links]
        return found.assign(loss=[1 - one for one in passed])


class Network(Answer):
    """What was typed on a network, as a script (`netlab.running.history`). It is compared with
    none: the grader looks at what the script leads to (`netlab.course.checks.states`).
    """

    kind: Literal["network"] = "network"
    script: str
    words: ClassVar = "a network that is up, or its history"

    @classmethod
    def form(cls, value, forming, cases):
        if not isinstance(value, network.Network | History):
            return None
        return {"script": clean(getattr(value, "history", value).to_text())}


def others_than_asked(given, right):
    """Sentences that name the given and the asked value of a wrong seed or traffic."""
    if not same(given.get("seed"), right["seed"]):
        yield f"seed is {said(given.get('seed'))}; asked: {right['seed']}"
    own, wanted = given.get("traffic"), right["traffic"]
    if not isinstance(own, list) or len(own) != len(wanted):
        yield f"flows: {len(own) if isinstance(own, list) else 'none'}; asked: {len(wanted)}"
        return
    for number, (one, it) in enumerate(zip(own, wanted, strict=True), 1):
        flow = f"flow {number}: " if len(wanted) > 1 else ""
        if one.get("kind") != it["kind"]:
            yield f"{flow}{said(one.get('kind'))}; asked: {it['kind']}"
            continue
        if not same(ends(one), ends(it)):
            yield f"{flow}{ends(one)}; asked: {ends(it).removeprefix('from ')}"
        one, it = whole(one), whole(it)
        for name in GIVEN:
            if name in it and not same(one.get(name), it[name]):
                yield f"{flow}{name} is {said(one.get(name))}; asked: {said(it[name])}"


def ends(traffic):
    """From where to where a traffic goes."""
    way = f" to {said(traffic['dst'])}" if "dst" in traffic else ""
    return f"from {said(traffic.get('src'))}{way}"


def whole(traffic):
    """A traffic's JSON with the defaults that it leaves out."""
    kind = KINDS.get(traffic.get("kind"))
    fields = kind.model_fields if kind else {}
    return {name: default(one) for name, one in fields.items() if not one.is_required()} | traffic


def default(field):
    """The default value of a description's field."""
    return field.get_default(call_default_factory=True)


def look_at_arguments(given, arguments):
    """Compare an experiment with the arguments that the text gives. The hint names what differs, or
    else what was compared, and what was not compared although it differs from the default.
    """
    wrong = [one for name, value in arguments.items() if (one := not_as_said(given, name, value))]
    if wrong:
        return Check("wrong", 0, "; ".join(wrong))
    *names, last = ["kinds of traffic" if name == "traffic" else name for name in arguments]
    listed = f"{', '.join(names)} and {last} are" if names else f"{last} is"
    other = not_compared(given, arguments)
    more = f"; not compared: {', '.join(other)}" if other else ""
    return Check("noted", 0, f"this is an experiment; {listed} as the text asks{more}")


def not_compared(given, arguments):
    """The parts of an experiment that are not among the arguments and differ from the default."""
    left = [name for name in ("topology", "traffic") if name not in arguments]
    fields = [(given, experiment.Experiment.model_fields)]
    for one in given["traffic"] if "traffic" in arguments else ():
        fields.append((one, KINDS[one["kind"]].model_fields))
    for own, known in fields:
        for name, field in known.items():
            value = own.get(name, default(field))
            compared = name in ("topology", "traffic", "kind", *arguments)
            if not (compared or same(value, default(field))):
                left.append(f"{name} = {said(value)}")
    return [*dict.fromkeys(left)]


def as_written(value):
    """An argument as an experiment's JSON has it: congestion controls in Python, too."""
    if isinstance(value, list):
        return [as_written(one) for one in value]
    found = source.algorithm(value)
    return found.model_dump(mode="json") if isinstance(found, source.Algorithm) else value


def not_as_said(given, name, wanted):
    """How an argument of an experiment differs from what is wanted; "" where it does not."""
    wanted = as_written(wanted)
    if name == "topology":
        places = differences(given["topology"], json.loads(wanted.to_json()))
        return f"another network than the text's: {', '.join(places[:MOST_PLACES])}" * bool(places)
    if name == "traffic":
        own = [one["kind"] for one in given["traffic"]]
    elif name in given:
        own = given[name]
    else:
        flows = [one for one in map(whole, given["traffic"]) if name in one]
        if isinstance(wanted, list) and len(wanted) != len(flows):  # of those that say it
            flows = [one for one in given["traffic"] if name in one]
        own = [one[name] for one in flows]
        if own and not isinstance(wanted, list):
            own = wanted if all(same(one, wanted) for one in own) else own
    if not differences(own, wanted):
        return ""
    return f"{name} is {said(own)}, and the text asks for {said(wanted)}"


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


def not_as_asked(places):
    more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
    return f"not as asked for: {', '.join(places[:MOST_PLACES])}{more}"


def said(value):
    """A value, or some, as people write them."""
    values = value if isinstance(value, list) else [value]
    values = [one.get("name", "") if isinstance(one, dict) else one for one in values]
    texts = [f"{one:g}" if isinstance(one, float) else str(one) for one in values]
    texts = [one[:LONGEST_SAID] for one in texts]
    return ", ".join(texts[:MOST_PLACES]) or "nothing"
