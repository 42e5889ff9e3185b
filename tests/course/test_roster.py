"""The class as its teacher has it: who is late, who works together, who is missing, and Moodle's
grading worksheet in both directions.
"""

import csv
import json

import pytest

from netlab.course import adapters, roster
from netlab.course.adapters import results
from netlab.course.grading import marks as records
from netlab.course.grading import report
from netlab.course.grading.batch import Batch
from netlab.course.grading.by_roster import ABSENT, NO_DATE, STRANGER
from netlab.course.grading.marks import Late, write_class
from netlab.course.roster import Member, Roster
from netlab.course.sets import source
from netlab.errors import NetlabError
from tests.course import small, test_class
from tests.course.problem_set import course
from tests.course.test_adapters import EVERYBODY
from tests.course.test_class import USUAL, notebook, put

same, quick = test_class.folders, test_class.quick  # three students, of whom nothing is run

HEAD = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
)
LATE = "Wednesday, 3 March 2027, 12:01 AM"


def line(number, name, when="-", grade="", most="6.50", comment=""):
    who = f'"Participant {number}",{name} L,{name}@x.org'
    return f'{who},S,{grade},{most},Yes,"{when}",-,"{comment}"\n'


@pytest.fixture
def folders(same):
    """Each of the three has another file."""
    for student in ("ada", "bob", "eve"):
        put(same[1], student, {USUAL: same[3] | {"metadata": {"by": student}}})
    return same


@pytest.fixture
def given(tmp_path):
    """Options of `course grade`, with a roster of this text."""

    def options(text, **options):
        (tmp_path / "class.csv").write_text(text)
        return roster.of_options(tmp_path / "work", tmp_path / "class.csv", **options)

    return options


def grade(folders, class_=None, **options):
    path, submitted, work, _ = folders
    return {
        one.student: one for one in Batch(path, submitted, work, roster=class_, **options).grade()
    }


def members(text, tmp_path):
    (tmp_path / "class.csv").write_bytes(text.encode())
    return roster.read(tmp_path / "class.csv")


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + HEAD + line(7, "Ada", "Monday, 1 March 2027, 11:59 PM") + line(8, "bob"),
        "Student_ID;Group;handed in;Identifier\nAda;;2027-03-01 23:59;7\n\nbob;;;8\n",
        "handed  in\tID\tstudent\tidentifier\n2027-03-01T23:59\tAda\tx\t7\n-\tbob\tx\t8\r\n",
    ],
)
def test_moodles_worksheet_and_a_file_of_ones_own_say_the_same(text, tmp_path):
    ada, bob = members(text, tmp_path)
    when = roster.moment("2027-03-01 23:59")
    assert ada == Member(id="Ada", handed_in=when, number="7")
    assert bob == Member(id="bob", number="8")


def test_a_list_of_ids_needs_no_heading(tmp_path):
    ids = [one.id for one in members("Emma\n\nwilhelmina@example.org\n", tmp_path)]
    assert ids == ["Emma", "wilhelmina@example.org"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,handed in\nada,2027-03-01 9:00\nbob,1.3.27 9 Uhr\n", r"line 3: '1\.3\.27 9 Uhr'"),
        ("id,handed in\nada,2027-03-01\n", "line 2: .*write day and time"),
        ("Kennung,E-Mail-Adresse\nx,y\n", "no column with ids.* It has Kennung, E-Mail-Adresse"),
        ("id,group\nada,x\n,x\n", "line 3: student"),
        ("id,group\nada,Bob\nbob,x\n", "group 'Bob': it is a student's id"),
        (HEAD + line(1, "ada") + line(2, "ADA"), "lines 2 and 3 are the same id, 'ada'"),
    ],
)
def test_what_cannot_be_a_roster_is_refused_by_its_line(text, words, tmp_path):
    with pytest.raises(NetlabError, match=f"--roster .*{words}"):
        members(text, tmp_path)


