"""Algorithms that fail: each ends in its error, at its line, in bounded time; it leaves nothing
behind, and the next run has the bytes of one without the accident.
"""

import contextlib
import os
import re
import select
import socket
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

import netlab as nl
from netlab.algorithms.control_process import ACK, ANSWER, ASK, FIELDS, LONGEST_S, LOSS, START
from netlab.algorithms.source import Algorithm
from netlab.engines.guest.hooks import Control

PATH = nl.wan("100mbit", "20ms", burst=15_000, limit=250_000, pairs=1)
# a guest that boots on a machine that does much else, and two looks at the clock
MARGIN_S = 60
WRITTEN = "/tmp/written-by-an-algorithm"
MODULES = (
    "asyncio ctypes datetime faulthandler numpy os random signal subprocess sys threading time"
)

# The body of `on_ack`, or of a class; the line at which it fails, from "Mine." on (without one:
# line 3, the first of the body); what its error says besides.
FAILS = [
    ("lost = {}\nreturn lost['no such key']", "on_ack, line 4: return", "KeyError: 'no such key'"),
    (
        "def __init__(self, share=0):\n    self.step = 1 / share",
        "__init__, line 3: self.step",
        "ZeroDivisionError",
    ),
    (
        "def on_ack(self, tcp, acked):\n    tcp.cwnd += acked\n"
        "def on_loss(self, tcp):\n    assert tcp.cwnd < 0, 'never'",
        "on_loss, line 5: assert",
        "AssertionError: never",
    ),
    (
        "def on_ack(self, tcp, acked):\n    tcp.cwnd = self.step(acked)\n"
        "def step(self, acked):\n    return acked.size",
        "step, line 5: return acked.size",
        "AttributeError: 'int'",
    ),
    ("raise ValueError('x' * 1_000_000)", None, r"ValueError: x{1000,1999} \.\.\."),
    ("tcp.cwnd -= 1000", None, "tcp.cwnd = -9.*: segments above 0"),
    ("tcp.pacing_bps = 0", None, "tcp.pacing_bps = 0: bit/s above 0"),
    ("tcp.cwdn = 3", None, "no attribute 'cwdn'"),
    ("tcp.rtt_s = 0", None, "property 'rtt_s'.* has no setter"),
    ("tcp.cwnd = numppy.mean([1, 2])", None, "NameError: name 'numppy'"),
    ("self.on_ack(tcp, acked)", None, r"(?s)lines more \.\.\..*RecursionError"),
    ("threading.Thread(target=print).start()", None, "with a thread, a run would not"),
    ("print('x' * 1000)", None, "printed more than 100,000 characters"),
    ("time.sleep(0.1)", None, "time.sleep: virtual time stands still"),
    ("tcp.cwnd = random.SystemRandom().random()", None, "numbers that come from the seed"),
    ("sys.exit(0)", None, "SystemExit: 0"),
    ("os._exit(0)", None, "ends by an exception"),
    ("os.kill(os.getpid(), signal.SIGKILL)", None, "only computes, nothing beyond"),
    (f"open('{WRITTEN}', 'w').write('x')", None, f"no files: it opens '{WRITTEN}'"),
    ("subprocess.run('true')", None, "only computes, no processes"),
    (
        "self.kept = []\nwhile True:\n    self.kept.append(bytes(10**8))",
        "on_ack, line 5: self.kept",
        "MemoryError",
    ),
    ("ctypes.string_at(0)", None, "nothing beyond itself"),
    ("os.closerange(0, 100)", "", "its process ended by itself"),
    ("input()", None, "lost sys.stdin"),
    (
        "def start(self, tcp):\n    raise ValueError('cannot start')",
        "start, line 3: raise",
        "ValueError: cannot start",
    ),
    (
        "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\nraise Odd",
        "on_ack, line 6: raise",
        "Odd, whose text",
    ),
    ("tcp.cwnd = 'many'", None, "tcp.cwnd = 'many': a number of segments"),
    ("tcp.ssthresh = numpy.array([1, 2])", None, r"tcp.ssthresh = array.*: a number"),
    (
        "print('\\N{OLD PERSONAL COMPUTER}' * 90_000, end='')\nraise ValueError('after 90,000')",
        "on_ack, line 4: raise",
        "after 90,000",
    ),
    ("self.seen = time.time()", None, "time.time: .* no clock but tcp.now_s"),
    ("self.seen = datetime.datetime.now()", None, "datetime.now: .* no clock but tcp.now_s"),
    ("tcp.cwnd = numpy.random.default_rng().random()", None, "numbers that come from the seed"),
    ("os.kill(os.getppid(), signal.SIGTERM)", None, "only computes, nothing beyond"),
    (f"os.open('{WRITTEN}', os.O_WRONLY | os.O_CREAT)", None, f"no files: it opens '{WRITTEN}'"),
    ("self.seen = open('/proc/uptime').read()", None, "no files: it opens '/proc/uptime'"),
    ("os.fork()", None, "only computes, no processes"),
    ("self.kept = bytearray(10**11)", None, "MemoryError"),
    ("faulthandler.cancel_dump_traceback_later()", None, "changes nothing beyond itself"),
    ("signal.setitimer(signal.ITIMER_REAL, 0)", None, "changes nothing beyond itself"),
    ("asyncio.run(asyncio.sleep(1))", None, "an algorithm"),
]


