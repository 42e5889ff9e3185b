"""A class that is graded again: what was given by hand stays, whose marks changed is said, and what
cannot be read is told.
"""

import csv
import json

import pytest
from typer.testing import CliRunner

from netlab.cli.commands import app
from netlab.course import adapters
from netlab.course.grading import changes, report, worker
from netlab.course.grading import marks as records
from netlab.course.grading.batch import Batch
from netlab.course.grading.by_hand import ByHand
from netlab.errors import NetlabError
from tests.course import small, test_class, test_groups
from tests.course.test_class import USUAL, put
from tests.course.test_groups import by_hands, grade, table

folders, quick = test_class.folders, test_class.quick  # three students, of whom nothing is run
here = test_groups.here


@pytest.fixture
def netlab(folders):
    """`netlab course grade` or `export` of this class; -> what it says."""
    path, submitted, work, _ = folders
    to = work.parent / "ps1.csv"

    def call(command, *more):
        course = "--course", path.parents[2]
        given = {
            "grade": (submitted, "-o", to, "--work", work),
            "export": (work, "--to", "table", "-o", work.parent / "all.csv"),
        }
        words = ["course", command, "ps1", *given[command], *course, *more]
        ran = CliRunner().invoke(app, [f"{word}" for word in words])
        return f"{ran.exception}" if ran.exit_code else ran.output

    return call


def rows(path):
    return {row["student"]: row for row in csv.DictReader(path.read_text().splitlines())}


def test_points_by_hand_stay_until_others_are_given_or_the_file_is_removed(
    folders, quick, netlab, tmp_path
):
    work, file = folders[2], folders[2] / "by-hand.json"
    assert "by hand" not in netlab("grade")
    assert "in all" not in rows(tmp_path / "ps1.csv")["ada"]
    given = table(tmp_path, "ada,5,2.5", "bob,5,4")
    assert f"2 students have points by hand, kept in {file}" in netlab("grade", "--manual", given)
    given.unlink()
    put(folders[1], "bob", {USUAL: folders[3] | {"metadata": {"again": True}}})
    for more in ([], ["--only", "bob"], []):  # also of those who stay as they were
        said = netlab("grade", *more)
        assert f"2 students have points by hand, kept in {file}: remove that file to" in said
        assert by_hands({one.student: one for one in records.read_class(work)}) == {
            **{"ada": 2.5, "bob": 4, "eve": None}
        }
        counts = [(one["in all"], one["max in all"]) for one in rows(tmp_path / "ps1.csv").values()]
        assert counts == [("7.5", "14"), ("9", "14"), ("5", "14")]
    assert "7.5 of 14" in (work / "class.html").read_text()
    assert "2.5 of 4 points" in (work / "feedback/ada.html").read_text()
    netlab("export")
    assert rows(tmp_path / "all.csv")["bob"]["in all"] == "9"
    netlab("grade", "--manual", table(tmp_path, "ada,5,", "bob,5,1", "eve,5,0"))
    assert ByHand.kept(work).points == {
        "ada": {"ps1-why": 2.5}, "bob": {"ps1-why": 1}, "eve": {"ps1-why": 0},
    }  # fmt: skip
    file.write_text("{")
    assert "by-hand.json is damaged: remove it, and give --manual again" in netlab("grade")
    file.unlink()
    assert "by hand" not in netlab("grade")
    assert "in all" not in rows(tmp_path / "ps1.csv")["ada"]


def test_a_table_that_cannot_be_read_is_refused_before_anybody_is_graded(folders, quick, tmp_path):
    class_ = folders[2] / records.CLASS
    grade(folders)
    quick.points, before = 7, class_.read_bytes()
    for line, words in (("ada,5,9", "line 2: .*from 0 to 4"), ("zoe,5,1", "no student here")):
        with pytest.raises(NetlabError, match=words):
            grade(folders, manual=table(tmp_path, line))
    assert class_.read_bytes() == before and not (folders[2] / "by-hand.json").exists()


def test_points_by_hand_that_count_for_nobody_are_told(folders, quick, tmp_path):
    grade(folders, manual=table(tmp_path, "ada,5,3", "eve,5,4"))
    (folders[2] / "marks" / "eve.json").unlink()
    batch = Batch(*folders[:3], only=["ada"])
    batch.grade()
    assert [one for one in batch.notes if one.endswith("as there are no marks, of: eve")]
    path = folders[0]
    less = json.loads(path.read_text().replace("- 4 points", "- 2 points"))
    small.cell(less, "why")["metadata"]["nbgrader"]["points"] = 2
    path.write_text(json.dumps(less))
    with pytest.raises(NetlabError, match=r"ada has 3 for ps1-why, which has at most 2 now"):
        grade(folders)


