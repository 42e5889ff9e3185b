"""The `netlab` command: doctor, engine, fairness, record, run."""

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
engine_app = typer.Typer(
    no_args_is_help=True, help="The virtual-time guest that experiments run on."
)
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
    """Try whether experiments run on this machine, and whether their numbers are the published
    ones.
    """
    from netlab.cli.doctor import findings

    failed = False
    for finding in findings():
        typer.echo(f"{finding.state:<5} {finding.name:<16} {finding.text}")
        failed |= finding.state == "FAIL"
    raise typer.Exit(failed)


@app.command()
def run(
    experiment: Annotated[
        Path, typer.Argument(help="JSON file of an experiment.", exists=True, dir_okay=False)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for what it leaves.")],
    engine: Annotated[
        str | None, typer.Option(help="Engine; the first that works here, if not given.")
    ] = None,
):
    """Run an experiment and leave its raw output, tables, commands and provenance in a folder."""
    import netlab

    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise NetlabError(f"--output {output}: is there already; name a new or an empty folder")
    result = netlab.run(netlab.Experiment.from_json(experiment.read_text()), engine=engine)
    result.save(output)
    typer.echo(repr(result))


@app.command()
def record(
    notebooks: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Notebooks to run; all of notebooks/, if not given.", exists=True, dir_okay=False
        ),
    ] = None,
):
    """Run notebooks live, and keep what every experiment left in data/records, for those who have
    no engine.
    """
    from netlab.cli.record_notebooks import record as record_all

    every = sorted(Path("notebooks").glob("*.ipynb"))
    if not notebooks and not every:
        raise NetlabError(
            "there is no folder notebooks here: run this in the checkout, or name the notebooks"
        )
    for path, count, changed in record_all(notebooks or every, every=not notebooks):
        typer.echo(
            f"{path}: {count} experiments, {changed} records are new"
            if path
            else f"{count} records, {changed} removed"
        )


@app.command()
def summary(
    notebook: Annotated[
        Path, typer.Argument(help="An executed notebook.", exists=True, dir_okay=False)
    ],
):
    """Print what an executed notebook found: its cell that is tagged "summary"."""
    from netlab.cli.notebook_summary import summary as tables

    typer.echo("\n".join(tables(notebook)))


@app.command()
def fairness(
    files: Annotated[
        list[Path],
        typer.Argument(help="What iperf3 -J wrote: one file, or those of tests that ran together."),
    ],
):
    """Print what each stream of iperf3's JSON files got, and how fair that is: Jain's index."""
    import pandas as pd

    from netlab.fairness import jain_index

    if twice := [
        str(file)
        for n, file in enumerate(files)
        if file.resolve() in [other.resolve() for other in files[:n]]
    ]:
        raise NetlabError(f"{twice[0]}: named twice; name each test's file once")
    metas, tables = zip(*map(_streams, files), strict=True)
    streams = pd.concat(tables, ignore_index=True)
    if not streams.bps.any():
        raise NetlabError(
            f"{', '.join(map(str, files))}: no data went through, so there is nothing to share. Run"
            " the test again."
        )
    for file, meta, table in zip(files, metas, tables, strict=True):
        typer.echo(
            f"{file}: iperf3 {meta['version']}, {meta['protocol']}, {_plural(len(table), 'stream')}"
        )
    typer.echo(f"\n{_table(streams)}\n")
    indices = {}
    if len(files) > 1:
        indices[_plural(len(files), "file")] = jain_index(streams.groupby("file").bps.sum())
    if len(files) == 1 or len(streams) > len(files):
        indices[_plural(len(streams), "stream")] = jain_index(streams.bps)
    for of, index in indices.items():
        typer.echo(f"Jain's index of {of + ':':<{max(map(len, indices)) + 1}} {index:.5f}")
    typer.echo("\n".join(["", *_notes(files, metas, tables, streams)]))


def _streams(file):
    """What an iperf3 report says of itself, and a row per stream with its throughput; or an error
    that names the file.
    """
    from netlab.readers import read_iperf3

    try:
        report = read_iperf3(file)
    except OSError as error:
        hint = "Give a file that iperf3 -J wrote, as in: iperf3 -c 10.0.0.2 -P 8 -J > out.json"
        raise NetlabError(f"{file}: {error.strerror}. {hint}") from error
    if report.meta["interrupted"]:
        raise NetlabError(
            f"{file}: this test was cut short ({report.meta['error']}). Run it again, to its end."
        )
    table = report.streams.assign(
        file=str(file), bps=report.streams.received_bps.fillna(report.streams.sent_bps)
    )
    if table.bps.isna().any():
        raise NetlabError(
            f"{file}: not every stream has a throughput here. Give the client's report, and not the"
            " server's."
        )
    return report.meta, table


