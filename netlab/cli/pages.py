"""Notebooks as pages that need no network: pictures of figures, and formulas as MathML."""

import contextlib
import html
import re
import warnings
from pathlib import Path
from urllib.parse import quote, unquote

from netlab.cli import pictures
from netlab.cli.notebook_file import read
from netlab.engines.files import begins_as, write
from netlab.errors import NetlabError, needs_notebooks

with needs_notebooks():
    import nh3
    from jinja2 import DictLoader, pass_context
    from latex2mathml.converter import convert
    from nbconvert import HTMLExporter
    from nbconvert.filters.markdown_mistune import (
        InvalidNotebook,
        IPythonRenderer,
        MarkdownWithMath,
    )
    from plotly.io import to_html

# The browser's wall: no script, and nothing from elsewhere, not even the name of a link's host. A
# policy in a page cannot forbid <meta http-equiv="refresh">: no <meta> of a notebook gets here.
RULES = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none';"
    " form-action 'none'"
)
POLICY = f"""<meta http-equiv="Content-Security-Policy" content="{RULES}">
<meta http-equiv="x-dns-prefetch-control" content="off">"""

# nbconvert's own page, without the scripts that it would fetch, and with descriptions of pictures;
# on a phone code, tables and drawings scroll, and a shadow says where there is more; on paper no
# line is cut off, and no figure in two.
TEMPLATE = """
{%- extends 'lab/index.html.j2' -%}
{%- block html_head -%}POLICY{{ super() }}{%- endblock -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
{%- block html_head_css -%}
<style>
main { max-width: 960px; margin: auto; }
.jp-RenderedImage img, .jp-RenderedMarkdown img { max-width: 100%; height: auto; }
.dataframe tbody tr th { vertical-align: top; }
.dataframe tbody tr th:only-of-type { vertical-align: middle; }
math { font: 110% "STIX Two Math", "Cambria Math", "DejaVu Math TeX Gyre", math; }
math[display="block"] { margin: 1em 0; }
@media screen {
  .jp-InputArea-editor { overflow-x: auto !important; }
  .jp-InputArea-editor .highlight, .jp-InputArea-editor pre { background: none !important; }
  .jp-InputArea-editor, .jp-OutputArea-output {
    background:
      linear-gradient(to left, var(--paper) 50%, transparent) right / 48px 100% no-repeat local,
      linear-gradient(to left, #0007, transparent) right / 16px 100% no-repeat scroll,
      var(--paper) !important;
  }
  .jp-InputArea-editor { --paper: var(--jp-cell-editor-background, #f5f5f5); }
  .jp-OutputArea-output { --paper: var(--jp-layout-color0, white); overflow-x: auto; }
  .jp-OutputArea-output { padding-bottom: 12px; } /* room for the bar that scrolls it */
  .jp-OutputArea-output pre { white-space: pre; word-break: normal; overflow-wrap: normal; }
}
@media screen and (max-width: 600px) {
  body { padding: 0 !important; }
  .jp-InputArea, .jp-OutputArea-child { display: block !important; }
  .jp-InputArea-editor, .jp-OutputArea-output { display: block !important; margin: 0 !important; }
  img[src^="data:image/svg"] { max-width: none !important; }
  .jp-RenderedMarkdown p:has(> img) { overflow-x: auto; }
  .jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th { padding: 0.4em 0.3em !important; }
  .jp-RenderedHTMLCommon tbody th { white-space: nowrap; }
}
summary { cursor: pointer; color: var(--jp-content-link-color, #1a5fb4); }
@page { size: A4; }
@media print {
  summary, nav { display: none; }
  details::details-content { content-visibility: visible; display: contents; }
  .jp-InputPrompt, .jp-OutputPrompt { display: none; }
  pre { font-size: 10px !important; white-space: pre-wrap !important; }
  .jp-InputArea, img, tr, math { break-inside: avoid; }
  h1, h2, h3 { break-after: avoid; }
}
</style>
{%- endblock -%}
{%- block data_png scoped -%}
<div class="jp-RenderedImage jp-OutputArea-output">
<img src="data:image/png;base64,{{ output.data['image/png'] | replace('\n', '') | e }}"
 alt="{{ (output | get_metadata('alt', 'image/png') or '') | e }}"
 width="{{ (output | get_metadata('width', 'image/png') or '') | e }}">
</div>
{%- endblock -%}
""".replace("POLICY", POLICY)

# The template's name. nbconvert looks first for a file of this name in the working directory; what
# lies there must not be used, as a template can run anything.
NO_FILE = "/dev/null/page"

