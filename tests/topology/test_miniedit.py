import json
import os
import random
import re
import warnings
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlab import Link, NetlabError, Network, Ping, ReadError, SpecificationError, run, units
from netlab.readers import read_ping
from netlab.topology.miniedit import blocked, read_miniedit
from netlab.topology.nodes import Router
from tests.readers import mutations

FILES = Path(__file__).parents[1] / "data" / "miniedit"
LAB_NETWORK = read_miniedit(FILES / "lab.mn")


def links(*pairs, **opts):
    return [{"src": a, "dest": b, "opts": opts} for a, b in pairs]


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
    assert network.links[0] == Link("h1", "s1") and network.links[2] == Link("s2", "h2")
    assert network.links[1] == Link(
        "s1", "s2", "10ms", rate="100mbit", burst="15kb", limit=1_514_000, both=True
    )
    assert network.rtt_s("h1", "h2") == 0.02 and network.bottleneck_bps("h2", "h1") == 100e6


def test_version_1_has_fewer_fields():
    with pytest.warns(UserWarning, match="delay = '500' of link .* has no unit") as told:
        network = read_miniedit(FILES / "version1.mn")
    assert len(told) == 1
    assert [host.name for host in network.hosts] == ["h1", "h2", "h3"]
    assert network.switches[0].name == "s1"
    assert network.hosts[2].address == "192.168.7.3/8", "Mininet's prefix length is always 8"
    assert network.links[0].delay == "0.5us"
    assert network.links[1].loss == "2%" and network.links[1].both


def test_a_delay_without_a_unit_is_what_the_guests_tc_makes_of_it(network, read):
    with pytest.warns(UserWarning, match="nanoseconds, and here, too, it is 5us"):
        link = read(changed("links.1.opts", delay="5000")).links[1]
    network.run("s1", "tc qdisc add dev lo root netem delay 5000", echo=False)
    shown = network.run("s1", "tc -j qdisc show dev lo", echo=False).text
    told_s = json.loads(shown)[0]["options"]["delay"]["delay"]
    assert link.delay_s == pytest.approx(told_s) == 5e-6


@pytest.mark.parametrize("second", [("h1", "s2"), ("s2", "h1"), ("h1", "s1")])
def test_a_hosts_further_links_carry_nothing_as_in_mininet(read, second):
    saved = changed("", links=links(("h1", "s1"), second, ("s1", "s2"), ("s2", "h2")))
    saved["hosts"] = [host for host in saved["hosts"] if host["opts"]["hostname"] in ("h1", "h2")]
    with pytest.warns(UserWarning) as told:
        network = read(saved)
    assert [(link.a, link.b) for link in network.links] == [
        ("h1", "s1"),
        ("s1", "s2"),
        ("s2", "h2"),
    ]
    assert len(told) == 1 and f"link {second[0]!r}-{second[1]!r}. Draw it as" in str(
        told[0].message
    )


def test_routers_get_the_addresses_that_the_hosts_route_to(read):
    network = read_miniedit(FILES / "router.mn")
    assert network.routers == (
        Router("r2", ["10.0.1.1/24", "192.168.1.1/30"]),
        Router("r3", ["192.168.1.2/30", "10.0.2.1/24"]),
    )
    assert network.links[3].queue_packets == 33 and network.rtt_s("h1", "h3") == 0.01
    saved = changed("hosts.2.opts", "router", ip="192.168.1.10/24", defaultRoute="192.168.1.1")
    between = [router.addresses[n] for router, n in zip(read(saved).routers, (1, 0), strict=True)]
    assert between == ["192.168.2.1/30", "192.168.2.2/30"], "a subnet that the file does not use"


@given(
    bw=st.integers(1, 100_000) | st.floats(0.001, 100_000),
    delay_us=st.integers(0, 1_500_000),
    loss=st.integers(0, 100) | st.floats(0, 100),
    packets=st.none() | st.integers(1, 100_000),
)
def test_rates_delays_and_losses_survive(tmp_path_factory, bw, delay_us, loss, packets):
    file = tmp_path_factory.getbasetemp() / "any.mn"
    opts = {"bw": bw, "delay": units.format_delay(delay_us / 1e6), "loss": loss}
    file.write_text(json.dumps(changed("links.1", opts=opts | {"max_queue_size": packets})))
    link = read_miniedit(file).links[1]
    assert units.rate_bps(link.rate) == pytest.approx(bw * 1e6)
    assert link.delay_s == pytest.approx(delay_us / 1e6)
    assert units.fraction(link.loss) == pytest.approx(loss / 100) and link.queue_packets == packets
    assert link.queue_bytes == (packets or 1000) * 1514


