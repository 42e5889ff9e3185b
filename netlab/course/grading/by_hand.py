"""Points that a person gives for answers in words: in the table that `netlab course export` writes,
whose empty columns, such as ``ps1-explain (of 6)``, are filled in with any spreadsheet.
"""

import csv
from collections import Counter

from netlab.course.texts import printable, shown
from netlab.errors import NetlabError
from netlab.readers._common import read_file

OF = " (of "  # between an exercise and its points, in the heading of a column


def given(everybody, path):
    """The marks of a class, with the points in a table; an empty place leaves marks as they are.

    A `NetlabError` names the line of what cannot be somebody's points.
    """
    exercises = exercises_of(everybody)
    named, found = Counter(shown(one.student) for one in everybody), {}
    for number, row in enumerate(read(path, exercises), 2):
        student, where = row.get("student", "").strip(), f"--manual {path}, line {number}"
        texts = {id_: text.strip() for id_, text in row.items() if id_ in exercises and text}
        if not any(texts.values()):
            continue
        if named[student] != 1 or student in found:
            why = "a second line" if student in found else f"{named[student]} students here have it"
            raise NetlabError(f"{where}: student {printable(student)!r}: {why}; mend the table")
        found[student] = texts, where
    return [with_points(one, *found.get(shown(one.student), ({}, ""))) for one in everybody]


def given_to_each(sets, paths):
    """Lists of marks, one for each set, with the points in tables: each is of the set whose
    exercises it has.
    """
    sets = [*sets]
    for path in paths:
        head, _ = lines(path)
        at = [number for number, one in enumerate(sets) if exercises_of(one) & {*head}]
        at = at[0] if at else 0  # where it is refused
        sets[at] = given(sets[at], path)
    return sets


def exercises_of(everybody):
    """The ids of the exercises that a person marks."""
    return {each.id for one in everybody for each in one.manual}


def with_points(marks, texts, where):
    """A student's marks with the points that stand in a line of the table."""
    manual = []
    for one in marks.manual:
        if text := texts.get(one.id):
            one = one.but(points=points_of(text, one, where))
        manual.append(one)
    return marks.but(manual=manual)


def points_of(text, one, where):
    """Points as people write them: 2,5 or 2.5."""
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points <= one.max_points:
        most = f"{one.max_points:g}"
        raise NetlabError(f"{where}: {one.id}: {printable(text)!r}: write 0 to {most}, or nothing")
    return points


def read(path, exercises):
    """The lines of the table, by student and exercise."""
    head, rows = lines(path)
    if "student" not in head or not exercises & {*head}:
        raise NetlabError(
            f"--manual {path}: no table with points of this set: fill in the one that `netlab"
            " course export --to table` writes"
        )
    return [dict(zip(head, row, strict=False)) for row in rows if row]


def lines(path):
    """The first line of a table, by exercise, and the others; spreadsheets may write semicolons."""
    try:
        found = read_file(path).decode("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise NetlabError(f"--manual {path} cannot be read: {error}") from None
    comma = ";" if found and ";" in found[0] else ","
    head, *rows = csv.reader(found, delimiter=comma) if found else [[]]
    return [heading.partition(OF)[0].strip() for heading in head], rows
