"""Notebooks as pages that show everything without a network: pictures of figures, and formulas as
MathML, which browsers draw by themselves. What `netlab pages` does.
"""

import re
from pathlib import Path

from netlab.cli import pictures
from netlab.errors import needs_notebooks

with needs_notebooks():
    import nbformat
    from jinja2 import DictLoader, pass_context
    from latex2mathml.converter import convert
    from nbconvert import HTMLExporter
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

# nbconvert's own page, without the scripts that it would fetch from the network, and with the
# texts that stand for pictures; on paper no line is cut off, and no figure in two.
TEMPLATE = """
{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
{%- block html_head_css -%}
<style>
main { max-width: 960px; margin: auto; }
.jp-RenderedImage img, .jp-RenderedMarkdown img { max-width: 100%; height: auto; }
math { font: 110% "STIX Two Math", "Cambria Math", "DejaVu Math TeX Gyre", math; }
math[display="block"] { margin: 1em 0; }
@page { size: A4; }
@media print {
  .jp-InputPrompt, .jp-OutputPrompt { display: none; }
  pre { font-size: 10px !important; white-space: pre-wrap !important; }
  .jp-InputArea, img, tr, math { break-inside: avoid; }
  h1, h2, h3 { break-after: avoid; }
}
</style>
{%- endblock -%}
{%- block data_png scoped -%}
<div class="jp-RenderedImage jp-OutputArea-output">
<img src="data:image/png;base64,{{ output.data['image/png'] | replace('\n', '') }}"
 alt="{{ output | get_metadata('alt', 'image/png') or '' | escape_html }}"
 width="{{ output | get_metadata('width', 'image/png') or '' }}">
</div>
{%- endblock -%}
"""


class Renderer(IPythonRenderer):
    """Markdown to HTML, its formulas to MathML."""

    def block_math(self, body):
        return convert(body, display="block")

    def inline_math(self, body):
        return convert(body)

    def link(self, text, url, title=None):  # from page to page
        other = re.fullmatch(r"([\w-]+)\.ipynb(#.*)?", url)
        return super().link(text, f"{other[1]}.html{other[2] or ''}" if other else url, title)


class PageExporter(HTMLExporter):
    """Notebooks to pages that ask for no other file."""

    embed_images = True

    @pass_context
    def markdown2html(self, context, source):
        renderer = Renderer(
            escape=False,
            attachments=context.get("cell", {}).get("attachments", {}),
            embed_images=True,
            path=context.get("resources", {}).get("metadata", {}).get("path", ""),
        )
        return MarkdownWithMath(renderer=renderer).render(source)


def pages(notebooks, folder):
    """Write each notebook, as it is stored, as one HTML file; -> the paths of these, one by one.
    A figure that has no picture, as in a notebook that somebody else ran, gets one in the page.
    """
    exporter = PageExporter(extra_loaders=[DictLoader({"page": TEMPLATE})], template_file="page")
    folder.mkdir(parents=True, exist_ok=True)
    for path in map(Path, notebooks):
        notebook = nbformat.read(path, as_version=4)
        notebook.metadata.pop("widgets", None)  # which are dead without their kernel
        pictures.complete(notebook)
        for output in pictures.figures(notebook):
            output.data.pop("text/html", None)  # plotly's, which fetches scripts
        about = {"metadata": {"name": path.stem, "path": str(path.parent)}}
        text, _ = exporter.from_notebook_node(notebook, about)
        page = folder / f"{path.stem}.html"
        page.write_text(text, encoding="utf-8")
        yield page
