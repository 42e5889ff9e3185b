"""Lines that are right on a student's machine, and for which the grader has nothing: whatever else
the cell does counts, and where it does not, the page names the cell.
"""

import json

import pytest

from netlab.course.grading import recipe, runs, solution
from netlab.course.sets import source
from tests import cases
from tests.course import small

HARMLESS = {
    "number": "%pip install scipy\n!pip install scipy\n%conda install scipy\n!!ls",
    "bdp": "files = !ls\nprint(files)\nget_ipython().system('ls')\nexit()",
    "table": "import plotly.graph_objects as go\nfig = go.FigureWidget()\nfig.show()\ndisplay(fig)",
    "run": "import os, subprocess\nos.system('ls')\nquit",
}
ENDS = "os._exit(1)", "os.kill(os.getpid(), 9)"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    assignment, kept = source.read(small.write(folder)), runs.Runs(folder / "runs")
    ((_, right, failure),) = solution.reference(assignment, ["ada"], kept)
    assert not failure

    def grade(lines):
        """The marks of a solution with these lines in its cells, before the answers."""
        notebook = assignment.solution()
        small.cell(notebook, "name")["source"] = 'student = "ada"'
        for name, text in lines.items():
            cell = small.cell(notebook, name)
            cell["source"] = f"{text}\n{cell['source']}"
        return recipe.grade(json.dumps(notebook).encode(), "ada", assignment, right, kept)

    return grade


def hints(marks):
    answers = [answer for exercise in marks.exercises for answer in exercise.answers]
    return {one.name: one.hint for one in answers if one.share < 1}


def test_commands_and_shown_figures_cost_nothing(graded):
    marks = graded(HARMLESS)
    assert (marks.points, hints(marks), marks.flags) == (small.POINTS, {}, [])


@pytest.mark.parametrize("line", cases(ENDS))
def test_what_ends_the_notebook_is_named_and_what_came_before_counts(graded, line):
    marks = graded({"table": f"import os\n{line}"})
    assert marks.points == 5 and hints(marks).keys() == {"table", "received_bps"}
    assert 'the cell ps1-table under "table" ended the notebook' in marks.reason
    assert all('the cell ps1-table under "table"' in one for one in hints(marks).values())


@pytest.mark.long
def test_an_answer_that_a_command_was_to_give_says_so(graded):
    marks = graded({"number": "given, = !echo 5", "bdp": "!pip install scipy\nraise_it"})
    assert hints(marks).keys() == {"seventh", "bdp_bytes"}
    assert "ps1-number" in hints(marks)["seventh"] and "ps1-bdp" in hints(marks)["bdp_bytes"]
