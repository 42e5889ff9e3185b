"""Every set's solution, run for drawn ids and for the ends of every range: how many fail, and what
that takes. SETS (such as ps3,ps7) and IDS (how many) choose; a failure is printed with its reason.
"""

import json
import os
import resource
import tomllib
from itertools import islice

import pytest

from netlab.course import invented
from netlab.course.grading import marking
from netlab.course.grading.runs import Runs
from netlab.course.own_numbers import PARAMETERS
from netlab.course.sets import source

SETS = os.environ.get("SETS", "ps1,ps2,ps3,ps4,ps5,ps6,ps7,ps8").split(",")
IDS = int(os.environ.get("IDS", 10))
TOGETHER = 20  # in one jail


def ends(name):
    """Numbers by case: one range at an end and the others in the middle, all low, all high."""
    rows = {}
    for key, rule in tomllib.loads(PARAMETERS.read_text(encoding="utf-8"))[name].items():
        values = rule.get("choices") or [
            f"{one}{rule['unit']}" if "unit" in rule else one
            for one in (rule["from"], (rule["from"] + rule["to"]) // 2, rule["to"])
        ]
        rows[key] = values[0], values[len(values) // 2], values[-1]
    found = {f"all {end}": {key: row[at] for key, row in rows.items()} for at, end in ENDS}
    for key, row in rows.items():
        for at, end in ENDS:
            found[f"{key} {end}"] = {other: one[1] for other, one in rows.items()} | {key: row[at]}
    return found


ENDS = ((0, "low"), (2, "high"))


def with_numbers(assignment, cases):
    """A set whose students, named by the cases, have their numbers."""
    notebook = json.loads(json.dumps(assignment.notebook))
    code = f"""
import json
from netlab.course import own_numbers as module
cases = json.loads({json.dumps(json.dumps(cases))})
module.parameters = lambda name, student, _: module.Parameters(
    **cases[student], assignment=name, student=student
)
"""
    cell = {"cell_type": "code", "metadata": {}, "source": code, "outputs": []}
    notebook["cells"].insert(0, cell | {"execution_count": None, "id": "numbers"})
    return source.assignment(assignment.name, notebook)


def cpu_s():
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


@pytest.mark.parametrize("name", SETS)
def test_the_solution_answers_for_everybody(name, tmp_path):
    assignment, cases, began_s = source.read(source.find(name)), ends(name), cpu_s()
    runs, students = Runs(tmp_path), [*islice(invented.students(IDS), IDS)]
    failures = {}
    for of_set, who in ((with_numbers(assignment, cases), [*cases]), (assignment, students)):
        for at in range(0, len(who), TOGETHER):
            found = [*marking.reference(of_set, who[at : at + TOGETHER], runs)]
            failed = {student: why for student, _, why in found if why}
            print(f"{name}: {at + len(found)} of {len(who)} tried", *failed.items(), flush=True)
            failures |= failed
    tried = len(cases) + len(students)
    print(f"{name}: {len(failures)} of {tried} fail; {cpu_s() - began_s:.0f} CPU s")
    assert failures == {}
