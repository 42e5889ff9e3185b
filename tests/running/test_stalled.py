"""A link that passes nothing, or not what its description says, is not silent."""

import pytest

import netlab as nl
from netlab.topology.typed_tc import doubts

PAIR = nl.Topology(
    hosts=[nl.Host("h1", "10.0.0.1/8"), nl.Host("h2", "10.0.0.2/8")],
    links=[nl.Link("h1", "h2", "20ms", rate="50mbit")],
)
CHANGE = "tc qdisc change dev h1-eth0 parent 1: handle 2: tbf rate 10mbit"
TOO_SMALL = f"sleep 2; {CHANGE} burst 20 limit 75000"


def test_the_error_of_a_run_that_waits_for_a_dead_link_has_its_lines():
    test = nl.Iperf3("h1", "h2", time=4)
    with pytest.raises(nl.CommandError) as caught:
        nl.run(PAIR, test, nl.Shell("h1", TOO_SMALL, time=4), virtual_limit_s=8)
    said = str(caught.value)
    assert "h1-eth0 passes nothing although packets wait there" in said
    assert "qdisc tbf 2: dev h1-eth0 parent 1: rate 10Mbit burst 20b" in said
    assert " Sent " in said and " backlog " in said


def test_a_result_has_a_warning_of_a_link_that_died(tmp_path):
    pings, slow = (
        nl.Ping("h1", "h2", count=8),
        TOO_SMALL.replace("10mbit burst 20", "8bit burst 200"),
    )
    with pytest.warns(nl.LinkWarning, match=r"(?s)h1-eth0 passes nothing.* backlog \d+b \d+p"):
        dead = nl.run(PAIR, pings, nl.Shell("h1", slow, time=4))
    (said,) = dead.warnings
    assert dead.pings.rtt_s.isna().sum() >= 3 and "tbf 2: dev h1-eth0 parent 1: rate 8bit" in said
    dead.save(tmp_path / "kept")
    with pytest.warns(nl.LinkWarning):
        assert nl.load(tmp_path / "kept").warnings == dead.warnings


@pytest.mark.parametrize("qdisc", ["fq_codel memory_limit 1514", "cake memlimit 4541"])
def test_memory_for_less_than_a_frame_is_refused(qdisc):
    with pytest.raises(nl.SpecificationError, match="from 4542 to"):
        nl.Link("s1", "s2", rate="10mbit", qdisc=qdisc)


WAN = nl.wan("50mbit", "20ms", pairs=1)


def doubts_of(topology, *traffic, engine="guest"):
    experiment = nl.Experiment(topology, *traffic)
    return [text for item, place in experiment.places for text in item.doubts(place, engine)]


@pytest.mark.parametrize(
    "test",
    [
        nl.Iperf3("h1", "h2", reverse=True),
        nl.Iperf3("h2", "h1"),
        nl.Iperf3("h2", "h1", udp=True),
        nl.Iperf("h2", "h1"),
        nl.Simpleperf("h2", "h1"),
    ],
)
def test_a_flow_against_the_direction_of_a_link_is_told(test):
    (said,) = doubts_of(WAN, test)
    assert "flow 1 sends from h2 to h1" in said and "rate (50mbit)" in said
    both = WAN.but(links=[link.but(both=bool(link.rate)) for link in WAN.links])
    assert doubts_of(both, test) == []


def test_a_flow_in_the_direction_of_all_links_is_no_doubt_nor_is_a_ping():
    assert doubts_of(WAN, nl.Iperf3("h1", "h2"), nl.Iperf3("h2", "h1", reverse=True)) == []
    assert doubts_of(WAN, nl.Ping("h2", "h1"), nl.Change("s1", "s2", "1s", rate="9mbit")) == []
    assert doubts_of(nl.wan(None, "20ms"), nl.Iperf3("h2", "h1")) == []
    (said,) = doubts_of(nl.wan(None, "20ms", "1%"), nl.Iperf3("h2", "h1"))
    assert "do not meet its loss" in said
    assert doubts_of(nl.portfolio(), nl.Iperf("h9", "h1")) == []


def test_a_result_tells_it_too():
    with pytest.warns(nl.LinkWarning, match="flow 1 sends from h2 to h1"):
        result = nl.run(WAN, nl.Iperf3("h1", "h2", time=1, reverse=True))
    assert len(result.warnings) == 1 and result.flows.received_bps[0] > 1e9


