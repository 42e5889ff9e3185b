"""What a student is told where an answer is missing; how often a notebook that ends is tried; lines
that are right on a student's machine, and for which the grader has nothing: whatever else the cell
does counts, and where it does not, the page names the cell.
"""

import json
import re
from pathlib import Path

import pytest

from netlab.course.grading import executed, recipe, run, solution
from netlab.course.grading.executed import Executed
from netlab.course.grading.marks import in_words
from netlab.course.grading.runs import OverTime, Runs
from netlab.course.sets import source
from netlab.engines.channel import OutOfTime
from netlab.errors import LimitError, NetlabError
from tests import cases
from tests.course import small
from tests.course.problem_set import hand_in

GUIDE = Path(__file__).parents[2] / "notebooks/assignments/README.md"
HARMLESS = {
    "number": "%pip install scipy\n!pip install scipy\n%conda install scipy\n!!ls",
    "bdp": "files = !ls\nprint(files)\nget_ipython().system('ls')\nexit()",
    "table": "import plotly.graph_objects as go\nfig = go.FigureWidget()\nfig.show()\ndisplay(fig)",
    "run": "import os, subprocess\nos.system('ls')\nquit",
}
ENDS = "os._exit(1)", "os.kill(os.getpid(), 9)"


@pytest.fixture(scope="module")
def grade(tmp_path_factory):
    """Grade a notebook as Ada's."""
    folder = tmp_path_factory.mktemp("course")
    assignment = source.read(small.write(folder))
    runs = Runs(folder / "runs")
    ((_, right, failure),) = solution.reference(assignment, ["ada"], runs)
    assert not failure

    def marks(notebook):
        data = json.dumps(notebook).encode()
        return recipe.grade(data, "ada", assignment, right, runs)

    marks.assignment = assignment
    return marks


def test_a_missing_answer_is_placed_by_its_heading(grade):
    notebook = grade.assignment.release()
    small.cell(notebook, "bdp")["source"] = "1 / 0"
    notebook["cells"].remove(small.cell(notebook, "table"))
    own = {"cell_type": "code", "metadata": {}, "source": "nonsense", "outputs": []}
    cells = notebook["cells"]
    cells.insert(cells.index(small.cell(notebook, "run")), own)
    small.cell(notebook, "run")["source"] = "pass"
    marks = grade(notebook)
    hints = [answer.hint for one in marks.exercises for answer in one.answers]
    assert hints == [
        'seventh is None: the cell ps1-number under "number" is as it was handed out',
        'bdp_bytes has no value: the cell ps1-bdp under "bdp" failed: ZeroDivisionError: division'
        " by zero",
        'table has no value: no cell under "table" assigns it',
        "received_bps has no value: your own cell under \"run\" failed: NameError: name 'nonsense'"
        " is not defined",
    ]
    deleted, *_ = (one for one in marks.findings if "deleted" in one)
    assert deleted.startswith("ps1-table: ") and '(It is under "table".)' in deleted
    assert marks.points == 0


def test_a_comma_that_stops_a_cell_is_told_of(grade):
    notebook = grade.assignment.release()
    small.cell(notebook, "number")["source"] = "seventh = 0,05"
    hint = grade(notebook).exercises[0].answers[0].hint
    assert "write 0.05 and not 0,05" in hint and "(line 1)" in hint


def test_a_function_as_it_was_handed_out_counts_as_no_answer(grade):
    notebook = grade.assignment.release()
    stub = "def bdp_bytes(rate_bps, rtt_s):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    small.cell(notebook, "bdp")["source"] = stub
    marks = grade(notebook)
    rows = [answer for one in marks.exercises for answer in one.answers]
    assert {row.verdict for row in rows} == {"nothing"} and marks.points == 0
    assert "not written yet" in rows[1].hint and "not right" not in marks.reason


@pytest.mark.parametrize(
    ("kind", "long_s", "times"),
    [(NetlabError, 100.0, 2), (NetlabError, 0.0, 1), (LimitError, 100.0, 1), (OverTime, 100.0, 1)],
)
def test_a_notebook_that_ends_soon_is_tried_twice(grade, monkeypatch, kind, long_s, times):
    said = "experiments took more than 300 s\nTraceback in /home/grader\n;=cmd|'/C calc'!A0"
    calls = []

    def ended(cells, students, *others):
        calls.append(students)
        return {"ada": Executed(error=kind(said))}

    monkeypatch.setattr(run, "execute", ended)
    monkeypatch.setattr(run, "LONG_S", long_s)
    marks = grade(grade.assignment.release())
    assert ("look at this one" in marks.flags) == (kind is OverTime) and len(calls) == times
    assert "300 s" in marks.reason and "grader" in marks.evidence
    assert "/home" not in marks.reason


