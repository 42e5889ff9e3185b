"""`netlab pages` writes notebooks as HTML that asks for nothing else."""

import base64
import re

import nbformat
from typer.testing import CliRunner

from netlab.cli import pictures
from netlab.cli.commands import app
from netlab.cli.pages import pages

PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


def test_a_page_has_its_pictures_and_formulas_in_it(tmp_path):
    text = "Half of $x$ and $$\\frac{1}{2}$$ of [the next](b.ipynb#top), ![a lab](lab.png)"
    figure = nbformat.v4.new_output(
        "display_data",
        {pictures.FIGURE: {"data": [], "layout": {}}},
    )
    pictures.put(figure, base64.b64decode(PICTURE))
    figure.metadata["image/png"]["alt"] = "a <small> figure"
    cells = [
        nbformat.v4.new_markdown_cell(text),
        nbformat.v4.new_code_cell("1", outputs=[figure], execution_count=1),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "a.ipynb")
    (tmp_path / "lab.png").write_bytes(b"PNG")
    done = CliRunner().invoke(
        app,
        ["pages", str(tmp_path / "a.ipynb"), "-o", str(tmp_path / "out")],
        catch_exceptions=False,
    )
    assert done.output == f"{tmp_path}/out/a.html (0.3 MB)\n"
    page = (tmp_path / "out/a.html").read_text(encoding="utf-8")
    assert re.search(r'<math display="block"[^>]*>.*<mfrac>', page) and "$" not in page
    (picture,) = re.findall(r"<img [^>]*figure[^>]*>", page)
    assert PICTURE in picture and 'alt="a &lt;small&gt; figure"' in picture
    assert 'href="b.html#top"' in page
    assert re.findall(r'\bsrc="(?!data:)[^"]*', page) == [], "nothing is fetched"
    assert "<script" not in page and "<link" not in page and "@import" not in page
    assert re.findall(r"url\([\"']?(?!data:|#)[^)]*", page) == []


def test_what_a_reader_ran_has_its_figures_in_the_page_too(tmp_path):
    """An explorer as well, of which a saved notebook has a dead widget and its figure."""
    widget = {"version_major": 2, "version_minor": 0, "model_id": "1"}
    state = {"state": {"1": {"model_name": "VBoxModel"}}, "version_major": 2, "version_minor": 0}
    mime = "application/vnd.jupyter.widget-"
    figure = {"data": [], "layout": {"title": {"text": "Mine"}}}
    data = {f"{mime}view+json": widget, pictures.FIGURE: figure, "text/html": "<script></script>"}
    output = nbformat.v4.new_output("display_data", data)
    cell = nbformat.v4.new_code_cell("1", outputs=[output], execution_count=1)
    metadata = {"widgets": {f"{mime}state+json": state}}
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=metadata), tmp_path / "a.ipynb")
    before = (tmp_path / "a.ipynb").read_bytes()
    (page,) = pages([tmp_path / "a.ipynb"], tmp_path)
    text = page.read_text(encoding="utf-8")
    assert re.search(r'<img [^>]*alt="Mine[.]"', text) and "<script" not in text
    assert (tmp_path / "a.ipynb").read_bytes() == before
