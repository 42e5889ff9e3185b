"""Two steps of nbgrader's, which notebooks/assignments/nbgrader_config.py puts among its own."""

from netlab.course.own_numbers import mark_of, secret
from netlab.course.sets import regions
from netlab.errors import needs_notebooks

with needs_notebooks("course", "what makes and grades problem sets"):
    from nbgrader.converters.base import NbGraderException
    from nbgrader.preprocessors import NbGraderPreprocessor


class Contents(NbGraderPreprocessor):
    """The last step of `nbgrader generate_assignment`: what a released notebook says of itself, as
    with `netlab course release`, so that `netlab course check` can look whether it is all there.
    """

    def preprocess(self, notebook, resources):
        cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
        notebook.metadata["netlab"] = {
            "assignment": resources["nbgrader"]["assignment"],
            "cells": [
                [
                    cell.metadata.nbgrader["grade_id"],
                    regions.checksum(cell.source, cell.cell_type, cell.metadata.nbgrader),
                ]
                for cell in cells
            ],
            "secret": mark_of(secret(resources["metadata"]["path"])),
        }
        return notebook, resources


class Refuse(NbGraderPreprocessor):
    """The first step of `nbgrader autograde`, which would give every check that raises no error
    full points.
    """

    def preprocess(self, notebook, resources):
        name = resources["nbgrader"]["assignment"]
        raise NbGraderException(
            f"{name} is graded by `netlab course grade {name} submitted --course .`; then"
            f" `netlab course export {name} {name}-marks --to nbgrader -o .` shows the marks here"
        )
