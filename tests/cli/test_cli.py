import json
import os
import re
from pathlib import Path

import nbformat
import pytest

import netlab as nl

REPORTS = Path(__file__).parents[1] / "data" / "iperf3"


def test_run_leaves_what_save_leaves(tmp_path, call):
    experiment = nl.Experiment(nl.wan("100mbit", "20ms"), nl.Ping("h1", "h2"))
    (tmp_path / "experiment.json").write_text(experiment.to_json())
    done = call("run", tmp_path / "experiment.json", "-o", tmp_path / "out")
    assert done.status == 0, done.err
    assert str(tmp_path / "out") in done.out, "where the files are"
    assert nl.load(tmp_path / "out").raw == nl.run(experiment).raw
    again = call("run", tmp_path / "experiment.json", "-o", tmp_path / "out")
    assert again.status == 1 and "is there already" in again.err


class SaysWho(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        raise ValueError(f"user {os.getuid()}")


def test_python_of_an_experiment_runs_in_a_jail(tmp_path, call):
    experiment = nl.Experiment(
        nl.wan("10mbit", "20ms"), nl.Iperf3("h1", "h2", congestion=SaysWho, time=1)
    )
    (tmp_path / "experiment.json").write_text(experiment.to_json())
    done = call("run", tmp_path / "experiment.json", "-o", tmp_path / "out")
    assert done.status == 1 and "user 65534" in done.err


def test_doctor_and_engine_info_name_the_engine(call):
    digest = nl.engines.pick().digest
    for words in (["doctor"], ["engine", "info"]):
        done = call(*words)
        assert done.status == 0 and digest in done.out, done.out + done.err


def test_building_again_does_nothing(call):
    done = call("engine", "build")
    assert done.status == 0 and "There is an engine" in done.out


def report(file, *received_bps, of="3.12-tcp-8.json", later_s=0):
    """A report of iperf3 whose streams got this; the first ones of eight."""
    doc = json.loads((REPORTS / of).read_text())
    del doc["end"]["streams"][len(received_bps) :], doc["start"]["connected"][len(received_bps) :]
    scale = {
        stream["sender"]["socket"]: bps / stream["receiver"]["bits_per_second"]
        for stream, bps in zip(doc["end"]["streams"], received_bps, strict=True)
    }
    for interval in doc["intervals"]:
        interval["streams"] = [row for row in interval["streams"] if row["socket"] in scale]
    ends = [end for stream in doc["end"]["streams"] for end in stream.values()]
    for row in [*ends, *(row for interval in doc["intervals"] for row in interval["streams"])]:
        for figure in ("bytes", "bits_per_second"):
            row[figure] *= scale[row["socket"]]
    for name, way in (("sum_sent", "sender"), ("sum_received", "receiver")):
        for figure in ("bytes", "bits_per_second"):
            doc["end"][name][figure] = sum(end[way][figure] for end in doc["end"]["streams"])
    doc["start"]["test_start"]["num_streams"] = len(received_bps)
    doc["start"]["timestamp"]["timesecs"] += later_s
    file.write_text(json.dumps(doc))
    return file


@pytest.fixture
def fairness(call, monkeypatch):
    """What `netlab fairness` prints of these files, and the indices in it."""

    def run(*files, cwd=REPORTS):
        monkeypatch.chdir(cwd)
        done = call("fairness", *files)
        assert done.status == 0, done.err
        found = re.findall(r"^Jain's index of (.*): +([01]\.\d{5})$", done.out, re.M)
        return done.out, {what: float(index) for what, index in found}

    return run


def test_fairness_of_the_example_of_lab_10(tmp_path, fairness):
    # 5, 3 and 1 Gbit/s: 81/105
    report(tmp_path / "out.json", 5e9, 3e9, 1e9)
    assert (
        fairness("out.json", cwd=tmp_path)[0]
        == """\
out.json: iperf3 3.12, TCP, 3 streams

stream  from -> to              congestion    throughput     share
     1  127.0.0.1 -> 127.0.0.2  reno        5.000 Gbit/s   55.56 %
     2  127.0.0.1 -> 127.0.0.2  reno        3.000 Gbit/s   33.33 %
     3  127.0.0.1 -> 127.0.0.2  reno        1.000 Gbit/s   11.11 %
   all                                      9.000 Gbit/s  100.00 %

Jain's index of 3 streams: 0.77143

Of n, it is 1 when all get the same, and 1/n when one gets everything.
Throughput is what the receiver counted.
"""
    )


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("3.22-tcp-8.json", "is what the receiver counted.\n"),
        ("3.9-server-udp-2.json", "is what the receiver counted.\n"),
        ("3.18-udp-2.json", "is what the sender counted"),
        ("3.9-udp-bidir.json", "where there is a *, the file has only what the sender counted"),
        ("3.0.11-tcp-1.json", "One stream alone always has 1"),
    ],
)
def test_fairness_of_a_real_report_says_who_counted(name, counted, fairness):
    streams = nl.readers.read_iperf3(REPORTS / name).streams
    text, found = fairness(name)
    index = nl.jain_index(streams.received_bps.fillna(streams.sent_bps))
    label = f"{len(streams)} stream{'s' * (len(streams) > 1)}"
    assert found == {label: pytest.approx(index, abs=1e-5)}
    assert counted in text and ("sent both ways" in text) == ("bidir" in name)
    assert text.count("Mbit/s*") == ("bidir" in name)
    assert ("congestion" in text) == ("tcp" in name and "3.0.11" not in name), "where it is told"


