"""All sets of a course together, at its end: what each student has, and what each set was like."""

from collections import Counter

import pandas as pd

from netlab.course import ids
from netlab.course.grading import report
from netlab.course.grading.by_hand import OF
from netlab.course.grading.marks import Marks
from netlab.course.texts import as_csv, printable
from netlab.errors import NetlabError

HARDEST = 3  # answers of a set that are named


def table(sets: list[list[Marks]]) -> pd.DataFrame:
    """A row for each student, in the order of the ids: the points of each set, NaN where nothing
    could be graded or marks are pending, their sum, and its share of the points of all sets.
    Points by hand count in a set in which some are given.
    """
    columns, names, most = {}, {}, 0
    for everybody in sets:
        name, points = everybody[0].assignment, {}
        by_hand = any(one.by_hand is not None for one in everybody)
        of = Counter(one.max_points + by_hand * one.max_by_hand for one in everybody)
        in_set = of.most_common(1)[0][0]  # others have marks of before the set changed
        for one in everybody:
            me = ids.compared(one.student)
            if me in points:
                two = printable(f"{names[me]} and {one.student}")
                why = "mean the same; remove the marks/ID.json of one, and grade the class again"
                raise NetlabError(f"{name}: the ids {two} {why}")
            names.setdefault(me, one.student)
            points[me] = one.in_all if one.graded else float("nan")
        heading = f"{name}{OF}{in_set:g})"
        if name in [other.partition(OF)[0] for other in columns]:
            raise NetlabError(f"two folders have marks of {name}: name one of them")
        columns[heading], most = pd.Series(points), most + in_set
    found = pd.DataFrame(columns).sort_index()
    found["points"] = found.sum(axis=1)
    found["share"] = found.points / most
    return found.rename(index=names).rename_axis("student")


def as_text(points) -> str:
    """The table as CSV; a share has four digits, and NaN is an empty place."""
    rows = points.round({"share": 4}).reset_index().astype(object)
    rows = rows.where(rows.notna(), "")
    return as_csv([[*rows.columns], *rows.itertuples(index=False)])


def summary(sets, points) -> list[str]:
    """Of each set in some lines: who has marks, mean and median of these, and the answers that most
    had wrong, with the hint that most got.
    """
    lines = []
    for everybody, heading in zip(sets, points, strict=False):
        column, (name, _, of) = points[heading].dropna(), heading.partition(OF)
        line = f"{name}: {len(column)} of {len(points)} students have marks"
        if len(column):
            mean, median = column.mean(), column.median()
            line += f"; mean {mean:.4g} and median {median:.4g} of {of.rstrip(')')} points"
        lines.append(line)
        for wrong, answer, count, hints in hardest(everybody):
            hint = f"; {hints[0][1]} of them: {hints[0][0]}" if hints and hints[0][0] else ""
            lines.append(f"  {answer}: {wrong} of {count} not right{hint}")
    return lines


def hardest(everybody):
    """The answers that most have not right: how many, its name, of how many, the hints."""
    exercises = report.found(everybody).get("exercises", ())
    answers = [answer for one in exercises for answer in one["answers"]]
    counted = [
        (verdicts.total() - verdicts["right"], name, verdicts.total(), hints)
        for name, verdicts, hints in answers
    ]
    return sorted(filter(lambda one: one[0], counted), key=lambda one: -one[0])[:HARDEST]
