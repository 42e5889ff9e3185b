"""Notebooks as files: what cannot be read or written raises an error that names the file."""

from pathlib import Path

from netlab.engines import files
from netlab.errors import NetlabError, needs_notebooks
from netlab.readers._common import read_file

with needs_notebooks():
    import nbformat


def read(path):
    """A notebook; what is none raises a `NetlabError` that names the file."""
    try:
        notebook = nbformat.reads(read_file(path).decode(), as_version=4)
        nbformat.validate(notebook, relax_add_props=True)
    except OSError as error:
        raise NetlabError(f"{path} cannot be read: {error.strerror}") from error
    except Exception as error:  # what nbformat stumbles over has many names
        said = " ".join(str(error).split())[:200]
        raise NetlabError(
            f"{path} is no notebook that can be read ({said}): open it in Jupyter and save it"
            " there, or name another file"
        ) from error
    return notebook


def write(notebook, path):
    """Store a notebook, in the file that a link leads to; a `NetlabError` says why, where that is
    not possible.
    """
    text = nbformat.writes(notebook)
    text = text if text.endswith("\n") else f"{text}\n"
    files.write(Path(path).resolve(), text, remedy="make it writable, or work on a copy")