def test_fairness_of_two_hosts_is_that_of_their_sums(tmp_path, fairness):
    # h1 has three streams of 1 Mbit/s, h3 one of 1: 3 to 1 among hosts, (3 + 1)^2 / (2 (9 + 1));
    # even among streams
    one, three = report(tmp_path / "h3.json", 1e6), report(tmp_path / "h1.json", 1e6, 1e6, 1e6)
    text, found = fairness("h1.json", "h3.json", cwd=tmp_path)
    assert found == {"2 files": 0.8, "4 streams": 1}
    rows = [re.split("  +", line) for line in text.splitlines()]
    assert ["h1.json", "all", "3.000 Mbit/s", "75.00 %"] in rows
    assert ["all", "4.000 Mbit/s", "100.00 %"] in rows
    assert [sum(row[0] == name for row in rows) for name in ("h1.json", "h3.json")] == [4, 1]
    assert "Note" not in text
    report(three, 2e6)
    assert fairness(one, three)[1] == {"2 files": 0.9}, "files and streams are the same"


def test_fairness_of_tests_that_did_not_run_together_is_warned_of(tmp_path, fairness):
    files = report(tmp_path / "a.json", 1e6, later_s=100), report(tmp_path / "b.json", 1e6)
    text, _ = fairness(*files)
    assert re.search(rf"did not compete. {files[0]} began \d+ s after {files[1]} had ended", text)


def test_a_contradiction_in_a_report_is_told_in_a_line(tmp_path, call):
    (tmp_path / "a.json").write_text("^C" + (REPORTS / "3.12-tcp-8.json").read_text())
    done = call("fairness", tmp_path / "a.json")
    assert done.status == 0 and len(done.err.splitlines()) == 1
    assert done.err.startswith(f"netlab: {tmp_path / 'a.json'}: ") and "'^C'" in done.err


@pytest.mark.parametrize(
    "words", ["-s -p 70000", "-s -b \udcff", "-c -C \udcff", "-c -I " + "ü" * 99]
)
def test_simpleperf_refuses_words_without_a_traceback(words, call):
    done = call("simpleperf", *words.split())
    assert done.status and "simpleperf: " in done.err


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("missing.json", ["No such file", "iperf3 -J wrote"]),
        (".", ["Is a directory", "iperf3 -J wrote"]),
        ("README.md", ["iperf3's JSON", "iperf3 with -J"]),
        ("broken/3.18-without-J.txt", ["iperf3's JSON", "iperf3 with -J"]),
        ("broken/3.12-busy.json", ["server is busy", "Wait until"]),
        ("broken/3.22-server-killed.json", ["run it again"]),
        ("3.12-tcp-interrupted.json", ["cut short", "Run it again"]),
        ("./3.12-tcp-8.json", ["named twice"]),
    ],
)
def test_fairness_refuses_in_words_before_it_prints_anything(file, words, call, monkeypatch):
    monkeypatch.chdir(REPORTS)
    done = call("fairness", "3.12-tcp-8.json", file)
    assert done.status == 1 and done.out == ""
    assert done.err.startswith(f"netlab: {Path(file)}: ")
    assert all(word in done.err for word in words), done.err


def test_fairness_needs_something_to_share(tmp_path, call):
    done = call("fairness", report(tmp_path / "out.json", 0, 0))
    assert done.status == 1 and done.out == "" and "no data went through" in done.err


@pytest.mark.parametrize("tags", [[], ["summary"]])
def test_a_notebook_without_a_summary_is_refused(tmp_path, tags, call):
    cell = nbformat.v4.new_code_cell("1 + 1", metadata={"tags": tags})
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "notebook.ipynb")
    done = call("summary", tmp_path / "notebook.ipynb")
    assert done.status == 1 and not done.out
    assert "notebook.ipynb: " in done.err and "summary" in done.err
