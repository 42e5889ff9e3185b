"""Marks for nbgrader: into gradebook.db of a course folder, and the notebooks as they were graded
into autograded/, for its formgrader, `nbgrader export` and `nbgrader generate_feedback`. What
people marked in the formgrader stays. And two steps for notebooks/assignments/nbgrader_config.py.

What students wrote in words is shown as text, in a block of code: their Markdown, HTML and formulas
do nothing in a teacher's browser, and pictures that they pasted are not shown.
"""

import contextlib
import copy
import functools
import os
import sys
from pathlib import Path

from netlab.course.adapters import for_each
from netlab.course.adapters.results import feedback, remarks
from netlab.course.grading.work import place
from netlab.course.handed_in import repair
from netlab.course.own_numbers import mark_of, secret
from netlab.course.sets import regions, source
from netlab.course.texts import as_code
from netlab.engines import files
from netlab.errors import NetlabError, needs_notebooks

with needs_notebooks("course", "what makes and grades problem sets"):
    import nbformat
    from nbgrader import preprocessors as of_nbgrader
    from nbgrader.api import Gradebook
    from nbgrader.converters.base import NbGraderException
    from nbgrader.utils import parse_utc
    from sqlalchemy.exc import SQLAlchemyError

RECORDING = [  # of generate_assignment, up to where it records what it found, in its order
    "LockCells",
    "ClearSolutions",
    "ClearOutput",
    "CheckCellMetadata",
    "ComputeChecksums",
    "SaveCells",
]
KEPT = "timestamp.txt", "submission_secret.txt"  # of `collect`, for `release_feedback`
PLACE = "{stage}/{student}/{name}"


def write(marks, work, output, course):
    """Write marks into nbgrader's course folder `output`; `course` has the source."""
    name = marks[0].assignment
    home = output if (output / "source").is_dir() else None
    assignment = source.read(source.find(name, course or home))
    database = output / "gradebook.db"
    is_database = files.begins_as(lambda head: head.startswith(b"SQLite format 3\0"))
    files.check(database, "--output", is_database)
    made = not database.exists()
    output.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{database.absolute()}"
    try:
        record(assignment, url)
    except SQLAlchemyError as error:
        if made:
            database.unlink(missing_ok=True)
        why = " ".join(str(error.__cause__ or error).split())
        raise NetlabError(f"--output {database}: {why}; name another place") from error
    with Gradebook(url) as gradebook:
        put = functools.partial(write_one, gradebook, assignment, work, output)
        for_each(marks, put, gradebook.db.rollback)


def write_one(gradebook, assignment, work, output, marks):
    name, student = assignment.name, marks.student
    if student in (".", "..") or set("/\\\0<>&\"'") & set(student):
        raise NetlabError(
            f"nbgrader cannot have the id {student!a}: rename the folder, without < > & and quotes"
        )
    folder = output / PLACE.format(stage="autograded", student=student, name=name)
    handed_in = output / PLACE.format(stage="submitted", student=student, name=name)
    cells = repair.cells_of(place(work, "handed-in", marks.file), assignment)
    notebook = autograded(assignment, cells, marks)
    files.write(folder / f"{name}.ipynb", source.text(notebook), "--output")
    kept = {file: collected(handed_in / file, output / "submitted") for file in KEPT}
    for file, data in kept.items():
        if data:
            files.write(folder / file, data, "--output")
    enter(gradebook, assignment, marks, cells, timestamp(kept[KEPT[0]]))


def record(assignment, url):
    """Record a problem set and its cells in a gradebook."""
    with alembic_found(), Gradebook(url) as gradebook:
        gradebook.update_or_create_assignment(assignment.name)
    notebook = nbformat.from_dict(copy.deepcopy(assignment.notebook))
    about = {"notebook": assignment.name, "assignment": assignment.name, "db_url": url}
    resources = {"nbgrader": about}
    try:
        for step in RECORDING:
            notebook, resources = getattr(of_nbgrader, step)().preprocess(notebook, resources)
    except RuntimeError as error:  # cells came or went, and there are submissions
        raise NetlabError(
            f"{url.removeprefix('sqlite:///')} has another {assignment.name}, and marks for it:"
            f" {error}. Export to another folder, or remove the set there"
            f" (`nbgrader db assignment remove {assignment.name}`)"
        ) from error


