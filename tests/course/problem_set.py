"""A small problem set, ps0, for tests that need a source."""

import json
import os
import subprocess
import sys
from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from typer.testing import CliRunner

from netlab.cli.commands import app
from netlab.course.invented import grade_id

BDP = """def bdp_bytes(rate_bps, rtt_s):
    ### BEGIN SOLUTION
    return rate_bps * rtt_s / 8
    ### END SOLUTION"""
BDP_CHECK = """nl.check(lambda: bdp_bytes, 25e6, "byte", call=[10e9, 0.020])
### BEGIN HIDDEN TESTS
# [bdp_bytes]
# unit = "byte"
# cases = [[1e9, 0.02], [5e7, 0.1]]
### END HIDDEN TESTS"""
RATE = """# the goodput of your own flow
### BEGIN SOLUTION
my_flow = [100, 200]
goodput_bps = my_flow[1] * 1e6
share = 0.125
### END SOLUTION"""
RATE_CHECK = """nl.check_kind(lambda: goodput_bps)
### BEGIN HIDDEN TESTS
# [goodput_bps]
# unit = "bit/s"
# exact = true
# points = 2
# mistakes = {"what was sent" = "my_flow[0] * 1e6"}
#
# [share]
# within = 0.05
# points = 1.5
### END HIDDEN TESTS"""
EXPLAIN = """### BEGIN SOLUTION
The window is the model answer's limit.

**Rubric.**
- 2 points: names the window
- 2 points: says what would help
### END SOLUTION"""


LOCKED = {"locked": True}
CHECK = {"grade": True, "locked": True}


def said(name, points=None, of="ps0", **flags):
    """nbgrader's metadata of a cell."""
    about = {"schema_version": 3, "grade_id": f"{of}-{name}", "task": False}
    about |= {"grade": False, "solution": False, "locked": False} | flags
    return {"nbgrader": about | ({"points": points} if points else {})}


def notebook(cells):
    """A notebook of nbformat, from the kind, the source and the metadata of its cells."""
    make = {"code": new_code_cell, "markdown": new_markdown_cell}
    made = [make[kind](text, metadata=metadata) for kind, text, metadata in cells]
    for number, cell in enumerate(made):
        cell["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=made, metadata={"kernelspec": kernel})


def source():
    """The source of ps0, as a notebook of nbformat."""
    made = notebook(
        [
            ("markdown", "# A first set\n\nAbout 30 minutes. Hand in ps0.ipynb.", {}),
            ("code", 'student = ""  # <- your student id', said("name")),
            ("code", "import numpy as np\n40 + 2", said("setup", **LOCKED)),
            ("markdown", "## The pipe\n\nWrite `bdp_bytes`.", said("bdp-text", **LOCKED)),
            ("code", BDP, said("bdp", solution=True)),
            ("code", BDP_CHECK, said("bdp-check", 3, **CHECK)),
            ("markdown", "## A flow\n\nRead it off.", said("rate-text", **LOCKED)),
            ("code", RATE, said("rate", solution=True)),
            ("code", RATE_CHECK, said("rate-check", 3.5, **CHECK)),
            ("markdown", "## Why?\n\nThree sentences.", said("explain-text", **LOCKED)),
            ("markdown", EXPLAIN, said("explain", 4, grade=True, solution=True)),
        ]
    )
    made.cells[4].outputs = [new_output("stream", text="a solution's stored output\n")]
    return made


def write(folder, name="ps0", made=None):
    """A course folder with the source of ps0, or of another, whose cells' texts are each in one
    piece; -> the source's path.
    """
    path = folder / "source" / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(made or source()))
    return path


def hand_in(folder, student, notebook, name="ps1"):
    """Write a notebook, or its bytes, where the grader looks for it; -> its path."""
    path = folder / student / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode())
    return path


def cell(notebook, name):
    """A cell by the end of its grade_id."""
    (found,) = [one for one in notebook["cells"] if grade_id(one).partition("-")[2] == name]
    return found


def course(*words):
    """What `netlab course` prints with these words; it raises what went wrong."""
    ran = CliRunner().invoke(app, ["course", *map(str, words)])
    if ran.exception:
        raise ran.exception
    return ran.output


def of_nbgrader(folder, *words):
    """Run a command of nbgrader's in its course folder."""
    home = str(Path(sys.executable).parent)  # nbgrader calls alembic by its name
    subprocess.run(
        [sys.executable, "-m", "nbgrader", *words],
        cwd=folder,
        env={**os.environ, "PATH": home + os.pathsep + os.environ["PATH"]},
        check=True,
        capture_output=True,
        text=True,
    )
