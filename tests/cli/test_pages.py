"""`netlab pages` writes notebooks as HTML that asks for nothing else."""

import base64
import re
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

import netlab as nl
from netlab.cli import pictures
from netlab.cli.pages import LivePage, headings, pages

ROOT = Path(__file__).parents[2]
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


def write(path, *cells, **metadata):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells), metadata=metadata), path)
    return path


def shown(data, **metadata):
    """A cell that shows this."""
    output = nbformat.v4.new_output("display_data", data, metadata=metadata)
    return nbformat.v4.new_code_cell("1", outputs=[output], execution_count=1)


def page_of(tmp_path, *cells, **metadata):
    """-> the page of a notebook with these cells, and what is said of it."""
    said = []
    path = write(tmp_path / "a.ipynb", *cells, **metadata)
    (page,) = pages([path], tmp_path / "out", said.append)
    return page.read_text(encoding="utf-8"), said


def fetched(page):
    """What a page would ask for."""
    addresses = re.findall(r"url\([\"']?(?!data:|#)[^)]*", page)
    addresses += re.findall(r'\bsrc="(?!data:)[^"]*', page)
    return addresses + re.findall("<script|<link|@import", page)


def test_a_page_has_its_pictures_and_formulas_in_it(tmp_path, call):
    text = "Half of $x$ and $$\\frac{1}{2}$$ of [the next](b.ipynb#top), ![a lab](a%20lab.png)"
    text += " [b](./b.ipynb) [c](02%20x.ipynb#top) [d](http://a.invalid/d.ipynb)"
    figure = shown({pictures.FIGURE: {"data": [], "layout": {"title": "a &lt;small&gt; figure"}}})
    pictures.put(figure.outputs[0], base64.b64decode(PICTURE))
    path = write(tmp_path / "a.ipynb", nbformat.v4.new_markdown_cell(text), figure)
    (tmp_path / "a lab.png").write_bytes(b"PNG")
    assert call("pages", path, "-o", tmp_path / "out").out == f"{tmp_path}/out/a.html (0.3 MB)\n"
    page = (tmp_path / "out/a.html").read_text(encoding="utf-8")
    assert re.search(r'<math display="block"[^>]*>.*<mfrac>', page) and "$" not in page
    (picture,) = re.findall(r"<img [^>]*figure[^>]*>", page)
    assert PICTURE in picture and 'alt="a &lt;small&gt; figure."' in picture
    assert 'src="data:image/png;base64,UE5H"' in page and fetched(page) == []
    for link in ("b.html#top", "b.html", "02%20x.html#top", "http://a.invalid/d.ipynb"):
        assert f'href="{link}"' in page


def test_what_a_reader_ran_has_its_figures_in_the_page_too(tmp_path):
    """An explorer as well, of which a saved notebook has a dead widget and its figure."""
    widget = {"version_major": 2, "version_minor": 0, "model_id": "1"}
    state = {"state": {"1": {"model_name": "VBoxModel"}}, "version_major": 2, "version_minor": 0}
    mime = "application/vnd.jupyter.widget-"
    figure = {"data": [], "layout": {"title": {"text": "Mine"}}}
    data = {f"{mime}view+json": widget, pictures.FIGURE: figure, "text/html": "<script></script>"}
    page, _ = page_of(tmp_path, shown(data), widgets={f"{mime}state+json": state})
    assert re.search(r'<img [^>]*alt="Mine[.]"', page) and "<script" not in page
    assert "image/png" not in (tmp_path / "a.ipynb").read_text(), "the notebook stays as it is"


def test_the_text_of_a_picture_stays_text(tmp_path):
    evil = '"><script>alert(1)</script>'
    metadata = {"image/png": {"alt": evil, "width": evil}}
    pngs = shown({"image/png": PICTURE}, **metadata), shown({"image/png": evil})
    page, said = page_of(tmp_path, *pngs)
    one, other = BeautifulSoup(page, "html.parser").find_all("img")
    assert one["alt"] == one["width"] == evil and other["src"].endswith(evil)
    assert said == []


