"""`netlab student-copy` takes outputs and predictions out of notebooks, and leaves the rest."""

import nbformat
import pytest
from typer.testing import CliRunner

import netlab as nl
from netlab.cli.commands import app
from netlab.cli.student_copy import student_copy, unpredicted


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("my_x = 5  # <- your prediction", "my_x = None  # <- your prediction"),
        ("my_x = 'µ' * 3  # <- your prediction: µ?", "my_x = None  # <- your prediction: µ?"),
        ("a, b = one(2), [3, 4]  # <- your prediction", "a, b = None, None  # <- your prediction"),
        ("a, b = (1, 2)  # <- your prediction", "a, b = None, None  # <- your prediction"),
        ("my_x = {1: 2,\n  3: 4}  # <- your prediction", "my_x = None  # <- your prediction"),
        ("x = f(); b = 2  # <- your prediction", "x = f(); b = None  # <- your prediction"),
        ("[a, b] = 1, 2  # <- your predictions", "[a, b] = None, None  # <- your predictions"),
        ("(a,) = (1,)  # <- your prediction", "(a,) = None,  # <- your prediction"),
        ("a = (1  # my secret\n)  # <- your prediction", "a = None  # <- your prediction"),
        ("a = [  # <- your prediction\n  1,\n]\nb = 2", "a = None  # <- your prediction\nb = 2"),
        (
            "s = '\x0c\x85'\na = 5  # <- your prediction",
            "s = '\x0c\x85'\na = None  # <- your prediction",
        ),
        ("x = '# <- your prediction'", "x = '# <- your prediction'"),
        ('x = """\n# <- your prediction"""', 'x = """\n# <- your prediction"""'),
        (
            "# compare this with your prediction\nx = 1",
            "# compare this with your prediction\nx = 1",
        ),
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
    cells[1].metadata = {"papermill": {"status": "done"}, "execution": {}, "tags": ["mine"]}
    metadata = {"netlab": {"engine_digest": "1"}, "language_info": {"name": "python"}}
    metadata |= {"papermill": {"input_path": "answers"}, "widgets": {"state": {}}}
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
    assert copy(path, folder).output == (
        f"{folder}/notebooks/a.ipynb\n1 notebooks and 3 other files, 0.0 MB\n"
    )
    assert path.read_bytes() == before
    notebook = nbformat.read(folder / "notebooks/a.ipynb", as_version=4)
    question, cell = notebook.cells
    assert question.source == "How many?"
    assert (cell.outputs, cell.execution_count) == ([], None)
    assert cell.source == "my_x = None  # <- your prediction"
    assert notebook.metadata == {"language_info": {"name": "python"}}
    assert cell.metadata == {"tags": ["mine"]}
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
    ("source", "line"),
    [
        ("guess(5)  # <- your prediction", 1),
        ("my_x =  # <- your prediction", 1),
        ("x = 1\nmy_x = 5  #<- your prediction", 2),
        ("x = 1\nmy_x = 5  # ← your prediction", 2),
        ("my_x = 5  # <- Your prediction", 1),
        ("my_x = 5  # your prediction", 1),
        ("# <- your prediction\nmy_x = 5", 1),
        ("a, *b = 5, 6  # <- your prediction", 1),
        ("(a, b), c = (5, 6), 7  # <- your prediction", 1),
        ("my_x += 5  # <- your prediction", 1),
        ("my_x: int = 5  # <- your prediction", 1),
        ("my_x = my_y = 5  # <- your prediction", 1),
        ("my['x'] = 5  # <- your prediction", 1),
        ("if True:\n    my_x = 5  # <- your prediction", 2),
        ("my_x = 5; print(my_x)  # <- your prediction", 1),
        ("%%time\nmy_x = 5  # <- your prediction", 1),
        ("!ls '\nmy_x = 5  # <- your prediction", 1),
    ],
)
def test_a_prediction_that_it_cannot_take_out_is_refused(tmp_path, source, line):
    said = rf"a\.ipynb, cell 2: its prediction cannot be taken out \(line {line}.*`my_name = value"
    with pytest.raises(nl.NetlabError, match=said):
        copy(place(tmp_path, source), tmp_path / "students")
    assert not (tmp_path / "students").exists()


def test_of_two_notebooks_with_one_name_none_is_lost(tmp_path):
    one, two = place(tmp_path / "one"), place(tmp_path / "two", "x = 1")
    with pytest.raises(nl.NetlabError, match=r"one/.*a\.ipynb and .*two/.*a\.ipynb would both be"):
        student_copy([one, two], tmp_path / "students")
    two = two.rename(two.with_name("b.ipynb"))
    (two.parents[1] / "data/published.csv").write_text("other")
    with pytest.raises(nl.NetlabError, match=r"published\.csv and .*published\.csv would both be"):
        student_copy([one, two], tmp_path / "students")
    assert not (tmp_path / "students").exists()
    assert len(student_copy([one, one], tmp_path / "students")) == 1


def test_of_a_notebook_outside_a_course_only_the_images_that_it_names_are_copied(tmp_path):
    path, folder = place(tmp_path, "x = 'images/lab.png'"), tmp_path / "students"
    (path.parents[1] / "data/published.csv").unlink()
    (path.parent / "images/private.png").write_bytes(b"PNG")
    copy(path, folder)
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    assert files == ["notebooks/a.ipynb", "notebooks/images/lab.png"]


def test_copies_among_the_data_are_not_copied_again(tmp_path):
    path = place(tmp_path)
    folder = path.parents[1] / "data/students"
    (path.parents[1] / "data/.hidden").write_text("mine")
    for _ in range(2):
        copy(path, folder)
    files = sorted(str(file.relative_to(folder)) for file in (folder / "data").rglob("*.*"))
    assert files == ["data/published.csv", "data/records/one.json.xz"]


def test_a_link_to_a_folder_is_not_skipped_silently(tmp_path):
    path = place(tmp_path)
    (path.parents[1] / "data/more").symlink_to(tmp_path)
    with pytest.raises(nl.NetlabError, match=r"data/more is a link to a folder"):
        copy(path, tmp_path / "students")


def test_an_output_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "students").touch()
    with pytest.raises(nl.NetlabError, match=r"--output .*students.*name another"):
        copy(place(tmp_path), tmp_path / "students")
