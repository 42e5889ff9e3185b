"""Marks in other programs' formats: what `netlab course export` writes."""

from pathlib import Path

from netlab.course.texts import printable
from netlab.errors import NetlabError

FORMATS = ("nbgrader", "gradescope", "moodle", "table")
OLD_MARKS = (
    "{} students' marks are of before a change of the set or of netlab: grade what they handed in"
)
CHANGED = "{0} was changed since these marks were made: `netlab course grade {0}` makes them anew"


def export(
    to, assignment, work, output, course=None, manual=None, say=lambda text: None, worksheet=None
):
    """Write the marks of the last grading of `assignment`, kept in `work`; -> how many students'.

    `output` is a CSV file (table, moodle), a course folder (nbgrader), or a folder in which each
    student has a file (gradescope); `course` is nbgrader's course folder with the source, `manual`
    a table with points for answers in words, `worksheet` Moodle's grading worksheet. `say` is
    called with a text where marks are left out.
    """
    if to not in FORMATS:
        raise NetlabError(f"to {to!r}: allowed are {', '.join(FORMATS)}")
    from netlab.course.adapters import results  # `netlab` alone needs no locks
    from netlab.course.grading import by_hand
    from netlab.course.grading.marks import OLD, read_class
    from netlab.course.grading.work import PARTS, has_changed

    work, output, marks = Path(work), Path(output), read_class(work, assignment)
    files = {path.stem for path in Path(work, PARTS[0]).glob("*.json")}
    if left_out := len(files - {one.file for one in marks}):
        say(f"{left_out} students' marks in {work} are of earlier gradings, and are left out")
    if has_changed(assignment, work, course):
        say(CHANGED.format(assignment))
    elif old := sum(OLD in one.flags for one in marks):
        say(OLD_MARKS.format(old))
    marks = by_hand.given(marks, manual) if manual else marks
    try:
        if to == "nbgrader":
            from netlab.course.adapters import nbgrader

            nbgrader.write(marks, work, output, course)
        elif to == "moodle":
            from netlab.course.adapters import moodle

            return moodle.write(marks, worksheet, work, output, say)
        elif to == "table":
            results.write_table(marks, work, output)
        else:
            for_each(marks, lambda one: results.write(one, work, output))
    except OSError as error:
        raise NetlabError(f"--output {output}: {error.strerror}; name another place") from error
    return len(marks)


def for_each(marks, write, undo=lambda: None):
    """``write(one)`` for each student's marks; a `NetlabError` names those for whom it failed."""
    lines = []
    for one in marks:
        try:
            write(one)
        except Exception as error:
            undo()
            if isinstance(error, OSError) or isinstance(error.__cause__, OSError):
                raise
            said = error if isinstance(error, NetlabError) else type(error).__name__
            lines.append(f"- {printable(one.student)}: {printable(f'{said}')}")
    if lines:
        head = f"{len(lines)} of {len(marks)} students' marks were not written:"
        raise NetlabError("\n".join([head, *lines]))
