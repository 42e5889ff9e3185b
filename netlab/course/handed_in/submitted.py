"""Reading a notebook that anybody may have made: nothing in it is believed, and what cannot be a
notebook is refused in words.
"""

import ast
import contextlib
import json
import re
import symtable
from collections import Counter
from dataclasses import dataclass, field, replace

from netlab.course.texts import printable
from netlab.errors import NetlabError

LARGEST_BYTES = 20_000_000
MOST_CELLS = 2_000
LONGEST_CELL = 200_000  # characters
MOST_LISTS = 1_000_000  # and objects of a file: each takes far more memory than its two bytes
AGAIN = "Open it in Jupyter, save it there, and hand in that file."
LONGEST_HEADING = 80  # characters
MOST_FINDINGS = 40  # of one flag
LONGEST_PART = 5_000  # characters of a part of a cell that was split; Python's parser is costly
STUDENT = re.compile(r"""^[ \t]*student[ \t]*=[ \t]*(["'])(.*?)\1""", re.M)
ASSIGNED = re.compile(r"^[ \t]*student[ \t]*[=:]", re.M)
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
LONGEST_NAMING = 5_000  # characters of a cell that is parsed for a name


@dataclass(frozen=True)
class Finding:
    """Something about a submission that its author should know, and what to do about it."""

    flag: str  # a short name that stays the same: "cell deleted"
    cell: str  # a grade_id, or "cell 7"; "" for the whole notebook
    text: str


@dataclass
class Handed:
    """A cell of a submission, with types that can be relied on."""

    id: str  # its grade_id; "" for none
    kind: str  # "code", "markdown" or "raw"
    source: str
    number: int = 0  # the first is 1
    own: str = ""  # Jupyter's id of the cell; "" for none
    said: dict = field(default_factory=dict)  # nbgrader's metadata, with any values
    count: int | None = None  # the number that Jupyter shows beside a cell that ran
    outputs: list = field(default_factory=list)  # the dictionaries among its outputs

    @property
    def name(self):
        """How a finding names it."""
        return self.id if re.fullmatch(r"[\w-]{1,80}", self.id, re.A) else f"cell {self.number}"


@contextlib.contextmanager
def whatever_it_is():
    """Whatever reading a submission raises becomes the cause of a `NetlabError` in words."""
    try:
        yield
    except NetlabError:
        raise
    except Exception as error:
        raise NetlabError(f"the submission is no notebook that can be read. {AGAIN}") from error


def read(data):
    """A notebook's cells (`Handed`), metadata, findings on damaged cells; or a `NetlabError`."""
    notebook, handed, findings = parsed(data), [], []
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise NetlabError(f"the submission is JSON, but no notebook: it has no cells. {AGAIN}")
    if len(cells) > MOST_CELLS:
        why = f"{len(cells)} cells, and {MOST_CELLS} are allowed: delete those that no answer needs"
        raise NetlabError(f"the submission has {why}")
    for number, raw in enumerate(cells, 1):
        cell = clean(number, raw) if isinstance(raw, dict) else None
        if cell is None:
            text = f"Cell {number} is damaged, and was left out: write its contents again."
            findings.append(Finding("damaged cell", f"cell {number}", text))
            continue
        if len(cell.source) > LONGEST_CELL:
            cell.source = ""
            text = f"It has more than {LONGEST_CELL} characters, and counts as empty: shorten it."
            findings.append(Finding("cell too long", cell.name, text))
        handed.append(cell)
    return handed, of_type(dict, notebook.get("metadata")), findings


def parsed(data):
    """The JSON object in a file's bytes. A NetlabError: it is too large, too deep or no JSON."""
    if len(data) > LARGEST_BYTES or data.count(b"[") + data.count(b"{") > MOST_LISTS:
        raise NetlabError(
            f"the submission has {len(data) / 1e6:.0f} MB, or more lists than any notebook needs;"
            f" {LARGEST_BYTES / 1e6:.0f} MB are allowed: clear the outputs (Edit, Clear Outputs of"
            " All Cells), and save it again"
        )
    try:
        notebook = json.loads(data)
    except RecursionError:
        why = "it is nested more deeply than any is"
    except json.JSONDecodeError as error:
        why = str(error)[:120] if data.strip() else "it is an empty file"
    except ValueError:  # UnicodeDecodeError, too many digits
        why = "it is not text in UTF-8, or has a number of thousands of digits"
    else:
        if isinstance(notebook, dict):
            return notebook
        why = "it is JSON, but a list or value"
    raise NetlabError(f"the submission is no notebook: {why}. {AGAIN}")


def of_type(kind, value):
    return value if isinstance(value, kind) else kind()


def clean(number, raw):
    """A cell whose parts have the right types; None, where it has no text."""
    source = raw.get("source")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    said = of_type(dict, of_type(dict, raw.get("metadata")).get("nbgrader"))
    kind, count = raw.get("cell_type"), raw.get("execution_count")
    return Handed(
        of_type(str, said.get("grade_id")),
        kind if kind in ("code", "markdown") else "raw",
        source.encode("utf-8", "replace").decode(),  # half a surrogate pair is no text
        number,
        of_type(str, raw.get("id")),
        said,
        count if type(count) is int and abs(count) < 10**9 else None,
        [each for each in of_type(list, raw.get("outputs")) if isinstance(each, dict)],
    )


