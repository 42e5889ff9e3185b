"""What a student should mend before handing a notebook in, found on the student's own machine:
nothing is run, and neither the source nor nbgrader is needed.
"""

import contextlib
import json
import re
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path

from netlab.course import graders_python, ids
from netlab.course.answers.verdicts import WORDS
from netlab.course.handed_in import submitted
from netlab.course.handed_in.submitted import Finding
from netlab.course.own_numbers import (
    NO_SUCH_ID,
    mark_of,
    secret,
    stranger,
)
from netlab.course.sets import regions
from netlab.course.texts import LONGEST, POINT, ZEROS, printable
from netlab.errors import NetlabError, SpecificationError
from netlab.readers._common import read_file

LARGE_BYTES = 10_000_000
MOST_LINES = 100  # of a check cell, that are looked at
RIGHT, NOT_RIGHT = WORDS["right"], (WORDS["wrong"], WORDS["nothing"], WORDS["close"])
NOTED = "This is ", "Plausible, ", "Possible, ", "As the text ", "Its state ", "The network is "
VERDICT = re.compile(
    rf"^(?:.{{0,300}}?: |)(?P<word>{'|'.join(map(re.escape, (RIGHT, *NOT_RIGHT, *NOTED)))})"
)
RUN_ALL = 'Choose "Restart Kernel and Run All Cells" in the menu Kernel, and save.'
MOST_CELLS_NAMED = 5
COMMON = {  # what often stands behind an error
    "NameError": "mend the first cell that fails; a name from there has no value here",
    "NotImplementedError": "the answer is missing",
}


def read(path):
    """The bytes of the notebook at a path."""
    try:
        return read_file(path)
    except OSError as error:
        why = f"{error.strerror}; give the notebook that you want to hand in"
        raise NetlabError(f"{path} cannot be read: {why}") from None


@submitted.whatever_it_is()
def summary(path):
    """Count the verdicts that check cells printed in their last run; "" without such cells."""
    cells = checks(submitted.read(read(path))[0])
    words = Counter(word for cell in cells for word, _ in said(cell))
    counts = [f'{words.pop(word)} "{word}"' for word in (RIGHT, *NOT_RIGHT) if word in words]
    counts += [f"{words.total()} not compared with what is right"] if words else []
    silent = sum(not [*said(cell)] for cell in cells)
    counts += [f"{silent} of {len(cells)} check cells have said nothing"] if silent else []
    return f"what the checks said, as it is stored in the notebook: {', '.join(counts)}" * bool(
        cells
    )


@submitted.whatever_it_is()
def examine(path):
    """Look at a notebook that is to be handed in; -> the findings, and the id in its first cell as
    the grader compares it, or "". A `NetlabError` where it is no notebook, or cannot be read.
    """
    path = Path(path)
    data = read(path)
    handed, metadata, findings = submitted.read(data)
    name, checksums = contents(metadata)
    if checksums is None:
        text = "The notebook does not say what was in it when it was given out, so it cannot be"
        text += " told whether all is still there. Copy your answers into a fresh copy of the set."
        findings.append(Finding("not a problem set", "", text))
    else:
        if path.name != f"{name}.ipynb":
            text = f"Your course looks for {name}.ipynb: rename the file."
            findings.append(Finding("wrong file name", "", text))
        findings += other_secret(metadata["netlab"].get("secret"), path.parent)
    checksums = checksums or {}
    was_changed = partial(changed, checksums)
    findings += submitted.structure(submitted.by_id(handed), checksums, was_changed)
    student, found = named(submitted.names(handed, f"{name}-name"), f"{name}-name", path.parent)
    findings += found
    findings += answered(handed, checksums)
    for cell in handed:
        if cell.kind == "code" and cell.said.get("locked") is not True:
            for text in graders_python.refused(cell.source):
                text = f"{text[0].upper()}{text[1:]}."
                findings.append(Finding("not in the grader", cell.name, text))
    findings += ran(handed)
    findings += not_right(handed)
    if len(data) > LARGE_BYTES:
        findings.append(too_big(data, handed))
    places = submitted.under(handed, (cell.name for cell in handed))
    return submitted.placed(findings, places), student


def contents(metadata):
    """A released notebook's name, and nbgrader's checksums by grade_id; None for another's."""
    with contextlib.suppress(LookupError, TypeError, ValueError):  # it may say anything
        name, cells = (metadata["netlab"][key] for key in ("assignment", "cells"))
        checksums = {grade_id: str(checksum) for grade_id, checksum in cells}
        few = 0 < len(checksums) <= submitted.MOST_CELLS
        if few and all(re.fullmatch(r"[\w-]{1,80}", one, re.A) for one in (name, *checksums)):
            return name, checksums
    return "", None