@pytest.mark.parametrize("data", [b"\xff\xfei\0d\0", b"id\n" + b"a" * 200_000, None])
def test_what_is_no_text_is_refused(data, tmp_path):
    path = tmp_path / "class.csv"
    path.write_bytes(data) if data else path.mkdir()
    with pytest.raises(NetlabError, match=r"cannot be read: .*CSV in UTF-8"):
        roster.read(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"late": "10%"}, "--late 10% counts from .* give --due"),
        ({"due": "2027-03-01"}, "--due 2027-03-01: '2027-03-01' cannot be read as a time"),
        ({"due": "2027-03-01 23:59", "late": "10"}, "--late"),
        ({"due": "2027-03-01 23:59", "late": "110%"}, "--late"),
        ({"due": "2027-03-01 23:59"}, "ada handed in at .*does not say in which time zone"),
    ],
)
def test_a_rule_that_cannot_be_one_is_refused(options, words, given):
    with pytest.raises(NetlabError, match=words):
        given("id,handed in\nada,2027-03-01 23:59+01:00\n", **options)
    with pytest.raises(NetlabError, match="--due: the roster says of no student when"):
        given("ada\n", due="2027-03-01 23:59")


@pytest.mark.parametrize(
    ("when", "days"),
    [
        ("2027-03-01 23:59", 0),
        ("2027-03-02 00:00", 1),
        ("2027-03-02 23:59", 1),
        ("2027-03-03 00:00", 2),
        ("2027-03-02 22:59Z", 1),  # 23:59 on the clock of --due
        ("2027-03-02 23:00Z", 2),
    ],
)
def test_days_begin_when_the_set_is_due(when, days, given):
    found = given(f"id,handed in\nada,{when}\n", due="2027-03-01 23:59+01:00", late="10%")
    assert found.days_late(found.handed_in("ADA")) == days
    assert found.handed_in("ada").utcoffset() == found.due.utcoffset()
    assert found.share_lost(days) == days / 10 and found.share_lost(11) == 1


def test_who_is_late_loses_points_and_all_are_told(folders, quick, given, tmp_path):
    plain = grade(folders)
    text = f'id,handed in\nada,2027-03-01 9:00\nbob,"{LATE}"\n'
    found = grade(folders, given(text, due="2027-03-01 23:59", late="10%"))
    assert found["ada"] == plain["ada"]
    assert found["eve"].flags == [STRANGER]
    bob, work = found["bob"], folders[2]
    assert (bob.points, bob.earned, bob.in_all, bob.flags) == (5, 5, 4, ["late: 2 days"])
    assert bob.late == Late("2027-03-03 00:01", "2027-03-01 23:59", 2, 0.2)
    assert "20 % of the points are lost" in bob.notices[0]
    page = report.report([*found.values()], work, source.read(folders[0])).read_text()
    assert "late: 2 days" in page and '<td class="number" data-value="4">4 of' in page
    own = (work / "feedback" / "bob.html").read_text()
    assert "2 days late" in own and "4 of these 5 points count" in own
    rows = csv.DictReader(report.table([*found.values()]).splitlines())
    assert [(row["points"], row["in all"]) for row in rows] == [("5", "5"), ("5", "4"), ("5", "5")]
    assert "in all" not in report.table([*plain.values()])
    assert results.gradescope(bob)["score"] == 4
    adapters.export("table", "ps1", work, tmp_path / "all.csv")
    rows = csv.DictReader((tmp_path / "all.csv").read_text().splitlines())
    assert {row["student"]: row["in all"] for row in rows} == {"ada": "5", "bob": "4", "eve": "5"}


def test_the_rule_is_kept_for_the_next_time_and_may_be_taken_back(folders, quick, given):
    text = "id,handed in\nada,\nbob,2027-03-02 9:00\neve,2027-03-09 9:00\n"
    first = grade(folders, given(text, due="2027-03-01 23:59", late="25%"))
    assert [one.in_all for one in first.values()] == [5, 3.75, 0]
    assert first["ada"].flags == [NO_DATE]
    path, submitted, work, _ = folders
    again = Batch(path, submitted, work, only=["ada"])
    assert again.grade() == [*first.values()]
    assert [note for note in again.notes if "roster.json" in note]
    milder = grade(folders, roster.of_options(work, late="0%"))
    assert [one.in_all for one in milder.values()] == [5, 5, 5] and milder["eve"].late.days == 8
    (work / "roster.json").write_text("{")
    with pytest.raises(NetlabError, match=r"roster\.json is damaged: remove it"):
        grade(folders)
    (work / "roster.json").unlink()
    assert not [one.flags for one in grade(folders).values() if one.flags]


def test_who_is_in_the_roster_and_handed_nothing_in_has_zero(folders, quick, given):
    found = grade(folders, given("ADA\nbob\nZoe\n"))
    assert [*found] == ["Zoe", "ada", "bob", "eve"]
    zoe = found["Zoe"]
    assert (zoe.points, zoe.flags, zoe.reason) == (0, ["nothing to grade"], ABSENT)
    assert zoe.max_points == small.POINTS and found["ada"].flags == []
    assert records.read_class(folders[2], "ps1") == [*found.values()]
    put(folders[1], "Zoe", {USUAL: folders[3]})
    assert grade(folders)["Zoe"].points == 5


