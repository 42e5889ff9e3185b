import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import (
    Experiment,
    Iperf,
    Iperf3,
    Link,
    NetlabError,
    Ping,
    Simpleperf,
    SpecificationError,
    wan,
)
from tests import lines_run


def test_positions_follow_the_declaration():
    assert Iperf3("h1", "h2", 8).parallel == 8
    assert Iperf3("h1", "h2", parallel=8) == Iperf3(src="h1", dst="h2", parallel=8)


PINGED = Experiment(wan(), Ping("h1", "h2")).to_json()
TESTED = Experiment(wan(), Iperf3("h1", "h2")).to_json()


def flow(**fields):
    return lambda: Iperf3("h1", "h2", **fields)


def experiment(*traffic, **fields):
    return lambda: Experiment(wan(), *traffic, **fields)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (flow(parallel=0), "Iperf3.parallel|0|greater than or equal to 1"),
        (flow(parallel=129), "Iperf3.parallel|129|less than or equal to 128"),
        (flow(time=0), "Iperf3.time|0|or equal to 1"),
        (flow(time=-1), "Iperf3.time|-1|or equal to 1"),
        (flow(paralel=8), "Iperf3.paralel|8|no such field|it is called parallel"),
        (flow(streams=8), "Iperf3.streams|it is called parallel"),
        (flow(duration=8), "it is called time"),
        (flow(src="h3"), "Iperf3.src|twice"),
        (flow(udp=True, congestion="reno"), "congestion|udp"),
        (lambda: Iperf3("h1", "h1"), "src and dst|h1"),
        (lambda: Iperf3("h1"), "Iperf3.dst|missing"),
        (lambda: Ping("h1", "h2", count=0), "Ping.count|0"),
        (lambda: wan(buffers="1kb"), "buffers|1kb|87380"),
        (lambda: Link("s1", "s1"), "s1|two different nodes"),
        (experiment(), "Experiment.traffic"),
        (experiment(Ping("h1", "h9")), "Ping.dst|h9|h1, h2, h3, h4"),
        (experiment(Ping("h1", "h2"), seed=-1), "Experiment.seed|-1"),
        (experiment(Ping("h1", "h2"), clock="fast"), "Experiment.clock|fast|virtual"),
        *(
            (lambda text=text: Experiment.from_json(text), words)
            for text, words in [
                ("{}", "Experiment.topology|missing"),
                ("no json", "Experiment|not JSON"),
                (PINGED.replace('"seed"', '"sead"'), "Experiment.sead"),
                (TESTED.replace('"parallel": 1', '"parallel": 129'), "parallel|129"),
            ]
        ),
    ],
)
def test_a_refusal_names_the_field_the_value_and_what_is_allowed(make, words):
    with pytest.raises(SpecificationError) as refused:
        make()
    assert all(word in str(refused.value) for word in words.split("|")), str(refused.value)
    assert isinstance(refused.value, NetlabError) and isinstance(refused.value, ValueError)


@pytest.mark.parametrize(
    ("kind", "field", "least", "most"),
    [
        *((kind, "parallel", 1, 128) for kind in (Iperf, Iperf3, Simpleperf)),
        (Iperf3, "time", 1, 86_400),
        (Iperf3, "omit", 0, 60),
        (Iperf3, "interval", 0.1, 60),
        (Iperf3, "mss", 88, 9216),
        (Iperf, "time", 0.1, 86_400),
        (Iperf, "interval", 0.1, 60),
        (Simpleperf, "time", 0.1, 86_400),
        (Simpleperf, "interval", 0.1, 86_400),
        (Simpleperf, "length", 1, 1_000_000),
        (Ping, "count", 1, 100_000),
        (Ping, "interval", 0.001, 3600),
        (Link, "queue_packets", 1, 2_000_000),
    ],
)
def test_the_least_and_the_most_are_allowed_and_what_is_beyond_is_not(kind, field, least, most):
    for value in (least, most):
        assert getattr(kind("h1", "h2", **{field: value}), field) == value
    for value in (least - 0.001, most + 1):
        with pytest.raises(SpecificationError, match=field):
            kind("h1", "h2", **{field: value})


