"""nbgrader's Validate, which runs in the student's Jupyter, calls no notebook right."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.course.problem_set import said

validator = pytest.importorskip("nbgrader.validator")


def test_validate_says_that_it_cannot_tell(tmp_path):
    setup = new_code_cell("import netlab as nl\nanswer = 5", metadata=said("setup", locked=True))
    check = new_code_cell(
        'print("answer:", nl.check_kind(answer, "number"))',
        metadata=said("check", 3, grade=True, locked=True),
    )
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=[setup, check], metadata={"kernelspec": kernel})
    nbformat.write(notebook, tmp_path / "ps0.ipynb")
    found = validator.Validator(ignore_checksums=True).validate(str(tmp_path / "ps0.ipynb"))
    (failed,) = found["failed"]
    assert failed["raw_error"].startswith("Validate cannot tell")
    assert "netlab course check" in failed["raw_error"] and "Traceback" not in failed["raw_error"]
    assert max(map(len, failed["raw_error"].splitlines())) < 84  # nbgrader cuts the rest
