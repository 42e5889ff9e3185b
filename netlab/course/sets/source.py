"""A problem set's source: one notebook, of which the students' notebook, the solution, the rubric
and everything that the grader compares are made. Its cells carry nbgrader's metadata and marks;
what is compared stands in a check cell's hidden tests, as TOML in comments.
"""

import copy
import json
import re
from dataclasses import dataclass
from pathlib import Path

from netlab.course.handed_in import submitted
from netlab.course.own_numbers import SECRET, mark_of, parameters, written
from netlab.course.sets import regions
from netlab.course.sets.rubric import Rubric, rubric
from netlab.course.sets.slips import refuse_unanswered
from netlab.course.sets.specification import specification
from netlab.errors import NetlabError

COURSE = Path("notebooks/assignments")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
ROLES = {  # of a cell, by nbgrader's (grade, solution)
    (False, True): "answer",
    (True, False): "check",
    (True, True): "manual",
}


@dataclass(frozen=True)
class Cell:
    """A cell of a source; one with points is an exercise."""

    id: str  # its grade_id; "" for a cell without nbgrader's metadata
    kind: str  # "code", "markdown" or "raw"
    # "answer" (the student's code), "check", "manual" (the student's text), "locked" (text and
    # setup), or "free" (the student's to change, and not graded)
    role: str
    source: str  # its text in the students' notebook
    solved: str  # its text in the solution
    model: str  # the text between the marks of a solution; of a manual cell, with its rubric
    points: float  # 0 for a cell that is not graded
    checksum: str  # nbgrader's, of the students' cell
    title: str  # the heading above it
    answers: dict  # of a check: a `Rule` by the answer's name
    rubric: Rubric | None = None  # of a manual cell

    @property
    def manual(self):
        return self.role == "manual"


@dataclass(frozen=True)
class Assignment:
    """A problem set, as its source says it. Notebooks are plain data, as in their JSON."""

    name: str
    title: str
    minutes: int | None
    cells: list
    notebook: dict

    @property
    def exercises(self):
        return [cell for cell in self.cells if cell.points]

    @property
    def automatic(self):
        """The exercises that the computer marks."""
        return [cell for cell in self.cells if cell.role == "check"]

    @property
    def numbers(self):
        """What each student's numbers are drawn from, as the set-up cell says it."""
        return next(filter(None, (written(cell.source)[0] for cell in self.locked)), {})

    @property
    def locked(self):
        """The cells of code that belong to the course, and are no checks."""
        return [cell for cell in self.cells if cell.role == "locked" and cell.kind == "code"]

    @property
    def max_points(self):
        return sum(exercise.points for exercise in self.exercises)

    def release(self, secret=None):
        """The students' notebook, as nbgrader's generate_assignment makes it."""
        released = self._made("source")
        released["metadata"]["netlab"]["secret"] = mark_of(secret)
        for raw, cell in zip(released["cells"], self.cells, strict=True):
            if cell.role != "free":
                raw["metadata"]["deletable"] = False
            if cell.role in ("check", "locked"):
                raw["metadata"]["editable"] = False
        return released

    def solution(self):
        """The notebook with every answer: it gets all points when it is handed in."""
        return self._made("solved")

    def _made(self, text):
        """A notebook with one of the cells' texts, and without outputs."""
        made = copy.deepcopy(self.notebook)
        named = [[cell.id, cell.checksum] for cell in self.cells if cell.id]
        made["metadata"]["netlab"] = {"assignment": self.name, "cells": named}
        for raw, cell in zip(made["cells"], self.cells, strict=True):
            raw["source"] = getattr(cell, text)
            if cell.kind == "code":
                raw.update(outputs=[], execution_count=None)
            if cell.role != "free":
                raw["metadata"]["nbgrader"].update(checksum=cell.checksum, cell_type=cell.kind)
        return made


