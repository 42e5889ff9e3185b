import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import Link, Ping, ReadError, SpecificationError, run, units
from netlab.topology.miniedit import read_miniedit
from netlab.topology.nodes import Router

FILES = Path(__file__).parents[1] / "data" / "miniedit"
LAB = json.loads((FILES / "lab.mn").read_text())


@pytest.fixture
def read(tmp_path):
    """Read a network from what MiniEdit would have saved."""

    def read(saved):
        file = tmp_path / "net.mn"
        file.write_text(saved if isinstance(saved, str) else json.dumps(saved))
        return read_miniedit(file)

    return read


def changed(place, saved="lab", **changes):
    """A file with some entries changed at one place, such as ``"hosts.0.opts"``."""
    saved = json.loads((FILES / f"{saved}.mn").read_text())
    table = saved
    for key in filter(None, place.split(".")):
        table = table[int(key) if key.isdecimal() else key]
    table.update(changes)
    return saved


def test_the_labs_network_is_read_as_it_was_drawn():
    network = read_miniedit(str(FILES / "lab.mn"))
    assert [(host.name, host.address) for host in network.hosts] == [
        (f"h{n}", f"10.0.0.{n}/8") for n in (1, 2, 3, 4)
    ]
    assert sorted(network.node_names) == ["h1", "h2", "h3", "h4", "s1", "s2"]
    assert [(link.a, link.b) for link in network.links][:3] == [
        ("h1", "s1"),
        ("s1", "s2"),
        ("s2", "h2"),
    ]
    assert network.links[0] == Link("h1", "s1")
    assert network.links[1] == Link(
        "s1", "s2", "10ms", rate="100mbit", burst="15kb", limit=1_514_000, both=True
    )
    assert network.rtt_s("h1", "h2") == 0.02 and network.bottleneck_bps("h2", "h1") == 100e6


def test_version_1_has_fewer_fields():
    network = read_miniedit(FILES / "version1.mn")
    assert [host.name for host in network.hosts] == ["h1", "h2", "h3"] and network.switches[
        0
    ].name == "s1"
    assert network.hosts[2].address == "192.168.7.3/8", (
        "Mininet's prefix length is 8 whatever the base says"
    )
    assert network.links[0].delay == "500us", "tc reads a number without a unit as microseconds"
    assert network.links[1].loss == "2%" and network.links[1].both


def test_routers_get_the_addresses_that_the_hosts_route_to():
    network = read_miniedit(FILES / "router.mn")
    assert network.routers == (
        Router("r2", ["10.0.1.1/24", "192.168.1.1/30"]),
        Router("r3", ["192.168.1.2/30", "10.0.2.1/24"]),
    )
    assert network.links[3].queue_packets == 33 and network.rtt_s("h1", "h3") == 0.01


def test_a_subnet_between_routers_is_one_that_the_file_does_not_use(read):
    saved = changed("hosts.2.opts", "router", ip="192.168.1.10/24", defaultRoute="192.168.1.1")
    assert [router.addresses[n] for router, n in zip(read(saved).routers, (1, 0), strict=True)] == [
        "192.168.2.1/30",
        "192.168.2.2/30",
    ]


def test_hosts_may_have_names_and_addresses_of_their_own(read):
    saved = json.loads(json.dumps(LAB).replace('"h2"', '"alice"'))
    saved["hosts"][0]["opts"]["ip"] = "10.1.2.3"
    network = read(saved)
    assert network.host("alice").address == "10.1.2.3/8" and network.path("h1", "alice")


