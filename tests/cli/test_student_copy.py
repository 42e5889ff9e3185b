"""`netlab student-copy` takes outputs and predictions out of notebooks, and leaves the rest."""

import nbformat
import pytest
from typer.testing import CliRunner

import netlab as nl
from netlab.cli.commands import app
from netlab.cli.student_copy import unpredicted


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("my_x = 5  # <- your prediction", "my_x = None  # <- your prediction"),
        ("my_x = 'µ' * 3  # <- your prediction: µ?", "my_x = None  # <- your prediction: µ?"),
        ("a, b = one(2), [3, 4]  # <- your prediction", "a, b = None, None  # <- your prediction"),
        ("a, b = (1, 2)  # <- your prediction", "a, b = None, None  # <- your prediction"),
        ("my_x = {1: 2,\n  3: 4}  # <- your prediction", "my_x = None  # <- your prediction"),
        ("a = 1; b = 2  # <- your prediction", "a = None; b = None  # <- your prediction"),
        (
            "x = 1\na = 1  # <- your prediction\n\nb = 'é', 2  # <- your prediction\ny = 2",
            "x = 1\na = None  # <- your prediction\n\nb = None  # <- your prediction\ny = 2",
        ),
        ("%matplotlib inline\nx = 1", "%matplotlib inline\nx = 1"),
    ],
)
def test_predictions_become_none_and_everything_else_stays(source, expected):
    assert unpredicted(source) == expected


def place(tmp_path, source="my_x = 5  # <- your prediction"):
    home = tmp_path / "course"
    (home / "notebooks/images").mkdir(parents=True)
    (home / "data/records").mkdir(parents=True)
    (home / "notebooks/images/lab.png").write_bytes(b"PNG")
    (home / "data/published.csv").write_text("id,value\n")
    (home / "data/records/one.json.xz").write_bytes(b"xz")
    output = nbformat.v4.new_output("stream", text="5 is right")
    cells = [
        nbformat.v4.new_markdown_cell("How many?"),
        nbformat.v4.new_code_cell(source, outputs=[output], execution_count=3),
    ]
    metadata = {"netlab": {"engine_digest": "1"}, "language_info": {"name": "python"}}
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells, metadata=metadata), home / "notebooks/a.ipynb"
    )
    return home / "notebooks/a.ipynb"


def copy(path, folder):
    return CliRunner().invoke(
        app, ["student-copy", str(path), "-o", str(folder)], catch_exceptions=False
    )


def test_a_copy_has_no_outputs_and_what_it_reads_beside_it(tmp_path):
    path, folder = place(tmp_path), tmp_path / "students"
    before = path.read_bytes()
    assert copy(path, folder).output == f"{folder}/notebooks/a.ipynb\n"
    assert path.read_bytes() == before
    notebook = nbformat.read(folder / "notebooks/a.ipynb", as_version=4)
    question, cell = notebook.cells
    assert question.source == "How many?"
    assert (cell.outputs, cell.execution_count) == ([], None)
    assert cell.source == "my_x = None  # <- your prediction"
    assert notebook.metadata == {"language_info": {"name": "python"}}
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    assert files == [
        "data/published.csv",
        "data/records/one.json.xz",
        "notebooks/a.ipynb",
        "notebooks/images/lab.png",
    ]


def test_a_file_in_which_somebody_worked_is_never_overwritten(tmp_path):
    path, folder = place(tmp_path), tmp_path / "students"
    copy(path, folder)
    assert copy(path, folder).exit_code == 0, "the same again changes nothing"
    mine = folder / "notebooks/a.ipynb"
    mine.write_text(mine.read_text().replace("None", "7"))
    worked = mine.read_text()
    (folder / "data/published.csv").unlink()
    with pytest.raises(nl.NetlabError, match=r"a\.ipynb is there already.*another folder"):
        copy(path, folder)
    assert mine.read_text() == worked
    assert not (folder / "data/published.csv").exists(), "nothing is written"


@pytest.mark.parametrize(
    "source", ["guess(5)  # <- your prediction", "my_x =  # <- your prediction"]
)
def test_a_prediction_that_it_cannot_take_out_is_refused(tmp_path, source):
    with pytest.raises(nl.NetlabError, match=r"a\.ipynb, cell 2: its prediction cannot be taken"):
        copy(place(tmp_path, source), tmp_path / "students")
    assert not (tmp_path / "students").exists()
