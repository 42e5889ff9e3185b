"""Code that is somebody else's with other names and comments is named; honest code that is alike,
as all code of a class is, is not.
"""

import json
import re

import pytest

from netlab.course.grading import neighbours, report
from netlab.course.grading.similar import LEAST_TOKENS, alike, similar, tokens, written
from netlab.course.handed_in.collect import Origin
from tests.course import problem_set
from tests.course.problem_set import cell
from tests.course.test_adapters import ASSIGNMENT, marks

SOLUTION = """
first_loss_s, peak, reductions = {}, {}, {}
for name, run in runs.items():
    rows = run.windows
    begins = rows[(rows.state == "recovery") & (rows.state.shift() != "recovery")]
    first_loss_s[name] = begins.time_s.iloc[0]
    peak[name] = rows.cwnd[rows.time_s < first_loss_s[name]].max()
    reductions[name] = len(begins)
"""
ADA = """
first_loss_s = {}
peak = {}
reductions = {}
for algorithm in ["reno", "cubic"]:
    w = runs[algorithm].windows
    losses = []
    before = ""
    for i, row in w.iterrows():  # a new recovery
        if row["state"] == "recovery" and before != "recovery":
            losses.append(row["time_s"])
        before = row["state"]
    first_loss_s[algorithm] = losses[0]
    peak[algorithm] = max(w[w["time_s"] < losses[0]]["cwnd"])
    reductions[algorithm] = len(losses)
"""
BOB = """
def begins(windows):
    inside = (windows["state"] == "recovery").astype(int)
    return windows[inside.diff() == 1]

first_loss_s = {k: float(begins(r.windows)["time_s"].min()) for k, r in runs.items()}
peak = {k: r.windows.query(f"time_s < {first_loss_s[k]}").cwnd.max() for k, r in runs.items()}
reductions = {k: begins(r.windows).shape[0] for k, r in runs.items()}
"""
CEM = """
def look(name):
    table = runs[name].windows
    shifted = table.state.shift(1)
    start = table.loc[(table.state == "recovery") & ~(shifted == "recovery"), "time_s"]
    t0 = start.values[0]
    early = table.loc[table.time_s < t0]
    return t0, early["cwnd"].max(), start.count()

found = {name: look(name) for name in runs}
first_loss_s = {name: f[0] for name, f in found.items()}
peak = {name: f[1] for name, f in found.items()}
reductions = {name: f[2] for name, f in found.items()}
"""
DAN = """
import itertools
first_loss_s, peak, reductions = dict(), dict(), dict()
for key in runs:
    frame = runs[key].windows
    groups = [list(g) for s, g in itertools.groupby(frame.index, lambda i: frame.state[i])
              if s == "recovery"]
    reductions[key] = len(groups)
    at = groups[0][0]
    first_loss_s[key] = frame.time_s[at]
    peak[key] = frame.cwnd[:at].max()
"""
EVE = """
import numpy as np
states = {name: np.array(run.windows.state == "recovery") for name, run in runs.items()}
edges = {name: np.flatnonzero(s[1:] & ~s[:-1]) + 1 for name, s in states.items()}
reductions = {name: edges[name].size for name in runs}
first_loss_s = {name: run.windows.time_s.to_numpy()[edges[name][0]] for name, run in runs.items()}
peak = {name: run.windows.cwnd.to_numpy()[: edges[name][0]].max() for name, run in runs.items()}
"""
HONEST = {"ada": ADA, "bob": BOB, "cem": CEM, "dan": DAN, "eve": EVE}
DISGUISE = {"losses": "z", "algorithm": "my_name", "before": "last", "row": "q", "new": "my own"}


def disguised(code):
    """With other names, comments, quotes and blanks."""
    for one, other in DISGUISE.items():
        code = re.sub(rf"\b{one}\b", other, code)
    return "# all my own work\n" + code.replace('"', "'").replace(" = ", "  =  ")


def named(codes, solution=SOLUTION):
    by_exercise = {name: {"ps9-check": code} for name, code in codes.items()}
    return alike(by_exercise, {"ps9-check": solution})


def test_different_honest_answers_are_not_named():
    assert all(len(tokens(code)) >= LEAST_TOKENS for code in HONEST.values())
    assert named(HONEST) == {}