@given(
    flow=st.fixed_dictionaries(
        {
            "parallel": st.integers(1, 128),
            "time": st.integers(1, 1000),
            "congestion": st.sampled_from([None, "reno", "bbr"]),
            "reverse": st.booleans(),
        }
    ),
    seed=st.integers(0, 2**63 - 1),
    loss=st.integers(0, 100),
    limit_s=st.floats(0, 1e6, exclude_min=True),
)
def test_json_gives_back_the_same_experiment(flow, seed, loss, limit_s):
    traffic = Iperf3("h1", "h2", **flow), Ping("h3", "h4")
    experiment = Experiment(
        wan(loss=f"{loss}%"), *traffic, seed=seed, virtual_limit_s=limit_s, wall_limit_s=limit_s
    )
    assert Experiment.from_json(experiment.to_json()) == experiment


def test_but_is_checked_like_a_new_one_and_nothing_can_be_changed():
    pinged = Experiment.from_json(PINGED)
    assert pinged.but(seed=3).seed == 3
    with pytest.raises(SpecificationError, match="seed"):
        pinged.but(seed=-3)
    with pytest.raises(ValueError, match="frozen"):
        wan().links[0].delay = "1ms"


def read(**changes):
    return Experiment.from_json(json.dumps(json.loads(PINGED) | changes))


@pytest.mark.parametrize(
    ("changes", "words", "most"),
    [
        ({"traffic": [0] * 3000}, r"and more: 300\d problems in all", 5000),
        ({f"x{n}": 1 for n in range(3000)}, r"and more: 300\d problems in all", 5000),
        ({"x" * 100_000: 1}, "no such field", 1000),
        ({"traffic": json.loads(PINGED)["traffic"] * 1001}, "1001 of them, and at most 1000", 1000),
        ({"title": "[" * 9_000_000}, r"has 9,00\d,\d{3} characters, and 2,000,000 are", 1000),
    ],
    ids=itertools.count(),
)
def test_few_of_many_problems_are_told(changes, words, most):
    with pytest.raises(SpecificationError, match=words) as refused:
        read(**changes)
    assert len(str(refused.value)) < most


def test_two_million_characters_are_read_and_no_more():
    assert Experiment.from_json(PINGED.ljust(2_000_000)).to_json() == PINGED
    with pytest.raises(SpecificationError, match="2,000,001 characters"):
        Experiment.from_json(PINGED.ljust(2_000_001))


@pytest.mark.parametrize("place", ["experiment", "topology", "link"])
def test_a_field_named_self_is_an_unknown_one(place):
    described = json.loads(PINGED)
    topology = described["topology"]
    {"experiment": described, "topology": topology, "link": topology["links"][0]}[place]["self"] = 1
    with pytest.raises(SpecificationError, match="self"):
        Experiment.from_json(json.dumps(described))


def test_twice_the_problems_are_twice_the_work():
    def refused(n):
        with pytest.raises(SpecificationError):
            read(traffic=[0] * n)

    assert lines_run(lambda: refused(400)) <= 2.2 * lines_run(lambda: refused(200))


@pytest.mark.parametrize(
    "value",
    [10**400, 10**5000, -(10**5000), math.inf, math.nan],
    ids=["B", "C", "-C", "inf", "nan"],
)
def test_a_number_that_no_unit_has_is_refused_in_words(value):
    for make in (
        lambda: wan(value, "20ms"),
        lambda: wan("100mbit", value),
        lambda: wan("100mbit", "20ms", loss=value),
        lambda: Iperf3("h1", "h2", time=value),
        lambda: Experiment(wan(), Ping("h1", "h3"), seed=value),
    ):
        with pytest.raises(SpecificationError) as refused:
            make()
        assert len(str(refused.value)) < 1000 and "Exceeds" not in str(refused.value)
