import json
import os
import random
import warnings
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlab import Link, NetlabError, Network, Ping, ReadError, SpecificationError, run, units
from netlab.readers import read_ping
from netlab.topology.miniedit import read_miniedit
from netlab.topology.miniedit.file import Node
from netlab.topology.miniedit.names import names
from netlab.topology.nodes import Host, Router, Switch

FILES = Path(__file__).parents[1] / "data" / "miniedit"
LAB = json.loads((FILES / "lab.mn").read_text())
LAB_NETWORK = read_miniedit(FILES / "lab.mn")
ALONE = [{"src": a, "dest": b, "opts": {}} for a, b in [("h3", "s1"), ("h4", "s2"), ("s1", "s2")]]


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
    with pytest.warns(UserWarning, match="delay = '500' of link h1-s1 has no unit") as told:
        network = read_miniedit(FILES / "version1.mn")
    assert len(told) == 1 and "500us" in str(told[0].message)
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
        ("hosts.0.opts", {"vlanInterfaces": [["10.0.0.9", "5"]]}, "vlanInterfaces = .* of host h2"),
        ("hosts.0.opts", {"externalInterfaces": ["eth1"]}, "externalInterfaces = .* of host h2"),
        ("switches.0.opts", {"externalInterfaces": ["eth1"]}, "externalInterfaces .* switch s2"),
        ("hosts.0.opts", {"cpu": 0.5}, "cpu = 0.5 of host h2 is not supported: .* delete the"),
        ("hosts.0.opts", {"ip": "10.0.0"}, "host h2: Host.address = '10.0.0/8': an IPv4 address"),
        ("hosts.0.opts", {"nodeNum": 2**24}, "host h2: its number is 16777216, and ipBase"),
        ("hosts.0.opts", {"nodeNum": 1}, "host h1: h2 has its address, 10.0.0.1, too"),
        ("links.1.opts", {"jitter": "1ms"}, "jitter = '1ms' of link s1-s2"),
        ("links.1.opts", {"speedup": 10}, "speedup = 10 of link s1-s2"),
        ("links.1.opts", {"enable_red": True}, "enable_red = True of link s1-s2"),
        ("links.1.opts", {"up": False}, "up = False of link s1-s2 is not supported"),
        ("links.1.opts", {"bw": "fast"}, "link s1-s2: bw = 'fast': write a number"),
        ("links.1.opts", {"bw": "1e999999999"}, "link s1-s2: bw = '1e999999999': write a number"),
        ("links.1.opts", {"bw": float("nan")}, "link s1-s2: bw = 'nan': write a number"),
        ("links.1.opts", {"bw": 0}, "link s1-s2: Link.rate = '0mbit'"),
        ("links.1.opts", {"loss": 101}, "link s1-s2: Link.loss = '101%'"),
        ("links.1.opts", {"delay": "10 ms"}, "link s1-s2: Link.delay = '10 ms'"),
        ("links.1.opts", {"max_queue_size": 0}, "link s1-s2: Link.queue_packets = '0'"),
        ("links.1", {"dest": "s9"}, "link s1-s9 ends at s9, which is not a node"),
        ("links.1", {"dest": "s1"}, "link s1-s1 joins a node with itself"),
        ("", {"links": [{"src": "h1", "dest": "h2", "opts": {}}, *ALONE]}, "no link joins these"),
        ("hosts.0.opts", {"hostname": "s1"}, "the name s1 is used 2 times"),
        ("application", {"ipBase": "ten"}, "ipBase = 'ten': a subnet"),
        ("", {"links": []}, "no host has a link: draw some"),
    ],
)
def test_what_would_make_it_another_network_is_refused_by_name(read, place, change, words):
    with pytest.raises(SpecificationError, match=f"net.mn (.|\n)*{words}"):
        read(changed(place, **change))


