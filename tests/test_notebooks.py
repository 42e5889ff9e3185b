"""Every notebook runs from recorded results alone, and live: some of them each time, or all with
--every. What is stored in it, prose included, is what such a run says.
"""

import itertools
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from netlab.cli import pictures, record_notebooks, student_copy
from tests import cases, compare_with_stored, of_this_engine

ROOT = Path(__file__).parent.parent
# the explorers are opened in a browser, by tests/browser
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
ANSWERS = sorted((ROOT / "notebooks/instructor").glob("*.ipynb"))
LABS = sorted((ROOT / "notebooks").glob("lab*.ipynb"))  # typed live: there are no records of them
# notebooks, answers and labs that run live; others' copies
SOME, SOME_COPIES = (2, 1, 1), 1
SOME_RECORDED = 3  # of the notebooks that do not run live
EXPLORERS = ROOT / "notebooks/explorers.ipynb"
PUBLISHED = pd.read_csv(ROOT / "data/published.csv")
FIGURE = pictures.FIGURE
WIDEST = 92  # columns of code that JupyterLab shows beside its file browser
assert NOTEBOOKS
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
each_and_labs = pytest.mark.parametrize("path", NOTEBOOKS + LABS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def outputs(notebook):
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def assert_runs(how, path, **environment):
    """Run a notebook by nbval: with ``--nbval`` each cell shows what is stored, with
    ``--nbval-lax`` it only ends without an error.
    """
    command = [sys.executable, "-m", "pytest", how, "-q", "-p", "no:cacheprovider"]
    command += ["-p", "tests.nbval_rounded"]
    done = subprocess.run(
        [*command, "-c", os.devnull, "--rootdir", ROOT, path],
        env=os.environ | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:]


def pytest_generate_tests(metafunc):
    """The quickest of some is for the short run; what has no records always runs live."""
    options, (quickest,) = metafunc.config.option, (one for one in ANSWERS if "02" in one.name)
    draw = random.Random(options.seed)
    if "live" in metafunc.fixturenames:
        kinds = [NOTEBOOKS, ANSWERS, LABS]
        drawn = [draw.sample(one, n) for one, n in zip(kinds, SOME, strict=True)]
        paths = list(itertools.chain(*(kinds if options.every else drawn)))
        paths = [quickest, *(one for one in paths if one != quickest)]
        metafunc.parametrize("live", cases(paths, "live"))
    if "without_engine" in metafunc.fixturenames:
        live = draw.sample(NOTEBOOKS, SOME[0])
        others = [one for one in NOTEBOOKS if one not in live and "02" not in one.name]
        second = next(one for one in NOTEBOOKS if "02" in one.name)
        paths = NOTEBOOKS if options.every else [second, *draw.sample(others, SOME_RECORDED)]
        metafunc.parametrize("without_engine", cases(paths, "recorded"))
    if "copied" in metafunc.fixturenames:
        first, *others = NOTEBOOKS
        others = others if options.every else draw.sample(others, SOME_COPIES)
        metafunc.parametrize("copied", cases([first, *others], "copy"))


def test_it_runs_live_and_shows_what_is_stored(live):
    """With an engine that gives other bytes, each cell runs without an error."""
    stored = read(live).metadata["netlab"]["engine_digest"]
    how = "--nbval" if of_this_engine(stored) else "--nbval-lax"
    assert_runs(how, live, NETLAB_ENGINE="guest")
    compare_with_stored(stored)


def test_it_runs_without_an_engine_and_shows_what_is_stored(without_engine, tmp_path):
    none = str(tmp_path / "none")
    assert_runs("--nbval", without_engine, NETLAB_ENGINE="recorded", NETLAB_CACHE=none)


def test_a_student_s_copy_runs_with_no_prediction_made(copied, tmp_path):
    copy, _ = student_copy.student_copy([copied], tmp_path)
    assert outputs(read(copy)) == []
    ran = record_notebooks.run(copy, NETLAB_ENGINE="recorded")
    predicted = [cell for cell in code_cells(ran) if "# <- your prediction" in cell.source]
    assert predicted and all("= None" in cell.source for cell in predicted)
    assert len(pictures.figures(ran)) == len(pictures.figures(read(copied)))


@each_and_labs
def test_its_cells_ran_in_order_and_are_short(path):
    notebook = read(path)
    cells = [cell for cell in code_cells(notebook) if cell.source.strip()]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    lines = [[line for line in cell.source.splitlines() if line.strip()] for cell in cells]
    assert [cell for cell in lines if len(cell) > 10] == []
    own = [cell for cell in lines if not cell[0].startswith("%%on ")]  # not as a lab prints it
    assert [line for cell in own for line in cell if len(line) > WIDEST] == []
    assert not [output for output in outputs(notebook) if output.get("name") == "stderr"]


@each
def test_it_is_for_a_classroom(path):
    """Goals and times at the start, how sure one can be and what to take away at the end, and an
    answer to each exercise.
    """
    notebook = read(path)
    first, prose = texts(notebook)[0], "\n".join(texts(notebook))
    assert re.search(r"\d+ minutes", first) and "You will be able to" in first
    headings = re.findall(r"^## (.*)$", prose, re.M)
    assert headings[-1] in ("Try it yourself", "References")
    assert {"How sure are we?", "What to take away", "Try it yourself"} <= {*headings}
    assert any("nl.robustness(" in cell.source for cell in code_cells(notebook))
    asked = prose.rpartition("## Try it yourself")[2].partition("## References")[0]
    given = "\n".join(texts(read(path.parent / "instructor" / f"{path.name[:2]}-answers.ipynb")))
    numbers = re.findall(r"^(\d+)\. ", asked, re.M)
    assert numbers and [n for n in numbers if not re.search(rf"^## .*\b{n}\b", given, re.M)] == []


@each_and_labs
def test_predictions_come_first_and_are_answered_and_figures_are_read(path):
    cells = read(path).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    names = {name for cell in cells if cell.cell_type == "code" for name in asked(cell)}
    answers = "\n".join(re.findall(r"you_said\(.*?\)$", code, re.M | re.S))
    assert names and [name for name in names if not re.search(rf"\b{name}\b", answers)] == []
    for cell, following in itertools.pairwise(cells):
        if any(FIGURE in output.get("data", {}) for output in cell.get("outputs", [])):
            assert following.cell_type == "markdown" or re.search(
                r"print\(|plots\.|round\(", following.source
            ), cell.source


def readable(text):
    """Prose that is not folded."""
    return re.sub(r"<details>.*?</details>", "", text, flags=re.S)


def asked(cell):
    """The names of the predictions that a cell asks for."""
    lines = re.findall(r"^([\w, ]+?) *=.*<- your prediction", cell.source, re.M)
    return {name.strip() for line in lines for name in line.split(",")}


def is_lead(text):
    """Whether it does no more than lead to the next cell."""
    return len(text.strip()) < 100


def readings(notebook):
    """-> each text that a reader meets from a prediction to the reading of its answer, up to the
    first heading in it; and the numbers in the answers of its section so far.
    """
    waiting, answered, told = set(), False, set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            if new := asked(cell):
                waiting, answered = waiting | new, False
            if "you_said(" in cell.source:
                said = cell.source.partition("you_said(")[2]
                waiting = {name for name in waiting if not re.search(rf"\b{name}\b", said)}
                answered = True
                shown = "".join(o.get("data", {}).get("text/plain", "") for o in cell.outputs)
                told |= {*re.findall(r"it is (\d+\.\d+|\d{3,})", shown)}
            continue
        text, *after = re.split(r"^#+ ", cell.source, maxsplit=1, flags=re.M)
        yield text, bool(waiting) or answered, told
        answered = answered and not after and is_lead(text)
        if re.search("^##? ", cell.source, re.M):
            told = set()


@each_and_labs
def test_answers_are_folded_until_they_are_predicted(path):
    """A reading begins folded: what stays open after it leads to the next cell, or asks. And no
    open text of the section has a number of the answer, to its last digit.
    """
    folded = 0
    for text, is_reading, told in readings(read(path)):
        open_text = re.sub(r"`[^`]*`|\]\([^)]*\)", "", readable(text))
        if is_reading and not is_lead(text):
            assert text.startswith(
                "<details><summary>Read on once you have predicted</summary>\n\n"
            )
            assert re.search(r"\n\n</details>\n*(\n\n|$)", text), "GitHub wants blank lines there"
            assert not open_text.strip() or re.search(r"[:?]\*?\s*$", open_text), open_text
            folded += 1
        for number in re.findall(r"(?<![\w.,])\d+\.\d+|(?<![\w.,])\d{3,}(?![\d.,])", open_text):
            half = 0.5000001 * 10.0 ** -len(number.partition(".")[2])
            few = len(number.replace(".", "").strip("0")) < 2
            off = [abs(float(one) * by - float(number)) for one in told for by in (1, 1e3, 1e-3)]
            assert few or not off or min(off) > half, f"{number}: {open_text}"
    assert folded >= 4


TELLING = re.compile(
    r"(?i)\b(not|no|never|nobody|everybody|(?<!once )more|less|fewer|faster|slower"
    r"|larger|smaller|half|halving|falls?|grows?|makes?|needs?|matters?|wins?|loses?|converges?"
    r"|counts? for|times as|trap"
    r"|see|part|served)\b"
)


@each_and_labs
def test_headings_tell_no_answer(path):
    """A heading asks, or names what is looked at; what is found stands in the text."""
    told = "\n".join(re.findall(r"^#+ .*$", "\n".join(texts(read(path))), re.M))
    assert [line for line in told.splitlines() if TELLING.search(line) and "?" not in line] == []


@each_and_labs
def test_the_time_that_it_takes_is_the_course_page_s_and_enough_to_read_it(path):
    """At 200 words a minute, and 2 minutes for each prediction."""
    listed = (ROOT / "notebooks/README.md").read_text(encoding="utf-8")
    (minutes,) = re.findall(rf"\({path.name}\).*\| (\d+) min \|$", listed, re.M)
    notebook = read(path)
    told = re.search(r"\*Time:\*.*", notebook.cells[0].source)[0]
    words = sum(len(text.split()) for text in texts(notebook))
    predictions = sum(len(asked(cell)) for cell in code_cells(notebook))
    assert re.search(rf"\b{minutes}\b", told), told
    assert int(minutes) >= words / 200 + 2 * predictions


@each
def test_it_stores_figures_and_no_widgets(path):
    """A stored widget is heavy, and dead without its kernel."""
    notebook = read(path)
    kinds = [kind for output in outputs(notebook) for kind in output.get("data", {})]
    assert kinds.count(FIGURE) >= 3
    assert not [kind for kind in kinds if "widget" in kind]
    assert "widgets" not in notebook.metadata


@pytest.mark.parametrize(
    "path", [*NOTEBOOKS, EXPLORERS, *LABS, *ANSWERS], ids=lambda path: path.stem
)
def test_each_figure_has_its_picture_for_where_no_plotly_runs(path):
    """On GitHub, in a page or a PDF. `netlab pictures` draws what is missing."""
    figures = pictures.figures(read(path))
    assert len(figures) >= 3 or path in ANSWERS + LABS
    for output in figures:
        assert pictures.has_picture(output), "it is missing, or of another figure: netlab pictures"
        alt = output.metadata[pictures.PICTURE].alt
        assert alt == pictures.description(output.data[FIGURE]) and len(alt) > 30
    assert path.stat().st_size < 2_500_000


@each_and_labs
def test_numbers_in_its_prose_are_those_of_the_run(path):
    """Each decimal or per cent in the text is, to its last digit, one that the notebook computes,
    prints or cites.
    """
    notebook = read(path)
    computed = [cell.source for cell in code_cells(notebook)]
    for output in outputs(notebook):
        data = output.get("data", {"text/plain": output.get("text")})
        layout = data.get(FIGURE, {}).get("layout", {})
        computed.append(
            f"{data.get('text/plain')} {layout.get('title')} {layout.get('annotations')}"
        )
    number = re.compile(r"(?<![A-Za-z_])\d[\d,]*\.?\d*(?:e[+-]?\d+)?")
    known = [float(n.replace(",", "")) for text in computed for n in number.findall(text)]
    known = [
        value * factor
        for value in (*known, *PUBLISHED.value.astype(float))
        for factor in (1, 100, 1e-9, 1e-6, 1e-3, 1e3)
    ]
    said = re.compile(r"(?<![\w.])\d[\d,]*\.\d+|(?<!\w)\.\d{3,}|(?<![\w.])\d+(?= %)")
    for text in texts(notebook):
        # without formulas, code, the addresses of links, and a lab's sections
        text = re.sub(r"\$\$[^$]*\$\$|\$[^$]*\$|`[^`]*`|\]\([^)]*\)", "", text)
        text = re.sub(r"^###? \d\.\d|section \d\.\d", "", text, flags=re.M)
        for found in said.finditer(text):
            value = float(found[0].replace(",", ""))
            half = 0.5000001 * 10.0 ** -len(found[0].partition(".")[2])
            around = text[max(0, found.start() - 60) : found.end() + 20]
            assert any(abs(one - value) <= half for one in known), f"{found[0]}: ...{around}"


def test_links_and_pictures_are_there_and_readme_names_every_notebook():
    pages = {path: "\n".join(texts(read(path))) for path in NOTEBOOKS + LABS}
    pages |= {path: path.read_text() for path in ROOT.glob("*.md")}
    for path, text in pages.items():
        for target in re.findall(r"\]\((?!https?://|#)([^)\s]+)\)", text):
            assert (path.parent / target.partition("#")[0]).exists(), f"{path.name} links {target}"
    readme = pages[ROOT / "README.md"]
    assert [one.name for one in NOTEBOOKS + LABS if f"notebooks/{one.name}" not in readme] == []


@each
def test_papermill_can_set_its_parameters(path):
    first, *others = code_cells(read(path))
    assert "parameters" in first.metadata.get("tags", [])
    assert not any("parameters" in cell.metadata.get("tags", []) for cell in others)
    exec(first.source, values := {})
    names = values.keys() - {"__builtins__"}
    assert {"delay", "seed", "rate"} <= names
    assert names <= {"rate", "delay", "loss", "streams", "seed", "long_runs"}


@pytest.mark.long
@pytest.mark.xdist_group("the guide's sweep")
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