@contextlib.contextmanager
def alembic_found():
    """nbgrader calls the program alembic, which stands beside this Python, by its name."""
    before = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def collected(path, submitted):
    """What `collect` left beside a notebook; nothing, where somebody put a link or a pipe there."""
    try:
        return files.read_below(path, submitted)
    except OSError:
        return b""


def timestamp(text):
    """When something was handed in, if nbgrader knows."""
    try:
        return parse_utc(text.decode().strip() or None)
    except (ValueError, OverflowError):
        return None


def autograded(assignment, cells, marks):
    """The notebook that people see in the formgrader: below each check is what came of it."""
    origin = zip(assignment.notebook["cells"], assignment.cells, strict=True)
    origin = {cell.id: (raw, cell) for raw, cell in origin if cell.id}
    said = {each.id: feedback(each) for each in marks.exercises}
    notebook = {key: assignment.notebook[key] for key in ("metadata", "nbformat", "nbformat_minor")}
    words = f"{marks.points:g} of {marks.max_points:g} points.\n{remarks(marks)}"
    new = [{"cell_type": "markdown", "metadata": {}, "source": as_code(words)}]
    for cell in cells:
        raw, courses = {"cell_type": cell.kind, "metadata": {}, "source": cell.source}, False
        if cell.id:
            theirs, of_source = origin[cell.id]
            raw["metadata"] = copy.deepcopy(theirs["metadata"])
            courses = of_source.role == "locked" or cell.source == of_source.source
            if of_source.role != "free":
                raw["metadata"]["nbgrader"] |= {
                    "checksum": of_source.checksum,
                    "cell_type": of_source.kind,
                }
        if cell.kind != "code":
            if not courses:  # a raw cell's text would be taken for HTML
                raw |= {"cell_type": "markdown", "source": as_code(cell.source)}
        else:
            text = said.get(cell.id)
            stream = {"output_type": "stream", "name": "stdout", "text": text}
            raw |= {"execution_count": None, "outputs": [stream] if text else []}
        new.append(raw)
    if notebook["nbformat_minor"] >= 5:
        new = [{**raw, "id": f"cell-{number}"} for number, raw in enumerate(new)]
    return copy.deepcopy(notebook | {"cells": new})


def enter(gradebook, assignment, marks, cells, when):
    """Enter a student's marks, as autograde does."""
    name, student = assignment.name, marks.student
    gradebook.update_or_create_student(student)
    said = {"timestamp": when} if when else {}
    with gradebook.db.no_autoflush:
        gradebook.update_or_create_submission(name, student, **said)
    points = {each.id: each.points for each in (*marks.exercises, *marks.manual)}
    given = {cell.id: cell.source for cell in cells}
    for cell in assignment.cells:
        if cell.role not in ("check", "manual"):
            continue
        grade = gradebook.find_grade(cell.id, name, name, student)
        untouched = repair.same(given.get(cell.id, ""), cell.source) or not given.get(cell.id)
        if cell.role == "check":
            grade.auto_score = points.get(cell.id, 0)
        else:
            grade.auto_score = 0 if untouched else None
            comment = gradebook.find_comment(cell.id, name, name, student)
            comment.auto_comment = "No response." if untouched else None
            if points.get(cell.id) is not None:
                grade.manual_score = points[cell.id]
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
    notebook = gradebook.find_submission_notebook(name, name, student)
    notebook.late_submission_penalty = round(marks.earned - marks.in_all, 6) or None
    gradebook.db.commit()


class Contents(of_nbgrader.NbGraderPreprocessor):
    """The last step of `nbgrader generate_assignment`: metadata as of `course release`."""

    def preprocess(self, notebook, resources):
        said = [(cell, cell.metadata.get("nbgrader")) for cell in notebook.cells]
        notebook.metadata["netlab"] = {
            "assignment": resources["nbgrader"]["assignment"],
            "cells": [
                [about["grade_id"], regions.checksum(cell.source, cell.cell_type, about)]
                for cell, about in said
                if about
            ],
            "secret": mark_of(secret(resources["metadata"]["path"])),
        }
        return notebook, resources


class Refuse(of_nbgrader.NbGraderPreprocessor):
    """The first step of `nbgrader autograde`, which would give each check full points."""

    def preprocess(self, notebook, resources):
        name = resources["nbgrader"]["assignment"]
        raise NbGraderException(
            f"{name} is graded by `netlab course grade {name} submitted --course .`; then"
            f" `netlab course export {name} {name}-marks --to nbgrader -o .` shows the marks here"
        )