def text(notebook):
    """A notebook's file, from its plain data: as Jupyter writes it."""
    notebook = copy.deepcopy(notebook)
    for raw in notebook["cells"]:
        raw["source"] = raw["source"].splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def find(name, course=None):
    """The source of a problem set, in nbgrader's course folder (or notebooks/assignments)."""
    folder = Path(course or COURSE) / "source"
    path = folder / name / f"{name}.ipynb"
    if NAME.fullmatch(name) and path.is_file():
        return path
    there = sorted(file.stem for file in folder.glob("*/*.ipynb") if file.stem == file.parent.name)
    why = f"{folder} has only {', '.join(there)}" if there else f"there is no {folder}"
    raise NetlabError(
        f"assignment {name!r}: {why}: run this in the checkout of netlab, or name nbgrader's course"
        " folder with --course"
    )


def read(path):
    """The problem set of a source notebook; a broken source is refused, and its cell named."""
    path = Path(path)
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if notebook["nbformat"] != 4:
            raise ValueError("its nbformat is not 4")
        for raw in notebook["cells"]:
            raw["source"] = regions.joined(raw["source"])
            raw.setdefault("metadata", {})
            raw["cell_type"] = str(raw["cell_type"])
    except OSError as error:
        raise NetlabError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        why = f"is no notebook that can be read ({error}): open it in Jupyter and save it"
        raise NetlabError(f"{path} {why}") from None
    try:
        return assignment(path.stem, notebook)
    except NetlabError as error:
        raise NetlabError(f"{path}: {error}") from None


def assignment(name, notebook):
    cells, title = [], ""
    for number, raw in enumerate(notebook["cells"], 1):
        where, said = f"cell {number}", raw["metadata"].get("nbgrader") or {}
        if said:
            where = f"cell {number} ({grade_id(name, said, where)})"
            if said["grade_id"] in [cell.id for cell in cells]:
                raise NetlabError(f"{where}: another cell has this grade_id; give it its own")
        cells.append(read_cell(raw, said, where, title))
        if cells[-1].kind == "markdown" and (found := submitted.title(cells[-1].source)):
            title = found
    if not any(cell.points for cell in cells):
        raise NetlabError("no cell is graded: a problem set has at least one exercise")
    refuse_unanswered(cells)
    first = next((cell.source for cell in cells if cell.kind == "markdown"), "")
    minutes = re.search(r"(\d+)\s+minutes", first)
    minutes = int(minutes[1]) if minutes else None
    found = Assignment(name, submitted.title(first) or name, minutes, cells, notebook)
    parameters(name, "anybody", SECRET, found.numbers)  # a wrong range is no student's fault
    return found


def grade_id(name, said, where):
    """A cell's grade_id; refuses metadata that nbgrader would."""
    own = said.get("grade_id")
    if not isinstance(own, str) or not NAME.fullmatch(own) or not own.startswith(f"{name}-"):
        raise NetlabError(f"{where}: grade_id {own!r}: write letters, digits and -, as in {name}-a")
    for key in ("grade", "solution", "locked"):
        if not isinstance(said.get(key), bool):
            raise NetlabError(f"{where} ({own}): {key} in nbgrader's metadata: say true or false")
    if said.get("schema_version") != 3:
        raise NetlabError(f"{where} ({own}): schema_version in nbgrader's metadata: only 3 is read")
    return own


def read_cell(raw, said, where, title):
    """One cell; refuses marks that nbgrader would stumble over, or that would let answers out."""
    kind, text = raw["cell_type"], raw["source"]
    grade, solution = said.get("grade", False), said.get("solution", False)
    role = ROLES.get((grade, solution), "locked" if said.get("locked") else "free")
    points = said.get("points", 0) if grade else 0
    if grade and (type(points) not in (int, float) or points <= 0):
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
            f"{where}: has solution: true and no {regions.SOLUTION[0]}, so nbgrader would empty it:"
            " mark the solution, or (a cell to fill in) say grade, solution and locked: false"
        )
    return Cell(
        id=said.get("grade_id", ""),
        kind=kind,
        role=role,
        source=released,
        solved=regions.unmarked(visible),
        model=model or "",
        points=points,
        checksum=regions.checksum(released, kind, said | {"points": points}) if said else "",
        title=title,
        answers=specification(hidden or "", points, where) if role == "check" else {},
        rubric=rubric(model, points, where) if role == "manual" else None,
    )
