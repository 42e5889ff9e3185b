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
    """A notebook that somebody works on.

    Parameters
    ----------
    assignment : netlab.course.sets.source.Assignment
    student : str
        The id under which it is handed in, and which stands in its first cell.
    solved : bool
        With all answers; else as it was handed out.

    Attributes
    ----------
    points, least : float
        What it is worth, at most and at least.
    flags : tuple of str
        What the grader should flag about its id.
    """

    def __init__(self, assignment, student, solved=True):
        self.assignment, self.student, self.flags = assignment, student, ()
        self.notebook = copy.deepcopy(assignment.solution() if solved else assignment.release())
        self.points = self.least = assignment_points(assignment) if solved else 0
        self.name(student)

    def name(self, student):
        """Write an id into the first cell."""
        for cell in self.cells:
            if self.id(cell) == f"{self.assignment.name}-name":
                cell["source"] = f'student = "{student}"'

    @property
    def cells(self):
        return self.notebook["cells"]

    @staticmethod
    def id(cell):
        return cell["metadata"].get("nbgrader", {}).get("grade_id", "")

    def answer_cells(self, exercise):
        """The cells of a student's code before an exercise's check cell."""
        ids = [cell.id for cell in self.assignment.cells]
        at, found = ids.index(exercise.id), []
        for cell in reversed(self.assignment.cells[:at]):
            if cell.role == "check":
                break
            if cell.role == "answer":
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
        for exercise in filter(lambda one: not one.manual, self.assignment.exercises):
            text = "\n".join(cell["source"] for cell in reversed(self.answer_cells(exercise)))
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

    @property
    def text(self):
        return json.dumps(self.notebook).encode()


def assignment_points(assignment):
    return sum(one.points for one in assignment.exercises if not one.manual)


def untouched(assignment, student, exercise):
    """As it was handed out."""
    return Work(assignment, student, solved=False)


def right(assignment, student, exercise):
    """Everything right."""
    return Work(assignment, student)


def wrong(assignment, student, exercise):
    """One exercise wrong."""
    work = right(assignment, student, exercise)
    for cell in work.answer_cells(exercise)[-1:]:
        lines = [f'{name} = "no idea"' for name in exercise.answers]
        cell["source"] += "\n" + "\n".join(lines)
    work.lose(exercise)
    return work


def deleted(assignment, student, exercise):
    """An answer cell deleted."""
    work = right(assignment, student, exercise)
    for cell in work.answer_cells(exercise):
        work.cells.remove(cell)
    work.lose(exercise)
    return work


def check_deleted(assignment, student, exercise):
    """A check cell deleted."""
    work = right(assignment, student, exercise)
    work.notebook["cells"] = [cell for cell in work.cells if work.id(cell) != exercise.id]
    return work


def check_changed(assignment, student, exercise):
    """A check cell rewritten, with 1000 points."""
    work = right(assignment, student, exercise)
    for cell in work.cells:
        if work.id(cell) == exercise.id:
            cell["source"] = 'print("all right")'
            cell["metadata"]["nbgrader"]["points"] = 1000
    return work


def duplicated(assignment, student, exercise):
    """An answer cell twice."""
    work = right(assignment, student, exercise)
    for cell in work.answer_cells(exercise)[:1]:
        work.cells.insert(work.cells.index(cell), copy.deepcopy(cell))
    return work


def reordered(assignment, student, exercise):
    """All cells in reverse order."""
    work = right(assignment, student, exercise)
    work.cells.reverse()
    return work


