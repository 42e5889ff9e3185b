"""What the kernel, Mininet and the check of a network allow: what is accepted comes up, and the
rest is refused before anything starts.
"""

import json
import re

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from netlab import Experiment, Host, Link, Network, Ping, SpecificationError, Switch, Topology, wan
from tests.topology.networks import addressed, graphs

PAIR = [Host("h1", "10.0.0.1/8"), Host("h2", "10.0.0.2/8")]


def star(switch, hosts=2):
    """Hosts around one switch."""
    hosts = [Host(f"h{n}", f"10.0.{n // 250}.{n % 250 + 1}/8") for n in range(hosts)]
    return Topology(hosts, [Switch(switch)], [Link(host.name, switch) for host in hosts])


def routed(one, other):
    return addressed(Link("h1", "r1", one), Link("r1", "h2", other))


LIMITS = [(field, value) for field in ("virtual_limit_s", "wall_limit_s") for value in (1e7, 0, -1)]
LIMITS += [("wall_limit_s", float("inf")), ("wall_limit_s", float("nan"))]
ADDRESSES = {
    "0.0.0.1/8": "0.0.0.0/8",
    "10.0.0.1/2": "its subnet 0.0.0.0/2 begins in 0.0.0.0/8",
    "127.9.0.3/24": "127.0.0.0/8",
    "239.1.2.3/24": "224.0.0.0/4",
    "255.255.255.255/31": "everybody",
    "10.0.0.1/0": "1 to 32",
    "10.0.0.1/08": "1 to 32",
    "10.0.0.1/255.0.0.0": "1 to 32",
    "10.0.0.300/8": "1 to 32",
    "::1/8": "1 to 32",
    "10.0.0.0/8": "the subnet itself: a node's address lies between 10.0.0.1 and 10.255.255.254",
    "10.0.0.255/24": "means everybody",
}
SHARED = ["net.core.rmem_max", "net.core.default_qdisc", "net.ipv4.tcp_mem", "kernel.hostname"]
SHARED += ["net.ipv4.tcp_available_congestion_control", "net.ipv4.route.gc_timeout"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: star("core"), "Switch.name = 'core': .*needs a number.*'core1'"),
        (lambda: star("sit0"), "Switch.name = 'sit0': the kernel .*'s1'"),
        (lambda: star("eth0"), "Switch.name = 'eth0': the kernel"),
        (lambda: Host("H1", "10.0.0.1/8"), "Host.name = 'H1': .*lower-case .*'h1'"),
        (lambda: Host("h1\n", "10.0.0.1/8"), "Host.name"),
        (lambda: star("abcdefghi1", 12), "'abcdefghi1'.* abcdefghi1-eth12 has 16 .* 15"),
        (lambda: wan(delay="10s"), "'h1' and 'h2'.* 10 s: at most 3 s .*ARP"),
        (lambda: wan(access={"h1": "2s", "h3": "2s"}), "'h1' and 'h3'.* 4 s"),
        (lambda: routed("3s", "2100ms"), "'h1' and 'h2'.* 5.1 s: at most 5 s"),
        (lambda: Topology(PAIR, links=[Link("h1", "h2", "1500001us", both=True)]), "3.000002 s"),
        (lambda: wan(buffers="2gb"), "buffers = '2gb'.* 2147483647"),
        (lambda: Link("h1", "h2", rate="7.5bit"), "rate = '7.5bit'.* '8bit'"),
        (lambda: star("s1", 500), "501 hosts, switches and routers, and 500 links"),
        *[
            (lambda address=address: Host("h1", address), f"Host.address = '{address}': .*{words}")
            for address, words in ADDRESSES.items()
        ],
        *[
            (lambda name=name: wan(sysctls={name: 1}), f"{name}.* is not a host's own")
            for name in SHARED
        ],
        *[
            (
                lambda field=field, value=value: Experiment(
                    wan(), Ping("h1", "h2"), **{field: value}
                ),
                f"Experiment.{field} = {value!r}".replace("+", r"\+"),
            )
            for field, value in LIMITS
        ],
    ],
)
def test_what_would_fail_later_is_refused_with_what_is_allowed(make, words):
    with pytest.raises(SpecificationError, match=words):
        make()


