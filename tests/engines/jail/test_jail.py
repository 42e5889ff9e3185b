"""A jail: what is in it, how it is talked to, and what a program in it cannot reach. The corpus of
tests/course/attacks.py tries the same with whole notebooks.
"""

import json
import math
import os
import resource
import sys

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab.engines.guest.hooks import COMPUTING
from netlab.engines.jail import Jail, JailedEngine, contents
from netlab.engines.jail.contents import copy, open_to_all
from netlab.engines.jail.process import pieces
from netlab.engines.jail.warden import ENVIRONMENT

PATH = nl.wan("10mbit", "20ms", burst=15_000, limit=30_000)
SAYS = """
import json, os, socket, sys
out = socket.socket(fileno=os.dup(1))
def say(value):
    out.send(b"." + json.dumps(value).encode())
    return out.recv(100_000)
"""


def said(code, **options):
    """What Python code in a jail says."""
    jail = Jail("-c", SAYS + code, **options)
    try:
        return json.loads(jail.talk()[1][1:])
    finally:
        jail.close()


ATTEMPTS = (
    'open("/run/python/x", "w")',
    'open("/run/netlab/netlab/units.py", "a")',
    'open("/job/x", "w")',
    'open("/dev/netlab", "r+b")',
    'open("/proc/1/environ").read()',
    'os.mkdir("/x")',
    "os.setuid(0)",
    "os.kill(1, 9)",
    "os.kill(os.getppid(), 9)",
    'os.mknod("/tmp/disk", 0o660 | 0o060000, os.makedev(98, 0))',
    'socket.create_connection(("127.0.0.1", 22), 1)',
    'socket.create_connection(("8.8.8.8", 53), 1)',
    'socket.getaddrinfo("localhost.localdomain", 80)',
)
LOOKS = """
import numpy, pandas, netlab, IPython, netlab.plots, plotly.graph_objects

def tried(attempt):
    try:
        exec(attempt)
        return "done"
    except (OSError, MemoryError) as error:
        return "refused"

status = dict(line.split(":", 1) for line in open("/proc/self/status"))
say({
    "versions": [sys.version, numpy.__version__, pandas.__version__],
    "ids": [os.getuid(), os.getgid(), os.getgroups(), status["NoNewPrivs"].strip()],
    "rights": [int(status[key], 16) for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "environment": dict(os.environ),
    "canary": os.path.exists(%r),
    "job": tried("os.listdir('/job')") == "done" and sorted(os.listdir("/job")),
    "folder": [os.getcwd(), open("course.json").read()],
    "memory": tried("bytearray(2 << 30)"),
    "attempts": {attempt: tried(attempt) for attempt in %r},
})
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What a program in a jail finds, where this process may open the usual number of files."""
    canary = tmp_path_factory.mktemp("outside") / "canary"
    canary.write_text("sings")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("A_SECRET", "swordfish")
            return said(LOOKS % (str(canary), ATTEMPTS), files={"course.json": "{}"})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_python_in_it_is_ours_and_programs_are_nobody_without_rights(seen):
    assert seen["versions"] == [sys.version, np.__version__, pd.__version__]
    assert seen["ids"] == [65534, 65534, [], "1"] and set(seen["rights"]) == {0}
    assert seen["memory"] == "refused"


def test_nothing_of_this_machine_is_seen(seen):
    assert "SECRET" not in "".join(seen["environment"]) and not seen["canary"]
    assert "swordfish" not in json.dumps(seen) and seen["environment"]["PYTHONHASHSEED"] == "0"
    assert seen["folder"] == ["/tmp/work", "{}"]
    # a umask may close it
    assert seen["job"] in (False, ["agent.py", "boot.sh", "fstab", "warden.py"])


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_it_may_not_is_refused(attempt, seen):
    assert seen["attempts"][attempt] == "refused"


def test_chance_comes_from_the_seed():
    first, second, other = (said("say(os.urandom(8).hex())", seed=seed) for seed in (1, 1, 2))
    assert first == second != other


