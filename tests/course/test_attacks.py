"""A class of attackers, and some honest students among them, graded as a whole."""

import contextlib
import json
import math
import os
import re
import socket
import threading
from pathlib import Path

import pytest

from netlab.course.grading import report
from netlab.course.grading.batch import Batch
from netlab.course.grading.work import write_out
from netlab.course.sets import source
from netlab.engines.cache import cache_folder
from tests.course import attacks, small
from tests.course.problem_set import hand_in

CANARY = "canary-of-the-teacher"
ENVIRONMENT = "canary-of-the-environment"
NEIGHBOUR = "canary-of-the-neighbour"
SECRETS = CANARY, ENVIRONMENT, NEIGHBOUR, small.SECRET_OF_SOLUTION
# the last has 240 bytes, and 720 when each is written as %F0
HONEST = "ada", "=cmd()", "zoë " + "ø" * 40, "\N{PILE OF POO}" * 60
SAME_NAMES = {"=cmd()\n": "=cmd()", " ada": "ada", "\u202eada": "ada"}  # by the id they write
BAD_NAMES = [
    *("a\nb", "\u200b", "x" * 240, "\x1b[2J", "x\x7f..", "\\..\\x"),
    os.fsdecode(b"\xff\xfe"),
]
MOST_FILE_BYTES = 20_000_001  # a notebook, as it was handed in
MOST_DISK_BYTES = 400_000_000


class Watch(threading.Thread):
    """Looks, until it is told to stop, how much disk and memory is taken."""

    def __init__(self, *folders):
        super().__init__(daemon=True)
        self.folders, self.done = folders, threading.Event()
        self.disk, self.files, self.memory = 0, {}, {}

    def run(self):
        while not self.done.wait(0.5):
            sizes = dict(one for folder in self.folders for one in files(folder))
            self.disk = max(self.disk, sum(sizes.values()))
            for number in ours(str(self.folders[-1])):
                with contextlib.suppress(OSError, LookupError):
                    told = Path(f"/proc/{number}/status").read_text()
                    name = "worker" if "python" in re.search(r"Name:\s*(\S+)", told)[1] else "guest"
                    peak = int(re.search(r"VmHWM:\s*(\d+)", told)[1]) << 10
                    self.memory[name] = max(self.memory.get(name, 0), peak)


def files(folder):
    """Each file, and the room that it takes."""
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                found = os.lstat(os.path.join(place, name))
                yield os.path.join(place, name), found.st_blocks * 512


def ours(mark):
    """The processes, but for this one, that have a text in their command line or environment."""
    for number in filter(str.isdigit, os.listdir("/proc")):
        for name in ("cmdline", "environ"):
            with contextlib.suppress(OSError):
                if mark.encode() in Path(f"/proc/{number}/{name}").read_bytes():
                    if int(number) != os.getpid():
                        yield int(number)
                    break


