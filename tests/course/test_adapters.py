import csv
import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import nbformat
import pytest

from netlab.course import adapters
from netlab.course.adapters import autograder, nbgrader, results
from netlab.course.grading import report
from netlab.course.grading.batch import Batch
from netlab.course.grading.marks import (
    CLASS,
    AnswerMarks,
    Late,
    marks_of,
    read_class,
    without_marks,
    write,
)
from netlab.course.grading.work import filed
from netlab.course.sets import source
from netlab.course.texts import as_csv
from netlab.errors import NetlabError
from tests.course import problem_set

HOSTILE = '=HYPERLINK("http://x")\x1b[2J<script>alert(1)</script>| `x` ![i](http://x)\n@y'

ASSIGNMENT = source.assignment("ps0", json.loads(json.dumps(problem_set.source())))


def marks(student, points, text="", flags=(), reason="", hint="", answers=True, notices=()):
    """Marks of ps0, as the grader leaves them; `points` of its two automatic exercises."""
    row = {"name": "bdp_bytes", "verdict": "wrong", "hint": hint}
    rows = {
        one.id: [AnswerMarks(**row, share=got / one.points, max_points=one.points)] * answers
        for one, got in zip(ASSIGNMENT.automatic, points, strict=True)
    }
    said = {"flags": [*flags], "reason": reason, "findings": [hint] if hint else []}
    said |= {"notices": [*notices], "file": filed(student)}
    return marks_of(student, ASSIGNMENT, rows, {"ps0-explain": text}, **said)


TOLD = "Something was handed in twice under your id"
EVERYBODY = [
    marks("ada", (3, 3.5), "The window.", reason="all automatic answers are right"),
    marks("bob", (1.5, 0.875), "No idea.", ["cell copied", "number of ada: share"], notices=[TOLD]),
    marks("Eve", (0, 0.1), HOSTILE, [HOSTILE], HOSTILE, HOSTILE),
    marks("=cmd|' /C calc'!A0", (0.3, 2.625), "", hint="close"),
    marks("none", (0, 0), flags=["unreadable"], reason="no notebook", answers=False),
]
TOTALS = {one.student: (one.points, 6.5) for one in EVERYBODY}


@pytest.fixture(scope="module")
def work_of_all(tmp_path_factory):
    """What the grader left: marks, and what was handed in; and the course folder beside it."""
    home = tmp_path_factory.mktemp("home")
    folder = home / "work"
    (folder / "handed-in").mkdir(parents=True)
    problem_set.write(home / "course")
    keep(folder, EVERYBODY)
    for one in EVERYBODY:
        notebook = ASSIGNMENT.solution()
        notebook["cells"][-1]["source"] = one.manual[0].text
        file = folder / "handed-in" / f"{one.file}.ipynb"
        file.write_text("%PDF" if one.student == "none" else source.text(notebook))
    return folder


def keep(work, everybody, change=()):
    """Write class.json, the last student's with a change that marks cannot have."""
    kept = [one.model_dump() for one in everybody]
    kept[-1] |= dict(change)
    (work / CLASS).write_text(json.dumps(kept))


@pytest.fixture
def work(work_of_all, tmp_path):
    return Path(shutil.copytree(work_of_all, tmp_path / "work"))


def export(to, work, output, *more):
    return problem_set.course("export", "ps0", work, "--to", to, "-o", output, *more)


def close(totals):
    return {name: pytest.approx(total) for name, total in totals.items()}


def test_a_table_for_any_course_system(work, tmp_path):
    export("table", work, tmp_path / "out" / "marks.csv")
    text = (tmp_path / "out" / "marks.csv").read_text()
    head, *rows = csv.reader(text.splitlines())
    columns = ["ps0-bdp-check (of 3)", "ps0-rate-check (of 3.5)", "ps0-explain (of 4)"]
    assert head == ["student", "points", "max_points", *columns, "flags", "reason"]
    totals = {row[0].removeprefix("'"): (float(row[1]), float(row[2])) for row in rows}
    assert totals == close(TOTALS)
    assert {row[0]: row[5] for row in rows}["ada"] == ""
    assert not computing(text)
    assert all(one.isprintable() or one == "\n" for one in text)


