"""Slips of who writes a set that show without a run; those that need one are found by
`netlab.course.grading.solution.slips`.
"""

import ast

from netlab.course.own_numbers import MAGIC, set_named
from netlab.errors import NetlabError

CHECKS = "check", "check_kind", "check_run", "check_state"


def refuse_slips(assignment):
    """Refuse to hand out a set whose numbers are another's, or whose checks would stop. One that
    was handed out so can be graded all the same.
    """
    for cell in assignment.locked:
        if (named := set_named(cell.source)) not in (None, assignment.name):
            raise NetlabError(
                f"{assignment.name}: cell {cell.id}: nl.course.mine({named!r}, ...) draws the"
                f" numbers of another set: write nl.course.mine({assignment.name!r}, ...)"
            )
    refuse_eager(assignment)


def refuse_unanswered(cells):
    """Every name that is compared must be assigned somewhere in the solution."""
    names = assigned(cells)
    for cell in cells:
        for name in cell.answers.keys() - names:
            raise NetlabError(
                f"cell {cell.id}: no cell's solution assigns the answer {name!r}; correct the name"
            )


def refuse_eager(assignment):
    """A check says "No answer yet" where a name is missing, and the lines below go on: what
    students assign stands behind ``lambda:``. A last line that is not a check, as one that shows a
    figure, may have it bare.
    """
    cells = assignment.cells
    students = assigned(cell for cell in cells if cell.role == "answer")
    students -= assigned(cell for cell in cells if cell.role != "answer")
    for cell in assignment.automatic:
        *lines, last = parsed(cell.source).body or [ast.Pass()]
        for line in [*lines, *filter(is_check, ast.walk(last))]:
            for name in sorted(needed(line) & students):
                raise NetlabError(
                    f"{assignment.name}: cell {cell.id}: line {line.lineno}: without {name}, it"
                    f" would stop there, and say nothing: write nl.check(lambda: {name}, ...)"
                )


def is_check(node):
    """Whether this calls `nl.check`, or one of its kin."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).removeprefix("nl.") in CHECKS


def parsed(code):
    """The tree of a cell's Python; magics are left out."""
    return ast.parse("" if code.startswith("%%") else MAGIC.sub("", code))


def assigned(cells):
    """The names that the solution of some cells assigns, functions and classes included."""
    names = set()
    for cell in cells:
        try:
            nodes = ast.walk(parsed(cell.solved if cell.kind == "code" else ""))
        except SyntaxError as error:
            where = f"cell {cell.id or cell.source[:30]!r}: line {error.lineno}"
            raise NetlabError(f"{where} of its solution is no Python: {error.msg}") from None
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
    return names


def needed(node):
    """The names without which code stops at once: all but those in functions, called later."""
    if isinstance(node, ast.Lambda | ast.FunctionDef | ast.ClassDef):
        return set()
    own = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else set()
    return own.union(*map(needed, ast.iter_child_nodes(node)))
