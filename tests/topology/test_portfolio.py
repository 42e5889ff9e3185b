"""The portfolio's network: as the document has it, and as its tests find it."""

import pytest

import netlab as nl
from tests import first_quick

PAIRS = [("h1", "h4"), ("h1", "h9"), ("h7", "h9"), ("r1", "r2"), ("r2", "r3"), ("r3", "r4")]
RTTS_MS = [60, 80, 60, 20, 40, 20]
GOODPUT = 1448 / 1514  # what headers leave of a rate


@pytest.fixture(scope="module")
def network():
    return nl.portfolio()


def test_the_documents_addresses_and_queues_of_one_bandwidth_delay_product(network):
    assert len(network.hosts) == 9 and len(network.routers) == 4 and len(network.switches) == 2
    assert network.host("h1").address == "10.0.0.2/24" and network.host("h4").ip == "10.0.5.2"
    subnets = [network.host(name).ip.split(".")[2] for name in ("h3", "h7", "h8", "h6", "h9")]
    assert subnets == ["0", "2", "4", "5", "7"]
    assert network.host("r2").ip == "10.0.1.2", "r2-eth0 is its end of L1"
    for link in (link for link in network.links if link.rate):
        product_bytes = nl.units.rate_bps(link.rate) * 2 * link.delay_s / 8
        assert link.queue_packets == pytest.approx(product_bytes / 1500, abs=0.7)


def test_idle_round_trips(network):
    """Within half a millisecond: 60, 80, 60 ms between hosts, 20, 40, 20 over each link. The first
    ping also waits for ARP.
    """
    run = nl.run(network, *(nl.Ping(*pair, count=3) for pair in PAIRS))
    best_ms = run.pings.groupby("flow").rtt_s.min() * 1e3
    assert best_ms.tolist() == pytest.approx(RTTS_MS, abs=0.5)
    assert [network.rtt_s(*pair) * 1e3 for pair in PAIRS] == pytest.approx(RTTS_MS)


def test_one_flow_fills_one_link(network):
    """Within 3 % of what the headers leave of it."""
    run = nl.run(network, *(nl.Iperf3(*pair, time=25) for pair in PAIRS[3:]))
    rates_bps = [network.bottleneck_bps(*pair) * GOODPUT for pair in PAIRS[3:]]
    assert run.flows.received_bps.tolist() == pytest.approx(rates_bps, rel=0.03)


@pytest.mark.parametrize(
    ("congestion", "beta", "src", "dst"),
    first_quick([*(("reno", 0.5, *pair) for pair in PAIRS[:3]), ("cubic", 0.7, "h1", "h9")]),
)
def test_a_short_queue_costs_a_long_path_what_the_sawtooth_says(
    network, congestion, beta, src, dst
):
    """Without slow start, after which several losses come at a time."""
    run = nl.run(network, nl.Iperf3(src, dst, time=100, omit=20, congestion=congestion))
    (row,) = nl.expected(network, (src, dst)).itertuples()
    busy = nl.models.sawtooth_utilisation(row.queue_bytes, row.rate_bps, row.rtt_s, beta)
    assert run.flows.received_bps[0] == pytest.approx(busy * row.rate_bps * GOODPUT, rel=0.04)


def test_tclink_has_what_waits_and_what_is_under_way_in_one_limit():
    link = next(link for link in nl.portfolio(tclink=True).links if link.rate == "20mbit")
    assert list(link.setup("r3-eth3")) == [
        "tc qdisc add dev r3-eth3 root handle 5:0 htb default 1",
        "tc class add dev r3-eth3 parent 5:0 classid 5:1 htb rate 20.000000Mbit burst 15k",
        "tc qdisc add dev r3-eth3 parent 5:1 handle 10: netem delay 10ms limit 33",
    ]
    assert link.queue_bytes == 33 * 1514 - 25_000


@pytest.mark.long
def test_with_tclink_rtts_are_the_same_and_queues_shorter(network):
    """A ping beside a flow finds at most the queue that there is, once slow start is over: that
    fills the queues of L1 and L2, too.
    """
    worst_ms = {}
    for name, one in (("netlab", network), ("Mininet", nl.portfolio(tclink=True))):
        run = nl.run(
            one,
            nl.Iperf3("h1", "h9", time=20),
            nl.Ping("h1", "h9", count=400, interval=0.05),
            seed=2,
        )
        worst_ms[name] = run.pings.rtt_s[run.pings.seq > 100].max() * 1e3
        assert run.pings.rtt_s.min() * 1e3 == pytest.approx(80, abs=0.5)
    assert 85 < worst_ms["Mininet"] < 80 + 24_962 * 8 / 20e3 + 1.5
    assert 95 < worst_ms["netlab"] < 80 + 49_962 * 8 / 20e3 + 1.5
    assert worst_ms["netlab"] > worst_ms["Mininet"] + 5


@pytest.mark.parametrize("more", [{"limit": 50_000}, {"burst": 50_000}, {"qdisc": "fq_codel"}])
def test_a_tclink_is_what_mininet_has(more):
    for fields in ({"rate": "20mbit"}, {"both": True}, {"rate": "20mbit", "both": True, **more}):
        with pytest.raises(nl.SpecificationError, match="tclink"):
            nl.Link("h1", "h2", tclink=True, **fields)


def test_noise_has_no_place_on_a_tclink():
    ends = nl.Host("h1", "10.0.0.1/8", noise="10us"), nl.Host("h2", "10.0.0.2/8")
    link = nl.Link("h1", "h2", rate="20mbit", both=True, tclink=True)
    with pytest.raises(nl.SpecificationError, match="noise of host 'h1' and tclink"):
        nl.Topology(ends, links=[link])
    assert nl.portfolio(tclink=True, noise="10us"), "no host is on L1, L2 or L3"


@pytest.mark.parametrize("tclink", [False, True])
def test_what_comes_back_from_json_is_the_same_and_is_changed_in_the_same_way(tclink):
    """Its bucket was not given, so that it follows another rate."""
    network = nl.portfolio(tclink=tclink)
    again = nl.Topology.from_json(network.to_json())
    assert again == network and again.to_json() == network.to_json()
    for one, other in zip(network.links, again.links, strict=True):
        if one.rate:
            assert one.but(rate="100mbit") == other.but(rate="100mbit")
            assert other.but(rate="100mbit").burst == 50_000
