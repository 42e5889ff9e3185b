"""Ctrl-C, at whatever moment: it ends what runs, and nothing goes on as if nothing had happened."""

import signal
import threading

import pytest

import netlab as nl
from netlab.engines.transports import Packets
from netlab.running.job import Job


@pytest.fixture
def press(monkeypatch):
    """A function: Ctrl-C is pressed as soon as a question is asked for which `when(number,
    question)` holds; -> the questions, as they are asked.
    """
    honest = Packets.send

    def arm(when=lambda number, question: number == 1):
        questions = []

        def send(line, question, until):
            sent = honest(line, question, until)
            if sent:
                questions.append(question)
                if when(len(questions), question):
                    signal.raise_signal(signal.SIGINT)
            return sent

        monkeypatch.setattr(Packets, "send", send)
        return questions

    return arm


@pytest.mark.long
def test_a_run_ends_at_whatever_question_ctrl_c_comes(press):
    """Set-up, settling, check pings, servers, traffic, counters, packets that wait."""
    lossy = nl.wan("100mbit", "20ms", "1%")
    traffic = nl.Iperf3("h1", "h2", time=1), nl.Nstat("h1")
    questions = press(lambda number, question: False)
    nl.run(lossy, *traffic, engine="guest")
    asked = [question["op"] for question in questions]
    assert asked[:4] == ["up", "sleep", "start", "wait"] and asked.count("wait") == 8
    for chosen in [number for number, op in enumerate(asked, 1) if op != "start"]:
        press(lambda number, question, chosen=chosen: number == chosen)
        with pytest.raises(KeyboardInterrupt):
            nl.run(lossy, *traffic, engine="guest")


def test_it_ends_whatever_the_network_does_and_keeps_the_network(network, press):
    press(lambda number, question: question["op"] == "wait" and number < 4)
    job = network.run("h1", "ping 10.0.0.2", echo=False)
    assert job.status == 0 and "packets transmitted" in job.text
    never = lambda number, question: False  # noqa: E731
    for wait in (network.wait, Job.wait):
        press(never)
        job = network.start("h1", "ping 10.0.0.2")
        press()
        with pytest.raises(KeyboardInterrupt):
            wait(job)
        assert job.status == 0 and "packets transmitted" in job.text
    before = network.clock
    press()
    with pytest.raises(KeyboardInterrupt):
        network.sleep(1000)
    assert network.clock < before + 1
    for start in (network.run, network.start):  # one that is just being started does not run on
        press()
        with pytest.raises(KeyboardInterrupt):
            start("h1", "echo begun; sleep 1000")
        assert network.run("h1", "pgrep -x sleep | wc -l", echo=False).text == "0\n"
    job = network.start("h1", "trap '' INT; while sleep 1; do :; done")
    network.sleep(1)
    press()
    with pytest.raises(KeyboardInterrupt):
        job.stop()
    assert job.status == -signal.SIGKILL
    assert network.run("h1", "echo still here", echo=False).text == "still here\n"


@pytest.mark.parametrize("what", ["run", "start", "wait", "sleep"])
def test_another_thread_ends_whatever_the_network_does(network, monkeypatch, what):
    job, honest = network.start("h2", "sleep 1000"), Packets.send

    def send(line, question, until):
        sent = honest(line, question, until)
        other = threading.Thread(target=network.interrupt)
        other.start()
        other.join()
        return sent

    monkeypatch.setattr(Packets, "send", send)
    given = {"wait": [job], "sleep": [1000]}.get(what, ["h1", "sleep 1000"])
    with pytest.raises(KeyboardInterrupt):
        getattr(network, what)(*given)
