"""The folder that grading leaves: marks/, reference/, handed-in/, feedback/, texts/, runs/,
class.html, class.json with all marks of the last grading, changes.csv with whose marks it changed,
roster.json with the class and its rule for late work, by-hand.json with a person's points, and
written.txt, which knows the files that were made of them elsewhere. reference/ has the set, too.
"""

import contextlib
import fcntl
import hashlib
import json
import os
from pathlib import Path
from urllib.parse import quote

from netlab.course.grading.by_hand import ByHand
from netlab.course.grading.changes import BEFORE, CHANGES
from netlab.course.grading.marks import CLASS
from netlab.course.grading.marks import read as read_marks
from netlab.course.handed_in.class_folder import PARTS
from netlab.course.roster import Roster
from netlab.course.sets import source
from netlab.engines import files
from netlab.errors import NetlabError

WRITTEN = "written.txt"  # the SHA-256 of each file that `write_out` wrote
KEPT = Roster.file, ByHand.file  # what options said
OTHERS = ("feedback", "texts", "runs", "class.html", CLASS, BEFORE, CHANGES, *KEPT, WRITTEN)
LONGEST_NAME = 150  # characters of a file's, where it is that of a student


@contextlib.contextmanager
def held(work):
    """Hold the folder, made where it is missing, for one grader at a time. A `NetlabError` where
    another holds it, it cannot be made, or it has one of the names above from somebody else.
    """
    work = Path(work)
    try:
        there = [name for name in (*PARTS, *OTHERS) if not is_free(work / name)]
        if there and not all((work / name).is_dir() for name in PARTS):
            raise FileExistsError(0, f"it has {there[0]} in it, which netlab did not make")
        for name in PARTS:
            (work / name).mkdir(parents=True, exist_ok=True)
        lock = os.open(work / PARTS[0], os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        why = f"{error.strerror}; name a new or an empty folder"
        raise NetlabError(f"--work {work}: {why}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        why = "another `netlab course grade` is at work there; wait for it, or name another folder"
        raise NetlabError(f"--work {work}: {why}") from None
    except OSError:  # of a file system without locks
        pass
    try:
        yield work
    finally:
        os.close(lock)


def is_free(path):
    """Is there nothing, or an empty folder?"""
    return not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir()))


def place(work, what, file):
    """Where something of a student's, whose files have this name, is kept in this folder."""
    return Path(work, what, f"{file}.{'ipynb' if what == 'handed-in' else 'json'}")


def has_changed(assignment, work, course=None):
    """Is a set's source another than when the class was graded? Not, where one is missing."""
    try:
        graded = place_of_set(work, assignment).read_bytes()
        return source.find(assignment, course).read_bytes() != graded
    except (OSError, NetlabError):
        return False


def place_of_set(work, assignment):
    """Where the set is kept by which the class was graded."""
    return Path(work, "reference", f"{assignment}.ipynb")


def read(path):
    """What is kept in a file as a JSON object; {} for nothing, or a damaged file."""
    found = {}
    with contextlib.suppress(OSError, ValueError, RecursionError):
        found = json.loads(path.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


def marks_in(work):
    """The marks that are kept in this folder by their files' names; None for damaged ones."""
    return {path.stem: read_marks(path) for path in sorted(Path(work, PARTS[0]).glob("*.json"))}


def file_names(students, taken=()):
    """The name of each student's files, without its ending: the id, where a file can have that
    name, and none of `taken` and no other student's is the same in small letters, which are one
    file on some systems.
    """
    used, names = {name.casefold() for name in taken}, {}
    for student in sorted(students):
        names[student] = filed(student)
        if names[student].casefold() in used:
            names[student] = filed(student, alone=False)
        used.add(names[student].casefold())
    return names


def filed(student, alone=True):
    """A safe file name for a student's id; `alone` where no other id differs in capitals only."""
    data = student.encode(errors="surrogateescape")  # as in the file system, in any locale
    name = quote(data, safe=" @+,=")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    if not alone or len(name) > LONGEST_NAME or not name:
        digest = hashlib.sha256(data).hexdigest()
        name = f"{name[:LONGEST_NAME]} {digest[:16]}"
    return name


def as_written(work, *digests):
    """-> a function: is an open file, to the byte, one that `write_out` wrote from this folder?"""
    known = [*noted(work).split(), *digests]
    return lambda file: hashlib.file_digest(file, "sha256").hexdigest() in known


def noted(work):
    """The text of WRITTEN: a digest on each line."""
    with contextlib.suppress(OSError, ValueError):
        return Path(work, WRITTEN).read_text(encoding="utf-8")
    return ""


def write_out(work, path, data):
    """Write a file of bytes or text for ``--output``, also in place of one that was written so and
    is as it was; a `NetlabError` where there is another, or it cannot be written.
    """
    # a surrogate, of a file name that is not UTF-8, is escaped
    data = data if isinstance(data, bytes) else data.encode(errors="backslashreplace")
    known, digest = noted(work), hashlib.sha256(data).hexdigest()
    if digest not in known:  # first, as this may be interrupted
        with contextlib.suppress(NetlabError):  # the folder may only be read
            files.write(Path(work, WRITTEN), f"{known}{digest}\n")
    files.write(path, data, "--output", as_written(work, digest))
