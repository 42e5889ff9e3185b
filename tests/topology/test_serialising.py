"""A link that serialises: a frame takes its length divided by the rate to arrive."""

import pytest

import netlab as nl
from netlab.topology.picture import alt_text, svg
from netlab.topology.retyping import retyped

HEADERS = 42  # of ICMP, IP and Ethernet
FRAME = 1514
ROUNDED_S = 60e-6  # ping prints three digits, and programs cost a microsecond per call


def wire(rate="10mbit", delay="20ms", **fields):
    return nl.wan(rate, delay, pairs=1, serialise=True, **fields)


def pinged(topology, *sizes, **fields):
    """The round-trip times of pings of each size, without the first, which waits for ARP. [s]"""
    pings = [nl.Ping("h1", "h2", count=3, interval=0.5, size=size, **fields) for size in sizes]
    found = nl.run(topology, *pings, engine="guest").pings.query("seq > 1")
    return found.groupby("flow").rtt_s.min().tolist()


@pytest.mark.parametrize("offload", [True, False])
def test_a_longer_frame_takes_longer_on_a_line_and_not_through_a_bucket(offload):
    sizes = (56, 500, 1458, 1472)
    on_line = pinged(wire(offload=offload), *sizes)
    for rtt_s, size in zip(on_line, sizes, strict=True):
        assert rtt_s == pytest.approx(0.020 + (size + HEADERS) * 8 / 10e6, abs=ROUNDED_S)
    bucket = pinged(nl.wan("10mbit", "20ms", pairs=1, offload=offload), *sizes)
    assert bucket == pytest.approx([0.020] * 4, abs=ROUNDED_S)


def test_1500_bytes_more_take_1200_microseconds_more():
    short, long = pinged(wire(), 16, 1472)
    assert long - short == pytest.approx((1472 - 16) * 8 / 10e6, abs=2 * ROUNDED_S)
    (plain,) = pinged(nl.wan(None, "20ms", pairs=1), 1472)
    assert long - plain == pytest.approx(FRAME * 8 / 10e6, abs=ROUNDED_S)  # 1.2 ms


def test_what_is_sent_at_once_arrives_one_after_another():
    with nl.Network(wire(), engine="guest") as net:
        net.run("h1", "ping -c 1 10.0.0.2", echo=False)
        pings = net.run("h1", "ping -c 6 -l 6 -s 1472 10.0.0.2", echo=False).read().pings
    expected_s = [0.020 + n * FRAME * 8 / 10e6 for n in range(1, 6)]  # the sixth waits a second
    assert pings.rtt_s[:5].tolist() == pytest.approx(expected_s, abs=ROUNDED_S)


def test_both_ways_count_twice():
    hosts = nl.Host("h1", "10.0.0.1/8"), nl.Host("h2", "10.0.0.2/8")
    link = nl.Link("h1", "h2", rate="1mbit", delay="5ms", both=True, serialise=True)
    (rtt_s,) = pinged(nl.Topology(hosts, links=[link]), 958)
    assert rtt_s == pytest.approx(2 * (0.005 + 0.008), abs=ROUNDED_S)


@pytest.mark.parametrize(
    "fields",
    [
        *({}, {"offload": False}, {"delay": None}, {"noise": "100us"}, {"host_qdisc": "fq"}),
        *({"qdisc": text} for text in ("fq_codel", "codel", "pie", "pfifo limit 100", "cake")),
    ],
)
def test_the_line_is_as_fast_as_the_bucket(fields):
    """The payload of a segment of 1448 bytes has 1448/1514 of the line.

    iperf3's receiver counts whole blocks of 128 KiB, of which one more or less is 0.5 % here.
    """
    run = nl.run(wire(**fields), nl.Iperf3("h1", "h2", time=20, omit=3), engine="guest")
    assert run.flows.received_bps.item() == pytest.approx(10e6 * 1448 / 1514, rel=0.02)


def test_the_queue_is_before_the_line_and_no_longer_than_asked():
    topology = wire(limit=30_280)
    traffic = nl.Iperf3("h1", "h2", time=5), nl.Queue("s1", "s2"), nl.Ping("h1", "h2", count=5)
    run = nl.run(topology, *traffic, engine="guest")
    assert run.queues.backlog_bytes.max() <= 30_280
    most_s = 0.020 + (30_280 + 2 * FRAME) * 8 / 10e6
    assert run.pings.query("seq > 1").rtt_s.max() <= most_s


def test_losses_are_of_single_segments_and_the_line_has_them():
    run = nl.run(wire("100mbit", loss="1%"), nl.Ping("h1", "h2", 2000, 0.1), engine="guest")
    assert run.pings.rtt_s.isna().sum() == pytest.approx(20, abs=16)  # 3.6 standard deviations


def test_a_change_is_one_of_the_queue_and_of_the_line():
    change = nl.Change("s1", "s2", at="2s", rate="5mbit", delay="30ms")
    ping = nl.Ping("h1", "h2", count=20, interval=0.2, size=1458)
    pings = nl.run(wire(), ping, change, engine="guest").pings
    assert pings.rtt_s[5] == pytest.approx(0.020 + 0.0012, abs=ROUNDED_S)
    assert pings.rtt_s.iloc[-1] == pytest.approx(0.030 + 0.0024, abs=ROUNDED_S)


def test_another_discipline_leaves_the_line():
    topology = wire()
    link = topology.link_to("s1", "s2")
    line = retyped(topology, link, link, link.but(qdisc="fq_codel"))["s1"]
    assert "s1-eth2 root" in line and "s2-eth1" not in line


def test_it_needs_a_rate_and_is_no_tclink():
    with pytest.raises(nl.SpecificationError, match="it needs a rate"):
        nl.Link("a", "b", serialise=True)
    with pytest.raises(nl.SpecificationError, match="leave one of them out"):
        nl.Link("a", "b", rate="10mbit", both=True, tclink=True, serialise=True)


def test_links_without_it_read_and_write_the_same_text():
    assert "serialise" not in nl.wan("10mbit").to_json()
    assert nl.Topology.from_json(wire().to_json()) == wire()


def test_the_picture_says_it():
    assert "serialised" in svg(wire())
    assert "10 Mbit/s, serialised, 20 ms" in alt_text(wire())
    assert "serialised" not in alt_text(nl.wan("10mbit"))
