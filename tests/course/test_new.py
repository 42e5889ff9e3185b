"""`netlab course new`: a set that can be handed out and graded as it was written."""

import csv
import json

import pytest

from netlab.course.sets import source
from tests.cli.conftest import call  # noqa: F401
from tests.course import problem_set
from tests.course.problem_set import cell


@pytest.fixture
def netlab(call, tmp_path, monkeypatch):  # noqa: F811
    """Call `netlab course` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: call("course", *words)


def hand_in(folder, student, notebook, **texts):
    for name, text in ({"name": f'student = "{student}"'} | texts).items():
        cell(notebook, name)["source"] = text
    return problem_set.hand_in(folder / "submitted", student, notebook, "ps9")


def test_a_new_set_goes_from_source_to_marks_and_says_when_its_numbers_changed(netlab, tmp_path):
    done = netlab("new", "ps9")
    path = tmp_path / "notebooks/assignments/source/ps9/ps9.ipynb"
    assert done.status == 0 and path.is_file() and "course demo --set ps9" in done.out
    assert netlab("release", "ps9", "-o", "out").status == 0
    assert netlab("solution", "ps9", "-o", "own").status == 0
    assert "the link is the limit" in (tmp_path / "own/ps9-rubric.md").read_text()
    early = json.loads((tmp_path / "own/ps9.ipynb").read_text())
    empty = json.loads((tmp_path / "out/ps9.ipynb").read_text())
    assert "SOLUTION" not in json.dumps(empty) and "HIDDEN" not in json.dumps(empty)
    found = netlab("check", hand_in(tmp_path, "empty", empty))
    assert found.status == 1 and "ps9-bdp: no answer." in found.out

    text = path.read_text()
    path.write_text(text.replace('(\\"20ms\\", \\"40ms\\")', '(\\"50ms\\", \\"60ms\\")'))
    assert path.read_text() != text
    hand_in(tmp_path, "right", source.read(path).solution())
    hand_in(tmp_path, "early", early)  # what it computes is computed again
    hand_in(tmp_path, "typed", early, bdp="bdp_bytes = 37_500", table="table = 5")
    done = netlab("grade", "ps9", "submitted", "-o", "marks.csv")
    assert done.status == 0, done.err
    rows = {row["student"]: row for row in csv.DictReader((tmp_path / "marks.csv").open())}
    points = {student: (float(row["points"]), row["flags"]) for student, row in rows.items()}
    assert points == {
        "right": (5, ""),
        "early": (5, "other numbers"),
        "typed": (0, "other numbers"),
        "empty": (0, "other numbers"),
    }
    assert "other numbers: early, empty, typed: their notebooks" in done.out
    assert "other ranges" in (tmp_path / "ps9-marks/feedback/early.html").read_text()
    assert "other ranges" not in (tmp_path / "ps9-marks/feedback/right.html").read_text()


def test_a_new_set_has_a_number_a_table_and_a_text(netlab, tmp_path):
    assert netlab("new", "week1", "--course", "mine").status == 0
    made = source.read(tmp_path / "mine/source/week1/week1.ipynb")
    assert [(one.role, one.points) for one in made.exercises] == [
        ("check", 2),
        ("check", 3),
        ("manual", 4),
    ]
    assert made.minutes == 20 and {*made.numbers} == {"rate", "delay", "streams", "seed"}


@pytest.mark.parametrize("name", ["", "9ps", "ps 9", "../x", "ps-9", "p" * 32, "übung"])
def test_a_name_that_no_set_can_have_is_refused(netlab, tmp_path, name):
    done = netlab("new", name)
    assert done.status == 1 and "such as ps9" in done.err and not [*tmp_path.iterdir()]


def test_a_set_that_is_there_stays(netlab, tmp_path):
    assert netlab("new", "ps9").status == 0
    path = tmp_path / "notebooks/assignments/source/ps9/ps9.ipynb"
    path.write_text("mine")
    done = netlab("new", "ps9")
    assert done.status == 1 and "source/ps9 is there already" in done.err
    assert path.read_text() == "mine"
