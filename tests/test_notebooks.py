"""Every notebook runs live, and from recorded results alone; what is stored in it, prose included,
is what such a run says.
"""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import papermill
import pytest

import netlab
from netlab.cli import pictures, student_copy
from netlab.engines import recorded

ROOT = Path(__file__).parent.parent
# the explorers are opened in a browser, by tests/browser
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
ANSWERS = sorted((ROOT / "notebooks/instructor").glob("*.ipynb"))
PUBLISHED = pd.read_csv(ROOT / "data/published.csv")
EXPLORERS = ROOT / "notebooks/explorers.ipynb"
FIGURE = pictures.FIGURE
assert NOTEBOOKS
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
WIDEST = 92  # columns of code that JupyterLab shows beside its file browser


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook):
    """The text of each Markdown cell, without formulas, code and the addresses of links."""
    return [
        re.sub(r"\$\$[^$]*\$\$|\$[^$]*\$|`[^`]*`|\]\([^)]*\)", "", c.source)
        for c in notebook.cells
        if c.cell_type == "markdown"
    ]


def outputs(notebook):
    """Everything a reader sees: what is printed (in one piece, however many messages it took),
    tables and figures, without the pictures of these, which no run makes.
    """
    shown = []
    for cell in code_cells(notebook):
        for name, group in itertools.groupby(cell.outputs, key=lambda output: output.get("name")):
            if name:
                shown.append("".join(output["text"] for output in group))
            else:
                shown += [
                    {
                        kind: data
                        for kind, data in output["data"].items()
                        if kind not in ("text/html", pictures.PICTURE)
                    }
                    for output in group
                ]
    return shown


def words(notebook):
    """The printed part of it."""
    return [
        text if isinstance(text, str) else text["text/plain"]
        for text in outputs(notebook)
        if FIGURE not in text
    ]


def same_bytes(stored):
    return recorded.same_bytes(stored.metadata["netlab"]["engine_digest"], here())


def here():
    return netlab.engines.pick("guest").digest


def as_of_its_engine(ran, stored):
    """What a run showed, as if the engine that made the stored one had made it."""
    digest = stored.metadata["netlab"]["engine_digest"]
    return json.loads(json.dumps(outputs(ran)).replace(here(), digest))


@each
def test_it_runs_live_and_shows_what_is_stored(path, tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_ENGINE", "guest")  # and never from records, where there is no engine
    stored = read(path)
    ran = papermill.execute_notebook(
        path, tmp_path / path.name, cwd=path.parent, progress_bar=False
    )
    if same_bytes(stored):
        assert as_of_its_engine(ran, stored) == outputs(stored)
    else:  # the same words; the numbers are the other engine's own
        mine, theirs = (
            [re.sub(r"[\d.,e+-]*\d", "#", text).split() for text in words(nb)]
            for nb in (ran, stored)
        )
        assert mine == theirs


@each
def test_it_runs_without_an_engine(path, tmp_path, monkeypatch):
    """No guest, no Mininet: recorded results say the same."""
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "none"))
    monkeypatch.setenv("NETLAB_ENGINE", "recorded")
    ran = papermill.execute_notebook(
        path, tmp_path / path.name, cwd=path.parent, progress_bar=False
    )
    assert words(ran) == words(read(path))