def mine(code):
    """An algorithm, as an experiment has it."""
    if not code.startswith("def "):
        code = f"def on_ack(self, tcp, acked):\n{textwrap.indent(code, '    ')}"
    imports = [f"import {name}\n" for name in MODULES.split() if f"{name}." in code]
    source = f"{''.join(imports)}class Mine(CongestionControl):\n{textwrap.indent(code, '    ')}\n"
    return {"name": "Mine", "parameters": {}, "source": source}


def ordinary():
    return nl.run(PATH, nl.Iperf3("h1", "h2", congestion=nl.algorithms.Reno, time=1)).raw


def run(code):
    return nl.run(PATH, nl.Iperf3("h1", "h2", congestion=mine(code), time=1))


def ask(code):
    """Ask the process that answers for this algorithm what a kernel would, without a kernel."""
    kernels, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with (
        kernels,
        its_end,
        contextlib.closing(Control([Algorithm(**mine(code))], 1, its_end)) as one,
    ):
        for event in (START, *[ACK] * 101, LOSS):
            fields = dict.fromkeys(FIELDS, 0) | {"event": event, "acked": 1, "cwnd": 10}
            fields |= dict.fromkeys(("source", "destination"), bytes(4))
            kernels.send(ASK.pack(*fields.values()))
            while one.socket in (ready := select.select([kernels, one.socket], [], [])[0]):
                one.hear()
            assert kernels in ready and kernels.recv(ANSWER.size + 1)


def accident(how, code):
    """What asking, or running, an algorithm raised, and how long it took."""
    began = time.monotonic()
    try:
        how(code)
    except nl.NetlabError as error:
        return error, time.monotonic() - began
    return None, time.monotonic() - began


@pytest.fixture(scope="module", autouse=True)
def untouched():
    """After all of these, an ordinary run is what it was before, and nothing is left."""
    before = ordinary()
    children = psutil.Process().children(recursive=True)
    yield
    assert psutil.Process().children(recursive=True) == children
    assert ordinary() == before


ENDLESS = [
    (ask, "while True:\n    pass", "on_ack, line"),
    (run, "while True:\n    pass", "on_ack, line"),
    (
        ask,
        "while True:\n    try:\n        tcp.cwnd = -1\n    except:\n        pass",
        "on_ack, line",
    ),
    (
        ask,
        "while True:\n    try:\n        time.sleep(1)\n"
        "    except BaseException:\n        self.again = True",
        "on_ack, line",
    ),
    (ask, "self.big = 10**10**8", "on_ack, line 3: self.big"),  # inside C, which hears no signal
    (ask, "def start(self, tcp):\n    self.big = sum(range(10**12))", "start, line 3: self.big"),
]


@pytest.fixture(scope="module")
def endless():
    """All that end at the watchdog, at once: they wait for it together."""
    with ThreadPoolExecutor(len(ENDLESS)) as pool:
        found = pool.map(lambda one: accident(*one[:2]), ENDLESS)
        return {one[:2]: end for one, end in zip(ENDLESS, found, strict=True)}


