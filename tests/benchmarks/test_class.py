"""A class of 300, with every kind of trouble: every mark is the intended one, also after an
interruption, and a part of the class graded again gets the same marks. RUNS names a folder of
results to reuse.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import psutil

from netlab.course import invented
from netlab.course.grading import report
from netlab.course.grading.batch import Batch
from netlab.course.grading.work import PARTS
from netlab.course.sets import source

CLASS = 300
FIRST = 30  # of whom are graded when it is interrupted
AGAIN = 24  # are graded a second time


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


def with_runs(work, kept):
    """A new folder of marks that has these results."""
    for name in PARTS:
        (work / name).mkdir(parents=True)
    shutil.copytree(kept, work / "runs")


def test_three_hundred(tmp_path):
    path = source.find("ps1").absolute()
    assignment, submitted, work = source.read(path), tmp_path / "submitted", tmp_path / "work"
    intended = invented.write(assignment, submitted, CLASS)
    if kept := os.environ.get("RUNS"):
        with_runs(work, kept)
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
    wrong = invented.misjudged(marks, intended)
    print(f"{CLASS} in {took_s:.0f} s, {60 * CLASS / took_s:.1f} per minute; {len(before)} before")
    print(f"most memory at a time: {memory.most / 1e9:.2f} GB")
    assert wrong == {}
    keyed = [one for one in before if json.loads(one.read_text())["origin"]]
    assert all(one.stat().st_mtime_ns == before[one] for one in keyed)

    report.report(marks, work)
    assert len(list((work / "feedback").iterdir())) == CLASS
    for one in marks[:AGAIN]:
        shutil.copytree(submitted / one.student, tmp_path / "some" / one.student)
    with_runs(tmp_path / "again", work / "runs")  # their bytes are tried elsewhere
    Batch(path, tmp_path / "some", tmp_path / "again").grade()
    for one in (tmp_path / "again" / "marks").iterdir():
        assert one.read_bytes() == (work / "marks" / one.name).read_bytes()
