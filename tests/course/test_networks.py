"""Networks as answers: what was typed is carried out again, and the grader's own commands find what
the network then does. Who gets there by another way is right; who pretends is not.
"""

import json

import pytest

import netlab as nl
from netlab.course import invented
from netlab.course.checks import states
from netlab.course.grading import networks, recipe, runs, solution
from netlab.course.sets import source
from netlab.running.history import History, Step
from tests import cases
from tests.course import typed

SLOW = [
    nl.course.rtt("h1", "h2", "29.9ms", "30.1ms"),
    nl.course.goodput("h1", "h2", "90mbit", "97mbit", seconds=1),
]
PATH = nl.wan(None, None, pairs=1)
TBF = "tbf rate 100mbit burst 50000 limit 500000"
FAKED = """s1 tc qdisc add dev s1-eth2 root netem delay 30ms rate 50mbit
h1 mkdir bin; printf '#!/bin/sh\\necho 95 Mbits/sec\\n' >bin/iperf3; chmod +x bin/iperf3
h1 export PATH=~/bin:$PATH
h1 alias iperf3='echo 95 Mbits/sec'
h1 ping() { echo time=30.0 ms; }; export -f ping
h1 mount --bind bin/iperf3 /usr/bin/iperf3
h2 mount --bind bin/iperf3 /usr/bin/iperf3
h1 iperf3 -c 10.0.0.2"""
# It waits for the grader's server, stops it, and writes a test of before on every terminal.
WRITER = r"""
import ctypes, glob, os, threading, time
said, libc = open("said.json").read(), ctypes.CDLL(None)
def write():
    while True:
        time.sleep(0.05)
        for place in glob.glob("/proc/[0-9]*"):
            with open(place + "/cmdline") as file:
                words = file.read().split(chr(0))
            if "52019" in words and "-s" in words and "iperf3" in words[0]:
                os.kill(int(place[6:]), 19)
                for terminal in glob.glob("/dev/pts/[0-9]*"):
                    with open(terminal, "w") as file:
                        file.write(said)
                os.kill(int(place[6:]), 9)
libc.prctl(15, b"x) S 2 " + bytes([10]), 0, 0, 0)  # looks like a thread of the kernel
if os.fork():
    write()
threading.Thread(target=write).start()
libc.syscall(60, 0)  # looks as if it had ended
""".strip().replace("\n", "\nh2 ")
WAYS = {
    "one netem": "s1 tc qdisc add dev s1-eth2 root netem delay 30ms rate 100mbit",
    "there and back": f"s2 tc qdisc add dev s2-eth1 root netem delay 30ms\n"
    f"s1 tc qdisc add dev s1-eth2 root {TBF}",
    "a batch, with a slip before": "s1 tc qdisk add\n"
    "s1 cat >lines <<END\n"
    "s1 qdisc add dev s1-eth2 root handle 1: netem delay 30ms\n"
    f"s1 qdisc add dev s1-eth2 parent 1: {TBF}\n"
    "s1 END\n"
    "s1 tc -batch lines\n"
    "h2 iperf3 -s  #: stays\n"
    "h1 iperf3 -c 10.0.0.2 -t 1\n"
    "h2 ^C",
}
PRETENDED = {
    "programs, an alias and a function of one's own": (FAKED, "goodput from h1 to h2 is"),
    "nothing": ("", "nothing has been typed on it"),
    "the numbers printed": (
        "h1 echo '64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=30.0 ms'\n"
        "h1 echo '[SUM] 0.00-10.00 sec 95.0 Mbits/sec receiver'",
        "round-trip time from h1 to h2 is 0.",
    ),
    "a server of one's own": (
        "s1 tc qdisc add dev s1-eth2 root netem delay 30ms rate 50mbit\nh2 iperf3 -s -p 52019 -D",
        "goodput from h1 to h2 is",
    ),
    "a program that writes on the grader's terminal": (
        "s1 tc qdisc add dev s1-eth2 root netem delay 30ms\n"
        "h2 iperf3 -s -1 -J >said.json &\n"
        "h1 iperf3 -c 10.0.0.2 -t 3 -b 93M\n"
        f"h2 cat >writer.py <<END\nh2 {WRITER}\nh2 END\n"
        "h2 setsid python3 writer.py >/dev/null 2>&1 &",
        "goodput from h1 to h2 is",
    ),
}


def script(lines, topology=PATH, seed=7, printed=""):
    """A script as a student's notebook gives it."""
    told = {"topology": topology.model_dump(mode="json"), "seed": seed, "clock": "virtual"}
    return f"{json.dumps(told)}\n{lines}\n{printed}"


