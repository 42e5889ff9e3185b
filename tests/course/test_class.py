"""A class of twelve, as it hands in: files with other names, other folders, two at once, nothing at
all; then one who is late. Who has marks keeps them, and everybody is told what was found.
"""

import copy
import json
import os
import shutil

import pytest

from netlab.course import adapters, invented
from netlab.course.answers.forms import form
from netlab.course.grading import marks as records
from netlab.course.grading import run, solution, worker
from netlab.course.grading.batch import LEFT_NONE, NOTHING_NEW, UNREAD, Batch
from netlab.course.grading.executed import Executed
from netlab.course.grading.marks import OLD
from netlab.course.grading.work import filed, held
from netlab.course.handed_in import found
from netlab.course.invented import grade_id
from netlab.course.sets import source
from netlab.engines.guest import host_checks
from netlab.engines.workers import Workers
from netlab.errors import NetlabError
from tests.course import problem_set, small

WITHOUT_RUNS = {name: one for name, one in small.CODE.items() if name != "run"}
ALL = sum(points for points, *_ in WITHOUT_RUNS.values())
USUAL = "ps1/ps1.ipynb"


def notebook(assignment, student, *left):
    """The solution of ps1 with a student's id, but for some cells, which are as handed out."""
    made = invented.Work(invented.right, assignment, student).notebook
    fresh = {cell.id: cell.source for cell in assignment.cells}
    for cell in made["cells"]:
        if grade_id(cell) in {f"ps1-{name}" for name in left}:
            cell["source"] = fresh[grade_id(cell)]
    return made


def of_ps2(made):
    """The same cells, of another set."""
    return json.loads(json.dumps(made).replace("ps1", "ps2"))


def put(folder, student, files):
    for name, content in files.items():
        path = folder / student / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))


def twelve(assignment):
    """By student: the files, the points, what a flag begins with, and what the student reads."""
    whole = lambda student: notebook(assignment, student)  # noqa: E731
    blank = notebook(assignment, "hana", "why", *WITHOUT_RUNS)
    half = notebook(assignment, "ivo", "number", "table")
    return {
        "ada": ({USUAL: whole("ada")}, ALL, None, ""),
        "ben": ({"ps1.ipynb": whole("ben")}, ALL, "found as ps1.ipynb", "ps1.ipynb was graded"),
        "chen": ({"ps1/ps1_chen.ipynb": whole("chen")}, ALL, "found as ps1/ps1_chen", "ps1_chen"),
        "dan": ({"PS1/ps1.ipynb": whole("dan")}, ALL, "found as PS1/ps1.ipynb", "PS1/ps1.ipynb"),
        "Erin": (
            {USUAL: whole("Erin"), "ps1/.ipynb_checkpoints/ps1-checkpoint.ipynb": whole("Erin")},
            ALL, None, "",
        ),
        "farah": (
            {"ps1/ps1 (1).ipynb": whole("farah"), "__MACOSX/._ps1.ipynb": "\0", "desktop.ini": ""},
            ALL, "found as ps1/ps1 (1).ipynb", "ps1 (1).ipynb was graded",
        ),
        "goran": (
            {"ps1/ps1.ipynb": of_ps2(whole("goran")), "ps2/ps2.ipynb": of_ps2(whole("goran"))},
            0, "unreadable", "its cells are of ps2",
        ),
        "hana": (
            {USUAL: blank, "ps1/ps1 (1).ipynb": whole("hana")},
            ALL, "found as ps1/ps1 (1).ipynb", "not ps1/ps1.ipynb",
        ),
        "ivo": (
            {USUAL: half, "ps1/old.ipynb": whole("ivo")},
            ALL - 4, "there is also ps1/old.ipynb", "tell your teacher",
        ),
        "jamila": ({"ps1.zip": "PK", "a.pdf": ""}, 0, "nothing to grade", "ps1.zip (unpack it)"),
        "kofi": ({"ps2/ps2.ipynb": of_ps2(whole("kofi"))}, 0, "nothing to grade", "(of ps2)"),
        "lena": ({}, 0, "nothing to grade", "the folder is empty"),
    }  # fmt: skip


