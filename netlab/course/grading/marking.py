"""Marks for one notebook: what it answers beside what the solution answers for the same student.

Everything compared is plain data. What the notebook says of itself (stored outputs, metadata,
points) is not looked at.
"""

import hashlib
import json
import time
import traceback

from netlab.course import ids
from netlab.course.checks.answers import compare
from netlab.course.checks.verdicts import Check, printable
from netlab.course.grading.executed import execute
from netlab.course.handed_in import repair, submitted
from netlab.course.sets import regions
from netlab.engines import recorded
from netlab.engines.host_speed import wall_s
from netlab.errors import NetlabError

# A notebook that does not run to its end is tried again, as it may have been this machine's fault:
# but not one that took long, or both tries would take longer than Gradescope waits, ten minutes.
TRIES, LONG_S = 2, 100.0
LONGEST_NAMED = 60  # characters of an id that a notebook names
OTHER_ID = (
    'Your notebook has student = "{other}" in its first cell, and you are graded as {student}: the'
    " numbers are others. What your notebook computes was computed again with yours; numbers that"
    " you typed in are wrong for that reason. Tell your teacher, and write your id there next time."
)
PENDING = (
    "Your marks are pending: the grader could not finish, which is no fault of yours. These are no"
    " zero points. Your teacher has been told, and will look at it"
)
SIGNIFICANT = 9  # digits, for the question whether two answers are the same


def reference(assignment, students, runs, secret=None):
    """What the solution answers for these students.

    Yields
    ------
    student : str
    answers : dict
        By check cell, as `Executed` has them.
    failure : str
        Where the solution fails for this student, or lacks an answer; "" where it does not.
    """
    specs = {exercise.id: exercise.answers for exercise in assignment.exercises}
    cells = [
        {"id": f"{cell.id}#{number}", "kind": cell.kind, "source": cell.solved}
        | ({"id": cell.id, "answers": specs[cell.id]} if specs.get(cell.id) else {})
        for number, cell in enumerate(assignment.cells)
    ]
    waiting = list(students)
    while waiting:
        found = execute(cells, waiting, assignment.name, runs, secret, mistakes=True)
        for student, executed in found.items():
            yield student, executed.answers, solution_failure(executed, specs)
        waiting = waiting[len(found) :]


def solution_failure(executed, specs):
    """Why a solution has not answered everything; "" if it has."""
    if executed.ended:
        return f"it ended: {executed.ended}"
    for cell, error in executed.errors.items():
        return f"cell {cell} fails: {error}"
    for exercise in filter(specs.get, specs):  # manual ones have no answers
        for name, form in executed.answers.get(exercise, {"any": None}).items():
            if form is None or form["kind"] in ("nothing", "error", "other"):
                return f"no answer {name!r} for {exercise}: {form}"
    return ""


