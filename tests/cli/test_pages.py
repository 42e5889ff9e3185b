"""`netlab pages` writes notebooks as HTML that asks for nothing else."""

import re

import nbformat
from typer.testing import CliRunner

from netlab.cli.commands import app

PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


def test_a_page_has_its_pictures_and_formulas_in_it(tmp_path):
    text = "Half of $x$ and $$\\frac{1}{2}$$ of [the next](b.ipynb#top), ![a lab](lab.png)"
    figure = nbformat.v4.new_output(
        "display_data",
        {"application/vnd.plotly.v1+json": {"data": [], "layout": {}}, "image/png": PICTURE},
        metadata={"image/png": {"alt": "a <small> figure", "width": 800}},
    )
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