def test_parts_that_no_link_joins_stay_apart(read):
    saved = json.loads((FILES / "lab.mn").read_text())
    saved["links"] = [
        link for link in saved["links"] if {link["src"], link["dest"]} != {"s1", "s2"}
    ]
    with pytest.warns(
        UserWarning, match=r"no link joins these parts: h1, h3, s1; h2, h4, s2"
    ) as told:
        network = read(saved)
    assert len(told) == 1 and network.links[-1] == Link("s1", "s2", loss="100%", both=True)
    assert network.offloading, "as it would be in each part alone"
    with Network(network) as net:
        near = net.run("h1", "ping -c 1 10.0.0.3", echo=False).text
        far = net.run("h1", "ping -c 1 -W 1 10.0.0.2", echo=False).text
    assert read_ping(near).meta["received"] == 1 and read_ping(far).meta["received"] == 0


def test_all_reasons_are_told_at_once_a_line_for_each(read):
    saved = changed("links.1.opts", bw="fast", jitter="1ms")
    saved["links"] += [dict(saved["links"][0], dest="s2"), dict(saved["links"][0], dest="s9")]
    saved["hosts"][0]["opts"] |= {"ip": "300.0.0.1", "cpu": 0.5}
    saved["hosts"][2]["opts"]["vlanInterfaces"] = [["10.0.0.9", "5"]]
    with pytest.raises(SpecificationError) as caught:
        read(saved)
    reasons = str(caught.value).splitlines()[1:]
    for words in ("h1-s9 ends", "cpu", "vlanInterfaces", "jitter", "bw = 'fast'", "300.0.0.1"):
        assert len([reason for reason in reasons if words in reason]) == 1, words
    saved["links"].pop()
    with pytest.raises(SpecificationError, match=r"host h1 has 2 links \(h1-s1, h1-s2\)") as caught:
        read(saved)
    assert len(str(caught.value).splitlines()) == len(reasons) + 1
    saved["links"].pop()  # as the message advises, and so on
    del saved["links"][1]["opts"]["jitter"], saved["hosts"][0]["opts"]["cpu"]
    del saved["hosts"][2]["opts"]["vlanInterfaces"]
    saved["links"][1]["opts"]["bw"], saved["hosts"][0]["opts"]["ip"] = 100, "10.0.0.2"
    assert read(saved) == LAB_NETWORK


@pytest.mark.parametrize(
    ("place", "change", "words"),
    [
        (
            "hosts.0.opts",
            {"startCommand": "iperf3 -s"},
            "startCommand = 'iperf3 -s' of host h2: .*",
        ),
        ("hosts.0.opts", {"stopCommand": "rm x"}, "stopCommand = 'rm x' of host h2: not run"),
        ("hosts.0.opts", {"privateDirectory": ["/tmp"]}, "privateDirectory = .* of host h2"),
        ("hosts.0.opts", {"cores": "1"}, "cores = '1' of host h2"),
        ("hosts.0.opts", {"dimage": "alpine"}, "dimage = 'alpine' of host h2: MiniEdit does noth"),
        ("hosts.0.opts", {"defaultRoute": "10.0.0.254"}, "defaultRoute of h2: there is no router"),
        ("switches.0.opts", {"switchType": "user"}, "switchType = 'user' of switch s2"),
        ("switches.0.opts", {"switchIP": "10.0.0.99"}, "switchIP = '10.0.0.99' of switch s2"),
        ("switches.0.opts", {"dpctl": "6634"}, "dpctl = '6634' of switch s2"),
        ("switches.0.opts", {"netflow": "1"}, "netflow = '1' of switch s2"),
        ("switches.0.opts", {"sflow": "1"}, "sflow = '1' of switch s2"),
        ("switches.0.opts", {"startCommand": "true"}, "startCommand = 'true' of switch s2"),
        ("controllers.0.opts", {"controllerType": "remote"}, "controllerType = 'remote' of contr"),
        ("controllers.0.opts", {"controllerType": "inband"}, "controllerType = 'inband' of contr"),
        ("links.1.opts", {"port1": 7}, "port1 = 7 of link s1-s2: here interfaces are numbered"),
        ("links.1.opts", {"cost": 5}, "cost = 5 of link s1-s2: MiniEdit does nothing with it"),
        ("application", {"dpctl": "6634"}, "dpctl = '6634' of preferences"),
        ("application", {"switchType": "ivs"}, "switchType = 'ivs' of preferences"),
        ("application", {"terminalType": "gterm"}, "terminalType = 'gterm' of preferences"),
        ("application", {"openFlowVersions": {"ovsOf13": "1"}}, "openFlowVersions = .* of pref"),
        ("application.netflow", {"nflowTarget": "10.0.0.9:9"}, "nflowTarget = '10.0.0.9:9' of pre"),
        ("application.sflow", {"sflowTarget": "10.0.0.9:9"}, "sflowTarget = '10.0.0.9:9' of pre"),
    ],
)
def test_what_changes_nothing_is_left_out_and_told(read, place, change, words):
    with pytest.warns(UserWarning, match=f"net.mn was read with changes:\n{words}") as told:
        assert read(changed(place, **change)) == LAB_NETWORK
    assert len(told) == 1 and told[0].filename == __file__


