"""A class, graded: every kind of trouble gets what it deserves, also those over which other graders
of notebooks have stumbled; twice the same, whatever happens in between.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from netlab.course import invented
from netlab.course.adapters import results
from netlab.course.grading import marks as records
from netlab.course.grading import report
from netlab.course.grading.batch import Batch
from netlab.course.grading.work import file_names, filed, held
from netlab.course.own_numbers import SECRET, parameters
from netlab.course.sets import source
from netlab.engines.workers import Workers
from netlab.errors import NetlabError
from tests.course import small
from tests.course.problem_set import hand_in


class Watched(Workers):
    """Workers that remember for whom the solution was worked out, and how many work at once."""

    def __init__(self, workers):
        super().__init__(workers.module, workers.wall_limit_s)
        self.solved, self.now, self.most = [], 0, 0

    def work_on(self, job, times=1):
        self.solved += [job["students"]] if "students" in job else []
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return super().work_on(job, times)
        finally:
            self.now -= 1


TROUBLES = {  # what stands in an answer cell, by the exercise that it costs
    "number": """
class Everything(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __sub__(self, other): return 0.0
    __rsub__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = float.__hash__
    def __float__(self): return Everything(0)
    def __abs__(self): return 0.0
seventh = Everything(0)
""",  # inducer/relate #295
    "bdp": """
import sys, traceback
from IPython import get_ipython
shell = get_ipython()
shell.showtraceback = lambda *_, **__: print("all is right")
shell.set_custom_exc((Exception,), lambda *_: ["right"])
sys.excepthook = traceback.print_exc = lambda *_: None
raise AssertionError("all is right")
""",  # the traceback of a failing cell looks like success, nbgrader #1324
    "run": "received_bps = 12.5\nraise ValueError('no')",
}


def grade(path, submitted, work, jobs=None):
    """A batch that has been graded, and the marks by student."""
    batch = Batch(path, submitted, work, jobs=jobs)
    batch.workers = Watched(batch.workers)
    return batch, {one.student: one for one in batch.grade()}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A small set, what a class has handed in, and what that is: one of each kind, one of each
    trouble, and numbers that ada's neighbours typed in.
    """
    folder = tmp_path_factory.mktemp("course")
    path = small.write(folder)
    assignment, submitted = source.read(path), folder / "submitted"
    intended = invented.write(assignment, submitted, len(invented.KINDS))
    for exercise, lines in TROUBLES.items():
        notebook = assignment.solution()
        small.cell(notebook, exercise)["source"] = lines
        hand_in(submitted, f"trouble {exercise}", notebook)
    ada, own = seventh("ada"), seventh("rounds")
    for student, value in {"copies": ada, "mistypes": ada * 1.1, "rounds": f"{own:.3g}"}.items():
        notebook = assignment.release()
        small.cell(notebook, "number")["source"] = f"seventh = {value}"
        hand_in(submitted, student, notebook)
    return path, submitted, intended


def seventh(student):
    """A student's own answer to the exercise "number"."""
    return parameters("ps1", student, SECRET, small.NUMBERS).seed / 7


# `make test` grades the class of test_attacks.py
@pytest.fixture(scope="module", params=[pytest.param("whole", marks=pytest.mark.long)])
def graded(course, tmp_path_factory):
    path, submitted, _ = course
    batch, marks = grade(path, submitted, tmp_path_factory.mktemp("work"), jobs=2)
    return batch, marks


def files(work):
    return {path.name: path.read_text() for path in (work / "marks").iterdir()}


def test_every_mark_is_as_intended(course, graded):
    marks, intended = graded[1], course[2]
    assert invented.misjudged([marks[student] for student in intended], intended) == {}


def test_troubles_are_told(course, graded):
    kinds = [kind.__name__ for kind in invented.KINDS]
    flags = {
        kind: set(graded[1][student].flags) for kind, student in zip(kinds, course[2], strict=True)
    }
    assert flags["right"] == set()
    assert "cell copied" in flags["duplicated"]  # nbgrader #1083
    assert "cell deleted" in flags["deleted"] & flags["check_deleted"]  # nbgrader #1682
    assert "cells reordered" in flags["reordered"]
    assert {"locked cell changed", "metadata changed"} <= flags["check_changed"]
    assert flags["unreadable"] == {"unreadable"}
    assert flags["capitals"] == flags["decomposed"] == flags["foreign"] == set()
    (typo,) = flags["mistyped"]
    assert typo.startswith("other id in the notebook: ")


@pytest.mark.parametrize(
    ("exercise", "words"), [("number", "you gave"), ("bdp", "failed"), ("run", "you gave")]
)
def test_a_known_trouble_costs_its_own_points(graded, exercise, words):
    exercises = {one.id: one for one in graded[1][f"trouble {exercise}"].exercises}
    lost = exercises.pop(f"ps1-{exercise}-check")
    assert lost.points == 0 and words in lost.answers[0].hint
    assert all(one.points == one.max_points for one in exercises.values())


def test_grading_is_not_serial(graded):  # nbgrader #174
    assert graded[0].workers.most == 2


def times(work):
    """When the marks were written of those who could be graded."""
    found = [*(work / "marks").iterdir()]
    return {one: one.stat().st_mtime_ns for one in found if json.loads(one.read_text())["origin"]}


def test_what_is_graded_stays_graded(course, graded):
    path, submitted, _ = course
    work = graded[0].work
    before = times(work)
    assert grade(path, submitted, work)[1] == graded[1]
    assert times(work) == before


def some(course, folder):
    """Copy what four students handed in to a folder; -> the assignment, and a folder for work."""
    path, submitted, intended = course
    for student in [*intended][:4]:
        shutil.copytree(submitted / student, folder / "some" / student)
    return path, folder / "work"


@pytest.mark.long
def test_a_batch_that_is_interrupted_goes_on_and_ends_with_the_same_marks(course, graded, tmp_path):
    path, work = some(course, tmp_path)
    batch = f"Batch({str(path)!r}, {str(tmp_path / 'some')!r}, {str(work)!r}).grade()"
    code = f"from netlab.course.grading.batch import Batch\n{batch}"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    while process.poll() is None and not [*work.glob("marks/*.json")]:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    assert b"KeyboardInterrupt" in process.communicate(timeout=120)[1]
    first = times(work)
    assert 0 < len(first) < 4
    Batch(path, tmp_path / "some", work).grade()
    here, there = files(work), files(graded[0].work)  # a second time, in another folder: the same
    assert len(here) == 4 and here.items() <= there.items()
    assert times(work).items() >= first.items()


@pytest.mark.long
def test_a_cluster_that_loses_a_worker_gives_the_same_marks(course, graded, tmp_path):
    import distributed

    path, work = some(course, tmp_path)
    look = dict(threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "d"))
    with (
        distributed.LocalCluster(2, **look) as cluster,
        distributed.Client(cluster) as client,
    ):
        first, *_ = client.run(os.getpid).values()

        def kill():
            while not [*work.glob("marks/*.json")]:
                time.sleep(0.05)
            os.kill(first, signal.SIGKILL)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        batch = Batch(path, tmp_path / "some", work, scheduler=cluster.scheduler_address)
        assert batch.jobs == 2
        batch.grade()
        killer.join()
        batch.workers.stop()
    here, there = files(work), files(graded[0].work)
    assert len(here) == 4 and here.items() <= there.items()