class Listener(threading.Thread):
    """A service of this machine, which nobody should reach."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket, self.callers = socket.create_server(("", 0)), []
        self.port = self.socket.getsockname()[1]

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                self.callers.append(self.socket.accept()[1])


def chosen(more, draw):
    """Attacks, honest students, and other spellings of these: of each family a quick attack, and a
    few files. Or `more`: all others, which take half an hour.
    """
    quick = [name for name in attacks.CELLS if name not in attacks.SLOW]
    files, honest = list(attacks.OF_FILES), list(HONEST[1:])
    for names in (quick, files, honest):
        draw.shuffle(names)
    cells = {name.partition(",")[0]: name for name in quick}.values()
    if more:
        cells = [name for name in attacks.CELLS if name not in cells]
    files, honest = (files[3:], honest[1:]) if more else (files[:3], honest[:1])
    honest = [HONEST[0], *honest]
    same_names = [name for name, one in SAME_NAMES.items() if one in honest]
    return {*cells, *files, *attacks.ALWAYS}, honest, same_names if more else same_names[:1]


class Class:
    """A class, its folder, and what came of grading it."""

    def __init__(self, folder, names, honest, same_names):
        self.folder, self.submitted, self.honest = folder, folder / "submitted", honest
        self.same_names = {name: SAME_NAMES[name] for name in same_names}
        self.canary = folder / "secret.txt"
        self.canary.write_text(CANARY)
        self.assignment = source.read(small.write(folder))
        self.listener = Listener()
        self.listener.start()
        self.attackers = self.hand_in(names)
        self.before = self.canary.stat()

    def hand_in(self, names):
        """Everybody's submission; -> the names of attackers."""
        cells = {name: one for name, one in attacks.CELLS.items() if name in names}
        of_files = {name: one for name, one in attacks.OF_FILES.items() if name in names}
        neighbour = self.assignment.solution()
        small.cell(neighbour, "why")["source"] = NEIGHBOUR
        small.cell(neighbour, "name")["source"] += f"  # {NEIGHBOUR}"
        for student in (*self.honest, *self.same_names, *BAD_NAMES):
            hand_in(self.submitted, student, neighbour)
        for name, lines in cells.items():
            words = {"CANARY": self.canary, "PORT": self.listener.port, "STUDENT": name}
            for word, value in (words | {"PARENT": os.getpid()}).items():
                lines = lines.replace(f"@{word}@", str(value))
            hand_in(self.submitted, name, attacks.in_cell(self.assignment, lines))
        for name, change in of_files.items():
            hand_in(self.submitted, name, attacks.of_file(self.assignment, change))
        return [*cells, *of_files, *self.put_places(), *BAD_NAMES]

    def path(self, student):
        return self.submitted / student / "ps1" / "ps1.ipynb"

    def put_places(self):
        """Things in the place of a notebook."""
        target = self.path("ada")
        acts = {
            "place, a link": lambda path: path.symlink_to(target),
            "place, a link outside": lambda path: path.symlink_to(self.canary),
            "place, a loop": lambda path: path.symlink_to(path),
            "place, a pipe": os.mkfifo,
            "place, a folder": Path.mkdir,
            "place, a device": lambda path: path.symlink_to("/dev/zero"),
            "place, nothing": lambda path: None,
        }
        for name, act in acts.items():
            path = self.path(name)
            path.parent.mkdir(parents=True)
            act(path)
        link = self.submitted / "place, a linked folder"
        link.mkdir()
        (link / "ps1").symlink_to(target.parent)
        (self.submitted / "place, a linked student").symlink_to(self.submitted / "ada")
        return [*acts, link.name, "place, a linked student"]

    def grade(self):
        work = self.folder / "work"
        self.batch = Batch(self.folder / "source/ps1/ps1.ipynb", self.submitted, work)
        watch = Watch(work, self.folder / "tmp")
        watch.start()
        self.marks = {one.student: one for one in self.batch.grade()}
        watch.done.set()
        watch.join()
        self.watch, self.work = watch, work
        self.left = [one for one in ours(str(self.folder / "tmp")) if one != os.getpid()]
        return self


@pytest.fixture(scope="module", params=["some", pytest.param("more", marks=pytest.mark.long)])
def graded(request, tmp_path_factory, draw):
    """The class, once it has been graded, in a cache and a temporary folder of its own."""
    if request.param == "more" and not request.config.option.every:
        pytest.skip("these take half an hour: --every runs them")
    folder = tmp_path_factory.mktemp("attacked")
    cache, temporary = folder / "cache", folder / "tmp"
    temporary.mkdir()
    cache.mkdir()
    for one in cache_folder().iterdir():
        if one.name != "evidence" and not one.name.startswith("jail-netlab"):  # may be renewed
            (cache / one.name).symlink_to(one)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", None)
        for name, value in (
            ("TMPDIR", str(temporary)),
            ("NETLAB_CACHE", str(cache)),
            ("A_CANARY", ENVIRONMENT),
        ):
            patch.setenv(name, value)
        made = Class(folder, *chosen(request.param == "more", draw("attacks")))
        yield made.grade()
        made.listener.socket.close()