def executed_here(cells, students, name, runs, secret=None, mistakes=False):
    """`execute` without a jail, for cells that are known."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETLAB_STUDENT", students[0])
        found, known = Executed(), {}
        for cell in cells:
            try:
                exec(cell["source"] if cell["kind"] == "code" else "", known)
            except Exception as error:
                found.errors[cell["id"]] = f"{type(error).__name__}: {error}"
            if rules := cell["answers"]:
                found.answers[cell["id"]] = {
                    answer: form(known[answer], rule.cases) if answer in known else None
                    for answer, rule in rules.items()
                }
    return {students[0]: found}


@pytest.fixture(scope="module", params=["here", pytest.param("in jails", marks=pytest.mark.long)])
def where(request):
    """Notebooks run in this process, or in jails."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "here":
            patch.setattr(run, "execute", executed_here)
            patch.setattr(solution, "execute", executed_here)
            patch.setattr(worker.evidence, "keep_none", lambda: None)
            patch.setattr(Workers, "work_on", lambda _, job, times=1: worker.do(job) or "")
            patch.setattr(host_checks, "memory_limit_bytes", lambda: 3 * host_checks.GUEST_BYTES)
        yield


@pytest.fixture(scope="module")
def course(tmp_path_factory, where):
    folder = tmp_path_factory.mktemp("class")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, "CODE", WITHOUT_RUNS)
        path = small.write(folder / "course")
    assignment = source.read(path)
    class_ = twelve(assignment)
    for student, (files, *_) in class_.items():
        (folder / "submitted" / student).mkdir(parents=True)
        put(folder / "submitted", student, files)
    put(folder / "late", "zoe", {USUAL: notebook(assignment, "zoe")})
    return folder, path, class_


@pytest.fixture(scope="module")
def graded(course):
    """The class's marks before and after one who is late, both from the command line."""
    folder, path, _ = course
    work = folder / "marks" / "ps1-marks"
    of_course = ["--course", path.parents[2]]

    def grade(submitted, table):
        said = problem_set.course("grade", "ps1", submitted, "-o", table, *of_course)
        return said, {one.student: one for one in records.read_class(work, "ps1")}

    before = grade(folder / "submitted", folder / "marks" / "ps1.csv")
    page = (work / "class.html").read_text()
    after = grade(folder / "late", folder / "marks" / "late.csv")
    return work, before, page, after


def test_each_of_twelve_gets_what_the_work_is_worth_and_is_told(course, graded):
    work, (_, marks), *_ = graded
    assert [*marks] == sorted(course[2])
    for student, (_, points, flag, words) in course[2].items():
        one = marks[student]
        assert one.points == points, (student, one.reason)
        assert [each for each in one.flags if each.startswith(flag or "nothing")] or not flag
        assert flag or one.flags == [], one.flags
        page = (work / "feedback" / f"{student}.html").read_text()
        assert words in page, student


def test_one_who_is_late_takes_nobodys_marks(course, graded):
    work, (_, before), first_page, (said, after) = graded
    assert after.pop("zoe").points == ALL
    assert after == before
    page, table = (work / "class.html").read_text(), (work.parent / "late.csv").read_text()
    for student, one in before.items():
        for text in (first_page, page):
            assert f"feedback/{student}.html" in text
        assert f"{student},ps1,{one.points:g},{ALL:g}," in table
        assert (work / "feedback" / f"{student}.html").is_file()
    assert "zoe" in page and "zoe" not in first_page
    assert "13 students' marks" in said and "not graded now, and as they were: Erin, ada" in said
    output = work.parent / "all.csv"
    assert adapters.export("table", "ps1", work, output) == 13
    assert len(output.read_text().splitlines()) == 14


