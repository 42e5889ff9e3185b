"""Python on Windows has no fcntl, no os.fork, no SIGKILL and another default encoding. There, all
of netlab but its own engines works, and so do engines elsewhere.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import netlab as nl

ROOT = Path(__file__).parents[1]
TEXTS = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning:netlab"]
# Tests of what needs engines, processes or locks are not for Windows; all of these are.
SHORT = "tests/test_units.py", "tests/models/test_startup.py", "tests/plots/test_tables.py"
LONG = "tests/test_units.py", "tests/models", "tests/readers", "tests/course/test_check.py"
# as `exec:wsl netlab engine serve` is there; tests.without_unix starts this one
SERVE = f"exec:{sys.executable} -m netlab engine serve"


def on_windows(*arguments, options=(), engine="", **environment):
    variables = {key: value for key, value in os.environ.items() if key != "NETLAB_ENGINE"}
    variables |= {"PYTHONPATH": str(ROOT), "NETLAB_ENGINE": engine} | environment
    command = [sys.executable, *options, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=variables)


def printed(code, *arguments, **options):
    code = f"import tests.without_unix, sys, netlab as nl\n{code}"
    done = on_windows("-c", code, *arguments, options=TEXTS, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(*arguments, **options):
    code = "import tests.without_unix; from netlab.cli import main; main()"
    return on_windows("-c", code, *arguments, options=TEXTS, **options)


@pytest.mark.parametrize(
    "code",
    ["import fcntl", "import os; os.fork()", "import signal; signal.SIGKILL", "import pwd"],
)
def test_the_stand_in_refuses_what_it_should(code, tmp_path):
    (tmp_path / "netlab.py").write_text(code, encoding="utf-8")
    path = f"{tmp_path}{os.pathsep}{ROOT}"
    done = on_windows("-P", "-c", "import tests.without_unix, netlab", PYTHONPATH=path)
    assert "on Windows" in done.stderr.splitlines()[-1]


def test_every_module_but_those_of_engines_can_be_imported():
    away = "agent", "guest", "jail", "mininet", "serve"
    away = tuple(f"netlab.engines.{name}" for name in away)
    away += "netlab.course.grading", "netlab.course.adapters.", "netlab.__main__"
    code = f"""
import importlib, pkgutil
for module in pkgutil.walk_packages(nl.__path__, "netlab.", onerror=lambda name: None):
    if not module.name.startswith({away}):
        importlib.import_module(module.name)
        print(module.name)
"""
    names = {
        "netlab.engines.remote",
        "netlab.explore.duel",
        "netlab.cli.doctor",
        "netlab.cli.pages",
    }
    assert names <= {*printed(code).split()}


@pytest.mark.parametrize("files", [SHORT, pytest.param(LONG, marks=pytest.mark.long)])
def test_tests_that_need_no_engine_pass(files):
    options = "-q", "-p", "tests.without_unix", "-p", "no:cacheprovider", "-m", "not long"
    done = on_windows("-m", "pytest", *options, *files)
    assert done.returncode == 0, done.stdout[-5000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 20 * len(files)


@pytest.mark.long
def test_an_engine_elsewhere_gives_the_same_bytes():
    """A run, a live network, an algorithm, observers, and Ctrl-C."""
    path = nl.wan("100mbit", "20ms", "1%")
    runs = {
        "plain": nl.Experiment(path, nl.Iperf3("h1", "h2", parallel=2, time=1)),
        "own": nl.Experiment(
            path, nl.Iperf3("h1", "h2", congestion=nl.algorithms.Reno, time=1), nl.Windows("h1")
        ),
    }
    told = {name: one.to_json() for name, one in runs.items()}
    code = """
import json, _thread
found = {}
for name, text in json.loads(sys.argv[1]).items():
    found[name] = nl.run(nl.Experiment.from_json(text)).raw
class Half(nl.algorithms.AIMD):
    def on_loss(self, tcp):
        tcp.ssthresh = tcp.cwnd / 2
with nl.Network(nl.wan("100mbit", "20ms")) as net:
    found["live"] = net.run("h1", "ping -c 2 10.0.0.2").raw
    try:
        _thread.interrupt_main()  # as Jupyter does on Windows
        net.sleep(1)
    except KeyboardInterrupt:
        found["interrupted"] = net.run("h1", "echo still there").text
print(json.dumps(found))
"""
    found = json.loads(printed(code, json.dumps(told), engine=SERVE).splitlines()[-1])
    for name, one in runs.items():
        assert found[name] == nl.run(one, engine="guest").raw
    with nl.Network(nl.wan("100mbit", "20ms"), engine="guest") as net:
        assert found["live"] == net.run("h1", "ping -c 2 10.0.0.2").raw
    assert found["interrupted"] == "still there\n"


def test_doctor_says_what_there_is():
    done = command("doctor")
    assert done.returncode == 1 and done.stdout.startswith("FAIL  engine")
    assert "the engine needs Linux on x86-64" in done.stdout and "ssh://" in done.stdout


def test_commands_use_an_engine_elsewhere(tmp_path):
    done = command("doctor", engine=SERVE)
    assert done.returncode == 0 and "its bytes are the published ones" in done.stdout, done.stderr
    experiment = nl.Experiment(nl.wan("100mbit", "20ms"), nl.Ping("h1", "h2", count=2))
    (tmp_path / "experiment.json").write_text(experiment.to_json(), encoding="utf-8")
    out = tmp_path / "out"
    done = command("run", tmp_path / "experiment.json", "-o", out, "--engine", SERVE)
    assert done.returncode == 0, done.stderr
    assert nl.load(out).raw == nl.run(experiment, engine="guest").raw


@pytest.mark.parametrize("name", ["engine info", "course demo -o out"])
def test_commands_of_an_engine_here_say_that_it_cannot_be(name):
    done = command(*name.split())
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "needs Linux on x86-64" in done.stderr
