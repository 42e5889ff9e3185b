"""Notebooks as students get them: without outputs, and with no prediction made. What
`netlab student-copy` does.
"""

import ast
from pathlib import Path

from netlab.errors import NetlabError, needs_notebooks

MARK = "# <- your prediction"


def student_copy(notebooks, folder):
    """Copy notebooks for students, and what these read: the folders images/ beside them and data/
    above them, so that the copies stand in the same places to each other.

    Parameters
    ----------
    notebooks : iterable of path
    folder : path
        The copies are in its folder notebooks/, the data in its folder data/.

    Returns
    -------
    list of path
        The copied notebooks.

    Raises
    ------
    NetlabError
        One of the files is there already, and another one; nothing is written then.
    """
    copies, others = {}, {}
    for path in map(Path, notebooks):
        copies[folder / "notebooks" / path.name] = blank(path).encode()
        home = path.resolve().parent
        for source, target in {
            home / "images": folder / "notebooks" / "images",
            home.parent / "data": folder / "data",
        }.items():
            files = (file for file in source.rglob("*") if file.is_file())
            others |= {target / file.relative_to(source): file.read_bytes() for file in files}
    for target, content in (copies | others).items():
        if target.exists() and target.read_bytes() != content:
            raise NetlabError(
                f"--output {folder}: {target} is there already, and somebody may have worked in it;"
                " name another folder, or move that file away"
            )
    for target, content in (copies | others).items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return list(copies)


def blank(path):
    """The text of a notebook without outputs and predictions."""
    with needs_notebooks():
        import nbformat

    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.pop("netlab", None)
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            try:
                cell.source = unpredicted(cell.source)
            except (SyntaxError, ValueError) as error:
                raise NetlabError(
                    f"{path}, cell {number}: its prediction cannot be taken out ({error}): write it"
                    f" as `my_name = value  {MARK}`"
                ) from error
    return nbformat.writes(notebook) + "\n"


def unpredicted(source):
    """Code with None in place of what it predicts; everything else stays as it is.

    Examples
    --------
    >>> print(unpredicted("my_mbps, my_hosts = 5, [1, 2]  # <- your prediction: how many?"))
    my_mbps, my_hosts = None, None  # <- your prediction: how many?
    """
    if MARK not in source:
        return source
    lines = source.encode().splitlines(keepends=True)  # ast counts bytes
    marked = {number for number, line in enumerate(lines, 1) if MARK.encode() in line}
    found = set()
    for node in reversed(ast.parse(source).body):
        reach = set(range(node.lineno, node.end_lineno + 1))
        if isinstance(node, ast.Assign) and reach & marked:
            found |= reach
            (target,), value = node.targets, node.value
            count = len(target.elts) if isinstance(target, ast.Tuple) else 1
            new = ", ".join(["None"] * count).encode()
            start, end = lines[value.lineno - 1], lines[value.end_lineno - 1]
            lines[value.lineno - 1 : value.end_lineno] = [
                start[: value.col_offset] + new + end[value.end_col_offset :]
            ]
    if marked - found:
        raise ValueError(f"line {min(marked - found)} is no assignment")
    return b"".join(lines).decode()