@pytest.mark.parametrize(
    ("rate", "offload", "packets", "told"),
    [
        ("1gbit", False, None, "holds 1000 packets at most"),
        ("1gbit", True, None, ""),
        ("100mbit", False, None, ""),
        ("100mbit", False, 100, "are 165 frames: it drops .* queue_packets=166 or more"),
    ],
)
def test_a_netem_with_room_for_less_than_what_is_under_way_is_told(rate, offload, packets, told):
    link = nl.Link("h1", "h2", "20ms", rate=rate, both=True, tclink=True, queue_packets=packets)
    found = doubts_of(PAIR.but(links=[link], offload=offload), nl.Iperf3("h1", "h2"))
    assert len(found) == bool(told)
    if told:
        with pytest.warns(nl.LinkWarning, match=told):
            nl.run(PAIR.but(links=[link], offload=offload), nl.Iperf3("h1", "h2", time=1))


CLOSE, FAR = nl.wan("9mbit", None, pairs=1), {"h1": "20ms"}
LINE = CLOSE.but(  # h1 - s1 = s2 - h2, with another way to h2
    hosts=[nl.Host("h1", "10.0.1.2/24"), nl.Host("h2", "10.0.2.2/24")],
    switches=[nl.Switch("s1")],
    routers=[nl.Router("r1", ["10.0.1.1/24", "10.0.2.1/24"])],
    links=[nl.Link("h1", "s1"), nl.Link("s1", "r1"), nl.Link("r1", "h2")],
)


def of_line(*rates, **first):
    """LINE with these rates of its last two links."""
    last = [one.but(rate=rate) for one, rate in zip(LINE.links[1:], rates, strict=True)]
    return LINE.but(links=[nl.Link("h1", "s1", **first), *last])


def direct(*ends, **link):
    return PAIR.but(links=[nl.Link(*ends, rate="9mbit", **link)])


NOISY = [CLOSE.hosts[0], CLOSE.hosts[1].but(noise="10us")]
QUEUES = {
    "behind a switch": (CLOSE, ["s1-s2"]),
    "no delay, in words": (nl.wan("9mbit", "0ms", pairs=1), ["s1-s2"]),
    "with a delay": (nl.wan("9mbit", "10us", pairs=1), []),
    "a line, behind its queue": (nl.wan("9mbit", None, pairs=1, serialise=True), ["s1-s2"]),
    "its delay is there, too": (nl.wan("9mbit", "20ms", pairs=1, serialise=True), ["s1-s2"]),
    "a delay on the host's own card": (nl.wan("9mbit", None, pairs=1, access=FAR), []),
    "a delay behind it": (nl.wan("9mbit", None, pairs=1, access={"h2": "20ms"}), ["s1-s2"]),
    "no queue": (nl.wan(None, None, pairs=1), []),
    "TCLink": (nl.portfolio(), []),
    "TCLink without a delay": (
        CLOSE.but(
            links=[
                CLOSE.links[0],
                *(
                    nl.Link(*ends, rate="9mbit", both=True, tclink=True)
                    for ends in (("s1", "s2"), ("s2", "h2"))
                ),
            ]
        ),
        ["s1-s2", "s2-h2"],
    ),
    "before a router": (of_line("9mbit", None), ["s1-r1"]),
    "on a router": (of_line(None, "9mbit"), []),
    "on both": (of_line("9mbit", "9mbit"), ["s1-r1"]),
    "the host's own card": (direct("h1", "h2"), []),
    "a line from the host": (of_line("9mbit", None, rate="99mbit", serialise=True), []),
    "a link that emulates the other way": (direct("h2", "h1"), []),
    "noise before the queue": (
        CLOSE.but(
            hosts=NOISY,
            links=[*CLOSE.links[:1], nl.Link("s1", "s2"), nl.Link("s2", "h2", rate="9mbit")],
        ),
        [],
    ),
    "noise behind it": (CLOSE.but(hosts=NOISY), ["s1-s2"]),
}


@pytest.mark.parametrize(("topology", "links"), QUEUES.values(), ids=QUEUES)
def test_mininet_on_this_machine_has_queues_that_count_against_the_sender(topology, links):
    found = topology.queues_that_the_sender_sees("h1", "h2")
    assert [f"{link.a}-{link.b}" for link in found] == links
    tests = nl.Iperf3("h1", "h2"), nl.Iperf3("h2", "h1", reverse=True, udp=True)
    told = [text for text in doubts_of(topology, *tests, engine="mininet") if "kernel" in text]
    assert [links[0] in one for one in told] == [True, True] if links else told == []
    for engine in ("guest", "recorded"):
        assert not [text for text in doubts_of(topology, *tests, engine=engine) if "kernel" in text]