def computing(text):
    """The cells of a CSV text that begin as a formula does, wherever a spreadsheet may split it."""
    pieces = [piece.strip(' "\ufeff') for piece in re.split("[;,\t\n\r\uff0c\uff1b]", text)]
    return [piece for piece in pieces if piece[:1] in {*"=+-@|%\t\uff1d\uff0b\uff0d\uff20"} - {""}]


@pytest.mark.parametrize("first", "-=+@|%\uff1d\uff0b\uff0d\uff20")
def test_no_spreadsheet_computes_what_a_student_wrote(first):
    for before in ("", " ", "x;", "x; ", "x,", 'x,"', "x\t", "x\n", "\ufeff", "'; "):
        text = f"{before}{first}cmd|'/C calc'!A0"
        rows = as_csv([["student", "reason"], ["ada", text], [text, 1.50]])
        assert not computing(rows)
        assert list(csv.reader(rows.splitlines()))[2][1] == "1.5"


def test_only_the_last_gradings_marks_are_exported(work, tmp_path):
    (work / "marks").mkdir()
    for one in EVERYBODY:
        write(work / "marks" / f"{one.file}.json", one)
    keep(work, EVERYBODY[:2])
    said = export("table", work, tmp_path / "marks.csv")
    rows = list(csv.DictReader((tmp_path / "marks.csv").open(encoding="utf-8")))
    assert [row["student"] for row in rows] == ["ada", "bob"]
    assert said.startswith("2 students' marks, in ")
    assert "3 students' marks" in said and "left out" in said


def test_results_for_gradescope(work, tmp_path):
    export("gradescope", work, tmp_path / "out")
    found = {}
    for path in (tmp_path / "out").glob("*/results.json"):
        said = json.loads(path.read_text())
        # what Gradescope's specification allows
        assert set(said) <= {
            *("score", "output", "output_format", "visibility", "stdout_visibility", "tests"),
            *("extra_data", "execution_time", "leaderboard", "test_output_format"),
        }
        for test in said["tests"]:
            assert set(test) <= {
                *("score", "max_score", "status", "name", "name_format", "number", "output"),
                *("output_format", "tags", "visibility", "extra_data"),
            }
            assert test["status"] in ("passed", "failed")
            assert test["visibility"] == "visible"
            assert test["output_format"] == test["name_format"] == "text"
            assert "\x1b" not in test["output"]
        shown = json.dumps({**said, "extra_data": None})
        assert "number of ada" not in shown  # other students' names are for instructors
        assert (TOLD in shown) == (said["extra_data"]["student"] == "bob")
        got, most = (sum(test[key] for test in said["tests"]) for key in ("score", "max_score"))
        assert said["score"] == pytest.approx(got)
        found[said["extra_data"]["student"]] = (got, most)
    assert found == close(TOTALS)


@pytest.fixture(scope="module")
def exported_to_nbgrader(work_of_all, tmp_path_factory):
    """The course folder after the export, which names the student whose id nbgrader cannot have."""
    home = tmp_path_factory.mktemp("nbgrader")
    work, course = shutil.copytree(work_of_all, home / "work"), home / "course"
    stamp = course / "submitted" / "ada" / "ps0" / "timestamp.txt"
    stamp.parent.mkdir(parents=True)
    stamp.write_text("2026-10-01 12:00:00 UTC")
    stamp.with_name("submission_secret.txt").write_text("of ada")
    sets = work_of_all.with_name("course")
    with pytest.raises(NetlabError, match=r"1 of 5 students'.*\n- =cmd.*cannot have the id"):
        export("nbgrader", work, course, "--course", str(sets))
    keep(work, EVERYBODY[:3] + EVERYBODY[4:])
    shutil.copytree(sets, course, dirs_exist_ok=True)
    return home


