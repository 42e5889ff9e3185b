"""The solution of a problem set for one student, run with that student's numbers."""

import json
import os
import tempfile
from pathlib import Path
from unittest.mock import patch

from netlab.course import ids
from netlab.course.own_numbers import COURSE
from netlab.course.sets import source
from netlab.errors import NetlabError, needs_notebooks

RUBRIC = "**Rubric.**"  # begins what a model answer is worth


def own_solution(assignment, student, secret=None):
    """A student's own solution, with outputs, and a page of it: file name -> bytes.

    Raises
    ------
    NetlabError
        The id is not valid, or a cell of the solution fails.
    """
    notebook, student = assignment.solution(), ids.normalised(student)
    for raw, cell in zip(notebook["cells"], assignment.cells, strict=True):
        if cell.id == f"{assignment.name}-name":
            raw["source"] = f"student = {student!r}"
        elif cell.model:
            raw["source"] = raw["source"].partition(RUBRIC)[0].rstrip()
    with tempfile.TemporaryDirectory(prefix="netlab-") as folder:
        if secret is not None:
            Path(folder, COURSE).write_text(json.dumps({"secret": secret}), encoding="utf-8")
        path = Path(folder, f"{assignment.name}.ipynb")
        path.write_text(source.text(executed(notebook, folder, student)), encoding="utf-8")
        from netlab.cli.pages import pages

        (page,) = pages([path], Path(folder, "page"))
        return {one.name: one.read_bytes() for one in (path, page)}


def executed(notebook, folder, student):
    """A notebook as it is after all its cells have run in a folder, as plain data."""
    with needs_notebooks():
        import nbclient
        import nbformat
        from traitlets.config import Config

    # sockets in this folder, which nobody else can open, in place of ports of this machine
    kernel = {"transport": "ipc", "connection_file": str(Path(folder, "kernel.json"))}
    client = nbclient.NotebookClient(
        nbformat.from_dict(notebook),
        timeout=None,
        kernel_name="python3",
        record_timing=False,
        config=Config(KernelManager=kernel),
        resources={"metadata": {"path": folder}},
    )
    environment = {"NETLAB_STUDENT": student, "NETLAB_PROGRESS": "off", "NETLAB_RECORD": "off"}
    try:
        with patch.dict(os.environ, environment):
            ran = client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        raise NetlabError(
            f"the solution fails for {student!a}: {error.ename}: {error.evalue}"
        ) from None
    except Exception as error:  # no kernel, or one that died
        raise NetlabError(
            f"the solution cannot be run ({type(error).__name__}: {error}): does a notebook run"
            " here in Jupyter?"
        ) from error
    ran.metadata.pop("language_info", None)
    return json.loads(json.dumps(ran))
