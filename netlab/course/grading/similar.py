"""Whose code is somebody else's, with other names and comments? A hint to a person, never a mark.

What is compared, and when a pair is named: "Similar code" in notebooks/assignments/README.md.
"""

from collections import defaultdict

import numpy as np

from netlab.course.grading.marks import Marks
from netlab.course.grading.work import place
from netlab.course.handed_in.repair import COURSES, cells_of
from netlab.errors import needs_notebooks

with needs_notebooks("course", "what makes and grades problem sets"):
    from pygments.lexers import PythonLexer
    from pygments.token import Comment, Literal, Name, Number, String
    from rapidfuzz import fuzz, process

LEXER = PythonLexer()
LEAST_TOKENS = 60  # some six lines
LEAST_PERCENT = 90
OF_USUAL = 1 / 4
MOST_CHARACTERS, MOST_TOKENS = 20_000, 1_000  # of an exercise; what is longer is cut


def similar(everybody: list[Marks], work, assignment) -> dict:
    """By student, of each exercise that is much like somebody else's: its id, the other's id, and
    how much of the code is the same [%]. `work` is the folder with what they handed in.
    """
    codes = {}
    for one in everybody:
        if one.origin and one.points:
            handed_in = place(work, "handed-in", one.file)
            cells = cells_of(handed_in, assignment)
            codes[one.student] = written(assignment, [(c.id, c.kind, c.source) for c in cells])
    solution = [(cell.id, cell.kind, cell.solved) for cell in assignment.cells]
    return alike(codes, written(assignment, solution))


def written(assignment, cells):
    """By exercise, the lines of code above its check that were not handed out; `cells` has the id,
    the kind and the text of each. Lines that are typed on a node (``%%on h1``) are everybody's.
    """
    role = {cell.id: cell.role for cell in assignment.cells if cell.id}
    given = {line.strip() for cell in assignment.cells for line in cell.source.split("\n")}
    found, lines = {}, []
    for name, kind, text in cells:
        if role.get(name) == "check":
            found[name], lines = "\n".join(lines), []
        elif kind == "code" and role.get(name) not in COURSES and not text.startswith("%%"):
            lines += [line for line in text.split("\n") if line.strip() not in given]
    return found


def alike(codes, solution):
    """As `similar`, from code by student and exercise, and the solution's by exercise."""
    found = defaultdict(list)
    for exercise, model in solution.items():
        told = {name: tokens(code.get(exercise, "")) for name, code in codes.items()}
        names = sorted(name for name, one in told.items() if len(one) >= LEAST_TOKENS)
        if len(names) < 2:
            continue
        everybody = [*(told[name] for name in names), tokens(model)]
        percent = process.cdist(everybody, everybody, scorer=fuzz.ratio)
        np.fill_diagonal(percent, 0)
        usual = np.median(percent.max(axis=1))
        if usual >= LEAST_PERCENT:
            continue
        least = max(LEAST_PERCENT, 100 - OF_USUAL * (100 - usual))
        percent[percent[:, -1] >= LEAST_PERCENT] = 0  # who wrote what the solution has
        percent = np.minimum(percent, percent.T)[:-1, :-1]
        for name, row in zip(names, percent, strict=True):
            if row.max() >= least:
                found[name].append((exercise, names[row.argmax()], int(row.max())))
    return found


def tokens(code):
    """What is compared of some code.

    Examples
    --------
    >>> tokens("top = max(run.flows.bps) / 1e6  # Mbit/s") == tokens("x=max( y.flows.bps )/8")
    True
    >>> "".join(tokens("top = max(run.flows.bps) / 1e6"))
    'x=max(x.flows.bps)/0'
    """
    found = []
    for kind, text in LEXER.get_tokens(code[:MOST_CHARACTERS]):
        if kind in Comment or kind in String.Doc or not text.strip():
            continue
        if kind in Literal:
            text = "0" if kind in Number else "''"
            if text == "''" and found[-1:] == ["''"]:  # quotes are tokens of their own
                continue
        elif kind in Name and kind not in Name.Builtin and found[-1:] != ["."]:
            text = "x"
        found.append(text)
    return found[:MOST_TOKENS]
