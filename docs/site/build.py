"""Build the site: ``python docs/site/build.py out/site``.

Pages, notebooks and the reference are laid out in a temporary folder, as they lie in the
repository, and Sphinx makes pages of them there. Nothing is run: outputs are those that are stored.
"""

import base64
import hashlib
import importlib
import inspect
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import textwrap
from html import escape
from pathlib import Path

import nbformat
import plotly
from grids import grids
from sphinx.pycode import ModuleAnalyzer

import netlab

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIGURE, PICTURE = "application/vnd.plotly.v1+json", "image/png"
PAGES = (
    *("docs/guide.md", "docs/engine.md", "docs/course.md", "docs/architecture.md"),
    *("docs/validation.md", "docs/defaults.md", "docs/protocol.md", "docs/maintaining.md"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "notebooks/README.md"),
    *("notebooks/assignments/README.md", "notebooks/instructor/README.md"),
)
NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
MODULES = (
    *("netlab", "netlab.models", "netlab.fairness", "netlab.plots", "netlab.readers"),
    *("netlab.algorithms", "netlab.units", "netlab.explore", "netlab.course"),
)
# Their methods are for who adds a kind of traffic, an error or a model, not for who uses one
NO_MEMBERS = netlab.traffic.Traffic, Exception, tuple
REPOSITORY = os.environ.get("GITHUB_REPOSITORY")  # OWNER/NAME, where GitHub builds the site
ADDRESS = f"https://github.com/{REPOSITORY}"
BINDER = f"https://mybinder.org/v2/gh/{REPOSITORY}/HEAD"
HERE_SLIDERS = """
**On this page** the sliders move over states that were computed beforehand, and there are fewer of
them. In Jupyter there are all, and the button that measures; the race is a picture here.
"""
CALLED_HERE = """
After ``import netlab as nl``, what the guide calls ``nl.run`` is ``netlab.run`` here.
"""
RESULTS_STAND_OPEN = """
Results stand open on this page. To predict first, take
[a student copy](../docs/guide.md#in-the-classroom) (`netlab student-copy`), or run the notebook.
"""
SHOWN = re.compile(r"<!-- figure (\S+) (\d+) -->")
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")


def lay_out(folder):
    """Write the sources of all pages into an empty folder."""
    for name in PAGES:
        put(folder, name, addressed((ROOT / name).read_text(encoding="utf-8")))
    for name in NOTEBOOKS:
        path = f"notebooks/{name}"
        notebook = nbformat.read(ROOT / path, as_version=4)
        put(folder, path, nbformat.writes(live(notebook, folder, name)))
    for path in HERE.glob("*.md"):
        text = SHOWN.sub(lambda found: shown(folder, *found.groups()), path.read_text("utf-8"))
        put(folder, path.name, addressed(text))
    glossary(folder)
    for module in MODULES:
        (folder / "reference").mkdir(exist_ok=True)
        (folder / f"reference/{module}.rst").write_text(reference(module), encoding="utf-8")


def addressed(text):
    """The text with the repository's address; without links to it, where that is not known."""
    known = "known" if REPOSITORY else "unknown"
    text = re.sub(rf"^(.*) <!-- {known} -->$", r"\1", text, flags=re.M)
    text = re.sub(r"^.* <!-- (un)?known -->\n", "", text, flags=re.M)
    if not REPOSITORY:
        text = re.sub(r"^.*\(https://mybinder\.org\).*\n", "", text, flags=re.M)
        return re.sub(r"\[([^]]+)\]\(ADDRESS[^)]*\)", r"\1", text)
    text = re.sub(r"(\bclone |\()ADDRESS\b", rf"\1{ADDRESS}", text)
    text = text.replace("  # the address of the repository", "")
    binder = f"({BINDER}?urlpath=lab/tree/notebooks)"
    given = r"give \[mybinder\.org\]\(https://mybinder\.org\) [^.;|\n]*"
    return re.sub(given, f"[it]{binder} opens the notebooks", text).replace("(BINDER)", binder)


def put(folder, name, text):
    """Write a page, and copy the files to which it links; the README's place is the first page."""

    def target(link):
        path = (ROOT / name).parent / link[1]
        if name.count("/") == 0 and not path.exists():
            return link[0]
        if path.is_dir():
            return f"{link[1].rstrip('/')}/README.md"
        inside = path.resolve().relative_to(ROOT).as_posix()
        if inside == "README.md":
            return os.path.relpath("index.md", Path(name).parent) + "#what-you-need"
        if inside not in PAGES and path.suffix != ".ipynb":
            (folder / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / inside)
        return link[0]

    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(LINK.sub(target, text), encoding="utf-8")


def live(notebook, folder, name):
    """A notebook with its three ways in, and figures that figures.js brings to life."""
    first = notebook.cells[0]
    title, _, rest = first.source.partition("\n")
    first.source = f"{title}\n\n{ways_in(name)}\n{rest}"
    notebook.metadata.pop("widgets", None)
    grids_left = iter(grids(notebook, ROOT / "notebooks") if name == "explorers.ipynb" else ())
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if FIGURE in output.get("data", ()) and PICTURE in output.data:
                page = still_and_live(output, folder, "../", next(grids_left, None))
                output.data = nbformat.from_dict({"text/html": page})
    return notebook


