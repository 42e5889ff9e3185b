"""From what a class hands in to marks, in six stages. Each is a function that can be called alone:

`collect`
    Find a student's file, and copy it.
`precheck`
    Read it as a notebook of the set, or say why it is none.
`repair`
    Put the course's cells back, and tell what was changed.
`run`
    Run it in a jail. What comes out is plain data of bounded size.
`compare`
    Put each answer beside the solution's: these are the marks.
`report`
    Write them for people: a table, a page for the class and one for each student.

A class goes through the first and the last together (`batch`); the others are for one notebook,
each in a process of its own (`worker`).
"""

import traceback

from netlab.course.grading.compare import compare
from netlab.course.grading.marks import Marks, without_marks
from netlab.course.grading.report import report
from netlab.course.grading.run import run
from netlab.course.handed_in.collect import collect
from netlab.course.handed_in.precheck import precheck
from netlab.course.handed_in.repair import repair
from netlab.errors import NetlabError

STAGES = collect, precheck, repair, run, compare, report


def grade(data, student, assignment, right, runs, secret=None) -> Marks:
    """The marks of one submission: the stages between `collect` and `report`.

    Parameters
    ----------
    data : bytes
        The file.
    student : str
        The id.
    assignment : Assignment
        The problem set.
    right : dict
        The solution's answers for this student (`solution.reference`).
    runs : Runs
        Runs the experiments, and keeps their results.
    secret : str, optional
        The course's.

    Raises
    ------
    EngineError
        Nothing can be graded here: no engine works. What a student handed in never raises.
    """
    try:
        repaired = repair(precheck(data, assignment), assignment)
    except NetlabError as error:
        raised = "".join(traceback.format_exception(error.__cause__)) if error.__cause__ else ""
        return without_marks(student, assignment, "unreadable", str(error), raised)
    executed = run(repaired.cells, student, assignment, runs, secret)
    return compare(executed, right, repaired, student, assignment, runs.engine)
