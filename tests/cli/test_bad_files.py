"""What `netlab run` and `netlab fairness` say of a file that is not what they need: one message
that names the file, status 1, and no traceback.
"""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import netlab as nl
from netlab.readers._common import read_file
from tests.readers import mutations

EXPERIMENT = nl.Experiment(nl.wan("100mbit", "20ms"), nl.Iperf3("h1", "h2"), nl.Ping("h1", "h2"))


def folder(path):
    path.mkdir()


def loop(path):
    path.symlink_to(path.name)


def unreadable(path):
    path.touch()
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("root may read every file")


def holds(data):
    return lambda path: path.write_bytes(data)


BAD = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "missing": lambda path: None,
    "folder": folder,
    "link to itself": loop,
    "unreadable": unreadable,
    "empty": holds(b""),
    "binary": holds(random.Random(1).randbytes(5000)),
    "half an UTF-16": holds(b"\xff\xfe\x00"),
    "text": holds(b"# Notes\n\nnothing of use\n"),
    "escapes": holds(b"\x1b[31m\x07{"),
    "other JSON": holds(b'{"a": [1, 2]}'),
    "a list": holds(b"[1, 2]"),
    "deep lists": holds(b"[" * 100_000),
    "deep objects": holds(b'{"error":' * 100_000),
    "a huge number": holds(b'{"start": ' + b"9" * 5000 + b', "intervals": [], "end": {}}'),
    "not UTF-8": holds(b'{"cells": ["\xe4"]}'),
    "a mistyped field": holds(EXPERIMENT.to_json().replace('"seed"', '"sead"').encode()),
    "an error with escapes": holds(rb'{"error": "\u001b[31m busy \ud800"}'),
}


def is_refusal(status, out, err):
    assert status == 1 and out == "" and err.startswith("netlab: "), err
    assert err.replace("\n", "").isprintable(), err
    return True


@pytest.mark.parametrize("name", ["file.json", b"\xff.json"], ids=["name", "bytes"])
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("what", ["run", "fairness"])
def test_a_file_that_is_none_is_named(what, kind, name, tmp_path, call):
    file = tmp_path / os.fsdecode(name)
    BAD[kind](file)
    more = ["-o", tmp_path / "out"] if what == "run" else []
    status, out, err = call(what, file, *more)
    assert is_refusal(status, out, err) and ".json: " in err and not (tmp_path / "out").exists()


NO_NOTEBOOK = ["pipe", "device", "missing", "folder", "empty", "text", "not UTF-8", "deep lists"]
NO_NOTEBOOK += ["a list", "other JSON"]
WITH_NOTEBOOKS = ["summary", "pages", "pictures", "record", "student-copy", "course check"]


@pytest.mark.parametrize("kind", NO_NOTEBOOK)
@pytest.mark.parametrize("what", WITH_NOTEBOOKS)
def test_what_is_no_notebook_is_named(what, kind, tmp_path, call):
    file = tmp_path / "file.ipynb"
    BAD[kind](file)
    more = ["-o", tmp_path / "out"] if what in ("pages", "student-copy") else []
    status, out, err = call(*what.split(), file, *more)
    assert status in (1, 2) and out == ""
    said = re.sub(r"[\s│]", "", err)  # typer breaks long paths in a box
    assert "file.ipynb" in said or (what == "course check" and "thesubmissionis" in said)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", ["/dev/stdin", "/dev/fd/0"])
def test_a_pipe_of_a_shell_is_read_and_not_for_ever(place):
    """`cat out.json | netlab fairness /dev/stdin`, and `netlab fairness <(cat out.json)`."""
    words = [sys.executable, "-m", "netlab", "fairness", place]
    report = (Path(__file__).parents[1] / "data/iperf3/3.12-server-tcp-2.json").read_bytes()
    ran = subprocess.run(words, input=report, capture_output=True, timeout=60)
    assert ran.returncode == 0 and place.encode() in ran.stdout and b"Jain's index" in ran.stdout
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        descriptor = endless.stdout.fileno()
        with pytest.raises(OSError, match="MB"):
            read_file(f"/dev/fd/{descriptor}", most_bytes=100_000)
        endless.kill()


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path, call):
    file = tmp_path / "report.json"
    file.touch()
    os.truncate(file, 10**12)
    status, out, err = call("fairness", file)
    assert is_refusal(status, out, err) and "report.json: " in err and "MB" in err


def test_damaged_reports(tmp_path, call):
    rng, file, printed = random.Random(5), tmp_path / "out.json", 0
    for _ in range(150):
        file.write_text(mutations.mutated(rng, "iperf3"), errors="surrogatepass")
        status, out, err = call("fairness", file)
        if status == 0:  # where it was damaged, nothing is read
            rates = re.findall(r"(\S+) [GMk]?bit/s", out)
            assert rates and all(float(rate) >= 0 for rate in rates)
            printed += 1
        else:
            assert is_refusal(status, out, err) and "out.json: " in err
    assert 0 < printed < 75


def test_damaged_experiments(tmp_path, call):
    """With no such engine, so that what is still an experiment does not run."""
    rng, file = random.Random(5), tmp_path / "experiment.json"
    for _ in range(200):
        text = mutations.mutate_json(rng, EXPERIMENT.to_json())
        file.write_text(text, errors="surrogatepass")
        assert is_refusal(*call("run", file, "-o", tmp_path / "out", "--engine", "none"))


EVIL = "\x1b]0;owned\x07\x1b[31mred\x9b5m\u202e"


def test_no_command_passes_on_what_controls_a_terminal(tmp_path, call, monkeypatch):
    """The names of files, what notebooks show, and what students call themselves."""
    monkeypatch.chdir(tmp_path)
    new = nbformat.v4
    shown = new.new_output("display_data", {"text/plain": f"a{EVIL}\n\tb"})
    cells = [
        new.new_code_cell(f"student = {EVIL!r}", metadata={"tags": ["summary"]}, outputs=[shown]),
        new.new_markdown_cell(f"$\\{EVIL}$ ![a]({EVIL}.png)"),
    ]
    notebook = f"n{EVIL}.ipynb"
    nbformat.write(new.new_notebook(cells=cells), notebook)
    doc = (mutations.DATA / "iperf3" / "3.18-tcp-1.json").read_text()
    Path(f"r{EVIL}.json").write_text(doc.replace('"TCP"', json.dumps(f"TCP{EVIL}")))
    Path(f"e{EVIL}.json").write_text(EXPERIMENT.to_json().replace("100mbit", EVIL[-1]))
    for words in (
        *(["summary", notebook], ["course", "check", notebook], ["pictures", notebook]),
        *(["pages", notebook, "-o", "p"], ["student-copy", notebook, "-o", "s"]),
        ["fairness", f"r{EVIL}.json"],
        *(["run", f"e{EVIL}.json", "-o", "o"], ["summary", f"no{EVIL}"], ["record", f"no{EVIL}"]),
    ):  # fmt: skip
        _, out, err = call(*words)
        assert out + err and re.sub("[\n\t]", "", out + err).isprintable(), words


def test_the_text_of_a_summary_keeps_its_lines(tmp_path, call):
    shown = nbformat.v4.new_output("display_data", {"text/plain": f"a{EVIL[0]}\n\tb"})
    cell = nbformat.v4.new_code_cell("", metadata={"tags": ["summary"]}, outputs=[shown])
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "a.ipynb")
    assert call("summary", tmp_path / "a.ipynb") == (0, "a?\n\tb\n", "")