@each
def test_a_student_s_copy_runs_with_no_prediction_made(path, tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_ENGINE", "recorded")
    monkeypatch.setenv("NETLAB_PROGRESS", "off")
    (copy,) = student_copy.student_copy([path], tmp_path)
    assert not any(cell.outputs for cell in code_cells(read(copy)))
    ran = papermill.execute_notebook(
        copy, tmp_path / "ran.ipynb", cwd=copy.parent, progress_bar=False
    )
    predicted = [cell for cell in code_cells(ran) if student_copy.MARK in cell.source]
    assert predicted and all("= None" in cell.source for cell in predicted)
    assert len(pictures.figures(ran)) == len(pictures.figures(read(path)))


def test_nbval_finds_every_output_as_it_is_stored(tmp_path):
    environment = os.environ | {
        "NETLAB_CACHE": str(tmp_path),
        "NETLAB_ENGINE": "recorded",
        "NETLAB_PROGRESS": "off",
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        ROOT,
    ]
    done = subprocess.run(
        [*command, *NOTEBOOKS], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-5000:]


@each
def test_its_cells_ran_in_order_and_are_short(path):
    cells = [cell for cell in code_cells(read(path)) if cell.source.strip()]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert [
        cell.source
        for cell in cells
        if len([line for line in cell.source.splitlines() if line.strip()]) > 10
    ] == []
    assert not [
        output for cell in cells for output in cell.outputs if output.get("name") == "stderr"
    ]


@each
def test_it_is_for_a_classroom(path):
    """Goals and times at the start, how sure one can be and what to take away at the end, and an
    answer to each exercise.
    """
    notebook = read(path)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert re.search(r"\d+ minutes", texts[0]) and "You will be able to" in texts[0]
    headings = re.findall(r"^## (.*)$", "\n".join(texts), re.M)
    assert headings[-1] in ("Try it yourself", "References")
    assert {"How sure are we?", "What to take away", "Try it yourself"} <= {*headings}
    assert any("nl.robustness(" in cell.source for cell in code_cells(notebook))
    asked = "\n".join(texts).rpartition("## Try it yourself")[2].partition("## References")[0]
    answers = read(path.parent / "instructor" / f"{path.name[:2]}-answers.ipynb")
    given = "\n".join(cell.source for cell in answers.cells if cell.cell_type == "markdown")
    numbers = re.findall(r"^(\d+)\. ", asked, re.M)
    assert numbers and [n for n in numbers if not re.search(rf"^## .*\b{n}\b", given, re.M)] == []


@each
def test_each_prediction_is_answered(path):
    code = "\n".join(cell.source for cell in code_cells(read(path)))
    said = re.findall(r"^([\w, ]+?) *=.*<- your prediction", code, re.M)
    names = [name.strip() for line in said for name in line.split(",")]
    answers = "\n".join(re.findall(r"you_said\(.*?\)$", code, re.M | re.S))
    assert names and [name for name in names if not re.search(rf"\b{name}\b", answers)] == []


@each
def test_its_code_fits_beside_the_file_browser(path):
    lines = [line for cell in code_cells(read(path)) for line in cell.source.splitlines()]
    assert [line for line in lines if len(line) > WIDEST] == []


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_the_answers_for_instructors_run_live_and_show_what_is_stored(path, tmp_path, monkeypatch):
    monkeypatch.setenv("NETLAB_ENGINE", "guest")
    stored = read(path)
    ran = papermill.execute_notebook(
        path, tmp_path / path.name, cwd=path.parent, progress_bar=False
    )
    if same_bytes(stored):
        assert as_of_its_engine(ran, stored) == outputs(stored)


@each
def test_it_opens_light_and_with_its_figures(path):
    notebook = read(path)
    kinds = [
        kind
        for cell in code_cells(notebook)
        for output in cell.outputs
        for kind in output.get("data", {})
    ]
    assert kinds.count(FIGURE) >= 3
    assert not [kind for kind in kinds if "widget" in kind], (
        "a stored widget is heavy, and dead without its kernel"
    )
    assert "widgets" not in notebook.metadata


@pytest.mark.parametrize("path", [*NOTEBOOKS, EXPLORERS, *ANSWERS], ids=lambda path: path.stem)
def test_each_figure_has_its_picture_for_where_no_plotly_runs(path):
    """On GitHub, in a page or a PDF. `netlab pictures` draws what is missing."""
    figures = pictures.figures(read(path))
    assert len(figures) >= 3 or path in ANSWERS
    for output in figures:
        assert pictures.has_picture(output), "it is missing, or of another figure: netlab pictures"
        alt = output.metadata[pictures.PICTURE].alt
        assert alt == pictures.description(output.data[FIGURE]) and len(alt) > 30
    assert path.stat().st_size < 2_500_000


@each
def test_each_question_is_asked_before_its_answer(path):
    """A prediction cell comes before the measurement, and a reading after every figure."""
    cells = read(path).cells
    assert any(cell.cell_type == "code" and "<- your prediction" in cell.source for cell in cells)
    for cell, following in itertools.pairwise(cells):
        if any(FIGURE in output.get("data", {}) for output in cell.get("outputs", [])):
            reads = following.cell_type == "markdown" or re.search(
                r"print\(|plots\.|round\(", following.source
            )
            assert reads, cell.source


@each
def test_numbers_in_its_prose_are_those_of_the_run(path):
    """Each decimal or per cent in the text is, to its last digit, one that the notebook computes,
    prints or cites.
    """
    notebook = read(path)
    number = re.compile(r"(?<![A-Za-z_])\d[\d,]*\.?\d*(?:e[+-]?\d+)?")
    texts = [cell.source for cell in code_cells(notebook)] + words(notebook)
    for figure in (output[FIGURE] for output in outputs(notebook) if FIGURE in output):
        texts.append(f"{figure['layout'].get('title')} {figure['layout'].get('annotations')}")
    known = [float(found.replace(",", "")) for text in texts for found in number.findall(text)] + [
        *PUBLISHED.value.astype(float)
    ]
    known = [value * factor for value in known for factor in (1, 100, 1e-9, 1e-6, 1e-3, 1e3)]
    for text in prose(notebook):
        for said in re.finditer(
            r"(?<![\w.])\d[\d,]*\.\d+|(?<!\w)\.\d{3,}|(?<![\w.])\d+(?= %)", text
        ):
            value, half = (
                float(said.group().replace(",", "")),
                0.5000001 * 10.0 ** -len(said.group().partition(".")[2]),
            )
            assert any(abs(one - value) <= half for one in known), (
                f"{said.group()}: ...{text[max(0, said.start() - 60) : said.end() + 20]}"
            )


def test_published_numbers_are_cited_by_ids_that_exist():
    known = set(PUBLISHED.id)
    for path in NOTEBOOKS:
        for cell in code_cells(read(path)):
            for cited in re.findall(r"published\[f?[\"']([^\"']+)[\"']\]", cell.source):
                pattern = re.sub(r"\\\{[^}]*\\\}|\{[^}]*\}", "[a-z0-9-]+", cited)
                assert any(re.fullmatch(pattern, name) for name in known), (
                    f"{path.name} cites {cited}"
                )


def test_links_and_pictures_are_there():
    pages = {
        path: "\n".join(c.source for c in read(path).cells if c.cell_type == "markdown")
        for path in NOTEBOOKS
    }
    pages |= {path: path.read_text() for path in ROOT.glob("*.md")}
    for path, text in pages.items():
        for target in re.findall(r"\]\((?!https?://|#)([^)\s]+)\)", text):
            assert (path.parent / target.partition("#")[0]).exists(), f"{path.name} links {target}"


def test_readme_names_every_notebook():
    assert [
        path.name
        for path in NOTEBOOKS
        if f"notebooks/{path.name}" not in (ROOT / "README.md").read_text()
    ] == []


@each
def test_papermill_can_set_its_parameters(path):
    cells = code_cells(read(path))
    assert ["parameters" in cell.metadata.get("tags", []) for cell in cells] == [True] + [False] * (
        len(cells) - 1
    )
    exec(cells[0].source, values := {})
    names = values.keys() - {"__builtins__"}
    assert (
        {"delay", "seed", "rate"}
        <= names
        <= {"rate", "delay", "loss", "streams", "seed", "long_runs"}
    )


def test_the_guides_sweep_of_a_whole_notebook(tmp_path, monkeypatch):
    """As docs/guide.md has it: one stream falls with the delay, eight hardly do."""
    monkeypatch.setenv("NETLAB_ENGINE", "guest")
    (lines,) = re.findall(
        r"```sh\n(mkdir -p out\nfor delay in .*?)```", (ROOT / "docs/guide.md").read_text(), re.S
    )
    lines = lines.replace(".venv/bin", str(Path(sys.executable).parent)).replace(
        "out", str(tmp_path)
    )
    done = subprocess.run(["bash", "-euc", lines], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-5000:]
    rows = re.findall(r"^(one stream|8 streams) +([\d.]+) +([\d.]+)", done.stdout, re.M)
    assert [name for name, *_ in rows] == ["one stream", "8 streams"] * 2
    (near_one, near_eight, far_one, far_eight), predicted = (
        [float(row[n]) for row in rows] for n in (1, 2)
    )
    assert near_one > 5 * far_one and near_eight > 9 and far_eight > 4 * far_one
    assert far_one == pytest.approx(predicted[2], rel=0.25), "one window per round trip"