# What the body of a page may have: nothing here runs, and only "href" and "src" are addresses
MATH = (
    "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow"
    " mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover"
)
ATTRIBUTES = (
    "accent accentunder align alt border class colspan columnalign columnlines columnspacing"
    " data-mime-type depth display displaystyle fence form frame halign height id lang"
    " linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize"
    " movablelimits notation open role rowlines rowspacing rowspan rspace scope scriptlevel"
    " separator side start stretchy style symmetric tabindex title valign voffset width xmlns"
)
STYLE = (
    "background-color color font-family font-size font-style font-weight height line-height margin"
    " margin-bottom margin-left margin-right margin-top max-width min-width padding text-align"
    " text-decoration vertical-align white-space width"
)
TAGS = nh3.ALLOWED_TAGS | {*MATH.split(), "section", "tfoot"}


class Renderer(IPythonRenderer):
    """Markdown to HTML, its formulas to MathML; it warns of what it cannot show."""

    def __init__(self, *, warn, **options):
        super().__init__(**options)
        self.warn = warn

    def block_math(self, body):
        return self.formula(body, "block")

    def inline_math(self, body):
        return self.formula(body, "inline")

    def formula(self, body, display):
        """A formula as MathML, or, where that is not possible, as it was typed."""
        try:
            return convert(body, display=display)
        except Exception:  # latex2mathml's own, IndexError, KeyError, ...
            mark = "$$" if display == "block" else "$"
            typed = f"{mark}{body}{mark}"
            self.warn(f"its formula {typed} cannot be drawn, and is shown as it is typed")
            return f"<code>{html.escape(typed)}</code>"

    def link(self, text, url, title=None):  # from page to page
        other = re.fullmatch(r"(?:\./)*([^/:?#]+)\.ipynb(#.*)?", url)
        return super().link(text, f"{other[1]}.html{other[2] or ''}" if other else url, title)

    def _html_embed_images(self, html):  # which closes each tag at once
        return super()._html_embed_images(html) if "<img" in html.lower() else html

    def _embed_image_or_attachment(self, src):
        with contextlib.suppress(InvalidNotebook):
            return super()._embed_image_or_attachment(src)
        return src  # of an attachment that is not there: `harmless` takes it out

    def _src_to_base64(self, src):
        beside = Path(self.path).resolve()
        for name in (src, unquote(src)):
            with contextlib.suppress(OSError, ValueError):
                file = (beside / name).resolve()  # wherever links lead
                if file.is_file() and file.is_relative_to(beside):
                    return super()._src_to_base64(name)
        if re.match("(?!data:|https?:|attachment:)[a-z][a-z0-9+.-]*:", src, re.I):
            self.warn(f"its image {src[:200]} is no file beside the notebook, and is left out")
        return None  # it stays as it is, and `harmless` takes it out


class PageExporter(HTMLExporter):
    """Notebooks to pages that ask for no other file."""

    embed_images = True
    warn = print

    @pass_context
    def markdown2html(self, context, source):
        renderer = Renderer(
            warn=self.warn,
            escape=False,
            attachments=context.get("cell", {}).get("attachments", {}),
            embed_images=True,
            path=context.get("resources", {}).get("metadata", {}).get("path", ""),
        )
        return MarkdownWithMath(renderer=renderer).render(source)


class LivePage(PageExporter):
    """A notebook of your own to a page whose figures move, without scripts from elsewhere;
    `jupyter nbconvert --to netlab.cli.pages.LivePage`.
    """

    def __init__(self, **options):
        blocks = ("html_head_js", "html_head_js_mathjax", "html_head_js_mermaidjs")
        empty = "".join(f"{{%- block {block} -%}}{{%- endblock -%}}" for block in blocks)
        page = DictLoader({NO_FILE: f"{{%- extends 'lab/index.html.j2' -%}}{empty}"})
        super().__init__(
            extra_loaders=[page], template_file=NO_FILE, extra_template_basedirs=[], **options
        )

    def from_notebook_node(self, nb, resources=None, **options):
        for number, output in enumerate(pictures.figures(nb)):
            output.data["text/html"] = to_html(
                output.data[pictures.FIGURE],
                full_html=False,
                include_plotlyjs=number == 0,
                include_mathjax=False,
                validate=False,
            )
        return super().from_notebook_node(nb, resources, **options)


