"""What experiments rest on, and only the guest's kernel and its packages decide."""

import math
import re
import textwrap

import pytest
from typer.testing import CliRunner

import netlab as nl
from netlab.cli.commands import app
from netlab.engines.guest import store


@pytest.fixture(scope="module")
def net():
    with nl.Network(nl.wan("100mbit", "20ms")) as net:
        net.start("h2", "iperf3 -s")
        yield net


def said(net, host, command, **limit):
    return net.run(host, command, echo=False, **limit).text


def test_the_engine_says_how_often_its_clock_ticks():
    shown = CliRunner().invoke(app, ["engine", "info"]).output
    assert f"timer ticks  {store.ticks_per_s()} per second" in shown


def test_a_timeout_is_late_by_at_most_a_tick(net):
    text = """
        import socket, time
        line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        line.bind(("127.0.0.1", 0))
        for ms in (1, 3, 7, 15):
            wait = (1000 * ms << 64).to_bytes(16, "little")  # a struct timeval
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, wait)
            began = time.monotonic()
            try:
                line.recv(1)
            except BlockingIOError:
                print(ms, 1000 * (time.monotonic() - began))
    """
    rows = re.findall(
        r"(\d+) ([\d.]+)", said(net, "h1", f"python3 - <<'E'\n{textwrap.dedent(text)}E")
    )
    assert len(rows) == 4
    tick_ms = 1000 / store.ticks_per_s()
    for wanted_ms, took_ms in rows:  # whole ticks, and what is left of the one that has begun
        most_ms = (math.ceil(int(wanted_ms) / tick_ms) + 1) * tick_ms + 0.05
        assert int(wanted_ms) <= float(took_ms) <= most_ms


@pytest.mark.parametrize("rate", ["10mbit", "100mbit", "1gbit"])
@pytest.mark.parametrize("delay", [None, "0ms"])
def test_without_a_delay_a_router_drops_and_no_flow_starves(rate, delay):
    """A packet that waits in a router slows down no sender but by its loss."""
    bdp = int(nl.units.rate_bps(rate) * 0.02 / 8)
    tests = [nl.Iperf3(f"h{n}", f"h{n + 1}", time=12, congestion="reno") for n in (1, 3)]
    path = nl.wan(rate, delay, burst=15_000, limit=max(bdp, 60_000), offload=False)
    flows = nl.run(path, *tests, seed=3).flows
    assert (flows.retransmits > 0).all()
    assert flows.received_bps.min() / flows.received_bps.sum() > 0.35


def test_what_waits_on_a_hosts_own_card_does_count(net):
    """TCP Small Queues: a sender keeps little in front of its own card, however slow that is."""
    slow = "tc qdisc add dev h1-eth0 root tbf rate 10mbit burst 5000 limit 50000000"
    said(net, "h1", slow)
    look = "sleep 3; tc -s qdisc show dev h1-eth0"
    shown = said(net, "h1", f"iperf3 -c 10.0.0.2 -t 5 >sent & {look}; wait; tail -3 sent")
    said(net, "h1", "tc qdisc del dev h1-eth0 root")
    (waiting, unit) = re.search(r"backlog (\d+)(K?)b", shown).groups()
    assert 0 < int(waiting) * (1024 if unit else 1) < 300_000
    assert re.search(r"9\.\d+ Mbits/sec +receiver", shown), shown


def test_a_hosts_own_card_paces(net):
    said(net, "h1", "sleep 2; tc qdisc add dev h1-eth0 root fq")  # the server may still be busy
    shown = said(net, "h1", "iperf3 -c 10.0.0.2 -t 4 --fq-rate 20M; tc -s qdisc show dev h1-eth0")
    said(net, "h1", "tc qdisc del dev h1-eth0 root")
    assert 19 < float(re.search(r"([\d.]+) Mbits/sec +receiver", shown)[1]) < 20.1, shown
    assert int(re.search(r"fastpath \d+ throttled (\d+)", shown)[1]) > 100


@pytest.mark.parametrize("distribution", ["uniform", "normal", "pareto", "paretonormal"])
def test_delays_vary_by_a_distribution(net, distribution):
    word = "" if distribution == "uniform" else f"distribution {distribution}"
    netem = f"tc qdisc add dev h1-eth0 root netem delay 20ms 2ms {word}"
    shown = said(
        net, "h1", f"{netem} && ping -q -i 0.01 -c 500 10.0.0.2; tc qdisc del dev h1-eth0 root"
    )
    low, mean, high, deviation = map(float, re.search(r"= ([\d./]+) ms", shown)[1].split("/"))
    assert abs(mean - 40) < 1 and low < 39
    spread = {"uniform": (1.0, 1.3), "normal": (1.8, 2.2)}.get(distribution, (1.0, 3.0))
    assert spread[0] < deviation < spread[1]
    assert (high > 43) == (distribution != "uniform")


def test_the_way_is_traced():
    path = nl.Topology(
        hosts=[nl.Host("h1", "10.0.1.1/24"), nl.Host("h2", "10.0.2.1/24")],
        switches=[],
        links=[nl.Link("h1", "r1"), nl.Link("r1", "h2", "20ms")],
        routers=[nl.Router("r1", ["10.0.1.254/24", "10.0.2.254/24"])],
    )
    with nl.Network(path) as net:
        shown = said(net, "h1", "traceroute -n -q 1 10.0.2.1")
    assert re.findall(r"^ *(\d+)  (\S+)", shown, re.M) == [("1", "10.0.1.254"), ("2", "10.0.2.1")]


def test_as_many_pairs_as_are_asked_for():
    """A host gets links once it has its namespaces, however busy the start is."""
    for pairs in (1, 31, 47):
        with nl.Network(nl.wan("100mbit", "20ms", pairs=pairs)) as net:
            own = {said(net, f"h{n}", "readlink /proc/self/ns/net") for n in (1, 2 * pairs)}
            assert len(own) == 2
