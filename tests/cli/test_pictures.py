"""`netlab pictures` draws a picture beside each figure that a notebook stores, and none twice."""

import base64
import socket
import struct

import nbformat
import plotly.graph_objects as go
import pytest

from netlab.cli import pictures

TITLES = dict(title_text="Rate &amp; delay", xaxis_title_text="RTT [ms]")
FIGURE = go.Figure(
    go.Scatter(x=[1, 2], y=[3, 4], name="<i>measured</i>", showlegend=True),
    go.Layout(height=300, yaxis_title_text="rate<br>[Mbit/s]", **TITLES),
)
NEW = "a.ipynb: {} figures, {} pictures are new".format


def write(path, *figures):
    """A notebook that shows these figures, as plotly or as a notebook has them."""
    plain = [f.to_plotly_json() if isinstance(f, go.Figure) else f for f in figures]
    new = nbformat.v4
    outputs = [new.new_output("display_data", {pictures.FIGURE: figure}) for figure in plain]
    cell = new.new_code_cell("1", outputs=outputs, execution_count=1)
    nbformat.write(new.new_notebook(cells=[cell]), path)


def shown(path):
    return nbformat.read(path, as_version=4).cells[0].outputs


@pytest.fixture
def renew(call):
    """Call `netlab pictures`; -> what it prints, or says when it refuses."""
    return lambda: "".join(call("pictures", "a.ipynb")[1:]).strip()


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("a.ipynb", FIGURE)
    return tmp_path / "a.ipynb"


def test_what_was_edited_while_pictures_were_drawn_is_not_lost(renew, notebook, monkeypatch):
    def edited(figures):
        write("a.ipynb", FIGURE, FIGURE)
        return [b"\x89PNG"] * len(figures)

    monkeypatch.setattr(pictures, "drawn", edited)
    assert "a.ipynb was changed" in renew()
    assert len(shown(notebook)) == 2


def test_it_draws_what_has_no_picture_and_nothing_else(renew, notebook):
    write("a.ipynb", FIGURE, {"data": []}, "no figure")
    assert renew() == NEW(2, 2)
    output, without_layout, _ = shown(notebook)
    assert pictures.has_picture(without_layout)
    png = base64.b64decode(output.data["image/png"])
    assert png.startswith(b"\x89PNG") and struct.unpack(">II", png[16:24]) == (800, 375)
    assert output.metadata["image/png"].width == 800
    assert pictures.FIGURE in output.data, "the figure itself stays, for those who can see it"

    before = notebook.read_bytes()
    assert renew() == NEW(2, 0)
    assert notebook.read_bytes() == before


@pytest.fixture
def with_picture(notebook):
    """That notebook, and something in place of its picture."""
    stored = nbformat.read(notebook, as_version=4)
    pictures.put(stored.cells[0].outputs[0], b"old")
    return stored


def test_a_picture_of_another_figure_is_drawn_anew(renew, notebook, with_picture, monkeypatch):
    output = with_picture.cells[0].outputs[0]
    output.data[pictures.FIGURE]["layout"]["xaxis"]["title"]["text"] = "RTT [s]"
    nbformat.write(with_picture, notebook)
    monkeypatch.setattr(pictures, "drawn", lambda figures: [b"new"] * len(figures))
    assert renew() == NEW(1, 1)
    (new,) = shown(notebook)
    assert base64.b64decode(new.data["image/png"]) == b"new"
    assert "RTT [s]" in new.metadata["image/png"].alt


def test_a_notebook_that_is_stored_anew_keeps_the_pictures_of_its_figures(notebook, with_picture):
    write("b.ipynb", go.Figure(), FIGURE)
    new = nbformat.read("b.ipynb", as_version=4)
    pictures.carry_over(with_picture, new)
    assert new.cells[0].outputs[1] == with_picture.cells[0].outputs[0]
    assert [pictures.has_picture(output) for output in new.cells[0].outputs] == [False, True]


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (
            FIGURE.to_plotly_json(),
            "Rate & delay. Across: RTT [ms]. Upward: rate [Mbit/s]. Drawn: measured (3 to 4).",
        ),
        (go.Figure().to_plotly_json(), "Figure."),
        ({}, "Figure."),
        ({"data": None, "layout": None}, "Figure."),
        ({"layout": {"title": "Rate", "xaxis": {"title": "RTT"}}}, "Rate. Across: RTT."),
        ({"data": [{"name": 5}, {"name": 0}]}, "Figure. Drawn: 5, 0."),
        (
            {"data": [{"name": "a", "x": [1, None, 3]}], "layout": {"xaxis": {"title": "RTT"}}},
            "Figure. Across: RTT. Drawn: a (1 to 3).",
        ),
        (
            {
                "data": [
                    {"name": "a", "y": {"dtype": "i1", "bdata": "BQUF"}},
                    {"name": "b", "y": {"dtype": "i1", "bdata": 5}},
                    {"name": "c", "y": ["h1", [2], {}, float("nan")]},
                    {"name": "d", "y": 7.5},
                ],
                "layout": {"yaxis": {"title": "rate"}},
            },
            "Figure. Upward: rate. Drawn: a (5), b, c, d (7.5).",
        ),
        ({"layout": {"title": {"text": "a < b and c > <b>d</b>"}}}, "a < b and c >  d."),
        (
            {"layout": {f"xaxis{i}": {"title": {"text": f"t{i}"}} for i in ("10", "", "2")}},
            "Figure. Across: t, t2, t10.",
        ),
        (
            {"layout": {"scene": {f"{x}axis": {"title": {"text": x}} for x in "xyz"}}},
            "Figure. Across: x, y. Upward: z.",
        ),
    ],
)
def test_a_figure_is_described_in_words_whoever_wrote_it(figure, words):
    assert pictures.description(figure) == words


def test_drawing_a_strangers_figure_asks_the_network_for_nothing(renew, notebook):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        text = f"<span style='background: url({url})'>a</span>"
        image = dict(source=url, x=0, y=1, sizex=1, sizey=1)
        write("a.ipynb", go.Figure(FIGURE).add_layout_image(image).update_layout(title_text=text))
        assert renew() == NEW(1, 1)
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_figure_that_needs_the_network_is_refused(renew, notebook):
    write("a.ipynb", go.Figure(go.Scattergeo(lon=[1], lat=[2])))
    assert "drawn without the network" in renew()


def test_without_a_browser_it_says_what_to_install(renew, notebook, monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", "/nowhere")
    before = notebook.read_bytes()
    assert "need a browser" in (said := renew()) and "apt-get install chromium" in said
    assert notebook.read_bytes() == before


def test_without_kaleido_it_says_what_to_install(renew, notebook, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "kaleido", None)
    assert "kaleido" in (said := renew()) and "pip install 'kaleido>=" in said
