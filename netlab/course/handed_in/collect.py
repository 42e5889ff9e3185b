"""Find what each student of a class handed in, and copy it to where it is graded."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from netlab.course import ids
from netlab.course.handed_in import class_folder, found
from netlab.description import Description
from netlab.engines import files
from netlab.errors import NetlabError


class Origin(Description):
    """What was graded. Whoever has marks of the same origin is not graded again."""

    key: str  # of the set, the course's secret, netlab and the engine
    digest: str  # of the file
    flags: list[str]  # that come of where the file was found
    findings: list[str]


@dataclass(frozen=True)
class Collected:
    """What is graded of a student, or why nothing is."""

    origin: Origin | None  # None where there is nothing to grade
    why: str = ""


def look(submitted, assignment, only=(), roster=None):
    """By student what was `Found`, and a sentence about what lies beside their folders, or "".

    `only` has the ids of those who are looked for, everybody if it is empty; `roster` is the
    class's. A `NetlabError` where nobody has a notebook of the set.
    """
    submitted = Path(submitted)
    students, loose = class_folder.students(submitted, assignment.name, only, roster)
    there = {}
    for one, folders in students.items():
        first, *more = (submitted / folder for folder in folders)
        there[one] = found.look(first, assignment, *more)
    if not (only or any(one.path for one in there.values())):
        raise class_folder.no_notebook(submitted, assignment.name)
    several = class_folder.several(loose)
    return there, f"in no student's folder, and not graded: {several}" if loose else ""


def collect(there, student, assignment, submitted, to, key="") -> Collected:
    """Copy the notebook that is `there` (`Found`) to the file `to`.

    `key` is what else decides the marks: of the set, the secret, netlab and the engine.
    """
    name = assignment.name
    try:
        ids.normalised(student)
        if there.path is None:
            return Collected(None, there.why)
        data = files.read_below(there.path, submitted)
    except OSError as error:
        return Collected(None, f"{name}.ipynb cannot be read: {error.strerror}")
    except NetlabError as error:
        return Collected(None, f"the name of the folder is no student id: {error}")
    files.write(to, data)
    said = {"flags": [*there.flags], "findings": [*there.findings]}
    return Collected(Origin(key, digest_of(data), **said))


def digest_of(data):
    """Which file this is."""
    return hashlib.sha256(data).hexdigest()
