"""Put each answer of a notebook beside the solution's: verdicts, hints, points, and flags."""

import hashlib

from netlab.course import ids
from netlab.course.answers import forms
from netlab.course.answers.base import Answer
from netlab.course.answers.bounds import LONGEST_ERROR
from netlab.course.answers.no_answers import UNWRITTEN, Error
from netlab.course.answers.several import Dict, List
from netlab.course.answers.verdicts import Check
from netlab.course.grading.marks import AnswerMarks, Marks, marks_of
from netlab.course.grading.networks import reached
from netlab.course.grading.run import named
from netlab.course.grading.runs import OverTime, over_time
from netlab.course.handed_in import submitted
from netlab.course.texts import of_python, printable
from netlab.engines import recorded
from netlab.errors import NetlabError

LONGEST_NAMED = 60  # characters of an id that a notebook names
LONGEST_EVIDENCE = 20_000  # characters
OTHER_ID = (
    'Your notebook has student = "{other}" in its first cell, and you are graded as {student}: the'
    " numbers are others. What your notebook computes was computed again with yours; numbers that"
    ' you typed in are wrong for that reason. Tell your teacher, and write "{student}" there next'
    " time."
)
MOST_NAMES = 6  # of answers, in a sentence
SIGNIFICANT = 9  # digits, for the question whether two answers are the same


def compare(executed, right, repaired, student, assignment, engine) -> Marks:
    """The marks of a notebook that was `Repaired` and `Executed`; `right` has the solution's
    answers for this student (`solution.reference`), `engine` does what was typed on networks.
    """
    flags, notices = [], []
    if repaired.student and ids.compared(repaired.student) != ids.compared(student):
        other = printable(repaired.student, LONGEST_NAMED)
        flags.append(f"other id in the notebook: {other}")
        notices.append(OTHER_ID.format(other=other, student=printable(student)))
    flags += dict.fromkeys(finding.flag for finding in repaired.findings)
    flags += ["did not run to its end"] * bool(executed.ended)
    comparison = Comparison(executed, right, assignment, repaired.cells, engine)
    rows = {one.id: comparison.rows(one) for one in assignment.automatic}
    late = comparison.late or isinstance(executed.error, OverTime)
    flags += ["look at this one"] * late
    setup = {cell.id for cell in assignment.cells if cell.role == "locked"}
    flags += ["setup failed"] * bool(setup & executed.errors.keys())
    return marks_of(
        student,
        assignment,
        rows,
        {cell.id: cell.source for cell in repaired.cells},
        named=repaired.student or "",
        notices=notices,
        findings=[f"{one.cell}: {one.text}".removeprefix(": ") for one in repaired.findings],
        flags=flags,
        reason=reason([row for each in rows.values() for row in each], comparison.ended),
        evidence=str(executed.error or "")[-LONGEST_EVIDENCE:],
    )


class Comparison:
    """What a notebook answered, beside what is right."""

    def __init__(self, executed, right, assignment, cells, engine=None):
        self.executed, self.right, self.engine, self.late = executed, right, engine, False
        self.order, graded = named(cells), {one.id for one in assignment.automatic}
        self.checks = [at for at, cell in enumerate(self.order) if cell in graded]
        self.places = submitted.under(cells, self.order)
        self.ended = executed.ended
        if self.ended and executed.at:
            self.ended = f"{self.named(executed.at)} ended the notebook: {self.ended}"

    def rows(self, exercise):
        """The `AnswerMarks` of an exercise."""
        rules, known = exercise.answers, self.right[exercise.id]
        right = {name: forms.answer(known[name]) for name in rules}
        rows = [self.row(exercise, rule, right[name]) for name, rule in rules.items()]
        wrong = [row.name for row in rows if row.verdict in ("close", "wrong")]
        runs = ", ".join(name for name in wrong if right[name].kind == "experiment")
        if not runs:
            return rows
        # what was made of a run that is not the one asked for
        made = [name for name in wrong if right[name].kind == "figure" or rules[name].exact]
        more = f"; look at the run first, too: {runs}"
        return [
            one.but(hint=printable(one.hint + more)) if one.name in made else one for one in rows
        ]

    def row(self, exercise, rule, right):
        """The `AnswerMarks` of one answer; `right` is the right `Answer`."""
        form = self.executed.answers.get(exercise.id, {}).get(rule.name)
        answer = answer_of(form)
        return AnswerMarks.of(
            self.check(exercise, rule, answer, right),
            name=rule.name,
            max_points=rule.points,
            given="" if isinstance(answer, Error) else fingerprint(form),
            right=fingerprint(self.right[exercise.id][rule.name]),
        )

    def check(self, exercise, rule, answer, right):
        """Compare an `Answer`, or None, with the right one."""
        known, name = self.right[exercise.id], rule.name
        if answer is None:
            return Check("nothing", 0, self.unanswered(exercise, name))
        if answer.kind == "nothing" and (why := self.failure(exercise)):
            return Check("nothing", 0, f"{name} is None: {why}")
        if answer.kind == "error":
            return Check("wrong", 0, f"{name} could not be read: {answer.text}")
        if answer.kind == right.kind == "network" and rule.state:
            return self.look(answer, right, plain(forms.answer(known[f"{name}\n"])))
        mistakes = {hint: known[f"{name}\n{hint}"] for hint in rule.mistakes}
        return forms.compare(answer, right, rule, mistakes)

    def look(self, answer, right, wanted):
        """Whether what was typed leads to a state; nothing more is looked at once that took too
        long on this machine.
        """
        try:
            if self.late:
                raise over_time()
            return reached(answer.script, right.script, wanted, self.engine)
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


def answer_of(data):
    """The `Answer` of what came out of a jail; None for none, an `Error` where it is no form."""
    try:
        return None if data is None else forms.answer(data)
    except NetlabError as error:
        return Error(text=str(error)[:LONGEST_ERROR])


def plain(answer):
    """The value of an `Answer` of numbers, texts, lists and dicts, or of an item of one."""
    if isinstance(answer, List):
        return [plain(one) for one in answer.items]
    if isinstance(answer, Dict):
        return {name: plain(one) for name, one in answer.items.items()}
    return getattr(answer, "value", None) if isinstance(answer, Answer) else answer


def fingerprint(form):
    """Hash of an answer precise enough to identify its owner; "" for others."""
    found = recorded.leaves(form).values()
    numbers = [f"{value:.{SIGNIFICANT}g}" for value in found if type(value) is float]
    if not any(len(text.strip("-0.").replace(".", "")) > 4 for text in numbers):
        return ""
    return hashlib.sha256(" ".join(numbers).encode()).hexdigest()[:16]


def reason(answers, ended):
    """In a sentence, where points were lost."""
    lost = [answer for answer in answers if answer.share < 1]
    if not lost:
        return "all automatic answers are right"
    parts = [f"{len(answers) - len(lost)} of {len(answers)} answers are right"]
    for words in ("in part", "not right", "no answer"):
        names = [one.name for one in lost if how_lost(one) == words]
        more = f" and {len(names) - MOST_NAMES} more" * (len(names) > MOST_NAMES)
        parts += [f"{words}: {', '.join(names[:MOST_NAMES])}{more}"] if names else []
    return printable("; ".join(parts) + (f". {ended}" if ended else ""))


def how_lost(answer):
    """What an answer that has not all points is."""
    if answer.verdict == "nothing":
        return "no answer"
    return "in part" if answer.share > 0 else "not right"
