"""What `nl.run` says where a run fails."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

import netlab as nl
from netlab.running.run import on_engine

PATH = nl.wan("100mbit", "20ms", pairs=1)


def test_at_the_limit_the_programs_that_had_not_ended_are_named():
    ended, late = ["ping -c 1 10.0.0.2", "true"], ["sleep 100", "ping 10.0.0.2", "iperf3 -s"]
    shells = [nl.Shell("h1", line) for line in (*ended, *late)]
    with pytest.raises(nl.CommandError, match="had not ended") as caught:
        nl.run(PATH, *shells, virtual_limit_s=5)
    assert caught.value.command in late
    named = [f"`{line}`" in str(caught.value) for line in (*ended, *late)]
    assert named == [False, False, True, True, True]


def test_the_engines_clock_is_for_experiments_that_were_given_none():
    machine = SimpleNamespace(clocks=("real",))
    for given, clock in (
        ({}, "real"),
        ({"clock": "cpu"}, "cpu"),
        ({"clock": "virtual"}, "virtual"),
    ):
        experiment = nl.Experiment(PATH, nl.Ping("h1", "h2"), **given)
        assert on_engine(experiment, machine).clock == clock


GREEDY = """
import sys
import netlab
from netlab.cli.commands import main
netlab.run = lambda *_, **__: bytearray(5 << 30)
sys.argv = ["netlab", "run", "experiment.json", "-o", "out", "--engine", "guest"]
main()
"""


def test_the_command_has_4_gb_of_memory_for_a_strangers_experiment(tmp_path):
    experiment = nl.Experiment(PATH, nl.Ping("h1", "h2"))
    (tmp_path / "experiment.json").write_text(experiment.to_json())
    command = [sys.executable, "-c", GREEDY]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "4 GB" in done.stderr and "Traceback" not in done.stderr
