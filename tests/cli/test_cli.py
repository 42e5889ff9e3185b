import importlib.metadata
import json
import os
import re
from pathlib import Path

import nbformat
import pytest
import typer

import netlab as nl
from netlab.cli.commands import app

REPORTS = Path(__file__).parents[1] / "data" / "iperf3"


def commands():
    """Every command, as words: (), ("run",), ("course", "grade"), ..."""
    found = [()]
    for words in found:
        command = typer.main.get_command(app)
        for word in words:
            command = command.commands[word]
        found += [(*words, name) for name in getattr(command, "commands", ())]
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_help_shows_no_type_behind_a_flag_and_no_summary_is_cut(words, call):
    done = call(*words, "--help")
    assert done.status == 0 and "<bool>" not in done.out
    assert "..." not in done.out.partition("Commands:")[2]


def test_the_version_is_that_of_the_package(call):
    done = call("--version")
    assert (done.status, done.out) == (0, f"netlab {importlib.metadata.version('netlab-tcp')}\n")


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
        ("3.18-udp-2.json", "is what the receiver counted.\n"),
        ("3.9-udp-bidir.json", "is what the receiver counted.\n"),
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
    assert ("congestion" in text) == ("tcp" in name and "3.0.11" not in name), "where it is told"


def test_fairness_of_texts_says_how_far_they_are_rounded(fairness):
    streams = nl.readers.read_iperf3(REPORTS / "text" / "3.21-tcp-2.txt").streams
    text, found = fairness("text/3.21-tcp-2.txt")
    assert found == {"2 streams": pytest.approx(nl.jain_index(streams.received_bps), abs=1e-5)}
    assert text.startswith("text/3.21-tcp-2.txt: iperf3, TCP, 2 streams\n")
    assert "is text, in which iperf3 rounds: throughputs are within 0.12% of these" in text
    text, found = fairness("text/3.12-tcp-gigabit.txt", "3.12-tcp-8.json")
    assert list(found) == ["2 files", "9 streams"] and "nan" not in text.lower()
    assert text.count("is text, in which") == 1 and "within 5.56% of these" in text


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


ODD = REPORTS / "odd"


@pytest.mark.parametrize(
    ("first", "later_s", "words"),
    [
        # started in one second, or in the next one; up to 3.18 that is all that is known
        ("3.18-before.json", 0, ""),
        ("3.18-before.json", 1, ""),
        ("3.18-before.json", 2, "not run together all the time, but for 2 of 6 s"),
        ("3.18-before.json", 4, "not run together: .* began less than a second after"),
        ("3.18-before.json", 6, "not run together: .* began 2 s after"),
        # 10 s, of which nobody notices a second or so
        ("3.1.6-tcp-1.json", 1, ""),
        ("3.1.6-tcp-1.json", 2, "not run together all the time, but for 8 of 12 s"),
        # the same second, to a millisecond
        ("3.22-tcp-1.json", 0.1, ""),
        ("3.22-tcp-1.json", 0.5, "not run together all the time, but for 1.5[0-9]* of 2.5[0-9]* s"),
        ("3.22-tcp-1.json", 2.02, "not run together: .* began less than a second after"),
    ],
)
def test_fairness_says_whether_tests_ran_together(first, later_s, words, tmp_path, fairness):
    path = REPORTS / first if (REPORTS / first).exists() else ODD / first
    doc = json.loads(path.read_text())
    doc["start"]["timestamp"]["timesecs"] += int(later_s)
    if "timemillisecs" in doc["start"]["timestamp"]:
        doc["start"]["timestamp"]["timemillisecs"] += round(1000 * later_s)
    doc["start"]["cookie"] += "z"
    (tmp_path / "other.json").write_text(json.dumps(doc))
    told, _ = fairness(path, tmp_path / "other.json")
    found = [line for line in told.splitlines() if line.startswith("Warning")]
    assert [bool(re.search(words, line)) for line in found] == [True] * bool(words)


def test_fairness_of_tests_one_after_another(fairness):
    told, _ = fairness("3.18-before.json", "3.18-after.json", cwd=ODD)
    assert "Warning: these tests did not run together: they did not compete. 3.18-after" in told