@pytest.fixture
def in_nbgrader(exported_to_nbgrader, tmp_path):
    return shutil.copytree(exported_to_nbgrader, tmp_path / "nbgrader") / "course"


def test_one_students_failure_is_a_line_and_the_others_are_written():
    written = []

    def write(one):
        if one.student == "bob":
            raise TypeError("in /home/grader")
        written.append(one)

    with pytest.raises(NetlabError) as caught:
        adapters.for_each(EVERYBODY, write)
    assert "- bob: " in str(caught.value) and "/home" not in str(caught.value)
    assert len(written) == len(EVERYBODY) - 1


def test_pages_run_nothing_that_a_student_wrote(tmp_path):
    report.report(EVERYBODY, tmp_path)
    for page in tmp_path.rglob("*.html"):  # the class's have a script of ours (test_report.py)
        text = page.read_text()
        assert text.count("<script") == (page.name == "class.html") and "\x1b" not in text
    assert "&lt;script&gt;" in (tmp_path / "feedback" / f"{filed('Eve')}.html").read_text()


def test_an_export_goes_on_after_a_student_who_fails(work, tmp_path, monkeypatch):
    plain = results.write

    def write(one, *rest):
        if one.student == "bob":
            raise TypeError
        plain(one, *rest)

    monkeypatch.setattr(results, "write", write)
    with pytest.raises(NetlabError, match=r"(?s)1 of 5 students' marks.*- bob: TypeError"):
        export("gradescope", work, tmp_path / "out")
    assert len(list((tmp_path / "out").glob("*"))) >= len(EVERYBODY) - 1


@pytest.mark.parametrize("points", [10**400, float("nan"), -1, "3"])
def test_marks_that_cannot_be_are_refused(points, work, tmp_path):
    keep(work, EVERYBODY[:1], {"manual": [{"id": "x", "max_points": points, "text": ""}]})
    with pytest.raises(NetlabError, match="has no marks"):
        export("table", work, tmp_path / "marks.csv")


def gradebook(folder):
    from nbgrader.api import Gradebook

    return Gradebook(f"sqlite:///{folder / 'gradebook.db'}")


def test_late_work_has_a_penalty_in_nbgrader(work_of_all, work, tmp_path):
    late = Late("2027-03-03 00:01", "2027-03-01 23:59", 2, 0.2)
    keep(work, [EVERYBODY[0].but(late=late), EVERYBODY[1]])
    course = str(work_of_all.parent / "course")
    export("nbgrader", work, tmp_path / "course", "--course", course)
    with gradebook(tmp_path / "course") as kept:
        ada, bob = (kept.find_submission("ps0", one) for one in ("ada", "bob"))
        assert (ada.score, ada.late_submission_penalty) == (6.5, pytest.approx(1.3))
        assert bob.late_submission_penalty == 0


@pytest.mark.long
def test_marks_in_nbgrader_and_what_people_mark_there(in_nbgrader):
    there = sorted(path.name for path in (in_nbgrader / "autograded").iterdir())
    assert there == ["Eve", "ada", "bob", "none"]
    problem_set.of_nbgrader(in_nbgrader, "export", "--to", "grades.csv")
    with (in_nbgrader / "grades.csv").open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    totals = {name: (float(row["raw_score"]), 10.5) for name, row in rows.items()}
    assert totals == close({name: (TOTALS[name][0], 10.5) for name in rows}) and len(totals) == 4
    assert rows["ada"]["timestamp"].startswith("2026-10-01 12:00:00")
    with gradebook(in_nbgrader) as kept:

        def grade(student, cell="ps0-explain"):
            return kept.find_grade(cell, "ps0", "ps0", student)

        assert grade("ada").needs_manual_grade and grade("ada").auto_score is None
        assert not grade("none").needs_manual_grade and grade("none").auto_score == 0
        assert not grade("ada", "ps0-bdp-check").needs_manual_grade
        comment = kept.find_comment("ps0-explain", "ps0", "ps0", "none")
        assert comment.comment == "No response."
        submission = kept.find_submission("ps0", "ada")
        assert submission.needs_manual_grade and submission.max_score == 10.5
        grade("ada").manual_score, grade("ada").needs_manual_grade = 3, False
        kept.db.commit()
    export("nbgrader", in_nbgrader.with_name("work"), in_nbgrader)  # what people marked stays
    with gradebook(in_nbgrader) as kept:
        assert kept.find_submission("ps0", "ada").score == 9.5