def structure(copies, order, changed):
    """The findings on cells that are gone, there more than once, elsewhere or changed.

    `copies` has lists of `Handed` by grade_id, of which the first counts; `order` the set's
    grade_ids. ``changed(grade_id, cell)`` says whether a cell of the course's is another.
    """
    last, above, moved = 0, "", False
    for name in order:
        if name not in copies:
            text = "It was deleted, or merged with another cell, and the grader puts it back as it"
            text += " was given out. Copy your answers into a fresh copy of the set."
            yield Finding("cell deleted", name, text)
            continue
        cell, *others = copies[name]
        if parts := continuing(cell, others):
            text = f"It was split: its {len(parts) + 1} parts run one after another. Merge them"
            text += " (Edit, Merge Selected Cells)."
            yield Finding("cell split", name, text)
            others = [one for one in others if one not in parts]
        if others:
            text = f"It is there {len(others) + 1} times. The course's own counts, or the first"
            text += " with an answer in it: delete the others; to try things out, use a new cell."
            yield Finding("cell copied", name, text)
        if cell.number < last and not moved:
            moved = True
            text = f"It should stand below {above}, as the grader runs it: one of the two was"
            text += " moved, so drag that back by the blank at its left."
            yield Finding("cells reordered", name, text)
        if cell.number > last:
            last, above = cell.number, name
        if changed(name, cell):
            text = "It belongs to the course and was changed; the course's own counts. Take what"
            text += " you wrote there into an answer cell or a new one."
            yield Finding("locked cell changed", name, text)


def continuing(first, others):
    """The cells that continue the first one with their grade_id, as Jupyter gives it to both parts
    of a cell that is split: each assigns names, and none that an earlier part assigns.
    """
    given, parts = assigned(first.source), []
    for one in others if given and first.kind == "code" else ():
        own = assigned(one.source) if one.kind == "code" else set()
        if own and not own & given and one.number > first.number:
            parts.append(one)
            given |= own
    return parts


def assigned(source):
    """The names that code assigns outside of its functions; none where it does not compile."""
    try:
        text = source if len(source) <= LONGEST_PART else ""
        symbols = symtable.symtable(text, "cell", "exec").get_symbols()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}


def by_id(handed):
    """The cells with a grade_id, in lists by it."""
    found = {}
    for cell in handed:
        if cell.id:
            found.setdefault(cell.id, []).append(cell)
    return found


def set_of(handed, metadata):
    """The name of the set that a notebook says it is, or that most of its cells are of; or ""."""
    said = of_type(str, of_type(dict, metadata.get("netlab")).get("assignment"))
    found = Counter(cell.id.partition("-")[0] for cell in handed if "-" in cell.id)
    return printable(said or next((name for name, _ in found.most_common(1)), ""), LONGEST_HEADING)


def names(cells, first):
    """The student id that a notebook names, first in one cell; "" for an empty one, or None."""
    for cell in sorted(cells, key=lambda cell: cell.id != first):
        if cell.kind == "code" and ASSIGNED.search(cell.source):
            found = named(cell.source)
            if found is not None:
                return found.strip()
    return None


def named(source):
    """The text that a cell's code assigns to `student`: "" where the value is not a plain text,
    None where the cell assigns None, or nothing.
    """
    try:
        nodes = ast.walk(ast.parse(source)) if len(source) < LONGEST_NAMING else []
        values = [one.value for one in nodes if names_student(one) and one.value]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a magic, a slip
        values = []
    for value in values[-1:]:
        if isinstance(value, ast.Constant) and value.value is None:
            return None
        parts = value.values if isinstance(value, ast.JoinedStr) else [value]
        parts = [one.value if isinstance(one, ast.Constant) else None for one in parts]
        return "".join(parts) if all(isinstance(one, str) for one in parts) else ""
    found = STUDENT.search(source)
    return found[2] if found else None


def names_student(node):
    """Does a statement assign something to `student`?"""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(one, ast.Name) and one.id == "student" for one in targets)


def name_missing(cell):
    text = 'Write your student id between the quotes of student = "", and run all cells.'
    return Finding("name missing", cell, text)


def title(text):
    """The first heading of a text in Markdown outside of blocks of code, shortened; "" where it
    has none.
    """
    fence = ""
    for line in text.split("\n"):
        if mark := FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and line.strip() == mark[1]:
                fence = ""
        if fence:
            continue
        words = line.lstrip("#")
        if len(line) - 6 <= len(words) < len(line) and words[0:1] == " " and words.strip():
            return printable(words, LONGEST_HEADING)
    return ""


def under(cells, names):
    """The heading above each cell by the cells' `names`, as Jupyter shows no ids: 'under "A"'."""
    heading, found = "", {}
    for cell, name in zip(cells, names, strict=True):
        if cell.kind == "markdown" and (words := title(cell.source)):
            heading = f'under "{words}"'
        found.setdefault(name, heading)
    return found


def placed(findings, places):
    """The first findings of each flag, with the places of their cells, and how many more."""
    told, counts = [], Counter()
    for one in findings:
        counts[one.flag] += 1
        if counts[one.flag] <= MOST_FINDINGS:
            place = places.get(one.cell)
            told.append(replace(one, text=f"{one.text} (It is {place}.)") if place else one)
    return told + [
        Finding(flag, "", f"And {count - MOST_FINDINGS} more of this kind.")
        for flag, count in counts.items()
        if count > MOST_FINDINGS
    ]
