"""`netlab engine`: the engine in use, made, moved, served and removed."""

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from netlab.cli.output import say
from netlab.engines import needs_linux
from netlab.errors import NetlabError

engine_app = typer.Typer(
    no_args_is_help=True,
    callback=needs_linux,
    help="The virtual-time guest that experiments run on.",
)


@engine_app.command()
def build(
    kernel_source: Annotated[
        Path | None,
        typer.Option(help="Kernel tarball to build instead of the pinned one.", exists=True),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Build even if there is one.")] = False,
):
    """Build the engine, once: about five minutes.

    Does nothing where there is one.
    """
    from netlab.engines.cache import cache_folder
    from netlab.engines.guest import build as building
    from netlab.engines.guest import transfer

    if not again and not kernel_source:
        with contextlib.suppress(NetlabError):
            say(f"There is an engine: {transfer.current()}")
            return
    say(f"Building the engine in {cache_folder()}: a few minutes, once.")
    say(f"Built: {building.build(kernel_source, again)}")


@engine_app.command()
def info():
    """What the engine in use is made of, and its digest."""
    from netlab.engines.guest import store, transfer

    engine = transfer.current()
    about = {"digest": engine.digest, "cache": engine.folder} | engine.about
    about |= {"timer ticks": f"{store.ticks_per_s()} per second"}
    for key, value in about.items():
        say(f"{key:<12} {', '.join(value) if isinstance(value, list) else value}")


@engine_app.command()
def export(file: Path):
    """Write the engine to one file, for others to import."""
    from netlab.engines.guest import transfer

    engine = transfer.export(file)
    say(f"Wrote the engine {engine.digest} to {file} ({file.stat().st_size / 1e6:.0f} MB)")


@engine_app.command()
def wheel(folder: Annotated[Path, typer.Argument(help="Where to write it.")]):
    """Write the engine as a wheel, netlab_engine.

    pip installs it beside netlab.
    """
    from netlab.engines.guest import transfer

    file = transfer.write_wheel(folder)
    say(f"Wrote {file} ({file.stat().st_size / 1e6:.0f} MB)")


@engine_app.command("import")
def import_engine(file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)]):
    """Import an engine that was exported elsewhere.

    A short test run comes first: its files and its numbers must be those of its digest. Import from
    people you trust: an engine is a program.
    """
    from netlab.cli.doctor import refuse_other_numbers
    from netlab.engines.guest import transfer

    say(f"Imported {transfer.import_file(file, refuse_other_numbers)}")


@engine_app.command()
def sources(
    folder: Annotated[Path, typer.Argument(help="Where to put them.")] = Path("engine-sources"),
):
    """Fetch the sources of everything in the engine.

    They come from Debian's mirror or its snapshot archive; netlab's own changes to the kernel are
    added.
    """
    from netlab.engines.guest import materials

    count, size_bytes = materials.fetch_sources(folder)
    say(f"{count} files, {size_bytes >> 20} MB, in {folder}")


@engine_app.command()
def lock(
    series: Annotated[
        str | None, typer.Option(help="Series of the kernel; that of the lock, if not given.")
    ] = None,
):
    """Renew engine.lock, the list of what an engine is made of.

    It takes the packages of rootfs.txt and the newest kernel of a series, as the mirror has them
    today. This is for changing the engine; everybody else builds what the list says.
    """
    from netlab.engines.guest import packages, renewal

    renewed = renewal.renew(series)
    kernel = renewed["kernel"]
    say(
        f"{packages.LOCK}: {len(renewed['packages'])} packages, {kernel['name']}"
        f" {kernel['version']}, snapshot {renewed['snapshot']}"
    )


@engine_app.command()
def serve(
    shared: Annotated[
        bool, typer.Option("--shared", help="For an account that many share: Python runs in jails.")
    ] = False,
):
    """Run experiments for netlab on another machine.

    It serves the one who starts it, as ssh does, over standard input and output. Networks wait for
    a CPU in order.
    """
    from netlab.engines import serve

    serve.over_standard_input(shared)


@engine_app.command()
def remove():
    """Delete the engine from the cache."""
    from netlab.engines.cache import cache_folder
    from netlab.engines.guest import store

    store.remove()
    say(f"Removed the engine from {cache_folder()}")