def test_the_set_is_recorded_as_nbgrader_records_it(in_nbgrader, tmp_path):
    problem_set.write(tmp_path / "theirs")
    problem_set.of_nbgrader(tmp_path / "theirs", "generate_assignment", "ps0")
    cells = []
    for folder in (in_nbgrader, tmp_path / "theirs"):
        with gradebook(folder) as kept:
            notebook = kept.find_notebook("ps0", "ps0")
            found = [notebook.grade_cells, notebook.solution_cells, notebook.source_cells]
            kinds = [[{**cell.to_dict(), "id": ""} for cell in kind] for kind in found]
            kinds = [sorted(kind, key=lambda cell: cell["name"]) for kind in kinds]
            cells.append((notebook.kernelspec, kinds))
    assert cells[0] == cells[1]


@pytest.mark.long
def test_nbgraders_feedback_shows_the_marks_and_nothing_hostile_runs(in_nbgrader, tmp_path):
    problem_set.of_nbgrader(in_nbgrader, "generate_feedback", "ps0")
    page = (in_nbgrader / "feedback" / "Eve" / "ps0" / "ps0.html").read_text()
    assert "Score: 0.1 / 10.5" in page and TOLD not in page
    assert TOLD in (in_nbgrader / "feedback" / "bob" / "ps0" / "ps0.html").read_text()
    assert "bdp_bytes: wrong." in page
    assert "<script>alert(1)" not in page
    notebook = nbformat.read(in_nbgrader / "autograded" / "ada" / "ps0" / "ps0.ipynb", 4)
    nbformat.validate(notebook)
    assert "return rate_bps * rtt_s / 8" in notebook.cells[5].source
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    where = ["--student=ada", "--course=c", f"--Exchange.root={exchange}"]
    problem_set.of_nbgrader(in_nbgrader, "release_feedback", "ps0", *where)
    (page,) = (exchange / "c" / "feedback").iterdir()
    assert "Score: 6.5 / 10.5" in page.read_text()


def test_a_link_in_place_of_what_nbgrader_collects_is_not_followed(tmp_path):
    (tmp_path / "secret").write_text("2026-10-01 12:00:00 UTC")
    for name in nbgrader.KEPT:
        (tmp_path / name).symlink_to(tmp_path / "secret")
        assert nbgrader.collected(tmp_path / name, tmp_path) == b""
    assert nbgrader.collected(tmp_path / "secret", tmp_path).startswith(b"2026")
    assert nbgrader.timestamp(b"2026-10-01 12:00:00 UTC").year == 2026
    assert nbgrader.timestamp(b"") is nbgrader.timestamp(b"\xff") is None


CONFIGURATION = Path(__file__).parents[2] / "notebooks" / "assignments" / "nbgrader_config.py"


@pytest.mark.long
def test_with_the_courses_configuration(in_nbgrader):
    """A set is released as netlab does it, feedback is free of scripts, and nbgrader's own grading,
    which would give full points, is refused.
    """
    (in_nbgrader / CONFIGURATION.name).write_text(CONFIGURATION.read_text())
    path = source.find("ps0", in_nbgrader)
    path.with_name("course.json").write_text('{"secret": "hush"}')
    problem_set.of_nbgrader(in_nbgrader, "generate_assignment", "ps0", "--force")
    theirs = nbformat.read(in_nbgrader / "release" / "ps0" / "ps0.ipynb", 4)
    ours = source.read(path).release("hush")
    assert json.loads(json.dumps(theirs)) == ours
    problem_set.of_nbgrader(in_nbgrader, "generate_feedback", "ps0")
    page = (in_nbgrader / "feedback" / "ada" / "ps0" / "ps0.html").read_text()
    assert "Score: 6.5 / 10.5" in page
    (in_nbgrader / "submitted" / "ada" / "ps0" / "ps0.ipynb").write_text(source.text(ours))
    with pytest.raises(subprocess.CalledProcessError) as caught:
        problem_set.of_nbgrader(in_nbgrader, "autograde", "ps0", "--force")
    assert "netlab course grade ps0" in caught.value.stderr


