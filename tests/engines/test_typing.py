"""The agent types on a job's terminal, and a wait ends at a mark: what it printed, in what time."""

import codecs
import os
import signal
import subprocess
import threading
import time

import pytest

from netlab.engines import agent

READS = "while read -r line; do echo got $line; printf 'END.'; done"


@pytest.fixture
def type_on(network):
    """A function: start a command whose terminal shows what is typed; -> its job, what types."""

    def start(command, host="h1"):
        job = network._session.start(host, command, echo=True)

        def type_(text, until, limit_s=60, **how):
            return network._session.type(job, text, until, limit_s, **how)

        return job, type_

    return start


def test_a_wait_ends_at_a_mark_that_comes_in_pieces(network, type_on):
    _, type_ = type_on("read x; printf EN; sleep 1; printf D; sleep 1; printf .b; sleep 9")
    before = network.clock
    answer = type_("go\n", "END.")
    assert (answer["status"], answer["ended_by"], answer["untyped"]) == ([None], "", 0)
    assert network.clock - before == pytest.approx(2, abs=0.01)


def test_a_mark_is_found_wherever_reads_cut_it():
    text, mark = b"xxENEND.yy", b"END."
    for cut in range(len(text)):
        for other in range(cut, len(text)):
            job = agent.Job.__new__(agent.Job)
            job.until, job.seen = mark, b""
            for piece in (text[:cut], text[cut:other], text[other:]):
                if job.until:
                    job.look(piece)
            assert job.until == b""


def test_only_what_comes_after_the_keys_counts(network, type_on):
    job, type_ = type_on(f"printf 'END.'; {READS}")
    network.sleep(1)
    type_("one\n", "END.")
    assert job.text == "END.one\r\ngot one\r\nEND."
    assert type_("", "END.", 1, leave=True)["ended_by"] == "limit", "it does not come again"
    assert job.status is None


def test_a_terminal_shows_what_is_typed_only_where_that_is_asked_for(network, type_on):
    command = "stty size; read x; echo END."
    job, type_ = type_on(command)
    network.sleep(1)
    type_("go\n", "END.")
    assert job.text.split() == ["50", "200", "go", "END."]
    job = network.start("h1", command)
    network._session.type(job, "go\n", "END.", 60)
    assert job.text.split() == ["50", "200", "END."]


def test_what_has_ended_takes_no_keys(network, type_on):
    job, type_ = type_on("exit 3")
    network._session.wait([job], 60)
    clock = network.clock
    answer = type_("ls\n", "END.")
    assert (answer["status"], answer["untyped"], job.status) == ([3], 3, 3)
    assert network.clock == pytest.approx(clock, abs=0.001)


def test_it_may_end_while_it_is_waited_for(network, type_on):
    _, type_ = type_on("read x; exit 4")
    assert type_("ls\n", "END.")["status"] == [4]


def test_a_full_terminal_holds_nobody_up(network, type_on):
    """Whatever it cannot take is given back at the limit, and what reads later gets the rest."""
    job, type_ = type_on("trap '' INT; sleep 1000")
    keys, before = "x\n" * 100_000, network.clock
    answer = type_(keys, "", 2, leave=True)
    assert answer["ended_by"] == "limit" and 0 < answer["untyped"] < len(keys)
    assert network.clock - before == pytest.approx(2, abs=0.01)
    job.stop()
    assert job.status == -signal.SIGKILL, "it could not even take Ctrl-C"
    job, type_ = type_on("sleep 1; stty -echo; exec cat >/dev/null")
    assert type_(keys, "", 60, leave=True)["untyped"] == 0


def test_at_its_limit_it_is_ended_or_left_running(network, type_on):
    _, type_ = type_on("trap 'echo heard; printf END.' INT; while :; do sleep 1; done")
    network.sleep(0.1)
    before = network.clock
    answer = type_("x", "END.", 2.5, leave=True)
    assert (answer["ended_by"], answer["status"]) == ("limit", [None])
    assert network.clock - before == pytest.approx(2.5, abs=0.01)
    answer = type_("x", "END.", 2.5)
    assert (answer["ended_by"], answer["status"]) == ("limit", [None])
    assert type_("", "never", 1)["status"] == [-signal.SIGKILL]


def test_the_moment_of_ctrl_c_is_told(network, type_on):
    _, type_ = type_on("sleep 1000000")
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    before = network.clock
    answer = type_("x", "END.", 1_000_000)
    assert answer["ended_by"] == "interrupt" and answer["status"] == [-signal.SIGINT]
    assert answer["after_s"] == pytest.approx(network.clock - before, abs=0.01)
    assert round(answer["after_s"] * 20) == pytest.approx(answer["after_s"] * 20)


def test_a_program_that_closes_its_terminal_is_waited_for_all_the_same(network):
    closed = "exec </dev/null >/dev/null 2>&1; sleep 2; echo again >/dev/tty; sleep 1"
    job = network._session.start("h1", closed)
    before = network.clock
    assert job.wait().status == 0 and job.text == "again\n"
    assert network.clock - before == pytest.approx(3, abs=0.05)


def test_a_terminal_that_nobody_holds_is_not_polled(monkeypatch):
    """Its poll would return at once, again and again."""

    class Line:
        def send(self, **message):
            said.append(message)

        def interrupted(self):
            return None

    said, polls, poll = [], [], agent.select.poll
    monkeypatch.setattr(agent.select, "poll", lambda: polls.append(1) or poll())
    job = agent.Job.__new__(agent.Job)
    job.number, job.status, job.keys, job.until, job.held = 1, None, b"", None, True
    job.decoder = codecs.getincrementaldecoder("utf-8")("replace")
    job.terminal, theirs = os.openpty()
    name = os.ttyname(theirs)
    os.close(theirs)
    os.set_blocking(job.terminal, False)
    with subprocess.Popen(["sleep", "60"]) as job.process:
        job.ended = os.pidfd_open(job.process.pid)
        nobody = agent.Agent(Line())
        nobody.open.append(job)
        try:
            nobody.run_time(time.monotonic_ns() + 3 * agent.TICK_NS)
            assert len(polls) < 20  # one or two for each tick, not thousands
            with open(name, "w") as again:
                again.write("again")
                again.flush()
                nobody.pump()
                assert job.held and {"job": 1, "out": "again"} in said
            job.signal(b"I")  # nobody holds it
        finally:
            job.process.kill()
            job.close()
