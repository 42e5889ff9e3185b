"""Marks as people read them: a table of the class, and pages: of the class, of all texts that a
person marks, and one for each student.
"""

import base64
import hashlib
import re
from collections import Counter
from pathlib import Path
from statistics import mean, median
from urllib.parse import quote

from netlab.course.grading.work import file_names, filed
from netlab.course.texts import as_csv, printable
from netlab.engines import files
from netlab.errors import needs_notebooks

COLUMNS = {  # of the table
    "student": "the id",
    "assignment": "the problem set",
    "points": "of the exercises that the computer marks, whenever the work came",
    "max_points": "the most that these can be",
    "flags": "what a teacher should look at; docs/course.md has each",
    "reason": "where points were lost, in a sentence",
}
IN_ALL = {  # and these, once somebody is late, or has points by hand
    "in all": "what counts: `points` and those by hand, less what is lost by being late",
    "max in all": "all points of the set, those for answers in words, too, given or not",
}
WORDS = {"right": "right", "close": "close", "wrong": "not right", "nothing": "no answer"}
HERE = Path(__file__).parent
BINS, MOST_HINTS = 10, 3
MANY_DIGITS = re.compile(r"\d(?:[\d.,_]| (?=\d{3}\b))*\d(e[+-]?\d+)?")  # also 20 000 000


def table(everybody):
    """The class as CSV, one row for each student."""
    names, what_counts = in_all(everybody)
    rows = []
    for one in everybody:
        points = one.points, one.max_points
        words = "; ".join(one.flags), one.reason
        rows.append([one.student, one.assignment, *points, *words, *what_counts(one)])
    return as_csv([[*COLUMNS, *names], *rows])


def in_all(everybody):
    """The columns of a table that `IN_ALL` has, and a function: their numbers in a student's row;
    none where what counts are `points`.
    """
    if not any(one.late or one.by_hand is not None for one in everybody):
        return [], lambda one: []
    return [*IN_ALL], lambda one: [one.in_all, one.max_in_all]


def reference():
    """The columns of the table, as a table in Markdown."""
    rows = [f"| `{name}` | {text} |" for name, text in (COLUMNS | IN_ALL).items()]
    return "\n".join(["| column | what it says |", "|---|---|", *rows])


def report(everybody, folder, assignment=None):
    """Write a page for each student to ``folder/feedback``, one of each exercise's answers in words
    to ``folder/texts``, and one of all; -> its path. `assignment` has the rubrics.
    """
    with needs_notebooks("course", "what makes and grades problem sets"):
        import jinja2
        from markupsafe import Markup
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=shown,
    )

    def write(path, template, **values):
        files.write(folder / path, environment.get_template(template).render(**values))
        return quote(path)

    name = everybody[0].assignment if everybody else ""
    names, pages, texts = file_names([one.student for one in everybody]), [], []
    for one in everybody:
        path = f"feedback/{one.file or names[one.student]}.html"
        title = f"{name}: {one.student}"
        pages.append((one, write(path, "feedback.html", title=title, marks=one, words=WORDS)))
    models = {one.id: one.rubric for one in getattr(assignment, "exercises", ()) if one.manual}
    for id_, (most, answers) in in_words(everybody).items():
        values = {"title": f"{id_}: all texts", "rubric": models.get(id_)}
        path = f"texts/{filed(id_)}.html"
        texts.append((id_, write(path, "texts.html", **values, most=most, texts=answers)))
    script = (HERE / "pages.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    ours = {"script": Markup(script), "script_hash": Markup(f"sha256-{digest}")}
    pages.sort(key=lambda page: not page[0].flags)
    values = {"title": f"{name}: all marks" if name else "no marks", "found": found(everybody)}
    values["by_hand"] = any(one.by_hand is not None for one in everybody)
    values["in_all"] = bool(in_all(everybody)[0])
    write("class.html", "class.html", students=pages, texts=texts, **values, **ours)
    return folder / "class.html"


def in_words(everybody):
    """By exercise: the most points, and of each answer in words whose it is, the text, the points
    and who has the same; those that are empty come last. A group's is there once.
    """
    exercises, first, there = {}, {}, set()
    for one in everybody:
        if one.student in there:
            continue
        there |= {*one.group}
        whose = ", ".join(one.group or [one.student])
        for each in one.manual:
            answers = exercises.setdefault(each.id, (each.max_points, []))[1]
            same = each.id, " ".join(each.text.split())
            twin = first.setdefault(same, whose) if same[1] else whose
            answers.append((whose, each, twin if twin != whose else ""))
    for _, answers in exercises.values():
        answers.sort(key=lambda answer: not answer[1].text)
    return exercises


def found(everybody):
    """What a class found easy and hard, of those who have marks."""
    graded = [one for one in everybody if one.graded]
    if not graded:
        return {"count": 0}
    shapes = Counter(map(shape, graded))
    graded = [one for one in graded if shape(one) == shapes.most_common(1)[0][0]]
    most, points = graded[0].max_points, [one.points for one in graded]
    bins = Counter(min(int(BINS * each / (most or 1)), BINS - 1) for each in points)
    return {
        "count": len(graded),
        "most": most,
        "mean": mean(points),
        "median": median(points),
        "highest": max(bins.values()),
        "bins": [(f"{one * most / BINS:.3g}+", bins[one]) for one in range(BINS)],
        "exercises": [*map(of_exercise, zip(*(one.exercises for one in graded), strict=True))],
    }


def shape(marks):
    """The exercises and their points: others, where somebody was graded before the set changed."""
    return tuple((each.id, each.max_points) for each in marks.exercises)


def of_exercise(everybody):
    """The average of an exercise, and of each of its answers how many are right, and the hints."""
    most, average = everybody[0].max_points, mean(one.points for one in everybody)
    answers = {}
    for row in (row for one in everybody for row in one.answers):
        verdicts, hints = answers.setdefault(row.name, (Counter(), Counter()))
        verdicts[row.verdict] += 1
        if row.verdict != "right":
            # without what a student gave, and numbers, which differ from one to the next
            hint = re.sub(r"^you gave .*?: ", "", row.hint)
            hints[MANY_DIGITS.sub("\N{HORIZONTAL ELLIPSIS}", hint)] += 1
    return {
        "title": everybody[0].title or everybody[0].id,
        "most": most,
        "mean": average,
        "rate": round(100 * average / most) if most else 0,
        "answers": [
            (name, verdicts, hints.most_common(MOST_HINTS))
            for name, (verdicts, hints) in answers.items()
        ],
    }


def shown(value):
    """A text that is safe to print; lines stay where a student wrote them."""
    if type(value) is not str:  # a number, or markup of the page's own
        return value
    return "\n".join(printable(line, most=2000) for line in value.split("\n"))
