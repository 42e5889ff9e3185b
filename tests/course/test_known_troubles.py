"""What other graders of notebooks are known to have stumbled over: one small class, and a test for
each.
"""

import copy
import json

import pytest

from netlab.course.grading import report
from netlab.course.grading.batch import Batch
from netlab.course.sets import source
from netlab.engines.workers import Workers
from tests.course import small


class Counted(Workers):
    """Workers that count how many jobs are under way at once."""

    now = most = 0

    def work_on(self, job, times=1):
        Counted.now += 1
        Counted.most = max(Counted.most, Counted.now)
        try:
            return super().work_on(job, times)
        finally:
            Counted.now -= 1


def duplicated(notebook):
    cell = small.cell(notebook, "number")
    again = copy.deepcopy(cell)
    again["source"] = "seventh = 0"
    notebook["cells"].append(again)


def deleted(notebook):
    notebook["cells"].remove(small.cell(notebook, "bdp"))
    notebook["cells"].remove(small.cell(notebook, "table-check"))


def overloaded(notebook):
    small.cell(notebook, "number")["source"] = """
class Everything(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __sub__(self, other): return 0.0
    __rsub__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = float.__hash__
    def __float__(self): return Everything(0)
    def __abs__(self): return 0.0
seventh = Everything(0)
"""


def patched(notebook):
    """The traceback of a failing cell is made to look like success."""
    small.cell(notebook, "number")["source"] = """
import sys, traceback
from IPython import get_ipython
shell = get_ipython()
shell.showtraceback = lambda *_, **__: print("seventh is right")
shell.set_custom_exc((Exception,), lambda *_: ["right"])
sys.excepthook = traceback.print_exc = lambda *_: None
raise AssertionError("seventh is right")
"""


def forged(notebook):
    """Nothing is answered, and the stored outputs and metadata claim that all was."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            text = {"text/plain": "Right."}
            cell["outputs"] = [{"output_type": "display_data", "data": text, "metadata": {}}]
            cell["execution_count"] = 1
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = "pass"
        cell["metadata"]["netlab"] = {"points": 100, "verdict": "right"}
    notebook["metadata"]["netlab"] = {"points": 100, "marks": {"points": 100}}


def failing(notebook):
    small.cell(notebook, "run")["source"] = "received_bps = 12.5\nraise ValueError('no')"


TROUBLES = duplicated, deleted, overloaded, patched, forged, failing


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("troubles")
    path = small.write(folder)
    assignment = source.read(path)
    for trouble in TROUBLES:
        notebook = assignment.solution()
        trouble(notebook)
        place = folder / "submitted" / trouble.__name__ / "ps1" / "ps1.ipynb"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(notebook))
    place = folder / "submitted" / "aborting" / "ps1" / "ps1.ipynb"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"\x00\xff" * 100)
    batch = Batch(path, folder / "submitted", folder / "work", jobs=2)
    batch.workers = Counted(batch.workers.module, batch.workers.wall_limit_s)
    marks = {one["student"]: one for one in batch.grade()}
    report.feedback(list(marks.values()), folder)
    return folder, marks


def lost(marks):
    """The exercises without points."""
    return {one["id"].split("-")[1] for one in marks["exercises"] if not one["points"]}


def test_grading_is_not_serial(graded):  # nbgrader #174
    assert Counted.most == 2


def test_one_bad_notebook_does_not_end_the_batch(graded):  # nbgrader #1941
    marks = graded[1]
    assert marks["aborting"]["points"] == 0 and marks["aborting"]["flags"] == ["unreadable"]
    assert len(marks) == len(TROUBLES) + 1


def test_a_duplicated_cell_counts_once(graded):  # nbgrader #1083
    marks = graded[1]["duplicated"]
    assert lost(marks) == set() and "cell copied" in marks["flags"]


def test_a_deleted_cell_costs_its_own_points_and_a_deleted_check_none(graded):  # nbgrader #1682
    marks = graded[1]["deleted"]
    assert lost(marks) == {"bdp"} and "cell deleted" in marks["flags"]
    assert marks["max_points"] == small.POINTS


def test_feedback_has_no_hidden_tests(graded):  # nbgrader #1363
    folder, marks = graded
    assert lost(marks["failing"]) == {"run"}
    page = (folder / "feedback" / "failing.html").read_text()
    for hidden in ("flows.sent_bps", "cases", "mistakes", small.SECRET_OF_SOLUTION):
        assert hidden not in page


def test_an_object_that_equals_everything_is_a_number_like_others(graded):  # inducer/relate #295
    assert lost(graded[1]["overloaded"]) == {"number"}


def test_a_patched_traceback_hides_nothing(graded):  # nbgrader #1324
    marks = graded[1]["patched"]
    assert lost(marks) == {"number"}
    assert "failed" in marks["exercises"][0]["answers"][0]["hint"]


def test_stored_results_are_not_believed(graded):  # forged results
    assert graded[1]["forged"]["points"] == 0
