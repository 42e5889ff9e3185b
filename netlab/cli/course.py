"""`netlab course`: problem sets, from their source to the marks."""

import json
import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from netlab.cli import marking
from netlab.cli.options import Course, Folder, Name, Secret, out, secret_of
from netlab.cli.output import lacking, say, warn, write_all
from netlab.course import ids
from netlab.course import roster as rosters
from netlab.course.own_numbers import course as course_json
from netlab.course.sets import rubric, source
from netlab.course.sets.new import example
from netlab.course.sets.slips import refuse_slips
from netlab.engines import files, needs_linux
from netlab.errors import EngineError, LimitError, NetlabError

course_app = typer.Typer(
    no_args_is_help=True, help="Problem sets: make them, check them, grade them."
)


@course_app.command()
def new(name: Name, course: Course = None):
    """Write a small problem set, to make one of your own from.

    Its folder has one notebook, with texts, answers, rules and ranges of numbers. It can be handed
    out and graded as it is.
    """
    written = example(name)
    path = (course or source.COURSE) / "source" / name / f"{name}.ipynb"
    if path.parent.exists():
        raise NetlabError(f"{path.parent} is there already: give the new set another name")
    files.write(path, source.text(written), "--course")
    more = f" --course {course}" if course else ""
    say(path, f"Try it: netlab course demo --set {name} -o out/{name}{more}")


@course_app.command()
def release(
    name: Name,
    output: Folder,
    course: Course = None,
    secret: Secret = None,
    roster: Annotated[
        Path | None,
        typer.Option(
            help="Ids of the class, one a line, or a CSV file with a column of them: course.json"
            " gets a digest of each, and a student whose id is none of them is told so.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
):
    """Write a problem set as students get it.

    Answers and hidden tests are left out. Nothing is run: `course solution` tries the set.
    """
    chosen = secret_of(course, secret)
    digests = roster_of(course, chosen, roster)
    assignment = source.read(source.find(name, course))
    refuse_slips(assignment)
    released = assignment.release(chosen)
    texts = {f"{name}.ipynb": source.text(released)}
    if chosen is not None:
        kept = {"secret": chosen} | ({} if digests is None else {"roster": digests})
        texts["course.json"] = json.dumps(kept) + "\n"
    put(output, texts)


@course_app.command()
def solution(
    name: Name,
    output: Folder,
    course: Course = None,
    student: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="A student's id: the solution with this student's numbers, run, and a page of it,"
            " to hand back after the deadline.",
        ),
    ] = None,
    secret: Secret = None,
):
    """Write a problem set with every answer, and its rubric.

    The solution is run and graded, as one that was handed in; a set in which it does not get all
    points is refused.
    """
    assignment = source.read(source.find(name, course))
    if student is None:
        refuse_slips(assignment)
        notebook, page = source.text(assignment.solution()), rubric.page(assignment)
        texts = {f"{name}.ipynb": notebook, f"{name}-rubric.md": page}
        put(output, texts, lambda: refuse_unsolved(assignment, secret_of(course, secret)))
    else:
        from netlab.cli.own_solution import own_solution

        put(output, own_solution(assignment, student, secret_of(course, secret)))


@course_app.command()
def check(notebook: Annotated[Path, typer.Argument(help="Your notebook.", readable=False)]):
    """Check whether your notebook is ready to hand in. Nothing is run and nothing is marked."""
    from netlab.course.handed_in.before import examine, summary

    findings, student = examine(notebook)
    if student:
        known = "it must be the one that your course knows you by"
        say(f"the id in this notebook: {student}; {known}")
    for finding in findings:
        say(f"{finding.cell or 'notebook'}: {finding.flag}. {finding.text}")
    if told := summary(notebook):
        say(told)
    if not findings:
        say(f"{notebook.name}: ready to hand in")
    raise typer.Exit(bool(findings))


for one in (marking.grade, marking.export, marking.statistics):
    course_app.command()(one)


