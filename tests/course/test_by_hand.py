"""Points that a person gives are read from the exported table, and stand wherever marks do."""

import csv

import pytest

from netlab.course import adapters
from netlab.course.adapters import results
from netlab.course.grading import by_hand, report
from netlab.course.grading.marks import write_class
from netlab.errors import NetlabError
from tests.course.test_adapters import ASSIGNMENT, EVERYBODY

COLUMN = "ps0-explain (of 4)"


@pytest.fixture
def work(tmp_path):
    write_class(tmp_path, EVERYBODY)
    return tmp_path


@pytest.fixture
def filled(work):
    """The exported table, with points in it, as a spreadsheet may write it."""

    def fill(between=",", heading=COLUMN, **points):
        adapters.export("table", "ps0", work, work / "all.csv")
        with (work / "all.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row[COLUMN] = points.get(row["student"], "")
        path = work / "mine.csv"
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, delimiter=between)
            writer.writerow([heading if name == COLUMN else name for name in rows[0]])
            writer.writerows(row.values() for row in rows)
        return path

    return fill


@pytest.mark.parametrize(("between", "half"), [(",", "2.5"), (";", "2,5")])
def test_points_in_the_exported_table_stand_wherever_marks_do(between, half, filled, work):
    path = filled(between, ada=half, bob="0")
    found = {one.student: one for one in by_hand.given(EVERYBODY, path)}
    assert {name: one.by_hand for name, one in found.items() if one.by_hand is not None} == {
        "ada": 2.5,
        "bob": 0,
    }
    assert found["ada"].in_all == 6.5 + 2.5 and found["Eve"].in_all == found["Eve"].points
    said = results.gradescope(found["ada"])
    assert said["score"] == 9 == sum(one["score"] for one in said["tests"])
    assert "more points" not in said["output"]
    adapters.export("table", "ps0", work, work / "sums.csv", manual=path)
    rows = {row[0]: row for row in csv.reader((work / "sums.csv").read_text().splitlines())}
    sums = dict(zip(rows["student"], rows["ada"], strict=True))
    assert (sums[COLUMN], sums["points"], sums["in all"]) == ("2.5", "6.5", "9")
    again = by_hand.given(EVERYBODY, work / "sums.csv")  # a table with sums is one, too
    assert again == list(found.values())
    page = report.report(list(found.values()), work, ASSIGNMENT).read_text()
    assert "9 of 10.5" in page and "by hand" in page
    own = (work / "feedback" / "ada.html").read_text()
    assert "2.5 of 4 points" in own and "9 of 10.5" in own


@pytest.mark.parametrize("points", ["5", "-1", "two", "nan", "inf", "1;2", "=2"])
def test_what_can_be_no_points_is_refused_by_its_line(points, filled):
    with pytest.raises(NetlabError, match=r"mine\.csv, line 4: ps0-explain: .*from 0 to 4"):
        by_hand.given(EVERYBODY, filled(ada=points))


def test_points_of_nobody_here_or_of_two_are_refused(filled):
    with pytest.raises(NetlabError, match="line 4: student 'ada': no student here has this id"):
        by_hand.given(EVERYBODY[1:], filled(ada="1"))
    two = [*EVERYBODY, EVERYBODY[0].but(student=" ada")]
    with pytest.raises(NetlabError, match="two students have it"):
        by_hand.given(two, filled(ada="1"))
    path = filled(ada="1")
    path.write_text(f"{path.read_text()}ada,0,0,0,0,2,,\n")
    with pytest.raises(NetlabError, match="line 7: student 'ada': it has another line above"):
        by_hand.given(EVERYBODY, path)


def test_a_file_that_is_no_table_of_this_set_is_refused(filled, work):
    path = filled(heading="ps7-explain (of 4)", ada="1")
    (work / "empty.csv").write_text("")
    (work / "bytes.csv").write_bytes(b"\xff\xfe")
    for one in (path, work / "empty.csv", work / "bytes.csv", work / "nowhere.csv", work):
        with pytest.raises(NetlabError, match="--manual"):
            by_hand.given(EVERYBODY, one)
