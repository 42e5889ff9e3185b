"""Points that a person gives for answers in words: in the table that `netlab course export` writes,
whose empty columns, such as ``ps1-explain (of 6)``, are filled in with any spreadsheet. Grading
keeps them beside the marks.
"""

import csv
from collections import Counter
from pathlib import Path

from pydantic import Field

from netlab.course.grading.marks import Points
from netlab.course.handed_in.class_folder import several
from netlab.course.kept import Kept
from netlab.course.texts import printable, shown
from netlab.errors import NetlabError
from netlab.readers._common import read_file

OF = " (of "  # between an exercise and its points, in the heading of a column
COUNTED = "{} students have points by hand, kept in {}: remove that file to grade without them"
NOBODYS = "points by hand are kept, and count for nobody, as there are no marks, of: {}"
TWO = (
    "{}: {} and {} are of one group, and have {:g} and {:g} points for {}: give both the same in"
    " the table of --manual, or leave one of the places empty"
)


class ByHand(Kept):
    """By student (as tables show the id) and exercise the points that were given."""

    file = "by-hand.json"
    options = "--manual"
    points: dict[str, dict[str, Points]] = Field(default_factory=dict)

    def and_table(self, path, most, students, group_of):
        """With the points of a table (None: of none), which count before those of here. `most` has
        the points of each exercise, `students` all ids, and `group_of` gives the ids of a group.
        """
        members = {shown(one): [*map(shown, group_of(one))] for one in students}
        found = {one: {**own} for one, own in self.points.items()}
        new = read(path, most, students) if path else {}
        for one, own in shared(new, members, f"--manual {path}").items():
            found[one] = found.get(one, {}) | own
        where = f"points by hand that were kept in {self.file}"
        for one, own in found.items():
            for id_, points in own.items():
                if points > most.get(id_, points):
                    raise NetlabError(
                        f"{where}: {printable(one)} has {points:g} for {id_}, which has at most"
                        f" {most[id_]:g} now: give others with --manual"
                    )
        return self.but(points=shared(found, members, where))

    def given_to(self, everybody, work):
        """The marks of a class with these points; what is to be said of them, kept in `work`."""
        found = [with_points(one, self.points.get(shown(one.student), {})) for one in everybody]
        count = sum(one.by_hand is not None for one in found)
        nobodys = sorted(self.points.keys() - {shown(one.student) for one in everybody})
        said = [COUNTED.format(count, Path(work, self.file))] * bool(count)
        return found, said + [NOBODYS.format(several(nobodys))] * bool(nobodys)


def given(everybody, path):
    """The marks of a class, with the points in a table; an empty place leaves marks as they are.

    A `NetlabError` names the line of what cannot be somebody's points.
    """
    most, groups = {}, {one.student: one.group for one in everybody}
    for one in everybody:
        most |= {each.id: each.max_points for each in one.manual}
    found = ByHand().and_table(path, most, [one.student for one in everybody], groups.get)
    return found.given_to(everybody, "")[0]


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


def shared(points, members, where):
    """Points by student, where all of a group have what one of them has."""
    found, whose = {}, {}
    for one, own in points.items():
        for member in {one: None} | dict.fromkeys(members.get(one, ())):
            for id_, number in own.items():
                first, before = whose.setdefault((member, id_), (one, number))
                if before != number:
                    names = printable(first), printable(one)
                    raise NetlabError(TWO.format(where, *names, before, number, id_))
                found.setdefault(member, {})[id_] = number
    return found


def with_points(marks, points):
    """A student's marks with points by exercise."""
    return marks.but(
        manual=[one.but(points=points[one.id]) if one.id in points else one for one in marks.manual]
    )


def read(path, most, students):
    """By student and exercise the points in a table."""
    head, rows = lines(path)
    if "student" not in head or not most.keys() & {*head}:
        raise NetlabError(
            f"--manual {path}: it has no column with points of this set: fill in the table that"
            " `netlab course export --to table` writes"
        )
    named, found = Counter(map(shown, students)), {}
    for number, row in enumerate(rows, 2):
        row = dict(zip(head, row, strict=False))
        student, where = row.get("student", "").strip(), f"--manual {path}, line {number}"
        texts = {id_: text.strip() for id_, text in row.items() if id_ in most and text.strip()}
        if not texts:
            continue
        if named[student] != 1 or student in found:
            why = "no student here has this id" if not named[student] else "two students have it"
            why = "it has another line above" if student in found else why
            raise NetlabError(f"{where}: student {printable(student)!r}: {why}; mend the table")
        found[student] = {id_: points_of(one, id_, most, where) for id_, one in texts.items()}
    return found


def points_of(text, id_, most, where):
    """Points as people write them: 2,5 or 2.5."""
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points <= most[id_]:
        raise NetlabError(
            f"{where}: {id_}: {printable(text)!r} cannot be points: write a number from 0 to"
            f" {most[id_]:g}, or leave the place empty"
        )
    return points


def lines(path):
    """The first line of a table, by exercise, and the others; spreadsheets may write semicolons."""
    try:
        found = read_file(path).decode("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise NetlabError(f"--manual {path} cannot be read: {error}") from None
    comma = ";" if found and ";" in found[0] else ","
    head, *rows = csv.reader(found, delimiter=comma) if found else [[]]
    return [heading.partition(OF)[0].strip() for heading in head], rows
