"""Every command that writes, at every place that one may name: nothing that was there is lost, and
what is refused is refused in a sentence. Only grading and running are replaced, as they take long.
"""

import contextlib
import os
import resource
import shutil
import stat
import tempfile
from pathlib import Path

import nbformat
import pytest

from netlab.course import invented
from netlab.course.grading import solution
from netlab.course.grading.batch import Batch
from netlab.course.grading.marks import without_marks, write, write_class
from netlab.course.grading.work import held
from netlab.course.sets import source
from netlab.engines import recorded
from tests import cases
from tests.course import small
from tests.course.test_adapters import EVERYBODY
from tests.engines.guest.engines_in_files import small as small_engine

TREASURE = "a year of work\n"
# OUT is the place; each command also has the file in it that it would write.
FILES = {
    "grade": ("course grade ps1 submitted --work work --course course -o OUT", ""),
    "table": ("course export ps1 marked --to table -o OUT", ""),
    "autograder": ("course autograder ps1 --wheels dist --course course -o OUT", ""),
    "engine export": ("engine export OUT", ""),
}
FOLDERS = {
    "release": ("course release ps1 --course course -o OUT", "ps1.ipynb"),
    "solution": ("course solution ps1 --course course -o OUT", "ps1-rubric.md"),
    "demo": ("course demo --course course --no-show --students 2 -o OUT", "ps1-marks.csv"),
    "nbgrader": (
        "course export ps1 marked --to nbgrader --course course -o OUT",
        "autograded/ada/ps1/ps1.ipynb",
    ),
    "gradescope": ("course export ps1 marked --to gradescope -o OUT", "ada/results.json"),
    "student-copy": ("student-copy nb.ipynb -o OUT", "notebooks/nb.ipynb"),
    "pages": ("pages nb.ipynb -o OUT", "nb.html"),
    "run": ("run experiment.json --engine recorded -o OUT", "commands.txt"),
    "engine wheel": ("engine wheel OUT", None),
}
COMMANDS = FILES | FOLDERS


def nbgrader_long(commands):
    """Commands for `parametrize`: nbgrader's gradebook takes seconds."""
    long = pytest.param("nbgrader", marks=pytest.mark.long)
    return [long if one == "nbgrader" else one for one in commands]


@contextlib.contextmanager
def full_disk():
    """No file may get longer than 50 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def nobody():
    """Root, for whom no folder is closed, becomes nobody."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        if not os.access(__file__, os.R_OK, effective_ids=True):
            pytest.skip("root runs this in a folder that nobody else may enter")
        yield
    finally:
        if root:
            os.seteuid(0)


def left_by_grading(folder, students=("ada", "bob")):
    """What grading leaves of a class."""
    with held(folder):
        everybody = [one.but(assignment="ps1") for one in EVERYBODY]
        for one in everybody:
            write(folder / "marks" / f"{one.file}.json", one)
        write_class(folder, [one for one in everybody if one.student in students])


@pytest.fixture(scope="module")
def inputs():
    """What the commands read, in a folder that anybody may read."""
    home = Path(tempfile.mkdtemp(prefix="outputs-"))
    home.chmod(0o755)
    small.write(home / "course")
    (home / "submitted" / "ada").mkdir(parents=True)
    left_by_grading(home / "marked")
    (home / "dist").mkdir()
    for name in ("netlab_tcp-1-py3-none-any.whl", "netlab_engine-1-py3-none-any.whl"):
        (home / "dist" / name).write_bytes(b"PK")
    nbformat.write(nbformat.v4.new_notebook(), home / "nb.ipynb")
    described = recorded.records().entries()[0][1].experiment
    (home / "experiment.json").write_text(described)
    small_engine(home / "cache")
    yield home
    shutil.rmtree(home)


@pytest.fixture
def place(inputs, monkeypatch):
    """A folder with something in it, to work in."""
    folder = Path(tempfile.mkdtemp(prefix="outputs-"))
    folder.chmod(0o755)
    for path in inputs.iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "treasure").mkdir()
    (folder / "treasure" / "book.txt").write_text(TREASURE)
    (folder / "thesis.tex").write_text(TREASURE)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NETLAB_CACHE", str(inputs / "cache"))

    def prepare(batch, path, submitted, work, *_):
        batch.work, batch.assignment = Path(work), source.read(Path(path))

    def grade(batch):
        with held(batch.work):
            return [
                without_marks(one.student, batch.assignment, "unreadable", "a reason")
                for one in EVERYBODY[:2]
            ]

    monkeypatch.setattr(Batch, "__init__", prepare)
    monkeypatch.setattr(Batch, "grade", grade)
    monkeypatch.setattr(solution, "slips", lambda *_: [])
    of_demo = invented.handed_in

    def handed_in(assignment, count):
        work = zip(of_demo(assignment, count), EVERYBODY[:2], strict=True)
        return [(one.student, kind, made) for (_, kind, made), one in work]

    monkeypatch.setattr(invented, "handed_in", handed_in)
    monkeypatch.setattr(invented, "misjudged", lambda *_: [])
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def netlab(call):
    """Call `netlab`; -> its status, and what it says when it refuses."""

    def run(words, out):
        done = call(*[out if word == "OUT" else word for word in words.split()])
        return done.status, done.err

    return run


def seen(folder):
    """Everything in a folder: kind and contents by path; links are not followed."""
    found = {}
    for path in folder.rglob("*"):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            found[path] = path.read_bytes()
        else:
            found[path] = os.readlink(path) if path.is_symlink() else stat.S_IFMT(mode)
    return found


