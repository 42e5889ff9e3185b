"""`netlab course`: problem sets, from their source to the marks."""

import contextlib
import functools
import json
import os
import webbrowser
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from netlab.cli.output import lacking, say, warn, write_all
from netlab.course import adapters, ids
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
Name = Annotated[str, typer.Argument(metavar="SET", help="A problem set, such as ps1.")]
Course = Annotated[
    Path | None,
    typer.Option("--course", help="nbgrader's course folder; notebooks/assignments, if not given."),
]
out = functools.partial(typer.Option, "--output", "-o")
Folder = Annotated[Path, out(help="Folder for the files.")]
Secret = Annotated[
    str | None,
    typer.Option(
        help="What students' parameters are drawn with; that of course.json in the course folder,"
        " if not given."
    ),
]
Manual = Annotated[
    Path | None,
    typer.Option(
        help="A table of `course export --to table`, with points for answers in words filled in.",
        exists=True,
        dir_okay=False,
    ),
]
Format = StrEnum("Format", {one: one for one in adapters.FORMATS})  # where marks can go


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


@course_app.command()
def grade(
    name: Name,
    submitted: Annotated[
        Path,
        typer.Argument(
            help="Folder with STUDENT/SET/SET.ipynb, such as nbgrader's submitted/.",
            exists=True,
            file_okay=False,
        ),
    ],
    output: Annotated[Path, out(help="Table of marks.")] = Path("marks.csv"),
    work: Annotated[
        Path | None,
        typer.Option(
            help="Folder for each student's marks and feedback, and to go on from after a break;"
            " SET-marks beside the table, if not given."
        ),
    ] = None,
    course: Course = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="How many at once; as many as there are cores.")
    ] = None,
    secret: Secret = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="tcp://HOST:PORT", help="Grade on the workers of this Dask cluster."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="ID",
            help="Grade this student; give it again for others. All who have marks keep them.",
        ),
    ] = None,
    manual: Manual = None,
    roster: Annotated[
        Path | None,
        typer.Option(
            help="CSV file of the class, such as Moodle's grading worksheet: a column of ids, and"
            " columns `group` and `handed in`, if there are any. It is kept for the next time, as"
            " --due and --late are.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    due: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="The last moment that is in time, such as '2027-03-01 23:59'."
        ),
    ] = None,
    late: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the points that is lost for each day begun after --due, such as 10%.",
        ),
    ] = None,
    one_wall: Annotated[
        bool,
        typer.Option(
            "--one-wall",
            help="Go on where only one wall stands around jails (`netlab doctor` names them): one"
            " mistake in it gives a stranger the files of who grades.",
        ),
    ] = False,
):
    """Grade what a class handed in.

    Each notebook is run in a jail, and its answers are compared with the solution's for that
    student.
    """
    needs_linux()
    from netlab.course.grading import by_hand, report
    from netlab.course.grading.batch import Batch
    from netlab.course.grading.marks import read_class
    from netlab.course.grading.work import as_written, held, write_out
    from netlab.course.handed_in.class_folder import several
    from netlab.engines.guest import walls

    if one_wall:
        os.environ["NETLAB_ONE_WALL"] = "1"  # for the workers, too
    walls.check_for_strangers()
    work = work or output.parent / f"{name}-marks"
    files.check(output, "--output", as_written(work))
    path, chosen = source.find(name, course), secret_of(course, secret)
    class_ = rosters.of_options(work, roster, due, late) if roster or due or late else None
    batch = Batch(path, submitted, work, chosen, jobs, scheduler, only or (), class_)
    marks = batch.grade()
    with held(work):
        with contextlib.suppress(NetlabError):  # another may have ended since, or begun
            marks = read_class(work, name)
        marks = by_hand.given(marks, manual) if manual else marks
        write_out(work, output, report.table(marks))
        page = report.report(marks, work, batch.assignment)
    say(*batch.notes, f"{len(marks)} students' marks: {output}")
    if batch.kept_for:
        say(f"not graded now, and as they were: {several(batch.kept_for)}")
    say(f"all on a page, and one for each student: {page}")


@course_app.command()
def export(
    name: Name,
    work: Annotated[
        Path,
        typer.Argument(
            metavar="WORK", help="What `course grade` left.", exists=True, file_okay=False
        ),
    ],
    to: Annotated[Format, typer.Option("--to", help="Who reads it.")],
    output: Annotated[
        Path,
        out(
            help="table, moodle: a CSV file; nbgrader: its course folder, which has a gradebook.db,"
            " or gets one; gradescope: a folder, in which each student has a file.",
        ),
    ],
    course: Course = None,
    manual: Manual = None,
    worksheet: Annotated[
        Path | None,
        typer.Option(
            help="For --to moodle: its grading worksheet, which is filled in.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
):
    """Write marks for another gradebook, or as a table."""
    said = []
    written = adapters.export(to.value, name, work, output, course, manual, said.append, worksheet)
    say(f"{written} students' marks, in {output}", *said)


@course_app.command()
def statistics(
    works: Annotated[
        list[Path],
        typer.Argument(
            metavar="WORK...",
            help="What `course grade` left, of each set.",
            exists=True,
            file_okay=False,
        ),
    ],
    output: Annotated[Path, out(help="The table, a CSV file.")],
    manual: Annotated[
        list[Path] | None,
        typer.Option(
            help="As of `course export`; give it again for other sets.", exists=True, dir_okay=False
        ),
    ] = None,
):
    """Write a table of all sets, and say what each was like.

    Each student has a row, with the points of each set, their sum, and its share of all points.
    """
    from netlab.course.grading import by_hand, term
    from netlab.course.grading.marks import read_class
    from netlab.course.grading.work import write_out

    sets = by_hand.given_to_each(map(read_class, works), manual or ())
    points = term.table(sets)
    write_out(works[0], output, term.as_text(points))
    say(*term.summary(sets, points), f"{len(points)} students' points: {output}")


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


def secret_of(course, secret=None):
    """A course's secret: that given, that of course.json in the course folder, or None."""
    if secret is None:
        return course_json(course or source.COURSE)[0]
    if not secret.strip():
        raise NetlabError(f"--secret {secret!r} is empty; give a text that students do not know")
    return secret


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
