"""What an executed notebook found: the text of its cell that is tagged ``summary``."""

from netlab.cli.notebook_file import read
from netlab.errors import NetlabError


def summary(path):
    """The printed tables of that cell, a list of texts.

    Raises
    ------
    NetlabError
        There is no such cell, or it shows nothing.
    """
    cells = [cell for cell in read(path).cells if "summary" in cell.metadata.get("tags", [])]
    shown = [output.data for cell in cells for output in cell.outputs if "data" in output]
    texts = [data["text/plain"] for data in shown if "text/plain" in data]
    if not texts:
        what = (
            "its cell with the tag summary shows nothing: run it"
            if cells
            else (
                "none of its cells has the tag summary: name another notebook, or tag the cell that"
                " shows what it found"
            )
        )
        raise NetlabError(f"{path}: {what}")
    return texts
