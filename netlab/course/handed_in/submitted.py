"""Reading a notebook that anybody may have made: nothing in it is believed, and what cannot be a
notebook is refused in words.
"""

import contextlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace

from netlab.course.checks.verdicts import printable
from netlab.errors import NetlabError
from netlab.readers._common import read_file

LARGEST_BYTES = 20_000_000
MOST_CELLS = 2_000
LONGEST_CELL = 200_000  # characters
MOST_LISTS = 2_000_000  # and objects of a file: each takes far more memory than its two bytes
AGAIN = "Open it in Jupyter, save it there, and hand in that file."
LONGEST_HEADING = 80  # characters
MOST_FINDINGS = 40  # of one flag
STUDENT = re.compile(r"""^[ \t]*student[ \t]*=[ \t]*(["'])(.*?)\1""", re.M)


@dataclass(frozen=True)
class Finding:
    """Something about a submission that its author should know.

    Attributes
    ----------
    flag : str
        A short name that stays the same: "cell deleted".
    cell : str
        A grade_id, or "cell 7"; "" for the whole notebook.
    text : str
        What it is, and what to do.
    """

    flag: str
    cell: str
    text: str


@dataclass
class Handed:
    """A cell that somebody handed in, with types that can be relied on.

    Attributes
    ----------
    number : int
        The first is 1.
    id, own : str
        Its grade_id, and Jupyter's id of the cell; "" for none.
    kind, source : str
    said : dict
        nbgrader's metadata, of which values may be anything.
    count : int or None
        The number that Jupyter shows beside a cell that ran.
    outputs : list
        The dictionaries among its outputs.
    """

    number: int
    id: str
    own: str
    kind: str
    source: str
    said: dict = field(default_factory=dict)
    count: int | None = None
    outputs: list = field(default_factory=list)

    @property
    def name(self):
        """How a finding names it."""
        return self.id if re.fullmatch(r"[\w-]{1,80}", self.id, re.A) else f"cell {self.number}"


@contextlib.contextmanager
def whatever_it_is():
    """Around the reading of a submission: whatever it raises becomes a `NetlabError` in words, of
    which the cause, for who teaches, is what was raised.
    """
    try:
        yield
    except NetlabError:
        raise
    except Exception as error:
        raise NetlabError(f"the submission is no notebook that can be read. {AGAIN}") from error


def own_file(path):
    """The bytes of a notebook on one's own machine; a `NetlabError`, where they cannot be read."""
    try:
        return read_file(path)
    except OSError as error:
        raise NetlabError(
            f"{path} cannot be read: {error.strerror}; give the notebook that you want to hand in"
        ) from None


def read(data):
    """The cells of a notebook, its metadata, and what there is to say about its format.

    Parameters
    ----------
    data : bytes, str or dict
        The file's contents, or what its JSON says.

    Returns
    -------
    tuple of (list of Handed, dict, list of Finding)

    Raises
    ------
    NetlabError
        It is too large, nested too deeply, or no notebook.
    """
    notebook, findings = data if isinstance(data, dict) else parsed(data), []
    cells = notebook.get("cells")
    if cells is None and isinstance(notebook.get("worksheets"), list):
        cells = from_version_3(notebook["worksheets"])
        text = f"The notebook is in an old format, and was converted. {AGAIN}"
        findings.append(Finding("old format", "", text))
    if not isinstance(cells, list):
        raise NetlabError(f"the submission is JSON, but no notebook: it has no cells. {AGAIN}")
    if len(cells) > MOST_CELLS:
        raise NetlabError(
            f"the submission has {len(cells)} cells, and {MOST_CELLS} are allowed: delete your own"
            " cells that no answer needs"
        )
    handed = []
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
    metadata = notebook.get("metadata")
    return handed, metadata if isinstance(metadata, dict) else {}, findings


