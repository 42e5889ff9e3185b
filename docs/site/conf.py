"""Sphinx's settings; build.py lays the sources out and calls Sphinx."""

import os
import re
import tomllib
from pathlib import Path

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

project = "netlab"
author = "the netlab authors"
about = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
version = release = tomllib.loads(about)["project"]["version"]
copyright = f"the netlab authors, MIT licence. netlab {version}"
extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc"]

nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
# notebooks use headings as steps; lexers that do not know what a shell or a kernel prints
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

default_role = "py:obj"
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
python_use_unqualified_type_names = True

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "netlab"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("figures.js", {"defer": "defer"})]
html_favicon = "static/icon.svg"  # without one, a browser asks the server for another
html_show_search_summary = False  # which a page on a disk may not read
html_copy_source = html_show_sourcelink = html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
if repository := os.environ.get("GITHUB_REPOSITORY"):  # OWNER/NAME, where GitHub builds the site
    icon = {
        "name": "GitHub",
        "url": f"https://github.com/{repository}",
        "html": "GitHub",
        "class": "",
    }
    html_theme_options["footer_icons"] = [icon]
highlight_language = "none"  # where a block of code does not say
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def inline(translator, node):
    """A formula as MathML, which needs no script."""
    translator.body.append(formula(node, "inline"))
    raise SkipNode


def block(translator, node):
    translator.body.append(formula(node, "block"))
    raise SkipNode


def formula(node, display):
    text = node.astext()
    if display == "block" and "&" in text and r"\begin" not in text:
        text = rf"\begin{{split}}{text}\end{{split}}"
    try:
        mathml = convert(text, display=display)
    except Exception as error:
        raise ValueError(f"no MathML of {text}") from error
    wide = f'<div class="formula" tabindex="0">{mathml}</div>'
    return mathml if display == "inline" else wide


def defaults(app, what, name, value, options, signature, returned):
    """A signature without what only Python knows, such as <factory>."""
    if signature is None:
        return None
    signature = signature.replace(", program=<factory>", "").replace("=<factory>", "={}")
    return re.sub("=<[^>]*>", "=...", signature), returned


def setup(app):
    app.connect("autodoc-process-signature", defaults)
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
