"""Whose marks are others than after the last grading that ended."""

import os
from pathlib import Path

from netlab.course.grading.marks import CLASS, read_class
from netlab.course.texts import as_csv, printable
from netlab.engines import files
from netlab.errors import NetlabError

BEFORE = "class-before.json"  # class.json of the last grading, while another is under way
CHANGES = "changes.csv"  # whose marks changed last
MOST_NAMED = 10  # students
UNREAD = (
    "{} is damaged, or of another version of netlab, and is made anew: whose marks changed is not"
    " known"
)


def put_aside(work, assignment):
    """Put class.json aside, so that there is none until grading has ended; -> its marks, [] where
    there are none, None where they cannot be read.
    """
    path, before = Path(work, CLASS), Path(work, BEFORE)
    if path.exists():
        os.replace(path, before)
    try:
        return read_class(work, assignment.name, BEFORE) if before.exists() else []
    except NetlabError:
        return None


def forget(work):
    """Remove what was put aside, once there is a new one."""
    Path(work, BEFORE).unlink(missing_ok=True)


def told(work, before, now):
    """Whose marks changed, in some lines; all of it is written to a file in `work`."""
    if before is None:
        return [UNREAD.format(Path(work, CLASS))]
    if not (found := changed(before, now)):
        return []
    path = Path(work, CHANGES)
    files.write(path, as_csv([["student", "before", "now"], *found]))
    lines = [f"  {printable(one)}: {then}, now {counts}" for one, then, counts in found]
    more = [f"  and {len(found) - MOST_NAMED} more"] * (len(found) > MOST_NAMED)
    head = f"{len(found)} students' marks changed since the last grading; all are in {path}:"
    return [head, *lines[:MOST_NAMED], *more]


def changed(before, now):
    """Of each student whose marks changed: the id, what counted, and what counts now."""
    before = {one.student: total(one) for one in before}
    rows = [(one.student, before.get(one.student), total(one)) for one in now]
    return [(student, then, counts) for student, then, counts in rows if then not in (None, counts)]


def total(marks):
    """What counts, in words."""
    return "pending" if marks.pending else f"{marks.in_all:.10g} of {marks.max_in_all:.10g}"