def test_one_warning_names_everything_with_its_places(read):
    saved = changed("switches.0.opts", sflow="1", switchIP="10.0.0.98")
    saved["switches"][1]["opts"] |= {"sflow": "1", "switchIP": "10.0.0.99"}
    saved["controllers"][0]["opts"]["controllerType"] = "remote"
    with pytest.warns(UserWarning) as told:
        read(saved)
    assert len(told) == 1
    assert [line.partition(":")[0] for line in str(told[0].message).splitlines()[1:]] == [
        "controllerType = 'remote' of controller c0",
        "sflow = '1' of switches s2, s1",
        "switchIP of switches s2, s1",
    ]


@pytest.mark.parametrize(
    ("place", "change"),
    [
        ("hosts.0.opts", {"startCommand": "", "cpu": None, "vlanInterfaces": [], "ip": ""}),
        ("links.1.opts", {"jitter": "0ms", "speedup": 0, "enable_ecn": False, "up": True}),
        ("switches.0.opts", {"netflow": "0", "switchIP": "", "switchType": "ovs", "dpid": "7"}),
        ("application", {"netflow": None, "startCLI": "0"}),
    ],
)
def test_an_option_that_asks_for_nothing_is_not_worth_a_word(read, place, change):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(changed(place, **change)) == LAB_NETWORK


def test_names_that_a_node_cannot_have_are_changed_and_told():
    with pytest.warns(UserWarning, match="R1 is r1") as told:
        network = read_miniedit(FILES / "names.mn")
    assert [host.name for host in network.hosts] == ["pc1x2", "h2", "h3", "pc1", "file"]
    assert [switch.name for switch in network.switches] == ["gs2switch", "core2", "r1"]
    assert network.rtt_s("pc1", "file") == 0.01 and network.host("h3").ip == "10.0.0.3"
    (line,) = str(told[0].message).splitlines()[1:]
    assert line.endswith(
        "PC 1 is pc1x2, h2 - 10.0.0.2 is h2, 192.168.1.3 is h3, File-Server Köln is file,"
        " GS2Switch is gs2switch, core is core2, R1 is r1"
    )


@pytest.mark.parametrize("links", [9, 10, 99, 100])
def test_names_leave_room_for_the_numbers_of_the_interfaces(read, links):
    saved = changed("", links=[], hosts=[], switches=[])
    saved["switches"] = [{"number": "1", "opts": {"hostname": "backbones1"}}]
    for number in range(1, links + 1):
        saved["hosts"].append({"number": str(number), "opts": {}})
        saved["links"].append({"src": "backbones1", "dest": f"h{number}", "opts": {}})
    with warnings.catch_warnings(record=True) as told:
        network = read(saved)
    name = network.interface(network.links[-1], network.switches[0].name)
    assert len(name) <= 15 and name.endswith(f"-eth{links}")
    assert bool(told) == (links > 9)


