"""Marks for one notebook: its answers, as plain data, beside those of the solution."""

import hashlib
import json
import time
import traceback

from netlab.course import ids
from netlab.course.answers.forms import compare
from netlab.course.answers.no_answers import UNWRITTEN
from netlab.course.answers.verdicts import Check
from netlab.course.grading.executed import execute
from netlab.course.grading.networks import reached
from netlab.course.grading.runs import OverTime, over_time
from netlab.course.handed_in import repair, submitted
from netlab.course.sets import regions
from netlab.course.texts import of_python, printable
from netlab.engines import recorded
from netlab.errors import LimitError, NetlabError

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
MOST_NAMES = 6  # of answers, in a sentence
SIGNIFICANT = 9  # digits, for the question whether two answers are the same


def reference(assignment, students, runs, secret=None):
    """For each student: the id, `Executed.answers` of the solution, and why it fails, or ""."""
    cells, waiting = to_run(assignment, assignment.cells, "solved"), list(students)
    while waiting:
        found = execute(cells, waiting, assignment.name, runs, secret, mistakes=True)
        for student, executed in found.items():
            yield student, executed.answers, solution_failure(executed, assignment)
        waiting = waiting[len(found) :]


def to_run(assignment, cells, text):
    """Cells as `execute` takes them; `text` names the attribute that is run."""
    specs = {exercise.id: exercise.answers for exercise in assignment.automatic}
    names = [cell.id or f"#{number}" for number, cell in enumerate(cells)]
    return [
        {"id": name, "kind": one.kind, "source": getattr(one, text), "answers": specs.get(name, {})}
        for name, one in zip(names, cells, strict=True)
    ]


def solution_failure(executed, assignment):
    """Why a solution has not answered everything; "" if it has."""
    if executed.ended:
        return f"it ended: {executed.ended}"
    for cell, error in executed.errors.items():
        return f"cell {cell} fails: {error}"
    for exercise in assignment.automatic:
        for name, form in executed.answers.get(exercise.id, {"any": None}).items():
            if form is None or form["kind"] in ("nothing", "error", "other"):
                return f"no answer {name!r} for {exercise.id}: {form}"
        for name, spec in exercise.answers.items():
            if ("state" in spec) != (executed.answers[exercise.id][name]["kind"] == "network"):
                return f"{name!r} of {exercise.id}: a network is compared by its `state`"
    return ""


def grade(data, student, assignment, right, runs, secret=None):
    """The marks of one submission, as they are kept in ``marks/STUDENT.json``.

    `data` are its bytes, `right` the solution's answers for this student (`Executed.answers`). An
    `EngineError` says that nothing can be graded here.
    """
    try:
        repaired = repair.examine(data, assignment)
    except NetlabError as error:
        raised = "".join(traceback.format_exception(error.__cause__)) if error.__cause__ else ""
        return without_marks(student, assignment, "unreadable", str(error), raised)
    cells = to_run(assignment, repaired.cells, "source")
    setup = {cell.id for cell in assignment.cells if cell.role == "locked"}
    began_s = time.monotonic()
    for _ in range(TRIES):
        executed = execute(cells, [student], assignment.name, runs, secret)[student]
        if not (executed.ended or setup & executed.errors.keys()):
            break
        if isinstance(executed.error, LimitError) or time.monotonic() - began_s > LONG_S:
            break
    flags, notices = [], []
    if repaired.student and ids.compared(repaired.student) != ids.compared(student):
        other = printable(repaired.student, LONGEST_NAMED)
        flags.append(f"other id in the notebook: {other}")
        notices.append(OTHER_ID.format(other=other, student=printable(student)))
    flags += dict.fromkeys(finding.flag for finding in repaired.findings)
    flags += ["did not run to its end"] * bool(executed.ended)
    marking = Marking(executed, right, cells, repaired.cells, runs.engine)
    rows = {one.id: marking.rows(one) for one in assignment.automatic}
    late = marking.late or isinstance(executed.error, OverTime)
    flags += ["look at this one"] * late
    flags += ["setup failed"] * bool(setup & executed.errors.keys())
    evidence = {"evidence": str(executed.error)[-20_000:]} if executed.error else {}
    return marks_of(
        student,
        assignment,
        rows,
        {cell.id: cell.source for cell in repaired.cells},
        named=repaired.student or "",  # whom the notebook names
        notices=notices,
        findings=[f"{one.cell}: {one.text}".removeprefix(": ") for one in repaired.findings],
        flags=flags,
        reason=reason([row for each in rows.values() for row in each], marking.ended),
        **evidence,
    )


