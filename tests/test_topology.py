import pytest

from netlab import Host, Link, SpecificationError, Switch, Topology, wan


def test_the_wan_is_set_up_with_the_labs_lines():
    assert [f"{node} {command}" for node, command in wan().setup() if command.startswith("tc")] == [
        "s1 tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms limit 1000000",
        "s1 tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 10gbit burst 5000000 limit 15000000",
    ]


def test_loss_and_delay_are_netems_and_either_may_be_missing():
    def netem(**link):
        return [command for _, command in wan(**link).setup() if " netem " in command]

    assert "netem delay 20ms loss 1% limit" in netem(loss="1%")[0]
    assert "netem loss 1% limit" in netem(delay=None, loss="1%")[0]
    assert netem(delay=None) == []
    assert next(command for _, command in wan(delay=None).setup() if "tbf" in command).split()[5:7] == ["root", "handle"]


@pytest.mark.parametrize(
    ("loss", "offload", "on"), [("0%", None, True), ("1%", None, False), ("1%", True, True), ("0%", False, False)]
)
def test_offload_is_off_where_segments_are_lost_unless_asked_for(loss, offload, on):
    network = wan(loss=loss, offload=offload)
    assert network.offloading is on
    assert any("ethtool -K h1-eth0 tso off gso off gro off" in command for _, command in network.setup()) is not on


def test_buffers_set_both_maxima_on_every_host():
    lines = [(node, command) for node, command in wan(buffers=52_428_800).setup() if "mem" in command]
    assert [node for node, _ in lines] == ["h1", "h1", "h2", "h2", "h3", "h3", "h4", "h4"]
    assert lines[0][1] == "sysctl -w net.ipv4.tcp_rmem='10240 87380 52428800'"


def test_delay_is_one_way_so_it_is_the_round_trip_time():
    network = wan(delay="20ms")
    assert network.rtt_s("h1", "h2") == network.rtt_s("h2", "h1") == 0.02
    assert network.rtt_s("h1", "h3") == 0
    assert network.bottleneck_bps("h1", "h2") == 10e9
    assert network.bottleneck_bps("h2", "h1") == float("inf")


def test_interfaces_are_numbered_in_the_order_of_links():
    network = wan()
    assert [network.interface(link, link.a) for link in network.links] == [
        "h1-eth0",
        "s1-eth2",
        "s2-eth2",
        "h3-eth0",
        "s2-eth3",
    ]


def test_a_link_is_checked_between_hosts_it_joins():
    network = wan()
    start, end, path = network.across(network.links[1])
    assert (start.name, end.name) == ("h1", "h2") and network.links[1] in path


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"hosts": [Host("h1", "10.0.0.1/8"), Host("h1", "10.0.0.2/8")]}, "'h1' is used 2 times"),
        ({"hosts": [Host("h1", "10.0.0.1/8")], "links": [Link("h1", "s9")]}, "'s9', which is not a node"),
        ({"hosts": [Host("h1", "10.0.0.1/8")], "switches": [Switch("s1")]}, "no path from 'h1' to 's1'"),
        (
            {
                "hosts": [Host("h1", "10.0.0.1/8")],
                "switches": [Switch("s1"), Switch("s2")],
                "links": [Link("h1", "s1"), Link("s1", "s2"), Link("s2", "h1")],
            },
            "loop",
        ),
    ],
)
def test_a_network_that_cannot_be_is_refused(parts, words):
    with pytest.raises(SpecificationError, match=words):
        Topology(**parts)
