"""Marks as people read them: a table of the class, and a page for each student."""

import csv
import io
from pathlib import Path
from urllib.parse import quote

from netlab.course.adapters.table import plain
from netlab.course.checks.verdicts import printable
from netlab.course.grading.batch import filed
from netlab.engines.cache import replace_text
from netlab.errors import NetlabError, needs_notebooks

COLUMNS = ("student", "assignment", "points", "max_points", "flags", "reason")
WORDS = {"right": "right", "close": "close", "wrong": "not right", "nothing": "no answer"}
TEMPLATE = Path(__file__).with_name("feedback.html")


def table(marks):
    """The class as CSV, one row for each student."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for one in marks:
        cells = [one["student"], one["assignment"], f"{one['points']:g}", f"{one['max_points']:g}"]
        rows.writerow(map(plain, [*cells, "; ".join(one["flags"]), one["reason"]]))
    return text.getvalue()


def write(marks, path):
    """Write the table to a CSV file.

    Raises
    ------
    NetlabError
        It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, table(marks))
    except OSError as error:
        raise NetlabError(f"-o {path}: {error.strerror}; name another file") from None


def feedback(marks, folder):
    """Write a page for each student to ``folder/feedback``, and one of all, for who teaches.

    Parameters
    ----------
    marks : list of dict
    folder : pathlib.Path

    Returns
    -------
    pathlib.Path
        The page with all.
    """
    with needs_notebooks("course", "what makes and grades problem sets"):
        import jinja2
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    page, listed = environment.from_string(TEMPLATE.read_text()), []
    (folder / "feedback").mkdir(parents=True, exist_ok=True)
    for one in marks:
        name = f"feedback/{filed(one['student'])}.html"
        shown = shortened(one)
        title = f"{one['assignment']}: {printable(one['student'])}"
        replace_text(folder / name, page.render(title=title, marks=shown, words=WORDS))
        listed.append(shown | {"page": quote(name)})
    index = folder / "class.html"
    title = f"{marks[0]['assignment']}: all marks" if marks else "no marks"
    replace_text(index, page.render(title=title, students=listed))
    return index


def shortened(value):
    """The same with texts that are safe to print; lines stay where a student wrote them."""
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items()}
    if isinstance(value, list):
        return [shortened(one) for one in value]
    if isinstance(value, str):
        return "\n".join(printable(line, most=2000) for line in value.split("\n"))
    return value