# From here on, with workers that only write marks


@pytest.fixture
def quick(monkeypatch):
    """Nothing is run: who has a notebook gets `points`."""

    class Points:
        points = 5

    def one(batch, student, new, failure=None):
        if Points.points is None:
            raise KeyboardInterrupt
        row = {"name": "seventh", "verdict": "right", "share": 1.0, "hint": ""}
        row |= {"max_points": Points.points if new.origin else 0}
        rows = {batch.assignment.automatic[0].id: [records.AnswerMarks(**row)]}
        found = records.marks_of(student, batch.assignment, rows, {}, reason=new.why)
        found = found.but(origin=new.origin, file=batch.file_of(student))
        records.write(batch.place("marks", student), found)
        return found

    monkeypatch.setattr(Batch, "one", one)
    monkeypatch.setattr(Batch, "references", lambda *_: {})
    return Points


@pytest.fixture
def folders(tmp_path):
    path = small.write(tmp_path / "course")
    made = notebook(source.read(path), "ada")
    for student in ("ada", "bob", "eve"):
        put(tmp_path / "submitted", student, {USUAL: made})
    return path, tmp_path / "submitted", tmp_path / "work", made


def grade(path, submitted, work, **options):
    return {one.student: one for one in Batch(path, submitted, work, **options).grade()}


def points(marks):
    return {student: one.points for student, one in marks.items()}


def test_only_one_is_graded_and_the_others_keep_their_marks(folders, quick):
    path, submitted, work, made = folders
    grade(path, submitted, work)
    quick.points = 7
    for student in ("ada", "bob"):
        put(submitted, student, {USUAL: made | {"metadata": {"changed": student}}})
    assert points(grade(path, submitted, work, only=[" BOB"])) == {"ada": 5, "bob": 7, "eve": 5}
    shutil.rmtree(submitted / "eve")  # no longer in the class's folder
    assert points(grade(path, submitted, work)) == {"ada": 7, "bob": 7, "eve": 5}


@pytest.mark.parametrize(
    ("only", "words"), [("bop", "did you mean bob"), ("xyz", "it has ada, bob, eve")]
)
def test_an_unknown_id_is_refused_with_near_ones(only, words, folders, quick):
    path, submitted, work, _ = folders
    with pytest.raises(NetlabError, match=words):
        grade(path, submitted, work, only=["ada", only])
    assert not work.exists()


def test_who_hands_in_nothing_new_keeps_the_marks(folders, quick):
    path, submitted, work, _ = folders
    grade(path, submitted, work)
    (submitted / "ada" / USUAL).unlink()
    ada = grade(path, submitted, work)["ada"]
    assert ada.points == 5 and NOTHING_NEW in ada.flags


def test_marks_of_before_a_change_are_kept_and_flagged(folders, quick):
    path, submitted, work, _ = folders
    grade(path, submitted, work)
    marks = grade(path, submitted, work, secret="another", only=["eve"])
    assert [OLD in one.flags for one in marks.values()] == [True, True, False]
    assert points(marks) == dict.fromkeys(("ada", "bob", "eve"), 5)


def test_a_grading_that_is_interrupted_loses_no_marks_and_none_are_exported(folders, quick):
    path, submitted, work, made = folders
    grade(path, submitted, work)
    flags = [one.flags for one in records.read_class(work, "ps1")]  # beside neighbours'
    assert flags == [["same file as bob"], ["same file as ada"], ["same file as ada"]]
    put(submitted, "ada", {USUAL: made | {"metadata": {"changed": True}}})
    quick.points = None
    with pytest.raises(KeyboardInterrupt):
        grade(path, submitted, work)
    with pytest.raises(NetlabError, match=r"no marks in it: give what .* left when it ended"):
        records.read_class(work, "ps1")
    shutil.rmtree(submitted / "ada")
    quick.points = 7
    marks = grade(path, submitted, work)
    assert points(marks) == dict.fromkeys(("ada", "bob", "eve"), 5) and OLD in marks["ada"].flags