def reached(lines, engine, wanted=SLOW, **about):
    own = script("", seed=5)
    found = networks.reached(script(lines, **about), own, wanted, engine)
    return found.share, found.hint


@pytest.mark.parametrize("way", cases(WAYS))
def test_another_way_is_right(way, engine):
    assert reached(WAYS[way], engine) == (1, "")


@pytest.mark.parametrize("what", cases(PRETENDED, quick=3))
def test_who_pretends_gets_nothing(what, engine):
    lines, why = PRETENDED[what]
    share, hint = reached(lines, engine)
    assert share == 0 and why in hint


ONLY_PINGS = """s1 tc qdisc add dev s1-eth2 root handle 1: prio
s1 tc qdisc add dev s1-eth2 parent 1:1 tbf rate 100mbit burst 50000 limit 15000000
s1 tc qdisc add dev s1-eth2 parent 1:3 netem delay 30ms
s1 tc filter add dev s1-eth2 parent 1: pref 1 protocol ip u32 match ip protocol 1 0xff flowid 1:3
s1 tc filter add dev s1-eth2 parent 1: pref 2 matchall flowid 1:1"""
FOR_NOBODY = """s1 tc qdisc add dev s1-eth2 root handle 1: prio
s1 tc qdisc add dev s1-eth2 parent 1:1 tbf rate 100mbit burst 50000 limit 15000000
s1 tc qdisc add dev s1-eth2 parent 1:3 netem loss 1%
s1 tc filter add dev s1-eth2 parent 1: matchall flowid 1:1"""


def test_a_test_has_the_delay_and_the_loss_itself(engine):
    pings = nl.course.rtt("h1", "h2", "29.9ms", "30.1ms")
    there = nl.course.goodput("h1", "h2", "90mbit", seconds=1, rtt_at_least="29.9ms")
    share, hint = reached(ONLY_PINGS, engine, [pings, there])
    assert share == 0 and "round-trip time of a test from h1 to h2 is" in hint
    assert reached(WAYS["one netem"], engine, [there])[0] == 1
    lost = [
        nl.course.says("s1", "/usr/sbin/tc qdisc show dev s1-eth2", "loss 1%"),
        nl.course.goodput("h1", "h2", seconds=1, resent=3),
    ]
    share, hint = reached(FOR_NOBODY, engine, lost)
    assert share == 0 and "sends 0 segments again" in hint
    real = "s1 tc qdisc add dev s1-eth2 root netem loss 1% rate 100mbit"
    assert reached(real, engine, lost) == (1, "")


def test_a_program_of_the_students_is_run_last(engine):
    lines = """h1 cat >/root/a.py <<END
h1 import os
h1 print(1)
h1 os.system("tc qdisc add dev h1-eth0 root netem delay 30ms")
h1 END"""
    runs_it = nl.course.prints("h1", "/usr/bin/python3 /root/a.py", 1, 1)
    share, hint = reached(lines, engine, [runs_it, nl.course.rtt("h1", "h2", "29ms")])
    assert share == 0 and "round-trip time from h1 to h2" in hint


def test_the_first_line_and_what_was_printed_count_for_nothing(engine):
    easy = nl.wan("100mbit", "30ms", pairs=1)
    share, hint = reached("h1 ping -c 1 10.0.0.2", engine, topology=easy)
    assert share == 0 and hint.startswith(networks.OTHER)
    edited = f"#: printed 12 bytes, sha256 {'0' * 64}\n"
    assert reached(WAYS["one netem"], engine, printed=edited, seed=99) == (1, "")


def test_a_hint_names_the_interface_that_was_met_and_those_of_the_way(engine):
    other = WAYS["one netem"].replace("s1-eth2", "s1-eth1")
    share, hint = reached(other, engine, SLOW[1:])
    assert share == 0 and "goodput from h1 to h2 is" in hint
    assert "netem at s1-eth1;" in hint and hint.endswith("leave by h1-eth0, s1-eth2, s2-eth2")


def test_states_are_looked_at_by_the_full_path(engine):
    lines = "h1 sysctl -qw net.ipv4.tcp_rmem='4096 87380 50000000'"
    sysctl = "/usr/sbin/sysctl net.ipv4.tcp_rmem"
    here, there = (nl.course.prints(host, sysctl, 50e6) for host in ("h1", "h2"))
    address = nl.course.says("h1", "/usr/sbin/ip route", r"10\.0\.0\.0/8 dev h1-eth0")
    assert reached(lines, engine, [here, address]) == (1, "")
    assert reached(lines, engine, [there]) == (0, f"`{sysctl}` on h2 is 16777216: too little")


