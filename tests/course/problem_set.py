"""A small problem set, ps0, for tests that need a source."""

import copy

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

BDP = """def bdp_bytes(rate_bps, rtt_s):
    ### BEGIN SOLUTION
    return rate_bps * rtt_s / 8
    ### END SOLUTION"""
BDP_CHECK = """nl.check(bdp_bytes(10e9, 0.020), 25e6, "byte")
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
RATE_CHECK = """nl.check(goodput_bps)
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


def said(name, points=None, grade=False, solution=False, locked=False):
    """nbgrader's metadata of a cell."""
    about = {"schema_version": 3, "grade_id": f"ps0-{name}", "task": False}
    about |= {"grade": grade, "solution": solution, "locked": locked}
    return {"nbgrader": about | ({"points": points} if points else {})}


def source():
    """The source of ps0, as a notebook of nbformat."""
    text, code = new_markdown_cell, new_code_cell
    cells = [
        text("# A first set\n\nAbout 30 minutes. Hand in ps0.ipynb.", metadata={}),
        code('student = ""  # <- your student id', metadata=said("name")),
        code("import numpy as np\n40 + 2", metadata=said("setup", locked=True)),
        text("## The pipe\n\nWrite `bdp_bytes`.", metadata=said("bdp-text", locked=True)),
        code(BDP, metadata=said("bdp", solution=True)),
        code(BDP_CHECK, metadata=said("bdp-check", 3, grade=True, locked=True)),
        text("## A flow\n\nRead it off.", metadata=said("rate-text", locked=True)),
        code(RATE, metadata=said("rate", solution=True)),
        code(RATE_CHECK, metadata=said("rate-check", 3.5, grade=True, locked=True)),
        text("## Why?\n\nThree sentences.", metadata=said("explain-text", locked=True)),
        text(EXPLAIN, metadata=said("explain", 4, grade=True, solution=True)),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    cells[4].outputs = [new_output("stream", text="a solution's stored output\n")]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return copy.deepcopy(new_notebook(cells=cells, metadata={"kernelspec": kernel}))


def write(folder):
    """A course folder with the source of ps0; -> the source's path."""
    path = folder / "source" / "ps0" / "ps0.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(source(), path)
    return path