@given(st.lists(st.text(max_size=20), min_size=1, max_size=12, unique=True), st.data())
def test_any_names_become_allowed_ones_and_no_two_the_same(drawn, data):
    kinds = [data.draw(st.sampled_from(["host", "switch", "router"])) for _ in drawn]
    nodes = [
        Node(kind, name, number, None)
        for number, (kind, name) in enumerate(zip(kinds, drawn, strict=True))
    ]
    found = names(nodes, dict.fromkeys(drawn, data.draw(st.integers(0, 300))))
    assert len({*found.values()}) == len(drawn)
    for node in nodes:
        assert {"host": lambda name: Host(name, "10.0.0.1/8"), "switch": Switch}.get(
            node.kind, lambda name: Router(name, ["10.0.0.1/8"])
        )(found[node.name])
        assert node.kind != "switch" or any(digit in "0123456789" for digit in found[node.name])


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
            "links.3",
            {"src": "s1", "dest": "r3"},
            "routers r2 and r3 are joined to the same hosts .h1, h2.",
        ),
    ],
)
def test_routers_whose_addresses_do_not_follow_are_refused(read, place, change, words):
    with warnings.catch_warnings(), pytest.raises(SpecificationError, match=words):
        warnings.simplefilter("error")
        read(changed(place, "router", **change))


def test_a_way_round_through_routers_stays(read):
    saved = changed("", "router")
    saved["switches"].append(
        {"number": "5", "opts": {"hostname": "r5", "switchType": "legacyRouter"}}
    )
    saved["links"] += [{"src": end, "dest": "r5", "opts": {"delay": "1ms"}} for end in ("r2", "r3")]
    network = read(saved)
    assert len(network.links) == 8 and network.routers[2].addresses == (
        "192.168.2.2/30",
        "192.168.3.2/30",
    )
    assert network.rtt_s("h1", "h3") == 0.01, "the way through r5 has one router more"
    (drawn,) = [link for link in saved["links"] if {link["src"], link["dest"]} == {"r2", "r3"}]
    saved["links"].append(drawn)
    with pytest.raises(SpecificationError, match="2 links join 'r2' and 'r3'"):
        read(saved)
    saved["links"] = [link for link in saved["links"] if link != drawn]
    assert read(saved).rtt_s("h1", "h3") == 0.004


def test_where_no_subnet_is_left_between_routers_it_says_so(read):
    saved = changed("hosts.2.opts", "router", ip="192.168.1.10/16", defaultRoute="192.168.1.1")
    with pytest.raises(
        SpecificationError, match=r"no subnet left in 192\.168\.0\.0/16 for 2 interf"
    ):
        read(saved)


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        ("# not JSON", "as it is not JSON: expected value"),
        ("", "as it is not JSON"),
        ("[]", r"it = \[\]: input should be"),
        ('{"version": "3"}', "version = '3': string should match"),
        ('{"version": "2", "switches": [], "links": []}', "hosts: field required"),
        (changed("hosts.0", number="two"), "hosts.0.number = 'two': "),
        (changed("hosts.0", number="9" * 5000), "hosts.0.number = '999"),
        (changed("hosts.0.opts", nodeNum=[2]), r"hosts.0.opts.nodeNum = \[2\]: "),
        (changed("hosts.0.opts", nodeNum="two"), "hosts.0.opts.nodeNum = 'two': "),
        (changed("hosts.0.opts", nodeNum=10**30), "hosts.0.opts.nodeNum = 1000"),
        (changed("hosts.0.opts", hostname="\ud800"), "as it is not JSON: "),
        (changed("hosts.0", opts=[]), r"hosts.0.opts = \[\]: "),
        (changed("hosts.0", z="3"), "hosts.0.z = '3': "),
        (changed("links.0", src=1.5) | {"links": [1]}, "links.0 = 1: "),
        (changed("links.0.opts", bw=True), "links.0.opts.bw = True: "),
        (changed("", application=[]), r"application = \[\]: "),
        (changed("application", netflow="1"), "application.netflow = '1': "),
        (changed("", "version1", controllers={"c0": 5}), "controllers = {'c0': 5}: "),
        (changed("", controllers=[{"opts": 5}]), "controllers.0.opts = 5: "),
        (changed("", queues=[1]), r"queues = \[1\]: "),
        ('{"version": ' + "[" * 5000 + "]" * 5000 + "}", "as it is not JSON: recursion"),
        ('{"version": ' + "9" * 5000 + "}", "as it is not JSON: number out of range"),
    ],
)
def test_what_is_no_miniedit_file_is_refused_and_kept(read, saved, words):
    with pytest.raises(ReadError, match=words) as caught:
        read(saved)
    assert caught.value.raw == (saved if isinstance(saved, str) else json.dumps(saved))


