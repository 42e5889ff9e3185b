"""A small problem set to begin from, which grades itself as it is: a number, a table that is
measured, and a text. What `netlab course new` writes.
"""

import re
from typing import Any

from netlab.errors import NetlabError

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}", re.ASCII)
INTRO = """# Problem set {name}: a title

**Time:** about 20 minutes. **Hand in** this notebook, with your id in the next cell and every \
answer cell filled in.

`my` holds your own network, and everybody has another one. Use its values where the text says \
`my`. Units are bit, byte and second. What you read from a run is compared to the last digit: do \
not round it, and take the network, times and seed that the text names."""
SETUP = """import pandas as pd

import netlab as nl

# your own numbers: between two ends, or one of a list
my = nl.course.mine(
    "{name}", student, rate=("10mbit", "20mbit"), delay=("20ms", "40ms"), streams=[2, 3, 4],
    seed=(1, 99_999),
)
my"""
BDP_TEXT = """## 1. How much does your path hold?

`bdp_bytes`: how many bytes a path of `my.rate` holds whose round-trip time is `my.delay`. \
(2 points)"""
BDP = """### BEGIN SOLUTION
bdp_bytes = nl.units.rate_bps(my.rate) * nl.units.delay_s(my.delay) / 8
### END SOLUTION"""
BDP_CHECK = """print("bdp_bytes:", nl.check_kind(lambda: bdp_bytes, "number", unit="byte"))
### BEGIN HIDDEN TESTS
# [bdp_bytes]
# unit = "byte"
# mistakes = {{"the delay is there and back already" = "2 * bdp_bytes"}}
### END HIDDEN TESTS"""
TABLE_TEXT = """## 2. One stream, and several

Measure on `nl.wan(my.rate, my.delay, pairs=1)`: iperf3 from h1 to h2 for 4 s, `seed=my.seed`, \
with one stream, and in another run with `my.streams`. `table` has a row for each run, and the \
columns `streams` and `goodput_bps` (what arrived, of all streams together). (3 points)"""
TABLE = """### BEGIN SOLUTION
path, counts = nl.wan(my.rate, my.delay, pairs=1), [1, my.streams]
runs = [nl.run(path, nl.Iperf3("h1", "h2", parallel=n, time=4), seed=my.seed) for n in counts]
goodput = [run.flows.received_bps[0] for run in runs]
table = pd.DataFrame({{"streams": counts, "goodput_bps": goodput}})
### END SOLUTION"""
TABLE_CHECK = """print("table:", nl.check_kind(lambda: table, "table"))
print("columns of table:", nl.check(
    lambda: list(table.columns), ["streams", "goodput_bps"], exact=True, plausible=True))
print("goodput in table, at most what the link carries:", nl.check_kind(
    lambda: max(table.goodput_bps), (0, nl.units.rate_bps(my.rate)), unit="bit/s"))
### BEGIN HIDDEN TESTS
# [table]
# exact = true
# mistakes = {{"what was sent, not what arrived" = "table.assign(goodput_bps=\
[run.flows.sent_bps[0] for run in runs])"}}
### END HIDDEN TESTS"""
WHY_TEXT = """## 3. Explain

Did more streams help? Say in three sentences what limits each of your two runs, with your \
numbers. (4 points, read by a person)"""
WHY = """### BEGIN SOLUTION
Both runs carry what the link carries. The receiver's window is larger than the \
bandwidth-delay product, so one stream fills the link alone, and several share it.

**Rubric.**
- 2 points: compares the window, or the measured rate, with the bandwidth-delay product
- 2 points: says that the link is the limit of both
### END SOLUTION"""
CELLS = (  # kind, the end of grade_id, text, nbgrader's flags
    ("markdown", "intro", INTRO, {"locked": True}),
    ("code", "name", 'student = ""  # <- your student id, as your course knows you', {}),
    ("code", "setup", SETUP, {"locked": True}),
    ("markdown", "bdp-text", BDP_TEXT, {"locked": True}),
    ("code", "bdp", BDP, {"solution": True}),
    ("code", "bdp-check", BDP_CHECK, {"grade": True, "locked": True, "points": 2}),
    ("markdown", "table-text", TABLE_TEXT, {"locked": True}),
    ("code", "table", TABLE, {"solution": True}),
    ("code", "table-check", TABLE_CHECK, {"grade": True, "locked": True, "points": 3}),
    ("markdown", "why-text", WHY_TEXT, {"locked": True}),
    ("markdown", "why", WHY, {"grade": True, "solution": True, "points": 4}),
)


def example(name: str) -> dict[str, Any]:
    """The source notebook of a small set, as plain data.

    Raises
    ------
    NetlabError
        The name cannot be a set's.

    Examples
    --------
    >>> len(example("ps9")["cells"])
    11
    """
    if not NAME.fullmatch(name):
        raise NetlabError(
            f"{name!r} cannot be the name of a set: write a letter, and then letters, digits or _,"
            " 31 at most, such as ps9"
        )
    cells = []
    for kind, end, text, flags in CELLS:
        about = {"grade": False, "solution": False, "locked": False, "task": False} | flags
        about |= {"grade_id": f"{name}-{end}", "schema_version": 3}
        cell = {"cell_type": kind, "id": about["grade_id"], "metadata": {"nbgrader": about}}
        cell["source"] = text.format(name=name)
        cells.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