def test_copied_mistyped_and_rounded_numbers_are_found(graded):
    marks = {student: graded[1][student] for student in ("copies", "mistypes", "rounds")}
    assert "number of ada: seventh" in marks["copies"].flags
    assert not any("number of" in flag for flag in marks["mistypes"].flags)
    assert marks["copies"].points == marks["mistypes"].points == 0
    (answer,) = marks["rounds"].exercises[0].answers
    assert (answer.verdict, answer.share) == ("close", 0.5)
    for student, owner in zip(marks, ("ada", "ada", "rounds"), strict=True):
        (answer,) = marks[student].exercises[0].answers
        assert f"{seventh(owner):.4g}" not in answer.hint


def test_feedback_is_a_page_for_each_and_has_no_hidden_tests(graded, tmp_path):
    page = report.report([*graded[1].values()], tmp_path)
    assert len(list((tmp_path / "feedback").iterdir())) == len(graded[1])
    assert "feedback/ada.html" in page.read_text()
    text = (tmp_path / "feedback" / "trouble run.html").read_text()
    hidden = "flows.sent_bps", "cases", "mistakes", small.SECRET_OF_SOLUTION  # nbgrader #1363
    assert [one for one in hidden if one in text] == []


@pytest.mark.long
def test_a_solution_that_fails_is_refused_before_anybody_is_graded(course, tmp_path):
    path, work = some(course, tmp_path)
    broken = tmp_path / "source" / "ps1" / "ps1.ipynb"
    broken.parent.mkdir(parents=True)
    broken.write_text(path.read_text().replace("my.seed / 7\\n###", "1 / 0\\n###"))
    with pytest.raises(NetlabError, match="ZeroDivisionError"):
        Batch(broken, tmp_path / "some", work).grade()
    assert not list((work / "marks").iterdir())