@course_app.command()
def autograder(
    name: Name,
    output: Annotated[Path, out(help="The zip file.")],
    wheels: Annotated[
        Path,
        typer.Option(
            help="Folder with the wheels of netlab and of its engine, as `make wheel` leaves them."
        ),
    ] = Path("dist"),
    course: Course = None,
    secret: Secret = None,
):
    """Write the zip file of Gradescope's autograder."""
    from netlab.course.adapters.autograder import build

    chosen = secret_of(course, secret)
    path = build(source.find(name, course), wheels, output, chosen)
    say(f"{path} ({path.stat().st_size / 1e6:.0f} MB)")


@course_app.command()
def demo(
    output: Annotated[
        Path, out(help="Folder for what they hand in (submitted/), and for the marks.")
    ],
    name: Annotated[str, typer.Option("--set", help="The problem set.")] = "ps1",
    count: Annotated[int, typer.Option("--students", min=1, help="How many there are.")] = 10,
    course: Course = None,
    show: Annotated[
        bool, typer.Option("--show/--no-show", help="Open the page of all marks in a browser.")
    ] = True,
):
    """Grade a class of invented students.

    Some are right, some are not, some cheat. Prints what each handed in, what that is worth, and
    what the grader gave.
    """
    needs_linux()
    from netlab.course import invented
    from netlab.course.grading import report
    from netlab.course.grading.batch import Batch
    from netlab.course.grading.work import as_written, held, write_out

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
    batch = Batch(assignment, submitted, work)
    marks = batch.grade()
    write_out(work, table, report.table(marks))
    page = report.report(marks, work, batch.assignment).absolute()
    given = {one.student: one.points for one in marks}
    say(f"{'student':<8} {'handed in':<42} {'worth':>6} {'given':>6}")
    for student, kind, work in class_:
        done = getattr(invented, kind).__doc__.rstrip(".")
        say(f"{student:<8} {done:<42} {work.points:>6g} {given[student]:>6g}")
    say("", f"The table: {table}", f"All marks on a page: {page}")
    if show:
        open_page(page)
    intended = {student: made for student, _, made in class_}
    if invented.misjudged([one for one in marks if one.student in intended], intended):
        raise NetlabError("not everybody got what the work is worth: see the table above")


def refuse_unsolved(assignment, secret):
    """Run a set's solution, and refuse the set unless it gets all points."""
    try:
        needs_linux()
        from netlab.course.grading.solution import slips

        found = slips(assignment, secret)
    except LimitError as error:  # which is an EngineError, too
        raise NetlabError(
            f"{assignment.name}: nothing was written, as the solution took too long: {error}; give"
            " the command again while less runs on this machine"
        ) from None
    except EngineError as error:
        warn(f"the solution was not run, and slips that a run shows were not found: {error}")
        return
    if found:
        listed = "\n".join(f"- {one}" for one in found)
        raise NetlabError(
            f"{assignment.name}: nothing was written, as its solution does not get all points:\n"
            f"{listed}\nMend these cells in the set's notebook, and give the command again"
        )


def open_page(page):
    """Open a page where there is a screen; elsewhere, its path was printed."""
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(page.as_uri())


def roster_of(course, secret, file=None):
    """The digests of the ids in a file; without one, those of the course folder's course.json."""
    if file is None:
        known, roster = course_json(course or source.COURSE)
        return roster if known == secret else None
    if secret is None:
        raise NetlabError(
            "--roster needs a secret, with which ids are hidden, and the course has none; write"
            ' {"secret": "..."} to course.json in the course folder'
        )
    return sorted(ids.digest(one.id, secret) for one in rosters.read(file))


def put(folder, contents, look=None):
    """Write texts or bytes to a folder, all or none, and say where they are. What takes long, and
    may refuse them, is `look`: it is called once nothing is in their way.
    """
    data = {name: one.encode() if isinstance(one, str) else one for name, one in contents.items()}
    data = {folder / name: one for name, one in data.items()}
    lacking(folder, data)
    if look:
        look()
    write_all(folder, data)
    say(*data)