def test_what_is_within_the_limits_is_accepted():
    assert len(star("s1", 499).node_names) == 500
    own = {"net.core.somaxconn": 100, "net.ipv4.tcp_rmem": "1 2 3", "net.ipv4.route.min_pmtu": 500}
    assert wan(sysctls=own).hosts[0].sysctls == own
    assert [wan(buffers=size).buffers for size in (87_380, 2**31 - 1)] == [87_380, 2**31 - 1]


def test_live_a_link_that_nobody_crosses_may_be_slow_and_bad():
    spare = Link("s1", "s2", "5ms", "10%", "1mbit")
    links = [Link("h1", "s1"), spare, Link("s1", "h2", "20ms")]
    network = Topology(PAIR, [Switch("s1"), Switch("s2")], links)
    assert network.across(spare) is None and network.across(links[2]) is not None
    with Network(network) as net:
        assert "time=20.0 ms" in net.run("h1", "ping -c 2 10.0.0.2", echo=False).text
        assert not [line for line in net.commands if "s2-eth" in line]


def test_live_a_host_on_its_own_comes_up_without_offload():
    with Network(Topology([Host("h1", "10.0.0.1/8")], offload=False)) as net:
        assert net.run("h1", "true").status == 0


@pytest.mark.parametrize("network", [wan(delay="3s", pairs=1), routed("2500ms", "2500ms")])
def test_live_the_longest_delays_come_up(network):
    with Network(network) as net:
        text = net.run("h1", f"ping -c 2 -W 20 {network.host('h2').ip}", echo=False).text
        assert " 2 received, 0% packet loss" in text


@st.composite
def networks(draw):
    """Networks with names, addresses, delays, losses and offload of any kind, that are accepted."""
    tree = draw(graphs(most=4))
    some_name = st.from_regex(r"[a-z]{1,8}[0-9]{0,2}", fullmatch=True)
    own_names = st.sampled_from(["sit0", "core", "lo", "dummy0", "s1", "abcdefghi1"])
    size = len(tree.node_names)
    names = draw(st.lists(some_name | own_names, min_size=size, max_size=size, unique=True))
    new = dict(zip(tree.node_names, names, strict=True))
    low = st.integers(0, 255)
    start = f'"{draw(low)}.{draw(low)}.'
    text = re.sub(r'"([hsr][0-9]+)"', lambda found: f'"{new[found[1]]}"', tree.to_json())
    saved = json.loads(text.replace('"10.0.', start))
    saved["offload"] = draw(st.sampled_from([None, True, False]))
    for link in saved["links"]:
        link["delay"] = draw(st.sampled_from([link["delay"]] * 3 + ["900ms", "3s", "10s"]))
        link["loss"] = draw(st.sampled_from(["0%", "0%", "0.001%"]))
    try:
        return Topology.from_json(json.dumps(saved))
    except SpecificationError:
        return reject()


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(networks())
def test_what_is_accepted_is_set_up_on_interfaces_that_it_has(network):
    interfaces = {
        (node, network.interface(link, node)) for link in network.links for node in (link.a, link.b)
    }
    assert all(len(name) <= 15 for _, name in interfaces)
    for node, command in network.setup():
        for name in re.findall(r"\S+-eth[0-9]+", command):
            assert (node, name) in interfaces, command


@settings(max_examples=2, suppress_health_check=list(HealthCheck))
@given(networks())
def test_live_what_is_accepted_comes_up_and_its_hosts_reach_each_other(network):
    first, last = network.hosts[0], network.hosts[-1]
    with Network(network) as net:
        assert "1 received" in net.run(first.name, f"ping -c 1 -W 20 {last.ip}", echo=False).text
