"""What an executed notebook found: the text of its cell that is tagged ``summary``."""

from netlab.errors import needs_notebooks

with needs_notebooks():
    import nbformat


def summary(path):
    """The printed tables of that cell, each as text."""
    for cell in nbformat.read(path, as_version=4).cells:
        if "summary" in cell.metadata.get("tags", []):
            yield from (output.data["text/plain"] for output in cell.outputs if "data" in output)
