"""Algorithms that fail: each ends in its error, at its line, in bounded time; it leaves nothing
behind, and the next run has the bytes of one without the accident.
"""

import asyncio
import ctypes
import datetime
import faulthandler
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import psutil
import pytest

import netlab as nl
from netlab.engines.guest.control_process import LONGEST_S

PATH = nl.wan("100mbit", "20ms", burst=15_000, limit=250_000, pairs=1)
# a guest that boots on a machine that does much else, and two looks at the clock
MARGIN_S = 60
WRITTEN = "/tmp/written-by-an-algorithm"


class Case(NamedTuple):
    """An algorithm that fails.

    Attributes
    ----------
    cls : class
    place : str
        Where its error must say that it was.
    cause : str
        A regular expression of what its error must say besides.
    """

    cls: type
    place: str
    cause: str


CASES, ENDLESS = {}, {}


def fails(place, cause, among=CASES):
    """Note a class: where it fails, and why. It is put back as it was: an algorithm takes along
    what its decorators name, so these are not written above it.
    """

    def note(cls):
        among[cls.__name__] = Case(cls, place, cause)

    return note


class InOnAck(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        lost = {}
        return lost["no such key"]


class InInit(nl.CongestionControl):
    def __init__(self, share=0):
        self.step = 1 / share


class InStart(nl.CongestionControl):
    def start(self, tcp):
        raise ValueError("cannot start")


class InOnLoss(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd += acked

    def on_loss(self, tcp):
        assert tcp.cwnd < 0, "never"


class InAHelper(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = self.step(acked)

    def step(self, acked):
        return acked.size


class ALongMessage(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        raise ValueError("x" * 1_000_000)


class AMessageThatFails(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        class Odd(Exception):
            def __str__(self):
                raise ValueError

        raise Odd


class Zero(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = 0


class Negative(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd -= 1000


class NotANumber(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = float("inf") - float("inf")


class Huge(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = 10**12


class Infinite(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = float("inf")


class Text(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = "many"


class Nothing(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = print()


class Many(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.ssthresh = np.array([1, 2])


class NegativeThreshold(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.ssthresh = -1


class NoPace(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.pacing_bps = 0


class Misspelt(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwdn = 3


class OnlyRead(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.rtt_s = 0


class Deletes(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        del tcp.cwnd


class Forgets(nl.CongestionControl):
    def start(self, tcp):
        self.step = 1

    def on_ack(self, tcp, acked):
        tcp.cwnd += self.step
        del self.step


class Unknown(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = numppy.mean([1, 2])  # noqa: F821 - that it is misspelt is what is tested


class NoSuchModule(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        import numppy

        numppy.mean([1, 2])


class Deep(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        self.on_ack(tcp, acked)


class AThread(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        threading.Thread(target=print).start()


class Floods(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        print("x" * 1000)


class FloodsAtOnce(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        print("\N{OLD PERSONAL COMPUTER}" * 90_000, end="")
        raise ValueError("after 90,000 characters")


class Sleeps(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        time.sleep(0.1)


class AsksTheTime(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        self.seen = time.time()


class AsksTheDate(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        self.seen = datetime.datetime.now()


class ForRealChance(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = 1 + random.SystemRandom().random()


class ForNumpysChance(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = 1 + np.random.default_rng().random()


class Exits(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        sys.exit(0)


class ExitsAtOnce(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        os._exit(0)


class KillsItself(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        os.kill(os.getpid(), signal.SIGKILL)


class KillsItsParent(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        os.kill(os.getppid(), signal.SIGTERM)


class Writes(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        open(WRITTEN, "w").write("x")  # noqa: SIM115


class WritesBelow(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        os.open(WRITTEN, os.O_WRONLY | os.O_CREAT)


class Reads(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        self.seen = open("/proc/uptime").read()  # noqa: SIM115


class Runs(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        subprocess.run("true")


class Forks(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        os.fork()


class Swallows(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        self.kept = bytearray(10**11)


class SwallowsPieces(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        self.kept = []
        while True:
            self.kept.append(bytes(10**8))


class OutOfItsMemory(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        ctypes.string_at(0)


class StopsTheWatchdog(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        faulthandler.cancel_dump_traceback_later()


class StopsTheTimer(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        signal.setitimer(signal.ITIMER_REAL, 0)


class ClosesAll(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        os.closerange(0, 100)


class ReadsTheLine(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        input()


class WaitsForOthers(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        asyncio.run(asyncio.sleep(1))


class ForEver(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        while True:
            pass


class CatchesAll(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        while True:
            try:  # noqa: SIM105
                tcp.cwnd = -1
            except:  # noqa: E722 - what is tested
                pass


class CatchesTheRefusal(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        while True:
            try:
                time.sleep(1)
            except BaseException:
                self.again = True


class InsideC(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        self.big = 10**10**8


class SumsInC(nl.CongestionControl):
    def start(self, tcp):
        self.big = sum(range(10**12))


fails("InOnAck.on_ack, line 4: return", "KeyError: 'no such key'")(InOnAck)
fails("InInit.__init__, line 3: self.step", "ZeroDivisionError")(InInit)
fails("InStart.start, line 3: raise", "ValueError: cannot start")(InStart)
fails("InOnLoss.on_loss, line 6: assert", "AssertionError: never")(InOnLoss)
fails("InAHelper.step, line 6: return acked.size", "AttributeError: 'int'")(InAHelper)
fails("ALongMessage.on_ack, line 3: raise", r"ValueError: x{1000,1999} \.\.\.")(ALongMessage)
fails("AMessageThatFails.on_ack, line 7: raise", "Odd, whose text")(AMessageThatFails)
fails("Zero.on_ack, line 3: tcp.cwnd = 0", "tcp.cwnd = 0: segments above 0")(Zero)
fails("Negative.on_ack, line 3: tcp.cwnd -=", "tcp.cwnd = -9.*: segments above 0")(Negative)
fails("NotANumber.on_ack, line 3: tcp.cwnd", "tcp.cwnd = nan: segments above 0")(NotANumber)
fails("Huge.on_ack, line 3: tcp.cwnd", "tcp.cwnd = 1000000000000: .* most 10,000,000")(Huge)
fails("Infinite.on_ack, line 3: tcp.cwnd", "tcp.cwnd = inf: segments above 0")(Infinite)
fails("Text.on_ack, line 3: tcp.cwnd", "tcp.cwnd = 'many': a number of segments")(Text)
fails("Nothing.on_ack, line 3: tcp.cwnd", "tcp.cwnd = None: a number of segments")(Nothing)
fails("Many.on_ack, line 3: tcp.ssthresh", r"tcp.ssthresh = array.*: a number")(Many)
fails("NegativeThreshold.on_ack, line 3", "tcp.ssthresh = -1: segments above")(NegativeThreshold)
fails("NoPace.on_ack, line 3: tcp.pacing", "tcp.pacing_bps = 0: bit/s above 0")(NoPace)
fails("Misspelt.on_ack, line 3: tcp.cwdn", "no attribute 'cwdn'")(Misspelt)
fails("OnlyRead.on_ack, line 3: tcp.rtt_s", "property 'rtt_s'.* has no setter")(OnlyRead)
fails("Deletes.on_ack, line 3: del tcp.cwnd", "property 'cwnd'.* has no deleter")(Deletes)
fails("Forgets.on_ack, line 6: tcp.cwnd +=", "no attribute 'step'")(Forgets)
fails("Unknown.on_ack, line 3: tcp.cwnd", "NameError: name 'numppy'")(Unknown)
fails("NoSuchModule.on_ack, line 3: import", "No module named 'numppy'")(NoSuchModule)
fails("Deep.on_ack, line 3: self.on_ack", r"(?s)lines more \.\.\..*RecursionError")(Deep)
fails("AThread.on_ack, line 3: threading", "with a thread, a run would not")(AThread)
fails("Floods.on_ack, line 3: print", "printed more than 100,000 characters")(Floods)
fails("FloodsAtOnce.on_ack, line 4: raise", "after 90,000 characters")(FloodsAtOnce)
fails("Sleeps.on_ack, line 3: time.sleep", "time.sleep: virtual time stands still")(Sleeps)
fails("AsksTheTime.on_ack, line 3", "time.time: .* no clock but tcp.now_s")(AsksTheTime)
fails("AsksTheDate.on_ack, line 3", "datetime.now: .* no clock but tcp.now_s")(AsksTheDate)
fails("ForRealChance.on_ack, line 3", "numbers that come from the seed")(ForRealChance)
fails("ForNumpysChance.on_ack, line 3", "numbers that come from the seed")(ForNumpysChance)
fails("Exits.on_ack, line 3: sys.exit", "SystemExit: 0")(Exits)
fails("ExitsAtOnce.on_ack, line 3: os._exit", "ends by an exception")(ExitsAtOnce)
fails("KillsItself.on_ack, line 3: os.kill", "only computes, nothing beyond")(KillsItself)
fails("KillsItsParent.on_ack, line 3", "only computes, nothing beyond")(KillsItsParent)
fails("Writes.on_ack, line 3: open", f"no files: it opens '{WRITTEN}'")(Writes)
fails("WritesBelow.on_ack, line 3: os.open", f"no files: it opens '{WRITTEN}'")(WritesBelow)
fails("Reads.on_ack, line 3: self.seen", "no files: it opens '/proc/uptime'")(Reads)
fails("Runs.on_ack, line 3: subprocess", "only computes, no processes")(Runs)
fails("Forks.on_ack, line 3: os.fork", "only computes, no processes")(Forks)
fails("Swallows.on_ack, line 3: self.kept", "MemoryError")(Swallows)
fails("SwallowsPieces.on_ack, line 5: self.kept", "MemoryError")(SwallowsPieces)
fails("OutOfItsMemory.on_ack, line 3: ctypes", "nothing beyond itself")(OutOfItsMemory)
fails("StopsTheWatchdog.on_ack, line 3", "changes nothing beyond itself")(StopsTheWatchdog)
fails("StopsTheTimer.on_ack, line 3: signal", "changes nothing beyond itself")(StopsTheTimer)
fails("ClosesAll", "its process ended by itself")(ClosesAll)
fails("ReadsTheLine.on_ack, line 3: input", "lost sys.stdin")(ReadsTheLine)
fails("WaitsForOthers.on_ack, line 3: asyncio", "an algorithm")(WaitsForOthers)
fails("ForEver.on_ack, line", "did not answer within 10 s", ENDLESS)(ForEver)
fails("CatchesAll.on_ack, line", "did not answer within 10 s", ENDLESS)(CatchesAll)
fails("CatchesTheRefusal.on_ack, line", "did not answer within 10 s", ENDLESS)(CatchesTheRefusal)
fails("InsideC.on_ack, line 3: self.big", "did not answer within 10 s", ENDLESS)(InsideC)
fails("SumsInC.start, line 3: self.big", "did not answer within 10 s", ENDLESS)(SumsInC)


def ordinary():
    return nl.run(PATH, nl.Iperf3("h1", "h2", congestion=nl.algorithms.Reno, time=1)).raw


def accident(case):
    """What a run with this algorithm raised, how long it took, and what the next run left."""
    began = time.monotonic()
    try:
        nl.run(PATH, nl.Iperf3("h1", "h2", congestion=case.cls, time=1))
    except nl.NetlabError as error:
        raised = error
    else:
        raised = None
    return raised, time.monotonic() - began, ordinary()


@pytest.fixture(scope="module")
def untouched():
    return ordinary()


@pytest.fixture(scope="module")
def endless():
    """All that end at the watchdog, at once: they wait for it together."""
    with ThreadPoolExecutor(len(ENDLESS)) as pool:
        return dict(zip(ENDLESS, pool.map(accident, ENDLESS.values()), strict=True))


def check(case, found, untouched, most_s):
    raised, took_s, next_raw = found
    assert type(raised) is nl.AlgorithmError, raised
    first, *_ = str(raised).splitlines()
    assert re.fullmatch(rf"{case.cls.__name__}(\(.*\))? failed, and ended the run:", first)
    assert case.place in str(raised) and re.search(case.cause, str(raised)), raised
    assert len(str(raised)) < 4000
    assert took_s < most_s
    assert next_raw == untouched
    assert not os.path.exists(WRITTEN)


@pytest.mark.parametrize("name", CASES)
def test_what_fails_ends_in_its_error_at_its_line_and_leaves_nothing(name, untouched):
    before = psutil.Process().children(recursive=True)
    found = accident(CASES[name])
    check(CASES[name], found, untouched, MARGIN_S)
    assert psutil.Process().children(recursive=True) == before


@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_ended(name, endless, untouched):
    check(ENDLESS[name], endless[name], untouched, LONGEST_S + MARGIN_S)
    assert endless[name][1] > LONGEST_S


def test_an_exception_in_on_timeout():
    class Mine(nl.algorithms.Reno):
        def on_timeout(self, tcp):
            raise ValueError(f"out of time at {tcp.cwnd:.0f}")

    # everything is lost for a while, so that the timer runs out
    away = nl.Shell("h1", "sleep 1; ip link set h1-eth0 down; sleep 1; ip link set h1-eth0 up")
    with pytest.raises(nl.AlgorithmError, match=r"Mine.on_timeout, line 3: raise") as raised:
        nl.run(PATH, nl.Iperf3("h1", "h2", congestion=Mine, time=3), away)
    assert re.search(r"ValueError: out of time at \d+", str(raised.value))


def test_the_one_of_several_that_has_failed_is_named():
    tests = [nl.Iperf3("h1", "h2", congestion=one, time=1) for one in (nl.algorithms.Reno, Zero)]
    with pytest.raises(nl.AlgorithmError, match=r"^Zero failed, and ended the run:\n  Zero.on_ack"):
        nl.run(PATH, *tests)


def test_a_class_that_fails_where_it_is_made_is_an_error_before_the_network_is_up():
    class Mine(nl.CongestionControl):
        made = time.time_ns()

        def on_ack(self, tcp, acked):
            """Nothing."""

    with pytest.raises(nl.AlgorithmError, match=r"Mine, line 2: made = .*\ntime.time_ns: an alg"):
        nl.run(PATH, nl.Iperf3("h1", "h2", congestion=Mine, time=1))


def test_a_process_that_cannot_start_is_an_error(monkeypatch):
    monkeypatch.setattr("netlab.engines.guest.control_process.__file__", "/nowhere.py")
    with pytest.raises(nl.AlgorithmError, match=r"ended by itself, with status 2\n.*nowhere.py"):
        nl.run(PATH, nl.Iperf3("h1", "h2", congestion=Zero, time=1))


def misspelt():
    class Mine(nl.CongestionControl):
        def on_los(self, tcp):
            """Nothing."""

    return Mine


def another_signature():
    class Mine(nl.CongestionControl):
        def on_ack(self, tcp):
            """Nothing."""

    return Mine


def generator():
    class Mine(nl.CongestionControl):
        def on_ack(self, tcp, acked):
            yield acked

    return Mine


def coroutine():
    class Mine(nl.CongestionControl):
        async def on_ack(self, tcp, acked):
            """Nothing."""

    return Mine


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (misspelt, r"Mine.on_los is never asked: the kernel asks start, on_ack.*on_loss is one"),
        (another_signature, r"Mine.on_ack is asked as on_ack\(tcp, acked\): write def on_ack\(sel"),
        (generator, r"Mine.on_ack must end with return, without yield and async"),
        (coroutine, r"Mine.on_ack must end with return, without yield and async"),
    ],
)
def test_methods_that_the_kernel_could_not_ask_are_refused_before_anything_starts(made, words):
    with pytest.raises(nl.SpecificationError, match=rf"Iperf3.congestion = .*{words}"):
        nl.Iperf3("h1", "h2", congestion=made())


def test_more_algorithms_than_names_are_refused():
    tests = [nl.Iperf3("h1", "h2", congestion=nl.algorithms.AIMD(0.5, n)) for n in range(1, 10)]
    with pytest.raises(nl.SpecificationError, match=r"9 congestion controls in Python: .* for 8"):
        nl.Experiment(PATH, *tests)
    assert len(nl.Experiment(PATH, *tests[:8], tests[0]).algorithms) == 8
