"""What is right: the solution's answers, with each student's own numbers; and the slips of a set
that show when its solution is run.
"""

from netlab.course.answers import forms
from netlab.course.answers.rule import Rule
from netlab.course.grading import recipe
from netlab.course.grading.compare import plain
from netlab.course.grading.executed import execute
from netlab.course.grading.run import to_run
from netlab.course.grading.runs import OverTime, Runs, over_time
from netlab.course.sets import source
from netlab.errors import NetlabError
from netlab.running.progress import line, shown

SOMEBODY = "somebody"  # the id with whose numbers a set is tried
NO_ANSWER = "nothing", "error", "other"  # kinds
NOT_SO = "Not yet", "No answer yet", "Close"  # what checks say of an answer that is not right
CORRECT = "correct its expression"
SAID = "netlab_said"  # the name of what cells have printed, which is kept as an answer
LISTENING = f"""
{SAID} = []
def print(*parts, **_):
    {SAID}.append(" ".join(map(str, parts)))
"""


def reference(assignment, students, runs, secret=None):
    """For each student: the id, `Executed.answers` of the solution, and why it fails, or ""."""
    cells = to_run(assignment, assignment.cells, "solved")
    for student, executed in solved(cells, assignment, students, runs, secret):
        yield student, executed.answers, next(failures(executed, assignment), "")


def solved(cells, assignment, students, runs, secret=None):
    """For each student: the id, and what the solution's cells `Executed`."""
    waiting = list(students)
    while waiting:
        found = execute(cells, waiting, assignment.name, runs, secret, mistakes=True)
        yield from found.items()
        waiting = waiting[len(found) :]


def slips(assignment, secret=None):
    """What keeps a set's solution from all points, each a sentence that names the cell: it is run
    for one student, and handed in. An `EngineError` says that no engine works here, `OverTime`
    that this machine is too slow, or has too much else to do.
    """
    bar = "{desc}: {n_fmt} experiments so far, {elapsed}"
    with line(desc="The solution is run", bar_format=bar, disable=not shown()) as bar:
        runs = Counted(bar)
        cells = listening(assignment)
        ((_, executed),) = solved(cells, assignment, [SOMEBODY], runs, secret)
    if isinstance(executed.error, OverTime):
        raise executed.error
    if found := [*failures(executed, assignment)]:
        return found
    found = [*fruitless(executed, assignment)]
    for exercise, texts in said(executed, assignment).items():
        refused = [text for text in texts if any(word in text for word in NOT_SO)]
        found += [f"cell {exercise}: its check says of the right answer: {one}" for one in refused]
    # what is measured is not measured again
    handed_in = source.text(assignment.solution()).encode()
    marks = recipe.grade(handed_in, SOMEBODY, assignment, executed.answers, Runs(), secret)
    if "look at this one" in marks.flags:
        raise over_time()
    for exercise in marks.exercises:
        found += [
            f"cell {exercise.id}: the right {one.name!r} gets {one.points:g} of {one.max_points:g}"
            f" points when it is handed in: {one.hint}"
            for one in exercise.answers
            if one.share < 1
        ]
    return found


class Counted(Runs):
    """Runs that a bar counts."""

    def __init__(self, bar):
        super().__init__()
        self.bar = bar

    def answer(self, text, spent):
        try:
            return super().answer(text, spent)
        finally:
            self.bar.update()


def listening(assignment, before=""):
    """The solution's cells, whose prints are kept (`said`); the code `before` runs first."""
    cells = to_run(assignment, assignment.cells, "solved")
    for cell in cells:
        cell["answers"] = cell["answers"] and cell["answers"] | {SAID: Rule()}
    return [{"id": "first", "kind": "code", "source": before + LISTENING, "answers": {}}, *cells]


def said(executed, assignment):
    """By check cell, what was printed since the one before it."""
    found, before = {}, 0
    for exercise in assignment.automatic:
        texts = plain(forms.answer(executed.answers[exercise.id][SAID]))
        found[exercise.id], before = texts[before:], len(texts)
    return found


def failures(executed, assignment):
    """Why a solution has not answered everything, each a sentence; those of answers only where no
    cell fails, which may be the reason.
    """
    failed = [f"cell {cell} fails: {error}" for cell, error in executed.errors.items()]
    failed += [f"cell {executed.at} ends it: {executed.ended}"] * bool(executed.ended)
    yield from failed
    for exercise in () if failed else assignment.automatic:
        for name, rule in exercise.answers.items():
            if why := unanswered(executed.answers.get(exercise.id, {}), name, rule):
                yield f"cell {exercise.id}: {why}"


def unanswered(answers, name, rule):
    """Why no answer can be compared with this one; "" where one can."""
    form = answers.get(name)
    if form is None:
        return f"no cell has given {name!r} a value: correct the name in its hidden tests"
    codes = {f"{name}\n": f"state = {rule.state!r}"} if rule.state else {}
    codes |= {f"{name}\n{hint}": f"the mistake {hint!r}" for hint in rule.mistakes}
    if left_out := [code for key, code in codes.items() if key not in answers]:
        return f"{left_out[0]} of {name!r} cannot be evaluated: {form['text']}: {CORRECT}"
    right = forms.answer(form)
    if form["kind"] in NO_ANSWER:
        return f"{name!r} is no answer: {right.look().hint}"
    if bool(rule.state) != (form["kind"] == "network"):
        return f"{name!r}: a network is compared by its `state`, and nothing else is"
    try:
        if not rule.state:
            forms.compare(right, right, rule)
    except NetlabError as error:
        return f"{name!r}: {error}"
    return ""


def fruitless(executed, assignment):
    """Mistakes that no answer can be, each a sentence: grading passes over them."""
    for exercise in assignment.automatic:
        for name, rule in exercise.answers.items():
            for hint in rule.mistakes:
                form = executed.answers[exercise.id][f"{name}\n{hint}"]
                parts = [form, *(form.get("results") or [])]
                if raised := [one["text"] for one in parts if one["kind"] == "error"]:
                    what = f"the mistake {hint!r} of {name!r} cannot be evaluated"
                    yield f"cell {exercise.id}: {what}: {raised[0]}: {CORRECT}"