def test_long_texts_go_in_and_out_in_pieces():
    code = """
heard = b""
while not heard.startswith(b"."):
    heard = out.recv(200_000)
    total = globals().get("total", 0) + len(heard) - 1
text = b"y" * total
while len(text) > 40_000:
    out.send(b"+" + text[:40_000])
    text = text[40_000:]
out.send(b"." + text)
"""
    jail = Jail("-c", SAYS + code)
    try:
        assert jail.say("x" * 330_001) == "y" * 330_001
    finally:
        jail.close()
    assert b"".join(piece[1:] for piece in pieces(b"a" * 120_000)) == b"a" * 120_000
    assert pieces(b"") == [b"."]


@pytest.mark.parametrize(
    "code, why",
    [
        ("sys.exit(3)", "ended by itself"),
        ('raise ValueError("so be it")', "ValueError: so be it"),
        ("while True: out.send(b'+' + b'x' * 60_000)", "sent more than 64 MB"),
    ],
)
def test_a_program_that_ends_or_floods_is_an_error(code, why):
    jail = Jail("-c", SAYS + code)
    try:
        with pytest.raises(nl.GuestError, match=why):
            while True:
                jail.talk()
    finally:
        jail.close()


def test_what_is_copied_can_be_read_by_nobody_whatever_the_umask(tmp_path):
    before = os.umask(0o077)
    try:
        made = tmp_path / "made"
        (made / "folder").mkdir(parents=True)
        (made / "folder" / "file").write_text("")
        copy(made / "folder" / "file", made / "other" / "copy")
    finally:
        os.umask(before)
    open_to_all(made)
    assert {path.stat().st_mode & 0o777 for path in (made, *made.rglob("*"))} == {0o755}


class Half(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd += acked if tcp.cwnd < tcp.ssthresh else acked / tcp.cwnd

    def on_loss(self, tcp):
        tcp.ssthresh = tcp.cwnd / 2


class Computes(Half):
    """Its windows depend on the last bits of what the C library and numpy compute."""

    def on_loss(self, tcp):
        x = 1 + tcp.now_s / 7 + tcp.cwnd / 11
        digits = math.exp(x) * 1e9 + math.sin(x * 1e5) * 1e12 + np.exp(np.float64(x)) * 1e9
        product = np.dot(np.full(64, x), np.sqrt(np.arange(64.0)))
        tcp.ssthresh = tcp.cwnd / 2 + (digits + product * 1e12) % 5


def test_an_algorithm_computes_in_a_jail_as_outside():
    assert COMPUTING.items() <= ENVIRONMENT.items()
    test = nl.Iperf3("h1", "h2", congestion=Computes, time=2)
    outside, inside = nl.run(PATH, test), nl.run(PATH, test, engine=JailedEngine())
    assert outside.raw == inside.raw and outside.flows.retransmits[0] > 0


class Divides(Half):
    def on_loss(self, tcp):
        1 / 0  # noqa: B018


class Exits(Half):
    def on_ack(self, tcp, acked):
        import ctypes

        ctypes.string_at(0)


@pytest.mark.parametrize("cls, why", [(Divides, "ZeroDivisionError"), (Exits, "Exits failed")])
def test_an_algorithm_that_fails_ends_the_run(cls, why):
    with pytest.raises(nl.AlgorithmError, match=why):
        nl.run(PATH, nl.Iperf3("h1", "h2", congestion=cls, time=2), engine=JailedEngine())


def test_every_file_of_netlab_that_is_copied_counts(monkeypatch, tmp_path):
    own = tmp_path / "netlab"
    (own / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(contents, "OWN", own)

    def digest():
        contents.identities.cache_clear()
        return contents.identities()[1]

    seen = {digest()}
    try:
        for name in ("page.html", "figure.js", "module.py", "table.toml"):
            (own / name).write_text("text")
            seen.add(digest())
        (own / "page.html").write_text("another text")
        seen.add(digest())
        assert len(seen) == 6
        (own / "__pycache__" / "module.pyc").write_text("compiled")
        assert digest() in seen
    finally:
        contents.identities.cache_clear()
