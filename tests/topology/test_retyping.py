from netlab import wan
from netlab.topology.retyping import retyped

PATH = wan("100mbit", "20ms", burst=15_000, limit=250_000)


def lines(topology, **fields):
    link = topology.link_to("s1", "s2")
    return retyped(topology, link, link, link.but(**fields))


def test_what_stays_is_changed_and_keeps_what_waits():
    assert lines(PATH, delay="50ms") == {
        "s1": "tc qdisc change dev s1-eth2 root handle 1: netem delay 50ms limit 1000000"
    }
    assert lines(PATH, rate="20mbit", loss="1%")["s1"] == (
        "tc qdisc change dev s1-eth2 root handle 1: netem delay 20ms loss 1% limit 1000000 &&"
        " tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate 20mbit burst 15000 limit 250000"
    )
    assert lines(PATH) == {}


def test_another_discipline_is_made_anew():
    line = lines(PATH, qdisc="fq_codel limit 1000", limit=None)["s1"]
    first, *_, last = line.split(" && ")
    assert first == "tc qdisc del dev s1-eth2 root"
    assert last == "tc qdisc add dev s1-eth2 parent 2:1 handle 3: fq_codel limit 1000"


def test_a_plain_cable_gets_what_it_has_not_and_both_ends_are_typed_on_one_switch():
    link = PATH.link_to("h1", "s1")
    line = retyped(PATH, link, link, link.but(delay="5ms"))
    assert line == {"h1": "tc qdisc add dev h1-eth0 root handle 1: netem delay 5ms limit 1000000"}
    both = PATH.but(links=[one.but(both=bool(one.delay)) for one in PATH.links])
    typed = lines(both, delay="50ms")
    assert [*typed] == ["s1"] and " && tc qdisc change dev s2-eth1 root" in typed["s1"]


def test_the_kernel_takes_it_there_and_back(network):
    topology = network.topology
    link = topology.link_to("s1", "s2")
    for fields in (dict(delay="50ms", loss="5%"), dict(qdisc="pfifo limit 9", limit=None)):
        after = link.but(**fields)
        for ends in ((link, after), (after, link)):
            for node, line in retyped(topology, link, *ends).items():
                assert network.type(node, line, show=lambda _: None).status == 0
