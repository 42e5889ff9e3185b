"""Every set's solution, for ids that are drawn and for the ends of every range: does it answer all,
get all points, and do its own checks find nothing to mend? And what that takes. SETS (such as
ps3,ps7) and IDS (how many; `--seed` draws the same again) choose, ENDS=0 leaves the ends out; what
fails is printed with its reason.
"""

import json
import os
import re
import resource

import pytest

from netlab.course import invented
from netlab.course.grading import solution
from netlab.course.grading.compare import Comparison
from netlab.course.grading.executed import Executed
from netlab.course.grading.runs import Runs
from netlab.course.own_numbers import drawn
from netlab.course.sets import source

SETS = os.environ.get("SETS", "ps1,ps2,ps3,ps4,ps5,ps6,ps7,ps8").split(",")
IDS = int(os.environ.get("IDS", 10))
ENDS = os.environ.get("ENDS") != "0"
TOGETHER = 20  # in one jail


def ends(name):
    """Numbers by case: one range at an end and the others in the middle, all low, all high."""
    rows = {}
    for key, rule in source.read(source.find(name)).numbers.items():
        values = rule
        if isinstance(rule, tuple):  # both ends, and what is drawn in the middle between them
            first, last = (int(re.match(r"\d*", f"{one}")[0]) for one in rule)
            values = rule[0], drawn(key, rule, (last - first) // 2), rule[1]
        rows[key] = values[0], values[len(values) // 2], values[-1]
    found = {f"all {end}": {key: row[at] for key, row in rows.items()} for at, end in BOTH}
    for key, row in rows.items():
        for at, end in BOTH:
            found[f"{key} {end}"] = {other: one[1] for other, one in rows.items()} | {key: row[at]}
    return found


BOTH = ((0, "low"), (2, "high"))


def numbers_of(cases):
    """A cell after which students, named by the cases, have their numbers."""
    return f"""
import json
from netlab.course import own_numbers as module
cases = json.loads({json.dumps(json.dumps(cases))})
module.parameters = lambda name, student, *_: module.Parameters(
    **cases[student], assignment=name, student=student
)
"""


TO_MEND = *solution.NOT_SO, "farther off than usual"


def solved(assignment, students, runs, numbers=""):
    """For each student, what its solution has answered, and a list of what is wrong with it."""
    cells = solution.listening(assignment, numbers)
    for student, executed in solution.solved(cells, assignment, students, runs):
        yield student, [*wrong_with(executed, assignment, runs)]


def wrong_with(executed, assignment, runs):
    if found := [*solution.failures(executed, assignment)]:
        yield from found
        return
    right = executed.answers
    printed = solution.said(executed, assignment).values()
    texts = [text for each in printed for text in each]
    yield from (text for text in texts if any(word in text for word in TO_MEND))
    marks = Comparison(Executed(right), right, assignment, [], runs.engine)
    for exercise in assignment.automatic:
        for row in marks.rows(exercise):
            if row.points != row.max_points:
                yield f"{row.name} has {row.points} of {row.max_points}: {row.hint}"


def drawn_ids(draw):
    """Names with numbers after them, as nobody else has."""
    names, draw = [*invented.students(len(invented.NAMES))], draw("ids")
    return [f"{draw.choice(names)}{number}" for number in draw.sample(range(10_000), IDS)]


def cpu_s():
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


@pytest.mark.parametrize("name", SETS)
def test_the_solution_gets_all_points_for_everybody(name, tmp_path, draw):
    assignment, began_s = source.read(source.find(name)), cpu_s()
    cases, students, runs = ends(name) if ENDS else {}, drawn_ids(draw), Runs(tmp_path)
    wrong, tried = {}, 0
    for numbers, who in ((numbers_of(cases), [*cases]), ("", students)):
        for at in range(0, len(who), TOGETHER):
            for student, found in solved(assignment, who[at : at + TOGETHER], runs, numbers):
                print(f"{name} {student}:", *found, sep="\n  ") if found else None
                wrong |= {student: found} if found else {}
                tried += 1
            print(f"{name}: {tried} of {len(cases) + len(students)}", flush=True)
    points = sum(one.points for one in assignment.automatic)
    print("\n| set | points | ids | ends of ranges | with something wrong | CPU s |")
    took = f"{cpu_s() - began_s:.0f}"
    print(f"| {name} | {points:g} | {IDS} | {len(cases)} | {len(wrong)} | {took} |")
    assert wrong == {}
