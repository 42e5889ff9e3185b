"""The solution of a problem set for one student, run with that student's numbers."""

import json
import tempfile
from pathlib import Path

from netlab.cli.notebook_file import execute, read, write
from netlab.cli.pages import pages
from netlab.course import ids
from netlab.course.own_numbers import COURSE
from netlab.course.sets import source

RUBRIC = "**Rubric.**"  # begins what a model answer is worth


def own_solution(assignment, student, secret=None):
    """A student's own solution, with outputs, and a page of it: file name -> bytes.

    Raises
    ------
    NetlabError
        The id is not valid, or a cell of the solution fails.
    """
    notebook, student = assignment.solution(), ids.normalised(student)
    notebook["metadata"].pop("kernelspec", None)  # it is run with this Python
    for raw, cell in zip(notebook["cells"], assignment.cells, strict=True):
        if cell.id == f"{assignment.name}-name":
            raw["source"] = f"student = {student!r}"
        elif cell.model:
            raw["source"] = raw["source"].partition(RUBRIC)[0].rstrip()
    with tempfile.TemporaryDirectory(prefix="netlab-") as folder:
        if secret is not None:
            Path(folder, COURSE).write_text(json.dumps({"secret": secret}), encoding="utf-8")
        path = Path(folder, f"{assignment.name}.ipynb")
        path.write_text(source.text(notebook), encoding="utf-8")
        name = f"the solution for {student!a}"
        ran = execute(read(path), name, folder, NETLAB_STUDENT=student, NETLAB_RECORD="off")
        ran.metadata.pop("language_info", None)
        write(ran, path)
        (page,) = pages([path], Path(folder, "page"))
        return {one.name: one.read_bytes() for one in (path, page)}