TEAM = "id,group,handed in\nbob,blue,2027-03-01 9:00\nada,blue,{}\ncy,blue,\neve,,2027-03-01 9:00\n"


def test_a_group_has_the_marks_of_one_notebook(folders, quick, given):
    submitted, work = folders[1:3]
    (submitted / "bob" / USUAL).unlink()
    class_ = given(TEAM.format("2027-03-02 9:00"), due="2027-03-01 23:59", late="10%")
    found = grade(folders, class_)
    assert [*found] == ["ada", "bob", "cy", "eve"]
    for one in (found["ada"], found["cy"]):
        assert one.but(student="bob", file="bob") == found["bob"]
    assert found["bob"].in_all == 4.5 and "late: 1 day" in found["bob"].flags  # the last date
    assert 'write student = "bob"' in found["cy"].notices[0]
    assert (work / "handed-in" / "cy.ipynb").read_bytes() == (
        submitted / "ada" / USUAL
    ).read_bytes()
    assert {path.stem for path in (work / "marks").iterdir()} == {"bob", "eve"}
    assert [one.flags for one in found.values()] == [["late: 1 day"]] * 3 + [[]]


def test_of_several_notebooks_of_a_group_the_one_with_most_answers_counts(
    folders,
    quick,
    given,
):
    submitted, made = folders[1], folders[3]
    half = notebook(source.read(folders[0]), "ada", "bdp")
    put(submitted, "bob", {USUAL: half})
    found = grade(folders, given(TEAM.format("")))
    assert found["cy"].origin.flags == ["there is also bob/ps1/ps1.ipynb"]
    put(submitted, "blue", {USUAL: made | {"metadata": {"by": "all"}}})
    found = grade(folders)
    assert found["ada"].origin.flags == ["there is also ada/ps1/ps1.ipynb, bob/ps1/ps1.ipynb"]


def test_the_order_of_a_groups_folders_changes_nothing(folders, quick, given):
    class_ = given(TEAM.format(""))
    names = ["eve", "blue", "ada", "bob", "stranger"]
    expected = {"bob": ["blue", "bob", "ada"], "eve": ["eve"], "stranger": ["stranger"]}
    assert class_.submissions(names) == class_.submissions(names[::-1]) == expected
    assert [*grade(folders, class_, only=["ada"])] == ["ada", "bob", "cy", "eve"]


def test_marks_of_ones_own_give_way_to_the_groups(folders, quick, given):
    grade(folders)
    quick.points = 7
    found = grade(folders, given("id,group\nbob,x\nada,x\n"))
    assert [one.points for one in found.values()] == [7, 7, 5]
    assert found["ada"].notices == found["bob"].notices != []


def test_moodles_folders_are_graded_as_downloaded(folders, quick, given):
    path, submitted, work, made = folders
    for number, name in ((12, "Ada L"), (345, "Zoe")):
        put(
            submitted.parent / "moodle",
            f"{name}_{number}_assignsubmission_file",
            {"ps1.ipynb": made},
        )
    put(
        submitted.parent / "moodle", "Ada L_12_assignsubmission_onlinetext", {"onlinetext.html": ""}
    )
    down = (path, submitted.parent / "moodle", work, made)
    with pytest.raises(NetlabError, match=r"Zoe_345.*--roster worksheet"):
        grade(down, given(HEAD + line(12, "ada")))
    batch = Batch(*down[:3], roster=given(HEAD + line(12, "ada") + line(345, "zoe")))
    assert [(one.student, one.points) for one in batch.grade()] == [("ada", 5), ("zoe", 5)]
    assert not [one for one in records.read_class(work, "ps1")[0].flags if "found as" in one]
    assert "assignsubmission_onlinetext" in batch.notes[0]


@pytest.fixture
def moodle(tmp_path):
    """Fill in a worksheet with the marks of test_adapters; -> its rows, and what was said."""
    write_class(tmp_path, EVERYBODY)

    def export(text, manual=None):
        (tmp_path / "worksheet.csv").write_bytes(text.encode())
        said, to = [], tmp_path / "graded.csv"
        where = "moodle", "ps0", tmp_path, to, None, manual, said.append
        count = adapters.export(*where, tmp_path / "worksheet.csv")
        return count, to.read_bytes().decode(), said

    return export