def lost(before, folder):
    after = seen(folder)
    assert not [path for path in after if path.name.endswith(".part")]
    return {path for path, what in before.items() if after.get(path) != what}


def is_refused(status, said):
    assert status == 1 and said.startswith("netlab: ") and said.count("\n") == 1, said
    return True


# What may be at a place already
THERE = {
    "folder": lambda out: shutil.copytree("treasure", out),
    "file": lambda out: shutil.copy("thesis.tex", out),
    "link-to-a-file": lambda out: out.symlink_to(Path("thesis.tex").absolute()),
    "link-to-a-folder": lambda out: out.symlink_to(Path("treasure").absolute()),
    "link-to-nothing": lambda out: out.symlink_to(Path("not-there").absolute()),
    "pipe": os.mkfifo,
}


@pytest.mark.parametrize("command", FILES)
def test_a_file_takes_the_place_of_nothing_that_is_not_its_own(command, place, netlab):
    for name, make in THERE.items():
        make(place / name)
    before = seen(place)
    for out in [*THERE, ".", "/"]:
        assert is_refused(*netlab(FILES[command][0], out))
        assert lost(before, place) == set()


@pytest.mark.parametrize("command", nbgrader_long(name for name in COMMANDS if name != "run"))
def test_a_command_can_be_repeated(command, place, netlab):
    for _ in range(2):
        assert netlab(COMMANDS[command][0], "out") == (0, "")
    if command in FILES:
        umask = int(Path("/proc/self/status").read_text().partition("Umask:")[2].split()[0], 8)
        assert (place / "out").stat().st_mode & 0o777 == 0o666 & ~umask


EDITED = {  # what people do to a file, and what spreadsheets do when they save it
    "a corrected mark": lambda data: data.replace(b"0", b"9", 1),
    "a comment at the end": lambda data: data + b"a comment\n",
    "another end of line": lambda data: data.replace(b"\n", b"\r\n"),
    "a mark of the order of bytes": lambda data: b"\xef\xbb\xbf" + data,
    "semicolons": lambda data: data.replace(b",", b";"),
}


@pytest.mark.parametrize("how", EDITED)
@pytest.mark.parametrize("command", ["grade", "table", "gradescope", "demo"])
def test_marks_that_somebody_edited_are_not_overwritten(command, how, place, netlab):
    words, name = COMMANDS[command]
    assert netlab(words, "out") == (0, "")
    path = place / "out" / name
    path.write_bytes(EDITED[how](path.read_bytes()))
    before = seen(place)
    status, said = netlab(words, "out")
    assert is_refused(status, said)
    assert "was changed since netlab wrote it; move it away, or name another place" in said
    assert lost(before, place) == set()
    path.rename(place / "mine")
    assert netlab(words, "out") == (0, "")


def test_the_table_of_another_set_is_not_overwritten(place, netlab):
    assert netlab("course grade ps1 submitted --course course -o OUT", "marks.csv") == (0, "")
    before = seen(place)
    words = "course grade ps1 submitted --work second --course course -o OUT"
    assert is_refused(*netlab(words, "marks.csv"))
    assert lost(before, place) == set()


@pytest.mark.parametrize("command", FOLDERS)
def test_a_file_or_a_pipe_is_no_folder(command, place, netlab):
    for name in ("file", "link-to-a-file", "link-to-nothing", "pipe"):
        THERE[name](place / name)
        before = seen(place)
        if name != "link-to-nothing":
            assert is_refused(*netlab(FOLDERS[command][0], name))
        assert lost(before, place) == set()


@pytest.mark.parametrize("command", cases(FOLDERS))
def test_what_else_is_in_a_folder_stays(command, place, netlab):
    for name in ("folder", "link-to-a-folder"):
        THERE[name](place / name)
    before = seen(place)
    for out in ("folder", "link-to-a-folder", "."):
        status, said = netlab(FOLDERS[command][0], out)
        assert status == 0 or is_refused(status, said)
        assert lost(before, place) == set()


@pytest.mark.parametrize("command", nbgrader_long(name for name in FOLDERS if FOLDERS[name][1]))
def test_what_has_the_name_of_a_file_to_be_written_stays(command, place, netlab):
    words, name = FOLDERS[command]
    # a file of nbgrader's is made anew; and its gradebook takes seconds
    kinds = ["link-to-a-file"] if command == "nbgrader" else THERE
    for kind in kinds:
        target = place / f"in-{kind}" / name
        target.parent.mkdir(parents=True)
        THERE[kind](target)
    before = seen(place)
    for kind in kinds:
        assert is_refused(*netlab(words, f"in-{kind}"))
        assert lost(before, place) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_leaves_the_old_and_nothing_half(command, place, netlab):
    words, _ = COMMANDS[command]
    before = seen(place)
    with full_disk():
        assert is_refused(*netlab(words, "out"))
    assert lost(before, place) == set()
    assert not (place / "out").is_file()
    if command in FILES:
        assert netlab(words, "out") == (0, "")
        before = seen(place)
        with full_disk():
            assert is_refused(*netlab(words, "out"))
        assert lost(before, place) == set()


@pytest.mark.parametrize("command", nbgrader_long(COMMANDS))
def test_a_folder_without_rights_is_refused(command, place, netlab):
    words, _ = COMMANDS[command]
    (place / "closed").mkdir(mode=0o555)
    (place / "dark").mkdir(mode=0o000)
    before = seen(place)
    netlab(words, "warm")  # what is imported now, nobody need not be able to read
    for out in ("closed/out", "dark/out"):
        with nobody():
            refusal = netlab(words, out)
        assert is_refused(*refusal)
    assert lost(before, place) == set()
