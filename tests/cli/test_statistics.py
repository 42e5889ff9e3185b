"""`netlab course statistics`: the table of all sets, and what is said of each."""

import csv
import functools

import pandas as pd
import pytest

from netlab.course import adapters
from netlab.course.grading import marks as records
from netlab.course.grading import term
from netlab.course.grading.marks import CLASS, write_class
from netlab.errors import NetlabError
from tests.course.test_adapters import ASSIGNMENT, marks


def of(student, points, hint=""):
    """Marks of ps0, with another name for each answer, of which those with all points are right."""
    found = marks(student, points, hint=hint)
    exercises = []
    for one, name in zip(found.exercises, ("bdp_bytes", "goodput_bps"), strict=True):
        (row,) = one.answers
        verdict = "right" if row.share == 1 else "wrong"
        exercises.append(one.but(answers=[row.but(name=name, verdict=verdict)]))
    return found.but(exercises=exercises)


BITS = "you gave {}: bits or bytes? A byte has 8 bits"
FIRST = [
    of("Ada", (3, 3.5)),
    of("bob", (1, 3.5), hint=BITS.format("94.1 bit/s")),
    of("cem", (1, 0), hint=BITS.format("12 bit/s")),
    records.pending("dan", ASSIGNMENT, "the grader failed").but(file="dan"),
]
SECOND = [
    one.but(assignment="ps5") for one in (of("=1+1", (0, 1)), of("ada", (3, 0)), of("cem", (0, 0)))
]


@pytest.fixture
def statistics(call):
    return functools.partial(call, "course", "statistics")


@pytest.fixture
def works(tmp_path):
    """What grading two sets has left."""
    for name, everybody in (("first", FIRST), ("second", SECOND)):
        (tmp_path / name).mkdir()
        write_class(tmp_path / name, everybody)
    return tmp_path / "first", tmp_path / "second"


def read(path):
    return [*csv.DictReader(path.read_text().splitlines())]


def test_a_row_has_the_points_of_each_set_their_sum_and_its_share():
    found = term.table([FIRST, SECOND])
    assert [*found.columns] == ["ps0 (of 6.5)", "ps5 (of 6.5)", "points", "share"]
    assert [*found.index] == ["=1+1", "Ada", "bob", "cem", "dan"]  # Ada and ada are one id
    assert [*found.loc["Ada"]] == pytest.approx([6.5, 3, 9.5, 9.5 / 13])
    assert [*found.loc["cem"]] == pytest.approx([1, 0, 1, 1 / 13])
    assert pd.isna(found.loc["bob", "ps5 (of 6.5)"]) and found.loc["bob", "points"] == 4.5
    assert found.loc["dan"].isna().tolist() == [True, True, False, False]  # pending is no zero


def test_the_command_leaves_a_table_and_says_what_was_hard(statistics, works, tmp_path):
    table = tmp_path / "course.csv"
    found = statistics(*works, "-o", table)
    assert found.status == 0, found.err
    assert found.out.splitlines() == [
        "ps0: 3 of 5 students have marks; mean 4 and median 4.5 of 6.5 points",
        "  bdp_bytes: 2 of 3 not right; 2 of them: bits or bytes? A byte has 8 bits",
        "  goodput_bps: 1 of 3 not right; 1 of them: bits or bytes? A byte has 8 bits",
        "ps5: 3 of 5 students have marks; mean 1.333 and median 1 of 6.5 points",
        "  goodput_bps: 3 of 3 not right",
        "  bdp_bytes: 2 of 3 not right",
        f"5 students' points: {table}",
    ]
    rows = [*csv.reader(table.read_text().splitlines())]
    assert rows[:3] == [
        ["student", "ps0 (of 6.5)", "ps5 (of 6.5)", "points", "share"],
        ["'=1+1", "", "1", "1", "0.0769"],  # which no spreadsheet computes
        ["Ada", "6.5", "3", "9.5", "0.7308"],
    ]
    assert statistics(*works[:1], "-o", table).status == 0  # as it was left
    table.write_text("mine")
    assert statistics(*works, "-o", table).status == 1
    assert table.read_text() == "mine"


def test_points_by_hand_count_in_the_set_whose_exercises_the_table_has(statistics, works, tmp_path):
    text = (works[1] / CLASS).read_text().replace("ps0-explain", "ps5-explain")
    (works[1] / CLASS).write_text(text)
    adapters.export("table", "ps5", works[1], tmp_path / "all.csv")
    rows = read(tmp_path / "all.csv")
    rows[1]["ps5-explain (of 4)"] = "2,5"
    by_hand = tmp_path / "by hand.csv"
    pd.DataFrame(rows).to_csv(by_hand, index=False)
    found = statistics(*works, "-o", tmp_path / "course.csv", "--manual", by_hand)
    assert found.status == 0, found.err
    rows = {row["student"]: row for row in read(tmp_path / "course.csv")}
    assert rows["Ada"]["ps5 (of 10.5)"] == "5.5" and rows["Ada"]["ps0 (of 6.5)"] == "6.5"
    assert float(rows["Ada"]["share"]) == pytest.approx(12 / 17, abs=1e-4)
    assert rows["cem"]["ps5 (of 10.5)"] == "0"
    by_hand.write_text(by_hand.read_text().replace("ps5-explain", "ps7-explain"))
    found = statistics(*works, "-o", tmp_path / "course.csv", "--manual", by_hand)
    assert found.status == 1
    assert "by hand.csv: it has no column with points of this set" in found.err


def test_a_set_twice_and_two_ids_that_are_one_are_refused(works, statistics, tmp_path):
    with pytest.raises(NetlabError, match="two folders have marks of ps0"):
        term.table([FIRST, FIRST])
    with pytest.raises(NetlabError, match="ps0: the ids Ada and ada mean the same"):
        term.table([[*FIRST, marks("ada", (0, 0))]])
    found = statistics(works[0], tmp_path, "-o", tmp_path / "course.csv")
    assert found.status == 1 and f"{tmp_path} has no marks in it" in found.err
    assert not (tmp_path / "course.csv").exists()


def test_a_set_that_nobody_has_marks_of_is_said_to_be_so():
    nobody = [records.pending("dan", ASSIGNMENT, "the grader failed")]
    found = term.table([nobody])
    assert term.summary([nobody], found) == ["ps0: 0 of 1 students have marks"]
    assert found.loc["dan", "share"] == 0