def harmless(page, warn):
    """Take out of a page's body what would run or be fetched."""

    def kept(tag, name, value):
        if name == "src" and not re.match("data:image/", value):
            warn(f"its image {value[:200]} is no file beside the notebook, and is left out")
            return None
        leads_here = name == "href" and re.search("(?i)(data|attachment):", value)
        return None if leads_here else value

    head, body = page.split("<main>", 1)
    found = {tag.lower() for tag in re.findall("<([A-Za-z][A-Za-z0-9-]*)", body)}
    for tag in sorted(found - TAGS - {"style"}):
        warn(f"<{tag}> is left out: a page runs nothing, and fetches nothing")
    body = nh3.clean(
        body,
        tags=TAGS,
        clean_content_tags={"script", "style", "svg"},
        attributes={"*": {*ATTRIBUTES.split()}, "a": {"href"}, "img": {"src"}},
        attribute_filter=kept,
        filter_style_properties={*STYLE.split()},
        generic_attribute_prefixes={"aria-"},
        link_rel="noopener noreferrer nofollow",
        url_schemes={"attachment", "data", "http", "https", "mailto"},
    )
    return f"{head}<main>{body}</main></body></html>\n"


def title_of(notebook, path):
    """The first heading of a notebook; without one, the name of its file."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    found = re.search(r"^# (.+)$", prose, re.M)
    return found[1].strip(" #") if found else path.stem


LINK = '<a href="{}">{}</a>'.format


def links(titles):
    """Links to pages: their names, and their titles."""
    return [LINK(quote(f"{name}.html"), html.escape(title)) for name, title in titles.items()]


def headings(page):
    """The text of each heading of the second level, and the link to it that stands behind it."""
    for part in page.split("<h2")[1:]:
        text, _, link = part.partition("</h2>")[0].partition(">")[2].rpartition("<a ")
        if to := re.search('href="(#[^"]*)"', link):
            yield as_text(re.sub("<[^<>]*>", "", text)), as_text(to[1])


def as_text(part):
    """A part of a page that is no markup, whatever it was cut from."""
    return html.escape(html.unescape(part))


def with_links(page, titles, here):
    """A page with its contents, and with the ways to the index and to the next page."""
    following = list(titles)[list(titles).index(here) + 1 :][:1]
    to = {"index": "All pages"} | {name: f"{titles[name]} →" for name in following}
    ways = f"<p>{' · '.join(links(to))}</p>" if len(titles) > 1 else ""
    lines = [f"<li>{LINK(to, text)}</li>" for text, to in headings(page)]
    contents = f"<details><summary>Contents</summary><ul>{''.join(lines)}</ul></details>"
    nav = '<nav class="jp-RenderedHTMLCommon" aria-label="{}">{}</nav>'.format
    head, _, body = page.partition("<main>")
    body = body.replace("</main>", nav("Next", ways) + "</main>")
    return f"{head}<main>{nav('Contents', ways + contents)}{body}"


def index_of(titles):
    """The page that lists the others."""
    lines = "".join(f"<li>{link}</li>" for link in links(titles))
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{POLICY}
<meta name="viewport" content="width=device-width"><title>Pages</title>
<style>body {{ max-width: 40em; margin: 2em auto; font: 1.1em/1.8 sans-serif; }}</style>
</head><body><main><h1>Pages</h1><ul>{lines}</ul></main></body></html>
"""


def is_page(head):
    """Whether a file begins as those of `pages` do."""
    return RULES.encode() in head


def pages(notebooks, folder, warn=warnings.warn):
    """Write each notebook, as it is stored, as one HTML file, and beside several an index; yields
    their paths. A figure that has no picture gets one in the page. `warn` is told what a page
    cannot show.
    """
    sources = {}
    for path in map(Path, notebooks):
        other = sources.setdefault(path.stem, path)
        if other.resolve() != path.resolve():
            raise NetlabError(
                f"{other} and {path} would both be {folder / path.stem}.html: write them into two"
                " folders, or rename one"
            )
    exporter = PageExporter(
        extra_loaders=[DictLoader({NO_FILE: TEMPLATE})],
        template_file=NO_FILE,
        extra_template_basedirs=[],  # not the working directory, the default
    )
    stored = {name: read(path) for name, path in sources.items()}
    titles = {name: title_of(notebook, sources[name]) for name, notebook in stored.items()}
    for name, notebook in stored.items():
        path = sources[name]
        notebook.metadata.pop("widgets", None)  # which are dead without their kernel
        pictures.complete(notebook)
        for output in pictures.figures(notebook):
            output.data.pop("text/html", None)  # plotly's, which fetches scripts
        exporter.warn = lambda text, path=path: warn(f"{path}: {text}")
        about = {"metadata": {"name": titles[name], "path": str(path.parent)}}
        text, _ = exporter.from_notebook_node(notebook, about)
        text = with_links(harmless(text, exporter.warn), titles, name)
        page = folder / f"{name}.html"
        write(page, text, "--output", begins_as(is_page), "name another folder")
        yield page
    if len(stored) > 1 and "index" not in stored:
        page = folder / "index.html"
        write(page, index_of(titles), "--output", begins_as(is_page), "name another folder")
        yield page