@pytest.mark.parametrize(
    "formula", ["$$$$", "$ $", "$a_$", "$x^y^z$", r"$\left( x$", r"$\sqrt$", r"$\begin{matrix}$"]
)
def test_a_formula_that_cannot_be_drawn_is_shown_as_it_is_typed(tmp_path, formula):
    page, said = page_of(tmp_path, nbformat.v4.new_markdown_cell(f"It is {formula}, or $x<1$."))
    assert f"It is <code>{formula}</code>, or <math" in page
    assert len(said) == 1 and "a.ipynb" in said[0] and formula in said[0]


@pytest.mark.parametrize(
    "source",
    [
        *("none.png", "attachment:none.png", "images", "/etc/hostname", "http://a.invalid/b"),
        *("file:///etc/hostname", "FTP://a.invalid/b", "javascript:alert(1)"),
    ],
)
@pytest.mark.parametrize("text", ["![a lab]({})", '<img alt="a lab" src="{}">'])
def test_an_image_that_is_not_there_is_left_out_and_said(tmp_path, source, text):
    (tmp_path / "images").mkdir()
    page, said = page_of(tmp_path, nbformat.v4.new_markdown_cell(text.format(source)))
    assert fetched(page) == [] and 'alt="a lab"' in page
    assert len(said) == 1 and f"its image {source} is" in said[0]


EVIL = r"""<script>alert(1)</script> <b onclick="alert(1)">bold</b>
<b style="color: red; background: u\72l(http://a.invalid)">red</b> <svg><circle/></svg>
<a href="java&#115;cript:alert(1)">link</a> <img src="http://a.invalid">
<a href="http://b.invalid">away</a>"""


@pytest.mark.parametrize("mime", ["text/html", "text/markdown", "a cell"])
def test_what_would_run_in_a_page_or_be_fetched_is_left_out_and_said(tmp_path, mime):
    """All that tests/browser/test_pages.py tries, in a few words."""
    cell = shown({mime: EVIL})
    if mime == "a cell":
        cell = nbformat.v4.new_markdown_cell(f"$x$\n\n{EVIL}")
    page, said = page_of(tmp_path, cell, nbformat.v4.new_markdown_cell("$y$"))
    policy, body = BeautifulSoup(page, "html.parser").head.find(), page[page.index("<body") :]
    assert policy["http-equiv"] == "Content-Security-Policy"
    assert not re.search(r"(?i)alert|a\.invalid|(java|<)script|<circle", body)
    assert "<b>bold</b>" in body and '<b style="color:red">red</b>' in body and "<math" in body
    assert '<a href="http://b.invalid" rel="noopener noreferrer nofollow">away</a>' in body
    assert all(any(one in text for text in said) for one in ("<script>", "<svg>", "http://a."))


@pytest.mark.parametrize("name", ["01-path-pipe-window", "03-random-loss-mathis"])
def test_all_that_our_notebooks_show_is_in_their_pages(tmp_path, monkeypatch, name):
    def content(page):
        body = BeautifulSoup(page, "html.parser").body
        for style in body.find_all("style"):  # of pandas' tables: the page has its own
            style.decompose()
        return [(tag.name, tag.get("class"), tag.get("id")) for tag in body.find_all(True)]

    said, both = [], []
    for folder in (tmp_path / "harmless", tmp_path / "before"):
        (page,) = pages([ROOT / f"notebooks/{name}.ipynb"], folder, said.append)
        both.append(content(page.read_text(encoding="utf-8")))
        monkeypatch.setattr("netlab.cli.pages.harmless", lambda page, warn: page)
    assert said == [] and both[0] == both[1] and len(both[0]) > 1000


def test_a_link_out_of_the_notebooks_folder_is_not_followed(tmp_path):
    (tmp_path / "own.png").write_bytes(b"secret")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/lab.png").symlink_to(tmp_path / "own.png")
    page, said = page_of(tmp_path / "theirs", nbformat.v4.new_markdown_cell("![a](lab.png)"))
    assert 'alt="a"' in page and base64.b64encode(b"secret").decode() not in page
    assert len(said) == 1


