import subprocess
import sys

import pytest

import netlab as nl


def netlab(*words):
    return subprocess.run([sys.executable, "-m", "netlab", *map(str, words)], capture_output=True, text=True)


def test_run_leaves_what_save_leaves(tmp_path):
    experiment = nl.Experiment(nl.wan("100mbit", "20ms"), nl.Ping("h1", "h2"))
    (tmp_path / "experiment.json").write_text(experiment.to_json())
    done = netlab("run", tmp_path / "experiment.json", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert nl.load(tmp_path / "out").raw == nl.run(experiment).raw
    again = netlab("run", tmp_path / "experiment.json", "-o", tmp_path / "out")
    assert again.returncode == 1 and "is there already" in again.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace('"seed"', '"sead"'), ["Experiment.sead", "no such field"]),
        (lambda text: text.replace('"20ms"', '"-5ms"'), ["-5ms", "20ms"]),
        (lambda text: text[:50], ["not JSON"]),
    ],
)
def test_a_bad_experiment_is_refused_in_words(tmp_path, change, words):
    (tmp_path / "bad.json").write_text(change(nl.Experiment(nl.wan(), nl.Ping("h1", "h2")).to_json()))
    done = netlab("run", tmp_path / "bad.json", "-o", tmp_path / "out")
    assert done.returncode == 1 and all(word in done.stderr for word in words), done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "out").exists()


def test_doctor_and_engine_info_name_the_engine():
    digest = nl.engines.pick().digest
    for words in (["doctor"], ["engine", "info"]):
        done = netlab(*words)
        assert done.returncode == 0 and digest in done.stdout, done.stdout + done.stderr


def test_building_again_does_nothing():
    done = netlab("engine", "build")
    assert done.returncode == 0 and "There is an engine" in done.stdout
