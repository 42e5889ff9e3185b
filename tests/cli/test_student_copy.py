"""`netlab student-copy` takes outputs and predictions out of notebooks, and leaves the rest."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest

import netlab as nl
from netlab.cli.student_copy import student_copy, unpredicted

ROOT = Path(__file__).parents[2]
MARK = "# <- your prediction"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"my_x = 5  {MARK}", f"my_x = None  {MARK}"),
        (f"my_x = 'µ' * 3  {MARK}: µ?", f"my_x = None  {MARK}: µ?"),
        (f"a, b = one(2), [3, 4]  {MARK}", f"a, b = None, None  {MARK}"),
        (f"a, b = (1, 2)  {MARK}", f"a, b = None, None  {MARK}"),
        (f"my_x = {{1: 2,\n  3: 4}}  {MARK}", f"my_x = None  {MARK}"),
        (f"x = f(); b = 2  {MARK}", f"x = f(); b = None  {MARK}"),
        (f"[a, b] = 1, 2  {MARK}s", f"[a, b] = None, None  {MARK}s"),
        (f"(a,) = (1,)  {MARK}", f"(a,) = None,  {MARK}"),
        (f"a = (1  # my secret\n)  {MARK}", f"a = None  {MARK}"),
        (f"s = '\x0c\x85'\na = 5  {MARK}", f"s = '\x0c\x85'\na = None  {MARK}"),
        (f"a = 1  {MARK}\n\nb = 'é', 2  {MARK}", f"a = None  {MARK}\n\nb = None  {MARK}"),
        ("# compare this with your prediction\nx = 1", None),
        ("%matplotlib inline\nx = 1", None),
    ],
)  # fmt: skip
def test_predictions_become_none_and_everything_else_stays(source, expected):
    assert unpredicted(source) == (expected or source)


def place(tmp_path, source=f"my_x = 5  {MARK}"):
    home = tmp_path / "course"
    (home / "notebooks/images").mkdir(parents=True)
    (home / "data/records").mkdir(parents=True)
    (home / "notebooks/images/lab.png").write_bytes(b"PNG")
    (home / "README.md").write_text("How to run `make test`.")
    (home / "notebooks/README.md").write_text("[a](a.ipynb#b), [b](b/README.md), [c](https://c.d)")
    (home / "data/published.csv").write_text("id,value\n")
    (home / "data/records/one.zip").write_bytes(b"xz")
    output = nbformat.v4.new_output("stream", text="5 is right")
    cells = [
        nbformat.v4.new_markdown_cell(
            "How many [sent](../data/published.csv)? [See](../docs/a.md#b)"
        ),
        nbformat.v4.new_code_cell(source, outputs=[output], execution_count=3),
    ]
    cells[1].metadata = {"papermill": {"status": "done"}, "execution": {}, "tags": ["mine"]}
    metadata = {"netlab": {"engine_digest": "1"}, "language_info": {"name": "python"}}
    metadata |= {"papermill": {"input_path": "answers"}, "widgets": {"state": {}}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.write(notebook, home / "notebooks/a.ipynb")
    return home / "notebooks/a.ipynb"


@pytest.fixture
def copy(call):
    return lambda path, folder: call("student-copy", path, "-o", folder)


def files_of(folder):
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


OF_A_COURSE = ["README.md", "data/published.csv", "data/records/one.zip"]
OF_NOTEBOOKS = ["notebooks/README.md", "notebooks/a.ipynb", "notebooks/images/lab.png"]
ALL = OF_A_COURSE + OF_NOTEBOOKS


def test_a_copy_has_no_outputs_and_what_it_reads_beside_it(copy, tmp_path):
    path, folder = place(tmp_path), tmp_path / "students"
    before = path.read_bytes()
    said = f"{folder}/notebooks/a.ipynb\n1 notebooks and 5 other files, 0.0 MB\n"
    assert copy(path, folder).out == said
    assert path.read_bytes() == before
    notebook = nbformat.read(folder / "notebooks/a.ipynb", as_version=4)
    question, cell = notebook.cells
    assert question.source == "How many [sent](../data/published.csv)? See"
    assert cell.source == f"my_x = None  {MARK}"
    assert (cell.outputs, cell.execution_count) == ([], None)
    assert notebook.metadata == {"language_info": {"name": "python"}}
    assert cell.metadata == {"tags": ["mine"]}
    assert files_of(folder) == ALL
    listed = (folder / "notebooks/README.md").read_text()
    assert listed == "[a](a.ipynb#b), b, [c](https://c.d)"
    assert "make" not in (folder / "README.md").read_text()


def test_in_a_copy_of_the_whole_course_every_link_leads_somewhere(tmp_path):
    notebooks, folder = tmp_path / "course/notebooks", tmp_path / "students"
    for name in ("notebooks", "docs", "data"):
        shutil.copytree(ROOT / name, tmp_path / "course" / name)
    *copies, _ = student_copy(sorted(notebooks.glob("*.ipynb")), folder)
    pages = {path: path.read_text() for path in folder.rglob("*.md")}
    for path in copies:
        cells = nbformat.read(path, as_version=4).cells
        pages[path] = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    links = [
        (path, link)
        for path, text in pages.items()
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    ]
    assert len(pages) == len(copies) + 2 and len(links) > len(copies)
    assert [(path, link) for path, link in links if not (path.parent / link).exists()] == []


def test_a_file_in_which_somebody_worked_is_never_overwritten(copy, tmp_path):
    path, folder = place(tmp_path), tmp_path / "students"
    copy(path, folder)
    assert copy(path, folder).status == 0, "the same again changes nothing"
    mine = folder / "notebooks/a.ipynb"
    mine.write_text(mine.read_text().replace("None", "7"))
    worked = mine.read_text()
    (folder / "data/published.csv").unlink()
    assert "a.ipynb is there already" in copy(path, folder).err
    assert mine.read_text() == worked
    assert not (folder / "data/published.csv").exists(), "nothing is written"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (f"guess(5)  {MARK}", 1),
        (f"my_x =  {MARK}", 1),
        ("x = 1\nmy_x = 5  #<- your prediction", 2),
        ("x = 1\nmy_x = 5  # ← your prediction", 2),
        ("my_x = 5  # <- Your prediction", 1),
        ("my_x = 5  # your prediction", 1),
        (f"{MARK}\nmy_x = 5", 1),
        (f"a, *b = 5, 6  {MARK}", 1),
        (f"(a, b), c = (5, 6), 7  {MARK}", 1),
        (f"my_x += 5  {MARK}", 1),
        (f"my_x: int = 5  {MARK}", 1),
        (f"my_x = my_y = 5  {MARK}", 1),
        (f"my['x'] = 5  {MARK}", 1),
        (f"if True:\n    my_x = 5  {MARK}", 2),
        (f"my_x = 5; print(my_x)  {MARK}", 1),
        (f"my_x = [  {MARK}\n  5,\n]", 1),
        (f"x = '{MARK}'", 1),
        (f"%%time\nmy_x = 5  {MARK}", 2),
        (f"!ls '\nmy_x = 5  {MARK}", 2),
    ],
)
def test_a_prediction_that_it_cannot_take_out_is_refused(copy, tmp_path, source, line):
    said = copy(place(tmp_path, source), tmp_path / "students").err
    assert "a.ipynb, cell 2: " in said and f" in line {line} " in said and "`my_name =" in said
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
    path, said = student_copy([one, one], tmp_path / "students")
    assert path.name == "a.ipynb" and said.startswith("1 notebooks")


def test_of_a_notebook_outside_a_course_only_the_images_that_it_names_are_copied(copy, tmp_path):
    path, folder = place(tmp_path, "x = 'images/lab.png'"), tmp_path / "students"
    (path.parents[1] / "data/published.csv").unlink()
    (path.parent / "images/private.png").write_bytes(b"PNG")
    copy(path, folder)
    assert files_of(folder) == ["notebooks/a.ipynb", "notebooks/images/lab.png"]


def test_copies_among_the_data_are_not_copied_again(copy, tmp_path):
    path = place(tmp_path)
    folder = path.parents[1] / "data/students"
    (path.parents[1] / "data/.hidden").write_text("mine")
    for _ in range(2):
        copy(path, folder)
    assert files_of(folder) == ALL


def test_a_link_to_a_folder_is_not_skipped_silently(copy, tmp_path):
    path = place(tmp_path)
    (path.parents[1] / "data/more").symlink_to(tmp_path)
    assert "data/more is a link to a folder" in copy(path, tmp_path / "students").err
