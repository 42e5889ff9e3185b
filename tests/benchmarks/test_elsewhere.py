"""The same bytes from an engine here and elsewhere, and how long each takes: `make bench` prints a
table of ten experiments, a live session and problem set 1. ENGINES names more engines, with commas
between: ``ENGINES=ssh://lab.example.org``; AGAIN=1 measures once.
"""

import hashlib
import json
import os
import shlex
import subprocess
import sys
import time

import netlab as nl
from tests.engines import ssh_server

AGAIN = int(os.environ.get("AGAIN", 3))  # times that each is measured; the shortest counts
SERVE = [sys.executable, "-m", "netlab", "engine", "serve"]
SLOW, FAST = nl.wan("100mbit", "20ms"), nl.wan("1gbit", "20ms")
LOSSY = nl.wan("100mbit", "20ms", "0.1%")
SHALLOW = nl.wan("100mbit", "20ms", burst=15_000, limit=250_000)
FAIR = nl.wan("100mbit", "20ms", qdisc="fq_codel")


def both(first, second, **how):
    pairs = ("h1", "h2", first), ("h3", "h4", second)
    return [nl.Iperf3(*hosts, congestion=one, time=10, **how) for *hosts, one in pairs]


EXPERIMENTS = {
    "1 stream, 100 Mbit/s": (SLOW, [nl.Iperf3("h1", "h2", time=10)]),
    "8 streams, 1 Gbit/s": (FAST, [nl.Iperf3("h1", "h2", parallel=8, time=10)]),
    "8 streams, 10 Gbit/s": (nl.wan("10gbit"), [nl.Iperf3("h1", "h2", parallel=8, time=10)]),
    "Reno against BBR": (SLOW, both("reno", "bbr")),
    "loss, two streams": (LOSSY, [nl.Iperf3("h1", "h2", parallel=2, time=20)]),
    "portfolio": (nl.portfolio(), [nl.Iperf3(f"h{i}", f"h{i + 3}", time=20) for i in (1, 2)]),
    "windows, queue": (SHALLOW, [*both("reno", "cubic"), nl.Windows("h1"), nl.Queue("s1", "s2")]),
    "algorithm in Python": (SHALLOW, both(nl.algorithms.Reno, "reno")),
    "ping, simpleperf": (SLOW, [nl.Ping("h1", "h2", count=10), nl.Simpleperf("h3", "h4")]),
    "fq_codel": (FAIR, both("cubic", "reno", parallel=2)),
}


def digest(what):
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:8]


def live(engine):
    """What a session prints, with a program that goes on meanwhile."""
    with nl.Network(LOSSY, engine=engine, seed=3) as net:
        server = net.start("h2", "iperf3 -s")
        texts = [net.run("h1", "iperf3 -c 10.0.0.2 -t 5", echo=False).text]
        texts += [net.run("h3", "ping -c 5 10.0.0.4; nstat -az TcpRetransSegs", echo=False).text]
        server.stop()
        return digest([*texts, server.text, net.clock])


def problem_set(folder, address):
    """What the cells of problem set 1's solution show, by another Python; its start counts."""
    command = [sys.executable, "-m", "netlab", "course", "solution", "ps1", "--for", "ada"]
    environment = os.environ | {"NETLAB_ENGINE": address}
    subprocess.run([*command, "-o", folder], env=environment, check=True, capture_output=True)
    cells = json.loads((folder / "ps1.ipynb").read_text())["cells"]
    return digest([cell.get("outputs") for cell in cells])


def test_the_same_bytes_elsewhere(tmp_path):
    (tmp_path / "ssh").mkdir()
    with ssh_server.start(tmp_path / "ssh") as ssh:
        engines = {"native": "guest", "exec": "exec:" + shlex.join(SERVE), "ssh": ssh.address}
        more = os.environ.get("ENGINES")
        engines |= {one: one for one in more.split(",")} if more else {}
        what = {
            name: lambda address, path=path, traffic=traffic, seed=seed: digest(
                nl.run(path, *traffic, engine=address, seed=seed).raw
            )
            for seed, (name, (path, traffic)) in enumerate(EXPERIMENTS.items())
        }
        what["live session"] = live
        folders = (tmp_path / f"ps1-{number}" for number in range(10_000))
        what["problem set 1"] = lambda address: problem_set(next(folders), address)
        print("\n| | same bytes |", " s | ".join(engines), "s |")
        print("|---" * (2 + len(engines)) + "|")
        all_same = True
        for name, run in what.items():
            digests, shortest_s = {}, dict.fromkeys(engines, float("inf"))
            for _ in range(AGAIN):  # by turns: other programs slow all down
                for engine, address in engines.items():
                    began_s = time.monotonic()
                    digests.setdefault(run(address), []).append(engine)
                    shortest_s[engine] = min(shortest_s[engine], time.monotonic() - began_s)
            same = next(iter(digests)) if len(digests) == 1 else str(digests)
            all_same &= len(digests) == 1
            print(f"| {name} | {same} |", *(f"{one:.2f} |" for one in shortest_s.values()))
    assert all_same