ROUTES = [f"hosts.{n}.opts" for n in (1, 2)]


@pytest.mark.parametrize(
    ("place", "change", "words"),
    [
        ("hosts.0.opts", {"vlanInterfaces": [["10.0.0.9", "5"]]}, "vlanInterfaces = .*host 'h2'"),
        ("switches.0.opts", {"externalInterfaces": ["eth1"]}, "externalInterfaces .*switch 's2'"),
        ("hosts.0.opts", {"cpu": 0.5}, "cpu = 0.5 of host 'h2' is not supported"),
        ("hosts.0.opts", {"ip": "10.0.0"}, "host 'h2': Host.address = '10.0.0/8'"),
        ("hosts.0.opts", {"nodeNum": 2**24}, "host 'h2': ipBase .* number 16777216"),
        ("hosts.0.opts", {"nodeNum": 1}, "the address 10.0.0.1 is that of 'h1' and 'h2': change"),
        ("links.1.opts", {"jitter": "1ms"}, "jitter = '1ms' of link 's1'-'s2'"),
        ("links.1.opts", {"enable_red": True}, "enable_red = True of link"),
        ("links.1.opts", {"bw": "fast"}, "link 's1'-'s2': bw = 'fast': write a number"),
        ("links.1.opts", {"bw": "1e999999999"}, "bw = '1e999999999': write a number"),
        ("links.1.opts", {"bw": float("nan")}, "bw = 'nan': write a number"),
        ("links.1.opts", {"bw": 0}, "Link.rate = '0mbit'"),
        ("links.1.opts", {"loss": 101}, "Link.loss = '101%'"),
        ("links.1.opts", {"delay": "10 ms"}, "delay = '10 ms'"),
        ("links.1.opts", {"max_queue_size": 0}, "Link.queue_packets = '0'"),
        ("links.1", {"dest": "s9"}, "link 's1'-'s9' ends at 's9', which is not a node"),
        ("links.1", {"dest": "s1"}, "link 's1'-'s1': .* joins two different nodes"),
        (
            "",
            {"links": links(("h1", "h2"), ("h3", "s1"), ("h4", "s2"), ("s1", "s2"))},
            "no link joins these parts: 'h1', 'h2'; .* put a switch into each",
        ),
        ("hosts.0.opts", {"hostname": "s1"}, "the name 's1' is used 2 times"),
        ("application", {"ipBase": "ten"}, "ipBase = 'ten'"),
        ("", {"links": []}, "no host has a link: draw some"),
    ],
)
def test_what_would_make_it_another_network_is_refused_by_name(read, place, change, words):
    with pytest.raises(SpecificationError, match=f"net.mn (.|\n)*{words}"):
        read(changed(place, **change))


@pytest.mark.parametrize(
    ("place", "change", "words"),
    [
        (ROUTES[0], {"defaultRoute": ""}, r"router r2 \(h1: 10.0.1.1, h2: None\)"),
        (ROUTES[0], {"defaultRoute": "10.0.1.2"}, r"router r2 \(h1: 10.0.1.1, h2: 10.0.1.2\)"),
        (ROUTES[1], {"ip": "10.0.2.10"}, "their subnets must not overlap.* longer prefixes"),
        (
            ROUTES[1],
            {"ip": "192.168.1.10/16", "defaultRoute": "192.168.1.1"},
            r"no subnet is left in 192\.168\.0\.0/16 for 2 interfaces",
        ),
        ("links.5", {"src": "s1"}, "h1: 10.0.1.1, h2: 10.0.1.1, h3: 10.0.2.1"),
        ("links.3", {"src": "s1", "dest": "r3"}, r"\(r2, r3\) are joined to the same hosts"),
    ],
)
def test_routers_whose_addresses_do_not_follow_are_refused(read, place, change, words):
    with pytest.raises(SpecificationError, match=words):
        read(changed(place, "router", **change))