ODD = [None, True, 0, -1, 2, 1.5, 10**9, 10**30, 1e400, float("nan"), [], [1], [[1, "2"]], {}]
ODD += [{"a": 1}, "", "x", "0", "-1", "1e999999", "\u0663", "\ud800", "\x00", "9" * 5000, "a" * 99]
ODD += ["s1", "h1", "r2", "R 2", "10.0.0.1/33", "192.168.0.0/16", "legacyRouter", "@deep", "@huge"]
KEYS = ["nodeNum", "switchType", "hostname", "ip", "defaultRoute", "netflow", "jitter", "dpid", "z"]


def mutated(text, choose):
    """A file with one to three things changed; ``choose(n)`` is a number below n."""
    saved = json.loads(text)
    for _ in range(1 + choose(3)):
        places, waiting = [], [saved]
        while waiting:
            table = waiting.pop()
            keys = list(table) if isinstance(table, dict) else range(len(table))
            places += [(table, key) for key in keys]
            waiting += [table[key] for key in keys if isinstance(table[key], dict | list)]
        table, key = places[choose(len(places))]
        other, there = places[choose(len(places))]
        how = choose(6)
        if how == 0:
            del table[key]
        elif how == 1 and isinstance(table, list):
            table.append(deepcopy(table[key]))
        elif how == 2 and isinstance(table, dict):
            table[KEYS[choose(len(KEYS))]] = deepcopy(ODD[choose(len(ODD))])
        elif how == 3:
            table[key] = deepcopy(other[there])
        else:
            table[key] = deepcopy(ODD[choose(len(ODD))])
        if not saved:
            break
    text = json.dumps(saved).replace('"@deep"', "[" * 3000 + "]" * 3000)
    text = text.replace('"@huge"', "9" * 5000)
    if choose(8) == 0:  # and the text itself
        start = choose(len(text))
        text = text[:start] + ["", "\x00", "\ufeff", '"', "{", "é"][choose(6)] + text[start + 1 :]
    return text


def reading(text, file, read=read_miniedit):
    """How reading a text ends: the class of netlab's error, or None."""
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = read(file)
        list(network.setup())
    except NetlabError as error:
        return type(error).__name__
    return None


@settings(max_examples=300)
@given(st.sampled_from(["lab", "version1", "router", "ring", "names"]), st.integers(0, 2**64))
def test_no_file_raises_anything_but_netlabs_errors(tmp_path_factory, sample, seed):
    text = mutated((FILES / f"{sample}.mn").read_text(), random.Random(seed).randrange)
    file = tmp_path_factory.getbasetemp() / "mutated.mn"
    assert reading(text, file) in (None, "ReadError", "SpecificationError")


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


def test_live_a_ring_of_switches_and_odd_names_run():
    with pytest.warns(UserWarning, match="spanning tree"):
        ring = read_miniedit(FILES / "ring.mn")
    assert run(ring, Ping("h1", "h3")).pings.rtt_s.tolist()[1:] == pytest.approx(
        [0.06] * 3, abs=1e-4
    )
    with pytest.warns(UserWarning, match="names"):
        named = read_miniedit(FILES / "names.mn")
    assert run(named, Ping("pc1x2", "file")).pings.rtt_s.tolist()[1:] == pytest.approx(
        [0.01] * 3, abs=1e-3
    )


@pytest.mark.parametrize("hosts", [[5] * 400, [{"number": "1", "opts": {"hostname": "h1"}}] * 400])
def test_few_of_many_problems_of_a_file_are_told(tmp_path, hosts):
    path = tmp_path / "many.mn"
    path.write_text(json.dumps({"version": "2", "hosts": hosts, "switches": [], "links": []}))
    with pytest.raises(NetlabError, match=r"\nand \d+ more") as refused:
        read_miniedit(path)
    assert len(str(refused.value)) < 10_000


def test_a_device_or_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.mn")
    for path in ("/dev/zero", tmp_path / "pipe.mn"):
        with pytest.raises(OSError, match="no file"):
            read_miniedit(path)