def test_marks_that_cannot_be_read_are_told_of(folders, quick):
    path, submitted, work, _ = folders
    grade(path, submitted, work)
    for name in ("bob", "eve"):
        (work / "marks" / f"{name}.json").write_text('{"version": 0}')
    batch = Batch(path, submitted, work, only=["bob"])
    assert [one.student for one in batch.grade()] == ["ada", "bob"]
    assert batch.notes == [UNREAD.format(1)]


def test_a_process_that_leaves_no_marks_is_no_zero(folders, monkeypatch):
    monkeypatch.setattr(Batch, "references", lambda *_: {})
    monkeypatch.setattr(Batch, "work_on", lambda *_, **__: "")
    for one in grade(*folders[:3]).values():
        assert one.pending and one.flags == [f"look at this one: {LEFT_NONE}"]


def test_two_sets_have_two_folders(folders, quick):
    path, submitted, work, _ = folders
    with held(work):
        kept = records.Marks(student="ada", assignment="ps2", exercises=[], manual=[], reason="")
        records.write(work / "marks" / "ada.json", kept)
    with pytest.raises(NetlabError, match="marks of ps2; name another folder"):
        grade(path, submitted, work)
    assert records.read(work / "marks" / "ada.json") == kept


def test_two_gradings_at_once_are_one_after_the_other(folders, quick):
    path, submitted, work, _ = folders
    with held(work), pytest.raises(NetlabError, match=r"another .* is at work there"):
        grade(path, submitted, work, only=["ada"])
    assert points(grade(path, submitted, work, only=["ada"])) == {"ada": 5}


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("submitted/ada", "submitted, with --only ada"),
        ("submitted/ada/ps1", "submitted, with --only ada"),
        ("", "submitted"),
        ("nbgraders", "give .*nbgraders/submitted"),
        ("empty", "give the folder in which STUDENT/ps1/ps1.ipynb lie"),
        ("bare", "give the folder in which STUDENT/ps1/ps1.ipynb lie"),
    ],
)
def test_a_folder_without_students_is_refused_with_the_one_to_name(named, words, folders, quick):
    path, submitted, work, made = folders
    put(submitted, "ada", {"ps2/ps2.ipynb": of_ps2(made), "drafts/ps1.ipynb": made})
    (submitted.parent / "empty" / "nobody").mkdir(parents=True)
    (submitted.parent / "bare").mkdir()
    put(submitted.parent / "nbgraders", "source", {USUAL: made})
    (submitted.parent / "nbgraders" / "submitted").mkdir()
    with pytest.raises(NetlabError, match=f"has a notebook of ps1; .*{words}"):
        grade(path, submitted.parent / named, work)
    with pytest.raises(NetlabError, match="nowhere: No such file"):
        grade(path, submitted.parent / "nowhere", work)
    assert not work.exists()


def test_moodles_folders_are_no_ids(folders, quick):
    path, submitted, work, made = folders
    put(submitted, "Ada Lovelace_123_assignsubmission_file", {"ps1.ipynb": made})
    with pytest.raises(NetlabError, match="Ada Lovelace_123_assignsubmission_file: Moodle"):
        grade(path, submitted, work)
    assert [*grade(path, submitted, work, only=["bob"])] == ["bob"]


def test_what_lies_beside_the_students_folders(folders, quick):
    path, submitted, work, made = folders
    for name in ("__MACOSX", ".ipynb_checkpoints"):
        (submitted / name).mkdir()
    shutil.copytree(submitted / "ada", submitted / "marked" / "handed-in" / "ada")
    for name in ("marks", "reference"):
        (submitted / "marked" / name).mkdir()
    put(submitted, "PS1", {"ps1.ipynb": made})
    put(submitted.parent, "submitted", {"frank.ipynb": made, "desktop.ini": "", ".DS_Store": ""})
    batch = Batch(path, submitted, work)
    assert [one.student for one in batch.grade()] == ["ada", "bob", "eve"]
    assert batch.notes == ["in no student's folder, and not graded: PS1, marked, frank.ipynb"]


