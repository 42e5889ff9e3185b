import json
import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import Experiment, Iperf3, Link, NetlabError, Ping, SpecificationError, wan


def test_what_came_later_is_written_only_where_it_is_given():
    for text in (repr(wan()), wan().to_json()):
        assert "noise" not in text and "qdisc" not in text and "sysctls" in text
    for text in (repr(wan(noise="10us")), wan(noise="10us").to_json()):
        assert "10us" in text


def test_positions_follow_the_declaration():
    assert Iperf3("h1", "h2", 8).parallel == 8
    assert Iperf3("h1", "h2", parallel=8) == Iperf3(src="h1", dst="h2", parallel=8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: Iperf3("h1", "h2", parallel=0),
            ["Iperf3.parallel", "0", "greater than or equal to 1"],
        ),
        (
            lambda: Iperf3("h1", "h2", parallel=129),
            ["Iperf3.parallel", "129", "less than or equal to 128"],
        ),
        (lambda: Iperf3("h1", "h2", time=0), ["Iperf3.time", "0", "or equal to 1"]),
        (lambda: Iperf3("h1", "h2", time=-1), ["Iperf3.time", "-1", "or equal to 1"]),
        (lambda: Iperf3("h1", "h1"), ["src and dst", "h1"]),
        (lambda: Iperf3("h1", "h2", paralel=8), ["Iperf3.paralel", "8", "no such field"]),
        (lambda: Iperf3("h1", "h2", paralel=8), ["it is called parallel"]),
        (lambda: Iperf3("h1", "h2", streams=8), ["Iperf3.streams", "it is called parallel"]),
        (lambda: Iperf3("h1", "h2", duration=8), ["it is called time"]),
        (lambda: Iperf3("h1", "h2", src="h3"), ["Iperf3.src", "twice"]),
        (lambda: Iperf3("h1"), ["Iperf3.dst", "missing"]),
        (lambda: Iperf3("h1", "h2", udp=True, congestion="reno"), ["congestion", "udp"]),
        (lambda: Ping("h1", "h2", count=0), ["Ping.count", "0"]),
        (lambda: wan(loss="150%"), ["wan.loss", "150%", "0% to 100%"]),
        (lambda: wan(rate="10gbits"), ["wan.rate", "10gbits", "10gbit"]),
        (lambda: wan(delay="-5ms"), ["wan.delay", "-5ms", "20ms"]),
        (lambda: wan(delay="20"), ["wan.delay", "20", "ms"]),
        (lambda: wan(burst=100), ["burst", "100", "1514"]),
        (lambda: wan(buffers="1kb"), ["buffers", "1kb", "87380"]),
        (lambda: wan(pairs=0), ["wan.pairs", "0", "1 to 100"]),
        (lambda: Link("s1", "s1"), ["s1", "two different nodes"]),
        (lambda: Experiment(wan(), Ping("h1", "h9")), ["Ping.dst", "h9", "h1, h2, h3, h4"]),
        (lambda: Experiment(wan()), ["Experiment.traffic"]),
        (lambda: Experiment(wan(), Ping("h1", "h2"), seed=-1), ["Experiment.seed", "-1"]),
        (
            lambda: Experiment(wan(), Ping("h1", "h2"), clock="fast"),
            ["Experiment.clock", "fast", "virtual"],
        ),
        (lambda: Experiment.from_json("{}"), ["Experiment.topology", "missing"]),
        (lambda: Experiment.from_json("no json"), ["Experiment", "not JSON"]),
        (
            lambda: Experiment.from_json(
                Experiment(wan(), Ping("h1", "h2")).to_json().replace('"seed"', '"sead"')
            ),
            ["Experiment.sead"],
        ),
        (
            lambda: Experiment.from_json(
                Experiment(wan(), Iperf3("h1", "h2"))
                .to_json()
                .replace('"parallel": 1', '"parallel": 129')
            ),
            ["parallel", "129"],
        ),
    ],
)
def test_a_refusal_names_the_field_the_value_and_what_is_allowed(make, words):
    with pytest.raises(SpecificationError) as refused:
        make()
    assert all(word in str(refused.value) for word in words), str(refused.value)
    assert isinstance(refused.value, NetlabError) and isinstance(refused.value, ValueError)


@given(
    parallel=st.integers(1, 128),
    time=st.integers(1, 1000),
    seed=st.integers(0, 2**63 - 1),
    loss=st.integers(0, 100),
    congestion=st.sampled_from([None, "reno", "bbr"]),
    reverse=st.booleans(),
)
def test_json_gives_back_the_same_experiment(parallel, time, seed, loss, congestion, reverse):
    experiment = Experiment(
        wan(loss=f"{loss}%"),
        Iperf3("h1", "h2", parallel, time, congestion, reverse=reverse),
        Ping("h3", "h4"),
        seed=seed,
    )
    assert Experiment.from_json(experiment.to_json()) == experiment


def test_but_is_checked_like_a_new_one():
    experiment = Experiment(wan(), Ping("h1", "h2"))
    assert experiment.but(seed=3).seed == 3
    with pytest.raises(SpecificationError, match="seed"):
        experiment.but(seed=-3)


def test_it_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        wan().links[0].delay = "1ms"


def test_few_of_many_problems_are_told():
    described = json.loads(Experiment(wan(), Ping("h1", "h3")).to_json())
    for broken in ({"traffic": [0] * 3000}, {f"x{n}": 1 for n in range(3000)}):
        with pytest.raises(SpecificationError, match=r"and more: 300\d problems in all") as refused:
            Experiment.from_json(json.dumps(described | broken))
        assert len(str(refused.value)) < 5000
    with pytest.raises(SpecificationError) as refused:
        Experiment.from_json(json.dumps(described | {"x" * 100_000: 1}))
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("place", ["experiment", "topology", "link"])
def test_a_field_named_self_is_an_unknown_one(place):
    described = json.loads(Experiment(wan(), Ping("h1", "h3")).to_json())
    topology = described["topology"]
    {"experiment": described, "topology": topology, "link": topology["links"][0]}[place]["self"] = 1
    with pytest.raises(SpecificationError, match="self"):
        Experiment.from_json(json.dumps(described))


def test_a_description_of_enormous_length_is_not_even_looked_at():
    described = json.loads(Experiment(wan(), Ping("h1", "h2")).to_json())
    many = json.dumps(described | {"traffic": described["traffic"] * 1001})
    with pytest.raises(SpecificationError, match="1001 of them, and at most 1000"):
        Experiment.from_json(many)
    with pytest.raises(SpecificationError, match=r"has 9,000,000 characters, and 2,000,000 are"):
        Experiment.from_json("[" * 9_000_000)


def test_twice_the_problems_are_twice_the_work():
    described = json.loads(Experiment(wan(), Ping("h1", "h3")).to_json())

    def lines(n):
        text, counted = json.dumps(described | {"traffic": [0] * n}), 0

        def count(frame, event, argument):
            nonlocal counted
            counted += event in ("line", "call")
            return count

        before_it = sys.gettrace()
        sys.settrace(count)
        try:
            with pytest.raises(SpecificationError):
                Experiment.from_json(text)
        finally:
            sys.settrace(before_it)
        return counted

    assert lines(400) <= 2.2 * lines(200)


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
