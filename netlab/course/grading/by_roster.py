"""What the roster says of the marks of a class: who works together, who is late, who is missing."""

from netlab.course import ids
from netlab.course.grading.marks import Late, without_marks
from netlab.course.texts import printable

LATE, NO_DATE, STRANGER = "late: {}", "no date", "not in the roster"  # flags
ABSENT = "nothing was handed in under this id, which is in the roster"
IS_LATE = "Handed in {when}, due {due}: {days} late, for which {lost:.10g} % of the points are lost"
GROUP = (
    "These are the marks of your group, {members}. It is graded with the numbers of the one who is"
    ' first in the course\'s roster: write student = "{first}" in the first cell'
)


def without_members(found, roster):
    """Marks by student, without those of a member of a group that is there under its first."""
    return {
        student: one
        for student, one in found.items()
        if not (group := roster.group_of(student))
        or group[0].id == student
        or group[0].id not in found
    }


def settled(everybody, roster, assignment):
    """The marks of a class, in the order of their names: who is late has lost points, all members
    of a group have its marks, and who handed nothing in has zero.
    """
    if not roster.members:
        return everybody
    found = [each for one in everybody for each in shared(by_date(one, roster), roster)]
    there = {ids.compared(one.student) for one in found}
    absent = [one.id for one in roster.members if ids.compared(one.id) not in there]
    found += [without_marks(one, assignment, "nothing to grade", ABSENT) for one in absent]
    return sorted(found, key=lambda one: one.student)


def by_date(one, roster):
    """A student's marks, and whether they are of late work."""
    if not roster.member(one.student):
        return one.but(flags=[*one.flags, STRANGER])
    if not (roster.due and one.origin):
        return one
    when = roster.handed_in(one.student)
    if when is None:
        return one.but(flags=[*one.flags, NO_DATE])
    if not (number := roster.days_late(when)):
        return one
    late = Late(written(when), written(roster.due), number, roster.share_lost(number))
    days = f"{number} day{'s' * (number > 1)}"
    notice = IS_LATE.format(when=late.handed_in, due=late.due, days=days, lost=100 * late.lost)
    return one.but(flags=[*one.flags, LATE.format(days)], notices=[notice, *one.notices], late=late)


def written(when):
    """A day and a time, on the clock of who teaches."""
    return f"{when:%Y-%m-%d %H:%M}"


def shared(one, roster):
    """The marks of each member of a group, or a student's own."""
    group = roster.group_of(one.student)
    if len(group) < 2 or group[0].id != one.student:
        return [one]
    members = ", ".join(printable(each.id) for each in group)
    notice = GROUP.format(members=members, first=printable(one.student))
    one = one.but(notices=[notice, *one.notices])
    return [one, *(one.but(student=each.id) for each in group[1:])]