def grade(data, student, assignment, right, runs, secret=None):
    """The marks of one submission.

    Parameters
    ----------
    data : bytes
        The notebook as it was handed in.
    student : str
    assignment : netlab.course.sets.source.Assignment
    right : dict
        The solution's answers for this student, by check cell (`Executed.answers`).
    runs : netlab.course.grading.runs.Runs
    secret : str, optional

    Returns
    -------
    dict
        The student's marks, as they are kept in ``marks/STUDENT.json``.

    Raises
    ------
    EngineError
        Nothing can be graded here.
    """
    try:
        repaired = repair.examine(data, assignment)
    except NetlabError as error:
        raised = "".join(traceback.format_exception(error.__cause__)) if error.__cause__ else ""
        return without_marks(student, assignment, "unreadable", str(error), raised)
    specs = {exercise.id: exercise.answers for exercise in assignment.exercises}
    order = [
        {"id": cell.id or f"#{number}", "kind": cell.kind, "source": cell.source}
        | ({"answers": specs[cell.id]} if specs.get(cell.id) else {})
        for number, cell in enumerate(repaired.cells)
    ]
    setup = {cell.id for cell in assignment.cells if cell.role == "locked"}
    began_s = time.monotonic()
    for _ in range(TRIES):
        executed = execute(order, [student], assignment.name, runs, secret)[student]
        if not (executed.ended or setup & executed.errors.keys()):
            break
        if executed.at_limit or time.monotonic() - began_s > wall_s(LONG_S):
            break
    flags = dict.fromkeys(finding.flag for finding in repaired.findings)
    notices = []
    if repaired.student and ids.compared(repaired.student) != ids.compared(student):
        other = printable(repaired.student, LONGEST_NAMED)
        flags = {f"other id in the notebook: {other}": None} | flags
        notices.append(OTHER_ID.format(other=other, student=printable(student)))
    if executed.ended:
        flags["did not run to its end"] = None
    if executed.over_time:
        flags["look at this one"] = None
    if setup & executed.errors.keys():
        flags["setup failed"] = None
    places = submitted.under(repaired.cells, (cell["id"] for cell in order))
    exercises = [
        marked(exercise, executed, right, order, places)
        for exercise in assignment.exercises
        if not exercise.manual
    ]
    texts = {cell.id: cell.source for cell in repaired.cells}
    manual = [
        {"id": one.id, "max_points": one.points, "text": answered(texts.get(one.id, ""))}
        for one in assignment.exercises
        if one.manual
    ]
    marks = summed(student, assignment, exercises, manual)
    marks["named"] = repaired.student or ""  # whom the notebook names
    marks["notices"] = notices
    marks["findings"] = [
        f"{one.cell}: {one.text}" if one.cell else one.text for one in repaired.findings
    ]
    if executed.evidence:
        marks["evidence"] = executed.evidence[-20_000:]
    return marks | {"flags": list(flags), "reason": reason(exercises, executed)}


def marked(exercise, executed, right, order, places):
    """The marks of one exercise; `places` says where a cell is."""
    given, rows = executed.answers.get(exercise.id, {}), []
    for name, spec in exercise.answers.items():
        answer, solution = given.get(name), right[exercise.id][name]
        mistakes = {
            key.partition("\n")[2]: form
            for key, form in right[exercise.id].items()
            if key.startswith(f"{name}\n")
        }
        if answer is None:
            check = Check("nothing", 0, unanswered(name, exercise, executed, order, places))
        elif answer["kind"] == "nothing" and (why := failure(exercise, executed, order, places)):
            check = Check("nothing", 0, f"{name} is None: {why}")
        elif answer["kind"] == "error":
            check = Check("wrong", 0, f"{name} could not be read: {answer['text']}")
        else:
            check = compared(answer, solution, spec | {"mistakes": mistakes, "name": name})
        share = min(max(float(check.share), 0.0), 1.0)
        rows.append(
            {
                "name": name,
                "verdict": check.verdict,
                "share": share,
                "hint": check.hint,
                "points": round(share * spec["points"], 6),
                "max_points": spec["points"],
                "given": fingerprint(answer),
                "right": fingerprint(solution),
            }
        )
    name_the_run(rows, exercise, right[exercise.id])
    points = round(sum(row["points"] for row in rows), 6)
    return {
        "id": exercise.id,
        "title": exercise.title,
        "points": points,
        "max_points": exercise.points,
        "manual": False,
        "answers": rows,
    }


def compared(answer, solution, spec):
    """`compare`; an answer that makes it raise is wrong, and a solution that does raises."""
    try:
        return compare(answer, solution, spec)
    except Exception:  # a stranger made the form
        compare(solution, solution, spec)
        return Check("wrong", 0, f"{spec['name']} could not be compared with the solution's")


def answered(text):
    """An answer in words, as it is kept; "" where it is still what was handed out."""
    return "" if text.strip() in ("", *regions.STUB[False]) else text[:20_000]


def name_the_run(rows, exercise, right):
    """Say of numbers and figures that were made of a run when it is not the run that was asked
    for.
    """
    wrong = [row for row in rows if row["verdict"] in ("close", "wrong")]
    runs = [row["name"] for row in wrong if right[row["name"]]["kind"] == "experiment"]
    for row in wrong:
        drawn = right[row["name"]]["kind"] == "figure"
        if runs and (drawn or exercise.answers[row["name"]].get("exact")):
            said = f"{row['hint']}; look at the run first, too: {', '.join(runs)}"
            row["hint"] = printable(said)


