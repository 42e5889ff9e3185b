"""The search ends where the formula in its docstring says, in both directions, and says so where
there is nothing to find.
"""

import math

import pytest

import netlab as nl
from netlab.running.loss_onset import search

CARRIES = 1470 / 1512  # of a link's rate, in datagrams of 1470 bytes
LIMIT_BYTES, BURST_BYTES = 400_000, 3000


def both_ways():
    """4 Mbit/s from h1 to h2, 1 Mbit/s back."""
    there, back = (
        nl.Link(a, b, rate=rate, delay="5ms", burst=BURST_BYTES, limit=20_000)
        for a, b, rate in (("s1", "s2", "4mbit"), ("s3", "s2", "1mbit"))
    )
    return nl.Topology(
        hosts=[nl.Host("h1", "10.0.0.1/24"), nl.Host("h2", "10.0.0.2/24")],
        switches=[nl.Switch(name) for name in ("s1", "s2", "s3")],
        links=[nl.Link("h1", "s1"), there, back, nl.Link("s3", "h2")],
    )


def ends_at(rate_bps, queue_bytes, time_s, loss=0.001):
    """The formula."""
    return (rate_bps + 8 * queue_bytes / time_s) * CARRIES / (1 - loss)


@pytest.fixture(scope="module")
def steps():
    return nl.loss_onset(both_ways(), "h1", "h2", time=3, precision=0.05)


def test_each_direction_has_its_own_onset_and_it_is_the_formulas(steps):
    onset = steps.attrs["onset_bps"]
    assert list(onset) == ["h1 → h2", "h2 → h1"]
    for direction, rate_bps in zip(onset, (4e6, 1e6), strict=True):
        low, high = onset[direction]
        assert high / low < 1.0501
        assert low * 0.995 < ends_at(rate_bps, 20_000 + BURST_BYTES, 3) < high * 1.005


def test_rates_are_doubled_and_then_the_gap_is_halved(steps):
    there = steps[steps.src == "h1"]
    assert there.step.tolist() == list(range(1, len(there) + 1))
    rates = there.offered_bps / 1e6
    assert rates[:6].tolist() == pytest.approx([1, 2, 4, 3, 3.5, 3.75], rel=0.01)
    assert (there.too_much == (there.loss > 0.001)).all()


def test_latency_tells_what_the_queue_hides_and_the_received_rate_is_the_links(steps):
    lossy, carried = steps[steps.too_much], steps[~steps.too_much]
    assert (steps.rtt_idle_s - 0.010).abs().max() < 1e-3
    # a full queue is what it holds over the link's rate
    for direction, rate_bps in (("h1 → h2", 4e6), ("h2 → h1", 1e6)):
        own = lossy[lossy.direction == direction]
        full_s = 8 * 20_000 / rate_bps
        assert own.rtt_max_s.max() == pytest.approx(0.010 + full_s, rel=0.1)
    below = carried[carried.offered_bps < 0.9 * carried.groupby("src").offered_bps.transform("max")]
    assert (below.rtt_max_s - 0.010).max() < 0.015
    rates = lossy.src.map({"h1": 4e6, "h2": 1e6}) * CARRIES
    assert (lossy.received_bps / rates - 1).abs().max() < 0.02


@pytest.mark.long
def test_a_longer_test_hides_less():
    deep = nl.wan("4mbit", "10ms", pairs=1, limit=LIMIT_BYTES, burst=BURST_BYTES)
    found = {}
    for time in (4, 16):
        steps = nl.loss_onset(deep, "h1", "h2", start="4mbit", time=time, precision=0.06)
        low, high = found[time] = steps.attrs["onset_bps"]["h1 → h2"]
        assert low * 0.995 < ends_at(4e6, LIMIT_BYTES + BURST_BYTES, time) < high * 1.005
    assert found[16][1] < found[4][0], "4.09 and 4.68 Mbit/s"


def test_a_start_that_loses_is_halved_and_a_direction_without_a_rate_has_no_onset():
    path = nl.wan("1mbit", "10ms", pairs=1)
    steps = nl.loss_onset(path, "h1", "h2", start="4mbit", time=1, precision=0.5)
    assert (steps.offered_bps / 1e6).tolist()[:3] == pytest.approx([4, 2, 1], rel=0.02)
    low, high = steps.attrs["onset_bps"]["h1 → h2"]
    assert low < high <= 1.5 * low
    assert set(steps.direction) == {"h1 → h2"}
    assert steps.attrs["onset_bps"]["h2 → h1"] == (math.inf, math.inf)


@pytest.mark.long
def test_a_path_that_loses_at_random_has_no_onset():
    lossy = nl.wan("10mbit", "10ms", "5%", pairs=1)
    with pytest.raises(nl.NetlabError, match="no ping waited in a queue: the path loses at random"):
        nl.loss_onset(lossy, "h1", "h2", time=1)
    found = nl.loss_onset(lossy, "h1", "h2", start="6mbit", time=1, loss=0.1, precision=0.3)
    low, high = found.attrs["onset_bps"]["h1 → h2"]
    assert low < ends_at(10e6, 40_000, 1, 0.1) and high > 10e6 * CARRIES


@pytest.mark.parametrize("limit_bps", [0.3e6, 1e6, 29.2e6])
def test_the_search_finds_any_limit(limit_bps):
    asked = []

    def step(rate_bps):
        asked.append(rate_bps)
        return rate_bps > limit_bps

    search(step, 1e6, 0.01, "h1 → h2")
    low, high = (f(x for x in asked if (x > limit_bps) == (f is min)) for f in (max, min))
    assert low <= limit_bps < high <= 1.01 * low
    assert len(asked) == len(set(asked)), "no rate is tried twice"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        *(
            ({"precision": value}, f"loss_onset.precision = {value!r}")
            for value in (0, 1e-17, "2%")
        ),
        *(({"loss": value}, f"loss_onset.loss = {value!r}") for value in ("1%", 1)),
        ({"start": "1bit"}, "loss_onset.start = '1bit': fewer than 10 datagrams"),
        ({"time": 0}, "loss_onset.time = 0"),
        ({"start": "fast"}, "loss_onset.start = 'fast': 'fast' is not a rate"),
        ({"src": "h9"}, "loss_onset.src = 'h9': this network's hosts are h1"),
        ({"length": 10}, "Iperf.length = 10"),
        ({"topology": nl.wan(rate=None)}, "has a rate"),
    ],
)
def test_what_is_refused_before_anything_starts(fields, message):
    with pytest.raises(nl.SpecificationError, match=message):
        nl.loss_onset(**{"topology": nl.wan("1mbit"), "src": "h1", "dst": "h2"} | fields)