def test_marks_that_are_none(work, tmp_path):
    with pytest.raises(NetlabError, match="no marks in it"):
        read_class(tmp_path / "nowhere", "ps0")
    with pytest.raises(NetlabError, match="of ps0, not of ps1"):
        read_class(work, "ps1")
    for change in [{"version": 2}, {"points": 5}, {"flags": [1]}, {"exercises": None}]:
        keep(work, EVERYBODY[:2], change)
        with pytest.raises(NetlabError, match=r"class\.json"):
            read_class(work, "ps0")
    for content in ("", "[]", "5", '{"marks": {}, "notices": {}}'):
        (work / CLASS).write_text(content)
        with pytest.raises(NetlabError, match=r"class\.json"):
            read_class(work, "ps0")
    with pytest.raises(NetlabError, match="allowed are"):
        adapters.export("excel", "ps0", work, tmp_path)


@pytest.fixture
def archive(tmp_path):
    path = problem_set.write(tmp_path / "course")
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / "netlab_tcp-0.2.0-py3-none-any.whl").write_bytes(b"PK")
    (dist / "netlab_engine-0.1.0+1-py3-none-any.whl").write_bytes(b"PK")
    return autograder.build(path, dist, tmp_path / "out" / "ps0.zip", "hush")


def test_the_autograder_for_gradescope(archive):
    with zipfile.ZipFile(archive) as found:
        assert set(found.namelist()) == {
            *("setup.sh", "run_autograder", "set/ps0.ipynb", "set/course.json"),
            *("netlab_tcp-0.2.0-py3-none-any.whl", "netlab_engine-0.1.0+1-py3-none-any.whl"),
        }
        assert json.loads(found.read("set/course.json")) == {"secret": "hush"}
        for name in ("setup.sh", "run_autograder"):
            assert found.getinfo(name).external_attr >> 16 == 0o755
            assert found.read(name).startswith(b"#!/usr/bin/env bash\n")
            subprocess.run(["bash", "-n"], input=found.read(name), check=True)


def test_the_autograder_needs_both_wheels(tmp_path):
    with pytest.raises(NetlabError, match="make wheel"):
        autograder.build(problem_set.write(tmp_path), tmp_path, tmp_path / "ps0.zip")


def at_gradescope(archive, tmp_path, email="ada@example.org", notebooks=("ps0.ipynb",)):
    """Gradescope's folders, with a submission; -> what results.json says after a run."""
    home = tmp_path / "autograder"
    (home / "submission").mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive) as found:
        found.extractall(home / "source")
    emails = email if isinstance(email, tuple) else (email,)
    said = {"users": [{"email": one, "name": "Ada"} for one in emails]}
    (home / "submission_metadata.json").write_text(json.dumps(said))
    for name in notebooks:
        (home / "submission" / name).write_text("%PDF")
    autograder.run(home)
    return json.loads((home / "results" / "results.json").read_text())


def test_at_gradescope_there_is_a_result_where_grading_is_ended(tmp_path, monkeypatch):
    def ended(home):
        raise SystemExit

    monkeypatch.setattr(autograder, "grade", ended)
    with pytest.raises(SystemExit):
        autograder.run(tmp_path)
    said = json.loads((tmp_path / "results" / "results.json").read_text())
    assert autograder.UNFINISHED in said["output"]


