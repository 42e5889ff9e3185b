"""Invented students and what they hand in: for a demonstration, and to try the grader on a class.
Each kind of trouble says what it is worth.
"""

import copy
import json
import random
import re
import unicodedata

from netlab.engines import files

NAMES = (
    *("ada", "bela", "chen", "dido", "emre", "farah", "goran", "hana", "ivo", "jamila"),
    *("kofi", "lena", "maren", "noor", "oskar", "priya", "quinn", "rosa", "samir", "tove"),
)


def students(count):
    """Names: ada, bela ... and from the 21st on ada2, bela2 ..."""
    for number in range(count):
        turn = number // len(NAMES)
        yield NAMES[number % len(NAMES)] + (str(turn + 1) if turn else "")


class Work:
    """A solved notebook, which one of `KINDS` spoils, in an exercise.

    Attributes
    ----------
    points, least : float
        What it is worth, at most and at least.
    flags : tuple of str
        What the grader should flag about its id.
    """

    def __init__(self, kind, assignment, student, exercise=None):
        self.assignment, self.student, self.flags = assignment, student, ()
        self.notebook = assignment.solution()
        self.points = self.least = sum(one.points for one in assignment.automatic)
        self.name(student)
        kind(self, exercise)

    @property
    def cells(self):
        return self.notebook["cells"]

    @property
    def text(self):
        return json.dumps(self.notebook).encode()

    def named(self, *names):
        """The cells with these grade_ids."""
        return [one for one in self.cells if grade_id(one) in names]

    def name(self, student):
        """Write an id into the first cell."""
        for cell in self.named(f"{self.assignment.name}-name"):
            cell["source"] = f'student = "{student}"'

    def answer_cells(self, exercise):
        """The cells of a student's code before an exercise's check cell."""
        found = []
        for cell in self.assignment.cells:
            if cell.id == exercise.id:
                return self.named(*found)
            found = [] if cell.role == "check" else found + [cell.id] * (cell.role == "answer")

    def lose(self, exercise, share=1):
        self.points = self.least = round(self.points - share * exercise.points, 6)


def grade_id(cell):
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def untouched(work, exercise):
    """As it was handed out."""
    work.notebook, work.points, work.least = work.assignment.release(), 0, 0
    work.name(work.student)


def right(work, exercise):
    """Everything right."""


def wrong(work, exercise):
    """One exercise wrong."""
    for cell in work.answer_cells(exercise)[-1:]:
        typed = cell["source"].startswith("%%")  # into a node's bash
        no_idea = "".join(f'\n{name} = "no idea"' for name in exercise.answers)
        cell["source"] = no_idea.lstrip() if typed else cell["source"] + no_idea
    work.lose(exercise)


def deleted(work, exercise):
    """An answer cell deleted."""
    for cell in work.answer_cells(exercise):
        work.cells.remove(cell)
    work.lose(exercise)


def check_deleted(work, exercise):
    """A check cell deleted."""
    work.cells.remove(*work.named(exercise.id))


def check_changed(work, exercise):
    """A check cell rewritten, with 1000 points."""
    (cell,) = work.named(exercise.id)
    cell["source"] = 'print("all right")'
    cell["metadata"]["nbgrader"]["points"] = 1000


def duplicated(work, exercise):
    """An answer cell twice."""
    for cell in work.answer_cells(exercise)[:1]:
        work.cells.insert(work.cells.index(cell), copy.deepcopy(cell))


def reordered(work, exercise):
    """All cells in reverse order."""
    work.cells.reverse()


def failing(work, exercise):
    """A cell of his or her own that fails."""
    own = {"cell_type": "code", "id": "own", "metadata": {}, "source": "1 / 0", "outputs": []}
    work.cells.insert(len(work.cells) // 2, own | {"execution_count": None})


def endless(work, exercise):
    """An endless loop."""
    for cell in work.answer_cells(exercise)[-1:]:
        cell["source"] = f"{' = '.join(exercise.answers)} = None\nwhile True:\n    pass"
    work.lose(exercise)


def unfinished(work, exercise):
    """Only the first half tried."""
    fresh = {cell.id: cell.source for cell in work.assignment.cells}
    automatic = work.assignment.automatic
    for late in automatic[len(automatic) // 2 :]:
        for cell in work.answer_cells(late):
            cell["source"] = fresh[grade_id(cell)]
        work.lose(late)


def unreadable(work, exercise):
    """A file that is no notebook."""
    work.points, work.least, work.notebook = 0, 0, {"cells": "lost"}


def capitals(work, exercise):
    """The id in capitals, with blanks."""
    work.name(f"  {work.student.upper()} ")


def decomposed(work, exercise):
    """Another way to write an accent."""
    work.name(f"{work.student}\u00e9")
    work.student = unicodedata.normalize("NFD", f"{work.student}\u00e9")  # its folder


def mistyped(work, exercise):
    """Another id in the notebook."""
    work.name(f"{work.student}-typo")
    work.flags = (f"other id in the notebook: {work.student}-typo",)


def foreign(work, exercise):
    """Imports that the grader does not have."""
    for cell in work.answer_cells(exercise):
        cell["source"] = f"import matplotlib.pyplot as plt\nimport seaborn\n{cell['source']}"
    work.lose(exercise)


def unseeded(work, exercise):
    """An exercise's seeds forgotten."""
    for one in work.assignment.automatic:
        cells = [cell for cell in work.answer_cells(one) if "seed=my.seed" in cell["source"]]
        for cell in cells:
            cell["source"] = re.sub(r",\s*seed=my\.seed", "", cell["source"])
        if cells:  # what does not depend on them is right
            work.least = round(work.points - one.points, 6)
            break


def megabits(work, exercise):
    """Right rates, in Mbit/s."""
    for one in work.assignment.automatic:
        rules = [(rule.unit, bool(rule.cases)) for rule in one.answers.values()]
        if rules == [("bit/s", False)]:
            (name,) = one.answers
            scaled = f"[x / 1e6 for x in {name}] if isinstance({name}, list) else {name} / 1e6"
            work.answer_cells(one)[-1]["source"] += f"\n{name} = {scaled}"
            work.lose(one, 0.75)
            break


KINDS = (
    *(right, wrong, unfinished, untouched, check_changed, duplicated, deleted, endless, reordered),
    *(failing, check_deleted, unreadable, capitals, decomposed, mistyped, foreign, unseeded),
    megabits,
)


def handed_in(assignment, count, seed=1):
    """What a class of so many hands in: of each the folder's name, the kind's, and the `Work`."""
    drawn = random.Random(seed)
    for number, student in enumerate(students(count)):
        kind = KINDS[number % len(KINDS)]
        work = Work(kind, assignment, student, drawn.choice(assignment.automatic))
        yield work.student, kind.__name__, work


def write(assignment, folder, count, seed=1):
    """Write them where nbgrader collects: FOLDER/STUDENT/ps1/ps1.ipynb; -> `Work` by student."""
    intended = {student: work for student, _, work in handed_in(assignment, count, seed)}
    for student, work in intended.items():
        files.write(folder / student / assignment.name / f"{assignment.name}.ipynb", work.text)
    return intended


def misjudged(marks, intended):
    """The marks that are not as intended: (points, least, most, flags) by student."""
    found = {}
    for one in marks:
        work = intended[one.student]
        others = {flag for flag in one.flags if flag.startswith("other id")}
        worth = work.least - 1e-6 <= one.points <= work.points + 1e-6
        if not worth or one.pending or others != {*work.flags}:
            found[one.student] = (one.points, work.least, work.points, one.flags)
    return found
