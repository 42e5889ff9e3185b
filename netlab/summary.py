"""Print what the cell tagged ``summary`` of an executed notebook shows: ``python -m netlab.summary NOTEBOOK``."""

import sys

import nbformat

for cell in nbformat.read(sys.argv[1], as_version=4).cells:
    if "summary" in cell.metadata.get("tags", []):
        print(*(output.data["text/plain"] for output in cell.outputs if "data" in output), sep="\n")