E_ACUTE = "e\u0301"  # in two code points


@pytest.fixture(scope="module")
def troubled(tmp_path_factory):
    """A class with ids written in several ways; the solution fails for one, and ends the jail of
    another.
    """
    folder = tmp_path_factory.mktemp("troubled")
    path = small.write(folder)
    notebook = json.loads(path.read_text())
    number = small.cell(notebook, "number")
    by_seven = 'seventh = my.seed / (my.student != "bela") / 7'
    number["source"] = number["source"].replace(
        "seventh = my.seed / 7",
        f'{by_seven} if my.student != "chen" else __import__("os")._exit(1)',
    )
    path.write_text(json.dumps(notebook))
    assignment, submitted = source.read(path), folder / "submitted"
    named = {"Emma": " EMMA", "bela": "bela", "chen": "chen", "goran": "goran2"}
    named |= {f"ren{E_ACUTE}": "Ren\u00e9", "RENE\u0301 ": "rene\u0301"}
    for student, said in named.items():
        work = invented.Work(invented.right, assignment, said)
        small.cell(work.notebook, "number")["source"] = f"seventh = {seventh(said)!r}"
        hand_in(submitted, student, work.notebook)
    batch, marks = grade(path, submitted, folder / "work", jobs=1)
    report.report(list(marks.values()), folder)
    return folder, batch, marks


@pytest.mark.long
def test_a_solution_that_fails_for_one_student_holds_nobody_up(troubled):
    folder, batch, marks = troubled
    assert [name for name, one in marks.items() if one.pending] == ["bela", "chen"]
    assert "ZeroDivisionError" in marks["bela"].flags[0]
    assert all(marks[one].flags[0].startswith("look at this one: ") for one in ("bela", "chen"))
    assert len(batch.workers.solved) == 3 and batch.workers.solved[1:] == [["bela"], ["chen"]]
    page = (folder / "feedback" / "bela.html").read_text()
    assert "pending" in page and "no fault of yours" in page
    assert "0 points</b>" not in page and "ZeroDivisionError" not in page
    assert "pending" in results.remarks(marks["bela"])


@pytest.mark.long
def test_ids_that_mean_the_same_and_others_are_told_apart(troubled):
    folder, _, marks = troubled
    one, other = f"ren{E_ACUTE}", "RENE\u0301 "
    for student in ("Emma", one, other):
        assert marks[student].points == small.POINTS
        assert not any("other id" in flag for flag in marks[student].flags)
    assert marks["Emma"].flags == marks["Emma"].notices == []
    goran = marks["goran"]
    assert goran.flags == ["other id in the notebook: goran2"]
    assert goran.points == small.POINTS - small.CODE["number"][0]  # that number was typed in
    page = (folder / "feedback" / "goran.html").read_text()
    assert 0 < page.index("goran2") < page.index("points</b>")
    assert "goran2" in results.remarks(goran).splitlines()[0]
    assert f"same id as {other.strip()}" in marks[one].flags
    assert f"same id as {one}" in marks[other].flags
    assert marks[one].notices and marks[one].notices == marks[other].notices
    assert records.read_class(folder / "work", "ps1") == [*marks.values()]  # for every export
    for name in (one, other):
        page = (folder / "feedback" / f"{filed(name)}.html").read_text()
        assert marks[name].notices[0] in page
        assert marks[name].notices[0] in results.remarks(marks[name])