def test_a_notebook_that_takes_too_long_on_this_machine_is_to_be_looked_at(grade, monkeypatch):
    class Slow:
        def __init__(self, *_, **__):
            self.channel, self.said = None, iter(['{"ready": true}'])

        def say(self, _):
            for said in self.said:
                return said
            try:
                raise OutOfTime("was ended: its limit of 150 wall-clock seconds has passed.")
            except OutOfTime as error:
                raise LimitError(f"the guest {error}") from error

        def close(self):
            pass

    monkeypatch.setattr(executed, "Jail", Slow)
    marks = grade(grade.assignment.release())
    assert "look at this one" in marks.flags and "150 s on this machine" in marks.reason


def test_what_a_notebook_says_at_its_end_is_no_reason(grade, monkeypatch):
    monkeypatch.setattr(run, "LONG_S", 0.0)  # once
    notebook = grade.assignment.release()
    text = "import os\nos.write(2, b';=cmd /home/grader')\nos._exit(3)"
    small.cell(notebook, "number")["source"] = text
    marks = grade(notebook)
    assert marks.points == 0 and "did not run to its end" in marks.flags
    assert "cmd" not in marks.reason and ";=cmd /home/grader" in marks.evidence


def test_a_text_that_was_handed_out_is_no_answer():
    assert in_words("YOUR ANSWER HERE\n") == in_words(" ") == ""
    assert in_words("The window.") == "The window."


def test_the_stages_can_be_called_one_by_one_as_the_guide_does(grade, tmp_path, monkeypatch):
    """The lines of notebooks/assignments/README.md give what the whole recipe does."""
    (lines,) = re.findall(r"```python\n(from pathlib.*?recipe.*?)```", GUIDE.read_text(), re.S)
    small.write(tmp_path / "notebooks" / "assignments")
    notebook = grade.assignment.solution()
    small.cell(notebook, "bdp")["source"] = "def bdp_bytes(*_):\n    return 1"
    notebook["cells"].remove(small.cell(notebook, "table"))
    hand_in(tmp_path / "submitted", "ada", notebook)
    monkeypatch.chdir(tmp_path)
    known = {}
    exec(lines, known)
    assert known["marks"] == grade(notebook) and 0 < known["marks"].points < small.POINTS
    assert [one.flag for one in known["fixed"].findings] == ["cell deleted", "name missing"]
    assert known["ran"].answers["ps1-table-check"] == {"table": None}
    names = [stage.__name__ for stage in recipe.STAGES]
    assert names == ["collect", "precheck", "repair", "run", "compare", "report"]
    used = re.findall(r"recipe\.(\w+)\(", lines)
    assert used == names[1:-1]


def with_lines(grade, lines):
    """The marks of a solution with these lines in its cells, before the answers; and its hints."""
    notebook = grade.assignment.solution()
    small.cell(notebook, "name")["source"] = 'student = "ada"'
    for name, text in lines.items():
        cell = small.cell(notebook, name)
        cell["source"] = f"{text}\n{cell['source']}"
    marks = grade(notebook)
    answers = [answer for exercise in marks.exercises for answer in exercise.answers]
    return marks, {one.name: one.hint for one in answers if one.share < 1}


def test_commands_and_shown_figures_cost_nothing(grade):
    marks, hints = with_lines(grade, HARMLESS)
    assert (marks.points, hints, marks.flags) == (small.POINTS, {}, [])


@pytest.mark.parametrize("line", cases(ENDS))
def test_what_ends_the_notebook_is_named_and_what_came_before_counts(grade, line):
    marks, hints = with_lines(grade, {"table": f"import os\n{line}"})
    assert marks.points == 5 and hints.keys() == {"table", "received_bps"}
    assert 'the cell ps1-table under "table" ended the notebook' in marks.reason
    assert all('the cell ps1-table under "table"' in one for one in hints.values())


@pytest.mark.long
def test_an_answer_that_a_command_was_to_give_says_so(grade):
    lines = {"number": "given, = !echo 5", "bdp": "!pip install scipy\nraise_it"}
    _, hints = with_lines(grade, lines)
    assert hints.keys() == {"seventh", "bdp_bytes"}
    assert "ps1-number" in hints["seventh"] and "ps1-bdp" in hints["bdp_bytes"]
