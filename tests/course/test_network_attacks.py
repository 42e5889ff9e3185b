"""Scripts of attackers: the grader sees the network that they have left, and nothing of theirs."""

import contextlib
from types import SimpleNamespace

import pytest

import netlab as nl
from netlab.course.grading import networks, runs
from netlab.engines import agent
from tests.course import network_attacks as attacks
from tests.course.test_networks import script

ASKED = [nl.course.rtt("h1", "h2", "29.9ms", "30.1ms")]
SEEN = "round-trip time from h1 to h2 is 0.001 ms: too little"  # with nothing set
ELSEWHERE = "pings from h1 to h2 are answered, but do not come to h2"
ANSWERED_ELSEWHERE = [name for name in attacks.PRETENDED if name.startswith(("the other", "a tu"))]
ANSWERED_ELSEWHERE.append("an interface of the same name")
TOGETHER = 3  # attacks in a script


def lines_of(name):
    return attacks.PRETENDED.get(name) or attacks.way(name)


def seen(names, engine):
    lines = "\n".join(map(lines_of, names))
    found = networks.reached(script(lines), script("", seed=5), ASKED, engine)
    return found.share, found.hint.partition(". There is ")[0]


@pytest.mark.long
def test_nothing_of_an_attackers_is_seen(engine, request, draw):
    names = [name for name in (attacks.WAYS | attacks.PRETENDED) if name not in ANSWERED_ELSEWHERE]
    draw("network attacks").shuffle(names)
    if not request.config.option.every:
        names = names[: len(names) // 4]
    for first in range(0, len(names), TOGETHER):
        group = names[first : first + TOGETHER]
        assert seen(group, engine) == (0, SEEN), group


@pytest.mark.parametrize("name", ["a thread whose leader has ended", "forks and exits, SCHED_FIFO"])
def test_who_is_not_there_when_it_is_looked_for_is_ended(name, engine):
    assert seen([name], engine) == (0, SEEN)


@pytest.mark.parametrize("name", ANSWERED_ELSEWHERE)
def test_pings_count_where_they_come_to_the_host(name, engine):
    assert seen([name], engine) == (0, ELSEWHERE)


@pytest.mark.long
@pytest.mark.parametrize("name", attacks.HARM)
def test_who_keeps_the_grader_from_looking_gets_nothing(name, engine, monkeypatch):
    monkeypatch.setattr(runs, "MOST_RUN_S", 4.0)
    with contextlib.suppress(runs.OverTime):
        assert seen([name], engine)[0] == 0


def test_what_a_program_leaves_that_the_grader_runs_is_ended_too(engine):
    lines = r"""h1 cat >a.py <<END
h1 import os, time, glob
h1 print(1)
h1 if os.fork():
h1     os._exit(0)
h1 os.setsid()
h1 for _ in range(2000):
h1     time.sleep(0.001)
h1     if not any(b"true" in open(one, "rb").read() for one in glob.glob("/proc/[0-9]*/cmdline")):
h1         continue
h1     for terminal in glob.glob("/dev/pts/[0-9]*"):
h1         open(terminal, "w").write("2\n")
h1 END"""
    asked = [
        nl.course.prints("h1", "/usr/bin/python3 /root/a.py", 1, 1),
        nl.course.prints("h1", "/usr/bin/sleep 0.1; /usr/bin/true", 2, 2),
    ]
    found = networks.reached(script(lines), script("", seed=5), asked, engine)
    assert (found.share, found.hint.partition(":")[2]) == (0, " no number, but nothing")


def test_programs_of_this_machine_are_not_ended_as_one():
    """... as `Mininet` runs them: a grader's look at such a network ends there."""
    with pytest.raises(RuntimeError, match="guest"):
        agent.Agent(SimpleNamespace(group=None)).do_end_all()