def test_of_two_notebooks_with_one_name_none_is_lost(tmp_path):
    paths = [write(tmp_path / name / "same.ipynb") for name in "ab"]
    with pytest.raises(nl.NetlabError, match=r"a/same\.ipynb and .*b/same\.ipynb would both be"):
        list(pages(paths, tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert len(list(pages(paths[:1] * 2, tmp_path / "out"))) == 1


def test_a_page_has_a_title_its_contents_and_ways_to_the_others(tmp_path):
    def notebook(name, text):
        return write(tmp_path / f"{name}.ipynb", nbformat.v4.new_markdown_cell(text))

    paths = [
        notebook("01 a", "# A path & a < b\n\n## Why?\n\n## Half of $x$"),
        notebook("02-b", "no heading"),
    ]
    written = list(pages(paths, tmp_path / "out"))
    assert [path.name for path in written] == ["01 a.html", "02-b.html", "index.html"]
    first, second, index = (
        BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in written
    )
    assert first.title.text == "A path & a < b" and second.title.text == "02-b"
    above, below = first.find_all("nav")
    for link in above.select("li a"):
        assert first.find(id=link["href"][1:]) and link.text in {"Why?", "Half of x"}
    assert [link["href"] for link in below.find_all("a")] == ["index.html", "02-b.html"]
    assert [link["href"] for link in second.nav.find_all("a")] == ["index.html"]
    assert [link["href"] for link in index.find_all("a")] == ["01%20a.html", "02-b.html"]
    assert fetched(str(index)) == [] and "default-src 'none'" in str(index)
    assert len(list(pages(paths, tmp_path / "out"))) == 3, "its own pages it replaces"
    (tmp_path / "out/index.html").write_text("mine")
    with pytest.raises(nl.NetlabError, match=r"index\.html"):
        list(pages(paths, tmp_path / "out"))


def test_headings_and_titles_cannot_become_markup(tmp_path):
    """What is cut from a heading, whose attributes may hold signs of markup, stays text."""
    image = f'<img alt="x<" title=" y" src="data:image/png;base64,{PICTURE}">'
    text = f"# </title><b id=bold>\n\n## {image}\n\n## a/src=x/onerror=alert(1)/\n\n## &lt;i&gt;"
    page, _ = page_of(tmp_path, nbformat.v4.new_markdown_cell(text))
    soup = BeautifulSoup(page, "html.parser")
    (contents,) = soup.find_all("nav", {"aria-label": "Contents"})
    assert {one.name for one in contents.find_all(True)} <= {"details", "summary", "ul", "li", "a"}
    assert all(one.attrs.keys() <= {"href"} for one in contents.find_all(True))
    assert not soup.find_all(lambda one: any(name.startswith("on") for name in one.attrs))
    assert contents.find_all("a")[-1].text == "<i>" and "<b id=bold>" in soup.title.text
    cut = f'<h2 id="a">{image}a &lt;b&gt;<a class="anchor-link" href="#a">¶</a></h2>'
    ((text, to),) = headings(cut)
    assert not {*'<>"'} & {*text} and text.endswith("a &lt;b&gt;") and to == "#a"


def test_the_page_of_the_demo_has_its_formulas_and_moving_figures_in_it(tmp_path):
    figure = {"data": [{"type": "bar", "y": [1, 2]}], "layout": {"title": {"text": "$x$"}}}
    theirs = "<script src='https://a.invalid/mathjax.js'></script>"  # plotly's own page asks so
    cells = [shown({pictures.FIGURE: figure, "text/html": theirs}) for _ in range(2)]
    path = write(tmp_path / "a.ipynb", nbformat.v4.new_markdown_cell("Half of $K$"), *cells)
    page, _ = LivePage().from_filename(str(path))
    soup = BeautifulSoup(page, "html.parser")
    assert [tag.get_text() for tag in soup.find_all("math")] == ["K"]
    sources = [
        tag.get("src") or tag.get("href") for tag in soup.find_all(["script", "link", "img"])
    ]
    assert not [address for address in sources if address] and "a.invalid" not in page
    assert len(soup.select("div.plotly-graph-div")) == 2 and page.count("* plotly.js v") == 1
