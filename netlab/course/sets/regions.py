"""nbgrader's marks and checksums in the text of cells, read as nbgrader reads them, and without
it: students and the grader need not have it.
"""

import hashlib
import re

SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"
HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
STUB = {  # what students find in place of a solution, by whether it is code
    True: ["# YOUR CODE HERE", "raise NotImplementedError()"],
    False: ["YOUR ANSWER HERE"],
}


def joined(source):
    """A cell's text, which a notebook's file has in one piece or in lines."""
    if isinstance(source, list):
        source = "".join(source)
    if not isinstance(source, str):
        raise TypeError(f"a cell's source is {type(source).__name__}")
    return source


def without(text, marks, stub=()):
    """A cell's text with `stub` in place of each region between two marks, and the text of these
    regions, or None.

    Examples
    --------
    >>> without("a = 1\\n### BEGIN SOLUTION\\nb = 2\\n### END SOLUTION", SOLUTION, ["b = ..."])
    ('a = 1\\nb = ...', 'b = 2')
    """
    begin, end = (mark.strip("# ") for mark in marks)
    kept, taken, inside = [], None, False
    for line in text.split("\n"):
        if begin in line:
            if inside:
                raise ValueError(f"a second {marks[0]} before {marks[1]}")
            inside = True
            taken = taken or []
            kept += [re.match(r"\s*", line)[0] + each for each in stub]
        elif end in line:
            if not inside:
                raise ValueError(f"{marks[1]} without {marks[0]}")
            inside = False
        elif inside:
            taken.append(line)
        else:
            kept.append(line)
    if inside:
        raise ValueError(f"{marks[0]} without {marks[1]}")
    return "\n".join(kept), None if taken is None else "\n".join(taken)


def unmarked(text):
    """A cell's text without the marks of a solution, whose lines stay."""
    names = tuple(mark.strip("# ") for mark in SOLUTION)
    return "\n".join(line for line in text.split("\n") if not any(name in line for name in names))


def checksum(text, kind, said):
    """nbgrader's checksum of a cell with this text and cell_type; `said` is its metadata."""
    grade, solution = bool(said.get("grade")), bool(said.get("solution"))
    locked = not solution and (grade or bool(said.get("locked")))
    words = [text, kind, str(grade), str(solution), str(locked), said["grade_id"]]
    if grade:
        words.append(str(float(said["points"])))
    return hashlib.md5("".join(words).encode(), usedforsecurity=False).hexdigest()
