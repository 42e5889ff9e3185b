"""`netlab course` from the command line, graded for real with a small set."""

import csv
import functools
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from netlab.cli.course import open_page
from netlab.cli.pages import POLICY
from netlab.course import invented, mine
from netlab.course.grading.batch import Batch
from netlab.course.grading.marks import read_class
from netlab.course.own_numbers import parameters
from tests.course import small


@pytest.fixture
def netlab(call):
    return functools.partial(call, "course")


@pytest.fixture
def course(tmp_path):
    """A course folder with a small ps1, and an empty folder for what students hand in."""
    small.write(tmp_path / "course")
    return tmp_path / "course"


def handed_in(tmp_path, student, notebook):
    path = tmp_path / "submitted" / student / "ps1" / "ps1.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(notebook))


def test_from_release_to_marks(netlab, tmp_path, course):
    """As handed out it is worth nothing, the solution is worth everything."""
    assert netlab("release", "ps1", "-o", tmp_path / "out", "--course", course).status == 0
    released = json.loads((tmp_path / "out/ps1.ipynb").read_text())
    assert small.SECRET_OF_SOLUTION not in json.dumps(released)
    assert netlab("solution", "ps1", "-o", tmp_path / "own", "--course", course).status == 0
    solution = json.loads((tmp_path / "own/ps1.ipynb").read_text())
    assert "the window" in (tmp_path / "own/ps1-rubric.md").read_text()

    found = netlab("check", tmp_path / "out/ps1.ipynb")
    assert found.status == 1
    assert "ps1-name: name missing." in found.out
    assert "ps1-bdp: no answer." in found.out

    handed_in(tmp_path, "ada", solution)
    handed_in(tmp_path, "bela", released)
    table = tmp_path / "marks" / "marks.csv"
    found = netlab("grade", "ps1", tmp_path / "submitted", "-o", table, "--course", course)
    assert found.status == 0, found.err
    assert f"2 students' marks: {table}" in found.out
    text = table.read_text()
    assert text.startswith("student,assignment,points,max_points,flags,reason\n")
    rows = {row["student"]: row for row in csv.DictReader(text.splitlines())}
    most = f"{small.POINTS:g}"
    assert list(rows["ada"].values()) == [
        *("ada", "ps1", most, most),
        *("name missing", "all automatic answers are right"),
    ]
    assert [rows["bela"][key] for key in ("points", "max_points")] == ["0", most]
    work = tmp_path / "marks/ps1-marks"
    assert {path.name for path in (work / "feedback").iterdir()} == {"ada.html", "bela.html"}
    page = (work / "class.html").read_text()
    policy = POLICY.splitlines()[0]  # of other pages
    assert policy == (work / "feedback/ada.html").read_text().splitlines()[2]
    assert page.splitlines()[2].startswith(policy.removesuffix('">'))
    listed = re.findall(r'href="(.*?)"', page)
    assert listed[-2:] == ["feedback/ada.html", "feedback/bela.html"]
    assert "all automatic answers are right" in page

    by_hand = tmp_path / "by hand.csv"  # filled in, and given back
    assert netlab("export", "ps1", work, "--to", "table", "-o", by_hand).status == 0
    head, *lines = csv.reader(by_hand.read_text().splitlines())
    lines = [[*line[: head.index("flags") - 1], "2,5", *line[-2:]] for line in lines]
    by_hand.write_text("\n".join(";".join(line) for line in [head, *lines]))
    before = {path: path.stat().st_mtime_ns for path in (work / "marks").iterdir()}
    words = "grade", "ps1", tmp_path / "submitted", "-o", table, "--course", course
    assert netlab(*words, "--manual", by_hand).status == 0
    assert {path: path.stat().st_mtime_ns for path in (work / "marks").iterdir()} == before
    assert f"{small.POINTS + 2.5:g} of {small.POINTS + 4:g}" in (work / "class.html").read_text()
    assert "2.5 of 4 points" in (work / "feedback/bela.html").read_text()
    (tmp_path / "out/course.csv").write_text("student,points\n")
    refused = netlab(*words, "--manual", tmp_path / "out/course.csv")
    assert refused.status == 1 and "no column with points of this set" in refused.err


@pytest.mark.long
def test_a_student_s_own_solution_has_run_with_that_student_s_numbers(netlab, tmp_path, course):
    (course / "course.json").write_text('{"secret": "xyz"}')
    arguments = "solution", "ps1", "--for", " Ada", "--course", course, "-o", tmp_path / "out"
    words = [sys.executable, "-m", "netlab", "course", *arguments]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr  # the kernel's, about its sockets
    text = (tmp_path / "out/ps1.ipynb").read_text()
    notebook = json.loads(text)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert "".join(code[0]["source"]) == "student = 'ada'"
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    seed = parameters("ps1", "ada", "xyz", small.NUMBERS).seed
    assert f"my.seed = {seed}" in text
    assert "The window." in text
    assert not [one for one in ("mistakes", "HIDDEN", "Rubric") if one in text]
    assert "<h1" in (tmp_path / "out/ps1.html").read_text()
    (tmp_path / "out/ps1.ipynb").write_text("mine")
    assert netlab(*arguments).status == 1
    assert (tmp_path / "out/ps1.ipynb").read_text() == "mine"


