"""What an executed notebook found: the text of its cell that is tagged ``summary``."""

from netlab.cli.notebook_file import read


def summary(path):
    """The printed tables of that cell, each as text."""
    for cell in read(path).cells:
        if "summary" in cell.metadata.get("tags", []):
            yield from (output.data["text/plain"] for output in cell.outputs if "data" in output)
