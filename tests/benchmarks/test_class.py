"""A class of 300, with every kind of trouble: every mark as intended, interrupted and gone on with,
twice the same, and the same through every gradebook. It takes about an hour on two cores.
"""

import csv
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import psutil
import pytest

from netlab.course import adapters, invented
from netlab.course.adapters.classroom import FROM_RUNNER, HUNDREDTHS
from netlab.course.grading import report
from netlab.course.grading.batch import Batch
from netlab.course.sets import source

CLASS = 300
FIRST = 30  # of whom are graded when it is interrupted


class Memory(threading.Thread):
    """Watches what this process and all that it started take."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.ended = 0, threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(2):
            self.most = max(self.most, self.now())

    @staticmethod
    def now():
        """Bytes; what several processes share counts once."""
        found, this = 0, psutil.Process()
        for one in [this, *this.children(recursive=True)]:
            try:
                found += one.memory_full_info().pss
            except psutil.Error:  # it has just ended
                continue
        return found


def test_three_hundred(tmp_path, monkeypatch):
    path = source.find("ps1").absolute()
    assignment, submitted, work = source.read(path), tmp_path / "submitted", tmp_path / "work"
    intended = invented.write(assignment, submitted, CLASS)
    began_s, memory = time.monotonic(), Memory()
    code = (
        "from netlab.course.grading.batch import Batch;"
        f" Batch({str(path)!r}, {str(submitted)!r}, {str(work)!r}).grade()"
    )
    first = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    while len(list((work / "marks").glob("*.json"))) < FIRST:
        assert first.poll() is None
        time.sleep(1)
    os.kill(first.pid, signal.SIGINT)
    first.wait()
    before = {one: one.stat().st_mtime_ns for one in (work / "marks").glob("*.json")}
    marks = Batch(path, submitted, work).grade()
    took_s = time.monotonic() - began_s
    memory.ended.set()
    wrong = {
        one["student"]: (one["points"], intended[one["student"]])
        for one in marks
        if one["points"] != pytest.approx(intended[one["student"]])
    }
    print(f"{CLASS} in {took_s:.0f} s, {60 * CLASS / took_s:.1f} per minute; {len(before)} before")
    print(f"most memory at a time: {memory.most / 1e9:.2f} GB")
    assert wrong == {}
    keyed = [one for one in before if json.loads(one.read_text())["key"]]
    assert all(one.stat().st_mtime_ns == before[one] for one in keyed)

    shutil.copytree(work / "runs", tmp_path / "again" / "runs")  # their bytes are tried elsewhere
    again = Batch(path, submitted, tmp_path / "again").grade()
    assert again == marks
    for folder, found in ((work, marks), (tmp_path / "again", again)):
        report.feedback(found, folder)
    pages = list((work / "feedback").iterdir())
    assert len(pages) == CLASS
    assert all(
        one.read_bytes() == (tmp_path / "again/feedback" / one.name).read_bytes() for one in pages
    )
    the_same_through_every_gradebook(work, marks, tmp_path / "to", path, monkeypatch)


def the_same_through_every_gradebook(work, marks, to, path, monkeypatch):
    points = {one["student"]: one["points"] for one in marks}
    shutil.copytree(path.parents[2], to / "nbgrader")
    places = {"table": to / "all.csv", "nbgrader": to / "nbgrader"}
    for name in ("table", "nbgrader", "gradescope", "otter"):
        place = places.get(name, to / name)
        assert adapters.export(name, "ps1", work, place, to / "nbgrader") == CLASS
    with open(to / "all.csv") as file:
        table = {row["student"]: float(row["points"]) for row in csv.DictReader(file)}
    assert table == pytest.approx(points)
    for student, right in points.items():
        told = json.loads((to / "gradescope" / student / "results.json").read_text())
        assert sum(one["score"] for one in told["tests"] if "score" in one) == pytest.approx(right)
    for one in (to / "otter").iterdir():
        told = json.loads(one.read_text())["test_file_results"]
        cases = [case for file in told for case in file["test_case_results"]]
        given = sum(case["test_case"]["points"] for case in cases if case["passed"])
        assert given == pytest.approx(points[one.stem])
    for name in FROM_RUNNER.values():
        monkeypatch.setenv(name, "any")
    for student, right in points.items():
        monkeypatch.setenv("USERNAME", student)
        adapters.export("classroom", "ps1", work, to / "classroom" / student / "result.json")
        told = json.loads((to / "classroom" / student / "result.json").read_text())
        assert told["score"] / HUNDREDTHS == pytest.approx(right, abs=0.5 / HUNDREDTHS)
    rows = sqlite3.connect(to / "nbgrader" / "gradebook.db").execute(
        "select s.student_id, sum(g.auto_score) from submitted_assignment s join"
        " submitted_notebook n on n.assignment_id = s.id join grade g on g.notebook_id = n.id"
        " group by s.student_id"
    )
    assert dict(rows.fetchall()) == pytest.approx(points)
