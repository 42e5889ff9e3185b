"""Every notebook runs live, from top to bottom, in a fresh kernel; its stored form is that of such a run."""

import itertools
import re
from pathlib import Path

import nbformat
import pandas as pd
import papermill
import pytest

import netlab

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
assert NOTEBOOKS
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def words(notebook):
    """Everything a reader sees as text: printed lines and tables, figures left out."""
    return [
        output.get("text") or output["data"].get("text/plain", "")
        for cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "stream" or "application/vnd.plotly.v1+json" not in output.get("data", {})
    ]


@each
def test_it_runs_live_and_says_what_its_stored_outputs_say(path, tmp_path):
    stored = nbformat.read(path, as_version=4)
    same_engine = stored.metadata["netlab"]["engine_digest"] == netlab.engines.pick().digest
    ran = papermill.execute_notebook(path, tmp_path / path.name, cwd=path.parent, progress_bar=False)
    assert not [cell.source for cell in code_cells(ran) if any(output.output_type == "error" for output in cell.outputs)]
    mine, theirs = words(ran), words(stored)
    if not same_engine:  # the same words; the numbers are the other engine's own
        mine, theirs = ([re.sub(r"[\d.,e+-]*\d", "#", text).split() for text in texts] for texts in (mine, theirs))
    assert mine == theirs


@each
def test_its_cells_ran_in_order_and_are_short(path):
    cells = [cell for cell in code_cells(nbformat.read(path, as_version=4)) if cell.source.strip()]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert [cell.source for cell in cells if len([line for line in cell.source.splitlines() if line.strip()]) > 10] == []
    assert not [output for cell in cells for output in cell.outputs if output.get("name") == "stderr"]
    assert path.stat().st_size < 2_000_000


@each
def test_each_question_is_asked_before_its_answer(path):
    """A prediction cell comes before the measurement, and a reading after every figure."""
    cells = nbformat.read(path, as_version=4).cells
    assert any(cell.cell_type == "code" and "<- your prediction" in cell.source for cell in cells)
    for cell, following in itertools.pairwise(cells):
        if any("application/vnd.plotly.v1+json" in output.get("data", {}) for output in cell.get("outputs", [])):
            reads = following.cell_type == "markdown" or re.search(r"print\(|plots\.|round\(", following.source)
            assert reads, cell.source


def test_published_numbers_are_cited_by_ids_that_exist():
    known = set(pd.read_csv(NOTEBOOKS[0].parent.parent / "data/published.csv").id)
    for path in NOTEBOOKS:
        for cell in code_cells(nbformat.read(path, as_version=4)):
            for cited in re.findall(r"published\[f?[\"']([^\"']+)[\"']\]", cell.source):
                pattern = re.sub(r"\\\{[^}]*\\\}|\{[^}]*\}", "[a-z0-9-]+", cited)
                assert any(re.fullmatch(pattern, name) for name in known), f"{path.name} cites {cited}"