@pytest.mark.long
def test_a_class_of_one_whose_solution_fails_is_no_broken_set(troubled):
    folder, batch, _ = troubled
    alone = folder / "alone"
    shutil.copytree(folder / "submitted" / "bela", alone / "bela")
    (marks,) = Batch(batch.path, alone, folder / "alone-work").grade()
    assert marks.pending


@pytest.mark.parametrize("name", ["marks", "feedback", "texts", "class.html", "runs"])
def test_a_folder_of_somebody_elses_is_no_place_for_marks(name, tmp_path):
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine").write_text("mine")
    with pytest.raises(NetlabError, match=f"--work .*{name}"), held(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_marks_are_read_as_they_were_written_and_damaged_ones_are_none(tmp_path, assignment):
    path = tmp_path / "ada.json"
    found = records.pending("j\udcff", assignment, "a reason", "Traceback")
    found = found.but(origin=records.Origin("key", "digest", ["found as x"], []), file="j")
    records.write(path, found)
    assert records.read(path) == found
    whole = json.loads(path.read_text())
    for change in (
        {"version": 2},
        {"version": None},
        {"flags": 5},
        {"more": 1},
        {"exercises": [5]},
    ):
        path.write_text(json.dumps(whole | change))
        assert records.read(path) is None, change
    for text in ("[]", "5", "null", '"x"', "{", "[" * 100_000):
        path.write_text(text)
        assert records.read(path) is None, text


def test_a_students_file_has_a_name_that_is_safe_and_nobody_elses():
    for plain in ("ada.lovelace", "e@uni.example", "Erin", "ADA"):
        assert filed(plain) == plain
    assert file_names(["erin", "Erin"])["Erin"] == "Erin" != file_names(["erin", "Erin"])["erin"]
    ids = [".", "..", ".a", "...", "a/b", "a\\b", "a\0b", "", "a" * 255, "a" * 254 + "b", "\udce9"]
    ids += ["ada", "Ada", "ADA", "ada ", "\xe9", "\xc9", "e\u0301", "-a", "%2E", "con.", "ä" * 100]
    names = [*file_names(ids).values()]
    for one in ids:  # who comes later keeps off the names of who was there
        (later,) = file_names([f"{one}B"], [filed(f"{one}b")]).values()
        assert later.casefold() != filed(f"{one}b").casefold()
    assert len({name.lower() for name in names}) == len(names)
    for name in names:
        assert len(f"{name}.ipynb".encode()) < 200 and not name.startswith(".")
        assert not {*name} & {"/", "\\", "\0"} and name.isascii() and name


def test_pages_and_tables_are_utf_8_whatever_the_locale(tmp_path):
    """In the POSIX locale, Python's own encoding would be ASCII."""
    code = (
        "import pathlib\n"
        "from netlab.course.grading import report, work\n"
        "from netlab.course.sets import source\n"
        "from netlab.course.grading.marks import without_marks\n"
        f"assignment = source.read(pathlib.Path({str(small.write(tmp_path))!r}))\n"
        "marks = [without_marks('j\\xf8rn', assignment, 'unreadable', '\\u2014')]\n"
        f"folder = pathlib.Path({str(tmp_path)!r})\n"
        "work.write_out(folder, folder / 'marks.csv', report.table(marks))\n"
        f"report.report(marks, pathlib.Path({str(tmp_path)!r}))\n"
    )
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | locale, stderr=-1)
    assert done.returncode == 0, done.stderr.decode()
    for name in ("marks.csv", "class.html"):
        assert "j\xf8rn" in (tmp_path / name).read_text(encoding="utf-8")
