"""Notebooks as students get them: without outputs, and with no prediction made. What
`netlab student-copy` does.
"""

import ast
import io
import re
import tokenize
from pathlib import Path
from urllib.parse import unquote

from netlab.cli.notebook_file import read
from netlab.cli.written import write_all
from netlab.errors import NetlabError, needs_notebooks

MARK = "# <- your prediction"
ALLOWED = f"write it as `my_name = value  {MARK}`, or `my_a, my_b = one, other  {MARK}`"
NEARLY = re.compile(r"(?i)#\W*(<|&lt;|[←⟵⇐⟸↤])\W*\w*\W*predict|.*\byour\W*predict")


def student_copy(notebooks, folder, say=lambda text: None):
    """Copy notebooks for students, and what these read. Of a course, where data/published.csv
    stands above the notebooks' folder, that is all of data/ and of the folder images/ beside the
    notebooks; of any other notebook, the images that it names. The copies stand in the same places
    to each other.

    Parameters
    ----------
    notebooks : iterable of path
    folder : path
        The copies are in its folder notebooks/, the data in its folder data/.
    say : callable
        Called with a text: what was copied.

    Returns
    -------
    list of path
        The copied notebooks.

    Raises
    ------
    NetlabError
        One of the files is there already, and another one, or two of the files have one name;
        nothing is written then.
    """
    copies, others, origins = {}, {}, {}

    def plan(files, target, source, content):
        if origins.setdefault(target, source) != source and files.get(target) != content:
            raise NetlabError(
                f"{origins[target]} and {source} would both be {target}: copy them into two"
                " folders, or rename one"
            )
        files[target] = content

    for path in map(Path, notebooks):
        text = blank(path)
        plan(copies, folder / "notebooks" / path.name, path.resolve(), text.encode())
        home = path.resolve().parent
        course = (home.parent / "data/published.csv").is_file()
        for file in files_in(home / "images", folder):
            if course or file.name in unquote(text):
                target = folder / "notebooks" / file.relative_to(home)
                plan(others, target, file, file.read_bytes())
        for file in files_in(home.parent / "data", folder) if course else ():
            plan(others, folder / file.relative_to(home.parent), file, file.read_bytes())
    write_all(folder, copies | others, "somebody may have worked in it: name another folder")
    size_bytes = sum(map(len, (copies | others).values()))
    say(f"{len(copies)} notebooks and {len(others)} other files, {size_bytes / 1e6:.1f} MB")
    return list(copies)


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


def blank(path):
    """The text of a notebook without outputs and predictions."""
    with needs_notebooks():
        import nbformat

    notebook = read(path)
    for key in ("netlab", "papermill", "widgets"):  # of a run
        notebook.metadata.pop(key, None)
    for number, cell in enumerate(notebook.cells, 1):
        for key in ("execution", "papermill"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            try:
                cell.source = unpredicted(cell.source)
            except (SyntaxError, ValueError) as error:
                raise NetlabError(
                    f"{path}, cell {number}: its prediction cannot be taken out ({error}):"
                    f" {ALLOWED}, on lines of its own, in a cell without magics"
                ) from error
    return nbformat.writes(notebook) + "\n"


def unpredicted(source):
    """Code with None in place of what it predicts; everything else stays as it is.

    Examples
    --------
    >>> print(unpredicted("my_mbps, my_hosts = 5, [1, 2]  # <- your prediction: how many?"))
    my_mbps, my_hosts = None, None  # <- your prediction: how many?
    """
    if not re.search("(?i)predict", source):
        return source
    text = source.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads it
    lines = text.split("\n")
    marks = marked(text, lines)
    if not marks:
        return source
    try:
        tree = compile(text, "", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno}: Python cannot read the cell: {error.msg}") from None
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def place(line, column_bytes):  # ast counts bytes
        return starts[line - 1] + len(lines[line - 1].encode()[:column_bytes].decode())

    spans = [
        (place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset), node)
        for node in tree.body
    ]
    owned = {}  # by the place of an assignment in the cell, the marks that are about it
    for line, column, comment in marks:
        at = starts[line - 1] + column
        own = max((n for n, span in enumerate(spans) if span[0] < at), default=None)
        if own is None or spans[own][2].end_lineno < line:
            raise ValueError(f"line {line}: before this comment there is no assignment")
        owned.setdefault(own, []).append((line, at, comment))
    for own, comments in sorted(owned.items(), reverse=True):
        _, end, node = spans[own]
        new = nothing(node, comments[0][0])
        rest = text[end:].partition("\n")[0]
        if all(at < end for _, at, _ in comments):  # the comment goes with the value
            if rest.strip() and not rest.strip().startswith("#"):
                raise ValueError(f"line {comments[0][0]}: more code follows on its last line")
            new += f"  {comments[0][2]}"
        target = place(node.targets[0].end_lineno, node.targets[0].end_col_offset)
        equals = text.index("=", target) + 1
        text = f"{text[:equals]} {new}{text[end:]}"
    return text


def marked(text, lines):
    """The comments of a cell that mark a prediction: (line, column, comment)."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found.append((*token.start, token.string))
    except (tokenize.TokenError, SyntaxError):  # a magic, perhaps: take what looks like a comment
        found = [
            (number, line.index("#"), line[line.index("#") :])
            for number, line in enumerate(lines, 1)
            if "#" in line
        ]
    marks = []
    for line, column, comment in found:
        if re.match(rf"{MARK}s?\b", comment):
            marks.append((line, column, comment))
        elif (near := NEARLY.match(comment)) and (near[1] or lines[line - 1][:column].strip()):
            raise ValueError(f"line {line}: {comment!r} is nearly the mark of a prediction")
    return marks


def nothing(node, line):
    """What an assignment assigns in a student's copy: None for each of its names."""
    if not isinstance(node, ast.Assign):
        raise ValueError(f"line {line} is no assignment of its own")
    if len(node.targets) > 1:
        raise ValueError(f"line {line} assigns one value twice")
    (target,) = node.targets
    names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    if not names or not all(isinstance(name, ast.Name) for name in names):
        raise ValueError(f"line {line} assigns to something that is not a plain name")
    if target is names[0]:
        return "None"
    return ", ".join(["None"] * len(names)) + ("," if len(names) == 1 else "")