def check(error, place, cause):
    assert type(error) is nl.AlgorithmError, error
    first, *_ = str(error).splitlines()
    assert first == "Mine failed, and ended the run:"
    assert (f"Mine.{place}" if place else "Mine") in str(error) and re.search(cause, str(error)), (
        error
    )
    assert len(str(error)) < 4000
    assert not os.path.exists(WRITTEN)


def check_fails(how, code, place, cause):
    before = psutil.Process().children(recursive=True)
    error, took_s = accident(how, code)
    first = code.splitlines()[0]
    check(error, f"on_ack, line 3: {first}" if place is None else place, cause)
    assert took_s < MARGIN_S
    assert psutil.Process().children(recursive=True) == before


@pytest.mark.parametrize(
    ("code", "place", "cause"), [pytest.param(*one, id=one[0][:40]) for one in FAILS]
)
def test_what_fails_ends_in_its_error_at_its_line_and_leaves_nothing(code, place, cause):
    check_fails(ask, code, place, cause)


def test_what_fails_ends_its_run(draw):
    """One whose process ends, and some of the others."""
    ends = next(one for one in FAILS if "closerange" in one[0])
    for one in (ends, *draw("what fails").sample(FAILS, 2)):
        check_fails(run, *one)


@pytest.mark.parametrize(("how", "code", "place"), ENDLESS)
@pytest.mark.long
def test_what_never_ends_is_ended(how, code, place, endless):
    error, took_s = endless[how, code]
    check(error, place, "did not answer within 10 s")
    assert LONGEST_S < took_s < LONGEST_S + MARGIN_S


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
    both = nl.algorithms.Reno, mine("tcp.cwnd = 0")
    tests = [nl.Iperf3("h1", "h2", congestion=one, time=1) for one in both]
    with pytest.raises(nl.AlgorithmError, match=r"^Mine failed, and ended the run:\n  Mine.on_ack"):
        nl.run(PATH, *tests)


def test_a_class_that_fails_where_it_is_made_is_an_error_before_the_network_is_up():
    class Mine(nl.CongestionControl):
        made = time.time_ns()

        def on_ack(self, tcp, acked):
            """Nothing."""

    with pytest.raises(nl.AlgorithmError, match=r"Mine, line 2: made = .*\ntime.time_ns: an alg"):
        nl.run(PATH, nl.Iperf3("h1", "h2", congestion=Mine, time=1))


def test_a_process_that_cannot_start_is_an_error(monkeypatch):
    monkeypatch.setattr("netlab.algorithms.control_process.__file__", "/nowhere.py")
    error, _ = accident(ask, "tcp.cwnd = 1")
    assert re.search(r"ended by itself, with status 2\n.*nowhere.py", str(error))


def generator(self, tcp, acked):
    yield acked


async def coroutine(self, tcp, acked):
    """Nothing."""


@pytest.mark.parametrize(
    ("name", "method", "words"),
    [
        ("on_los", generator, r"Mine.on_los is never asked: .*on_loss is one"),
        ("on_ack", lambda self, tcp: None, r"Mine.on_ack is asked as on_ack\(tcp, acked\)"),
        ("on_ack", generator, r"Mine.on_ack must end with return"),
        ("on_ack", coroutine, r"Mine.on_ack must end with return"),
    ],
)
def test_methods_that_the_kernel_could_not_ask_are_refused_before_anything_starts(
    name, method, words
):
    made = type("Mine", (nl.CongestionControl,), {name: method})
    with pytest.raises(nl.SpecificationError, match=rf"Iperf3.congestion = .*{words}"):
        nl.Iperf3("h1", "h2", congestion=made)


def test_more_algorithms_than_names_are_refused():
    tests = [nl.Iperf3("h1", "h2", congestion=nl.algorithms.AIMD(0.5, n)) for n in range(1, 10)]
    with pytest.raises(nl.SpecificationError, match=r"9 congestion controls in Python"):
        nl.Experiment(PATH, *tests)
    assert len(nl.Experiment(PATH, *tests[:8], tests[0]).algorithms) == 8