HOSTILE = {
    "an endless loop": "h1 while :; do :; done",
    "a million lines": "h1 true\n" * 1_000_000,
    "a thousand and one lines": "h1 true\n" * 1_001,
    "no number": "sh sleep inf",
    "the agent killed": "h1 kill -9 -1",
    "keys that are none": "keys h1 [[[[",
    "no JSON": None,
    "deep": None,
    "a fork bomb": "h1 b() { b | b & }; b; wait",
    "no end of sleep": "sh sleep 1000000",
    "a sleep of a shell": "h1 sleep 100000",
    "power off": "h1 echo o >/proc/sysrq-trigger; reboot -f",
    "no end of output": "h1 yes",
    "the disk full": "h1 cat /dev/zero >/tmp/zero",
    "keys": 'keys h1 "\\u001b]0;title\\u0007\\u001b[2J\\u001bc\\u0003\\u0004"',
    "a job that is none": "stop 17",
    "a host that is none": "run h9 true",
}
TEXTS = {"no JSON": "{", "deep": "[" * 50_000}


@pytest.mark.parametrize("what", cases(HOSTILE, quick=8))
def test_a_hostile_script_gets_nothing(what, engine, monkeypatch):
    monkeypatch.setattr(runs, "MOST_RUN_S", 3.0)
    text = script(HOSTILE[what]) if HOSTILE[what] else TEXTS[what]
    try:
        found = networks.reached(text, script("", seed=5), SLOW, engine)
    except runs.OverTime:
        return
    assert found.share == 0 and found.hint.isprintable()


def test_a_notebook_has_what_it_asks_of_networks_within_limits(engine, monkeypatch):
    spent = {}
    held = networks.Networks(engine, spent)
    number = held.answer(None, {"op": "connect", "seed": 3})["network"]
    up = {"op": "up", "hosts": [["h1", "10.0.0.1/8"]], "switches": [], "links": [], "setup": []}
    assert held.answer(number, up)["events"] == []
    job = held.answer(number, {"op": "start", "host": "h1", "command": "sleep 9; echo on"})
    wait = {"op": "wait", "numbers": [job["answer"]["job"]], "limit_s": "000000600.000000"}
    answer = held.answer(number, wait)
    assert answer["answer"]["status"] == [0]
    assert {"job": 1, "out": "on\n"} in answer["events"]
    refused = held.answer(number, {"op": "sleep", "seconds": 1e6})
    assert refused["kind"] == "LimitError" and "300 virtual seconds" in refused["error"]
    assert not held.up
    for bad in (None, 5, {}, {"op": "connect"}, {"op": "watch"}, {"op": "wait"}, {"op": []}):
        assert held.answer(number, bad)["kind"] == "SpecificationError"
    for _ in range(networks.MOST_UP + 1):
        number = held.answer(None, {"op": "connect", "seed": 3})["network"]
    assert len(held.up) == networks.MOST_UP
    assert "up at once" in held.answer(number - networks.MOST_UP, wait)["error"]
    assert held.answer(number, up)["events"] == []
    held.close()
    assert not held.up and spent["runs"] == networks.MOST_UP + 2


def test_a_typed_set_is_graded_by_what_the_network_does(tmp_path):
    assignment, kept = source.read(typed.write(tmp_path)), runs.Runs(tmp_path / "runs")
    ((_, right, failure),) = solution.reference(assignment, ["ada"], kept)
    assert not failure
    work = invented.Work(invented.right, assignment, "ada")
    marks = recipe.grade(work.text, "ada", assignment, right, kept)
    assert (marks.points, marks.max_points, marks.flags) == (8, 8, [])


def test_the_own_check_says_at_once_whether_the_state_is_reached(capsys):
    with nl.Network(PATH, seed=7) as net:
        assert "nothing has been typed" in repr(nl.check_state(net, SLOW))
        net.type("s1", "tc qdisc add dev s1-eth2 root netem delay 30ms rate 50mbit", show=str)
        clock_s, steps = net.clock, len(net.history)
        found = nl.check_state(net, SLOW[:1])
        assert found.verdict == "noted" and found.hint.startswith(states.REACHED)
        assert found.hint.endswith(f"looked at: {SLOW[0]['what']} from h1 to h2")
        assert "goodput from h1 to h2 is" in repr(nl.check_state(net, SLOW))
        fails = nl.course.prints("h1", "/usr/bin/python3 -c 'import nothing'", 0, 0.5)
        assert "No module named" in repr(nl.check_state(net, [fails]))
        assert (net.clock, len(net.history)) == (clock_s, steps)
    assert capsys.readouterr().out == "", "what it types is not shown"
    assert "this is no network" in repr(nl.check_state(7, SLOW))
    with pytest.raises(nl.SpecificationError, match="a list, such as"):
        nl.check_state(History(net.history.network, [Step("h1", "true")]), {})