def test_parts_that_no_link_joins_stay_apart(read):
    saved = changed("")
    saved["links"] = [
        link for link in saved["links"] if {link["src"], link["dest"]} != {"s1", "s2"}
    ]
    with pytest.warns(UserWarning, match="these parts: 'h1', 'h3', 's1'; 'h2', 'h4', 's2'") as told:
        network = read(saved)
    assert len(told) == 1 and network.links[-1] == Link("s1", "s2", loss="100%", both=True)
    assert network.offloading, "as it would be in each part alone"
    with Network(network) as net:
        near = net.run("h1", "ping -c 1 10.0.0.3", echo=False).text
        far = net.run("h1", "ping -c 1 -W 1 10.0.0.2", echo=False).text
    assert read_ping(near).meta["received"] == 1 and read_ping(far).meta["received"] == 0


def test_all_reasons_are_told_at_once_a_line_for_each(read):
    saved = changed("links.1.opts", bw="fast", jitter="1ms")
    saved["hosts"][0]["opts"] |= {"ip": "300.0.0.1", "cpu": 0.5}
    with pytest.raises(SpecificationError) as caught:
        read(saved)
    reasons = str(caught.value).splitlines()[1:]
    assert len(reasons) == 4
    for words in ("cpu", "jitter", "bw = 'fast'", "300.0.0.1"):
        assert len([reason for reason in reasons if words in reason]) == 1, words
    del saved["links"][1]["opts"]["jitter"], saved["hosts"][0]["opts"]["cpu"]
    saved["links"][1]["opts"]["bw"], saved["hosts"][0]["opts"]["ip"] = 100, "10.0.0.2"
    assert read(saved) == LAB_NETWORK


@pytest.mark.parametrize(
    ("place", "change", "words"),
    [
        ("hosts.0.opts", {"startCommand": "iperf3"}, "startCommand = 'iperf3' of host 'h2'"),
        ("hosts.0.opts", {"privateDirectory": ["/tmp"]}, "privateDirectory = .* of host 'h2'"),
        ("hosts.0.opts", {"cores": "1"}, "cores = '1' of host 'h2'"),
        ("hosts.0.opts", {"dimage": "alpine"}, "dimage = 'alpine' of host 'h2'"),
        ("hosts.0.opts", {"defaultRoute": "10.0.0.254"}, "defaultRoute of host 'h2'"),
        ("switches.0.opts", {"switchType": "user"}, "switchType = 'user' of switch 's2'"),
        ("switches.0.opts", {"netflow": "1"}, "netflow = '1' of switch 's2'"),
        ("links.1.opts", {"port1": 7}, "port1 = 7 of link 's1'-'s2'"),
        # what asks for nothing is not worth a word
        ("hosts.0.opts", {"startCommand": "", "cpu": None, "vlanInterfaces": [], "ip": ""}, ""),
        ("links.1.opts", {"jitter": "0ms", "speedup": 0, "enable_ecn": False, "up": True}, ""),
        ("switches.0.opts", {"netflow": "0", "switchIP": "", "switchType": "ovs"}, ""),
        ("controllers.0.opts", {"controllerType": "remote"}, ""),
        ("application", {"netflow": None, "startCLI": "0", "terminalType": "gterm"}, ""),
    ],
)
def test_what_changes_nothing_is_left_out_and_told(read, place, change, words):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert read(changed(place, **change)) == LAB_NETWORK
    assert len(told) == bool(words)
    if words:
        assert re.search(f"net.mn was read with changes:\n{words}", str(told[0].message))


def test_names_that_a_node_cannot_have_are_changed_and_told():
    with pytest.warns(UserWarning, match="'R1' is r1") as told:
        network = read_miniedit(FILES / "names.mn")
    assert told[0].filename == __file__
    assert [host.name for host in network.hosts] == ["h1", "h2", "h3", "pc1", "h5"]
    assert [switch.name for switch in network.switches] == ["gs2switch", "s2", "r1"]
    assert network.rtt_s("pc1", "h5") == 0.01 and network.host("h3").ip == "10.0.0.3"
    assert len(told) == 1 and "'PC 1' is h1, 'h2 - 10.0.0.2' is h2" in str(told[0].message)


