"""Is a file a notebook of this set that can be graded? Nothing in it is believed, and no more is
asked of it than that it has one of the set's cells.
"""

from dataclasses import dataclass

from netlab.course.handed_in import submitted
from netlab.errors import NetlabError


@dataclass(frozen=True)
class Readable:
    """A notebook of the set, as it was handed in."""

    cells: list  # `Handed`, in the order of the file
    copies: dict  # of them, lists by the grade_ids of the set
    findings: list  # on damaged cells


@submitted.whatever_it_is()
def precheck(data, assignment) -> Readable:
    """Read the bytes of a submission; a `NetlabError` says why it cannot be graded."""
    handed, metadata, findings = submitted.read(data)
    recognise(handed, metadata, assignment)
    known = {cell.id for cell in assignment.cells}
    copies = {name: some for name, some in submitted.by_id(handed).items() if name in known}
    if not copies:
        other = submitted.set_of(handed, metadata)
        of = f", its cells are of {other}" if other not in ("", assignment.name) else ""
        raise NetlabError(
            f"the submission has no cell of {assignment.name}{of}: hand in the notebook"
            f" {assignment.name}.ipynb that you were given, with your answers in it"
        )
    return Readable(handed, copies, findings)


def recognise(handed, metadata, assignment):
    """Restore lost grade_ids by Jupyter's ids of the cells, where no other cell claims them, and
    the notebook is not another set, whose cells may have the same.
    """
    if submitted.set_of((), metadata) not in ("", assignment.name):
        return
    known, claimed = ({cell.id for cell in cells} for cells in (assignment.cells, handed))
    lost = {
        raw.get("id"): cell.id
        for raw, cell in zip(assignment.notebook["cells"], assignment.cells, strict=True)
        if cell.id and cell.id not in claimed and raw.get("id")
    }
    for cell in handed:
        if (not cell.id or cell.id not in known) and cell.own in lost:
            cell.id = lost.pop(cell.own)
