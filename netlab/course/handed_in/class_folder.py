"""The folder with what a class handed in: a folder for each student, whose name is the id."""

import difflib
import os
from collections import Counter
from pathlib import Path

from netlab.course import ids
from netlab.course.handed_in.found import is_systems
from netlab.course.roster import FILES, MOODLES, Roster
from netlab.course.texts import printable
from netlab.errors import NetlabError

MOST_NAMED = 5  # students or folders, in a sentence
PARTS = ("marks", "reference", "handed-in")  # every folder of marks has them
NEAR = 0.5  # how alike an unknown id and one that is suggested are, as difflib has it


def students(folder, name, only=(), roster=None):
    """By student the names of the folders that are graded, at least one, and what lies in none of
    them; `only` has the ids of those who are, everybody if it is empty. A `Roster` tells whose
    Moodle's folders are, and who works together.
    """
    try:
        entries = [one for one in os.scandir(folder) if not is_systems(one.name)]
        names = sorted(one.name for one in entries if one.is_dir())
    except OSError as error:
        raise NetlabError(f"{folder}: {error.strerror}") from None
    loose = sorted(one.name for one in entries if one.name.casefold().endswith((".ipynb", ".zip")))
    usual = f"{name}/{name}.ipynb"
    works = [one for one in names if all(Path(folder, one, part).is_dir() for part in PARTS)]
    sets = [one for one in names if one.casefold() == name.casefold()]  # no student's id
    sets = [one for one in sets if not Path(folder, one, usual).exists()]
    if sets and not any(Path(folder, one, usual).exists() for one in names):
        raise no_notebook(folder, name)
    names, loose = sorted({*names} - {*sets, *works}), [*sets, *works, *loose]
    if inner := too_high(folder, name):
        raise no_notebook(folder, name, f"give {inner}")
    if others := [one for one in names if MOODLES.search(one) and not one.endswith(FILES)]:
        names, loose = sorted({*names} - {*others}), [*loose, *others]
    found = (roster or Roster()).submissions(names)
    found = {one: found[one] for one in (chosen(found, only, folder) if only else found)}
    if moodles := [one for one in found if MOODLES.search(one)]:
        raise NetlabError(
            f"{folder}: {several(moodles)}: Moodle's name of a folder is no student's id, from"
            " which numbers are drawn. Name Moodle's grading worksheet, which has this number:"
            " --roster worksheet.csv; or name with --only who is graded"
        )
    if not found:
        raise no_notebook(folder, name)
    return found, loose


def chosen(found, only, folder):
    """Those of some students whose ids, or the names of whose folders, are `only`'s."""
    known, names = {}, [*found]
    for student, folders in found.items():
        for name in {student, *folders}:
            known.setdefault(ids.compared(name), []).append(student)
    for one in only:
        if ids.compared(one) not in known:
            near = difflib.get_close_matches(ids.compared(one), known, cutoff=NEAR)
            near = [name for same in near for name in known[same]]
            there = f"did you mean {several(near)}?" if near else f"it has {several(names)}"
            raise NetlabError(f"--only {printable(one)}: {folder} has no such folder; {there}")
    return sorted({name for one in only for name in known[ids.compared(one)]})


def too_high(folder, name):
    """A folder in this one that has several students' folders, where this one has none; or None."""
    usual = f"{name}/{name}.ipynb"
    if Path(folder, "source", usual).exists() and Path(folder, "submitted").is_dir():
        return folder / "submitted"  # in nbgrader's course folder
    if any(folder.glob(f"*/{usual}")):
        return None
    found = Counter(inner.parents[2] for inner in folder.glob(f"*/*/{usual}"))
    return next((inner for inner, count in found.most_common(1) if count > 1), None)


def no_notebook(folder, name, remedy=""):
    """The error that no notebook of a set lies in a folder; it says which to name instead."""
    here, usual = folder.absolute(), f"{name}/{name}.ipynb"
    for outer in (here.parent, here.parent.parent):  # it is a student's, or the set's in that
        if any(outer.glob(f"*/{usual}")) and outer != here:
            student = here.relative_to(outer).parts[0]
            remedy = remedy or f"give {outer}, with --only {student} for this student alone"
    remedy = (
        remedy or f"give the folder in which STUDENT/{usual} lie, such as nbgrader's submitted/"
    )
    return NetlabError(f"{folder}: no student's folder in it has a notebook of {name}; {remedy}")


def several(names):
    """Some names in a sentence."""
    more = f" and {len(names) - MOST_NAMED} more" * (len(names) > MOST_NAMED)
    return f"{', '.join(map(printable, names[:MOST_NAMED]))}{more}"