def _table(streams):
    """A line per stream, and per file and in all where there are several, in columns of equal
    width.
    """
    from netlab.fairness import shares

    prefixes = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1, "bit/s")]
    scale, unit = next(
        (scale, unit) for scale, unit in prefixes if scale <= streams.bps.max() or scale == 1
    )
    received, several = streams.received_bps.notna(), streams.file.nunique() > 1
    mixed = received.any() and not received.all()
    streams = streams.assign(share=shares(streams.bps), mark=received.map({True: " ", False: "*"}))

    def row(file, number, part, ends="", congestion="", mark=" "):
        throughput = f"{part.bps.sum() / scale:.3f} {unit}{mark if mixed else ''}"
        return [file, number, ends, congestion, throughput, f"{100 * part.share.sum():.2f} %"]

    rows = [["file", "stream", "from -> to", "congestion", "throughput", "share"]]
    for file, own in streams.groupby("file", sort=False):
        for number, one in own.groupby("stream"):
            src, dst, congestion, mark = one[["src", "dst", "congestion", "mark"]].iloc[0]
            rows.append(
                row(
                    file,
                    str(number),
                    one,
                    f"{src} -> {dst}",
                    congestion if isinstance(congestion, str) else "",
                    mark,
                )
            )
        if several and len(own) > 1:
            rows.append(row(file, "all", own))
    if len(streams) > 1:
        rows.append(row("all", "" if several else "all", streams))

    shown = {"file": several, "congestion": streams.congestion.notna().any()}
    columns = []
    for name, *cells in zip(*rows, strict=True):
        width = max(len(cell) for cell in [name, *cells])
        align = str.ljust if name in ("file", "from -> to", "congestion") else str.rjust
        if shown.get(name, True):
            columns.append([align(cell, width) for cell in [name, *cells]])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _notes(files, metas, tables, streams):
    """What one has to know to read the numbers."""
    if len(streams) == 1:
        yield (
            "One stream alone always has 1: give a test with -P 8, or the files of tests that ran"
            " together."
        )
    else:
        yield "Of n, it is 1 when all get the same, and 1/n when one gets everything."
    received = streams.received_bps.notna()
    if received.all():
        yield "Throughput is what the receiver counted."
    elif received.any():
        yield (
            "Throughput is what the receiver counted; where there is a *, the file has only what"
            " the sender counted."
        )
    else:
        yield (
            "Throughput is what the sender counted, lost data included: there is no receiver's"
            " figure."
        )
    for file, meta in zip(files, metas, strict=True):
        if meta["bidirectional"]:
            yield (
                f"Note: {file} sent both ways (--bidir); the two directions do not compete for the"
                " same queue."
            )
    starts = [meta["started_unix_s"] for meta in metas]
    ends = [
        s + meta["omit_s"] + table.end_s.max()
        for s, meta, table in zip(starts, metas, tables, strict=True)
    ]
    late, early = starts.index(max(starts)), ends.index(min(ends))
    if starts[late] >= ends[early]:
        yield (
            f"Note: {files[late]} began after {files[early]} had ended; only tests that run"
            " together share a link."
        )


def _plural(number, noun):
    return f"{number} {noun}{'s' * (number != 1)}"


@engine_app.command()
def build(
    kernel_source: Annotated[
        Path | None,
        typer.Option(help="Kernel tarball to build instead of the pinned one.", exists=True),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Build even if there is one.")] = False,
):
    """Build the engine (about five minutes, once); does nothing when there is one."""
    from netlab.engines.cache import cache_folder
    from netlab.engines.guest import build as building
    from netlab.engines.guest import store

    if not again and not kernel_source:
        with contextlib.suppress(NetlabError):
            typer.echo(f"There is an engine: {store.current()}")
            return
    typer.echo(f"Building the engine in {cache_folder()}: a few minutes, once.")
    typer.echo(f"Built: {building.build(kernel_source, again)}")


@engine_app.command()
def info():
    """What the engine in use is made of, and its digest."""
    from netlab.engines.guest import store

    engine = store.current()
    for key, value in {
        "digest": engine.digest,
        "cache": engine.folder,
        **engine.about,
    }.items():
        typer.echo(f"{key:<12} {', '.join(value) if isinstance(value, list) else value}")


@engine_app.command()
def export(file: Path):
    """Write the engine to one file, for others to import."""
    from netlab.engines.guest import transfer

    engine = transfer.export(file)
    typer.echo(f"Wrote {engine} to {file} ({file.stat().st_size >> 20} MB)")


@engine_app.command("import")
def import_engine(file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)]):
    """Take over an engine that was exported elsewhere, after a short trial run: its files and its
    numbers must be what it says. Import from people you trust: an engine is a program.
    """
    from netlab.cli.doctor import refuse_other_numbers
    from netlab.engines.guest import transfer

    typer.echo(f"Imported {transfer.import_file(file, refuse_other_numbers)}")


@engine_app.command()
def remove():
    """Delete the engine from the cache."""
    from netlab.engines.cache import cache_folder
    from netlab.engines.guest import store

    store.remove()
    typer.echo(f"Removed the engine from {cache_folder()}")
