"""The labs' network at any rate: its default bucket and queue fit its link, and its messages use
the caller's words.
"""

import pickle

import hypothesis
import pytest
from hypothesis import strategies as st

from netlab import Iperf3, Link, SpecificationError, Topology, run, units, wan
from netlab.topology.limits import FRAME_BYTES
from tests import first_quick, lines_run


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (dict(rate="10gbit"), "burst 5000000 limit 15000000"),
        (dict(rate="10gbit", delay=None), "burst 5000000 limit 15000000"),
        (dict(rate="1gbit", delay="0ms"), "burst 500000 limit 1500000"),
        (dict(rate="100mbit", delay="100ms"), "burst 50000 limit 750000"),
        (dict(rate="100kbit"), "burst 1514 limit 15140"),
        (dict(rate="100tbit", delay="2s"), "burst 4294967295 limit 4294967295"),
        (dict(rate="1mbit", burst=5_000_000), "burst 5000000 limit 15140"),
        (dict(rate="1mbit", limit="1mb"), "burst 1514 limit 1048576"),
    ],
)
def test_bucket_and_queue_follow_from_rate_and_delay_unless_given(link, words):
    (line,) = [command for _, command in wan(**link).setup() if " tbf " in command]
    assert line.endswith(f"tbf rate {link['rate']} {words}")


def test_any_link_has_them_and_changes_them_with_its_rate_unless_given():
    link = Link("r1", "r2", "20ms", rate="1mbit")
    assert (link.burst, link.limit) == (1514, 15_140)
    assert link.but(rate="10gbit") == wan().links[1].but(a="r1", b="r2")
    given = Link("r1", "r2", "20ms", rate="1mbit", burst=3000, limit=6000).but(rate="10gbit")
    assert (given.burst, given.limit) == (3000, 6000)


@pytest.mark.parametrize(
    "given",
    [dict(burst=5_000_000), dict(limit=15_000_000), dict(burst=5_000_000, limit="15000000")],
)
def test_a_given_value_that_is_the_computed_one_stays_given(given):
    link = Link("s1", "s2", "20ms", rate="10gbit", **given)
    for other in (link.but(rate="1gbit"), pickle.loads(pickle.dumps(link)).but(rate="1gbit")):
        assert [int(getattr(other, name)) for name in given] == [*map(int, given.values())]
    assert wan(**given).links[1].but(rate="1gbit").model_fields_set >= given.keys()
    with pytest.raises(SpecificationError, match=r"queue_packets|TCLink"):
        link.but(both=True, tclink=True) if "burst" in given else link.but(queue_packets=100)
    read = Topology.from_json(wan(**given).to_json()).links[1]  # which cannot know
    assert read == wan(**given).links[1]
    assert read.but(rate="1gbit").burst == 500_000


def test_without_a_rate_a_link_is_written_as_ever():
    assert (wan(rate=None).links[1].burst, wan(rate=None).links[1].limit) == (5_000_000, 15_000_000)
    assert '"burst": 5000000,\n   "limit": 15000000' in wan(pairs=1).to_json()


@hypothesis.given(bps=st.integers(8, 10**14), delay_us=st.integers(0, 3_000_000))
def test_the_bucket_passes_a_frame_and_little_more_and_the_queue_holds_a_window(bps, delay_us):
    link = Link("s1", "s2", units.format_delay(delay_us / 1e6), rate=units.format_rate(bps))
    assert FRAME_BYTES <= link.burst <= max(FRAME_BYTES, bps / 8 * 0.005)
    assert 10 * FRAME_BYTES <= link.limit < 2**32
    assert Link.from_json(link.to_json()) == link


@pytest.mark.parametrize(
    ("rate", "delay", "parallel", "time", "least"),
    first_quick(
        [
            ("5mbit", "20ms", 8, 10, 0.8),
            ("10mbit", None, 1, 1, 0.7),  # what waits behind a hole at the end is not counted
            ("40mbit", "100ms", 1, 10, 0.8),
            ("1gbit", "20ms", 8, 2, 0.8),
            ("500kbit", "100ms", 8, 10, 0.3),  # iperf3's server counts whole blocks of 128 KB
        ]
    ),
)
def test_live_a_link_carries_its_rate_and_no_more(rate, delay, parallel, time, least):
    test = Iperf3("h1", "h2", parallel=parallel, time=time)
    received_bps = run(wan(rate, delay, pairs=1), test).flows.received_bps.item()
    assert least < received_bps / units.rate_bps(rate) <= 1448 / 1514 + 0.004 / time


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (dict(delay=20), "wan.delay = 20: .*write '20ms'"),
        (dict(loss=1), "wan.loss = 1: .*write '1%'"),
        (dict(rate=10), "wan.rate = 10: (?!.*write '10').*as in '10gbit'"),
        (dict(loss="150%"), "wan.loss = '150%'.*0% to 100%"),
        (dict(pairs="2"), "wan.pairs = '2'.* 1 to 100"),
        (dict(pairs=0), "wan.pairs = 0.* 1 to 100"),
        (dict(dely="20ms"), "wan.dely = '20ms': there is no such field.* rate, delay, loss"),
        (dict(limit="5 MB"), "wan.limit = '5 MB'.*write '5mb'.*1024s"),
        (dict(access={"h3": 60}), "wan.access.h3 = 60.*'20ms'"),
        (dict(access="h3"), "wan.access = 'h3'"),
        (dict(buffers=1.5), "wan.buffers = 1.5.* whole"),
        (dict(offload="maybe"), "wan.offload = 'maybe'"),
        (dict(burst=100), "wan: burst = 100.* 1514"),
        (dict(sysctls={"net.ipv4.tcp_sack": 0.5}), "wan.sysctls.*tcp_sack = 0.5: "),
        (dict(delay=20, loss=1), "(?s)wan.delay = 20.*wan.loss = 1"),
    ],
)
def test_a_refusal_uses_the_callers_words_and_shows_what_is_allowed(asked, words):
    with pytest.raises(SpecificationError, match=words):
        wan(**asked)


def test_what_people_write_is_kept_as_tc_s_notation():
    said = wan("10 Gbit/s", "20\N{NO-BREAK SPACE}µs", "0.1 %", access={"h3": "60 ms"})
    assert said == wan("10gbit", "20us", "0.1%", access={"h3": "60ms"})
    assert any("netem delay 20us" in line for _, line in said.setup())


def test_four_times_the_hosts_are_about_four_times_the_work():
    assert lines_run(lambda: wan(pairs=100)) < 8 * lines_run(lambda: wan(pairs=25))
