"""No link is dead in silence: whatever its discipline, rate, delay, loss, bucket and queue are, and
whatever a change makes of them, traffic passes; or netlab refuses it, or shows what tc says.
"""

import itertools
import re
from decimal import Decimal

import pytest

import netlab as nl

RED = "red limit 400kb min 30kb max 90kb avpkt 1000 bandwidth 10mbit"
KINDS = {
    "tbf": {},
    "tbf by packets": dict(queue_packets=100),
    "netem alone": dict(rate=None, queue_packets=1000),
    "tclink": dict(both=True, tclink=True, queue_packets=100),
    **{
        qdisc.split()[0]: dict(qdisc=qdisc)
        for qdisc in (
            *("pfifo limit 100", "bfifo limit 151400", "pfifo_fast", "sfq limit 100", RED, "cake"),
            *("fq nopacing limit 1000", "codel limit 100", "fq_codel limit 1000", "pie limit 100"),
            "dualpi2",
        )
    },
}
FIELDS = dict(rate="10mbit", delay="10ms", loss="1%", burst=15_140, limit=151_400)
FACTORS, AT_ONCE = (10, 0.1), 7


def times(value, factor):
    """A value in tc's notation, so many times as large."""
    number, unit = re.fullmatch(r"(\d+)(.*)", str(value)).groups()
    found = f"{Decimal(number) * Decimal(str(factor)):f}".removesuffix(".0")
    return int(found) if isinstance(value, int) else f"{found}{unit}"


def states(kind, field, factor):
    """The fields of a link before and after; None where such a link has no such field."""
    fields = dict(rate=FIELDS["rate"], delay=FIELDS["delay"]) | KINDS[kind]
    qdisc, name = fields.get("qdisc", ""), field
    if field == "limit" and (found := re.search(r"limit (\d+)", qdisc)):
        bigger = qdisc.replace(found[0], f"limit {times(found[1], factor)}")
        refused = qdisc.startswith("sfq") and factor > 1  # tc takes 127 at most
        return None if refused or "red" in qdisc else (fields, fields | dict(qdisc=bigger))
    if field == "limit" and "queue_packets" in fields:
        name = "queue_packets"
    elif (field in ("burst", "limit") and kind in ("netem alone", "tclink")) or (
        field == "limit" and qdisc
    ):
        return None
    value = fields.get(name, FIELDS[field])
    return value and (fields | {name: value}, fields | {name: times(value, factor)})


CASES = [
    case
    for case in itertools.product(KINDS, FIELDS, FACTORS)
    if states(*case)  # what one cannot give
]


def star(links, offload):
    """h0, and behind a switch and one of these links each, h1, h2 ..."""
    hosts = [nl.Host(f"h{n}", f"10.0.0.{n + 1}/8") for n in range(len(links) + 1)]
    ends = [nl.Link("s1", host.name, **own) for host, own in zip(hosts[1:], links, strict=True)]
    return nl.Topology(hosts, [nl.Switch("s1")], [nl.Link("h0", "s1"), *ends], offload=offload)


def some(cases, request, draw, name):
    """Lists of cases that share a guest: all of them, or a few that are drawn."""
    if not request.config.option.every:
        return [draw(name).sample(cases, AT_ONCE)]
    return [cases[first : first + AT_ONCE] for first in range(0, len(cases), AT_ONCE)]


def flows_to(cases, seconds):
    """A test to each of these, which begins no faster than a link of ours is."""
    slow = {"netem alone": dict(bitrate="20mbit")}
    return [
        nl.Iperf3("h0", f"h{number}", time=seconds, **slow.get(kind, {}))
        for number, (kind, *_) in enumerate(cases, 1)
    ]


def check(result, cases):
    """Every flow has arrived, and nothing waits at the end that does not pass."""
    for bps, case in zip(result.flows.received_bps, cases, strict=True):
        assert bps > 20e3, case
    assert result.warnings == []


@pytest.mark.parametrize("offload", [True, False])
def test_traffic_passes_whatever_the_link_is(offload, request, draw):
    for cases in some(CASES, request, draw, f"links {offload}"):
        path = star([states(*case)[1] for case in cases], offload)
        check(nl.run(path, *flows_to(cases, 2)), cases)


@pytest.mark.parametrize("offload", [True, False])
def test_traffic_passes_after_a_change(offload, request, draw):
    changed = [case for case in CASES if case[1] in ("rate", "delay", "loss")]
    for cases in some(changed, request, draw, f"changes {offload}"):
        path = star([states(*case)[0] for case in cases], offload)
        changes = []
        for number, (kind, field, factor) in enumerate(cases, 1):
            value = states(kind, field, factor)[1][field]
            changes.append(nl.Change("s1", f"h{number}", "1500ms", **{field: value}))
        check(nl.run(path, *flows_to(cases, 3), *changes), cases)
