"""A small problem set that is cheap to grade, under the name of ps1: its source, what a student
gets, and what a good student hands in.
"""

from functools import partial

from tests.course import problem_set
from tests.course.problem_set import CHECK, LOCKED, cell  # noqa: F401

CODE = {
    "number": (
        2,
        "seventh = ...",
        "seventh = my.seed / 7",
        "nl.check_kind(lambda: seventh)",
        "# [seventh]\n# exact = true",
    ),
    "bdp": (
        3,
        "",
        "def bdp_bytes(rate_bps, rtt_s):\n    return rate_bps * rtt_s / 8",
        'nl.check(lambda: bdp_bytes, 25e6, "byte", call=[10e9, 0.020])',
        '# [bdp_bytes]\n# unit = "byte"\n# cases = [[1e9, 0.02], [5e7, 0.1]]',
    ),
    "table": (
        2,
        "import pandas as pd",
        'table = pd.DataFrame({"n": [1, 2, 3], "bytes": [my.seed / 7 * n for n in (1, 2, 3)]})',
        "nl.check_kind(lambda: table)",
        "# [table]\n# exact = true",
    ),
    "run": (
        3,
        "",
        'run = nl.run(nl.wan("10mbit", "10ms", pairs=1), nl.Iperf3("h1", "h2", time=2), seed=1)\n'
        "received_bps = run.flows.received_bps.sum()",
        "nl.check_kind(lambda: received_bps)",
        '# [received_bps]\n# unit = "bit/s"\n# exact = true'
        '\n# mistakes = {"what was sent, not what arrived" = "run.flows.sent_bps.sum()"}',
    ),
}
NUMBERS = {"seed": (1, 99_999)}
SECRET_OF_SOLUTION = "canary-of-the-solution"
POINTS = sum(points for points, *_ in CODE.values())


about = partial(problem_set.said, of="ps1")


def source():
    setup = 'import netlab as nl\nmy = nl.course.mine("ps1", student, seed=(1, 99_999))\nmy'
    cells = [
        ("markdown", "# A small set\n\nAbout 5 minutes.", {}),
        ("code", 'student = ""  # <- your student id', about("name")),
        ("code", setup, about("setup", **LOCKED)),
    ]
    for name, (points, given, solution, check, hidden) in CODE.items():
        solution = f"# {SECRET_OF_SOLUTION}\n{solution}"
        text = f"{given}\n### BEGIN SOLUTION\n{solution}\n### END SOLUTION".strip()
        hidden = f"{check}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
        cells += [
            ("markdown", f"## {name}\n\nWrite it.", about(f"{name}-text", **LOCKED)),
            ("code", text, about(name, solution=True)),
            ("code", hidden, about(f"{name}-check", points, **CHECK)),
        ]
    text = "The window.\n\n**Rubric.**\n- 4 points: the window"
    text = f"### BEGIN SOLUTION\n{text}\n### END SOLUTION"
    cells.append(("markdown", text, about("why", 4, grade=True, solution=True)))
    return problem_set.notebook(cells)


def write(folder):
    """A course folder with the source in it; -> the source's path."""
    return problem_set.write(folder, "ps1", source())