def failing(assignment, student, exercise):
    """A cell of his or her own that fails."""
    work = right(assignment, student, exercise)
    own = {
        "cell_type": "code",
        "id": "own",
        "metadata": {},
        "source": "1 / 0",
        "outputs": [],
        "execution_count": None,
    }
    work.cells.insert(len(work.cells) // 2, own)
    return work


def endless(assignment, student, exercise):
    """An endless loop."""
    work = right(assignment, student, exercise)
    for cell in work.answer_cells(exercise)[-1:]:
        names = " = ".join(exercise.answers)
        cell["source"] = f"{names} = None\nwhile True:\n    pass"
    work.lose(exercise)
    return work


def unfinished(assignment, student, exercise):
    """Only the first half tried."""
    work = Work(assignment, student)
    fresh = {Work.id(cell): cell for cell in assignment.release()["cells"]}
    automatic = [one for one in assignment.exercises if not one.manual]
    for late in automatic[len(automatic) // 2 :]:
        for cell in work.answer_cells(late):
            cell["source"] = fresh[Work.id(cell)]["source"]
        work.lose(late)
    return work


def unreadable(assignment, student, exercise):
    """A file that is no notebook."""
    work = Work(assignment, student)
    work.points, work.least, work.notebook = 0, 0, {"cells": "lost"}
    return work


def capitals(assignment, student, exercise):
    """The id in capitals, with blanks."""
    work = right(assignment, student, exercise)
    work.name(f"  {student.upper()} ")
    work.type_in(student.upper())
    return work


def decomposed(assignment, student, exercise):
    """Another way to write an accent."""
    work = right(assignment, f"{student}\u00e9", exercise)
    work.type_in(work.student)
    work.student = unicodedata.normalize("NFD", work.student)
    return work


def mistyped(assignment, student, exercise):
    """Another id, and its numbers typed in."""
    work = right(assignment, student, exercise)
    _, own = work.by_hand(student)
    for other in map(f"{student}-typo{{}}".format, range(100)):
        _, values = work.by_hand(other)
        ratios = [values[name] / own[name] for name in own]
        if all(1.3 < max(one, 1 / one) < 1.8 for one in ratios):  # neither close nor a slip
            break
    work.name(other)
    if exercise := work.type_in(other):
        work.lose(exercise)
    work.flags = (f"other id in the notebook: {other}",)
    return work


def foreign(assignment, student, exercise):
    """Imports that the grader does not have."""
    work = right(assignment, student, exercise)
    for cell in work.answer_cells(exercise):
        cell["source"] = f"import matplotlib.pyplot as plt\nimport seaborn\n{cell['source']}"
    work.lose(exercise)
    return work


def unseeded(assignment, student, exercise):
    """An exercise's seeds forgotten."""
    work = right(assignment, student, exercise)
    for one in filter(lambda one: not one.manual, assignment.exercises):
        cells = [cell for cell in work.answer_cells(one) if "seed=my.seed" in cell["source"]]
        for cell in cells:
            cell["source"] = re.sub(r",\s*seed=my\.seed", "", cell["source"])
        if cells:
            work.least = round(work.points - one.points, 6)
            break
    return work


def megabits(assignment, student, exercise):
    """Right rates, in Mbit/s."""
    work = right(assignment, student, exercise)
    for one in filter(lambda one: not one.manual, assignment.exercises):
        if [(spec.get("unit"), "cases" in spec) for spec in one.answers.values()] != [
            ("bit/s", False)
        ]:
            continue
        (name,) = one.answers
        scaled = f"[x / 1e6 for x in {name}] if isinstance({name}, list) else {name} / 1e6"
        work.answer_cells(one)[0]["source"] += f"\n{name} = {scaled}"
        work.lose(one, 0.75)
        break
    return work


KINDS = (  # whose texts say to people what was handed in
    *(right, wrong, unfinished, untouched, check_changed, duplicated, deleted, endless, reordered),
    *(failing, check_deleted, unreadable, capitals, decomposed, mistyped, foreign, unseeded),
    megabits,
)


def handed_in(assignment, count, seed=1):
    """What a class of so many hands in.

    Yields
    ------
    student : str
        The name of the folder.
    kind : str
    work : Work
    """
    automatic = [one for one in assignment.exercises if not one.manual]
    drawn = random.Random(seed)
    for number, student in enumerate(students(count)):
        kind = KINDS[number % len(KINDS)]
        work = kind(assignment, student, drawn.choice(automatic))
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
    return {
        one["student"]: (one["points"], work.least, work.points, one["flags"])
        for one in marks
        if (work := intended[one["student"]])
        and not (
            work.least - 1e-6 <= one["points"] <= work.points + 1e-6
            and {*work.flags} == {flag for flag in one["flags"] if flag.startswith("other id")}
            and not one["pending"]
        )
    }
