"""Students that do not exist, and what they hand in: for a demonstration, and to try the grader on
a whole class. Each kind of trouble says what it should be worth.
"""

import copy
import json
import random

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
        Whose name stands in its first cell.
    solved : bool
        With all answers; else as it was handed out.
    """

    def __init__(self, assignment, student, solved=True):
        self.assignment = assignment
        self.notebook = copy.deepcopy(assignment.solution() if solved else assignment.release())
        self.points = assignment_points(assignment) if solved else 0
        for cell in self.cells:
            if self.id(cell) == f"{assignment.name}-name":
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

    def lose(self, exercise):
        self.points = round(self.points - exercise.points, 6)

    @property
    def text(self):
        return json.dumps(self.notebook).encode()


def assignment_points(assignment):
    return sum(one.points for one in assignment.exercises if not one.manual)


def untouched(assignment, student, exercise):
    return Work(assignment, student, solved=False)


def right(assignment, student, exercise):
    return Work(assignment, student)


def wrong(assignment, student, exercise):
    """One exercise has answers that are no answers."""
    work = right(assignment, student, exercise)
    for cell in work.answer_cells(exercise)[-1:]:
        lines = [f'{name} = "no idea"' for name in exercise.answers]
        cell["source"] += "\n" + "\n".join(lines)
    work.lose(exercise)
    return work


def deleted(assignment, student, exercise):
    """The cells of one answer are gone."""
    work = right(assignment, student, exercise)
    for cell in work.answer_cells(exercise):
        work.cells.remove(cell)
    work.lose(exercise)
    return work


def check_deleted(assignment, student, exercise):
    """A check cell is gone: the grader puts it back."""
    work = right(assignment, student, exercise)
    work.notebook["cells"] = [cell for cell in work.cells if work.id(cell) != exercise.id]
    return work


def check_changed(assignment, student, exercise):
    """A check cell praises itself, and says that it is worth 1000 points."""
    work = right(assignment, student, exercise)
    for cell in work.cells:
        if work.id(cell) == exercise.id:
            cell["source"] = 'print("all right")'
            cell["metadata"]["nbgrader"]["points"] = 1000
    return work


def duplicated(assignment, student, exercise):
    """An answer's cell is there twice."""
    work = right(assignment, student, exercise)
    for cell in work.answer_cells(exercise)[:1]:
        work.cells.insert(work.cells.index(cell), copy.deepcopy(cell))
    return work


def reordered(assignment, student, exercise):
    work = right(assignment, student, exercise)
    work.cells.reverse()
    return work


def failing(assignment, student, exercise):
    """A cell of the student's own fails; the answers are right."""
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
    """One answer computes for ever."""
    work = right(assignment, student, exercise)
    for cell in work.answer_cells(exercise)[-1:]:
        names = " = ".join(exercise.answers)
        cell["source"] = f"{names} = None\nwhile True:\n    pass"
    work.lose(exercise)
    return work


def unfinished(assignment, student, exercise):
    """Only the first half of the exercises was tried."""
    work = Work(assignment, student)
    fresh = {Work.id(cell): cell for cell in assignment.release()["cells"]}
    automatic = [one for one in assignment.exercises if not one.manual]
    for late in automatic[len(automatic) // 2 :]:
        for cell in work.answer_cells(late):
            cell["source"] = fresh[Work.id(cell)]["source"]
        work.lose(late)
    return work


def unreadable(assignment, student, exercise):
    work = Work(assignment, student)
    work.points, work.notebook = 0, {"cells": "lost"}
    return work


KINDS = (
    *(right, wrong, unfinished, untouched, check_changed, duplicated, deleted, endless, reordered),
    *(failing, check_deleted, unreadable),
)


def handed_in(assignment, count, seed=1):
    """What a class of so many hands in.

    Yields
    ------
    student : str
    kind : str
    data : bytes
    points : float
        What it is worth.
    """
    automatic = [one for one in assignment.exercises if not one.manual]
    drawn = random.Random(seed)
    for number, student in enumerate(students(count)):
        kind = KINDS[number % len(KINDS)]
        work = kind(assignment, student, drawn.choice(automatic))
        yield student, kind.__name__, work.text, work.points


def write(assignment, folder, count, seed=1):
    """Put them where nbgrader collects: FOLDER/STUDENT/ps1/ps1.ipynb; -> points by student."""
    intended = {}
    for student, _, data, points in handed_in(assignment, count, seed):
        path = folder / student / assignment.name / f"{assignment.name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        intended[student] = points
    return intended
