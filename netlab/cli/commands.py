"""The `netlab` command: course, doctor, engine, fairness, pages, pictures, record,
replay, run, shell, simpleperf, student-copy, summary.
"""

import errno
import importlib.metadata
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from netlab.cli.course import course_app
from netlab.cli.engine import engine_app
from netlab.cli.output import say, warn
from netlab.errors import NetlabError, SpecificationError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # typer 0.29's other help shows "<bool>" behind each flag
)
app.add_typer(engine_app, name="engine")
app.add_typer(course_app, name="course")
FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS  # of a disk
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for what it writes.")]
Notebooks = Annotated[
    list[Path] | None,
    typer.Argument(help="Notebooks; all of notebooks/, if not given.", readable=False),
]

Engine = Annotated[
    str | None, typer.Option(help="Engine; the first that works here, if not given.")
]


def main():
    """Run the command; netlab's errors and warnings are printed without a traceback."""
    warnings.showwarning = lambda message, *_, **__: warn(message)
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(errors="backslashreplace")  # a terminal may not have every character
    try:
        app()
    except NetlabError as error:
        warn(error, "red")
        raise SystemExit(1) from None
    except OSError as error:
        if error.errno not in FULL:
            raise
        warn(f"{error.filename or 'a temporary file'}: {error.strerror}; make room", "red")
        raise SystemExit(1) from None


def _version(asked: bool):
    if asked:
        try:
            number = importlib.metadata.version("netlab-tcp")
        except importlib.metadata.PackageNotFoundError:
            number = "(a folder that pip did not install)"
        say(f"netlab {number}")
        raise typer.Exit


@app.callback()
def netlab(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
):
    """Real Mininet and iperf3 experiments in virtual time."""


@app.command()
def doctor():
    """Check whether experiments run on this machine.

    A reference run says whether their numbers are the published ones.
    """
    from netlab.cli.doctor import findings

    failed = False
    for state, name, text in findings():
        say(f"{state:<5} {name:<16} {text}")
        failed |= state == "FAIL"
    raise typer.Exit(failed)


@app.command()
def run(
    experiment: Annotated[Path, typer.Argument(help="JSON file of an experiment.", readable=False)],
    output: Output,
    engine: Engine = None,
):
    """Run an experiment and keep its results.

    The folder then has its raw output, tables, commands and provenance.

    A congestion control in Python that the experiment carries runs in a jail, with the same
    results: `netlab doctor` says which walls stand around it. The command and its guest have 4 GB
    of memory each. With --engine mininet, programs and Python run on this machine as root: only
    for files of people whom you would let do that.
    """
    import netlab
    from netlab.engines.workers import limited_memory
    from netlab.readers._common import read_text

    try:
        with limited_memory():
            described = netlab.Experiment.from_json(read_text(experiment))
    except OSError as error:
        raise NetlabError(
            f"{experiment}: {error.strerror}. Give a file that Experiment.to_json wrote."
        ) from error
    except SpecificationError as error:
        raise NetlabError(f"{experiment}: {error}") from error
    try:
        output.mkdir(parents=True, exist_ok=True)
        if any(output.iterdir()):
            raise NetlabError(f"--output {output}: is there already; name a new or an empty folder")
    except OSError as error:
        raise NetlabError(f"--output {output}: {error.strerror}; name another folder") from error
    chosen = netlab.engines.pick_jailed(engine)
    with limited_memory():
        result = netlab.run(described, engine=engine if engine == "recorded" else chosen)
        result.save(output)
    say(repr(result), f"{output}: raw output, tables (CSV), commands, provenance")


@app.command()
def shell(
    network: Annotated[str, typer.Argument(help="wan, portfolio, or a file of MiniEdit.")] = "wan",
    seed: Annotated[int, typer.Option(help="Where all that is random comes from.")] = 1,
    clock: Annotated[str, typer.Option(help="virtual, cpu or real.")] = "virtual",
    rate: Annotated[str | None, typer.Option(help="wan's rate, such as 100mbit.")] = None,
    delay: Annotated[str | None, typer.Option(help="wan's delay, such as 20ms.")] = None,
    loss: Annotated[str | None, typer.Option(help="wan's loss, such as 0.1%.")] = None,
    engine: Engine = None,
    save: Annotated[
        Path | None, typer.Option(help="File for what was typed: `netlab replay` does it again.")
    ] = None,
):
    """Open a network at Mininet's prompt, without root.

    It takes the labs' own commands: h1 ping -c 4 h2, pingall, iperf, link s1 s2 down, source FILE.
    Standard input may be a file of lines.
    """
    from netlab.cli import shell as prompt

    chosen = prompt.topology(network, rate=rate, delay=delay, loss=loss)
    prompt.shell(chosen, save, seed=seed, clock=clock, engine=engine)