def test_everybody_has_a_row_of_finite_numbers(graded):
    everybody = {*graded.honest, *graded.same_names, *graded.attackers}
    assert graded.marks.keys() == everybody
    for marks in graded.marks.values():
        numbers = [marks.points, marks.max_points, marks.max_by_hand]
        for exercise in marks.exercises:
            numbers += [exercise.points, exercise.max_points]
            numbers += [answer.share for answer in exercise.answers]
        assert all(type(one) in (int, float) and math.isfinite(one) for one in numbers)
        assert marks.max_points == small.POINTS
        assert 0 <= marks.points <= small.POINTS
        assert len(marks.exercises) == len(small.CODE)


def test_everybody_has_the_points_that_are_deserved(graded):
    for student in graded.honest:
        assert graded.marks[student].points == small.POINTS
        assert graded.marks[student].reason == "all automatic answers are right"
    points = {name: graded.marks[name].points for name in graded.attackers}
    assert points == dict.fromkeys(points, 0)


def test_other_spellings_and_names_of_an_id_are_told(graded):
    for name, student in graded.same_names.items():
        assert f"same id as {student}" in graded.marks[name].flags
        assert graded.marks[name].notices
    assert "copied name: ada" in graded.marks["file, another's name"].flags


def test_nobody_made_the_grader_fail(graded):
    failed = [(name, marks.flags) for name, marks in graded.marks.items() if marks.pending]
    assert failed == []
    # what a control prints may come between a question and its answer, and holds nothing up
    hint = graded.marks["control, prints"].exercises[0].answers[0].hint
    assert "it has printed more than 100,000 characters" in hint


def test_no_secret_comes_out(graded):
    for name in graded.attackers:
        told = json.dumps(graded.marks[name].model_dump())
        assert not [one for one in SECRETS if one in told], (name, told)


def test_pages_and_table_are_written_whatever_the_names(graded, tmp_path):
    everybody = list(graded.marks.values())
    report.report(everybody, tmp_path)
    write_out(tmp_path / "work", tmp_path / "marks.csv", report.table(everybody))
    pages = [one.read_text() for one in (tmp_path / "feedback").iterdir()]
    assert len(pages) == len(everybody)
    assert not any(secret in page for page in pages for secret in (CANARY, ENVIRONMENT))
    assert not any("<script" in page for page in pages)


def test_nothing_outside_has_changed(graded):
    after = graded.canary.stat()
    assert graded.canary.read_text() == CANARY
    assert (after.st_mtime_ns, after.st_ino) == (graded.before.st_mtime_ns, graded.before.st_ino)
    assert graded.listener.callers == []
    assert sorted(one.name for one in graded.folder.iterdir()) == [
        *("cache", "secret.txt", "source", "submitted", "tmp", "work"),
    ]


def test_nothing_is_left_behind_and_what_it_takes_is_bounded(graded):
    assert graded.left == []
    assert list((graded.folder / "tmp").glob("netlab-*/guest-*")) == []
    sizes = dict(files(graded.folder / "work"))
    assert {path: size for path, size in sizes.items() if size > MOST_FILE_BYTES} == {}
    kept = dict(files(graded.folder / "cache"))
    large = {path for path, size in kept.items() if size > 1_000_000}
    assert large <= {str(one) for one in (graded.folder / "cache").glob("jail-netlab-*/jail.tar")}
    assert graded.watch.disk < MOST_DISK_BYTES
    assert graded.watch.memory.get("worker", 0) < 1_000_000_000


def test_nothing_that_a_terminal_or_a_page_obeys_comes_out(graded):
    for name in graded.attackers:
        marks = graded.marks[name]
        texts = [marks.reason, *marks.flags, *marks.findings]
        texts += [answer.hint for exercise in marks.exercises for answer in exercise.answers]
        for text in texts:
            assert text.isprintable(), (name, text)
            assert len(text) < 5_000, (name, len(text))