class Marking:
    """What a notebook answered, beside what is right."""

    def __init__(self, executed, right, order, cells, engine=None):
        self.engine, self.late = engine, False
        self.executed, self.right, self.order = executed, right, [cell["id"] for cell in order]
        self.checks = [at for at, cell in enumerate(order) if cell["answers"]]
        self.places = submitted.under(cells, self.order)
        self.ended = executed.ended
        if self.ended and executed.at:
            self.ended = f"{self.named(executed.at)} ended the notebook: {self.ended}"

    def rows(self, exercise):
        """The marks of an exercise's answers."""
        given, right = self.executed.answers.get(exercise.id, {}), self.right[exercise.id]
        rows = []
        for name, spec in exercise.answers.items():
            check = self.check(exercise, name, given.get(name))
            rows.append(
                {
                    "name": name,
                    "verdict": check.verdict,
                    "share": float(check.share),
                    "hint": check.hint,
                    "points": round(float(check.share) * spec["points"], 6),
                    "max_points": spec["points"],
                    "given": fingerprint(given.get(name)),
                    "right": fingerprint(right[name]),
                }
            )
        wrong = [row for row in rows if row["verdict"] in ("close", "wrong")]
        runs = [row["name"] for row in wrong if right[row["name"]]["kind"] == "experiment"]
        for row in wrong if runs else ():  # what was made of a run that is not the one asked for
            drawn = right[row["name"]]["kind"] == "figure"
            if drawn or exercise.answers[row["name"]].get("exact"):
                text = f"{row['hint']}; look at the run first, too: {', '.join(runs)}"
                row["hint"] = printable(text)
        return rows

    def check(self, exercise, name, answer):
        if answer is None:
            return Check("nothing", 0, self.unanswered(exercise, name))
        if answer["kind"] == "nothing" and (why := self.failure(exercise)):
            return Check("nothing", 0, f"{name} is None: {why}")
        if answer["kind"] == "error":
            return Check("wrong", 0, f"{name} could not be read: {answer['text']}")
        right = self.right[exercise.id]
        if answer["kind"] == right[name]["kind"] == "network" and f"{name}\n" in right:
            return self.look(answer, right[name], right[f"{name}\n"])
        mistakes = {
            key.removeprefix(f"{name}\n"): form
            for key, form in right.items()
            if key.startswith(f"{name}\n") and key != f"{name}\n"
        }
        spec = exercise.answers[name] | {"mistakes": mistakes, "name": name}
        return compare(answer, right[name], spec)

    def look(self, answer, right, wanted):
        """Whether what was typed leads to a state; nothing more is looked at once that took too
        long on this machine."""
        try:
            if self.late:
                raise over_time()
            return reached(answer["script"], right["script"], plain(wanted), self.engine)
        except OverTime as error:
            self.late = True
            return Check("wrong", 0, str(error))

    def unanswered(self, exercise, name):
        """Why there is no such answer."""
        if why := self.failure(exercise):
            return f"{name} has no value: {why}"
        if self.executed.ended and exercise.id not in self.executed.answers:
            return f"{name} was not reached: {self.ended}"
        where = self.places[exercise.id] or f"before {exercise.id}"
        return f"{name} has no value: no cell {where} assigns it"

    def failure(self, exercise):
        """The first error in the cells of this exercise, and where it is; "" if there is none."""
        at = self.order.index(exercise.id)
        first = max((check for check in self.checks if check < at), default=-1) + 1
        for cell in self.order[first:at]:
            if error := self.executed.errors.get(cell):
                which = self.named(cell)
                if error.startswith(UNWRITTEN):
                    return f"{which} is as it was handed out"
                return f"{which} failed: {of_python(error)}"
        return ""

    def named(self, cell):
        """A cell, and where it is, for people."""
        which = "your own cell" if cell.startswith("#") else f"the cell {cell}"
        return f"{which} {self.places[cell]}".strip()


def plain(form):
    """The value that a form of numbers, texts, lists and dicts is of."""
    if not isinstance(form, dict):
        return form
    match form["kind"]:
        case "list":
            return [plain(one) for one in form["items"]]
        case "dict":
            return {name: plain(one) for name, one in form["items"].items()}
    return form.get("value")


def fingerprint(form):
    """Hash of an answer precise enough to identify its owner; "" for others."""
    found = recorded.leaves(form).values()
    numbers = [f"{value:.{SIGNIFICANT}g}" for value in found if type(value) is float]
    if not any(len(text.strip("-0.").replace(".", "")) > 4 for text in numbers):
        return ""
    return hashlib.sha256(" ".join(numbers).encode()).hexdigest()[:16]


def marks_of(student, assignment, rows, texts, **said):
    """A student's marks, from `rows` of answers by exercise and `texts` by cell."""
    exercises = [
        {
            "id": one.id,
            "title": one.title,
            "points": round(sum(row["points"] for row in rows.get(one.id, ())), 6),
            "max_points": one.points,
            "answers": rows.get(one.id, []),
        }
        for one in assignment.automatic
    ]
    manual = [
        {"id": one.id, "max_points": one.points, "text": in_words(texts.get(one.id, ""))}
        for one in assignment.exercises
        if one.manual
    ]
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
        "findings": [],
    } | said


def in_words(text):
    """An answer in words, as it is kept; "" where it is still what was handed out."""
    return "" if text.strip() in ("", *regions.STUB[False]) else text[:20_000]


def without_marks(student, assignment, flag, why, evidence="", **said):
    """Zero points, and the reason. `evidence` is for teachers, and on nobody's page."""
    said |= {"evidence": evidence} if evidence else {}
    return marks_of(student, assignment, {}, {}, flags=[flag], reason=printable(why), **said)


def pending(student, assignment, why, evidence=""):
    """Zero points until somebody has looked, where the grader failed; why is a flag."""
    flag, more = f"look at this one: {printable(why)}", {"pending": True, "notices": [PENDING]}
    return without_marks(student, assignment, flag, "not graded yet", evidence, **more)


def reason(answers, ended):
    """In a sentence, where points were lost."""
    lost = [answer for answer in answers if answer["share"] < 1]
    if not lost:
        return "all automatic answers are right"
    parts = [f"{len(answers) - len(lost)} of {len(answers)} answers are right"]
    for words in ("in part", "not right", "no answer"):
        names = [one["name"] for one in lost if how_lost(one) == words]
        more = f" and {len(names) - MOST_NAMES} more" * (len(names) > MOST_NAMES)
        parts += [f"{words}: {', '.join(names[:MOST_NAMES])}{more}"] if names else []
    return printable("; ".join(parts) + (f". {ended}" if ended else ""))


def how_lost(answer):
    """What an answer that has not all points is."""
    if answer["verdict"] == "nothing":
        return "no answer"
    return "in part" if answer["share"] > 0 else "not right"


def identity(*parts):
    """Cache key."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else json.dumps(part).encode()
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()[:24]