def test_moodles_worksheet_comes_back_with_grades(moodle):
    told = "Read page 2,\nplease"
    text = "\ufeff" + HEAD + line(1, "ADA") + line(2, "zoe", LATE) + line(3, "bob", comment=told)
    count, filled, said = moodle(text + line(4, "eve", comment="netlab: of last time"))
    assert count == 3 and filled.startswith("\ufeffIdentifier,")
    assert "none" in said[0]
    before = [*csv.reader(text.splitlines(keepends=True))]
    after = [*csv.reader(filled.splitlines(keepends=True))]
    assert after[0] == before[0] and after[2] == before[2]  # zoe has no marks
    ada, bob, eve = after[1], after[3], after[4]
    assert ada[4] == "6.5" and ada[9].startswith("netlab: all automatic answers are right. 4 more")
    assert [*ada[:4], *ada[5:9]] == [*before[1][:4], *before[1][5:9]]
    assert bob[4] == "2.375" and bob[9] == told
    assert eve[4] == "0.1" and "<script>" not in eve[9] and "of last time" not in eve[9]


def test_a_semicolon_between_columns_stays(moodle):
    _, filled, _ = moodle("id;Grade;Maximum grade;Feedback comments;=x\nada;;6,50;;=1+1\n")
    assert filled.splitlines()[1].startswith("ada;6.5;6,50;") and filled.endswith(";=1+1\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            HEAD + line(1, "ada", most="100.00"),
            r"line 2: Maximum grade '100\.00': .* 6\.5 or 10\.5",
        ),
        (HEAD.replace('"Feedback comments"', "Kommentar") + line(1, "ada"), "no column 'Feedback"),
        (HEAD.replace('"Email address"', "Mail") + line(1, "ada"), "no column with ids"),
    ],
)
def test_a_worksheet_that_does_not_fit_is_refused(text, words, moodle, tmp_path):
    with pytest.raises(NetlabError, match=words):
        moodle(text)
    assert not (tmp_path / "graded.csv").exists()
    with pytest.raises(NetlabError, match="--worksheet"):
        adapters.export("moodle", "ps0", tmp_path, tmp_path / "graded.csv")


def test_who_is_late_has_what_counts_in_moodle(moodle, tmp_path):
    late = Late("2027-03-03 00:01", "2027-03-01 23:59", 2, 0.2)
    write_class(tmp_path, [one.but(late=late, notices=["2 days late"]) for one in EVERYBODY])
    row = [*csv.reader(moodle(HEAD + line(1, "ada"))[1].splitlines())][1]
    assert row[4] == "5.2" and "2 days late" in row[9]


def test_from_moodle_to_moodle_by_commands(folders, quick, tmp_path):
    path = folders[0]
    moodle, csvs = tmp_path / "moodle", tmp_path / "worksheet.csv"
    for number, name in enumerate(("ada", "bob", "eve"), 1):
        folder = moodle / f"{name.title()} L_{number}_assignsubmission_file"
        put(folder.parent, folder.name, {"ps1.ipynb": notebook(source.read(path), name)})
    most = f"{small.POINTS + 4}.00"
    csvs.write_text(HEAD + line(1, "ada", LATE, most=most) + line(3, "eve", LATE, most=most))

    rule = "--roster", csvs, "--due", "2027-03-02 23:59", "--late", "50%"
    to = "-o", tmp_path / "out" / "ps1.csv", "--course", path.parents[2]
    with pytest.raises(NetlabError, match="Bob L_2_assignsubmission_file"):
        course("grade", "ps1", moodle, *to, *rule)
    csvs.write_text(csvs.read_text() + line(2, "bob", LATE, most=most))
    course("grade", "ps1", moodle, *to, *rule)
    graded = "-o", tmp_path / "graded.csv", "--worksheet", csvs
    said = course("export", "ps1", tmp_path / "out" / "ps1-marks", "--to", "moodle", *graded)
    assert said.startswith("3 students' marks")
    rows = [*csv.DictReader((tmp_path / "graded.csv").read_text().splitlines())]
    assert [row["Grade"] for row in rows] == ["2.5"] * 3
    assert all("1 day late" in row["Feedback comments"] for row in rows)


def test_marks_without_a_roster_are_as_they_were():
    assert not {"late"} & json.loads(json.dumps(EVERYBODY[0].model_dump())).keys()
    assert Roster() == Roster.model_validate_json(Roster().model_dump_json())