def test_ids_that_differ_in_capitals_only_have_files_of_their_own(folders, quick):
    path, submitted, work, made = folders
    put(submitted, "Erin", {USUAL: made})
    grade(path, submitted, work)
    assert (work / "marks" / "Erin.json").is_file() and (
        work / "handed-in" / "Erin.ipynb"
    ).is_file()
    put(submitted, "erin", {USUAL: made})
    marks = grade(path, submitted, work)
    names = [path.name for path in (work / "marks").iterdir()]
    assert len({name.casefold() for name in names}) == len(names) == 5
    assert marks["Erin"].file == "Erin" and marks["erin"].file == filed("erin", alone=False)
    assert [*marks.values()] == records.read_class(work, "ps1")


BROKEN = "{"


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (["ps0/ps0.ipynb"], 0),
        (["ps0/PS0.IPYNB"], 0),
        (["a/b/c/ps0.ipynb"], 0),
        (["a/b/c/d/ps0.ipynb"], None),  # deeper than anybody's
        ([".hidden/ps0.ipynb", "._ps0.ipynb", "__MACOSX/ps0.ipynb"], None),
        (["ps0/ps0.ipynb", "ps0/zz.ipynb"], 0),
        (["ps0/zz.ipynb", "ps0/ps0 (1).ipynb"], 1),  # the same work: by name
    ],
)
def test_where_a_notebook_is_found(files, chosen, assignment, tmp_path):
    made = invented.Work(invented.right, assignment, "ada").text.decode()
    put(tmp_path, "ada", dict.fromkeys(files, made))
    there = found.look(tmp_path / "ada", assignment)
    assert there.path == (None if chosen is None else tmp_path / "ada" / files[chosen])


def test_a_cell_pasted_into_another_set_does_not_make_it_this_one(assignment, tmp_path):
    made = invented.Work(invented.right, assignment, "ada").notebook
    other = json.loads(json.dumps(made).replace("ps0", "ps7"))
    other["cells"].append(copy.deepcopy(made["cells"][4]))
    put(tmp_path, "ada", {"ps7/ps7.ipynb": other, "x.ipynb": BROKEN})
    there = found.look(tmp_path / "ada", assignment)
    assert there.path is None
    put(tmp_path, "ada", {"a; same file as bob.txt": ""})
    assert ";" not in found.look(tmp_path / "ada", assignment).why.partition("there are")[2]
    assert "ps7/ps7.ipynb (of ps7)" in there.why and "x.ipynb (which is no notebook" in there.why


def test_no_link_is_followed_and_no_pipe_is_waited_for(assignment, tmp_path):
    made = invented.Work(invented.right, assignment, "ada").text.decode()
    put(tmp_path, "elsewhere", {"ps0.ipynb": made})
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "a.ipynb").symlink_to(tmp_path / "elsewhere" / "ps0.ipynb")
    (tmp_path / "ada" / "folder").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "ada" / "b.ipynb")
    assert found.look(tmp_path / "ada", assignment).path is None


def test_the_notebook_among_many_others_is_found_by_its_name(assignment, tmp_path):
    made = invented.Work(invented.right, assignment, "ada").text.decode()
    put(tmp_path, "ada", {f"a{number}.ipynb": BROKEN for number in range(40)})
    unread = found.look(tmp_path / "ada", assignment)
    assert unread.path is None and "and 35 more" in unread.why
    put(tmp_path, "ada", {"my PS0.ipynb": made})
    assert found.look(tmp_path / "ada", assignment).path == tmp_path / "ada" / "my PS0.ipynb"
