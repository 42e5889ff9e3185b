"""What every exercise's points are given for: of an answer in words its rubric, of all a page."""

import math
import re

from netlab.course.answers.functions import written
from netlab.description import Description
from netlab.errors import NetlabError

MARK = "**Rubric.**"
CRITERION = re.compile(r"- (\d+(?:\.\d+)?) points?: *(\S.*)")


class Criterion(Description):
    """What some of the points are for."""

    points: float
    text: str


class Rubric(Description):
    """What a person marks an answer in words by."""

    answer: str  # a model answer, in Markdown
    criteria: list[Criterion]


def rubric(text, points, where) -> Rubric:
    """Read the text between the marks of a solution; its points are those of the cell.

    Examples
    --------
    >>> rubric("The window.\\n\\n**Rubric.**\\n- 2 points: names it", 2, "cell 9")
    Rubric(answer='The window.', criteria=[Criterion(points=2.0, text='names it')])
    """
    answer, _, listed = text.partition(MARK)
    criteria = []
    for line in filter(None, map(str.strip, listed.split("\n"))):
        if found := CRITERION.fullmatch(line):
            criteria.append(Criterion(float(found[1]), found[2]))
        elif criteria:
            criteria[-1] = criteria[-1].but(text=f"{criteria[-1].text} {line}")
        else:
            raise NetlabError(f"{where}: below {MARK} write what points are for: - 2 points: ...")
    given = sum(one.points for one in criteria)
    if criteria and not math.isclose(given, points):
        raise NetlabError(f"{where}: its rubric gives {given:g} points, and the cell {points:g}")
    return Rubric(answer.strip(), criteria)


def page(assignment):
    """Markdown: every exercise of a problem set, what is compared, and the manual rubrics."""
    lines = [
        f"# {assignment.title}: what points are given for",
        "",
        f"{assignment.max_points:g} points"
        + f", about {assignment.minutes} minutes" * bool(assignment.minutes)
        + ". What a student's notebook computes is compared with what the solution computes with"
        " that student's own parameters. A close answer gets half of its points; one whose unit"
        " alone is wrong, a quarter; an answer of several parts, the share that is right."
        " Students who make a mistake that is named below see it in their hint, and keep what is"
        " right in other parts, but no quarter for a unit.",
        "",
    ]
    for exercise in assignment.exercises:
        lines += [f"## {exercise.title or exercise.id}", ""]
        lines += [f"`{exercise.id}`, {exercise.points:g} points, "]
        if exercise.manual:
            lines[-1] += "marked by a person."
            lines += ["", exercise.model.strip(), ""]
            continue
        lines[-1] += "marked by the computer."
        lines += ["", *(row for one in exercise.answers.values() for row in answer(one)), ""]
    return "\n".join(lines)


def answer(rule):
    """The lines about one answer."""
    unit = f", in {rule.unit}" if rule.unit else ""
    if rule.state:
        right = f"what was typed leads to the state `{rule.state}`"
    else:
        right = "to be as measured" if rule.exact else f"right within {100 * rule.within:g} %"
    yield f"- `{rule.name}`{unit}: {rule.points:g} points; {right}"
    for calls, text in ((rule.cases, "called with"), (rule.pairs, "compared between")):
        if calls:
            yield f"    - {text} {', '.join(f'`{written(each)[1:-1]}`' for each in calls)}"
    for hint, expression in rule.mistakes.items():
        yield f"    - a known mistake: {hint} (`{expression}`)"
