"""Notebooks as files: what cannot be read or written raises an error that names the file."""

from pathlib import Path

from netlab.engines import files
from netlab.errors import NetlabError, needs_notebooks
from netlab.readers._common import read_file

with needs_notebooks():
    import nbformat


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


def write(notebook, path):
    """Store a notebook, in the file that a link leads to."""
    text = nbformat.writes(notebook).rstrip("\n")
    files.write(Path(path).resolve(), f"{text}\n", remedy="make it writable, or work on a copy")


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