def test_fairness_of_a_test_whose_report_stands_in_two_files(tmp_path, fairness):
    text = (ODD / "3.18-tcp-8-twice.json").read_text()
    _, half = json.JSONDecoder().raw_decode(text)
    for name, part in {"a": text[:half], "b": text[half:], "c": text}.items():
        (tmp_path / f"{name}.json").write_text(part)
    once, index = fairness("a.json", cwd=tmp_path)
    for files in (["c.json"], ["a.json", "b.json"], ["a.json", "b.json", "c.json"]):
        told, found = fairness(*files, cwd=tmp_path)
        assert found == index and told.count("Note: ") == len(files) - 1
        assert told.count("92.839 Mbit/s") == once.count("92.839 Mbit/s") == 1


def test_fairness_of_both_sides_of_a_test_is_that_of_the_test(tmp_path, fairness):
    for name in ("3.18-tcp-omit-both", "3.18-udp-both-2"):
        both = json.loads((REPORTS / f"{name}.json").read_text())
        sides = {"server.json": both.pop("server_output_json"), "client.json": both}
        for file, doc in sides.items():
            (tmp_path / file).write_text(json.dumps(doc))
        told, found = fairness("client.json", "server.json", cwd=tmp_path)
        assert found == fairness("client.json", cwd=tmp_path)[1]
        assert "client.json are reports of one test" in told


@pytest.mark.parametrize(
    ("name", "index", "counted"),
    [
        ("3.12-udp-2-unequal-loss", 0.845, "receiver"),
        ("3.22-udp-1-no-loss-told", 1, "receiver"),
        ("3.18-udp-both-2-no-loss-told", 1, "receiver"),
        ("alone", 1, "sender"),
    ],
)
def test_fairness_over_udp_is_of_what_arrived(name, index, counted, tmp_path, fairness):
    doc = json.loads((ODD / "3.18-udp-both-2-no-loss-told.json").read_text())
    del doc["server_output_json"]
    (tmp_path / "alone.json").write_text(json.dumps(doc))
    told, found = fairness((tmp_path if name == "alone" else ODD) / f"{name}.json")
    assert [*found.values()] == [pytest.approx(index, abs=5e-4)]
    assert f"Throughput is what the {counted} counted" in told
    if name == "3.12-udp-2-unequal-loss":
        assert re.findall(r"[0-9.]+ Mbit/s +[0-9.]+ %", told)[:2] == [
            "7.998 Mbit/s   28.57 %", "19.992 Mbit/s   71.43 %"
        ]  # fmt: skip


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
        ("README.md", ["not what iperf3 prints", "JSON (-J), or all of its text"]),
        ("text/3.12-udp-interrupted.txt", ["cut short", "Run it again"]),
        ("broken/3.12-busy.json", ["server is busy", "Wait until"]),
        ("broken/3.22-server-killed.json", ["run it again"]),
        ("3.12-tcp-interrupted.json", ["cut short", "Run it again"]),
    ],
)
def test_fairness_says_of_a_file_why_it_is_left_out_and_reads_the_others(
    file, words, call, monkeypatch
):
    monkeypatch.chdir(REPORTS)
    alone, done = call("fairness", file), call("fairness", "3.12-tcp-8.json", file)
    assert alone.status == done.status == 1 and alone.out == ""
    assert alone.err == done.err and done.err.startswith(f"netlab: {Path(file)}: ")
    assert all(word in done.err for word in words), done.err
    good = call("fairness", "3.12-tcp-8.json").out.split("\n")
    assert [line for line in done.out.split("\n") if line not in good] == [
        "Warning: these figures are without 1 of 2 files, which cannot be read."
    ]


def test_fairness_refuses_a_file_that_is_named_twice(call, monkeypatch):
    monkeypatch.chdir(REPORTS)
    done = call("fairness", "3.12-tcp-8.json", "./3.12-tcp-8.json")
    assert done.status == 1 and done.out == "" and "named twice" in done.err


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
