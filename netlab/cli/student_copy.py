"""Notebooks as students get them, without outputs and predictions: `netlab student-copy`."""

import ast
import os
import re
from itertools import accumulate
from pathlib import Path
from urllib.parse import unquote

from netlab.cli.notebook_file import read, text
from netlab.cli.output import write_all
from netlab.errors import NetlabError

MARK = re.compile(rb"[ \t]*# <- your predictions?\b")
# a line that has the mark, or nearly: an arrow, or a comment beside code
LOOKS_MARKED = re.compile(
    r"(?i).*#\W*(<|&lt;|[←⟵⇐⟸↤])\W*\w*\W*predict|\s*[^#\s].*#.*\byour\W*predict"
)
ALLOWED = (
    "write `my_name = value  # <- your prediction`, or `my_a, my_b = one, other  # <- your"
    " prediction`, on lines of its own, in a cell without magics"
)
LINK = re.compile(r"(?<!!)\[([^][]*)\]\((?![a-z]+:|#)([^)#\s]+)[^)]*\)")  # to a file, no image
README = """# Notebooks on TCP

Your copy of the notebooks of netlab: TCP experiments that you predict, run and explain. \
Begin with [the course on one page](notebooks/README.md).

- **Open them** where netlab is installed with its notebooks. In this folder, type \
`NETLAB_RECORDS="$PWD/data/records" jupyter lab`, and choose a notebook in the folder `notebooks`.
- **Predict first.** Where a line ends in `# <- your prediction`, write yours in place of `None`, \
and only then run the cells below it.
- **Without an engine** a notebook shows results that were recorded, which are in `data`, and says \
so. `netlab doctor` says whether you have an engine, and what to do if not.

The guide, and how to install netlab, are in its repository: ask who gave you this copy for it.
"""


def student_copy(notebooks, folder):
    """Copy notebooks for students to notebooks/ of a folder, and the files that they read: the
    images that they name in the folder images/ beside them. Of a course, which has
    data/published.csv beside the notebooks' folder, all images, all of data/ and the notebooks'
    README.md are copied, with a README.md for students; links to all else are plain text there.

    Returns
    -------
    list
        The paths of the copied notebooks, and a line on all that was copied.

    Raises
    ------
    NetlabError
        One of the files is there already and has other contents, or two of the files have one
        name; nothing is written then.
    """
    copies, others, origins, courses = {}, {}, {}, []

    def plan(files, target, source, content):
        if origins.setdefault(target, source) != source and files.get(target) != content:
            raise NetlabError(
                f"{origins[target]} and {source} would both be {target}: copy them into two"
                " folders, or rename one"
            )
        files[target] = content

    for path in map(Path, notebooks):
        home = path.resolve().parent
        course = (home.parent / "data/published.csv").is_file()
        if course and home not in courses:
            courses.append(home)
        copy = blank(path, home if course else None)
        plan(copies, folder / "notebooks" / path.name, path.resolve(), copy.encode())
        for file in files_in(home / "images", folder):
            if course or file.name in unquote(copy):
                target = folder / "notebooks" / file.relative_to(home)
                plan(others, target, file, file.read_bytes())
    for home in courses:
        for file in files_in(home.parent / "data", folder):
            plan(others, folder / file.relative_to(home.parent), file, file.read_bytes())
        others[folder / "README.md"] = linked(README, home.parent, home).encode()
        if (page := home / "README.md").is_file():
            page_text = linked(page.read_text(encoding="utf-8"), home, home)
            plan(others, folder / "notebooks/README.md", page, page_text.encode())
    write_all(folder, copies | others, "somebody may have worked in it: name another folder")
    size_mb = sum(map(len, (copies | others).values())) / 1e6
    return [*copies, f"{len(copies)} notebooks and {len(others)} other files, {size_mb:.1f} MB"]


def files_in(source, output):
    """The files in a folder and its folders, but for hidden ones and those in the output."""
    inside = output.resolve().is_relative_to(source.resolve())
    for file in sorted(source.rglob("*")):
        if any(part.startswith(".") for part in file.relative_to(source).parts):
            continue
        if inside and file.resolve().is_relative_to(output.resolve()):
            continue
        if file.is_symlink() and not file.is_file():
            raise NetlabError(
                f"{file} is a link to a folder, or to nothing, and is not followed: put the files"
                " themselves there, or remove it"
            )
        if file.is_file():
            yield file


def linked(text, folder, home):
    """A page of a folder of the course whose notebooks are in `home`, with plain text in place of
    links to what no student's copy has."""
    pages = home / "README.md", home.parent / "README.md"
    given = *pages, *home.glob("*.ipynb"), home / "images", home.parent / "data"

    def link(found):
        target = Path(os.path.normpath(folder / unquote(found[2])))
        inside = any(target.is_relative_to(one) for one in given)
        return found[0] if inside and target.exists() else found[1]

    return LINK.sub(link, text)


def blank(path, home=None):
    """The text of a notebook without outputs and predictions; of a course's, `linked`."""
    notebook = read(path)
    for key in ("netlab", "papermill", "widgets"):  # of a run
        notebook.metadata.pop(key, None)
    for number, cell in enumerate(notebook.cells, 1):
        for key in ("execution", "papermill"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "markdown" and home:
            cell.source = linked(cell.source, home, home)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            try:
                cell.source = unpredicted(cell.source)
            except ValueError as error:
                raise NetlabError(
                    f"{path}, cell {number}: the prediction in {error} cannot be taken out:"
                    f" {ALLOWED}"
                ) from error
    return text(notebook)


def unpredicted(source):
    """Code with None in place of what it predicts; everything else stays as it is.

    Raises
    ------
    ValueError
        A line that looks like a prediction is none; names the line.

    Examples
    --------
    >>> print(unpredicted("my_mbps, my_hosts = 5, [1, 2]  # <- your prediction: how many?"))
    my_mbps, my_hosts = None, None  # <- your prediction: how many?
    """
    plain = source.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads it
    lines = plain.split("\n")
    marked = {number for number, line in enumerate(lines, 1) if LOOKS_MARKED.match(line)}
    if not marked:
        return source
    try:
        statements = ast.parse(plain).body
    except SyntaxError:
        statements = []
    code = plain.encode()  # ast counts bytes
    starts = [0, 0, *accumulate(len(line.encode()) + 1 for line in lines)]
    for node in reversed(statements):
        end = starts[node.end_lineno] + node.end_col_offset
        if MARK.match(code, end) and (nothing := blank_value(node)):
            (target,) = node.targets
            value = code.index(b"=", starts[target.end_lineno] + target.end_col_offset) + 1
            code = code[:value] + f" {nothing}".encode() + code[end:]
            marked.discard(node.end_lineno)
    if marked:
        raise ValueError(f"line {min(marked)}")
    return code.decode()


def blank_value(node):
    """A None for each plain name that a statement assigns to; "" for any other statement."""
    match node:
        case ast.Assign(targets=[ast.Name()]):
            return "None"
        case ast.Assign(targets=[ast.Tuple(elts) | ast.List(elts)]):
            plain = all(isinstance(name, ast.Name) for name in elts)
            return ", ".join(["None"] * len(elts)) + "," * (len(elts) == 1) if plain else ""
    return ""
