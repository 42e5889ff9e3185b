"""What `nl.run` says where a run fails."""

import subprocess
import sys

import pytest

import netlab as nl

PATH = nl.wan("100mbit", "20ms", pairs=1)


@pytest.mark.parametrize(
    ("ended", "late"),
    [("ping -c 1 10.0.0.2", "sleep 100"), ("echo done", "ping 10.0.0.2"), ("true", "iperf3 -s")],
)
def test_at_the_limit_the_program_that_had_not_ended_is_named(ended, late):
    with pytest.raises(nl.CommandError, match="had not ended") as caught:
        nl.run(PATH, nl.Shell("h1", ended), nl.Shell("h2", late), virtual_limit_s=5)
    assert caught.value.command == late
    assert f"`{ended}`" not in str(caught.value)


def test_at_the_limit_all_that_had_not_ended_are_named():
    with pytest.raises(nl.CommandError) as caught:
        nl.run(
            PATH,
            *(nl.Shell("h1", text) for text in ("true", "sleep 100", "ping 10.0.0.2")),
            virtual_limit_s=5,
        )
    assert "`sleep 100`" in str(caught.value) and "`ping 10.0.0.2`" in str(caught.value)
    assert "`true`" not in str(caught.value)


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
    done = subprocess.run(
        [sys.executable, "-c", GREEDY], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1 and "4 GB" in done.stderr and "Traceback" not in done.stderr