def test_mininet_on_this_machine_tells_that_a_change_takes_a_delay_away():
    changes = [
        nl.Change("s2", "s1", at, delay=delay) for at, delay in (("1s", "0ms"), ("2s", "9ms"))
    ]
    traffic = nl.Iperf3("h1", "h2"), nl.Ping("h1", "h2"), *changes
    (told,) = doubts_of(WAN, *traffic, engine="mininet")
    assert "flow 1, from 1s on" in told and "s1-s2" in told
    assert doubts_of(WAN, *traffic) == []


def test_it_tells_so_of_the_queues_that_the_delay_came_before_and_no_others():
    taken = nl.Change("h1", "s1", "1s", delay="0ms")
    path = nl.wan("9mbit", None, pairs=1, access=FAR)
    (told,) = doubts_of(path, nl.Iperf3("h1", "h2"), taken, engine="mininet")
    assert "from 1s on" in told and "s1-s2" in told
    own, taken = direct("h1", "h2", delay="20ms"), nl.Change("h1", "h2", "1s", delay="0ms")
    assert doubts_of(own, nl.Iperf3("h1", "h2"), taken, engine="mininet") == []
    assert (
        doubts_of(
            WAN, nl.Ping("h1", "h2", count=9), taken.but(src="s1", dst="s2"), engine="mininet"
        )
        == []
    )


def test_a_result_of_mininet_warns_of_such_a_queue():
    here = nl.run(CLOSE, nl.Iperf3("h1", "h2", time=1))
    assert here.warnings == []
    there = here.provenance | {"engine": "mininet", "engine_digest": None}
    with pytest.warns(nl.LinkWarning, match="flow 1 .* s1-s2"):
        told = nl.running.result.Result(here.experiment, here.raw, here.commands, there).warnings
    assert len(told) == 1


SETUP = [f"{node} {line}" for node, line in PAIR.setup()]
NETEM = "tc qdisc add dev h1-eth0 root handle 1: netem delay 20ms"
TBF = "tc qdisc add dev h1-eth0 parent 1: handle 2: tbf rate 10gbit burst 5000000 limit 15000000"


@pytest.mark.parametrize(
    ("line", "offloading", "words"),
    [
        (f"{CHANGE} burst 1513 limit 75000", True, "1513 bytes never passes a frame of 1514"),
        (f"sudo {CHANGE} burst 1kb limit 75000", False, "1024 bytes never passes a frame of 1514"),
        (f"{CHANGE} burst 15000 limit 75000", True, "up to 25000 bytes may wait"),
        (f"{CHANGE} burst 15000 limit 75000", False, ""),
        (f"{CHANGE} burst 25000 limit 75000", True, ""),
        (f"tc qdisc del dev h1-eth0 root && {NETEM} && {TBF}", True, ""),
        (f"tc qdisc del dev h1-eth0 root && {NETEM} && {TBF}", False, "are 16513 frames"),
        (f"tc qdisc del dev h1-eth0 root && {NETEM} limit 40000 && {TBF}", False, ""),
        ("tc -s qdisc show dev h1-eth0", True, ""),
        (f"{CHANGE} burst lots limit 75000", True, ""),
        ("tc qdisc change dev h1-eth0 root netem", False, ""),
    ],
)
def test_a_typed_line_that_would_leave_a_link_dead_is_told(line, offloading, words):
    found = doubts(line, SETUP, offloading)
    assert [words in one for one in found] == [True] * bool(words)


def test_a_line_is_told_where_it_was_typed(capsys):
    with nl.Network(PAIR) as net:
        typed = net.type("h1", f"{CHANGE} burst 9000 limit 75000")
        assert len(typed.doubts) == 1 and typed.doubts[0] in capsys.readouterr().out
        assert typed.doubts[0] not in typed.text
        with pytest.warns(nl.LinkWarning, match="1000 bytes never passes"):
            net.run("h1", f"{CHANGE} burst 1000 limit 75000")
        assert net.type("h1", f"{CHANGE} burst 9000 limit x").doubts == [], "tc has refused it"
