"""`netlab course demo`: ten students who do not exist hand in a problem set, and it is graded."""

import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from netlab.cli.output import say
from netlab.engines import files
from netlab.errors import NetlabError


def demo(
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Folder for what they hand in (submitted/), and for the marks.",
        ),
    ],
    name: Annotated[str, typer.Option("--set", help="The problem set.")] = "ps1",
    count: Annotated[int, typer.Option("--students", min=1, help="How many there are.")] = 10,
    course: Annotated[
        Path | None,
        typer.Option(
            "--course", help="nbgrader's course folder; notebooks/assignments, if not given."
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show/--no-show", help="Open the page of all marks in a browser.")
    ] = True,
):
    """Grade a class of invented students: some are right, some are not, some meddle. Prints what
    each handed in, what that is worth, and what the grader gave.
    """
    from netlab.course import invented
    from netlab.course.grading import report
    from netlab.course.grading.batch import Batch
    from netlab.course.grading.work import as_written, held, write_out
    from netlab.course.sets import source

    assignment = source.find(name, course)
    class_ = list(invented.handed_in(source.read(assignment), count))
    submitted, work = output / "submitted", output / f"{name}-marks"
    table = output / f"{name}-marks.csv"
    files.check(table, "--output", as_written(work))
    new = {submitted / who / name / f"{name}.ipynb": made.text for who, _, made in class_}
    for path in {*submitted.glob(f"*/{name}/{name}.ipynb")} - {*new}:  # of a demonstration?
        files.check(path, "--output", as_written(work))
    with held(work):
        for path, text in new.items():
            write_out(work, path, text)
    marks = Batch(assignment, submitted, work).grade()
    write_out(work, table, report.table(marks))
    page = report.feedback(marks, work).absolute()
    given = {one["student"]: one["points"] for one in marks}
    say(f"{'student':<8} {'handed in':<42} {'worth':>6} {'given':>6}")
    for student, kind, work in class_:
        done = getattr(invented, kind).__doc__.rstrip(".")
        say(f"{student:<8} {done:<42} {work.points:>6g} {given[student]:>6g}")
    say("", f"The table: {table}", f"All marks on a page: {page}")
    if show:
        open_page(page)
    intended = {student: made for student, _, made in class_}
    if invented.misjudged([one for one in marks if one["student"] in intended], intended):
        raise NetlabError("not everybody got what the work is worth: see the table above")


def open_page(page):
    """Open a page where there is a screen; elsewhere, its path was printed."""
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(page.as_uri())
