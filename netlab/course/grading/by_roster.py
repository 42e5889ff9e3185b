"""What the roster says of the marks of a class: who works together, who is late, who is missing."""

from netlab.course import ids
from netlab.course.grading.marks import Late, without_marks
from netlab.course.texts import printable

LATE, NO_DATE, STRANGER = "late: {}", "no date", "not in the roster"  # flags
ABSENT = "nothing was handed in under this id, which is in the roster"
IS_LATE = "Handed in {when}, due {due}: {days} late, for which {lost:.10g} % of the points are lost"
GROUP = (
    "These are the marks of your group, {members}, graded with the numbers of {whose}. Any of you"
    ' may hand in; write student = "{first}" in the first cell'
)


def without_members(found, roster):
    """Marks by student, of a group those of one alone: of its first in the roster, or, where that
    one has none (since the roster is new, or has another order), of the next who has.
    """
    places = {ids.compared(one.id): at for at, one in enumerate(roster.members)}
    counts = {}  # by group, whose marks
    for student in sorted(
        found, key=lambda one: (found[one].origin is None, places.get(ids.compared(one), 0))
    ):
        if group := roster.group_of(student):
            counts.setdefault(group[0].id, student)
    return {
        student: one
        for student, one in found.items()
        if not (group := roster.group_of(student)) or counts[group[0].id] == student
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
    me = ids.compared(one.student)
    group = [
        one.student if ids.compared(each) == me else each
        for each in roster.ids_of_group(one.student)
    ]
    if len(group) < 2:
        return [one]
    members, first = ", ".join(map(printable, group)), printable(group[0])
    notice = GROUP.format(members=members, whose=printable(one.student), first=first)
    one = one.but(notices=[notice, *one.notices], group=group)
    return [one.but(student=each) for each in group]
