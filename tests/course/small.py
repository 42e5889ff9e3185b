"""A small problem set that is cheap to grade, under the name of ps1: its source, what a student
gets, and what a good student hands in.
"""

import copy
import json

CODE = {
    "number": (
        2,
        "seventh = ...",
        "seventh = my.seed / 7",
        "nl.check(seventh)",
        "# [seventh]\n# exact = true",
    ),
    "bdp": (
        3,
        "",
        "def bdp_bytes(rate_bps, rtt_s):\n    return rate_bps * rtt_s / 8",
        'nl.check(bdp_bytes(10e9, 0.020), 25e6, "byte")',
        '# [bdp_bytes]\n# unit = "byte"\n# cases = [[1e9, 0.02], [5e7, 0.1]]',
    ),
    "table": (
        2,
        "import pandas as pd",
        'table = pd.DataFrame({"n": [1, 2, 3], "bytes": [my.seed / 7 * n for n in (1, 2, 3)]})',
        "nl.check(table)",
        "# [table]\n# exact = true",
    ),
    "run": (
        3,
        "",
        'run = nl.run(nl.wan("10mbit", "10ms", pairs=1), nl.Iperf3("h1", "h2", time=2), seed=1)\n'
        "received_bps = run.flows.received_bps.sum()",
        "nl.check(received_bps)",
        '# [received_bps]\n# unit = "bit/s"\n# exact = true'
        '\n# mistakes = {"what was sent, not what arrived" = "run.flows.sent_bps.sum()"}',
    ),
}
SECRET_OF_SOLUTION = "canary-of-the-solution"
POINTS = sum(points for points, *_ in CODE.values())


def about(name, points=None, **flags):
    """nbgrader's metadata of a cell."""
    said = {"schema_version": 3, "grade_id": f"ps1-{name}", "task": False}
    said |= {"grade": False, "solution": False, "locked": False} | flags
    return {"nbgrader": said | ({"points": points} if points else {})}


def source():
    """The source, as plain data."""
    cells = [
        ("markdown", "# A small set\n\nAbout 5 minutes.", {}),
        ("code", 'student = ""  # <- your student id', about("name")),
        (
            "code",
            'import netlab as nl\nmy = nl.course.mine("ps1", student)\nmy',
            about("setup", locked=True),
        ),
    ]
    for name, (points, given, solution, check, hidden) in CODE.items():
        solution = f"# {SECRET_OF_SOLUTION}\n{solution}"
        text = f"{given}\n### BEGIN SOLUTION\n{solution}\n### END SOLUTION".strip()
        cells.append(("markdown", f"## {name}\n\nWrite it.", about(f"{name}-text", locked=True)))
        cells.append(("code", text, about(name, solution=True)))
        text = f"{check}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
        cells.append(("code", text, about(f"{name}-check", points=points, grade=True, locked=True)))
    text = (
        "### BEGIN SOLUTION\nThe window.\n\n**Rubric.**\n- 4 points: the window\n### END SOLUTION"
    )
    cells.append(("markdown", text, about("why", points=4, grade=True, solution=True)))
    made = [
        {"id": f"cell-{number}", "cell_type": kind, "metadata": metadata, "source": text}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for number, (kind, text, metadata) in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def write(folder):
    """A course folder with the source in it; -> the source's path."""
    path = folder / "source" / "ps1" / "ps1.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(source()))
    return path


def handed_out(assignment):
    """The students' notebook, without nbgrader."""
    notebook = copy.deepcopy(assignment.notebook)
    for raw, cell in zip(notebook["cells"], assignment.cells, strict=True):
        raw["source"] = cell.source
    return notebook


def cell(notebook, name):
    """A cell by the end of its grade_id."""
    (found,) = [
        one
        for one in notebook["cells"]
        if one["metadata"].get("nbgrader", {}).get("grade_id") == f"ps1-{name}"
    ]
    return found