def test_whose_marks_changed_is_said_and_written_down(folders, quick, netlab, tmp_path):
    path, submitted, work, made = folders
    for number in range(9):
        put(submitted, f"s{number}", {USUAL: made})
    assert "marks changed" not in netlab("grade") + netlab("grade")
    path.write_text(path.read_text().replace("About 5 minutes", "About 6 minutes"))
    quick.points = 7
    put(submitted, "zoe", {USUAL: made})  # who had none
    said = netlab("grade").splitlines()
    at = said.index(
        f"12 students' marks changed since the last grading; all are in {work}/changes.csv:"
    )
    assert said[at + 1] == "  ada: 5 of 14, now 7 of 14"
    assert said[at + 10].startswith("  s6: ") and said[at + 11] == "  and 2 more"
    found = rows(work / "changes.csv")
    assert len(found) == 12 and [*found["eve"].values()] == ["eve", "5 of 14", "7 of 14"]
    assert "marks changed" not in netlab("grade")
    said = netlab("grade", "--manual", table(tmp_path, "eve,7,1.5"))
    assert "  eve: 7 of 14, now 8.5 of 14" in said.splitlines()


def test_what_changed_in_a_grading_that_was_interrupted_is_said_when_it_has_ended(folders, quick):
    grade(folders)
    for student in ("ada", "bob"):
        put(folders[1], student, {USUAL: folders[3] | {"metadata": {"changed": student}}})
    quick.points = 7
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changes, "told", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            grade(folders)
    assert not (folders[2] / records.CLASS).exists()
    batch = Batch(*folders[:3])
    batch.grade()
    assert batch.notes[1:] == ["  ada: 5 of 14, now 7 of 14", "  bob: 5 of 14, now 7 of 14"]
    assert not (folders[2] / changes.BEFORE).exists()


@pytest.mark.parametrize("text", ["{", "[]", '[{"version": 0}]'])
def test_a_class_json_that_cannot_be_read_is_told_of_and_made_anew(text, folders, quick, netlab):
    netlab("grade")
    file = folders[2] / records.CLASS
    file.write_text(text)
    quick.points = 7
    said = netlab("grade")
    assert f"{file} is damaged, or of another version of netlab, and is made anew" in said
    assert len(records.read_class(folders[2], "ps1")) == 3
    assert "damaged" not in netlab("grade")


def test_an_export_says_that_the_set_has_changed(folders, quick, netlab):
    path, of_set = folders[0], "ps1 was changed since these marks were made: `netlab course grade"
    of_some = "2 students' marks are of before a change of the set or of netlab"
    netlab("grade")
    said = netlab("export")
    assert of_set not in said and of_some not in said
    path.write_text(path.read_text().replace("About 5 minutes", "About 6 minutes"))
    assert of_set in netlab("export")
    netlab("grade", "--only", "ada")  # the others have marks of before
    said = netlab("export")
    assert of_set not in said and of_some in said
    path.unlink()
    assert of_set not in netlab("export")


def test_pending_marks_that_come_are_a_change(assignment):
    then = records.pending("ada", assignment, "x")
    now = records.without_marks("ada", assignment, "late", "")
    assert changes.changed([then], [now, now.but(student="bob")]) == [
        ("ada", "pending", "0 of 10.5")
    ]


def test_what_counts_has_its_maximum_beside_it_in_both_tables(folders, quick, tmp_path):
    found = grade(folders, manual=table(tmp_path, "ada,5,4"))
    head, ada, *_ = csv.reader(report.table([*found.values()]).splitlines())
    assert [*head] == [*report.COLUMNS, *report.IN_ALL]
    told = dict(zip(head, ada, strict=True))
    assert (told["points"], told["max_points"]) == ("5", "10")
    assert (told["in all"], told["max in all"]) == ("9", "14")
    adapters.export("table", "ps1", folders[2], tmp_path / "all.csv")
    both = rows(tmp_path / "all.csv")["ada"]
    assert {name: both[name] for name in report.IN_ALL} == {
        name: told[name] for name in report.IN_ALL
    }


def test_a_set_that_breaks_while_a_class_is_graded_stops_nobody(here, tmp_path):
    """All are graded by the set as it was when the command began."""
    path = small.write(tmp_path / "course")
    assignment = test_class.source.read(path)
    put(tmp_path / "submitted", "ada", {USUAL: test_class.notebook(assignment, "ada")})
    batch = Batch(path, tmp_path / "submitted", tmp_path / "work", jobs=1)
    path.write_text("{")
    (ada,) = batch.grade()
    assert (ada.points, ada.flags) == (test_class.ALL, [])
    worker.set_of.cache_clear()
