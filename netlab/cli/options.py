"""Options that several commands of `netlab course` have."""

import functools
from pathlib import Path
from typing import Annotated

import typer

from netlab.course.own_numbers import course as course_json
from netlab.course.sets import source
from netlab.errors import NetlabError

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
        help="A table of `course export --to table`, with points for answers in words filled in,"
        " beside those that `course grade` has kept.",
        exists=True,
        dir_okay=False,
    ),
]


def secret_of(course, secret=None):
    """A course's secret: that given, that of course.json in the course folder, or None."""
    if secret is None:
        return course_json(course or source.COURSE)[0]
    if not secret.strip():
        raise NetlabError(f"--secret {secret!r} is empty; give a text that students do not know")
    return secret
