"""`netlab record`: run notebooks, and store what their experiments left and their cells showed."""

import os
import shutil
import tempfile
from pathlib import Path

from netlab import engines
from netlab.cli import pictures
from netlab.cli.notebook_file import execute, read, write
from netlab.engines import recorded
from netlab.engines.result_store import ResultStore, experiment_key
from netlab.errors import NetlabError, needs_notebooks

with needs_notebooks():
    from nbformat.v4 import new_output

WIDGET = "application/vnd.jupyter.widget-view+json"


def record(notebooks, every=False):
    """Run notebooks, and take over what their experiments left and what their cells showed.

    A result whose output is what it was stays, so that nothing changes where nothing changed; so
    does one in real time, which never repeats, until the engine is another. A new one takes the
    place of the old, or goes to the notebook's archive. Each notebook runs twice: first all of it
    live, for the records, and then as readers run it, for what it shows, where some experiments are
    asked for as recorded.

    Yields per notebook its path, how many experiments it ran, and how many of their records are
    new. With `every`, these are all notebooks there are: records that none of them asked for are
    removed; yields None, how many records there are, and how many were removed.
    """
    home = ResultStore(recorded.records().place.resolve())  # a kernel works in another folder
    other, used = ResultStore(home.place / recorded.SECOND), set()
    for path in map(Path, notebooks):
        with tempfile.TemporaryDirectory() as folder:
            fresh, second = ResultStore(folder), ResultStore(Path(folder, recorded.SECOND))
            runs_there = bool(os.environ.get("NETLAB_SECOND_CACHE"))
            if other.place.exists() and not runs_there:
                shutil.copytree(other.place, second.place)
            run(path, NETLAB_RECORD="on", NETLAB_RECORDS=folder)
            made = fresh.records()
            new = home.pack(made, path.stem)
            if runs_there:
                other.pack(second.records(), path.stem)
        used |= {experiment_key(record["experiment"]) for record in made}
        store(path, run(path, NETLAB_RECORD="off", NETLAB_RECORDS=str(home.place)))
        list(pictures.renew([path]))
        yield path, len(made), new
    if every:
        before = len(home.entries())
        home.pack([], "", keep=used)
        yield None, len(used), before - len(home.entries())


def run(path, **environment):
    """The notebook of a file, as it is after all its cells have run."""
    return execute(read(path), path, path.parent, **environment)


def store(path, ran):
    """Keep in a notebook what its cells showed in a run, and which engine that was.

    What a cell printed is one text. Widgets, which are heavy, and dead without their kernel, are
    left out; of an explorer stays its figure. A figure that was stored before keeps its picture.
    """
    notebook, before = (read(path) for _ in range(2))
    if [cell.source for cell in notebook.cells] != [cell.source for cell in ran.cells]:
        raise NetlabError(f"{path} was changed while it ran: nothing is stored in it; run it again")
    for cell, done in zip(notebook.cells, ran.cells, strict=True):
        if cell.cell_type == "code":
            cell.execution_count = done.execution_count
            cell.outputs = []
            for output in done.outputs:
                last = cell.outputs[-1] if cell.outputs else {}
                if "name" in output and output.name == last.get("name"):
                    last["text"] += output.text
                elif WIDGET not in output.get("data", {}):
                    cell.outputs.append(output)
                elif pictures.FIGURE in output.data:
                    kept = {pictures.FIGURE: output.data[pictures.FIGURE]}
                    cell.outputs.append(new_output("display_data", kept))
    pictures.carry_over(before, notebook)
    notebook.metadata["netlab"] = {"engine_digest": engines.pick().digest}
    write(notebook, path)
