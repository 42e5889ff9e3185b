"""`netlab record` runs notebooks live and keeps what their experiments left."""

import nbformat
import pytest

import netlab as nl
from netlab.cli import pictures
from netlab.engines import recorded

NEW = "notebooks/{}.ipynb: {} experiments, {} records are new".format


EXPERIMENT = 'nl.wan("20mbit", "20ms", pairs=1), nl.Iperf3("h1", "h2", time=1)'


def one(seed=1, more=""):
    """Code of a short experiment."""
    return f"nl.run({EXPERIMENT}, seed={seed}{more})"


AS_RECORDED = ', engine="recorded"'
SHOW = [
    "import sys; print('one'); sys.stdout.flush(); print('two')",
    "import ipywidgets; ipywidgets.IntSlider()",
    "nl.plots.aimd({'Reno': nl.models.aimd_trace(mss_bytes=1448, rtt_s=0.1, duration_s=9)})",
    "from netlab import explore; explore.aimd()",
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder of records, named from here, and a checkout with a folder of notebooks."""
    monkeypatch.setenv("NETLAB_RECORDS", "records")
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(place, name, *runs):
    cells = [nbformat.v4.new_code_cell(source) for source in ("import netlab as nl", *runs)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, place / "notebooks" / name)


def stored():
    return {path.name: path.read_bytes() for path in recorded.records().place.iterdir()}


@pytest.fixture
def record(call):
    """Call `netlab record`; -> the lines that it prints, or says when it refuses."""

    def run(*arguments):
        done = call("record", *arguments)
        return (done.err if done.status else done.out).splitlines()

    return run


@pytest.mark.long
def test_it_keeps_what_every_experiment_left_and_shows_what_cells_showed(record, place):
    """One in real time, which never repeats, keeps its record."""
    write(place, "a.ipynb", one(), one(2, AS_RECORDED))
    in_real_time = one(3, f', clock="real"{AS_RECORDED}')
    write(place, "b.ipynb", in_real_time + ".flows", *SHOW)
    assert record() == [NEW("a", 2, 2), NEW("b", 1, 1), "3 records, 0 removed"]
    files, shown = stored(), (place / "notebooks/b.ipynb").read_bytes()
    live = nl.run(nl.wan("20mbit", "20ms", pairs=1), nl.Iperf3("h1", "h2", time=1), seed=2)
    assert nl.run(live.experiment, engine="recorded").raw == live.raw

    notebook = nbformat.read(place / "notebooks/b.ipynb", as_version=4)
    table, printed, slider, *figures = (cell.outputs for cell in notebook.cells[1:])
    assert "received_bps" in table[-1].data["text/plain"]
    assert [output.text for output in printed] == ["one\ntwo\n"]
    assert slider == [], "a stored widget is heavy, and dead without its kernel"
    for *_, output in figures:  # an explorer's, too
        assert {*output.data} == {pictures.FIGURE, pictures.PICTURE}
        assert pictures.has_picture(output) and output.metadata[pictures.PICTURE].alt
    assert [cell.execution_count for cell in notebook.cells] == [1, 2, 3, 4, 5, 6]
    assert notebook.metadata.netlab.engine_digest == nl.engines.pick().digest

    write(place, "a.ipynb", one())
    assert record("notebooks/a.ipynb") == [NEW("a", 1, 0)]
    assert stored() == files, "nothing changed where nothing changed"
    assert record() == [NEW("a", 1, 0), NEW("b", 1, 0), "2 records, 1 removed"]
    assert recorded.records().find(live.experiment) is None
    assert {*stored()} == {*files} == {"a.zip", "b.zip"} and stored()["b.zip"] == files["b.zip"]
    assert (place / "notebooks/b.ipynb").read_bytes() == shown


def test_a_notebook_that_fails_leaves_the_records_alone(record, place):
    write(place, "a.ipynb", one(), "1 / 0")
    assert "a.ipynb, cell 3: ZeroDivisionError: division by zero" in record()[0]
    assert not recorded.records().place.exists()


@pytest.mark.long
def test_what_was_edited_while_a_notebook_ran_is_not_lost(record, place):
    """And what its cells showed is of no other cells."""
    source = "import os\nfrom pathlib import Path\nmine = Path('a.ipynb')\ntext = mine.read_text()"
    edit = "mine.write_text(text.replace('import netlab', 'import json, netlab'))"
    second = "if os.environ['NETLAB_RECORD'] == 'off':"  # which is stored
    write(place, "a.ipynb", f"{source}\n{second}\n    {edit}\nprint('shown')")
    assert "a.ipynb was changed while it ran" in record("notebooks/a.ipynb")[0]
    text = (place / "notebooks/a.ipynb").read_text()
    assert "import json, netlab as nl" in text and "shown\\n" not in text


def test_a_notebook_of_a_kernel_that_is_not_here_is_refused_by_name(record, place):
    kernel = {"kernelspec": {"name": "cobol", "display_name": "COBOL"}}
    nbformat.write(nbformat.v4.new_notebook(metadata=kernel), place / "notebooks/a.ipynb")
    assert "a.ipynb cannot be run (NoSuchKernel: " in record()[0]


def test_without_notebooks_it_says_so(record, place):
    assert "no folder notebooks here" in record()[0]