@given(
    bw=st.integers(1, 100_000) | st.floats(0.001, 100_000),
    delay_us=st.integers(0, 1_500_000),
    loss=st.integers(0, 100) | st.floats(0, 100),
    packets=st.none() | st.integers(1, 100_000),
)
def test_rates_delays_and_losses_survive(tmp_path_factory, bw, delay_us, loss, packets):
    file = tmp_path_factory.getbasetemp() / "any.mn"
    opts = {"bw": bw, "delay": units.format_delay(delay_us / 1e6), "loss": loss}
    file.write_text(
        json.dumps(changed("links.1", opts=opts | ({"max_queue_size": packets} if packets else {})))
    )
    link = read_miniedit(file).links[1]
    assert units.rate_bps(link.rate) == pytest.approx(bw * 1e6) and link.delay_s == pytest.approx(
        delay_us / 1e6
    )
    assert units.fraction(link.loss) == pytest.approx(loss / 100) and link.queue_packets == packets
    assert link.queue_bytes == (packets or 1000) * 1514


@pytest.mark.parametrize(
    ("place", "change", "words"),
    [
        (
            "hosts.0.opts",
            {"startCommand": "iperf3 -s"},
            "startCommand = 'iperf3 -s' of host h2 is not supported: give commands",
        ),
        ("hosts.0.opts", {"stopCommand": "rm x"}, "stopCommand = 'rm x' of host h2"),
        ("hosts.0.opts", {"vlanInterfaces": [["10.0.0.9", "5"]]}, "vlanInterfaces = .* of host h2"),
        ("hosts.0.opts", {"externalInterfaces": ["eth1"]}, "externalInterfaces = .* of host h2"),
        ("hosts.0.opts", {"privateDirectory": ["/tmp"]}, "privateDirectory = .* of host h2"),
        (
            "hosts.0.opts",
            {"cpu": 0.5},
            "cpu = 0.5 of host h2 is not supported: netlab does not limit",
        ),
        ("hosts.0.opts", {"cores": "0"}, "cores = '0' of host h2"),
        ("hosts.0.opts", {"sched": "cfs"}, "sched = 'cfs' of host h2"),
        (
            "hosts.0.opts",
            {"mac": "00:00:00:00:00:01"},
            "mac = .* of host h2 is not supported: MiniEdit has no such option",
        ),
        ("hosts.0.opts", {"ip": "10.0.0"}, "Host.address = '10.0.0/8': an IPv4 address"),
        ("hosts.0.opts", {"hostname": "Alice"}, "Host.name = 'Alice'"),
        (
            "hosts.0.opts",
            {"defaultRoute": "10.0.0.254"},
            "route = '10.0.0.254' of host 'h2': .* there is none",
        ),
        ("hosts.0", {"z": "3"}, "z = '3' of host h2"),
        ("switches.0.opts", {"switchType": "user"}, "switchType = 'user' of switch s2"),
        ("switches.0.opts", {"switchIP": "10.0.0.99"}, "switchIP = '10.0.0.99' of switch s2"),
        ("switches.0.opts", {"dpctl": "6634"}, "dpctl = '6634' of switch s2"),
        ("switches.0.opts", {"netflow": "1"}, "netflow = '1' of switch s2"),
        ("switches.0.opts", {"sflow": "1"}, "sflow = '1' of switch s2"),
        ("switches.0.opts", {"startCommand": "true"}, "startCommand = 'true' of switch s2"),
        (
            "controllers.0.opts",
            {"controllerType": "remote"},
            "controllerType = 'remote' of controller c0 .* MiniEdit's own",
        ),
        (
            "controllers.0.opts",
            {"controllerType": "inband"},
            "controllerType = 'inband' of controller c0",
        ),
        ("links.1.opts", {"jitter": "1ms"}, "jitter = '1ms' of link s1-s2"),
        ("links.1.opts", {"speedup": 10}, "speedup = 10 of link s1-s2"),
        ("links.1.opts", {"use_red": True}, "use_red = True of link s1-s2"),
        ("links.1.opts", {"bw": "fast"}, "bw = 'fast' of link s1-s2: a number"),
        ("links.1.opts", {"bw": 0}, "link s1-s2: Link.rate = '0mbit'"),
        ("links.1.opts", {"loss": 101}, "link s1-s2: Link.loss = '101%'"),
        ("links.1.opts", {"delay": "10 ms"}, "link s1-s2: Link.delay = '10 ms'"),
        ("links.1.opts", {"max_queue_size": 0}, "link s1-s2: Link.queue_packets = '0'"),
        ("links.1", {"dest": "s9"}, "'s9', which is not a node"),
        ("application", {"dpctl": "6634"}, "dpctl = '6634' of the preferences"),
        ("application", {"switchType": "ivs"}, "switchType = 'ivs' of the preferences"),
        (
            "application.netflow",
            {"nflowTarget": "10.0.0.9:9"},
            "nflowTarget = '10.0.0.9:9' of the preferences",
        ),
        (
            "application.sflow",
            {"sflowTarget": "10.0.0.9:9"},
            "sflowTarget = '10.0.0.9:9' of the preferences",
        ),
        ("application", {"ipBase": "ten"}, "ipBase = 'ten': a subnet"),
        ("", {"queues": []}, None),
        ("", {"queues": [1]}, r"queues = \[1\] of the file is not supported"),
    ],
)
def test_what_netlab_would_have_to_ignore_is_refused_by_name(read, place, change, words):
    if words is None:
        assert read(changed(place, **change)) == read_miniedit(FILES / "lab.mn"), (
            "an empty option asks for nothing"
        )
        return
    with pytest.raises(SpecificationError, match=f"net.mn: .*{words}"):
        read(changed(place, **change))