def ways_in(name):
    """How to run a notebook."""
    path = f"lab/tree/notebooks/{name}"
    typed = "; what is typed needs an engine" if name.startswith("lab") else ""
    guide = "../docs/guide.md#an-engine-on-another-machine"
    live = "live where its image has the engine, else with recorded results"
    browser = f"- **In the browser:** [Binder]({BINDER}?urlpath={path}) opens it, {live}{typed}.\n"
    lines = f"""{browser * bool(REPOSITORY)}- **On your Linux machine:** `make lab` opens it, live.
- **On any other:** [a lab server]({guide}) runs it, with `%env NETLAB_ENGINE=ssh://...` first.
"""
    return lines + (HERE_SLIDERS if name == "explorers.ipynb" else RESULTS_STAND_OPEN)


def still_and_live(output, folder, to_root="", grid=None):
    """A figure's picture, which is all that is seen without scripts, and the figure as JSON."""
    picture, alt = base64.b64decode(output.data[PICTURE]), output.metadata[PICTURE]["alt"]
    name = f"_pictures/{hashlib.sha256(picture).hexdigest()[:12]}.png"
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(picture)
    width, height = struct.unpack(">II", picture[16:24])
    figure = {key: output.data[FIGURE][key] for key in ("data", "layout")}
    text = json.dumps(figure | ({"grid": grid} if grid else {})).replace("<", "\\u003c")
    return (
        f'<figure class="live"><img src="{to_root}{name}" alt="{escape(alt)}" width="{width}"'
        f' height="{height}" loading="lazy" decoding="async">'
        f'<script type="application/json">{text}</script></figure>'
    )


def shown(folder, stem, number):
    """A figure of a notebook, for another page."""
    notebook = nbformat.read(ROOT / f"notebooks/{stem}.ipynb", as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    figures = [output for output in outputs if FIGURE in output.get("data", ())]
    return still_and_live(figures[int(number)], folder)


def glossary(folder):
    """The table of docs/architecture.md as a page of terms."""
    _, _, text = (
        (ROOT / "docs/architecture.md").read_text(encoding="utf-8").partition("## Glossary")
    )
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", text, re.M)
    terms = [f"{word}\n  {meaning}\n" for word, meaning in rows if word != "word"]
    page = "# Glossary\n\nWhat the words mean here.\n\n```{glossary}\n" + "\n".join(terms) + "```\n"
    put(folder, "glossary.md", page)


def reference(module):
    """The page of a module: its docstring, a table of its names, then each."""
    found = importlib.import_module(module)
    named = {name: getattr(found, name) for name in found.__all__}
    entries, rows, elsewhere = [], [], []
    for name, value in named.items():
        if inspect.ismodule(value):
            continue
        documented = inspect.isclass(value) or inspect.isroutine(value)
        about = inspect.getdoc(value) if documented else said_of(module, name)
        if found is not netlab and vars(netlab).get(name) is value:
            elsewhere.append(row(f"~netlab.{name}", about))
            continue
        if inspect.isclass(value):
            listed = "" if issubclass(value, NO_MEMBERS) else "   :members:\n"
            hidden = "   :exclude-members: model_config\n"
            entry = f".. autoclass:: {name}\n{listed}{hidden}"
        elif documented:
            entry = f".. autofunction:: {name}\n"
        else:
            entry = f".. py:data:: {name}\n\n{textwrap.indent(about, '   ')}\n"
        short = f"nl{module.removeprefix('netlab')}.{name}"  # as it is searched for
        entries.append(f".. index:: ! {short}\n\n{entry}")
        rows.append(row(name, about))
    table = "\n".join(rows + elsewhere)
    first = CALLED_HERE * (found is netlab)
    return f"""{module}
{"=" * len(module)}
{first}
.. automodule:: {module}
   :no-members:

.. currentmodule:: {module}

.. list-table::
   :class: names

{table}

{chr(10).join(entries)}"""


def row(name, about):
    """A name and the first paragraph of what is said of it, as a row of a table."""
    return f"   * - `{name}`\n     - {' '.join(about.partition(chr(10) * 2)[0].split())}"


def said_of(module, name):
    """The docstring below a constant, in one of the modules of a package."""
    for home in [one for one in sys.modules if one.startswith(f"{module}.")]:
        if text := ModuleAnalyzer.for_module(home).find_attr_docs().get(("", name)):
            return "\n".join(text)
    raise LookupError(f"{module}.{name} has no docstring: write one below its assignment")


def build(out):
    """Write the site into `out`; where Sphinx has a warning, `out` stays as it is. -> exit code"""
    if out.exists() and any(out.iterdir()) and not (out / ".buildinfo").exists():
        print(f"{out} is not a site, and stays as it is: name another folder", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        sources, pages = (Path(folder) / name for name in ("sources", "pages"))
        sources.mkdir()
        lay_out(sources)
        command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto"]
        command += ["-c", HERE, "-d", f"{folder}/doctrees", sources, pages]
        if code := subprocess.run(command).returncode:
            return code
        shutil.copytree(sources / "_pictures", pages / "_pictures")
        library = Path(plotly.__file__).parent / "package_data/plotly.min.js"
        shutil.copyfile(library, pages / "_static/plotly.min.js")
        (pages / ".nojekyll").touch()
        shutil.rmtree(out, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(pages, out)
    return 0


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