@given(st.lists(st.text(max_size=20), min_size=1, max_size=12, unique=True), st.data())
def test_any_names_become_allowed_ones_and_no_two_the_same(tmp_path_factory, drawn, data):
    kinds = [data.draw(st.sampled_from(["hosts", "switches"])) for _ in drawn]
    saved = {"version": "2", "links": [], "hosts": [], "switches": []}
    for number, (kind, name) in enumerate(zip(kinds, drawn, strict=True), 1):
        saved[kind].append({"number": str(number), "opts": {"hostname": f"{name}."}})
    hub = {"number": "99", "opts": {"hostname": "Hub"}}
    pairs = [(item["opts"]["hostname"], "Hub") for item in saved["hosts"]]
    saved["switches"].append(hub)
    saved["links"] = links(*pairs)
    file = tmp_path_factory.getbasetemp() / "names.mn"
    file.write_text(json.dumps(saved))
    if pairs:
        with pytest.warns(UserWarning, match="names that a node cannot have here"):
            assert len(set(read_miniedit(file).node_names)) == len(pairs) + 1


def test_a_way_round_through_routers_stays(read):
    saved = changed("", "router")
    router = {"number": "5", "opts": {"hostname": "r5", "switchType": "legacyRouter"}}
    saved["switches"].append(router)
    saved["links"] += links(("r2", "r5"), ("r3", "r5"), delay="1ms")
    network = read(saved)
    assert len(network.links) == 8
    assert network.routers[2].addresses == ("192.168.2.2/30", "192.168.3.2/30")
    assert network.rtt_s("h1", "h3") == 0.01, "the way through r5 has one router more"


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        ("# not JSON", "this is not JSON: expected value"),
        ("[]", "input should be"),
        ('{"version": "3"}', "version = '3': string should match"),
        ('{"version": "2", "switches": [], "links": []}', "hosts is missing"),
        (changed("hosts.0", number="two"), "hosts.0.number = 'two': "),
        (changed("hosts.0", number="9" * 5000), "hosts.0.number = '999"),
        (changed("hosts.0.opts", nodeNum=[2]), r"hosts.0.opts.nodeNum = \[2\]: "),
        (changed("hosts.0.opts", nodeNum=10**30), "hosts.0.opts.nodeNum = 1000"),
        (changed("hosts.0.opts", hostname="\ud800"), "this is not JSON: "),
        (changed("hosts.0", opts=[]), r"hosts.0.opts = \[\]: "),
        (changed("hosts.0", z="3"), "hosts.0.z = '3': "),
        (changed("links.0", src=1.5) | {"links": [1]}, "links.0 = 1: "),
        (changed("links.0.opts", bw=True), "links.0.opts.bw = True: "),
        (changed("", application=[]), r"application = \[\]: "),
        (changed("", queues=[1]), r"queues = \[1\]: "),
        ('{"version": ' + "[" * 5000 + "]" * 5000 + "}", "this is not JSON: recursion"),
        ('{"version": ' + "9" * 5000 + "}", "this is not JSON: number out of range"),
    ],
)
def test_what_is_no_miniedit_file_is_refused_and_kept(read, saved, words):
    with pytest.raises(ReadError, match=words) as caught:
        read(saved)
    assert caught.value.raw == (saved if isinstance(saved, str) else json.dumps(saved))


ODD = [*mutations.HOSTILE, 2, 1.5, 10**30, "1e999999", "\u0663", "9" * 5000, "s1", "h1", "R 2"]
ODD += ["10.0.0.1/33", "192.168.0.0/16", "legacyRouter", "@deep", "@huge"]
KEYS = ["nodeNum", "switchType", "hostname", "ip", "defaultRoute", "netflow", "jitter", "dpid", "z"]


