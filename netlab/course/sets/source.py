"""A problem set's source: one notebook, of which the students' notebook, the solution, the rubric
and everything that the grader compares are made.

Its cells carry nbgrader's metadata and marks, so that nbgrader can be used on it, too. What is
compared stands between the marks of a check cell's hidden tests, as TOML in comments: a table for
each answer.
"""

import ast
import copy
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from netlab.course.mine import mark_of
from netlab.course.sets import cells as of_source
from netlab.course.sets import regions
from netlab.course.sets.cells import NAME
from netlab.course.sets.specification import specification
from netlab.errors import NetlabError, needs_notebooks

COURSE = Path("notebooks/assignments")
RELEASING = [  # what of nbgrader's generate_assignment changes a notebook, in its order
    "LockCells",
    "ClearSolutions",
    "ClearOutput",
    "CheckCellMetadata",
    "ClearHiddenTests",
    "ClearMarkScheme",
    "ComputeChecksums",
    "CheckCellMetadata",
]


@dataclass(frozen=True)
class Exercise:
    """A graded cell: `answers` are the specifications by name, each with its `points`; a manual
    one has none, but a `rubric`, the model answer and what points are for.
    """

    id: str
    points: float
    manual: bool
    title: str = ""
    answers: dict = field(default_factory=dict)
    rubric: str = ""


@dataclass(frozen=True)
class Assignment:
    """A problem set, as its source says it. Notebooks are plain data, as in their JSON."""

    name: str
    title: str
    minutes: int | None
    exercises: list
    cells: list
    notebook: dict

    @property
    def max_points(self):
        """The points of all exercises."""
        return sum(exercise.points for exercise in self.exercises)

    def release(self, secret=None):
        """The students' notebook, as nbgrader's generate_assignment makes it, and in its metadata
        `netlab`, what it should contain.

        Parameters
        ----------
        secret : str, optional
            The course's: a mark of it goes with the notebook.

        Raises
        ------
        NetlabError
            nbgrader is not installed.
        """
        with needs_notebooks("course", "what makes and grades problem sets"):
            import nbformat
            from nbgrader import preprocessors as of_nbgrader
        notebook, resources = nbformat.from_dict(copy.deepcopy(self.notebook)), {}
        for name in RELEASING:
            step = getattr(of_nbgrader, name)()
            notebook, resources = step.preprocess(notebook, resources)
        released = json.loads(json.dumps(notebook))
        released["metadata"]["netlab"] = self.contents() | {"secret": mark_of(secret)}
        return released

    def solution(self):
        """The notebook with every answer: it gets all points when it is handed in."""
        solved = copy.deepcopy(self.notebook)
        solved["metadata"]["netlab"] = self.contents()
        for raw, cell in zip(solved["cells"], self.cells, strict=True):
            raw["source"] = cell.solved
            if cell.kind == "code":
                raw.update(outputs=[], execution_count=None)
            if cell.role != "free":
                raw["metadata"]["nbgrader"].update(checksum=cell.checksum, cell_type=cell.kind)
        return solved

    def contents(self):
        """What a released notebook says of itself: the cells that belong in it."""
        return {
            "assignment": self.name,
            "cells": [[cell.id, cell.checksum] for cell in self.cells if cell.id],
        }

    def rubric(self):
        """A page in Markdown: every exercise, its points, and what they are given for."""
        from netlab.course.sets.rubric import page

        return page(self)


def text(notebook):
    """A notebook's file, from its plain data: as Jupyter writes it."""
    notebook = copy.deepcopy(notebook)
    for raw in notebook["cells"]:
        raw["source"] = raw["source"].splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def find(name, course=None):
    """The source of a problem set: `source/NAME/NAME.ipynb` in a course's folder.

    Parameters
    ----------
    name : str
        "ps1"
    course : path, optional
        nbgrader's course folder; notebooks/assignments of this checkout, if not given.

    Raises
    ------
    NetlabError
        There is none; the message names those that there are.
    """
    folder = Path(course or COURSE) / "source"
    path = folder / name / f"{name}.ipynb"
    if NAME.fullmatch(name) and path.is_file():
        return path
    there = sorted(file.stem for file in folder.glob("*/*.ipynb") if file.stem == file.parent.name)
    if there:
        raise NetlabError(f"assignment {name!r}: {folder} has only {', '.join(there)}")
    raise NetlabError(
        f"assignment {name!r}: there is no {folder}: run this in the checkout of netlab, or name"
        " nbgrader's course folder with --course"
    )


def read(path):
    """The problem set of a source notebook.

    Raises
    ------
    NetlabError
        The source is broken: which cell, and how to mend it.
    """
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
        raise NetlabError(
            f"{path} is no notebook that can be read ({error}): open it in Jupyter and save it"
        ) from None
    try:
        return assignment(path.stem, notebook)
    except NetlabError as error:
        raise NetlabError(f"{path}: {error}") from None


def assignment(name, notebook):
    """The problem set that a source notebook's plain data are; see `read`."""
    cells, title = [], ""
    exercises, seen = [], set()
    for number, raw in enumerate(notebook["cells"], 1):
        where = f"cell {number}"
        said = raw["metadata"].get("nbgrader") or {}
        if said:
            where = f"cell {number} ({of_source.grade_id(name, said, where)})"
            if said["grade_id"] in seen:
                raise NetlabError(f"{where}: another cell has this grade_id; give it its own")
            seen.add(said["grade_id"])
        cell = of_source.read(raw, said, where)
        cells.append(cell)
        if cell.kind == "markdown" and (found := re.search(r"^#+ +(.+?) *$", cell.source, re.M)):
            title = found[1]
        if cell.role == "manual":
            exercises.append(Exercise(cell.id, cell.points, True, title, rubric=cell.model))
        elif cell.role == "check":
            answers = specification(cell.hidden, cell.points, where)
            exercises.append(Exercise(cell.id, cell.points, False, title, answers))
    if not exercises:
        raise NetlabError("no cell is graded: a problem set has at least one exercise")
    refuse_unanswered(exercises, cells)
    first = next((cell.source for cell in cells if cell.kind == "markdown"), "")
    minutes = re.search(r"(\d+)\s+minutes", first)
    heading = re.search(r"^#+ +(.+?) *$", first, re.M)
    return Assignment(
        name,
        heading[1] if heading else name,
        int(minutes[1]) if minutes else None,
        exercises,
        cells,
        notebook,
    )


def refuse_unanswered(exercises, cells):
    """Every name that is compared must be assigned somewhere in the solution."""
    assigned = set()
    for cell in cells:
        if cell.kind == "code":
            try:
                tree = ast.parse(cell.solved)
            except SyntaxError as error:
                raise NetlabError(
                    f"cell {cell.id or cell.source[:30]!r}: line {error.lineno} of its solution is"
                    f" no Python: {error.msg}"
                ) from None
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    assigned.add(node.id)
                elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                    assigned.add(node.name)
    for exercise in exercises:
        for name in exercise.answers:
            if name not in assigned:
                raise NetlabError(
                    f"cell {exercise.id}: no cell's solution assigns the answer {name!r}; correct"
                    " the name in its hidden tests or in the solution"
                )
