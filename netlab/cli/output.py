"""What commands print, and the files that they write."""

import typer

from netlab import errors
from netlab.engines.files import check, write
from netlab.errors import NetlabError


def printable(line):
    """The line with "?" for each character that could control a terminal, or begin another."""
    return errors.printable(line).replace("\n", "?")


def say(*lines):
    """Print results."""
    for line in lines:
        typer.echo(printable(line))


def show(piece):
    """Print a piece of what a terminal shows, whose lines may not be whole."""
    marks = "\t\n\r\b"
    typer.echo("".join(c if c.isprintable() or c in marks else "?" for c in piece), nl=False)


def warn(text, colour="yellow"):
    """Print what netlab refuses, or warns of."""
    typer.secho(f"netlab: {errors.printable(text)}", err=True, fg=colour)


MOVE = "name another folder, or move that file away"


def write_all(folder, files, move=MOVE):
    """Write files (path -> bytes) of the ``--output`` folder, all or none.

    Raises
    ------
    NetlabError
        One of the files is there already and has other contents; `move` says what to do about it.
    """
    missing, made = lacking(folder, files, move), []
    try:
        for path, data in missing.items():
            write(path, data, "--output", remedy="name another folder")
            made.append(path)
    except BaseException:
        for path in made:
            path.unlink()
        raise


def lacking(folder, files, move=MOVE):
    """The files that are not there yet; refuses what `write_all` would refuse."""
    missing = {}
    for path, data in files.items():
        check(path, "--output")
        if not path.exists():
            missing[path] = data
        elif path.read_bytes() != data:
            raise NetlabError(
                f"--output {folder}: {path} is there already and has other contents; {move}"
            )
    return missing
