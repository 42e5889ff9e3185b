"""Marks as people read them: a table of the class, and a page for each student."""

from pathlib import Path
from urllib.parse import quote

from netlab.course.grading.work import filed
from netlab.course.texts import as_csv, printable
from netlab.engines import files
from netlab.errors import needs_notebooks

COLUMNS = ("student", "assignment", "points", "max_points", "flags", "reason")
WORDS = {"right": "right", "close": "close", "wrong": "not right", "nothing": "no answer"}
TEMPLATE = Path(__file__).with_name("feedback.html")


def table(marks):
    """The class as CSV, one row for each student."""
    rows = [one | {"flags": "; ".join(one["flags"])} for one in marks]
    return as_csv([COLUMNS, *([row[name] for name in COLUMNS] for row in rows)])


def feedback(marks, folder):
    """Write a page for each student to ``folder/feedback``, and one of all; -> its path."""
    with needs_notebooks("course", "what makes and grades problem sets"):
        import jinja2
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, finalize=shown
    )
    page, listed = environment.from_string(TEMPLATE.read_text(encoding="utf-8")), []
    for one in marks:
        name = f"feedback/{filed(one['student'])}.html"
        title = f"{one['assignment']}: {one['student']}"
        files.write(folder / name, page.render(title=title, marks=one, words=WORDS))
        listed.append(one | {"page": quote(name)})
    index = folder / "class.html"
    title = f"{marks[0]['assignment']}: all marks" if marks else "no marks"
    files.write(index, page.render(title=title, students=listed))
    return index


def shown(value):
    """A text that is safe to print; lines stay where a student wrote them."""
    if type(value) is not str:  # a number, or markup of the page's own
        return value
    return "\n".join(printable(line, most=2000) for line in value.split("\n"))
