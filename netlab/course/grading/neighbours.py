"""Flags that the marks of a class show: whose numbers, file, name or code somebody else has."""

from collections import defaultdict

from netlab.course import ids
from netlab.course.texts import printable

SAME_ID = (
    "Something was handed in twice under your id, in folders whose names mean the same: your"
    " teacher decides which counts"
)


def flagged(everybody, similar=None):
    """The marks of a class, with flags and notices about other students; `similar` is what the
    function of that name tells of their code.
    """
    owners, twins, named_so = defaultdict(set), defaultdict(list), defaultdict(list)
    similar = similar or {}
    for one in everybody:
        for place, answer in answers(one):
            owners[place, answer.right].add(one.student)
        named_so[ids.compared(one.student)].append(one.student)
        if one.origin and one.points:
            twins[one.origin.digest].append(one.student)
    found = []
    for one in everybody:
        flags, me = [], one.student
        own, named = ids.compared(me), ids.compared(one.named)
        if named != own and named in named_so:
            flags.append(f"copied name: {printable(named_so[named][0])}")
        same_id = [other for other in named_so[own] if other != me]
        flags += [f"same id as {printable(other)}" for other in same_id]
        for place, answer in answers(one):
            whose = owners.get((place, answer.given), set()) - {me}
            if answer.given and answer.share < 1 and whose:
                flags.append(f"number of {printable(min(whose))}: {answer.name}")
        if one.origin and one.points:
            twin = [other for other in twins[one.origin.digest] if other != me]
            flags += [f"same file as {printable(other)}" for other in twin[:1]]
            for exercise, other, percent in similar.get(me, ()):
                if other not in twin:
                    flags.append(f"similar to {printable(other)}: {exercise}, {percent} %")
        notices = [*one.notices, *[SAME_ID] * len(same_id)]
        found.append(one.but(flags=[*one.flags, *flags], notices=notices))
    return found


def answers(marks):
    """Each answer, by its exercise and its name."""
    return [((one.id, each.name), each) for one in marks.exercises for each in one.answers]
