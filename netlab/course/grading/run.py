"""Run a notebook in a jail, and keep what its answers' names have as plain data."""

import time

from netlab.course.grading.executed import Executed, execute
from netlab.errors import LimitError

# A notebook that does not run to its end is tried again, as it may have been this machine's fault:
# but not one that took long, or both tries would take longer than Gradescope waits, ten minutes.
TRIES, LONG_S = 2, 100.0


def run(cells, student, assignment, runs, secret=None) -> Executed:
    """Run the cells of a repaired notebook as a student's. What they do never raises; an
    `EngineError` says that no jail works here.
    """
    setup = {cell.id for cell in assignment.cells if cell.role == "locked"}
    order, began_s = to_run(assignment, cells, "source"), time.monotonic()
    for _ in range(TRIES):
        executed = execute(order, [student], assignment.name, runs, secret)[student]
        if not (executed.ended or setup & executed.errors.keys()):
            break
        if isinstance(executed.error, LimitError) or time.monotonic() - began_s > LONG_S:
            break
    return executed


def to_run(assignment, cells, text):
    """Cells as `execute` takes them; `text` names the attribute that is run."""
    rules = {exercise.id: exercise.answers for exercise in assignment.automatic}
    return [
        {"id": name, "kind": one.kind, "source": getattr(one, text), "answers": rules.get(name, {})}
        for name, one in zip(named(cells), cells, strict=True)
    ]


def named(cells):
    """What cells are called while they run: a student's own by their place."""
    return [cell.id or f"#{number}" for number, cell in enumerate(cells)]
