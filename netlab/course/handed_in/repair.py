"""Rebuild a submission from the source of the problem set: cells that belong to the course are
taken from the source, the others from the submission. What differed is told.
"""

from dataclasses import dataclass
from functools import partial

from netlab.course.handed_in import submitted
from netlab.course.handed_in.precheck import precheck
from netlab.course.handed_in.submitted import Finding, Handed
from netlab.course.own_numbers import written
from netlab.errors import NetlabError

COURSES = ("locked", "check")  # roles of cells that students do not write


@dataclass(frozen=True)
class Repaired:
    """A submission that can be graded."""

    cells: list  # `Handed`, in the source's order; a student's own follow those they followed
    findings: list
    student: str | None  # whom it names: "" where that was left empty, None where nothing does


@submitted.whatever_it_is()
def repair(read, assignment) -> Repaired:
    """A `Readable` submission in the order of the source, with the course's own cells."""
    expected = {cell.id: cell for cell in assignment.cells if cell.id}
    copies = {name: counted_first(expected[name], some) for name, some in read.copies.items()}
    counted, findings = {name: cells[0] for name, cells in copies.items()}, [*read.findings]
    findings += submitted.structure(copies, expected, partial(changed, expected))
    for name, cell in counted.items():
        findings += compared(expected[name], cell)
    student = submitted.names(counted.values(), f"{assignment.name}-name")
    if student == "":
        findings.append(submitted.name_missing(f"{assignment.name}-name"))
    followers, anchor = {}, ""
    parts = [
        part
        for name, (first, *others) in copies.items()
        if expected[name].role not in COURSES
        for part in submitted.continuing(first, others)
    ]
    for cell in read.cells:
        if cell in parts:
            followers.setdefault(cell.id, []).append(Handed("", cell.kind, cell.source))
        elif cell.id not in expected:
            followers.setdefault(anchor, []).append(Handed("", cell.kind, cell.source))
        elif counted[cell.id] is cell:
            anchor = cell.id
    cells = followers.get("", [])
    for name, cell in expected.items():
        cells.append(merged(cell, copies.get(name)))
        cells += followers.get(name, [])
    places = submitted.under(read.cells, (cell.name for cell in read.cells))
    places |= submitted.under(assignment.cells, (cell.id for cell in assignment.cells))
    return Repaired(cells, submitted.placed(findings, places), student)


def cells_of(path, assignment):
    """The cells of a submission as they were graded; or the source's empty ones."""
    try:
        return repair(precheck(path.read_bytes(), assignment), assignment).cells
    except (OSError, NetlabError):
        return [merged(cell, None) for cell in assignment.cells]


def counted_first(expected, copies):
    """The cells with one grade_id, first the one that counts: one with an answer in it."""
    if expected.role in COURSES:
        return copies
    return sorted(
        copies, key=lambda one: not one.source.strip() or same(one.source, expected.source)
    )


def same(one, other):
    """Whether two cells say the same, whatever blanks are at the ends of their lines."""
    first, second = ([line.rstrip() for line in text.strip().split("\n")] for text in (one, other))
    return first == second


def changed(expected, name, cell):
    own = expected[name]
    if own.role not in COURSES or same(cell.source, own.source):
        return False
    return not other_numbers(own, cell) or written(cell.source)[1] != written(own.source)[1]


def other_numbers(expected, cell):
    """Are the numbers in a set-up cell drawn from something else than the set's?"""
    if expected.role != "locked":
        return False
    own, given = written(expected.source)[0], written(cell.source)[0]
    return own and given and own != given


def compared(expected, cell):
    """The findings on the type of a cell, its numbers and its metadata."""
    if other_numbers(expected, cell):
        text = "Here the set had other ranges of numbers than it has now, so you saw other numbers"
        text += " than you are graded with. What your notebook computes was computed again with the"
        text += " new ones; what you typed in may be wrong for that reason. Tell your teacher."
        yield Finding("other numbers", expected.id, text)
    if cell.kind != expected.kind:
        text = f"It is a {expected.kind} cell, and was made a {cell.kind} cell: change it back."
        yield Finding("cell type changed", expected.id, text)
    wanted = {
        "grade_id": expected.id,
        "grade": expected.role in ("check", "manual"),
        "solution": expected.role in ("answer", "manual"),
    }
    if wanted["grade"]:
        wanted |= {"locked": expected.role in COURSES, "points": expected.points}
    given = {key: cell.said.get(key) for key in wanted}
    if given != wanted or given.get("points") is True:  # which is 1 otherwise
        text = "What nbgrader keeps in its metadata was changed; the course's counts."
        yield Finding("metadata changed", expected.id, text)


def merged(expected, copies):
    """The cell to be run: the source's, with the student's text where that is the student's."""
    if expected.role in COURSES or (not copies and expected.role == "free"):
        text = expected.source
    elif expected.role == "manual" and copies:  # who reads it sees all that was written
        texts = dict.fromkeys(one.source for one in copies if not same(one.source, expected.source))
        text = "\n\n".join(texts) or copies[0].source
    else:
        text = copies[0].source if copies else ""
    return Handed(expected.id, expected.kind, text)
