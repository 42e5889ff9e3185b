"""`netlab course grade`, `export` and `statistics`: marks of a class, and where they go."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from netlab.cli.options import Course, Manual, Name, Secret, out, secret_of
from netlab.cli.output import say
from netlab.course import adapters
from netlab.course import roster as rosters
from netlab.course.sets import source
from netlab.engines import files, needs_linux

Format = StrEnum("Format", {one: one for one in adapters.FORMATS})  # where marks can go


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
    manual: Annotated[
        Path | None,
        typer.Option(
            help="A table of `course export --to table`, with points for answers in words filled"
            " in. They are kept for the next time; an empty place changes nothing.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
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
    from netlab.course.grading import report
    from netlab.course.grading.batch import Batch
    from netlab.course.grading.marks import CLASS, read_class
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
    batch = Batch(path, submitted, work, chosen, jobs, scheduler, only or (), class_, manual)
    marks = batch.grade()
    with held(work):
        if (work / CLASS).exists():  # another may have ended since; or begun, and there is none
            marks = read_class(work, name)
        write_out(work, output, report.table(marks))
        page = report.report(marks, work, batch.assignment)
    say(*batch.notes, f"{len(marks)} students' marks: {output}")
    if batch.kept_for:
        say(f"not graded now, and as they were: {several(batch.kept_for)}")
    say(f"all on a page, and one for each student: {page}")


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