@app.command()
def replay(
    script: Annotated[Path, typer.Argument(help="What --save wrote.", readable=False)],
    engine: Engine = None,
):
    """Repeat a saved session and compare its bytes.

    The exit status is 1 if it printed other bytes than when it was saved.
    """
    from netlab.cli.shell import again

    raise typer.Exit(not again(script, engine))


@app.command()
def record(notebooks: Notebooks = None):
    """Run notebooks live and store their results.

    Each notebook gets what its cells show, and data/records what every experiment left, for those
    who have no engine.
    """
    from netlab.cli.record_notebooks import record as record_all

    chosen = notebooks or all_notebooks(answers=True)
    for path, count, changed in record_all(chosen, every=not notebooks):
        if path:
            say(f"{path}: {count} experiments, {changed} records are new")
        else:
            say(f"{count} records, {changed} removed")


def all_notebooks(answers=False):
    """The notebooks of this checkout; with `answers`, those for instructors, too."""
    found = sorted(Path("notebooks").glob("*.ipynb"))
    found += sorted(Path("notebooks/instructor").glob("*.ipynb")) if answers else []
    if not found:
        raise NetlabError(
            "there is no folder notebooks here: run this in the checkout, or name the notebooks"
        )
    return found


@app.command()
def pictures(notebooks: Notebooks = None):
    """Draw pictures of the figures that notebooks store.

    GitHub, pages and PDFs show them. Nothing is run, and a figure that has its picture keeps it.
    `netlab record` does this by itself.
    """
    from netlab.cli.pictures import renew

    for path, figures, drawn in renew(notebooks or all_notebooks(answers=True)):
        say(f"{path}: {figures} figures, {drawn} pictures are new")


@app.command()
def pages(notebooks: Notebooks = None, output: Output = Path("out")):
    """Write notebooks, as they are stored, as HTML pages.

    A page needs no network: it is there to read, to hand out, to print.
    """
    from netlab.cli.pages import pages as write

    for page in write(notebooks or all_notebooks(), output, warn=warn):
        say(f"{page} ({page.stat().st_size / 1e6:.1f} MB)")


@app.command("student-copy")
def student_copy(output: Output, notebooks: Notebooks = None):
    """Copy notebooks without outputs and predictions.

    The files that they read are copied, too.
    """
    from netlab.cli.student_copy import student_copy as copy

    say(*copy(notebooks or all_notebooks(), output))


@app.command()
def summary(notebook: Annotated[Path, typer.Argument(help="One that has run.", readable=False)]):
    """Print the cell "summary" of a notebook that ran."""
    from netlab.cli.notebook_file import summary as tables

    say(*"\n".join(tables(notebook)).split("\n"))


# its options are its own, --help too
@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def simpleperf(words: Annotated[list[str] | None, typer.Argument(metavar="OPTIONS")] = None):
    """Measure TCP throughput: see `netlab simpleperf --help`."""
    from netlab.simpleperf import simpleperf_main

    for word in words or []:
        try:
            word.lstrip("-\u2013\u2014").encode("utf-8" if word.isascii() else "idna")
        except UnicodeError:  # bytes that are no UTF-8, or a name that no host can have
            raise NetlabError(
                f"simpleperf: {word[:80]!r} is no option or host: see `netlab simpleperf -h`"
            ) from None
    raise typer.Exit(simpleperf_main(words or []))


@app.command()
def fairness(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="What iperf3 wrote, best with -J: one file, or those of tests that ran together.",
            readable=False,  # asked here, and not by typer: a refusal looks as all others do
        ),
    ],
):
    """Print each stream's throughput, and Jain's index.

    The files are what iperf3 printed.
    """
    from netlab.cli.fairness_report import report_and_errors

    text, left_out = report_and_errors(files)
    say(*text.split("\n"))
    for error in left_out:
        warn(error)
    if left_out:
        raise typer.Exit(1)
