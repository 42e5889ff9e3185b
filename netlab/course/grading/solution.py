"""What is right: the solution's answers, with each student's own numbers."""

from netlab.course.grading.executed import execute
from netlab.course.grading.run import to_run


def reference(assignment, students, runs, secret=None):
    """For each student: the id, `Executed.answers` of the solution, and why it fails, or ""."""
    cells, waiting = to_run(assignment, assignment.cells, "solved"), list(students)
    while waiting:
        found = execute(cells, waiting, assignment.name, runs, secret, mistakes=True)
        for student, executed in found.items():
            yield student, executed.answers, failure(executed, assignment)
        waiting = waiting[len(found) :]


def failure(executed, assignment):
    """Why a solution has not answered everything; "" if it has."""
    if executed.ended:
        return f"it ended: {executed.ended}"
    for cell, error in executed.errors.items():
        return f"cell {cell} fails: {error}"
    for exercise in assignment.automatic:
        for name, form in executed.answers.get(exercise.id, {"any": None}).items():
            if form is None or form["kind"] in ("nothing", "error", "other"):
                return f"no answer {name!r} for {exercise.id}: {form}"
        for name, rule in exercise.answers.items():
            if bool(rule.state) != (executed.answers[exercise.id][name]["kind"] == "network"):
                return f"{name!r} of {exercise.id}: a network is compared by its `state`"
    return ""