@settings(max_examples=300)
@given(st.sampled_from(["lab", "version1", "router", "ring", "names"]), st.integers(0, 2**64))
def test_no_file_raises_anything_but_netlabs_errors(tmp_path_factory, sample, seed):
    rng, text = random.Random(seed), (FILES / f"{sample}.mn").read_text()
    for _ in range(rng.randrange(1, 4)):
        text = mutations.mutate_json(rng, text, ODD, KEYS)
    text = text.replace('"@deep"', "[" * 3000 + "]" * 3000).replace('"@huge"', "9" * 5000)
    text = mutations.mutate_text(rng, text) if rng.random() < 0.1 else text
    file = tmp_path_factory.getbasetemp() / "mutated.mn"
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            list(read_miniedit(file).setup())
        except (ReadError, SpecificationError) as error:
            assert len(str(error)) < 20_000


@pytest.mark.parametrize("hosts", [[5] * 400, [{"number": "1", "opts": {"hostname": "h1"}}] * 400])
def test_few_of_many_problems_of_a_file_are_told(read, hosts):
    with pytest.raises(NetlabError, match=r"used 400 times|\nand more: 400 problems") as refused:
        read({"version": "2", "hosts": hosts, "switches": [], "links": []})
    assert len(str(refused.value)) < 10_000


def test_a_device_or_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.mn")
    for path in ("/dev/zero", tmp_path / "pipe.mn", "nowhere.mn"):
        with pytest.raises(OSError, match=r"no file|No such file"):
            read_miniedit(path)


@pytest.mark.filterwarnings("ignore:.*read with changes")
@pytest.mark.parametrize(
    ("file", "ends", "rtt_s"),
    [
        ("router", ("h2", "h3"), 0.01),
        ("ring", ("h1", "h3"), 0.06),
    ],
)
def test_live_the_round_trip_time_is_twice_the_delays(file, ends, rtt_s):
    pings = run(read_miniedit(FILES / f"{file}.mn"), Ping(*ends)).pings
    assert pings.rtt_s.tolist()[1:] == pytest.approx([rtt_s] * 3, abs=1e-4)


@st.composite
def networks_of_switches(draw):
    names = [f"s{n}" for n in range(draw(st.integers(2, 9)))]
    bridges = draw(st.permutations(range(len(names))))
    pairs = st.tuples(*2 * [st.sampled_from(names)]).filter(lambda pair: pair[0] != pair[1])
    return dict(zip(names, bridges, strict=True)), draw(st.lists(pairs, max_size=25))


@given(networks_of_switches())
def test_each_switch_keeps_the_link_that_the_spanning_tree_protocol_does(network):
    """IEEE 802.1D: towards the root, by the fewest links, then the lowest bridge, then port."""
    switches, ends = network
    graph, kept = nx.Graph(ends), set()
    for part in nx.connected_components(graph):
        away = nx.single_source_shortest_path_length(graph, min(part, key=switches.get))
        for name in filter(away.get, part):
            offers = [(b if a == name else a, n) for n, (a, b) in enumerate(ends) if name in (a, b)]
            nearer = [(switches[far], n) for far, n in offers if away[far] == away[name] - 1]
            kept.add(min(nearer)[1])
    found = [link for links in blocked(switches, ends).values() for link in links]
    assert sorted(found) == sorted({*range(len(ends))} - kept)


def test_a_ring_is_cut_far_from_its_root_which_the_datapath_id_decides(read):
    with pytest.warns(UserWarning) as told:
        ring = read_miniedit(FILES / "ring.mn")
    lines = str(told[0].message).splitlines()
    assert "root 's1'" in lines[1] and lines[1].count("link ") == 3
    assert lines[2].endswith("no host behind them: switch 's4', switch 's5'")
    assert [f"{link.a}-{link.b}" for link in ring.links] == [
        "s2-s3", "s1-s2", "h1-s1", "h2-s2", "s3-h3",
    ]  # fmt: skip
    assert ring.rtt_s("h1", "h3") == 0.06
    saved = changed("switches.0.opts", "ring", dpid="0000000000000000")  # s4
    with pytest.warns(UserWarning, match="with root 's4' would block them"):
        ring = read(saved)
    assert [f"{link.a}-{link.b}" for link in ring.links][:3] == ["s3-s4", "s4-s1", "s2-s4"]
