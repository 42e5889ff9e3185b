"""Students that do not exist, and what they hand in: for a demonstration, and to try the grader on
a whole class. Each kind of trouble says what it should be worth.
"""

import copy
import json
import random
import re
import unicodedata

from netlab.course.own_numbers import SECRET, parameters
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
    """A notebook with all answers, for somebody to spoil.

    Parameters
    ----------
    assignment : netlab.course.sets.source.Assignment
    student : str
        The id under which it is handed in, and which stands in its first cell.

    Attributes
    ----------
    points, least : float
        What it is worth, at most and at least.
    flags : tuple of str
        What the grader should flag about its id.
    """

    def __init__(self, assignment, student):
        self.assignment, self.student, self.flags = assignment, student, ()
        self.notebook = assignment.solution()
        self.automatic = [one for one in assignment.exercises if not one.manual]
        self.points = self.least = sum(one.points for one in self.automatic)
        self.name(student)

    def name(self, student):
        """Write an id into the first cell."""
        for cell in self.cells:
            if self.id(cell) == f"{self.assignment.name}-name":
                cell["source"] = f'student = "{student}"'

    @property
    def cells(self):
        return self.notebook["cells"]

    @property
    def text(self):
        return json.dumps(self.notebook).encode()

    @staticmethod
    def id(cell):
        return cell["metadata"].get("nbgrader", {}).get("grade_id", "")

    def answer_cells(self, exercise):
        """The cells of a student's code before an exercise's check cell."""
        found = []
        for cell in self.assignment.cells:
            if cell.id == exercise.id:
                break
            if cell.role == "check":
                found = []
            elif cell.role == "answer":
                found.append(cell.id)
        return [cell for cell in self.cells if self.id(cell) in found]

    def lose(self, exercise, share=1):
        self.points = self.least = round(self.points - share * exercise.points, 6)

    def by_hand(self, student):
        """The first exercise whose solution computes numbers without a run, and these numbers for
        an id, by name; None and none, where the set has no such exercise.
        """
        own, roles = {"student": student}, [cell.role for cell in self.assignment.cells]
        for cell in self.assignment.cells[: roles.index("answer")]:
            if cell.kind == "code" and cell.role == "locked":
                exec(cell.solved, own)  # the teacher's own text
        own["my"] = parameters(self.assignment.name, student, SECRET)
        for exercise in self.automatic:
            text = "\n".join(cell["source"] for cell in self.answer_cells(exercise))
            if text and "nl.run" not in text:
                exec(text, own)
                values = {name: own[name] for name in exercise.answers}
                if all(isinstance(one, float) for one in values.values()):
                    return exercise, values
        return None, {}

    def type_in(self, student):
        """Type in as numbers what one exercise's solution computes for an id; -> the exercise."""
        exercise, values = self.by_hand(student)
        for cell in self.answer_cells(exercise) if exercise else ():
            cell["source"] = "\n".join(f"{name} = {value!r}" for name, value in values.items())
        return exercise


def untouched(work, exercise):
    """As it was handed out."""
    work.notebook, work.points, work.least = work.assignment.release(), 0, 0
    work.name(work.student)


def right(work, exercise):
    """Everything right."""


def wrong(work, exercise):
    """One exercise wrong."""
    for cell in work.answer_cells(exercise)[-1:]:
        cell["source"] += "".join(f'\n{name} = "no idea"' for name in exercise.answers)
    work.lose(exercise)


def deleted(work, exercise):
    """An answer cell deleted."""
    for cell in work.answer_cells(exercise):
        work.cells.remove(cell)
    work.lose(exercise)


def check_deleted(work, exercise):
    """A check cell deleted."""
    work.notebook["cells"] = [cell for cell in work.cells if work.id(cell) != exercise.id]


def check_changed(work, exercise):
    """A check cell rewritten, with 1000 points."""
    for cell in work.cells:
        if work.id(cell) == exercise.id:
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
    for late in work.automatic[len(work.automatic) // 2 :]:
        for cell in work.answer_cells(late):
            cell["source"] = fresh[work.id(cell)]
        work.lose(late)


def unreadable(work, exercise):
    """A file that is no notebook."""
    work.points, work.least, work.notebook = 0, 0, {"cells": "lost"}


def capitals(work, exercise):
    """The id in capitals, with blanks."""
    work.name(f"  {work.student.upper()} ")
    work.type_in(work.student.upper())  # the numbers are the right ones


def decomposed(work, exercise):
    """Another way to write an accent."""
    student = f"{work.student}\u00e9"
    work.name(student)
    work.type_in(student)
    work.student = unicodedata.normalize("NFD", student)  # its folder, as some systems write it


def mistyped(work, exercise):
    """Another id, and its numbers typed in."""
    _, own = work.by_hand(work.student)
    for other in map(f"{work.student}-typo{{}}".format, range(100)):
        _, values = work.by_hand(other)
        ratios = [values[name] / own[name] for name in own]
        if all(1.3 < max(one, 1 / one) < 1.8 for one in ratios):  # neither close nor a slip
            break
    work.name(other)
    if exercise := work.type_in(other):
        work.lose(exercise)
    work.flags = (f"other id in the notebook: {other}",)


def foreign(work, exercise):
    """Imports that the grader does not have."""
    for cell in work.answer_cells(exercise):
        cell["source"] = f"import matplotlib.pyplot as plt\nimport seaborn\n{cell['source']}"
    work.lose(exercise)


def unseeded(work, exercise):
    """An exercise's seeds forgotten."""
    for one in work.automatic:
        cells = [cell for cell in work.answer_cells(one) if "seed=my.seed" in cell["source"]]
        for cell in cells:
            cell["source"] = re.sub(r",\s*seed=my\.seed", "", cell["source"])
        if cells:  # what does not depend on them is right
            work.least = round(work.points - one.points, 6)
            break


def megabits(work, exercise):
    """Right rates, in Mbit/s."""
    for one in work.automatic:
        specs = [(spec.get("unit"), "cases" in spec) for spec in one.answers.values()]
        if specs == [("bit/s", False)]:
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


def work_of(kind, assignment, student, exercise=None):
    """The work of a student with one kind of trouble, in this exercise."""
    work = Work(assignment, student)
    kind(work, exercise)
    return work


def handed_in(assignment, count, seed=1):
    """What a class of so many hands in.

    Yields
    ------
    student : str
        The name of the folder.
    kind : str
        The name of one of `KINDS`.
    work : Work
    """
    automatic = [one for one in assignment.exercises if not one.manual]
    drawn = random.Random(seed)
    for number, student in enumerate(students(count)):
        kind = KINDS[number % len(KINDS)]
        work = work_of(kind, assignment, student, drawn.choice(automatic))
        yield work.student, kind.__name__, work


def write(assignment, folder, count, seed=1):
    """Put them where nbgrader collects: FOLDER/STUDENT/ps1/ps1.ipynb; -> `Work` by student."""
    intended = {}
    for student, _, work in handed_in(assignment, count, seed):
        path = folder / student / assignment.name / f"{assignment.name}.ipynb"
        files.write(path, work.text)
        intended[student] = work
    return intended


def misjudged(marks, intended):
    """The marks that are not as intended: (points, least, most, flags) by student."""
    found = {}
    for one in marks:
        work = intended[one["student"]]
        others = {flag for flag in one["flags"] if flag.startswith("other id")}
        worth = work.least - 1e-6 <= one["points"] <= work.points + 1e-6
        if not worth or one["pending"] or others != {*work.flags}:
            found[one["student"]] = (one["points"], work.least, work.points, one["flags"])
    return found