@pytest.mark.parametrize("size", [2, 5])  # of the honest class
def test_a_copy_with_other_names_and_comments_is_named_on_both_sides(size):
    some = dict(sorted(HONEST.items())[:size])
    found = named(some | {"zoe": disguised(ADA)})
    assert found == {"ada": [("ps9-check", "zoe", 100)], "zoe": [("ps9-check", "ada", 100)]}


def test_a_copy_with_a_line_more_is_named_with_how_much_is_the_same():
    found = named(HONEST | {"zoe": f"{disguised(ADA)}print(peak)\n"})
    assert found["zoe"][0][:2] == ("ps9-check", "ada") and 90 <= found["zoe"][0][2] < 100


def test_short_answers_are_not_compared():
    short = "\n".join(ADA.strip().split("\n")[:5])
    assert 10 < len(tokens(short)) < LEAST_TOKENS
    assert named(HONEST | {"yan": short, "zoe": disguised(short)}) == {}


def test_who_wrote_what_the_solution_has_is_not_named():
    assert named(HONEST | {"yan": SOLUTION, "zoe": disguised(SOLUTION)}) == {}
    assert {*named(HONEST | {"yan": SOLUTION, "zoe": disguised(SOLUTION)}, DAN)} == {"yan", "zoe"}


def test_where_all_write_the_same_that_is_usual():
    assert named(dict.fromkeys(HONEST, ADA)) == {}


@pytest.mark.parametrize("text", ["", "(" * 300, "'" * 300, "f'{" * 100, "\x00\\", "it's ]"])
def test_what_is_no_python_is_compared_too(text):
    assert {*named(HONEST | {"yan": text, "zoe": disguised(ADA)})} == {"ada", "zoe"}


def test_what_was_handed_out_or_typed_on_a_node_is_nobodys_code():
    cells = [(one.id, one.kind, one.source) for one in ASSIGNMENT.cells]
    untouched = written(ASSIGNMENT, cells)
    assert {*untouched} == {"ps0-bdp-check", "ps0-rate-check"}
    assert [*untouched.values()] == ["", ""]
    own = [("", "code", "a = 1"), ("", "code", "%%on h1\nping h2"), ("", "markdown", "b = 2")]
    found = written(ASSIGNMENT, [*own, *cells, ("", "code", "late = 1")])
    assert found == untouched | {"ps0-bdp-check": "a = 1"}


def handed_in(folder, **codes):
    """The marks of some who handed these cells in, and their notebooks in a grader's folder."""
    (folder / "handed-in").mkdir()
    everybody = []
    for number, (student, code) in enumerate(codes.items()):
        notebook = json.loads(json.dumps(problem_set.source()))
        cell(notebook, "bdp")["source"] = code
        (folder / "handed-in" / f"{student}.ipynb").write_text(json.dumps(notebook))
        one = marks(student, (3, 3.5))
        everybody.append(one.but(origin=Origin("key", f"{number}", [], [])))
    return everybody


def test_the_flag_is_for_the_teacher_and_on_no_student_s_page(tmp_path):
    everybody = handed_in(tmp_path, **HONEST, zoe=disguised(ADA))
    (tmp_path / "handed-in/bob.ipynb").write_text("no notebook")
    (tmp_path / "handed-in/cem.ipynb").unlink()
    found = neighbours.flagged(everybody, similar(everybody, tmp_path, ASSIGNMENT))
    flags = {one.student: one.flags for one in found if one.flags}
    assert flags == {
        "ada": ["similar to zoe: ps0-bdp-check, 100 %"],
        "zoe": ["similar to ada: ps0-bdp-check, 100 %"],
    }
    assert [one.points for one in found] == [one.points for one in everybody]
    page = report.report(found, tmp_path).read_text()
    assert "similar to zoe: ps0-bdp-check, 100 %" in page
    for student, other in (("ada", "zoe"), ("zoe", "ada")):
        assert other not in (tmp_path / f"feedback/{student}.html").read_text()


def test_the_same_file_is_said_once_and_who_has_no_points_is_left_out(tmp_path):
    everybody = handed_in(tmp_path, **HONEST, zoe=disguised(ADA), yan=disguised(BOB))
    everybody[0] = everybody[0].but(origin=everybody[-2].origin)
    everybody[1] = marks("bob", (0, 0))
    found = neighbours.flagged(everybody, similar(everybody, tmp_path, ASSIGNMENT))
    flags = {one.student: one.flags for one in found if one.flags}
    assert flags == {"ada": ["same file as zoe"], "zoe": ["same file as ada"]}
