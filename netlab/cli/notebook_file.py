"""Notebooks as files: what cannot be read, run or written raises an error that names the file."""

import os
import tempfile
from pathlib import Path
from unittest.mock import patch

from netlab.engines import files
from netlab.errors import NetlabError, needs_notebooks
from netlab.readers._common import read_file

with needs_notebooks():
    import nbclient
    import nbformat
    from traitlets.config import Config

LONGEST_FOLDER = 60  # characters: those of a socket's whole path are at most 107
QUIET = {"NETLAB_PROGRESS": "off", "PLOTLY_RENDERER": "plotly_mimetype"}


def read(path):
    """A notebook of any version, as nbformat 4; else a `NetlabError`."""
    try:
        notebook = nbformat.reads(read_file(path).decode(), as_version=4)
        nbformat.validate(notebook, relax_add_props=True)
    except OSError as error:
        raise NetlabError(f"{path} cannot be read: {error.strerror}") from error
    except Exception as error:  # nbformat raises errors of many classes
        said = " ".join(str(error).split())[:200]
        raise NetlabError(
            f"{path} is no notebook that can be read ({said}): open it in Jupyter and save it"
            " there, or name another file"
        ) from error
    return notebook


def text(notebook):
    """What the file of a notebook has in it."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def write(notebook, path):
    """Store a notebook, in the file that a link leads to."""
    remedy = "make it writable, or work on a copy"
    files.write(Path(path).resolve(), text(notebook), remedy=remedy)


def execute(notebook, name, folder, **environment):
    """Run all cells in a folder, with these environment variables, too; -> the same notebook.

    Errors begin with `name`.
    """
    failed = []  # numbers of cells
    short = None if len(tempfile.gettempdir()) < LONGEST_FOLDER else "/tmp"
    with tempfile.TemporaryDirectory(prefix="netlab-", dir=short) as own:
        # sockets in a folder that nobody else can open, in place of ports of this machine
        kernel = {"transport": "ipc", "connection_file": f"{own}/kernel.json"}
        client = nbclient.NotebookClient(
            notebook,
            timeout=None,
            raise_on_iopub_timeout=True,
            record_timing=False,
            on_cell_error=lambda cell_index, **_: failed.append(cell_index + 1),
            config=Config(KernelManager=kernel),
            resources={"metadata": {"path": str(folder)}},
        )
        try:
            with patch.dict(os.environ, QUIET | environment):
                return client.execute()
        except nbclient.exceptions.CellExecutionError as error:
            said = f"{error.ename}: {error.evalue}"
            raise NetlabError(f"{name}, cell {failed[-1]}: {said}. Nothing is stored.") from None
        except Exception as error:  # no kernel of that name, one that died, ...
            raise NetlabError(
                f"{name} cannot be run ({type(error).__name__}: {error}): run it in Jupyter first,"
                " and save it there"
            ) from error


def summary(path):
    """What an executed notebook found: the texts shown by its cells that are tagged ``summary``."""
    cells = [cell for cell in read(path).cells if "summary" in cell.metadata.get("tags", [])]
    shown = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    if texts := [data["text/plain"] for data in shown if "text/plain" in data]:
        return texts
    if cells:
        raise NetlabError(f"{path}: its cell with the tag summary shows nothing: run it")
    raise NetlabError(
        f"{path}: none of its cells has the tag summary: name another notebook, or tag the cell"
        " that shows what it found"
    )