@pytest.mark.parametrize("link", ["ps0.ipynb", "folder/ps0.ipynb", "pipe"])
def test_at_gradescope_a_link_is_no_notebook(link, archive, tmp_path):
    """It would be the teacher's own solution, which lies beside the submission there."""
    submission = tmp_path / "autograder" / "submission"
    submission.mkdir(parents=True)
    if link == "pipe":
        os.mkfifo(submission / "ps0.ipynb")
    elif "/" in link:
        (submission / "folder").symlink_to("../source/set")
    else:
        (submission / link).symlink_to("../source/set/ps0.ipynb")
    said = at_gradescope(archive, tmp_path, notebooks=())
    assert said["score"] == 0 and said["tests"] == []
    assert re.search("link|no file|0 notebooks", said["output"])


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"notebooks": ()}, "0 notebooks"),
        ({"notebooks": ("a.ipynb", "b.ipynb")}, "2 notebooks"),
        ({"email": None}, "whose submission"),
        ({"email": "../../x@example.org"}, "whose submission"),
    ],
)
def test_what_cannot_be_graded_is_said_in_the_results(archive, tmp_path, changes, words):
    said = at_gradescope(archive, tmp_path, **changes)
    assert said["score"] == 0
    assert words in said["output"]


def test_an_autograder_that_was_not_set_up_says_so(archive, tmp_path):
    with zipfile.ZipFile(archive) as found:
        script = found.read("run_autograder").decode().replace("/autograder", str(tmp_path / "g"))
    subprocess.run(["bash"], input=script, text=True, stderr=subprocess.PIPE, check=True)
    said = json.loads((tmp_path / "g" / "results" / "results.json").read_text())
    assert said["score"] == 0
    assert "could not be started" in said["output"]


def test_a_group_has_the_numbers_of_the_same_member_in_whatever_order_it_is_listed(tmp_path):
    found = []
    for emails in (
        ["Zoe@x.org", "ada@x.org", "bob@x.org"],
        ["bob@x.org", "Zoe@x.org", "ada@x.org"],
    ):
        said = {"users": [{"email": one} for one in emails]}
        (tmp_path / "submission_metadata.json").write_text(json.dumps(said))
        found.append(autograder.who(tmp_path))
    assert found == [["ada", "bob", "zoe"]] * 2
    for users in ([], [{"email": "ada@x.org"}, {"email": None}], [{"email": "ada@x.org"}, {}]):
        (tmp_path / "submission_metadata.json").write_text(json.dumps({"users": users}))
        with pytest.raises(NetlabError, match="whose submission"):
            autograder.who(tmp_path)


def test_a_group_is_told_whose_numbers_it_has(archive, tmp_path, monkeypatch):
    def grade(batch):
        (student,) = os.listdir(batch.submitted)
        return [without_marks(student, batch.assignment, "unreadable", "a reason")]

    monkeypatch.setattr(Batch, "__init__", prepare)
    monkeypatch.setattr(Batch, "grade", grade)
    said = at_gradescope(archive, tmp_path, email=("zoe@x.org", "ada@x.org"))
    assert 'Write student = "ada"' in said["output"] and "zoe" in said["output"]
    assert "alphabet" not in at_gradescope(archive, tmp_path)["output"]


def prepare(batch, path, submitted, *_, **__):
    batch.assignment, batch.submitted = source.read(path), submitted


def test_at_gradescope_what_systems_leave_is_no_notebook(tmp_path):
    made = ("PS0.ipynb", "._ps0.ipynb", "__MACOSX/._ps0.ipynb", ".ipynb_checkpoints/ps0-c.ipynb")
    for name in made:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert autograder.handed_in(tmp_path, "ps0.ipynb") == b"PS0.ipynb"


@pytest.mark.parametrize("names", [("..",), ("",), (".x",), ("a/b",), ("a\0",), ("a", "A")])
@pytest.mark.parametrize("to", ["gradescope", "nbgrader"])
def test_names_of_files_that_the_grader_does_not_give_are_refused(names, to, work, tmp_path):
    everybody = [one.but(file="a") for one in EVERYBODY[: len(names)]]
    keep(work, everybody, {"file": names[-1]})
    with pytest.raises(NetlabError, match="grade the class again"):
        export(to, work, tmp_path / "deep" / "out")
    assert not (tmp_path / "deep").exists()
