"""A class, graded: every kind of trouble gets what it deserves, twice the same, whatever happens in
between, and neighbours' numbers are found.
"""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from netlab.course import invented
from netlab.course.grading import report
from netlab.course.grading.batch import Batch
from netlab.course.sets import source
from netlab.errors import NetlabError
from tests.course import small


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with a small set, and what its class of one of each kind has handed in."""
    folder = tmp_path_factory.mktemp("course")
    path = small.write(folder)
    assignment = source.read(path)
    intended = invented.write(assignment, folder / "submitted", len(invented.KINDS))
    return path, folder / "submitted", intended


@pytest.fixture(scope="module")
def graded(course, tmp_path_factory):
    path, submitted, _ = course
    work = tmp_path_factory.mktemp("work")
    return work, Batch(path, submitted, work).grade()


def files(work):
    return {path.name: path.read_text() for path in (work / "marks").iterdir()}


def test_every_mark_is_as_intended(course, graded):
    assert {one["student"]: one["points"] for one in graded[1]} == pytest.approx(course[2])


def test_troubles_are_told(graded):
    flags = dict(zip([kind.__name__ for kind in invented.KINDS], graded[1], strict=True))
    flags = {kind: set(one["flags"]) for kind, one in flags.items()}
    assert flags["right"] == set()
    assert "cell copied" in flags["duplicated"]
    assert "cell deleted" in flags["deleted"] & flags["check_deleted"]
    assert "cells reordered" in flags["reordered"]
    assert {"locked cell changed", "metadata changed"} <= flags["check_changed"]
    assert flags["unreadable"] == {"unreadable"}


def test_the_table_has_a_row_for_each_in_the_columns_that_were_promised(graded):
    rows = list(csv.DictReader(io.StringIO(report.table(graded[1]))))
    names = ["student", "assignment", "points", "max_points", "flags", "reason"]
    assert list(rows[0]) == names
    assert [row["student"] for row in rows] == sorted(row["student"] for row in rows)
    assert {row["max_points"] for row in rows} == {str(small.POINTS)}


def test_what_is_graded_stays_graded(course, graded):
    path, submitted, _ = course
    work, marks = graded
    before = {one: one.stat().st_mtime_ns for one in (work / "marks").iterdir()}
    again = Batch(path, submitted, work).grade()
    assert again == marks
    assert {
        one: one.stat().st_mtime_ns
        for one in before
        if json.loads(one.read_text())["key"] is not None
    } == {one: at for one, at in before.items() if json.loads(one.read_text())["key"] is not None}


def test_a_batch_that_is_interrupted_goes_on_and_ends_with_the_same_marks(course, graded, tmp_path):
    path, submitted, intended = course
    code = f"""
import sys
from netlab.course.grading.batch import Batch
Batch({str(path)!r}, {str(submitted)!r}, {str(tmp_path)!r}).grade()
"""
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    place = tmp_path / "marks"
    while process.poll() is None and not (place.is_dir() and any(place.glob("*.json"))):
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    assert b"KeyboardInterrupt" in process.communicate(timeout=120)[1]
    first = {one.name: one.stat().st_mtime_ns for one in place.glob("*.json")}
    assert 0 < len(first) < len(intended)
    Batch(path, submitted, tmp_path).grade()
    assert files(tmp_path) == files(graded[0])  # a second time, in another folder: the same
    kept = [name for name in first if json.loads((place / name).read_text())["key"]]
    assert all((place / name).stat().st_mtime_ns == first[name] for name in kept)


def test_a_broken_table_of_numbers_is_no_students_fault(course, tmp_path, monkeypatch):
    table = tmp_path / "parameters.toml"
    table.write_text("[ps1]\nrate = {from = 2, to = 1}\n")
    monkeypatch.setattr(sys.modules["netlab.course.mine"], "PARAMETERS", table)  # not the function
    with pytest.raises(NetlabError, match=r"\[ps1\] rate"):
        Batch(course[0], course[1], tmp_path / "work").grade()


def test_copied_mistyped_and_rounded_numbers_are_found(course, graded, tmp_path):
    path, _, _ = course
    assignment, work = source.read(path), graded[0]
    kept = json.loads((work / "reference" / "ada.json").read_text())["answers"]
    ada = kept["ps1-number-check"]["seventh"]["value"]
    own = Batch(path, course[1], work)  # for its neighbours' numbers: the whole class
    numbers = {"copies": ada, "mistypes": ada * 1.1, "ada": float(f"{ada:.3g}")}
    for student, value in numbers.items():
        notebook = small.handed_out(assignment)
        small.cell(notebook, "number")["source"] = f"seventh = {value!r}"
        place = tmp_path / student / "ps1" / "ps1.ipynb"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(notebook))
    marks = {one["student"]: one for one in Batch(own.path, tmp_path, tmp_path / "work").grade()}
    assert "number of ada: seventh" in marks["copies"]["flags"]
    assert not any("number of" in flag for flag in marks["mistypes"]["flags"])
    assert marks["copies"]["points"] == marks["mistypes"]["points"] == 0
    (answer,) = marks["ada"]["exercises"][0]["answers"]
    assert (answer["verdict"], answer["share"]) == ("close", 0.5)
    for one in marks.values():
        assert f"{ada:.4g}" not in json.dumps(one["exercises"][0]["answers"][0]["hint"])


def test_feedback_is_a_page_for_each_and_escapes_what_students_wrote(graded, tmp_path):
    marks = [dict(one) for one in graded[1]]
    marks[0]["manual"] = [{"id": "x", "max_points": 4, "text": "<script>alert(1)</script>\x1b[31m"}]
    page = report.feedback(marks, tmp_path)
    assert len(list((tmp_path / "feedback").iterdir())) == len(marks)
    text = (tmp_path / "feedback" / "ada.html").read_text()
    assert "&lt;script&gt;" in text and "<script" not in text and "\x1b" not in text
    assert "feedback/ada.html" in page.read_text()


def test_a_solution_that_fails_is_refused_before_anybody_is_graded(course, tmp_path):
    broken = tmp_path / "source" / "ps1" / "ps1.ipynb"
    broken.parent.mkdir(parents=True)
    broken.write_text(Path(course[0]).read_text().replace("my.seed / 7\\n###", "1 / 0\\n###"))
    with pytest.raises(NetlabError, match="ZeroDivisionError"):
        Batch(broken, course[1], tmp_path / "work").grade()
    assert not list((tmp_path / "work" / "marks").iterdir())


@pytest.mark.parametrize("what", ["missing", "empty"])
def test_nothing_to_grade_is_said(what, course, tmp_path):
    folder = tmp_path / "there"
    if what == "empty":
        folder.mkdir()
    with pytest.raises(NetlabError, match="there"):
        Batch(course[0], folder, tmp_path / "work").grade()