@pytest.mark.long
def test_a_roster_tells_who_is_in_the_course_by_digests(netlab, tmp_path, course, monkeypatch):
    roster, out = tmp_path / "ids.txt", tmp_path / "out"
    roster.write_text("\ufeffEmma\n\nwilhelmina@example.org\n")
    release = "release", "ps1", "--course", course, "--roster", roster, "-o", out
    assert "secret" in netlab(*release).err  # there is none to hide ids behind
    assert netlab(*release, "--secret", "xyz").status == 0
    told = json.loads((out / "course.json").read_text())
    assert len(told["roster"]) == 2 and not {"emma", "wilhelmina"} & {*told["roster"]}
    assert "wilhelmina" not in (out / "course.json").read_text()
    notebook = json.loads((out / "ps1.ipynb").read_text())
    said = {}
    for student in ("EMMA ", "emma2"):
        small.cell(notebook, "name")["source"] = f'student = "{student}"'
        (out / "ps1.ipynb").write_text(json.dumps(notebook))
        said[student] = netlab("check", out / "ps1.ipynb").out
    assert (
        said["EMMA "].startswith("the id in this notebook: emma; it must be")
        and "no such id" not in said["EMMA "]
    )
    assert (
        said["emma2"].startswith("the id in this notebook: emma2; ")
        and "ps1-name: no such id." in said["emma2"]
    )
    monkeypatch.chdir(out)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine("ps1", "Emma")
    with pytest.warns(UserWarning, match="emma2"):
        mine("ps1", "emma2")
    roster.write_text("emma\nEmma\n")
    assert "lines 1 and 2" in netlab(*release, "--secret", "xyz").err


@pytest.mark.long
def test_the_demonstration_gives_what_the_work_is_worth(netlab, tmp_path, course, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "demo"
    found = netlab("demo", "-o", folder, "--students", 2, "--course", course)
    assert found.status == 0, found.err
    head, ada, bela, *rest = found.out.splitlines()
    assert head.split() == ["student", "handed", "in", "worth", "given"]
    assert ada.split() == ["ada", "Everything", "right", *2 * [f"{small.POINTS:g}"]]
    worth, given = map(float, bela.split()[-2:])
    assert bela.startswith("bela     One exercise wrong ")
    assert worth == given < small.POINTS
    page = folder / "ps1-marks/class.html"
    assert rest[-1] == f"All marks on a page: {page}"
    assert page.is_file()
    notebook = folder / "submitted/ada/ps1/ps1.ipynb"
    before = notebook.read_text()
    marks = read_class(folder / "ps1-marks", "ps1")
    monkeypatch.setattr(Batch, "grade", lambda batch: marks)
    source = course / "source/ps1/ps1.ipynb"  # the set is changed, and the class smaller
    source.write_text(source.read_text().replace("About 5 minutes", "About 6 minutes"))
    found = netlab("demo", "-o", folder, "--students", 1, "--course", course)
    assert found.status == 0, found.err
    assert notebook.read_text() == before.replace("About 5 minutes", "About 6 minutes") != before


def test_the_demonstration_overwrites_nobody(netlab, tmp_path, course):
    handed_in(tmp_path, "ada", {"a real": "submission"})
    found = netlab("demo", "-o", tmp_path, "--students", 1, "--course", course)
    assert "ada/ps1/ps1.ipynb cannot be written: it is another file" in found.err
    kept = tmp_path / "submitted/ada/ps1/ps1.ipynb"
    assert json.loads(kept.read_text()) == {"a real": "submission"}
    (tmp_path / "submitted/ada").rename(tmp_path / "submitted/carl")  # whom it does not invent
    found = netlab("demo", "-o", tmp_path, "--students", 1, "--course", course)
    assert "carl/ps1/ps1.ipynb cannot be written" in found.err
    assert not (tmp_path / "submitted/ada").exists()


def test_every_kind_of_invented_work_is_told_in_words():
    assert all(0 < len(kind.__doc__) < 42 for kind in invented.KINDS)


@pytest.mark.parametrize("display", ["", ":9"])
def test_the_page_is_opened_only_where_there_is_a_screen(display, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    open_page(Path("/out/class.html"))
    assert opened == ["file:///out/class.html"] * bool(display)


@pytest.mark.parametrize("secret", ["", " "])
def test_an_empty_secret_is_refused_by_name(netlab, secret, course, tmp_path):
    """Every student's `mine` would refuse the course.json that is made of it."""
    (tmp_path / "submitted").mkdir()
    for command in ("release ps1", "grade ps1 submitted", "autograder ps1"):
        words = command.replace("submitted", str(tmp_path / "submitted")).split()
        done = netlab(*words, "--course", course, "-o", tmp_path / "out", "--secret", secret)
        assert done.status == 1 and "--secret" in done.err
        assert not (tmp_path / "out").exists()
    (course / "course.json").write_text(json.dumps({"secret": secret}))
    done = netlab("release", "ps1", "--course", course, "-o", tmp_path / "out")
    assert done.status == 1 and "course.json" in done.err