def other_secret(mark, folder):
    """A finding where course.json is not the one given out with the notebook."""
    if isinstance(mark, str) and mark != mark_of(secret(folder)):
        text = "The course.json that you got with this set is not beside the notebook, so my = "
        text += "nl.course.mine(...) draws numbers that are not yours. Put it there, and run all"
        text += " cells."
        if not mark:
            text = "There is a course.json beside the notebook, and none was given out with this"
            text += " set: move it away, or you have numbers that are not yours; run all cells."
        yield Finding("other course.json", "", text)


def named(student, cell, folder):
    """The id that the first cell names, in one spelling or "", and the findings on it."""
    if not student:
        return "", [submitted.name_missing(cell)] * (student == "")
    known = ""
    try:
        known = ids.normalised(student)
        if not stranger(known, folder):
            return known, []
        text = f"{printable(student)}: {NO_SUCH_ID}, and run all cells."
        return known, [Finding("no such id", cell, text)]
    except SpecificationError as error:
        return known, [Finding("no student id", cell, printable(str(error)))]


def changed(checksums, name, cell):
    """Is a cell that its metadata call the course's not as it was given out?"""
    courses = cell.said.get("grade") or cell.said.get("locked")
    own = cell.said.get("solution") is True
    return courses and not own and checksum_of(cell) != checksums[name]


def checksum_of(cell):
    """nbgrader's checksum of a cell; "" where its metadata cannot have one."""
    try:
        return regions.checksum(cell.source, cell.kind, cell.said)
    except (LookupError, TypeError, ValueError, OverflowError):
        return ""


def answered(handed, expected):
    """Findings of answers that the student has not touched."""
    for cell in handed:
        if cell.said.get("solution") is not True:
            continue
        stub = "\n".join(regions.STUB[True]) in re.sub("(?m)^[ \t]+", "", cell.source)
        untouched = checksum_of(cell) == expected.get(cell.id)
        if stub and not untouched:
            text = "`raise NotImplementedError()` still stands in it and stops the cell there:"
            yield Finding("no answer", cell.name, f"{text} delete that line.")
        elif untouched or not cell.source.strip():
            text = "It has no answer yet: write one, or leave it, and it gets no points."
            yield Finding("no answer", cell.name, text)


def ran(handed):
    """Cells that did not run, failed, or ran in another order than they stand."""
    code = [cell for cell in handed if cell.kind == "code" and cell.source.strip()]
    waiting = [cell.name for cell in code if cell.count is None]
    if waiting:
        names = ", ".join(waiting[:MOST_CELLS_NAMED])
        names += f" and {len(waiting) - MOST_CELLS_NAMED} more" * (len(waiting) > MOST_CELLS_NAMED)
        text = f"{names} have not run, or their outputs were cleared. {RUN_ALL}"
        yield Finding("not run", waiting[0], text)
    for cell in code:
        errors = [one for one in cell.outputs if one.get("output_type") == "error"]
        for output in errors[:1]:
            said = output.get("ename")
            said = said if isinstance(said, str) and said.isidentifier() else "an error"
            which = "what is above" if cell.said.get("locked") is True else "it"
            why = COMMON.get(said, f"read the end of its output, and mend {which}")
            why = POINT if ZEROS in str(output.get("evalue"))[:LONGEST] else why
            yield Finding("failing cell", cell.name, f"It stops with {said[:80]}: {why}.")
    for before, cell in pairwise(cell for cell in code if cell.count is not None):
        if cell.count <= before.count:
            text = f"It ran before a cell that stands above it. {RUN_ALL}"
            yield Finding("run out of order", cell.name, text)
            break


def said(cell):
    """The verdict and the whole line, of each line that a check cell printed in its last run."""
    for output in cell.outputs[:MOST_LINES]:
        text = output.get("text") or submitted.of_type(dict, output.get("data")).get("text/plain")
        text = [text] if isinstance(text, str) else submitted.of_type(list, text)
        text = "".join(one for one in text if isinstance(one, str))
        for line in text.split("\n")[:MOST_LINES]:
            if found := VERDICT.search(line):
                yield found["word"], line


def checks(handed):
    """The check cells: those with code that are graded."""
    return [cell for cell in handed if cell.kind == "code" and cell.said.get("grade") is True]


def not_right(handed):
    """A finding for each stored verdict that is not "Right"."""
    for cell in checks(handed):
        lines = [line for word, line in said(cell) if word in NOT_RIGHT]
        for line in lines[:MOST_LINES]:
            yield Finding("not right", cell.name, f'Its check said: "{printable(line)}"')


def too_big(data, handed):
    """The finding on a large file, at the cell whose outputs are most of it."""
    sizes = {cell.name: len(json.dumps(cell.outputs)) for cell in handed}
    largest = max(sizes, key=sizes.get, default="")
    if sizes and sizes[largest] > len(data) / 2:
        why = "most of it the output of this cell: print less there, and save again."
        return Finding("output too big", largest, f"The file has {len(data) / 1e6:.0f} MB, {why}")
    why = "Most of it is not the text of its cells: print less, clear the outputs, and save again."
    return Finding("output too big", largest, f"The file has {len(data) / 1e6:.0f} MB. {why}")