def unanswered(name, exercise, executed, order, places):
    """Why there is no such answer."""
    if why := failure(exercise, executed, order, places):
        return f"{name} has no value: {why}"
    if executed.ended and exercise.id not in executed.answers:
        return f"{name} was not reached: {executed.ended}"
    where = places[exercise.id] or f"before {exercise.id}"
    return f"{name} has no value: no cell {where} assigns it"


def failure(exercise, executed, order, places):
    """The first error in the cells of this exercise, and where it is; "" if there is none."""
    ids = [cell["id"] for cell in order]
    at = ids.index(exercise.id)
    checks = [number for number in range(at) if order[number].get("answers")]
    for cell in ids[max(checks, default=-1) + 1 : at]:
        if cell in executed.errors:
            which = "your own cell" if cell.startswith("#") else f"the cell {cell}"
            which = " ".join(filter(None, (which, places[cell])))
            error = executed.errors[cell]
            if error.startswith("NotImplementedError"):
                return f"{which} is as it was handed out"
            return f"{which} failed: {error}"
    return ""


def fingerprint(form):
    """Hash of an answer precise enough to identify its owner; "" for others."""
    found = recorded.leaves(form).values()
    numbers = [f"{value:.{SIGNIFICANT}g}" for value in found if type(value) is float]
    if not any(len(text.strip("-0.").replace(".", "")) > 4 for text in numbers):
        return ""
    text = " ".join(numbers)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def without_marks(student, assignment, flag, why, evidence=""):
    """The marks of what cannot be graded: zero, and the reason. `evidence` is for who teaches, and
    on nobody's page.
    """
    exercises = [
        {
            "id": one.id,
            "title": one.title,
            "points": 0,
            "max_points": one.points,
            "manual": False,
            "answers": [],
        }
        for one in assignment.exercises
        if not one.manual
    ]
    manual = [
        {"id": one.id, "max_points": one.points, "text": ""}
        for one in assignment.exercises
        if one.manual
    ]
    marks = summed(student, assignment, exercises, manual)
    marks |= {"flags": [flag], "reason": printable(why), "findings": []}
    return marks | ({"evidence": evidence} if evidence else {})


def pending(student, assignment, why, evidence=""):
    """The marks of who could not be graded by no fault of his or her own: zero, until somebody has
    looked. Why is a flag, which students do not see.
    """
    flag = f"look at this one: {printable(why)}"
    marks = without_marks(student, assignment, flag, "not graded yet", evidence)
    return marks | {"pending": True, "notices": [PENDING]}


def summed(student, assignment, exercises, manual):
    return {
        "student": student,
        "assignment": assignment.name,
        "points": round(sum(one["points"] for one in exercises), 6),
        "max_points": sum(one["max_points"] for one in exercises),
        "exercises": exercises,
        "manual": manual,
        "manual_points": sum(one["max_points"] for one in manual),
        "pending": False,
        "notices": [],  # what a student is told first
    }


def reason(exercises, executed):
    """In a sentence, where points were lost."""
    answers = [(one["id"], answer) for one in exercises for answer in one["answers"]]
    lost = [(cell, answer) for cell, answer in answers if answer["share"] < 1]
    if not lost:
        return "all automatic answers are right"
    missing = [answer["name"] for _, answer in lost if answer["verdict"] == "nothing"]
    others = [answer["name"] for _, answer in lost if answer["verdict"] != "nothing"]
    parts = [f"{len(answers) - len(lost)} of {len(answers)} answers are right"]
    parts += [f"not right: {listed(others)}"] if others else []
    parts += [f"no answer: {listed(missing)}"] if missing else []
    text = "; ".join(parts)
    return printable(f"{text}. {executed.ended}" if executed.ended else text)


def listed(names):
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def identity(*parts):
    """Cache key."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else json.dumps(part).encode()
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()[:24]
