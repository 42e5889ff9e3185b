"""Find the notebook of a set in a student's folder, by its cells and whatever its name. Files that
Jupyter, macOS and Windows leave there do not count.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from netlab.course.handed_in import repair, submitted
from netlab.course.handed_in.precheck import recognise
from netlab.course.roster import MOODLES
from netlab.course.texts import printable
from netlab.engines import files
from netlab.errors import NetlabError

FOUND_AS, ALSO = "found as {}", "there is also {}"  # flags
DEEPEST = 3  # folders below a student's
MOST_FILES, MOST_NOTEBOOKS = 2000, 30  # of a student that are looked at
MOST_NAMED, LONGEST_NAMED = 5, 60  # files, and characters of each
SYSTEMS = {"__macosx", "@eadir", "$recycle.bin", "system volume information", "desktop.ini"}


@dataclass(frozen=True)
class Found:
    """The file that is graded, or why none is, and remarks about it."""

    path: Path | None
    why: str = ""
    flags: tuple = ()
    findings: tuple = ()  # the student sees these, too


@dataclass(frozen=True)
class Candidate:
    path: Path
    name: str  # below the student's folder, or the class's where there are several
    folder: int  # of several, which one
    usual: bool  # is it where it should be?
    cells: int = 0  # of this set
    answered: int = 0  # of them, not as they were handed out
    data: bytes = b""
    what: str = ""  # what it is instead, where it is not of this set

    @property
    def order(self):
        """Sorts: first where it should be with an answer in it, then the one with most answers."""
        by_answers = not (self.usual and self.answered), -self.answered, not self.usual
        return *by_answers, self.folder, self.name


def is_systems(name):
    """Is a file or folder hidden, or made by an operating system?"""
    return name.startswith(".") or name.casefold() in SYSTEMS


def look(folder, assignment, *more):
    """The `Found` notebook of a set in a student's folder: ``ps1/ps1.ipynb``, where that is of this
    set and has an answer in it; else the one with most answers, of all that have the set's cells.
    So it is with `more` folders, of a group, too; of equal notebooks that in the first counts.
    """
    name, folders = assignment.name, [folder, *more]
    base = folder.parent if more else folder  # below it, files have their names
    usual = [one / usual_name(one, name) for one in folders]
    lists = [listed(one) for one in folders]
    notebooks = [path for some, _ in lists for path in some]
    others = [below(path, base) for _, some in lists for path in some]
    there = [path for path in usual if os.path.lexists(path)]
    if len(there) == 1 and notebooks in ([], there):
        return Found(there[0])
    notebooks = sorted(
        dict.fromkeys([*there, *notebooks]),
        key=lambda one: (one not in usual, name.casefold() not in one.name.casefold()),
    )
    begin = notebooks[:MOST_NOTEBOOKS]
    looked = [candidate(one, base, folders, assignment, usual) for one in begin]
    good = sorted((one for one in looked if one.cells), key=lambda one: one.order)
    if not good and there:
        return Found(there[0])
    if not good:
        unread = [below(one, base) for one in notebooks[MOST_NOTEBOOKS:]]
        return Found(None, nothing(name, looked, [*unread, *others]))
    first, *rest = good
    flags, findings = [], []
    if not first.usual:
        flags.append(FOUND_AS.format(first.name))
        findings.append(
            f"{first.name} was graded, as its cells are those of {name}; your course looks for"
            f" {usual_name(folder, name)}"
        )
    rest = [one.name for one in rest if one.data != first.data]
    if rest:
        flags.append(ALSO.format(", ".join(rest[:MOST_NAMED])))
        findings.append(
            f"Several files are this set. {first.name} was graded, and not"
            f" {', '.join(rest[:MOST_NAMED])}: tell your teacher if that is the wrong one"
        )
    return Found(first.path, "", tuple(flags), tuple(findings))


def usual_name(folder, name):
    """Where the notebook should be in a student's folder; Moodle's hold the files themselves."""
    return f"{name}.ipynb" if MOODLES.search(folder.name) else f"{name}/{name}.ipynb"


def listed(folder):
    """The notebooks in a folder and below, and all other files."""
    notebooks, others, seen = [], [], 0
    for place, folders, names in os.walk(folder):
        deep, seen = len(Path(place).relative_to(folder).parts), seen + 1
        folders[:] = sorted(one for one in folders if not is_systems(one)) * (deep < DEEPEST)
        for name in sorted(names):
            if (seen := seen + 1) > MOST_FILES:
                return notebooks, others
            path = Path(place, name)
            if is_systems(name):
                continue
            if name.casefold().endswith(".ipynb"):
                notebooks.append(path)
            else:
                others.append(path)
    return notebooks, others


def below(path, folder):
    """A path in a folder, as flags have it: without the semicolon that separates flags."""
    return printable(str(path.relative_to(folder)).replace(";", ","), LONGEST_NAMED)


def candidate(path, base, folders, assignment, usual):
    """A file as a `Candidate`; a file that cannot be read is one, too, and raises nothing."""
    name, is_usual = below(path, base), path in usual
    at = next(at for at, folder in enumerate(folders) if path.is_relative_to(folder))
    try:
        data = files.read_below(path, folders[0].parent)
        with submitted.whatever_it_is():
            handed, metadata, _ = submitted.read(data)
            recognise(handed, metadata, assignment)
    except OSError as error:
        return Candidate(path, name, at, is_usual, what=f"which cannot be read: {error.strerror}")
    except NetlabError:
        return Candidate(path, name, at, is_usual, what="which is no notebook that can be read")
    expected = {cell.id: cell for cell in assignment.cells if cell.id}
    cells = submitted.by_id(handed)
    own, other = cells.keys() & expected.keys(), submitted.set_of(handed, metadata)
    if len(own) < sum(map(len, cells.values())) / 2 and not is_usual:  # a cell pasted elsewhere
        own = set()
    answers = [name for name in own if expected[name].role in ("answer", "manual")]
    answered = sum(
        any(one.source.strip() and not repair.same(one.source, expected[name].source) for one in of)
        for name, of in ((name, cells[name]) for name in answers)
    )
    what = "" if own else f"of {other}" if other else f"with no cell of {assignment.name}"
    return Candidate(path, name, at, is_usual, len(own), answered, data, what)


def nothing(name, looked, others):
    """Why there is nothing to grade, and what is there."""
    there = [f"{one.name} ({one.what})" for one in looked]
    there += [f"{one} (unpack it)" if one.casefold().endswith(".zip") else one for one in others]
    more = f" and {len(there) - MOST_NAMED} more" * (len(there) > MOST_NAMED)
    named = f"there are {', '.join(there[:MOST_NAMED])}{more}" if there else "the folder is empty"
    return (
        f"there is no {name}/{name}.ipynb, and no other notebook of this set: nothing was handed in"
        f" under this name; {named}"
    )