@pytest.mark.parametrize(
    ("place", "change", "words"),
    [
        (
            "hosts.1.opts",
            {"defaultRoute": ""},
            "host h2 lacks a defaultRoute: the address of router r2",
        ),
        (
            "hosts.1.opts",
            {"defaultRoute": "10.0.1.2"},
            "defaultRoute = '10.0.1.2' of host h2, but '10.0.1.1' of host h1",
        ),
        (
            "hosts.2.opts",
            {"ip": "10.0.2.10"},
            "have a router in between: their subnets must not overlap.* longer prefixes",
        ),
        (
            "links.5",
            {"src": "s1"},
            (
                "10.0.2.1. of host h3, but .10.0.1.1. of host h1: both must be the address of"
                " router r2"
            ),
        ),
        (
            "links.4",
            {"src": "s1", "dest": "r3"},
            "routers r2 and r3 are joined to the same hosts .h1, h2.",
        ),
    ],
)
def test_routers_whose_addresses_do_not_follow_are_refused(read, place, change, words):
    with pytest.raises(SpecificationError, match=words):
        read(changed(place, "router", **change))


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        ("# not JSON", "as it is not JSON: Expecting value"),
        ("[]", "it has no 'version'"),
        ('{"version": "3"}', "its version is '3'"),
        ('{"version": "2", "switches": [], "links": []}', "it has no 'hosts'"),
        (changed("hosts.0", number="two"), "the number of a host is 'two'"),
        (changed("hosts.0", opts=[]), "host 2 has no 'opts'"),
        (changed("links.0", src=1), "a link has no 'src'"),
        (changed("", application=[]), "it has no 'application'"),
    ],
)
def test_what_is_no_miniedit_file_is_refused_and_kept(read, saved, words):
    with pytest.raises(ReadError, match=words) as caught:
        read(saved)
    assert caught.value.raw == (saved if isinstance(saved, str) else json.dumps(saved))


def test_a_file_that_is_not_there_is_pythons_own_error():
    with pytest.raises(FileNotFoundError):
        read_miniedit("nowhere.mn")


def test_live_the_labs_network_has_twice_its_delay_as_round_trip_time():
    pings = run(read_miniedit(FILES / "lab.mn"), Ping("h1", "h2")).pings
    assert pings.rtt_s.tolist()[1:] == pytest.approx([0.02] * 3, abs=1e-4)


def test_live_legacy_routers_route():
    network = read_miniedit(FILES / "router.mn")
    assert run(network, Ping("h2", "h3")).pings.rtt_s.tolist()[1:] == pytest.approx(
        [0.01] * 3, abs=1e-4
    )