def parsed(data):
    """What JSON says, if it is an object, and not made to break whoever reads it."""
    if len(data) > LARGEST_BYTES:
        raise NetlabError(
            f"the submission has {len(data) / 1e6:.0f} MB, and {LARGEST_BYTES / 1e6:.0f} are"
            " allowed: clear the outputs (Edit, Clear Outputs of All Cells), and save it again"
        )
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    if not data.strip():
        raise NetlabError(f"the submission is an empty file. {AGAIN}")
    if data.count(b"[") + data.count(b"{") > MOST_LISTS:
        raise NetlabError(
            "the submission has more lists in it than any notebook needs: clear the outputs, and"
            " save it again"
        )
    try:
        notebook = json.loads(data)
    except RecursionError:
        raise NetlabError(
            f"the submission is nested more deeply than any notebook is. {AGAIN}"
        ) from None
    except ValueError as error:  # UnicodeDecodeError, JSONDecodeError, too many digits
        said = str(error)[:120] if isinstance(error, json.JSONDecodeError) else "not text in UTF-8"
        raise NetlabError(f"the submission is no notebook ({said}). {AGAIN}") from None
    if not isinstance(notebook, dict):
        raise NetlabError(
            f"the submission is JSON, but no notebook: it is a list or value. {AGAIN}"
        )
    return notebook


def clean(number, raw):
    """A cell whose parts have the right types; None, where it has no text."""
    source = raw.get("source")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    metadata = raw.get("metadata")
    said = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    said = said if isinstance(said, dict) else {}
    own, grade_id, count = raw.get("id"), said.get("grade_id"), raw.get("execution_count")
    outputs = raw.get("outputs")
    return Handed(
        number,
        grade_id if isinstance(grade_id, str) else "",
        own if isinstance(own, str) else "",
        kind if (kind := raw.get("cell_type")) in ("code", "markdown") else "raw",
        source.encode("utf-8", "replace").decode(),  # half a surrogate pair is no text
        said,
        count if type(count) is int and abs(count) < 10**9 else None,
        [each for each in outputs if isinstance(each, dict)] if isinstance(outputs, list) else [],
    )


def from_version_3(worksheets):
    """The cells of a notebook of nbformat 3, as version 4 has them."""
    cells = []
    for sheet in worksheets:
        found = sheet.get("cells") if isinstance(sheet, dict) else None
        for raw in found if isinstance(found, list) else ():
            if isinstance(raw, dict):
                raw = {**raw, "execution_count": raw.get("prompt_number")}
                if raw.get("cell_type") == "code":
                    raw["source"] = raw.get("input")
                elif raw.get("cell_type") == "heading":
                    raw["cell_type"] = "markdown"
            cells.append(raw)
    return cells


def names(cells, folder):
    """The student id that the first cells name: `student = "ada"`; "" for an empty one, None
    for none. `folder` is the id of the cell that should name it.
    """
    for cell in sorted(cells, key=lambda cell: cell.id != folder):
        if cell.kind == "code" and (found := STUDENT.search(cell.source)):
            return found[2].strip()
    return None


def title(text):
    """The first heading of a text in Markdown, shortened; "" where it has none."""
    for line in text.split("\n"):
        words = line.lstrip("#")
        if len(line) - 6 <= len(words) < len(line) and words[0:1] == " " and words.strip():
            return printable(words, LONGEST_HEADING)
    return ""


def under(cells):
    """For each cell, in words, the heading under which it stands, as Jupyter shows no ids; "" for
    those above the first.

    Parameters
    ----------
    cells : iterable
        With `kind` and `source`, in their order.
    """
    heading = ""
    for cell in cells:
        if cell.kind == "markdown" and (found := title(cell.source)):
            heading = f'under "{found}"'
        yield heading


def placed(findings, places):
    """The first findings of each flag, which also say where their cells are, and how many more
    there are.

    Parameters
    ----------
    findings : list of Finding
    places : dict of str
        What `under` says, by a finding's `cell`.
    """
    told, counts = [], Counter()
    for one in findings:
        counts[one.flag] += 1
        if counts[one.flag] > MOST_FINDINGS:
            continue
        if place := places.get(one.cell):
            one = replace(one, text=f"{one.text} (It is {place}.)")
        told.append(one)
    return told + [
        Finding(flag, "", f"And {count - MOST_FINDINGS} more of this kind.")
        for flag, count in counts.items()
        if count > MOST_FINDINGS
    ]
