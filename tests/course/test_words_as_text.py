"""Whatever students write in words is text in nbgrader's formgrader and on its feedback pages."""

import copy
import json
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.course.compared import repaired
from tests.course.test_adapters import marks

with_nbgrader = pytest.importorskip("nbgrader.server_extensions.formgrader.handlers")
ACTIVE = [
    "[x](javascript:alert(1))",
    "[x][1]\n\n[1]: javascript:alert(1)",
    "![t](http://example.org/track.png)",
    "![i](attachment:image.png)",
    "<javascript:alert(1)> <http://example.org>",
    "http://example.org",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "<svg><style>@import 'http://example.org'</style></svg>",
    "&#60;img src=x onerror=alert&#40;1&#41;&#62;",
    "$\\href{javascript:alert(1)}{x}$ \\(\\unicode{0}\\) $$\\require{action}$$",
    "\\begin{equation}\n\\href{javascript:alert(1)}{x}\n\\end{equation}",
    "$$\n<img src=x onerror=alert(1)>\n$$",
    "```\ncode\n```\n<img src=x>\n~~~\n[x](javascript:1)",
    "- a\n\n      [x](javascript:1)\n\n<b onclick=alert(1)>",
    "a\x0b<img src=x>\x0c<img src=x>\x85<img src=x>\u2028<img src=x>\r<img src=x>\x1c<b>",
    "\n\n\n<img src=x>\n\n\n[x](javascript:1)\n\t<img src=x>",
    "| a |\n|---|\n| <img src=x> |\n[^1]\n\n[^1]: [x](javascript:1)",
    "</code></pre></div><img src=x>",
    "{{ 1 }} {% raw %} <a href=x>",
    "long " * 60 + "<img src=x>" + "y" * 300,
]  # fmt: skip
PLACES = "manual", "markdown", "raw", "code", "reason"


@pytest.fixture(scope="module")
def exporters():
    from nbconvert.exporters import HTMLExporter

    static = Path(with_nbgrader.template_path).parent / "static"
    return [
        HTMLExporter(
            template_name=name,
            extra_template_basedirs=[with_nbgrader.template_path],
            extra_template_paths=[str(static / "node_modules/bootstrap/dist/css")],
        )
        for name in ("formgrade", "feedback")
    ]


def exported(assignment, words, place):
    """What the export writes of a notebook with these texts: own cells, or one answer."""
    from netlab.course.adapters import nbgrader

    notebook = copy.deepcopy(assignment.solution())
    if place == "manual":
        notebook["cells"][-1]["source"] = "\n\n".join(words)
    elif place != "reason":
        own = {"cell_type": place, "metadata": {}, "outputs": []}
        own["attachments"] = {"image.png": {"image/png": "AAAA"}}
        notebook["cells"][3:3] = [own | {"source": one} for one in words]
    cells = repaired(json.dumps(notebook).encode(), assignment).cells
    said = marks("ada", (3, 3.5), reason=" ".join(words) if place == "reason" else "")
    made = nbgrader.autograded(assignment, cells, said)
    for cell in made["cells"]:  # as nbgrader's GetGrades leaves them
        cell["metadata"].setdefault("nbgrader", {}).update(score=1, points=2, comment="Good.")
    return nbformat.from_dict(made)


class Page(HTMLParser):
    """The elements of a page, the text that nothing obeys, and the text that MathJax reads."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.depth, self.words, self.others, self.skip = Counter(), 0, [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.depth += tag == "pre"
        self.skip += tag in ("script", "style")
        if tag not in ("span", "br"):  # Pygments' colours of code
            active = {name: value for name, value in attributes if name != "class"}
            self.elements[tag, json.dumps(active)] += 1

    def handle_endtag(self, tag):
        self.depth -= tag == "pre"
        self.skip -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.skip:
            (self.words if self.depth else self.others).append(data)


def pages(exporters, notebook):
    about = {"score": 1, "max_score": 2, "notebook": "ps0", "late_penalty": 0}
    for exporter in exporters:
        resources = {
            "nbgrader": about,
            "base_url": "",
            "index": 0,
            "total": 1,
            "inlining": {"css": []},
        }
        yield Page(exporter.from_notebook_node(notebook, resources=resources)[0])


def letters(text):
    return "".join("".join(one if one.isprintable() else " " for one in text).split())


@pytest.mark.parametrize("place", PLACES)
def test_nothing_that_students_write_is_obeyed(assignment, exporters, place):
    found = (
        pages(exporters, exported(assignment, words, place))
        for words in (ACTIVE, ["harmless"] * len(ACTIVE))
    )
    for page, plain in zip(*found, strict=True):
        assert page.elements == plain.elements
        assert page.others == plain.others
        for words in ACTIVE if place != "reason" else ():
            assert letters(words) in letters("".join(page.words))


@settings(max_examples=8, derandomize=True)
@given(st.lists(st.sampled_from([*ACTIVE, *"\n\r\t \x0b\u2028#>-*_`~$\\[]()<>&!|"]), max_size=8))
def test_nor_what_they_could_put_together(assignment, exporters, pieces):
    words = [f"x\n{''.join(pieces)}\nx"]
    found = (pages(exporters, exported(assignment, one, "raw")) for one in (words, ["y"]))
    for page, plain in zip(*found, strict=True):
        assert page.elements == plain.elements
        assert page.others == plain.others


def test_lines_stay_and_long_ones_are_broken(assignment, exporters):
    words = "one\n  two\n\n" + "three " * 40
    page, _ = pages(exporters, exported(assignment, [words], "manual"))
    text = "".join(page.words)
    assert "one\n  two\n\nthree" in text
    assert max(map(len, text[text.index("three") :].split("\n"))) <= 100


def test_the_courses_own_words_stay_markup(assignment, exporters):
    """Headings and formulas of the set are shown as the set has them."""
    notebook = exported(assignment, ["harmless"], "manual")
    assert any(one.source.startswith("#") for one in notebook.cells if one.cell_type == "markdown")
