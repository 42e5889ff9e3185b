"""The cells of a problem set's source, and what is wrong with one."""

import re
from dataclasses import dataclass

from netlab.course.sets import regions
from netlab.errors import NetlabError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
ROLES = {  # of a cell, by nbgrader's (grade, solution)
    (False, True): "answer",
    (True, False): "check",
    (True, True): "manual",
}


@dataclass(frozen=True)
class Cell:
    """A cell of a source.

    Attributes
    ----------
    id : str
        Its grade_id; "" for a cell without nbgrader's metadata.
    kind : str
        "code", "markdown" or "raw".
    role : str
        "answer" (the student's code), "check", "manual" (the student's text), "locked" (text and
        setup), or "free" (the student's to change, and not graded).
    source : str
        Its text in the students' notebook.
    solved : str
        Its text in the solution.
    hidden : str
        What its hidden tests say, without the marks.
    model : str
        What stands between the marks of a solution.
    points : float
        0 for a cell that is not graded.
    checksum : str
        nbgrader's, of the students' cell.
    """

    id: str
    kind: str
    role: str
    source: str
    solved: str
    hidden: str = ""
    model: str = ""
    points: float = 0
    checksum: str = ""


def grade_id(name, said, where):
    """A cell's grade_id, or what is wrong with nbgrader's metadata."""
    own = said.get("grade_id")
    if not isinstance(own, str) or not NAME.fullmatch(own) or not own.startswith(f"{name}-"):
        raise NetlabError(f"{where}: grade_id {own!r}: write letters, digits and -, as in {name}-a")
    for key in ("grade", "solution", "locked"):
        if not isinstance(said.get(key), bool):
            raise NetlabError(f"{where} ({own}): {key} in nbgrader's metadata: say true or false")
    if said.get("schema_version") != 3:
        raise NetlabError(f"{where} ({own}): schema_version in nbgrader's metadata: only 3 is read")
    return own


def read(raw, said, where):
    """One cell; refuses marks that nbgrader would stumble over, or that would let answers out."""
    kind, text = raw["cell_type"], raw["source"]
    grade, solution = said.get("grade", False), said.get("solution", False)
    role = ROLES.get((grade, solution), "locked" if said.get("locked") else "free")
    points = said.get("points", 0) if grade else 0
    if grade and (isinstance(points, bool) or not isinstance(points, int | float) or points <= 0):
        raise NetlabError(f"{where}: points {points!r}: a graded cell has a number above 0")
    if kind not in ("code", "markdown", "raw") or (role in ("answer", "check") and kind != "code"):
        raise NetlabError(f"{where}: it is {role}, and {kind!r}; answers and checks are code")
    try:
        visible, hidden = regions.without(text, regions.HIDDEN)
        model = regions.without(visible, regions.SOLUTION)[1]
        released = regions.without(visible, regions.SOLUTION, regions.STUB[kind == "code"])[0]
    except ValueError as error:
        raise NetlabError(f"{where}: {error}") from None
    if hidden is not None and role != "check":
        raise NetlabError(f"{where}: hidden tests belong in a graded cell that is no solution")
    if model is not None and role not in ("answer", "manual"):
        raise NetlabError(f"{where}: a solution belongs in a cell with solution: true")
    if model is None and role in ("answer", "manual"):
        raise NetlabError(
            f"{where}: has solution: true, but not the marks {regions.SOLUTION[0]} and"
            f" {regions.SOLUTION[1]}: nbgrader would empty it. Add them around the solution; a cell"
            " that students only fill in, such as their name's, has grade, solution and locked:"
            " false"
        )
    own = said.get("grade_id", "")
    return Cell(
        own,
        kind,
        role,
        released,
        regions.unmarked(visible),
        hidden or "",
        model or "",
        points,
        regions.checksum(released, kind, {**said, "points": points}) if own else "",
    )
