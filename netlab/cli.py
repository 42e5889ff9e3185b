"""The `netlab` command: doctor, engine, run."""

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from netlab.errors import NetlabError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Real Mininet and iperf3 experiments in virtual time.",
)
engine_app = typer.Typer(no_args_is_help=True, help="The virtual-time guest that experiments run on.")
app.add_typer(engine_app, name="engine")


def main():
    """Run the command; what netlab refuses is printed without a traceback."""
    try:
        app()
    except NetlabError as error:
        typer.secho(f"netlab: {error}", err=True, fg="red")
        raise SystemExit(1) from None


@app.command()
def doctor():
    """Try whether experiments run on this machine, and whether their numbers are the published ones."""
    from netlab.doctor import findings

    failed = False
    for finding in findings():
        typer.echo(f"{finding.state:<5} {finding.name:<16} {finding.text}")
        failed |= finding.state == "FAIL"
    raise typer.Exit(failed)


@app.command()
def run(
    experiment: Annotated[Path, typer.Argument(help="JSON file of an experiment.", exists=True, dir_okay=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for what it leaves.")],
    engine: Annotated[str | None, typer.Option(help="Engine; the first that works here, if not given.")] = None,
):
    """Run an experiment and leave its raw output, tables, commands and provenance in a folder."""
    import netlab

    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise NetlabError(f"--output {output}: is there already; name a new or an empty folder")
    result = netlab.run(netlab.Experiment.from_json(experiment.read_text()), engine=engine)
    result.save(output)
    typer.echo(repr(result))


@engine_app.command()
def build(
    kernel_source: Annotated[
        Path | None, typer.Option(help="Kernel tarball to build instead of the pinned one.", exists=True)
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Build even if there is one.")] = False,
):
    """Build the engine (about five minutes, once); does nothing when there is one."""
    from netlab.engines.guest import build as building
    from netlab.engines.guest import store

    if not again and not kernel_source:
        with contextlib.suppress(NetlabError):
            typer.echo(f"There is an engine: {store.current()}")
            return
    typer.echo(f"Building the engine in {store.cache_folder()}: a few minutes, once.")
    typer.echo(f"Built: {building.build(kernel_source, again)}")


@engine_app.command()
def info():
    """What the engine in use is made of, and its digest."""
    from netlab.engines.guest import store

    engine = store.current()
    for key, value in {"digest": engine.digest, "cache": store.cache_folder(), **engine.about}.items():
        typer.echo(f"{key:<12} {', '.join(value) if isinstance(value, list) else value}")


@engine_app.command()
def export(file: Path):
    """Write the engine to one file, for others to import."""
    from netlab.engines.guest import store

    engine = store.export(file)
    typer.echo(f"Wrote {engine} to {file} ({file.stat().st_size >> 20} MB)")


@engine_app.command("import")
def import_engine(file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)]):
    """Take over an engine that was exported elsewhere; its digest must be what it says."""
    from netlab.engines.guest import store

    typer.echo(f"Imported {store.import_file(file)}")


@engine_app.command()
def remove():
    """Delete the engine from the cache."""
    from netlab.engines.guest import store

    store.remove()
    typer.echo(f"Removed the engine from {store.cache_folder()}")
