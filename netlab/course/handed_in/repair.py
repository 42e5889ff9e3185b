"""Rebuild a submission from the source of the problem set: cells that belong to the course are
taken from the source, the others from the submission.
"""

from dataclasses import dataclass
from typing import NamedTuple

from netlab.course.handed_in import submitted
from netlab.course.handed_in.submitted import Finding
from netlab.errors import NetlabError

FLAGS = ("grade", "solution", "locked", "points")


class Cell(NamedTuple):
    """A cell to be run: `id` is its grade_id, "" for a student's own cell."""

    id: str
    kind: str
    source: str
    graded: bool


@dataclass(frozen=True)
class Repaired:
    """A submission that can be graded.

    Attributes
    ----------
    cells : list of Cell
        In the source's order; a student's own cells follow the cells that they followed.
    findings : list of netlab.course.handed_in.submitted.Finding
    student : str or None
        Whom the notebook names: "" where the name was left empty, None where nothing names one.
    """

    cells: list
    findings: list
    student: str | None


@submitted.whatever_it_is()
def examine(notebook, assignment):
    """A submission as the grader takes it, and what was wrong with it.

    Parameters
    ----------
    notebook : bytes, str or dict
        Anything that a student may hand in.
    assignment : netlab.course.sets.source.Assignment

    Raises
    ------
    NetlabError
        It is no notebook, or one without any cell of this problem set.
    """
    handed, _, findings = submitted.read(notebook)
    kinds = {cell.id: cell for cell in assignment.cells if cell.id}
    recognise(handed, assignment)
    copies = {}
    for cell in handed:
        if cell.id in kinds:
            copies.setdefault(cell.id, []).append(cell)
    if not copies:
        raise NetlabError(
            f"the submission has no cell of {assignment.name}: hand in the notebook"
            f" {assignment.name}.ipynb that you were given, with your answers in it"
        )
    counted = {name: chosen(kinds[name], cells) for name, cells in copies.items()}
    for name, expected in kinds.items():
        findings += compared(expected, counted.get(name), len(copies.get(name, ())))
    findings += reordered(handed, counted, list(kinds))
    student = submitted.names(counted.values(), f"{assignment.name}-name")
    if student == "":
        text = 'Write your student id between the quotes of student = "", and run the cell.'
        findings.append(Finding("name missing", f"{assignment.name}-name", text))
    followers, anchor = {}, ""
    for cell in handed:
        if cell.id not in kinds:
            followers.setdefault(anchor, []).append(Cell("", cell.kind, cell.source, False))
        elif counted[cell.id] is cell:
            anchor = cell.id
    cells = followers.get("", [])
    for expected in kinds.values():
        cells.append(merged(expected, counted.get(expected.id)))
        cells += followers.get(expected.id, [])
    places = dict(zip((cell.name for cell in handed), submitted.under(handed), strict=True))
    own = zip(
        (cell.id for cell in assignment.cells), submitted.under(assignment.cells), strict=True
    )
    return Repaired(cells, submitted.placed(findings, places | dict(own)), student)


def recognise(handed, assignment):
    """Give cells whose grade_id was lost or changed the one of the source's cell with their id of
    Jupyter's, if no other cell claims it.
    """
    known = {cell.id for cell in assignment.cells if cell.id}
    claimed = {cell.id for cell in handed}
    lost = {
        raw.get("id"): cell.id
        for raw, cell in zip(assignment.notebook["cells"], assignment.cells, strict=True)
        if cell.id and cell.id not in claimed and raw.get("id")
    }
    for cell in handed:
        if cell.id not in known and cell.own in lost:
            cell.id = lost.pop(cell.own)


def chosen(expected, copies):
    """The cell that counts of those with one grade_id: the first with something of the student's
    in it.
    """
    if expected.role in ("answer", "manual", "free"):
        for cell in copies:
            if cell.source.strip() and not same(cell.source, expected.source):
                return cell
    return copies[0]


def same(one, other):
    """Whether two cells say the same, whatever blanks are at the ends of their lines."""
    return [line.rstrip() for line in one.strip().split("\n")] == [
        line.rstrip() for line in other.strip().split("\n")
    ]


def compared(expected, cell, count):
    """The findings on one cell of the source."""
    locked = expected.role in ("locked", "check")
    if cell is None:
        text = "It was deleted, and was put back as it was"
        text += "." if locked else ": empty, so it answers nothing. Write your answer in it."
        yield Finding("cell deleted", expected.id, text)
        return
    if count > 1:
        which = "the course's" if locked else "the first with an answer in it"
        text = f"It is there {count} times, and only {which} counts: delete the copies."
        yield Finding("cell copied", expected.id, text)
    if cell.kind != expected.kind:
        text = f"It is a {expected.kind} cell, and was made a {cell.kind} cell: change it back."
        yield Finding("cell type changed", expected.id, text)
    if locked and not same(cell.source, expected.source):
        text = "Its text belongs to the course, and was put back: write in the answer cells only."
        yield Finding("locked cell changed", expected.id, text)
    wanted = {
        "grade": expected.role in ("check", "manual"),
        "solution": expected.role in ("answer", "manual"),
        "locked": expected.role in ("locked", "check"),
        "points": expected.points,
    }
    for key in FLAGS[: 4 if wanted["grade"] else 2]:
        given = cell.said.get(key)
        if type(given) is not type(wanted[key]) and not (
            key == "points" and type(given) in (int, float)
        ):
            break
        if given != wanted[key]:
            break
    else:
        if cell.said.get("grade_id") == expected.id:
            return
    text = "What nbgrader keeps in its metadata was changed; the course's counts."
    yield Finding("metadata changed", expected.id, text)


def reordered(handed, counted, order):
    """The finding that cells do not stand in the source's order."""
    place, last = {name: number for number, name in enumerate(order)}, -1
    for cell in handed:
        if counted.get(cell.id) is cell:
            if place[cell.id] < last:
                text = "It was moved; the course's order counts, so run all cells in that order."
                yield Finding("cells reordered", cell.id, text)
                return
            last = place[cell.id]


def merged(expected, cell):
    """The cell to be run: the source's, with the student's text where that is the student's."""
    graded = expected.role in ("check", "manual")
    if expected.role in ("locked", "check"):
        return Cell(expected.id, expected.kind, expected.source, graded)
    if cell is None:
        text = expected.source if expected.role == "free" else ""
        return Cell(expected.id, expected.kind, text, graded)
    return Cell(expected.id, expected.kind, cell.source, graded)
